//! Events of the console: its keys, and that it is closed.

use std::io;

/// Has a thread call `act` for every Ctrl-C, Ctrl-Break and end of the console or of the system's
/// session. Once in a process.
pub fn on_end(act: impl FnMut() + Send + 'static) -> io::Result<()> {
    ctrlc::set_handler(act).map_err(io::Error::other)
}

/// Without effect: there is no such limit.
pub fn survive_file_size_limit() -> io::Result<()> {
    Ok(())
}

/// Leaves the keys of the console to the child process that has it. Once in a process.
pub fn leave_interrupts() -> io::Result<()> {
    on_end(|| {})
}
