//! Which repository a call means, and its store: open and compared with the files if there is one,
//! being built if there is none. Stores, watches and index runs are shared by all sessions of a
//! process (`shared`). Index runs belong to `index::Jobs` and outlive the call that started them
//! while a session wants them (`wanted`).

mod about;
mod chosen;
mod opened;
mod progress;
mod shared;
mod unavailable;
mod wanted;
mod watches;

use crate::config::{self, Config, ConfigError, Repository};
use crate::index::{self, ChangeSet, IndexError, Job, JobState};
use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::server::base::escape::SafeLine;
use crate::server::base::limits::Limits;
use crate::server::workspace::host::Host;
use crate::server::workspace::metrics::Activity;
use crate::source::{self, Root, Sweep};
use crate::store::{Identity, Location, Pool, PoolSettings, Snapshot};
use chosen::Chosen;
pub use chosen::Reach;
use progress::{SoFar, about_to_start, report, watch};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
pub use unavailable::Unavailable;
use unavailable::{store_failed, unavailable};

pub(in crate::server) use about::About;
pub(in crate::server) use opened::Opened;
use opened::{Behind, Cause, Extent};
pub(in crate::server) use shared::Shared;

/// How long a wait may overlook that nobody wants the answer any more.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// How long calls wait for an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// For the first one, without which nothing can be answered.
    pub first: Duration,
    /// For the next one, when files have changed.
    pub renewal: Duration,
}

/// The repositories as one session sees them.
pub struct Repositories {
    chosen: Arc<Chosen>,
    patience: Patience,
    shared: Arc<Shared>,
    /// Who wants a run, among all sessions.
    session: u64,
    /// The roots that an answer has named; none where whoever asks has chosen it at the same
    /// moment.
    named: Option<Mutex<BTreeSet<PathBuf>>>,
}

/// How a call waits for a run.
struct Wait {
    /// How long.
    patience: Duration,
    /// From the time when a call first waited for the run; else from now.
    from_first: bool,
    /// Whether the run is of the session's own repository.
    of_session: bool,
    /// What the run is to take in, if that is known.
    changes: Option<ChangeSet>,
    /// What the next one is to take in, right after it.
    then: Option<ChangeSet>,
}

/// Who asks, and what about.
struct Question<'q> {
    /// Whether the repository is the session's own.
    of_session: bool,
    patience: Patience,
    about: &'q About,
    host: &'q dyn Host,
}

/// What came of waiting for a run.
enum Awaited {
    /// It was asked for then, perhaps for other changes than these (`is_for_these`), and this is
    /// the state of the store that it has found or made.
    Done { begun: Instant, is_for_these: bool, store: Identity },
    /// It goes on.
    Working(SoFar),
}

/// What came of opening a repository.
pub(in crate::server) enum Readiness {
    /// It can be asked.
    Ready(Box<Opened>),
    /// Its first index is being made.
    Working(SoFar),
}

/// The files of a repository, for showing and searching them.
pub(in crate::server) struct Files {
    root: Root,
    limits: config::Limits,
}

impl Patience {
    /// What a server has.
    pub(in crate::server) fn of(limits: &Limits) -> Self {
        Self { first: limits.index_wait, renewal: limits.renewal_wait }
    }
}

impl Repositories {
    /// For one who shares nothing. Nothing is opened or looked at before the first call.
    pub fn new(
        config: Result<Config, ConfigError>,
        root: Option<PathBuf>,
        patience: Patience,
    ) -> Self {
        let mut repositories = Self::of(
            &Shared::new(config, PoolSettings::default()),
            Reach::from(root),
            patience,
            || {},
        );
        repositories.named = None;
        repositories
    }

    /// For a session, with somebody who is told when the repository of calls that name none has a
    /// new generation.
    pub(in crate::server) fn of(
        shared: &Arc<Shared>,
        reach: Reach,
        patience: Patience,
        on_change: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let chosen = Arc::new(Chosen::new(shared.config.clone(), reach, on_change));
        let session = shared.enter(&chosen);
        Self {
            chosen,
            patience,
            shared: Arc::clone(shared),
            session,
            named: Some(Mutex::default()),
        }
    }

