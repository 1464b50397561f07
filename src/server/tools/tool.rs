//! What a tool and its parameters are, as plain data. Knows no tool.

use super::Handler;
use crate::server::jsonrpc::admission::Class;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How large an answer may be, in tokens, unless the caller says otherwise. A token is taken as
/// four bytes.
pub const DEFAULT_BUDGET: u64 = 2000;

/// The largest answer that may be asked for: clients move longer ones out of the model's sight.
pub const MOST_BUDGET: u64 = 10_000;

/// The most entries that may be skipped: more than any list has.
pub(super) const MOST_OFFSET: u64 = 1_000_000_000;

/// A tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it is for and when to use it.
    pub about: &'static str,
    /// How expensive it is.
    pub class: Class,
    /// When a call is answered at the latest, time in the queue included.
    pub deadline: Duration,
    /// Its parameters, without those that every tool has.
    pub own: &'static [Parameter],
    /// The shape of the answer for programs. A tool that has one must always give it, and hosts
    /// show the model that form in place of the text: so only a tool has one whose answer is a
    /// table anyway.
    pub(in crate::server) output: Option<fn() -> Value>,
    /// What it does.
    pub(in crate::server) handler: Handler,
}

/// A parameter of a tool.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it means, with its default.
    pub about: &'static str,
    /// What values it takes.
    pub shape: Shape,
    /// Whether it must be given.
    pub required: bool,
    /// Names under which callers are known to look for it.
    pub also: &'static [&'static str],
}

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A string of at most so many bytes.
    Text {
        /// The bytes.
        most: usize,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of strings.
    Texts {
        /// The bytes of each.
        most: usize,
        /// The words that are allowed; none for any text.
        words: fn() -> Vec<&'static str>,
    },
    /// A whole number.
    Integer {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// True or false; false if it is not given.
    Flag,
}

/// Deadline of tools of class `Control`.
pub(super) const CONTROL_DEADLINE: Duration = Duration::from_secs(2);

/// Deadline of tools of class `Query`.
pub(in crate::server) const QUERY_DEADLINE: Duration = Duration::from_secs(10);

/// Deadline of tools of class `Heavy`.
pub(super) const HEAVY_DEADLINE: Duration = Duration::from_secs(30);

/// The parameters of every tool.
static COMMON: [Parameter; 2] =
    [
        Parameter::new(
            "budget",
            Shape::Integer { least: 100, most: MOST_BUDGET },
            "Tokens for the answer, default 2000",
        )
        .also(&["max_tokens", "tokens", "token_budget", "limit", "max_results"]),
        Parameter::new("root", Shape::Text { most: 1024 }, "Another repository's directory")
            .also(&["repo", "repository", "project", "repo_path", "cwd", "workspace"]),
    ];

impl Parameter {
    /// An optional parameter.
    pub(in crate::server) const fn new(
        name: &'static str,
        shape: Shape,
        about: &'static str,
    ) -> Self {
        Self { name, about, shape, required: false, also: &[] }
    }

    /// A parameter that must be given.
    pub(in crate::server) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Other names under which callers look for it.
    pub(in crate::server) const fn also(mut self, names: &'static [&'static str]) -> Self {
        self.also = names;
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.shape {
            Shape::Text { .. } => json!({"type": "string"}),
            Shape::Word(words) => json!({"type": "string", "enum": words}),
            Shape::Texts { .. } => json!({"type": "array", "items": {"type": "string"}}),
            Shape::Integer { .. } => json!({"type": "integer"}),
            Shape::Flag => json!({"type": "boolean"}),
        };
        schema["description"] = Value::from(self.about);
        schema
    }
}

impl Tool {
    /// All its parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        self.own.iter().chain(&COMMON)
    }

    pub(super) fn listing(&self) -> Value {
        let properties: Map<String, Value> = self
            .parameters()
            .map(|parameter| (parameter.name.to_owned(), parameter.schema()))
            .collect();
        let required: Vec<&str> = self
            .parameters()
            .filter(|parameter| parameter.required)
            .map(|parameter| parameter.name)
            .collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = Value::from(required);
        }
        schema["additionalProperties"] = Value::Bool(false);
        let mut listing = json!({
            "name": self.name,
            "title": self.title,
            "description": self.about,
            "inputSchema": schema,
            "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
        });
        if let Some(output) = self.output {
            listing["outputSchema"] = output();
        }
        listing
    }
}
