//! Tolerant reader of JSON in project files: accepts comments and trailing commas. Invalid parts
//! are omitted without an error.

/// JSON value. Members keep their order: in conditional exports it is the order of preference.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Json {
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    /// Number, boolean or null, which no module system reads.
    Other,
}

/// Maximum nesting depth.
const MAX_NESTING: u32 = 64;

impl Json {
    pub(super) fn read(text: &str) -> Json {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        JsonReader { bytes: text.as_bytes(), text, at: 0 }.value(0)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(super) fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns every string in the value, in order.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self {
            Json::Text(text) => vec![text],
            Json::List(items) => items.iter().flat_map(Json::texts).collect(),
            Json::Object(members) => members.iter().flat_map(|(_, value)| value.texts()).collect(),
            Json::Other => Vec::new(),
        }
    }
}

struct JsonReader<'t> {
    bytes: &'t [u8],
    text: &'t str,
    at: usize,
}

impl JsonReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips white space and comments; returns the next byte.
    fn next_token(&mut self) -> Option<u8> {
        loop {
            let rest = self.bytes.get(self.at..)?;
            if rest.first().is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            } else if rest.starts_with(b"//") {
                self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                self.at += rest
                    .windows(2)
                    .position(|pair| pair == b"*/")
                    .map_or(rest.len(), |end| end + 2);
            } else {
                return self.peek();
            }
        }
    }

    fn value(&mut self, depth: u32) -> Json {
        match self.next_token() {
            Some(b'"') => Json::Text(self.string()),
            Some(b'[') if depth < MAX_NESTING => {
                let mut items = Vec::new();
                self.items(b']', |reader| items.push(reader.value(depth + 1)));
                Json::List(items)
            }
            Some(b'{') if depth < MAX_NESTING => {
                let mut members = Vec::new();
                self.items(b'}', |reader| {
                    let key =
                        if reader.peek() == Some(b'"') { reader.string() } else { String::new() };
                    if reader.next_token() == Some(b':') {
                        reader.at += 1;
                        members.push((key, reader.value(depth + 1)));
                    }
                });
                Json::Object(members)
            }
            _ => {
                while self.peek().is_some_and(|byte| !matches!(byte, b',' | b']' | b'}')) {
                    self.at += 1;
                }
                Json::Other
            }
        }
    }

    /// Reads items separated by commas up to `end`; always advances.
    fn items(&mut self, end: u8, mut item: impl FnMut(&mut Self)) {
        self.at += 1;
        loop {
            match self.next_token() {
                None => return,
                Some(byte) if byte == end => {
                    self.at += 1;
                    return;
                }
                Some(b',') => self.at += 1,
                Some(_) => {
                    let before = self.at;
                    item(self);
                    self.at += usize::from(self.at == before);
                }
            }
        }
    }

    fn string(&mut self) -> String {
        let mut text = String::new();
        self.at += 1;
        let mut start = self.at;
        while let Some(byte) = self.peek() {
            if byte == b'"' {
                break;
            }
            if byte == b'\\' {
                text.push_str(self.text.get(start..self.at).unwrap_or_default());
                self.at += 1;
                text.push(match self.peek() {
                    Some(b'n') => '\n',
                    Some(b't') => '\t',
                    Some(other) if other.is_ascii() => char::from(other),
                    _ => '\u{fffd}',
                });
                start = self.at + 1;
            }
            self.at += 1;
        }
        text.push_str(self.text.get(start..self.at.min(self.text.len())).unwrap_or_default());
        self.at += 1;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_skipped() {
        let json = Json::read(
            "// head\n{ \"a\": [\"x\", /* y */ \"z\",], \"b\": { \"c\": \"d\\\"e\" }, \"n\": 1 }",
        );
        assert_eq!(json.get("a").map(Json::texts), Some(vec!["x", "z"]));
        assert_eq!(json.get("b").and_then(|b| b.get("c")).and_then(Json::text), Some("d\"e"));
        assert_eq!(json.get("n"), Some(&Json::Other));
    }

    #[test]
    fn broken_text_ends() {
        for text in
            ["{", "{\"a\"", "{\"a\": [", "[[[", "\"", "{]}", "{\"a\":}", "[1,,\"b\"]", "{\"é\\"]
        {
            Json::read(text);
        }
        assert_eq!(Json::read("[1,,\"b\"]").texts(), ["b"]);
    }
}
