//! Root selection: the repository of a call, in particular of one without `root`, and changes of
//! the default repository. Inspects directories, opens no store.

use crate::workspace::repositories::unavailable::{Unavailable, unavailable};
use cograph_config::{Config, Repository};
use cograph_faults::{Fault, planted};
use cograph_index as index;
use cograph_store::Identity;
use cograph_system::files;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Directories that a session may access.
#[derive(Clone, Debug, Default)]
pub struct AllowedRoots {
    /// Default repository from the command line.
    pub root: Option<PathBuf>,
    /// Allowed workspace roots, as canonical paths, each with all directories below it. None: every
    /// directory is allowed.
    pub within: Option<Arc<[PathBuf]>>,
}

impl From<Option<PathBuf>> for AllowedRoots {
    fn from(root: Option<PathBuf>) -> Self {
        Self { root, within: None }
    }
}

impl AllowedRoots {
    fn has(&self, root: &Path) -> bool {
        self.within.as_ref().is_none_or(|within| within.iter().any(|top| root.starts_with(top)))
    }

    /// True if this very directory, not one above it, is the root from the command line.
    fn names(&self, root: &Path) -> bool {
        let is_own = self
            .root
            .as_ref()
            .and_then(|own| files::canonical(own).ok())
            .is_some_and(|own| own == root);
        is_own || self.within.as_ref().is_some_and(|within| within.iter().any(|top| top == root))
    }

    /// Error for a directory that is not allowed, whether it exists or not.
    fn outside(&self) -> Unavailable {
        let within: Vec<String> = self
            .within
            .iter()
            .flat_map(|within| within.iter())
            .map(|top| top.display().to_string())
            .collect();
        unavailable(
            "over HTTP only directories can be asked about that the runtime was started for, and \
             those below them",
            &format!(
                "name one at or below {}; `cograph serve --http … --allow DIR` adds others",
                within.join(", ")
            ),
        )
    }
}

/// Selected default repository. Precedence: root from the command line, root set by the client,
/// roots list of the client, working directory.
pub(super) struct RootSelection {
    config: Result<Config, Unavailable>,
    reach: AllowedRoots,
    state: Mutex<ChoiceState>,
    /// Signalled when the client's roots have arrived.
    roots_received: Condvar,
    on_change: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct ChoiceState {
    /// Root set by the client.
    named: Option<PathBuf>,
    /// Roots of the client, best first. Not inspected before a call needs them.
    client: Vec<PathBuf>,
    /// Deadline of the pending `roots/list` request; calls wait for its response until then.
    asked_until: Option<Instant>,
    /// Last known generation of the default repository.
    seen: Option<(PathBuf, Identity)>,
}

impl RootSelection {
    /// Inspects nothing yet. `on_change` is called when the default repository has a new
    /// generation, on the thread that notices it.
    pub(super) fn new(
        config: Result<Config, Unavailable>,
        reach: AllowedRoots,
        on_change: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            config,
            reach,
            state: Mutex::default(),
            roots_received: Condvar::new(),
            on_change: Box::new(on_change),
        }
    }

    /// Configuration from the environment.
    pub(super) fn config(&self) -> Result<&Config, Unavailable> {
        self.config.as_ref().map_err(Unavailable::clone)
    }

    /// True if the client's roots can decide the default repository.
    pub(super) fn asks_client(&self) -> bool {
        self.reach.root.is_none() && self.state().named.is_none()
    }

    /// Sets the root chosen by the client: exactly this directory. A root from the command line
    /// takes precedence.
    pub(super) fn set_root(&self, root: PathBuf) {
        self.state().named = Some(root);
    }

    /// Records that `roots/list` was sent.
    pub(super) fn client_got_request(&self, until: Instant) {
        self.state().asked_until = Some(until);
    }

    /// Waits for the pending `roots/list` response or its timeout.
    pub(super) fn await_client(&self) {
        let mut state = self.state();
        while let Some(left) =
            state.asked_until.and_then(|until| until.checked_duration_since(Instant::now()))
        {
            self.roots_received.wait_for(&mut state, left);
        }
        state.asked_until = None;
    }

    /// Sets the client's roots. Returns true if earlier responses may have been about another
    /// repository.
    pub(super) fn set_client(&self, directories: Vec<PathBuf>) -> bool {
        let mut state = self.state();
        state.asked_until = None;
        self.roots_received.notify_all();
        let changed = state.client != directories && state.seen.take().is_some();
        state.client = directories;
        changed && self.reach.root.is_none() && state.named.is_none()
    }

