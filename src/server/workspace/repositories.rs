//! Opens the repository of a call: selects it, opens its store, compares the store with the files,
//! and waits for an index run if necessary. Stores, watches and index runs are shared by all
//! sessions of a process (`shared`). Index runs belong to `index::Jobs` and outlive the call that
//! started them while a session is interested (`wanted`).

mod activity;
mod files;
mod job_interest;
mod members;
pub(crate) mod open_repository;
mod progress;
mod query_hints;
mod root_selection;
pub(crate) mod shared;
mod unavailable;
mod watches;

use crate::base::limits::Limits;
use crate::workspace::host::Host;
use cograph_config::{Config, ConfigError, Repository};
use cograph_index::{self as index, ChangeSet, IndexError, JobState, Outcome};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_query::ReadFile;
use cograph_source::{self as source, Root, Sweep};
use cograph_store::{Location, Pool, PoolSettings, Snapshot};
use parking_lot::Mutex;
use progress::{BuildProgress, about_to_start, after, failed, name_of, report, watch};
pub use root_selection::AllowedRoots;
use root_selection::RootSelection;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
pub use unavailable::Unavailable;
use unavailable::{store_failed, unavailable};

pub(crate) use files::Files;
pub(crate) use members::Member;
pub(crate) use open_repository::OpenRepository;
use open_repository::{Behind, Cause, Extent};
pub(crate) use query_hints::QueryHints;
pub(crate) use shared::Shared;

/// Timeouts of waiting for an index run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// For the first index, without which there is no answer.
    pub first: Duration,
    /// For an update after files have changed.
    pub renewal: Duration,
}

/// Repositories, as seen by one session.
pub struct Repositories {
    chosen: Arc<RootSelection>,
    patience: Patience,
    shared: Arc<Shared>,
    /// Session id, for interest in index runs.
    session: u64,
    /// Roots that a response has named; none if every call names its root.
    named: Option<Mutex<BTreeSet<PathBuf>>>,
}

/// How a call waits for an index run.
struct Wait {
    /// Timeout.
    patience: Duration,
    /// The timeout starts when the first call began to wait for the run; otherwise now.
    from_first: bool,
    /// True if the run is of the session's default repository.
    of_session: bool,
    /// Changes that the run must apply, if known.
    changes: Option<ChangeSet>,
    /// Changes of the follow-up run.
    then: Option<ChangeSet>,
}

/// Context of opening a repository.
struct Question<'q> {
    /// True for the session's default repository.
    of_session: bool,
    patience: Patience,
    about: &'q QueryHints,
    host: &'q dyn Host,
}

/// Result of waiting for a run.
enum Awaited {
    /// The run started at `begun`, perhaps with other changes (`is_for_these`).
    Done { begun: Instant, is_for_these: bool, outcome: Outcome },
    /// The run is still in progress.
    Working(BuildProgress),
}

/// Result of opening a repository.
pub(crate) enum Readiness {
    /// Ready for queries.
    Ready(Box<OpenRepository>),
    /// The first index is in progress.
    Working(BuildProgress),
}

impl Patience {
    /// Timeouts of a server.
    pub(crate) fn of(limits: &Limits) -> Self {
        Self { first: limits.index_wait, renewal: limits.renewal_wait }
    }
}

impl Repositories {
    /// Repositories of a process with a single session. Opens nothing before the first call.
    pub fn new(
        config: Result<Config, ConfigError>,
        root: Option<PathBuf>,
        patience: Patience,
    ) -> Self {
        let mut repositories = Self::of(
            &Shared::new(config, PoolSettings::default()),
            AllowedRoots::from(root),
            patience,
            || {},
        );
        repositories.named = None;
        repositories
    }

    /// Repositories of a session. `on_change` is called when the default repository has a new
    /// generation.
    pub(crate) fn of(
        shared: &Arc<Shared>,
        reach: AllowedRoots,
        patience: Patience,
        on_change: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let chosen = Arc::new(RootSelection::new(shared.config.clone(), reach, on_change));
        let session = shared.enter(&chosen);
        Self {
            chosen,
            patience,
            shared: Arc::clone(shared),
            session,
            named: Some(Mutex::default()),
        }
    }

    /// True if the client's roots can decide the default repository.
    pub(crate) fn asks_client(&self) -> bool {
        self.chosen.asks_client()
    }

    /// Records that `roots/list` was sent: calls wait for its response until then.
    pub(crate) fn client_got_request(&self, until: Instant) {
        self.chosen.client_got_request(until);
    }

    /// Sets the root chosen by the client: exactly this directory.
    pub(crate) fn set_root(&self, root: PathBuf) {
        self.chosen.set_root(root);
    }

