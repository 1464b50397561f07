//! Finds the file that crashes a worker: each crash narrows the suspects for the next attempt.
//! Pure; starts nothing.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::Signal;

use crate::index::progress::Phase;
use crate::index::quarantine::Suspicion;
use crate::model::RepoPath;

/// Up to this number of suspects are narrowed down by repeated attempts, at most one per suspect;
/// more are parsed one at a time in a single attempt.
const FEW: usize = 16;
/// Maximum number of consecutive crashes without a suspect.
const MOST_FRUITLESS: usize = 3;

/// Activity of a worker when it died.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Doing {
    /// Files announced by its threads: they include the files in progress.
    pub(super) parsing: Vec<RepoPath>,
    /// The file that was parsed with no other in progress.
    pub(super) trying: Option<RepoPath>,
    /// Files that exceeded the time limit.
    pub(super) hanging: Vec<RepoPath>,
    /// Phase that exceeded the time limit, if it concerns no single file.
    pub(super) stalled: Option<Phase>,
}

/// Cause of a worker's death.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Death {
    /// Caused by the work: a memory fault, an abort, or an exit.
    ByTheWork,
    /// Possibly caused from outside, such as the OOM killer or an operator. No evidence against a
    /// file.
    FromOutside,
}

impl Death {
    pub(super) fn of(status: ExitStatus) -> Self {
        let outside = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
        match status.signal() {
            Some(number) if outside.iter().any(|signal| signal.as_raw() == number) => {
                Self::FromOutside
            }
            _ => Self::ByTheWork,
        }
    }
}

/// Search state after some attempts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Trial {
    /// Files that crash a worker: quarantined from now on.
    pub(super) guilty: Vec<RepoPath>,
    /// Suspects: the next worker parses them first, one at a time.
    pub(super) suspicion: Suspicion,
    fruitless: usize,
}

impl Trial {
    /// Updates the state after a crash. Returns false if another attempt is useless.
    pub(super) fn learn(&mut self, doing: Doing, death: Death) -> bool {
        let Doing { mut parsing, trying, hanging, .. } = doing;
        if death == Death::FromOutside {
            self.fruitless += 1;
            return self.fruitless < MOST_FRUITLESS;
        }
        if let Some(path) = trying {
            // Suspects before it have passed.
            match &mut self.suspicion {
                Suspicion::Of(suspects) => {
                    let rest = suspects
                        .iter()
                        .position(|suspect| *suspect == path)
                        .map_or(0, |position| position + 1);
                    suspects.drain(..rest);
                }
                Suspicion::AllAfter(last) => *last = Some(path.clone()),
            }
            return self.convict(vec![path]);
        }
        if !hanging.is_empty() {
            self.suspicion = Suspicion::default();
            return self.convict(hanging);
        }
        parsing.sort_unstable();
        parsing.dedup();
        self.fruitless += 1;
        let is_of_use = !parsing.is_empty() && self.fruitless < MOST_FRUITLESS;
        self.suspicion = Suspicion::Of(parsing);
        is_of_use
    }

    /// Adds files to the quarantine. Returns false if they were in it: quarantining does not help.
    fn convict(&mut self, paths: Vec<RepoPath>) -> bool {
        self.fruitless = 0;
        let is_new = paths.iter().any(|path| !self.guilty.contains(path));
        self.guilty.extend(paths);
        if self.guilty.len() >= FEW && matches!(self.suspicion, Suspicion::Of(_)) {
            self.suspicion = Suspicion::AllAfter(None);
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

    fn of(names: &[&str]) -> Suspicion {
        Suspicion::Of(paths(names))
    }

    fn parsing(names: &[&str]) -> Doing {
        Doing { parsing: paths(names), ..Doing::default() }
    }

    impl Trial {
        fn learn_of(&mut self, doing: Doing) -> bool {
            self.learn(doing, Death::ByTheWork)
        }
    }

    #[test]
    fn a_kill_from_outside_convicts_no_file() {
        let mut trial = Trial::default();
        for attempt in 1..=MOST_FRUITLESS {
            let doing = Doing {
                trying: paths(&["a"]).pop(),
                parsing: paths(&["a", "b"]),
                ..Doing::default()
            };
            assert_eq!(
                trial.learn(doing, Death::FromOutside),
                attempt < MOST_FRUITLESS,
                "attempt {attempt}"
            );
        }
        assert_eq!((trial.guilty.len(), &trial.suspicion), (0, &Suspicion::default()));
        for (signal, death) in [
            (Signal::KILL, Death::FromOutside),
            (Signal::TERM, Death::FromOutside),
            (Signal::SEGV, Death::ByTheWork),
        ] {
            assert_eq!(Death::of(ExitStatus::from_raw(signal.as_raw())), death, "{signal:?}");
        }
        assert_eq!(Death::of(ExitStatus::from_raw(1 << 8)), Death::ByTheWork, "an exit code");
    }

    fn trying(name: &str) -> Doing {
        Doing { trying: paths(&[name]).pop(), ..Doing::default() }
    }

    #[test]
    fn of_several_files_the_one_is_found_that_ends_a_worker_alone() {
        let mut trial = Trial::default();
        assert!(trial.learn_of(parsing(&["b", "a", "c"])));
        assert_eq!((trial.guilty.as_slice(), &trial.suspicion), (&[][..], &of(&["a", "b", "c"])));
        assert!(trial.learn_of(trying("b")));
        assert_eq!((trial.guilty.as_slice(), &trial.suspicion), (&*paths(&["b"]), &of(&["c"])));
        assert!(trial.learn_of(trying("c")), "two of them can be guilty");
        assert_eq!((trial.guilty.as_slice(), &trial.suspicion), (&*paths(&["b", "c"]), &of(&[])));
    }

    #[test]
    fn a_file_that_hangs_is_known_at_once() {
        let mut trial = Trial::default();
        assert!(trial.learn_of(Doing {
            parsing: paths(&["a", "b"]),
            hanging: paths(&["b"]),
            ..Doing::default()
        }));
        assert_eq!((trial.guilty, trial.suspicion), (paths(&["b"]), of(&[])));
    }

    #[test]
    fn deaths_that_no_file_explains_come_to_an_end() {
        assert!(!Trial::default().learn_of(Doing::default()), "no file was being parsed");
        let mut trial = Trial::default();
        assert!(trial.learn_of(parsing(&["a", "b"])));
        assert!(trial.learn_of(parsing(&["b", "c"])), "a and b have passed alone");
        assert!(!trial.learn_of(parsing(&["c", "d"])));
        let mut endless = Trial::default();
        assert!(endless.learn_of(trying("a")));
        assert!(!endless.learn_of(trying("a")), "it ends a worker although it is left out");
    }

    #[test]
    fn where_there_are_many_every_file_is_tried_by_itself() {
        let mut trial = Trial::default();
        for number in 0..FEW {
            assert_eq!(trial.suspicion, of(&[]), "{number}");
            assert!(trial.learn_of(trying(&format!("m{number:02}"))));
        }
        assert_eq!(trial.suspicion, Suspicion::AllAfter(None));
        for name in ["b", "m00x", "z"] {
            assert!(trial.learn_of(trying(name)));
            assert_eq!(
                trial.suspicion,
                Suspicion::AllAfter(RepoPath::new(name)),
                "those before it have passed"
            );
        }
        assert_eq!(trial.guilty.len(), FEW + 3);
    }
}
