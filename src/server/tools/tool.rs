//! Tools and parameters as plain data. Knows no concrete tool.

pub(crate) mod common;
pub(crate) mod context;
pub(crate) mod members;
pub(crate) mod reply;
pub(crate) mod values;

use crate::jsonrpc::admission::Class;
use crate::tools::tool::context::Handler;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Default size limit of a response, in tokens of four bytes.
pub const DEFAULT_BUDGET: u64 = 2000;

/// Maximum size limit: clients move larger responses into a file.
pub const MAX_BUDGET: u64 = 10_000;

/// Maximum offset: larger than any list.
pub(super) const MAX_OFFSET: u64 = 1_000_000_000;

/// Tool.
#[derive(Debug)]
pub struct Tool {
    /// Name.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// Description: purpose and when to use it.
    pub about: &'static str,
    /// Admission class.
    pub class: Class,
    /// Deadline, including time in the queue.
    pub deadline: Duration,
    /// Words by which clients find the tool, for a tool whose schema every session starts with:
    /// clients with many tools keep the schemas of the others out of the model's context until
    /// they are searched for.
    pub(crate) hint: Option<&'static str>,
    /// Parameters, without the common ones.
    pub own: &'static [Parameter],
    /// Schema of structured output. A tool that declares one must always return it, and hosts show
    /// it to the model instead of the text: so only a tool with a tabular result has one.
    pub(crate) output: Option<fn() -> Value>,
    /// Implementation.
    pub(crate) handler: Handler,
}

/// Parameter of a tool.
#[derive(Debug)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Description, with the default.
    pub about: &'static str,
    /// Type.
    pub shape: Shape,
    /// True if required.
    pub required: bool,
    /// Aliases that callers are known to use.
    pub also: &'static [&'static str],
    /// True if a value may begin with the path of a file or directory.
    pub has_paths: bool,
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// String.
    Text {
        /// Maximum length in bytes.
        most: usize,
    },
    /// String; on a command line the file that has it, or `-` for standard input.
    Document {
        /// Maximum length in bytes.
        most: usize,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// List of strings.
    Texts {
        /// Maximum length of each, in bytes.
        most: usize,
        /// Allowed words; none for any text.
        words: fn() -> Vec<&'static str>,
    },
    /// Integer.
    Integer {
        /// Minimum.
        least: u64,
        /// Maximum.
        most: u64,
    },
    /// Boolean; false by default.
    Flag,
}

/// Maximum length of `root`, which may be a list of directories.
pub(crate) const MAX_ROOT_BYTES: usize = 8 << 10;

/// Deadline of tools of class `Control`.
pub(super) const CONTROL_DEADLINE: Duration = Duration::from_secs(2);

/// Deadline of tools of class `Query`.
pub(crate) const QUERY_DEADLINE: Duration = Duration::from_secs(10);

/// Deadline of tools of class `Heavy`.
pub(crate) const HEAVY_DEADLINE: Duration = Duration::from_secs(30);

/// Parameters of every tool.
static COMMON: [Parameter; 2] = [
    Parameter::new(
        "budget",
        Shape::Integer { least: 100, most: MAX_BUDGET },
        "Tokens, default 2000, max 10000",
    )
    .also(&["max_tokens", "tokens", "token_budget", "limit", "max_results"]),
    Parameter::new("root", Shape::Text { most: MAX_ROOT_BYTES }, "Other repository").also(&[
        "repo",
        "repository",
        "project",
        "repo_path",
        "cwd",
        "workspace",
    ]),
];

impl Parameter {
    /// Optional parameter.
    pub(crate) const fn new(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, about, shape, required: false, also: &[], has_paths: false }
    }

    /// Makes the parameter required.
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Declares that a value may begin with a path: an absolute one below the root is the same as
    /// the relative one.
    pub(crate) const fn with_paths(mut self) -> Self {
        self.has_paths = true;
        self
    }

    /// Adds aliases.
    pub(crate) const fn also(mut self, names: &'static [&'static str]) -> Self {
        self.also = names;
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.shape {
            Shape::Text { .. } | Shape::Document { .. } => json!({"type": "string"}),
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
            // `idempotentHint` has no meaning for what is read-only.
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        });
        if let Some(output) = self.output {
            listing["outputSchema"] = output();
        }
        if let Some(hint) = self.hint {
            listing["_meta"] = json!({"anthropic/alwaysLoad": true, "anthropic/searchHint": hint});
        }
        listing
    }
}
