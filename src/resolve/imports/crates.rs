//! Crate trees: modules start at the root files of a crate; a child module is a file next to its
//! parent, in its parent's directory, at the path of an attribute, or inline in its parent.

mod packages;

use super::layout::Layout;
use super::paths::{joined, normal};
use super::system::{Importer, ModuleChange, ModuleSystem};
use crate::files::table::FileTable;
use crate::units::import_target::{ImportTarget, Module};
use crate::units::interner::Name;
use crate::units::unit::Unit;
use cograph_grammar::{Language, PathWord};
use cograph_model::RepoPath;
use cograph_model::facts::{Binding, Import, ImportKind, ScopeId, ScopeKind};
use cograph_model::graph::{FileId, SymbolRef};
use packages::Package;
use rustc_hash::{FxHashMap, FxHasher};
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

/// The system, with the module trees of all crates.
#[derive(Debug, Default)]
pub(super) struct CrateTree {
    /// Packages, deepest directories first.
    packages: Vec<Package>,
    places: FxHashMap<FileId, TreePlace>,
}

/// Position of a file in a module tree.
#[derive(Clone, Copy, Debug)]
struct TreePlace {
    root: FileId,
    /// File and scope that declare it as a child.
    parent: Option<(FileId, ScopeId)>,
    package: Option<usize>,
}

impl CrateTree {
    pub(super) fn new(layout: &Layout, files: &FileTable) -> Self {
        let mut index = Self { packages: packages::read(layout), places: FxHashMap::default() };
        let is_here = |language: &Language| language.manifest.modules.declares_children();
        let ids: Vec<FileId> =
            files.ids().filter(|id| files.language(*id).is_some_and(is_here)).collect();
        let mut roots: Vec<FileId> =
            index.packages.iter().flat_map(|package| package.roots.iter().copied()).collect();
        let is_root = |id: &&FileId| {
            let name = files.path(**id).file_name();
            let rules = files.language(**id).map(|language| &language.manifest.modules);
            rules.is_some_and(|rules| rules.is_root_name(name))
        };
        roots.extend(ids.iter().filter(is_root).copied());
        for root in roots {
            index.grow(layout, files, root);
        }
        // Files outside of all trees become roots, those nearest to the repository root first.
        let mut left: Vec<FileId> =
            ids.into_iter().filter(|id| !index.places.contains_key(id)).collect();
        left.sort_by_key(|id| (files.path(*id).as_str().matches('/').count(), *id));
        for file in left {
            index.grow(layout, files, file);
        }
        index
    }

    fn grow(&mut self, layout: &Layout, files: &FileTable, root: FileId) {
        if self.places.contains_key(&root) {
            return;
        }
        let package = self.package_at(files.path(root));
        self.places.insert(root, TreePlace { root, parent: None, package });
        let mut waiting = vec![root];
        while let Some(file) = waiting.pop() {
            let Some(unit) = &files.unit(file) else { continue };
            for import in unit.facts.imports.iter().filter(|import| is_child(unit, import)) {
                let name = unit.text(import.item);
                let path = files.path(file);
                let Some(child) = child_file(layout, unit, path, file == root, import, name) else {
                    continue;
                };
                if let std::collections::hash_map::Entry::Vacant(entry) = self.places.entry(child) {
                    entry.insert(TreePlace { root, parent: Some((file, import.scope)), package });
                    waiting.push(child);
                }
            }
        }
    }

