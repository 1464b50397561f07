//! Selects the files to check for a query: all, or those that may have changed since all were
//! checked. Repositories in use are watched; without a watch every query checks everything.
//!
//! A notification reports changes in a watched directory. Other changes are checked at every query:
//! whether the root's path still leads to the same directory with the same mounts (`watch`),
//! whether rules outside of the repository are unchanged (`source::Rules`), and whether the inodes
//! of all files are unchanged (`swept`): a write through mapped memory or through another hard link
//! affects nothing else.

mod checks;
mod returns;
mod slot;
mod swept;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::open_repository::Extent;
use checks::{Check, Checks};
use cograph_config as config;
use cograph_index::{
    self as index, ChangeSet, Comparison, IdleCache, IndexError, Outcome, Verified,
};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_source::{self as source, DirectoryId, RULES, Rules, Sweep};
use cograph_store::{Identity, Location, Snapshot};
use cograph_watch::{Hints, Watch, WatchError};
use returns::WatchReturns;
use slot::Slot;
use swept::{Swept, TakenFiles};

/// Idle timeout of a watch.
const IDLE: Duration = Duration::from_secs(60);
/// Interval of a full directory walk, even with a watch.
const WALK_INTERVAL: Duration = Duration::from_secs(60);
/// How long a query waits for another one that reads the same watch before it checks everything
/// itself.
const WATCH_TIMEOUT: Duration = Duration::from_millis(100);

/// Watches of a process.
#[derive(Clone)]
pub(super) struct Watches {
    kept: Arc<IdleCache<Location, Repository>>,
    returns: Arc<WatchReturns>,
}

#[derive(Default)]
struct Repository {
    watch: Slot,
    /// Ignore rules and files, as of the last comparison.
    rules: Arc<Rules>,
    files: Swept,
    /// Generation that reflects every file outside of `reported` and of open checks, and time of
    /// the last full walk.
    known: Option<(Identity, Instant)>,
    reported: Hints,
    checks: Checks,
}

/// Sources of change information for a query.
struct ChangeSources {
    watch: Box<Watch>,
    rules: Arc<Rules>,
    files: Option<TakenFiles>,
}

/// What is known before any file is checked.
enum Known {
    /// Nothing: check everything. Without a watch there is no check to remember.
    Nothing(Option<Arc<Check>>),
    /// No file can have changed since the last check.
    Unchanged(Extent),
    /// Only these can have changed.
    Reported(BTreeSet<RepoPath>, Arc<Check>, Extent),
}

impl Watches {
    pub(super) fn new() -> Self {
        Self { kept: Arc::new(IdleCache::new("watch-idle", IDLE)), returns: Arc::default() }
    }

    /// Compares a store with its repository, see [`index::freshness`]; also returns the evidence.
    pub(super) fn freshness(
        &self,
        location: &Location,
        snapshot: &Snapshot,
        limits: &config::Limits,
        verified: &Verified,
        cancel: &CancelToken,
    ) -> Result<(ChangeSet, Extent), IndexError> {
        let store = snapshot.identity();
        let looked = Instant::now();
        let (found, check, reported) = match self.known(location, store, limits, cancel) {
            Known::Unchanged(extent) => {
                return Ok((ChangeSet::none(store), extent));
            }
            Known::Nothing(None) => {
                let found = index::compare(snapshot, limits, verified, cancel)?;
                let remote = source::remote_kind(location.root());
                return Ok((found.changes, remote.map_or(Extent::All, Extent::Remote)));
            }
            Known::Nothing(Some(check)) => {
                (index::compare(snapshot, limits, verified, cancel), check, None)
            }
            Known::Reported(paths, check, extent) => {
                let found = index::compare_some(&paths, snapshot, limits, verified, cancel);
                (found, check, Some((paths, extent)))
            }
        };
        let Comparison { changes, seen, rules } = found.inspect_err(|_| {
            self.kept.with(location, |repository| {
                let reports = repository.checks.give_up(&check);
                repository.reported.extend(reports);
            });
        })?;
        let extent = self.kept.with(location, |repository| {
            repository.checks.end(&check);
            let (paths, extent) = match reported {
                Some((paths, extent)) => {
                    repository.files.add(seen);
                    Arc::make_mut(&mut repository.rules).extend(rules);
                    (paths, extent)
                }
                None => {
                    repository.files = Swept::new(Sweep::new(location.root(), seen), looked);
                    repository.rules = Arc::new(rules);
                    repository.known = repository.known.or(Some((store, looked)));
                    (BTreeSet::new(), Extent::All)
                }
            };
            // Checked again until a store reflects them.
            match changes.len() {
                Some(0) => {}
                Some(_) => repository.reported.paths.extend(changes.paths().cloned().chain(paths)),
                None => repository.reported.everything = true,
            }
            extent
        });
        Ok((changes, extent.unwrap_or(Extent::All)))
    }

