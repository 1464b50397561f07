//! Numbers of calls and repositories of each callee and version, counted over rows in order.

use std::collections::BTreeMap;

/// Callee, whatever its version. Its parts are as they are in SCIP symbols.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Callee {
    pub(crate) name: String,
    pub(crate) manager: String,
    pub(crate) package: String,
    pub(crate) descriptors: String,
}

/// Numbers of one version.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Uses {
    pub(crate) calls: u64,
    pub(crate) repositories: u64,
}

/// A callee with its uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CalleeUses {
    pub(crate) callee: Callee,
    pub(crate) all: Uses,
    pub(crate) versions: BTreeMap<String, Uses>,
}

/// Counts rows that come in order of callee and repository.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    current: Option<CalleeUses>,
    repository: String,
    /// Versions that the current repository uses.
    seen: Vec<String>,
}

impl Counting {
    /// Adds calls. Returns the callee before, if this is another.
    pub(crate) fn add(
        &mut self,
        callee: [&str; 4],
        repository: &str,
        version: &str,
        calls: u64,
    ) -> Option<CalleeUses> {
        let [name, manager, package, descriptors] = callee;
        let is_current = self.current.as_ref().is_some_and(|current| {
            let known = &current.callee;
            known.name == name
                && known.descriptors == descriptors
                && known.package == package
                && known.manager == manager
        });
        let mut before = None;
        if !is_current {
            let callee = Callee {
                name: name.to_owned(),
                manager: manager.to_owned(),
                package: package.to_owned(),
                descriptors: descriptors.to_owned(),
            };
            before = self.current.replace(CalleeUses { callee, ..CalleeUses::default() });
        }
        let current = self.current.get_or_insert_default();
        if !is_current || self.repository != repository {
            repository.clone_into(&mut self.repository);
            self.seen.clear();
            current.all.repositories += 1;
        }
        current.all.calls += calls;
        if !current.versions.contains_key(version) {
            current.versions.insert(version.to_owned(), Uses::default());
        }
        if let Some(uses) = current.versions.get_mut(version) {
            uses.calls += calls;
            if !self.seen.iter().any(|seen| seen == version) {
                self.seen.push(version.to_owned());
                uses.repositories += 1;
            }
        }
        before
    }

    /// The last callee.
    pub(crate) fn finish(self) -> Option<CalleeUses> {
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::{Counting, Uses};

    #[test]
    fn repositories_are_counted_once() {
        let mut counting = Counting::default();
        let callee = ["route", "pip", "flask", "Flask#route."];
        for (repository, version) in [("a", "1"), ("a", "1"), ("a", "2"), ("b", "1")] {
            assert_eq!(counting.add(callee, repository, version, 1), None);
        }
        let before = counting.add(["run", "pip", "flask", "Flask#run."], "b", "1", 2);
        let before = before.expect("another callee");
        assert_eq!(before.all, Uses { calls: 4, repositories: 2 });
        assert_eq!(before.versions["1"], Uses { calls: 3, repositories: 2 });
        assert_eq!(before.versions["2"], Uses { calls: 1, repositories: 1 });
        let last = counting.finish().expect("the last one");
        assert_eq!(last.all, Uses { calls: 2, repositories: 1 });
    }
}
