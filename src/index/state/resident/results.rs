//! Merges the results of a change: results replace earlier ones, relations move to the files where
//! they start, and new rows of the delta are made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{KeptFile, Resident};
use crate::build::full_build::known_file;
use crate::facts_cache::archive::{self, RowContent};
use cograph_faults::{Fault, planted};
use cograph_model::SkipReason;
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, FileKey, FileRecord, FileResolution, Relation};
use cograph_resolve::{Footprint, Resolved, Shared};
use cograph_store::{KnownRows, WrittenFile};

/// Previous results in terms of current positions, and the new rows.
#[derive(Default)]
pub(super) struct TakenRows {
    /// Delta rows, by key.
    pub(super) rows: KnownRows,
    /// Changed and resolved files.
    pub(super) written: BTreeMap<FileId, WrittenFile>,
    /// Previous results of deleted and changed files.
    pub(super) replaced: Vec<FileResolution>,
    /// Previous results of other files that were resolved again.
    pub(super) resolved: Vec<(FileId, FileResolution)>,
    /// Files whose outgoing relations have changed, with these relations.
    pub(super) related: Vec<(FileId, Vec<Relation>)>,
}

/// Position of a deleted file: equal to no other.
const DELETED: FileId = FileId(u32::MAX);

impl Resident {
    /// Stores the results and moves relations to the files where they start. Returns the previous
    /// results in terms of current positions, and the delta rows.
    pub(super) fn take_results(
        &mut self,
        changed: &[FileId],
        had_facts: FxHashSet<FileKey>,
        facts: Vec<(usize, Arc<FileFacts>, Shared)>,
        results: Vec<(usize, Resolved)>,
    ) -> TakenRows {
        let mut taken = TakenRows::default();
        let (mut declared, mut start_files): (BTreeMap<FileKey, Vec<Relation>>, BTreeSet<FileKey>) =
            Default::default();
        let is_changed =
            |place: usize| changed.binary_search_by_key(&place, |file| file.0 as usize).is_ok();
        let mut results: BTreeMap<usize, Resolved> = results.into_iter().collect();
        let facts: BTreeMap<usize, (Arc<FileFacts>, Shared)> =
            facts.into_iter().map(|(place, facts, shared)| (place, (facts, shared))).collect();
        let places: BTreeSet<usize> =
            results.keys().copied().chain(changed.iter().map(|file| file.0 as usize)).collect();
        let mut now = Vec::with_capacity(places.len());
        for place in places {
            let key = self.tables.key(FileId::at(place));
            let had_any = !is_changed(place) || had_facts.contains(&key);
            let old = if had_any { self.found(key) } else { FileResolution::default() };
            let mut found = FileResolution::default();
            match (results.remove(&place), facts.get(&place)) {
                (Some(Resolved { mut resolution, asked }), Some((of_file, shared))) => {
                    if planted(Fault::ShiftedAnswers)
                        && is_changed(place)
                        && !resolution.sites.is_empty()
                    {
                        resolution.sites.rotate_right(1);
                    }
                    let known = known_file(&self.tables, FileId::at(place), &resolution, asked);
                    let has_other_facts = is_changed(place) || self.archive.has_other_facts(key);
                    let facts = has_other_facts.then_some((&**of_file, shared));
                    let row = RowContent { key, known: &known, facts, found: &resolution };
                    taken.rows.push((key.0, Some(row.bytes(&|file| self.tables.key(file)))));
                    self.record_declaring_file(key, known.foreign_relations);
                    if !planted(Fault::StaleFootprint) {
                        self.asked[place] = known.entry.asked;
                    }
                    found = resolution;
                }
                _ => {
                    taken.rows.push((key.0, Some(archive::row_without_facts())));
                    self.record_declaring_file(key, Vec::new());
                    self.asked[place] = Footprint::default();
                }
            }
            start_files.extend(self.start_files(&old.relations, &found.relations));
            declared.insert(key, std::mem::take(&mut found.relations));
            let content = match facts.get(&place) {
                Some((facts, _)) => Ok(Arc::clone(facts)),
                None => Err(self.files[place].skipped.expect("a file without facts is skipped")),
            };
            now.push((place, old, WrittenFile { record: self.record(place, content), found }));
        }
        let gone: Vec<FileKey> =
            had_facts.into_iter().filter(|key| self.tables.position(*key).is_none()).collect();
        for key in gone {
            let old = self.found(key);
            start_files.extend(self.start_files(&old.relations, &[]));
            self.record_declaring_file(key, Vec::new());
            taken.replaced.push(old);
        }
        for (place, mut old, mut file) in now {
            let key = self.tables.key(FileId::at(place));
            file.found.relations = self.with_foreign_relations(key, &declared);
            if start_files.remove(&key) {
                taken.related.push((FileId::at(place), file.found.relations.clone()));
            }
            taken.written.insert(FileId::at(place), file);
            old.relations = Vec::new();
            match is_changed(place) {
                true => taken.replaced.push(old),
                false => taken.resolved.push((FileId::at(place), old)),
            }
        }
        for key in start_files {
            // A deleted file has no outgoing relations.
            if let Some(file) = self.tables.position(key) {
                taken.related.push((file, self.with_foreign_relations(key, &declared)));
            }
        }
        taken.related.sort_unstable_by_key(|(file, _)| *file);
        taken
    }

