//! Standard input and output of a session: the thread that reads and the thread that writes.

pub(super) mod reader;
pub(super) mod stdio;
pub(super) mod writer;

use std::io;
use std::os::fd::OwnedFd;
use tokio::sync::mpsc::Receiver;

/// The two ends of a client's stream; they may be one descriptor twice.
#[derive(Debug)]
pub(super) struct Stream {
    /// Where the client's messages come from.
    pub(super) input: OwnedFd,
    /// Where ours go.
    pub(super) output: OwnedFd,
}

/// Writes messages, to the end of either side.
pub(super) async fn write_all(
    write: &tokio::net::unix::OwnedWriteHalf,
    said: &mut Receiver<Vec<u8>>,
) {
    while let Some(line) = said.recv().await {
        let mut rest = &line[..];
        while !rest.is_empty() {
            if write.writable().await.is_err() {
                return;
            }
            match write.try_write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }
}
