//! `search`: symbols by name, words, part of a name or regular expression, ranked.

mod around;
mod matching;
mod scan;

use std::cmp::Reverse;

use self::matching::Pattern;
use super::locate::locate;
use super::{QueryError, ReadFile, SymbolInfo, Tests, Total, names};
use crate::model::SymbolKind;
use crate::model::cancel::CancelToken;
use crate::model::facts::flags;
use crate::query::graph::filter::FileFilter;
use crate::query::graph::lookup::Lookup;
use crate::store::{KeyOrder, NameKey, NameRank, Snapshot, SymbolHead, SymbolKey, SymbolRank};
use rustc_hash::FxHashSet;

/// Symbols that are looked at for whether they pass the filters.
const MAX_FILTERED: usize = 20_000;

/// Names that fit as well and are used as often, of which the symbols are looked at.
const MAX_EQUAL: usize = 400;

/// How the text of a search is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchMode {
    /// Words: a name, the beginning or a part of one, several words in any order, with forgiveness
    /// for case and typing errors.
    #[default]
    Words,
    /// A whole name, letter by letter (`Container.name` and `path::name` work too).
    Name,
    /// A part of a name, ignoring case.
    Substring,
    /// A regular expression on the name.
    Regex,
}

/// What to search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchParams {
    /// The text.
    pub text: String,
    /// How it is meant.
    pub mode: SearchMode,
    /// Only symbols of these kinds; empty for all.
    pub kinds: Vec<SymbolKind>,
    /// Only files below this path, or that match this glob.
    pub path: Option<String>,
    /// Only files of this language.
    pub language: Option<String>,
    /// Only symbols that are (or are not) visible outside their file.
    pub exported: Option<bool>,
    /// What to do with test code.
    pub tests: Tests,
    /// So many hits are skipped.
    pub offset: usize,
    /// At most so many hits are returned.
    pub limit: usize,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self {
            text: String::new(),
            mode: SearchMode::default(),
            kinds: Vec::new(),
            path: None,
            language: None,
            exported: None,
            tests: Tests::default(),
            offset: 0,
            limit: 50,
        }
    }
}

/// How well a name fits, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Match {
    /// The name itself.
    Exact,
    /// The name in other case.
    IgnoringCase,
    /// The beginning of the name.
    Prefix,
    /// Whole words of the name (`camelCase`, `snake_case`).
    Words,
    /// A part of the name.
    Substring,
    /// Some of the words asked for, in the name, the containers, the path, the documentation or the
    /// source; see `search_in`.
    Text,
    /// All words asked for, some of them in the names of containers or in the path. Only where
    /// names alone do not fill the list, and for one name only where nothing has it.
    Around,
    /// Some of the words asked for. Only when nothing fits better.
    SomeWords,
    /// The name but for one or two letters. Only when nothing fits better.
    Fuzzy,
    /// The regular expression.
    Regex,
}

/// A symbol that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchHit {
    /// The symbol.
    pub symbol: SymbolInfo,
    /// How well it fits.
    pub matched: Match,
}

/// The answer of `search`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchResult {
    /// The symbols, best first.
    pub hits: Vec<SearchHit>,
    /// How many symbols fit, however many are returned.
    pub total: Total,
}

/// Finds symbols. Order: how well the name fits, then number of references, then code before tests,
/// then path and line.
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
    let total = if is_complete { Total::Exact(total) } else { Total::AtLeast(total) };
    Ok(SearchResult { hits, total })
}

/// Some of the symbols that were found, best first.
fn hits(
    lookup: &Lookup<'_>,
    mut found: Vec<Found>,
    offset: usize,
    limit: usize,
) -> Result<Vec<SearchHit>, QueryError> {
    let order = lookup.order();
    found.sort_by_key(|found| rank(order, found));
    let hits = found.into_iter().skip(offset).take(limit).map(|(matched, head, _)| {
        lookup.check()?;
        Ok(SearchHit { symbol: lookup.info_of(head.key)?, matched })
    });
    hits.collect()
}

/// As [`search`]. What has all of several words in its name comes first; after that the order is
/// that of `explore`, by everything that is written in and around a symbol.
pub fn search_in(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &SearchParams,
    cancel: &CancelToken,
) -> Result<SearchResult, QueryError> {
    if params.mode != SearchMode::Words || params.text.split_whitespace().nth(1).is_none() {
        return search(snapshot, params, cancel);
    }
    let wanted = params.offset.saturating_add(params.limit);
    let lookup = Lookup::new(snapshot, cancel)?;
    let text_files = FileFilter::new(&lookup, params.path.as_deref(), params.language.as_deref())?;
    let found = locate(&lookup, files, &text_files, &params.text, usize::MAX)?;
    if found.symbols.is_empty() {
        return search(snapshot, params, cancel);
    }
    let filter = Filter { lookup: &lookup, params, files: text_files };
    let mut named = filter.named(params.text.trim())?;
    // Names that fill the list: others may fit as well.
    let is_complete = named.is_complete && named.total < wanted as u64 && !found.is_partial;
    named.best.retain(|(matched, ..)| *matched <= Match::Words);
    let mut hits = hits(&lookup, named.best, 0, wanted)?;
    let mut seen: FxHashSet<SymbolKey> = hits.iter().map(|hit| hit.symbol.key).collect();
    let mut total = hits.len() as u64;
    for located in found.symbols.iter().filter(|located| seen.insert(located.key)) {
        let symbol = lookup.symbol(located.key)?;
        if filter.admit(Match::Text, symbol.head())?.is_some() {
            total += 1;
            if hits.len() < wanted {
                hits.push(SearchHit { symbol: lookup.info(&symbol)?, matched: Match::Text });
            }
        }
    }
    let total = if is_complete { Total::Exact(total) } else { Total::AtLeast(total) };
    hits.drain(..params.offset.min(hits.len()));
    Ok(SearchResult { hits, total })
}

