//! `search`: symbols by name, words, part of a name or regular expression, ranked.

mod around;
mod matching;

use std::cmp::Reverse;

use self::matching::Pattern;
use super::filter::FileFilter;
use super::lookup::Lookup;
use super::{QueryError, SymbolInfo, Tests, Total, names};
use crate::model::SymbolKind;
use crate::model::cancel::CancelToken;
use crate::model::facts::flags;
use crate::store::{NameKey, NameParts, Snapshot, SymbolHead, SymbolKey};

/// Runs of names that are looked through where it need not be all of them.
const MAX_RUNS: usize = 2_000;

/// Symbols that are looked at for whether they pass the filters.
const MAX_FILTERED: usize = 20_000;

/// Names that fit as well and are used as often, of which the symbols are looked at.
const MAX_EQUAL: usize = 4_000;

/// How the text of a search is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchMode {
    /// Words: a name, the beginning or a part of one, several words in any order, with forgiveness for case and typing errors.
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
    /// All words asked for, some of them in the names of containers or in the path. Only where names alone do not fill the list.
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

/// Finds symbols. Order: how well the name fits, then number of references, then code before tests, then path and line.
pub fn search(snapshot: &Snapshot, params: &SearchParams, cancel: &CancelToken) -> Result<SearchResult, QueryError> {
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
        let pattern = Pattern::new(text, params.mode)?;
        found = filter.scan(&pattern)?;
        if params.mode == SearchMode::Words && pattern.has_several_words() {
            found = filter.with_surroundings(&pattern, found)?;
        }
        if params.mode == SearchMode::Words && found.is_empty() {
            let was_complete = found.is_complete;
            found = filter.resembling(&pattern)?;
            found.is_complete &= was_complete;
        }
    }
    let Matches { mut best, total, is_complete } = found;
    best.sort_by_key(rank);
    let hits = best.into_iter().skip(params.offset).take(params.limit).map(|(matched, head, _)| {
        lookup.check()?;
        Ok(SearchHit { symbol: lookup.info_of(head.key)?, matched })
    });
    let total = if is_complete { Total::Exact(total) } else { Total::AtLeast(total) };
    Ok(SearchResult { hits: hits.collect::<Result<_, QueryError>>()?, total })
}

/// A symbol that passed the filters, with whether it is test code.
type Found = (Match, SymbolHead, bool);

