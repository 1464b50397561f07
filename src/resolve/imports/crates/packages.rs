//! Package manifests: names of libraries, crate roots, renamed dependencies.

use super::super::{Modules, normal};
use crate::grammar::{Language, ModuleSystem};
use crate::model::graph::FileId;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Package.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) folder: String,
    /// Name of its library in code.
    pub(super) library_name: String,
    pub(super) library: Option<FileId>,
    /// Crate roots, the library's first.
    pub(super) roots: Vec<FileId>,
    /// Renamed libraries: name in code -> own name.
    pub(super) renames: BTreeMap<String, String>,
    /// Names of its dependencies in code.
    pub(super) dependencies: BTreeSet<String>,
}

/// Files of the repository, sorted by path.
type PackageFiles<'m> = Vec<(&'m str, FileId)>;

/// Reads every package of the repository, deepest directories first.
pub(super) fn read(modules: &Modules) -> Vec<Package> {
    let mut packages: Vec<Package> = Vec::new();
    let mut files: PackageFiles<'_> =
        modules.by_path.iter().map(|(path, file)| (path.as_str(), *file)).collect();
    files.sort_unstable();
    let names = modules.project_files.keys().map(|path| path.rsplit('/').next().unwrap_or(path));
    for language in crate::grammar::of_project_files(names) {
        if language.manifest.modules.system != ModuleSystem::CrateTree {
            continue;
        }
        for (path, text) in &modules.project_files {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if !language.project_files.iter().any(|known| known == name) {
                continue;
            }
            if let Ok(table) = text.parse() {
                packages.extend(package(modules, language, folder, &table, &files));
            }
        }
    }
    packages
        .sort_by(|a, b| b.folder.len().cmp(&a.folder.len()).then_with(|| a.folder.cmp(&b.folder)));
    packages
}

fn text<'v>(value: Option<&'v Value>, key: &str) -> Option<&'v str> {
    value?.get(key)?.as_str()
}

fn in_code(name: &str) -> String {
    name.replace('-', "_")
}

fn package(
    modules: &Modules,
    language: &Language,
    folder: &str,
    manifest: &Table,
    files: &PackageFiles<'_>,
) -> Option<Package> {
    let rules = &language.manifest.modules;
    let name = text(manifest.get("package"), "name")?;
    let library = manifest.get("lib");
    let path = |path: &str| normal(folder, path).and_then(|path| modules.file_at(&path));
    let library_file = text(library, "path").or(rules.library_root()).and_then(path);
    let others = rules.root_files().map(|(root, _)| root);
    let others = others.filter(|root| Some(*root) != rules.library_root()).filter_map(path);
    let mut roots: Vec<FileId> = library_file.into_iter().chain(others).collect();
    for (crates, table) in rules.crate_folders() {
        for target in manifest.get(table).and_then(Value::as_array).into_iter().flatten() {
            roots.extend(text(Some(target), "path").and_then(path));
        }
        let Some(base) = normal(folder, crates) else { continue };
        let first = files.partition_point(|(path, _)| *path <= base.as_str());
        let below = files[first..].iter().take_while(|(path, _)| path.starts_with(base.as_str()));
        roots.extend(
            below.filter(|(path, _)| is_crate_of(language, path, &base)).map(|(_, file)| *file),
        );
    }
    let first = roots.len().min(1);
    roots[first..].sort_unstable();
    roots.dedup();
    let dependencies = dependencies(manifest);
    Some(Package {
        folder: folder.to_owned(),
        library_name: in_code(text(library, "name").unwrap_or(name)),
        library: library_file,
        roots,
        dependencies: dependencies.keys().cloned().collect(),
        renames: dependencies.into_iter().filter_map(|(name, own)| Some((name, own?))).collect(),
    })
}

/// True if a file is the root of a crate in a directory of crates: directly in it, or the main file
/// of a subdirectory.
fn is_crate_of(language: &Language, path: &str, folder: &str) -> bool {
    let Some(rest) = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    let rules = &language.manifest.modules;
    match rest.split_once('/') {
        None => rules
            .extensions
            .iter()
            .any(|ending| rest.rsplit_once('.').is_some_and(|(_, last)| last == ending)),
        Some((_, inner)) => rules.is_root_name(inner),
    }
}

/// Returns every dependency of a package: its name in code, and its own name if it is renamed.
fn dependencies(manifest: &Table) -> BTreeMap<String, Option<String>> {
    let mut found = BTreeMap::new();
    let targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(|table| table.values());
    let tables = targets.filter_map(Value::as_table).chain(std::iter::once(manifest));
    for table in tables {
        for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (name, dependency) in table.get(key).and_then(Value::as_table).into_iter().flatten()
            {
                found.insert(in_code(name), text(Some(dependency), "package").map(in_code));
            }
        }
    }
    found
}
