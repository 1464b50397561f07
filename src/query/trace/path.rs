//! Shortest call path from one symbol to another.

use rustc_hash::FxHashMap;

use super::{MAX_NOT_FOLLOWED, PathStep, TraceFinding, link_of, sites};
use crate::query::graph::calls::{CallGraph, Edge, End, Through};
use crate::query::graph::lookup::Lookup;
use crate::query::{Certainty, QueryError};
use crate::store::{SiteRow, SymbolKey};

/// Breadth-first search over callees.
pub(super) fn shortest(
    lookup: &Lookup<'_>,
    graph: &CallGraph<'_, '_>,
    start: SymbolKey,
    end: SymbolKey,
    depth: u32,
) -> Result<TraceFinding, QueryError> {
    let ends = lookup.same_entity(end)?;
    let mut came_by: FxHashMap<SymbolKey, Option<(SymbolKey, Edge)>> = FxHashMap::default();
    came_by.insert(start, None);
    let mut level = vec![start];
    let mut arrived = ends.contains(&start).then_some(start);
    let (mut not_followed, mut first) = (0, Vec::new());
    for _ in 0..depth {
        if arrived.is_some() || level.is_empty() {
            break;
        }
        let mut following = Vec::new();
        for &symbol in &level {
            let callees = graph.callees(symbol)?;
            not_followed += callees.vague.len() as u64;
            first.extend(
                callees
                    .vague
                    .into_iter()
                    .map(|(site, _)| site)
                    .take(MAX_NOT_FOLLOWED - first.len()),
            );
            // A variable or field may hold other functions than the known ones.
            let mut through_values: Vec<SiteRow> = callees
                .edges
                .iter()
                .filter(|edge| matches!(edge.through, Some(Through::Holder(_))))
                .flat_map(|edge| edge.sites.iter().cloned())
                .collect();
            through_values.sort_unstable_by_key(|site| (site.at, site.key));
            through_values.dedup_by_key(|site| site.key);
            not_followed += through_values.len() as u64;
            let room = MAX_NOT_FOLLOWED - first.len();
            first.extend(through_values.into_iter().take(room));
            for edge in callees.edges {
                let End::Symbol(next) = edge.end else { continue };
                if came_by.contains_key(&next) {
                    continue;
                }
                came_by.insert(next, Some((symbol, edge)));
                following.push(next);
                if ends.contains(&next) {
                    arrived = arrived.or(Some(next));
                }
            }
        }
        level = following;
    }
    let visited = came_by.len() as u64;
    let Some(last) = arrived else {
        let first = sites(lookup, &first)?;
        return Ok(TraceFinding::NoPath {
            exhausted: level.is_empty(),
            visited,
            not_followed,
            first,
        });
    };
    let mut steps = Vec::new();
    let mut at = last;
    loop {
        let symbol = lookup.info_of(at)?;
        match came_by.remove(&at).flatten() {
            Some((before, edge)) => {
                let sites = sites(lookup, &edge.sites)?;
                steps.push(PathStep {
                    symbol,
                    link: Some(link_of(&edge)),
                    certainty: edge.certainty,
                    sites,
                });
                at = before;
            }
            None => {
                steps.push(PathStep {
                    symbol,
                    link: None,
                    certainty: Certainty::Certain,
                    sites: Vec::new(),
                });
                break;
            }
        }
    }
    steps.reverse();
    Ok(TraceFinding::Path(steps))
}
