//! One manifest or lock file, read by the ending of its name. What is not understood is left out.

use std::collections::BTreeMap;

use serde_json::Value;

/// Where a manifest has what: paths of keys, separated by dots, the first that exists counts.
pub(crate) struct Keys<'k> {
    pub(crate) name: &'k [String],
    pub(crate) written: &'k [String],
    pub(crate) version: &'k [String],
    pub(crate) needs: &'k [String],
}

/// What a manifest or lock says.
#[derive(Debug, Default)]
pub(crate) struct Manifest {
    /// Name of its own package; empty if it has none.
    pub(crate) name: String,
    /// Name that code has for its own package; empty if that is the name.
    pub(crate) written: String,
    /// Version of its own package; empty if it has none.
    pub(crate) version: String,
    /// Wanted versions by the names of packages, as written.
    pub(crate) needs: BTreeMap<String, String>,
    /// Versions by the folded names of packages, without those that have several.
    pub(crate) versions: BTreeMap<String, String>,
}

/// Name without the differences that managers ignore.
pub(crate) fn folded(name: &str) -> String {
    name.to_lowercase().replace(['-', '_', '.'], "-")
}

/// True for a whole version, with nothing that means a range.
pub(crate) fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    let starts = text.starts_with(|c: char| c.is_ascii_digit());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    starts && text.contains('.') && text.chars().all(is_plain)
}

impl Manifest {
    pub(crate) fn read(path: &str, text: &str, keys: &Keys<'_>) -> Self {
        let ending = path.rsplit('.').next().unwrap_or_default();
        match ending {
            "json" => serde_json::from_str(text).map(|value| Self::of(&value, keys)),
            "lock" if text.trim_start().starts_with('{') => {
                serde_json::from_str(text).map(|value| Self::of(&value, keys))
            }
            "toml" | "lock" => {
                toml::from_str(text).map(|value| Self::of(&value, keys)).or(Ok(Self::default()))
            }
            "txt" => Ok(Self::of_pins(text)),
            _ => Ok(Self::of_directives(text)),
        }
        .unwrap_or_default()
    }

    fn of(value: &Value, keys: &Keys<'_>) -> Self {
        let text = |paths: &[String]| {
            let found = paths.iter().find_map(|path| at(value, path)?.as_str());
            found.unwrap_or_default().to_owned()
        };
        let mut manifest = Self {
            name: text(keys.name),
            written: text(keys.written),
            version: text(keys.version),
            ..Self::default()
        };
        for needs in keys.needs.iter().filter_map(|path| at(value, path)) {
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

    /// Lines with a name, `==` and a version.
    fn of_pins(text: &str) -> Self {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let pins = lines
            .map(requirement)
            .filter(|(name, version)| !name.is_empty() && is_version(version));
        let pins = pins.map(|(name, version)| (folded(name), version.to_owned()));
        Self { versions: without_doubles(pins), ..Self::default() }
    }

    /// Lines with a directive, a path and a version, or blocks of such lines.
    fn of_directives(text: &str) -> Self {
        let mut manifest = Self::default();
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

fn without_doubles(pairs: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (name, version) in pairs {
        found
            .entry(name)
            .and_modify(|known| {
                if known.as_ref() != Some(&version) {
                    *known = None;
                }
            })
            .or_insert(Some(version));
    }
    found.into_iter().filter_map(|(name, version)| Some((name, version?))).collect()
}
