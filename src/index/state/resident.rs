//! In-memory state of a repository between runs (the incremental engine). An update reads changed
//! files only, and resolves and writes only their dependents. Facts and results of other files are
//! read on demand; see `archive`.

mod facts;
mod results;

use facts::Read;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::plan::{self, Neighbours};
use crate::build::resolve::resolve;
use crate::build::workers::Workers;
use crate::facts_cache::archive::{self, Archive, KnownFile, Opening};
use crate::fingerprint::stated_edges;
use crate::progress::{Phase, Stopwatch, Timing};
use results::TakenRows;

use crate::build::context::RunContext;
use crate::outcome::IndexError;
use crate::progress::Progress;
use cograph_faults::{Fault, planted};
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, FileKey, FileStamp};
use cograph_model::stated::Stated;
use cograph_model::{LanguageId, RepoPath, SkipReason};
use cograph_resolve::{
    Change, Changed, Footprint, ListedFile, Listing, ProjectFile, Shared, Tables,
};
use cograph_source::WalkedFile;
use cograph_store::{
    Amendment, FileRow, Identity, Places, Snapshot, StoreError, StoreErrorKind, WriterLock,
};

/// Size of the delta in bytes above which a full build is cheaper.
const MAX_ROW_BYTES: usize = 96 << 20;

/// Number of read files after which their memory is freed.
const MAX_READS: usize = 8_000;

/// Maximum number of files whose facts stay in memory between changes.
pub const MAX_LOADED_FILES: usize = 512;

/// Maximum source size of the files affected by a change, in bytes: their facts are in memory
/// together.
const MAX_SOURCE_BYTES: u64 = 128 << 20;

/// What is kept of a file between changes. Its facts and results are in the archive.
#[derive(Debug)]
struct KeptFile {
    path: RepoPath,
    stamp: FileStamp,
    language: Option<LanguageId>,
    /// Reason for skipping it; none if it has facts.
    skipped: Option<SkipReason>,
}

/// Facts of files in memory while a change is applied.
type Loaded = FxHashMap<RepoPath, (Arc<FileFacts>, Shared)>;

/// State of one repository.
#[derive(Debug)]
pub(crate) struct Resident {
    /// All files, sorted by path.
    files: Vec<KeptFile>,
    /// Footprint of each file.
    asked: Vec<Footprint>,
    project_files: Vec<ProjectFile>,
    neighbours: Neighbours,
    tables: Tables,
    /// Edges that a compiler states.
    stated: Stated,
    archive: Arc<Archive>,
    /// Other files that declare relations which start in a file.
    declaring_files: BTreeMap<FileKey, BTreeSet<FileKey>>,
    /// Other files in which relations start that a file declares.
    foreign_relations: FxHashMap<FileKey, Vec<FileKey>>,
    places: Places,
    /// Greatest file key of the full build.
    last_file: u32,
    /// Generation of the store that this state matches.
    identity: Identity,
}

impl Resident {
    /// Generation of the store that this state matches.
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// Number of files whose facts are in memory.
    pub(crate) fn loaded_files(&self) -> usize {
        self.tables.loaded_files()
    }

    /// True if the number of reads exceeds the limit: the state is dropped to free their memory.
    pub(crate) fn needs_reload(&self) -> bool {
        self.archive.reads() > MAX_READS
    }

