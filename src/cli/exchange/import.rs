//! `cograph import`: edges that a compiler states, from its SCIP index. Kept next to the index,
//! which is built with them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ask::{TerminalHost, repositories};
use crate::base::root::RootArgument;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::Config;
use cograph_exchange::{self as exchange, ImportError, Imported};
use cograph_index::IndexError;
use cograph_model::RepoPath;
use cograph_model::stated::{self, Stated};
use cograph_server as server;
use cograph_source::{self as source, Root};
use cograph_store::{Location, Snapshot, read_side_file, remove_side_file, write_side_file};

/// Time of waiting for another process that writes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum ImportCommand {
    /// Take the edges of SCIP indexes, which replace those that are inferred, as long as a file has
    /// the content that it has now
    Scip(ScipArguments),
    /// Forget everything that was imported
    Remove(RootArgument),
}

/// Arguments of `import scip`.
#[derive(Debug, clap::Args)]
pub(crate) struct ScipArguments {
    /// SCIP indexes
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Directory of the repository in which the paths of the documents start [default: that which
    /// the index names, or the root]
    #[arg(long, value_name = "DIR")]
    below: Option<String>,
    #[command(flatten)]
    root: RootArgument,
}

pub(crate) fn run(config: &Config, command: &ImportCommand) -> Result<(), Stop> {
    match command {
        ImportCommand::Scip(arguments) => scip(config, arguments),
        ImportCommand::Remove(root) => remove(config, root),
    }
}

/// The index, brought up to date.
fn snapshot(config: &Config, root: &Path) -> Result<Snapshot, Stop> {
    Ok(repositories(config, root.to_path_buf()).up_to_date_snapshot(&TerminalHost::new())?)
}

/// The index without imported edges if those that are kept are damaged: the same edges imported
/// again would be taken for those that it has.
fn without_damage(config: &Config, root: &Path, found: Snapshot) -> Result<Snapshot, Stop> {
    let kept = read_side_file(found.store(), stated::FILE);
    if kept.is_none_or(|bytes| Stated::decoded(&bytes).is_some()) {
        return Ok(found);
    }
    remove_side_file(found.store(), stated::FILE).map_err(failed)?;
    drop(found);
    snapshot(config, root)
}

fn failed(error: impl std::fmt::Display) -> Stop {
    Stop::Failure {
        message: server::one_line(&error.to_string()),
        hint: "try again; `cograph doctor` checks the index".to_owned(),
    }
}

fn scip(config: &Config, arguments: &ScipArguments) -> Result<(), Stop> {
    let root = arguments.root.repository(config)?.root;
    let snapshot = without_damage(config, &root, snapshot(config, &root)?)?;
    let files = Root::new(&snapshot.meta().root);
    let read = |path: &RepoPath| {
        let text = source::read(&files, path, &config.limits).text.ok()?;
        Some(text.bytes.to_vec())
    };
    // Two imports at once must not lose one of them.
    let directory = snapshot.store().path().parent().unwrap_or(Path::new("")).to_owned();
    let location = Location::at(snapshot.meta().root.clone(), directory);
    let lock = location.lock(PATIENCE).map_err(failed)?;
    let kept = read_side_file(snapshot.store(), stated::FILE);
    let mut stated = kept.and_then(|bytes| Stated::decoded(&bytes)).unwrap_or_default();
    let mut out = String::new();
    for path in &arguments.files {
        let below = arguments.below.as_deref();
        let imported;
        (stated, imported) = exchange::import(&snapshot, stated, path, below, &read)
            .map_err(|error| stop(error, path))?;
        if imported.edges == 0 {
            return Err(Stop::Usage(nothing(path, &imported)));
        }
        describe(&mut out, path, &imported);
    }
    write_side_file(snapshot.store(), stated::FILE, &stated.encoded()).map_err(failed)?;
    drop((lock, snapshot));
    // What is kept is part of what an index is built from.
    self::snapshot(config, &root)?;
    to_stdout(|stdout| write!(stdout, "{out}"))?;
    Ok(())
}

fn stop(error: ImportError, path: &Path) -> Stop {
    match error {
        ImportError::Store(error) => IndexError::from(error).into(),
        ImportError::Index(reason) => {
            Stop::Usage(server::one_line(&format!("{}: {reason}", path.display())))
        }
    }
}

fn first(paths: &[String]) -> String {
    let paths: Vec<String> = paths.iter().map(|path| server::one_line(path)).collect();
    paths.join(", ")
}

fn nothing(path: &Path, imported: &Imported) -> String {
    let mut text = format!(
        "{}: no reference leads to a symbol of the index",
        server::one_line(&path.display().to_string())
    );
    let (count, paths) = &imported.not_indexed;
    if *count > 0 {
        let _ = write!(
            text,
            "; {count} documents are of no indexed file: {} (`--below` says where their paths \
             start)",
            first(paths)
        );
    }
    let (count, paths) = &imported.other_content;
    if *count > 0 {
        let _ = write!(text, "; {count} files have changed since: {}", first(paths));
    }
    text
}

fn describe(out: &mut String, path: &Path, imported: &Imported) {
    let Imported { tool, documents, edges, not_indexed, other_content, .. } = imported;
    let _ = writeln!(
        out,
        "{} ({}): {edges} references of {documents} files",
        server::one_line(&path.display().to_string()),
        server::one_line(tool)
    );
    let mut note = |count: u64, text: String| {
        if count > 0 {
            let _ = writeln!(out, "  {text}");
        }
    };
    let (count, paths) = not_indexed;
    note(*count, format!("{count} documents are of no indexed file: {}", first(paths)));
    let (count, paths) = other_content;
    note(*count, format!("{count} files have changed since, and are left out: {}", first(paths)));
    let Imported { outside, no_symbol, no_site, .. } = imported;
    note(*outside, format!("{outside} references lead to no document of it"));
    note(*no_symbol, format!("{no_symbol} lead to what is no symbol here, such as a local"));
    note(*no_site, format!("{no_site} stand where no reference is known"));
}

fn remove(config: &Config, root: &RootArgument) -> Result<(), Stop> {
    let root = root.repository(config)?.root;
    let snapshot = snapshot(config, &root)?;
    if !remove_side_file(snapshot.store(), stated::FILE).map_err(failed)? {
        return Err(Stop::NothingFound("nothing is imported".to_owned()));
    }
    drop(snapshot);
    self::snapshot(config, &root)?;
    Ok(())
}
