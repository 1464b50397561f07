//! Units of retrieval: the functions, types and larger values of the candidate files, with term
//! frequencies by field.

use parking_lot::{Mutex, MutexGuard};
use std::hash::{BuildHasher, Hasher};
use std::sync::mpsc;
use std::thread;

use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::candidates::Chosen;
use super::question::{Question, joined};
use super::{SOURCE_BYTES, prose};
use crate::model::facts::flags;
use crate::model::words;
use crate::model::{RepoPath, SymbolKind};
use crate::query::graph::lookup::Lookup;
use crate::query::{QueryError, ReadFile};
use crate::store::{SymbolDocument, SymbolKey};

/// Minimum number of lines of a variable, constant or field to be a unit.
const MIN_LINES: u32 = 3;
/// Maximum number of threads that count terms for one question.
const MAX_THREADS: usize = 4;
/// Maximum number of containers whose names count.
const MAX_CONTAINERS: usize = 5;

/// Number of fields.
pub(super) const FIELDS: usize = 7;
/// Positions of the fields.
pub(super) mod field {
    pub(in crate::query::locate) const NAME: usize = 0;
    pub(in crate::query::locate) const CONTAINER: usize = 1;
    pub(in crate::query::locate) const PATH: usize = 2;
    pub(in crate::query::locate) const SIGNATURE: usize = 3;
    pub(in crate::query::locate) const DOC: usize = 4;
    pub(in crate::query::locate) const CODE: usize = 5;
    pub(in crate::query::locate) const PROSE: usize = 6;
}

/// Symbol that may be part of the answer.
pub(super) struct Unit {
    pub(super) key: SymbolKey,
    /// Position of its file among the candidates.
    pub(super) file: u32,
    pub(super) kind: SymbolKind,
    pub(super) lines: u32,
    pub(super) references: u32,
    /// True for test code outside of test files.
    pub(super) is_test: bool,
    /// Term frequencies by word and field.
    pub(super) hits: Vec<(u16, [f32; FIELDS])>,
    /// Length of each field in words.
    pub(super) lengths: [f32; FIELDS],
}

/// Candidate file: position, symbols and text.
struct Source {
    place: u32,
    path: RepoPath,
    symbols: Vec<SymbolDocument>,
    text: Vec<u8>,
}

/// Reads the candidate files, counts terms in those that were read while others are still being
/// read, and returns their units in the order of the candidates.
pub(super) fn read_units(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    question: &Question,
    chosen: &Chosen,
) -> Result<Vec<Unit>, QueryError> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let (sender, receiver) = mpsc::sync_channel(chosen.files.len());
    let receiver = Mutex::new(receiver);
    let count_terms = || {
        let mut matcher = Matcher::new(question);
        let mut units = Vec::new();
        // The lock ends with the statement: a file is counted without it.
        while let Ok(source) = { lock(&receiver).recv() } {
            of_file(&mut matcher, &source, &mut units);
        }
        units
    };
    let mut units = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(count_terms)).collect();
        let read = read_sources(lookup, files, chosen, &sender);
        drop(sender);
        let mut units = count_terms();
        for other in others {
            // Re-raises a panic of a thread on the calling thread.
            units.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        read.map(|()| units)
    })?;
    lookup.check()?;
    units.sort_by_key(|unit| (unit.file, unit.key));
    Ok(units)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

/// Reads symbols and texts of the candidate files, in order.
fn read_sources(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    chosen: &Chosen,
    sender: &mpsc::SyncSender<Source>,
) -> Result<(), QueryError> {
    let mut bytes = 0;
    for (place, candidate) in chosen.files.iter().enumerate() {
        lookup.check()?;
        let file = lookup.file(candidate.key)?;
        if file.symbols == 0 {
            continue;
        }
        // A file removed in the meantime has no text, but its names are known.
        let is_read = bytes < SOURCE_BYTES;
        let text = if is_read { files.read(&file.path).unwrap_or_default() } else { Vec::new() };
        bytes += text.len();
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        let symbols = lookup.snapshot.symbol_documents_of(&file, is_always_unit, MIN_LINES)?;
        let source = Source { place, path: file.path.clone(), symbols, text };
        sender.send(source).expect("the receiver outlives the reader");
    }
    Ok(())
}

/// Question terms of an identifier: range in [`Matcher::hits`], and its number of words.
#[derive(Clone, Copy)]
struct RunHits {
    first: u32,
    count: u16,
    words: u16,
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
        let (first, mut words) = (hits.len(), 0);
        words::parts(run, |part| {
            words += 1;
            hits.extend(question.position_of(part));
        });
        let mut whole = joined(run);
        if words > 0
            && let Some(&place) = question.compounds.get(whole.as_slice())
        {
            hits.push(place);
        }
        // `readme` matches `ReadMe` as well.
        if words > 1 {
            hits.extend(question.position_of(&mut whole));
        }
        // The bytes of source of one question are limited to far fewer than 2^32.
        let count = u16::try_from(hits.len() - first).unwrap_or(u16::MAX);
        RunHits { first: u32::try_from(first).unwrap_or(u32::MAX), count, words }
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
                counts.add(word, at, 1.0);
            }
        }
    }
}

/// Term frequencies of one symbol.
#[derive(Clone, Default)]
struct Counts(Vec<(u16, [f32; FIELDS])>);

impl Counts {
    fn add(&mut self, word: u16, at: usize, count: f32) {
        match self.0.iter_mut().find(|(own, _)| *own == word) {
            Some((_, counts)) => counts[at] += count,
            None => {
                let mut counts = [0.0; FIELDS];
                counts[at] = count;
                self.0.push((word, counts));
            }
        }
    }
}

