//! Workspaces: several repositories that are asked as one, by a file in a directory that holds
//! them, or as a list of directories. A file can name directories below its own only: a
//! repository must not decide what is read elsewhere.

use crate::list_error::ListError;
use std::path::{Component, Path, PathBuf};

use cograph_system::files;

use crate::user_file::FileRules;

/// Where the file is, below the directory of a workspace.
pub const WORKSPACE: &str = ".cograph/workspace.toml";

/// A file of a workspace.
const RULES: FileRules = FileRules::settings(1 << 20);

/// Maximum number of members of a workspace.
pub const MAX_MEMBERS: usize = 64;

/// Last part of a member that means every repository of a directory.
const ALL: &str = "*";

/// Directories of a list, which is separated as the paths of programs are; none for a single
/// directory, or where a directory has that name.
pub fn listed_directories(text: &str) -> Result<Option<Vec<PathBuf>>, ListError> {
    let mut paths: Vec<PathBuf> = std::env::split_paths(text).collect();
    if paths.len() < 2 || files::find(Path::new(text), true).is_ok() {
        return Ok(None);
    }
    paths.retain(|path| !path.as_os_str().is_empty());
    bounded(&paths).map_err(|why| ListError::Wrong { path: "the list".into(), why })?;
    Ok(Some(paths))
}

/// Text of a list of directories, as [`listed_directories`] reads it; none if a directory cannot be
/// in one.
pub fn directory_list(directories: &[PathBuf]) -> Option<String> {
    std::env::join_paths(directories).ok()?.into_string().ok()
}

/// Directories that the file of a workspace names, in order; none if the directory has no such
/// file. They may not exist.
pub fn workspace_at(directory: &Path) -> Result<Option<Vec<PathBuf>>, ListError> {
    let path = directory.join(WORKSPACE);
    let unreadable = |source| ListError::Unreadable { path: path.clone(), source };
    let Some(text) = RULES.read(&path).map_err(unreadable)? else { return Ok(None) };
    members(&text, directory).map(Some).map_err(|why| ListError::Wrong { path, why })
}

fn members(text: &str, directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut table: toml::Table =
        text.parse().map_err(|error| format!("it is not valid TOML: {error}"))?;
    let named = match table.remove("members") {
        None => vec![ALL.to_owned()],
        Some(toml::Value::Array(items)) => items
            .into_iter()
            .map(|item| match item {
                toml::Value::String(text) => Ok(text),
                _ => Err("`members` is not a list of texts".to_owned()),
            })
            .collect::<Result<_, _>>()?,
        Some(_) => return Err("`members` is not a list of texts".to_owned()),
    };
    if let Some(key) = table.keys().next() {
        return Err(format!("{key:?} is not known there: only `members` is"));
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for one in named {
        let relative = Path::new(&one);
        let is_below = relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_below || one.is_empty() {
            return Err(format!("the member {one:?} is no directory below that of the file"));
        }
        let is_all = relative.file_name().is_some_and(|name| name == ALL);
        let new = match relative.parent() {
            Some(parent) if is_all => repositories_below(&directory.join(parent)),
            _ => vec![directory.join(relative)],
        };
        for path in new {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    bounded(&found)?;
    Ok(found)
}

fn bounded(members: &[PathBuf]) -> Result<(), String> {
    match members.len() {
        0 => Err("it names no repository".to_owned()),
        count if count > MAX_MEMBERS => {
            Err(format!("it names {count} repositories: at most {MAX_MEMBERS} are asked as one"))
        }
        _ => Ok(()),
    }
}

/// Directories with a `.git` directly in a directory, in order.
#[expect(clippy::disallowed_methods, reason = "lists repositories, and reads none")]
fn repositories_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join(".git").symlink_metadata().is_ok())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_names_directories_below_its_own_and_no_others() {
        let place = tempfile::tempdir().expect("a temporary directory");
        for name in ["b/.git", "a/.git", "none/src", "deep/c/.git"] {
            fs::create_dir_all(place.path().join(name)).expect("created");
        }
        let read = |text: &str| members(text, place.path());
        let all = |names: &[&str]| -> Result<Vec<PathBuf>, String> {
            Ok(names.iter().map(|name| place.path().join(name)).collect())
        };
        assert_eq!(read(""), all(&["a", "b"]));
        assert_eq!(read("members = ['none', 'deep/*', 'none']"), all(&["none", "deep/c"]));
        for (text, why) in [
            ("members = ['../b']", "no directory below"),
            ("members = ['/etc']", "no directory below"),
            ("members = ['']", "no directory below"),
            ("members = ['none/*']", "names no repository"),
            ("members = 'a'", "not a list of texts"),
            ("members = [1]", "not a list of texts"),
            ("name = 'x'", "\"name\" is not known"),
            ("members", "not valid TOML"),
        ] {
            let error = read(text).expect_err("it is wrong");
            assert!(error.contains(why), "{text}: {error}");
        }
        let many: Vec<String> = (0..=MAX_MEMBERS).map(|at| format!("'m{at}'")).collect();
        let error = read(&format!("members = [{}]", many.join(","))).expect_err("too many");
        assert!(error.contains("at most 64"), "{error}");
        assert!(matches!(workspace_at(place.path()), Ok(None)));
        fs::create_dir(place.path().join(".cograph")).expect("created");
        fs::write(place.path().join(WORKSPACE), "").expect("written");
        assert_eq!(workspace_at(place.path()).expect("it is right").map(|all| all.len()), Some(2));
    }

    #[cfg(unix)]
    #[test]
    fn a_list_has_several_directories() {
        let list = |text: &str| listed_directories(text).expect("it is right");
        assert_eq!(list("/a"), None);
        assert_eq!(list("/a:/b"), Some(vec!["/a".into(), "/b".into()]));
        assert_eq!(list("/a:"), Some(vec!["/a".into()]));
        let place = tempfile::tempdir().expect("a temporary directory");
        let odd = place.path().join("x:y");
        fs::create_dir(&odd).expect("created");
        assert_eq!(list(&odd.display().to_string()), None, "a directory has that name");
        assert!(listed_directories(":").is_err());
    }
}
