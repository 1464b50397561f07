//! Signals of Unix: one thread waits for them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// Starts a thread that calls `act` for every SIGHUP, SIGINT and SIGTERM.
pub fn on_end(mut act: impl FnMut() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let wait = move || signals.forever().for_each(|_| act());
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

/// Lets a write beyond the file size limit (`ulimit -f`) fail with an error instead of a signal
/// that ends the process. To be called first in every process that may write a file; a child
/// process has the default again.
pub fn survive_file_size_limit() -> io::Result<()> {
    // The flag is never read: the handler alone makes `write` return.
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Leaves an interrupt from the terminal to the child process that has it.
pub fn leave_interrupts() -> io::Result<()> {
    signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false))).map(drop)
}
