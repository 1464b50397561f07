//! `cograph serve`: a runtime (daemon) for all clients of a user.

pub(super) mod limits;
pub(super) mod token;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use limits::LimitArguments;
use token::TokenArgument;

use super::output;
use crate::base::root::RootArgument;
use crate::output::stop::Stop;
use cograph_config::{Config, ConfigError};
use cograph_server::{HttpListening, Listening, Options, ServeError, Web, serve};
use cograph_system::{processes, sockets};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct ServeArguments {
    #[command(flatten)]
    root: RootArgument,
    /// Unix socket to listen on, in a private directory [default: run/socket in the cache
    /// directory]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Serve MCP over HTTP as well, at this address and port [for example: 127.0.0.1:7474]
    #[arg(long, value_name = "ADDR:PORT")]
    http: Option<SocketAddr>,
    /// A directory that HTTP clients may name as `root`, with all below it, besides that of --root;
    /// can be given several times [default, if neither is given: the repository of the working
    /// directory]
    #[arg(long, value_name = "DIR", requires = "http")]
    allow: Vec<PathBuf>,
    #[command(flatten)]
    token: TokenArgument,
    /// Exit after this time without a connected client, in seconds
    #[arg(long, value_name = "SECONDS")]
    idle_exit: Option<u64>,
    /// Run in a session of its own, from the root directory: for a client that starts the runtime
    #[arg(long, hide = true)]
    detached: bool,
    #[command(flatten)]
    limits: LimitArguments,
}

/// Serves until a signal.
pub(super) fn run(
    config: Result<Config, ConfigError>,
    arguments: &ServeArguments,
) -> Result<(), Stop> {
    let socket = match (&arguments.socket, &config) {
        (Some(socket), _) => socket.clone(),
        (None, Ok(config)) => config.socket()?,
        (None, Err(_)) => return config.map(drop).map_err(Stop::from),
    };
    if arguments.detached {
        processes::detach();
    }
    // Project variables of the environment belong to the starting process, not to the clients.
    let config = config.map(|config| Config { project_directory: None, ..config });
    let token = arguments.token.token(config.as_ref().ok())?;
    let http = match (arguments.http, &config) {
        (Some(address), Ok(config)) => {
            Some(HttpListening { address, token, within: within(config, arguments)? })
        }
        (Some(address), Err(_)) => Some(HttpListening { address, token, within: Vec::new() }),
        (None, _) => None,
    };
    let limits = arguments.limits.limits();
    let options = Options {
        config,
        root: arguments.root.root.clone(),
        limits,
        delay: arguments.limits.delay(),
    };
    let listening = Listening {
        socket: Some(socket.clone()),
        http,
        idle_exit: arguments.idle_exit.map(Duration::from_secs),
    };
    let on_ready = |web: Option<Web>| {
        // Best effort: the output may be closed.
        let _ = output::to_stdout(|out| {
            if sockets::ARE_THERE {
                writeln!(out, "listening on {}", socket.display())?;
            }
            let Some(Web { address, token_file }) = web else { return Ok(()) };
            writeln!(out, "listening on http://{address}/mcp")?;
            token_file.map_or(Ok(()), |path| {
                writeln!(out, "the bearer token for it is in {}", path.display())
            })
        });
    };
    serve(options, &listening, on_ready).map_err(|error| match error {
        ServeError::AlreadyServed { .. } => {
            Stop::AlreadyServed(format!("{error}\n  hint: {}", error.hint()))
        }
        error => Stop::Failure { message: error.to_string(), hint: error.hint().to_owned() },
    })
}

/// Allowed roots of HTTP clients: the given directories, or the default repository.
fn within(config: &Config, arguments: &ServeArguments) -> Result<Vec<PathBuf>, ConfigError> {
    let named = arguments.root.root.iter().chain(&arguments.allow);
    let named: Vec<PathBuf> = named
        .map(|named| Ok(config.repository_at(named)?.root))
        .collect::<Result<_, ConfigError>>()?;
    if named.is_empty() { Ok(vec![config.default_repository()?.root]) } else { Ok(named) }
}
