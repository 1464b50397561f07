//! What is known of a repository in use, kept between runs: facts, tables, results, and the keys they have in the store. A
//! change of files costs what it concerns: only those are read, only what depends on them is resolved and written again.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::plan::{self, Neighbours};
use super::progress::{Phase, Stopwatch, Timing};
use super::resolve::{bring_relations_home, resolve};
use super::saved::{self, Known, Loaded};
use super::take_in::{self, TakenIn};
use super::workers::Workers;
use super::{IndexError, Progress, Run};
use crate::model::RepoPath;
use crate::model::graph::{FileId, FileRecord, FileResolution, Graph, Relation, SymbolRef, Target};
use crate::resolve::{Asked, ProjectFile, Tables, Updated};
use crate::source::{self, WalkedFile, WalkedKind};
use crate::store::{self, Amendment, Beside, Draft, Grown, Identity, Keys, Snapshot, WriterLock};

/// One repository.
#[derive(Debug)]
pub(super) struct Resident {
    graph: Graph,
    project_files: Vec<ProjectFile>,
    neighbours: Neighbours,
    tables: Tables,
    /// What was looked at for each file.
    asked: Vec<Asked>,
    /// The relations that each file speaks of, wherever they start.
    relations: Vec<Vec<Relation>>,
    keys: Option<Keys>,
    /// The state of the store that holds the graph.
    identity: Option<Identity>,
}

impl Resident {
    /// Reads and resolves a whole repository.
    pub(super) fn build(root: &Path, run: &Run) -> Result<(Self, Vec<Timing>), IndexError> {
        let mut stopwatch = Stopwatch::start();
        (run.progress)(Progress { phase: Phase::Walk, done: 0, total: 0 });
        let walk = source::walk(root, run.limits.threads, run.cancel)?;
        let plan = plan::plan(walk);
        stopwatch.lap(Phase::Walk);

        let workers = Workers::start(root, &run.limits)?;
        let TakenIn { files, project_files } = take_in::take_in(root, &plan, run, &workers);
        run.check(root)?;
        stopwatch.lap(Phase::Extract);

        let failed = |reason| IndexError::Defect { root: root.to_path_buf(), reason };
        (run.progress)(Progress { phase: Phase::Tables, done: 0, total: 0 });
        let tables = workers.run(|| Tables::new(&files, &project_files)).map_err(failed)?;
        stopwatch.lap(Phase::Tables);
        let results = resolve(&tables, &files, 0..files.len(), run, &workers);
        run.check(root)?;
        let mut resolutions = vec![FileResolution::default(); files.len()];
        let mut asked = vec![Asked::default(); files.len()];
        for (position, resolved) in results {
            resolutions[position] = resolved.resolution;
            asked[position] = resolved.asked;
        }
        let relations = resolutions.iter().map(|found| found.relations.clone()).collect();
        bring_relations_home(&mut resolutions);
        stopwatch.lap(Phase::Resolve);
        let graph = Graph { files, resolutions };
        let neighbours = plan.into_neighbours();
        let resident = Self { graph, project_files, neighbours, tables, asked, relations, keys: None, identity: None };
        Ok((resident, stopwatch.laps()))
    }

