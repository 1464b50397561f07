//! `search`: ranked symbols by name, words, substring or regular expression.

mod answer;
mod context;
pub mod glance;
mod matching;
mod scan;

use cograph_faults::{Fault, planted};
use std::cmp::Reverse;

use self::matching::Pattern;
use super::locate::locate;
use super::names;
use crate::graph::answer::{Tests, Total};
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
pub use answer::{Match, SearchHit, SearchMode, SearchParams, SearchResult};
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_store::{KeyOrder, NameKey, NameRank, Snapshot, SymbolHead, SymbolKey, SymbolRank};
use rustc_hash::{FxHashMap, FxHashSet};

/// Highest total that is always counted; a higher one is reported as a lower bound. A scan that
/// ends early has found more, so that the report does not depend on the blocks that it left out:
/// which names share a block depends on the history of changes.
pub const COUNTED: u64 = 500;

/// Maximum number of blocks of names scanned for matches.
pub const BLOCKS: usize = 300;

/// Maximum number of blocks scanned for misspelt names: most names are rejected after a few
/// letters.
pub const BLOCKS_MISSPELT: usize = 900;

/// Maximum number of symbols that are checked against the filters.
pub const FILTERED: usize = 20_000;

/// Maximum number of keys of data files that are compared.
const MAX_KEYS: usize = 1_000;

/// Maximum number of symbols that are read for a list that keys of data files do not fill.
const MAX_READ: usize = 5_000;

/// Maximum number of names of equal rank whose symbols are read.
const MAX_EQUAL: usize = 400;

/// Finds symbols. Order: code before keys of data files, quality of the match, then number of
/// references, then code before tests, then path and line. Equal keys of data files are one hit.
pub fn search(
    snapshot: &Snapshot,
    params: &SearchParams,
    cancel: &CancelToken,
) -> Result<SearchResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let text = params.text.trim();
    if text.is_empty() {
        let reason = "it is empty: give a name, words or a pattern".to_owned();
        return Err(QueryError::InvalidParameter { parameter: "text", reason });
    }
    let files = FileFilter::new(&lookup, params.path.as_deref(), params.language.as_deref())?;
    let filter = Filter { lookup: &lookup, params, files };
    let mut found = Matches::all_of(filter.qualified(text)?);
    if found.is_empty() && params.mode != SearchMode::Name {
        found = filter.scan(&Pattern::new(text, params.mode)?)?;
    }
    let (total, is_complete) = (found.total, found.is_complete);
    let hits = hits(&lookup, found.best, params.offset, params.limit)?;
    let total = if planted(Fault::PageIsTotal) { hits.len() as u64 } else { total };
    let total = if is_complete { Total::Exact(total) } else { Total::AtLeast(total) };
    Ok(SearchResult { hits, total })
}

/// Returns a page of hits, best first. `offset` counts symbols.
fn hits(
    lookup: &Lookup<'_>,
    mut found: Vec<Found>,
    offset: usize,
    limit: usize,
) -> Result<Vec<SearchHit>, QueryError> {
    let order = lookup.order();
    found.sort_by_key(|found| rank(order, found));
    let code = found.partition_point(|found| !found.is_data);
    let data = found.split_off(code);
    let mut hits = found
        .into_iter()
        .skip(offset)
        .take(limit)
        .map(|found| hit(lookup, &found))
        .collect::<Result<Vec<_>, _>>()?;
    if hits.len() < limit {
        hits.extend(keys(lookup, data, offset.saturating_sub(code), limit - hits.len())?);
    }
    Ok(hits)
}

fn hit(lookup: &Lookup<'_>, found: &Found) -> Result<SearchHit, QueryError> {
    lookup.check()?;
    let symbol = lookup.info_of(found.head.key)?;
    Ok(SearchHit { symbol, matched: found.matched, same_in: 0 })
}

