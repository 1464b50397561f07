//! Marks before the names of a trace: certainty and indirection of an edge.

use crate::model::Step;
use crate::query::trace::{TraceLink, TraceNode};
use crate::query::{Certainty, SiteInfo};
use crate::server::answers::budget::Page;

/// Returns the marks of an edge: certainty, then indirection.
pub(super) fn mark(node: &TraceNode) -> String {
    let certainty = match node.certainty {
        Certainty::Certain if is_variant(&node.sites) => "|",
        Certainty::Certain => "",
        Certainty::Likely => "~",
        Certainty::Possible => "?",
        Certainty::Textual => "??",
    };
    let link = match node.link {
        TraceLink::Sites => "",
        TraceLink::Dispatch => "^",
        TraceLink::Value => "=",
    };
    format!("{certainty}{link}")
}

/// True if all sites of an edge have other variants of the target.
pub(super) fn is_variant(sites: &[SiteInfo]) -> bool {
    sites.iter().all(|site| site.step == Step::Conditional)
}

/// Explains the marks of these nodes.
pub(super) fn legend(nodes: &[&TraceNode], is_tree: bool, page: &mut Page) {
    let meanings: Vec<&str> = [
        (
            nodes.iter().any(|node| mark(node).starts_with('|')),
            "| one of several variants, selected by the configuration",
        ),
        (nodes.iter().any(|node| node.certainty == Certainty::Likely), "~ likely, not proven"),
        (
            nodes.iter().any(|node| node.certainty == Certainty::Possible),
            "? one of several candidates",
        ),
        (nodes.iter().any(|node| node.certainty == Certainty::Textual), "?? same name only"),
        (
            nodes.iter().any(|node| node.link == TraceLink::Dispatch),
            "^ through an override or implementation",
        ),
        (
            nodes.iter().any(|node| node.link == TraceLink::Value),
            "= through a variable or field that holds it",
        ),
        (
            is_tree && nodes.iter().any(|node| node.repeated),
            "* its callers or callees stand at its other place",
        ),
    ]
    .into_iter()
    .filter_map(|(used, meaning)| used.then_some(meaning))
    .collect();
    if !meanings.is_empty() {
        page.note(meanings.join("; "));
    }
}
