//! Object store behind an address: bounded reads, writes, lists, and the swap of a reference. The
//! only file that waits for an object store.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use object_store::path::Path;
use object_store::{
    GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::address::{self, OBJECT_TIMEOUT, Swap, Variables, reason};
use crate::error::PublishError;
use crate::reference::{MAX_REFERENCE, Reference};

/// Requests at one time.
pub const PARALLEL: usize = 8;
/// Attempts to swap a reference that other publishers change.
const SWAPS: usize = 20;

/// Object store.
#[derive(Debug)]
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    base: Path,
    swap: Swap,
    runtime: Runtime,
}

/// Entry of a list.
#[derive(Clone, Debug)]
pub struct RemoteObject {
    /// Object.
    pub path: Path,
    /// Time of its last write.
    pub modified: SystemTime,
}

impl Remote {
    /// Opens an address, to read or to write.
    pub fn open(url: &str, variables: &Variables, writes: bool) -> Result<Self, PublishError> {
        let (store, base, swap) = address::open(url, variables, writes)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| PublishError::Local { attempt: "starting", error })?;
        Ok(Self { store, base, swap, runtime })
    }

    /// Path of all objects.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// True if its objects can be listed.
    pub fn lists(&self) -> bool {
        !matches!(self.swap, Swap::Never)
    }

    /// Reads an object of at most this size; none if it does not exist.
    pub fn get(&self, path: &Path, most: usize) -> Result<Option<Vec<u8>>, PublishError> {
        self.runtime.block_on(get(Arc::clone(&self.store), path.clone(), most))
    }

    /// Reads objects, each of at most its size, several at a time, and passes each to `visit` with
    /// its position. A missing one is an error.
    pub fn get_all(
        &self,
        wanted: impl Iterator<Item = (Path, usize)>,
        mut visit: impl FnMut(usize, &Path, Vec<u8>) -> Result<(), PublishError>,
    ) -> Result<(), PublishError> {
        let mut wanted = wanted.enumerate();
        self.runtime.block_on(async {
            let mut running = JoinSet::new();
            loop {
                while running.len() < PARALLEL
                    && let Some((at, (path, most))) = wanted.next()
                {
                    let store = Arc::clone(&self.store);
                    running.spawn(async move { (at, path.clone(), get(store, path, most).await) });
                }
                let Some(ended) = running.join_next().await else { return Ok(()) };
                let (at, path, found) = ended.map_err(|error| crashed("reading", &error))?;
                let missing = || PublishError::Damaged {
                    object: path.to_string(),
                    reason: "it does not exist".to_owned(),
                };
                visit(at, &path, found?.ok_or_else(missing)?)?;
            }
        })
    }

    /// Starts writes that run at the same time.
    pub fn writes(&self) -> Writes<'_> {
        Writes { remote: self, running: JoinSet::new(), sent: 0 }
    }

    /// Time of the last write of an object; none if it does not exist.
    pub fn modified(&self, path: &Path) -> Result<Option<SystemTime>, PublishError> {
        let found =
            self.runtime.block_on(async { timeout(OBJECT_TIMEOUT, self.store.head(path)).await });
        match found.map_err(|_| late("finding", path))? {
            Ok(found) => Ok(Some(SystemTime::from(found.last_modified))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(remote("finding", path, &error)),
        }
    }

    /// Objects directly in a directory, and its directories.
    pub fn list(&self, path: &Path) -> Result<(Vec<RemoteObject>, Vec<Path>), PublishError> {
        let found = self.runtime.block_on(async {
            timeout(OBJECT_TIMEOUT, self.store.list_with_delimiter(Some(path))).await
        });
        let found = match found.map_err(|_| late("listing", path))? {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok((Vec::new(), Vec::new())),
            Err(error) => return Err(remote("listing", path, &error)),
        };
        let objects = found.objects.into_iter().map(|object| RemoteObject {
            path: object.location,
            modified: SystemTime::from(object.last_modified),
        });
        Ok((objects.collect(), found.common_prefixes))
    }

    /// Removes objects; a missing one is no error.
    pub fn delete(&self, paths: &[Path]) -> Result<(), PublishError> {
        self.runtime.block_on(async {
            let (mut running, mut waiting) = (JoinSet::new(), paths.iter());
            loop {
                while running.len() < PARALLEL
                    && let Some(path) = waiting.next()
                {
                    let (store, path) = (Arc::clone(&self.store), path.clone());
                    running.spawn(async move {
                        match timeout(OBJECT_TIMEOUT, store.delete(&path)).await {
                            Ok(Ok(()) | Err(object_store::Error::NotFound { .. })) => Ok(()),
                            Ok(Err(error)) => Err(remote("removing", &path, &error)),
                            Err(_) => Err(late("removing", &path)),
                        }
                    });
                }
                let Some(ended) = running.join_next().await else { return Ok(()) };
                ended.map_err(|error| crashed("removing", &error))??;
            }
        })
    }

    /// Reads a reference; none if it does not exist.
    pub fn reference(&self, path: &Path) -> Result<Option<Reference>, PublishError> {
        self.get(path, MAX_REFERENCE)?.map(|bytes| parsed(path, &bytes)).transpose()
    }

    /// Changes a reference so that no change of another publisher is lost: `change` may be called
    /// several times.
    pub fn swap(
        &self,
        path: &Path,
        mut change: impl FnMut(&mut Reference),
    ) -> Result<Reference, PublishError> {
        let _lock = match &self.swap {
            Swap::Locked(directory) => Some(locked(directory)?),
            Swap::Conditional | Swap::Never => None,
        };
        for attempt in 0..SWAPS {
            let (known, mode) = self.runtime.block_on(self.versioned(path))?;
            let mut reference = known.clone().unwrap_or_default();
            change(&mut reference);
            if known.as_ref() == Some(&reference) {
                return Ok(reference);
            }
            let mode = if matches!(self.swap, Swap::Locked(_)) { PutMode::Overwrite } else { mode };
            let options = PutOptions { mode, ..PutOptions::default() };
            let payload = PutPayload::from(reference.encoded());
            let written = self.runtime.block_on(async {
                timeout(OBJECT_TIMEOUT, self.store.put_opts(path, payload, options)).await
            });
            match written.map_err(|_| late("writing", path))? {
                Ok(_) => return Ok(reference),
                Err(
                    object_store::Error::Precondition { .. }
                    | object_store::Error::AlreadyExists { .. },
                ) => {
                    // Publishers that met once do not meet again.
                    let spread = u64::from(std::process::id() % 97) + 1;
                    let pause = Duration::from_millis(spread * (attempt as u64 + 1));
                    let never = std::future::pending::<()>();
                    // Best effort: the time passes, or the next attempt comes early.
                    let _ = self.runtime.block_on(async { timeout(pause, never).await });
                }
                Err(error) => return Err(remote("writing", path, &error)),
            }
        }
        Err(PublishError::Contended(path.to_string()))
    }

    /// Reference and the condition under which it is unchanged.
    async fn versioned(&self, path: &Path) -> Result<(Option<Reference>, PutMode), PublishError> {
        let read = timeout(OBJECT_TIMEOUT, async {
            let found = self.store.get(path).await?;
            let version = UpdateVersion {
                e_tag: found.meta.e_tag.clone(),
                version: found.meta.version.clone(),
            };
            let bytes = if found.meta.size > MAX_REFERENCE as u64 {
                None
            } else {
                Some(found.bytes().await?)
            };
            Ok::<_, object_store::Error>((bytes, version))
        });
        match read.await.map_err(|_| late("reading", path))? {
            Ok((Some(bytes), version)) => {
                Ok((Some(parsed(path, &bytes)?), PutMode::Update(version)))
            }
            Ok((None, _)) => Err(damaged(path, "it is too large")),
            Err(object_store::Error::NotFound { .. }) => Ok((None, PutMode::Create)),
            Err(error) => Err(remote("reading", path, &error)),
        }
    }
}

