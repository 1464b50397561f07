//! Failures of index runs: the last one of each repository, and the pause after it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::outcome::{IndexError, Outcome};
use cograph_store::Location;

/// Pause after the second failed run in a row, doubled with each further one up to the greatest:
/// without it every question would start a run that fails for the same reason, such as a full disk.
/// After the first failure the next question tries again: its reason may be gone.
pub const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Length of a pause as a multiple of the run before it, at least.
const RUNS_IN_A_PAUSE: u32 = 4;
/// Greatest pause after a failed run.
pub const GREATEST_PAUSE: Duration = Duration::from_secs(60);
/// Repositories whose failures are remembered; the oldest is forgotten.
const MAX_FAILURES: usize = 64;

/// Failure of the last run of a repository.
#[derive(Clone, Debug)]
pub struct Failure {
    location: Location,
    /// Error.
    pub error: Arc<IndexError>,
    /// Length of the pause after it.
    pause: Duration,
    /// End of the pause: until then no run is started.
    until: Instant,
}

impl Failure {
    /// Repository.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Time left until another run may be started.
    pub fn pause_left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

/// Failures without a later success, oldest first.
#[derive(Default)]
pub(super) struct Failures(Vec<Failure>);

impl Failures {
    pub(super) fn all(&self) -> Vec<Failure> {
        self.0.clone()
    }

    /// Failure of the last run of a repository; none if it succeeded.
    pub(super) fn of(&self, location: &Location) -> Option<&Failure> {
        self.0.iter().find(|failure| failure.location == *location)
    }

    /// True if a failure is so recent that no run is started.
    pub(super) fn pauses(&self, location: &Location) -> bool {
        self.of(location).is_some_and(|failure| !failure.pause_left().is_zero())
    }

    /// Records the end of a run: a failure begins a pause, a success ends all of them.
    ///
    /// The pause is several times as long as the run took: runs that fail, each of which may parse
    /// much, leave most of the processor to others.
    pub(super) fn record(
        &mut self,
        location: &Location,
        outcome: &Result<Outcome, Arc<IndexError>>,
        took: Duration,
    ) {
        let before = self.of(location).map(|failure| failure.pause);
        let error = match outcome {
            // No call wanted the run any more.
            Err(error) if matches!(**error, IndexError::Cancelled { .. }) => return,
            // The walk fails at once, and may succeed as soon as the directory exists.
            Err(error) if matches!(**error, IndexError::Source(_)) => None,
            Err(error) => Some(error),
            Ok(_) => None,
        };
        self.0.retain(|failure| failure.location != *location);
        if let Some(error) = error {
            let least = (took * RUNS_IN_A_PAUSE).max(FIRST_PAUSE);
            let pause =
                before.map_or(Duration::ZERO, |before| (before * 2).max(least).min(GREATEST_PAUSE));
            let most = MAX_FAILURES - 1;
            self.0.drain(..self.0.len().saturating_sub(most));
            self.0.push(Failure {
                location: location.clone(),
                error: Arc::clone(error),
                pause,
                until: Instant::now() + pause,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_pause_is_several_times_as_long_as_the_run_and_doubles() {
        let location = Location::new(Path::new("/cache"), Path::new("/repository"));
        let failed = || {
            let root = location.root().to_path_buf();
            Err(Arc::new(IndexError::Defect { root, reason: "planted".to_owned() }))
        };
        let mut failures = Failures::default();
        let mut pauses = [0, 5, 0, 0, 20].map(|seconds| {
            failures.record(&location, &failed(), Duration::from_secs(seconds));
            failures.of(&location).expect("it failed").pause.as_secs()
        });
        assert_eq!(pauses, [0, 20, 40, 60, 60], "at once, four runs, doubled, at most a minute");
        failures = Failures::default();
        pauses = [0; 5].map(|_| {
            failures.record(&location, &failed(), Duration::ZERO);
            failures.of(&location).expect("it failed").pause.as_secs()
        });
        assert_eq!(pauses, [0, 1, 2, 4, 8]);
        assert!(failures.pauses(&location));
    }
}