/// Returns a page of keys of data files: equal ones of several files are one hit.
fn keys(
    lookup: &Lookup<'_>,
    mut data: Vec<Found>,
    offset: usize,
    limit: usize,
) -> Result<Vec<SearchHit>, QueryError> {
    data.truncate(MAX_KEYS);
    let mut hits =
        data.iter().map(|found| hit(lookup, found)).collect::<Result<Vec<SearchHit>, _>>()?;
    let mut first: FxHashMap<(Match, String), usize> = FxHashMap::default();
    for (place, hit) in hits.iter().enumerate() {
        first.entry((hit.matched, hit.symbol.qualified_name())).or_insert(place);
    }
    // Equal keys follow the best of them.
    hits.sort_by_cached_key(|hit| first[&(hit.matched, hit.symbol.qualified_name())]);
    let mut folded: Vec<SearchHit> = Vec::new();
    for hit in hits.into_iter().skip(offset) {
        let is_equal = |last: &SearchHit| {
            last.matched == hit.matched
                && last.symbol.qualified_name() == hit.symbol.qualified_name()
        };
        if let Some(last) = folded.last_mut().filter(|last| is_equal(last)) {
            last.same_in += 1;
        } else if folded.len() == limit {
            break;
        } else {
            folded.push(hit);
        }
    }
    Ok(folded)
}

/// Like [`search`], but after the symbols with all words in their names come those ranked by full
/// text, as in `explore`.
pub fn search_in(
    snapshot: &Snapshot,
    params: &SearchParams,
    cancel: &CancelToken,
) -> Result<SearchResult, QueryError> {
    if params.mode != SearchMode::Words || params.text.split_whitespace().nth(1).is_none() {
        return search(snapshot, params, cancel);
    }
    let wanted = params.offset.saturating_add(params.limit);
    let lookup = Lookup::new(snapshot, cancel)?;
    let text_files = FileFilter::new(&lookup, params.path.as_deref(), params.language.as_deref())?;
    let found = locate(&lookup, &text_files, &params.text, usize::MAX)?;
    if found.symbols.is_empty() {
        return search(snapshot, params, cancel);
    }
    let filter = Filter { lookup: &lookup, params, files: text_files };
    let mut named = filter.named(params.text.trim())?;
    // The list is filled by names: further ones may match.
    let is_complete = named.is_complete && named.total < wanted as u64 && !found.is_partial;
    named.best.retain(|found| found.matched <= Match::Words);
    named.best.sort_by_key(|found| rank(lookup.order(), found));
    let code = named.best.partition_point(|found| !found.is_data);
    let mut data = named.best.split_off(code);
    let mut seen: FxHashSet<SymbolKey> = data.iter().map(|found| found.head.key).collect();
    let mut total = data.len() as u64;
    let mut hits = hits(&lookup, named.best, 0, wanted)?;
    seen.extend(hits.iter().map(|hit| hit.symbol.key));
    total += hits.len() as u64;
    for located in found.symbols.iter().filter(|located| seen.insert(located.head.key)) {
        if let Some(found) = filter.admit(Match::Text, located.head)? {
            total += 1;
            if found.is_data {
                data.push(found);
            } else if hits.len() < wanted {
                hits.push(hit(&lookup, &found)?);
            }
        }
    }
    hits.extend(keys(&lookup, data, 0, wanted.saturating_sub(hits.len()))?);
    let total = if is_complete { Total::Exact(total) } else { Total::AtLeast(total) };
    hits.drain(..params.offset.min(hits.len()));
    Ok(SearchResult { hits, total })
}

/// Symbol that passed the filters.
struct Found {
    matched: Match,
    head: SymbolHead,
    is_test: bool,
    /// True for a key of a data file.
    is_data: bool,
}

/// Sort key of hits, best first.
fn rank(order: &KeyOrder, found: &Found) -> (bool, Match, Reverse<u32>, bool, SymbolRank) {
    let Found { matched, head, is_test, is_data } = found;
    let matched = if planted(Fault::MatchNotRanked) { &Match::Exact } else { matched };
    (*is_data, *matched, Reverse(head.references), *is_test, order.head(head))
}

