//! The graph that is walked, links and sites of its edges, as answers have them.

use crate::graph::answer::{SiteInfo, Tests};
use crate::graph::calls::CallGraph;
use crate::graph::calls::edge::{Edge, Through};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::trace::answer::{TraceLink, TraceParams};
use cograph_store::SiteRow;

pub(crate) fn link_of(edge: &Edge) -> TraceLink {
    match edge.through {
        None => TraceLink::Sites,
        Some(Through::Method(_)) => TraceLink::Dispatch,
        Some(Through::Holder(_)) => TraceLink::Value,
        Some(Through::Passed(_)) => TraceLink::Passed,
    }
}

pub(crate) fn sites(lookup: &Lookup<'_>, rows: &[SiteRow]) -> Result<Vec<SiteInfo>, QueryError> {
    rows.iter().map(|site| lookup.site(site)).collect()
}

/// Graph to walk. A filter of what several steps reach does not cut the walk.
pub(crate) fn graph<'l, 'q>(lookup: &'l Lookup<'q>, params: &TraceParams) -> CallGraph<'l, 'q> {
    let tests = if params.depth > 1 { Tests::Include } else { params.tests };
    CallGraph::new(lookup, &params.kinds, params.dispatch, params.follow, tests)
        .with_most(params.references)
}