    /// The repository that `named` selects, or the default one.
    pub(super) fn find(&self, named: Option<&str>) -> Result<Repository, Unavailable> {
        let config = self.config()?;
        match (named, &self.reach.root) {
            (Some(named), _) => {
                let path = Path::new(named);
                if let (true, Some(cache)) = (planted(Fault::NameAsFile), &config.cache_directory) {
                    let (root, cache) = (path.to_path_buf(), cache.clone());
                    return Ok(Repository { root, cache, rules: 0 });
                }
                if !path.is_absolute() {
                    return Err(unavailable(
                        "`root` must be an absolute path",
                        "leave it out for the repository of this session",
                    ));
                }
                self.meant(config, self.around(config, path)?)
            }
            (None, Some(root)) => self.at(config, root),
            (None, None) => {
                let (named, client) = {
                    let state = self.state();
                    (state.named.clone(), state.client.clone())
                };
                if let Some(named) = named {
                    return self.at(config, &named);
                }
                if let Some(usable) =
                    client.iter().find_map(|directory| self.around(config, directory).ok())
                {
                    return self.meant(config, usable);
                }
                let found = config
                    .default_repository()
                    .map_err(|error| unavailable(&error.to_string(), error.hint()))?;
                if self.reach.has(&found.root) {
                    self.meant(config, found)
                } else {
                    Err(self.reach.outside())
                }
            }
        }
    }

    /// Directory that a call is about, before the repository around it is looked for.
    pub(super) fn place(&self, named: Option<&str>) -> Option<PathBuf> {
        let (of_session, client) = {
            let state = self.state();
            (state.named.clone(), state.client.clone())
        };
        let usable = || client.into_iter().find(|directory| directory.is_dir());
        let started = || self.config.as_ref().ok().and_then(Config::started_in);
        let chosen = named.map(PathBuf::from).or_else(|| self.reach.root.clone());
        chosen.or(of_session).or_else(usable).or_else(started)
    }

    /// True if the session may read a directory that exists.
    pub(super) fn may_read(&self, directory: &Path) -> bool {
        files::canonical(directory).is_ok_and(|real| self.reach.has(&real))
    }

    /// The repository whose root is exactly this directory, if the session may access it.
    pub(super) fn exactly(&self, directory: &Path) -> Result<Repository, Unavailable> {
        self.at(self.config()?, directory)
    }

    /// The repository whose root is exactly this directory.
    fn at(&self, config: &Config, directory: &Path) -> Result<Repository, Unavailable> {
        match config.repository_at(directory) {
            Ok(found) if self.reach.has(&found.root) => Ok(found),
            Err(error) if self.reach.within.is_none() => {
                Err(unavailable(&error.to_string(), error.hint()))
            }
            Ok(_) | Err(_) => Err(self.reach.outside()),
        }
    }

    /// The repository that contains this directory, if the session may access it.
    fn around(&self, config: &Config, directory: &Path) -> Result<Repository, Unavailable> {
        let exact = self.at(config, directory)?;
        let found = config
            .repository_around(directory)
            .map_err(|error| unavailable(&error.to_string(), error.hint()))?;
        Ok(if self.reach.has(&found.root) { found } else { exact })
    }

    /// Rejects a directory that is a repository by accident, such as the home directory. A root
    /// from the command line is always accepted.
    fn meant(&self, config: &Config, found: Repository) -> Result<Repository, Unavailable> {
        if self.reach.names(&found.root) {
            return Ok(found);
        }
        index::check_implicit_root(config, found)
            .map_err(|error| unavailable(&error.to_string(), error.hint()))
    }

    /// Records the generation of a response. The first one is no change for the client.
    pub(super) fn answered_from(&self, root: &Path, identity: Identity) {
        let before = self.state().seen.replace((root.to_path_buf(), identity));
        if before.is_some_and(|(known, before)| known == root && before != identity) {
            (self.on_change)();
        }
    }

    /// A repository, possibly the default one, has a new generation.
    pub(super) fn published(&self, root: &Path, identity: Identity) {
        if self.find(None).is_ok_and(|repository| repository.root == root) {
            let new = (root.to_path_buf(), identity);
            let before = self.state().seen.replace(new.clone());
            if before != Some(new) {
                (self.on_change)();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, ChoiceState> {
        self.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_config::ConfigError;
    use std::ffi::OsString;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn config(project: &Path) -> Result<Config, Unavailable> {
        let variables = [
            ("COGRAPH_CACHE_DIR", OsString::from("/cache")),
            ("CLAUDE_PROJECT_DIR", project.into()),
        ];
        Config::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone())
        })
        .map_err(|error: ConfigError| unavailable(&error.to_string(), error.hint()))
    }

    #[test]
    fn the_first_usable_directory_of_the_client_is_chosen_unless_one_was_given() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let top = std::fs::canonicalize(place.path()).expect("it exists");
        let [project, one, two] = ["project", "one", "two"].map(|name| top.join(name));
        for directory in [&project, &one, &two] {
            std::fs::create_dir(directory).expect("the directory is new");
        }
        let chosen = RootSelection::new(config(&project), AllowedRoots::default(), || {});
        let root = |chosen: &RootSelection| chosen.find(None).expect("there is one").root;
        assert_eq!(root(&chosen), project);
        chosen.set_client(vec![top.join("no such directory"), one.clone(), two.clone()]);
        assert_eq!(root(&chosen), one);
        chosen.set_client(Vec::new());
        assert_eq!(root(&chosen), project);
        let given =
            RootSelection::new(config(&project), AllowedRoots::from(Some(two.clone())), || {});
        given.set_client(vec![one]);
        assert_eq!((root(&given), given.asks_client()), (two.clone(), false));
        chosen.set_root(two.clone());
        assert!(
            !chosen.set_client(vec![project]),
            "a client that names its repository is not asked"
        );
        assert_eq!((root(&chosen), chosen.asks_client()), (two, false));
    }

