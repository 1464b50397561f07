//! Module systems: map an import to a file, directory or package. The set of systems is closed; a
//! language's manifest names one.
//!
//! A system returns the start of a path (`module`) and the names to follow from there (`path`).
//! `names` follows them, so that re-exports and types within paths are handled in one place.

mod alternatives;
mod builds;
mod crates;
mod declared;
mod dotted;
mod folders;
mod includes;
mod json;
mod links;
mod relative;
mod shared;

pub(super) use crates::inline_modules;
pub(super) use includes::{SEARCHED, search_directory};

use crate::Name;
use crate::units::import_target::{ImportTarget, Module, Seen, family};
use crate::units::unit::Unit;
use crate::workspace::program::Program;
use crate::{units::prepared::Head, workspace::tables::Tables};
use cograph_grammar::{Language, ModuleSystem};
use cograph_model::RepoPath;
use cograph_model::facts::{Import, ImportId};
use cograph_model::graph::FileId;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::OnceLock;

/// Package: files with a common directory or declared name, of one language family.
#[derive(Debug)]
pub(super) struct Package {
    /// Directory or declared name.
    pub(super) name: String,
    /// Files in order.
    pub(super) files: Vec<FileId>,
    /// Hash of family and name: constant across changes, unlike the position.
    pub(super) identity: u64,
    /// Language of its first file; for a package without files, of the first file below it.
    language: &'static Language,
}

impl Package {
    fn new(language: &'static Language, name: String) -> Self {
        let identity = package_identity(language, &name);
        Self { name, files: Vec::new(), identity, language }
    }
}

/// Tables of all module systems.
#[derive(Debug, Default)]
pub(super) struct Modules {
    /// Targets of the imports of each file, computed on first access.
    targets: Vec<OnceLock<Box<[ImportTarget]>>>,
    /// Files that the imports of each file lead to or through, sorted and without duplicates.
    imported: Vec<Box<[FileId]>>,
    pub(super) packages: Vec<Package>,
    /// Family -> name -> package.
    by_name: FxHashMap<String, FxHashMap<String, u32>>,
    /// Package of each file.
    of_file: Vec<Option<u32>>,
    by_path: FxHashMap<String, FileId>,
    project_files: BTreeMap<String, String>,
    dotted: dotted::DottedIndex,
    includes: includes::IncludeIndex,
    pub(super) alternatives: alternatives::Alternatives,
    pub(super) builds: builds::Builds,
    crates: crates::CrateIndex,
    relative: relative::ProjectIndex,
    folders: folders::FolderIndex,
    shared: shared::SharedImports,
}

impl Modules {
    pub(super) fn new(tables: &Tables) -> Self {
        let count = tables.files.len();
        let targets = (0..count).map(|_| OnceLock::new()).collect();
        let mut modules = Modules { of_file: vec![None; count], targets, ..Modules::default() };
        let mut links = links::Links::default();
        for file in &tables.project_files {
            match file.link_target() {
                Some(target) => links.add(file.path.as_str(), target),
                None => {
                    let path = file.path.as_str().to_owned();
                    modules.project_files.insert(path, file.text.clone());
                }
            }
        }
        for (id, file) in tables.ids().zip(&tables.files) {
            modules.by_path.insert(file.path.as_str().to_owned(), id);
            let Some(head) = tables.head(id) else { continue };
            modules.add_to_package(head, &file.path, id);
        }
        links.follow(&mut modules);
        modules.dotted = dotted::DottedIndex::new(&modules);
        modules.includes = includes::IncludeIndex::new(tables);
        modules.alternatives = alternatives::Alternatives::new(tables);
        let is_file = |path: &str| modules.by_path.contains_key(path);
        modules.builds = builds::Builds::new(&modules.project_files, &is_file);
        modules.crates = crates::CrateIndex::new(&modules, tables);
        modules.relative = relative::ProjectIndex::new(&modules, tables);
        modules.folders = folders::FolderIndex::new(&modules);
        modules.shared = shared::SharedImports::new(&modules, tables);
        modules
    }

