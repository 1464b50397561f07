//! Full build with bounded memory. Files are processed in runs of neighbours (pieces). The facts of
//! a piece are written to disk when they are extracted; only the exported part stays in memory.
//! Resolution of a piece reads its facts again and writes its results; writing the store reads both
//! once more. The pieces on disk become the segment of the store, from which later changes read on
//! demand.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::plan::{self, Plan};
use super::read_back::{Metadata, Reading, file, key, read_facts};
use super::resolve::guarded_resolution;
use super::workers::Workers;
use crate::build::context::RunContext;
use crate::build::ingest::{IngestedFile, Ingestion, Pace};
use crate::facts_cache::archive::{self, KnownFile, Neighbours};
use crate::facts_cache::segment_block::{self, Opened, PieceWriter};
use crate::fingerprint::{fingerprint, stated_edges};
use crate::outcome::IndexError;
use crate::progress::{Counter, Phase, Progress, Stopwatch, Timing};
use cograph_grammar as grammar;
use cograph_model::graph::{FileId, FileKey, FileRecord, FileResolution, Relation, SymbolRef};
use cograph_model::packed;
use cograph_model::stated::Stated;
use cograph_resolve::{
    Footprint, Names, PackedEntry, Prepared, ProjectFile, Resolved, Shared, Tables,
};
use cograph_source::{self as source, WalkedFile};
use cograph_store::{
    self as store, BuildInfo, Draft, Outline, Placed, Published, StoreError, WriterLock,
};
use cograph_system::allocator::return_unused_pages;

/// Source bytes per piece: large enough that few words occur in several pieces, small enough to
/// keep all threads busy, and to read the facts of one file after a change. In the Linux tree
/// pieces of 64 KiB are 2 % larger together than those of 512 KiB.
const MIN_PIECE_BYTES: u64 = 16 << 10;
const MAX_PIECE_BYTES: u64 = 64 << 10;
const PIECES: u64 = 64;

/// Builds the store of a repository, and its segment.
pub(crate) fn build(
    lock: &WriterLock,
    started: Instant,
    run: &RunContext,
) -> Result<(Published, Vec<Timing>), IndexError> {
    let root = lock.location().root();
    let mut stopwatch = Stopwatch::start();
    (run.progress)(Progress { phase: Phase::Walk, done: 0, total: 0 });
    let plan = plan::plan(source::walk(root, run.limits.threads, run.cancel)?);
    stopwatch.lap(Phase::Walk);

    let workers = Workers::start(root, &run.limits)?;
    let draft = Draft::begin(lock)?;
    let ranges = ranges(&plan.files);
    let Extracted { files, prepared, project_files, names, pieces } =
        extract(&draft, &plan, &ranges, lock, run, &workers)?;
    drop(plan);
    return_unused_pages();
    stopwatch.lap(Phase::Extract);

    let failed = |reason| IndexError::Defect { root: root.to_path_buf(), reason };
    (run.progress)(Progress { phase: Phase::Tables, done: 0, total: 0 });
    let tables = workers
        .run(|| {
            let _span = tracing::trace_span!("tables").entered();
            Tables::of(&files, prepared, names, project_files)
        })
        .map_err(failed)?;
    return_unused_pages();
    stopwatch.lap(Phase::Tables);

    let directory = lock.location().directory();
    let counter = Counter::start(Phase::Resolve, files.len(), run.progress);
    let known = (files.as_slice(), stated_edges(directory));
    let resolving = Resolving::new(&draft, &tables, known, run, counter);
    let found = in_order(workers.map(&largest_first(&pieces), run, |number| {
        resolving.piece(pieces[number], ranges[number].len())
    }))?;
    run.check(root)?;
    let references = resolving.references;
    let mut foreign_relations: FxHashMap<FileId, Vec<Relation>> = FxHashMap::default();
    let mut found_pieces = Vec::with_capacity(found.len());
    let mut neighbours = Vec::with_capacity(found.len());
    for ((PieceResult { placed, entries, foreign_relations: some }, facts), range) in
        found.into_iter().zip(&pieces).zip(&ranges)
    {
        neighbours.push(Neighbours {
            first: key(FileId::at(range.start)),
            facts: *facts,
            found: placed,
            entries,
        });
        found_pieces.push(placed);
        some.into_iter().for_each(|relation| {
            foreign_relations.entry(relation.from.file).or_default().push(relation)
        });
    }
    let index = archive::write_index(&draft, &neighbours, &tables)?;
    // The facts go with the tables. Their pages are of the threads that have extracted them: the
    // copies of the names, which this thread makes, would come on top.
    let files = files.into_iter().map(Metadata::of).collect();
    let symbol_names = tables.into_symbol_names();
    return_unused_pages();
    let outline =
        Outline { symbol_names: symbol_names.collect(), references: references.numbers() };
    stopwatch.lap(Phase::Resolve);

    (run.progress)(Progress { phase: Phase::Write, done: 0, total: 0 });
    let languages = grammar::names();
    let info = BuildInfo {
        languages: &languages,
        fingerprint: fingerprint(&run.limits, directory),
        started,
        max_bytes: None,
    };
    let reading = Reading {
        draft: &draft,
        files,
        ranges,
        facts: pieces,
        found: found_pieces,
        foreign_relations,
    };
    let published =
        reading.ahead(root, |files| store::publish_files(lock, outline, files, &info))??;
    if let Err(error) =
        draft.publish(&published.path, published.identity, archive::kind(&run.limits), index)
    {
        tracing::info!(%error, "the store has no segment: the next change means a whole build");
    }
    stopwatch.lap(Phase::Write);
    Ok((published, stopwatch.laps()))
}

