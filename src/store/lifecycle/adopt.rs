//! A store of another place becomes that of a repository: verified, with an identity of its own,
//! whole or not at all. Where it comes from is the caller's: another checkout (`seed`), or another
//! machine.

use std::fs::{self, OpenOptions};
use std::path::Path;

use rusqlite::{Connection, params};

use crate::build::{next_generation, put_in_place, random_number, signed};
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::location::{Location, WriterLock};
use crate::format::rows::{Identity, Meta};
use crate::format::{segment, statements};
use crate::read::connection::check_header;
use crate::read::meta;
use cograph_model::graph::UNTRUSTED_TIME;
use cograph_system::owner;

const ADOPTING: &str = "taking over a store for";

/// What a store must be to be adopted, and what comes with it.
#[derive(Clone, Copy, Debug)]
pub struct Adoption<'a> {
    /// Code, limits and stated edges that it must be built from.
    pub fingerprint: u64,
    /// Its segment; without one the first change is a full build.
    pub segment: Option<&'a Path>,
    /// Whether its stamps are of the files of this repository. Otherwise all files are compared by
    /// contents.
    pub trusts_stamps: bool,
}

/// Makes the store that `write` writes to a path the newest generation of a repository. It must
/// be a whole store of this format and fingerprint: after an error, also one of `write`, nothing
/// has changed. Its rows are then brought up to date like after any change.
pub fn adopt(
    lock: &WriterLock,
    adoption: Adoption<'_>,
    write: impl FnOnce(&Path) -> Result<(), StoreError>,
) -> Result<Identity, StoreError> {
    lock.remove_leftovers();
    let location = lock.location();
    let generation = next_generation(location)?;
    let temporary = location.temporary_path(generation);
    let placed = write(&temporary)
        .and_then(|()| prepare(location, &temporary, generation, adoption))
        .and_then(|identity| {
            let own = location.generation_path(generation);
            // Before the store, so that none is visible without its segment.
            if let Some(segment) = adoption.segment {
                segment::share(segment, &own);
            }
            put_in_place(&temporary, &own, location.directory())?;
            Ok(identity)
        });
    match placed {
        Ok(_) => lock.remove_superseded(generation),
        Err(_) => lock.remove_leftovers(),
    }
    placed
}

/// Verifies a store that is not visible yet, and makes it that of this repository.
fn prepare(
    location: &Location,
    store: &Path,
    generation: u64,
    adoption: Adoption<'_>,
) -> Result<Identity, StoreError> {
    let failed = |error| StoreError::from_sqlite(ADOPTING, store, &error);
    let io = |error| StoreError::from_io(ADOPTING, store, &error);
    // A copy has the permissions of its source.
    owner::set_private(store, 0o600).map_err(io)?;
    check_header(store)?;
    let connection = Connection::open(store).map_err(failed)?;
    connection.execute_batch(statements::WRITER_SETTINGS).map_err(failed)?;
    let damage: String = connection
        .query_row(statements::QUICK_CHECK.text(), [], |row| row.get(0))
        .map_err(failed)?;
    if damage != "ok" {
        return Err(StoreError::new(StoreErrorKind::Corrupt, ADOPTING, store, damage));
    }
    let Meta { identity: theirs, fingerprint, .. } = meta::meta(&connection).map_err(failed)?;
    if fingerprint != adoption.fingerprint {
        let detail = "it is built by other rules";
        return Err(StoreError::new(StoreErrorKind::OtherVersion, ADOPTING, store, detail));
    }
    let identity = Identity { uid: theirs.uid_of_copy(random_number()), generation };
    let rewrite = || -> rusqlite::Result<()> {
        connection.prepare(statements::SET_PLACE.text())?.execute(params![
            signed(identity.uid),
            generation,
            location.root().as_os_str().as_encoded_bytes()
        ])?;
        if !adoption.trusts_stamps {
            connection.prepare(statements::DOUBT_STAMPS.text())?.execute([UNTRUSTED_TIME])?;
        }
        connection.execute_batch(statements::SHARED_SETTINGS)
    };
    rewrite().map_err(failed)?;
    connection.close().map_err(|(_, error)| failed(error))?;
    // Some systems sync only what was opened to write.
    let written = OpenOptions::new().write(true).open(store);
    written.and_then(|file: fs::File| file.sync_all()).map_err(io)?;
    Ok(identity)
}
