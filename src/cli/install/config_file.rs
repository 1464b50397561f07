//! Configuration file of another program: read, backed up, and replaced atomically. Independent of
//! its format.
//!
//! The name of a backup ends in the hash of the contents that replaced it. While the file has those
//! contents, the backup is the previous version and can be restored as a whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::clients;
use crate::output::numbers::shown;
use crate::output::stop::Stop;
use cograph_system::files;
use similar::TextDiff;

/// Path, with symlinks resolved.
pub(super) struct ConfigFile {
    path: PathBuf,
    /// Directory that must contain it.
    within: Option<PathBuf>,
    /// Contents; none if the file does not exist.
    text: Option<String>,
}

fn failure(attempt: &str, path: &Path, error: &io::Error) -> Stop {
    Stop::Failure {
        message: format!("cannot {attempt} {}: {error}", shown(path)),
        hint: "check the permissions of the file and of its directory; it is as it was".to_owned(),
    }
}

impl ConfigFile {
    /// Reads the file at a path, which must not leave the given directory.
    pub(super) fn read(path: &Path, within: Option<&Path>) -> Result<Self, Stop> {
        contained(path, within)?;
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let path = match files::canonical(path) {
            Ok(real) => real,
            Err(error) if is_link => return Err(failure("follow the link", path, &error)),
            Err(_) => path.to_path_buf(),
        };
        let text = clients::read(&path).map_err(|error| failure("read", &path, &error))?;
        Ok(Self { path, within: within.map(Path::to_path_buf), text })
    }

    /// Reads the current contents.
    pub(super) fn again(&self) -> Result<Self, Stop> {
        Self::read(&self.path, self.within.as_deref())
    }

    /// Path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Contents: empty if the file does not exist.
    pub(super) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// True if the file exists.
    pub(super) fn exists(&self) -> bool {
        self.text.is_some()
    }

    /// Writes a backup for the change to `changed`. Returns its path; none if there is nothing to
    /// back up.
    pub(super) fn keep(&self, changed: &str) -> Result<Option<PathBuf>, Stop> {
        let Some(text) = &self.text else { return Ok(None) };
        contained(&self.path, self.within.as_deref())?;
        let copy = self.copy(changed);
        self.replace(&copy, text).map_err(|error| failure("write the copy", &copy, &error))?;
        Ok(Some(copy))
    }

    /// Contents of the file before what `has` finds in a text was added, if nothing else has
    /// changed since, and the backups that lead to them. `has` has no answer for a text that cannot
    /// be read.
    pub(super) fn original(
        &self,
        now: &str,
        has: impl Fn(&str) -> Option<bool>,
    ) -> Option<(Vec<PathBuf>, String)> {
        let (copy, mut text) = self.before(now)?;
        let mut copies = vec![copy];
        while has(&text)? {
            let (copy, earlier) = self.before(&text)?;
            if copies.contains(&copy) {
                return None;
            }
            copies.push(copy);
            text = earlier;
        }
        Some((copies, text))
    }

    /// Backup of the contents before the file became `text`.
    fn before(&self, text: &str) -> Option<(PathBuf, String)> {
        let copy = self.copy(text);
        let kept = clients::read_here(&copy).ok()??;
        Some((copy, kept))
    }

    /// Writes new contents, unless the file was modified meanwhile.
    pub(super) fn write(&self, text: &str) -> Result<(), Stop> {
        self.check()?;
        self.replace(&self.path, text).map_err(|error| failure("write", &self.path, &error))
    }

    /// Removes the file, unless it was modified meanwhile.
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
        self.path.with_file_name(with_suffix(&self.path, &format!(".cograph-{hash:016x}.bak")))
    }

    /// Atomic replacement that keeps the permissions.
    fn replace(&self, target: &Path, text: &str) -> io::Result<()> {
        if let Some(directory) = target.parent() {
            fs::create_dir_all(directory)?;
        }
        let temporary =
            target.with_file_name(with_suffix(target, &format!(".{}.tmp", std::process::id())));
        // Left over from a dead process with the same pid.
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
            // Best effort: the earlier error is reported.
            let _ = fs::remove_file(&temporary);
        }
        replaced
    }
}

/// Fails if a path leads out of a directory: repository contents must not redirect writes to other
/// files.
fn contained(path: &Path, within: Option<&Path>) -> Result<(), Stop> {
    let Some(target) = within.and_then(|within| clients::outside(path, within)) else {
        return Ok(());
    };
    Err(Stop::Failure {
        message: format!("{} leads out of the repository, to {}", shown(path), shown(&target)),
        hint: "put a file instead of the link, or change the one that it leads to with \
               --scope user"
            .to_owned(),
    })
}

fn with_suffix(path: &Path, ending: &str) -> OsString {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    name
}

pub(crate) fn diff(before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header("before", "after")
        .to_string()
}
