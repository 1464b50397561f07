//! Which files a question has to look at: all of them, or those that may have changed since all
//! were looked at. Repositories are watched while they are in use; whatever stands in the way of
//! that, every question looks at everything.
//!
//! A notification tells of what happens in a directory that is watched. Other changes are looked
//! for at every question: whether the root's path leads to the same directory and the same things
//! are mounted in it (`watch`), whether the rules that lie elsewhere are the same
//! (`source::Rules`), and whether the inodes of all files are as they were (`swept`): a write
//! through mapped memory or through another hard link touches nothing else.

mod swept;

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::opened::Extent;
use crate::config;
use crate::index::{self, ChangeSet, Comparison, IndexError, Kept, Verified};
use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::source::{self, DirectoryId, RULES, Rules, Sweep};
use crate::store::{Identity, Location, Snapshot};
use crate::watch::{Hints, Watch, WatchError};
use swept::{Swept, TakenFiles};

/// A repository that nobody has asked about for so long is no longer watched.
const IDLE: Duration = Duration::from_secs(60);
/// The repository is walked as a whole once in so long even so.
const TRUSTED: Duration = Duration::from_secs(60);
/// How long a question waits for another one that reads the same watch, before it looks at
/// everything by itself.
const TURN: Duration = Duration::from_millis(100);

/// The watches of a process.
#[derive(Clone)]
pub(super) struct Watches {
    kept: Arc<Kept<Location, Repository>>,
    turns: Arc<Turns>,
}

/// Tells of watches that can be read again.
#[derive(Default)]
struct Turns {
    ended: Mutex<u64>,
    changed: Condvar,
}

#[derive(Default)]
struct Repository {
    watch: Slot,
    /// What decides which files there are, and the files, as they were when they were compared.
    rules: Arc<Rules>,
    files: Swept,
    /// A state of the store of which it is known that it reflects every file outside of `reported`,
    /// and when the repository was walked last. None while a question looks at what was reported.
    known: Option<(Identity, Instant)>,
    reported: Hints,
    /// When reports were taken by a question last: it compares them with the store of its time.
    taken: Option<Instant>,
}

/// A watch on its way through the threads.
#[derive(Default)]
enum Slot {
    /// It is being made: others look at everything meanwhile.
    #[default]
    Coming,
    /// A question reads it.
    Away,
    Here(Box<Watch>),
    /// The directory that it was bound to is no longer under its path, or could not be listed:
    /// another one may come.
    Gone(String),
    /// It cannot be; why.
    None(String),
}

/// What a question reads to know what has happened.
struct Senses {
    watch: Box<Watch>,
    rules: Arc<Rules>,
    files: Option<TakenFiles>,
}

/// What a question knows before it looks at files.
enum Known {
    /// Nothing: look at everything. Whether what is found then can be remembered.
    Nothing { watched: bool },
    /// Only these can have changed since then, as far as that is known.
    Reported(BTreeSet<RepoPath>, Instant, Extent),
}

impl Watches {
    pub(super) fn new() -> Self {
        Self { kept: Arc::new(Kept::new("watch-idle", IDLE)), turns: Arc::default() }
    }

    /// Compares a store with its repository, see [`index::freshness`]; also says how far that goes.
    pub(super) fn freshness(
        &self,
        location: &Location,
        snapshot: &Snapshot,
        limits: &config::Limits,
        verified: &Verified,
        cancel: &CancelToken,
    ) -> Result<(ChangeSet, Extent), IndexError> {
        let store = snapshot.identity();
        let now = Instant::now();
        let (found, looked, asked) = match self.known(location, store, limits, cancel) {
            Known::Nothing { watched } => {
                let found = index::compare(snapshot, limits, verified, cancel)?;
                if !watched {
                    let remote = source::remote_kind(location.root());
                    return Ok((found.changes, remote.map_or(Extent::All, Extent::Remote)));
                }
                (found, now, None)
            }
            Known::Reported(paths, _, extent) if paths.is_empty() => {
                return Ok((ChangeSet::Some { touched: Vec::new(), gone: Vec::new() }, extent));
            }
            Known::Reported(paths, looked, extent) => (
                index::compare_some(&paths, snapshot, limits, verified, cancel)?,
                looked,
                Some((paths, extent)),
            ),
        };
        let Comparison { changes, seen, rules } = found;
        let extent = self.kept.with(location, |repository| {
            let (asked, extent) = match asked {
                Some((paths, extent)) => {
                    repository.files.add(seen);
                    Arc::make_mut(&mut repository.rules).extend(rules);
                    (paths, extent)
                }
                None => {
                    repository.files = Swept::new(Sweep::new(location.root(), seen), looked);
                    repository.rules = Arc::new(rules);
                    (BTreeSet::new(), Extent::All)
                }
            };
            repository.known = repository.known.or(Some((store, looked)));
            // They are looked at again until a store reflects them.
            match changes.len() {
                Some(0) => {}
                Some(_) => repository.reported.paths.extend(changes.paths().cloned().chain(asked)),
                None => repository.reported.everything = true,
            }
            extent
        });
        Ok((changes, extent.unwrap_or(Extent::All)))
    }

