//! Headers: those outside of a repository that a file includes, and the files of a library that
//! such a path leads to, with what they include in turn.

use rustc_hash::FxHashSet;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_store::FileKey;

/// Maximum number of files that a file includes, directly or not.
const MAX_INCLUDED: usize = 4000;

/// Directories whose headers are for others.
const PUBLIC: [&str; 4] = ["include", "includes", "inc", "public"];

/// Paths of the headers outside that a file includes, itself or through files of the repository;
/// sorted.
pub(super) fn outside(lookup: &Lookup<'_>, file: FileKey) -> Result<Vec<String>, QueryError> {
    let mut found = Vec::new();
    included(lookup, vec![file], |module| found.push(module.to_owned()))?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The files that a path of a header leads to, and those that they include. Of several ends the
/// headers in directories for others are meant.
pub(super) fn at_path(lookup: &Lookup<'_>, path: &str) -> Result<Vec<FileKey>, QueryError> {
    let path = path.trim_start_matches("./").trim_start_matches("../");
    let paths = lookup.snapshot.path_table()?;
    let whole = |known: &str| {
        let above = known.strip_suffix(path)?;
        let directory = above.strip_suffix('/').unwrap_or(above);
        (above.is_empty() || above.ends_with('/')).then(|| directory.to_owned())
    };
    let ending = paths.ending_with(path).into_iter();
    let ending = ending.filter_map(|(key, known)| Some((key, whole(known)?)));
    let mut found: Vec<(FileKey, String)> = ending.collect();
    let is_public =
        |directory: &str| PUBLIC.contains(&directory.rsplit('/').next().unwrap_or(directory));
    if found.iter().any(|(_, directory)| is_public(directory)) {
        found.retain(|(_, directory)| is_public(directory));
    }
    // A header next to the sources; of several the outermost one.
    if let Some(least) = found.iter().map(|(_, above)| above.matches('/').count()).min() {
        found.retain(|(_, above)| above.matches('/').count() == least);
    }
    let files = found.into_iter().map(|(key, _)| key).collect();
    included(lookup, files, |_| ())
}

/// Files that can be reached over includes, with those to begin with; `outside` has the paths that
/// lead to no file.
fn included(
    lookup: &Lookup<'_>,
    from: Vec<FileKey>,
    mut outside: impl FnMut(&str),
) -> Result<Vec<FileKey>, QueryError> {
    let mut seen: FxHashSet<FileKey> = from.iter().copied().collect();
    let (mut found, mut next) = (from, 0);
    while let Some(&file) = found.get(next).filter(|_| found.len() < MAX_INCLUDED) {
        next += 1;
        lookup.check()?;
        for import in lookup.snapshot.imports_of(file)? {
            match import.target {
                Some(target) if seen.insert(target) => found.push(target),
                Some(_) => {}
                None if import.item.is_none() => outside(&import.module),
                None => {}
            }
        }
    }
    Ok(found)
}
