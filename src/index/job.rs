//! Index runs in the background: one a repository, shared by all who wait for it, a few at a time
//! in all.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::{
    ChangeSet, IndexError, Outcome, Phase, Progress, Residents, Run, WorkerPool, apply, prepare,
    refresh,
};
use crate::config::{Limits, WorkerCommand};
use crate::faults;
use crate::model::cancel::CancelToken;
use crate::store::{self, Dropped, Identity, Location};

/// Runs that work at the same time, in all; more wait for their turn.
const AT_ONCE: usize = 2;

/// How long a run waits for another process that writes the same store.
const WRITER_PATIENCE: Duration = Duration::from_secs(600);

/// Starts runs and knows those that are under way. Dropping it stops them and waits for their
/// threads.
pub struct Jobs {
    shared: Arc<SharedJobs>,
}

/// One run. Whoever has it can wait for it, look at its progress, or stop it for all.
pub struct Job {
    location: Location,
    begun: Instant,
    /// The changes that it takes in, whatever else has changed; none if it looks for all of them
    /// itself.
    changes: Option<ChangeSet>,
    cancel: CancelToken,
    state: Mutex<JobState>,
    changed: Condvar,
}

/// How far a run is.
#[derive(Clone, Debug)]
pub enum JobState {
    /// It waits for its turn.
    Queued,
    /// It works.
    Running(Progress),
    /// It ended.
    Done(Result<Outcome, Arc<IndexError>>),
}

type OnPublished = Box<dyn Fn(&Job, Identity) + Send + Sync>;

struct SharedJobs {
    limits: Limits,
    on_published: OnPublished,
    /// The processes that do the work.
    workers: Option<WorkerPool>,
    /// What is known of repositories between runs where this process does the work.
    residents: Residents,
    state: Mutex<JobsState>,
    turn: Condvar,
}

#[derive(Default)]
struct JobsState {
    /// Runs that are queued or under way, with their threads.
    jobs: Vec<(Arc<Job>, JoinHandle<()>)>,
    /// Runs that have ended for those who waited, and prepare for the next changes.
    preparing: Vec<(Arc<Job>, JoinHandle<()>)>,
    working: usize,
    /// Repositories whose stores were removed to make room.
    dropped: Vec<Dropped>,
    ended: bool,
}

impl Jobs {
    /// No runs yet. They are made by processes that `worker` starts, if it is given.
    pub fn new(limits: Limits, worker: Option<WorkerCommand>) -> Self {
        Self::telling(limits, worker, |_, _| {})
    }

    /// The same, with somebody who is told of every new generation, on the thread of the run that
    /// has made it.
    pub fn telling(
        limits: Limits,
        worker: Option<WorkerCommand>,
        on_published: impl Fn(&Job, Identity) + Send + Sync + 'static,
    ) -> Self {
        let on_published = Box::new(on_published);
        let (state, turn) = (Mutex::new(JobsState::default()), Condvar::new());
        let (workers, residents) = (worker.map(WorkerPool::new), Residents::new());
        Self {
            shared: Arc::new(SharedJobs { limits, on_published, workers, residents, state, turn }),
        }
    }

    /// The run that brings this repository's store up to date: the one under way, or a new one.
    ///
    /// A run that is under way may have looked at a file before it changed, or not look at it at
    /// all ([`Job::takes_in`]). A caller that must know compares again afterwards (`freshness`) and
    /// starts another run if need be.
    pub fn start(&self, location: &Location) -> Arc<Job> {
        self.start_for(location, None, None)
    }

    /// The same for changes that have been found already. What `then` names is taken in by another
    /// run, which begins as soon as this one has ended.
    pub fn start_for(
        &self,
        location: &Location,
        changes: Option<ChangeSet>,
        then: Option<ChangeSet>,
    ) -> Arc<Job> {
        self.shared.start(location, changes, then)
    }

    /// Says that questions are asked about a repository: what is known of it is worth keeping.
    pub fn touch(&self, location: &Location) {
        self.shared.residents.touch(location);
        if let Some(workers) = &self.shared.workers {
            workers.touch(location);
        }
    }

    /// Repositories whose stores were removed by this process to make room for others.
    pub fn dropped(&self) -> Vec<Dropped> {
        self.shared.lock().dropped.clone()
    }

    /// The runs that are queued or under way.
    pub fn current(&self) -> Vec<Arc<Job>> {
        self.shared.lock().jobs.iter().map(|(job, _)| Arc::clone(job)).collect()
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
            // The thread's work is guarded: a panic has ended as the job's error.
            let _ = thread.join();
        }
    }
}

