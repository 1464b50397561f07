//! Standard streams as descriptors, and waiting for a descriptor. Only Unix: there a descriptor is
//! a file, a pipe, a socket or a terminal alike.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

/// At least 3, so that closing a duplicate cannot free a standard descriptor.
const FIRST: i32 = 3;

/// Duplicate of standard input, without a buffer; child processes do not get it.
pub fn own_input() -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(stdin(), FIRST)?)
}

/// Duplicate of standard output, without a buffer; child processes do not get it.
pub fn own_output() -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(stdout(), FIRST)?)
}

/// Makes standard input the null device, for this process and its children.
pub fn empty_input() -> io::Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(dup2_stdin(null)?)
}

/// Makes standard output standard error, for this process and its children.
pub fn output_to_errors() -> io::Result<()> {
    Ok(dup2_stdout(stderr())?)
}

/// Writes to the descriptor of standard output, past the standard library.
pub fn write_to_output(bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(stdout(), bytes)?)
}

/// Waits for input, its end or an error of the descriptor. False after the timeout. Fails if a
/// signal interrupts it.
pub fn wait_readable(descriptor: &impl AsFd, at_most: Option<Duration>) -> io::Result<bool> {
    wait(descriptor, PollFlags::IN, at_most)
}

/// Waits until something can be written. Fails if a signal interrupts it.
pub fn wait_writable(descriptor: &impl AsFd) -> io::Result<()> {
    wait(descriptor, PollFlags::OUT, None).map(drop)
}

/// True if the other end of this pipe or socket is closed.
pub fn is_abandoned(descriptor: &impl AsFd) -> bool {
    let mut polled = [PollFd::new(descriptor, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_ok()
        && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

fn wait(descriptor: &impl AsFd, events: PollFlags, at_most: Option<Duration>) -> io::Result<bool> {
    let at_most = at_most.map(|time| Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    });
    let mut polled = [PollFd::new(descriptor, events)];
    Ok(poll(&mut polled, at_most.as_ref())? > 0)
}
