//! `cograph mcp`: serves one client on standard input and output, by itself or by passing its calls on to a runtime.

use std::ffi::OsString;
use std::path::PathBuf;

use super::limits::LimitArguments;
use super::token::TokenArgument;
use super::{RootArgument, Stop};
use crate::config::{Config, ConfigError, WorkerCommand, running_program};
use crate::server::{Options, Passing, Target, run_passing, run_stdio};

/// The word for the runtime of this user, in place of a target.
const AUTO: &str = "auto";

/// When a runtime ends that a client has started, after its last client has left: seconds.
const IDLE_EXIT: &str = "600";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    root: RootArgument,
    /// Pass calls on to a runtime: the path of its socket, an http(s) address, or `auto` for that of this user and, while there is
    /// none, this process
    #[arg(long, value_name = "TARGET|auto")]
    upstream: Option<String>,
    #[command(flatten)]
    token: TokenArgument,
    /// With `--upstream auto`: start a runtime when there is none
    #[arg(long, requires = "upstream")]
    start: bool,
    #[command(flatten)]
    limits: LimitArguments,
}

/// Serves until the client is done. Settings that cannot be used are told to whoever calls a tool: a client must be able to
/// connect and to list the tools in any case.
pub(super) fn run(config: Result<Config, ConfigError>, level: &str, arguments: &Arguments) -> Result<(), Stop> {
    let limits = arguments.limits.limits();
    let delay = arguments.limits.delay();
    let passing = match &arguments.upstream {
        None => None,
        Some(word) if word == AUTO => Some(auto(&config, level, arguments.start)?),
        Some(_) if arguments.start => return Err(Stop::Usage("--start goes with --upstream auto only".to_owned())),
        Some(text) => {
            let target = Target::parse(text, arguments.token.token(config.as_ref().ok())?)
                .map_err(|error| Stop::Usage(error.to_string()))?;
            Some(Passing { target, embeds: false, starter: None })
        }
    };
    let options = Options { config, root: arguments.root.root.clone(), limits, delay };
    let served = match passing {
        None => run_stdio(options),
        Some(passing) => run_passing(options, passing),
    };
    served.map_err(|error| Stop::Failure {
        message: format!("cannot serve on standard input and output: {error}"),
        hint: "start it from an MCP client; both must be open".to_owned(),
    })
}

/// The runtime of this user, which may not be there.
fn auto(config: &Result<Config, ConfigError>, level: &str, starts: bool) -> Result<Passing, Stop> {
    let Ok(socket) = config.as_ref().map_err(|_| ()).and_then(|config| config.socket().map_err(|_| ())) else {
        // Without a place for an index there is none for a socket: the tools will say so.
        return Ok(Passing { target: Target::Socket(PathBuf::new()), embeds: true, starter: None });
    };
    let program = if starts { running_program().ok() } else { None };
    let starter = program.map(|program| {
        let arguments = ["serve", "--detached", "--idle-exit", IDLE_EXIT, "--log-level", level, "--socket"].map(OsString::from);
        WorkerCommand { program, arguments: arguments.into_iter().chain([OsString::from(&socket)]).collect() }
    });
    Ok(Passing { target: Target::Socket(socket), embeds: true, starter })
}
