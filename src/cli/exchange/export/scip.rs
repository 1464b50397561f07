//! `cograph export scip`: the graph as a SCIP index, into a file or on standard output.

use std::fs;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::ask;
use crate::base::root::RootArgument;
use crate::output::note;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::Config;
use cograph_exchange::{self as exchange, ExportError, Exported};
use cograph_index::IndexError;
use cograph_model::RepoPath;
use cograph_server as server;
use cograph_source::{self as source, Root};
use cograph_store::Snapshot;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct ScipArguments {
    /// File to write, `-` for standard output
    #[arg(long, short, value_name = "FILE", default_value = "index.scip")]
    output: PathBuf,
    #[command(flatten)]
    root: RootArgument,
}

pub(super) fn run(config: &Config, arguments: &ScipArguments) -> Result<(), Stop> {
    let to_stream = arguments.output.as_os_str() == "-";
    let mut is_shown = false;
    to_stdout(|out| {
        is_shown = to_stream && out.get_ref().is_terminal();
        Ok(())
    })?;
    if is_shown {
        return Err(Stop::Usage("a SCIP index is no text: redirect it, or name a file".into()));
    }
    let repositories = ask::repositories(config, arguments.root.repository(config)?.root);
    let person = ask::TerminalHost::new();
    let snapshot = repositories.up_to_date_snapshot(&person)?;
    drop(person);
    let exported = if to_stream {
        let mut exported = None;
        to_stdout(|out| {
            exported = Some(export(config, &snapshot, out));
            Ok(())
        })?;
        exported.expect("it was written just now").map_err(|error| stop(error, None))?
    } else {
        to_file(config, &snapshot, &arguments.output)
            .map_err(|error| stop(error, Some(&arguments.output)))?
    };
    note(&summary(&exported));
    Ok(())
}

/// Writes the whole file or none.
fn to_file(config: &Config, snapshot: &Snapshot, path: &Path) -> Result<Exported, ExportError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = fs::File::create(&temporary).map_err(ExportError::from).and_then(|file| {
        let mut out = BufWriter::with_capacity(64 << 10, file);
        let exported = export(config, snapshot, &mut out)?;
        out.flush()?;
        fs::rename(&temporary, path)?;
        Ok(exported)
    });
    if written.is_err() {
        // Best effort: there may be none.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn export(
    config: &Config,
    snapshot: &Snapshot,
    out: &mut dyn Write,
) -> Result<Exported, ExportError> {
    let root = Root::new(&snapshot.meta().root);
    let read = |path: &RepoPath| {
        let text = source::read(&root, path, &config.limits).text.ok()?;
        Some(text.bytes.to_vec())
    };
    exchange::export(snapshot, env!("CARGO_PKG_VERSION"), &read, out)
}

fn stop(error: ExportError, path: Option<&Path>) -> Stop {
    match error {
        ExportError::Store(error) => IndexError::from(error).into(),
        ExportError::Output(error) if path.is_none() => error.into(),
        ExportError::Output(error) => Stop::Failure {
            message: server::one_line(&format!(
                "cannot write {}: {error}",
                path.unwrap_or(Path::new("")).display()
            )),
            hint: "`--output` names another file".to_owned(),
        },
    }
}

fn summary(exported: &Exported) -> String {
    let Exported { documents, definitions, references, outside, left_out } = exported;
    let [ambiguous, possible, unresolved] = left_out;
    format!(
        "{documents} documents: {definitions} definitions, {references} references, {outside} to \
         names outside; left out: {ambiguous} ambiguous, {possible} possible, {unresolved} \
         unresolved"
    )
}
