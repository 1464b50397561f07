//! What ends the process: signals, a parent that is gone, and a watchdog for the case that nothing
//! else does.

use crate::faults::{Fault, planted};
use crate::model::cancel::CancelToken;
use rustix::process::{Pid, getppid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Starts the thread that waits for signals. The first one asks the dispatcher to end, by the event
/// `end`, and starts the watchdog; the second ends the process at once.
pub(in crate::server) fn on_signal<E: Send + 'static>(
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
            // Not a blocking send: the second signal must be heard even if the dispatcher is stuck.
            if events.try_send(end()).is_err() {
                tracing::warn!(
                    "the dispatcher does not take events: the watchdog will end the process"
                );
            }
        }
    })?;
    Ok(())
}

/// Leaves the session of the process that started this one, and its directory: neither is to end
/// with the other.
pub(in crate::server) fn detach() {
    // Either fails only where there is nothing to leave.
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
}

/// Ends the process after `grace`, whatever the other threads do.
pub(in crate::server) fn watchdog(grace: Duration) {
    let spawned = std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
        // Nobody cancels this token: it is a wait that nothing can hold up.
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

/// The process that started this one.
#[derive(Debug)]
pub(in crate::server) struct Parent(Option<Pid>);

impl Parent {
    /// Remembers who it is now.
    pub(in crate::server) fn now() -> Self {
        Self(getppid())
    }

    /// For a process that serves others than the one that started it.
    pub(in crate::server) fn nobody() -> Self {
        Self(None)
    }

    /// Whether it has ended, so that this process belongs to somebody else. A client that dies
    /// while another process holds its end of our input open is seen by nothing else.
    pub(in crate::server) fn is_gone(&self) -> bool {
        self.0.is_some() && getppid() != self.0 && !planted(Fault::EofOnlyOrphans)
    }
}
