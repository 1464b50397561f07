//! Takes the process's standard input and output for the protocol. Afterwards nothing else can read
//! or write them by accident: descriptor 0 is the null device and descriptor 1 is standard error,
//! for this process and its children.

use crate::faults::{Fault, planted};
use crate::server::transport::Stream;
use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;

/// Moves descriptors 0 and 1 out of the way. Call it once, before any thread starts. Neither end is
/// inherited by a child.
pub(in crate::server) fn take() -> io::Result<Stream> {
    // Above the three standard numbers, so that closing them later cannot make one of these a
    // standard stream.
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

/// Waits until a descriptor is ready. For descriptors that the client left in non-blocking mode,
/// after `EAGAIN` only: all bytes that were read are with the dispatcher already, so nothing can
/// wait in a buffer above this test.
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

/// Whether the reading end of what is written to this descriptor is closed.
pub(in crate::server) fn is_abandoned(descriptor: &OwnedFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled = [PollFd::new(descriptor, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_ok()
        && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}