/// Writes that run at the same time.
#[derive(Debug)]
pub struct Writes<'r> {
    remote: &'r Remote,
    running: JoinSet<Result<(), PublishError>>,
    sent: u64,
}

impl Writes<'_> {
    /// Starts a write, and waits for another if too many run.
    pub fn put(&mut self, path: Path, bytes: Vec<u8>) -> Result<(), PublishError> {
        while self.running.len() >= PARALLEL {
            self.next()?;
        }
        self.sent += bytes.len() as u64;
        let store = Arc::clone(&self.remote.store);
        let runtime = self.remote.runtime.handle();
        self.running.spawn_on(
            async move {
                match timeout(OBJECT_TIMEOUT, store.put(&path, PutPayload::from(bytes))).await {
                    Ok(Ok(_)) => Ok(()),
                    Ok(Err(error)) => Err(remote("writing", &path, &error)),
                    Err(_) => Err(late("writing", &path)),
                }
            },
            runtime,
        );
        Ok(())
    }

    /// Waits for all writes; returns their bytes.
    pub fn finish(mut self) -> Result<u64, PublishError> {
        while !self.running.is_empty() {
            self.next()?;
        }
        Ok(self.sent)
    }

    fn next(&mut self) -> Result<(), PublishError> {
        match self.remote.runtime.block_on(self.running.join_next()) {
            Some(ended) => ended.map_err(|error| crashed("writing", &error))?,
            None => Ok(()),
        }
    }
}

async fn get(
    store: Arc<dyn ObjectStore>,
    path: Path,
    most: usize,
) -> Result<Option<Vec<u8>>, PublishError> {
    let read = timeout(OBJECT_TIMEOUT, async {
        let found = store.get_opts(&path, GetOptions::default()).await?;
        if found.meta.size > most as u64 {
            return Ok(None);
        }
        found.bytes().await.map(Some)
    });
    match read.await.map_err(|_| late("reading", &path))? {
        Ok(Some(bytes)) if bytes.len() <= most => Ok(Some(bytes.to_vec())),
        Ok(_) => Err(damaged(&path, "it is too large")),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(remote("reading", &path, &error)),
    }
}

/// Lock of the writers of a directory.
fn locked(directory: &std::path::Path) -> Result<File, PublishError> {
    let local = |error| PublishError::Local { attempt: "locking the directory", error };
    let path = directory.join("cograph-1.lock");
    let file = File::options().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(local)?;
    file.lock().map_err(local)?;
    Ok(file)
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Reference, PublishError> {
    Reference::parse(bytes).map_err(|reason| damaged(path, reason))
}

fn damaged(path: &Path, reason: &str) -> PublishError {
    PublishError::Damaged { object: path.to_string(), reason: reason.to_owned() }
}

fn remote(attempt: &'static str, path: &Path, error: &object_store::Error) -> PublishError {
    PublishError::Remote { attempt, object: path.to_string(), detail: reason(error) }
}

fn late(attempt: &'static str, path: &Path) -> PublishError {
    let detail = format!("no answer within {} s", OBJECT_TIMEOUT.as_secs());
    PublishError::Remote { attempt, object: path.to_string(), detail }
}

fn crashed(attempt: &'static str, error: &tokio::task::JoinError) -> PublishError {
    PublishError::Remote { attempt, object: "objects".to_owned(), detail: error.to_string() }
}
