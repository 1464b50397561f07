//! Shortest call path from one symbol to another.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::{MAX_NOT_FOLLOWED, PathStep, TraceFinding, link_of, sites};
use crate::grammar::{self, Tier};
use crate::model::facts::flags;
use crate::query::graph::calls::{CallGraph, Edge, End, Through};
use crate::query::graph::lookup::Lookup;
use crate::query::{Certainty, QueryError, SymbolInfo};
use crate::store::{FileKey, SiteRow, SymbolKey};

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

/// Returns the number of symbols with a body that is not understood, and the first of them: of a
/// language without references, with a region that could not be parsed, or without any reference.
/// Symbols beyond the limit count as well.
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
            if first.is_none() {
                first = Some(Box::new(lookup.info(&symbol)?));
            }
        }
    }
    Ok((count, first))
}
