//! Module systems: which file, folder or package an import names. A closed set of systems; a
//! language's manifest names one.
//!
//! A system says where a path starts (`module`) and which names are to be followed from there
//! (`path`); following them is the work of `names`, so that re-exports and types in paths need no
//! care here.

mod alternatives;
mod crates;
mod declared;
mod dotted;
mod folders;
mod includes;
mod json;
mod relative;

pub(super) use crates::inline_modules;

use super::{Name, Program};
use crate::grammar::{Language, ModuleSystem};
use crate::model::RepoPath;
use crate::model::facts::{Import, ImportId};
use crate::model::graph::FileId;
use crate::resolve::units::import_target::{ImportTarget, Module, family};
use crate::resolve::units::unit::Unit;
use crate::resolve::{units::prepared::Head, workspace::tables::Tables};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::OnceLock;

/// A package: files that share a folder or a declared name, of languages that understand each
/// other.
#[derive(Debug)]
pub(super) struct Package {
    /// Its folder or declared name.
    pub(super) name: String,
    /// Its files in order.
    pub(super) files: Vec<FileId>,
    /// Stands for its family and name: the same after a change, unlike its position.
    pub(super) identity: u64,
    /// That of its first file; of a package without files of its own, that of the first file below
    /// it.
    language: &'static Language,
}

impl Package {
    fn new(language: &'static Language, name: String) -> Self {
        let identity = package_identity(language, &name);
        Self { name, files: Vec::new(), identity, language }
    }
}

/// The tables of all module systems.
#[derive(Debug, Default)]
pub(super) struct Modules {
    /// Where each import of each file leads, once that was asked.
    targets: Vec<OnceLock<Box<[ImportTarget]>>>,
    /// The files that the imports of each file lead to or through, in order and once.
    imported: Vec<Box<[FileId]>>,
    pub(super) packages: Vec<Package>,
    /// Family -> name -> package.
    by_name: FxHashMap<String, FxHashMap<String, u32>>,
    /// The package of each file.
    of_file: Vec<Option<u32>>,
    by_path: FxHashMap<String, FileId>,
    project_files: BTreeMap<String, String>,
    dotted: dotted::DottedIndex,
    includes: includes::IncludeIndex,
    pub(super) alternatives: alternatives::Alternatives,
    crates: crates::CrateIndex,
    relative: relative::ProjectIndex,
    folders: folders::FolderIndex,
}

impl Modules {
    pub(super) fn new(tables: &Tables) -> Self {
        let count = tables.files.len();
        let targets = (0..count).map(|_| OnceLock::new()).collect();
        let mut modules = Modules { of_file: vec![None; count], targets, ..Modules::default() };
        for file in &tables.project_files {
            modules.project_files.insert(file.path.as_str().to_owned(), file.text.clone());
        }
        for (id, file) in tables.ids().zip(&tables.files) {
            modules.by_path.insert(file.path.as_str().to_owned(), id);
            let Some(head) = tables.head(id) else { continue };
            modules.add_to_package(head, &file.path, id);
        }
        modules.dotted = dotted::DottedIndex::new(&modules);
        modules.includes = includes::IncludeIndex::new(tables);
        modules.alternatives = alternatives::Alternatives::new(tables);
        modules.crates = crates::CrateIndex::new(&modules, tables);
        modules.relative = relative::ProjectIndex::new(&modules);
        modules.folders = folders::FolderIndex::new(&modules);
        modules
    }

    fn add_to_package(&mut self, head: &Head, path: &RepoPath, file: FileId) {
        let (language, name, separator) =
            (head.language, package_name(head, path), package_separator(head.language));
        let id = match self.package_named(family(language), &name) {
            Some(id) => id,
            None => {
                // Packages above are packages as well, so that paths through them can be followed.
                let parent = name.rsplit_once(separator).map(|(parent, _)| parent.to_owned());
                let id = self.add_package(language, name);
                self.add_above(language, parent, separator);
                id
            }
        };
        let package = &mut self.packages[id as usize];
        if package.files.is_empty() {
            package.language = language;
        }
        package.files.push(file);
        self.of_file[file.0 as usize] = Some(id);
    }

    /// Adds a package, and those above it, as far as they are not known.
    fn add_above(&mut self, language: &'static Language, name: Option<String>, separator: &str) {
        let mut name = name;
        while let Some(folder) =
            name.filter(|name| self.package_named(family(language), name).is_none())
        {
            name = folder.rsplit_once(separator).map(|(parent, _)| parent.to_owned());
            self.add_package(language, folder);
        }
    }