/// True for the kinds whose symbols are units whatever their length.
fn is_always_unit(kind: SymbolKind) -> bool {
    kind.is_callable() || kind.is_type()
}

fn row_of(symbols: &[SymbolDocument], key: Option<SymbolKey>) -> Option<&SymbolDocument> {
    let key = key?;
    symbols.binary_search_by_key(&key, |symbol| symbol.key).ok().map(|place| &symbols[place])
}

/// True if a symbol may be part of the answer.
fn is_unit(symbol: &SymbolDocument, symbols: &[SymbolDocument]) -> bool {
    let in_callable =
        || row_of(symbols, symbol.container).is_some_and(|container| container.kind.is_callable());
    is_always_unit(symbol.kind)
        || !(matches!(symbol.kind, SymbolKind::Module | SymbolKind::Namespace) || in_callable())
}

/// Unit whose extent has begun and not yet ended.
struct OpenUnit {
    end: usize,
    counts: Counts,
    unit: Unit,
}

/// Units whose extent contains the current position, outermost first.
#[derive(Default)]
struct OpenUnits {
    stack: Vec<OpenUnit>,
    /// Positions of the units that the current text belongs to: text in a callable belongs to it,
    /// not to the enclosing type.
    owners: SmallVec<[usize; 8]>,
    /// Words by field since `owners` changed: not yet added to the lengths.
    words: [f32; FIELDS],
}

impl OpenUnits {
    fn push(&mut self, unit: OpenUnit) {
        self.add_lengths();
        self.stack.push(unit);
        self.find_owners();
    }

    /// Moves the units that end up to a position to `units`.
    fn close(&mut self, at: usize, units: &mut Vec<Unit>) {
        self.add_lengths();
        for mut closed in self.stack.extract_if(.., |open| open.end <= at) {
            closed.unit.hits = closed.counts.0;
            units.push(closed.unit);
        }
        self.find_owners();
    }

    /// Least end of an open unit.
    fn next_end(&self) -> usize {
        self.stack.iter().map(|open| open.end).min().unwrap_or(usize::MAX)
    }

    fn add_lengths(&mut self) {
        for &owner in &self.owners {
            let lengths = &mut self.stack[owner].unit.lengths;
            lengths.iter_mut().zip(self.words).for_each(|(length, words)| *length += words);
        }
        self.words = [0.0; FIELDS];
    }

    fn find_owners(&mut self) {
        let is_callable = |open: &OpenUnit| open.unit.kind.is_callable();
        let innermost = self.stack.iter().rposition(is_callable);
        self.owners.clear();
        self.owners.extend((0..self.stack.len()).filter(|&level| {
            is_callable(&self.stack[level]) || innermost.is_none_or(|callable| callable < level)
        }));
    }

    fn count(&mut self, terms: &[u16], words: u16, at: usize) {
        self.words[at] += f32::from(words);
        for &term in terms {
            for &owner in &self.owners {
                self.stack[owner].counts.add(term, at, 1.0);
            }
        }
    }
}

fn of_file(matcher: &mut Matcher<'_>, source: &Source, units: &mut Vec<Unit>) {
    let Source { place, path, symbols, text } = source;
    let path = path.as_str();
    let (mut in_path, mut path_length) = (Counts::default(), 0.0);
    let without_extension = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    matcher.count(without_extension.as_bytes(), field::PATH, &mut in_path, &mut path_length);
    let mut wanted = symbols.iter().filter(|symbol| is_unit(symbol, symbols)).peekable();
    let mut open = OpenUnits::default();
    let mut prose = prose::spans(text).into_iter().peekable();
    // Offset of the next start or end of a unit.
    let mut next_event = 0;
    for (at, run) in words::runs(text).chain([(usize::MAX, &[][..])]) {
        if next_event <= at {
            while let Some(symbol) = wanted.next_if(|symbol| symbol.bytes.start as usize <= at) {
                open.close(symbol.bytes.start as usize, units);
                open.push(begin(matcher, *place, symbol, symbols, (&in_path, path_length)));
            }
            open.close(at, units);
            let next_start = wanted.peek().map_or(usize::MAX, |next| next.bytes.start as usize);
            next_event = next_start.min(open.next_end());
        }
        if open.stack.is_empty() {
            continue;
        }
        while prose.next_if(|(_, end)| *end <= at).is_some() {}
        let is_prose = prose.peek().is_some_and(|(start, _)| *start <= at);
        let found = matcher.of_run(run);
        let field = if is_prose { field::PROSE } else { field::CODE };
        open.count(matcher.terms(found), found.words, field);
    }
}

fn begin(
    matcher: &mut Matcher<'_>,
    place: u32,
    symbol: &SymbolDocument,
    symbols: &[SymbolDocument],
    (in_path, path_length): (&Counts, f32),
) -> OpenUnit {
    let mut counts = in_path.clone();
    let mut lengths = [0.0; FIELDS];
    lengths[field::PATH] = path_length;
    let mut count = |text: &str, at: usize| {
        matcher.count(text.as_bytes(), at, &mut counts, &mut lengths[at]);
    };
    count(&symbol.name, field::NAME);
    let mut container = symbol.container;
    for _ in 0..MAX_CONTAINERS {
        let Some(row) = row_of(symbols, container) else { break };
        count(&row.name, field::CONTAINER);
        container = row.container;
    }
    count(&symbol.signature, field::SIGNATURE);
    count(&symbol.doc, field::DOC);
    let unit = Unit {
        key: symbol.key,
        file: place,
        kind: symbol.kind,
        lines: symbol.lines,
        references: symbol.references,
        is_test: symbol.flags & flags::TEST != 0,
        hits: Vec::new(),
        lengths,
    };
    OpenUnit { end: symbol.bytes.end as usize, counts, unit }
}
