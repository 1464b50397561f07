//! Words for the edges of a trace: certainty and indirection.

use cograph_model::Step;
use cograph_query::trace::{TraceLink, TraceNode};
use cograph_query::{Certainty, SiteInfo};

/// What holds of an edge, in words: certainty, then indirection. Empty for a certain direct one.
pub(super) fn mark(node: &TraceNode) -> String {
    let certainty = match node.certainty {
        Certainty::Certain if is_variant(&node.sites) => "one variant",
        Certainty::Certain => "",
        Certainty::Likely => "likely",
        Certainty::Possible => "possible",
        Certainty::Textual => "same name only",
    };
    let link = match node.link {
        TraceLink::Sites => "",
        TraceLink::Dispatch => "by dispatch",
        TraceLink::Value => "by a function value",
        TraceLink::Passed => "passed",
    };
    let both = [certainty, link].into_iter().filter(|word| !word.is_empty());
    both.collect::<Vec<_>>().join(", ")
}

/// The same before the entries of which it holds.
pub(super) fn heading_mark(node: &TraceNode) -> String {
    let mark = mark(node);
    if mark.is_empty() { mark } else { format!("{mark}:") }
}

/// Title of nodes of which all the same holds.
pub(super) fn shared_mark(nodes: &[&TraceNode]) -> Option<String> {
    let mark = heading_mark(nodes.first()?);
    let is_shared = nodes.len() > 1 && nodes.iter().all(|node| heading_mark(node) == mark);
    (is_shared && !mark.is_empty()).then_some(mark)
}

/// True if all sites of an edge have other variants of the target.
pub(super) fn is_variant(sites: &[SiteInfo]) -> bool {
    sites.iter().all(|site| site.step == Step::Conditional)
}
