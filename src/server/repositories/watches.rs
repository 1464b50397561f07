//! Which files a question has to look at: all of them, or those that a watch has reported since all were looked at. Repositories
//! are watched while they are in use; whatever stands in the way of that, every question looks at everything.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::config;
use crate::index::{self, ChangeSet, IndexError, Kept, Verified};
use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::store::{Identity, Location, Snapshot};
use crate::watch::{Hints, Watch};

/// A repository that nobody has asked about for so long is no longer watched.
const IDLE: Duration = Duration::from_secs(60);
/// All files are looked at once in so long even so: there are ways to change a file that no system reports, such as memory
/// that is mapped to it.
const TRUSTED: Duration = Duration::from_secs(60);

/// The watches of a process.
#[derive(Clone)]
pub(super) struct Watches(Arc<Kept<Location, Repository>>);

#[derive(Default)]
struct Repository {
    watch: Slot,
    /// A state of the store of which it is known that it reflects every file outside of `reported`, and when all were looked
    /// at last. None while a question looks at what was reported.
    known: Option<(Identity, Instant)>,
    reported: Hints,
    /// When reports were taken by a question last: it compares them with the store of its time.
    taken: Option<Instant>,
}

/// A watch on its way through the threads.
#[derive(Default)]
enum Slot {
    /// It is being made, or somebody reads it: others look at everything meanwhile.
    #[default]
    Away,
    Here(Box<Watch>),
    /// It cannot be; why.
    None(String),
}

/// What a question knows before it looks at files.
enum Known {
    /// Nothing: look at everything. Whether what is found then can be remembered.
    Nothing { watched: bool },
    /// Only these can have changed since then.
    Reported(BTreeSet<RepoPath>, Instant),
}

impl Watches {
    pub(super) fn new() -> Self {
        Self(Arc::new(Kept::new("watch-idle", IDLE)))
    }

    /// Compares a store with its repository; see [`index::freshness`].
    pub(super) fn freshness(
        &self,
        location: &Location,
        snapshot: &Snapshot,
        limits: &config::Limits,
        verified: &Verified,
        cancel: &CancelToken,
    ) -> Result<ChangeSet, IndexError> {
        let store = snapshot.identity();
        let now = Instant::now();
        let (found, looked, asked) = match self.known(location, store, limits, cancel) {
            Known::Nothing { watched } => {
                let found = index::freshness(snapshot, limits, verified, cancel)?;
                if !watched {
                    return Ok(found);
                }
                (found, now, BTreeSet::new())
            }
            Known::Reported(paths, _) if paths.is_empty() => {
                return Ok(ChangeSet::Some { touched: Vec::new(), gone: Vec::new() });
            }
            Known::Reported(paths, looked) => (index::freshness_of(&paths, snapshot, limits, verified, cancel)?, looked, paths),
        };
        self.0.with(location, |repository| {
            repository.known = repository.known.or(Some((store, looked)));
            // They are looked at again until a store reflects them.
            match found.len() {
                Some(0) => {}
                Some(_) => repository.reported.paths.extend(found.paths().cloned().chain(asked)),
                None => repository.reported.everything = true,
            }
        });
        Ok(found)
    }

    /// A run that began after `looked` has made this state of the store: it reflects all but what was reported since.
    pub(super) fn taken_in(&self, location: &Location, store: Identity, looked: Instant) {
        self.0.with(location, |repository| {
            if repository.taken.is_none_or(|taken| taken < looked)
                && let Some((_, before)) = repository.known.filter(|(_, before)| *before <= looked)
            {
                repository.known = Some((store, before));
            }
        });
    }

    /// Begins to watch a repository that is going to be asked about.
    pub(super) fn attend(&self, location: &Location, threads: usize) {
        if self.0.touch_or_put(location, Repository::default) {
            self.begin(location, threads);
        }
    }

    /// The repositories that are in use: the location, and how many directories are watched, or why none is.
    pub(super) fn all(&self) -> Vec<(Location, Result<usize, String>)> {
        let all = self.0.each(|location, repository| {
            let watched = match &repository.watch {
                Slot::Away => return None,
                Slot::Here(watch) => Ok(watch.directories()),
                Slot::None(reason) => Err(reason.clone()),
            };
            Some((location.clone(), watched))
        });
        all.into_iter().flatten().collect()
    }

    /// What is known now, with everything that was reported up to now.
    fn known(&self, location: &Location, store: Identity, limits: &config::Limits, cancel: &CancelToken) -> Known {
        self.attend(location, limits.threads);
        let take = |repository: &mut Repository| match std::mem::take(&mut repository.watch) {
            Slot::Here(watch) => Some(watch),
            other => {
                repository.watch = other;
                None
            }
        };
        let Some(mut watch) = self.0.with(location, take).flatten() else { return Known::Nothing { watched: false } };
        let drained = watch.drain(cancel);
        let known = self.0.with(location, |repository| match drained {
            Ok(hints) => {
                repository.watch = Slot::Here(watch);
                repository.reported.extend(hints);
                repository.asked_now(store)
            }
            Err(error) => {
                tracing::warn!(%error, "a repository is no longer watched");
                repository.watch = Slot::None(error.to_string());
                repository.known = None;
                Known::Nothing { watched: false }
            }
        });
        known.unwrap_or(Known::Nothing { watched: false })
    }

    /// Makes a watch, on a thread of its own: the question that wants it looks at everything meanwhile.
    fn begin(&self, location: &Location, threads: usize) {
        let (kept, own) = (Arc::clone(&self.0), location.clone());
        let make = move || {
            let made = Watch::start(own.root(), threads, &CancelToken::new());
            if let Err(error) = &made {
                tracing::warn!(%error, "a repository is not watched");
            }
            let slot = made.map_or_else(|error| Slot::None(error.to_string()), |watch| Slot::Here(Box::new(watch)));
            kept.with(&own, |repository| repository.watch = slot);
        };
        if let Err(error) = Builder::new().name("watch-start".to_owned()).spawn(make) {
            self.0.with(location, |repository| repository.watch = Slot::None(error.to_string()));
        }
    }
}

impl Repository {
    /// What a question knows that asks now, with all reports up to now.
    fn asked_now(&mut self, store: Identity) -> Known {
        self.taken = Some(Instant::now());
        match self.known {
            Some((known, looked)) if known == store && looked.elapsed() < TRUSTED && !self.reported.everything => {
                let reported = std::mem::take(&mut self.reported);
                if !reported.is_empty() {
                    // Others look at everything while this one finds out what the reports mean.
                    self.known = None;
                }
                Known::Reported(reported.paths, looked)
            }
            _ => {
                (self.known, self.reported) = (None, Hints::default());
                Known::Nothing { watched: true }
            }
        }
    }
}
