//! Sockets of this machine and of this user: the pair inside of a process, the one that a process
//! listens on in a private directory, and its lock file.
//!
//! Windows has none that a program could hold for one user alone with what is used here: a pair is
//! two ends of the loopback device, and nothing is listened on or connected to.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::owner;

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub use unix::{
    ARE_THERE, LocalListener, LocalStream, bind, is_listened_on, own_directory, pair, remove,
};
#[cfg(not(unix))]
pub use windows::{
    ARE_THERE, LocalListener, LocalStream, bind, is_listened_on, own_directory, pair, remove,
};

/// The error where there are no sockets of a user.
pub fn unsupported() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this system has no sockets of a user")
}

/// Lock file. The lock alone decides who owns it, and the system gives it back when its process
/// ends; the content says who that is.
#[derive(Debug)]
pub struct LockFile(File);

impl LockFile {
    /// Opens the file, for this user alone; follows no link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = owner::private_options();
        owner::follow_no_link(&mut options);
        Ok(Self(options.read(true).write(true).create(true).truncate(false).open(path)?))
    }

    /// Takes the lock. False if another holds it.
    pub fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Process that has signed, if it can be read. On Windows it cannot while the lock is held.
    pub fn owner(&self) -> Option<u32> {
        let mut text = String::new();
        (&self.0).take(16).read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }

    /// Writes the number of this process.
    pub fn sign(&self) -> io::Result<()> {
        self.0.set_len(0)?;
        (&self.0).write_all(format!("{}\n", std::process::id()).as_bytes())
    }
}

/// Replaces a file by one for this user alone.
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A new file: none that another has put there meanwhile is opened.
    let mut file = owner::private_options().write(true).create_new(true).open(path)?;
    file.write_all(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_pair_are_connected_to_each_other() {
        let (mut one, mut other) = pair().expect("a pair can be made");
        one.write_all(b"there").expect("it is open");
        other.write_all(b"back").expect("it is open");
        let mut read = [[0; 5]; 2];
        other.read_exact(&mut read[0]).expect("it was written");
        one.read_exact(&mut read[1][..4]).expect("it was written");
        assert_eq!(&read, &[*b"there", *b"back\0"]);
        drop(one);
        assert_eq!(other.read(&mut read[0]).expect("an end is no error"), 0);
    }

    #[test]
    fn a_lock_has_one_owner_until_it_is_dropped() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("lock");
        let first = LockFile::open(&path).expect("it can be made");
        let second = LockFile::open(&path).expect("it exists");
        assert!(first.try_lock().expect("it can be asked"));
        first.sign().expect("it is ours");
        assert!(!second.try_lock().expect("it can be asked"));
        let owner = second.owner();
        assert!(owner == Some(std::process::id()) || cfg!(windows) && owner.is_none(), "{owner:?}");
        drop(first);
        assert!(second.try_lock().expect("it can be asked"));
    }

    #[test]
    fn a_private_file_is_replaced_whole() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("file");
        for content in ["a long text", "short"] {
            replace_private(&path, content.as_bytes()).expect("it is ours");
            let text = io::read_to_string(File::open(&path).expect("it exists"));
            assert_eq!(text.expect("it is text"), content);
        }
    }
}
