//! Textual includes: a quoted path is searched next to the including file, then in the include
//! directories that the build names, then by path suffix. A path in brackets is otherwise found
//! only in include search directories, or around the including file where no other file has its
//! name.

use super::normal;
use crate::units::import_target::{ImportTarget, Module};
use crate::workspace::program::Program;
use crate::workspace::tables::Tables;
use cograph_model::facts::{Import, ImportKind};
use cograph_model::graph::FileId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

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
    let is_system = import.level > 0;
    let omitted = &program.known(file).language.manifest.modules.omitted_extensions;
    if let Some(found) = written(program, file, &import.module, is_system) {
        return Some(found);
    }
    omitted.iter().find_map(|extension| {
        written(program, file, &format!("{}.{extension}", import.module), is_system)
    })
}

/// Returns the file of an include path.
fn written(
    program: &Program<'_>,
    from: FileId,
    module: &str,
    is_system: bool,
) -> Option<ImportTarget> {
    let folder = program.path(from).directory();
    let adjacent = normal(folder, module).and_then(|path| program.whole().modules.file_at(&path));
    if let (false, Some(found)) = (is_system, adjacent) {
        return Some(ImportTarget::module(Module::File(found)));
    }
    let modules = &program.whole().modules;
    let named =
        modules.builds.included(program.path(from).as_str(), module, |path| modules.file_at(path));
    if let Some(found) = named {
        return Some(ImportTarget::module(Module::File(found)));
    }
    let name = module.rsplit('/').next()?;
    let ending = format!("/{}", module.trim_start_matches("./").trim_start_matches("../"));
    let has_ending = |candidate: &FileId| {
        let path = program.path(*candidate).as_str();
        path.ends_with(&ending) || path == &ending[1..]
    };
    let named = program.whole().modules.includes.by_name.get(name)?;
    let named: SmallVec<[FileId; 4]> = named.iter().copied().filter(has_ending).collect();
    let is_bare = is_system && !module.contains('/');
    let is_only = named.len() == 1;
    let candidates = named.into_iter().filter(|&candidate| {
        let searched = program.path(candidate).directory();
        !is_bare
            || candidate != from
                && (is_search_directory(searched) || is_only && is_around(searched, folder))
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
pub(crate) const SEARCHED: [&str; 4] = ["include", "includes", "inc", "uapi"];

/// Returns the start of the last directory in a path that is an include search path.
pub(crate) fn search_directory(path: &str) -> Option<usize> {
    let mut end = path.rfind('/')?;
    loop {
        let start = path[..end].rfind('/').map_or(0, |slash| slash + 1);
        if SEARCHED.contains(&&path[start..end]) {
            return Some(start);
        }
        end = start.checked_sub(1)?;
    }
}

fn is_search_directory(directory: &str) -> bool {
    SEARCHED.contains(&directory.rsplit('/').next().unwrap_or(directory))
}

/// True if a directory is that of the including file or a parent of it. A compiler searches it for
/// a path in brackets only with an option for it.
fn is_around(directory: &str, folder: &str) -> bool {
    folder.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        || directory.is_empty()
}
