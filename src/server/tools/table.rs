//! Table of tools: the single source of the list for clients, validation of arguments, admission,
//! deadlines and the command line. Constant, independent of any repository.

use super::tool::Tool;
use crate::base::escape::SafeLine;
use crate::tools::{self};
use serde_json::Value;

/// Server instructions for the model: when to use which tool.
pub const INSTRUCTIONS: &str = "Code graph of this repository, checked against the files: \
                                definitions, calls, every reference. \
                                Ask it before reading or grepping. Start with `explore` (words or \
                                names: source, connections, tests). \
                                `search` finds symbols, `show` prints source, `outline` lists a \
                                file or directory, `trace` gives callers, callees or a path, \
                                `references` every use, `impact` what a change breaks and which \
                                tests to run, `overview` \
                                the architecture, `grep` text with the symbol around it. \
                                Name symbols `name`, `Class.method` or `path::name`. Counts are \
                                exact; certain and possible uses are apart. More room: `budget`.";

/// Tools, in listing order.
pub static TOOLS: [&Tool; 11] = [
    &tools::explore::TOOL,
    &tools::search::TOOL,
    &tools::show::TOOL,
    &tools::outline::TOOL,
    &tools::trace::TOOL,
    &tools::references::TOOL,
    &tools::impact::TOOL,
    &tools::overview::TOOL,
    &tools::grep::TOOL,
    &tools::sql::TOOL,
    &tools::status::TOOL,
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
        assert!(INSTRUCTIONS.len() / 4 < 150, "{} tokens", INSTRUCTIONS.len() / 4);
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
        assert!(INSTRUCTIONS.contains("`explore`"));
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
