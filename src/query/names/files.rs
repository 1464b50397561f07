//! Files by their path or a suffix of it.

use super::text;
use crate::graph::error::QueryError;
use crate::graph::lookup::{Lookup, is_path_suffix};
use cograph_store::{FileKey, FileRow};
use std::rc::Rc;

/// Maximum number of candidates and of similar names in an error.
pub(crate) const MAX_LISTED: usize = 20;

pub(crate) const MAX_NEAR: usize = 8;

/// Returns the only file that `wanted` names by its path or a suffix of it.
pub(crate) fn file(lookup: &Lookup<'_>, wanted: &str) -> Result<Rc<FileRow>, QueryError> {
    let wanted = wanted.strip_prefix("./").unwrap_or(wanted);
    let mut found = files(lookup, wanted)?;
    match found.len() {
        0 => Err(QueryError::NoSuchPath {
            path: wanted.to_owned(),
            near: near_paths(lookup, wanted)?,
        }),
        1 => lookup.file(found.swap_remove(0)),
        total => {
            let choices = found
                .iter()
                .take(MAX_LISTED)
                .map(|&key| lookup.place(key).map(|file| file.path.to_string()));
            let choices = choices.collect::<Result<_, _>>()?;
            Err(QueryError::AmbiguousPath { path: wanted.to_owned(), choices, total: total as u64 })
        }
    }
}

/// Returns paths similar to one that does not exist.
pub(crate) fn near_paths(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<String>, QueryError> {
    let name = wanted.rsplit('/').next().unwrap_or(wanted);
    let lower = name.to_lowercase();
    let mut near = Vec::new();
    for (_, path) in lookup.snapshot.paths()? {
        lookup.check()?;
        let own = path.rsplit('/').next().unwrap_or(&path);
        let score = if own.eq_ignore_ascii_case(name) {
            Some(0)
        } else if let Some(errors) = text::distance(own, name, 2) {
            Some(errors)
        } else if lower.len() >= 3 && text::contains_ignoring_case(&path, &lower) {
            Some(3)
        } else {
            None
        };
        near.extend(score.map(|score| (score, path.len(), path)));
    }
    near.sort_unstable();
    Ok(near.into_iter().take(MAX_NEAR).map(|(_, _, path)| path).collect())
}

/// Returns the file that `path` names, if it names one.
pub(crate) fn one_file(lookup: &Lookup<'_>, path: &str) -> Result<Option<Rc<FileRow>>, QueryError> {
    match file(lookup, path) {
        Ok(file) => Ok(Some(file)),
        Err(QueryError::NoSuchPath { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the file with the path `wanted`, or else those whose path ends with it.
pub(crate) fn files(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<FileKey>, QueryError> {
    let wanted = wanted.strip_prefix("./").unwrap_or(wanted);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(file) = lookup.snapshot.file_at(wanted)? {
        return Ok(vec![file.key]);
    }
    let paths = lookup.snapshot.path_table()?;
    let mut found = paths.ending_with(wanted);
    found.retain(|(_, path)| is_suffix(wanted, path));
    found.sort_unstable_by_key(|(_, path)| *path);
    Ok(found.into_iter().map(|(key, _)| key).collect())
}

pub(crate) fn is_suffix(wanted: &str, path: &str) -> bool {
    cograph_model::RepoPath::new(path).is_some_and(|path| is_path_suffix(wanted, &path))
}
