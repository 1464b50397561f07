//! Packages that a repository offers to others, and what its code needs of theirs.

use std::collections::BTreeSet;

use crate::packages::{
    MANAGERS, Manager, Manifest, ManifestFiles, Packages, folded, is_version, manager_of,
};
use cograph_model::RepoPath;
use cograph_model::package::{ModuleFiles, ModuleForm, OfferedPackage, Requirement};
use cograph_store::{PathTable, Snapshot, StoreError};

/// Maximum number of manifests of one manager that are read.
pub const MAX_MANIFESTS: usize = 2000;

/// Packages of a repository, those in outer directories first.
pub fn packages(
    snapshot: &Snapshot,
    files: &ManifestFiles<'_>,
) -> Result<Vec<OfferedPackage>, StoreError> {
    let paths = snapshot.path_table()?;
    let (mut reading, mut found) = (Packages::kept(files), Vec::new());
    for (name, manager) in MANAGERS.iter() {
        let Some(form) = form_of(manager) else { continue };
        let mut places: BTreeSet<(usize, &str)> = BTreeSet::new();
        for file in &manager.manifests {
            places.extend(with_name(&paths, file).map(|path| (path.len(), path)));
        }
        let mut own: Vec<OfferedPackage> = Vec::new();
        for (_, path) in places.into_iter().take(MAX_MANIFESTS) {
            let Some(one) = reading.manifest(manager, path.to_owned()) else { continue };
            if one.name.is_empty() {
                continue;
            }
            own.push(OfferedPackage {
                manager: name.clone(),
                written: written(manager, &one.name, &one.written),
                name: one.name.clone(),
                version: one.version.clone(),
                directory: path.rsplit_once('/').map_or("", |(above, _)| above).to_owned(),
                form: form.clone(),
            });
        }
        // Names of modules need no manifest.
        if !form.is_prefixed && own.iter().all(|one| !one.directory.is_empty()) {
            own.push(OfferedPackage { manager: name.clone(), form, ..OfferedPackage::default() });
        }
        found.extend(own);
    }
    Ok(found)
}

/// Paths of the files with a name, or with an ending (`*.x`).
fn with_name<'p>(paths: &'p PathTable, name: &str) -> impl Iterator<Item = &'p str> {
    let (ending, is_whole) = match name.strip_prefix('*') {
        Some(ending) => (ending.to_owned(), false),
        None => (name.to_owned(), true),
    };
    paths.ending_with(&ending).into_iter().filter_map(move |(_, path)| {
        let directory = path.strip_suffix(ending.as_str())?;
        (!is_whole || directory.is_empty() || directory.ends_with('/')).then_some(path)
    })
}

/// What the code of a repository needs.
pub struct Requirements<'r>(Packages<'r>);

impl<'r> Requirements<'r> {
    /// Reads manifests when they are needed; of those without a fixed name, the given paths.
    pub fn new(files: &'r ManifestFiles<'r>, with_endings: Vec<String>) -> Self {
        let mut packages = Packages::kept(files);
        packages.add_paths(with_endings);
        Self(packages)
    }

    /// Paths of all manifests without a fixed name.
    pub fn paths(snapshot: &Snapshot) -> Result<Vec<String>, StoreError> {
        let paths = snapshot.path_table()?;
        let names = MANAGERS.values().flat_map(|manager| &manager.manifests);
        let endings = names.filter(|name| name.starts_with('*'));
        let found = endings.flat_map(|name| with_name(&paths, name).take(MAX_MANIFESTS));
        Ok(found.map(str::to_owned).collect())
    }

    /// What the manifests above a file in a language say of a package.
    pub fn of(&mut self, file: &RepoPath, language: &str, package: &OfferedPackage) -> Requirement {
        let Some((name, manager)) = manager_of(language) else { return Requirement::Unknown };
        if name != package.manager || package.name.is_empty() {
            return Requirement::Unknown;
        }
        let wanted = folded(&package.name);
        let directory = file.directory();
        let locked = |one: &Manifest| one.versions.get(&wanted).cloned();
        let locked = self.0.above(directory, manager, &manager.locks, locked);
        let needed = self.0.above(directory, manager, &manager.manifests, |one| {
            let own = one.needs.iter().find(|(name, _)| folded(name) == wanted);
            match own {
                Some((_, version)) => Some(Some(version.clone())),
                // A package does not need itself, and one without any needs may state them
                // elsewhere.
                None if one.needs.is_empty() => None,
                None => Some(None),
            }
        });
        match (locked, needed) {
            (Some(version), _) => Requirement::Declared(version),
            (None, Some(Some(version))) if is_version(&version) => Requirement::Declared(version),
            (None, Some(Some(_))) => Requirement::Declared(String::new()),
            (None, Some(None)) => Requirement::Undeclared,
            (None, None) => Requirement::Unknown,
        }
    }
}

