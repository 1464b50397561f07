//! Requests from outside to end: signals on Unix, events of the console on Windows.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub use unix::{leave_interrupts, on_end, survive_file_size_limit};
#[cfg(not(unix))]
pub use windows::{leave_interrupts, on_end, survive_file_size_limit};
