//! The thread that reads standard input: plain blocking reads into the splitter, pieces into a bounded channel. It owns the
//! descriptor and the only buffer above it, and never waits for an answer to be made.

use super::splitter::{Piece, Splitter};
use super::stdio::wait_until_ready;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// What the reader hands on.
#[derive(Debug)]
pub(super) enum Input {
    /// What one read completed, in order.
    Pieces(Vec<Piece>),
    /// There is no more.
    End,
}

/// Starts the reader.
pub(super) fn start(descriptor: OwnedFd, line_bytes: usize) -> io::Result<Receiver<Input>> {
    // One batch in the channel: what waits is bounded by one line of full length and one read, here, there and in the
    // dispatcher's hands.
    let (sender, receiver) = channel(1);
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        if let Err(error) = read(&descriptor, Splitter::new(line_bytes), &sender) {
            tracing::warn!(%error, "standard input cannot be read any more");
        }
        // A closed channel says the same as `End` does, so a dispatcher that is gone need not be told.
        let _ = sender.blocking_send(Input::End);
    })?;
    Ok(receiver)
}

fn read(descriptor: &OwnedFd, mut splitter: Splitter, sender: &Sender<Input>) -> io::Result<()> {
    let mut buffer = vec![0u8; 64 << 10];
    loop {
        let mut pieces = Vec::new();
        match rustix::io::read(descriptor, &mut buffer[..]) {
            Ok(0) => {
                splitter.finish(&mut pieces);
                let _ = sender.blocking_send(Input::Pieces(pieces));
                return Ok(());
            }
            Ok(count) => splitter.push(&buffer[..count], &mut pieces),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_until_ready(descriptor, PollFlags::IN)?,
            // A terminal whose other end is gone reports an error instead of an end.
            Err(Errno::IO) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if !pieces.is_empty() && sender.blocking_send(Input::Pieces(pieces)).is_err() {
            return Ok(());
        }
    }
}
