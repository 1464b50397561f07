//! Unix socket of a runtime, in a directory of the user, and its lock file. The lock owner may
//! remove the stale socket of a dead process; the system releases the lock when its process ends.
//! The file next to the socket has the bearer token for HTTP, if none was given; read access to it
//! is as powerful as access to the socket.

use crate::runtime::error::ServeError;
use crate::runtime::http::guard::BearerToken;
use cograph_config::{FileRules, SECRET};
use cograph_faults::{Fault, planted};
use cograph_system::sockets::{self, LocalListener, LockFile};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Socket and lock. Drop removes the socket, then releases the lock.
#[derive(Debug)]
pub(super) struct SocketPlace {
    socket: PathBuf,
    _lock: LockFile,
}

impl SocketPlace {
    /// Acquires the lock and listens on the socket.
    pub(super) fn take(socket: &Path) -> Result<(Self, LocalListener), ServeError> {
        let directory = socket
            .parent()
            .filter(|directory| !directory.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        sockets::own_directory(directory)
            .map_err(|why| ServeError::Directory { directory: directory.to_path_buf(), why })?;
        let failed =
            |source: io::Error| ServeError::Socket { socket: socket.to_path_buf(), source };
        let lock = lock(socket)?;
        sockets::remove(socket).map_err(failed)?;
        let listener = sockets::bind(socket).map_err(failed)?;
        Ok((Self { socket: socket.to_path_buf(), _lock: lock }, listener))
    }
}

impl SocketPlace {
    /// Bearer token and its file. It is reused across restarts, so that configured clients keep
    /// working.
    pub(super) fn token(&self) -> Result<(BearerToken, PathBuf), ServeError> {
        let mut path = OsString::from(&self.socket);
        path.push(".token");
        let path = PathBuf::from(path);
        if let Some(token) = read_token(&path) {
            return Ok((token, path));
        }
        let made =
            make_token(&path).map_err(|source| ServeError::Token { path: path.clone(), source })?;
        Ok((made, path))
    }
}

/// Reads a token from a file with access for its owner only; none otherwise.
fn read_token(path: &Path) -> Option<BearerToken> {
    let text = FileRules { follows_links: false, ..SECRET }.read(path).ok()??;
    BearerToken::new(&text)
}

/// Generates a token and replaces its file.
fn make_token(path: &Path) -> io::Result<BearerToken> {
    let (token, text) = BearerToken::random()?;
    sockets::replace_private(path, format!("{text}\n").as_bytes())?;
    Ok(token)
}

impl Drop for SocketPlace {
    fn drop(&mut self) {
        if let Err(error) = sockets::remove(&self.socket) {
            tracing::warn!(%error, "the socket cannot be removed");
        }
    }
}

/// Acquires the lock file of the socket, or returns the process that holds it.
fn lock(socket: &Path) -> Result<LockFile, ServeError> {
    let mut path = OsString::from(socket);
    path.push(".lock");
    let failed = |source: io::Error| ServeError::Socket { socket: socket.to_path_buf(), source };
    let lock = LockFile::open(Path::new(&path)).map_err(failed)?;
    if !lock.try_lock().map_err(failed)? && !planted(Fault::UnlinkAndHope) {
        let process = lock.owner();
        return Err(ServeError::AlreadyServed { socket: socket.to_path_buf(), process });
    }
    lock.sign().map_err(failed)?;
    Ok(lock)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_place_has_one_owner_and_what_a_dead_one_left_is_taken_over() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let socket = place.path().join("a/b/socket");
        let (first, listener) = SocketPlace::take(&socket).expect("no process listens");
        let mode =
            |path: &Path| std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
        assert_eq!((mode(socket.parent().expect("it has one")), mode(&socket)), (0o700, 0o600));
        let second = SocketPlace::take(&socket).expect_err("a process listens");
        let own = std::process::id();
        assert!(
            matches!(
                second, ServeError::AlreadyServed { process: Some(process), .. } if process == own
            ),
            "{second}"
        );
        drop((first, listener));
        assert!(!socket.exists());
        drop(UnixListener::bind(&socket).expect("the name is free"));
        assert!(socket.exists(), "a process that is killed leaves its socket");
        drop(SocketPlace::take(&socket).expect("no process holds the lock"));
    }

    #[test]
    fn a_token_is_made_once_and_one_that_others_could_read_or_have_put_there_is_made_anew() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let (place, _listener) =
            SocketPlace::take(&place.path().join("own/socket")).expect("no process listens");
        let (first, path) = place.token().expect("it can be made");
        let mode = || std::fs::symlink_metadata(&path).expect("it exists").permissions().mode();
        assert_eq!(mode(), 0o100_600);
        assert_eq!(place.token().expect("it exists"), (first.clone(), path.clone()));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644))
            .expect("it is ours");
        let (second, _) = place.token().expect("it can be made");
        assert!(second != first && mode() == 0o100_600);
        let elsewhere = path.with_file_name("elsewhere");
        std::fs::rename(&path, &elsewhere).expect("it is ours");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("the name is free");
        let (third, _) = place.token().expect("it can be made");
        assert!(third != second && mode() == 0o100_600, "no link is followed");
        std::fs::write(&path, "short").expect("it is ours");
        assert!(place.token().expect("it can be made").0 != third);
    }

    #[test]
    fn a_place_that_others_can_use_or_that_is_taken_by_something_else_is_none() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let open = place.path().join("open");
        std::fs::create_dir(&open).expect("the name is free");
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755))
            .expect("it is ours");
        let error = SocketPlace::take(&open.join("socket")).expect_err("others may use it");
        assert!(
            matches!(&error, ServeError::Directory { why, .. } if why.contains("755")),
            "{error}"
        );
        // The umask decides the mode of a new directory.
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o700))
            .expect("it is ours");
        let file = open.join("file");
        std::fs::write(&file, "precious").expect("the name is free");
        assert!(matches!(SocketPlace::take(&file), Err(ServeError::Socket { .. })));
        assert_eq!(std::fs::metadata(&file).expect("it exists").len(), 8);
    }
}
