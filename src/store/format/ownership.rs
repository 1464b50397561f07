//! Ownership and permissions of the cache: private to its user; files of other users are not read.

use std::fs;
use std::io;
use std::path::Path;

use cograph_system::owner::{self, SUPERUSER};

use super::error::{StoreError, StoreErrorKind};

const FOR_OTHERS: u32 = 0o077;
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

const ATTEMPT: &str = "using the cache";

/// Fails if a directory of the cache belongs to another user, or is writable by all without the
/// sticky bit, so that others could replace its files. A missing directory is accepted.
pub(crate) fn check(directory: &Path) -> Result<(), StoreError> {
    let failed = |error: &io::Error| StoreError::from_io(ATTEMPT, directory, error);
    let found = match fs::metadata(directory) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(&error)),
    };
    let refused =
        |why: String| Err(StoreError::new(StoreErrorKind::Permission, ATTEMPT, directory, why));
    let (of, mode) = (owner::owner_of(&found), owner::permissions(&found));
    if of != SUPERUSER && of != owner::effective_user() {
        return refused(format!("it belongs to user {of}"));
    }
    if found.is_dir() && mode & (WRITABLE_BY_ALL | STICKY) == WRITABLE_BY_ALL {
        return refused(format!("any user may write it (mode {mode:o})"));
    }
    Ok(())
}

/// Creates the private directory of a repository's stores and missing parents. Revokes access of
/// others to an existing one; a parent may have other contents and stays unchanged.
pub(super) fn make(directory: &Path) -> Result<(), StoreError> {
    let failed =
        |error: io::Error| StoreError::from_io("creating store directory", directory, &error);
    if let Some(cache) = directory.parent() {
        check(cache)?;
    }
    owner::create_private_directory(directory).map_err(failed)?;
    let found = fs::metadata(directory).map_err(failed)?;
    if owner::has_another(&found) {
        let why = format!("it belongs to user {}", owner::owner_of(&found));
        return Err(StoreError::new(StoreErrorKind::Permission, ATTEMPT, directory, why));
    }
    // A directory that its owner made read-only stays as it is.
    let mode = owner::permissions(&found);
    if mode & 0o200 != 0 && mode & FOR_OTHERS != 0 {
        owner::set_private(directory, mode).map_err(failed)?;
    }
    Ok(())
}
