//! Values of arguments, as a tool gets them.

use serde_json::Value;

/// Validated arguments: all declared, of the right type and in range, all required ones present.
#[derive(Clone, Debug, Default)]
pub struct Arguments(pub(crate) Vec<(&'static str, Argument)>);

#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Text(String),
    Texts(Vec<String>),
    Integer(u64),
    Flag(bool),
}

impl Arguments {
    /// The arguments as JSON, for another process to validate.
    pub(crate) fn to_json(&self) -> Value {
        let value = |argument: &Argument| match argument {
            Argument::Text(text) => Value::from(text.as_str()),
            Argument::Texts(texts) => Value::from(texts.as_slice()),
            Argument::Integer(number) => Value::from(*number),
            Argument::Flag(flag) => Value::from(*flag),
        };
        Value::Object(
            self.0.iter().map(|(name, argument)| ((*name).to_owned(), value(argument))).collect(),
        )
    }

    /// The same with another value of an integer parameter.
    pub(crate) fn with_integer(mut self, name: &'static str, value: u64) -> Self {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, Argument::Integer(value)));
        self
    }

    /// Value of a text parameter.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Argument::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Values of a list parameter; empty if absent.
    pub(crate) fn texts(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(Argument::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// Value of an integer parameter.
    pub(crate) fn integer(&self, name: &str) -> Option<u64> {
        match self.get(name) {
            Some(Argument::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// Value of a flag.
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Argument::Flag(true)))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Argument> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, argument)| argument)
    }
}
