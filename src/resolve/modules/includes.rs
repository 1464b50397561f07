//! Includes: a file is pasted where it is named; it is searched beside the including file, then by the end of its path.

use super::{ImportTarget, Module, normal};
use crate::model::facts::{Import, ImportKind};
use crate::model::graph::{FileId, FileRecord};
use crate::resolve::Program;
use crate::resolve::unit::Unit;
use rustc_hash::FxHashMap;

/// Files by their own name.
#[derive(Debug, Default)]
pub(super) struct Index {
    by_name: FxHashMap<String, Vec<FileId>>,
}

impl Index {
    pub(super) fn new(files: &[FileRecord], units: &[Option<Unit<'_>>]) -> Self {
        let mut by_name: FxHashMap<String, Vec<FileId>> = FxHashMap::default();
        for (position, (file, unit)) in files.iter().zip(units).enumerate() {
            if unit.is_some() {
                let id = FileId(u32::try_from(position).expect("a repository has far fewer than 2^32 files"));
                by_name.entry(file.path.file_name().to_owned()).or_default().push(id);
            }
        }
        Self { by_name }
    }
}

pub(super) fn target(program: &Program<'_>, file: FileId, import: &Import) -> Option<ImportTarget> {
    if import.kind != ImportKind::Include {
        // Names of scopes, not of files: see `linkage`.
        return None;
    }
    let folder = program.files[file.0 as usize].path.directory();
    if let Some(found) = normal(folder, &import.module).and_then(|path| program.modules.file_at(&path)) {
        return Some(ImportTarget::module(Module::File(found)));
    }
    let name = import.module.rsplit('/').next()?;
    let ending = format!("/{}", import.module.trim_start_matches("./").trim_start_matches("../"));
    let candidates = program.modules.includes.by_name.get(name)?.iter().copied().filter(|candidate| {
        let path = program.files[candidate.0 as usize].path.as_str();
        path == &ending[1..] || path.ends_with(&ending)
    });
    // The candidate that shares the longest folder with the including file.
    let shared = |candidate: FileId| {
        let path = program.files[candidate.0 as usize].path.as_str();
        path.split('/').zip(folder.split('/')).take_while(|(a, b)| a == b).count()
    };
    let best = candidates.max_by_key(|&candidate| (shared(candidate), std::cmp::Reverse(candidate)))?;
    Some(ImportTarget::module(Module::File(best)))
}
