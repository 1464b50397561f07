//! File names and locations: one directory per repository in the cache, one file per generation,
//! one writer lock.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::error::{StoreError, StoreErrorKind};
use super::schema::FORMAT;
use crate::format::ownership;
use cograph_system::files;
use cograph_system::owner::private_options;

pub(crate) const LOCK_FILE: &str = "writer.lock";
pub(super) const TEMPORARY_SUFFIX: &str = ".building";
/// Suffix of a store's segment.
pub(super) const SEGMENT_SUFFIX: &str = "-facts";

/// Suffixes of the files that belong to a store: write-ahead log, its shared memory, segment.
const SIDE_SUFFIXES: [&str; 3] = ["-wal", "-shm", SEGMENT_SUFFIX];

/// Location of one repository's stores. Equal roots in one cache have equal locations.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    #[serde(with = "as_bytes")]
    root: PathBuf,
    #[serde(with = "as_bytes")]
    directory: PathBuf,
}

/// Paths in messages between processes: not every path is text.
mod as_bytes {
    use std::path::{Path, PathBuf};

    use cograph_system::names::from_bytes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_encoded_bytes().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Vec::deserialize(from).map(|bytes| from_bytes(bytes).into())
    }
}

/// Identity of a store file, without opening it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    /// Generation in its name.
    pub generation: u64,
    /// Device id.
    pub device: u64,
    /// Inode number; differs if the file was replaced.
    pub inode: u64,
}

impl Location {
    /// Location of the repository at `root` (absolute, without symlinks) in the cache.
    pub fn new(cache: &Path, root: &Path) -> Self {
        let hash = xxhash_rust::xxh3::xxh3_64(root.as_os_str().as_encoded_bytes());
        let readable: String = root
            .file_name()
            .unwrap_or(OsStr::new("root"))
            .to_string_lossy()
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '_' }
            })
            .take(40)
            .collect();
        let directory = cache.join(format!("{}-{hash:016x}", readable.trim_start_matches('.')));
        Self { root: root.to_owned(), directory }
    }

    /// Location for an index made by other rules than the default ones, such as a greater limit of
    /// file sizes. It differs from the default one, so that processes with different rules do not
    /// replace each other's index in turns. 0 means the default rules.
    pub fn under(self, rules: u64) -> Self {
        if rules == 0 {
            return self;
        }
        let directory = with_ending(&self.directory, &format!("-{rules:016x}"));
        Self { directory, ..self }
    }

    /// Location with an explicit directory.
    pub fn at(root: PathBuf, directory: PathBuf) -> Self {
        Self { root, directory }
    }

    /// Root of the repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Directory of its stores.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// File of a generation.
    pub fn generation_path(&self, generation: u64) -> PathBuf {
        self.directory.join(format!("v{FORMAT}-{generation}.db"))
    }

    /// Temporary file of a build.
    pub(crate) fn temporary_path(&self, generation: u64) -> PathBuf {
        self.directory.join(format!("v{FORMAT}-{generation}.db{TEMPORARY_SUFFIX}"))
    }

    /// Records a use of the stores, for eviction.
    pub(crate) fn record_use(&self) {
        // Best effort: a read-only cache has no eviction either.
        let _ = File::options()
            .append(true)
            .open(self.lock_path())
            .and_then(|lock| lock.set_modified(SystemTime::now()));
    }

    /// Last recorded use.
    pub(crate) fn last_use(&self) -> SystemTime {
        let lock = self.lock_path().metadata().and_then(|lock| lock.modified());
        lock.unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Generations with a file of this format, newest first. None if the directory does not exist.
    pub fn generations(&self) -> Result<Vec<u64>, StoreError> {
        let mut generations: Vec<u64> =
            self.file_names()?.iter().filter_map(|name| parse_generation(name)).collect();
        generations.sort_unstable_by(|a, b| b.cmp(a));
        Ok(generations)
    }

    /// Current identity of the file of a generation.
    pub(crate) fn version(&self, generation: u64) -> Result<Version, StoreError> {
        let path = self.generation_path(generation);
        let found = files::find(&path, true)
            .map_err(|error| StoreError::from_io("looking at store", &path, &error))?;
        Ok(Version { generation, device: found.device, inode: found.inode })
    }

    /// Lock file of the writer.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.directory.join(LOCK_FILE)
    }

    /// Disk usage in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let names = self.file_names().unwrap_or_default();
        // The WAL index is shared memory, not disk usage.
        let names = names.iter().filter(|name| !name.ends_with("-shm"));
        names
            .filter_map(|name| fs::metadata(self.directory.join(name)).ok())
            .map(|file| file.len())
            .sum()
    }

    /// Acquires the writer lock of the repository, across processes. Waits at most `patience`.
    pub fn lock(&self, patience: Duration) -> Result<WriterLock, StoreError> {
        ownership::make(&self.directory)?;
        let path = self.lock_path();
        let attempt = "locking for writing";
        let file = private_options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| StoreError::from_io(attempt, &path, &error))?;
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_millis(2);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(WriterLock { location: self.clone(), _file: file }),
                Err(TryLockError::Error(error)) => {
                    return Err(StoreError::from_io(attempt, &path, &error));
                }
                Err(TryLockError::WouldBlock) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        let detail = format!("another process is writing; waited {patience:?}");
                        return Err(StoreError::new(
                            StoreErrorKind::Locked,
                            attempt,
                            &path,
                            detail,
                        ));
                    }
                    // Advisory file locks cannot be awaited with a timeout, so the lock is polled
                    // with a backoff.
                    thread::park_timeout(pause.min(left));
                    pause = (pause * 2).min(Duration::from_millis(50));
                }
            }
        }
    }

    fn file_names(&self) -> Result<Vec<String>, StoreError> {
        ownership::check(&self.directory)?;
        let failed = |error: &io::Error| {
            StoreError::from_io("listing store directory", &self.directory, error)
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "lists the cache directory, not a repository"
        )]
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            if let Ok(name) = entry.map_err(|error| failed(&error))?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }
}

