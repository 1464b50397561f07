//! Sockets of this machine in the runtime of tasks: the listener of a user, connections to it with
//! the user at the other end, and the ends of a pair inside of this process.

pub(crate) use system::{LocalAcceptor, ReadHalf, WriteHalf, connect, split};

#[cfg(unix)]
mod system {
    use cograph_system::sockets::{LocalListener, LocalStream};
    use std::io;
    use std::path::Path;
    use tokio::net::{UnixListener, UnixStream};

    pub(crate) use tokio::net::unix::{OwnedReadHalf as ReadHalf, OwnedWriteHalf as WriteHalf};

    /// Listener of a user.
    pub(crate) struct LocalAcceptor(UnixListener);

    impl LocalAcceptor {
        pub(crate) fn new(listener: LocalListener) -> io::Result<Self> {
            Ok(Self(UnixListener::from_std(listener)?))
        }

        /// Next connection, and the number of the user at the other end.
        pub(crate) async fn accept(&self) -> io::Result<(LocalStream, u32)> {
            known(self.0.accept().await?.0)
        }
    }

    /// Connects, and returns the number of the user who listens. Fails at once if the listener's
    /// backlog is full.
    pub(crate) async fn connect(path: &Path) -> io::Result<(LocalStream, u32)> {
        known(UnixStream::connect(path).await?)
    }

    /// Halves of one end of a pair.
    pub(crate) fn split(stream: LocalStream) -> io::Result<(ReadHalf, WriteHalf)> {
        stream.set_nonblocking(true)?;
        Ok(UnixStream::from_std(stream)?.into_split())
    }

    fn known(stream: UnixStream) -> io::Result<(LocalStream, u32)> {
        let user = stream.peer_cred()?.uid();
        Ok((stream.into_std()?, user))
    }
}

#[cfg(not(unix))]
mod system {
    use cograph_system::sockets::{LocalListener, LocalStream, unsupported};
    use std::io;
    use std::path::Path;
    use tokio::net::TcpStream;

    pub(crate) use tokio::net::tcp::{OwnedReadHalf as ReadHalf, OwnedWriteHalf as WriteHalf};

    /// Listener without connections.
    pub(crate) struct LocalAcceptor;

    impl LocalAcceptor {
        pub(crate) fn new(_: LocalListener) -> io::Result<Self> {
            Ok(Self)
        }

        /// Never resolves.
        pub(crate) async fn accept(&self) -> io::Result<(LocalStream, u32)> {
            std::future::pending().await
        }
    }

    /// Fails: there is nothing to connect to.
    pub(crate) async fn connect(_: &Path) -> io::Result<(LocalStream, u32)> {
        Err(unsupported())
    }

    /// Halves of one end of a pair.
    pub(crate) fn split(stream: LocalStream) -> io::Result<(ReadHalf, WriteHalf)> {
        stream.set_nonblocking(true)?;
        Ok(TcpStream::from_std(stream)?.into_split())
    }
}
