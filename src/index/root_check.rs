//! Rejects an implicitly selected root that is unlikely to be a repository: servers are often
//! started in a home directory. A `.git`, a project file or an existing index is sufficient
//! evidence.

use std::path::Path;

use cograph_config::{Config, ConfigError, Repository};
use cograph_grammar as grammar;
use cograph_source::Mounts;
use cograph_store::Location;
use cograph_system::files;

/// Returns the repository unless it was selected by accident.
pub fn check_implicit_root(
    config: &Config,
    repository: Repository,
) -> Result<Repository, ConfigError> {
    let has_index = Location::new(&repository.cache, &repository.root)
        .under(repository.rules)
        .directory()
        .is_dir();
    if has_index || is_project(&repository.root) {
        return Ok(repository);
    }
    let home =
        config.home.as_ref().map(|home| files::canonical(home).unwrap_or_else(|_| home.clone()));
    match unlikely(&repository.root, home.as_deref()) {
        Some(why) => Err(ConfigError::NotMeant { path: repository.root, why }),
        None => Ok(repository),
    }
}

/// Names of the repositories in a directory that is no repository itself, in order.
#[expect(clippy::disallowed_methods, reason = "lists what is next to a repository, and reads none")]
pub fn repositories_in(root: &Path) -> Vec<String> {
    if has_entry(root, ".git") {
        return Vec::new();
    }
    let mut names: Vec<String> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| has_entry(&entry.path(), ".git"))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Why a directory is unlikely to be a repository.
fn unlikely(root: &Path, home: Option<&Path>) -> Option<String> {
    if root.parent().is_none() {
        return Some("is the root of the file system".to_owned());
    }
    if home == Some(root) {
        return Some("is a home directory".to_owned());
    }
    if home.is_some_and(|home| home.starts_with(root)) {
        return Some("has a home directory in it".to_owned());
    }
    let mounts = Mounts::of(root).ok()?;
    Some(format!("has another file system in it, at {}", mounts.first_inside()?.display()))
}

/// True if the directory contains a marker of a project root.
fn is_project(root: &Path) -> bool {
    // Those that a build writes have a mark before their names: they are no evidence, and a home
    // directory has a `.config` of its own.
    has_entry(root, ".git") || grammar::project_files().any(|name| has_entry(root, name))
}

fn has_entry(root: &Path, name: &str) -> bool {
    root.join(name).symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn repositories_are_found_in_a_directory_that_is_none() {
        let place = tempfile::tempdir().expect("a temporary directory");
        for name in ["two/.git", "one/.git", "none/src"] {
            fs::create_dir_all(place.path().join(name)).expect("created");
        }
        assert_eq!(repositories_in(place.path()), ["one", "two"]);
        assert_eq!(repositories_in(&place.path().join("one")), [""; 0]);
        fs::write(place.path().join(".git"), "").expect("written");
        assert_eq!(repositories_in(place.path()), [""; 0]);
    }

    #[test]
    fn a_home_directory_is_meant_where_something_declares_it() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let top = fs::canonicalize(place.path()).expect("it exists");
        let home = top.join("home");
        fs::create_dir_all(home.join("project")).expect("created");
        let says = |root: &Path| unlikely(root, Some(&home)).unwrap_or_default();
        assert_eq!(says(Path::new("/")), "is the root of the file system");
        assert_eq!(says(&home), "is a home directory");
        assert_eq!(says(&top), "has a home directory in it");
        assert_eq!(says(&home.join("project")), "");
        fs::create_dir(home.join(".config")).expect("created");
        assert!(!is_project(&home));
        for name in [".git", "Cargo.toml", "package.json"] {
            fs::write(home.join(name), "").expect("written");
            assert!(is_project(&home), "{name}");
            fs::remove_file(home.join(name)).expect("it was written");
        }
    }
}
