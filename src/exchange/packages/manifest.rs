//! One manifest or lock file, read by the ending of its name. What is not understood is left out.

use serde_json::Value;

use super::content::{Manifest, folded, is_version, without_doubles};
use super::{markup, scripts};

/// Where a manifest has what: paths of keys, separated by dots, the first that exists counts.
pub(crate) struct Keys<'k> {
    /// How it is written; empty if the name of the file says that.
    pub(crate) format: &'k str,
    pub(crate) name: &'k [String],
    pub(crate) written: &'k [String],
    pub(crate) version: &'k [String],
    pub(crate) needs: &'k [String],
}

impl Keys<'_> {
    /// Reads a manifest or lock.
    pub(crate) fn read(&self, path: &str, text: &str) -> Manifest {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit('.').next().unwrap_or_default();
        match ending {
            _ if self.format == "markup" => Ok(markup::manifest(name, text)),
            "lock" if self.format == "calls" => Ok(scripts::lock(text)),
            _ if self.format == "calls" => Ok(scripts::manifest(text)),
            "json" => serde_json::from_str(text).map(|value| self.of(&value)),
            "lock" if text.trim_start().starts_with('{') => {
                serde_json::from_str(text).map(|value| self.of(&value))
            }
            "toml" | "lock" => {
                toml::from_str(text).map(|value| self.of(&value)).or(Ok(Manifest::default()))
            }
            "txt" => Ok(of_pins(text)),
            _ => Ok(of_directives(text)),
        }
        .unwrap_or_default()
    }

    fn of(&self, value: &Value) -> Manifest {
        let text = |paths: &[String]| {
            let found = paths.iter().find_map(|path| at(value, path)?.as_str());
            found.unwrap_or_default().to_owned()
        };
        let mut manifest = Manifest {
            name: text(self.name),
            written: text(self.written),
            version: text(self.version),
            ..Manifest::default()
        };
        for needs in self.needs.iter().filter_map(|path| at(value, path)) {
            for (name, wanted) in needs.as_object().into_iter().flatten() {
                let wanted = wanted.as_str().or_else(|| wanted.get("version")?.as_str());
                manifest.needs.insert(name.clone(), exact(wanted.unwrap_or_default()).to_owned());
            }
            for need in needs.as_array().into_iter().flatten().filter_map(Value::as_str) {
                let (name, wanted) = requirement(need);
                manifest.needs.insert(name.to_owned(), wanted.to_owned());
            }
        }
        let versions = locked(value);
        manifest.versions = without_doubles(versions);
        manifest
    }
}

/// Lines with a name, `==` and a version.
fn of_pins(text: &str) -> Manifest {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let pins =
        lines.map(requirement).filter(|(name, version)| !name.is_empty() && is_version(version));
    let pins = pins.map(|(name, version)| (folded(name), version.to_owned()));
    Manifest { versions: without_doubles(pins), ..Manifest::default() }
}

/// Lines with a directive, a path and a version, or blocks of such lines.
fn of_directives(text: &str) -> Manifest {
    let mut manifest = Manifest::default();
    let mut block = "";
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (directive, words) = match words.as_slice() {
            [")"] => {
                block = "";
                continue;
            }
            [directive, "("] => {
                block = directive;
                continue;
            }
            words if !block.is_empty() => (block, words),
            [directive, words @ ..] => (*directive, words),
            [] => continue,
        };
        match (directive, words) {
            ("module", [name]) => manifest.name = name.trim_matches('"').to_owned(),
            ("require", [name, version]) => {
                manifest.needs.insert((*name).to_owned(), (*version).to_owned());
                manifest.versions.insert(folded(name), (*version).to_owned());
            }
            _ => {}
        }
    }
    manifest
}

fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

fn exact(wanted: &str) -> &str {
    wanted.trim_start_matches('=').trim()
}

/// Name and exact version of a requirement; the version is empty for a range.
fn requirement(text: &str) -> (&str, &str) {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let rest = rest.split(';').next().unwrap_or_default();
    let version = rest.rsplit_once("==").map_or("", |(_, version)| version.trim());
    (name, version)
}

/// Names and versions in a lock: a map of paths below folders of packages, or a list of packages.
fn locked(value: &Value) -> impl Iterator<Item = (String, String)> + '_ {
    const FOLDER: &str = "node_modules/";
    let version = |one: &Value| Some(one.get("version")?.as_str()?.to_owned());
    let by_path = value.get("packages").and_then(Value::as_object).into_iter().flatten();
    let by_path = by_path.filter_map(move |(path, one)| {
        let name = path.strip_prefix(FOLDER).filter(|name| !name.contains(FOLDER))?;
        Some((folded(name), version(one)?))
    });
    let lists = ["package", "packages", "packages-dev"].into_iter();
    let listed = lists.filter_map(|key| value.get(key)?.as_array()).flatten();
    let listed =
        listed.filter_map(move |one| Some((folded(one.get("name")?.as_str()?), version(one)?)));
    by_path.chain(listed)
}
