//! Traversal of a directory tree by several threads. A thread that the system does not provide
//! makes it slower, nothing else: the traversal ends whatever fails.

use parking_lot::{Condvar, Mutex};
use std::path::PathBuf;
use std::thread::Builder;

/// Directories that are not listed yet, shared by the threads.
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    directories: Vec<PathBuf>,
    /// Number of directories that are being listed: each may add some.
    listed_now: usize,
}

/// Calls `list` once for `top`, and once for every directory that a call returns.
pub(super) fn traverse(
    top: PathBuf,
    threads: usize,
    list: &(impl Fn(&PathBuf) -> Vec<PathBuf> + Sync),
) {
    let state = State { directories: vec![top], listed_now: 0 };
    let queue = Queue { state: Mutex::new(state), changed: Condvar::new() };
    std::thread::scope(|scope| {
        for number in 1..threads {
            let started = Builder::new()
                .name(format!("walk-{number}"))
                .spawn_scoped(scope, || queue.work(list));
            if let Err(error) = started {
                tracing::warn!(%error, threads = number, "fewer threads list the files");
                break;
            }
        }
        queue.work(list);
    });
}

impl Queue {
    /// Lists directories until there are no more.
    fn work(&self, list: &impl Fn(&PathBuf) -> Vec<PathBuf>) {
        while let Some(directory) = self.next() {
            let mut listed = Listed { queue: self, below: Vec::new() };
            listed.below = list(&directory);
        }
    }

    fn next(&self) -> Option<PathBuf> {
        let mut state = self.state.lock();
        while state.directories.is_empty() && state.listed_now > 0 {
            self.changed.wait(&mut state);
        }
        let directory = state.directories.pop()?;
        state.listed_now += 1;
        Some(directory)
    }
}

/// End of a listing, also by a panic: other threads wait for it.
struct Listed<'q> {
    queue: &'q Queue,
    below: Vec<PathBuf>,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state.lock();
        state.listed_now -= 1;
        state.directories.append(&mut self.below);
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Directories visited of a tree of two levels.
    fn visited(threads: usize) -> Vec<String> {
        let seen = Mutex::new(Vec::new());
        traverse(PathBuf::from("top"), threads, &|directory: &PathBuf| {
            seen.lock().push(directory.display().to_string());
            let depth = directory.components().count();
            (0..3).filter(|_| depth < 3).map(|number| directory.join(number.to_string())).collect()
        });
        let mut seen = seen.into_inner();
        seen.sort_unstable();
        seen
    }

    #[test]
    fn every_directory_is_listed_once() {
        let alone = visited(1);
        assert_eq!((alone.len(), &*alone[5]), (13, "top/1"));
        assert_eq!(visited(4), alone);
    }

    #[test]
    fn a_panic_of_one_thread_ends_the_others() {
        let listed = std::panic::catch_unwind(|| {
            traverse(PathBuf::from("top"), 4, &|directory: &PathBuf| {
                assert!(!directory.ends_with("7"), "a planted panic");
                let is_top = directory.components().count() == 1;
                let below = (0..9).filter(|_| is_top);
                below.map(|number| directory.join(number.to_string())).collect()
            });
        });
        assert!(listed.is_err());
    }
}