    /// Loads the state of a store from its facts cache; none if there is none.
    pub(crate) fn load(snapshot: &Snapshot, run: &RunContext) -> Result<Option<Self>, IndexError> {
        let root = &snapshot.meta().root;
        let workers = Workers::start(root, &run.limits)?;
        let (identity, kind) = (snapshot.identity(), archive::kind(&run.limits));
        let all =
            |count: usize, read: &(dyn Fn(usize) -> Option<Vec<(FileKey, KnownFile)>> + Sync)| {
                let numbers: Vec<usize> = (0..count).collect();
                workers
                    .map(&numbers, run, read)
                    .into_iter()
                    .filter_map(|(_, known)| known)
                    .collect()
            };
        let opening =
            Archive::open(snapshot.store().path(), identity.uid, kind, snapshot.known()?, all);
        run.check(root)?;
        let resident = opening
            .filter(|opening| opening.archive.row_bytes() <= MAX_ROW_BYTES)
            .and_then(|opening| {
                let rows = snapshot.files().ok()?;
                let last_file = snapshot.meta().last_file;
                let directory = snapshot.store().path().parent();
                let stated = directory.map(stated_edges).unwrap_or_default();
                workers
                    .run(|| Self::of(opening, &rows, stated, (identity, last_file)))
                    .ok()
                    .flatten()
            });
        if resident.is_none() {
            tracing::info!(root = %root.display(), "the segment of the store does not fit it, or \
                the rows about changes are too many");
        }
        Ok(resident)
    }

    fn of(
        opening: Opening,
        rows: &[FileRow],
        stated: Stated,
        (identity, last_file): (Identity, u32),
    ) -> Option<Self> {
        let Opening { archive, mut known, project_files } = opening;
        let archive = Arc::new(archive);
        let (mut files, mut asked, mut heads) = (Vec::new(), Vec::new(), Vec::new());
        let (mut declaring_files, mut foreign_relations): (
            BTreeMap<FileKey, BTreeSet<FileKey>>,
            FxHashMap<FileKey, Vec<FileKey>>,
        ) = Default::default();
        for row in rows {
            let key = row.key;
            files.push(KeptFile {
                path: row.path.clone(),
                stamp: row.stamp(),
                language: row.language.map(|language| LanguageId(language.0 as u16)),
                skipped: row.skipped,
            });
            let mut head = None;
            let mut footprint = Footprint::default();
            if row.skipped.is_none() {
                let KnownFile { entry, foreign_relations: start_files } = known.remove(&key)?;
                (head, footprint) = (Some((entry.head, entry.imported)), entry.asked);
                for home in &start_files {
                    declaring_files.entry(*home).or_default().insert(key);
                }
                if !start_files.is_empty() {
                    foreign_relations.insert(key, start_files);
                }
            }
            asked.push(footprint);
            heads.push(ListedFile {
                path: row.path.clone(),
                key,
                head,
                has_changed: archive.has_row(key),
            });
        }
        let tables = Tables::by_need(heads, Arc::clone(&archive) as Arc<_>, project_files.clone());
        let neighbours = plan::neighbours(files.iter().map(|record| &record.path));
        let places = Places::of(rows);
        let is_whole = !archive.is_damaged();
        let resident = Self {
            files,
            asked,
            project_files,
            neighbours,
            tables,
            stated,
            archive,
            declaring_files,
            foreign_relations,
            places,
            last_file,
            identity,
        };
        is_whole.then_some(resident)
    }

