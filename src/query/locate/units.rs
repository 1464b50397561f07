//! Units of retrieval: the functions, types and larger values of the candidate files, with term
//! frequencies by field.

use std::hash::{BuildHasher, Hasher};

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::candidates::Chosen;
use super::question::Question;
use super::weight;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::SymbolKind;
use cograph_model::facts::DocumentTerms;
use cograph_model::words::{self, FileWords, Postings, joined};
use cograph_store::{SymbolDocument, SymbolHead, SymbolKey};

/// Maximum number of containers whose names count.
const MAX_CONTAINERS: usize = 5;

/// Number of fields.
pub(super) const FIELDS: usize = 7;
/// Positions of the fields.
pub(super) mod field {
    pub(crate) const NAME: usize = 0;
    pub(crate) const CONTAINER: usize = 1;
    pub(crate) const PATH: usize = 2;
    pub(crate) const SIGNATURE: usize = 3;
    pub(crate) const DOC: usize = 4;
    pub(crate) const CODE: usize = 5;
    pub(crate) const PROSE: usize = 6;
}

/// Symbol that may be part of the answer.
pub(super) struct Unit {
    pub(super) head: SymbolHead,
    /// Position of its file among the candidates.
    pub(super) file: u32,
    pub(super) lines: u32,
    /// Symbol around it, if that is a passage too.
    pub(super) container: Option<SymbolKey>,
    /// Term frequencies by word and field.
    pub(super) hits: Counts,
    /// Length of each field in words.
    pub(super) lengths: [f32; FIELDS],
}

/// Counts terms in the symbols of the candidate files: those of texts by the index, those of names,
/// signatures and documentation from the symbols themselves.
pub(super) fn read_units(
    lookup: &Lookup<'_>,
    question: &Question,
    chosen: &Chosen,
) -> Result<Vec<Unit>, QueryError> {
    let mut matcher = Matcher::new(question);
    let mut units = Vec::new();
    for (place, candidate) in chosen.files.iter().enumerate() {
        lookup.check()?;
        let file = lookup.file(candidate.key)?;
        if file.symbols == 0 {
            continue;
        }
        let symbols = lookup.snapshot.symbol_documents_of(
            &file,
            words::is_passage_of_any_size,
            words::MIN_LINES,
        )?;
        let source = Source {
            place: u32::try_from(place).unwrap_or(u32::MAX),
            path: file.path.as_str(),
            first_symbol: file.first_symbol,
            symbols: &symbols,
        };
        let terms = lookup.snapshot.terms_of(candidate.key)?.unwrap_or_default();
        units.extend(of_file(&mut matcher, &source, &terms));
    }
    Ok(units)
}

/// Candidate file: position and symbols.
struct Source<'s> {
    place: u32,
    path: &'s str,
    first_symbol: u32,
    symbols: &'s [SymbolDocument],
}

/// Question terms of an identifier: range in [`Matcher::hits`], and its number of words.
#[derive(Clone, Copy)]
struct RunHits {
    first: u32,
    count: u16,
    words: u16,
    /// Word or compound that is the whole of an identifier of several words.
    whole: Option<u16>,
}

struct Matcher<'a> {
    question: &'a Question,
    /// By hash of an identifier.
    known: FxHashMap<u64, RunHits>,
    /// Question terms of all known identifiers.
    hits: Vec<u16>,
}

impl<'a> Matcher<'a> {
    fn new(question: &'a Question) -> Self {
        Self { question, known: FxHashMap::default(), hits: Vec::new() }
    }

    fn of_run(&mut self, run: &[u8]) -> RunHits {
        let mut hasher = FxBuildHasher.build_hasher();
        hasher.write(run);
        let hash = hasher.finish();
        if let Some(&found) = self.known.get(&hash) {
            return found;
        }
        let found = self.match_run(run);
        self.known.insert(hash, found);
        found
    }

