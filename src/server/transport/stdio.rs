//! Takes over standard input and output for the protocol. Afterwards descriptor 0 is the null
//! device and descriptor 1 is standard error, for this process and its children, so no other code
//! can interfere.

use crate::transport::Stream;
use cograph_faults::{Fault, planted};
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;

/// Moves descriptors 0 and 1. Must be called once, before any thread starts. The new descriptors
/// are close-on-exec.
pub(crate) fn take() -> io::Result<Stream> {
    // At least 3, so that closing them later cannot free a standard descriptor.
    let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdin(rustix::fs::open(
        "/dev/null",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?)?;
    if !planted(Fault::NoFdRedirect) {
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    }
    Ok(Stream { input, output })
}

/// Polls a descriptor. Only after `EAGAIN`, for descriptors that the client left in non-blocking
/// mode: all bytes read so far are with the dispatcher, so no buffer above this poll holds data.
pub(super) fn wait_until_ready(
    descriptor: &OwnedFd,
    events: rustix::event::PollFlags,
) -> io::Result<()> {
    let mut polled = [rustix::event::PollFd::new(descriptor, events)];
    match rustix::event::poll(&mut polled, None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// True if the read end of this pipe or socket is closed.
pub(crate) fn is_abandoned(descriptor: &OwnedFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled = [PollFd::new(descriptor, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_ok()
        && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