    /// Whether it matters what the client works on.
    pub(in crate::server) fn asks_client(&self) -> bool {
        self.chosen.asks_client()
    }

    /// The client was asked what it works on: calls wait for the answer until then.
    pub(in crate::server) fn client_was_asked(&self, until: Instant) {
        self.chosen.client_was_asked(until);
    }

    /// The client names its repository itself: exactly this directory.
    pub(in crate::server) fn set_root(&self, root: PathBuf) {
        self.chosen.set_root(root);
    }

    /// What the client works on. True if that may be another repository than the one of earlier
    /// answers.
    pub(in crate::server) fn set_client(&self, directories: Vec<PathBuf>) -> bool {
        self.chosen.set_client(directories)
    }

    /// Opens the repository that `root` names, or the default one. Starts and awaits an index run
    /// if it has no store, or one that does not reflect the files; `waits` says whether the caller
    /// can wait for more than the start of it, and `about` what is taken in first.
    pub(in crate::server) fn open(
        &self,
        root: Option<&str>,
        waits: bool,
        about: &About,
        host: &dyn Host,
    ) -> Result<Readiness, Unavailable> {
        if root.is_none() {
            self.chosen.await_client();
        }
        let repository = self.chosen.find(root)?;
        let directory = repository.root.clone();
        let patience = if waits {
            self.patience
        } else {
            Patience { first: Duration::ZERO, renewal: Duration::ZERO }
        };
        let mut readiness = self
            .open_at(repository, &Question { of_session: root.is_none(), patience, about, host })?;
        if let (None, Readiness::Ready(opened)) = (root, &readiness) {
            self.chosen.answered_from(&directory, opened.snapshot.identity());
        }
        if let (Some(named), Readiness::Ready(opened)) = (&self.named, &mut readiness) {
            opened.names_root =
                !named.lock().unwrap_or_else(PoisonError::into_inner).contains(&directory);
        }
        Ok(readiness)
    }

    /// An answer has said which repository it is about, if it was to.
    pub(in crate::server) fn was_answered(&self, opened: &Opened) {
        if let Some(named) = self.named.as_ref().filter(|_| opened.names_root) {
            named
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(opened.location.root().to_path_buf());
        }
    }

    /// The store of the repository of calls that name none, for those who read it as a whole: it
    /// reflects the files as they are, or there is none, because what it misses could not be said
    /// beside what it has.
    pub fn whole(&self, host: &dyn Host) -> Result<Snapshot, Unavailable> {
        match self.open(None, true, &About::default(), host)? {
            Readiness::Working(so_far) => Err(unavailable(&so_far.text(), "ask again")),
            Readiness::Ready(opened) => match opened.stale() {
                Some(stale) => Err(unavailable(
                    &format!("the index does not reflect the files: {stale}"),
                    "ask again",
                )),
                None => Ok(opened.snapshot),
            },
        }
    }

    fn open_at(
        &self,
        repository: Repository,
        question: &Question,
    ) -> Result<Readiness, Unavailable> {
        let config = self.chosen.config()?;
        let &Question { of_session, patience, host, .. } = question;
        let location = Location::new(&repository.cache, &repository.root);
        let files = Files { root: Root::new(&repository.root), limits: config.limits };
        let ready = |snapshot, files, behind, extent| {
            let location = location.clone();
            Readiness::Ready(Box::new(Opened {
                snapshot,
                files,
                location,
                behind,
                extent,
                names_root: false,
            }))
        };
        let snapshot = match self.pool()?.snapshot(&location, host.cancel()) {
            Err(error) if error.calls_for_build() => {
                let wait = Wait {
                    patience: patience.first,
                    from_first: false,
                    of_session,
                    changes: None,
                    then: None,
                };
                self.shared.watches.attend(&location, config.limits.threads);
                let asked = Instant::now();
                let done = self.await_index(&location, &wait, host)?;
                if let Awaited::Working(so_far) = done {
                    return Ok(Readiness::Working(so_far));
                }
                let snapshot = self.snapshot(&location, host.cancel())?;
                // A run that has begun since reflects the files: no need to compare again.
                if matches!(done, Awaited::Done { begun, is_for_these: true, .. } if begun >= asked)
                {
                    let extent =
                        source::remote_kind(location.root()).map_or(Extent::All, Extent::Remote);
                    return Ok(ready(snapshot, files, None, extent));
                }
                snapshot
            }
            other => other.map_err(|error| store_failed(&error))?,
        };
        let (snapshot, behind, extent) = self.up_to_date(&location, snapshot, &files, question)?;
        Ok(ready(snapshot, files, behind, extent))
    }