    fn match_run(&mut self, run: &[u8]) -> RunHits {
        let Self { question, hits, .. } = self;
        let (first, mut words, mut as_whole) = (hits.len(), 0, None);
        words::parts(run, |part| {
            words += 1;
            hits.extend(question.position_of(part));
        });
        let mut whole = joined(run);
        if words > 0
            && let Some(&place) = question.compounds.get(whole.as_slice())
        {
            hits.push(place);
            as_whole = Some(place);
        }
        // `readme` matches `ReadMe` as well.
        if words > 1 {
            let place = question.position_of(&mut whole);
            hits.extend(place);
            as_whole = place.or(as_whole);
        }
        let whole = as_whole.filter(|_| words > 1);
        let count = u16::try_from(hits.len() - first).unwrap_or(u16::MAX);
        RunHits { first: u32::try_from(first).unwrap_or(u32::MAX), count, words, whole }
    }

    fn terms(&self, found: RunHits) -> &[u16] {
        &self.hits[found.first as usize..][..usize::from(found.count)]
    }

    /// Counts the words of a text in a field.
    fn count(&mut self, text: &[u8], at: usize, counts: &mut Counts, length: &mut f32) {
        for (_, run) in words::runs(text) {
            let found = self.of_run(run);
            *length += f32::from(found.words);
            for &word in self.terms(found) {
                counts.of(word)[at] += 1.0;
            }
        }
    }
}

/// Term frequencies of one symbol, by word and field.
#[derive(Clone, Default)]
pub(super) struct Counts(Vec<(u16, [f32; FIELDS])>);

impl Counts {
    pub(super) fn iter(&self) -> impl Iterator<Item = &(u16, [f32; FIELDS])> {
        self.0.iter()
    }

