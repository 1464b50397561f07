//! Packages of a repository, as code of other repositories names them: plain data, made from
//! manifests and from the table of package managers.

/// How modules of a package lie in files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ModuleFiles {
    /// Each file is a module: its path below the sources, without the extension.
    #[default]
    Path,
    /// Each directory is a module, with all files in it.
    Directory,
    /// A module has the files that declare to be part of it, wherever they are.
    Declared,
    /// A module is a header, with those that it includes: the end of its path.
    Included,
}

/// How qualified names lead to the files of a package.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ModuleForm {
    /// Languages whose qualified names have this form.
    pub languages: Vec<String>,
    /// How modules lie in files.
    pub files: ModuleFiles,
    /// True if qualified names begin with the name of the package; otherwise with a module.
    pub is_prefixed: bool,
    /// Directories of sources, below that of the manifest.
    pub sources: Vec<String>,
    /// Names of files, without extension, that are the module of their directory.
    pub index: Vec<String>,
}

/// Package of a repository, as it is offered to others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OfferedPackage {
    /// Package manager.
    pub manager: String,
    /// Name in its manifest; empty without one.
    pub name: String,
    /// Name as qualified names begin with it.
    pub written: String,
    /// Version in its manifest; may be empty.
    pub version: String,
    /// Directory of its manifest, below the root; empty for the root.
    pub directory: String,
    /// How qualified names lead to its files.
    pub form: ModuleForm,
}

/// What the manifests of a repository say of a package that its code uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Requirement {
    /// No manifest says what the code needs.
    #[default]
    Unknown,
    /// The manifest does not name the package.
    Undeclared,
    /// The manifest names it, with this version; empty if that is a range.
    Declared(String),
}
