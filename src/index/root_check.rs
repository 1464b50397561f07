//! Rejects an implicitly selected root that is unlikely to be a repository: servers are often
//! started in a home directory. A `.git`, a project file or an existing index is sufficient
//! evidence.

use std::path::Path;

use cograph_config::{Config, ConfigError, Repository};
use cograph_grammar as grammar;
use cograph_source::Mounts;
use cograph_store::Location;

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
        config.home.as_ref().map(|home| home.canonicalize().unwrap_or_else(|_| home.clone()));
    match unlikely(&repository.root, home.as_deref()) {
        Some(why) => Err(ConfigError::NotMeant { path: repository.root, why }),
        None => Ok(repository),
    }
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
    let is_there = |name: &str| root.join(name).symlink_metadata().is_ok();
    is_there(".git") || grammar::project_files().any(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_home_directory_is_meant_where_something_says_so() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let top = fs::canonicalize(place.path()).expect("it exists");
        let home = top.join("home");
        fs::create_dir_all(home.join("project")).expect("created");
        let says = |root: &Path| unlikely(root, Some(&home)).unwrap_or_default();
        assert_eq!(says(Path::new("/")), "is the root of the file system");
        assert_eq!(says(&home), "is a home directory");
        assert_eq!(says(&top), "has a home directory in it");
        assert_eq!(says(&home.join("project")), "");
        assert!(!is_project(&home));
        for name in [".git", "Cargo.toml", "package.json"] {
            fs::write(home.join(name), "").expect("written");
            assert!(is_project(&home), "{name}");
            fs::remove_file(home.join(name)).expect("it was written");
        }
    }
}