/// Writer lock of a repository's stores; released on drop, and by the system at the end of the
/// process.
#[derive(Debug)]
pub struct WriterLock {
    location: Location,
    _file: File,
}

impl WriterLock {
    /// Location that it locks.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Removes leftovers of an interrupted writer. Requires the lock: without it another process
    /// may be building.
    pub(crate) fn remove_leftovers(&self) {
        for name in self.location.file_names().unwrap_or_default() {
            let built = name.split_once(TEMPORARY_SUFFIX).map(|(built, _)| built);
            let is_temporary = built.is_some_and(|built| parse_any_format(built).is_some());
            let store = SIDE_SUFFIXES.iter().find_map(|ending| name.strip_suffix(ending));
            let store = store.filter(|store| parse_any_format(store).is_some());
            let is_alone = store.is_some_and(|store| !self.location.directory.join(store).exists());
            if is_temporary || is_alone {
                // Best effort: a leftover only occupies disk space.
                let _ = fs::remove_file(self.location.directory.join(name));
            }
        }
    }

    /// Removes every generation of every format.
    pub(crate) fn remove_all(&self) {
        for name in self.location.file_names().unwrap_or_default() {
            if name != LOCK_FILE {
                // Best effort: a remaining file is found by the next eviction.
                let _ = fs::remove_file(self.location.directory.join(name));
            }
        }
    }

    /// Removes generations older than `generation`. Readers that have them open keep reading.
    pub(crate) fn remove_superseded(&self, generation: u64) {
        for older in self
            .location
            .generations()
            .unwrap_or_default()
            .into_iter()
            .filter(|&older| older < generation)
        {
            // Best effort: a remaining file is superseded all the same.
            let path = self.location.generation_path(older);
            let _ = fs::remove_file(&path);
            for ending in SIDE_SUFFIXES {
                let _ = fs::remove_file(with_ending(&path, ending));
            }
        }
    }
}

/// Path with a suffix appended.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Parses format and generation from the name of a store file.
fn parse_any_format(name: &str) -> Option<(u32, u64)> {
    let (format, generation) = name.strip_prefix('v')?.strip_suffix(".db")?.split_once('-')?;
    Some((format.parse().ok()?, generation.parse().ok()?))
}

fn parse_generation(name: &str) -> Option<u64> {
    parse_any_format(name).filter(|&(format, _)| format == FORMAT).map(|(_, generation)| generation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_format_are_generations() {
        assert_eq!(parse_generation(&format!("v{FORMAT}-17.db")), Some(17));
        for name in ["v0-17.db", "v1-17.db-wal", "v1-17.db.building", "v1-.db", "17.db", "v1-x.db"]
        {
            assert_eq!(parse_generation(name), None, "{name}");
        }
    }

    #[test]
    fn an_index_by_other_rules_is_next_to_the_usual_one() {
        let usual = Location::new(Path::new("/cache"), Path::new("/a/project"));
        let other = usual.clone().under(7);
        assert_eq!(usual.clone().under(0), usual);
        assert_ne!(other.directory(), usual.directory());
        assert_eq!(
            (other.directory().parent(), other.root()),
            (Some(Path::new("/cache")), usual.root())
        );
    }

    #[test]
    fn roots_of_one_name_have_places_of_their_own() {
        let cache = Path::new("/cache");
        let here = Location::new(cache, Path::new("/a/project"));
        assert_ne!(here.directory(), Location::new(cache, Path::new("/b/project")).directory());
        assert_eq!(here, Location::new(cache, Path::new("/a/project")));
        assert!(Location::new(cache, Path::new("/")).directory().starts_with(cache));
    }
}