    /// The state of the store that holds the graph.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.identity
    }

    pub(super) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(super) fn into_graph(self) -> Graph {
        self.graph
    }

    /// Takes up what another process, or this one earlier, has worked out for a store; none if that was not kept.
    pub(super) fn load(snapshot: &Snapshot, run: &Run) -> Result<Option<Self>, IndexError> {
        let Some(beside) = Beside::read(snapshot, saved::kind(&run.limits)) else { return Ok(None) };
        let root = &snapshot.meta().root;
        let workers = Workers::start(root, &run.limits)?;
        let loaded = saved::load(&beside, &snapshot.files()?, run, &workers);
        run.check(root)?;
        let Some(Loaded { files, found, relations, asked, tables, project_files }) = loaded else {
            tracing::info!(root = %root.display(), "what is kept beside the store does not fit it");
            return Ok(None);
        };
        let neighbours = plan::neighbours(files.iter().map(|record| &record.path));
        let mut graph = Graph { files, resolutions: found };
        bring_relations_home(&mut graph.resolutions);
        let mut resident = Self { graph, project_files, neighbours, tables, asked, relations, keys: None, identity: None };
        Ok(resident.settle(snapshot)?.then_some(resident))
    }

    /// Keeps everything that is known beside the store that it has settled with. What goes wrong costs work later, and
    /// nothing else.
    pub(super) fn save(&self, lock: &WriterLock, store: &Path, run: &Run) {
        let Some((known, identity)) = self.known().zip(self.identity) else { return };
        let save = || -> Result<(), IndexError> {
            let workers = Workers::start(lock.location().root(), &run.limits)?;
            let draft = Draft::begin(lock, store)?;
            let pieces = saved::pieces(&self.graph.files);
            let numbers: Vec<usize> = (0..pieces.len()).collect();
            workers.map(&numbers, run, |number| {
                draft.add(&known.piece(&pieces[number], |_| true, number + 1 == pieces.len()));
            });
            run.check(lock.location().root())?;
            Ok(draft.publish(identity, saved::kind(&run.limits))?)
        };
        if let Err(error) = save() {
            tracing::info!(%error, "what is known of a repository is not kept beside its store");
        }
    }

    fn known(&self) -> Option<Known<'_>> {
        self.keys.as_ref().map(|keys| self.known_by(keys))
    }

    fn known_by<'r>(&'r self, keys: &'r Keys) -> Known<'r> {
        Known {
            files: &self.graph.files,
            found: &self.graph.resolutions,
            relations: &self.relations,
            asked: &self.asked,
            tables: &self.tables,
            project_files: &self.project_files,
            keys,
        }
    }

    /// Learns the keys of the store that holds the graph; false if it does not.
    pub(super) fn settle(&mut self, snapshot: &Snapshot) -> Result<bool, IndexError> {
        self.keys = Keys::of(&self.graph, snapshot)?;
        self.identity = Some(snapshot.identity());
        Ok(self.keys.is_some())
    }

    /// Takes changed files in, here and in the store.
    pub(super) fn apply(
        &mut self,
        lock: &WriterLock,
        (touched, gone): (Vec<WalkedFile>, &[RepoPath]),
        run: &Run,
    ) -> Result<(Identity, Vec<Timing>), IndexError> {
        let root = lock.location().root();
        let mut stopwatch = Stopwatch::start();
        let workers = Workers::start(root, &run.limits)?;
        let project_files = self.project_files.clone();
        let (records, changed) = self.read(root, touched, gone, run, &workers);
        let has_project_files = project_files != self.project_files;
        run.check(root)?;
        stopwatch.lap(Phase::Extract);

        let failed = |reason| IndexError::Defect { root: root.to_path_buf(), reason };
        let Self { tables, project_files, asked, .. } = self;
        let updated = workers.run(|| tables.update(&records, project_files, asked)).map_err(failed)?;
        stopwatch.lap(Phase::Tables);
        let affected: Vec<usize> = updated.affected.iter().map(|file| file.0 as usize).collect();
        let results = resolve(&self.tables, &records, affected.iter().copied(), run, &workers);
        run.check(root)?;
        let before = self.take_results(records, &updated, results);
        let related = self.settle_relations(&before);
        stopwatch.lap(Phase::Resolve);

        (run.progress)(Progress { phase: Phase::Write, done: 0, total: 0 });
        let is_changed: FxHashSet<FileId> = changed.iter().copied().collect();
        let resolved: Vec<(FileId, FileResolution)> =
            before.resolutions.into_iter().filter(|(file, _)| !is_changed.contains(file)).collect();
        let amendment =
            Amendment { graph: &self.graph, origins: &before.origins, changed: &changed, resolved: &resolved, related: &related };
        let known = self.identity.zip(self.keys.take());
        let (identity, mut keys) = known.expect("a resident that is kept has settled with its store");
        let mut places: Vec<usize> = affected.into_iter().chain(changed.iter().map(|file| file.0 as usize)).collect();
        places.sort_unstable();
        places.dedup();
        let mut kept = None;
        let after = amendment.write(lock, identity, &mut keys, |store, keys, after| {
            let is_changed = |place: usize| u32::try_from(place).is_ok_and(|place| is_changed.contains(&FileId(place)));
            let piece = self.known_by(keys).piece(&places, is_changed, has_project_files);
            let added = store::append(lock, store, (identity, after), saved::kind(&run.limits), &[piece]);
            kept = Some((store.to_path_buf(), added));
        })?;
        self.keys = Some(keys);
        self.identity = Some(after);
        let is_small = |added: &Grown| added.appended <= added.first.max(LEAST_APPENDED);
        match kept {
            Some((_, Ok(Some(added)))) if is_small(&added) => {}
            Some((store, Ok(_))) => self.save(lock, &store, run),
            Some((_, Err(error))) => tracing::info!(%error, "what is known of a repository is not kept beside its store"),
            None => {}
        }
        stopwatch.lap(Phase::Write);
        Ok((after, stopwatch.laps()))
    }

    /// Reads the touched files and those whose language their neighbours decide otherwise now. Gives all records, and which of
    /// them are new or other ones.
    fn read(
        &mut self,
        root: &Path,
        touched: Vec<WalkedFile>,
        gone: &[RepoPath],
        run: &Run,
        workers: &Workers,
    ) -> (Vec<FileRecord>, Vec<FileId>) {
        let away: FxHashSet<&RepoPath> = gone.iter().chain(touched.iter().map(|file| &file.path)).collect();
        let mut kept: Vec<FileRecord> = self.graph.files.iter().filter(|record| !away.contains(&record.path)).cloned().collect();
        let known = |path: &RepoPath| self.graph.files.binary_search_by(|record| record.path.cmp(path)).is_ok();
        let has_same_paths = gone.is_empty() && touched.iter().all(|file| known(&file.path));
        let neighbours = if has_same_paths {
            self.neighbours.clone()
        } else {
            plan::neighbours(kept.iter().map(|record| &record.path).chain(touched.iter().map(|file| &file.path)))
        };
        let mut touched = touched;
        kept.retain(|record| {
            if has_same_paths {
                return true;
            }
            let directory = record.path.directory();
            let settled =
                neighbours.get(directory) == self.neighbours.get(directory) || !plan::is_settled_by_neighbours(&record.path);
            if !settled {
                let kind = WalkedKind::File;
                touched.push(WalkedFile { path: record.path.clone(), stamp: record.stamp, kind });
            }
            settled
        });
        let again: FxHashSet<RepoPath> = touched.iter().map(|file| file.path.clone()).collect();
        self.project_files.retain(|file| !again.contains(&file.path) && !gone.contains(&file.path));
        let plan = plan::plan_among(touched, neighbours);
        let taken = take_in::take_in(root, &plan, run, workers);
        self.neighbours = plan.into_neighbours();
        self.project_files.extend(taken.project_files);
        self.project_files.sort_by(|a, b| a.path.cmp(&b.path));
        kept.extend(taken.files);
        kept.sort_by(|a, b| a.path.cmp(&b.path));
        let changed = ids(&kept).filter(|id| again.contains(&kept[id.0 as usize].path)).collect();
        (kept, changed)
    }

    /// Puts results in their places and moves those that stay. Gives what was there before, in terms of positions now.
    fn take_results(
        &mut self,
        records: Vec<FileRecord>,
        updated: &Updated,
        results: Vec<(usize, crate::resolve::Resolved)>,
    ) -> Before {
        let moved = &updated.moved;
        let stays = moved.len() == records.len() && ids(&records).zip(moved).all(|(id, to)| *to == Some(id));
        let mut origins = vec![None; records.len()];
        let mut resolutions = vec![FileResolution::default(); records.len()];
        let mut relations = vec![Vec::new(); records.len()];
        let mut asked = vec![Asked::default(); records.len()];
        let old = std::mem::take(&mut self.graph).resolutions.into_iter();
        let old = old.zip(std::mem::take(&mut self.relations)).zip(moved);
        for (origin, ((mut resolution, mut spoken), to)) in old.enumerate() {
            let Some(to) = to else { continue };
            if !stays {
                move_files(&mut resolution, moved);
                spoken.iter_mut().for_each(|relation| move_relation(relation, moved));
            }
            let place = to.0 as usize;
            origins[place] = Some(origin);
            resolutions[place] = resolution;
            relations[place] = spoken;
        }
        let own: Vec<Vec<Relation>> = resolutions.iter().map(|found| found.relations.clone()).collect();
        for (place, kept) in std::mem::take(&mut self.asked).into_iter().enumerate() {
            asked[place] = kept;
        }
        let is_skipped = |place: usize| records[place].content.is_err();
        let mut before = Vec::with_capacity(results.len());
        for place in (0..records.len()).filter(|&place| is_skipped(place)) {
            resolutions[place] = FileResolution::default();
            relations[place] = Vec::new();
            asked[place] = Asked::default();
        }
        for (place, resolved) in results {
            let id = FileId(u32::try_from(place).expect("a repository has far fewer than 2^32 files"));
            relations[place] = resolved.resolution.relations.clone();
            before.push((id, std::mem::replace(&mut resolutions[place], resolved.resolution)));
            asked[place] = resolved.asked;
        }
        before.sort_by_key(|(file, _)| *file);
        self.graph = Graph { files: records, resolutions };
        self.relations = relations;
        self.asked = asked;
        Before { origins, resolutions: before, relations: own }
    }

    /// Puts every relation to the file that it starts in. Gives the files that start other ones than before.
    fn settle_relations(&mut self, before: &Before) -> Vec<FileId> {
        for (found, spoken) in self.graph.resolutions.iter_mut().zip(&self.relations) {
            found.relations.clone_from(spoken);
        }
        bring_relations_home(&mut self.graph.resolutions);
        let after = self.graph.resolutions.iter().map(|found| &found.relations);
        ids(&self.graph.files).zip(after.zip(&before.relations)).filter(|(_, (a, b))| a != b).map(|(id, _)| id).collect()
    }
}