    fn of(&mut self, word: u16) -> &mut [f32; FIELDS] {
        let known = self.0.iter().position(|(own, _)| *own == word);
        let at = known.unwrap_or_else(|| {
            self.0.push((word, [0.0; FIELDS]));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

fn row_of(symbols: &[SymbolDocument], key: Option<SymbolKey>) -> Option<&SymbolDocument> {
    let key = key?;
    symbols.binary_search_by_key(&key, |symbol| symbol.head.key).ok().map(|place| &symbols[place])
}

/// True if a symbol may be part of the answer.
fn is_unit(symbol: &SymbolDocument, symbols: &[SymbolDocument]) -> bool {
    let in_callable = || {
        row_of(symbols, symbol.head.container)
            .is_some_and(|container| container.head.kind.is_callable())
    };
    words::is_passage_of_any_size(symbol.head.kind)
        || !(matches!(symbol.head.kind, SymbolKind::Module | SymbolKind::Namespace)
            || in_callable())
}

/// Returns for each symbol the units that its own text belongs to: all callables around it, and the
/// types and values in the innermost one. Text in a callable is none of the enclosing type's.
fn owners(symbols: &[SymbolDocument], units: &[Option<usize>]) -> Vec<SmallVec<[usize; 4]>> {
    let mut open: Vec<usize> = Vec::new();
    let mut owners = Vec::with_capacity(symbols.len());
    for (row, symbol) in symbols.iter().enumerate() {
        open.retain(|&around| symbols[around].bytes.end > symbol.bytes.start);
        open.push(row);
        let is_callable = |row: &usize| symbols[*row].head.kind.is_callable();
        let innermost = open.iter().rposition(is_callable);
        let is_owner = |(level, row): (usize, &usize)| {
            let counts = is_callable(row) || innermost.is_none_or(|callable| callable < level);
            units[*row].filter(|_| counts)
        };
        owners.push(open.iter().enumerate().filter_map(is_owner).collect());
    }
    owners
}

fn of_file(matcher: &mut Matcher<'_>, source: &Source<'_>, terms: &DocumentTerms) -> Vec<Unit> {
    let symbols = source.symbols;
    let (mut in_path, mut path_length) = (Counts::default(), 0.0);
    let without_extension = source.path.rsplit_once('.').map_or(source.path, |(stem, _)| stem);
    matcher.count(without_extension.as_bytes(), field::PATH, &mut in_path, &mut path_length);
    let mut units = Vec::with_capacity(symbols.len());
    let mut unit_of = vec![None; symbols.len()];
    for (row, symbol) in symbols.iter().enumerate() {
        if is_unit(symbol, symbols) {
            unit_of[row] = Some(units.len());
            units.push(begin(matcher, source, symbol, &in_path, path_length));
        }
    }
    count_texts(matcher.question, source, &owners(symbols, &unit_of), terms, &mut units);
    units
}

/// Adds the terms of the texts, as far as they are terms of the question. Damaged terms end early.
fn count_texts(
    question: &Question,
    source: &Source<'_>,
    owners: &[SmallVec<[usize; 4]>],
    terms: &DocumentTerms,
    units: &mut [Unit],
) -> Option<()> {
    let mut postings = Postings::read(&terms.postings)?;
    let owners_of = |symbol: u32| {
        let key = SymbolKey(source.first_symbol.saturating_add(symbol));
        let row = source.symbols.binary_search_by_key(&key, |symbol| symbol.head.key).ok();
        row.map_or(&[][..], |row| owners[row].as_slice())
    };
    let by_passage: Vec<&[usize]> =
        postings.passages.iter().map(|passage| owners_of(passage.symbol)).collect();
    for (passage, owners) in postings.passages.iter().zip(&by_passage) {
        for &owner in *owners {
            let lengths = &mut units[owner].lengths;
            lengths[field::CODE] += passage.code as f32;
            lengths[field::PROSE] += passage.prose as f32;
        }
    }
    for (term, _) in FileWords::read(&terms.words)? {
        let places = question.places_of(term);
        if places.is_empty() {
            postings.next_term(|_, _| ())?;
            continue;
        }
        postings.next_term(|passage, frequency| {
            let (code, prose) = frequency.counts();
            for &owner in by_passage.get(passage).copied().unwrap_or_default() {
                for &place in &places {
                    let counts = units[owner].hits.of(place);
                    counts[field::CODE] += code;
                    counts[field::PROSE] += prose;
                }
            }
        })?;
    }
    Some(())
}

fn begin(
    matcher: &mut Matcher<'_>,
    source: &Source<'_>,
    symbol: &SymbolDocument,
    in_path: &Counts,
    path_length: f32,
) -> Unit {
    let (symbols, mut counts) = (source.symbols, in_path.clone());
    let mut lengths = [0.0; FIELDS];
    lengths[field::PATH] = path_length;
    let mut count = |text: &str, at: usize| {
        matcher.count(text.as_bytes(), at, &mut counts, &mut lengths[at]);
    };
    count(&symbol.name, field::NAME);
    let mut container = symbol.head.container;
    for _ in 0..MAX_CONTAINERS {
        let Some(row) = row_of(symbols, container) else { break };
        count(&row.name, field::CONTAINER);
        container = row.head.container;
    }
    let of_type = row_of(symbols, symbol.head.container).filter(|row| row.head.kind.is_type());
    let whole = of_type.and_then(|row| matcher.of_run(row.name.as_bytes()).whole);
    if let Some(word) = whole {
        counts.of(word)[field::CONTAINER] += weight::WHOLE_CONTAINER;
    }
    let mut count = |text: &str, at: usize| {
        matcher.count(text.as_bytes(), at, &mut counts, &mut lengths[at]);
    };
    count(&symbol.signature, field::SIGNATURE);
    count(&symbol.doc, field::DOC);
    Unit {
        head: symbol.head,
        file: source.place,
        lines: symbol.lines,
        container: row_of(symbols, symbol.head.container).map(|row| row.head.key),
        hits: counts,
        lengths,
    }
}
