//! Mutually exclusive directories: a build has at most one of two directories that provide the same
//! include paths, because they cannot both be on the search path. Siblings are alternatives of each
//! other (one for each machine, board or backend); a directory that repeats include paths of its
//! parent is a separate program.

use crate::files::table::{File, FileTable};
use crate::imports::paths::search_directory;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// Minimum number of common include paths.
const MIN_COMMON: usize = 3;

/// Directory that a directory shares include paths with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sort {
    /// Siblings.
    Alternative,
    /// Parent directory.
    Program,
}

/// Exclusive directories, each with a trailing slash.
#[derive(Debug, Default)]
pub(crate) struct Alternatives {
    sorts: FxHashMap<Box<str>, Sort>,
}

impl Alternatives {
    pub(super) fn new(files: &FileTable) -> Self {
        let is_pasted = |file: &File| {
            file.head.as_ref().is_some_and(|head| head.language.manifest.modules.pastes_files())
        };
        let pasted = files.each().filter(|(_, file)| is_pasted(file));
        Self::of(pasted.map(|(_, file)| file.path.as_str()))
    }

    fn of<'p>(paths: impl Iterator<Item = &'p str>) -> Self {
        let searched: Vec<&str> = paths.filter(|path| search_directory(path).is_some()).collect();
        // Directories between a parent and the rest of a path, by these two.
        let mut between: FxHashMap<(&str, &str), SmallVec<[&str; 2]>> = FxHashMap::default();
        for path in &searched {
            for (around, directory, rest) in splits(path) {
                between.entry((around, rest)).or_default().push(directory);
            }
        }
        let all: FxHashSet<&str> = searched.iter().copied().collect();
        let mut shared: FxHashMap<&str, (usize, usize)> = FxHashMap::default();
        between.iter().for_each(|((around, rest), directories)| {
            let is_repeated = all.contains(format!("{around}{rest}").as_str());
            for directory in directories {
                let (siblings, repeats) = shared.entry(directory).or_default();
                *siblings += usize::from(directories.len() > 1);
                *repeats += usize::from(is_repeated);
            }
        });
        let sort = |(siblings, repeats): (usize, usize)| match (siblings, repeats) {
            (_, MIN_COMMON..) => Some(Sort::Program),
            (MIN_COMMON.., _) => Some(Sort::Alternative),
            _ => None,
        };
        let sorts = shared
            .into_iter()
            .filter_map(|(directory, counts)| Some((Box::from(directory), sort(counts)?)));
        Self { sorts: sorts.collect() }
    }

    /// True if no program is known to contain both files: `definition` is in an alternative or a
    /// program without `from`, or `from` is in a program without `definition`.
    pub(crate) fn are_separate(&self, from: &str, definition: &str) -> bool {
        if self.sorts.is_empty() {
            return false;
        }
        self.around(definition).any(|(directory, _)| !from.starts_with(directory))
            || self.around(from).any(|(directory, sort)| {
                sort == Sort::Program && !definition.starts_with(directory)
            })
    }

    /// True if no program contains both files: they are in two alternatives, or one is in a program
    /// that does not contain the other.
    pub(crate) fn exclude_each_other(&self, one: &str, other: &str) -> bool {
        !self.sorts.is_empty() && (self.is_closed(one, other) || self.is_closed(other, one))
    }

    /// True if `of` is in a program without `to`, or in an alternative with a sibling that contains
    /// `to`.
    fn is_closed(&self, of: &str, to: &str) -> bool {
        self.around(of).any(|(directory, sort)| {
            let is_sibling = |(sibling, _): (&str, Sort)| {
                sibling != directory && parent(sibling) == parent(directory)
            };
            !to.starts_with(directory) && (sort == Sort::Program || self.around(to).any(is_sibling))
        })
    }

    /// Fingerprint: equal for the same directories.
    pub(crate) fn number(&self) -> u64 {
        self.sorts.iter().fold(self.sorts.len() as u64, |sum, (directory, sort)| {
            sum.wrapping_add(FxBuildHasher.hash_one((directory, *sort == Sort::Program)))
        })
    }

    /// Returns the exclusive directories that contain a path.
    fn around<'p>(&self, path: &'p str) -> impl Iterator<Item = (&'p str, Sort)> {
        path.match_indices('/').filter_map(|(slash, _)| {
            let directory = &path[..=slash];
            self.sorts.get(directory).map(|sort| (directory, *sort))
        })
    }
}

/// Returns the parent of a directory, with a trailing slash.
fn parent(directory: &str) -> &str {
    let name = directory.trim_end_matches('/');
    &name[..name.rfind('/').map_or(0, |slash| slash + 1)]
}

/// Returns the splits of a path before a search directory: parent with a slash, parent and one
/// directory, and the rest.
fn splits(path: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let searched = search_directory(path).unwrap_or(0);
    path[..searched].match_indices('/').map(|(slash, _)| {
        let start = path[..slash].rfind('/').map_or(0, |before| before + 1);
        (&path[..start], &path[..=slash], &path[slash + 1..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alternatives() -> Alternatives {
        let mut paths = vec!["lib/x/include/x/a.h".to_owned(), "lib/y/include/y/a.h".to_owned()];
        for name in ["a", "b", "c"] {
            paths.extend(["cpu/one", "cpu/two", "", "kit"].map(|directory| {
                format!("{directory}/include/port/{name}.h").trim_start_matches('/').to_owned()
            }));
        }
        paths.extend(["a", "b"].map(|name| format!("cpu/few/include/port/{name}.h")));
        paths.extend(["one", "two"].map(|place| format!("drivers/{place}/main.c")));
        Alternatives::of(paths.iter().map(String::as_str))
    }

    #[test]
    fn siblings_with_the_same_include_paths_are_alternatives() {
        let known = alternatives();
        assert!(known.are_separate("core/a.c", "cpu/one/a.c"));
        assert!(known.are_separate("cpu/two/a.c", "cpu/one/a.c"));
        assert!(!known.are_separate("cpu/one/b.c", "cpu/one/a.c"));
        assert!(!known.are_separate("cpu/one/a.c", "core/a.c"), "all of them have the rest");
        assert!(!known.are_separate("core/a.c", "cpu/few/a.c"), "it has few paths in common");
        assert!(!known.are_separate("lib/x/a.c", "lib/y/a.c"));
        assert!(!known.are_separate("core/a.c", "drivers/one/main.c"), "no file is included");
        assert!(known.exclude_each_other("cpu/two/a.c", "cpu/one/a.c"));
        assert!(!known.exclude_each_other("core/a.c", "cpu/one/a.c"));
        assert!(!known.exclude_each_other("cpu/one/a.c", "core/a.c"));
    }

    #[test]
    fn a_directory_that_repeats_include_paths_of_its_parent_is_a_program() {
        let known = alternatives();
        assert!(
            known.are_separate("kit/a.c", "core/a.c") && known.are_separate("core/a.c", "kit/a.c")
        );
        assert!(!known.are_separate("kit/a.c", "kit/b.c"));
        assert!(known.exclude_each_other("kit/a.c", "core/a.c"));
        assert!(known.exclude_each_other("core/a.c", "kit/a.c"));
    }

    #[test]
    fn the_fingerprint_depends_on_the_directories() {
        let (one, other) = (alternatives(), alternatives());
        assert_eq!(one.number(), other.number());
        assert_ne!(one.number(), Alternatives::default().number());
    }
}
