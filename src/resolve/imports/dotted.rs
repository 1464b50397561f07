//! Dotted packages: `a.b.c` is a file or directory below a source root; a directory may have an
//! index file.

use super::{Modules, Package, item};
use crate::Name;
use crate::units::import_target::{ImportTarget, Module, family};
use crate::workspace::program::Program;
use crate::workspace::tables::Tables;
use cograph_grammar::{Language, ModuleSystem};
use cograph_model::facts::{Import, ImportKind};
use cograph_model::graph::FileId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Lookup tables for absolute imports.
#[derive(Debug, Default)]
pub(super) struct DottedIndex {
    /// Packages by the last segment of their names, in order.
    by_last: FxHashMap<String, Vec<u32>>,
    /// Directories that contain packages with an index file, and are no such package themselves.
    source_roots: FxHashSet<String>,
}

impl DottedIndex {
    pub(super) fn new(modules: &Modules) -> Self {
        let (mut by_last, mut source_roots) =
            (FxHashMap::<String, Vec<u32>>::default(), FxHashSet::default());
        for (package, id) in modules.packages.iter().zip(0..) {
            let (folder, last) = split_last(&package.name);
            match by_last.get_mut(last) {
                Some(packages) => packages.push(id),
                None => drop(by_last.insert(last.to_owned(), vec![id])),
            }
            let is_here = package.language.manifest.modules.system == ModuleSystem::DottedPackages;
            if is_here
                && !source_roots.contains(folder)
                && is_package(modules, package.language, &package.name)
                && !is_package(modules, package.language, folder)
            {
                source_roots.insert(folder.to_owned());
            }
        }
        Self { by_last, source_roots }
    }

    /// Returns the packages whose name ends with this segment.
    fn named<'m>(&self, modules: &'m Modules, last: &str) -> impl Iterator<Item = &'m Package> {
        self.by_last
            .get(last)
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .map(|&id| modules.package(id))
    }
}

/// Splits a path into the directory and the last segment.
fn split_last(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

pub(super) fn target(program: &Program<'_>, file: FileId, import: &Import) -> Option<ImportTarget> {
    let language = program.known(file).language;
    let modules = &program.whole().modules;
    let segments: Vec<&str> =
        import.module.split('.').filter(|segment| !segment.is_empty()).collect();
    let (mut module, rest) = match import.level {
        0 => absolute_start(modules, language, program.path(file).as_str(), &segments)?,
        level => (
            relative_start(modules, language, program.path(file).directory(), level)?,
            &segments[..],
        ),
    };
    let mut path: Vec<Name> = Vec::new();
    for segment in rest {
        match path
            .is_empty()
            .then(|| child(modules, program.whole(), language, module, segment))
            .flatten()
        {
            Some(next) => module = next,
            None => path.push(program.named(segment)),
        }
    }
    if import.kind == ImportKind::Item {
        path.push(item(program, file, import)?);
    }
    Some(ImportTarget::in_module(module, path.into()))
}

/// Returns the module of this name in a directory: a file or directory.
fn in_folder(modules: &Modules, language: &Language, folder: &str, name: &str) -> Option<Module> {
    // One buffer for all names: most candidates do not exist.
    let mut path = String::with_capacity(folder.len() + name.len() + SUFFIX_CAPACITY);
    if !folder.is_empty() {
        path.extend([folder, "/"]);
    }
    path.push_str(name);
    let base = path.len();
    let file = index_file(modules, language, &mut path).or_else(|| {
        language.manifest.modules.extensions.iter().find_map(|extension| {
            path.truncate(base);
            path.extend([".", extension]);
            modules.file_at(&path)
        })
    });
    path.truncate(base);
    file.map(Module::File)
        .or_else(|| modules.package_named(family(language), &path).map(Module::Package))
}

/// Capacity for the suffix of a module's file name.
const SUFFIX_CAPACITY: usize = 32;

/// Returns the index file of a directory, whose path is modified; an empty path is the root.
fn index_file(modules: &Modules, language: &Language, folder: &mut String) -> Option<FileId> {
    let rules = &language.manifest.modules;
    if !folder.is_empty() {
        folder.push('/');
    }
    let base = folder.len();
    rules.index.iter().find_map(|index| {
        rules.extensions.iter().find_map(|extension| {
            folder.truncate(base);
            folder.extend([index, ".", extension]);
            modules.file_at(folder)
        })
    })
}

/// Returns the index file of a directory.
fn index_of(modules: &Modules, language: &Language, folder: &str) -> Option<FileId> {
    let mut path = String::with_capacity(folder.len() + SUFFIX_CAPACITY);
    path.push_str(folder);
    index_file(modules, language, &mut path)
}

/// Returns the directory of a module's children; `None` for a plain file.
pub(super) fn folder<'m>(
    modules: &'m Modules,
    tables: &'m Tables,
    language: &Language,
    module: Module,
) -> Option<&'m str> {
    match module {
        Module::Package(package) => Some(&modules.package(package).name),
        Module::File(file) | Module::OneOf(file, _) => {
            let path = &tables.files[file.0 as usize].path;
            let stem = path.file_name().split('.').next().unwrap_or_default();
            language
                .manifest
                .modules
                .index
                .iter()
                .any(|index| index == stem)
                .then(|| path.directory())
        }
    }
}

pub(super) fn child(
    modules: &Modules,
    tables: &Tables,
    language: &Language,
    module: Module,
    name: &str,
) -> Option<Module> {
    in_folder(modules, language, folder(modules, tables, language, module)?, name)
}

fn is_package(modules: &Modules, language: &Language, folder: &str) -> bool {
    index_of(modules, language, folder).is_some()
}

/// Finds the source root of the first segment: the directory of the file itself, its parents, then
/// any other directory that is no package but contains a package of that name; the nearest one
/// wins.
fn absolute_start<'s>(
    modules: &Modules,
    language: &Language,
    from: &str,
    segments: &'s [&'s str],
) -> Option<(Module, &'s [&'s str])> {
    let (first, rest) = segments.split_first()?;
    let mut above = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        if !is_package(modules, language, above)
            && let Some(module) = in_folder(modules, language, above, first)
            && module_is_file_other_than(modules, module, from)
        {
            return Some((module, rest));
        }
        let Some((parent, _)) = above.rsplit_once('/') else {
            if above.is_empty() {
                break;
            }
            above = "";
            continue;
        };
        above = parent;
    }
    let mut best: Option<(usize, usize, Module)> = None;
    for package in modules.dotted.named(modules, first) {
        let (root, _) = split_last(&package.name);
        if !modules.dotted.source_roots.contains(root) {
            continue;
        }
        let Some(module) = in_folder(modules, language, root, first) else { continue };
        let shared = root.split('/').zip(from.split('/')).take_while(|(a, b)| a == b).count();
        let rank = (usize::MAX - shared, root.len());
        if best.is_none_or(|(shared, length, _)| rank < (shared, length)) {
            best = Some((rank.0, rank.1, module));
        }
    }
    best.map(|(_, _, module)| (module, rest))
}

/// False if a file would import itself under its own name: the name is then that of a library.
fn module_is_file_other_than(modules: &Modules, module: Module, from: &str) -> bool {
    !matches!(module, Module::File(file) if modules.file_at(from) == Some(file))
}

fn relative_start(
    modules: &Modules,
    language: &Language,
    folder: &str,
    level: u16,
) -> Option<Module> {
    let mut folder = folder;
    for _ in 1..level {
        if folder.is_empty() {
            return None;
        }
        folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    let file = index_of(modules, language, folder).map(Module::File);
    file.or_else(|| modules.package_named(family(language), folder).map(Module::Package))
}