/// A symbol that passed the filters, with whether it is test code.
type Found = (Match, SymbolHead, bool);

/// The order of hits, best first.
fn rank(
    order: &KeyOrder,
    (matched, head, is_test): &Found,
) -> (Match, Reverse<u32>, bool, SymbolRank) {
    (*matched, Reverse(head.references), *is_test, order.head(head))
}

/// What was found: the symbols among which the hits are, and how many there are in all.
struct Matches {
    best: Vec<Found>,
    total: u64,
    /// Whether nothing else fits; else there may be more.
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

/// A name that fits, with how many symbols have it and how often the most used of them is referred
/// to, if that is known.
struct NameFound {
    matched: Match,
    key: NameKey,
    /// Its place among all names: a row key would depend on when a name came.
    rank: NameRank,
    figures: Option<(u32, u32)>,
}

impl NameFound {
    fn symbols(&self) -> u32 {
        self.figures.map_or(1, |(symbols, _)| symbols)
    }

    /// How well it fits, and how often its most used symbol is referred to: best first.
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
    /// What the text names as a whole: for `Name` any name, for `Words` one with a path or
    /// containers.
    fn qualified(&self, text: &str) -> Result<Vec<Found>, QueryError> {
        let wanted = match self.params.mode {
            SearchMode::Name => true,
            SearchMode::Words => {
                names::segments(text).len() > 1 && !text.contains(char::is_whitespace)
            }
            SearchMode::Substring | SearchMode::Regex => false,
        };
        let mut found = Vec::new();
        for symbol in if wanted { names::all(self.lookup, text)? } else { Vec::new() } {
            found.extend(self.admit(Match::Exact, symbol.head())?);
        }
        Ok(found)
    }

    /// What the text names as a whole, or else the symbols whose names have all of its words.
    fn named(&self, text: &str) -> Result<Matches, QueryError> {
        let found = Matches::all_of(self.qualified(text)?);
        match found.is_empty() {
            true => self.fitting(&Pattern::new(text, self.params.mode)?),
            false => Ok(found),
        }
    }

    /// The symbols with these names that pass the filters: what fits best and is used most first,
    /// as far as it is looked at.
    fn filtered(&self, mut names: Vec<NameFound>) -> Result<Matches, QueryError> {
        self.look_up_figures(&mut names)?;
        names.sort_unstable_by_key(NameFound::order);
        let (mut looks, mut looked_at) = (0, 0);
        while looks < MAX_FILTERED && looked_at < names.len() {
            looks += names[looked_at].symbols() as usize;
            looked_at += 1;
        }
        let mut found = Matches::all_of(self.heads(&names[..looked_at])?);
        found.is_complete = looked_at == names.len();
        Ok(found)
    }

    /// The symbols with these names. Where nothing is filtered, only as many are looked at as it
    /// takes to know the best ones.
    fn best_of(&self, mut names: Vec<NameFound>) -> Result<Matches, QueryError> {
        self.lookup.check()?;
        if self.is_filtered() {
            return self.filtered(names);
        }
        let wanted = self.wanted();
        self.look_up_figures(&mut names)?;
        let total = names.iter().map(|name| u64::from(name.symbols())).sum();
        // Mostly the first ones are enough.
        let mut sorted = names.len().min(MAX_EQUAL.max(wanted).saturating_mul(4));
        if sorted < names.len() {
            names.select_nth_unstable_by_key(sorted, NameFound::order);
        }
        names[..sorted].sort_unstable_by_key(NameFound::order);
        let mut best = Vec::new();
        // Symbols that come before whatever has one of the names that are left.
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
            // Of names that are as good, so many fill every list.
            for name in &names[place..place + equal.min(MAX_EQUAL.max(wanted))] {
                // The only symbol of a name that is among the best so far is a hit: it is read
                // once, as a whole.
                if name.symbols() == 1 && best.len() < wanted {
                    best.extend(self.whole(name.matched, name.key)?);
                } else {
                    best.extend(self.heads(std::slice::from_ref(name))?);
                }
            }
            place += equal;
            let next = names.get(place).map(NameFound::fit);
            before = next.map_or(0, |next| {
                best.iter()
                    .filter(|(matched, head, _)| (*matched, Reverse(head.references)) < next)
                    .count()
            });
        }
        Ok(Matches { best, total, is_complete: true })
    }

    /// Figures of the names of which the runs do not tell them: what is looked at first depends on
    /// the symbols that there are, not on what has been changed.
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

    /// The same for one name, with the rows remembered.
    fn whole(&self, matched: Match, name: NameKey) -> Result<Vec<Found>, QueryError> {
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
        let (is_in, is_test) =
            self.lookup.of_file(head.file, |file| (self.files.admits(file), file.test))?;
        let is_test = head.flags & flags::TEST != 0 || is_test;
        let admitted = is_in && params.tests.admits(is_test);
        Ok(admitted.then_some((matched, head, is_test)))
    }

    /// Whether there are symbols that do not pass.
    fn is_filtered(&self) -> bool {
        let params = self.params;
        let has_kinds =
            !params.kinds.is_empty() || params.exported.is_some() || params.tests != Tests::Include;
        has_kinds || self.files.is_active()
    }

    /// How many hits, with those before them, are wanted.
    fn wanted(&self) -> usize {
        self.params.offset.saturating_add(self.params.limit)
    }
}
