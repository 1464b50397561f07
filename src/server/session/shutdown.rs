//! Reasons to end the process: signals, the end of the parent process, and a watchdog for a
//! shutdown that hangs.

use cograph_faults::{Fault, planted};
use cograph_model::cancel::CancelToken;
use rustix::process::{Pid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Starts the signal thread. The first signal sends the event `end` to the dispatcher and starts
/// the watchdog; the second ends the process at once.
pub(crate) fn on_signal<E: Send + 'static>(
    events: Sender<E>,
    end: fn() -> E,
    grace: Duration,
) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut seen = false;
        for _ in signals.forever() {
            if planted(Fault::SignalWaitsForInput) {
                continue;
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
        }
    })?;
    Ok(())
}

/// Lets a write beyond the file size limit (`ulimit -f`) fail with an error instead of a signal
/// that ends the process. To be called first in every process that may write a file; a child
/// process has the default again.
pub fn survive_file_size_limit() -> io::Result<()> {
    // The flag is never read: the handler alone makes `write` return.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Leaves the session and the working directory of the parent process, so that neither ends with
/// the other.
pub(crate) fn detach() {
    // Each call fails only if it is unnecessary.
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
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
pub(crate) struct Parent(Option<Pid>);

impl Parent {
    /// Records the current parent.
    pub(crate) fn now() -> Self {
        Self(getppid())
    }

    /// No parent: for a process that outlives its client.
    pub(crate) fn none_watched() -> Self {
        Self(None)
    }

    /// True if the parent has ended, seen as a changed parent id. Detects a dead client whose end
    /// of the input is kept open by another process.
    pub(crate) fn is_gone(&self) -> bool {
        self.0.is_some() && getppid() != self.0 && !planted(Fault::EofOnlyOrphans)
    }
}
