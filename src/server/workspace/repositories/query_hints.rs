//! Relevance of changed files to a query, estimated from its arguments: relevant files are updated
//! first. Affects the order only, never what is updated.

use crate::workspace::repositories::files::Files;
use cograph_index::ChangeSet;
use cograph_model::RepoPath;
use cograph_query::ReadFile;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Up to this number of changed files are updated together: ordering them gains nothing.
const FEW: usize = 16;
/// Shorter words match too many files.
const SHORT: usize = 3;
/// Time limit of searching the changed files for words.
const SEARCH: Duration = Duration::from_millis(60);

/// Names in the arguments of a call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct QueryHints {
    /// Possible paths or path suffixes.
    paths: BTreeSet<String>,
    /// Possible identifiers.
    words: BTreeSet<String>,
}

impl QueryHints {
    /// Collects names from all free-text arguments.
    pub(crate) fn texts<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut about = Self::default();
        for text in texts {
            for part in text.split_whitespace() {
                let path = part
                    .split(':')
                    .next()
                    .unwrap_or_default()
                    .trim_start_matches("./")
                    .trim_end_matches('/');
                about.paths.extend(Some(path.to_owned()).filter(|path| !path.is_empty()));
            }
            let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            about
                .words
                .extend(words.filter(|word| word.chars().count() >= SHORT).map(str::to_owned));
        }
        about
    }

    /// Splits changes into relevant and other ones; none if the split is not worthwhile.
    pub(super) fn split(
        &self,
        changes: &ChangeSet,
        files: &Files,
    ) -> Option<(ChangeSet, ChangeSet)> {
        if changes.len()? <= FEW {
            return None;
        }
        let until = Instant::now() + SEARCH;
        let matters = |path: &RepoPath| {
            self.names(path) || (Instant::now() < until && self.is_mentioned_in(path, files))
        };
        let wanted: BTreeSet<&RepoPath> = changes.paths().filter(|path| matters(path)).collect();
        if wanted.is_empty() || wanted.len() > FEW {
            return None;
        }
        changes.split(|path| wanted.contains(path))
    }

    /// True if an argument names the file, a suffix of its path or a directory above it.
    fn names(&self, path: &RepoPath) -> bool {
        self.paths.iter().any(|named| {
            let inside = path
                .as_str()
                .strip_prefix(named.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            inside
                || path
                    .as_str()
                    .strip_suffix(named.as_str())
                    .is_some_and(|before| before.ends_with('/'))
        })
    }

    fn is_mentioned_in(&self, path: &RepoPath, files: &Files) -> bool {
        let Ok(bytes) = files.read(path) else { return false };
        let text = String::from_utf8_lossy(&bytes);
        self.words.iter().any(|word| text.contains(word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_config::Limits;

    #[test]
    fn of_many_changes_those_come_first_that_an_argument_names_or_mentions() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let root = std::fs::canonicalize(place.path()).expect("it exists");
        std::fs::create_dir(root.join("sub")).expect("it is new");
        for number in 0..40 {
            let text = format!("def name_{number}_end():\n    pass\n");
            std::fs::write(root.join(format!("sub/file_{number}.py")), text).expect("written");
        }
        let gone: Vec<RepoPath> = (0..40)
            .map(|number| RepoPath::new(&format!("sub/file_{number}.py")).expect("well formed"))
            .collect();
        let root = cograph_source::Root::new(&root);
        let files = Files { root, limits: Limits::default(), manifests: Default::default() };
        let all = ChangeSet::Some { touched: Vec::new(), gone, compared: None };
        let first = |texts: &[&str]| -> Vec<String> {
            let split = QueryHints::texts(texts.iter().copied()).split(&all, &files);
            split.map_or(Vec::new(), |(first, rest)| {
                assert_eq!(
                    first.len().zip(rest.len()).map(|(first, rest)| first + rest),
                    Some(40),
                    "none is lost"
                );
                first.paths().map(ToString::to_string).collect()
            })
        };
        assert_eq!(first(&["name_7_end"]), ["sub/file_7.py"]);
        assert_eq!(
            first(&["Outer.name_7_end", "file_9.py::x"]),
            ["sub/file_7.py", "sub/file_9.py"]
        );
        assert_eq!(first(&["sub/file_3.py:10-20"]), ["sub/file_3.py"]);
        for all_or_none in [&["sub"][..], &["elsewhere.py"], &["def pass"], &[]] {
            assert_eq!(first(all_or_none), [""; 0], "{all_or_none:?}");
        }
    }
}
