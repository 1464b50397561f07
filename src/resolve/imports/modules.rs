//! Modules of a repository: its layout, the tables of every module system, and the targets of
//! imports.

use super::crates::CrateTree;
use super::declared::DeclaredPackages;
use super::dotted::DottedPackages;
use super::folders::PackageFolders;
use super::includes::Includes;
use super::includes::alternatives::Alternatives;
use super::includes::builds::Builds;
use super::layout::{Layout, Package};
use super::links::Links;
use super::relative::RelativePaths;
use super::shared::SharedImports;
use super::system::{Importer, ModuleChange, ModuleSystem, Surroundings};
use crate::files::table::FileTable;
use crate::units::import_target::{ImportTarget, Module, Visible, family};
use crate::units::unit::Unit;
use cograph_grammar::{Language, ModuleSystem as Kind};
use cograph_model::facts::{Import, ScopeId};
use cograph_model::graph::FileId;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

/// Tables of all module systems.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// Targets of the imports of each file, computed on first access.
    targets: Vec<OnceLock<Box<[ImportTarget]>>>,
    /// Files that the imports of each file lead to or through, sorted and without duplicates.
    imported: Vec<Box<[FileId]>>,
    layout: Layout,
    dotted: DottedPackages,
    relative: RelativePaths,
    crates: CrateTree,
    folders: PackageFolders,
    declared: DeclaredPackages,
    includes: Includes,
    shared: SharedImports,
}

impl Modules {
    pub(crate) fn new(files: &FileTable) -> Self {
        let mut layout = Layout::new(files);
        Links::of(&files.project_files).follow(&mut layout);
        Modules {
            targets: (0..files.len()).map(|_| OnceLock::new()).collect(),
            imported: Vec::new(),
            dotted: DottedPackages::new(&layout),
            relative: RelativePaths::new(&layout, files),
            crates: CrateTree::new(&layout, files),
            folders: PackageFolders::new(&layout),
            declared: DeclaredPackages,
            includes: Includes::new(&layout, files),
            shared: SharedImports::new(&layout, files),
            layout,
        }
    }

    /// The module system of a language.
    fn system(&self, language: &Language) -> &dyn ModuleSystem {
        match language.manifest.modules.system {
            Kind::DottedPackages => &self.dotted,
            Kind::RelativePaths => &self.relative,
            Kind::CrateTree => &self.crates,
            Kind::PackageFolders => &self.folders,
            Kind::DeclaredPackages => &self.declared,
            Kind::Includes => &self.includes,
        }
    }

    /// Returns the targets of the imports of a file.
    pub(crate) fn targets(&self, files: &FileTable, file: FileId) -> &[ImportTarget] {
        self.targets[file.0 as usize].get_or_init(|| {
            let Some(unit) = files.unit(file) else { return Box::default() };
            let importer = Importer { files, layout: &self.layout, file, unit };
            let targets = self.system(unit.language).targets(importer);
            let imports = unit.facts.imports.iter().zip(targets);
            let or_outside = |(import, target): (&Import, Option<ImportTarget>)| {
                target
                    .unwrap_or_else(|| ImportTarget::External(external_name(&unit, import).into()))
            };
            imports.map(or_outside).collect()
        })
    }

