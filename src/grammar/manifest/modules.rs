//! Module systems as manifests state them: the system, its parameters, and what follows from both
//! for names and scopes.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Table of a package's manifest for the library.
const LIBRARY: &str = "lib";

/// Module that a path keyword means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathWord {
    /// The root module; of declared packages, the one without a name.
    Root,
    /// The current module.
    Current,
    /// The parent module.
    Parent,
}

/// Module system. A closed set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModuleSystem {
    /// Dotted names map to directories and files below source roots; a directory may have an index
    /// file.
    DottedPackages,
    /// Quoted paths relative to the importing file, paths mapped by a compiler configuration, or
    /// names of packages with a manifest.
    #[default]
    RelativePaths,
    /// A tree of modules from the root file of each crate; child modules are declared in their
    /// parents.
    CrateTree,
    /// A directory is a package, named by the module's path and the directory below its root.
    PackageFolders,
    /// Each file declares its package; imports name a package and a type in it.
    DeclaredPackages,
    /// Textual inclusion of files.
    Includes,
}

/// Imports that leave nothing at run time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct ErasedImports {
    /// Conditions that hold for type checkers only.
    pub conditions: Vec<String>,
    /// True if those are erased of which no expression uses a name.
    pub unused: bool,
    /// Nodes in which a name that is read is a type.
    pub types: Vec<String>,
    /// Nodes in which the name of a type is a value.
    pub values: Vec<String>,
}

/// A module system with its parameters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Modules {
    /// The module system.
    pub system: ModuleSystem,
    /// Separator between the segments of a module name.
    pub separator: String,
    /// Stems of index files: a file that is the module of its directory.
    #[serde(default)]
    pub index: Vec<String>,
    /// Extensions tried, in this order, for a module name without one.
    #[serde(default)]
    pub extensions: Vec<String>,
    /// Extension in an import -> extensions of the source files that it may refer to (`.js` ->
    /// `.ts`).
    #[serde(default)]
    pub extension_aliases: BTreeMap<String, Vec<String>>,
    /// Endings of stems of which a build selects one: a module name without an extension means
    /// each of the files (`./x` -> `x.ios.ts`, `x.web.ts`).
    #[serde(default)]
    pub variants: Vec<String>,
    /// Imports that leave nothing at run time.
    #[serde(default)]
    pub erased_imports: ErasedImports,
    /// Project files that the module system reads in addition to sources: names, possibly with a
    /// star for any text, and after a colon a text that the file contains. One after `!` is written
    /// by a build: ignore rules do not exclude it.
    #[serde(default)]
    pub project_files: Vec<String>,
    /// Manifest of a package -> its keys, with dots between those of tables, below which files or
    /// modules are named that something outside of the repository starts or imports.
    #[serde(default)]
    pub entries: BTreeMap<String, Vec<String>>,
    /// Path keyword -> the module that it means.
    #[serde(default)]
    pub words: BTreeMap<String, PathWord>,
    /// Roots of the crates of a package, relative to its directory -> their table in the package's
    /// manifest (`lib` for the library). A path that ends in `/` is a directory in which every file
    /// is a crate.
    #[serde(default)]
    pub roots: BTreeMap<String, String>,
    /// A module does not inherit the names of its parent module.
    #[serde(default)]
    pub closed: bool,
    /// Names of the packages around that of a file are visible in it (`a.b` and `a` in `a.b.c`).
    #[serde(default)]
    pub enclosing_packages: bool,
    /// Files of one directory share their top-level names.
    #[serde(default)]
    pub shared_folder: bool,
    /// Suffix of a declared package name that makes a second package in the same directory
    /// (`_test`).
    #[serde(default)]
    pub second_suffix: Option<String>,
    /// Paths that do not begin with a dot are relative as well.
    #[serde(default)]
    pub plain_paths: bool,
    /// Endings of files that includes leave out.
    #[serde(default)]
    pub omitted_extensions: Vec<String>,
    /// External names visible in every file without an import; of includes, the files that every
    /// compiler brings.
    #[serde(default)]
    pub prelude: Vec<String>,
}

/// What a module system says of names and scopes. Code of the resolution asks for these properties,
/// not for the system; how a system maps imports is one implementation for each.
impl Modules {
    /// True if an import puts the text of a file into another: the files of a program share one
    /// scope, and a namespace is in many of them.
    pub fn pastes_files(&self) -> bool {
        self.system == ModuleSystem::Includes
    }

    /// True if files declare the package that they are in: a package is no directory.
    pub fn declares_packages(&self) -> bool {
        self.system == ModuleSystem::DeclaredPackages
    }

    /// True if a package has the names of its files: each is visible in all of them.
    pub fn packages_have_names(&self) -> bool {
        self.shared_folder || self.declares_packages()
    }

    /// True if a package may have types of one name that differ in their number of type parameters.
    pub fn has_types_by_arity(&self) -> bool {
        self.declares_packages()
    }

    /// True if packages before the name of a type refer to it without an import.
    pub fn has_qualified_types(&self) -> bool {
        self.declares_packages()
    }

    /// True if a module declares its child modules: where a module is depends on what files say.
    pub fn declares_children(&self) -> bool {
        self.system == ModuleSystem::CrateTree
    }

    /// True if a project file gives the directories below it a path of modules.
    pub fn has_module_paths(&self) -> bool {
        self.system == ModuleSystem::PackageFolders
    }

    /// True if names of modules start at source roots: directories with packages that are in none.
    pub fn has_source_roots(&self) -> bool {
        self.system == ModuleSystem::DottedPackages
    }

    /// True if the name of a module is the path of a file: it contains no other modules, and what
    /// it exports out of others is its own.
    pub fn name_files(&self) -> bool {
        matches!(self.system, ModuleSystem::RelativePaths | ModuleSystem::Includes)
    }

    /// True if files are modules that can declare names for all files.
    pub fn has_global_scope(&self) -> bool {
        self.system == ModuleSystem::RelativePaths
    }

    /// True if a project, which is a directory with a project file, has imports that all its files
    /// see.
    pub fn share_imports(&self) -> bool {
        self.declares_packages() && !self.project_files.is_empty()
    }
}

impl Modules {
    /// Returns the root file of the library of a package.
    pub fn library_root(&self) -> Option<&str> {
        self.root_files().find(|(_, table)| *table == LIBRARY).map(|(path, _)| path)
    }

    /// Returns the root files of crates with their tables.
    pub fn root_files(&self) -> impl Iterator<Item = (&str, &str)> {
        let roots = self.roots.iter().map(|(path, table)| (path.as_str(), table.as_str()));
        roots.filter(|(path, _)| !path.ends_with('/'))
    }

    /// Returns the directories in which every file is a crate, with their tables.
    pub fn crate_folders(&self) -> impl Iterator<Item = (&str, &str)> {
        let roots = self.roots.iter();
        roots.filter_map(|(path, table)| Some((path.strip_suffix('/')?, table.as_str())))
    }

    /// True if a file name is that of the root of a crate.
    pub fn is_root_name(&self, name: &str) -> bool {
        self.root_files().any(|(root, _)| root.rsplit('/').next() == Some(name))
    }

    /// Returns the keyword for a module.
    pub fn word(&self, meaning: PathWord) -> Option<&str> {
        self.words.iter().find(|(_, other)| **other == meaning).map(|(word, _)| word.as_str())
    }
}
