//! Packages with a manifest: names, exported paths, and private aliases of paths.

use super::choices::Found;
use super::patterns::{Fit, Patterns};
use crate::imports::json::Json;
use crate::imports::paths::{MAX_PATH_BYTES, folders_around, normal};
use std::collections::BTreeMap;

/// Manifest fields of the main file in order of preference: sources before build output.
const MAIN_FIELDS: [&str; 6] = ["source", "types", "typings", "module", "browser", "main"];
/// Manifest fields with dependencies.
const DEPENDENCY_FIELDS: [&str; 4] =
    ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
/// Source directories of a package.
const SOURCE_FOLDERS: [&str; 3] = ["src", "source", "lib"];

/// Packages of the repository.
#[derive(Debug, Default)]
pub(super) struct Packages {
    by_folder: BTreeMap<String, Package>,
    /// Name -> directories.
    by_name: BTreeMap<String, Vec<String>>,
}

#[derive(Debug)]
struct Package {
    /// Path below the package (`.`, `./x`, `./x/*`) -> files, most preferred first.
    exports: Option<Patterns<Vec<ConditionTarget>>>,
    /// Alias (`#x`) -> files or packages.
    imports: Patterns<Vec<ConditionTarget>>,
    main: Vec<String>,
    /// Dependencies that are in the repository under another name.
    dependencies: BTreeMap<String, Dependency>,
}

/// Target of an exported path or of an alias.
#[derive(Debug)]
struct ConditionTarget {
    /// File or package.
    path: String,
    /// True if a build may take it in place of the others: it is the target of a condition, not of
    /// one for types, and no fallback.
    varies: bool,
}

/// Where a dependency is.
#[derive(Debug)]
enum Dependency {
    /// Directory, relative to the manifest.
    Folder(String),
    /// Package with this name.
    Named(String),
}

impl Dependency {
    /// Reads a version: `file:PATH`, `link:PATH`, `portal:PATH`, `workspace:NAME@RANGE` or
    /// `npm:NAME@RANGE`.
    fn read(version: &str) -> Option<Self> {
        let (scheme, rest) = version.split_once(':')?;
        match scheme {
            "file" | "link" | "portal" => Some(Self::Folder(rest.to_owned())),
            "workspace" if rest.starts_with('.') => Some(Self::Folder(rest.to_owned())),
            "workspace" | "npm" => {
                let (name, _) = rest.rsplit_once('@').filter(|(name, _)| !name.is_empty())?;
                Some(Self::Named(name.to_owned()))
            }
            _ => None,
        }
    }
}

impl Packages {
    pub(super) fn new(files: &BTreeMap<String, String>) -> Self {
        let mut packages = Packages::default();
        for (path, text) in files {
            let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
            if file != "package.json" {
                continue;
            }
            let json = Json::read(text);
            if let Some(name) = json.get("name").and_then(Json::text) {
                packages.by_name.entry(name.to_owned()).or_default().push(folder.to_owned());
            }
            packages.by_folder.insert(folder.to_owned(), Package::read(&json));
        }
        packages
    }

    /// Resolves the name of a package with a path below it, or an alias of the enclosing package.
    pub(super) fn find<T: Copy + PartialEq>(
        &self,
        folder: &str,
        module: &str,
        exists: &impl Fn(&str) -> Option<Found<T>>,
    ) -> Option<Found<T>> {
        if module.starts_with('#') {
            let (at, package) =
                folders_around(folder).find_map(|at| Some((at, self.by_folder.get(at)?)))?;
            let Fit { target: targets, star, .. } = package.imports.best(module)?;
            return all_of(targets, |target| {
                let target = target.replacen('*', star, 1);
                match target.starts_with('.') {
                    true => source(at, &target, exists),
                    false => self.find_package(folder, &target, exists),
                }
            });
        }
        self.find_package(folder, module, exists)
    }

    fn find_package<T: Copy + PartialEq>(
        &self,
        folder: &str,
        module: &str,
        exists: &impl Fn(&str) -> Option<Found<T>>,
    ) -> Option<Found<T>> {
        let (at, rest) = self.place(folder, module)?;
        self.below(&at, rest, exists)
    }

    /// Returns the directory of the package that a module names, and the path below it.
    pub(super) fn place<'m>(&self, folder: &str, module: &'m str) -> Option<(String, &'m str)> {
        let name_end = match module.starts_with('@') {
            true => module.match_indices('/').nth(1).map_or(module.len(), |(end, _)| end),
            false => module.find('/').unwrap_or(module.len()),
        };
        let (name, rest) = module.split_at(name_end);
        let rest = rest.trim_start_matches('/');
        let declared = folders_around(folder)
            .find_map(|at| Some((at, self.by_folder.get(at)?.dependencies.get(name)?)));
        let name = match declared {
            Some((at, Dependency::Folder(path))) => {
                let at = normal(at, path).filter(|at| self.by_folder.contains_key(at));
                return Some((at?, rest));
            }
            Some((_, Dependency::Named(name))) => name,
            None => name,
        };
        let folders = self.by_name.get(name)?;
        // Of several packages of one name, the nearest one.
        let shared =
            |other: &&String| folder.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let at = folders.iter().max_by_key(shared)?;
        Some((at.clone(), rest))
    }

    /// Returns the main file of a directory with a manifest.
    pub(super) fn entry<T>(
        &self,
        folder: &str,
        exists: &impl Fn(&str) -> Option<Found<T>>,
    ) -> Option<Found<T>> {
        let package = self.by_folder.get(folder)?;
        package.main.iter().find_map(|file| entry_source(folder, file, exists))
    }

    fn below<T: Copy + PartialEq>(
        &self,
        at: &str,
        rest: &str,
        exists: &impl Fn(&str) -> Option<Found<T>>,
    ) -> Option<Found<T>> {
        let package = self.by_folder.get(at)?;
        if let Some(exports) = &package.exports {
            let wanted = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
            // Bundlers that know no exports take any file of the package.
            let found = exports.best(&wanted).and_then(|Fit { target: targets, star, .. }| {
                all_of(targets, |target| match rest.is_empty() {
                    true => entry_source(at, target, exists),
                    false => source(at, &target.replacen('*', star, 1), exists),
                })
            });
            if found.is_some() || !rest.is_empty() {
                return found.or_else(|| source(at, rest, exists));
            }
        }
        if !rest.is_empty() {
            return source(at, rest, exists);
        }
        let main = package.main.iter().find_map(|file| entry_source(at, file, exists));
        main.or_else(|| source(at, "index", exists)).or_else(|| exists(at))
    }
}