    fn package_at(&self, path: &RepoPath) -> Option<usize> {
        let inside = |package: &Package| {
            package.folder.is_empty()
                || path
                    .as_str()
                    .strip_prefix(package.folder.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        self.packages.iter().position(inside)
    }

    /// Returns the root file of the crate of a file.
    pub(crate) fn root(&self, file: FileId) -> FileId {
        self.places.get(&file).map_or(file, |place| place.root)
    }

    /// Returns the file and scope that declare a file as a child module.
    pub(crate) fn parent(&self, file: FileId) -> Option<(FileId, ScopeId)> {
        self.places.get(&file)?.parent
    }

    /// Returns the root file of the library that a file refers to by a name.
    pub(crate) fn library(&self, file: FileId, name: &str) -> Option<FileId> {
        let own = self.places.get(&file)?.package.map(|position| &self.packages[position]);
        if let Some(renamed) = own.and_then(|package| package.renames.get(name)) {
            let named = |package: &&Package| package.name == *renamed;
            return self.packages.iter().find(named)?.library;
        }
        let named = |package: &&Package| package.library_name == name;
        own.filter(named).or_else(|| self.packages.iter().find(named))?.library
    }
}

impl CrateTree {
    /// Fingerprint of a file's position in its crate and of its libraries. `path` returns the hash
    /// of a file's path.
    pub(super) fn number(&self, file: FileId, path: &impl Fn(FileId) -> u64) -> u64 {
        let Some(place) = self.places.get(&file) else { return 0 };
        let mut hasher = FxHasher::default();
        (path(place.root), place.parent.map(|(parent, scope)| (path(parent), scope)))
            .hash(&mut hasher);
        if let Some(package) = place.package.map(|position| &self.packages[position]) {
            (&package.folder, &package.renames, &package.dependencies).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Fingerprint of all libraries.
    pub(super) fn libraries(&self, path: &impl Fn(FileId) -> u64) -> u64 {
        let mut hasher = FxHasher::default();
        for package in &self.packages {
            let names = (&package.name, &package.library_name);
            (&package.folder, names, package.library.map(path)).hash(&mut hasher);
        }
        hasher.finish()
    }

    pub(super) fn depends_on(&self, file: FileId, name: &str) -> bool {
        let package = self
            .places
            .get(&file)
            .and_then(|place| place.package)
            .map(|position| &self.packages[position]);
        package.is_some_and(|package| package.dependencies.contains(name))
    }
}

/// True if an import declares a child module.
fn is_child(unit: &Unit<'_>, import: &Import) -> bool {
    import.kind == ImportKind::Module
        && import.item.is_some()
        && unit.language.manifest.modules.word(PathWord::Current).is_some()
}

fn inline_names<'u>(unit: &'u Unit<'_>, scope: ScopeId) -> impl Iterator<Item = &'u str> {
    unit.inline_modules(scope).into_iter().filter_map(|module| {
        let name = unit.facts.symbols[module.get()?].name;
        name.get().map(|_| unit.text(name))
    })
}

fn child_file(
    layout: &Layout,
    unit: &Unit<'_>,
    path: &RepoPath,
    is_root: bool,
    import: &Import,
    name: &str,
) -> Option<FileId> {
    let rules = &unit.language.manifest.modules;
    let stem = path.file_name().rsplit_once('.').map_or(path.file_name(), |(stem, _)| stem);
    let is_index = is_root || rules.index.iter().any(|index| index == stem);
    let inline: Vec<&str> = inline_names(unit, import.scope).collect();
    let own = if is_index { path.directory().to_owned() } else { joined(path.directory(), stem) };
    if rules.words.get(&*import.module) != Some(&PathWord::Current) {
        let base = if inline.is_empty() { path.directory() } else { own.as_str() };
        let base = inline.iter().fold(base.to_owned(), |base, part| joined(&base, part));
        return layout.file_at(&normal(&base, &import.module)?);
    }
    let base = inline.iter().fold(own, |base, part| joined(&base, part));
    let base = joined(&base, name);
    rules.extensions.iter().find_map(|ending| {
        let adjacent = layout.file_at(&format!("{base}.{ending}"));
        adjacent.or_else(|| {
            rules.index.iter().find_map(|index| layout.file_at(&format!("{base}/{index}.{ending}")))
        })
    })
}

/// Number of wildcard imports by scope whose path starts with a keyword for a module of this crate;
/// computed on first access.
type OwnWildcards = OnceCell<FxHashMap<ScopeId, usize>>;

impl ModuleSystem for CrateTree {
    fn targets(&self, of: Importer<'_>) -> Vec<Option<ImportTarget>> {
        let own = OwnWildcards::default();
        of.each(|import| self.target(of, import, &own))
    }

    fn is_affected(&self, by: ModuleChange) -> bool {
        by.trees || by.project_files || by.family
    }
}

impl CrateTree {
    fn target(
        &self,
        of: Importer<'_>,
        import: &Import,
        own: &OwnWildcards,
    ) -> Option<ImportTarget> {
        let (file, unit, rules) = (of.file, of.unit, of.rules());
        if is_child(&unit, import) {
            let name = unit.text(import.item);
            let is_root = self.root(file) == file;
            return child_file(of.layout, &unit, of.path(), is_root, import, name)
                .map(|file| ImportTarget::module(Module::File(file)));
        }
        let mut segments: Vec<&str> = import
            .module
            .split(rules.separator.as_str())
            .filter(|segment| !segment.is_empty())
            .collect();
        if import.item.is_some() {
            segments.push(unit.text(import.item));
        }
        let (first, rest) = segments.split_first()?;
        let is = |word: PathWord, segment: &str| rules.words.get(segment) == Some(&word);
        let (module, inline, rest) = if is(PathWord::Root, first) {
            (self.root(file), Vec::new(), rest)
        } else if is(PathWord::Current, first) || is(PathWord::Parent, first) {
            let mut at = (file, unit.inline_modules(import.scope));
            let steps = segments
                .iter()
                .take_while(|segment| {
                    is(PathWord::Parent, segment) || is(PathWord::Current, segment)
                })
                .count();
            for segment in &segments[..steps] {
                if is(PathWord::Parent, segment) && at.1.pop().is_none() {
                    let (parent, scope) = self.parent(at.0)?;
                    at = (parent, of.known(parent).inline_modules(scope));
                }
            }
            (at.0, at.1, &segments[steps..])
        } else if import.kind != ImportKind::Module && is_bound(of, import, first) {
            (file, unit.inline_modules(import.scope), &segments[..])
        } else if let Some(library) = self.library(file, first) {
            (library, Vec::new(), rest)
        } else if self.depends_on(file, first) {
            return None;
        } else if import.kind != ImportKind::Module && may_come_from_wildcard(of, import, own) {
            (file, unit.inline_modules(import.scope), &segments[..])
        } else {
            return None;
        };
        let names =
            inline.into_iter().map(|symbol| of.files.name_of(SymbolRef { file: module, symbol }));
        let mut path: Vec<Name> = names.collect();
        for segment in rest {
            path.push(of.named(segment));
        }
        let (mut module, mut steps) = (module, 0);
        while let Some(child) = path
            .get(steps)
            .and_then(|name| self.only_child(of, module, *name, steps + 1 == path.len()))
        {
            module = child;
            steps += 1;
        }
        Some(ImportTarget::in_module(Module::File(module), path[steps..].into()))
    }

    /// Returns the file of the only child module of this name. The last segment of a path may have
    /// other meanings; the others are modules.
    fn only_child(&self, of: Importer<'_>, file: FileId, name: Name, last: bool) -> Option<FileId> {
        // The file of a module may be unreadable.
        let unit = of.files.unit(file)?;
        let child = |binding: &Binding| {
            binding
                .import()
                .get()
                .map(|import| &unit.facts.imports[import])
                .filter(|it| is_child(&unit, it))
        };
        let mut named = unit
            .bindings(ScopeId(0), name)
            .map(|(_, binding)| child(binding))
            .filter(|child| last || child.is_some());
        let (Some(Some(import)), None) = (named.next(), named.next()) else { return None };
        let is_root = self.root(file) == file;
        let path = of.files.path(file);
        child_file(of.layout, &unit, path, is_root, import, of.files.names.text(name))
    }
}

/// True if the module around an import binds a name by something other than this import.
fn is_bound(of: Importer<'_>, import: &Import, name: &str) -> bool {
    let unit = of.unit;
    let name = of.named(name);
    let mut scope = import.scope;
    while scope.is_some() {
        let found = unit.bindings(scope, name).any(|(_, binding)| {
            binding.import().get().is_none_or(|position| {
                let other = &unit.facts.imports[position];
                !std::ptr::eq(other, import)
                    && (other.kind == ImportKind::Module || !other.module.is_empty())
            })
        });
        if found {
            return true;
        }
        if matches!(unit.scope_kind(scope), ScopeKind::Module | ScopeKind::File) {
            return false;
        }
        scope = unit.parent(scope);
    }
    false
}

/// True if a scope around an import, up to that of its module, may get a name from another wildcard
/// import of this crate.
fn may_come_from_wildcard(of: Importer<'_>, import: &Import, own: &OwnWildcards) -> bool {
    let (unit, rules) = (of.unit, of.rules());
    let is_own = |import: &Import| {
        let first = import.module.split(rules.separator.as_str()).next();
        first.is_some_and(|first| rules.words.contains_key(first))
    };
    let own = own.get_or_init(|| {
        let mut own = FxHashMap::default();
        for &(scope, wildcard) in unit.wildcards() {
            if wildcard.get().is_some_and(|position| is_own(&unit.facts.imports[position])) {
                *own.entry(scope).or_default() += 1;
            }
        }
        own
    });
    let is_one = import.kind == ImportKind::Wildcard && is_own(import);
    let (mut scope, mut count) = (import.scope, 0);
    while scope.is_some() {
        count += own.get(&scope).copied().unwrap_or_default();
        if matches!(unit.scope_kind(scope), ScopeKind::Module | ScopeKind::File) {
            break;
        }
        scope = unit.parent(scope);
    }
    count > usize::from(is_one)
}
