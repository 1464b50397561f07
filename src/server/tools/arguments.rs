//! Validation of a call's arguments against the tool's parameter table. An error is one sentence
//! with the correction.

pub(crate) mod complete;
pub(crate) mod paths;

use crate::base::escape::SafeLine;
use crate::tools::tool::values::Argument;
pub use crate::tools::tool::values::Arguments;
use crate::tools::tool::{Parameter, Shape, Tool};
use serde_json::{Map, Value};

impl Arguments {
    /// Validates a JSON object.
    pub fn check(tool: &'static Tool, given: Map<String, Value>) -> Result<Self, String> {
        let mut checked = Vec::new();
        for (name, value) in given {
            let parameter = tool
                .parameters()
                .find(|parameter| parameter.name == name)
                .ok_or_else(|| unknown(tool, &name))?;
            // `null` counts as absent.
            if !value.is_null() {
                let argument = read(parameter, value)
                    .map_err(|reason| format!("{}: `{}` {reason}", tool.name, parameter.name))?;
                checked.push((parameter.name, argument));
            }
        }
        let arguments = Self(checked);
        match tool
            .parameters()
            .find(|parameter| parameter.required && arguments.get(parameter.name).is_none())
        {
            Some(parameter) => {
                Err(format!("{}: `{}` is missing: {}", tool.name, parameter.name, parameter.about))
            }
            None => Ok(arguments),
        }
    }

    /// Validates command line words, one or more per parameter.
    pub fn from_words(
        tool: &'static Tool,
        given: impl Iterator<Item = (&'static str, Vec<String>)>,
    ) -> Result<Self, String> {
        let value = |mut words: Vec<String>| match words.len() {
            1 => words.pop().map_or(Value::Null, Value::String),
            _ => Value::from(words),
        };
        Self::check(tool, given.map(|(name, words)| (name.to_owned(), value(words))).collect())
    }

    /// The same with every path changed by `change`, which gets the texts of parameters with paths.
    pub fn with_paths(
        mut self,
        tool: &'static Tool,
        change: impl Fn(&str) -> Option<String>,
    ) -> Self {
        for (name, argument) in &mut self.0 {
            if !tool.parameters().any(|parameter| parameter.has_paths && parameter.name == *name) {
                continue;
            }
            let texts = match argument {
                Argument::Text(text) => std::slice::from_mut(text),
                Argument::Texts(texts) => texts.as_mut_slice(),
                Argument::Integer(_) | Argument::Flag(_) => continue,
            };
            for text in texts {
                if let Some(changed) = change(text) {
                    *text = changed;
                }
            }
        }
        self
    }

    /// All free-text arguments, without enumerated words and without the root.
    pub(super) fn free_texts(&self, tool: &'static Tool) -> impl Iterator<Item = &str> {
        let is_free = |parameter: &&Parameter| match parameter.shape {
            Shape::Text { .. } => parameter.name != "root",
            Shape::Texts { words, .. } => words().is_empty(),
            Shape::Word(_) | Shape::Document { .. } | Shape::Integer { .. } | Shape::Flag => false,
        };
        let free = tool.parameters().filter(is_free);
        free.flat_map(|parameter| {
            self.text(parameter.name)
                .into_iter()
                .chain(self.texts(parameter.name).iter().map(String::as_str))
        })
    }
}

/// Converts one value. Numbers and flags may come as strings, and a list as its only element:
/// clients send these, and they are unambiguous.
fn read(parameter: &Parameter, value: Value) -> Result<Argument, String> {
    match (parameter.shape, value) {
        (Shape::Text { most } | Shape::Document { most }, Value::String(text)) => {
            bounded(text, most).map(Argument::Text)
        }
        (Shape::Text { .. } | Shape::Document { .. }, _) => Err("must be a string".to_owned()),
        (Shape::Word(words), Value::String(word)) if words.contains(&word.as_str()) => {
            Ok(Argument::Text(word))
        }
        (Shape::Word(words), _) => Err(format!("must be one of: {}", words.join(", "))),
        (Shape::Texts { most, words }, value) => {
            let items = match value {
                Value::Array(items) => items,
                single => vec![single],
            };
            if items.is_empty() {
                return Err("must not be an empty list".to_owned());
            }
            let texts = items
                .into_iter()
                .map(|item| text_item(item, most, words))
                .collect::<Result<_, _>>()?;
            Ok(Argument::Texts(texts))
        }
        (Shape::Integer { least, most }, value) => {
            let number = match &value {
                Value::Number(number) => number.as_u64(),
                Value::String(text) => text.parse().ok(),
                _ => None,
            };
            let in_range = number.filter(|number| (least..=most).contains(number));
            in_range
                .map(Argument::Integer)
                .ok_or_else(|| format!("must be an integer from {least} to {most}"))
        }
        (Shape::Flag, Value::Bool(flag)) => Ok(Argument::Flag(flag)),
        (Shape::Flag, Value::String(word)) if word == "true" || word == "false" => {
            Ok(Argument::Flag(word == "true"))
        }
        (Shape::Flag, _) => Err("must be true or false".to_owned()),
    }
}

fn text_item(item: Value, most: usize, words: fn() -> Vec<&'static str>) -> Result<String, String> {
    let Value::String(text) = item else {
        return Err("must be a list of strings".to_owned());
    };
    let words = words();
    if !words.is_empty() && !words.contains(&text.as_str()) {
        return Err(format!("must be a list of these words: {}", words.join(", ")));
    }
    bounded(text, most)
}

fn bounded(text: String, most: usize) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("must not be empty".to_owned())
    } else if text.len() > most {
        Err(format!("must have at most {most} bytes"))
    } else if text.contains('\0') {
        Err("must not contain a NUL character".to_owned())
    } else {
        Ok(text)
    }
}

