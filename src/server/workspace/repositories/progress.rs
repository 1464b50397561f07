//! Progress of an index run: waiting for it, progress reports to the host, and the text for a
//! caller that does not wait.

use crate::base::escape::SafeLine;
use crate::workspace::{host::Host, metrics::ProgressReport};
use cograph_index::{Failure, IndexError, Job, JobState, Phase, Progress};
use cograph_store::Location;
use std::time::{Duration, Instant};

/// A first index in progress.
#[derive(Debug)]
pub(crate) struct BuildProgress {
    pub(super) name: String,
    pub(super) progress: ProgressReport,
}

pub(super) fn about_to_start() -> ProgressReport {
    ProgressReport { thousandths: 1, message: "indexing: about to start".to_owned() }
}

/// Directory name of a job's repository.
pub(super) fn name_of(job: &Job) -> String {
    directory_name(job.location())
}

pub(super) fn directory_name(location: &Location) -> String {
    SafeLine::new(&location.root().file_name().unwrap_or_default().to_string_lossy(), 80)
        .to_string()
}

/// Waits for the end of a run and reports its progress to the host.
pub(super) fn watch(job: &Job, until: Instant, host: &dyn Host) -> JobState {
    let mut seen = None;
    loop {
        let state = job.wait_for_progress(seen, until.min(Instant::now() + CANCEL_POLL_INTERVAL));
        match state {
            JobState::Running(progress) => {
                host.progress(&report(progress));
                seen = Some(progress);
            }
            // A relaying proxy learns that this call waits for an index.
            JobState::Queued => host.progress(&about_to_start()),
            JobState::Done(_) => {}
        }
        if matches!(state, JobState::Done(_))
            || host.cancel().is_cancelled()
            || Instant::now() >= until
        {
            return state;
        }
    }
}

/// Progress of a run that follows a failed one: names that failure.
pub(super) fn after(failure: Option<&Failure>, progress: ProgressReport) -> ProgressReport {
    let message = match failure {
        Some(Failure { error, .. }) => {
            format!("{}; the attempt before failed: {error}", progress.message)
        }
        None => progress.message,
    };
    ProgressReport { message, ..progress }
}

/// A failed run in words: its error, and when the next attempt may start.
pub(super) fn failed(error: &IndexError, failure: Option<&Failure>) -> String {
    let left = failure.map(Failure::pause_left).unwrap_or_default();
    match left.is_zero() {
        true => error.to_string(),
        false => format!("{error}; next attempt in {} s", left.as_secs() + 1),
    }
}

impl BuildProgress {
    /// Text for the caller.
    pub(crate) fn text(&self) -> String {
        format!(
            "{} is being indexed for the first time ({}). The index goes on by itself: ask again \
             in a moment. Until then only reading and searching files directly can answer.",
            self.name, self.progress.message,
        )
    }
}

/// Share of a phase in a full build, in thousandths: start and end.
fn share(phase: Phase) -> (u32, u32) {
    match phase {
        Phase::Walk => (1, 20),
        Phase::Extract => (20, 700),
        Phase::Tables => (700, 720),
        Phase::Resolve => (720, 900),
        Phase::Write => (900, 999),
    }
}

pub(super) fn report(progress: Progress) -> ProgressReport {
    let (begin, end) = share(progress.phase);
    let within = (u64::from(end - begin) * progress.done.min(progress.total))
        .checked_div(progress.total)
        .unwrap_or(0);
    let thousandths = begin + u32::try_from(within).unwrap_or(0);
    let message = match progress.total {
        0 => format!("indexing: {} files", progress.phase.word()),
        total => format!("indexing: {} {} of {total} files", progress.phase.word(), progress.done),
    };
    ProgressReport { thousandths, message }
}

/// Interval at which a waiting call checks its cancel token.
pub(crate) const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_never_goes_back() {
        let mut last = 0;
        for phase in Phase::ALL {
            for done in [0, 1, 50, 100] {
                let now = report(Progress { phase, done, total: 100 }).thousandths;
                assert!(now >= last && now < 1000, "{phase:?} {done}");
                last = now;
            }
            assert!(report(Progress { phase, done: 0, total: 0 }).thousandths > 0);
        }
    }
}
