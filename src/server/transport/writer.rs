//! Writer thread of a session: writes whole messages in order. A client that does not read blocks
//! this thread only; `Output` exposes the queue size for backpressure.

use super::stdio::waited;
use cograph_faults::{Fault, planted};
use cograph_system::allocator;
use cograph_system::streams::{self, Descriptor};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Bytes per `write`: small enough to observe the progress of a slow client, large enough to batch
/// short messages.
const WRITE_BYTES: usize = 64 << 10;

/// Output queue, the dispatcher's end: never blocks. The dispatcher bounds it: it reads no input
/// while `has_room` is false.
#[derive(Debug)]
pub(crate) struct Output {
    shared: Arc<SharedOutput>,
    limit: usize,
    /// Only polled here; the thread writes it.
    descriptor: Arc<Descriptor>,
}

#[derive(Debug, Default)]
struct SharedOutput {
    state: Mutex<WriterState>,
    /// Signals the thread that data is queued, and `finish` that data was written.
    changed: Condvar,
    /// Signals the dispatcher that the queue has capacity or the client disconnected.
    room: Notify,
}

#[derive(Debug, Default)]
struct WriterState {
    frames: VecDeque<Vec<u8>>,
    /// Unwritten bytes, queued or in the current `write`.
    waiting: usize,
    written: u64,
    /// The queue is closed.
    closed: bool,
    /// The client has closed its end.
    broken: bool,
    /// The thread has ended.
    ended: bool,
}

impl SharedOutput {
    fn state(&self) -> MutexGuard<'_, WriterState> {
        // No code that can panic runs under the lock.
        self.state.lock()
    }

    fn update(&self, change: impl FnOnce(&mut WriterState)) {
        change(&mut self.state());
        self.changed.notify_all();
    }
}

impl Output {
    /// Queues one message and its line end. Dropped if the client has disconnected.
    pub(crate) fn send(&self, frame: Vec<u8>) {
        debug_assert_eq!(
            frame.iter().filter(|&&byte| byte == b'\n').count(),
            1,
            "a message is one line"
        );
        self.shared.update(|state| {
            if !state.broken {
                state.waiting += frame.len();
                state.frames.push_back(frame);
            }
        });
    }

    /// True while the queue is below its limit.
    pub(crate) fn has_room(&self) -> bool {
        let limit = if planted(Fault::ReaderWaitsForWriter) { 1 } else { self.limit };
        self.shared.state().waiting < limit
    }

    /// Returns a function that reads the number of unwritten bytes from any thread.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> impl Fn() -> usize + use<> {
        let shared = Arc::clone(&self.shared);
        move || shared.state().waiting
    }

    /// True if a write has failed because the client closed its end.
    pub(crate) fn is_broken(&self) -> bool {
        self.shared.state().broken
    }

    /// True if the client closed its end, even if no write has failed yet.
    pub(crate) fn is_abandoned(&self) -> bool {
        streams::is_abandoned(&self.descriptor) && !planted(Fault::WriteErrorsIgnored)
    }

    /// Resolves after a write or a disconnect.
    pub(crate) async fn changed(&self) {
        self.shared.room.notified().await;
    }

    /// Closes the queue and waits until it is flushed. Gives up after the client has read nothing
    /// for `stall`.
    pub(crate) fn finish(self, stall: Duration) {
        if planted(Fault::NoFlush) {
            return;
        }
        self.shared.update(|state| state.closed = true);
        let mut state = self.shared.state();
        while !state.ended {
            let before = state.written;
            let timeout = self.shared.changed.wait_for(&mut state, stall);
            if timeout.timed_out() && state.written == before {
                return;
            }
        }
    }
}

impl Drop for Output {
    /// The thread flushes the queue as long as the client reads, and ends.
    fn drop(&mut self) {
        self.shared.update(|state| state.closed = true);
    }
}