impl Package {
    fn read(json: &Json) -> Self {
        let exports = json.get("exports").map(|exports| match exports {
            Json::Object(members) if members.iter().any(|(key, _)| key.starts_with('.')) => {
                members.iter().map(|(key, value)| (key.clone(), targets(value))).collect()
            }
            other => [(".".to_owned(), targets(other))].into_iter().collect(),
        });
        let imports = json.get("imports").map(Json::members).unwrap_or_default();
        let main = MAIN_FIELDS
            .iter()
            .filter_map(|field| json.get(field)?.text())
            .map(str::to_owned)
            .collect();
        let dependencies = DEPENDENCY_FIELDS
            .iter()
            .flat_map(|field| json.get(field).map(Json::members).unwrap_or_default())
            .filter_map(|(name, version)| Some((name.clone(), Dependency::read(version.text()?)?)))
            .collect();
        Self {
            dependencies,
            exports,
            imports: imports.iter().map(|(key, value)| (key.clone(), targets(value))).collect(),
            main,
        }
    }
}

/// Condition of declarations alone, possibly with a version (`types@>=5`).
const TYPES: &str = "types";

/// Returns the targets of conditions, in order.
fn targets(value: &Json) -> Vec<ConditionTarget> {
    fn add(value: &Json, varies: bool, all: &mut Vec<ConditionTarget>) {
        match value {
            Json::Text(path) => all.push(ConditionTarget { path: path.clone(), varies }),
            Json::List(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(at, item)| add(item, varies && at == 0, all));
            }
            Json::Object(members) => {
                let mut is_settled = false;
                for (condition, value) in members {
                    // An import statement takes its own condition before these.
                    let is_left = is_settled && condition == "default" || condition == "require";
                    add(value, varies && !is_left && !condition.starts_with(TYPES), all);
                    is_settled |= condition == "import";
                }
            }
            Json::Other => {}
        }
    }
    let mut all = Vec::new();
    add(value, true, &mut all);
    all
}

/// Returns what the first target that exists means, with that of the others of which a build may
/// take one in its place.
fn all_of<T: Copy + PartialEq>(
    targets: &[ConditionTarget],
    find: impl Fn(&str) -> Option<Found<T>>,
) -> Option<Found<T>> {
    let existing = |target: &ConditionTarget| Some((find(&target.path)?, target.varies));
    let mut there = targets.iter().filter_map(existing);
    let (mut all, varies) = there.next()?;
    for (others, _) in there.filter(|(_, other)| varies && *other) {
        for other in others {
            if !all.contains(&other) {
                all.push(other);
            }
        }
    }
    Some(all)
}

/// Returns the source of a package's main file: where it is built and no source has its name, the
/// index of the sources.
fn entry_source<T>(
    folder: &str,
    file: &str,
    exists: &impl Fn(&str) -> Option<Found<T>>,
) -> Option<Found<T>> {
    let is_built = || file.trim_start_matches("./").contains('/');
    source(folder, file, exists).or_else(|| match is_built() {
        true => SOURCE_FOLDERS.iter().find_map(|sources| {
            normal(folder, &format!("{sources}/index")).and_then(|path| exists(&path))
        }),
        false => None,
    })
}

/// Maximum number of output directories in the path of a built file.
const MAX_OUTPUT_DIRECTORIES: usize = 16;

/// Returns the source of a package's file: the file itself, or the source that it is built from, by
/// removing output directories from the path one by one.
fn source<T>(
    folder: &str,
    file: &str,
    exists: &impl Fn(&str) -> Option<Found<T>>,
) -> Option<Found<T>> {
    let below = |path: &str| normal(folder, path).and_then(|path| exists(&path));
    let file = file.trim_start_matches("./");
    if folder.len() + file.len() > MAX_PATH_BYTES {
        return None;
    }
    let inner =
        std::iter::successors(Some(file), |rest| rest.split_once('/').map(|(_, inner)| inner));
    let in_sources =
        |rest: &str| SOURCE_FOLDERS.iter().find_map(|source| below(&format!("{source}/{rest}")));
    below(file).or_else(|| inner.take(MAX_OUTPUT_DIRECTORIES + 1).find_map(in_sources))
}
