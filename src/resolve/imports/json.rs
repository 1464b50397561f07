//! JSON of project files as people write it: with comments, trailing commas, and what else JSON5
//! allows. A file that is no JSON has nothing.

use jsonc_parser::ast::Value;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// JSON value. Members keep their order: in conditional exports it is the order of preference.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Json {
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    /// Number, boolean or null, which no module system reads.
    Other,
}

impl Json {
    pub(super) fn read(text: &str) -> Json {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
        parsed.ok().and_then(|parsed| parsed.value).map_or(Json::Other, Json::of)
    }

    fn of(value: Value<'_>) -> Json {
        match value {
            Value::StringLit(text) => Json::Text(text.value.into_owned()),
            Value::Array(array) => Json::List(array.elements.into_iter().map(Json::of).collect()),
            Value::Object(object) => Json::Object(
                object
                    .properties
                    .into_iter()
                    .map(|member| (member.name.into_string(), Json::of(member.value)))
                    .collect(),
            ),
            Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => Json::Other,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_skipped() {
        let json = Json::read(
            "\u{feff}// head\n{ \"a\": [\"x\", /* y */ \"z\",], \
             \"b\": { \"c\": \"d\\\"e\" }, \"n\": 1 }",
        );
        assert_eq!(json.get("a").map(Json::texts), Some(vec!["x", "z"]));
        assert_eq!(json.get("b").and_then(|b| b.get("c")).and_then(Json::text), Some("d\"e"));
        assert_eq!(json.get("n"), Some(&Json::Other));
    }

    #[test]
    fn members_keep_their_order_and_escapes_are_characters() {
        let json = Json::read("{\"z\": \"\\u00e9\", \"a\": \"\\/\"}");
        let members = json.members().iter().map(|(key, value)| (key.as_str(), value.text()));
        assert_eq!(members.collect::<Vec<_>>(), [("z", Some("é")), ("a", Some("/"))]);
    }

    #[test]
    fn broken_text_is_nothing() {
        let deep = format!("{}\"a\"{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in ["", "{", "{\"a\"", "[\"a\"", "\"", "{]}", "{\"a\":}", "{\"é\\", &deep] {
            assert_eq!(Json::read(text), Json::Other, "{:.20}", text);
        }
    }
}
