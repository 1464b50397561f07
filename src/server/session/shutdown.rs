//! Reasons to end the process: signals, the end of the parent process, and a watchdog for a
//! shutdown that hangs.

use cograph_faults::{Fault, planted};
use cograph_model::cancel::CancelToken;
use cograph_system::processes::ParentProcess;
use cograph_system::signals;
use std::io;
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Waits for signals. The first one sends the event `end` to the dispatcher and starts the
/// watchdog; the second ends the process at once.
pub(crate) fn on_signal<E: Send + 'static>(
    events: Sender<E>,
    end: fn() -> E,
    grace: Duration,
) -> io::Result<()> {
    let mut seen = false;
    signals::on_end(move || {
        if planted(Fault::SignalWaitsForInput) {
            return;
        }
        if seen {
            exit_now();
        }
        seen = true;
        watchdog(grace);
        // Not a blocking send: the second signal must be handled even if the dispatcher hangs.
        if events.try_send(end()).is_err() {
            tracing::warn!(
                "the dispatcher does not take events: the watchdog will end the process"
            );
        }
    })
}

/// Ends the process after `grace`, in any case.
pub(crate) fn watchdog(grace: Duration) {
    let spawned = std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
        // The token is never cancelled: this is a plain wait.
        CancelToken::new().wait(grace);
        exit_now();
    });
    if spawned.is_err() {
        exit_now();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the way out when the dispatcher cannot return; the store is whole at every instant"
)]
fn exit_now() -> ! {
    std::process::exit(0)
}

/// Parent process at startup.
#[derive(Debug)]
pub(crate) struct Parent(Option<ParentProcess>);

impl Parent {
    /// Records the current parent.
    pub(crate) fn now() -> Self {
        Self(Some(ParentProcess::now()))
    }

    /// No parent: for a process that outlives its client.
    pub(crate) fn none_watched() -> Self {
        Self(None)
    }

    /// True if the parent has ended. Detects a dead client whose end of the input is kept open by
    /// another process.
    pub(crate) fn is_gone(&self) -> bool {
        self.0.is_some_and(ParentProcess::is_gone) && !planted(Fault::EofOnlyOrphans)
    }
}
