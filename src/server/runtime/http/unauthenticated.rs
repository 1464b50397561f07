//! HTTP connections that have not shown the bearer token: few and short-lived, so that users
//! without it cannot keep out clients with it. At the limit the oldest one is closed: a client that
//! sends its request at once has shown the token long before.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot::{Receiver, Sender, channel};
use tokio::time::timeout;

/// Maximum number of connections that have not shown the token.
pub(crate) const MAX: usize = 64;
/// Time in which a connection has to show it.
pub(crate) const TIME: Duration = Duration::from_secs(5);

/// The connections, oldest first. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Unauthenticated(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    next: u64,
    /// Dropping a sender closes its connection.
    waiting: BTreeMap<u64, Sender<()>>,
}

/// A connection that may have to show the token. Drop removes it.
pub(super) struct Entry {
    number: u64,
    all: Unauthenticated,
}

/// Resolves when the connection has to be closed.
pub(super) struct Closing(Receiver<()>);

impl Unauthenticated {
    /// Adds a new connection, and closes the oldest one beyond the limit.
    pub(super) fn enter(&self) -> (Entry, Closing) {
        let (sender, receiver) = channel();
        let mut state = self.0.lock();
        state.next += 1;
        let number = state.next;
        state.waiting.insert(number, sender);
        if state.waiting.len() > MAX {
            state.waiting.pop_first();
        }
        (Entry { number, all: self.clone() }, Closing(receiver))
    }
}

impl Entry {
    /// The connection has shown the token: it stays.
    pub(super) fn admit(&self) {
        if let Some(sender) = self.all.0.lock().waiting.remove(&self.number) {
            // The receiver is gone if the connection ends at this moment.
            let _ = sender.send(());
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.all.0.lock().waiting.remove(&self.number);
    }
}

impl Closing {
    /// Waits until the time is over or the connection is the oldest one beyond the limit; for ever
    /// if it shows the token before.
    pub(super) async fn wait(self) {
        if let Ok(Ok(())) = timeout(TIME, self.0).await {
            std::future::pending().await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_connection_without_the_token_is_evicted() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime can be built");
        runtime.block_on(async {
            let all = Unauthenticated::default();
            let (known, known_closing) = all.enter();
            known.admit();
            known.admit();
            let (first, first_closing) = all.enter();
            let others: Vec<_> = (0..MAX).map(|_| all.enter()).collect();
            let is_open = |closing: Closing| async {
                timeout(Duration::from_millis(20), closing.wait()).await.is_err()
            };
            assert!(is_open(known_closing).await, "it has shown the token");
            assert!(!is_open(first_closing).await, "it is the oldest");
            first.admit();
            assert_eq!(all.0.lock().waiting.len(), MAX);
            let (entry, closing) = others.into_iter().next().expect("there are some");
            assert!(is_open(closing).await);
            drop(entry);
            assert_eq!(all.0.lock().waiting.len(), 0, "the others have been dropped too");
        });
    }
}
