//! Which repository a call of a session means, above all one that names none, and when that one has changed. Looks at directories, opens
//! no store.

use super::{Unavailable, unavailable};
use crate::config::{Config, Repository};
use crate::faults::{Fault, planted};
use crate::source;
use crate::store::Identity;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The choice. The directory that the server was started with comes first, then the one that the client has named, then what
/// it works on, then where the process was started.
pub(super) struct Chosen {
    config: Result<Config, Unavailable>,
    /// Given when the process was started.
    root: Option<PathBuf>,
    state: Mutex<State>,
    /// Woken when the client has said what it works on.
    told: Condvar,
    on_change: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    /// The repository that the client has named itself.
    named: Option<PathBuf>,
    /// What the client says that it works on, best first. Not looked at before a call needs it.
    client: Vec<PathBuf>,
    /// The client was asked; calls wait for its answer, no longer than this.
    asked_until: Option<Instant>,
    /// The state of the chosen repository that was seen last.
    seen: Option<(PathBuf, Identity)>,
}

impl Chosen {
    /// Nothing is looked at yet. `on_change` is called when the chosen repository has a new generation, on the thread that
    /// finds out.
    pub(super) fn new(
        config: Result<Config, Unavailable>,
        root: Option<PathBuf>,
        on_change: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self { config, root, state: Mutex::default(), told: Condvar::new(), on_change: Box::new(on_change) }
    }

    /// The settings from outside.
    pub(super) fn config(&self) -> Result<&Config, Unavailable> {
        self.config.as_ref().map_err(Unavailable::clone)
    }

    /// Whether it matters what the client works on.
    pub(super) fn asks_client(&self) -> bool {
        self.root.is_none() && self.state().named.is_none()
    }

    /// The client names its repository itself: exactly this directory. A directory that the process was started with comes first.
    pub(super) fn set_root(&self, root: PathBuf) {
        self.state().named = Some(root);
    }

    /// The client was asked what it works on.
    pub(super) fn client_was_asked(&self, until: Instant) {
        self.state().asked_until = Some(until);
    }

