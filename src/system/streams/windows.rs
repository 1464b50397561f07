//! Handles of Windows: what the standard library offers for each kind.

use std::fs::File;
use std::io::{self, PipeWriter, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Stream of bytes.
#[derive(Debug)]
pub enum Descriptor {
    /// Standard stream, pipe or file.
    File(File),
    /// Socket.
    Socket(TcpStream),
    /// Standard input of a child process.
    Input(ChildInput),
    /// Standard output of a child process; one thread reads it.
    Output(Mutex<ChildStdout>),
}

impl From<File> for Descriptor {
    fn from(file: File) -> Self {
        Self::File(file)
    }
}

impl From<PipeWriter> for Descriptor {
    fn from(pipe: PipeWriter) -> Self {
        Self::File(File::from(OwnedHandle::from(pipe)))
    }
}

impl From<TcpStream> for Descriptor {
    fn from(socket: TcpStream) -> Self {
        Self::Socket(socket)
    }
}

impl From<ChildInput> for Descriptor {
    fn from(input: ChildInput) -> Self {
        Self::Input(input)
    }
}

impl From<ChildStdout> for Descriptor {
    fn from(output: ChildStdout) -> Self {
        Self::Output(Mutex::new(output))
    }
}

/// Standard input of a child process: a pipe that several threads share. Shut down while a thread
/// is blocked in a write, it ends after that write; the end of the process ends the write.
#[derive(Clone, Debug)]
pub struct ChildInput(Arc<SharedInput>);

#[derive(Debug)]
struct SharedInput {
    pipe: Mutex<Option<ChildStdin>>,
    is_closed: AtomicBool,
}

impl ChildInput {
    /// Another owner of the same input.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(self.clone())
    }

    /// Ends the input, in the one direction that it has.
    pub fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        self.0.is_closed.store(true, Ordering::SeqCst);
        self.0.close();
        Ok(())
    }

    fn write_once(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = {
            let mut pipe = self.0.pipe.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *pipe {
                Some(pipe) if !self.0.is_closed.load(Ordering::SeqCst) => pipe.write(bytes),
                _ => Err(io::ErrorKind::BrokenPipe.into()),
            }
        };
        // A shutdown that came meanwhile found the lock taken.
        if self.0.is_closed.load(Ordering::SeqCst) {
            self.0.close();
        }
        written
    }
}

impl SharedInput {
    /// Closes the pipe, unless a thread writes: then that thread does.
    fn close(&self) {
        if let Ok(mut pipe) = self.pipe.try_lock() {
            *pipe = None;
        }
    }
}

impl Write for ChildInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_once(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for &ChildInput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_once(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Duplicate of standard input, without a buffer; child processes do not get it.
#[expect(clippy::disallowed_methods, reason = "the handle is what its owner takes")]
pub fn own_input() -> io::Result<File> {
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// Duplicate of standard output, without a buffer; child processes do not get it.
#[expect(clippy::disallowed_methods, reason = "the handle is what its owner takes")]
pub fn own_output() -> io::Result<File> {
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}

/// Duplicate of standard error, without a buffer; child processes do not get it.
pub fn own_errors() -> io::Result<File> {
    Ok(File::from(io::stderr().as_handle().try_clone_to_owned()?))
}

/// Without effect: no child process gets standard input, and nothing else of this one reads it.
pub fn empty_input() -> io::Result<()> {
    Ok(())
}

/// Without effect: no child process gets standard output. What a library of this process prints
/// goes to it.
pub fn output_to_errors() -> io::Result<()> {
    Ok(())
}

/// Writes to standard output, past the buffer of the standard library.
pub fn write_to_output(bytes: &[u8]) -> io::Result<usize> {
    own_output()?.write(bytes)
}

/// Starts a command with a standard input that several threads can share.
pub fn input_of(command: &mut Command) -> io::Result<(Child, ChildInput)> {
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    let pipe = Mutex::new(child.stdin.take());
    Ok((child, ChildInput(Arc::new(SharedInput { pipe, is_closed: AtomicBool::new(false) }))))
}

/// Reads once.
pub fn read(descriptor: &Descriptor, buffer: &mut [u8]) -> io::Result<usize> {
    match descriptor {
        Descriptor::File(file) => (&*file).read(buffer),
        Descriptor::Socket(socket) => (&*socket).read(buffer),
        Descriptor::Output(output) => {
            output.lock().unwrap_or_else(PoisonError::into_inner).read(buffer)
        }
        Descriptor::Input(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Writes once.
pub fn write(descriptor: &Descriptor, bytes: &[u8]) -> io::Result<usize> {
    match descriptor {
        Descriptor::File(file) => (&*file).write(bytes),
        Descriptor::Socket(socket) => (&*socket).write(bytes),
        Descriptor::Input(input) => input.write_once(bytes),
        Descriptor::Output(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// False: the end of a console is the end of input.
pub fn is_closed_terminal(_: &io::Error) -> bool {
    false
}

/// Without a wait: the read that follows blocks.
pub fn wait_readable(_: &Descriptor) -> io::Result<()> {
    Ok(())
}

/// Without a wait: the write that follows blocks.
pub fn wait_writable(_: &Descriptor) -> io::Result<()> {
    Ok(())
}

/// False: the next write finds out.
pub fn is_abandoned(_: &Descriptor) -> bool {
    false
}

/// Output of a child process, read with timeouts. A thread reads it, which ends with the output.
#[derive(Debug)]
pub struct TimedReader {
    pieces: Receiver<io::Result<Vec<u8>>>,
    /// What was read and did not fit into the buffer of a caller.
    rest: Vec<u8>,
}

impl TimedReader {
    /// Takes an output over.
    pub fn new(mut output: ChildStdout) -> io::Result<Self> {
        let (sender, pieces) = sync_channel(1);
        std::thread::Builder::new().name("timed-reader".to_owned()).spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            loop {
                let piece = match output.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => Ok(buffer[..count].to_vec()),
                    Err(error) => Err(error),
                };
                let is_last = piece.is_err();
                if sender.send(piece).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self { pieces, rest: Vec::new() })
    }

    /// Reads once; 0 bytes at the end, `None` after the timeout.
    pub fn read(&mut self, buffer: &mut [u8], at_most: Duration) -> io::Result<Option<usize>> {
        if self.rest.is_empty() {
            match self.pieces.recv_timeout(at_most) {
                Ok(piece) => self.rest = piece?,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Ok(Some(0)),
            }
        }
        let count = self.rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        Ok(Some(count))
    }
}
