//! Textual includes: a quoted path is searched next to the including file, then by path suffix. A
//! path in brackets is found only in include search directories.

use super::normal;
use crate::model::facts::{Import, ImportKind};
use crate::model::graph::FileId;
use crate::resolve::units::import_target::{ImportTarget, Module};
use crate::resolve::workspace::program::Program;
use crate::resolve::workspace::tables::Tables;
use rustc_hash::FxHashMap;

/// Files by file name.
#[derive(Debug, Default)]
pub(super) struct IncludeIndex {
    by_name: FxHashMap<String, Vec<FileId>>,
}

impl IncludeIndex {
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
    let is_system = import.level > 0;
    let omitted = &program.known(file).language.manifest.modules.omitted_extensions;
    if let Some(found) = written(program, folder, &import.module, is_system) {
        return Some(found);
    }
    omitted.iter().find_map(|extension| {
        written(program, folder, &format!("{}.{extension}", import.module), is_system)
    })
}

/// Returns the file of an include path.
fn written(
    program: &Program<'_>,
    folder: &str,
    module: &str,
    is_system: bool,
) -> Option<ImportTarget> {
    // A path in brackets is a neighbour only where no external file can have the name.
    let adjacent = normal(folder, module).and_then(|path| program.whole().modules.file_at(&path));
    if let Some(found) = adjacent {
        return Some(ImportTarget::module(Module::File(found)));
    }
    let name = module.rsplit('/').next()?;
    let ending = format!("/{}", module.trim_start_matches("./").trim_start_matches("../"));
    let candidates =
        program.whole().modules.includes.by_name.get(name)?.iter().copied().filter(|candidate| {
            let path = program.path(*candidate).as_str();
            match path.strip_suffix(&ending) {
                Some(searched) => {
                    !is_system || module.contains('/') || is_searched(searched, folder)
                }
                None => path == &ending[1..],
            }
        });
    // Prefers the candidate with the longest common directory.
    let shared = |candidate: FileId| {
        let path = program.path(candidate).as_str();
        path.split('/').zip(folder.split('/')).take_while(|(a, b)| a == b).count()
    };
    let best =
        candidates.max_by_key(|&candidate| (shared(candidate), std::cmp::Reverse(candidate)))?;
    Some(ImportTarget::module(Module::File(best)))
}

/// Names of directories that are usually include search paths.
pub(super) const SEARCHED: [&str; 4] = ["include", "includes", "inc", "uapi"];

/// True if files of a directory may be included without the directory: it is an include search
/// directory, or a parent of the including file.
fn is_searched(searched: &str, folder: &str) -> bool {
    let last = searched.rsplit('/').next().unwrap_or(searched);
    let around =
        folder.strip_prefix(searched).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    SEARCHED.contains(&last) || around
}
