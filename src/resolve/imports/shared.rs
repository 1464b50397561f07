//! Imports that all files of a project see: those that a source file marks, and those of project
//! files. A project is the directory of its file, with all below it that have none of their own.

use super::declared;
use super::layout::Layout;
use super::paths::{folders_around, joined, normal, split_last};
use crate::files::table::FileTable;
use crate::units::import_target::SharedImport;
use crate::units::import_target::{ImportTarget, Module, Visible, family};
use cograph_grammar::Language;
use cograph_model::graph::FileId;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

/// Ending of the file of a project.
const PROJECT_ENDING: &str = ".csproj";

/// Files with settings for the projects in a directory and below it.
const SETTINGS: [&str; 2] = ["Directory.Build.props", "Directory.Build.targets"];

/// Text in such a file that continues with the next one above.
const CONTINUED: &str = "GetPathOfFileAbove";

/// Maximum length of a chain of project files.
const MAX_CHAIN: u32 = 16;

/// Modules with their other names, as written.
type Written = BTreeSet<(Box<str>, Box<str>)>;

/// Imports of all projects.
#[derive(Debug, Default)]
pub(super) struct SharedImports {
    projects: Vec<Visible>,
    of_file: FxHashMap<FileId, usize>,
    none: Visible,
}

impl SharedImports {
    pub(super) fn new(layout: &Layout, files: &FileTable) -> Self {
        let mut all = Self::default();
        let mut numbers: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut written: Vec<(&'static Language, Written)> = Vec::new();
        let roots = Roots::new(&layout.project_files);
        for (file, entry) in files.each() {
            let Some(head) = &entry.head else { continue };
            if !head.language.manifest.modules.share_imports() {
                continue;
            }
            let root = roots.around(entry.path.directory());
            let number = *numbers.entry((family(head.language), root)).or_insert_with(|| {
                written.push((head.language, roots.imports(root)));
                written.len() - 1
            });
            all.of_file.insert(file, number);
            let own = head.everywhere.iter();
            written[number].1.extend(own.map(|own| (own.module.clone(), own.alias.clone())));
        }
        let make = |(language, written): (&'static Language, Written)| {
            visible(layout, files, language, written)
        };
        all.projects = written.into_iter().map(make).collect();
        all
    }

    /// Adds what determines the answers for a file to a fingerprint.
    pub(super) fn hash(
        &self,
        file: FileId,
        hasher: &mut impl Hasher,
        number: &impl Fn(Module) -> u64,
    ) {
        let seen = self.of(file);
        for import in &seen.written {
            (&import.module, &import.alias).hash(hasher);
        }
        for target in &seen.wildcards {
            match target {
                ImportTarget::External(name) => name.hash(hasher),
                ImportTarget::Path { module, path, .. } => (number(*module), path).hash(hasher),
            }
        }
    }

    /// Returns the imports that a file sees.
    pub(super) fn of(&self, file: FileId) -> &Visible {
        self.of_file.get(&file).map_or(&self.none, |number| &self.projects[*number])
    }
}

fn visible(
    layout: &Layout,
    files: &FileTable,
    language: &'static Language,
    written: Written,
) -> Visible {
    let mut seen = Visible::default();
    let named = |text: &str| files.names.number(text);
    for (module, alias) in written {
        let found = declared::place(layout, language, &module, &named);
        let target = match found {
            Some((package, path)) => ImportTarget::in_module(Module::Package(package), path.into()),
            None => ImportTarget::External(module.clone()),
        };
        match alias.is_empty() {
            true => seen.wildcards.push(target),
            false => drop(seen.aliases.insert(named(&alias), target)),
        }
        seen.written.push(SharedImport { module, alias });
    }
    seen
}

/// Project files by their paths, and the directories of projects.
struct Roots<'f> {
    files: &'f BTreeMap<String, String>,
    projects: BTreeMap<&'f str, Vec<&'f str>>,
}