    fn add_package(&mut self, language: &'static Language, name: String) -> u32 {
        let id = u32::try_from(self.packages.len()).expect("fewer packages than files");
        self.packages.push(Package::new(language, name.clone()));
        self.by_name.entry(family(language).to_owned()).or_default().insert(name, id);
        id
    }

    /// Where the imports of a file lead; `find` finds it out when that is asked first.
    pub(super) fn targets(
        &self,
        file: FileId,
        find: impl FnOnce() -> Box<[ImportTarget]>,
    ) -> &[ImportTarget] {
        self.targets[file.0 as usize].get_or_init(find)
    }

    /// The files that the imports of a file lead to or through.
    pub(super) fn imported(&self, file: FileId) -> impl Iterator<Item = FileId> + '_ {
        self.imported[file.0 as usize].iter().copied()
    }

    /// Learns which files the imports of every file lead to or through.
    pub(super) fn set_imported(&mut self, imported: Vec<Box<[FileId]>>) {
        self.imported = imported;
    }

    /// Learns that the imports of a file lead elsewhere: to these files.
    pub(super) fn set_imported_of(&mut self, file: FileId, imported: Box<[FileId]>) {
        self.imported[file.0 as usize] = imported;
    }

    /// Where the imports of a file lead must be found out again.
    pub(super) fn forget_targets(&mut self, file: FileId) {
        self.targets[file.0 as usize] = OnceLock::new();
    }

    pub(super) fn package(&self, id: u32) -> &Package {
        &self.packages[id as usize]
    }

    /// The package that a file belongs to.
    pub(super) fn package_of(&self, file: FileId) -> Option<u32> {
        self.of_file[file.0 as usize]
    }

    /// The root file of the crate that a file belongs to.
    pub(super) fn crate_root(&self, file: FileId) -> FileId {
        self.crates.root(file)
    }

    /// The file and scope that name a file as a child module.
    pub(super) fn crate_parent(
        &self,
        file: FileId,
    ) -> Option<(FileId, crate::model::facts::ScopeId)> {
        self.crates.parent(file)
    }

    /// The root file of the library that a file knows under a name.
    pub(super) fn library(&self, file: FileId, name: &str) -> Option<FileId> {
        self.crates.library(file, name)
    }

    /// Whether the package of a file says that it needs an outside library of this name.
    pub(super) fn depends_on(&self, file: FileId, name: &str) -> bool {
        self.crates.depends_on(file, name)
    }

    /// The package, or the part of a package's name, that a single word names.
    pub(super) fn declared_package(&self, language: &Language, word: &str) -> Option<Module> {
        let is_declared = language.manifest.modules.system == ModuleSystem::DeclaredPackages;
        self.package_named(family(language), word).filter(|_| is_declared).map(Module::Package)
    }

    /// Stands for where a file's imports, which are `targets`, lead, its package, its place in its
    /// crate and the libraries it knows.
    pub(super) fn links(
        &self,
        file: FileId,
        targets: &[ImportTarget],
        libraries: u64,
        path: &impl Fn(FileId) -> u64,
    ) -> u64 {
        let mut hasher = FxHasher::default();
        for target in targets {
            match target {
                ImportTarget::External(name) => name.hash(&mut hasher),
                ImportTarget::Path { module, path: names } => {
                    self.module_number(*module, path).hash(&mut hasher);
                    names.hash(&mut hasher);
                }
            }
        }
        self.package_of(file).map(|package| self.package(package).identity).hash(&mut hasher);
        let place = self.crates.number(file, path);
        (place, if place == 0 { 0 } else { libraries }).hash(&mut hasher);
        hasher.finish()
    }

    /// Stands for the libraries of all crates.
    pub(super) fn libraries(&self, path: &impl Fn(FileId) -> u64) -> u64 {
        self.crates.libraries(path)
    }

    /// Stands for a module, whatever its position is.
    pub(super) fn module_number(&self, module: Module, path: &impl Fn(FileId) -> u64) -> u64 {
        match module {
            Module::File(file) => path(file),
            Module::Package(package) => self.package(package).identity,
        }
    }

    fn package_named(&self, family: &str, name: &str) -> Option<u32> {
        self.by_name.get(family)?.get(name).copied()
    }

    fn file_at(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    /// The module below another one under this name, in systems where folders nest modules.
    pub(super) fn child(&self, tables: &Tables, module: Module, text: &str) -> Option<Module> {
        let language = self.language_of(tables, module)?;
        match language.manifest.modules.system {
            ModuleSystem::DottedPackages => dotted::child(self, tables, language, module, text),
            ModuleSystem::DeclaredPackages => declared::child(self, language, module, text),
            _ => None,
        }
    }

    /// Whether `child` can find a module below this one under any name.
    pub(super) fn has_folder(&self, tables: &Tables, module: Module) -> bool {
        let Some(language) = self.language_of(tables, module) else { return false };
        match language.manifest.modules.system {
            ModuleSystem::DottedPackages => {
                dotted::folder(self, tables, language, module).is_some()
            }
            ModuleSystem::DeclaredPackages => matches!(module, Module::Package(_)),
            _ => false,
        }
    }

    fn language_of(&self, tables: &Tables, module: Module) -> Option<&'static Language> {
        match module {
            Module::File(file) => tables.language(file),
            Module::Package(package) => Some(self.package(package).language),
        }
    }
}