impl SharedJobs {
    fn lock(&self) -> MutexGuard<'_, JobsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(
        self: &Arc<Self>,
        location: &Location,
        changes: Option<ChangeSet>,
        then: Option<ChangeSet>,
    ) -> Arc<Job> {
        let mut state = self.lock();
        if let Some((job, _)) = state.jobs.iter().find(|(job, _)| job.location == *location) {
            return Arc::clone(job);
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
            job.end(Err(IndexError::Cancelled { root: location.root().to_path_buf() }));
            return job;
        }
        let (shared, own) = (Arc::clone(self), Arc::clone(&job));
        match Builder::new().name("index-job".to_owned()).spawn(move || shared.work(&own, then)) {
            Ok(thread) => state.jobs.push((Arc::clone(&job), thread)),
            Err(error) => job.end(Err(IndexError::Threads {
                threads: 1,
                root: location.root().to_path_buf(),
                reason: error.to_string(),
            })),
        }
        job
    }

    /// The life of a run's thread.
    fn work(self: &Arc<Self>, job: &Arc<Job>, then: Option<ChangeSet>) {
        let waiting = Arc::clone(self);
        let wake = job.cancel.on_cancel(move || {
            // Under the lock, so that the signal cannot fall between a look at the token and the
            // wait.
            let _state = waiting.lock();
            waiting.turn.notify_all();
        });
        let has_turn = self.wait_for_turn(job);
        drop(wake);
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
            let ended = crate::index::build::workers::guarded(|| match &job.changes {
                Some(changes) => apply(&job.location, changes, WRITER_PATIENCE, &run),
                None => refresh(&job.location, WRITER_PATIENCE, &run),
            });
            ended.unwrap_or_else(|reason| {
                Err(IndexError::Defect { root: job.location.root().to_path_buf(), reason })
            })
        } else {
            Err(IndexError::Cancelled { root: job.location.root().to_path_buf() })
        };
        if let Ok(Outcome::Published { published, .. }) = &outcome {
            (self.on_published)(job, published.identity);
        }
        let made_whole = matches!(
            &outcome, Ok(Outcome::Published { published, .. }) if published.is_whole(&job.location)
        );
        let made_in_place = matches!(&outcome, Ok(Outcome::Published { .. })) && !made_whole;
        if made_whole {
            self.make_room(&job.location);
        }
        {
            let mut state = self.lock();
            if let Some(place) = state.jobs.iter().position(|(other, _)| Arc::ptr_eq(other, job)) {
                let ended = state.jobs.swap_remove(place);
                state.preparing.push(ended);
            }
            state.working -= usize::from(has_turn);
        }
        self.turn.notify_all();
        // Before the end is told: whoever waits for this run, and then for the rest, finds that one
        // under way.
        if let Some(rest) = then.filter(|_| outcome.is_ok()) {
            self.start(&job.location, Some(rest), None);
        }
        // Last: whoever is woken by it and starts another run must not get this one again.
        let has_changed = outcome.is_ok() && job.changes.is_some();
        job.end(outcome);
        if made_in_place {
            // Nobody waits for this: the store is right, it takes more room than it needs.
            if let Err(error) = store::carry_over(&job.location) {
                tracing::info!(%error, "the log of changes stays as long as it is");
            }
            self.make_room(&job.location);
        }
        // Somebody works on the files: the next change shall cost what it concerns.
        if has_changed && self.workers.is_none() {
            let run = Run::quiet(self.limits, &job.cancel);
            match crate::index::build::workers::guarded(|| {
                prepare(&job.location, &self.residents, &run)
            }) {
                Ok(Ok(())) | Ok(Err(IndexError::Cancelled { .. })) => {}
                Ok(Err(error)) => tracing::info!(%error, "the next changes mean a whole build"),
                Err(reason) => tracing::error!(reason, "the next changes mean a whole build"),
            }
        }
        self.lock().preparing.retain(|(other, _)| !Arc::ptr_eq(other, job));
    }

    fn make_room(&self, location: &Location) {
        let dropped = super::make_room(location, &self.limits);
        self.lock().dropped.extend(dropped);
    }

    fn wait_for_turn(&self, job: &Job) -> bool {
        let mut state = self.lock();
        while state.working >= AT_ONCE && !state.ended && !job.cancel.is_cancelled() {
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let has_turn = !state.ended && !job.cancel.is_cancelled();
        state.working += usize::from(has_turn);
        has_turn
    }
}

impl Job {
    /// Whether it takes in these changes, or all if they are none: it may have been started for
    /// others.
    pub fn takes_in(&self, changes: Option<&ChangeSet>) -> bool {
        match (&self.changes, changes) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(changes)) => own.covers(changes),
        }
    }

    /// The repository.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// When it was asked for: it looks at the files after that.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// How far it is.
    pub fn state(&self) -> JobState {
        self.lock().clone()
    }

    /// Waits until it has ended or `until` has come, and says how far it is then.
    pub fn wait(&self, until: Instant) -> JobState {
        let mut state = self.lock();
        while !matches!(*state, JobState::Done(_)) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.clone()
    }

    /// Waits until the state is another one than when it was looked at last, it has ended, or
    /// `until` has come.
    pub fn wait_for_progress(&self, seen: Option<Progress>, until: Instant) -> JobState {
        let mut state = self.lock();
        while matches!(&*state, JobState::Queued)
            || matches!(&*state, JobState::Running(progress) if Some(*progress) == seen)
        {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state =
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.clone()
    }

    /// Stops it, for everybody. The store stays as it was.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    fn lock(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: JobState) {
        *self.lock() = state;
        self.changed.notify_all();
    }

    fn end(&self, outcome: Result<Outcome, IndexError>) {
        self.set(JobState::Done(outcome.map_err(Arc::new)));
    }
}
