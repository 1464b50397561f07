//! `CancelToken`: cooperative cancellation. Independent of the cancelled work.

use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Flag that is set once. Clones share it; work polls it in its loops, waits for it, or registers a
/// hook.
#[derive(Clone, Default)]
pub struct CancelToken(Arc<State>);

#[derive(Default)]
struct State {
    raised: AtomicBool,
    hooks: Mutex<Hooks>,
    signal: Condvar,
}

#[derive(Default)]
struct Hooks {
    next: u64,
    waiting: Vec<(u64, Box<dyn FnOnce() + Send>)>,
}

/// Registration of a hook. After it is dropped the hook has run or never will.
#[derive(Debug)]
pub struct CancelHook {
    token: CancelToken,
    number: u64,
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag, runs the hooks and wakes the waiters. Later calls do nothing.
    pub fn cancel(&self) {
        let mut hooks = self.hooks();
        if self.0.raised.swap(true, Ordering::SeqCst) {
            return;
        }
        // Under the lock, so that after the drop of a `CancelHook` its hook cannot run any more: a
        // hook that interrupts a connection must not affect the connection's next user.
        for (_, hook) in hooks.waiting.drain(..) {
            hook();
        }
        drop(hooks);
        self.0.signal.notify_all();
    }

    /// True if the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    /// Registers `hook` to run on cancellation; runs it at once if the token is cancelled already.
    /// The hook must be fast and must not use the token.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) -> CancelHook {
        let mut hooks = self.hooks();
        let number = hooks.next;
        hooks.next += 1;
        if self.is_cancelled() {
            hook();
        } else {
            hooks.waiting.push((number, Box::new(hook)));
        }
        drop(hooks);
        CancelHook { token: self.clone(), number }
    }

    /// Waits until the token is cancelled or the timeout expires; true if it is cancelled.
    pub fn wait(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut hooks = self.hooks();
        while !self.is_cancelled() {
            let Some(left) =
                until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
            else {
                return false;
            };
            self.0.signal.wait_for(&mut hooks, left);
        }
        true
    }

    fn hooks(&self) -> parking_lot::MutexGuard<'_, Hooks> {
        // A panicking hook leaves the list consistent: `drain` has removed it.
        self.0.hooks.lock()
    }
}

impl Drop for CancelHook {
    fn drop(&mut self) {
        self.token.hooks().waiting.retain(|(number, _)| *number != self.number);
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn hooks_run_once_and_not_after_their_guard_is_gone() {
        let count = Arc::new(AtomicUsize::new(0));
        let add = |by: usize| {
            let count = Arc::clone(&count);
            move || {
                count.fetch_add(by, Ordering::SeqCst);
            }
        };
        let token = CancelToken::new();
        let kept = token.on_cancel(add(1));
        drop(token.on_cancel(add(10)));
        assert!(!token.is_cancelled());
        token.cancel();
        token.cancel();
        assert_eq!(count.load(Ordering::SeqCst), 1);
        drop(kept);
        let _late = token.on_cancel(add(100));
        assert_eq!(count.load(Ordering::SeqCst), 101, "a hook on a cancelled token runs at once");
    }

    #[test]
    fn a_waiter_is_woken_by_cancel_and_gives_up_in_time() {
        let token = CancelToken::new();
        assert!(!token.wait(Duration::from_millis(1)));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| token.wait(Duration::from_secs(60)));
            token.cancel();
            assert!(waiter.join().expect("the waiter does not panic"));
        });
    }
}
