//! Stdio transport of a session: reader thread, writer thread, line framing.

pub(super) mod local;
pub(super) mod reader;
pub(super) mod stdio;
pub(super) mod writer;

use cograph_system::streams::Descriptor;
use std::io;
use tokio::sync::mpsc::Receiver;

/// Stream of a client; both descriptors may refer to one socket.
#[derive(Debug)]
pub(super) struct Stream {
    /// Messages from the client.
    pub(super) input: Descriptor,
    /// Messages to the client.
    pub(super) output: Descriptor,
}

/// Writes messages until the channel closes or the client disconnects.
pub(super) async fn write_all(write: &local::WriteHalf, said: &mut Receiver<Vec<u8>>) {
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