/// So many bytes of changes are kept beside a store before everything is written again, however small the first part is.
const LEAST_APPENDED: u64 = 1 << 20;

/// How things were, in terms of positions now.
struct Before {
    /// Where each file was.
    origins: Vec<Option<usize>>,
    /// Of the files that were resolved again.
    resolutions: Vec<(FileId, FileResolution)>,
    /// The relations that started in each file.
    relations: Vec<Vec<Relation>>,
}

fn ids(files: &[FileRecord]) -> impl Iterator<Item = FileId> + use<> {
    (0..u32::try_from(files.len()).expect("a repository has far fewer than 2^32 files")).map(FileId)
}

/// Stands for a file that is gone: equal to no other.
const GONE: FileId = FileId(u32::MAX);

fn move_file(file: &mut FileId, moved: &[Option<FileId>]) {
    *file = moved.get(file.0 as usize).copied().flatten().unwrap_or(GONE);
}

fn move_relation(relation: &mut Relation, moved: &[Option<FileId>]) {
    move_file(&mut relation.from.file, moved);
    move_file(&mut relation.to.file, moved);
}

/// Gives the files that a result names their positions now.
fn move_files(found: &mut FileResolution, moved: &[Option<FileId>]) {
    let symbol = |symbol: &mut SymbolRef| move_file(&mut symbol.file, moved);
    for site in &mut found.sites {
        match &mut site.target {
            Target::Symbol(target) => symbol(target),
            Target::Candidates(targets) => targets.iter_mut().for_each(symbol),
            Target::File(file) => move_file(file, moved),
            Target::None | Target::External(_) => {}
        }
    }
    found.imports.iter_mut().flatten().for_each(|file| move_file(file, moved));
    found.relations.iter_mut().for_each(|relation| move_relation(relation, moved));
    found.containers.iter_mut().for_each(|(_, container)| symbol(container));
}