    /// Records files found to differ from the store: the next query checks them.
    pub(super) fn report(&self, location: &Location, paths: Vec<RepoPath>) {
        self.kept.with(location, |repository| repository.reported.extend(hints_of(paths)));
    }

    /// A run that began then has ended. If it continues the generation that reflects every file
    /// outside of the reports, so does its result, but for what was checked meanwhile.
    pub(super) fn run_finished(&self, location: &Location, outcome: &Outcome, begun: Instant) {
        self.kept.with(location, |repository| {
            if let Some((known, looked)) = repository.known
                && looked <= begun
                && outcome.continues(known)
                && let Some(checked) = repository.checks.overlapped(begun)
            {
                repository.known = Some((outcome.identity(), looked));
                repository.reported.extend(checked);
            }
        });
    }

    /// Starts watching a repository ahead of its first query.
    pub(super) fn start_watching(&self, location: &Location, threads: usize) {
        if self.kept.touch_or_put(location, Repository::default) {
            self.begin(location, threads);
        }
    }

    /// Repositories in use: location, and number of watched directories or why there is no watch.
    pub(super) fn all(&self) -> Vec<(Location, Result<usize, String>)> {
        let all = self.kept.each(|location, repository| {
            let watched = match &repository.watch {
                Slot::Creating | Slot::InUse => return None,
                Slot::Idle(watch) => Ok(watch.directories()),
                Slot::Replaced(reason) | Slot::None(reason) => Err(reason.clone()),
            };
            Some((location.clone(), watched))
        });
        all.into_iter().flatten().collect()
    }

    /// Current knowledge, with all pending notifications applied.
    fn known(
        &self,
        location: &Location,
        store: Identity,
        limits: &config::Limits,
        cancel: &CancelToken,
    ) -> Known {
        self.start_watching(location, limits.threads);
        self.recreate(location, limits.threads);
        let nothing = Known::Nothing(None);
        let Some(ChangeSources { mut watch, rules, mut files }) = self.take(location, store) else {
            return nothing;
        };
        let hints = suspects(
            &mut watch,
            &rules,
            files.as_mut().map(|files| (files, limits.threads)),
            cancel,
        );
        let known = self.kept.with(location, |repository| {
            if let Some(files) = files {
                repository.files.put(files);
            }
            match hints {
                Ok(hints) => {
                    repository.watch = Slot::Idle(watch);
                    repository.reported.extend(hints);
                    repository.asked_now(store)
                }
                Err(error) => {
                    tracing::warn!(%error, "a repository is no longer watched");
                    repository.watch = Slot::without(&error);
                    repository.known = None;
                    Known::Nothing(None)
                }
            }
        });
        self.returns.end();
        self.recreate(location, limits.threads);
        if matches!(
            known,
            Some(Known::Unchanged(Extent::Reported(_)) | Known::Reported(.., Extent::Reported(_)))
        ) {
            self.start_sweep(location);
        }
        known.unwrap_or(nothing)
    }

    /// Takes the watch, waiting briefly for another query that uses it. None if there is no watch.
    fn take(&self, location: &Location, store: Identity) -> Option<ChangeSources> {
        let asked = Instant::now();
        loop {
            let turn = self.returns.count();
            let taken = self.kept.with(location, |repository| {
                match std::mem::replace(&mut repository.watch, Slot::InUse) {
                    Slot::Idle(watch) => {
                        let files = repository
                            .is_known(store)
                            .then(|| repository.files.take_for(asked))
                            .flatten();
                        Some(Some(ChangeSources {
                            watch,
                            rules: Arc::clone(&repository.rules),
                            files,
                        }))
                    }
                    Slot::InUse => None,
                    other => {
                        repository.watch = other;
                        Some(None)
                    }
                }
            })?;
            if let Some(taken) = taken {
                return taken;
            }
            if !self.returns.wait(turn, asked + WATCH_TIMEOUT) {
                return None;
            }
        }
    }