/// Files of each piece: all files, in order.
fn ranges(files: &[WalkedFile]) -> Vec<Range<usize>> {
    let all: u64 = files.iter().map(|file| file.stamp.size).sum();
    let most = (all / PIECES).clamp(MIN_PIECE_BYTES, MAX_PIECE_BYTES);
    let (mut ranges, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (place, file) in files.iter().enumerate() {
        bytes += file.stamp.size;
        if bytes >= most {
            ranges.push(start..place + 1);
            (start, bytes) = (place + 1, 0);
        }
    }
    ranges.push(start..files.len());
    ranges
}

/// Results of all pieces in order, or the first error.
fn in_order<T>(mut results: Vec<(usize, Result<T, StoreError>)>) -> Result<Vec<T>, StoreError> {
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

fn largest_first(pieces: &[Placed]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|&number| std::cmp::Reverse(pieces[number].bytes()));
    order
}

/// Exported facts of all files, and locations of the rest.
struct Extracted {
    files: Vec<FileRecord>,
    prepared: Vec<Option<Prepared>>,
    project_files: Vec<ProjectFile>,
    names: Names,
    pieces: Vec<Placed>,
}

fn extract(
    draft: &Draft,
    plan: &Plan,
    ranges: &[Range<usize>],
    lock: &WriterLock,
    run: &RunContext,
    workers: &Workers,
) -> Result<Extracted, IndexError> {
    let root = lock.location().root();
    let taking = Ingestion::start(root, plan, Pace::Quick, run, workers);
    let names = Mutex::new(Names::default());
    let size = |range: &Range<usize>| {
        plan.files[range.clone()].iter().map(|file| file.stamp.size).sum::<u64>()
    };
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_cached_key(|&number| std::cmp::Reverse(size(&ranges[number])));
    let taken = workers.map(&order, run, |number| {
        taking.announce(ranges[number].clone());
        let files = ranges[number]
            .clone()
            .map(|place| if run.cancel.is_cancelled() { None } else { Some(taking.file(place)) });
        files
            .collect::<Option<Vec<_>>>()
            .map(|files| write_piece(draft, ranges[number].start, files, &names))
            .transpose()
    });
    run.check(root)?;
    let mut extracted = Extracted {
        files: Vec::with_capacity(plan.files.len()),
        prepared: Vec::with_capacity(plan.files.len()),
        project_files: Vec::new(),
        names: names.into_inner(),
        pieces: Vec::with_capacity(ranges.len()),
    };
    for (placed, files) in in_order(taken)?.into_iter().flatten() {
        extracted.pieces.push(placed);
        for (record, project_file, prepared) in files {
            extracted.files.push(record);
            extracted.prepared.push(prepared);
            extracted.project_files.extend(project_file);
        }
    }
    Ok(extracted)
}

type Remaining = (FileRecord, Option<ProjectFile>, Option<Prepared>);

/// Writes the facts of a piece, whose first file is `start`, to disk and keeps their exported part.
fn write_piece(
    draft: &Draft,
    start: usize,
    files: Vec<IngestedFile>,
    names: &Mutex<Names>,
) -> Result<(Placed, Vec<Remaining>), StoreError> {
    let encoding = tracing::trace_span!("encode facts").entered();
    let mut piece = PieceWriter::default();
    let mut arranged = Vec::with_capacity(files.len());
    for (place, (record, project_file, shared)) in (start..).zip(files) {
        let mut known = None;
        if let (Ok(facts), Some(shared)) = (&record.content, shared) {
            let mut words = Vec::new();
            let write = |body: &mut _| words = segment_block::write_facts(body, facts, &shared);
            piece.add(key(FileId::at(place)), write, |_| ());
            known = Some((shared, words));
        }
        arranged.push((record, project_file, known));
    }
    let piece = piece.finish();
    drop(encoding);
    let _span = tracing::trace_span!("intern names").entered();
    let words = Opened::read(&piece).expect("it was written just now").words;
    let known = names.lock().intern_all(&words);
    let leave =
        |(mut record, project_file, shared): (FileRecord, _, Option<(Shared, Vec<u32>)>)| {
            let language = record.language;
            let prepared = shared.zip(record.content.as_mut().ok()).zip(language).map(
                |(((shared, words), facts), language)| {
                    let names = words.into_iter().map(|word| known[word as usize]).collect();
                    shared.truncate(Arc::make_mut(facts), language, names)
                },
            );
            (record, project_file, prepared)
        };
    let taken = arranged.into_iter().map(leave).collect();
    Ok((draft.add(&piece)?, taken))
}

/// Resolves pieces, on any thread.
struct Resolving<'r> {
    draft: &'r Draft,
    tables: &'r Tables,
    files: &'r [FileRecord],
    stated: Stated,
    run: &'r RunContext<'r>,
    counter: Counter<'r>,
    references: ReferenceCounts,
}

