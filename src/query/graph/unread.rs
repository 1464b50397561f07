//! What is behind an answer about symbols in a repository of which nothing is read: there are
//! files, and none is in a known language.

use crate::grammar;
use crate::query::QueryError;
use crate::store::Snapshot;

/// A repository without a symbol, though there are files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    /// How many files there are.
    pub files: u64,
    /// The languages that are read.
    pub languages: Vec<&'static str>,
}

/// Says so where none of the files of a repository is in a language that is read.
pub fn unread(snapshot: &Snapshot) -> Result<Option<Unread>, QueryError> {
    let (files, symbols) = (snapshot.meta().files, snapshot.meta().symbols);
    if files == 0 || symbols > 0 || snapshot.files()?.iter().any(|file| file.skipped.is_none()) {
        return Ok(None);
    }
    Ok(Some(Unread { files, languages: grammar::names() }))
}
