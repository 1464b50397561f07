//! Resolves files in parallel. The result does not depend on the number of threads: a file is resolved on its own against
//! the whole program.

use super::Run;
use super::caution::resolving;
use super::progress::{Counter, Phase};
use super::workers::{Workers, guarded};
use crate::model::facts::FileFacts;
use crate::model::graph::{FileId, FileRecord, FileResolution, Resolution, Target};
use crate::model::{RepoPath, Step, Verdict};
use crate::resolve::{Asked, Resolved, Tables};

/// Resolves some files, each by its position. Fewer come back when the run is cancelled.
pub(super) fn resolve(
    tables: &Tables,
    files: &[FileRecord],
    positions: impl Iterator<Item = usize>,
    run: &Run,
    workers: &Workers,
) -> Vec<(usize, Resolved)> {
    let mut order: Vec<usize> = positions.collect();
    let counter = Counter::start(Phase::Resolve, order.len(), run.progress);
    order.sort_by_key(|&position| std::cmp::Reverse(sites(&files[position])));
    workers.map(&order, run, |position| {
        let resolved = resolve_file(tables, position, &files[position], run);
        counter.add_one();
        resolved
    })
}

fn resolve_file(tables: &Tables, position: usize, file: &FileRecord, run: &Run) -> Resolved {
    let Ok(facts) = &file.content else { return Resolved::default() };
    let id = FileId(u32::try_from(position).expect("a repository has far fewer than 2^32 files"));
    guarded_resolution(&file.path, facts, run, || tables.resolve_file(id))
}

/// What `work` finds for a file; that nothing is known if it panics.
pub(super) fn guarded_resolution(path: &RepoPath, facts: &FileFacts, run: &Run, work: impl FnOnce() -> Resolved) -> Resolved {
    resolving(run.caution, path, || guarded(work)).unwrap_or_else(|message| {
        tracing::error!(path = path.as_str(), message, "resolution failed; the references of the file stay unresolved");
        let unknown = Resolution { verdict: Verdict::Unresolved, step: Step::Fault, target: Target::None };
        let resolution = FileResolution {
            sites: vec![unknown; facts.sites.len()],
            imports: vec![None; facts.imports.len()],
            relations: Vec::new(),
            containers: Vec::new(),
        };
        Resolved { resolution, asked: Asked::unknown() }
    })
}

fn sites(file: &FileRecord) -> usize {
    file.content.as_ref().map_or(0, |facts| facts.sites.len())
}
