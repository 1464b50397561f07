//! Idle cache: values by key, dropped after an idle timeout by a thread that runs while the cache
//! is not empty and sleeps until the next expiry. Independent of the type of the values.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Idle cache. Drop removes all values.
#[derive(Debug)]
pub struct IdleCache<K, T> {
    shared: Arc<SharedItems<K, T>>,
    /// Name of the sweeper thread.
    name: &'static str,
    /// Idle timeout.
    idle: Duration,
    sweeper: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct SharedItems<K, T> {
    state: Mutex<CacheState<K, T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct CacheState<K, T> {
    entries: Vec<CacheEntry<K, T>>,
    /// True while a sweeper thread exists.
    is_swept: bool,
    ended: bool,
}

#[derive(Debug)]
struct CacheEntry<K, T> {
    key: K,
    used: Instant,
    value: T,
}

impl<K: Clone + PartialEq + Send + 'static, T: Send + 'static> IdleCache<K, T> {
    /// Creates an empty cache. Values expire `idle` after their last use; `name` is the name of the
    /// sweeper thread.
    pub fn new(name: &'static str, idle: Duration) -> Self {
        let state = CacheState { entries: Vec::new(), is_swept: false, ended: false };
        let shared = Arc::new(SharedItems { state: Mutex::new(state), changed: Condvar::new() });
        Self { shared, name, idle, sweeper: Mutex::default() }
    }

    /// Keys of the cached values.
    pub(crate) fn keys(&self) -> Vec<K> {
        self.shared.lock().entries.iter().map(|entry| entry.key.clone()).collect()
    }

    /// Records a use of a value. Returns false if it is not cached.
    pub fn touch(&self, key: &K) -> bool {
        let mut state = self.shared.lock();
        state.find(key).map(|entry| entry.used = Instant::now()).is_some()
    }

    /// Runs `work` on a value, under the lock. Does not count as a use.
    pub fn with<R>(&self, key: &K, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.shared.lock().find(key).map(|entry| work(&mut entry.value))
    }

    /// Runs `work` on every value, under the lock.
    pub fn each<R>(&self, mut work: impl FnMut(&K, &T) -> R) -> Vec<R> {
        self.shared.lock().entries.iter().map(|entry| work(&entry.key, &entry.value)).collect()
    }

    /// Inserts a value and drops the previous one.
    pub fn put(&self, key: &K, value: T) {
        let before = {
            let mut state = self.shared.lock();
            let before = state.take(key);
            state.entries.push(CacheEntry { key: key.clone(), used: Instant::now(), value });
            before
        };
        // Dropped outside of the lock, because it may be large.
        drop(before);
        self.begin_to_sweep();
    }

    /// Records a use, and inserts the value of `make` if there is none. Returns true if it was
    /// inserted.
    pub fn touch_or_put(&self, key: &K, make: impl FnOnce() -> T) -> bool {
        {
            let mut state = self.shared.lock();
            if let Some(entry) = state.find(key) {
                entry.used = Instant::now();
                return false;
            }
            state.entries.push(CacheEntry {
                key: key.clone(),
                used: Instant::now(),
                value: make(),
            });
        }
        self.begin_to_sweep();
        true
    }

    /// Removes and returns a value.
    pub(crate) fn take(&self, key: &K) -> Option<T> {
        self.shared.lock().take(key)
    }

    fn begin_to_sweep(&self) {
        let mut sweeper = self.sweeper.lock();
        if std::mem::replace(&mut self.shared.lock().is_swept, true) {
            return;
        }
        if let Some(ended) = sweeper.take() {
            // The thread has already announced its end, so the join does not block.
            let _ = ended.join();
        }
        let (shared, idle) = (Arc::clone(&self.shared), self.idle);
        match Builder::new().name(self.name.to_owned()).spawn(move || shared.sweep(idle)) {
            Ok(thread) => *sweeper = Some(thread),
            Err(error) => {
                tracing::warn!(%error, name = self.name, "nothing is kept: it could not be dropped \
                    again");
                let mut state = self.shared.lock();
                state.is_swept = false;
                let all = std::mem::take(&mut state.entries);
                drop(state);
                drop(all);
            }
        }
    }
}

impl<K, T> Drop for IdleCache<K, T> {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.sweeper.lock().take() {
            // A panic in the sweeper can only come from dropping a value.
            let _ = thread.join();
        }
    }
}

impl<K, T> SharedItems<K, T> {
    fn lock(&self) -> MutexGuard<'_, CacheState<K, T>> {
        // No operation under the lock leaves an entry inconsistent.
        self.state.lock()
    }

    /// Main function of the sweeper thread: runs until the cache is empty.
    fn sweep(&self, idle: Duration) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let all = std::mem::take(&mut state.entries).into_iter();
            let (unused, used): (Vec<_>, Vec<_>) =
                all.partition(|entry| now.duration_since(entry.used) >= idle);
            state.entries = used;
            if !unused.is_empty() {
                drop(state);
                // Dropped outside of the lock, because it may free much memory and close files.
                drop(unused);
                state = self.lock();
                continue;
            }
            let next = state.entries.iter().map(|entry| entry.used + idle).min();
            let Some(next) = next.filter(|_| !state.ended) else {
                state.is_swept = false;
                return;
            };
            let wait = next.saturating_duration_since(now);
            self.changed.wait_for(&mut state, wait);
        }
    }
}

impl<K: PartialEq, T> CacheState<K, T> {
    fn find(&mut self, key: &K) -> Option<&mut CacheEntry<K, T>> {
        self.entries.iter_mut().find(|entry| entry.key == *key)
    }

    fn take(&mut self, key: &K) -> Option<T> {
        let place = self.entries.iter().position(|entry| entry.key == *key)?;
        Some(self.entries.swap_remove(place).value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{SyncSender, sync_channel};

    /// Sends its number when it is dropped.
    struct Reported(u32, SyncSender<u32>);

    impl Drop for Reported {
        fn drop(&mut self) {
            // The send fails after the test has ended.
            let _ = self.1.send(self.0);
        }
    }

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn what_is_not_used_is_dropped_and_what_is_used_stays() {
        let (sender, receiver) = sync_channel(16);
        let kept = IdleCache::new("kept-test", Duration::from_millis(20));
        for round in 0..3 {
            let begun = Instant::now();
            assert!(kept.touch_or_put(&"a", || Reported(round, sender.clone())));
            assert_eq!(receiver.recv_timeout(PATIENCE), Ok(round));
            assert!(begun.elapsed() >= Duration::from_millis(20));
            assert!(
                !kept.touch(&"a") && kept.keys().is_empty(),
                "and a new thread comes with the next thing"
            );
        }
        let forever = IdleCache::new("kept-test", Duration::from_secs(3600));
        forever.put(&1, Reported(1, sender.clone()));
        forever.put(&2, Reported(2, sender.clone()));
        assert!(forever.touch(&1) && !forever.touch_or_put(&2, || Reported(9, sender.clone())));
        assert_eq!(forever.with(&2, |reported| reported.0), Some(2));
        forever.put(&2, Reported(3, sender.clone()));
        assert_eq!(receiver.recv_timeout(PATIENCE), Ok(2), "it was replaced");
        assert_eq!(forever.take(&1).map(|reported| reported.0), Some(1));
        assert_eq!(
            (receiver.recv_timeout(PATIENCE), forever.each(|key, reported| (*key, reported.0))),
            (Ok(1), vec![(2, 3)])
        );
        drop(forever);
        assert_eq!(
            receiver.recv_timeout(PATIENCE),
            Ok(3),
            "the end does not wait for the hour to pass"
        );
    }
}
