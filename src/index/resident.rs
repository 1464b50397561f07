//! What is known of a repository in use, kept between runs: facts, tables, results, and the keys they have in the store. A
//! change of files costs what it concerns: only those are read, only what depends on them is resolved and written again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::FxHashSet;

use super::plan::{self, Neighbours};
use super::progress::{Phase, Stopwatch, Timing};
use super::relations::{self, Relations};
use super::resolve::resolve;
use super::saved::{self, Known, Loaded};
use super::take_in;
use super::workers::Workers;
use super::{IndexError, Progress, Run};
use crate::faults::{Fault, planted};
use crate::model::graph::{FileId, FileRecord, FileResolution, Graph, Relation, SymbolRef, Target};
use crate::model::{RepoPath, SkipReason};
use crate::resolve::{Asked, ProjectFile, Resolved, Tables, Updated};
use crate::source::{WalkedFile, WalkedKind};
use crate::store::{self, Amendment, Beside, Draft, Grown, Identity, Keys, Places, Snapshot, WriterLock};

/// One repository.
#[derive(Debug)]
pub(super) struct Resident {
    graph: Graph,
    project_files: Vec<ProjectFile>,
    neighbours: Neighbours,
    tables: Tables,
    /// What was looked at for each file.
    asked: Vec<Asked>,
    /// The relations that each file speaks of, wherever they start; the graph has them where they start.
    relations: Relations,
    keys: Option<Keys>,
    /// The state of the store that holds the graph.
    identity: Option<Identity>,
}