impl<'f> Roots<'f> {
    fn new(files: &'f BTreeMap<String, String>) -> Self {
        let mut projects: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in files.keys().filter(|path| path.ends_with(PROJECT_ENDING)) {
            projects.entry(split_last(path).0).or_default().push(path);
        }
        Self { files, projects }
    }

    /// Returns the directory of the project around a directory; the root of the repository if there
    /// is none.
    fn around<'p>(&'p self, folder: &'p str) -> &'p str {
        let found = folders_around(folder).find(|folder| self.projects.contains_key(folder));
        found.unwrap_or_default()
    }

    /// Returns the imports that the files of a project declare, with those above it.
    fn imports(&self, root: &str) -> Written {
        let mut found = BTreeSet::new();
        for name in SETTINGS {
            for folder in folders_around(root) {
                let path = joined(folder, name);
                let Some(text) = self.files.get(&path) else { continue };
                self.read(&path, 0, &mut found);
                if !text.contains(CONTINUED) {
                    break;
                }
            }
        }
        for path in self.projects.get(root).into_iter().flatten() {
            self.read(path, 0, &mut found);
        }
        found
    }

    fn read(&self, path: &str, depth: u32, found: &mut Written) {
        let Some(text) = self.files.get(path).filter(|_| depth < MAX_CHAIN) else { return };
        for element in elements(text) {
            let value = |name: &str| attribute(element, name).unwrap_or_default();
            if element.starts_with("Import") {
                let project = value("Project").replace('\\', "/");
                let project = project.trim_start_matches("$(MSBuildThisFileDirectory)");
                if let Some(other) = normal(split_last(path).0, project).filter(|it| it != path) {
                    self.read(&other, depth + 1, found);
                }
                continue;
            }
            let alias: Box<str> = value("Alias").into();
            for module in value("Include").split(';').map(str::trim).filter(|it| !it.is_empty()) {
                found.insert((module.into(), alias.clone()));
            }
            for module in value("Remove").split(';').map(str::trim) {
                found.retain(|(known, _)| &**known != module);
            }
        }
    }
}

/// Returns the elements `Using` and `Import` of a project file, each up to its end, outside of
/// comments.
fn elements(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (_, after) = rest.split_once('<')?;
            if let Some(comment) = after.strip_prefix("!--") {
                rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
                continue;
            }
            let (element, behind) = after.split_once('>').unwrap_or((after, ""));
            rest = behind;
            let name = element.split([' ', '\t', '\r', '\n', '/']).next();
            if matches!(name, Some("Using" | "Import")) {
                return Some(element);
            }
        }
    })
}

/// Returns the value of an attribute of an element.
fn attribute<'e>(element: &'e str, name: &str) -> Option<&'e str> {
    element.match_indices(name).find_map(|(at, _)| {
        let before = element[..at].ends_with(char::is_whitespace);
        let value = element[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|c| before && matches!(c, '"' | '\''))?;
        value[1..].split(quote).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_grammar as grammar;

    #[test]
    fn project_files_name_the_imports_of_their_directory() {
        let files = [
            ("a/One.csproj", "<Using Include='N.A;N.B' />\n<!-- <Using Include=\"N.C\" /> -->"),
            (
                "Directory.Build.props",
                "<Import Project=\"more/x.props\"/><Using Include=\"N.D\" />",
            ),
            ("more/x.props", "<Using\n Alias=\"E\" Include=\"N.E\"/><Using Remove=\"N.B\" />"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        let roots = Roots::new(&files);
        assert_eq!((roots.around("a/b"), roots.around("c")), ("a", ""));
        let of = |root| -> Vec<String> {
            let all = roots.imports(root).into_iter();
            all.map(|(module, alias)| format!("{module} {alias}")).collect()
        };
        assert_eq!(of("a"), ["N.A ", "N.B ", "N.D ", "N.E E"]);
        assert_eq!(of(""), ["N.D ", "N.E E"]);
        assert!(grammar::is_project_file("One.csproj"));
    }
}