    /// Files were found to be otherwise than a store says: the next question looks at them.
    pub(super) fn report(&self, location: &Location, paths: Vec<RepoPath>) {
        self.kept.with(location, |repository| repository.reported.extend(hints_of(paths)));
    }

    /// A run that began after `looked` has made this state of the store: it reflects all but what
    /// was reported since.
    pub(super) fn taken_in(&self, location: &Location, store: Identity, looked: Instant) {
        self.kept.with(location, |repository| {
            if repository.taken.is_none_or(|taken| taken < looked)
                && let Some((_, before)) = repository.known.filter(|(_, before)| *before <= looked)
            {
                repository.known = Some((store, before));
            }
        });
    }

    /// Begins to watch a repository that is going to be asked about.
    pub(super) fn attend(&self, location: &Location, threads: usize) {
        if self.kept.touch_or_put(location, Repository::default) {
            self.begin(location, threads);
        }
    }

    /// The repositories that are in use: the location, and how many directories are watched, or why
    /// none is.
    pub(super) fn all(&self) -> Vec<(Location, Result<usize, String>)> {
        let all = self.kept.each(|location, repository| {
            let watched = match &repository.watch {
                Slot::Coming | Slot::Away => return None,
                Slot::Here(watch) => Ok(watch.directories()),
                Slot::Gone(reason) | Slot::None(reason) => Err(reason.clone()),
            };
            Some((location.clone(), watched))
        });
        all.into_iter().flatten().collect()
    }

    /// What is known now, with everything that has happened up to now.
    fn known(
        &self,
        location: &Location,
        store: Identity,
        limits: &config::Limits,
        cancel: &CancelToken,
    ) -> Known {
        self.attend(location, limits.threads);
        self.begin_again(location, limits.threads);
        let nothing = Known::Nothing { watched: false };
        let Some(Senses { mut watch, rules, mut files }) = self.take(location, store) else {
            return nothing;
        };
        let hints =
            look(&mut watch, &rules, files.as_mut().map(|files| (files, limits.threads)), cancel);
        let known = self.kept.with(location, |repository| {
            if let Some(files) = files {
                repository.files.put(files);
            }
            match hints {
                Ok(hints) => {
                    repository.watch = Slot::Here(watch);
                    repository.reported.extend(hints);
                    repository.asked_now(store)
                }
                Err(error) => {
                    tracing::warn!(%error, "a repository is no longer watched");
                    repository.watch = Slot::without(&error);
                    repository.known = None;
                    Known::Nothing { watched: false }
                }
            }
        });
        self.turns.end();
        self.begin_again(location, limits.threads);
        if matches!(known, Some(Known::Reported(_, _, Extent::Reported(_)))) {
            self.sweep_aside(location);
        }
        known.unwrap_or(nothing)
    }

    /// Takes what tells of changes; waits a little for another question that reads it. None if
    /// there is no watch.
    fn take(&self, location: &Location, store: Identity) -> Option<Senses> {
        let asked = Instant::now();
        loop {
            let turn = self.turns.count();
            let taken = self.kept.with(location, |repository| {
                match std::mem::replace(&mut repository.watch, Slot::Away) {
                    Slot::Here(watch) => {
                        let files = repository
                            .is_known(store)
                            .then(|| repository.files.take_for(asked))
                            .flatten();
                        Some(Some(Senses { watch, rules: Arc::clone(&repository.rules), files }))
                    }
                    Slot::Away => None,
                    other => {
                        repository.watch = other;
                        Some(None)
                    }
                }
            })?;
            if let Some(taken) = taken {
                return taken;
            }
            if !self.turns.wait(turn, asked + TURN) {
                return None;
            }
        }
    }

