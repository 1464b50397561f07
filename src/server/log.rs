//! The log's way to standard error: a bounded queue and a thread, so that a client that does not read what we log holds up the
//! log and nothing else. What does not fit is counted.

use rustix::io::Errno;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::escape::SafeLine;

/// Lines that may wait to be written.
const WAITING: usize = 1024;
/// Bytes of the message of a panic that are logged.
const PANIC: usize = 2000;

/// Takes lines and never blocks.
#[derive(Clone, Debug)]
pub struct LogSink {
    lines: SyncSender<Vec<u8>>,
    dropped: Arc<AtomicU64>,
}

impl LogSink {
    /// Starts the thread that writes.
    pub fn start() -> io::Result<Self> {
        let (lines, receiver) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let for_thread = Arc::clone(&dropped);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || write(&receiver, &for_thread))?;
        Ok(Self { lines, dropped })
    }
}

impl Write for LogSink {
    /// Takes a whole line, or counts it as dropped.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.lines.try_send(line.to_vec()).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends the message of every panic to the log instead of writing it from the thread that panics.
pub(super) fn take_panics() {
    std::panic::set_hook(Box::new(|panic| {
        tracing::error!("{}", SafeLine::new(&panic.to_string(), PANIC));
    }));
}

fn write(lines: &Receiver<Vec<u8>>, dropped: &AtomicU64) {
    while let Ok(line) = lines.recv() {
        let lost = dropped.swap(0, Ordering::Relaxed);
        let note = if lost > 0 { format!("({lost} lines of the log were dropped)\n") } else { String::new() };
        if write_all(note.as_bytes()).and_then(|()| write_all(&line)).is_err() {
            return;
        }
    }
}

fn write_all(mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(rustix::stdio::stderr(), bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sink_that_nobody_empties_drops_lines_and_does_not_block() {
        let (lines, _receiver) = sync_channel(2);
        let mut sink = LogSink { lines, dropped: Arc::default() };
        for _ in 0..5 {
            assert_eq!(sink.write(b"line\n").expect("it never fails"), 5);
        }
        assert_eq!(sink.dropped.load(Ordering::Relaxed), 3);
    }
}
