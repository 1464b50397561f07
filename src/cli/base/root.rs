//! The repository of a command.

use crate::output;
use crate::output::stop::Stop;
use cograph_config::{Config, Repository};
use cograph_server as server;
use std::path::PathBuf;

/// Repository of a command.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RootArgument {
    /// Root of the repository: exactly this directory [default: the repository around the working
    /// directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

impl RootArgument {
    pub(crate) fn repository(&self, config: &Config) -> Result<Repository, Stop> {
        Ok(match &self.root {
            Some(root) => config.repository_at(root)?,
            None => default_repository(config)?,
        })
    }
}

/// The repository around the working directory. A directory that only holds repositories is read
/// as one, which a note says.
pub(crate) fn default_repository(config: &Config) -> Result<Repository, Stop> {
    let found = cograph_index::check_implicit_root(config, config.default_repository()?)?;
    let inside = cograph_index::repositories_in(&found.root);
    if let [first, _, ..] = inside.as_slice() {
        let named: Vec<&str> = inside.iter().take(NAMED_REPOSITORIES).map(String::as_str).collect();
        let more = inside.len() - named.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        output::note(&format!(
            "note: {} is no repository and holds {}: {}{more}; all are read as one, `--root \
             {first}` asks one alone",
            server::one_line(&found.root.display().to_string()),
            inside.len(),
            server::one_line(&named.join(", ")),
        ));
    }
    Ok(found)
}

/// Repositories of a directory that a note names.
pub(crate) const NAMED_REPOSITORIES: usize = 5;
