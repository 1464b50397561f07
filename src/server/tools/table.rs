//! The table of tools. Everything that anybody is told about a tool comes from here: the list that clients get, the check of
//! arguments, admission and deadlines, the command line. It is complete before any repository is looked at.

use crate::server::base::escape::SafeLine;
use crate::server::jsonrpc::admission::Class;
use crate::server::tools::{self, Handler};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// What a model is told when it meets the server: when to use which tool.
pub const INSTRUCTIONS: &str = "Code graph of this repository, checked against the files: definitions, calls, every reference. \
Ask it before reading or grepping. Start with `explore` (words or names: source, connections, tests in one answer). \
`search` finds symbols, `show` prints source, `outline` lists a file or directory, `trace` gives callers, callees or the path between \
two symbols, `references` every use before a change, `overview` the architecture, `grep` text with the symbol around it. \
Name symbols `name`, `Class.method` or `path::name`. Counts are exact; certain and possible uses are apart. More room: `budget`.";

/// How large an answer may be, in tokens, unless the caller says otherwise. A token is taken as four bytes.
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
    /// The shape of the answer for programs. A tool that has one must always give it, and hosts show the model that form in
    /// place of the text: so only a tool has one whose answer is a table anyway.
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

/// The tools, in the order in which they are listed.
pub static TOOLS: [&Tool; 10] = [
    &tools::explore::TOOL,
    &tools::search::TOOL,
    &tools::show::TOOL,
    &tools::outline::TOOL,
    &tools::trace::TOOL,
    &tools::references::TOOL,
    &tools::overview::TOOL,
    &tools::grep::TOOL,
    &tools::sql::TOOL,
    &tools::status::TOOL,
];

/// The parameters of every tool.
static COMMON: [Parameter; 2] =
    [
        Parameter::new("budget", Shape::Integer { least: 100, most: MOST_BUDGET }, "Tokens for the answer, default 2000")
            .also(&["max_tokens", "tokens", "token_budget", "limit", "max_results"]),
        Parameter::new("root", Shape::Text { most: 1024 }, "Another repository's directory").also(&[
            "repo",
            "repository",
            "project",
            "repo_path",
            "cwd",
            "workspace",
        ]),
    ];

impl Parameter {
    /// An optional parameter.
    pub(in crate::server) const fn new(name: &'static str, shape: Shape, about: &'static str) -> Self {
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

    fn listing(&self) -> Value {
        let properties: Map<String, Value> =
            self.parameters().map(|parameter| (parameter.name.to_owned(), parameter.schema())).collect();
        let required: Vec<&str> =
            self.parameters().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
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

/// The tool of this name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

/// What a caller is told who names a tool that does not exist.
pub(in crate::server) fn unknown_tool(name: &str) -> String {
    let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    format!("unknown tool `{}`; the tools are: {}", SafeLine::new(name, 80), names.join(", "))
}

/// The tools as the protocol lists them.
pub(in crate::server) fn listing() -> Value {
    Value::Array(TOOLS.iter().map(|tool| tool.listing()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_cheap() {
        let whole = json!({"tools": listing()}).to_string();
        let each: Vec<(&str, usize)> = TOOLS.iter().map(|tool| (tool.name, tool.listing().to_string().len() / 4)).collect();
        assert!(whole.len() / 4 <= 2200, "{} tokens: {each:?}", whole.len() / 4);
        assert!(INSTRUCTIONS.len() / 4 < 150, "{} tokens", INSTRUCTIONS.len() / 4);
    }

    #[test]
    fn names_are_plain_and_everything_is_described() {
        let mut names = BTreeSet::new();
        for tool in TOOLS {
            assert!(names.insert(tool.name), "{}", tool.name);
            assert!(!tool.name.is_empty() && tool.name.bytes().all(|byte| byte.is_ascii_lowercase()), "{}", tool.name);
            assert!(!tool.title.is_empty() && (20..=2048).contains(&tool.about.len()), "{}", tool.name);
            let mut parameters = BTreeSet::new();
            for parameter in tool.parameters() {
                assert!(parameters.insert(parameter.name), "{}.{}", tool.name, parameter.name);
                assert!(parameter.about.len() >= 10, "{}.{}", tool.name, parameter.name);
            }
        }
        assert!(INSTRUCTIONS.contains("`explore`"));
    }

    #[test]
    fn no_name_or_other_name_means_two_parameters() {
        for tool in TOOLS {
            let all: Vec<&str> = tool
                .parameters()
                .flat_map(|parameter| [parameter.name].into_iter().chain(parameter.also.iter().copied()))
                .collect();
            let distinct: BTreeSet<&str> = all.iter().copied().collect();
            assert_eq!(all.len(), distinct.len(), "{}: {all:?}", tool.name);
        }
    }
}