    /// Starts a background check of all files if one is due. Its findings are checked by the next
    /// query.
    fn start_sweep(&self, location: &Location) {
        let Some(mut files) =
            self.kept.with(location, |repository| repository.files.take_when_due()).flatten()
        else {
            return;
        };
        let (kept, own) = (Arc::clone(&self.kept), location.clone());
        let work = move || {
            // A single thread, because no query waits for it.
            let changed = files.changed(1);
            kept.with(&own, |repository| {
                repository.files.put(files);
                repository.reported.extend(hints_of(changed));
            });
        };
        // Without the thread, responses keep naming the time of the last check.
        if let Err(error) = Builder::new().name("sweep".to_owned()).spawn(work) {
            tracing::warn!(%error, "the files of a repository are not compared");
        }
    }

    /// Recreates the watch if the watched directory was replaced by another one under the same
    /// path.
    fn recreate(&self, location: &Location, threads: usize) {
        let is_gone = self
            .kept
            .with(location, |repository| matches!(repository.watch, Slot::Replaced(_)))
            .unwrap_or(false);
        let claim = |repository: &mut Repository| match repository.watch {
            Slot::Replaced(_) => {
                repository.watch = Slot::Creating;
                true
            }
            _ => false,
        };
        if is_gone
            && DirectoryId::of(location.root()).is_some()
            && self.kept.with(location, claim) == Some(true)
        {
            self.begin(location, threads);
        }
    }

    /// Creates a watch on a background thread: the requesting query checks everything meanwhile.
    fn begin(&self, location: &Location, threads: usize) {
        let (kept, own) = (Arc::clone(&self.kept), location.clone());
        let make = move || {
            let made = Watch::start(own.root(), threads, &CancelToken::new());
            if let Err(error) = &made {
                tracing::warn!(%error, "a repository is not watched");
            }
            let slot = made
                .map_or_else(|error| Slot::without(&error), |watch| Slot::Idle(Box::new(watch)));
            kept.with(&own, |repository| repository.watch = slot);
        };
        if let Err(error) = Builder::new().name("watch-start".to_owned()).spawn(make) {
            self.kept.with(location, |repository| repository.watch = Slot::None(error.to_string()));
        }
    }
}

/// All files that may have changed, as far as is known.
fn suspects(
    watch: &mut Watch,
    rules: &Rules,
    files: Option<(&mut TakenFiles, usize)>,
    cancel: &CancelToken,
) -> Result<Hints, WatchError> {
    let mut hints = watch.drain(cancel)?;
    if !hints.everything && rules.have_changed() {
        hints.everything = true;
        watch.look_everywhere(cancel)?;
    }
    if let Some((files, threads)) = files.filter(|_| !hints.everything) {
        hints.extend(hints_of(files.changed(threads)));
    }
    Ok(hints)
}

/// Converts changed paths to hints.
fn hints_of(paths: Vec<RepoPath>) -> Hints {
    let mut hints = Hints::default();
    for path in paths {
        if !RULES.contains(&path.file_name()) {
            hints.paths.insert(path);
        } else if let Some(directory) = RepoPath::new(path.directory()) {
            // An ignore file affects its whole directory.
            hints.paths.insert(directory);
        } else {
            hints.everything = true;
        }
    }
    hints
}

impl Repository {
    /// True if every difference between this generation and the files was reported.
    fn is_known(&self, store: Identity) -> bool {
        let known = self
            .known
            .is_some_and(|(known, looked)| known == store && looked.elapsed() < WALK_INTERVAL);
        known && !self.reported.everything && !self.checks.include_everything()
    }

