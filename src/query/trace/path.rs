//! Shortest call path from the meanings of one name to those of another.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::answer::{Certainty, SymbolInfo};
use crate::graph::calls::CallGraph;
use crate::graph::calls::edge::{Edge, End, Through};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names;
use crate::trace::answer::{MAX_NOT_FOLLOWED, PathStep, TraceFinding, TraceParams, TraceResult};
use crate::trace::sites::{link_of, sites};
use cograph_grammar::{self as grammar, Tier};
use cograph_model::facts::flags;
use cograph_store::{FileKey, SiteRow, SymbolKey};

/// Looks for a path from any meaning of the start to any of the end.
pub(super) fn between(
    lookup: &Lookup<'_>,
    graph: &CallGraph<'_, '_>,
    end: &str,
    params: &TraceParams,
) -> Result<TraceResult, QueryError> {
    let start = PathEnd::named(lookup, &params.symbol)?;
    let end = PathEnd::named(lookup, end)?;
    let Some(via) = &params.via else {
        let finding = surest(lookup, graph, &start.keys, &end.keys, params)?;
        return result(lookup, &start, &end, finding);
    };
    let via = PathEnd::named(lookup, via)?;
    let mut steps = match surest(lookup, graph, &start.keys, &via.keys, params)? {
        TraceFinding::Path(steps) => steps,
        none => return result(lookup, &start, &via, none),
    };
    let from = steps.last().map(|step| step.symbol.key).map_or(via.keys, |reached| vec![reached]);
    match surest(lookup, graph, &from, &end.keys, params)? {
        TraceFinding::Path(rest) => {
            steps.extend(rest.into_iter().skip(1));
            result(lookup, &start, &end, TraceFinding::Path(steps))
        }
        none => result(lookup, &PathEnd { keys: from }, &end, none),
    }
}

/// Start or end of a path: every symbol that the name means, best first; never empty.
struct PathEnd {
    keys: Vec<SymbolKey>,
}

impl PathEnd {
    fn named(lookup: &Lookup<'_>, name: &str) -> Result<Self, QueryError> {
        let meanings = names::meanings(lookup, name)?;
        Ok(Self { keys: meanings.iter().flat_map(names::Meaning::keys).collect() })
    }
}

/// Result for a path, or for none, between two ends.
fn result(
    lookup: &Lookup<'_>,
    start: &PathEnd,
    end: &PathEnd,
    finding: TraceFinding,
) -> Result<TraceResult, QueryError> {
    let infos = |keys: &[SymbolKey]| {
        keys.iter().map(|&key| lookup.info_of(key)).collect::<Result<Vec<_>, _>>()
    };
    Ok(match &finding {
        TraceFinding::Path(steps) => {
            let (root, to) = (steps[0].symbol.clone(), steps[steps.len() - 1].symbol.clone());
            TraceResult { root, also: Vec::new(), to: Some(to), also_to: 0, finding }
        }
        _ => TraceResult {
            root: lookup.info_of(start.keys[0])?,
            also: infos(&start.keys[1..])?,
            to: Some(lookup.info_of(end.keys[0])?),
            also_to: end.keys.len() as u64 - 1,
            finding,
        },
    })
}

/// Maximum number of symbols that a search along possible calls visits.
const MAX_POSSIBLE: usize = 5_000;

/// Shortest path along calls whose target is known; if there is none, along calls with several
/// candidates as well, and then through functions that are passed or stored. The steps of a path
/// say which of them are possible only.
fn surest(
    lookup: &Lookup<'_>,
    graph: &CallGraph<'_, '_>,
    starts: &[SymbolKey],
    ends: &[SymbolKey],
    params: &TraceParams,
) -> Result<TraceFinding, QueryError> {
    let known = shortest(lookup, graph, starts, ends, params.depth, usize::MAX)?;
    if matches!(known, TraceFinding::Path(_)) || params.follow != TraceParams::default().follow {
        return Ok(known);
    }
    let params = TraceParams { follow: Certainty::Possible, ..params.clone() };
    for graph in [super::graph(lookup, &params), super::graph(lookup, &params).with_passed()] {
        let possible = shortest(lookup, &graph, starts, ends, params.depth, MAX_POSSIBLE)?;
        if matches!(possible, TraceFinding::Path(_)) {
            return Ok(possible);
        }
    }
    Ok(known)
}

