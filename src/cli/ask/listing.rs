//! What commands share that list what is found in a whole repository: arguments, question, output.

use std::io::Write as _;

use super::{TerminalHost, repositories};
use crate::base::root::RootArgument;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::Config;
use cograph_model::cancel::CancelToken;
use cograph_query::{QueryError, ReadFile};
use cograph_server::{self as server, Host};
use cograph_store::Snapshot;

/// Arguments of a command that lists.
#[derive(Debug, clap::Args)]
pub(crate) struct ListingArguments {
    /// Print every entry
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    root: RootArgument,
    /// Print the whole answer as JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl ListingArguments {
    /// Asks a question about the files as they are now.
    pub(super) fn ask<T>(
        &self,
        config: &Config,
        question: impl FnOnce(&Snapshot, &dyn ReadFile, &CancelToken) -> Result<T, QueryError>,
    ) -> Result<T, Stop> {
        let repositories = repositories(config, self.root.repository(config)?.root);
        let host = TerminalHost::new();
        let (snapshot, files) = repositories.up_to_date_snapshot_and_files(&host)?;
        let found = question(&snapshot, &files, host.cancel());
        drop(host);
        found.map_err(|error| Stop::Failure {
            message: server::one_line(&error.to_string()),
            hint: "see the command with `--help`".to_owned(),
        })
    }

    /// Maximum number of entries of each list.
    pub(super) fn most(&self, usual: usize) -> usize {
        if self.all { usize::MAX } else { usual }
    }
}

/// Prints an answer; one without entries ends as a search does that finds nothing.
pub(super) fn print(text: &str, is_empty: bool) -> Result<(), Stop> {
    to_stdout(|out| writeln!(out, "{}", text.trim_end()))?;
    if is_empty { Err(Stop::NothingFound(String::new())) } else { Ok(()) }
}
