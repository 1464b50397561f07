//! Dotted packages: `a.b.c` is a file or directory below a source root; a directory may have an
//! index file.

use super::layout::{Layout, Package};
use super::paths::split_last;
use super::system::{Importer, ModuleSystem, Surroundings};
use crate::units::import_target::{ImportTarget, Module, family};
use crate::units::interner::Name;
use cograph_faults::{Fault, planted};
use cograph_grammar::Language;
use cograph_model::facts::{Import, ImportKind};
use cograph_model::graph::FileId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The system, with lookup tables for absolute imports.
#[derive(Debug, Default)]
pub(super) struct DottedPackages {
    /// Packages by the last segment of their names, in order.
    by_last: FxHashMap<String, Vec<u32>>,
    /// Directories that contain packages with an index file, and are no such package themselves.
    source_roots: FxHashSet<String>,
}

impl DottedPackages {
    pub(super) fn new(layout: &Layout) -> Self {
        let (mut by_last, mut source_roots) =
            (FxHashMap::<String, Vec<u32>>::default(), FxHashSet::default());
        for (package, id) in layout.packages.iter().zip(0..) {
            let (folder, last) = split_last(&package.name);
            match by_last.get_mut(last) {
                Some(packages) => packages.push(id),
                None => drop(by_last.insert(last.to_owned(), vec![id])),
            }
            if package.language.manifest.modules.has_source_roots()
                && !source_roots.contains(folder)
                && is_package(layout, package.language, &package.name)
                && !is_package(layout, package.language, folder)
            {
                source_roots.insert(folder.to_owned());
            }
        }
        Self { by_last, source_roots }
    }

    /// Returns the packages whose name ends with this segment.
    fn named<'l>(&self, layout: &'l Layout, last: &str) -> impl Iterator<Item = &'l Package> {
        self.by_last
            .get(last)
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .map(|&id| layout.package(id))
    }
}

impl ModuleSystem for DottedPackages {
    fn targets(&self, of: Importer<'_>) -> Vec<Option<ImportTarget>> {
        of.each(|import| self.target(of, import))
    }

    fn child(&self, around: Surroundings<'_>, module: Module, name: &str) -> Option<Module> {
        in_folder(around.layout, around.language, folder(around, module)?, name)
    }

    fn has_children(&self, around: Surroundings<'_>, module: Module) -> bool {
        folder(around, module).is_some()
    }
}

impl DottedPackages {
    fn target(&self, of: Importer<'_>, import: &Import) -> Option<ImportTarget> {
        let around = Surroundings { files: of.files, layout: of.layout, language: of.language() };
        let segments: Vec<&str> =
            import.module.split('.').filter(|segment| !segment.is_empty()).collect();
        let (mut module, rest) = match import.level {
            0 => self.absolute_start(of.layout, around.language, of.path().as_str(), &segments)?,
            level => (
                relative_start(of.layout, around.language, of.path().directory(), level)?,
                &segments[..],
            ),
        };
        let mut path: Vec<Name> = Vec::new();
        for segment in rest {
            match path.is_empty().then(|| self.child(around, module, segment)).flatten() {
                Some(next) => module = next,
                None => path.push(of.named(segment)),
            }
        }
        if import.kind == ImportKind::Item {
            path.push(of.item(import)?);
        }
        Some(ImportTarget::in_module(module, path.into()))
    }

    /// Finds the source root of the first segment: the directory of the file itself, its parents,
    /// then any other directory that is no package but contains a package of that name; the nearest
    /// one wins.
    fn absolute_start<'s>(
        &self,
        layout: &Layout,
        language: &Language,
        from: &str,
        segments: &'s [&'s str],
    ) -> Option<(Module, &'s [&'s str])> {
        let (first, rest) = segments.split_first()?;
        let mut above = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        loop {
            if !is_package(layout, language, above)
                && let Some(module) = in_folder(layout, language, above, first)
                && module_is_file_other_than(layout, module, from)
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
        for package in self.named(layout, first) {
            let (root, _) = split_last(&package.name);
            if !self.source_roots.contains(root) {
                continue;
            }
            let Some(module) = in_folder(layout, language, root, first) else { continue };
            let shared = root.split('/').zip(from.split('/')).take_while(|(a, b)| a == b).count();
            let rank = (usize::MAX - shared, root.len());
            if best.is_none_or(|(shared, length, _)| rank < (shared, length)) {
                best = Some((rank.0, rank.1, module));
            }
        }
        best.map(|(_, _, module)| (module, rest))
    }
}

/// Returns the module of this name in a directory: a file or directory.
fn in_folder(layout: &Layout, language: &Language, folder: &str, name: &str) -> Option<Module> {
    // One buffer for all names: most candidates do not exist.
    let mut path = String::with_capacity(folder.len() + name.len() + SUFFIX_CAPACITY);
    if !folder.is_empty() {
        path.extend([folder, "/"]);
    }
    path.push_str(name);
    let base = path.len();
    let file = index_file(layout, language, &mut path).or_else(|| {
        language.manifest.modules.extensions.iter().find_map(|extension| {
            path.truncate(base);
            path.extend([".", extension]);
            layout.file_at(&path)
        })
    });
    path.truncate(base);
    file.map(Module::File)
        .or_else(|| layout.package_named(family(language), &path).map(Module::Package))
}

/// Capacity for the suffix of a module's file name.
const SUFFIX_CAPACITY: usize = 32;

/// Returns the index file of a directory, whose path is modified; an empty path is the root.
fn index_file(layout: &Layout, language: &Language, folder: &mut String) -> Option<FileId> {
    let rules = &language.manifest.modules;
    if !folder.is_empty() {
        folder.push('/');
    }
    let base = folder.len();
    rules.index.iter().find_map(|index| {
        rules.extensions.iter().find_map(|extension| {
            folder.truncate(base);
            folder.extend([index, ".", extension]);
            layout.file_at(folder)
        })
    })
}

/// Returns the index file of a directory.
fn index_of(layout: &Layout, language: &Language, folder: &str) -> Option<FileId> {
    let mut path = String::with_capacity(folder.len() + SUFFIX_CAPACITY);
    path.push_str(folder);
    index_file(layout, language, &mut path)
}

/// Returns the directory of a module's children; `None` for a plain file.
fn folder(around: Surroundings<'_>, module: Module) -> Option<&str> {
    match module {
        Module::Package(package) => Some(&around.layout.package(package).name),
        Module::File(file) | Module::OneOf(file, _) => {
            let path = around.files.path(file);
            let stem = path.file_name().split('.').next().unwrap_or_default();
            let is_index = around.language.manifest.modules.index.iter().any(|index| index == stem);
            is_index.then(|| path.directory())
        }
    }
}

fn is_package(layout: &Layout, language: &Language, folder: &str) -> bool {
    index_of(layout, language, folder).is_some()
}

/// False if a file would import itself under its own name: the name is then that of a library.
fn module_is_file_other_than(layout: &Layout, module: Module, from: &str) -> bool {
    !matches!(module, Module::File(file) if layout.file_at(from) == Some(file))
}

fn relative_start(
    layout: &Layout,
    language: &Language,
    folder: &str,
    level: u16,
) -> Option<Module> {
    let mut folder = folder;
    for _ in 1..if planted(Fault::LevelUncounted) { 1 } else { level } {
        if folder.is_empty() {
            return None;
        }
        folder = folder.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    let file = index_of(layout, language, folder).map(Module::File);
    file.or_else(|| layout.package_named(family(language), folder).map(Module::Package))
}
