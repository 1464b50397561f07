//! What comments say, and what marks test code.

use super::words::TestMacroKind;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Syntax of documentation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Documentation {
    /// Kinds of comment nodes.
    pub comments: Vec<String>,
    /// Prefixes of comments that document the next definition; without prefixes all comments do.
    pub prefixes: Vec<String>,
    /// Node kind of a string that documents a definition as the first statement of its body.
    pub body_string: Option<String>,
    /// First words of a line in such a comment by which a definition is deprecated.
    pub deprecated: Vec<String>,
    /// Tags in comments that state the type of a parameter: the type in braces, then the name
    /// (`@param`); without a name, that of the receiver (`@this`). Behind the name of a type they
    /// state its members (`@property`).
    pub param_tags: Vec<String>,
    /// Tags in comments that import names for types: `@import { A } from "x"`, or with an imported
    /// type in braces before its name here.
    pub import_tags: Vec<String>,
    /// Tags in comments that name type parameters: `@template T`, or with a bound in braces before
    /// the name.
    pub template_tags: Vec<String>,
    /// Tags in comments that state the type of the result, in braces.
    pub result_tags: Vec<String>,
    /// Tags in comments that state the type of a variable, in braces.
    pub type_tags: Vec<String>,
    /// Types in comments that carry no information.
    pub vague_types: Vec<String>,
    /// Types in comments have no braces: they end at white space outside of brackets. They count
    /// where no type is declared, or one of `vague-types`.
    pub bare_types: bool,
    /// Generic types in comments that are arrays of their last argument.
    pub array_types: Vec<String>,
}

/// Patterns of test code.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct TestMarkers {
    /// Globs of test files.
    pub files: Vec<String>,
    /// Prefixes of names of test functions in test files.
    pub function_prefixes: Vec<String>,
    /// Functions that take a title and a closure with the test.
    pub calls: Vec<String>,
    /// Macro that defines a test -> what its arguments are. A body follows the call. A star in the
    /// name is any text.
    pub macros: BTreeMap<String, TestMacroKind>,
    /// Decorators of what sets tests up, of those that mark test code.
    pub set_up: Vec<String>,
    /// Programs that run tests: the first whose files the repository has, otherwise the one without
    /// files.
    pub runners: Vec<TestRunner>,
}

impl TestMarkers {
    /// Returns what the arguments of a macro are, if it defines a test.
    pub fn macro_kind(&self, name: &str) -> Option<TestMacroKind> {
        let by_pattern = || self.macros.iter().find(|(pattern, _)| fits(pattern, name));
        self.macros.get(name).or_else(|| by_pattern().map(|(_, kind)| kind)).copied()
    }
}

/// True if a name is a pattern with any text for each star.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    rest.char_indices().any(|(at, _)| fits(after, &rest[at..])) || after.is_empty()
}

/// Program that runs tests.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct TestRunner {
    /// Name.
    pub name: String,
    /// Files at the root of a repository that uses it.
    pub files: Vec<String>,
    /// Program and arguments; `{tests}` is replaced by the words of each test, and within a word
    /// `{tests|}` by the tests joined by a bar (or `+`, or `,`).
    pub command: Vec<String>,
    /// Words of one test: `{path}`, `{directory}`, `{module}`, `{class}`, `{name}`, `{line}`,
    /// `{full}` (qualified name), `{full::}`.
    pub test: String,
    /// Tests with the same text share a command.
    pub per: String,
    /// It runs tests in classes only.
    pub in_classes: bool,
}