    /// The store with the files as they are taken in, as far as that is done in time; else also
    /// what it misses.
    fn up_to_date(
        &self,
        location: &Location,
        snapshot: Snapshot,
        files: &Files,
        &Question { of_session, patience, about, host }: &Question,
    ) -> Result<(Snapshot, Option<Behind>, Extent), Unavailable> {
        let limits = &self.chosen.config()?.limits;
        let patience = patience.renewal;
        let until = Instant::now() + patience;
        let mut snapshot = snapshot;
        loop {
            let looked = Instant::now();
            let (changes, extent) = self
                .shared
                .watches
                .freshness(location, &snapshot, limits, &self.shared.verified, host.cancel())
                .map_err(|error| unavailable(&error.to_string(), error.hint()))?;
            if changes.is_empty() {
                self.shared.jobs.touch(location);
                return Ok((snapshot, None, extent));
            }
            drop(snapshot);
            // What the question is about comes first, and the rest by itself: there may be no time
            // to wait for that.
            let (now, then) = match about.split(&changes, files) {
                Some((now, then)) => (now, Some(then)),
                None => (changes.clone(), None),
            };
            let in_parts = then.is_some();
            // The store at hand still answers, with the run under way or after one that failed, and
            // says what it misses. Those who come later do not wait all over again.
            let wait = Wait { patience, from_first: true, of_session, changes: Some(now), then };
            let awaited = self.await_index(location, &wait, host);
            snapshot = self.snapshot(location, host.cancel())?;
            match awaited {
                Ok(Awaited::Done { begun, is_for_these: true, store }) if begun >= looked => {
                    self.shared.watches.taken_in(location, store, begun);
                    if !in_parts {
                        return Ok((snapshot, None, extent));
                    }
                }
                // A run that others have started may have looked at a file before it changed, or at
                // other files.
                Ok(Awaited::Done { .. }) if Instant::now() < until => {}
                Ok(awaited) => {
                    let cause = Cause::Pending(match awaited {
                        Awaited::Working(so_far) => so_far.progress.message,
                        Awaited::Done { .. } => about_to_start().message,
                    });
                    return Ok((snapshot, Some(Behind { changes, cause }), extent));
                }
                Err(failure) => {
                    return Ok((
                        snapshot,
                        Some(Behind { changes, cause: Cause::Failed(failure.what) }),
                        extent,
                    ));
                }
            }
        }
    }

    /// Whether files have changed unreported that an answer rests on, where not every file is
    /// looked at for it. They are known to the next question.
    pub(in crate::server) fn rests_on_changes(&self, opened: &Opened, host: &dyn Host) -> bool {
        if !matches!(opened.extent, Extent::Reported(_)) {
            return false;
        }
        let suspects = Sweep::new(opened.location.root(), opened.snapshot.asked_files()).look(1);
        let Ok(limits) = self.chosen.config().map(|config| config.limits) else { return false };
        if suspects.is_empty() {
            return false;
        }
        let (paths, verified) = (suspects.into_iter().collect(), &self.shared.verified);
        let Ok(found) =
            index::compare_some(&paths, &opened.snapshot, &limits, verified, host.cancel())
        else {
            return false;
        };
        let changed: Vec<RepoPath> = found.changes.paths().cloned().collect();
        let is_changed = !changed.is_empty();
        self.shared.watches.report(&opened.location, changed);
        is_changed
    }

