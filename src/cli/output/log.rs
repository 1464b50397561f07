//! Log options of every command. The log never goes to standard output.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgMatches, FromArgMatches};
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::output::stop::Stop;
use cograph_index::profile::Profile;
use cograph_server::{LogSink, log_panics};
use cograph_system::{files, streams};

/// Value for standard error.
const STDERR: &str = "stderr";

/// Log options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct LogArguments {
    /// Where to log: stderr, or a file to append to [default: stderr]
    #[arg(long, global = true, value_name = "FILE|stderr")]
    log: Option<PathBuf>,
    /// What to log: off, error, warn, info, debug, trace, or a filter such as cograph::index=debug
    /// [default: error; info with --log]
    #[arg(long, global = true, value_name = "LEVEL")]
    log_level: Option<String>,
    /// Print on stderr where the time went: CPU time of each step, of all threads and processes
    #[arg(long, global = true)]
    profile: bool,
}

/// Starts the log and returns its level or filter. A server logs through a thread, because the
/// reader may block.
pub(crate) fn start(matches: &ArgMatches, serves: bool) -> Result<String, Stop> {
    let arguments =
        LogArguments::from_arg_matches(matches).map_err(|error| Stop::Usage(error.to_string()))?;
    let target = arguments.log.as_deref().filter(|path| path.as_os_str() != STDERR);
    if let Some(level) =
        target.and_then(Path::to_str).filter(|word| word.parse::<tracing::Level>().is_ok())
    {
        return Err(Stop::Usage(format!(
            "--log takes a file or `{STDERR}`; for a level: --log-level {level}"
        )));
    }
    let level = arguments.log_level.as_deref().unwrap_or(if arguments.log.is_some() {
        "info"
    } else {
        "error"
    });
    let filter = EnvFilter::try_new(level)
        .map_err(|error| Stop::Usage(format!("--log-level {level:?} is no filter: {error}")))?;
    let profile = arguments.profile;
    match (target, serves) {
        (None, false) => begin(profile, filter, io::stderr),
        (Some(path), false) => begin(profile, filter, Arc::new(open(path)?)),
        (None, true) => {
            let stderr = streams::own_errors()?;
            let sink = LogSink::start(move || Ok(stderr.into()))?;
            begin(profile, filter, move || sink.clone());
        }
        (Some(path), true) => {
            // A FIFO is opened where waiting for its reader blocks no command; other files are
            // opened here, where an error can be reported.
            let is_pipe = path.metadata().is_ok_and(|found| files::is_pipe(&found));
            let opened = if is_pipe { None } else { Some(open(path)?) };
            let path = path.to_owned();
            let append = move || OpenOptions::new().append(true).open(path);
            let sink = LogSink::start(move || Ok(opened.map_or_else(append, Ok)?.into()))?;
            begin(profile, filter, move || sink.clone());
        }
    }
    Ok(level.to_owned())
}

fn begin(
    profile: bool,
    filter: EnvFilter,
    target: impl for<'w> MakeWriter<'w> + Send + Sync + 'static,
) {
    let log = fmt::layer().with_ansi(false).with_writer(target).with_filter(filter);
    let profile = profile.then(Profile::start);
    // A second call in one process (tests) keeps the first log.
    let _ = tracing_subscriber::registry().with(log).with(profile).try_init();
    log_panics();
}

/// Opens the log without waiting for the reader of a pipe.
fn open(path: &Path) -> Result<File, Stop> {
    files::append_to(path).map_err(|error| Stop::Failure {
        message: if files::is_without_reader(&error) {
            format!("cannot open the log {}: no process reads it", path.display())
        } else {
            format!("cannot open the log {}: {error}", path.display())
        },
        hint: format!("name a file in a directory that exists, or `{STDERR}`"),
    })
}
