//! The repository of a command.

use crate::output;
use crate::output::stop::Stop;
use cograph_config::{self as config, Config, ListError, Repository};
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

/// What a question is about: one repository, or the members of a workspace.
pub(crate) struct QuestionScope {
    /// Root of the repository, or directory of the workspace.
    pub(crate) root: PathBuf,
    /// List of members with whole paths, if the user gave one.
    pub(crate) list: Option<String>,
    /// True for a workspace.
    pub(crate) is_workspace: bool,
}

impl QuestionScope {
    /// QuestionScope of a question with this `--root`.
    pub(crate) fn of(config: &Config, given: Option<&str>) -> Result<Self, Stop> {
        let wrong = |error: ListError| Stop::Usage(server::one_line(&error.to_string()));
        let listed = given.map(config::listed_directories).transpose().map_err(wrong)?;
        if let Some(listed) = listed.flatten() {
            let whole = listed.iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>();
            let list = whole.ok().and_then(|whole| config::directory_list(&whole));
            let list = list.ok_or_else(|| Stop::Usage("the list has no paths".to_owned()))?;
            let root = config.started_in().unwrap_or_default();
            return Ok(Self { root, list: Some(list), is_workspace: true });
        }
        let place = given.map(PathBuf::from).or_else(|| config.started_in());
        if let Some(place) = &place
            && config::workspace_at(place).map_err(wrong)?.is_some()
        {
            let root = config.repository_at(place)?.root;
            return Ok(Self { root, list: None, is_workspace: true });
        }
        let root = RootArgument { root: given.map(Into::into) }.repository(config)?.root;
        Ok(Self { root, list: None, is_workspace: false })
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
             {first}` asks one alone, an empty `{}` asks each with its own index",
            server::one_line(&found.root.display().to_string()),
            inside.len(),
            server::one_line(&named.join(", ")),
            config::WORKSPACE,
        ));
    }
    Ok(found)
}

/// Repositories of a directory that a note names.
pub(crate) const NAMED_REPOSITORIES: usize = 5;
