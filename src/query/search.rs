//! `search`: symbols by name, words, part of a name or regular expression, ranked.

mod matching;

use std::cmp::Reverse;

use self::matching::Pattern;
use super::filter::FileFilter;
use super::lookup::Lookup;
use super::{QueryError, SymbolInfo, Tests, Total, names};
use crate::model::SymbolKind;
use crate::model::cancel::CancelToken;
use crate::model::facts::flags;
use crate::store::{NameKey, Snapshot, SymbolHead, SymbolKey};

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
    /// All words asked for, some of them in the names of containers or in the path.
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
    let mut found = filter.qualified(text)?;
    if found.is_empty() && params.mode != SearchMode::Name {
        let pattern = Pattern::new(text, params.mode)?;
        found = filter.scan(&pattern, Pattern::fits)?;
        if params.mode == SearchMode::Words && pattern.has_several_words() {
            found = filter.with_surroundings(&pattern, found)?;
        }
        if params.mode == SearchMode::Words && found.is_empty() {
            found = filter.scan(&pattern, Pattern::resembles)?;
        }
    }
    found.sort_by_key(|(matched, head, is_test)| (*matched, Reverse(head.references), *is_test, head.key));
    let total = Total::Exact(found.len() as u64);
    let hits = found.into_iter().skip(params.offset).take(params.limit).map(|(matched, head, _)| {
        lookup.check()?;
        Ok(SearchHit { symbol: lookup.info_of(head.key)?, matched })
    });
    Ok(SearchResult { hits: hits.collect::<Result<_, QueryError>>()?, total })
}

/// A symbol that passed the filters, with whether it is test code.
type Found = (Match, SymbolHead, bool);

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

    /// The symbols whose names `judge` accepts.
    fn scan(&self, pattern: &Pattern, judge: impl Fn(&Pattern, &str) -> Option<Match>) -> Result<Vec<Found>, QueryError> {
        let mut names: Vec<(Match, NameKey)> = Vec::new();
        self.lookup.snapshot.visit_symbol_names(|key, name| {
            names.extend(judge(pattern, name).map(|matched| (matched, key)));
            self.lookup.check().is_ok()
        })?;
        let mut found = Vec::new();
        for (matched, name) in names {
            self.lookup.check()?;
            for head in self.lookup.snapshot.symbol_heads(name)? {
                found.extend(self.admit(matched, head)?);
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

    /// Adds the symbols that have some of the words in their name and the others around them.
    fn with_surroundings(&self, pattern: &Pattern, mut found: Vec<Found>) -> Result<Vec<Found>, QueryError> {
        let known: std::collections::BTreeSet<SymbolKey> = found.iter().map(|(_, head, _)| head.key).collect();
        let some = self.scan(pattern, Pattern::fits_partly)?;
        let mut partial = Vec::new();
        for (_, head, is_test) in some.into_iter().filter(|(_, head, _)| !known.contains(&head.key)) {
            self.lookup.check()?;
            let row = self.lookup.symbol(head.key)?;
            let mut around = format!("{} {}", row.name_text, self.lookup.file(head.file)?.path);
            for container in self.lookup.containers(&row)? {
                around.push(' ');
                around.push_str(&container.name_text);
            }
            let matched = if pattern.all_words_in(&around) { Match::Around } else { Match::SomeWords };
            partial.push((matched, head, is_test));
        }
        if found.is_empty() && partial.iter().all(|(matched, ..)| *matched == Match::SomeWords) {
            return Ok(partial);
        }
        found.extend(partial.into_iter().filter(|(matched, ..)| *matched == Match::Around));
        Ok(found)
    }
}
