//! Layout of a repository as all module systems see it: files by their paths, packages by their
//! names, and the texts of project files.

use super::paths::split_last;
use crate::files::table::FileTable;
use crate::units::import_target::family;
use crate::units::prepared::FileSummary;
use cograph_grammar::{self as grammar, Language, Modules as Rules};
use cograph_model::RepoPath;
use cograph_model::graph::FileId;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// Package: files with a common directory or declared name, of one language family.
#[derive(Debug)]
pub(crate) struct Package {
    /// Directory or declared name.
    pub(crate) name: String,
    /// Files in order.
    pub(crate) files: Vec<FileId>,
    /// Hash of family and name: constant across changes, unlike the position.
    pub(crate) identity: u64,
    /// Language of its first file; for a package without files, of the first file below it.
    pub(super) language: &'static Language,
}

impl Package {
    fn new(language: &'static Language, name: String) -> Self {
        let identity = package_identity(language, &name);
        Self { name, files: Vec::new(), identity, language }
    }
}

/// Files and packages by path and name.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) packages: Vec<Package>,
    /// Family -> name -> package.
    pub(super) by_name: FxHashMap<String, FxHashMap<String, u32>>,
    /// Package of each file: the first that it declares.
    of_file: Vec<Option<u32>>,
    pub(super) by_path: FxHashMap<String, FileId>,
    /// Texts of project files by path, without links.
    pub(super) project_files: BTreeMap<String, String>,
}

impl Layout {
    pub(super) fn new(files: &FileTable) -> Self {
        let mut layout = Self { of_file: vec![None; files.len()], ..Self::default() };
        for file in files.project_files.iter().filter(|file| file.link_target().is_none()) {
            layout.project_files.insert(file.path.as_str().to_owned(), file.text.clone());
        }
        for (id, file) in files.each() {
            layout.by_path.insert(file.path.as_str().to_owned(), id);
            if let Some(head) = &file.head {
                let own = layout.add_to_package(head.language, package_name(head, &file.path), id);
                layout.of_file[id.0 as usize] = Some(own);
                for name in head.further.iter().map(|name| name.clone().into_string()) {
                    layout.add_to_package(head.language, name, id);
                }
            }
        }
        layout
    }

    fn add_to_package(&mut self, language: &'static Language, name: String, file: FileId) -> u32 {
        let separator = package_separator(language);
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
        if package.files.last() != Some(&file) {
            package.files.push(file);
        }
        id
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

    pub(super) fn package(&self, id: u32) -> &Package {
        &self.packages[id as usize]
    }

    /// Returns the package of a file.
    pub(super) fn package_of(&self, file: FileId) -> Option<u32> {
        self.of_file[file.0 as usize]
    }

    pub(super) fn package_named(&self, family: &str, name: &str) -> Option<u32> {
        self.by_name.get(family)?.get(name).copied()
    }

    pub(super) fn file_at(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    /// Returns the project files of languages with a property of their module systems: directory
    /// and text of each.
    pub(super) fn project_files_of(
        &self,
        has: impl Fn(&Rules) -> bool,
    ) -> impl Iterator<Item = (&str, &str)> {
        self.project_files.iter().filter_map(move |(path, text)| {
            let (folder, name) = split_last(path);
            let mut readers = grammar::of_project_files(std::iter::once(name));
            let is_read = readers.any(|language| has(&language.manifest.modules));
            is_read.then_some((folder, text.as_str()))
        })
    }
}

/// Returns the name of a file's package: the declared one, or its directory.
fn package_name(head: &FileSummary, path: &RepoPath) -> String {
    if head.language.manifest.modules.declares_packages() {
        return head.package.as_deref().unwrap_or_default().to_owned();
    }
    match is_second_package(head) {
        // The blank cannot occur in the path of an import.
        true => format!("{} second", path.directory()),
        false => path.directory().to_owned(),
    }
}

/// Separator of the segments of a package's name.
fn package_separator(language: &Language) -> &str {
    let rules = &language.manifest.modules;
    if rules.declares_packages() { &rules.separator } else { "/" }
}

/// Returns the identity of a package, which stays the same across changes.
pub(crate) fn package_identity(language: &Language, name: &str) -> u64 {
    FxBuildHasher.hash_one((family(language), name))
}

/// Returns the identity of the package that a file adds top-level names to; `None` in languages
/// whose packages contain files, not names.
pub(crate) fn package_with_names(head: &FileSummary, path: &RepoPath) -> Option<u64> {
    let has_names = head.language.manifest.modules.packages_have_names();
    has_names.then(|| package_identity(head.language, &package_name(head, path)))
}

/// True if a file belongs to a separate package in the same directory.
fn is_second_package(head: &FileSummary) -> bool {
    let suffix = head.language.manifest.modules.second_suffix.as_deref();
    suffix.is_some_and(|suffix| {
        head.package.as_deref().is_some_and(|package| package.ends_with(suffix))
    })
}
