//! Parallel resolution. Deterministic: each file is resolved independently against the whole
//! program.

use std::sync::Arc;

use super::workers::Workers;
use crate::build::context::RunContext;
use crate::progress::{Counter, Phase};
use crate::quarantine::resolving;
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, FileResolution, Resolution, Target};
use cograph_model::panics::guarded;
use cograph_model::stated::Stated;
use cograph_model::{RepoPath, Step, Verdict};
use cograph_resolve::{Footprint, Resolved, Tables};

/// Resolves files, given by position with their facts; `known` has their paths and the hashes of
/// their contents. Returns fewer results when the run is
/// cancelled.
pub(crate) fn resolve<'t>(
    tables: &Tables,
    stated: &Stated,
    known: &(impl Fn(usize) -> (&'t RepoPath, u128) + Sync),
    files: &[(usize, Arc<FileFacts>)],
    run: &RunContext,
    workers: &Workers,
) -> Vec<(usize, Resolved)> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    let counter = Counter::start(Phase::Resolve, order.len(), run.progress);
    order.sort_by_key(|&number| std::cmp::Reverse(files[number].1.sites.len()));
    let resolved = workers.map(&order, run, |number| {
        let (position, facts) = &files[number];
        let id = FileId::at(*position);
        let (path, hash) = known(*position);
        let stated = stated.of(path, hash).map(|of_file| (stated, of_file));
        let resolved =
            guarded_resolution(path, facts, run, || tables.resolve_shared(id, facts, stated));
        counter.add_one();
        resolved
    });
    resolved.into_iter().map(|(number, resolved)| (files[number].0, resolved)).collect()
}

/// Result of `work` for a file; an empty resolution if it panics.
pub(super) fn guarded_resolution(
    path: &RepoPath,
    facts: &FileFacts,
    run: &RunContext,
    work: impl FnOnce() -> Resolved,
) -> Resolved {
    let _span = tracing::trace_span!("resolve file").entered();
    resolving(run.caution, path, || guarded(work)).unwrap_or_else(|message| {
        tracing::error!(
            path = path.as_str(),
            message,
            "resolution failed; the references of the file stay unresolved"
        );
        let unknown =
            Resolution { verdict: Verdict::Unresolved, step: Step::Fault, target: Target::None };
        let resolution = FileResolution {
            sites: vec![unknown; facts.sites.len()],
            holders: Vec::new(),
            imports: vec![None; facts.imports.len()],
            relations: Vec::new(),
            containers: Vec::new(),
        };
        Resolved { resolution, asked: Footprint::unknown() }
    })
}
