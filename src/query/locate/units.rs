//! Units of retrieval: the functions, types and larger values of the candidate files, with term
//! frequencies by field.

use std::hash::{BuildHasher, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
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
use crate::store::{SymbolKey, SymbolRow};

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
    symbols: Vec<SymbolRow>,
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
        let mut matcher = Matcher { question, known: FxHashMap::default() };
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
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        let symbols = lookup.snapshot.symbols_of(&file)?;
        let source = Source { place, path: file.path.clone(), symbols, text };
        sender.send(source).expect("the receiver outlives the reader");
    }
    Ok(())
}

/// Question terms of an identifier, and its number of words.
#[derive(Clone, Default)]
struct RunHits {
    hits: SmallVec<[u16; 4]>,
    words: u16,
}

struct Matcher<'a> {
    question: &'a Question,
    /// By hash of an identifier.
    known: FxHashMap<u64, RunHits>,
}

impl Matcher<'_> {
    fn of_run(&mut self, run: &[u8]) -> &RunHits {
        let mut hasher = FxBuildHasher.build_hasher();
        hasher.write(run);
        let question = self.question;
        self.known.entry(hasher.finish()).or_insert_with(|| {
            let mut found = RunHits::default();
            words::parts(run, |part| {
                found.words += 1;
                found.hits.extend(question.position_of(part));
            });
            let mut whole = joined(run);
            if found.words > 0
                && let Some(&place) = question.compounds.get(whole.as_slice())
            {
                found.hits.push(place);
            }
            // `readme` matches `ReadMe` as well.
            if found.words > 1 {
                found.hits.extend(question.position_of(&mut whole));
            }
            found
        })
    }

    /// Counts the words of a text in a field.
    fn count(&mut self, text: &[u8], at: usize, counts: &mut Counts, length: &mut f32) {
        for (_, run) in words::runs(text) {
            let found = self.of_run(run);
            *length += f32::from(found.words);
            for &word in &found.hits {
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

/// True if a symbol may be part of the answer.
fn is_unit(symbol: &SymbolRow, symbols: &[SymbolRow], first: u32) -> bool {
    let lines = symbol.extent.end.line - symbol.extent.start.line + 1;
    let container =
        symbol.container.and_then(|key| symbols.get(key.0.checked_sub(first)? as usize));
    let in_callable = container.is_some_and(|container| container.kind.is_callable());
    symbol.kind.is_callable()
        || symbol.kind.is_type()
        || (lines >= MIN_LINES
            && !in_callable
            && !matches!(symbol.kind, SymbolKind::Module | SymbolKind::Namespace))
}

fn of_file(matcher: &mut Matcher<'_>, source: &Source, units: &mut Vec<Unit>) {
    let Source { place, path, symbols, text } = source;
    let (place, path) = (*place, path.as_str());
    let Some(first) = symbols.first().map(|symbol| symbol.key.0) else { return };
    let (mut in_path, mut path_length) = (Counts::default(), 0.0);
    let without_extension = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    matcher.count(without_extension.as_bytes(), field::PATH, &mut in_path, &mut path_length);
    let mut open: Vec<(usize, Counts, Unit)> = Vec::new();
    let mut runs = words::runs(text).peekable();
    let prose = prose::spans(text);
    let mut next_prose = 0;
    let mut wanted = symbols.iter().filter(|symbol| is_unit(symbol, symbols, first)).peekable();
    loop {
        let next_unit = wanted.peek().map(|symbol| symbol.extent.start_byte as usize);
        let next_run = runs.peek().map(|(at, _)| *at);
        let at = match (next_unit, next_run) {
            (None, None) => break,
            (Some(unit), None) => unit,
            (None, Some(run)) => run,
            (Some(unit), Some(run)) => unit.min(run),
        };
        while let Some(position) = open.iter().position(|(end, ..)| *end <= at) {
            close(open.remove(position), units);
        }
        if next_unit == Some(at)
            && let Some(symbol) = wanted.next()
        {
            let (counts, unit) =
                begin(matcher, place, symbol, symbols, first, (&in_path, path_length));
            open.push((symbol.extent.end_byte as usize, counts, unit));
        } else if let Some((_, run)) = runs.next() {
            if open.is_empty() {
                continue;
            }
            while prose.get(next_prose).is_some_and(|(_, end)| *end <= at) {
                next_prose += 1;
            }
            let is_prose = prose.get(next_prose).is_some_and(|(start, _)| *start <= at);
            let place = if is_prose { field::PROSE } else { field::CODE };
            let found = matcher.of_run(run);
            // Text in a callable belongs to it, not to the enclosing type.
            let innermost_callable = open.iter().rposition(|(.., unit)| unit.kind.is_callable());
            for (level, (_, counts, unit)) in open.iter_mut().enumerate() {
                if unit.kind.is_callable()
                    || innermost_callable.is_none_or(|callable| callable < level)
                {
                    unit.lengths[place] += f32::from(found.words);
                    for &word in &found.hits {
                        counts.add(word, place, 1.0);
                    }
                }
            }
        }
    }
    open.into_iter().for_each(|unit| close(unit, units));
}

fn close((_, counts, mut unit): (usize, Counts, Unit), units: &mut Vec<Unit>) {
    unit.hits = counts.0;
    units.push(unit);
}

fn begin(
    matcher: &mut Matcher<'_>,
    place: u32,
    symbol: &SymbolRow,
    symbols: &[SymbolRow],
    first: u32,
    (in_path, path_length): (&Counts, f32),
) -> (Counts, Unit) {
    let mut counts = in_path.clone();
    let mut lengths = [0.0; FIELDS];
    lengths[field::PATH] = path_length;
    matcher.count(symbol.name_text.as_bytes(), field::NAME, &mut counts, &mut lengths[field::NAME]);
    let mut container = symbol.container;
    for _ in 0..MAX_CONTAINERS {
        let Some(row) = container.and_then(|key| symbols.get(key.0.checked_sub(first)? as usize))
        else {
            break;
        };
        matcher.count(
            row.name_text.as_bytes(),
            field::CONTAINER,
            &mut counts,
            &mut lengths[field::CONTAINER],
        );
        container = row.container;
    }
    matcher.count(
        symbol.signature.as_bytes(),
        field::SIGNATURE,
        &mut counts,
        &mut lengths[field::SIGNATURE],
    );
    matcher.count(symbol.doc.as_bytes(), field::DOC, &mut counts, &mut lengths[field::DOC]);
    let lines = symbol.extent.end.line - symbol.extent.start.line + 1;
    let unit = Unit {
        key: symbol.key,
        file: place,
        kind: symbol.kind,
        lines,
        references: symbol.references,
        is_test: symbol.flags & flags::TEST != 0,
        hits: Vec::new(),
        lengths,
    };
    (counts, unit)
}