/// Error for an unknown parameter: the most similar one, and all names.
fn unknown(tool: &'static Tool, name: &str) -> String {
    let meant =
        tool.parameters().map(|parameter| (distance(name, parameter), parameter.name)).min();
    let hint = match meant {
        Some((distance, meant)) if distance <= 2 => format!("did you mean `{meant}`? "),
        _ => String::new(),
    };
    let all: Vec<&str> = tool.parameters().map(|parameter| parameter.name).collect();
    format!(
        "{}: there is no parameter `{}`; {hint}it takes: {}",
        tool.name,
        SafeLine::new(name, 80),
        all.join(", ")
    )
}

/// Distance of a name from a parameter: 0 for an alias, 1 if one contains the other, otherwise the
/// edit distance.
fn distance(name: &str, parameter: &Parameter) -> usize {
    let name = name.to_lowercase().replace('-', "_");
    if parameter.also.contains(&name.as_str()) {
        return 0;
    }
    if name.len() > 2 && (name.contains(parameter.name) || parameter.name.contains(&name)) {
        return 1;
    }
    let target: Vec<char> = parameter.name.chars().collect();
    let mut row: Vec<usize> = (0..=target.len()).collect();
    for (line, letter) in name.chars().take(80).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, other) in target.iter().enumerate() {
            let change = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = change.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[target.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::table;
    use serde_json::json;

    fn check(tool: &str, given: Value) -> Result<Arguments, String> {
        let Value::Object(given) = given else { panic!("arguments are an object") };
        Arguments::check(table::tool(tool).expect("the tool exists"), given)
    }

    #[test]
    fn every_shape_is_read() {
        let arguments = check(
            "search",
            json!({"query": "x", "kinds": "class", "offset": "10", "budget": 500, "path": null}),
        );
        let arguments = arguments.expect("they fit");
        assert_eq!(arguments.text("query"), Some("x"));
        assert_eq!(arguments.texts("kinds"), ["class"]);
        assert_eq!(arguments.integer("offset"), Some(10));
        assert_eq!(arguments.text("path"), None);
        assert!(
            check("grep", json!({"pattern": "x", "regex": true})).expect("they fit").flag("regex")
        );
    }

    #[test]
    fn every_mistake_names_the_parameter_and_the_way_out() {
        for (tool, given, expected) in [
            (
                "search",
                json!({"querry": "x"}),
                "there is no parameter `querry`; did you mean `query`?",
            ),
            ("search", json!({"q": "x"}), "did you mean `query`?"),
            ("trace", json!({"symbol": "x", "function": "x"}), "did you mean `symbol`?"),
            ("trace", json!({"symbol": "x", "zzzzzzzzzz": 1}), "`zzzzzzzzzz`; it takes: symbol, "),
            ("search", json!({}), "`query` is missing: "),
            ("search", json!({"query": 5}), "`query` must be a string"),
            ("search", json!({"query": " "}), "`query` must not be empty"),
            ("search", json!({"query": "a\0b"}), "NUL"),
            (
                "search",
                json!({"query": "x", "budget": 0}),
                "`budget` must be an integer from 100 to 10000",
            ),
            ("search", json!({"query": "x", "kinds": ["klass"]}), "these words: module, "),
            (
                "trace",
                json!({"symbol": "x", "direction": "up"}),
                "must be one of: callers, callees",
            ),
            ("grep", json!({"pattern": "x", "regex": 1}), "must be true or false"),
            ("show", json!({"targets": []}), "must not be an empty list"),
        ] {
            let error = check(tool, given.clone()).expect_err("they do not fit");
            assert!(error.contains(expected) && error.starts_with(tool), "{given}: {error}");
        }
    }

    #[test]
    fn every_tool_refuses_what_it_does_not_know_and_names_what_was_meant() {
        for tool in table::TOOLS {
            let all: Vec<&str> = tool.parameters().map(|parameter| parameter.name).collect();
            let error =
                check(tool.name, json!({"zzzzzzzzzz": 1})).expect_err("there is no such parameter");
            assert!(error.ends_with(&format!("it takes: {}", all.join(", "))), "{error}");
            for parameter in tool.parameters() {
                for other in parameter.also {
                    let error =
                        check(tool.name, json!({*other: 1})).expect_err("it has another name");
                    assert!(
                        error.contains(&format!("did you mean `{}`?", parameter.name)),
                        "{error}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_a_caller_wrote_is_shown_escaped_and_short() {
        let error = check("search", json!({format!("a\n\u{1b}[31m{}", "x".repeat(1000)): 1}))
            .expect_err("it is unknown");
        assert!(!error.contains(['\n', '\u{1b}']) && error.len() < 400, "{error}");
    }
}
