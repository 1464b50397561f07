//! Questions of the page: own ones, which no list of tools has, and tools of clients.

use crate::page::{find, map, matrix, neighbourhood};
use crate::tools::tool::Tool;
use crate::tools::{impact, outline, overview, trace};

/// Method of the protocol by which the page asks.
pub(crate) const METHOD: &str = "cograph/page";

static QUESTIONS: [&Tool; 9] = [
    &find::TOOL,
    &neighbourhood::TOOL,
    &map::TOOL,
    &matrix::TOOL,
    &matrix::USES,
    &impact::TOOL,
    &outline::TOOL,
    &overview::TOOL,
    &trace::TOOL,
];

/// The question of this name.
pub(crate) fn question(name: &str) -> Option<&'static Tool> {
    QUESTIONS.into_iter().find(|tool| tool.name == name)
}
