//! A file that belongs to another program: read, kept a copy of, and replaced in one step. Knows
//! nothing of what is in it.
//!
//! The name of a copy ends in the hash of what the file became. While the file still is that, the
//! copy is what was there before and can be put back as a whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::Stop;
use crate::cli::clients;
use crate::cli::output::shown;

/// The file, where its links lead.
pub(super) struct ConfigFile {
    path: PathBuf,
    /// The directory that it must lie in, if it must.
    within: Option<PathBuf>,
    /// What was in it when it was read; none if there was no file.
    text: Option<String>,
}

fn failure(attempt: &str, path: &Path, error: &io::Error) -> Stop {
    Stop::Failure {
        message: format!("cannot {attempt} {}: {error}", shown(path)),
        hint: "check the permissions of the file and of its directory; it is as it was".to_owned(),
    }
}

impl ConfigFile {
    /// Reads the file at a path, which must not lead out of a directory if one is given.
    pub(super) fn read(path: &Path, within: Option<&Path>) -> Result<Self, Stop> {
        contained(path, within)?;
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let path = match path.canonicalize() {
            Ok(real) => real,
            Err(error) if is_link => return Err(failure("follow the link", path, &error)),
            Err(_) => path.to_path_buf(),
        };
        let text = clients::read(&path).map_err(|error| failure("read", &path, &error))?;
        Ok(Self { path, within: within.map(Path::to_path_buf), text })
    }

    /// Reads it again, as it is now.
    pub(super) fn again(&self) -> Result<Self, Stop> {
        Self::read(&self.path, self.within.as_deref())
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is in it: nothing if it does not exist.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Whether there is a file.
    pub(super) fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Keeps a copy for the time when the file says `changed`. Gives its path; none if there is
    /// nothing to keep.
    pub(super) fn keep(&self, changed: &str) -> Result<Option<PathBuf>, Stop> {
        let Some(text) = &self.text else { return Ok(None) };
        contained(&self.path, self.within.as_deref())?;
        let copy = self.copy(changed);
        self.replace(&copy, text).map_err(|error| failure("write the copy", &copy, &error))?;
        Ok(Some(copy))
    }

    /// What was there before the file said what it says now.
    pub(super) fn before(&self, text: &str) -> Option<(PathBuf, String)> {
        let copy = self.copy(text);
        let kept = clients::read_here(&copy).ok()??;
        Some((copy, kept))
    }

    /// Writes another text, unless somebody else has done so in between.
    pub(super) fn write(&self, text: &str) -> Result<(), Stop> {
        self.check()?;
        self.replace(&self.path, text).map_err(|error| failure("write", &self.path, &error))
    }

    /// Removes the file, unless somebody has changed it in between.
    pub(super) fn remove(&self) -> Result<(), Stop> {
        self.check()?;
        fs::remove_file(&self.path).map_err(|error| failure("remove", &self.path, &error))
    }

    fn check(&self) -> Result<(), Stop> {
        contained(&self.path, self.within.as_deref())?;
        let now = clients::read(&self.path).map_err(|error| failure("read", &self.path, &error))?;
        if now == self.text {
            return Ok(());
        }
        Err(Stop::Failure {
            message: format!("{} was changed by another program at this moment", shown(&self.path)),
            hint: "run the command again".to_owned(),
        })
    }

    fn copy(&self, text: &str) -> PathBuf {
        let hash = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
        self.path.with_file_name(beside(&self.path, &format!(".cograph-{hash:016x}.bak")))
    }

    /// A whole file or none, with the permissions of the one at this place.
    fn replace(&self, target: &Path, text: &str) -> io::Result<()> {
        if let Some(directory) = target.parent() {
            fs::create_dir_all(directory)?;
        }
        let temporary =
            target.with_file_name(beside(target, &format!(".{}.tmp", std::process::id())));
        // One that is there is left over from a process that had our number and is gone.
        let _ = fs::remove_file(&temporary);
        let written = File::create_new(&temporary).and_then(|mut file| {
            if let Ok(known) = fs::metadata(&self.path) {
                file.set_permissions(known.permissions())?;
            }
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        let replaced = written.and_then(|()| fs::rename(&temporary, target));
        if replaced.is_err() {
            // The error that counts is the one before.
            let _ = fs::remove_file(&temporary);
        }
        replaced
    }
}

/// Fails if a path leads out of a directory: what is in a repository decides nothing about files
/// elsewhere.
fn contained(path: &Path, within: Option<&Path>) -> Result<(), Stop> {
    let Some(target) = within.and_then(|within| clients::outside(path, within)) else {
        return Ok(());
    };
    Err(Stop::Failure {
        message: format!("{} leads out of the repository, to {}", shown(path), shown(&target)),
        hint: "put a file in the place of the link, or change the one that it leads to with \
               --scope user"
            .to_owned(),
    })
}

fn beside(path: &Path, ending: &str) -> OsString {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    name
}