/// The name of the package that a file belongs to: the declared one, or its folder.
fn package_name(head: &Head, path: &RepoPath) -> String {
    match head.language.manifest.modules.system {
        ModuleSystem::DeclaredPackages => head.package.as_deref().unwrap_or_default().to_owned(),
        // No path of an import has a blank in it.
        _ if is_beside(head) => format!("{} beside", path.directory()),
        _ => path.directory().to_owned(),
    }
}

/// What separates the parts of a package's name.
fn package_separator(language: &Language) -> &str {
    match language.manifest.modules.system {
        ModuleSystem::DeclaredPackages => &language.manifest.modules.separator,
        _ => "/",
    }
}

fn package_identity(language: &Language, name: &str) -> u64 {
    FxBuildHasher.hash_one((family(language), name))
}

/// The identity of the package to whose members a file's own names belong; none in languages whose
/// packages have files, not names.
pub(super) fn package_with_names(head: &Head, path: &RepoPath) -> Option<u64> {
    let rules = &head.language.manifest.modules;
    let has_names = rules.shared_folder || rules.system == ModuleSystem::DeclaredPackages;
    has_names.then(|| package_identity(head.language, &package_name(head, path)))
}

/// Whether a file is in a package of its own beside that of its folder.
fn is_beside(head: &Head) -> bool {
    let suffix = head.language.manifest.modules.beside_suffix.as_deref();
    suffix.is_some_and(|suffix| {
        head.package.as_deref().is_some_and(|package| package.ends_with(suffix))
    })
}

impl Tables {
    /// Where the imports of a file lead.
    pub(in crate::resolve) fn import_targets(&self, file: FileId) -> &[ImportTarget] {
        self.modules.targets(file, || targets(&Program::over(self), file))
    }
}

/// Finds where the imports of a file lead.
pub(super) fn targets(program: &Program<'_>, file: FileId) -> Box<[ImportTarget]> {
    let imports = program.unit(file).map_or(0, |unit| unit.facts.imports.len());
    let own = crates::OwnWildcards::default();
    (0..imports).map(|import| target(program, file, ImportId::at(import), &own)).collect()
}

fn target(
    program: &Program<'_>,
    file: FileId,
    import: ImportId,
    own: &crates::OwnWildcards,
) -> ImportTarget {
    let unit = program.known(file);
    let entry = &unit.facts.imports[import.get().expect("imports are counted from zero")];
    let found = match unit.language.manifest.modules.system {
        ModuleSystem::DottedPackages => dotted::target(program, file, entry),
        ModuleSystem::RelativePaths => relative::target(program, file, entry),
        ModuleSystem::CrateTree => crates::target(program, file, entry, own),
        ModuleSystem::PackageFolders => folders::target(program, file, entry),
        ModuleSystem::DeclaredPackages => declared::target(program, file, entry),
        ModuleSystem::Includes => includes::target(program, file, entry),
    };
    found.unwrap_or_else(|| ImportTarget::External(external_name(&unit, entry).into()))
}

/// The name by which something outside is known: module and item.
fn external_name(unit: &Unit<'_>, import: &Import) -> String {
    let item = import.item.get().map(|_| unit.text(import.item));
    match item {
        Some(item) if import.module.is_empty() => item.to_owned(),
        Some(item) => {
            format!("{}{}{item}", import.module, unit.language.manifest.modules.separator)
        }
        None => import.module.to_string(),
    }
}

/// The item of an import, if it takes one.
fn item(program: &Program<'_>, file: FileId, import: &Import) -> Option<Name> {
    import.item.is_some().then(|| program.known(file).name(import.item))
}

/// Longest path that can be that of a file: `PATH_MAX` of POSIX.
const PATH_BYTES: usize = 4096;

/// A path with `.` and `..` followed; none if it leaves the repository, or is longer than that of a
/// file can be.
fn normal(base: &str, path: &str) -> Option<String> {
    if base.len() + path.len() > PATH_BYTES {
        return None;
    }
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}