fn form_of(manager: &Manager) -> Option<ModuleForm> {
    let modules = manager.modules.as_ref()?;
    Some(ModuleForm {
        languages: manager.languages.clone(),
        files: match modules.files.as_str() {
            "directory" => ModuleFiles::Directory,
            "declared" => ModuleFiles::Declared,
            "included" => ModuleFiles::Included,
            _ => ModuleFiles::Path,
        },
        is_prefixed: modules.prefixed,
        sources: modules.sources.clone(),
        index: modules.index.clone(),
    })
}

/// Name of a package as qualified names begin with it.
fn written(manager: &Manager, name: &str, written: &str) -> String {
    let own = if written.is_empty() { name } else { written };
    match manager.modules.as_ref().is_some_and(|modules| modules.underscored) {
        true => own.replace('-', "_"),
        false => own.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::graph::FileStamp;

    #[test]
    fn a_manifest_declares_a_package_denies_it_or_says_nothing() {
        let manifest = "[project]\nname='app'\ndependencies=['Greet_Lib==1.2', 'other>=1']\n";
        let check = |files: &[(&str, &str)], manager: &str, name: &str| {
            let read = |path: &RepoPath| {
                let found = files.iter().find(|(known, _)| *known == path.as_str());
                found.map(|(_, text)| text.as_bytes().to_vec())
            };
            let path = RepoPath::new("src/a.x").expect("a path");
            let (name, language) = (name.to_owned(), &MANAGERS[manager].languages[0]);
            let package =
                OfferedPackage { manager: manager.to_owned(), name, ..OfferedPackage::default() };
            let (stamp, kept) = (|_: &RepoPath| Some(FileStamp::default()), Default::default());
            let files = ManifestFiles { read: &read, stamp: &stamp, kept: &kept };
            Requirements::new(&files, Vec::new()).of(&path, language, &package)
        };
        let declared = |version: &str| Requirement::Declared(version.to_owned());
        let own = [("pyproject.toml", manifest)];
        assert_eq!(check(&own, "pip", "greet-lib"), declared("1.2"));
        assert_eq!(check(&own, "pip", "other"), declared(""));
        assert_eq!(check(&own, "pip", "third"), Requirement::Undeclared);
        assert_eq!(check(&[], "pip", "third"), Requirement::Unknown);
        let own = [
            ("composer.json", r#"{"name": "a/app", "require": {"ext-a": "*", "a/greet": "^1"}}"#),
            (
                "composer.lock",
                r#"{"packages": [{"name": "a/greet", "version": "1.4.0"}], "packages-dev":
                    [{"name": "a/test", "version": "2.0.1"}]}"#,
            ),
        ];
        assert_eq!(check(&own, "composer", "a/greet"), declared("1.4.0"));
        assert_eq!(check(&own, "composer", "a/test"), declared("2.0.1"));
        assert_eq!(check(&own[..1], "composer", "a/greet"), declared(""));
        assert_eq!(check(&own, "composer", "a/other"), Requirement::Undeclared);
        let pinned = [("pyproject.toml", manifest), ("requirements.txt", "third==3.0\n")];
        assert_eq!(check(&pinned, "pip", "third"), declared("3.0"));
    }

    #[test]
    fn code_has_a_name_of_its_own_for_a_package() {
        let manager = &MANAGERS["cargo"];
        assert_eq!(written(manager, "greet-lib", ""), "greet_lib");
        assert_eq!(written(manager, "greet-lib", "greeting"), "greeting");
        assert_eq!(written(&MANAGERS["npm"], "greet-lib", ""), "greet-lib");
        for manager in MANAGERS.values().filter(|manager| manager.modules.is_some()) {
            let modules = manager.modules.as_ref().expect("filtered");
            assert!(
                ["path", "directory", "declared", "included"].contains(&modules.files.as_str())
            );
        }
    }
}