    fn add_to_package(&mut self, head: &Head, path: &RepoPath, file: FileId) {
        let (language, name, separator) =
            (head.language, package_name(head, path), package_separator(head.language));
        let id = match self.package_named(family(language), &name) {
            Some(id) => id,
            None => {
                // Enclosing packages are packages as well, so that paths can be followed through
                // them.
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

    /// Adds a package and its enclosing packages if they do not exist.
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

    /// Returns the targets of the imports of a file; `find` computes them on first access.
    pub(super) fn targets(
        &self,
        file: FileId,
        find: impl FnOnce() -> Box<[ImportTarget]>,
    ) -> &[ImportTarget] {
        self.targets[file.0 as usize].get_or_init(find)
    }

    /// Returns the files that the imports of a file lead to or through.
    pub(super) fn imported(&self, file: FileId) -> impl Iterator<Item = FileId> + '_ {
        self.imported[file.0 as usize].iter().copied()
    }

    /// Sets the files that the imports of every file lead to or through.
    pub(super) fn set_imported(&mut self, imported: Vec<Box<[FileId]>>) {
        self.imported = imported;
    }

    /// Replaces the files that the imports of a file lead to.
    pub(super) fn set_imported_of(&mut self, file: FileId, imported: Box<[FileId]>) {
        self.imported[file.0 as usize] = imported;
    }

    /// Invalidates the targets of the imports of a file.
    pub(super) fn invalidate_targets(&mut self, file: FileId) {
        self.targets[file.0 as usize] = OnceLock::new();
    }

    pub(super) fn package(&self, id: u32) -> &Package {
        &self.packages[id as usize]
    }

    /// Returns the package of a file.
    pub(super) fn package_of(&self, file: FileId) -> Option<u32> {
        self.of_file[file.0 as usize]
    }

    /// Returns the root file of the crate of a file.
    pub(super) fn crate_root(&self, file: FileId) -> FileId {
        self.crates.root(file)
    }

    /// Returns the file and scope that declare a file as a child module.
    pub(super) fn crate_parent(
        &self,
        file: FileId,
    ) -> Option<(FileId, cograph_model::facts::ScopeId)> {
        self.crates.parent(file)
    }

    /// Returns the root file of the library that a file refers to by a name.
    pub(super) fn library(&self, file: FileId, name: &str) -> Option<FileId> {
        self.crates.library(file, name)
    }

    /// True if the package of a file declares an external dependency of this name.
    pub(super) fn depends_on(&self, file: FileId, name: &str) -> bool {
        self.crates.depends_on(file, name)
    }

    /// Returns the imports that a file sees as one of its project.
    pub(super) fn shared(&self, file: FileId) -> &Seen {
        self.shared.of(file)
    }

    /// Returns the package, or the prefix of a package's name, that a single word names.
    pub(super) fn declared_package(&self, language: &Language, word: &str) -> Option<Module> {
        let is_declared = language.manifest.modules.system == ModuleSystem::DeclaredPackages;
        self.package_named(family(language), word).filter(|_| is_declared).map(Module::Package)
    }

    /// Fingerprint of a file's import `targets`, package, position in its crate, and libraries.
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
                ImportTarget::Path { module, path: names, others } => {
                    self.module_number(*module, path).hash(&mut hasher);
                    names.hash(&mut hasher);
                    others.iter().for_each(|file| path(*file).hash(&mut hasher));
                }
            }
        }
        self.package_of(file).map(|package| self.package(package).identity).hash(&mut hasher);
        self.shared.hash(file, &mut hasher, &|module| self.module_number(module, path));
        let place = self.crates.number(file, path);
        (place, if place == 0 { 0 } else { libraries }).hash(&mut hasher);
        hasher.finish()
    }

    /// Fingerprint of the libraries of all crates.
    pub(super) fn libraries(&self, path: &impl Fn(FileId) -> u64) -> u64 {
        self.crates.libraries(path)
    }

    /// Fingerprint of a module, independent of its position.
    pub(super) fn module_number(&self, module: Module, path: &impl Fn(FileId) -> u64) -> u64 {
        match module {
            Module::File(file) | Module::OneOf(file, _) => path(file),
            Module::Package(package) => self.package(package).identity,
        }
    }

    fn package_named(&self, family: &str, name: &str) -> Option<u32> {
        self.by_name.get(family)?.get(name).copied()
    }

    fn file_at(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    /// Returns the child module of this name, in systems where directories nest modules.
    pub(super) fn child(&self, tables: &Tables, module: Module, text: &str) -> Option<Module> {
        let language = self.language_of(tables, module)?;
        match language.manifest.modules.system {
            ModuleSystem::DottedPackages => dotted::child(self, tables, language, module, text),
            ModuleSystem::DeclaredPackages => declared::child(self, language, module, text),
            _ => None,
        }
    }

    /// True if `child` can find a module below this one under some name.
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
            Module::File(file) | Module::OneOf(file, _) => tables.language(file),
            Module::Package(package) => Some(self.package(package).language),
        }
    }
}

/// Returns the name of a file's package: the declared one, or its directory.
fn package_name(head: &Head, path: &RepoPath) -> String {
    match head.language.manifest.modules.system {
        ModuleSystem::DeclaredPackages => head.package.as_deref().unwrap_or_default().to_owned(),
        // The blank cannot occur in the path of an import.
        _ if is_second_package(head) => format!("{} beside", path.directory()),
        _ => path.directory().to_owned(),
    }
}

/// Separator of the segments of a package's name.
fn package_separator(language: &Language) -> &str {
    match language.manifest.modules.system {
        ModuleSystem::DeclaredPackages => &language.manifest.modules.separator,
        _ => "/",
    }
}

fn package_identity(language: &Language, name: &str) -> u64 {
    FxBuildHasher.hash_one((family(language), name))
}

/// Returns the identity of the package that a file adds top-level names to; `None` in languages
/// whose packages contain files, not names.
pub(super) fn package_with_names(head: &Head, path: &RepoPath) -> Option<u64> {
    let rules = &head.language.manifest.modules;
    let has_names = rules.shared_folder || rules.system == ModuleSystem::DeclaredPackages;
    has_names.then(|| package_identity(head.language, &package_name(head, path)))
}

/// True if a file belongs to a separate package in the same directory.
fn is_second_package(head: &Head) -> bool {
    let suffix = head.language.manifest.modules.beside_suffix.as_deref();
    suffix.is_some_and(|suffix| {
        head.package.as_deref().is_some_and(|package| package.ends_with(suffix))
    })
}

impl Tables {
    /// Returns the targets of the imports of a file.
    pub(crate) fn import_targets(&self, file: FileId) -> &[ImportTarget] {
        self.modules.targets(file, || targets(&Program::over(self), file))
    }
}

/// Computes the targets of the imports of a file.
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

/// Returns the qualified name of an external import: module and item.
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

/// Returns the item of an import, if it has one.
fn item(program: &Program<'_>, file: FileId, import: &Import) -> Option<Name> {
    import.item.is_some().then(|| program.known(file).name(import.item))
}

/// Maximum length of a file's path: `PATH_MAX` of POSIX.
const MAX_PATH_BYTES: usize = 4096;

/// Normalizes `.` and `..` in a path; `None` if it leaves the repository or exceeds
/// `MAX_PATH_BYTES`.
pub(super) fn normal(base: &str, path: &str) -> Option<String> {
    if base.len() + path.len() > MAX_PATH_BYTES {
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
