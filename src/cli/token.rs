//! The token that a runtime over HTTP asks for: from a file or the environment, never from the command line, where others see it.

use std::path::PathBuf;

use super::Stop;
use crate::config::Config;
use crate::server::BearerToken;

/// Where the token is.
#[derive(Debug, clap::Args)]
pub(super) struct TokenArgument {
    /// A file with the token that clients over HTTP must show [default: COGRAPH_TOKEN, if it is set]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl TokenArgument {
    /// The token, if there is one.
    pub(super) fn token(&self, config: Option<&Config>) -> Result<Option<BearerToken>, Stop> {
        let text = match &self.token_file {
            Some(path) => Some(Config::secret(path)?),
            None => config.and_then(|config| config.token.clone()),
        };
        let Some(text) = text else { return Ok(None) };
        let short = || Stop::Usage("the token must have 16 visible characters or more".to_owned());
        BearerToken::new(&text).map(Some).ok_or_else(short)
    }
}
