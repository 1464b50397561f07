//! Ownership and permissions of the cache: private to its user; files of other users are not read.

use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::error::{StoreError, StoreErrorKind};

/// Root is trusted.
const ROOT: u32 = 0;
const FOR_OTHERS: u32 = 0o077;
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

const ATTEMPT: &str = "using the cache";

/// Options for creating private files.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

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
    if found.uid() != ROOT && found.uid() != rustix::process::geteuid().as_raw() {
        return refused(format!("it belongs to user {}", found.uid()));
    }
    if found.is_dir() && found.mode() & (WRITABLE_BY_ALL | STICKY) == WRITABLE_BY_ALL {
        return refused(format!("any user may write it (mode {:o})", found.mode() & 0o7777));
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
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    let found = fs::metadata(directory).map_err(failed)?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        let why = format!("it belongs to user {}", found.uid());
        return Err(StoreError::new(StoreErrorKind::Permission, ATTEMPT, directory, why));
    }
    // A directory that its owner made read-only stays as it is.
    if found.mode() & 0o200 != 0 && found.mode() & FOR_OTHERS != 0 {
        fs::set_permissions(directory, Permissions::from_mode(found.mode() & 0o700))
            .map_err(failed)?;
    }
    Ok(())
}