    /// What the stores and index runs of this process are doing.
    pub(in crate::server) fn activity(&self) -> Activity {
        let stores = self
            .shared
            .pool
            .get()
            .and_then(|pool| pool.as_ref().ok())
            .map(Pool::counts)
            .unwrap_or_default();
        let runs = self.shared.jobs.current().into_iter().filter_map(|job| {
            let progress = match job.state() {
                JobState::Running(progress) => report(progress),
                JobState::Queued => about_to_start(),
                JobState::Done(_) => return None,
            };
            Some((name_of(&job), progress))
        });
        let watches = self.shared.watches.all().into_iter().map(|(location, watched)| {
            let watched = match watched {
                Ok(directories) => format!("{directories} directories watched"),
                Err(reason) => {
                    format!(
                        "not watched, all files are looked at for every question: {}",
                        SafeLine::new(&reason, 300)
                    )
                }
            };
            (directory_name(&location), watched)
        });
        let dropped = self.shared.jobs.dropped().into_iter().map(|dropped| {
            let name = dropped.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (
                SafeLine::new(&name, 80).to_string(),
                "removed to make room; built again when it is asked about".to_owned(),
            )
        });
        Activity { stores, runs: runs.collect(), repositories: watches.chain(dropped).collect() }
    }

    fn snapshot(&self, location: &Location, cancel: &CancelToken) -> Result<Snapshot, Unavailable> {
        self.pool()?.snapshot(location, cancel).map_err(|error| store_failed(&error))
    }

    fn pool(&self) -> Result<&Pool, Unavailable> {
        self.shared.pool().map_err(store_failed)
    }

    /// Starts a run, or joins the one under way, and waits for it.
    fn await_index(
        &self,
        location: &Location,
        wait: &Wait,
        host: &dyn Host,
    ) -> Result<Awaited, Unavailable> {
        let mut may_be_stopped = true;
        loop {
            let job = self.shared.jobs.start_for(location, wait.changes.clone(), wait.then.clone());
            let begun = self.shared.wanted.enter(&job, self.session, wait.of_session);
            host.pause();
            let state = watch(
                &job,
                if wait.from_first { begun } else { Instant::now() } + wait.patience,
                host,
            );
            let is_wanted = host.resume() && !host.cancel().is_cancelled();
            self.shared.wanted.leave(&job, self.session, is_wanted);
            if !is_wanted {
                return Err(unavailable("cancelled", "ask again"));
            }
            let progress = match state {
                JobState::Done(Ok(outcome)) => {
                    let is_for_these = job.takes_in(wait.changes.as_ref());
                    return Ok(Awaited::Done {
                        begun: job.begun(),
                        is_for_these,
                        store: outcome.identity(),
                    });
                }
                // Those who wanted it left at the moment when this call came.
                JobState::Done(Err(error))
                    if may_be_stopped && matches!(*error, IndexError::Cancelled { .. }) =>
                {
                    may_be_stopped = false;
                    continue;
                }
                JobState::Done(Err(error)) => {
                    return Err(unavailable(&error.to_string(), error.hint()));
                }
                JobState::Running(progress) => report(progress),
                JobState::Queued => about_to_start(),
            };
            return Ok(Awaited::Working(SoFar { name: name_of(&job), progress }));
        }
    }
}

impl Drop for Repositories {
    fn drop(&mut self) {
        self.shared.wanted.forget(self.session);
    }
}

/// The directory that a run is about.
fn name_of(job: &Job) -> String {
    directory_name(job.location())
}

fn directory_name(location: &Location) -> String {
    SafeLine::new(&location.root().file_name().unwrap_or_default().to_string_lossy(), 80)
        .to_string()
}

/// A duration as people say it.
pub(in crate::server) fn rough(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