/// Breadth-first search over callees, from all starts at once: of several starts and ends, those
/// with the shortest path, in the order given. Ends without one when `most` symbols were visited.
fn shortest(
    lookup: &Lookup<'_>,
    graph: &CallGraph<'_, '_>,
    starts: &[SymbolKey],
    ends: &[SymbolKey],
    depth: u32,
    most: usize,
) -> Result<TraceFinding, QueryError> {
    let mut targets = FxHashSet::default();
    for &end in ends {
        targets.extend(lookup.same_entity(end)?);
    }
    let ends = targets;
    let mut came_by: FxHashMap<SymbolKey, Option<(SymbolKey, Edge)>> =
        starts.iter().map(|&start| (start, None)).collect();
    let mut level = starts.to_vec();
    let mut arrived = starts.iter().copied().find(|start| ends.contains(start));
    let (mut not_followed, mut first) = (0, Vec::new());
    for _ in 0..depth {
        if arrived.is_some() || level.is_empty() || came_by.len() >= most {
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
        let visited_symbols: Vec<SymbolKey> = came_by.keys().copied().collect();
        let (unread, first_unread) = unread_bodies(lookup, visited_symbols)?;
        return Ok(TraceFinding::NoPath {
            exhausted: level.is_empty(),
            visited,
            not_followed,
            first,
            unread,
            first_unread,
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

/// Maximum number of visited symbols whose bodies are checked.
const MAX_BODIES: usize = 2_000;

/// Minimum number of lines of a body without a reference that counts as not read.
const BODY_LINES: u32 = 3;

/// Returns the number of symbols with a body that is not understood, and the first of them by path
/// and line: of a language without references, with a region that could not be parsed, or without
/// any reference. Symbols beyond the limit count as well.
fn unread_bodies(
    lookup: &Lookup<'_>,
    mut symbols: Vec<SymbolKey>,
) -> Result<(u64, Option<Box<SymbolInfo>>), QueryError> {
    symbols.sort_unstable();
    let mut count = symbols.len().saturating_sub(MAX_BODIES) as u64;
    let mut first = None;
    let mut problems: FxHashMap<FileKey, Vec<(u32, u32)>> = FxHashMap::default();
    for key in symbols.into_iter().take(MAX_BODIES) {
        lookup.check()?;
        let symbol = lookup.symbol(key)?;
        let is_declaration = symbol.flags & flags::DECLARATION != 0;
        if !symbol.kind.is_callable() || is_declaration {
            continue;
        }
        if let Entry::Vacant(entry) = problems.entry(symbol.file) {
            let rows = lookup.snapshot.problems_of(symbol.file)?;
            entry.insert(
                rows.iter().map(|row| (row.problem.first_line, row.problem.last_line)).collect(),
            );
        }
        let (from, to) = (symbol.extent.start.line, symbol.extent.end.line);
        let is_broken =
            problems[&symbol.file].iter().any(|(first, last)| *first <= to && from <= *last);
        let language = lookup.language(lookup.place(symbol.file)?.language);
        let is_unread = grammar::tier_of(language) == Some(Tier::Structure);
        let is_empty = symbol.site_span == 0 && to - from + 1 > BODY_LINES;
        if is_broken || is_unread || is_empty {
            count += 1;
            // Keys depend on the history of the store.
            let info = lookup.info(&symbol)?;
            let place = |info: &SymbolInfo| (info.path.clone(), info.name_at.line);
            if first.as_deref().is_none_or(|other| place(&info) < place(other)) {
                first = Some(Box::new(info));
            }
        }
    }
    Ok((count, first))
}