    #[cfg(unix)]
    #[test]
    fn a_session_that_is_about_some_directories_is_about_no_others_however_they_are_named() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let top = std::fs::canonicalize(place.path()).expect("it exists");
        let [outer, inner, other] = ["outer", "outer/inner", "other"].map(|name| top.join(name));
        for directory in [&outer, &inner, &other, &inner.join("deep")] {
            std::fs::create_dir(directory).expect("the directory is new");
        }
        std::fs::create_dir(outer.join(".git")).expect("the directory is new");
        std::os::unix::fs::symlink(&other, inner.join("link")).expect("the name is free");
        let within: Arc<[PathBuf]> = [inner.clone()].into();
        let session = |root| {
            RootSelection::new(
                config(&other),
                AllowedRoots { root, within: Some(Arc::clone(&within)) },
                || {},
            )
        };
        let named = |path: &Path| session(None).find(path.to_str()).map(|found| found.root);
        assert_eq!(named(&inner), Ok(inner.clone()), "the repository around it is outside");
        assert_eq!(named(&inner.join("deep")), Ok(inner.join("deep")));
        let refused = session(None).reach.outside();
        for path in [
            &outer,
            &other,
            &inner.join("link"),
            &inner.join(".."),
            &inner.join("missing"),
            Path::new("/missing"),
        ] {
            assert_eq!(named(path), Err(refused.clone()), "{}", path.display());
        }
        let chosen = session(None);
        assert_eq!(
            chosen.find(None).map(|found| found.root),
            Err(refused.clone()),
            "where the process was started"
        );
        chosen.set_client(vec![other.clone(), inner.clone()]);
        assert_eq!(chosen.find(None).map(|found| found.root), Ok(inner.clone()));
        chosen.set_root(other.clone());
        assert_eq!(chosen.find(None).map(|found| found.root), Err(refused));
        assert_eq!(session(Some(inner.clone())).find(None).map(|found| found.root), Ok(inner));
    }

    #[test]
    fn calls_wait_for_the_answer_of_the_client_but_not_for_ever() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let top = std::fs::canonicalize(place.path()).expect("it exists");
        let chosen = RootSelection::new(
            config(Path::new("/no such directory")),
            AllowedRoots::default(),
            || {},
        );
        chosen.await_client();
        chosen.client_got_request(Instant::now() + Duration::from_secs(3600));
        std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                chosen.await_client();
                chosen.find(None).map(|repository| repository.root)
            });
            chosen.set_client(vec![top.clone()]);
            assert_eq!(call.join().expect("nothing panics"), Ok(top.clone()));
        });
        chosen.client_got_request(Instant::now() + Duration::from_millis(1));
        chosen.await_client();
        assert_eq!(chosen.state().asked_until, None);
    }

    #[test]
    fn a_change_is_reported_once_by_the_first_that_sees_it() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let top = std::fs::canonicalize(place.path()).expect("it exists");
        let roots_received = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&roots_received);
        let count_one = move || {
            count.fetch_add(1, Ordering::SeqCst);
        };
        let chosen = RootSelection::new(config(&top), AllowedRoots::default(), count_one);
        let state = |generation| Identity { uid: 1, generation };
        chosen.answered_from(&top, state(1));
        assert_eq!(roots_received.load(Ordering::SeqCst), 0, "the first answer is no change");
        chosen.published(&top, state(2));
        chosen.answered_from(&top, state(2));
        assert_eq!(roots_received.load(Ordering::SeqCst), 1);
        chosen.answered_from(&top, state(3));
        chosen.published(&top, state(3));
        assert_eq!(roots_received.load(Ordering::SeqCst), 2, "another process may have made it");
        chosen.published(Path::new("/elsewhere"), state(9));
        assert_eq!(roots_received.load(Ordering::SeqCst), 2);
        assert!(
            chosen.set_client(vec![top.clone()]) && !chosen.set_client(Vec::new()),
            "nothing was answered in between"
        );
    }
}
