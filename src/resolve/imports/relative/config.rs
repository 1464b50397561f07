//! Compiler configurations: base directories and path mappings.

use super::super::json::Json;
use super::super::normal;
use super::folders_around;
use super::patterns::{Fit, Patterns};
use crate::model::graph::FileId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum length of a chain of `extends`.
const MAX_EXTENDS: u32 = 16;
/// Configuration files of a directory, in order of precedence.
const NAMES: [&str; 2] = ["tsconfig.json", "jsconfig.json"];

/// Configurations of all directories.
#[derive(Debug, Default)]
pub(super) struct Configs {
    by_folder: BTreeMap<String, Config>,
}

/// Configuration, with paths from the root of the repository.
#[derive(Clone, Debug, Default)]
struct Config {
    base: Option<String>,
    /// Pattern -> paths with a star: own or inherited ones; of a configuration that only has
    /// `references`, those of each part. Shared, because many configurations may extend a large
    /// one.
    paths: Vec<Arc<Patterns<Vec<String>>>>,
    /// Directories whose contents are as if in one.
    merged: Arc<[String]>,
}

impl Configs {
    pub(super) fn new(files: &BTreeMap<String, String>) -> Self {
        let (mut by_folder, mut read) = (BTreeMap::new(), Read { files, known: BTreeMap::new() });
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
        exists: &impl Fn(&str) -> Option<FileId>,
    ) -> Option<FileId> {
        let config = folders_around(folder).find_map(|folder| self.by_folder.get(folder))?;
        let fits = config.paths.iter().filter_map(|paths| paths.best(module));
        if let Some(Fit { target: targets, star, .. }) = fits.max_by_key(|fit| fit.rank)
            && let Some(found) =
                targets.iter().find_map(|target| exists(&target.replacen('*', star, 1)))
        {
            return Some(found);
        }
        exists(&normal(config.base.as_deref()?, module)?)
    }
}

impl Configs {
    /// Resolves a path that does not exist in the other directories that a configuration merges
    /// with one around it.
    pub(super) fn merged(
        &self,
        folder: &str,
        path: &str,
        exists: &impl Fn(&str) -> Option<FileId>,
    ) -> Option<FileId> {
        let config = folders_around(folder).find_map(|folder| self.by_folder.get(folder))?;
        let below = |root: &String| {
            let rest = if root.is_empty() { path } else { path.strip_prefix(root.as_str())? };
            Some(rest.trim_start_matches('/').to_owned())
        };
        let rests: Vec<String> = config.merged.iter().filter_map(below).collect();
        let places =
            || config.merged.iter().flat_map(|root| rests.iter().map(move |it| (root, it)));
        places().find_map(|(root, rest)| exists(&normal(root, rest)?))
    }
}

/// Reader of configurations, each once.
struct Read<'f> {
    files: &'f BTreeMap<String, String>,
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
            let inherited = other(self.files, folder, base)
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
            config.base = normal(folder, base);
        }
        if let Some(roots) = option("rootDirs") {
            let roots = roots.texts().into_iter();
            config.merged = roots.filter_map(|root| normal(folder, root)).collect();
        }
        if let Some(paths) = option("paths") {
            let start = config.base.clone().unwrap_or_else(|| folder.to_owned());
            let targets = |value: &Json| {
                value.texts().into_iter().filter_map(|target| normal(&start, target)).collect()
            };
            let own: Patterns<_> = paths
                .members()
                .iter()
                .map(|(pattern, value)| (pattern.clone(), targets(value)))
                .collect();
            config.paths = if own.is_empty() { Vec::new() } else { vec![Arc::new(own)] };
        }
        // A configuration with only `references` has the mappings of its parts.
        if options.is_none() && config.paths.is_empty() {
            let names = json.get("references").map(Json::texts).unwrap_or_default();
            let mut parts = BTreeSet::new();
            for path in names.into_iter().filter_map(|part| other(self.files, folder, part)) {
                if parts.insert(path.clone()) {
                    let part = self.config(&path, depth + 1);
                    config.base = config.base.or(part.base);
                    config.paths.extend(part.paths);
                }
            }
            last_of_each(&mut config.paths);
        }
        config
    }
}

/// Drops all but the last occurrence of shared patterns. Parts with common parts would otherwise
/// double their number at each level.
fn last_of_each(paths: &mut Vec<Arc<Patterns<Vec<String>>>>) {
    let mut seen = BTreeSet::new();
    paths.reverse();
    paths.retain(|patterns| seen.insert(Arc::as_ptr(patterns)));
    paths.reverse();
}

/// Returns the path of a referenced configuration; `None` for one in an external package.
fn other(files: &BTreeMap<String, String>, folder: &str, name: &str) -> Option<String> {
    let path = normal(folder, name)?;
    [path.clone(), format!("{path}.json"), format!("{path}/{}", NAMES[0])]
        .into_iter()
        .find(|path| files.contains_key(path))
}
