//! Paths in arguments: absolute ones, and ones relative to another directory, as paths relative to
//! the root. Agents and people have both; queries know the latter only.

use cograph_system::files;
use std::path::{Component, Path, PathBuf};

/// Relative form of a text that begins with an absolute path below the root.
pub(crate) fn below(root: &Path, text: &str) -> Option<String> {
    let absolute = text.trim().trim_matches('`');
    if !Path::new(absolute).is_absolute() {
        return None;
    }
    // A path may lead through links, also to the root; what does not exist is read as it is.
    let real = parts(absolute).find_map(|(path, rest)| {
        let real = files::canonical(Path::new(path)).ok()?;
        Some(format!("{}{rest}", relative(root, &real)?))
    });
    real.or_else(|| relative(root, &without_dots(Path::new(absolute))?))
}

/// Relative form of a text that begins with a path that exists relative to a directory below the
/// root.
pub fn from_directory(root: &Path, directory: &Path, text: &str) -> Option<String> {
    if directory == root || Path::new(text).is_absolute() {
        return None;
    }
    parts(text).find_map(|(path, rest)| {
        let absolute = without_dots(&directory.join(path))?;
        if path.is_empty() || !absolute.exists() {
            return None;
        }
        Some(format!("{}{rest}", relative(root, &absolute)?))
    })
}

fn relative(root: &Path, path: &Path) -> Option<String> {
    let relative = path.strip_prefix(root).ok()?.to_str()?;
    let relative = if relative.is_empty() { "." } else { relative };
    // The index has one separator on every system.
    Some(relative.replace(std::path::MAIN_SEPARATOR, "/"))
}

/// Ways to read a text as a path with a rest (`::name`, `:12`): the longest path first.
fn parts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let colons = text.match_indices(':').map(|(at, _)| at);
    let ends: Vec<usize> = colons.chain([text.len()]).collect();
    ends.into_iter().rev().map(|end| text.split_at(end))
}

/// The path without `.` and `..`; none if it leads above the file system's root.
fn without_dots(path: &Path) -> Option<PathBuf> {
    let mut tidied = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !tidied.pop() {
                    return None;
                }
            }
            other => tidied.push(other),
        }
    }
    Some(tidied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn absolute_paths_below_the_root_are_relative_ones() {
        let root = Path::new("/no/such/root");
        for (text, expected) in [
            ("/no/such/root/src/a.x", Some("src/a.x")),
            ("/no/such/root/src/a.x:3-4", Some("src/a.x:3-4")),
            ("/no/such/root/src/../lib/./a.x::C.f", Some("lib/a.x::C.f")),
            ("/no/such/root/../a.x", None),
            ("`/no/such/root/src/a.x::C.f`", Some("src/a.x::C.f")),
            ("/no/such/root/", Some(".")),
            ("/no/such/root", Some(".")),
            ("/no/such/rooted/a.x", None),
            ("/elsewhere/a.x", None),
            ("src/a.x", None),
        ] {
            assert_eq!(below(root, text).as_deref(), expected, "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_the_root_leads_to_it() {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let top = std::fs::canonicalize(place.path()).expect("it exists");
        std::fs::create_dir_all(top.join("root/src")).expect("a directory");
        std::fs::write(top.join("root/src/a.x"), "").expect("a file");
        std::os::unix::fs::symlink(top.join("root"), top.join("link")).expect("a link");
        let through = format!("{}/link/src/a.x:7", top.display());
        assert_eq!(below(&top.join("root"), &through).as_deref(), Some("src/a.x:7"));
        assert_eq!(below(&top.join("root"), "/usr"), None);
        std::os::unix::fs::symlink("src", top.join("root/now")).expect("a link");
        let through = format!("{}/root/now/../src/./a.x::C.f", top.display());
        assert_eq!(below(&top.join("root"), &through).as_deref(), Some("src/a.x::C.f"));
    }

    #[test]
    fn what_exists_in_the_working_directory_is_meant() {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let root = std::fs::canonicalize(place.path()).expect("it exists");
        std::fs::create_dir_all(root.join("src/deep")).expect("a directory");
        std::fs::write(root.join("src/a.x"), "").expect("a file");
        let (src, deep) = (root.join("src"), root.join("src/deep"));
        let from = |directory: &Path, text: &str| from_directory(&root, directory, text);
        assert_eq!(from(&src, "a.x:3").as_deref(), Some("src/a.x:3"));
        assert_eq!(from(&src, "a.x::C.f").as_deref(), Some("src/a.x::C.f"));
        assert_eq!(from(&deep, "../a.x").as_deref(), Some("src/a.x"));
        assert_eq!(from(&deep, "../..").as_deref(), Some("."));
        assert_eq!(from(&src, "name"), None);
        assert_eq!(from(&src, "::name"), None);
        assert_eq!(from(&root, "src/a.x"), None);
        assert_eq!(from(&deep, "../../../elsewhere"), None);
    }
}
