//! Explains an empty answer in a repository without indexed files: no file is in a supported
//! language.

use crate::graph::error::QueryError;
use cograph_grammar as grammar;
use cograph_store::Snapshot;

/// Repository with files but without symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unread {
    /// Number of files.
    pub files: u64,
    /// Supported languages.
    pub languages: Vec<&'static str>,
}

/// Returns the explanation if no file of a repository is in a supported language.
pub fn unread(snapshot: &Snapshot) -> Result<Option<Unread>, QueryError> {
    let (files, symbols) = (snapshot.meta().files, snapshot.meta().symbols);
    if files == 0 || symbols > 0 || snapshot.files()?.iter().any(|file| file.skipped.is_none()) {
        return Ok(None);
    }
    Ok(Some(Unread { files, languages: grammar::names() }))
}
