//! Compiler configurations: base directories and path mappings.

use super::choices::Found;
use super::package::Packages;
use super::patterns::{Fit, Patterns};
use crate::imports::json::Json;
use crate::imports::paths::{folders_around, normal};
use cograph_model::graph::FileId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum length of a chain of `extends`.
const MAX_EXTENDS: u32 = 16;
/// Configuration files of a directory, in order of precedence.
const NAMES: [&str; 2] = ["tsconfig.json", "jsconfig.json"];
/// Start of a path in the directory of the configuration that inherits it.
const OWN_FOLDER: &str = "${configDir}";

/// Configurations of all directories.
#[derive(Debug, Default)]
pub(super) struct Configs {
    by_folder: BTreeMap<String, Config>,
}

/// Configuration, with paths from the root of the repository, or after `OWN_FOLDER`.
#[derive(Clone, Debug, Default)]
struct Config {
    base: Option<String>,
    /// Pattern -> paths with a star: own or inherited ones; of a configuration that only has
    /// `references`, those of each part. Shared, because many configurations may extend a large
    /// one.
    paths: Vec<Mapping>,
    /// Directories whose contents are as if in one.
    merged: Arc<[String]>,
}

/// Path mappings of one configuration.
#[derive(Clone, Debug)]
struct Mapping {
    patterns: Arc<Patterns<Vec<String>>>,
    /// Directory of `OWN_FOLDER`; without one, that of the configuration with the mapping.
    own: Option<Arc<str>>,
}

/// Returns a path without `OWN_FOLDER`, which is `own`.
fn placed(own: &str, path: &str) -> Option<String> {
    match path.strip_prefix(OWN_FOLDER) {
        Some(rest) => normal(own, rest),
        None => Some(path.to_owned()),
    }
}

/// Normalizes a path in a directory, or after `OWN_FOLDER`.
fn from_folder(folder: &str, path: &str) -> Option<String> {
    match path.strip_prefix(OWN_FOLDER) {
        Some(rest) => Some(format!("{OWN_FOLDER}/{}", rest.trim_start_matches('/'))),
        None => normal(folder, path),
    }
}

impl Configs {
    pub(super) fn new(files: &BTreeMap<String, String>, packages: &Packages) -> Self {
        let mut read = Read { files, packages, known: BTreeMap::new() };
        let mut by_folder = BTreeMap::new();
        for name in NAMES {
            for path in files.keys() {
                let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
                if file == name && !by_folder.contains_key(folder) {
                    by_folder.insert(folder.to_owned(), read.config(path, 0));
                }
            }
        }
        Self { by_folder }
    }

    /// Resolves a path without a leading dot from a directory.
    pub(super) fn find(
        &self,
        folder: &str,
        module: &str,
        exists: &impl Fn(&str) -> Option<Found<FileId>>,
    ) -> Option<Found<FileId>> {
        let (own, config) = self.around(folder)?;
        let fits =
            config.paths.iter().filter_map(|paths| Some((paths, paths.patterns.best(module)?)));
        if let Some((Mapping { own: placed_at, .. }, Fit { target: targets, star, .. })) =
            fits.max_by_key(|(_, fit)| fit.rank)
        {
            let own = placed_at.as_deref().unwrap_or(own);
            let at = |target: &String| exists(&placed(own, target)?.replacen('*', star, 1));
            if let Some(found) = targets.iter().find_map(at) {
                return Some(found);
            }
        }
        exists(&normal(&placed(own, config.base.as_deref()?)?, module)?)
    }

    /// Returns the innermost configuration around a directory, with its own directory.
    fn around<'f>(&self, folder: &'f str) -> Option<(&'f str, &Config)> {
        folders_around(folder).find_map(|folder| Some((folder, self.by_folder.get(folder)?)))
    }
}

impl Configs {
    /// Resolves a path that does not exist in the other directories that a configuration merges
    /// with one around it.
    pub(super) fn merged(
        &self,
        folder: &str,
        path: &str,
        exists: &impl Fn(&str) -> Option<Found<FileId>>,
    ) -> Option<Found<FileId>> {
        let (own, config) = self.around(folder)?;
        let roots: Vec<String> =
            config.merged.iter().filter_map(|root| placed(own, root)).collect();
        let below = |root: &String| {
            let rest = if root.is_empty() { path } else { path.strip_prefix(root.as_str())? };
            Some(rest.trim_start_matches('/').to_owned())
        };
        let rests: Vec<String> = roots.iter().filter_map(below).collect();
        let places = || roots.iter().flat_map(|root| rests.iter().map(move |it| (root, it)));
        places().find_map(|(root, rest)| exists(&normal(root, rest)?))
    }
}

