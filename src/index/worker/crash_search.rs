//! Finds the file that crashes a worker: each crash narrows the suspects for the next attempt.
//! Pure; starts nothing.

use std::process::ExitStatus;

use cograph_system::processes::was_ended_from_outside;

use crate::progress::Phase;
use crate::quarantine::Suspects;
use cograph_model::{RepoPath, SkipReason};

/// Number of quarantined files above which the search stops narrowing down the suspects, at up to
/// one attempt each: then the next worker parses every file alone, in one attempt.
const MAX_PRECISE_SUSPECTS: usize = 16;
/// Maximum number of consecutive crashes without a suspect.
const MAX_UNATTRIBUTED_CRASHES: usize = 3;

/// Activity of a worker when it died.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct WorkerActivity {
    /// Files announced by its threads: they include the files in progress.
    pub(super) parsing: Vec<RepoPath>,
    /// The file that was parsed with no other in progress.
    pub(super) trying: Option<RepoPath>,
    /// Files that exceeded the time limit.
    pub(super) hanging: Vec<RepoPath>,
    /// Files that exhausted their budget, which ends no worker.
    pub(super) exhausted: Vec<(RepoPath, SkipReason)>,
    /// Phase that exceeded the time limit, if it concerns no single file.
    pub(super) stalled: Option<Phase>,
}

/// Cause of a worker's death.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CrashCause {
    /// Caused by the work: a memory fault, an abort, or an exit.
    Work,
    /// Possibly caused from outside, such as the OOM killer, an operator, or a limit that
    /// another process has set meanwhile. No evidence against a file.
    External,
}

impl CrashCause {
    pub(super) fn of(status: ExitStatus) -> Self {
        if was_ended_from_outside(status) { Self::External } else { Self::Work }
    }
}

/// Search state after some attempts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CrashSearch {
    /// Files that crash a worker: quarantined from now on.
    pub(super) quarantined: Vec<RepoPath>,
    /// Files that exceed the time limit: left out from now on, until another process tries again.
    pub(super) slow: Vec<RepoPath>,
    /// Files that exhausted their budget: the next attempts do not parse them again.
    pub(super) exhausted: Vec<(RepoPath, SkipReason)>,
    /// Suspects: the next worker parses them first, one at a time.
    pub(super) suspicion: Suspects,
    fruitless: usize,
}

impl CrashSearch {
    /// Updates the state after a crash. Returns false if another attempt is useless.
    pub(super) fn learn(&mut self, activity: WorkerActivity, cause: CrashCause) -> bool {
        let WorkerActivity { mut parsing, trying, hanging, exhausted, .. } = activity;
        self.exhausted.extend(exhausted);
        if cause == CrashCause::External {
            self.fruitless += 1;
            return self.fruitless < MAX_UNATTRIBUTED_CRASHES;
        }
        if let Some(path) = trying {
            // Suspects before it have passed.
            match &mut self.suspicion {
                Suspects::Of(suspects) => {
                    let rest = suspects
                        .iter()
                        .position(|suspect| *suspect == path)
                        .map_or(0, |position| position + 1);
                    suspects.drain(..rest);
                }
                Suspects::AllAfter(last) => *last = Some(path.clone()),
            }
            return self.quarantine(vec![path]);
        }
        if !hanging.is_empty() {
            self.suspicion = Suspects::default();
            self.fruitless = 0;
            let is_new = hanging.iter().any(|path| !self.slow.contains(path));
            self.slow.extend(hanging);
            return is_new;
        }
        parsing.sort_unstable();
        parsing.dedup();
        self.fruitless += 1;
        let is_of_use = !parsing.is_empty() && self.fruitless < MAX_UNATTRIBUTED_CRASHES;
        self.suspicion = Suspects::Of(parsing);
        is_of_use
    }

