//! Includes: a file is pasted where it is named; it is searched beside the including file, then by the end of its path.

use super::{ImportTarget, Module, normal};
use crate::model::facts::{Import, ImportKind};
use crate::model::graph::FileId;
use crate::resolve::Program;
use crate::resolve::tables::Tables;
use rustc_hash::FxHashMap;

/// Files by their own name.
#[derive(Debug, Default)]
pub(super) struct Index {
    by_name: FxHashMap<String, Vec<FileId>>,
}

impl Index {
    pub(super) fn new(tables: &Tables) -> Self {
        let mut by_name: FxHashMap<String, Vec<FileId>> = FxHashMap::default();
        for (id, file) in tables.ids().zip(&tables.files) {
            if file.head.is_some() {
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
    let folder = program.path(file).directory();
    if let Some(found) = normal(folder, &import.module).and_then(|path| program.whole().modules.file_at(&path)) {
        return Some(ImportTarget::module(Module::File(found)));
    }
    let name = import.module.rsplit('/').next()?;
    let ending = format!("/{}", import.module.trim_start_matches("./").trim_start_matches("../"));
    let candidates = program.whole().modules.includes.by_name.get(name)?.iter().copied().filter(|candidate| {
        let path = program.path(*candidate).as_str();
        path == &ending[1..] || path.ends_with(&ending)
    });
    // The candidate that shares the longest folder with the including file.
    let shared = |candidate: FileId| {
        let path = program.path(candidate).as_str();
        path.split('/').zip(folder.split('/')).take_while(|(a, b)| a == b).count()
    };
    let best = candidates.max_by_key(|&candidate| (shared(candidate), std::cmp::Reverse(candidate)))?;
    Some(ImportTarget::module(Module::File(best)))
}