    /// Looks at all files on a thread of its own, if that was not done lately. What is found there,
    /// the next question looks at.
    fn sweep_aside(&self, location: &Location) {
        let Some(mut files) =
            self.kept.with(location, |repository| repository.files.take_when_due()).flatten()
        else {
            return;
        };
        let (kept, own) = (Arc::clone(&self.kept), location.clone());
        let work = move || {
            // One thread: nobody waits for it.
            let changed = files.look(1);
            kept.with(&own, |repository| {
                repository.files.put(files);
                repository.reported.extend(hints_of(changed));
            });
        };
        // Without a thread the answers go on saying when all files were looked at.
        if let Err(error) = Builder::new().name("sweep".to_owned()).spawn(work) {
            tracing::warn!(%error, "the files of a repository are not looked at");
        }
    }

    /// Watches what is there now, if the directory that was watched is gone and another one is
    /// under its path.
    fn begin_again(&self, location: &Location, threads: usize) {
        let is_gone = self
            .kept
            .with(location, |repository| matches!(repository.watch, Slot::Gone(_)))
            .unwrap_or(false);
        let claim = |repository: &mut Repository| match repository.watch {
            Slot::Gone(_) => {
                repository.watch = Slot::Coming;
                true
            }
            _ => false,
        };
        if is_gone
            && DirectoryId::of(location.root()).is_some()
            && self.kept.with(location, claim) == Some(true)
        {
            self.begin(location, threads);
        }
    }

    /// Makes a watch, on a thread of its own: the question that wants it looks at everything
    /// meanwhile.
    fn begin(&self, location: &Location, threads: usize) {
        let (kept, own) = (Arc::clone(&self.kept), location.clone());
        let make = move || {
            let made = Watch::start(own.root(), threads, &CancelToken::new());
            if let Err(error) = &made {
                tracing::warn!(%error, "a repository is not watched");
            }
            let slot = made
                .map_or_else(|error| Slot::without(&error), |watch| Slot::Here(Box::new(watch)));
            kept.with(&own, |repository| repository.watch = slot);
        };
        if let Err(error) = Builder::new().name("watch-start".to_owned()).spawn(make) {
            self.kept.with(location, |repository| repository.watch = Slot::None(error.to_string()));
        }
    }
}

/// Everything that may have changed, as far as it can be told.
fn look(
    watch: &mut Watch,
    rules: &Rules,
    files: Option<(&mut TakenFiles, usize)>,
    cancel: &CancelToken,
) -> Result<Hints, WatchError> {
    let mut hints = watch.drain(cancel)?;
    if !hints.everything && rules.have_changed() {
        hints.everything = true;
        watch.look_everywhere(cancel)?;
    }
    if let Some((files, threads)) = files.filter(|_| !hints.everything) {
        hints.extend(hints_of(files.look(threads)));
    }
    Ok(hints)
}

/// What files mean that are otherwise than before.
fn hints_of(paths: Vec<RepoPath>) -> Hints {
    let mut hints = Hints::default();
    for path in paths {
        if !RULES.contains(&path.file_name()) {
            hints.paths.insert(path);
        } else if let Some(directory) = RepoPath::new(path.directory()) {
            // It says which of the files around it count.
            hints.paths.insert(directory);
        } else {
            hints.everything = true;
        }
    }
    hints
}

impl Slot {
    /// Without a watch, for this reason. One that was interrupted has reported what is lost now:
    /// only a new one tells everything.
    fn without(error: &WatchError) -> Self {
        match error {
            WatchError::Lost { .. } | WatchError::Source(_) => Self::Gone(error.to_string()),
            WatchError::Limit { .. } | WatchError::Remote { .. } | WatchError::System { .. } => {
                Self::None(error.to_string())
            }
        }
    }
}

impl Turns {
    fn count(&self) -> u64 {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    /// Waits until one more has ended than `seen`. False if `until` came first.
    fn wait(&self, seen: u64, until: Instant) -> bool {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        while *ended == seen {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            ended =
                self.changed.wait_timeout(ended, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

impl Repository {
    /// Whether all that can differ between a state of the store and the files was reported.
    fn is_known(&self, store: Identity) -> bool {
        let known =
            self.known.is_some_and(|(known, looked)| known == store && looked.elapsed() < TRUSTED);
        known && !self.reported.everything
    }

    /// What a question knows that asks now, with all reports up to now.
    fn asked_now(&mut self, store: Identity) -> Known {
        self.taken = Some(Instant::now());
        match self.known {
            Some((_, looked)) if self.is_known(store) => {
                let reported = std::mem::take(&mut self.reported);
                if !reported.is_empty() {
                    // Others look at everything while this one finds out what the reports mean.
                    self.known = None;
                }
                Known::Reported(reported.paths, looked, self.files.extent())
            }
            _ => {
                (self.known, self.reported) = (None, Hints::default());
                Known::Nothing { watched: true }
            }
        }
    }
}
