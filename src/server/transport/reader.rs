//! The thread that reads the input of a session: plain blocking reads into the splitter, pieces
//! into a bounded channel. It owns the descriptor and the only buffer above it, and never waits for
//! an answer to be made.

use super::stdio::wait_until_ready;
use crate::faults::{Fault, planted};
use crate::server::base::allocator;
use crate::server::jsonrpc::framing::{Piece, Splitter};
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// What the reader hands on.
#[derive(Debug)]
pub(in crate::server) enum Input {
    /// What one read completed, in order.
    Pieces(Vec<Piece>),
    /// There is no more.
    End,
}

/// Starts the reader.
pub(in crate::server) fn start(
    descriptor: OwnedFd,
    line_bytes: usize,
) -> io::Result<Receiver<Input>> {
    // One batch in the channel: what waits is bounded by one line of full length and one read,
    // here, there and in the dispatcher's hands.
    let (sender, receiver) = channel(1);
    std::thread::Builder::new().name("reader".to_owned()).spawn(move || {
        allocator::share_arena();
        if let Err(error) = read(&descriptor, line_bytes, &sender) {
            tracing::warn!(%error, "the input cannot be read any more");
        }
        // A closed channel says the same as `End` does, so a dispatcher that is gone need not be
        // told.
        let _ = sender.blocking_send(Input::End);
    })?;
    Ok(receiver)
}

fn read(descriptor: &OwnedFd, line_bytes: usize, sender: &Sender<Input>) -> io::Result<()> {
    let mut splitter = Splitter::new(line_bytes);
    let mut buffer = vec![0u8; 64 << 10];
    loop {
        let mut pieces = Vec::new();
        let begun = Instant::now();
        match rustix::io::read(descriptor, &mut buffer[..]) {
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
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_until_ready(descriptor, PollFlags::IN)?,
            // A terminal whose other end is gone reports an error instead of an end.
            Err(Errno::IO) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if planted(Fault::ExitAtOversize)
            && pieces.iter().any(|piece| matches!(piece, Piece::Oversize(_)))
        {
            return Ok(());
        }
        if planted(Fault::PollBufreader) {
            for piece in pieces.drain(..) {
                let _ = sender.blocking_send(Input::Pieces(vec![piece]));
                wait_until_ready(descriptor, PollFlags::IN)?;
            }
        }
        if !pieces.is_empty() && sender.blocking_send(Input::Pieces(pieces)).is_err() {
            return Ok(());
        }
    }
}
