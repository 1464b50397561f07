//! Minimal JSON writer for commands without a tool: objects, field by field.

use std::fmt::Write as _;

/// Object under construction.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        push_string(&mut self.0, value);
        self
    }

    pub(crate) fn number(self, key: &str, value: u64) -> Self {
        self.raw(key, &value.to_string())
    }

    pub(crate) fn boolean(self, key: &str, value: bool) -> Self {
        self.raw(key, if value { "true" } else { "false" })
    }

    pub(crate) fn object(self, key: &str, value: Object) -> Self {
        self.raw(key, &value.finish())
    }

    pub(crate) fn list(self, key: &str, values: Vec<Object>) -> Self {
        let values: Vec<String> = values.into_iter().map(Object::finish).collect();
        self.raw(key, &format!("[{}]", values.join(", ")))
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn raw(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.0.push_str(value);
        self
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push_str(", ");
        }
        push_string(&mut self.0, key);
        self.0.push_str(": ");
    }
}

/// JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

fn push_string(out: &mut String, value: &str) {
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects() {
        let inner = Object::new().boolean("yes", true);
        let text = Object::new()
            .text("a\"", "b\\\n\u{1}\u{e9}")
            .number("n", 7)
            .object("o", inner)
            .finish();
        assert_eq!(
            text,
            "{\"a\\\"\": \"b\\\\\\n\\u0001\u{e9}\", \"n\": 7, \"o\": {\"yes\": true}}"
        );
        let list =
            Object::new().list("l", vec![Object::new(), Object::new().number("n", 1)]).finish();
        assert_eq!(
            (list.as_str(), quoted("é\"").as_str()),
            ("{\"l\": [{}, {\"n\": 1}]}", "\"é\\\"\"")
        );
    }
}