    /// Waits until the client has answered, if it was asked, or the time for that is over.
    pub(super) fn await_client(&self) {
        let mut state = self.state();
        while let Some(left) = state.asked_until.and_then(|until| until.checked_duration_since(Instant::now())) {
            state = self.told.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.asked_until = None;
    }

    /// What the client works on now. True if answers that were given before may have been about another repository.
    pub(super) fn set_client(&self, directories: Vec<PathBuf>) -> bool {
        let mut state = self.state();
        state.asked_until = None;
        self.told.notify_all();
        let changed = state.client != directories && state.seen.take().is_some();
        state.client = directories;
        changed && self.root.is_none() && state.named.is_none()
    }

    /// The repository that `named` means, or the chosen one.
    pub(super) fn find(&self, named: Option<&str>) -> Result<Repository, Unavailable> {
        let config = self.config()?;
        let found = match (named, &self.root) {
            (Some(named), _) => {
                let path = Path::new(named);
                if let (true, Some(cache)) = (planted(Fault::NameAsFile), &config.cache_directory) {
                    return Ok(Repository { root: path.to_path_buf(), cache: cache.clone() });
                }
                if !path.is_absolute() {
                    return Err(unavailable(
                        "`root` must be an absolute path",
                        "leave it out for the repository of this session",
                    ));
                }
                config.repository_around(path).and_then(|repository| source::meant(config, repository))
            }
            (None, Some(root)) => config.repository_at(root),
            (None, None) => {
                let (named, client) = {
                    let state = self.state();
                    (state.named.clone(), state.client.clone())
                };
                if let Some(named) = named {
                    return config.repository_at(&named).map_err(|error| unavailable(&error.to_string(), error.hint()));
                }
                let usable = client.iter().find_map(|directory| config.repository_around(directory).ok());
                let found = usable.map_or_else(|| config.default_repository(), Ok);
                found.and_then(|repository| source::meant(config, repository))
            }
        };
        found.map_err(|error| unavailable(&error.to_string(), error.hint()))
    }

    /// A call was answered from this state of the chosen repository. The first one changes nothing for the client.
    pub(super) fn answered_from(&self, root: &Path, identity: Identity) {
        let before = self.state().seen.replace((root.to_path_buf(), identity));
        if before.is_some_and(|(known, before)| known == root && before != identity) {
            (self.on_change)();
        }
    }

    /// A repository, perhaps the chosen one, has a new generation.
    pub(super) fn published(&self, root: &Path, identity: Identity) {
        if self.find(None).is_ok_and(|repository| repository.root == root) {
            let new = (root.to_path_buf(), identity);
            let before = self.state().seen.replace(new.clone());
            if before != Some(new) {
                (self.on_change)();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigError;
    use std::ffi::OsString;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn config(project: &Path) -> Result<Config, Unavailable> {
        let variables = [("COGRAPH_CACHE_DIR", OsString::from("/cache")), ("CLAUDE_PROJECT_DIR", project.into())];
        Config::from_variables(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone()))
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
        let chosen = Chosen::new(config(&project), None, || {});
        let root = |chosen: &Chosen| chosen.find(None).expect("there is one").root;
        assert_eq!(root(&chosen), project);
        chosen.set_client(vec![top.join("no such directory"), one.clone(), two.clone()]);
        assert_eq!(root(&chosen), one);
        chosen.set_client(Vec::new());
        assert_eq!(root(&chosen), project);
        let given = Chosen::new(config(&project), Some(two.clone()), || {});
        given.set_client(vec![one]);
        assert_eq!((root(&given), given.asks_client()), (two.clone(), false));
        chosen.set_root(two.clone());
        assert!(!chosen.set_client(vec![project]), "a client that names its repository is not asked");
        assert_eq!((root(&chosen), chosen.asks_client()), (two, false));
    }

    #[test]
    fn calls_wait_for_the_answer_of_the_client_but_not_for_ever() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let top = std::fs::canonicalize(place.path()).expect("it exists");
        let chosen = Chosen::new(config(Path::new("/no such directory")), None, || {});
        chosen.await_client();
        chosen.client_was_asked(Instant::now() + Duration::from_secs(3600));
        std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                chosen.await_client();
                chosen.find(None).map(|repository| repository.root)
            });
            chosen.set_client(vec![top.clone()]);
            assert_eq!(call.join().expect("nothing panics"), Ok(top.clone()));
        });
        chosen.client_was_asked(Instant::now() + Duration::from_millis(1));
        chosen.await_client();
        assert_eq!(chosen.state().asked_until, None);
    }

    #[test]
    fn a_change_is_told_once_whoever_sees_it_first() {
        let place = tempfile::tempdir().expect("a temporary directory can be made");
        let top = std::fs::canonicalize(place.path()).expect("it exists");
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        let count_one = move || {
            count.fetch_add(1, Ordering::SeqCst);
        };
        let chosen = Chosen::new(config(&top), None, count_one);
        let state = |generation| Identity { uid: 1, generation };
        chosen.answered_from(&top, state(1));
        assert_eq!(told.load(Ordering::SeqCst), 0, "the first answer is no change");
        chosen.published(&top, state(2));
        chosen.answered_from(&top, state(2));
        assert_eq!(told.load(Ordering::SeqCst), 1);
        chosen.answered_from(&top, state(3));
        chosen.published(&top, state(3));
        assert_eq!(told.load(Ordering::SeqCst), 2, "another process may have made it");
        chosen.published(Path::new("/elsewhere"), state(9));
        assert_eq!(told.load(Ordering::SeqCst), 2);
        assert!(chosen.set_client(vec![top.clone()]) && !chosen.set_client(Vec::new()), "nothing was answered in between");
    }
}
