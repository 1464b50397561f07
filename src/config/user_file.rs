//! The one way to read a file that the user names: a regular file of a bounded size. It is opened
//! without waiting, so that a pipe or a device cannot hold the program up.

use cograph_system::files::{self, is_absent, is_special};
use cograph_system::owner::{self, SUPERUSER};
use std::io::{self, Read};
use std::path::Path;

/// What a file must be, besides regular.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileRules {
    /// Maximum size, in bytes.
    pub most_bytes: u64,
    /// True if a link is followed as the last part of the path.
    pub follows_links: bool,
    /// True if only this user, or the superuser, may own the file, and only its owner may use it.
    pub is_secret: bool,
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It could not be opened or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is a directory, a pipe, a socket or a device.
    #[error("it is no regular file")]
    NotRegular,
    /// It is larger than any file of its purpose.
    #[error("it is larger than {} KB", most_bytes >> 10)]
    TooLarge {
        /// Maximum size, in bytes.
        most_bytes: u64,
    },
    /// Another user could have written the secret.
    #[error("it belongs to user {owner}")]
    Foreign {
        /// Owner.
        owner: u32,
    },
    /// Others know the secret, or could have written it.
    #[error("its group or others may read or write it (mode {mode:03o})")]
    Exposed {
        /// Permissions.
        mode: u32,
    },
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => error,
            other => Self::other(other.to_string()),
        }
    }
}

impl FileRules {
    /// A file of settings.
    pub const fn settings(most_bytes: u64) -> Self {
        Self { most_bytes, follows_links: true, is_secret: false }
    }

    /// Reads a text; `None` if there is no file.
    pub fn read(self, path: &Path) -> Result<Option<String>, FileError> {
        let file = match files::open(path, self.follows_links) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(FileError::NotRegular);
        }
        if self.is_secret {
            let owner = owner::owner_of(&found);
            if ![owner::effective_user(), SUPERUSER].contains(&owner) {
                return Err(FileError::Foreign { owner });
            }
            let mode = owner::permissions(&found) & 0o777;
            if mode & 0o066 != 0 {
                return Err(FileError::Exposed { mode });
            }
        }
        let mut text = String::new();
        if found.len() <= self.most_bytes {
            file.take(self.most_bytes + 1).read_to_string(&mut text)?;
        }
        if found.len().max(text.len() as u64) > self.most_bytes {
            return Err(FileError::TooLarge { most_bytes: self.most_bytes });
        }
        Ok(Some(text))
    }
}

/// True if reading the path to its end takes neither a writer nor more than `most_bytes`: for
/// files that a library opens.
pub fn is_bounded(path: &Path, most_bytes: u64) -> bool {
    let Ok(found) = path.metadata() else { return true };
    let is_null = || path.canonicalize().is_ok_and(|real| real == Path::new("/dev/null"));
    match is_special(&found) {
        true => is_null(),
        false => found.len() <= most_bytes,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use rustix::fs::Mode;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const RULES: FileRules = FileRules::settings(16);
    const SECRET: FileRules = FileRules { is_secret: true, ..RULES };

    fn pipe(path: &Path) {
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).expect("the name is free");
    }

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| place.path().join(name);
        assert!(matches!(RULES.read(&at("none")), Ok(None)));
        fs::write(at("file"), "x".repeat(16)).expect("written");
        assert_eq!(RULES.read(&at("file")).expect("it can be read"), Some("x".repeat(16)));
        assert!(matches!(RULES.read(&at("file/none")), Ok(None)));
        fs::write(at("large"), "x".repeat(17)).expect("written");
        let large = RULES.read(&at("large"));
        assert!(matches!(large, Err(FileError::TooLarge { most_bytes: 16 })), "{large:?}");
        pipe(&at("pipe"));
        for special in [at("pipe"), at("."), "/dev/zero".into(), "/dev/null".into()] {
            let read = RULES.read(&special);
            assert!(matches!(read, Err(FileError::NotRegular)), "{special:?}: {read:?}");
        }
        let _listener = std::os::unix::net::UnixListener::bind(at("socket")).expect("it is free");
        assert!(RULES.read(&at("socket")).is_err());
        fs::write(at("latin"), b"caf\xe9").expect("written");
        assert!(matches!(RULES.read(&at("latin")), Err(FileError::Io(_))));
        symlink(at("file"), at("link")).expect("the name is free");
        assert!(matches!(RULES.read(&at("link")), Ok(Some(_))));
        assert!(FileRules { follows_links: false, ..RULES }.read(&at("link")).is_err());
    }

    #[test]
    fn a_secret_is_for_its_owner_alone() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("secret");
        fs::write(&path, "text").expect("written");
        for (mode, is_read) in
            [(0o600, true), (0o400, true), (0o700, true), (0o644, false), (0o640, false)]
        {
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is ours");
            let read = SECRET.read(&path);
            assert_eq!(matches!(read, Ok(Some(_))), is_read, "{mode:o}: {read:?}");
            let refused = matches!(read, Err(FileError::Exposed { mode: said }) if said == mode);
            assert_eq!(refused, !is_read, "{mode:o}: {read:?}");
        }
        fs::set_permissions(&path, PermissionsExt::from_mode(0o602)).expect("it is ours");
        assert!(SECRET.read(&path).is_err(), "others could have written it");
        assert!(RULES.read(&path).is_ok(), "settings are no secret");
    }

    #[test]
    fn what_a_library_reads_to_its_end_has_one() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| place.path().join(name);
        fs::write(at("file"), "x".repeat(16)).expect("written");
        pipe(&at("pipe"));
        for (path, is) in [
            (at("file"), true),
            (at("none"), true),
            (at("pipe"), false),
            ("/dev/null".into(), true),
            ("/dev/zero".into(), false),
        ] {
            assert_eq!(is_bounded(&path, 16), is, "{path:?}");
        }
        assert!(!is_bounded(&at("file"), 15));
    }
}
