//! Background index runs: at most one per repository, shared by all waiting calls, with a bounded
//! number at a time.

mod failures;

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::apply::{Run, apply, prepare, refresh};
use crate::outcome::{IndexError, Outcome};
use crate::progress::{Phase, Progress};
use crate::slow_files::{self, SlowFiles};
use crate::state::change_set::ChangeSet;
use crate::state::residents::Residents;
use crate::worker::WorkerPool;
use cograph_config::{Limits, WorkerCommand};
use cograph_faults as faults;
use cograph_model::SkipReason;
use cograph_model::cancel::CancelToken;
use cograph_model::panics::guarded;
use cograph_store::{self as store, Dropped, Location, Snapshot, StoreError};
use failures::Failures;
pub use failures::{FIRST_PAUSE, Failure, GREATEST_PAUSE};

/// Maximum number of concurrent runs; others are queued.
const MAX_CONCURRENT_RUNS: usize = 2;

/// How long a run waits for another process's writer lock.
const WRITER_TIMEOUT: Duration = Duration::from_secs(600);

/// Starts runs and tracks the current ones. Drop cancels them and joins their threads.
pub struct Jobs {
    shared: Arc<SharedJobs>,
}

/// Index run. Any holder can wait for it, read its progress, or cancel it for all.
pub struct Job {
    location: Location,
    begun: Instant,
    /// Changes to apply, whatever else has changed; none for a full comparison.
    changes: Option<ChangeSet>,
    cancel: CancelToken,
    state: Mutex<JobState>,
    changed: Condvar,
}

/// State of a run.
#[derive(Clone, Debug)]
pub enum JobState {
    /// Queued.
    Queued,
    /// Running.
    Running(Progress),
    /// Finished.
    Done(Result<Outcome, Arc<IndexError>>),
}

type OnPublished = Box<dyn Fn(&Job, &Outcome) + Send + Sync>;

struct SharedJobs {
    limits: Limits,
    on_published: OnPublished,
    /// Worker processes.
    workers: Option<WorkerPool>,
    /// In-memory states of repositories, if runs work in this process.
    residents: Residents,
    state: Mutex<JobsState>,
    turn: Condvar,
}

#[derive(Default)]
struct JobsState {
    /// Queued and active runs, with their threads.
    jobs: Vec<(Arc<Job>, JoinHandle<()>)>,
    /// Runs that have published their result and prepare for the next change.
    preparing: Vec<(Arc<Job>, JoinHandle<()>)>,
    working: usize,
    /// Failures without a later success.
    failures: Failures,
    /// Slow files that wait for a run.
    slow: SlowFiles,
    /// Repositories whose stores were evicted.
    dropped: Vec<Dropped>,
    ended: bool,
}

impl Jobs {
    /// Creates an empty table. Runs use worker processes if `worker` is given.
    pub fn new(limits: Limits, worker: Option<WorkerCommand>) -> Self {
        Self::with_callback(limits, worker, |_, _| {})
    }

    /// Like `new`, with a callback for every new generation, on the thread of its run.
    pub fn with_callback(
        limits: Limits,
        worker: Option<WorkerCommand>,
        on_published: impl Fn(&Job, &Outcome) + Send + Sync + 'static,
    ) -> Self {
        let on_published = Box::new(on_published);
        let (state, turn) = (Mutex::new(JobsState::default()), Condvar::new());
        let (workers, residents) = (worker.map(WorkerPool::new), Residents::new());
        Self {
            shared: Arc::new(SharedJobs { limits, on_published, workers, residents, state, turn }),
        }
    }

    /// The run that updates this repository's store: the current one, or a new one.
    ///
    /// A current run may have read a file before it changed, or may not include it
    /// ([`Job::covers_changes`]). A caller that must be sure compares again afterwards
    /// (`freshness`) and starts another run if necessary.
    pub fn start(&self, location: &Location) -> Arc<Job> {
        self.start_for(location, None, None)
    }

    /// Like `start`, for known changes. A follow-up run applies `then` right after this one.
    pub fn start_for(
        &self,
        location: &Location,
        changes: Option<ChangeSet>,
        then: Option<ChangeSet>,
    ) -> Arc<Job> {
        self.shared.start(location, changes, then)
    }

    /// Records a query of a repository: extends the lifetime of its in-memory state.
    pub fn touch(&self, location: &Location) {
        self.shared.residents.touch(location);
        if let Some(workers) = &self.shared.workers {
            workers.touch(location);
        }
    }

    /// Tries slow files of an up-to-date store again: once in this process, a few at a time, in
    /// runs of their own.
    pub fn retry_slow(&self, location: &Location, snapshot: &Snapshot) -> Result<(), StoreError> {
        if !self.shared.lock().slow.knows(location) {
            let reasons = [SkipReason::Deferred, SkipReason::TooSlow];
            let files = slow_files::left_out(snapshot, &reasons)?;
            self.shared.lock().slow.list(location, files);
        }
        self.shared.start_slow(location);
        Ok(())
    }

