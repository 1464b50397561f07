//! Address of a peer, and the transports to it.

use super::http;
use super::wire::{NoWire, Wire, wire_of};
use crate::proxy::upstream::question::{Expected, Owner};
use crate::runtime::BearerToken;
use crate::transport::{Stream, local};
use cograph_config::process::{EndPatience, Started};
use cograph_faults as faults;
use cograph_system::owner;
use hyper::Uri;
use std::net::{IpAddr, Shutdown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

/// Address of a peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Unix domain socket.
    Socket(PathBuf),
    /// HTTP endpoint.
    Http {
        /// URL.
        address: Uri,
        /// Bearer token.
        token: Option<BearerToken>,
    },
    /// Child process: command line of an MCP server over stdio.
    Command(Vec<String>),
}

/// Prefix of a target that is a command line.
const COMMAND: &str = "cmd:";

/// Invalid target.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("invalid target {text:?}: {why}")]
pub struct TargetError {
    /// The given text.
    pub text: String,
    /// Reason.
    pub why: &'static str,
}

impl Target {
    /// Parses a URL or a socket path. `token` is the bearer token for URLs.
    pub fn parse(text: &str, token: Option<BearerToken>) -> Result<Self, TargetError> {
        let wrong = |why| Err(TargetError { text: text.to_owned(), why });
        if let Some(line) = text.strip_prefix(COMMAND) {
            return match shlex::split(line) {
                Some(words) if !words.is_empty() => Ok(Self::Command(words)),
                _ => wrong("a command line with closed quotes goes behind `cmd:`"),
            };
        }
        match text.split_once("://") {
            _ if text.trim().is_empty() => wrong("it is empty"),
            None => Ok(Self::Socket(PathBuf::from(text))),
            Some(("http" | "https", _)) => match text.parse::<Uri>() {
                Ok(address) if address.host().is_some_and(|host| !host.is_empty()) => {
                    Ok(Self::Http { address, token })
                }
                _ => wrong("it is no address"),
            },
            Some(_) => wrong("an address begins with http:// or https://"),
        }
    }

    /// Warning for the user if the token would be sent unencrypted.
    pub fn warning(&self) -> Option<String> {
        let Self::Http { address, token: Some(_) } = self else { return None };
        let host = address.host().unwrap_or_default().trim_matches(['[', ']']);
        let is_this_machine = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let is_clear = address.scheme_str() == Some("http") && !is_this_machine;
        is_clear.then(|| {
            format!(
                "the token for {address} is sent in the clear: everyone on the \
                                  way can read it; use https://"
            )
        })
    }

    /// Requirement on the peer: the same build on this machine, any build elsewhere.
    pub(crate) fn expected(&self) -> Expected {
        match self {
            Self::Socket(_) => Expected::SameBuild,
            Self::Http { .. } => Expected::SameProgram,
            Self::Command(_) => Expected::Anyone,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "the runtime at {}", path.display()),
            Self::Http { address, .. } => write!(f, "the runtime at {address}"),
            Self::Command(words) => write!(f, "the program `{}`", words.join(" ")),
        }
    }
}

impl Target {
    /// Connects, within a timeout. The owner starts a child process.
    pub(super) fn connect(&self, within: Duration, owner: &dyn Owner) -> Result<Wire, NoWire> {
        match self {
            Self::Socket(path) => connect_socket(path, within),
            Self::Http { address, token } => http::connect(address, token.as_ref(), within),
            Self::Command(words) => start(words, owner),
        }
    }
}

/// Fails at once if the listener's backlog is full.
fn connect_socket(path: &Path, within: Duration) -> Result<Wire, NoWire> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (stream, owner) = runtime.block_on(async {
        tokio::time::timeout(within, local::connect(path)).await.map_err(io::Error::from)?
    })?;
    let own = owner::effective_user();
    if faults::peer_uid(owner) != own {
        return Err(NoWire::Refused(format!("it belongs to user {owner}, this is user {own}")));
    }
    stream.set_nonblocking(false)?;
    wire_of(stream)
}

/// Wire to a child process that ends with the connection.
fn start(words: &[String], owner: &dyn Owner) -> Result<Wire, NoWire> {
    let (program, arguments) =
        words.split_first().ok_or_else(|| NoWire::Refused("no program is named".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    let Started { process, input, output } = owner.start(command)?;
    let stream = Stream { input: output.into(), output: input.try_clone()?.into() };
    let own = Arc::clone(&process);
    let end = Box::new(move || {
        // `shutdown` fails if the socket is already shut down.
        let _ = input.shutdown(Shutdown::Both);
        tracing::debug!(ended = ?own.end(EndPatience::default()), "a program that served us");
    });
    Ok(Wire { stream, end, process: Some(process) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_an_address_or_a_path() {
        for text in ["http://localhost:1/mcp", "https://far.example/mcp"] {
            assert!(matches!(Target::parse(text, None), Ok(Target::Http { .. })), "{text}");
        }
        let warning =
            |text: &str, token| Target::parse(text, token).expect("it is a target").warning();
        let token = || BearerToken::new("a-token-of-some-length");
        for text in [
            "http://far.example/mcp",
            "http://192.168.0.1:1/",
            "http://localhost.example/",
            "http://[2001:db8::1]/",
        ] {
            assert!(
                warning(text, token()).is_some_and(|warning| warning.contains("in the clear")),
                "{text}"
            );
            assert_eq!(warning(text, None), None, "{text}");
        }
        for text in [
            "https://far.example/mcp",
            "http://localhost:1/",
            "http://127.0.0.1/",
            "http://[::1]:7/",
            "/a/socket",
        ] {
            assert_eq!(warning(text, token()), None, "{text}");
        }
        for text in ["socket", "/a/b", "./a b"] {
            assert_eq!(Target::parse(text, None), Ok(Target::Socket(text.into())));
        }
        for text in ["", " ", "http://", "ftp://x/", "http:// x/"] {
            assert!(Target::parse(text, None).is_err(), "{text}");
        }
    }
}
