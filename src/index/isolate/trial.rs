//! Which file ends a worker: what is learnt from one death for the next attempt. Decides only; starts nothing.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::Signal;

use crate::index::progress::Phase;
use crate::model::RepoPath;

/// Files that one build may leave out because they end it. More are no accident of single files.
const MOST_LEFT_OUT: usize = 100;
/// Deaths in a row that no file can be found guilty of.
const MOST_FRUITLESS: usize = 3;

/// What a worker was doing when it died.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Doing {
    /// The files among which those are that its threads were parsing.
    pub(super) parsing: Vec<RepoPath>,
    /// The file that it was parsing with nothing beside it.
    pub(super) trying: Option<RepoPath>,
    /// The files that took too long.
    pub(super) hanging: Vec<RepoPath>,
    /// The phase that took too long, if it was about no single file.
    pub(super) stalled: Option<Phase>,
}

/// What a death says of the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Death {
    /// The work ended the process: a fault of memory, an abort, or an end of its own.
    ByTheWork,
    /// Somebody else may have: the kernel short of memory, an operator. It is evidence against no file.
    FromOutside,
}

impl Death {
    pub(super) fn of(status: ExitStatus) -> Self {
        let outside = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
        match status.signal() {
            Some(number) if outside.iter().any(|signal| signal.as_raw() == number) => Self::FromOutside,
            _ => Self::ByTheWork,
        }
    }
}

/// What is known after some attempts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Trial {
    /// Files that end a worker: left out from now on.
    pub(super) guilty: Vec<RepoPath>,
    /// Files that may: the next worker parses them first, one at a time.
    pub(super) suspects: Vec<RepoPath>,
    fruitless: usize,
}

impl Trial {
    /// Learns from a death. False if another attempt is of no use.
    pub(super) fn learn(&mut self, doing: Doing, death: Death) -> bool {
        let Doing { mut parsing, trying, hanging, .. } = doing;
        if death == Death::FromOutside {
            self.fruitless += 1;
            return self.fruitless < MOST_FRUITLESS;
        }
        if let Some(path) = trying {
            // The suspects before it have passed.
            let rest = self.suspects.iter().position(|suspect| *suspect == path).map_or(0, |position| position + 1);
            self.suspects.drain(..rest);
            self.convict([path]);
        } else if !hanging.is_empty() {
            self.suspects.clear();
            self.convict(hanging);
        } else {
            parsing.sort_unstable();
            parsing.dedup();
            self.fruitless += 1;
            self.suspects = parsing;
            return !self.suspects.is_empty() && self.fruitless < MOST_FRUITLESS;
        }
        self.guilty.len() <= MOST_LEFT_OUT
    }

    fn convict(&mut self, paths: impl IntoIterator<Item = RepoPath>) {
        self.fruitless = 0;
        self.guilty.extend(paths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<RepoPath> {
        names.iter().map(|name| RepoPath::new(name).expect("well formed")).collect()
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
            let doing = Doing { trying: paths(&["a"]).pop(), parsing: paths(&["a", "b"]), ..Doing::default() };
            assert_eq!(trial.learn(doing, Death::FromOutside), attempt < MOST_FRUITLESS, "attempt {attempt}");
        }
        assert_eq!((trial.guilty.len(), trial.suspects.len()), (0, 0));
        for (signal, death) in
            [(Signal::KILL, Death::FromOutside), (Signal::TERM, Death::FromOutside), (Signal::SEGV, Death::ByTheWork)]
        {
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
        assert_eq!((trial.guilty.as_slice(), trial.suspects.as_slice()), (&[][..], &*paths(&["a", "b", "c"])));
        assert!(trial.learn_of(trying("b")));
        assert_eq!((trial.guilty.as_slice(), trial.suspects.as_slice()), (&*paths(&["b"]), &*paths(&["c"])));
        assert!(trial.learn_of(trying("c")), "two of them can be guilty");
        assert_eq!((trial.guilty.as_slice(), trial.suspects.as_slice()), (&*paths(&["b", "c"]), &[][..]));
    }

    #[test]
    fn a_file_that_hangs_is_known_at_once() {
        let mut trial = Trial::default();
        assert!(trial.learn_of(Doing { parsing: paths(&["a", "b"]), hanging: paths(&["b"]), ..Doing::default() }));
        assert_eq!((trial.guilty, trial.suspects), (paths(&["b"]), Vec::new()));
    }

    #[test]
    fn deaths_that_no_file_explains_come_to_an_end() {
        assert!(!Trial::default().learn_of(Doing::default()), "no file was being parsed");
        let mut trial = Trial::default();
        assert!(trial.learn_of(parsing(&["a", "b"])));
        assert!(trial.learn_of(parsing(&["b", "c"])), "a and b have passed alone");
        assert!(!trial.learn_of(parsing(&["c", "d"])));
        let mut endless = Trial::default();
        let attempts = (0..).take_while(|number| endless.learn_of(trying(&format!("f{number}")))).count();
        assert_eq!(attempts, MOST_LEFT_OUT);
    }
}
