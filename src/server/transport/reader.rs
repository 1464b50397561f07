//! Reader thread of a session: blocking reads, line framing, and a bounded channel to the
//! dispatcher. It owns the descriptor and its only buffer.

use super::stdio::waited;
use crate::jsonrpc::framing::{Piece, Splitter};
use cograph_faults::{Fault, planted};
use cograph_system::allocator;
use cograph_system::streams::{self, Descriptor};
use std::io;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Input of the dispatcher.
#[derive(Debug)]
pub(crate) enum Input {
    /// Lines completed by one read, in order.
    Pieces(Vec<Piece>),
    /// End of input.
    End,
}

/// Starts the reader thread.
pub(crate) fn start(descriptor: Descriptor, line_bytes: usize) -> io::Result<Receiver<Input>> {
    // Capacity of one batch: pending input is bounded by one line of maximum length and one read,
    // in the reader, the channel and the dispatcher each.
    let (sender, receiver) = channel(1);
    std::thread::Builder::new().name("reader".to_owned()).spawn(move || {
        allocator::share_arena();
        if let Err(error) = read(&descriptor, line_bytes, &sender) {
            tracing::warn!(%error, "the input cannot be read any more");
        }
        // A closed channel means `End` as well, so the result is irrelevant.
        let _ = sender.blocking_send(Input::End);
    })?;
    Ok(receiver)
}

fn read(descriptor: &Descriptor, line_bytes: usize, sender: &Sender<Input>) -> io::Result<()> {
    let mut splitter = Splitter::new(line_bytes);
    let mut buffer = vec![0u8; 64 << 10];
    loop {
        let mut pieces = Vec::new();
        let begun = Instant::now();
        match streams::read(descriptor, &mut buffer) {
            Ok(0) if planted(Fault::EofIgnored) => std::thread::park(),
            Ok(0) => {
                splitter.finish(&mut pieces);
                let _ = sender.blocking_send(Input::Pieces(pieces));
                return Ok(());
            }
            Ok(count) => {
                if planted(Fault::ReadInSelect) && begun.elapsed() > Duration::from_millis(500) {
                    splitter = Splitter::new(line_bytes);
                }
                splitter.push(&buffer[..count], &mut pieces);
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => waited(streams::wait_readable(descriptor))?,
                _ if streams::is_closed_terminal(&error) => return Ok(()),
                _ => return Err(error),
            },
        }
        if planted(Fault::ExitAtOversize)
            && pieces.iter().any(|piece| matches!(piece, Piece::Oversize(_)))
        {
            return Ok(());
        }
        if planted(Fault::PollBufreader) {
            for piece in pieces.drain(..) {
                let _ = sender.blocking_send(Input::Pieces(vec![piece]));
                waited(streams::wait_readable(descriptor))?;
            }
        }
        if !pieces.is_empty() && sender.blocking_send(Input::Pieces(pieces)).is_err() {
            return Ok(());
        }
    }
}