    /// Returns the files that the imports of a file lead to or through.
    pub(crate) fn imported(&self, file: FileId) -> impl Iterator<Item = FileId> + '_ {
        self.imported[file.0 as usize].iter().copied()
    }

    /// Sets the files that the imports of every file lead to or through.
    pub(crate) fn set_imported(&mut self, imported: Vec<Box<[FileId]>>) {
        self.imported = imported;
    }

    /// Replaces the files that the imports of a file lead to.
    pub(crate) fn set_imported_of(&mut self, file: FileId, imported: Box<[FileId]>) {
        self.imported[file.0 as usize] = imported;
    }

    /// Invalidates the targets of the imports of a file.
    pub(crate) fn invalidate_targets(&mut self, file: FileId) {
        self.targets[file.0 as usize] = OnceLock::new();
    }

    /// True if a change may give imports of a file of a language other targets.
    pub(crate) fn is_affected(&self, language: &Language, by: ModuleChange) -> bool {
        self.system(language).is_affected(by)
    }

    pub(crate) fn packages(&self) -> &[Package] {
        &self.layout.packages
    }

    pub(crate) fn package(&self, id: u32) -> &Package {
        self.layout.package(id)
    }

    /// Returns the package of a file.
    pub(crate) fn package_of(&self, file: FileId) -> Option<u32> {
        self.layout.package_of(file)
    }

    /// Directories of which a program has at most one.
    pub(crate) fn alternatives(&self) -> &Alternatives {
        &self.includes.alternatives
    }

    /// Builds of code that is compiled from pasted text.
    pub(crate) fn builds(&self) -> &Builds {
        &self.includes.builds
    }

    /// Returns the root file of the crate of a file.
    pub(crate) fn crate_root(&self, file: FileId) -> FileId {
        self.crates.root(file)
    }

    /// Returns the file and scope that declare a file as a child module.
    pub(crate) fn crate_parent(&self, file: FileId) -> Option<(FileId, ScopeId)> {
        self.crates.parent(file)
    }

    /// Returns the root file of the library that a file refers to by a name.
    pub(crate) fn library(&self, file: FileId, name: &str) -> Option<FileId> {
        self.crates.library(file, name)
    }

    /// True if the package of a file declares an external dependency of this name.
    pub(crate) fn depends_on(&self, file: FileId, name: &str) -> bool {
        self.crates.depends_on(file, name)
    }

    /// Returns the imports that a file sees as one of its project.
    pub(crate) fn shared(&self, file: FileId) -> &Visible {
        self.shared.of(file)
    }

    /// Returns the package, or the prefix of a package's name, that a single word names, in
    /// languages whose files declare their packages.
    pub(crate) fn declared_package(&self, language: &Language, word: &str) -> Option<Module> {
        self.layout.package_named(family(language), word).map(Module::Package)
    }

    /// Fingerprint of a file's import `targets`, package, position in its crate, and libraries.
    pub(crate) fn links(
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
                ImportTarget::Path { module, path: names, others, stated } => {
                    self.module_number(*module, path).hash(&mut hasher);
                    names.hash(&mut hasher);
                    others.iter().for_each(|file| path(*file).hash(&mut hasher));
                    stated.map(path).hash(&mut hasher);
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
    pub(crate) fn libraries(&self, path: &impl Fn(FileId) -> u64) -> u64 {
        self.crates.libraries(path)
    }

    /// Fingerprint of a module, independent of its position.
    fn module_number(&self, module: Module, path: &impl Fn(FileId) -> u64) -> u64 {
        match module {
            Module::File(file) | Module::OneOf(file, _) => path(file),
            Module::Package(package) => self.package(package).identity,
        }
    }

    /// Returns the child module of this name, in systems where directories nest modules.
    pub(crate) fn child(&self, files: &FileTable, module: Module, text: &str) -> Option<Module> {
        let language = self.language_of(files, module)?;
        let around = Surroundings { files, layout: &self.layout, language };
        self.system(language).child(around, module, text)
    }

    /// True if `child` can find a module below this one under some name.
    pub(crate) fn has_children(&self, files: &FileTable, module: Module) -> bool {
        let Some(language) = self.language_of(files, module) else { return false };
        let around = Surroundings { files, layout: &self.layout, language };
        self.system(language).has_children(around, module)
    }

    fn language_of(&self, files: &FileTable, module: Module) -> Option<&'static Language> {
        match module {
            Module::File(file) | Module::OneOf(file, _) => files.language(file),
            Module::Package(package) => Some(self.package(package).language),
        }
    }
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