    /// Failure of the last run of a repository; none if it succeeded.
    pub fn failure(&self, location: &Location) -> Option<Failure> {
        self.shared.lock().failures.of(location).cloned()
    }

    /// Failures without a later success, oldest first.
    pub fn failures(&self) -> Vec<Failure> {
        self.shared.lock().failures.all()
    }

    /// Repositories whose stores were evicted by this process.
    pub fn dropped(&self) -> Vec<Dropped> {
        self.shared.lock().dropped.clone()
    }

    /// Queued and active runs.
    pub fn current(&self) -> Vec<Arc<Job>> {
        self.shared.lock().jobs.iter().map(|(job, _)| Arc::clone(job)).collect()
    }
}

impl JobsState {
    fn job(&self, location: &Location) -> Option<Arc<Job>> {
        let (job, _) = self.jobs.iter().find(|(job, _)| job.location == *location)?;
        Some(Arc::clone(job))
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        let jobs = {
            let mut state = self.shared.lock();
            state.ended = true;
            let preparing = std::mem::take(&mut state.preparing);
            std::mem::take(&mut state.jobs).into_iter().chain(preparing).collect::<Vec<_>>()
        };
        for (job, _) in &jobs {
            job.cancel();
        }
        self.shared.turn.notify_all();
        for (_, thread) in jobs {
            // A panic in the thread was caught and has become the job's error.
            let _ = thread.join();
        }
    }
}