/// The order of hits, best first.
fn rank((matched, head, is_test): &Found) -> (Match, Reverse<u32>, bool, SymbolKey) {
    (*matched, Reverse(head.references), *is_test, head.key)
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

/// A name that fits, with how many symbols have it and how often the most used of them is referred to, if that is known.
struct NameFound {
    matched: Match,
    key: NameKey,
    figures: Option<(u32, u32)>,
}

struct Filter<'f, 'q> {
    lookup: &'f Lookup<'q>,
    params: &'f SearchParams,
    files: FileFilter,
}

impl Filter<'_, '_> {
    /// What the text names as a whole: for `Name` any name, for `Words` one with a path or containers.
    fn qualified(&self, text: &str) -> Result<Vec<Found>, QueryError> {
        let wanted = match self.params.mode {
            SearchMode::Name => true,
            SearchMode::Words => names::segments(text).len() > 1 && !text.contains(char::is_whitespace),
            SearchMode::Substring | SearchMode::Regex => false,
        };
        let mut found = Vec::new();
        for symbol in if wanted { names::all(self.lookup, text)? } else { Vec::new() } {
            let head = SymbolHead {
                key: symbol.key,
                file: symbol.file,
                kind: symbol.kind,
                container: symbol.container,
                flags: symbol.flags,
                references: symbol.references,
            };
            found.extend(self.admit(Match::Exact, head)?);
        }
        Ok(found)
    }

    /// The symbols whose names fit. Where there are too many names to look at, only those that fit best and those that fit in a
    /// rarer way, if that fills the list, or if what is asked for is one name or a part of one.
    fn scan(&self, pattern: &Pattern) -> Result<Matches, QueryError> {
        let ways = pattern.ways();
        if let Some(mut rare) = pattern.best_names() {
            let mut is_everything = true;
            for way in &ways {
                if self.lookup.snapshot.spread_of(way)? <= MAX_RUNS {
                    rare = rare.or(way.clone());
                } else {
                    is_everything = false;
                }
            }
            let mut found = self.fitting(pattern, &rare)?;
            found.is_complete &= is_everything;
            let is_best = |(matched, ..): &&Found| *matched <= Match::Prefix;
            let is_asked_whole = !found.is_empty() && !pattern.has_spaces();
            if is_everything || is_asked_whole || found.best.iter().filter(is_best).count() >= self.wanted() {
                return Ok(found);
            }
        }
        self.fitting(pattern, &ways.into_iter().fold(NameParts::none(), NameParts::or))
    }

    /// The symbols whose names fit, among these names.
    fn fitting(&self, pattern: &Pattern, among: &NameParts) -> Result<Matches, QueryError> {
        let mut names = Vec::new();
        self.lookup.snapshot.visit_names(among, |name| {
            let matched = pattern.fits(name.text);
            names.extend(matched.map(|matched| NameFound { matched, key: name.key, figures: name.figures }));
            self.lookup.check().is_ok()
        })?;
        self.best_of(names)
    }

    /// The symbols whose names are the text but for errors in typing.
    fn resembling(&self, pattern: &Pattern) -> Result<Matches, QueryError> {
        let mut names = Vec::new();
        let mut near = pattern.resembling();
        if near.is_empty() {
            return Ok(Matches::all_of(Vec::new()));
        }
        self.lookup.snapshot.visit_names(&pattern.parts_of_resembling(), |name| {
            // All of them: each remembers what it has seen.
            if near.iter_mut().filter_map(|text| text.look(name.text, name.shared)).count() > 0 {
                names.push(NameFound { matched: Match::Fuzzy, key: name.key, figures: name.figures });
            }
            self.lookup.check().is_ok()
        })?;
        self.best_of(names)
    }

    /// The symbols with these names that pass the filters: what fits best and is used most first, as far as it is looked at.
    fn filtered(&self, mut names: Vec<NameFound>) -> Result<Matches, QueryError> {
        let most = |name: &NameFound| name.figures.map_or(u32::MAX, |(_, most)| most);
        names.sort_unstable_by_key(|name| (name.matched, Reverse(most(name)), name.key));
        let (mut looks, mut looked_at) = (0, 0);
        while looks < MAX_FILTERED && looked_at < names.len() {
            looks += names[looked_at].figures.map_or(1, |(symbols, _)| symbols as usize);
            looked_at += 1;
        }
        let mut found = Matches::all_of(self.heads(&names[..looked_at])?);
        found.is_complete = looked_at == names.len();
        Ok(found)
    }

    /// The symbols with these names. Where nothing is filtered, only as many are looked at as it takes to know the best ones.
    fn best_of(&self, mut names: Vec<NameFound>) -> Result<Matches, QueryError> {
        self.lookup.check()?;
        let params = self.params;
        let is_filtered = !params.kinds.is_empty() || params.exported.is_some() || params.tests != Tests::Include;
        if is_filtered || self.files.is_active() {
            return self.filtered(names);
        }
        let wanted = self.wanted();
        let (mut best, mut total) = (Vec::new(), 0);
        let unknown: Vec<NameFound> = names.extract_if(.., |name| name.figures.is_none()).collect();
        best.extend(self.heads(&unknown)?);
        total += best.len() as u64;
        let mut known: Vec<(Match, Reverse<u32>, NameKey)> = Vec::with_capacity(names.len());
        for NameFound { matched, key, figures } in names {
            let (symbols, most) = figures.unwrap_or_default();
            total += u64::from(symbols);
            known.push((matched, Reverse(most), key));
        }
        known.sort_unstable();
        // Symbols that come before whatever has one of the names that are left.
        let mut before = 0;
        let mut place = 0;
        while let Some(&(matched, most, _)) = known.get(place).filter(|_| before < wanted) {
            let equal =
                known[place..].iter().take_while(|(other, references, _)| (*other, *references) == (matched, most)).count();
            // Of names that are as good, so many fill every list.
            for (matched, _, key) in &known[place..place + equal.min(MAX_EQUAL.max(wanted))] {
                best.extend(self.heads(&[NameFound { matched: *matched, key: *key, figures: None }])?);
            }
            place += equal;
            let next = known.get(place).map(|(matched, most, _)| (*matched, *most));
            before = next
                .map_or(0, |next| best.iter().filter(|(matched, head, _)| (*matched, Reverse(head.references)) < next).count());
        }
        Ok(Matches { best, total, is_complete: true })
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

    fn admit(&self, matched: Match, head: SymbolHead) -> Result<Option<Found>, QueryError> {
        let params = self.params;
        let is_exported = head.flags & flags::EXPORTED != 0;
        if !(params.kinds.is_empty() || params.kinds.contains(&head.kind))
            || params.exported.is_some_and(|wanted| wanted != is_exported)
        {
            return Ok(None);
        }
        let file = self.lookup.file(head.file)?;
        let is_test = head.flags & flags::TEST != 0 || file.test;
        let admitted = self.files.admits(&file) && params.tests.admits(is_test);
        Ok(admitted.then_some((matched, head, is_test)))
    }

    /// Adds the symbols that have some of the words in their name and the others around them. They come after those that were
    /// found by their name: where these are all that is listed, they are not looked for.
    fn with_surroundings(&self, pattern: &Pattern, mut found: Matches) -> Result<Matches, QueryError> {
        if found.total >= self.wanted() as u64 {
            found.is_complete = false;
            return Ok(found);
        }
        let by_rarity = self.by_rarity(pattern)?;
        let Some(&(spread, rarest)) = by_rarity.first() else { return Ok(found) };
        // Words of a letter or two are in nearly every name: what has been found by them is enough.
        if spread > MAX_RUNS && !found.is_empty() {
            found.is_complete = false;
            return Ok(found);
        }
        let around = around::symbols_around(self, pattern, rarest)?;
        found.total += around.found.len() as u64;
        found.is_complete &= around.is_complete;
        found.best.extend(around.found);
        if found.is_empty() { self.with_some_words(pattern, &by_rarity) } else { Ok(found) }
    }

    /// The words asked for, the rarest first: how many runs of names may have it, and its place.
    fn by_rarity(&self, pattern: &Pattern) -> Result<Vec<(usize, usize)>, QueryError> {
        let mut words = Vec::new();
        for (place, word) in pattern.words().iter().enumerate() {
            words.push((self.lookup.snapshot.spread_of(&NameParts::none().or_all_of([word.as_str()]))?, place));
        }
        words.sort_unstable();
        Ok(words)
    }

    /// The symbols that have one of the words in their name. The rarest word is looked for first, the others as long as there
    /// are not too many names to look at: a word that nearly everything has says nothing.
    fn with_some_words(&self, pattern: &Pattern, by_rarity: &[(usize, usize)]) -> Result<Matches, QueryError> {
        let mut found = Matches::all_of(Vec::new());
        // A letter or two are looked for in vain among very many names, unless nothing else is asked for.
        let is_telling = |(spread, place): &&(usize, usize)| *spread <= MAX_RUNS || pattern.words()[*place].len() > 2;
        let telling: Vec<(usize, usize)> = by_rarity.iter().filter(is_telling).copied().collect();
        let words = if telling.is_empty() { by_rarity } else { &telling };
        let mut taken = 0;
        while found.is_empty() && taken < words.len() {
            let mut wanted = NameParts::none();
            let mut runs = 0;
            while let Some(&(spread, place)) = words.get(taken) {
                if runs > 0 && runs + spread > MAX_RUNS {
                    break;
                }
                runs += spread;
                wanted = wanted.or_all_of([pattern.words()[place].as_str()]);
                taken += 1;
            }
            let mut names = Vec::new();
            self.lookup.snapshot.visit_names(&wanted, |name| {
                let matched = pattern.fits_partly(name.text);
                names.extend(matched.map(|matched| NameFound { matched, key: name.key, figures: name.figures }));
                self.lookup.check().is_ok()
            })?;
            found = self.best_of(names)?;
        }
        found.is_complete &= taken == by_rarity.len();
        Ok(found)
    }

    /// How many hits, with those before them, are wanted.
    fn wanted(&self) -> usize {
        self.params.offset.saturating_add(self.params.limit)
    }
}