/// Starts the writer thread. `limit`: unwritten bytes at which `has_room` turns false.
pub(crate) fn start(descriptor: Descriptor, limit: usize) -> io::Result<Output> {
    let shared = Arc::new(SharedOutput::default());
    let for_thread = Arc::clone(&shared);
    let descriptor = Arc::new(descriptor);
    let own = Arc::clone(&descriptor);
    std::thread::Builder::new().name("writer".to_owned()).spawn(move || {
        allocator::share_arena();
        let result = write_all(&descriptor, &for_thread);
        for_thread.update(|state| {
            state.ended = true;
            state.broken = result.is_err();
            state.frames.clear();
        });
        for_thread.room.notify_one();
        if let Err(error) = result {
            tracing::info!(%error, "the output cannot be written any more");
        }
    })?;
    Ok(Output { shared, limit, descriptor: own })
}

/// Writes until the queue is closed and empty.
fn write_all(descriptor: &Descriptor, shared: &SharedOutput) -> io::Result<()> {
    while let Some(pending) = next(shared) {
        if planted(Fault::FrameRejectExits) && pending.len() > 32 << 10 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut rest = &pending[..];
        while !rest.is_empty() {
            match streams::write(descriptor, &rest[..rest.len().min(WRITE_BYTES)]) {
                Ok(count) => {
                    rest = &rest[count..];
                    shared.update(|state| {
                        state.waiting -= count;
                        state.written += count as u64;
                    });
                    shared.room.notify_one();
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => waited(streams::wait_writable(descriptor))?,
                    _ if planted(Fault::WriteErrorsIgnored) => break,
                    _ => return Err(error),
                },
            }
        }
    }
    Ok(())
}

/// Waits for messages and takes as many as fit one write.
fn next(shared: &SharedOutput) -> Option<Vec<u8>> {
    let mut state = shared.state();
    loop {
        if let Some(mut pending) = state.frames.pop_front() {
            while pending.len() < WRITE_BYTES
                && let Some(frame) = state.frames.pop_front()
            {
                pending.extend_from_slice(&frame);
            }
            return Some(pending);
        }
        if state.closed {
            return None;
        }
        shared.changed.wait(&mut state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_written_before_finish_returns_though_the_client_reads_late() {
        let (read_end, write_end) = std::io::pipe().expect("a pipe can be made");
        let output = start(write_end.into(), 1 << 20).expect("a thread can be started");
        let frame: Vec<u8> = [vec![b'x'; 99], vec![b'\n']].concat();
        for _ in 0..20_000 {
            output.send(frame.clone());
        }
        assert!(!output.has_room());
        let read = move || {
            let mut bytes = Vec::new();
            io::Read::read_to_end(&mut &read_end, &mut bytes).map(|_| bytes)
        };
        let client = std::thread::Builder::new().spawn(read).expect("a thread can be started");
        output.finish(Duration::from_secs(30));
        let bytes =
            client.join().expect("the client does not panic").expect("the pipe can be read");
        assert_eq!(bytes.len(), 2_000_000);
        assert!(bytes.chunks(100).all(|line| line == frame), "frames are whole");
    }

    #[test]
    fn a_client_that_never_reads_does_not_hold_the_end_up() {
        let (_read_end, write_end) = std::io::pipe().expect("a pipe can be made");
        let output = start(write_end.into(), 1 << 20).expect("a thread can be started");
        output.send([vec![b'x'; 1 << 20], vec![b'\n']].concat());
        output.finish(Duration::from_millis(20));
    }

    #[cfg(unix)]
    #[test]
    fn a_client_that_is_gone_is_noticed() {
        let (read_end, write_end) = std::io::pipe().expect("a pipe can be made");
        drop(read_end);
        let output = start(write_end.into(), 1 << 20).expect("a thread can be started");
        output.send(b"message\n".to_vec());
        assert!(output.is_abandoned(), "even before anything is written");
        let runtime =
            tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be built");
        runtime.block_on(async {
            while !output.is_broken() {
                output.changed().await;
            }
        });
    }
}
