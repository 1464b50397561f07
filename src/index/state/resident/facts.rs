//! Facts of unchanged files: from memory, from the archive, or extracted again.

use super::{KeptFile, Loaded, Resident, ids};
use crate::build::context::RunContext;
use crate::build::workers::Workers;
use crate::build::{ingest, plan};
use cograph_faults::{Fault, planted};
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, FileRecord};
use cograph_model::{RepoPath, SkipReason};
use cograph_resolve::{Archive as _, Shared};
use cograph_source::WalkedFile;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::Arc;

impl Resident {
    /// Complete facts of some files, with their exported parts.
    pub(super) fn facts(
        &self,
        files: &[FileId],
        loaded: &Loaded,
        run: &RunContext,
        workers: &Workers,
    ) -> Vec<(usize, Arc<FileFacts>, Shared)> {
        let places: Vec<usize> = files.iter().map(|file| file.0 as usize).collect();
        let read = |place: usize| match loaded.get(&self.files[place].path) {
            Some((facts, shared)) => Some((Arc::clone(facts), *shared)),
            None => {
                let read = self.archive.facts(self.tables.key(FileId::at(place)));
                read.map(|(facts, shared)| (Arc::new(facts), shared))
            }
        };
        let read = workers.map(&places, run, read);
        read.into_iter()
            .filter_map(|(place, read)| read.map(|(facts, shared)| (place, facts, shared)))
            .collect()
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
        let mut loaded = Loaded::default();
        let mut kept = Vec::with_capacity(taken.files.len());
        for (FileRecord { path, stamp, language, content }, shared) in taken.files {
            let skipped = content.as_ref().err().copied();
            loaded.extend(content.ok().zip(shared).map(|known| (path.clone(), known)));
            kept.push(KeptFile { path, stamp, language, skipped });
        }
        let mut changed: Vec<FileId> = if same_paths {
            let put = |file: KeptFile| {
                let place = self.position(&file.path)?;
                self.files[place.0 as usize] = file;
                Some(place)
            };
            kept.into_iter().filter_map(put).collect()
        } else {
            self.files.extend(kept);
            if !planted(Fault::UnsortedFiles) {
                self.files.sort_by(|a, b| a.path.cmp(&b.path));
            }
            let files = &self.files;
            ids(files.len()).filter(|id| again.contains(&files[id.0 as usize].path)).collect()
        };
        changed.sort_unstable();
        Read { changed, same_paths, loaded }
    }
}

/// Result of ingesting changed files.
pub(super) struct Read {
    /// New and changed files, in order.
    pub(super) changed: Vec<FileId>,
    /// True if the set of paths is unchanged.
    pub(super) same_paths: bool,
    /// Facts of the changed files that have any.
    pub(super) loaded: Loaded,
}
