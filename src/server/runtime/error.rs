//! Why a runtime does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a runtime does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another runtime holds the lock.
    #[error("a runtime{} serves {} already", process.map_or_else(String::new, |process| format!(" \
        (process {process})")), socket.display())]
    AlreadyServed {
        /// Socket.
        socket: PathBuf,
        /// Process that holds the lock, if known.
        process: Option<u32>,
    },
    /// The directory of the socket is unusable.
    #[error("cannot create a socket in {}: {why}", directory.display())]
    Directory {
        /// Directory.
        directory: PathBuf,
        /// Reason.
        why: String,
    },
    /// Creating the socket failed.
    #[error("cannot listen on {}: {source}", socket.display())]
    Socket {
        /// Socket.
        socket: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Binding the HTTP address failed.
    #[error("cannot listen on {address}: {source}")]
    Http {
        /// Address.
        address: SocketAddr,
        /// Cause.
        source: io::Error,
    },
    /// Writing the generated token failed.
    #[error("cannot write the token {}: {source}", path.display())]
    Token {
        /// Token file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The address is reachable from other machines and has no explicit token.
    #[error("{address} is reachable from other machines: a token is required")]
    Open {
        /// Address.
        address: SocketAddr,
    },
    /// The system has no sockets of a user, and nothing else is to be served.
    #[error("this system has no socket that only one user can connect to")]
    NoSockets,
    /// Creating threads or signal handlers failed.
    #[error("cannot start the runtime: {0}")]
    System(#[from] io::Error),
}

impl ServeError {
    /// Suggested fix.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::AlreadyServed { .. } => "use that one, or name another socket with --socket",
            Self::Directory { .. } => {
                "name a socket in a directory that is yours alone (mode 700) with --socket"
            }
            Self::Socket { .. } => "name a shorter path, or another directory, with --socket",
            Self::Http { .. } => "name an address of this machine that is free with --http",
            Self::Token { .. } => {
                "check the directory of the socket, or name a file that holds a token with \
                 --token-file"
            }
            Self::Open { .. } => {
                "put a token of 16 characters or more into a file and name it with --token-file"
            }
            Self::NoSockets => {
                "serve over HTTP with --http ADDR:PORT, or let each client start `cograph mcp`"
            }
            Self::System(_) => "check the limits of processes and open files",
        }
    }
}