    /// Applies changed files to this state and to the store file `store`. After an error this state
    /// must be discarded.
    pub(crate) fn apply(
        mut self,
        lock: &WriterLock,
        store: &Path,
        touched: Vec<WalkedFile>,
        gone: &[RepoPath],
        run: &RunContext,
    ) -> Result<(Self, Vec<Timing>), IndexError> {
        let root = lock.location().root();
        let mut stopwatch = Stopwatch::start();
        let workers = Workers::start(root, &run.limits)?;
        let project_files = self.project_files.clone();
        let Read { changed, same_paths, loaded } = self.read(root, touched, gone, run, &workers);
        run.check(root)?;
        stopwatch.lap(Phase::Extract);

        let has_project_files = project_files != self.project_files;
        let moves = self.moves(same_paths);
        let before = self.before(&changed, &moves);
        let affected =
            self.update_tables(&changed, &loaded, &moves, has_project_files, root, &workers)?;
        stopwatch.lap(Phase::Tables);
        tracing::debug!(
            changed = changed.len(),
            resolved = affected.len(),
            reads = self.archive.reads(),
            "a change"
        );
        let affected: Vec<FileId> = affected
            .into_iter()
            .filter(|file| !planted(Fault::MissedDependent) || changed.contains(file))
            .collect();
        let facts = self.facts(&affected, &loaded, run, &workers);
        drop(loaded);
        run.check(root)?;
        self.check(store)?;
        let loaded: Vec<(usize, Arc<FileFacts>)> =
            facts.iter().map(|(place, facts, _)| (*place, Arc::clone(facts))).collect();
        let known = |place: usize| {
            let KeptFile { path, stamp, .. } = &self.files[place];
            (path, stamp.hash)
        };
        let results = resolve(&self.tables, &self.stated, &known, &loaded, run, &workers);
        run.check(root)?;
        self.check(store)?;
        drop(loaded);
        stopwatch.lap(Phase::Resolve);

        (run.progress)(Progress { phase: Phase::Write, done: 0, total: 0 });
        let TakenRows { mut rows, written, replaced, resolved, related } =
            self.take_results(&changed, before, facts, results);
        self.check(store)?;
        if has_project_files {
            rows.push((
                archive::PROJECT_FILES,
                Some(archive::row_of_project_files(&self.project_files)),
            ));
        }
        let Moves { origins, gone, .. } = moves;
        rows.extend(gone.iter().map(|key| (key.0, None)));
        let amendment = Amendment {
            written: &written,
            origins: &origins,
            changed: &changed,
            replaced: &replaced,
            resolved: &resolved,
            related: &related,
        };
        let tables = &self.tables;
        let keep = |places: &Places, _: Identity| {
            let same = |file: &FileId| places.file(*file) == Some(tables.key(*file));
            assert!(changed.iter().all(same), "new files get the keys that come next");
            rows.clone()
        };
        let _span = tracing::trace_span!("change store").entered();
        self.identity = amendment.write(lock, store, self.identity, &mut self.places, keep)?;
        self.archive.learn(rows);
        self.tables.forget_facts(MAX_LOADED_FILES);
        stopwatch.lap(Phase::Write);
        let laps = stopwatch.laps();
        let (reads, loaded) = (self.archive.reads(), self.loaded_files());
        tracing::debug!(reads, loaded, ?laps, "a change is written");
        Ok((self, laps))
    }

    /// Fails if any read on demand has failed.
    fn check(&self, store: &Path) -> Result<(), StoreError> {
        match self.archive.is_damaged() {
            true => Err(StoreError::new(
                StoreErrorKind::Corrupt,
                "reading the segment of",
                store,
                "it is damaged",
            )),
            false => Ok(()),
        }
    }

    /// Previous positions and keys of all files.
    fn moves(&mut self, same_paths: bool) -> Moves {
        let count = self.files.len();
        if same_paths {
            let keys = (0..count).map(|place| self.tables.key(FileId::at(place))).collect();
            return Moves {
                is_listed: false,
                origins: (0..count).map(Some).collect(),
                keys,
                gone: Vec::new(),
            };
        }
        let before: Vec<(RepoPath, FileKey)> = self.tables.listing().collect();
        let last = before.iter().map(|(_, key)| key.0).max().unwrap_or(0);
        let mut next = last.max(self.last_file) + 1;
        let (mut origins, mut keys, mut gone) =
            (Vec::with_capacity(count), Vec::with_capacity(count), Vec::new());
        let mut old = before.iter().enumerate().peekable();
        for record in &self.files {
            while let Some((_, (_, key))) = old.next_if(|(_, (path, _))| *path < record.path) {
                gone.push(*key);
            }
            let known = old.next_if(|(_, (path, _))| *path == record.path);
            origins.push(known.map(|(place, _)| place));
            keys.push(known.map_or_else(
                || {
                    next += 1;
                    FileKey(next - 1)
                },
                |(_, (_, key))| *key,
            ));
        }
        gone.extend(old.map(|(_, (_, key))| *key));
        let mut asked = std::mem::take(&mut self.asked);
        self.asked = origins
            .iter()
            .map(|origin| {
                origin.map(|origin| std::mem::take(&mut asked[origin])).unwrap_or_default()
            })
            .collect();
        Moves { is_listed: true, origins, keys, gone }
    }