/// Matches: symbols that include the best hits, and their total number.
struct Matches {
    best: Vec<Found>,
    total: u64,
    /// True if the total is exact; otherwise it is a lower bound.
    is_complete: bool,
}

impl Matches {
    fn all_of(found: Vec<Found>) -> Self {
        Self { total: found.len() as u64, best: found, is_complete: true }
    }

    fn is_empty(&self) -> bool {
        self.total == 0
    }
}

/// Matching name, with its number of symbols and the highest number of references of one, if known.
struct NameFound {
    matched: Match,
    key: NameKey,
    /// Rank among all names: a row key would depend on the time of insertion.
    rank: NameRank,
    figures: Option<(u32, u32)>,
}

impl NameFound {
    fn symbols(&self) -> u32 {
        self.figures.map_or(1, |(symbols, _)| symbols)
    }

    /// Quality of the match, then the highest number of references: best first.
    fn fit(&self) -> (Match, Reverse<u32>) {
        (self.matched, Reverse(self.figures.map_or(u32::MAX, |(_, most)| most)))
    }

    fn order(&self) -> (Match, Reverse<u32>, NameRank) {
        let (matched, most) = self.fit();
        (matched, most, self.rank)
    }
}

struct Filter<'f, 'q> {
    lookup: &'f Lookup<'q>,
    params: &'f SearchParams,
    files: FileFilter,
}

impl Filter<'_, '_> {
    /// Returns the symbols that the text names as a whole: for `Name` any name, for `Words` a
    /// qualified one.
    fn qualified(&self, text: &str) -> Result<Vec<Found>, QueryError> {
        let wanted = match self.params.mode {
            SearchMode::Name => true,
            SearchMode::Words => {
                names::segments(text).len() > 1 && !text.contains(char::is_whitespace)
            }
            SearchMode::Substring | SearchMode::Regex => false,
        };
        let mut found = Vec::new();
        for head in if wanted { names::heads(self.lookup, text)? } else { Vec::new() } {
            found.extend(self.admit(Match::Exact, head)?);
        }
        Ok(found)
    }

    /// Returns the symbols that the text names as a whole, or else those whose names contain all of
    /// its words.
    fn named(&self, text: &str) -> Result<Matches, QueryError> {
        let found = Matches::all_of(self.qualified(text)?);
        match found.is_empty() {
            true => self.fitting(&Pattern::new(text, self.params.mode)?),
            false => Ok(found),
        }
    }

    /// Returns the symbols with these names that pass the filters: best names first, up to the
    /// limit.
    fn filtered(&self, mut names: Vec<NameFound>) -> Result<Matches, QueryError> {
        self.look_up_figures(&mut names)?;
        names.sort_unstable_by_key(NameFound::order);
        let (mut looks, mut read) = (0, 0);
        while looks < FILTERED && read < names.len() {
            looks += names[read].symbols() as usize;
            read += 1;
        }
        let mut found = Matches::all_of(self.heads(&names[..read])?);
        found.is_complete = read == names.len();
        Ok(found)
    }