    /// Knowledge for a query, with all pending notifications applied.
    fn asked_now(&mut self, store: Identity) -> Known {
        let is_known = self.is_known(store);
        let reported = std::mem::take(&mut self.reported);
        if !is_known {
            self.known = None;
            return Known::Nothing(Some(self.checks.begin(reported)));
        }
        // What other queries have taken may not be compared yet.
        let mut paths = self.checks.open().paths;
        paths.extend(reported.paths.iter().cloned());
        let extent = self.files.extent();
        if paths.is_empty() {
            return Known::Unchanged(extent);
        }
        Known::Reported(paths, self.checks.begin(reported), extent)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use cograph_index::{Run, apply};
    use cograph_store::Store;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Writes a file, and applies the change as a process does.
    fn changed(location: &Location, name: &str, text: &str) -> Outcome {
        fs::write(location.root().join(name), text).expect("the directory exists");
        let cancel = CancelToken::new();
        let run = Run::quiet(config::Limits::default(), &cancel);
        index::refresh(location, PATIENCE, &run).expect("nothing stands in the way")
    }

    /// The generation that is known to reflect every file outside of the reports.
    fn known(watches: &Watches, location: &Location) -> Option<Identity> {
        watches.kept.with(location, |repository| repository.known.map(|(store, _)| store)).flatten()
    }

    fn asked(watches: &Watches, location: &Location) -> ChangeSet {
        let store = Arc::new(Store::open_newest(location).expect("there is a store"));
        let snapshot = store.snapshot(&CancelToken::new()).expect("no call is cancelled");
        asked_of(&snapshot, watches, location)
    }

    fn asked_of(snapshot: &Snapshot, watches: &Watches, location: &Location) -> ChangeSet {
        let cancel = CancelToken::new();
        let (limits, verified) = (config::Limits::default(), Verified::new());
        let found = watches.freshness(location, snapshot, &limits, &verified, &cancel);
        found.expect("the root can be read").0
    }

    fn watched(top: &Path) -> (Location, Watches) {
        let root = top.join("repository");
        fs::create_dir(&root).expect("the directory is new");
        let location = Location::at(root, top.join("store"));
        let cancel = CancelToken::new();
        fs::write(location.root().join("a.py"), "x = 1\n").expect("the directory exists");
        let run = Run::quiet(config::Limits::default(), &cancel);
        let everything = ChangeSet::Everything { forced: false };
        apply(&location, &everything, PATIENCE, &run).expect("nothing stands in the way");
        let (watches, until) = (Watches::new(), Instant::now() + PATIENCE);
        while known(&watches, &location).is_none() {
            assert!(asked(&watches, &location).is_empty() && Instant::now() < until);
        }
        (location, watches)
    }

    #[test]
    fn a_run_upon_what_another_process_published_says_nothing_of_all_files() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let (location, watches) = watched(place.path());
        let first = known(&watches, &location).expect("it was waited for");
        let own = changed(&location, "own.py", "y = 1\n");
        watches.run_finished(&location, &own, Instant::now());
        assert_eq!(known(&watches, &location), Some(own.identity()));
        assert_ne!(own.identity(), first);

        // Not reported to this process: another one has read some files before.
        changed(&location, "other.py", "z = 1\n");
        let next = changed(&location, "own.py", "y = 2\n");
        watches.run_finished(&location, &next, Instant::now());
        assert_eq!(known(&watches, &location), Some(own.identity()));
        assert!(asked(&watches, &location).is_empty());
        assert_eq!(known(&watches, &location), Some(next.identity()), "all files were compared");
    }

    #[test]
    fn a_question_during_a_run_costs_no_comparison_of_all_files() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let (location, watches) = watched(place.path());
        fs::write(location.root().join("a.py"), "x = 2\n").expect("the directory exists");
        let begun = Instant::now();
        assert_eq!(asked(&watches, &location).len(), Some(1));
        let run = changed(&location, "a.py", "x = 2\n");
        watches.run_finished(&location, &run, begun);
        assert_eq!(known(&watches, &location), Some(run.identity()));
        assert!(asked(&watches, &location).is_empty());
    }

    #[test]
    fn a_file_that_was_as_before_while_a_run_read_another_text_is_compared_with_its_result() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let (location, watches) = watched(place.path());
        let cancel = CancelToken::new();
        let before = Arc::new(Store::open_newest(&location).expect("there is a store"));
        let snapshot = before.snapshot(&cancel).expect("no call is cancelled");
        let begun = Instant::now();
        let run = changed(&location, "a.py", "x = 2\n");
        fs::write(location.root().join("a.py"), "x = 1\n").expect("the directory exists");
        assert!(asked_of(&snapshot, &watches, &location).is_empty(), "the store of before");
        watches.run_finished(&location, &run, begun);
        assert_eq!(known(&watches, &location), Some(run.identity()));
        assert_eq!(asked(&watches, &location).len(), Some(1));
    }
}