    /// Sets the client's roots. Returns true if the default repository may differ from that of
    /// earlier responses.
    pub(crate) fn set_client(&self, directories: Vec<PathBuf>) -> bool {
        self.chosen.set_client(directories)
    }

    /// Opens the repository that `root` names, or the default one. Starts and awaits an index run
    /// if the store is missing or stale; `waits` is false if the caller cannot wait beyond the
    /// start of the run, and `about` selects the changes to apply first.
    pub(crate) fn open(
        &self,
        root: Option<&str>,
        waits: bool,
        about: &QueryHints,
        host: &dyn Host,
    ) -> Result<Readiness, Unavailable> {
        if root.is_none() {
            self.chosen.await_client();
        }
        let repository = self.chosen.find(root)?;
        let directory = repository.root.clone();
        let patience = self.patience(waits);
        let mut readiness = self
            .open_at(repository, &Question { of_session: root.is_none(), patience, about, host })?;
        if let (None, Readiness::Ready(opened)) = (root, &readiness) {
            self.chosen.answered_from(&directory, opened.snapshot.identity());
        }
        if let (Some(named), Readiness::Ready(opened)) = (&self.named, &mut readiness) {
            opened.names_root = !named.lock().contains(&directory);
        }
        Ok(readiness)
    }

    /// Members of the workspace that `root` names, or of the default directory; none if that is
    /// one repository.
    pub(crate) fn members(&self, root: Option<&str>) -> Result<Option<Vec<Member>>, Unavailable> {
        if root.is_none() {
            self.chosen.await_client();
        }
        members::members(&self.chosen, root)
    }

    /// Opens a member of a workspace like `open`: exactly its directory.
    pub(crate) fn open_member(
        &self,
        member: &Member,
        waits: bool,
        about: &QueryHints,
        host: &dyn Host,
    ) -> Result<Readiness, Unavailable> {
        let repository = self.chosen.exactly(&member.directory)?;
        let patience = self.patience(waits);
        self.open_at(repository, &Question { of_session: true, patience, about, host })
    }

    /// Records that a response names these members; true if an earlier one has not named them all.
    pub(crate) fn names_members(&self, members: &[Member]) -> bool {
        let Some(named) = &self.named else { return false };
        let mut named = named.lock();
        members.iter().filter(|member| named.insert(member.directory.clone())).count() > 0
    }

    fn patience(&self, waits: bool) -> Patience {
        if waits {
            self.patience
        } else {
            Patience { first: Duration::ZERO, renewal: Duration::ZERO }
        }
    }

    /// Records that a response has named its repository.
    pub(crate) fn was_answered(&self, opened: &OpenRepository) {
        if let Some(named) = self.named.as_ref().filter(|_| opened.names_root) {
            named.lock().insert(opened.location.root().to_path_buf());
        }
    }

    /// Opens the default repository for a reader of the whole store, only if the store reflects all
    /// files: such a reader has no place for a staleness report.
    pub fn up_to_date_snapshot(&self, host: &dyn Host) -> Result<Snapshot, Unavailable> {
        self.up_to_date_snapshot_and_files(host).map(|(snapshot, _)| snapshot)
    }

