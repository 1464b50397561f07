//! Elision of repeated prefixes in a list: the directory of the first line, the container of the
//! previous name. Independent of what is listed.

use std::collections::HashMap;

/// Abbreviates the path in the first line.
const SAME: &str = "…";
/// Abbreviates its directory.
const THERE: &str = "…/";

/// Prefixes printed so far.
pub(in crate::server) struct Elision {
    path: String,
    directory: String,
    containers: HashMap<String, String>,
}

impl Elision {
    /// Starts below a first line with this path.
    pub(in crate::server) fn below(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            directory: directory(path).to_owned(),
            containers: HashMap::new(),
        }
    }

    /// A path as a heading: `…`, `…/file`, or `…/../other/file` if that is shorter than the path.
    pub(in crate::server) fn heading(&self, path: &str) -> String {
        let shared = shared_directories(&self.directory, path);
        if shared > 0 && self.path == path {
            return SAME.to_owned();
        }
        let up = self.directory[shared..].matches('/').count();
        let relative = format!("{THERE}{}{}", "../".repeat(up), &path[shared..]);
        if shared > 0 && relative.len() < path.len() { relative } else { path.to_owned() }
    }

    /// A name as an entry below a heading: `.name` if its container is that of the previous entry,
    /// or for the first entry the stem of the file name.
    pub(in crate::server) fn entry(&mut self, path: &str, container: &str, name: &str) -> String {
        let known = self.containers.get(path).map_or_else(|| stem(path), String::as_str);
        if !container.is_empty() && known == container {
            return format!(".{name}");
        }
        self.containers.insert(path.to_owned(), container.to_owned());
        if container.is_empty() { name.to_owned() } else { format!("{container}.{name}") }
    }
}

/// Prefix up to and including the last `/`.
fn directory(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..=end])
}

/// File name up to its first dot.
fn stem(path: &str) -> &str {
    let name = &path[directory(path).len()..];
    name.split('.').next().unwrap_or(name)
}

/// Length of the common directories of a directory and a path.
fn shared_directories(directory: &str, path: &str) -> usize {
    let parts = directory.split_inclusive('/').zip(path.split_inclusive('/'));
    parts.take_while(|(one, other)| one == other).map(|(part, _)| part.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_the_first_line_is_not_written_again() {
        for (first, path, expected) in [
            ("src/long/a.x", "src/long/a.x", "…"),
            ("src/long/a.x", "src/long/b.x", "…/b.x"),
            ("src/long/a.x", "src/long/deep/c.x", "…/deep/c.x"),
            ("source/long/deep/a.x", "source/long/other/b.x", "…/../other/b.x"),
            ("src/long/a.x", "tests/long/a.x", "tests/long/a.x"),
            // Elision would not be shorter.
            ("src/long/a.x", "src/b.x", "src/b.x"),
            ("a.x", "a.x", "a.x"),
            ("a.x", "b.x", "b.x"),
            ("a.x", "src/b.x", "src/b.x"),
            ("directory/a.x", "directory_too/a.x", "directory_too/a.x"),
        ] {
            assert_eq!(Elision::below(first).heading(path), expected, "{path} below {first}");
        }
    }

    #[test]
    fn a_container_is_written_once_in_a_row() {
        let mut elision = Elision::below("a.x");
        let entries = [
            ("a.x", "C", "f"),
            ("a.x", "C", "g"),
            ("b.x", "C", "f"),
            ("a.x", "D", "h"),
            ("a.x", "", "i"),
            ("a.x", "D", "j"),
        ];
        let entries = entries.map(|(path, container, name)| elision.entry(path, container, name));
        assert_eq!(entries, ["C.f", ".g", "C.f", "D.h", "i", "D.j"]);
        assert_eq!(
            ["f", "g"].map(|name| elision.entry("src/Parser.x", "Parser", name)),
            [".f", ".g"]
        );
    }
}
