//! Members of a workspace: the repositories that one call is about, by a list of directories or
//! by the file of a directory.

use std::path::{Path, PathBuf};

use super::root_selection::RootSelection;
use crate::workspace::repositories::unavailable::{Unavailable, unavailable};
use cograph_config::{self as config, ListError};

/// Repository of a workspace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    /// Name in answers: the directory's, with as many of those above as distinguish it.
    pub(crate) name: String,
    /// Directory. It may not exist.
    pub(crate) directory: PathBuf,
}

/// Members of the workspace that a call is about; none if it is about one repository.
pub(super) fn members(
    chosen: &RootSelection,
    named: Option<&str>,
) -> Result<Option<Vec<Member>>, Unavailable> {
    if let Some(listed) = named.map(config::listed_directories).transpose().map_err(wrong)? {
        let Some(listed) = listed else { return of_file(chosen, named) };
        if listed.iter().any(|path| !path.is_absolute()) {
            return Err(unavailable(
                "each directory of `root` must be an absolute path",
                "leave it out for the repository of this session",
            ));
        }
        return Ok(Some(with_names(listed)));
    }
    of_file(chosen, named)
}

fn of_file(
    chosen: &RootSelection,
    named: Option<&str>,
) -> Result<Option<Vec<Member>>, Unavailable> {
    let Some(directory) = chosen.place(named).filter(|place| chosen.may_read(place)) else {
        return Ok(None);
    };
    let members = config::workspace_at(&directory).map_err(wrong)?;
    Ok(members.map(with_names))
}

fn wrong(error: ListError) -> Unavailable {
    unavailable(&error.to_string(), "docs/workspaces.md describes workspaces")
}

/// Gives each directory the shortest end of its path that no other one has.
fn with_names(directories: Vec<PathBuf>) -> Vec<Member> {
    let end = |path: &Path, parts: usize| {
        let all: Vec<String> =
            path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        all[all.len().saturating_sub(parts)..].join("/")
    };
    let name = |path: &Path| {
        let most = path.components().count().max(1);
        let is_own = |name: &str, parts: usize| {
            let same = directories.iter().filter(|other| end(other, parts) == name);
            same.count() < 2
        };
        let ends = (1..=most).map(|parts| (parts, end(path, parts)));
        let own = ends.clone().find(|(parts, name)| is_own(name, *parts));
        own.map_or_else(|| end(path, most), |(_, name)| name)
    };
    let names: Vec<String> = directories.iter().map(|path| name(path)).collect();
    let pairs = names.into_iter().zip(directories);
    pairs.map(|(name, directory)| Member { name, directory }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_names_that_distinguish_them() {
        let names = |paths: &[&str]| -> Vec<String> {
            let members = with_names(paths.iter().map(PathBuf::from).collect());
            members.into_iter().map(|member| member.name).collect()
        };
        assert_eq!(names(&["/a/one", "/a/two"]), ["one", "two"]);
        assert_eq!(names(&["/a/one", "/b/one", "/c"]), ["a/one", "b/one", "c"]);
        assert_eq!(names(&["/a/x", "/a/x"]), ["//a/x", "//a/x"]);
    }
}