    /// Adds files to the quarantine. Returns false if they were in it: quarantining does not help.
    fn quarantine(&mut self, paths: Vec<RepoPath>) -> bool {
        self.fruitless = 0;
        let is_new = paths.iter().any(|path| !self.quarantined.contains(path));
        self.quarantined.extend(paths);
        if self.quarantined.len() >= MAX_PRECISE_SUSPECTS
            && matches!(self.suspicion, Suspects::Of(_))
        {
            self.suspicion = Suspects::AllAfter(None);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<RepoPath> {
        names.iter().map(|name| RepoPath::new(name).expect("well formed")).collect()
    }

    fn of(names: &[&str]) -> Suspects {
        Suspects::Of(paths(names))
    }

    fn parsing(names: &[&str]) -> WorkerActivity {
        WorkerActivity { parsing: paths(names), ..WorkerActivity::default() }
    }

    impl CrashSearch {
        fn learn_from_work(&mut self, activity: WorkerActivity) -> bool {
            self.learn(activity, CrashCause::Work)
        }
    }

    #[test]
    fn a_kill_from_outside_convicts_no_file() {
        let mut search = CrashSearch::default();
        for attempt in 1..=MAX_UNATTRIBUTED_CRASHES {
            let activity = WorkerActivity {
                trying: paths(&["a"]).pop(),
                parsing: paths(&["a", "b"]),
                ..WorkerActivity::default()
            };
            assert_eq!(
                search.learn(activity, CrashCause::External),
                attempt < MAX_UNATTRIBUTED_CRASHES,
                "attempt {attempt}"
            );
        }
        assert_eq!((search.quarantined.len(), &search.suspicion), (0, &Suspects::default()));
    }

    fn trying(name: &str) -> WorkerActivity {
        WorkerActivity { trying: paths(&[name]).pop(), ..WorkerActivity::default() }
    }

    #[test]
    fn of_several_files_the_one_is_found_that_ends_a_worker_alone() {
        let mut search = CrashSearch::default();
        assert!(search.learn_from_work(parsing(&["b", "a", "c"])));
        assert_eq!(
            (search.quarantined.as_slice(), &search.suspicion),
            (&[][..], &of(&["a", "b", "c"]))
        );
        assert!(search.learn_from_work(trying("b")));
        assert_eq!(
            (search.quarantined.as_slice(), &search.suspicion),
            (&*paths(&["b"]), &of(&["c"]))
        );
        assert!(search.learn_from_work(trying("c")), "two of them can be guilty");
        assert_eq!(
            (search.quarantined.as_slice(), &search.suspicion),
            (&*paths(&["b", "c"]), &of(&[]))
        );
    }

    #[test]
    fn a_file_that_hangs_is_known_at_once() {
        let mut search = CrashSearch::default();
        assert!(search.learn_from_work(WorkerActivity {
            parsing: paths(&["a", "b"]),
            hanging: paths(&["b"]),
            ..WorkerActivity::default()
        }));
        assert_eq!((search.slow, search.suspicion), (paths(&["b"]), of(&[])));
        assert_eq!(search.quarantined, paths(&[]), "time is no evidence of a crash");
    }

    #[test]
    fn what_exhausted_its_budget_is_known_after_any_death() {
        let slow = |name: &str| (RepoPath::new(name).expect("well formed"), SkipReason::Deferred);
        let mut search = CrashSearch::default();
        let after = |exhausted| WorkerActivity { exhausted, ..parsing(&["a", "b"]) };
        assert!(search.learn(after(vec![slow("c")]), CrashCause::External));
        assert!(search.learn(after(vec![slow("d")]), CrashCause::Work));
        assert_eq!(search.exhausted, [slow("c"), slow("d")]);
        assert_eq!(search.suspicion, of(&["a", "b"]), "they are no suspects");
    }

    #[test]
    fn deaths_that_no_file_explains_come_to_an_end() {
        assert!(
            !CrashSearch::default().learn_from_work(WorkerActivity::default()),
            "no file was being parsed"
        );
        let mut search = CrashSearch::default();
        assert!(search.learn_from_work(parsing(&["a", "b"])));
        assert!(search.learn_from_work(parsing(&["b", "c"])), "a and b have passed alone");
        assert!(!search.learn_from_work(parsing(&["c", "d"])));
        let mut endless = CrashSearch::default();
        assert!(endless.learn_from_work(trying("a")));
        assert!(!endless.learn_from_work(trying("a")), "it ends a worker although it is left out");
    }

    #[test]
    fn where_there_are_many_every_file_is_tried_by_itself() {
        let mut search = CrashSearch::default();
        for number in 0..MAX_PRECISE_SUSPECTS {
            assert_eq!(search.suspicion, of(&[]), "{number}");
            assert!(search.learn_from_work(trying(&format!("m{number:02}"))));
        }
        assert_eq!(search.suspicion, Suspects::AllAfter(None));
        for name in ["b", "m00x", "z"] {
            assert!(search.learn_from_work(trying(name)));
            assert_eq!(
                search.suspicion,
                Suspects::AllAfter(RepoPath::new(name)),
                "those before it have passed"
            );
        }
        assert_eq!(search.quarantined.len(), MAX_PRECISE_SUSPECTS + 3);
    }
}
