//! Table of tools: the single source of the list for clients, validation of arguments, admission,
//! deadlines and the command line. Constant, independent of any repository.

use super::tool::Tool;
use crate::base::escape::SafeLine;
use crate::tools::{
    explore, grep, impact, outline, overview, references, search, show, sql, status, table, trace,
};
use cograph_grammar::{self as grammar, Tier};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

/// Server instructions for the model, without the languages: when to use which tool. Clients
/// truncate at 2 KB.
const GUIDE: &str = "\
     Code graph of this repository, checked against the files at every question: definitions, \
     calls, every reference. Ask it before reading or grepping code.\n\
     - How does it work, where is it, an issue -> `explore` (words or names: source, callers, \
     tests)\n\
     - Who calls it, what does it call, how does A reach B -> `trace`\n\
     - What uses it, what does a change break, which tests to run -> `references`, `impact`\n\
     - Where is it defined, its source, what is in a file or module -> `search`, `show`, \
     `outline`, `overview`\n\
     grep is better for what is no symbol: messages, comments, settings, logs, other files; \
     `grep` here adds the symbol around each hit.\n\
     Name symbols `name`, `Class.method` or `path::name`. Counts are exact; certain and possible \
     uses are apart. More room: `budget`. In a shell: `cograph explore WORDS`, `cograph trace \
     NAME`.";

/// Server instructions for the model, with the languages of this program. Constant after the first
/// use.
pub fn instructions() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let code = [grammar::titles(Tier::Full), grammar::titles(Tier::Shared)].concat();
        format!(
            "{GUIDE}\nCalls and references: {}. Definitions only: {}.",
            code.join(", "),
            grammar::titles(Tier::Structure).join(", ")
        )
    });
    &TEXT
}

/// Tools, in listing order.
pub static TOOLS: [&Tool; 11] = [
    &explore::TOOL,
    &search::TOOL,
    &show::TOOL,
    &outline::TOOL,
    &trace::TOOL,
    &references::TOOL,
    &impact::TOOL,
    &overview::TOOL,
    &grep::TOOL,
    &sql::TOOL,
    &status::TOOL,
];

/// The tool of this name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

/// Error for an unknown tool.
pub(crate) fn unknown_tool(name: &str) -> String {
    let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    format!("unknown tool `{}`; the tools are: {}", SafeLine::new(name, 80), names.join(", "))
}

/// Result of `tools/list`.
pub(crate) fn listing() -> Value {
    Value::Array(TOOLS.iter().map(|tool| tool.listing()).collect())
}

/// External tools of one generation.
#[derive(Debug, Default)]
pub(crate) struct MoreTools {
    listing: Vec<Value>,
    names: BTreeSet<String>,
    pages: [OnceLock<String>; 2],
}

impl MoreTools {
    /// External tools in listing order.
    #[cfg(feature = "federation")]
    pub(crate) fn new(listing: Vec<Value>) -> Self {
        let names =
            listing.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
        Self { listing, names, pages: Default::default() }
    }

    /// True if an external tool has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The whole list, own tools first; `shaped` is called once for each of the two shapes.
    pub(crate) fn page(&self, shape: usize, shaped: impl FnOnce(Value) -> String) -> &str {
        self.pages[shape].get_or_init(|| {
            let mut tools = table::listing();
            if let Value::Array(tools) = &mut tools {
                tools.extend(self.listing.iter().cloned());
            }
            shaped(json!({"tools": tools}))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_cheap() {
        let whole = json!({"tools": listing()}).to_string();
        let each: Vec<(&str, usize)> =
            TOOLS.iter().map(|tool| (tool.name, tool.listing().to_string().len() / 4)).collect();
        assert!(whole.len() / 4 <= 2300, "{} tokens: {each:?}", whole.len() / 4);
        let marked: Vec<usize> = TOOLS
            .iter()
            .filter(|tool| tool.hint.is_some())
            .map(|tool| tool.listing().to_string().len() / 4)
            .collect();
        assert_eq!(marked.len(), 2, "what every session begins with, and nothing else");
        assert!(marked.iter().sum::<usize>() <= 600, "{marked:?}");
        // Clients cut the text at 2,048 bytes.
        assert!(instructions().len() < 2048, "{} bytes", instructions().len());
        assert!(GUIDE.len() / 4 < 260, "{} tokens", GUIDE.len() / 4);
    }

    #[test]
    fn names_are_plain_and_everything_is_described() {
        let mut names = BTreeSet::new();
        for tool in TOOLS {
            assert!(names.insert(tool.name), "{}", tool.name);
            assert!(
                !tool.name.is_empty() && tool.name.bytes().all(|byte| byte.is_ascii_lowercase()),
                "{}",
                tool.name
            );
            assert!(
                !tool.title.is_empty() && (20..=2048).contains(&tool.about.len()),
                "{}",
                tool.name
            );
            let mut parameters = BTreeSet::new();
            for parameter in tool.parameters() {
                assert!(parameters.insert(parameter.name), "{}.{}", tool.name, parameter.name);
                assert!(parameter.about.len() >= 10, "{}.{}", tool.name, parameter.name);
            }
        }
        let text = instructions();
        for tool in TOOLS.iter().filter(|tool| !matches!(tool.name, "sql" | "status")) {
            assert!(text.contains(&format!("`{}`", tool.name)), "{}", tool.name);
        }
        for language in grammar::all() {
            let named = [",", "."].map(|end| format!(" {}{end}", language.title()));
            assert!(named.iter().any(|named| text.contains(named)), "{}", language.title());
        }
    }

    #[test]
    fn no_name_or_other_name_means_two_parameters() {
        for tool in TOOLS {
            let all: Vec<&str> = tool
                .parameters()
                .flat_map(|parameter| {
                    [parameter.name].into_iter().chain(parameter.also.iter().copied())
                })
                .collect();
            let distinct: BTreeSet<&str> = all.iter().copied().collect();
            assert_eq!(all.len(), distinct.len(), "{}: {all:?}", tool.name);
        }
    }
}
