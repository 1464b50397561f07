//! Crate trees: modules start at the root files of a crate; a child module is a file next to its
//! parent, in its parent's directory, at the path of an attribute, or inline in its parent.

mod packages;

use super::{Modules, normal};
use crate::Name;
use crate::units::import_target::{ImportTarget, Module};
use crate::units::unit::Unit;
use crate::workspace::program::Program;
use crate::workspace::tables::Tables;
use cograph_grammar::{Language, PathWord};
use cograph_model::RepoPath;
use cograph_model::facts::{Binding, Import, ImportKind, LocalSymbol, ScopeId, ScopeKind};
use cograph_model::graph::FileId;
use packages::Package;
use rustc_hash::{FxHashMap, FxHasher};
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

/// Module trees of all crates.
#[derive(Debug, Default)]
pub(crate) struct CrateIndex {
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

impl CrateIndex {
    pub(super) fn new(modules: &Modules, tables: &Tables) -> Self {
        let files = &tables.files;
        let mut index = Self { packages: packages::read(modules), places: FxHashMap::default() };
        let is_here = |language: &Language| {
            language.manifest.modules.system == cograph_grammar::ModuleSystem::CrateTree
        };
        let ids: Vec<FileId> =
            tables.ids().filter(|id| tables.language(*id).is_some_and(is_here)).collect();
        let mut roots: Vec<FileId> =
            index.packages.iter().flat_map(|package| package.roots.iter().copied()).collect();
        let is_root = |id: &&FileId| {
            let name = files[id.0 as usize].path.file_name();
            let rules = tables.language(**id).map(|language| &language.manifest.modules);
            rules.is_some_and(|rules| rules.is_root_name(name))
        };
        roots.extend(ids.iter().filter(is_root).copied());
        for root in roots {
            index.grow(modules, tables, root);
        }
        // Files outside of all trees become roots, those nearest to the repository root first.
        let mut left: Vec<FileId> =
            ids.into_iter().filter(|id| !index.places.contains_key(id)).collect();
        left.sort_by_key(|id| (files[id.0 as usize].path.as_str().matches('/').count(), *id));
        for file in left {
            index.grow(modules, tables, file);
        }
        index
    }

