//! `cograph lsp`: serves an editor over stdio.

use crate::output::stop::Stop;
use cograph_config::{Config, ConfigError};
use cograph_server::run_language_server;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct LspArguments {
    /// Accepted because clients pass it; standard input and output are used in any case
    #[arg(long)]
    stdio: bool,
}

/// Serves until the editor ends the session.
pub(super) fn run(
    config: Result<Config, ConfigError>,
    _arguments: &LspArguments,
) -> Result<(), Stop> {
    run_language_server(config).map_err(Stop::from)
}
