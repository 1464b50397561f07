//! `cograph coverage`: which test executed what, from the files of coverage tools. Kept next to the
//! index, for `impact` and `sql`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::ask::{TerminalHost, repositories};
use crate::base::root::RootArgument;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::Config;
use cograph_coverage::{self as coverage, Added, Input, Records};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_query::impact::test_cases;
use cograph_server as server;
use cograph_source::{self as source, Root};
use cograph_store::{Location, Snapshot, read_side_file, remove_side_file, write_side_file};

/// Time of waiting for another process that writes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Commands.
#[derive(Debug, clap::Subcommand)]
pub(super) enum CoverageCommand {
    /// Import coverage that says which test executed what: coverage.py with contexts, testmon, or
    /// one file a test (lcov, cover profile, llvm-cov export, coverage-final.json)
    Add(AddArguments),
    /// Show how much is recorded, and how much of it is of present bodies
    Status(RootArgument),
    /// Remove what was imported
    Remove(RootArgument),
}

/// Arguments of `coverage add`.
#[derive(Debug, clap::Args)]
pub(super) struct AddArguments {
    /// Files of coverage
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Test that a file without the name of one is of [default: the test that the file is named
    /// like]
    #[arg(long, value_name = "NAME")]
    test: Option<String>,
    #[command(flatten)]
    root: RootArgument,
}

pub(super) fn run(config: &Config, command: &CoverageCommand) -> Result<(), Stop> {
    match command {
        CoverageCommand::Add(arguments) => add(config, arguments),
        CoverageCommand::Status(root) => status(config, root),
        CoverageCommand::Remove(root) => remove(config, root),
    }
}

/// The index, brought up to date.
fn snapshot(config: &Config, root: &RootArgument) -> Result<Snapshot, Stop> {
    let root = root.repository(config)?.root;
    Ok(repositories(config, root).up_to_date_snapshot(&TerminalHost::new())?)
}

fn failed(error: impl std::fmt::Display) -> Stop {
    Stop::Failure {
        message: server::one_line(&error.to_string()),
        hint: "try again; `cograph doctor` checks the index".to_owned(),
    }
}

fn records(snapshot: &Snapshot) -> Option<Records> {
    read_side_file(snapshot.store(), coverage::FILE).and_then(|bytes| Records::decoded(&bytes))
}

fn add(config: &Config, arguments: &AddArguments) -> Result<(), Stop> {
    let snapshot = snapshot(config, &arguments.root)?;
    let inputs = inputs(&snapshot, arguments)?;
    let root = Root::new(&snapshot.meta().root);
    let read = |path: &RepoPath| read(&root, path, config);
    // Two imports at once must not lose one of them.
    let location = location(&snapshot);
    let lock = location.lock(PATIENCE).map_err(failed)?;
    let mut records = records(&snapshot).unwrap_or_default();
    let added = coverage::add(&snapshot, &mut records, &inputs, &read).map_err(failed)?;
    let added = added.map_err(|error| Stop::Usage(server::one_line(&error.to_string())))?;
    if added.pairs == 0 {
        return Err(Stop::Usage(nothing(&added)));
    }
    write_side_file(snapshot.store(), coverage::FILE, &records.encoded()).map_err(failed)?;
    drop(lock);
    let text = text(&snapshot, &added)?;
    to_stdout(|out| write!(out, "{text}"))?;
    Ok(())
}

fn location(snapshot: &Snapshot) -> Location {
    let directory = snapshot.store().path().parent().unwrap_or(Path::new("")).to_owned();
    Location::at(snapshot.meta().root.clone(), directory)
}

fn read(root: &Root, path: &RepoPath, config: &Config) -> std::io::Result<Vec<u8>> {
    let text = source::read(root, path, &config.limits).text;
    text.map(|text| text.bytes.to_vec())
        .map_err(|reason| std::io::Error::other(format!("{reason:?}")))
}

/// The files, with the tests that they are named like if they do not name any.
fn inputs(snapshot: &Snapshot, arguments: &AddArguments) -> Result<Vec<Input>, Stop> {
    let stem = |path: &PathBuf| {
        let is_unnamed = arguments.test.is_none() && coverage::is_named_by_file(path);
        let stem = path.file_stem().filter(|_| is_unnamed);
        stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let stems: Vec<String> = arguments.files.iter().map(stem).collect();
    let names = stems.iter().map(String::as_str);
    let cases = test_cases(snapshot, names, &CancelToken::new()).map_err(failed)?;
    let pairs = arguments.files.iter().zip(stems).zip(cases);
    Ok(pairs
        .map(|((path, stem), case)| {
            let test = arguments.test.clone().or(case.map(|_| stem));
            Input { path: path.clone(), test }
        })
        .collect())
}

fn nothing(added: &Added) -> String {
    let (missing, first) = &added.not_indexed;
    let first: Vec<String> = first.iter().map(|path| server::one_line(path)).collect();
    let files = match missing {
        0 => String::new(),
        count => format!("; {count} files are not indexed: {}", first.join(", ")),
    };
    format!(
        "no test executed a function of the index: {} lines are in no function, {} behind the ends \
         of their files{files}",
        added.outside, added.behind
    )
}

fn text(snapshot: &Snapshot, added: &Added) -> Result<String, Stop> {
    let mut out = String::new();
    let names = added.tests.iter().map(String::as_str);
    let cases = test_cases(snapshot, names, &CancelToken::new()).map_err(failed)?;
    let unknown: Vec<&str> = added
        .tests
        .iter()
        .zip(&cases)
        .filter(|(_, case)| case.is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    let _ = writeln!(
        out,
        "{} tests executed {} functions in {} files: {} pairs",
        added.tests.len(),
        added.functions,
        added.files,
        added.pairs
    );
    let mut note = |count: u64, text: String| {
        if count > 0 {
            let _ = writeln!(out, "  {text}");
        }
    };
    for input in &added.inputs {
        note(1, format!("{}: {}", server::one_line(&input.path), input.format));
        note(
            u64::from(input.is_cut),
            "… reading it ended at a limit: what is behind is not imported".to_owned(),
        );
    }
    let few = |names: &[&str]| {
        let names: Vec<String> = names.iter().take(5).map(|name| server::one_line(name)).collect();
        names.join(", ")
    };
    let count = unknown.len() as u64;
    note(count, format!("{count} tests have no symbol: {}", few(&unknown)));
    note(added.replaced, format!("{} earlier bodies replaced", added.replaced));
    note(added.by_end, format!("{} recorded paths are found by their ends", added.by_end));
    let (missing, first) = &added.not_indexed;
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    note(*missing, format!("{missing} recorded files are not indexed: {}", few(&first)));
    note(added.unread, format!("{} files have no functions that are known", added.unread));
    note(added.outside, format!("{} executed lines are in no function", added.outside));
    note(
        added.behind,
        format!("{} executed lines are behind the ends of their files: they changed", added.behind),
    );
    note(added.left_out, format!("{} tests left out: too many, or long names", added.left_out));
    note(
        u64::from(added.is_full),
        format!("the maximum of {} pairs is reached: more are not kept", coverage::MAX_PAIRS),
    );
    Ok(out)
}

fn status(config: &Config, root: &RootArgument) -> Result<(), Stop> {
    let snapshot = snapshot(config, root)?;
    let Some(records) = records(&snapshot) else {
        return Err(Stop::NothingFound("no coverage is recorded: `cograph coverage add`".into()));
    };
    let files = Root::new(&snapshot.meta().root);
    let read = |path: &RepoPath| read(&files, path, config);
    let present = coverage::Present::new(&records, &snapshot, &read).map_err(failed)?;
    let covered = present.covered().map_err(failed)?;
    let pairs: usize = covered.iter().map(|one| one.tests.len()).sum();
    let sums = records.sums();
    to_stdout(|out| {
        writeln!(
            out,
            "{} tests, {} functions in {} files, {} pairs; of present bodies: {} functions, \
             {pairs} pairs",
            sums.tests,
            sums.functions,
            sums.files,
            sums.pairs,
            covered.len(),
        )
    })?;
    Ok(())
}

fn remove(config: &Config, root: &RootArgument) -> Result<(), Stop> {
    let snapshot = snapshot(config, root)?;
    match remove_side_file(snapshot.store(), coverage::FILE).map_err(failed)? {
        true => Ok(()),
        false => Err(Stop::NothingFound("no coverage is recorded".to_owned())),
    }
}