/// Reader of configurations, each once.
struct Read<'f> {
    files: &'f BTreeMap<String, String>,
    packages: &'f Packages,
    /// Configurations read so far; one in progress is empty, so that cycles end.
    known: BTreeMap<String, Config>,
}

impl Read<'_> {
    fn config(&mut self, path: &str, depth: u32) -> Config {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let Some(text) = self.files.get(path).filter(|_| depth < MAX_EXTENDS) else {
            return Config::default();
        };
        self.known.insert(path.to_owned(), Config::default());
        let config = self.parse(path, text, depth);
        self.known.insert(path.to_owned(), config.clone());
        config
    }

    fn parse(&mut self, path: &str, text: &str, depth: u32) -> Config {
        let json = Json::read(text);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut config = Config::default();
        for base in json.get("extends").map(Json::texts).unwrap_or_default() {
            let inherited = self
                .base(folder, base)
                .map(|path| self.config(&path, depth + 1))
                .unwrap_or_default();
            config.base = inherited.base.or(config.base);
            if !inherited.paths.is_empty() {
                config.paths = inherited.paths;
            }
            if !inherited.merged.is_empty() {
                config.merged = inherited.merged;
            }
        }
        let options = json.get("compilerOptions");
        let option = |name: &str| options.and_then(|options| options.get(name));
        if let Some(base) = option("baseUrl").and_then(Json::text) {
            config.base = from_folder(folder, base);
        }
        if let Some(roots) = option("rootDirs") {
            let roots = roots.texts().into_iter();
            config.merged = roots.filter_map(|root| from_folder(folder, root)).collect();
        }
        if let Some(paths) = option("paths") {
            let start = config.base.clone().unwrap_or_else(|| folder.to_owned());
            let targets = |value: &Json| {
                let targets = value.texts().into_iter();
                targets.filter_map(|target| from_folder(&start, target)).collect()
            };
            let own: Patterns<_> = paths
                .members()
                .iter()
                .map(|(pattern, value)| (pattern.clone(), targets(value)))
                .collect();
            let mapping = |own| Mapping { patterns: Arc::new(own), own: None };
            config.paths = if own.is_empty() { Vec::new() } else { vec![mapping(own)] };
        }
        // A configuration with only `references` has the mappings of its parts.
        if options.is_none() && config.paths.is_empty() {
            let names = json.get("references").map(Json::texts).unwrap_or_default();
            let mut parts = BTreeSet::new();
            for path in names.into_iter().filter_map(|part| other(self.files, folder, part)) {
                if parts.insert(path.clone()) {
                    let part = self.config(&path, depth + 1);
                    let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                    let base = part.base.and_then(|base| placed(own, &base));
                    config.base = config.base.or(base);
                    let own: Arc<str> = Arc::from(own);
                    config.paths.extend(part.paths.into_iter().map(|mapping| Mapping {
                        own: mapping.own.or_else(|| Some(Arc::clone(&own))),
                        ..mapping
                    }));
                }
            }
            last_of_each(&mut config.paths);
        }
        config
    }

    /// Returns the path of an extended configuration: a file, or one in a package of the
    /// repository.
    fn base(&self, folder: &str, name: &str) -> Option<String> {
        if name.starts_with('.') {
            return other(self.files, folder, name);
        }
        let key = |path: &str| self.files.get_key_value(path).map(|(key, _)| key.as_str());
        let exists = |path: &str| {
            let found = other(self.files, "", path)?;
            Some(Found::from_slice(&[key(&found)?]))
        };
        let exported = self.packages.find(folder, name, &exists);
        if let Some(&path) = exported.as_ref().and_then(|found| found.first()) {
            return Some(path.to_owned());
        }
        // A file that the package does not export.
        let (at, rest) = self.packages.place(folder, name)?;
        other(self.files, &at, rest)
    }
}

/// Drops all but the last occurrence of shared patterns. Parts with common parts would otherwise
/// double their number at each level.
fn last_of_each(paths: &mut Vec<Mapping>) {
    let mut seen = BTreeSet::new();
    paths.reverse();
    paths.retain(|paths| seen.insert((Arc::as_ptr(&paths.patterns), paths.own.clone())));
    paths.reverse();
}

/// Returns the path of a referenced configuration; `None` for one in an external package.
fn other(files: &BTreeMap<String, String>, folder: &str, name: &str) -> Option<String> {
    let path = normal(folder, name)?;
    [path.clone(), format!("{path}.json"), format!("{path}/{}", NAMES[0])]
        .into_iter()
        .find(|path| files.contains_key(path))
}
