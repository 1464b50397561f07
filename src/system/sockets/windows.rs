//! What stands in for Unix sockets on Windows.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use crate::owner;

/// Connected socket.
pub use std::net::TcpStream as LocalStream;

/// False: no path can be listened on.
pub const ARE_THERE: bool = false;

/// Listener without connections.
#[derive(Debug)]
pub struct LocalListener;

/// Two connected sockets, over the loopback device. What another process connects meanwhile is
/// closed.
pub fn pair() -> io::Result<(LocalStream, LocalStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let ours = LocalStream::connect(listener.local_addr()?)?;
    let own = ours.local_addr()?;
    loop {
        let (theirs, from) = listener.accept()?;
        if from == own {
            ours.set_nodelay(true)?;
            theirs.set_nodelay(true)?;
            return Ok((ours, theirs));
        }
    }
}

/// Without a socket.
pub fn bind(_: &Path) -> io::Result<LocalListener> {
    Ok(LocalListener)
}

/// False: nothing listens.
pub fn is_listened_on(_: &Path) -> bool {
    false
}

/// Without effect: there is none.
pub fn remove(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates the directory if it is missing, with the access list of its parent.
pub fn own_directory(directory: &Path) -> Result<(), String> {
    owner::create_private_directory(directory).map_err(|error| error.to_string())
}