/// Results of a piece.
struct PieceResult {
    placed: Placed,
    /// Locations of the entries: what is known of the files without their facts.
    entries: Placed,
    /// Relations that start in a file other than the one that declares them.
    foreign_relations: Vec<Relation>,
}

impl<'r> Resolving<'r> {
    fn new(
        draft: &'r Draft,
        tables: &'r Tables,
        (files, stated): (&'r [FileRecord], Stated),
        run: &'r RunContext<'r>,
        counter: Counter<'r>,
    ) -> Self {
        let references = ReferenceCounts::of(files);
        Self { draft, tables, files, stated, run, counter, references }
    }

    /// Resolves a piece of this many files; skipped files have no facts.
    fn piece(&self, facts: Placed, files: usize) -> Result<PieceResult, StoreError> {
        let raw = self.draft.piece(facts)?;
        let opened = Opened::read(&raw).expect("the draft gives what was written");
        let (mut piece, mut entries) = (PieceWriter::default(), PieceWriter::default());
        let mut foreign_relations = Vec::new();
        for entry in &opened.entries {
            let decoding = tracing::trace_span!("decode facts").entered();
            let facts = read_facts(entry.facts, &opened.words, packed::facts::read_unnamed);
            drop(decoding);
            let file = file(entry.key);
            let FileRecord { path, stamp, .. } = &self.files[file.0 as usize];
            let stated = self.stated.of(path, stamp.hash).map(|of_file| (&self.stated, of_file));
            let Resolved { resolution, asked } = guarded_resolution(path, &facts, self.run, || {
                self.tables.resolve_shared(file, &facts, stated)
            });
            let _span = tracing::trace_span!("encode results").entered();
            self.references.add(&resolution);
            foreign_relations.extend(
                resolution.relations.iter().copied().filter(|relation| relation.from.file != file),
            );
            piece.add(entry.key, |_| (), |body| packed::graph::write(body, &resolution, &key));
            let known = known_file(self.tables, file, &resolution, asked);
            entries.add(entry.key, |body| known.write(body), |_| ());
            self.counter.add_one();
        }
        (opened.entries.len()..files).for_each(|_| self.counter.add_one());
        Ok(PieceResult {
            placed: self.draft.add(&piece.finish())?,
            entries: self.draft.add(&entries.finish())?,
            foreign_relations,
        })
    }
}

/// Number of stored references to each symbol, counted on all threads.
struct ReferenceCounts {
    /// By file, without the multiples of 2^16: few symbols have as many.
    counts: Vec<Box<[AtomicU16]>>,
    /// Number of these multiples.
    carried: Mutex<BTreeMap<SymbolRef, u32>>,
}

impl ReferenceCounts {
    fn of(files: &[FileRecord]) -> Self {
        let symbols =
            |record: &FileRecord| record.content.as_ref().map_or(0, |facts| facts.symbols.len());
        let counts = files
            .iter()
            .map(|record| (0..symbols(record)).map(|_| AtomicU16::new(0)).collect())
            .collect();
        Self { counts, carried: Mutex::default() }
    }