    fn record(&self, place: usize, content: Result<Arc<FileFacts>, SkipReason>) -> FileRecord {
        let KeptFile { path, stamp, language, .. } = &self.files[place];
        FileRecord { path: path.clone(), stamp: *stamp, language: *language, content }
    }

    /// Previous results of a file, in terms of current positions.
    fn found(&self, key: FileKey) -> FileResolution {
        let position = |key: FileKey| Some(self.tables.position(key).unwrap_or(DELETED));
        // Read errors are checked before anything is written.
        self.archive.found(key, &position).unwrap_or_default()
    }

    /// Records the other files in which relations of this file start.
    fn record_declaring_file(&mut self, key: FileKey, foreign_relations: Vec<FileKey>) {
        for home in self.foreign_relations.remove(&key).into_iter().flatten() {
            if let Some(declaring_files) = self.declaring_files.get_mut(&home) {
                declaring_files.remove(&key);
            }
        }
        for home in &foreign_relations {
            self.declaring_files.entry(*home).or_default().insert(key);
        }
        if !foreign_relations.is_empty() {
            self.foreign_relations.insert(key, foreign_relations);
        }
    }

    /// Keys of the files whose relations from this file have changed.
    fn start_files(&self, was: &[Relation], is: &[Relation]) -> Vec<FileKey> {
        let by_home = |relations: &[Relation]| {
            let mut start_files: BTreeMap<FileId, BTreeSet<Relation>> = BTreeMap::new();
            for relation in relations {
                start_files.entry(relation.from.file).or_default().insert(*relation);
            }
            start_files
        };
        let (was, is) = (by_home(was), by_home(is));
        let start_files: BTreeSet<FileId> = was
            .keys()
            .chain(is.keys())
            .copied()
            .filter(|home| was.get(home) != is.get(home))
            .collect();
        start_files
            .into_iter()
            .filter(|home| *home != DELETED)
            .map(|home| self.tables.key(home))
            .collect()
    }

    /// Relations that start in a file, whichever file declares them, sorted and deduplicated.
    /// `declared` has the current declarations.
    fn with_foreign_relations(
        &self,
        home: FileKey,
        declared: &BTreeMap<FileKey, Vec<Relation>>,
    ) -> Vec<Relation> {
        let file = self.tables.position(home);
        let declaring_files = self.declaring_files.get(&home).into_iter().flatten().copied();
        let mut all = Vec::new();
        for speaker in std::iter::once(home).chain(declaring_files) {
            let said = match declared.get(&speaker) {
                Some(said) => said.clone(),
                None => self.found(speaker).relations,
            };
            all.extend(said.into_iter().filter(|relation| Some(relation.from.file) == file));
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
