//! `cograph export parquet`: the graph as tables of a dataset of many repositories.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::ask;
use crate::base::root::RootArgument;
use crate::output::note;
use crate::output::stop::Stop;
use cograph_config::Config;
use cograph_exchange::{self as exchange, ExportError, Origin, Written};
use cograph_history as history;
use cograph_index::IndexError;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_server as server;
use cograph_source::{self as source, Root};

/// Arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct ParquetArguments {
    /// Directory of the dataset: each table gets `TABLE/bucket=NN/NAME.parquet`
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Name of the repository in the dataset [default: that of its directory]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    root: RootArgument,
}

pub(super) fn run(config: &Config, arguments: &ParquetArguments) -> Result<(), Stop> {
    let repository = arguments.root.repository(config)?.root;
    let repositories = ask::repositories(config, repository.clone());
    let person = ask::TerminalHost::new();
    let snapshot = repositories.up_to_date_snapshot(&person)?;
    drop(person);
    let of_directory = || {
        let name = repository.file_name().unwrap_or(repository.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let name = arguments.name.clone().unwrap_or_else(of_directory);
    if name.is_empty() {
        return Err(Stop::Usage("a repository needs a name".into()));
    }
    let root = Root::new(&snapshot.meta().root);
    let read = |path: &RepoPath| {
        let text = source::read(&root, path, &config.limits).text.ok()?;
        Some(text.bytes.to_vec())
    };
    let origin = Origin {
        repository: name,
        revision: history::commit_of(&repository, "HEAD", &CancelToken::default()).ok(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let directory = &arguments.directory;
    let written = exchange::export_dataset(&snapshot, &origin, &read, directory).map_err(
        |error| match error {
            ExportError::Store(error) => IndexError::from(error).into(),
            ExportError::Output(error) => Stop::Failure {
                message: server::one_line(&format!(
                    "cannot write below {}: {error}",
                    directory.display()
                )),
                hint: "DIR may be another directory".to_owned(),
            },
        },
    )?;
    note(&summary(&written));
    Ok(())
}

fn summary(written: &Written) -> String {
    let mut text = String::new();
    for (table, rows) in &written.rows {
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{separator}{rows} {table}");
    }
    format!("{text}; {:.1} MB", written.bytes as f64 / 1e6)
}