    fn add(&self, found: &FileResolution) {
        for symbol in found.targets() {
            let count = &self.counts[symbol.file.0 as usize][symbol.symbol.0 as usize];
            if count.fetch_add(1, Ordering::Relaxed) == u16::MAX {
                *self.carried.lock().entry(symbol).or_default() += 1;
            }
        }
    }

    /// Returns the numbers by file and symbol.
    fn numbers(self) -> Vec<Vec<u32>> {
        let whole = |counts: Box<[AtomicU16]>| {
            counts.into_iter().map(|count| count.into_inner().into()).collect::<Vec<u32>>()
        };
        let mut numbers: Vec<_> = self.counts.into_iter().map(whole).collect();
        for (symbol, carried) in self.carried.into_inner() {
            numbers[symbol.file.0 as usize][symbol.symbol.0 as usize] += carried << u16::BITS;
        }
        numbers
    }
}

/// Entry of a file after its resolution: what is known of it without its facts.
pub(crate) fn known_file(
    tables: &Tables,
    file: FileId,
    found: &FileResolution,
    asked: Footprint,
) -> KnownFile {
    let head = tables.head(file).expect("it has facts").clone();
    let mut foreign_relations: Vec<FileKey> = found
        .relations
        .iter()
        .filter(|relation| relation.from.file != file)
        .map(|relation| tables.key(relation.from.file))
        .collect();
    foreign_relations.sort_unstable();
    foreign_relations.dedup();
    KnownFile {
        entry: PackedEntry { head, imported: tables.imported_keys(file), asked },
        foreign_relations,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::facts::LocalSymbol;
    use cograph_model::graph::{Resolution, Target};
    use cograph_model::{Step, Verdict};

    #[test]
    fn references_are_counted_beyond_sixteen_bits() {
        let count = || AtomicU16::new(0);
        let counts = vec![[].into(), [count(), count()].into()];
        let counts = ReferenceCounts { counts, carried: Mutex::default() };
        let symbol = SymbolRef { file: FileId(1), symbol: LocalSymbol(1) };
        let target = Target::Symbol(symbol);
        let site = Resolution { verdict: Verdict::Resolved, step: Step::Import, target };
        let found = FileResolution { sites: vec![site; 70_000], ..FileResolution::default() };
        counts.add(&found);
        counts.add(&found);
        assert_eq!(counts.numbers(), [vec![], vec![0, 140_000]]);
    }
}