    fn grow(&mut self, modules: &Modules, tables: &Tables, root: FileId) {
        let files = &tables.files;
        if self.places.contains_key(&root) {
            return;
        }
        let package = self.package_at(&files[root.0 as usize].path);
        self.places.insert(root, TreePlace { root, parent: None, package });
        let mut waiting = vec![root];
        while let Some(file) = waiting.pop() {
            let Some(unit) = &tables.unit(file) else { continue };
            for import in unit.facts.imports.iter().filter(|import| is_child(unit, import)) {
                let name = unit.text(import.item);
                let path = &files[file.0 as usize].path;
                let Some(child) = child_file(modules, unit, path, file == root, import, name)
                else {
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

impl CrateIndex {
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

/// Returns the inline modules around a scope, outermost first.
pub(crate) fn inline_modules(unit: &Unit<'_>, scope: ScopeId) -> Vec<LocalSymbol> {
    let mut found = Vec::new();
    let mut current = scope;
    while current.is_some() {
        if unit.scope_kind(current) == ScopeKind::Module {
            found.push(unit.scope_symbol(current));
        }
        current = unit.parent(current);
    }
    found.reverse();
    found
}

fn inline_names<'u>(unit: &'u Unit<'_>, scope: ScopeId) -> impl Iterator<Item = &'u str> {
    inline_modules(unit, scope).into_iter().filter_map(|module| {
        let name = unit.facts.symbols[module.get()?].name;
        name.get().map(|_| unit.text(name))
    })
}

fn child_file(
    modules: &Modules,
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
        return modules.file_at(&normal(&base, &import.module)?);
    }
    let base = inline.iter().fold(own, |base, part| joined(&base, part));
    let base = joined(&base, name);
    rules.extensions.iter().find_map(|ending| {
        let adjacent = modules.file_at(&format!("{base}.{ending}"));
        adjacent.or_else(|| {
            rules
                .index
                .iter()
                .find_map(|index| modules.file_at(&format!("{base}/{index}.{ending}")))
        })
    })
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Number of wildcard imports by scope whose path starts with a keyword for a module of this crate;
/// computed on first access.
pub(super) type OwnWildcards = OnceCell<FxHashMap<ScopeId, usize>>;

pub(super) fn target(
    program: &Program<'_>,
    file: FileId,
    import: &Import,
    own: &OwnWildcards,
) -> Option<ImportTarget> {
    let unit = program.known(file);
    let rules = &unit.language.manifest.modules;
    let index = &program.whole().modules.crates;
    if is_child(&unit, import) {
        let name = unit.text(import.item);
        let path = program.path(file);
        let is_root = index.root(file) == file;
        return child_file(&program.whole().modules, &unit, path, is_root, import, name)
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
        (index.root(file), Vec::new(), rest)
    } else if is(PathWord::Current, first) || is(PathWord::Parent, first) {
        let mut at = (file, inline_modules(&unit, import.scope));
        let steps = segments
            .iter()
            .take_while(|segment| is(PathWord::Parent, segment) || is(PathWord::Current, segment))
            .count();
        for segment in &segments[..steps] {
            if is(PathWord::Parent, segment) && at.1.pop().is_none() {
                let (parent, scope) = index.parent(at.0)?;
                at = (parent, inline_modules(&program.known(parent), scope));
            }
        }
        (at.0, at.1, &segments[steps..])
    } else if import.kind != ImportKind::Module && is_bound(program, file, import, first) {
        (file, inline_modules(&unit, import.scope), &segments[..])
    } else if let Some(library) = index.library(file, first) {
        (library, Vec::new(), rest)
    } else if index.depends_on(file, first) {
        return None;
    } else if import.kind != ImportKind::Module
        && may_come_from_wildcard(program, file, import, own)
    {
        (file, inline_modules(&unit, import.scope), &segments[..])
    } else {
        return None;
    };
    let names = inline
        .into_iter()
        .map(|symbol| program.name_of(cograph_model::graph::SymbolRef { file: module, symbol }));
    let mut path: Vec<Name> = names.collect();
    for segment in rest {
        path.push(program.named(segment));
    }
    let (mut module, mut steps) = (module, 0);
    while let Some(child) =
        path.get(steps).and_then(|name| only_child(program, module, *name, steps + 1 == path.len()))
    {
        module = child;
        steps += 1;
    }
    Some(ImportTarget::in_module(Module::File(module), path[steps..].into()))
}

/// Returns the file of the only child module of this name. The last segment of a path may have
/// other meanings; the others are modules.
fn only_child(program: &Program<'_>, file: FileId, name: Name, last: bool) -> Option<FileId> {
    // The file of a module may be unreadable.
    let unit = program.unit(file)?;
    let child = |binding: &Binding| {
        binding
            .import
            .get()
            .map(|import| &unit.facts.imports[import])
            .filter(|it| is_child(&unit, it))
    };
    let mut named = unit
        .bindings(ScopeId(0), name)
        .map(|(_, binding)| child(binding))
        .filter(|child| last || child.is_some());
    let (Some(Some(import)), None) = (named.next(), named.next()) else { return None };
    let is_root = program.whole().modules.crates.root(file) == file;
    child_file(
        &program.whole().modules,
        &unit,
        program.path(file),
        is_root,
        import,
        program.text(name),
    )
}

/// True if the module around an import binds a name by something other than this import.
fn is_bound(program: &Program<'_>, file: FileId, import: &Import, name: &str) -> bool {
    let unit = program.known(file);
    let name = program.named(name);
    let mut scope = import.scope;
    while scope.is_some() {
        let found = unit.bindings(scope, name).any(|(_, binding)| {
            binding.import.get().is_none_or(|position| {
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

/// True if the module around an import may get a name from another wildcard import of this crate.
fn may_come_from_wildcard(
    program: &Program<'_>,
    file: FileId,
    import: &Import,
    own: &OwnWildcards,
) -> bool {
    let unit = program.known(file);
    let rules = &unit.language.manifest.modules;
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
    own.get(&import.scope).is_some_and(|&count| count > usize::from(is_one))
}
