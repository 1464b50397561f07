//! `cograph mcp`: serves one client over stdio, in process or as a proxy to a runtime.

mod target;
#[cfg(not(feature = "federation"))]
#[path = "mcp/one.rs"]
mod upstreams;
#[cfg(feature = "federation")]
mod upstreams;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::output;
use super::serve::limits::LimitArguments;
use crate::base::root::RootArgument;
use crate::output::stop::Stop;
use crate::serve::token;
use cograph_config::{Config, ConfigError, WorkerCommand, running_program};
use cograph_server::{BearerToken, Options, Passing, Target, run_passing, run_stdio};
use target::{AUTO, named};
use upstreams::{Upstreams, from_arguments, from_file, run_federated};
pub(super) use upstreams::{all, checked};

/// Idle timeout of a runtime started by a client, in seconds.
const IDLE_EXIT: &str = "600";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct McpArguments {
    #[command(flatten)]
    root: RootArgument,
    /// Forward calls to a runtime: its Unix socket, an http(s) address, or `auto` for this user's
    /// runtime, with this process as the fallback. Repeated, with a name and `=` in front: to
    /// several of these, or of `cmd:` with the command line of an MCP server
    #[arg(long, value_name = "TARGET|auto|NAME=TARGET")]
    upstream: Vec<String>,
    /// A file with the bearer token of an http(s) address [default: COGRAPH_TOKEN, if it is set];
    /// with several upstreams, NAME=FILE for each that needs one, without a default
    #[arg(long, value_name = "FILE|NAME=FILE", requires = "upstream")]
    token_file: Vec<String>,
    /// With `--upstream auto`: start a runtime if none is running
    #[arg(long, requires = "upstream")]
    start: bool,
    /// Forward calls to the upstreams in a file [default file: cograph/upstreams.toml in the user's
    /// configuration directory]
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["upstream", "root"])]
    upstreams: Option<Option<PathBuf>>,
    #[command(flatten)]
    limits: LimitArguments,
}

/// Serves until the client disconnects. Configuration errors are reported by tool calls: a client
/// must be able to connect and to list the tools in any case.
pub(super) fn run(
    config: Result<Config, ConfigError>,
    level: &str,
    arguments: &McpArguments,
) -> Result<(), Stop> {
    let limits = arguments.limits.limits();
    let delay = arguments.limits.delay();
    let way = match (arguments.upstream.as_slice(), &arguments.upstreams) {
        (_, Some(file)) => ServeMode::Several(from_file(file.clone())?),
        ([], None) => ServeMode::Embedded,
        ([word], None) if word == AUTO => {
            ServeMode::Passing(auto(&config, level, arguments.start)?)
        }
        (_, None) if arguments.start => {
            return Err(Stop::Usage("--start goes with --upstream auto only".to_owned()));
        }
        ([text], None) if named(text).is_none() => {
            let token = the_token(&arguments.token_file, config.as_ref().ok())?;
            let target =
                Target::parse(text, token).map_err(|error| Stop::Usage(error.to_string()))?;
            if matches!(target, Target::Command(_)) {
                return Err(Stop::Usage(format!(
                    "a program that is started needs a name: NAME={text}"
                )));
            }
            ServeMode::Passing(Passing { target, embeds: false, starter: None })
        }
        (several, None) => {
            if arguments.root.root.is_some() {
                return Err(Stop::Usage(
                    "--root goes with one upstream; each of several has its own".to_owned(),
                ));
            }
            ServeMode::Several(from_arguments(several, &arguments.token_file)?)
        }
    };
    for warning in way.warnings() {
        output::note(&format!("warning: {warning}"));
    }
    let options = Options { config, root: arguments.root.root.clone(), limits, delay };
    let served = match way {
        ServeMode::Embedded => run_stdio(options),
        ServeMode::Passing(passing) => run_passing(options, passing),
        ServeMode::Several(upstreams) => run_federated(options, upstreams),
    };
    served.map_err(|error| Stop::Failure {
        message: format!("cannot serve on standard input and output: {error}"),
        hint: "start it from an MCP client; both must be open".to_owned(),
    })
}

/// Where calls are served.
enum ServeMode {
    /// In this process.
    Embedded,
    /// By one runtime.
    Passing(Passing),
    /// By several upstreams.
    Several(Upstreams),
}

impl ServeMode {
    /// Warnings about the targets.
    fn warnings(&self) -> Vec<String> {
        match self {
            Self::Embedded => Vec::new(),
            Self::Passing(passing) => passing.target.warning().into_iter().collect(),
            Self::Several(upstreams) => {
                all(upstreams).filter_map(|(_, target)| target.warning()).collect()
            }
        }
    }
}

/// Token of a single upstream.
fn the_token(files: &[String], config: Option<&Config>) -> Result<Option<BearerToken>, Stop> {
    match files {
        [] => token::of_environment(config),
        [file] => token::from_file(Path::new(file)).map(Some),
        _ => Err(Stop::Usage("one upstream takes one --token-file".to_owned())),
    }
}

/// The runtime of this user, which may not be running.
fn auto(config: &Result<Config, ConfigError>, level: &str, starts: bool) -> Result<Passing, Stop> {
    let Ok(socket) =
        config.as_ref().map_err(|_| ()).and_then(|config| config.socket().map_err(|_| ()))
    else {
        // Without a cache directory there is no socket: tool calls report the error.
        return Ok(Passing { target: Target::Socket(PathBuf::new()), embeds: true, starter: None });
    };
    let program = if starts { running_program().ok() } else { None };
    let starter = program.map(|program| {
        let arguments =
            ["serve", "--detached", "--idle-exit", IDLE_EXIT, "--log-level", level, "--socket"]
                .map(OsString::from);
        WorkerCommand {
            program,
            arguments: arguments.into_iter().chain([OsString::from(&socket)]).collect(),
        }
    });
    Ok(Passing { target: Target::Socket(socket), embeds: true, starter })
}
