//! Facts of unchanged files: from memory, from the archive, or extracted again.

use super::{Resident, ids};
use crate::build::context::RunContext;
use crate::build::workers::Workers;
use crate::build::{ingest, plan};
use cograph_faults::{Fault, planted};
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, FileRecord};
use cograph_model::{RepoPath, SkipReason};
use cograph_resolve::{Archive as _, Shared};
use cograph_source::WalkedFile;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;
use std::sync::Arc;

impl Resident {
    /// Complete facts of some files, with their exported parts.
    pub(super) fn facts(
        &mut self,
        files: &[FileId],
        shared: &FxHashMap<RepoPath, Shared>,
        run: &RunContext,
        workers: &Workers,
    ) -> Vec<(usize, Arc<FileFacts>, Shared)> {
        let places: Vec<usize> = files.iter().map(|file| file.0 as usize).collect();
        let read = |place: usize| {
            let record = &self.graph.files[place];
            match (shared.get(&record.path), &record.content) {
                (Some(shared), Ok(facts)) => Some((Arc::clone(facts), *shared)),
                _ => self
                    .archive
                    .facts(self.tables.key(FileId::at(place)))
                    .map(|(facts, shared)| (Arc::new(facts), shared)),
            }
        };
        let read = workers.map(&places, run, read);
        let all: Vec<_> = read
            .into_iter()
            .filter_map(|(place, read)| read.map(|(facts, shared)| (place, facts, shared)))
            .collect();
        for (place, facts, _) in &all {
            self.graph.files[*place].content = Ok(Arc::clone(facts));
        }
        all
    }

    /// Ingests the changed files and those whose language changes with their neighbours.
    pub(super) fn read(
        &mut self,
        root: &Path,
        touched: Vec<WalkedFile>,
        gone: &[RepoPath],
        run: &RunContext,
        workers: &Workers,
    ) -> Read {
        let mut touched = touched;
        let same_paths =
            gone.is_empty() && touched.iter().all(|file| self.position(&file.path).is_some());
        let neighbours = if same_paths {
            std::mem::take(&mut self.neighbours)
        } else {
            self.remove_files(&mut touched, gone)
        };
        let again: FxHashSet<RepoPath> = touched.iter().map(|file| file.path.clone()).collect();
        if !planted(Fault::StaleProjectFile) {
            self.project_files
                .retain(|file| !again.contains(&file.path) && !gone.contains(&file.path));
        }
        let plan = plan::plan_among(touched, neighbours);
        let taken = ingest::ingest(root, &plan, run, workers);
        let touched: Vec<WalkedFile> = plan.files.clone();
        self.neighbours = plan.into_neighbours();
        // A file that vanished meanwhile counts as deleted: no later comparison would find its row.
        let has_vanished = |record: &&FileRecord| {
            record.content.as_ref().is_err_and(|reason| *reason == SkipReason::Vanished)
        };
        let records = || taken.files.iter().map(|(record, _)| record);
        let vanished: Vec<RepoPath> =
            records().filter(has_vanished).map(|record| record.path.clone()).collect();
        if !vanished.is_empty() {
            let left = touched.into_iter().filter(|file| !vanished.contains(&file.path)).collect();
            return self.read(root, left, &[gone, &vanished].concat(), run, workers);
        }
        if !planted(Fault::StaleProjectFile) {
            self.project_files.extend(taken.project_files);
        }
        self.project_files.sort_by(|a, b| a.path.cmp(&b.path));
        let shared = |(record, shared): &(FileRecord, Option<Shared>)| {
            Some((record.path.clone(), (*shared)?))
        };
        let shared = taken.files.iter().filter_map(shared).collect();
        let files = taken.files.into_iter().map(|(record, _)| record);
        let mut changed: Vec<FileId> = if same_paths {
            let put = |record: FileRecord| {
                let place = self.position(&record.path)?;
                self.graph.files[place.0 as usize] = record;
                Some(place)
            };
            files.filter_map(put).collect()
        } else {
            self.graph.files.extend(files);
            if !planted(Fault::UnsortedFiles) {
                self.graph.files.sort_by(|a, b| a.path.cmp(&b.path));
            }
            let files = &self.graph.files;
            ids(files.len()).filter(|id| again.contains(&files[id.0 as usize].path)).collect()
        };
        changed.sort_unstable();
        Read { changed, same_paths, shared }
    }
}

/// Result of ingesting changed files.
pub(super) struct Read {
    /// New and changed files, in order.
    pub(super) changed: Vec<FileId>,
    /// True if the set of paths is unchanged.
    pub(super) same_paths: bool,
    /// Exported facts of the files that have any.
    pub(super) shared: FxHashMap<RepoPath, Shared>,
}
