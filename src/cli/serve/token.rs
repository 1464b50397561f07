//! Bearer token of HTTP: from a file or the environment, never from the command line, which other
//! users can read.

use std::path::{Path, PathBuf};

use crate::output::stop::Stop;
use cograph_config::Config;
use cograph_server::BearerToken;

/// Error for an invalid token.
pub(crate) const TOO_SHORT: &str = "the token must have 16 visible characters or more";

/// Source of the token.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenArgument {
    /// A file with the bearer token of HTTP clients, which only its owner may read [default:
    /// COGRAPH_TOKEN, if it is set]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl TokenArgument {
    /// The token, if given.
    pub(crate) fn token(&self, config: Option<&Config>) -> Result<Option<BearerToken>, Stop> {
        match &self.token_file {
            Some(path) => from_file(path).map(Some),
            None => of_environment(config),
        }
    }
}

/// Token from the environment.
pub(crate) fn of_environment(config: Option<&Config>) -> Result<Option<BearerToken>, Stop> {
    config.and_then(|config| config.token.as_deref()).map(checked).transpose()
}

/// Token from a file.
pub(crate) fn from_file(path: &Path) -> Result<BearerToken, Stop> {
    checked(&Config::secret(path)?)
}

fn checked(text: &str) -> Result<BearerToken, Stop> {
    BearerToken::new(text).ok_or_else(|| Stop::Usage(TOO_SHORT.to_owned()))
}
