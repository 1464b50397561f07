//! Log writer: a bounded queue and a thread, so that a blocked target (full pipe, slow disk) blocks
//! nothing else. Lines that do not fit are counted, and the count is logged.

use cograph_system::streams::{self, Descriptor};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::escape::SafeLine;

/// Capacity of the queue, in lines.
const WAITING: usize = 1024;
/// Maximum length of a logged panic message, in bytes.
const PANIC: usize = 2000;

/// Non-blocking sink of log lines.
#[derive(Clone, Debug)]
pub struct LogSink {
    lines: SyncSender<Vec<u8>>,
    dropped: Arc<AtomicU64>,
}

impl LogSink {
    /// Starts the writer thread. `open` runs on that thread, because it may block.
    pub fn start(
        open: impl FnOnce() -> io::Result<Descriptor> + Send + 'static,
    ) -> io::Result<Self> {
        let (lines, receiver) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let for_thread = Arc::clone(&dropped);
        std::thread::Builder::new().name("log".to_owned()).spawn(move || {
            // If the target cannot be opened or written, lines are dropped; there is no other place
            // to report it.
            let _ = open().and_then(|target| write(&receiver, &for_thread, Target(target)));
        })?;
        Ok(Self { lines, dropped })
    }
}

impl Write for LogSink {
    /// Queues a whole line, or counts it as dropped.
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

/// Installs a panic hook that logs the message and the place. The hook of the standard library
/// takes a lock to print a backtrace; where memory ends meanwhile, the report of that waits for the
/// same lock, and the process never ends.
pub fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        tracing::error!("{}", SafeLine::new(&panic.to_string(), PANIC));
    }));
}

/// Unbuffered descriptor: lines appear at once.
struct Target(Descriptor);

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        streams::write(&self.0, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write(lines: &Receiver<Vec<u8>>, dropped: &AtomicU64, mut target: impl Write) -> io::Result<()> {
    while let Ok(line) = lines.recv() {
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            target.write_all(format!("({lost} lines of the log were dropped)\n").as_bytes())?;
        }
        target.write_all(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sink_that_is_not_drained_drops_lines_and_does_not_block() {
        let (lines, _receiver) = sync_channel(2);
        let mut sink = LogSink { lines, dropped: Arc::default() };
        for _ in 0..5 {
            assert_eq!(sink.write(b"line\n").expect("it never fails"), 5);
        }
        assert_eq!(sink.dropped.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn what_was_dropped_is_reported_before_the_next_line() {
        let (lines, receiver) = sync_channel(2);
        let mut sink = LogSink { lines, dropped: Arc::default() };
        for line in ["one\n", "two\n", "three\n"] {
            sink.write_all(line.as_bytes()).expect("it never fails");
        }
        let dropped = Arc::clone(&sink.dropped);
        drop(sink);
        let mut target = Vec::new();
        write(&receiver, &dropped, &mut target).expect("a vector takes everything");
        assert_eq!(
            String::from_utf8_lossy(&target),
            "(1 lines of the log were dropped)\none\ntwo\n"
        );
    }
}
