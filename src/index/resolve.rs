//! Resolves all files in parallel. The result does not depend on the number of threads: a file is resolved on its own against
//! the whole program.

use std::path::Path;

use super::progress::{Counter, Phase};
use super::take_in::TakenIn;
use super::workers::{Workers, guarded};
use super::{IndexError, Run};
use crate::model::graph::{FileId, FileRecord, FileResolution, Resolution, Target};
use crate::model::{Step, Verdict};
use crate::resolve::Program;

pub(super) fn resolve(root: &Path, taken: &TakenIn, run: &Run, workers: &Workers) -> Result<Vec<FileResolution>, IndexError> {
    let files = &taken.files;
    let counter = Counter::start(Phase::Resolve, files.len(), run.progress);
    let program = workers
        .run(|| Program::new(files, &taken.project_files))
        .map_err(|reason| IndexError::Defect { root: root.to_path_buf(), reason })?;
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&position| std::cmp::Reverse(sites(&files[position])));
    let results = workers.map(&order, run, |position| {
        let resolution = resolve_file(&program, position, &files[position]);
        counter.add_one();
        resolution
    });
    let mut resolutions = vec![FileResolution::default(); files.len()];
    for (position, resolution) in results {
        resolutions[position] = resolution;
    }
    Ok(resolutions)
}

fn resolve_file(program: &Program, position: usize, file: &FileRecord) -> FileResolution {
    let Ok(facts) = &file.content else { return FileResolution::default() };
    let id = FileId(u32::try_from(position).expect("a repository has far fewer than 2^32 files"));
    guarded(|| program.resolve_file(id)).unwrap_or_else(|message| {
        tracing::error!(path = file.path.as_str(), message, "resolution failed; the references of the file stay unresolved");
        let unknown = Resolution { verdict: Verdict::Unresolved, step: Step::Fault, target: Target::None };
        FileResolution {
            sites: vec![unknown; facts.sites.len()],
            imports: vec![None; facts.imports.len()],
            relations: Vec::new(),
            containers: Vec::new(),
        }
    })
}

fn sites(file: &FileRecord) -> usize {
    file.content.as_ref().map_or(0, |facts| facts.sites.len())
}
