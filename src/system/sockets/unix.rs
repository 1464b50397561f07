//! Unix sockets in a private directory.

use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode};
use rustix::io::Errno;

/// Listener of a socket.
pub use std::os::unix::net::UnixListener as LocalListener;
/// Connected socket.
pub use std::os::unix::net::UnixStream as LocalStream;

/// True: there are such sockets.
pub const ARE_THERE: bool = true;

/// Two connected sockets.
pub fn pair() -> io::Result<(LocalStream, LocalStream)> {
    LocalStream::pair()
}

/// Listens on a path, for this user alone, without blocking in `accept`.
pub fn bind(path: &Path) -> io::Result<LocalListener> {
    let listener = LocalListener::bind(path)?;
    rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// True if a process listens on a path.
pub fn is_listened_on(path: &Path) -> bool {
    LocalStream::connect(path).is_ok()
}

/// Removes a stale socket. Any other file of that name stays and causes an error.
pub fn remove(path: &Path) -> io::Result<()> {
    match rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::Socket => Err(
            io::Error::new(io::ErrorKind::AlreadyExists, "there is something else with this name"),
        ),
        Ok(_) => Ok(rustix::fs::unlink(path)?),
    }
}

/// Creates the directory if it is missing; returns why it is not owned by the user and private.
pub fn own_directory(directory: &Path) -> Result<(), String> {
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|path| matches!(rustix::fs::stat(*path), Err(Errno::NOENT)))
        .collect();
    for path in missing.into_iter().rev().filter(|path| !path.as_os_str().is_empty()) {
        match rustix::fs::mkdirat(CWD, path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let found = rustix::fs::stat(directory).map_err(|error| error.to_string())?;
    let mode = Mode::from_raw_mode(found.st_mode);
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return Err("it is no directory".to_owned());
    }
    if found.st_uid != rustix::process::geteuid().as_raw() {
        return Err(format!("it belongs to user {}", found.st_uid));
    }
    if mode.intersects(Mode::RWXG | Mode::RWXO) {
        return Err(format!("others may use it (mode {:o})", mode.as_raw_mode()));
    }
    Ok(())
}
