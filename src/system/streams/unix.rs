//! Descriptors of Unix, which can all be polled.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdout, Command};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

/// Stream of bytes.
pub use std::os::fd::OwnedFd as Descriptor;
/// Standard input of a child process: a socket, as hosts use. It can be shut down while a thread is
/// blocked in a write, which a pipe cannot.
pub use std::os::unix::net::UnixStream as ChildInput;

/// At least 3, so that closing a duplicate cannot free a standard descriptor.
const FIRST: i32 = 3;

/// Duplicate of standard input, without a buffer; child processes do not get it.
pub fn own_input() -> io::Result<File> {
    Ok(File::from(rustix::io::fcntl_dupfd_cloexec(stdin(), FIRST)?))
}

/// Duplicate of standard output, without a buffer; child processes do not get it.
pub fn own_output() -> io::Result<File> {
    Ok(File::from(rustix::io::fcntl_dupfd_cloexec(stdout(), FIRST)?))
}

/// Duplicate of standard error, without a buffer; child processes do not get it.
pub fn own_errors() -> io::Result<File> {
    Ok(File::from(rustix::io::fcntl_dupfd_cloexec(stderr(), FIRST)?))
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

/// Starts a command with a standard input that several threads can share.
pub fn input_of(command: &mut Command) -> io::Result<(Child, ChildInput)> {
    let (ours, theirs) = ChildInput::pair()?;
    let child = command.stdin(Descriptor::from(theirs)).spawn()?;
    // The command owns this process's copy of the child's end.
    command.stdin(std::process::Stdio::null());
    Ok((child, ours))
}

/// Reads once.
pub fn read(descriptor: &Descriptor, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::read(descriptor, buffer)?)
}

/// Writes once.
pub fn write(descriptor: &Descriptor, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::io::write(descriptor, bytes)?)
}

/// True for the error of a terminal whose other end was closed, instead of the end of input.
pub fn is_closed_terminal(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::IO)
}

/// Waits for input, its end or an error of the descriptor. Fails if a signal interrupts it.
pub fn wait_readable(descriptor: &Descriptor) -> io::Result<()> {
    wait(descriptor, PollFlags::IN, None).map(drop)
}

/// Waits until something can be written. Fails if a signal interrupts it.
pub fn wait_writable(descriptor: &Descriptor) -> io::Result<()> {
    wait(descriptor, PollFlags::OUT, None).map(drop)
}

/// True if the other end of this pipe or socket is closed.
pub fn is_abandoned(descriptor: &Descriptor) -> bool {
    let mut polled = [PollFd::new(descriptor, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_ok()
        && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Output of a child process, read with timeouts.
#[derive(Debug)]
pub struct TimedReader(ChildStdout);

impl TimedReader {
    /// Takes an output over.
    pub fn new(output: ChildStdout) -> io::Result<Self> {
        Ok(Self(output))
    }

    /// Reads once; 0 bytes at the end, `None` after the timeout or an interruption.
    pub fn read(&mut self, buffer: &mut [u8], at_most: Duration) -> io::Result<Option<usize>> {
        if !wait(&self.0, PollFlags::IN, Some(at_most)).unwrap_or(false) {
            return Ok(None);
        }
        match self.0.read(buffer) {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// False after the timeout.
fn wait(descriptor: &impl AsFd, events: PollFlags, at_most: Option<Duration>) -> io::Result<bool> {
    let at_most = at_most.map(|time| Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    });
    let mut polled = [PollFd::new(descriptor, events)];
    Ok(poll(&mut polled, at_most.as_ref())? > 0)
}
