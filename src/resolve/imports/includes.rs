//! Textual includes: a quoted path is searched next to the including file, then in the include
//! directories that the build names, then by path suffix. A path in brackets is otherwise found
//! only in include search directories, or, where no other file has its name, around the including
//! file and among the sources of a directory around it. What no file is may be made of a template
//! by the build: `x.h` of `x.h.in`, wherever the build puts it.

pub(super) mod alternatives;
pub(super) mod builds;

use super::layout::Layout;
use super::paths::{SEARCHED, normal};
use super::system::{Importer, ModuleChange, ModuleSystem};
use crate::files::table::FileTable;
use crate::units::import_target::{ImportTarget, Module};
use alternatives::Alternatives;
use builds::Builds;
use cograph_grammar as grammar;
use cograph_model::facts::{Import, ImportKind};
use cograph_model::graph::FileId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Directories of sources, whose headers those who use them include.
const SOURCES: [&str; 3] = ["src", "source", "lib"];

/// The system, with the files by their names.
#[derive(Debug, Default)]
pub(super) struct Includes {
    by_name: FxHashMap<String, Vec<FileId>>,
    /// Templates, by the names of the files that are made of them.
    made: FxHashMap<String, Vec<FileId>>,
    pub(super) alternatives: Alternatives,
    pub(super) builds: Builds,
}

impl Includes {
    pub(super) fn new(layout: &Layout, files: &FileTable) -> Self {
        let mut by_name: FxHashMap<String, Vec<FileId>> = FxHashMap::default();
        let mut made: FxHashMap<String, Vec<FileId>> = FxHashMap::default();
        for (id, file) in files.each() {
            if file.head.is_some() {
                by_name.entry(file.path.file_name().to_owned()).or_default().push(id);
                if let Some(filled) = grammar::filled(&file.path) {
                    made.entry(filled.file_name().to_owned()).or_default().push(id);
                }
            }
        }
        Self {
            by_name,
            made,
            alternatives: Alternatives::new(files),
            builds: Builds::new(&layout.project_files, &|path| layout.file_at(path).is_some()),
        }
    }
}

impl ModuleSystem for Includes {
    fn targets(&self, of: Importer<'_>) -> Vec<Option<ImportTarget>> {
        of.each(|import| self.target(of, import))
    }

    /// An include finds a file by its path alone: which of them ask for one is in their footprints.
    fn is_affected(&self, by: ModuleChange) -> bool {
        by.builds
    }
}

impl Includes {
    fn target(&self, of: Importer<'_>, import: &Import) -> Option<ImportTarget> {
        if import.kind != ImportKind::Include {
            // Names of scopes, not of files: see `linkage`.
            return None;
        }
        let is_system = import.level > 0;
        if let Some(found) = self.written(of, &import.module, is_system) {
            return Some(found);
        }
        let mut extensions = of.rules().omitted_extensions.iter();
        extensions
            .find_map(|extension| {
                self.written(of, &format!("{}.{extension}", import.module), is_system)
            })
            .or_else(|| self.made(of, &import.module))
    }

    /// Returns the template that the build makes the file of an include path of.
    fn made(&self, of: Importer<'_>, module: &str) -> Option<ImportTarget> {
        if of.rules().prelude.iter().any(|file| file == module) {
            return None;
        }
        let (folder, name) = (of.path().directory(), module.rsplit('/').next()?);
        let templates = self.made.get(name)?;
        let best = templates.iter().copied().max_by_key(|&template| {
            (shared(of.files.path(template).as_str(), folder), std::cmp::Reverse(template))
        })?;
        Some(ImportTarget::module(Module::File(best)))
    }

    /// Returns the file of an include path.
    fn written(&self, of: Importer<'_>, module: &str, is_system: bool) -> Option<ImportTarget> {
        let folder = of.path().directory();
        let adjacent = normal(folder, module).and_then(|path| of.layout.file_at(&path));
        if let (false, Some(found)) = (is_system, adjacent) {
            return Some(ImportTarget::module(Module::File(found)));
        }
        let named =
            self.builds.included(of.path().as_str(), module, |path| of.layout.file_at(path));
        if let Some(found) = named {
            return Some(ImportTarget::module(Module::File(found)));
        }
        let name = module.rsplit('/').next()?;
        let ending = format!("/{}", module.trim_start_matches("./").trim_start_matches("../"));
        let has_ending = |candidate: &FileId| {
            let path = of.files.path(*candidate).as_str();
            path.ends_with(&ending) || path == &ending[1..]
        };
        let named = self.by_name.get(name)?;
        let named: SmallVec<[FileId; 4]> = named.iter().copied().filter(has_ending).collect();
        let is_bare = is_system && !module.contains('/');
        let is_only = named.len() == 1;
        let is_of_library = || of.rules().prelude.iter().any(|file| file == module);
        let candidates = named.into_iter().filter(|&candidate| {
            let searched = of.files.path(candidate).directory();
            !is_bare
                || candidate != of.file
                    && (is_search_directory(searched)
                        || is_only
                            && (is_around(searched, folder)
                                || are_sources_around(searched, folder) && !is_of_library()))
        });
        let best = candidates.max_by_key(|&candidate| {
            (shared(of.files.path(candidate).as_str(), folder), std::cmp::Reverse(candidate))
        })?;
        Some(ImportTarget::module(Module::File(best)))
    }
}

/// Returns the number of directories that a path has in common with a folder: the nearest file is
/// preferred.
fn shared(path: &str, folder: &str) -> usize {
    path.split('/').zip(folder.split('/')).take_while(|(a, b)| a == b).count()
}

fn is_search_directory(directory: &str) -> bool {
    SEARCHED.contains(&directory.rsplit('/').next().unwrap_or(directory))
}

/// True if a directory has the sources of a directory around the including file.
fn are_sources_around(directory: &str, folder: &str) -> bool {
    let (above, last) = directory.rsplit_once('/').unwrap_or(("", directory));
    SOURCES.contains(&last) && is_around(above, folder)
}

/// True if a directory is that of the including file or a parent of it. A compiler searches it for
/// a path in brackets only with an option for it.
fn is_around(directory: &str, folder: &str) -> bool {
    folder.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        || directory.is_empty()
}
