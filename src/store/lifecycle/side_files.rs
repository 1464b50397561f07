//! Files next to the stores of a repository that a re-index does not replace: what is not made from
//! its files, such as its history and its coverage. Private to the user, written whole, bounded.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::read::connection::Store;
use cograph_system::owner::private_options;

/// Maximum size of such a file.
pub const MAX_SIDE_FILES: u64 = 256 << 20;

/// Content of the file of this name; none if there is none that can be read.
pub fn read_side_file(store: &Store, name: &str) -> Option<Vec<u8>> {
    read_in(store.path().parent()?, name)
}

/// Content of the file of this name in the directory of a store.
pub fn read_in(directory: &Path, name: &str) -> Option<Vec<u8>> {
    let file = File::open(directory.join(name)).ok()?;
    if file.metadata().ok()?.len() > MAX_SIDE_FILES {
        return None;
    }
    let mut content = Vec::new();
    file.take(MAX_SIDE_FILES).read_to_end(&mut content).ok()?;
    Some(content)
}

/// The first bytes of the file of this name in the directory of a store; none if there are fewer.
pub fn read_side_head<const N: usize>(directory: &Path, name: &str) -> Option<[u8; N]> {
    let mut head = [0; N];
    File::open(directory.join(name)).ok()?.read_exact(&mut head).ok()?;
    Some(head)
}

/// Replaces the file of this name. Of two writers at once, one wins.
pub fn write_side_file(store: &Store, name: &str, content: &[u8]) -> io::Result<()> {
    let directory = store.path().parent().ok_or(io::ErrorKind::NotFound)?;
    if content.len() as u64 > MAX_SIDE_FILES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "too large for the cache"));
    }
    let temporary = directory.join(format!("{name}.{}", std::process::id()));
    let path = directory.join(name);
    let written = private_options()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        // Best effort: it only occupies disk space.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Removes the file of this name; false if there is none.
pub fn remove_side_file(store: &Store, name: &str) -> io::Result<bool> {
    let directory = store.path().parent().ok_or(io::ErrorKind::NotFound)?;
    match fs::remove_file(directory.join(name)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