    /// Returns the symbols with these names. Without a filter, only as many are read as needed for
    /// the best hits.
    fn best_of(&self, mut names: Vec<NameFound>) -> Result<Matches, QueryError> {
        self.lookup.check()?;
        if self.is_filtered() {
            return self.filtered(names);
        }
        let wanted = self.wanted();
        self.look_up_figures(&mut names)?;
        let total = names.iter().map(|name| u64::from(name.symbols())).sum();
        // Usually the first ones suffice: a partial sort.
        let mut sorted = names.len().min(MAX_EQUAL.max(wanted).saturating_mul(4));
        if sorted < names.len() {
            names.select_nth_unstable_by_key(sorted, NameFound::order);
        }
        names[..sorted].sort_unstable_by_key(NameFound::order);
        let mut best = Vec::new();
        // Number of symbols that precede any symbol of the remaining names.
        let mut before = 0;
        let mut place = 0;
        while let Some(fit) = names.get(place).filter(|_| before < wanted).map(NameFound::fit) {
            let mut equal =
                names[place..sorted].iter().take_while(|name| name.fit() == fit).count();
            if place + equal == sorted {
                names[sorted..].sort_unstable_by_key(NameFound::order);
                sorted = names.len();
                equal = names[place..].iter().take_while(|name| name.fit() == fit).count();
            }
            // Of names of equal rank, this number fills any list.
            for name in &names[place..place + equal.min(MAX_EQUAL.max(wanted))] {
                // The only symbol of a name among the best so far is a hit: its whole row is read
                // at once.
                if name.symbols() == 1 && best.len() < wanted {
                    best.extend(self.rows_of(name.matched, name.key)?);
                } else {
                    best.extend(self.heads(std::slice::from_ref(name))?);
                }
            }
            place += equal;
            let next = names.get(place).map(NameFound::fit);
            before = next.map_or(0, |next| {
                // Keys of data files come after all others: reading goes on, within a limit.
                let is_before = |found: &&Found| {
                    (found.matched, Reverse(found.head.references)) < next
                        && (!found.is_data || best.len() > MAX_READ)
                };
                best.iter().filter(is_before).count()
            });
        }
        Ok(Matches { best, total, is_complete: true })
    }

    /// Reads the statistics of names outside of the blocks, so that the order depends on the
    /// current symbols, not on the history of changes.
    fn look_up_figures(&self, names: &mut [NameFound]) -> Result<(), QueryError> {
        for name in names.iter_mut().filter(|name| name.figures.is_none()) {
            self.lookup.check()?;
            name.figures = Some(self.lookup.figures(name.key)?);
        }
        Ok(())
    }

    fn heads(&self, names: &[NameFound]) -> Result<Vec<Found>, QueryError> {
        let mut found = Vec::new();
        for name in names {
            self.lookup.check()?;
            for head in self.lookup.snapshot.symbol_heads(name.key)? {
                found.extend(self.admit(name.matched, head)?);
            }
        }
        Ok(found)
    }

    /// Does the same for one name, and memoizes the rows.
    fn rows_of(&self, matched: Match, name: NameKey) -> Result<Vec<Found>, QueryError> {
        self.lookup.check()?;
        let mut found = Vec::new();
        for row in self.lookup.snapshot.symbols_named(name)? {
            found.extend(self.admit(matched, self.lookup.remember(row).head())?);
        }
        Ok(found)
    }

    fn admit(&self, matched: Match, head: SymbolHead) -> Result<Option<Found>, QueryError> {
        let params = self.params;
        let is_exported = head.flags & flags::EXPORTED != 0;
        if !(params.kinds.is_empty() || params.kinds.contains(&head.kind))
            || params.exported.is_some_and(|wanted| wanted != is_exported)
        {
            return Ok(None);
        }
        let (is_in, is_test, language) = self
            .lookup
            .of_file(head.file, |file| (self.files.admits(file), file.test, file.language))?;
        let is_test = head.flags & flags::TEST != 0 || is_test;
        let is_data = self.lookup.is_data(language, head.kind);
        let admitted = is_in && params.tests.admits(is_test);
        Ok(admitted.then_some(Found { matched, head, is_test, is_data }))
    }

    /// True if the filters exclude any symbol.
    fn is_filtered(&self) -> bool {
        let params = self.params;
        let has_kinds =
            !params.kinds.is_empty() || params.exported.is_some() || params.tests != Tests::Include;
        has_kinds || self.files.is_active()
    }

    /// Number of hits needed, including skipped ones.
    fn wanted(&self) -> usize {
        self.params.offset.saturating_add(self.params.limit)
    }
}