    /// Keys of deleted and changed files that had facts.
    fn before(&self, changed: &[FileId], moves: &Moves) -> FxHashSet<FileKey> {
        let keys = changed
            .iter()
            .map(|file| moves.keys[file.0 as usize])
            .chain(moves.gone.iter().copied());
        keys.filter(|key| {
            self.tables.position(*key).is_some_and(|file| self.tables.head(file).is_some())
        })
        .collect()
    }

    /// Applies the change to the tables; returns the files to resolve.
    fn update_tables(
        &mut self,
        changed: &[FileId],
        loaded: &Loaded,
        moves: &Moves,
        has_project_files: bool,
        root: &Path,
        workers: &Workers,
    ) -> Result<Vec<FileId>, IndexError> {
        let Self { files, tables, asked, project_files, .. } = self;
        let file = |file: &FileId| {
            let KeptFile { path, language, .. } = &files[file.0 as usize];
            let content = language.zip(loaded.get(path));
            Changed {
                file: *file,
                content: content
                    .map(|(language, (facts, shared))| (language, Arc::clone(facts), *shared)),
            }
        };
        let listing = || {
            Listing(
                files
                    .iter()
                    .map(|record| record.path.clone())
                    .zip(moves.keys.iter().copied())
                    .collect(),
            )
        };
        let change = Change {
            listing: moves.is_listed.then(listing),
            changed: changed.iter().map(file).collect(),
            project_files: has_project_files.then(|| project_files.clone()),
        };
        let asked: Vec<&Footprint> = asked.iter().collect();
        let affected = workers.run(|| {
            let _span = tracing::trace_span!("update tables").entered();
            tables.update(change, &asked)
        });
        let affected =
            affected.map_err(|reason| IndexError::Defect { root: root.to_path_buf(), reason })?;
        let bytes: u64 = affected.iter().map(|file| files[file.0 as usize].stamp.size).sum();
        if bytes > MAX_SOURCE_BYTES {
            let detail = format!("the change concerns {} files", affected.len());
            return Err(StoreError::new(
                StoreErrorKind::TooLarge,
                "changing store of",
                root,
                detail,
            )
            .into());
        }
        Ok(affected)
    }

    fn position(&self, path: &RepoPath) -> Option<FileId> {
        let place = self.files.binary_search_by(|record| record.path.cmp(path)).ok()?;
        Some(FileId::at(place))
    }

    /// Removes deleted and changed files if the set of paths differs. Adds files to `touched` whose
    /// language changes with their neighbours; returns the neighbours.
    fn remove_files(&mut self, touched: &mut Vec<WalkedFile>, gone: &[RepoPath]) -> Neighbours {
        let away: FxHashSet<RepoPath> =
            gone.iter().chain(touched.iter().map(|file| &file.path)).cloned().collect();
        self.files.retain(|record| !away.contains(&record.path));
        let left = self.files.iter().map(|record| &record.path);
        let neighbours = plan::neighbours(left.chain(touched.iter().map(|file| &file.path)));
        self.files.retain(|record| {
            let directory = record.path.directory();
            let settled = neighbours.get(directory) == self.neighbours.get(directory)
                || !plan::is_decided_by_neighbours(&record.path)
                || record.skipped.is_some_and(SkipReason::is_of_entry);
            if !settled {
                let (path, stamp) = (record.path.clone(), record.stamp);
                touched.push(WalkedFile { path, stamp, skipped: None });
            }
            settled
        });
        neighbours
    }
}

/// Mapping of files across a change.
struct Moves {
    /// True if the set of paths differs.
    is_listed: bool,
    /// Previous position of each file; none for a new one.
    origins: Vec<Option<usize>>,
    /// Key of each file.
    keys: Vec<FileKey>,
    /// Keys of deleted files.
    gone: Vec<FileKey>,
}

fn ids(count: usize) -> impl Iterator<Item = FileId> {
    (0..count).map(FileId::at)
}
