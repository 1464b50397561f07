//! Checks of reported files by queries.
//!
//! A query takes the reports and compares the files with the store of that time. Until it has,
//! other queries check the same files. A run that began before may have read a file before the
//! change that the query has checked: after the run the file is checked again, against its result.

use std::sync::Arc;
use std::time::Instant;

use cograph_watch::Hints;

/// Maximum number of paths in ended checks.
const MAX_ENDED_PATHS: usize = 4_096;
/// Maximum number of ended checks.
const MAX_ENDED: usize = 256;

/// Reports in the hands of a query.
#[derive(Debug)]
pub(super) struct Check {
    taken: Instant,
    hints: Hints,
}

/// See the module.
#[derive(Default)]
pub(super) struct Checks {
    open: Vec<Arc<Check>>,
    /// Those that a current run may have overlapped, oldest first.
    ended: Vec<Arc<Check>>,
    /// When the last one was taken that is no longer among them.
    forgotten: Option<Instant>,
}

impl Checks {
    /// Begins a check of these reports.
    pub(super) fn begin(&mut self, hints: Hints) -> Arc<Check> {
        let check = Arc::new(Check { taken: Instant::now(), hints });
        self.open.push(Arc::clone(&check));
        check
    }

    /// Reports in the hands of all queries.
    pub(super) fn open(&self) -> Hints {
        union(self.open.iter())
    }

    /// True if a query checks all files.
    pub(super) fn include_everything(&self) -> bool {
        self.open.iter().any(|check| check.hints.everything)
    }

    /// Ends a check: its files were compared.
    pub(super) fn end(&mut self, check: &Arc<Check>) {
        if self.close(check) && !check.hints.is_empty() {
            self.ended.push(Arc::clone(check));
        }
        let mut paths: usize = self.ended.iter().map(|check| check.hints.paths.len()).sum();
        while self.ended.len() > MAX_ENDED || paths > MAX_ENDED_PATHS {
            let oldest = self.ended.remove(0);
            paths -= oldest.hints.paths.len();
            self.forgotten = self.forgotten.max(Some(oldest.taken));
        }
    }

    /// Gives a check up, and returns its reports.
    pub(super) fn give_up(&mut self, check: &Arc<Check>) -> Hints {
        if self.close(check) { check.hints.clone() } else { Hints::default() }
    }

    /// Reports taken since a run began, which ends now, by checks that have ended or compare with
    /// the store of that time; none if they are not known any more. The next run begins later:
    /// earlier checks are dropped.
    pub(super) fn overlapped(&mut self, begun: Instant) -> Option<Hints> {
        self.ended.retain(|check| check.taken >= begun);
        let is_complete = self.forgotten.is_none_or(|forgotten| forgotten < begun);
        let since = |check: &&Arc<Check>| check.taken >= begun;
        is_complete.then(|| union(self.ended.iter().chain(self.open.iter().filter(since))))
    }

    fn close(&mut self, check: &Arc<Check>) -> bool {
        let place = self.open.iter().position(|open| Arc::ptr_eq(open, check));
        place.map(|place| self.open.remove(place)).is_some()
    }
}

fn union<'c>(checks: impl Iterator<Item = &'c Arc<Check>>) -> Hints {
    let mut all = Hints::default();
    checks.for_each(|check| all.extend(check.hints.clone()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::RepoPath;

    fn of(path: &str) -> Hints {
        let mut hints = Hints::default();
        hints.paths.extend(RepoPath::new(path));
        hints
    }

    #[test]
    fn checks_since_a_run_began_are_known_or_said_not_to_be() {
        let mut checks = Checks::default();
        let before = checks.begin(of("before.py"));
        checks.end(&before);
        let begun = Instant::now();
        let (given_up, during) = (checks.begin(of("gone.py")), checks.begin(of("during.py")));
        assert_eq!(checks.overlapped(begun).map(|hints| hints.paths.len()), Some(2), "open ones");
        assert_eq!(checks.open().paths.len(), 2);
        assert_eq!(checks.give_up(&given_up), of("gone.py"));
        checks.end(&during);
        assert!(checks.open().is_empty());
        assert_eq!(checks.overlapped(begun), Some(of("during.py")));

        for number in 0..=MAX_ENDED {
            let check = checks.begin(of(&format!("{number}.py")));
            checks.end(&check);
        }
        assert_eq!(checks.overlapped(begun), None, "the oldest were dropped");
        let later = Instant::now();
        assert_eq!(checks.overlapped(later), Some(Hints::default()));
    }
}
