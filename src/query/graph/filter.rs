//! Filters shared by several questions: files by path and language.

use cograph_faults::{Fault, planted};
use std::cmp::Reverse;
use std::collections::BTreeMap;

use regex::Regex;

use super::lookup::Lookup;
use crate::graph::error::QueryError;
use cograph_model::RepoPath;
use cograph_store::{FileMark, LanguageKey};

/// Filter of files.
pub(crate) struct FileFilter {
    path: Option<PathFilter>,
    language: Option<LanguageKey>,
}

/// Filter of paths.
pub(super) enum PathFilter {
    /// File, or everything below a directory.
    Below(String),
    /// Glob.
    Glob(Regex),
}

impl FileFilter {
    pub(crate) fn new(
        lookup: &Lookup<'_>,
        path: Option<&str>,
        language: Option<&str>,
    ) -> Result<Self, QueryError> {
        Ok(Self {
            path: path.map(PathFilter::new).transpose()?.flatten(),
            language: language.map(|name| lookup.language_key(name)).transpose()?,
        })
    }

    /// True if the filter excludes any file.
    pub(crate) fn is_active(&self) -> bool {
        self.path.is_some() || self.language.is_some()
    }

    pub(crate) fn admits(&self, file: FileMark<'_>) -> bool {
        self.language.is_none_or(|language| file.language == Some(language))
            && self.path.as_ref().is_none_or(|path| path.admits(file.path))
    }
}

impl PathFilter {
    /// `None` if every path passes.
    fn new(text: &str) -> Result<Option<Self>, QueryError> {
        let text = text.strip_prefix("./").unwrap_or(text);
        if text.contains(['*', '?', '[', '{']) {
            return Ok(Some(Self::Glob(glob(text)?)));
        }
        let text = text.trim_end_matches('/');
        if text.starts_with('/') || text.split('/').any(|part| part == "..") {
            return Err(invalid(text, "paths are relative to the repository's root, without `..`"));
        }
        Ok((!matches!(text, "" | ".")).then(|| Self::Below(text.to_owned())))
    }

    fn admits(&self, path: &str) -> bool {
        match self {
            Self::Below(top) => path.strip_prefix(top.as_str()).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with('/') || planted(Fault::PrefixIsDirectory)
            }),
            Self::Glob(pattern) => pattern.is_match(path),
        }
    }
}

fn invalid(text: &str, reason: &str) -> QueryError {
    QueryError::InvalidParameter { parameter: "path", reason: format!("`{text}`: {reason}") }
}

/// Compiles a glob to a regular expression: `*` and `?` match within a component, `**` across them,
/// `{a,b}` is an alternative, `[..]` a set. Without a `/` it applies to the file's name in any
/// directory.
fn glob(text: &str) -> Result<Regex, QueryError> {
    let mut pattern = String::from(if text.contains('/') { "^" } else { "^(?:.*/)?" });
    let mut letters = text.chars().peekable();
    let mut braces = 0_u32;
    while let Some(letter) = letters.next() {
        match letter {
            '*' if letters.next_if_eq(&'*').is_some() => {
                let crosses = letters.next_if_eq(&'/').is_some();
                pattern.push_str(if crosses { "(?:.*/)?" } else { ".*" });
            }
            '*' => pattern.push_str("[^/]*"),
            '?' => pattern.push_str("[^/]"),
            '{' => {
                braces += 1;
                pattern.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                pattern.push(')');
            }
            ',' if braces > 0 => pattern.push('|'),
            '[' => {
                let set: String = letters.by_ref().take_while(|&letter| letter != ']').collect();
                let (negation, set) =
                    set.strip_prefix(['!', '^']).map_or(("", set.as_str()), |rest| ("^", rest));
                if set.is_empty() {
                    return Err(invalid(text, "`[` begins a set of letters and ends with `]`"));
                }
                let set = set
                    .replace('\\', "\\\\")
                    .replace('[', "\\[")
                    .replace('&', "\\&")
                    .replace('~', "\\~");
                pattern.push_str(&format!("[{negation}{set}]"));
            }
            other => pattern.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    pattern.push('$');
    Regex::new(&pattern).map_err(|_| invalid(text, "no valid glob"))
}

/// Returns the numbers of files by directory, most first, then by path; `.` for the root.
pub(crate) fn directories<'p>(
    files: impl Iterator<Item = (&'p RepoPath, u64)>,
) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (path, count) in files {
        let directory = path.as_str().rsplit_once('/').map_or(".", |(directory, _)| directory);
        *counts.entry(directory).or_default() += count;
    }
    let mut counts: Vec<(String, u64)> =
        counts.into_iter().map(|(directory, count)| (directory.to_owned(), count)).collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_globs() {
        for (filter, path, expected) in [
            ("src", "src/a.x", true),
            ("src/", "src/a.x", true),
            ("src", "src2/a.x", false),
            ("src/a.x", "src/a.x", true),
            ("./src", "src/b/c.x", true),
            (".", "a.x", true),
            ("*.x", "src/deep/a.x", true),
            ("*.x", "src/a.xy", false),
            ("src/*.x", "src/a.x", true),
            ("src/*.x", "src/deep/a.x", false),
            ("src/**/*.x", "src/a.x", true),
            ("src/**/*.x", "src/deep/er/a.x", true),
            ("**/test_*", "a/b/test_c.x", true),
            ("*.{x,y}", "a.y", true),
            ("*.{x,y}", "a.z", false),
            ("[ab]?.x", "a1.x", true),
            ("[!ab]?.x", "a1.x", false),
            ("a+b*", "a+b.x", true),
        ] {
            let filter = PathFilter::new(filter).expect("a valid filter");
            assert_eq!(filter.is_none_or(|filter| filter.admits(path)), expected, "{path}");
        }
        for wrong in ["../a", "/a", "[", "{a"] {
            assert!(PathFilter::new(wrong).is_err(), "{wrong}");
        }
    }
}