    /// The same, with the texts of its files.
    pub fn up_to_date_snapshot_and_files(
        &self,
        host: &dyn Host,
    ) -> Result<(Snapshot, impl ReadFile + use<>), Unavailable> {
        match self.open(None, true, &QueryHints::default(), host)? {
            Readiness::Working(so_far) => Err(unavailable(&so_far.text(), "ask again")),
            Readiness::Ready(opened) => match opened.stale() {
                Some(stale) => Err(unavailable(
                    &format!("the index does not reflect the files: {stale}"),
                    "ask again",
                )),
                None => Ok((opened.snapshot, opened.files)),
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
        let location = Location::new(&repository.cache, &repository.root).under(repository.rules);
        let manifests = self.shared.manifests(&repository.root);
        let files = Files { root: Root::new(&repository.root), limits: config.limits, manifests };
        let ready = |snapshot, files, behind, extent| {
            let location = location.clone();
            Readiness::Ready(Box::new(OpenRepository {
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
                self.shared.watches.start_watching(&location, config.limits.threads);
                let asked = Instant::now();
                let done = self.await_index(&location, &wait, host)?;
                if let Awaited::Working(so_far) = done {
                    return Ok(Readiness::Working(so_far));
                }
                let snapshot = self.snapshot(&location, host.cancel())?;
                // A whole build that has started since reflects the files: no second comparison is
                // needed.
                if matches!(&done, Awaited::Done { begun, outcome, .. } if *begun >= asked
                    && outcome.is_whole(&location) && outcome.identity() == snapshot.identity())
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

    /// Waits for the store to reflect the files, within the timeout; otherwise the result lists the
    /// stale files.
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
            host.compares(true);
            let comparing = tracing::trace_span!("compare files").entered();
            let comparison = self.shared.watches.freshness(
                location,
                &snapshot,
                limits,
                &self.shared.verified,
                host.cancel(),
            );
            drop(comparing);
            host.compares(false);
            let (changes, extent) = match comparison {
                // A store whose list of files cannot be read is built anew.
                Err(IndexError::Store(error)) if !error.stops_builds() => {
                    (ChangeSet::Everything { forced: true }, Extent::All)
                }
                other => other.map_err(|error| unavailable(&error.to_string(), error.hint()))?,
            };
            if changes.is_empty() {
                self.shared.jobs.touch(location);
                self.retry_slow(location, &snapshot);
                return Ok((snapshot, None, extent));
            }
            let compared = snapshot.identity();
            drop(snapshot);
            // Files relevant to the query are updated first, the rest in a follow-up run: the
            // timeout may not allow both.
            let (now, then) = match about.split(&changes, files) {
                Some((now, then)) => (now, Some(then)),
                None => (changes.clone(), None),
            };
            let in_parts = then.is_some();
            // While the run is in progress or after a failure the current snapshot answers, and
            // reports what is stale. The timeout counts from the first waiting call, so that later
            // ones do not wait all over again.
            let wait = Wait { patience, from_first: true, of_session, changes: Some(now), then };
            let awaited = self.await_index(location, &wait, host);
            snapshot = self.snapshot(location, host.cancel())?;
            match awaited {
                Ok(Awaited::Done { begun, is_for_these: true, outcome })
                    if begun >= looked
                        && outcome.continues(compared)
                        && outcome.identity() == snapshot.identity() =>
                {
                    self.shared.watches.run_finished(location, &outcome, begun);
                    if !in_parts {
                        return Ok((snapshot, None, extent));
                    }
                }
                // A run started by another call may have read a file before it changed, or apply
                // other changes; another process may have published what it read before.
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

    /// Re-checks the files that a response depends on, where the query did not check every file.
    /// Changed files are reported to the next query.
    pub(crate) fn rests_on_changes(&self, opened: &OpenRepository, host: &dyn Host) -> bool {
        if !matches!(opened.extent, Extent::Reported(_)) {
            return false;
        }
        let suspects = Sweep::new(opened.location.root(), opened.snapshot.asked_files()).changed(1);
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

    /// Has slow files tried again: by a server, which lives long enough.
    fn retry_slow(&self, location: &Location, snapshot: &Snapshot) {
        let retried = match snapshot.left_out() {
            Ok(counts) if counts != (0, 0) && self.named.is_some() => {
                self.shared.jobs.retry_slow(location, snapshot)
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = retried {
            tracing::info!(%error, "slow files are not tried again");
        }
    }

    fn snapshot(&self, location: &Location, cancel: &CancelToken) -> Result<Snapshot, Unavailable> {
        self.pool()?.snapshot(location, cancel).map_err(|error| store_failed(&error))
    }

    fn pool(&self) -> Result<&Pool, Unavailable> {
        self.shared.pool().map_err(store_failed)
    }

    /// Starts an index run or joins the current one, and waits for it.
    fn await_index(
        &self,
        location: &Location,
        wait: &Wait,
        host: &dyn Host,
    ) -> Result<Awaited, Unavailable> {
        let _span = tracing::trace_span!("wait for index").entered();
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
            self.shared.wanted.withdraw(&job, self.session, is_wanted);
            if !is_wanted {
                return Err(unavailable("cancelled", "ask again"));
            }
            let progress = match state {
                JobState::Done(Ok(outcome)) => {
                    let is_for_these = job.covers_changes(wait.changes.as_ref());
                    return Ok(Awaited::Done { begun: job.begun(), is_for_these, outcome });
                }
                // All interested calls left at the moment when this one arrived.
                JobState::Done(Err(error))
                    if may_be_stopped && matches!(*error, IndexError::Cancelled { .. }) =>
                {
                    may_be_stopped = false;
                    continue;
                }
                JobState::Done(Err(error)) => {
                    let failure = self.shared.jobs.failure(location);
                    return Err(unavailable(&failed(&error, failure.as_ref()), error.hint()));
                }
                JobState::Running(progress) => report(progress),
                JobState::Queued => about_to_start(),
            };
            let progress = after(self.shared.jobs.failure(location).as_ref(), progress);
            return Ok(Awaited::Working(BuildProgress { name: name_of(&job), progress }));
        }
    }
}

impl Drop for Repositories {
    fn drop(&mut self) {
        self.shared.wanted.forget(self.session);
    }
}