impl Resident {
    /// The state of the store that holds the graph.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.identity
    }

    /// Takes up what another process, or this one earlier, has worked out for a store; none if that was not kept.
    pub(super) fn load(snapshot: &Snapshot, run: &Run) -> Result<Option<Self>, IndexError> {
        let Some(beside) = Beside::read(snapshot, saved::kind(&run.limits)) else { return Ok(None) };
        let root = &snapshot.meta().root;
        let workers = Workers::start(root, &run.limits)?;
        let loaded = saved::load(&beside, &snapshot.files()?, run, &workers);
        run.check(root)?;
        let Some(Loaded { files, mut found, asked, tables, project_files }) = loaded else {
            tracing::info!(root = %root.display(), "what is kept beside the store does not fit it");
            return Ok(None);
        };
        let neighbours = plan::neighbours(files.iter().map(|record| &record.path));
        let relations = Relations::bring_home(&mut found);
        let graph = Graph { files, resolutions: found };
        let mut resident = Self { graph, project_files, neighbours, tables, asked, relations, keys: None, identity: None };
        Ok(resident.settle(snapshot)?.then_some(resident))
    }

    /// Keeps everything that is known beside the store that it has settled with. What goes wrong costs work later, and
    /// nothing else.
    pub(super) fn save(&self, lock: &WriterLock, store: &Path, run: &Run) {
        let Some((known, identity)) = self.known().zip(self.identity) else { return };
        let save = || -> Result<(), IndexError> {
            let workers = Workers::start(lock.location().root(), &run.limits)?;
            let draft = Draft::begin(lock)?;
            let pieces = saved::pieces(&self.graph.files);
            let numbers: Vec<usize> = (0..pieces.len()).collect();
            let added = workers
                .map(&numbers, run, |number| draft.add(&known.piece(&pieces[number], |_| true, number + 1 == pieces.len())));
            run.check(lock.location().root())?;
            added.into_iter().try_for_each(|(_, added)| added.map(drop))?;
            Ok(draft.publish(store, identity, saved::kind(&run.limits))?)
        };
        if let Err(error) = save() {
            tracing::info!(%error, "what is known of a repository is not kept beside its store");
        }
    }

    fn known(&self) -> Option<Known<'_>> {
        self.keys.as_ref().map(|keys| self.known_by(keys.places()))
    }

    fn known_by<'r>(&'r self, places: &'r Places) -> Known<'r> {
        Known {
            files: &self.graph.files,
            found: &self.graph.resolutions,
            relations: self.relations.spoken(),
            asked: &self.asked,
            tables: &self.tables,
            project_files: &self.project_files,
            places,
        }
    }

    /// Learns the keys of the store that holds the graph; false if it does not.
    pub(super) fn settle(&mut self, snapshot: &Snapshot) -> Result<bool, IndexError> {
        self.keys = Keys::of(&self.graph, snapshot)?;
        self.identity = Some(snapshot.identity());
        Ok(self.keys.is_some())
    }

    /// Takes changed files in, here and in the store, which is the file `store`.
    pub(super) fn apply(
        &mut self,
        (lock, store): (&WriterLock, &Path),
        (touched, gone): (Vec<WalkedFile>, &[RepoPath]),
        run: &Run,
    ) -> Result<(Identity, Vec<Timing>), IndexError> {
        let root = lock.location().root();
        let mut stopwatch = Stopwatch::start();
        let workers = Workers::start(root, &run.limits)?;
        let project_files = self.project_files.clone();
        let Read { changed, same_paths } = self.read(root, touched, gone, run, &workers);
        let has_project_files = project_files != self.project_files;
        run.check(root)?;
        stopwatch.lap(Phase::Extract);

        let failed = |reason| IndexError::Defect { root: root.to_path_buf(), reason };
        let Self { graph, tables, project_files, asked, .. } = self;
        let only = same_paths.then_some(changed.as_slice());
        let updated = workers.run(|| tables.update(&graph.files, only, project_files, asked)).map_err(failed)?;
        stopwatch.lap(Phase::Tables);
        let affected = updated.affected.iter().filter(|file| !planted(Fault::MissedDependent) || changed.contains(file));
        let affected: Vec<usize> = affected.map(|file| file.0 as usize).collect();
        let results = resolve(&self.tables, &self.graph.files, affected.iter().copied(), run, &workers);
        run.check(root)?;
        let before = self.take_results(&changed, &updated, results);
        stopwatch.lap(Phase::Resolve);

        (run.progress)(Progress { phase: Phase::Write, done: 0, total: 0 });
        let amendment = Amendment {
            graph: &self.graph,
            origins: &before.origins,
            changed: &changed,
            replaced: &before.replaced,
            resolved: &before.resolved,
            related: &before.related,
        };
        let known = self.identity.zip(self.keys.take());
        let (identity, mut keys) = known.expect("a resident that is kept has settled with its store");
        let mut places: Vec<usize> = affected.into_iter().chain(changed.iter().map(|file| file.0 as usize)).collect();
        places.sort_unstable();
        places.dedup();
        let mut kept = Ok(None);
        let after = amendment.write(lock, (store, identity), &mut keys, |keys, after| {
            let is_changed = |place: usize| changed.binary_search_by_key(&place, |file| file.0 as usize).is_ok();
            let piece = self.known_by(keys).piece(&places, is_changed, has_project_files);
            kept = store::append(lock, store, (identity, after), saved::kind(&run.limits), &[piece]);
        })?;
        self.keys = Some(keys);
        self.identity = Some(after);
        let is_small = |added: &Grown| added.appended <= added.first.max(LEAST_APPENDED);
        match kept {
            Ok(Some(added)) if is_small(&added) => {}
            Ok(_) => self.save(lock, store, run),
            Err(error) => tracing::info!(%error, "what is known of a repository is not kept beside its store"),
        }
        stopwatch.lap(Phase::Write);
        Ok((after, stopwatch.laps()))
    }

    /// Reads the touched files and those whose language their neighbours decide otherwise now.
    fn read(&mut self, root: &Path, touched: Vec<WalkedFile>, gone: &[RepoPath], run: &Run, workers: &Workers) -> Read {
        let mut touched = touched;
        let same_paths = gone.is_empty() && touched.iter().all(|file| self.position(&file.path).is_some());
        let neighbours = if same_paths { std::mem::take(&mut self.neighbours) } else { self.make_way(&mut touched, gone) };
        let again: FxHashSet<RepoPath> = touched.iter().map(|file| file.path.clone()).collect();
        if !planted(Fault::StaleProjectFile) {
            self.project_files.retain(|file| !again.contains(&file.path) && !gone.contains(&file.path));
        }
        let plan = plan::plan_among(touched, neighbours);
        let taken = take_in::take_in(root, &plan, run, workers);
        let touched: Vec<WalkedFile> = plan.files.clone();
        self.neighbours = plan.into_neighbours();
        // A file that vanished meanwhile is gone: nothing would look at a row for it again.
        let has_vanished = |record: &&FileRecord| record.content.as_ref().is_err_and(|reason| *reason == SkipReason::Vanished);
        let vanished: Vec<RepoPath> = taken.files.iter().filter(has_vanished).map(|record| record.path.clone()).collect();
        if !vanished.is_empty() {
            let left = touched.into_iter().filter(|file| !vanished.contains(&file.path)).collect();
            return self.read(root, left, &[gone, &vanished].concat(), run, workers);
        }
        if !planted(Fault::StaleProjectFile) {
            self.project_files.extend(taken.project_files);
        }
        self.project_files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut changed: Vec<FileId> = if same_paths {
            let put = |record: FileRecord| {
                let place = self.position(&record.path)?;
                self.graph.files[place.0 as usize] = record;
                Some(place)
            };
            taken.files.into_iter().filter_map(put).collect()
        } else {
            self.graph.files.extend(taken.files);
            if !planted(Fault::UnsortedFiles) {
                self.graph.files.sort_by(|a, b| a.path.cmp(&b.path));
            }
            let files = &self.graph.files;
            ids(files.len()).filter(|id| again.contains(&files[id.0 as usize].path)).collect()
        };
        changed.sort_unstable();
        Read { changed, same_paths }
    }

    fn position(&self, path: &RepoPath) -> Option<FileId> {
        let place = self.graph.files.binary_search_by(|record| record.path.cmp(path)).ok()?;
        Some(FileId(u32::try_from(place).expect("a repository has far fewer than 2^32 files")))
    }

    /// Removes the files that are gone or read again, where other paths are there than before. Adds those to `touched` whose
    /// language their neighbours decide otherwise; gives the neighbours.
    fn make_way(&mut self, touched: &mut Vec<WalkedFile>, gone: &[RepoPath]) -> Neighbours {
        let away: FxHashSet<RepoPath> = gone.iter().chain(touched.iter().map(|file| &file.path)).cloned().collect();
        self.graph.files.retain(|record| !away.contains(&record.path));
        let left = self.graph.files.iter().map(|record| &record.path);
        let neighbours = plan::neighbours(left.chain(touched.iter().map(|file| &file.path)));
        self.graph.files.retain(|record| {
            let directory = record.path.directory();
            let settled =
                neighbours.get(directory) == self.neighbours.get(directory) || !plan::is_settled_by_neighbours(&record.path);
            if !settled {
                let kind = WalkedKind::File;
                touched.push(WalkedFile { path: record.path.clone(), stamp: record.stamp, kind });
            }
            settled
        });
        neighbours
    }

    /// Puts results in their places, moves those that stay, and puts relations to the files that they start in. Gives what was
    /// there before, in terms of positions now.
    fn take_results(&mut self, changed: &[FileId], updated: &Updated, results: Vec<(usize, Resolved)>) -> Before {
        let mut homes = BTreeSet::new();
        let mut before = self.move_results(&updated.moved, &mut homes);
        let is_changed = |place: usize| changed.binary_search_by_key(&place, |file| file.0 as usize).is_ok();
        let skipped = changed.iter().map(|file| file.0 as usize).filter(|&place| self.graph.files[place].content.is_err());
        let skipped: Vec<(usize, Resolved)> = skipped.map(|place| (place, Resolved::default())).collect();
        let mut at_home_before = BTreeMap::new();
        for (place, Resolved { mut resolution, asked }) in results.into_iter().chain(skipped) {
            if planted(Fault::ShiftedAnswers) && is_changed(place) && !resolution.sites.is_empty() {
                resolution.sites.rotate_right(1);
            }
            self.relations.set(place, std::mem::take(&mut resolution.relations), &mut homes);
            let old = std::mem::replace(&mut self.graph.resolutions[place], resolution);
            at_home_before.insert(place, old.relations.clone());
            if !planted(Fault::StaleFootprint) {
                self.asked[place] = asked;
            }
            if is_changed(place) {
                before.replaced.push(old);
            } else {
                let id = FileId(u32::try_from(place).expect("a repository has far fewer than 2^32 files"));
                before.resolved.push((id, old));
            }
        }
        before.resolved.sort_by_key(|(file, _)| *file);
        // Files that are gone start nothing any more.
        for place in homes.into_iter().filter(|&place| place < self.graph.files.len()) {
            let now = self.relations.at_home(place);
            let found = &mut self.graph.resolutions[place].relations;
            let old = at_home_before.remove(&place).unwrap_or_else(|| std::mem::take(found));
            if now != old {
                before.related.push(FileId(u32::try_from(place).expect("a repository has far fewer than 2^32 files")));
            }
            *found = now;
        }
        before
    }

    /// Gives what is known of files the positions that these have now. Adds the files to `homes` in which relations started of
    /// which files speak that are gone.
    fn move_results(&mut self, moved: &[Option<FileId>], homes: &mut BTreeSet<usize>) -> Before {
        let count = self.graph.files.len();
        let mut before = Before { origins: vec![None; count], ..Before::default() };
        for (origin, to) in moved.iter().enumerate() {
            if let Some(to) = to {
                before.origins[to.0 as usize] = Some(origin);
            }
        }
        if moved.len() == count && ids(count).zip(moved).all(|(id, to)| *to == Some(id)) {
            return before;
        }
        let mut resolutions = vec![FileResolution::default(); count];
        let mut spoken = vec![Vec::new(); count];
        let old = std::mem::take(&mut self.graph.resolutions).into_iter();
        for ((mut found, mut said), to) in old.zip(std::mem::take(&mut self.relations).into_spoken()).zip(moved) {
            move_files(&mut found, moved);
            said.iter_mut().for_each(|relation| move_relation(relation, moved));
            match to {
                Some(to) => (resolutions[to.0 as usize], spoken[to.0 as usize]) = (found, said),
                None => {
                    homes.extend(relations::strays(usize::MAX, &said));
                    before.replaced.push(found);
                }
            }
        }
        self.graph.resolutions = resolutions;
        self.relations = Relations::new(spoken);
        before
    }
}

/// So many bytes of changes are kept beside a store before everything is written again, however small the first part is.
const LEAST_APPENDED: u64 = 1 << 20;

/// What was read.
struct Read {
    /// The files that are new or other ones, in order.
    changed: Vec<FileId>,
    /// Whether there are the same paths as before.
    same_paths: bool,
}

/// How things were, in terms of positions now.
#[derive(Default)]
struct Before {
    /// Where each file was.
    origins: Vec<Option<usize>>,
    /// What was found for files that are gone or other ones.
    replaced: Vec<FileResolution>,
    /// What was found for the others that were resolved again.
    resolved: Vec<(FileId, FileResolution)>,
    /// Files that start other relations now.
    related: Vec<FileId>,
}

fn ids(count: usize) -> impl Iterator<Item = FileId> {
    (0..u32::try_from(count).expect("a repository has far fewer than 2^32 files")).map(FileId)
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