impl SharedJobs {
    fn lock(&self) -> MutexGuard<'_, JobsState> {
        self.state.lock()
    }

    fn start(
        self: &Arc<Self>,
        location: &Location,
        changes: Option<ChangeSet>,
        then: Option<ChangeSet>,
    ) -> Arc<Job> {
        let mut state = self.lock();
        self.start_locked(&mut state, location, changes, then)
    }

    /// Starts a run for the next slow files, unless there is a run.
    fn start_slow(self: &Arc<Self>, location: &Location) {
        let mut state = self.lock();
        if state.ended || state.job(location).is_some() || state.failures.pauses(location) {
            return;
        }
        if let Some(changes) = state.slow.take(location) {
            self.start_locked(&mut state, location, Some(changes), None);
        }
    }

    fn start_locked(
        self: &Arc<Self>,
        state: &mut JobsState,
        location: &Location,
        changes: Option<ChangeSet>,
        then: Option<ChangeSet>,
    ) -> Arc<Job> {
        if let Some(job) = state.job(location) {
            return job;
        }
        let job = Arc::new(Job {
            location: location.clone(),
            begun: Instant::now(),
            changes,
            cancel: CancelToken::new(),
            state: Mutex::new(JobState::Queued),
            changed: Condvar::new(),
        });
        if state.ended {
            job.end(Err(Arc::new(IndexError::Cancelled { root: location.root().to_path_buf() })));
            return job;
        }
        if let Some(failure) = state.failures.of(location)
            && state.failures.pauses(location)
        {
            job.end(Err(Arc::clone(&failure.error)));
            return job;
        }
        let (shared, own) = (Arc::clone(self), Arc::clone(&job));
        match Builder::new().name("index-job".to_owned()).spawn(move || shared.work(&own, then)) {
            Ok(thread) => state.jobs.push((Arc::clone(&job), thread)),
            Err(error) => job.end(Err(Arc::new(IndexError::Threads {
                threads: 1,
                root: location.root().to_path_buf(),
                reason: error.to_string(),
            }))),
        }
        job
    }

    /// Main function of a run's thread.
    fn work(self: &Arc<Self>, job: &Arc<Job>, then: Option<ChangeSet>) {
        let waiting = Arc::clone(self);
        let wake = job.cancel.on_cancel(move || {
            // Under the lock, so that the signal cannot fall between the check of the token and the
            // wait.
            let _state = waiting.lock();
            waiting.turn.notify_all();
        });
        let has_turn = self.wait_for_turn(job);
        drop(wake);
        let begun = Instant::now();
        let outcome = if has_turn {
            let progress = |progress: Progress| job.set(JobState::Running(progress));
            progress(Progress { phase: Phase::Walk, done: 0, total: 0 });
            faults::index_runs(job.location.root());
            let run = Run {
                progress: &progress,
                workers: self.workers.as_ref(),
                residents: Some(&self.residents),
                ..Run::quiet(self.limits, &job.cancel)
            };
            let ended = guarded(|| match &job.changes {
                Some(changes) => apply(&job.location, changes, WRITER_TIMEOUT, &run),
                None => refresh(&job.location, WRITER_TIMEOUT, &run),
            });
            ended.unwrap_or_else(|reason| {
                Err(IndexError::Defect { root: job.location.root().to_path_buf(), reason })
            })
        } else {
            Err(IndexError::Cancelled { root: job.location.root().to_path_buf() })
        };
        let (outcome, took) = (outcome.map_err(Arc::new), begun.elapsed());
        let made_whole = outcome.as_ref().is_ok_and(|outcome| outcome.is_whole(&job.location));
        let made_in_place = matches!(&outcome, Ok(Outcome::Published { .. })) && !made_whole;
        // Whatever fails here, the run must end: calls wait for it.
        let followed = guarded(|| {
            if let Ok(outcome @ Outcome::Published { .. }) = &outcome {
                (self.on_published)(job, outcome);
            }
            if made_whole {
                self.after_whole_build(job);
            }
        });
        if let Err(reason) = followed {
            tracing::error!(reason, "the work after a run has failed");
        }
        {
            let mut state = self.lock();
            if let Some(place) = state.jobs.iter().position(|(other, _)| Arc::ptr_eq(other, job)) {
                let ended = state.jobs.swap_remove(place);
                state.preparing.push(ended);
            }
            state.failures.record(&job.location, &outcome, took);
            if outcome.is_err() {
                state.slow.forget(&job.location);
            }
            state.working -= usize::from(has_turn);
        }
        self.turn.notify_all();
        // Before the result is published, so that a caller that waits for this run and then for the
        // rest finds the follow-up run.
        if let Some(rest) = then.filter(|_| outcome.is_ok()) {
            self.start(&job.location, Some(rest), None);
        }
        // Last: a caller woken by the result that starts another run must not get this one again.
        let is_success = outcome.is_ok();
        let has_changed = is_success && job.changes.is_some();
        job.end(outcome);
        if made_in_place {
            // Best effort: without a checkpoint the store is correct, only larger.
            if let Err(error) = store::checkpoint(&job.location) {
                tracing::info!(%error, "the log of changes stays as long as it is");
            }
            self.enforce_quota(&job.location);
        }
        // The files are being edited: prepare, so that the next change is incremental.
        if has_changed && self.workers.is_none() {
            let run = Run::quiet(self.limits, &job.cancel);
            match guarded(|| prepare(&job.location, &self.residents, &run)) {
                Ok(Ok(())) | Ok(Err(IndexError::Cancelled { .. })) => {}
                Ok(Err(error)) => tracing::info!(%error, "the next changes mean a whole build"),
                Err(reason) => tracing::error!(reason, "the next changes mean a whole build"),
            }
        }
        if is_success {
            self.start_slow(&job.location);
        }
        self.lock().preparing.retain(|(other, _)| !Arc::ptr_eq(other, job));
    }

    fn after_whole_build(&self, job: &Job) {
        self.enforce_quota(&job.location);
        let run = Run::quiet(self.limits, &job.cancel);
        match slow_files::deferred(&job.location, &run) {
            Ok(files) => self.lock().slow.list(&job.location, files),
            Err(error) => tracing::info!(%error, "slow files are tried by the next process"),
        }
    }

    fn enforce_quota(&self, location: &Location) {
        let dropped = super::enforce_quota(location, &self.limits);
        self.lock().dropped.extend(dropped);
    }

    fn wait_for_turn(&self, job: &Job) -> bool {
        let mut state = self.lock();
        while state.working >= MAX_CONCURRENT_RUNS && !state.ended && !job.cancel.is_cancelled() {
            self.turn.wait(&mut state);
        }
        let has_turn = !state.ended && !job.cancel.is_cancelled();
        state.working += usize::from(has_turn);
        has_turn
    }
}

impl Job {
    /// True if the run applies these changes, or all of them if none are given.
    pub fn covers_changes(&self, changes: Option<&ChangeSet>) -> bool {
        match (&self.changes, changes) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(changes)) => own.covers(changes),
        }
    }

    /// Repository.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Start of the run, before it reads any file.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// Current state.
    pub fn state(&self) -> JobState {
        self.lock().clone()
    }

    /// Waits until the run has ended or `until`, and returns its state.
    pub fn wait(&self, until: Instant) -> JobState {
        let mut state = self.lock();
        while !matches!(*state, JobState::Done(_)) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.changed.wait_for(&mut state, left);
        }
        state.clone()
    }

    /// Waits until the progress differs from `seen`, the run has ended, or `until`.
    pub fn wait_for_progress(&self, seen: Option<Progress>, until: Instant) -> JobState {
        let mut state = self.lock();
        while matches!(&*state, JobState::Queued)
            || matches!(&*state, JobState::Running(progress) if Some(*progress) == seen)
        {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.changed.wait_for(&mut state, left);
        }
        state.clone()
    }

    /// Cancels the run, for all callers. The store is unchanged.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    fn lock(&self) -> MutexGuard<'_, JobState> {
        self.state.lock()
    }

    fn set(&self, state: JobState) {
        *self.lock() = state;
        self.changed.notify_all();
    }

    fn end(&self, outcome: Result<Outcome, Arc<IndexError>>) {
        self.set(JobState::Done(outcome));
    }
}
