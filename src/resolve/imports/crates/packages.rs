//! Package manifests: names of libraries, crate roots, renamed dependencies.

use crate::imports::layout::Layout;
use crate::imports::paths::normal;
use cograph_grammar::Language;
use cograph_model::graph::FileId;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Package.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) folder: String,
    /// Its own name, as in code.
    pub(super) name: String,
    /// Name of its library in code.
    pub(super) library_name: String,
    pub(super) library: Option<FileId>,
    /// Crate roots, the library's first, then those that the manifest names: a file in a directory
    /// of crates may be a module of one of these.
    pub(super) roots: Vec<FileId>,
    /// Renamed dependencies: name in code -> name of the package, as in code.
    pub(super) renames: BTreeMap<String, String>,
    /// Names of its dependencies in code.
    pub(super) dependencies: BTreeSet<String>,
}

/// Files of the repository, sorted by path.
type PackageFiles<'m> = Vec<(&'m str, FileId)>;

/// Reads every package of the repository, deepest directories first.
pub(super) fn read(layout: &Layout) -> Vec<Package> {
    let mut packages: Vec<Package> = Vec::new();
    let mut files: PackageFiles<'_> =
        layout.by_path.iter().map(|(path, file)| (path.as_str(), *file)).collect();
    files.sort_unstable();
    let names = layout.project_files.keys().map(|path| path.rsplit('/').next().unwrap_or(path));
    for language in cograph_grammar::of_project_files(names) {
        if !language.manifest.modules.declares_children() {
            continue;
        }
        let read = |(path, text): (&'_ String, &String)| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let is_manifest = language.project_files.iter().any(|known| known == name);
            let table: Option<Table> = is_manifest.then(|| text.parse().ok()).flatten();
            Some((folder.to_owned(), table?))
        };
        let manifests: BTreeMap<String, Table> =
            layout.project_files.iter().filter_map(read).collect();
        packages.extend(manifests.iter().filter_map(|(folder, manifest)| {
            let shared = workspace_dependencies(&manifests, folder);
            package(layout, language, folder, (manifest, shared), &files)
        }));
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
    layout: &Layout,
    language: &Language,
    folder: &str,
    (manifest, shared): (&Table, Option<&Table>),
    files: &PackageFiles<'_>,
) -> Option<Package> {
    let rules = &language.manifest.modules;
    let name = text(manifest.get("package"), "name")?;
    let library = manifest.get("lib");
    let path = |path: &str| normal(folder, path).and_then(|path| layout.file_at(&path));
    let library_file = text(library, "path").or(rules.library_root()).and_then(path);
    let others = rules.root_files().map(|(root, _)| root);
    let others = others.filter(|root| Some(*root) != rules.library_root()).filter_map(path);
    let mut named: Vec<FileId> = library_file.into_iter().chain(others).collect();
    let mut roots: Vec<FileId> = Vec::new();
    for (crates, table) in rules.crate_folders() {
        for target in manifest.get(table).and_then(Value::as_array).into_iter().flatten() {
            named.extend(text(Some(target), "path").and_then(path));
        }
        let Some(base) = normal(folder, crates) else { continue };
        let first = files.partition_point(|(path, _)| *path <= base.as_str());
        let below = files[first..].iter().take_while(|(path, _)| path.starts_with(base.as_str()));
        roots.extend(
            below.filter(|(path, _)| is_crate_of(language, path, &base)).map(|(_, file)| *file),
        );
    }
    let first = named.len().min(1);
    named[first..].sort_unstable();
    named.dedup();
    roots.sort_unstable();
    roots.retain(|root| !named.contains(root));
    roots.dedup();
    roots.splice(0..0, named);
    let dependencies = dependencies(manifest, shared);
    Some(Package {
        folder: folder.to_owned(),
        name: in_code(name),
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

/// Returns the dependencies that the workspace around a directory declares for its packages.
fn workspace_dependencies<'m>(
    manifests: &'m BTreeMap<String, Table>,
    folder: &str,
) -> Option<&'m Table> {
    let mut around = Some(folder);
    while let Some(folder) = around {
        if let Some(workspace) = manifests.get(folder).and_then(|table| table.get("workspace")) {
            return workspace.get("dependencies")?.as_table();
        }
        around = match folder.rsplit_once('/') {
            Some((above, _)) => Some(above),
            None => (!folder.is_empty()).then_some(""),
        };
    }
    None
}

/// Returns every dependency of a package: its name in code, and its own name if it is renamed, by
/// the manifest or by what it shares with the workspace.
fn dependencies(manifest: &Table, shared: Option<&Table>) -> BTreeMap<String, Option<String>> {
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
                let is_shared =
                    dependency.get("workspace").and_then(Value::as_bool).unwrap_or_default();
                let declared = match is_shared {
                    true => shared.and_then(|shared| shared.get(name)),
                    false => Some(dependency),
                };
                found.insert(in_code(name), text(declared, "package").map(in_code));
            }
        }
    }
    found
}
