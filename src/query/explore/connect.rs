//! Connections between the relevant symbols: call paths, and tests that reach them.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::explore::answer::{Connection, CoveringTest};
use crate::graph::answer::{SymbolInfo, Total};
use crate::graph::calls::edge::End;
use crate::graph::calls::{CallGraph, Unresolved};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_store::SymbolKey;

/// Maximum number of symbols visited from one symbol.
const MAX_VISITED: usize = 3_000;

/// Visited symbol: predecessor, line of the call (0 for dispatch), distance.
#[derive(Clone, Copy)]
struct Reached {
    from: SymbolKey,
    line: u32,
    distance: u32,
}

/// Returns a shortest path of at most `depth` calls for each ordered pair. A path through a third
/// symbol of the list is omitted: its parts are included.
pub(super) fn connections(
    lookup: &Lookup<'_>,
    graph: &CallGraph<'_, '_>,
    keys: &[SymbolKey],
    depth: u32,
) -> Result<Vec<Connection>, QueryError> {
    let mut connections = Vec::new();
    for &start in keys {
        let (reached, _) = walk(start, depth, |symbol| {
            let edges = graph.callees(symbol)?.edges.into_iter();
            Ok(edges
                .filter_map(|edge| match edge.end {
                    End::Symbol(next) => {
                        let line = edge
                            .sites
                            .first()
                            .filter(|_| edge.through.is_none())
                            .map_or(0, |site| site.at.line);
                        Some((next, line))
                    }
                    End::File(_) | End::External(_) => None,
                })
                .collect())
        })?;
        for &end in keys.iter().filter(|&&end| end != start && reached.contains_key(&end)) {
            let mut backwards = vec![(end, 0)];
            let mut at = end;
            while let Some(step) = reached.get(&at).filter(|_| at != start) {
                backwards.push((step.from, step.line));
                at = step.from;
            }
            let inner = &backwards[1..backwards.len() - 1];
            if inner.iter().any(|(key, _)| keys.contains(key)) {
                continue;
            }
            let chain = backwards.iter().rev().map(|&(key, line)| Ok((lookup.info_of(key)?, line)));
            connections.push(Connection { chain: chain.collect::<Result<_, QueryError>>()? });
        }
    }
    connections.sort_by_key(|connection| connection.chain.len());
    Ok(connections)
}

/// Returns the tests from which one of the symbols is reachable within `depth` calls.
pub(super) fn covering_tests(
    lookup: &Lookup<'_>,
    graph: &CallGraph<'_, '_>,
    keys: &[SymbolKey],
    depth: u32,
) -> Result<(Vec<CoveringTest>, Total), QueryError> {
    let mut found: BTreeMap<SymbolKey, (Vec<usize>, u32)> = BTreeMap::new();
    let mut is_complete = true;
    for (place, &start) in keys.iter().enumerate() {
        let (reached, complete) = walk(start, depth, |symbol| {
            // The callers of a test are irrelevant.
            if symbol != start && lookup.is_test(&*lookup.symbol(symbol)?)? {
                return Ok(Vec::new());
            }
            let edges = graph.callers(symbol, Unresolved::Ignored)?.edges.into_iter();
            Ok(edges
                .filter_map(
                    |edge| if let End::Symbol(next) = edge.end { Some((next, 0)) } else { None },
                )
                .collect())
        })?;
        is_complete &= complete;
        for (key, step) in in_order(&reached) {
            if key != start && lookup.is_test(&*lookup.symbol(key)?)? {
                let entry = found.entry(key).or_insert((Vec::new(), step.distance));
                entry.0.push(place);
                entry.1 = entry.1.min(step.distance);
            }
        }
    }
    let mut tests = Vec::with_capacity(found.len());
    for (key, (covers, distance)) in found {
        tests.push(CoveringTest { symbol: lookup.info_of(key)?, covers, distance });
    }
    let rank = |test: &CoveringTest| (Reverse(test.covers.len()), test.distance);
    tests.sort_by(|one, other| {
        rank(one).cmp(&rank(other)).then_with(|| by_place(&one.symbol, &other.symbol))
    });
    let total = tests.len() as u64;
    Ok((tests, if is_complete { Total::Exact(total) } else { Total::AtLeast(total) }))
}

/// Order by path and position. Within a file keys follow positions.
fn by_place(one: &SymbolInfo, other: &SymbolInfo) -> Ordering {
    one.path.cmp(&other.path).then(one.key.cmp(&other.key))
}

fn in_order(reached: &FxHashMap<SymbolKey, Reached>) -> Vec<(SymbolKey, Reached)> {
    let mut all: Vec<_> = reached.iter().map(|(key, step)| (*key, *step)).collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    all
}

/// Breadth-first search; returns whether everything within the depth was visited.
fn walk(
    start: SymbolKey,
    depth: u32,
    mut step: impl FnMut(SymbolKey) -> Result<Vec<(SymbolKey, u32)>, QueryError>,
) -> Result<(FxHashMap<SymbolKey, Reached>, bool), QueryError> {
    let mut reached = FxHashMap::default();
    reached.insert(start, Reached { from: start, line: 0, distance: 0 });
    let mut level = vec![start];
    for distance in 1..=depth {
        let mut following = Vec::new();
        for symbol in level {
            if reached.len() >= MAX_VISITED {
                return Ok((reached, false));
            }
            for (next, line) in step(symbol)? {
                if let std::collections::hash_map::Entry::Vacant(place) = reached.entry(next) {
                    place.insert(Reached { from: symbol, line, distance });
                    following.push(next);
                }
            }
        }
        level = following;
    }
    Ok((reached, true))
}
