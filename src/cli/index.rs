//! `cograph index`: builds or updates the index of a repository, shows progress, and prints
//! statistics.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Map, Value, json};

use crate::base::root::default_repository;
use crate::output::numbers::{bytes, grouped, percent, shown};
use crate::output::progress::Display;
use crate::output::stop::Stop;
use crate::output::streams::{note, to_stdout};
use cograph_config::{Config, Repository, WorkerCommand, enclosing_root, running_program};
use cograph_index::{
    self as index, ChangeSet, IndexError, Outcome, Report, Residents, Run, Timing, WorkerPool,
    profile,
};
use cograph_model::Verdict;
use cograph_model::cancel::CancelToken;
use cograph_store::{Location, REVISIONS, Store};
use cograph_watch::Watch;
use {cograph_grammar as grammar, cograph_history as history, cograph_server as server};

/// Timeout of another process's writer lock.
const WRITER_TIMEOUT: Duration = Duration::from_secs(600);

/// Polling interval without a watch.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct IndexArguments {
    /// Root of the repository: exactly this directory [default: the repository around the working
    /// directory]
    path: Option<PathBuf>,
    /// Print the statistics as one JSON object
    #[arg(long)]
    json: bool,
    /// Build the index even if nothing has changed
    #[arg(long)]
    force: bool,
    /// Keep running, and index changes as they occur
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Index a revision that is not checked out, also of a bare clone: its files are written into
    /// the cache, and questions are asked there with --root
    #[arg(long, value_name = "REV", conflicts_with = "watch")]
    rev: Option<String>,
    /// Execute orders from standard input: internal worker process
    #[arg(long, hide = true)]
    worker: bool,
}

/// Command of a worker process that logs to standard error, at `level`.
pub(super) fn worker_command(level: &str) -> Option<WorkerCommand> {
    let program = running_program().ok()?;
    Some(WorkerCommand {
        program,
        arguments: ["index", "--worker", "--log-level", level]
            .into_iter()
            .chain(profile::is_on().then_some("--profile"))
            .map(OsString::from)
            .collect(),
    })
}

pub(super) fn run(config: &Config, arguments: &IndexArguments) -> Result<(), Stop> {
    if arguments.worker {
        // The memory of one phase is returned before the next one.
        server::give_back_in_time();
        return index::serve_worker().map_err(|error| Stop::Failure {
            message: format!("cannot serve the program that started this one: {error}"),
            hint: "run `cograph index` without --worker".to_owned(),
        });
    }
    let repository = match &arguments.path {
        Some(path) => config.repository_at(path)?,
        None => default_repository(config)?,
    };
    let repository = match &arguments.rev {
        Some(revision) => checked_out(config, &repository, revision)?,
        None => repository,
    };
    let around = enclosing_root(&repository.root);
    if around != repository.root {
        note(&format!(
            "note: {} is part of {}; questions asked in it without --root go to the larger one",
            shown(&repository.root),
            shown(&around)
        ));
    }
    let started = Instant::now();
    let cancel = CancelToken::new();
    let display = Display::new(arguments.json);
    let progress = |progress| display.show(progress);
    let workers = config.worker.clone().map(WorkerPool::new);
    let run = Run {
        progress: &progress,
        workers: workers.as_ref(),
        ..Run::quiet(config.limits, &cancel)
    };
    let location = Location::new(&repository.cache, &repository.root).under(repository.rules);
    let outcome = if arguments.force {
        index::apply(&location, &ChangeSet::Everything { forced: true }, WRITER_TIMEOUT, &run)
    } else {
        index::refresh(&location, WRITER_TIMEOUT, &run)
    };
    let outcome = outcome.and_then(|outcome| {
        // Slow files were left out, so that others did not wait for them; this command may.
        Ok(index::retry_slow(&location, WRITER_TIMEOUT, &run)?.unwrap_or(outcome))
    });
    drop(display);
    if matches!(outcome, Ok(Outcome::Published { .. })) {
        for dropped in index::enforce_quota(&location, &config.limits) {
            let room = bytes(dropped.bytes);
            note(&format!(
                "note: the index of {} was removed to make room ({room}); COGRAPH_CACHE_LIMIT is \
                 the limit",
                shown(&dropped.root)
            ));
        }
    }
    let summary = Summary::of(outcome?, &location, &cancel, started)?;
    let text = if arguments.json { json(&summary) + "\n" } else { table(&summary) };
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    if profile::is_on() {
        note(&timings_line(&summary.timings));
    }
    if arguments.watch { watch_changes(&location, config, &cancel) } else { Ok(()) }
}

/// The files of a revision as a repository of their own, in the cache. Those of one commit are
/// written once.
fn checked_out(
    config: &Config,
    repository: &Repository,
    revision: &str,
) -> Result<Repository, Stop> {
    let cancel = CancelToken::new();
    let refused = |error: &dyn std::error::Error| Stop::Failure {
        message: server::one_line(&error.to_string()),
        hint: "name a commit of the repository, and fetch it if the clone is shallow".to_owned(),
    };
    let commit =
        history::commit_of(&repository.root, revision, &cancel).map_err(|error| refused(&error))?;
    let trees = repository.cache.join(REVISIONS);
    let tree = trees.join(&commit);
    if !tree.exists() {
        let partial = trees.join(format!("{commit}.{}", std::process::id()));
        fs::create_dir_all(&partial)?;
        let written = history::write_tree(&repository.root, &commit, &partial, &cancel)
            .map_err(|error| refused(&error));
        let placed = written.and_then(|_| match fs::rename(&partial, &tree) {
            // Another process was faster.
            Err(_) if tree.exists() => Ok(()),
            renamed => renamed.map_err(Stop::from),
        });
        if placed.is_err() || partial.exists() {
            // Best effort: it only occupies disk space.
            let _ = fs::remove_dir_all(&partial);
        }
        placed?;
    }
    note(&format!("note: {revision} is in {}; ask there with --root", shown(&tree)));
    Ok(config.repository_at(&tree)?)
}

/// Applies changes as they occur, one output line each. Ends with an error or with the process.
fn watch_changes(location: &Location, config: &Config, cancel: &CancelToken) -> Result<(), Stop> {
    let (workers, residents) = (config.worker.clone().map(WorkerPool::new), Residents::new());
    let run = Run {
        workers: workers.as_ref(),
        residents: Some(&residents),
        ..Run::quiet(config.limits, cancel)
    };
    let mut watch = match Watch::start(location.root(), run.limits.threads, run.cancel) {
        Ok(watch) => {
            note(&format!("watching {} directories", grouped(watch.directories() as u64)));
            Some(watch)
        }
        Err(error) => {
            note(&format!("{error}: all files are compared every {} s", POLL_INTERVAL.as_secs()));
            None
        }
    };
    loop {
        // Also before the first wait, for changes between the build and the watch.
        let started = Instant::now();
        if let Outcome::Published { published, .. } =
            index::refresh(location, WRITER_TIMEOUT, &run)?
        {
            let elapsed = started.elapsed().as_secs_f64();
            to_stdout(|out| {
                writeln!(out, "generation {}, {elapsed:.2} s", published.identity.generation)
            })?;
        }
        let changed = watch.as_mut().map(|watch| {
            watch.wait(run.cancel);
            watch.drain(run.cancel)
        });
        match changed {
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                note(&format!(
                    "{error}: all files are compared every {} s",
                    POLL_INTERVAL.as_secs()
                ));
                watch = None;
            }
            None => drop(run.cancel.wait(POLL_INTERVAL)),
        }
    }
}

/// Statistics at the end of a run.
struct Summary {
    report: Report,
    timings: Vec<Timing>,
    changed: bool,
    generation: u64,
    store_bytes: u64,
    elapsed: Duration,
}

impl Summary {
    fn of(
        outcome: Outcome,
        location: &Location,
        cancel: &CancelToken,
        started: Instant,
    ) -> Result<Self, IndexError> {
        let (timings, changed) = match outcome {
            Outcome::Published { timings, .. } => (timings, true),
            Outcome::Unchanged { .. } => (Vec::new(), false),
        };
        let store = Arc::new(Store::open_newest(location)?);
        let snapshot = store.snapshot(cancel)?;
        let (report, generation) = (Report::of(&snapshot)?, snapshot.identity().generation);
        Ok(Self {
            report,
            timings,
            changed,
            generation,
            store_bytes: store.bytes(),
            elapsed: started.elapsed(),
        })
    }
}

fn table(summary: &Summary) -> String {
    let report = &summary.report;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec![
        "language".to_owned(),
        "files".to_owned(),
        "symbols".to_owned(),
        "references".to_owned(),
    ];
    header.extend(Verdict::ALL.iter().map(|verdict| verdict.word().to_owned()));
    header.push("problems".to_owned());
    table.set_header(header);
    let mut verdicts = [0; Verdict::ALL.len()];
    for numbers in &report.languages {
        for (sum, count) in verdicts.iter_mut().zip(numbers.verdicts) {
            *sum += count;
        }
        let name = grammar::language(numbers.language).name;
        table.add_row(row(
            name,
            [numbers.files, numbers.symbols, numbers.references],
            numbers.verdicts,
            numbers.problems,
        ));
    }
    table.add_row(row(
        "total",
        [report.indexed, report.symbols(), report.references()],
        verdicts,
        report.problems,
    ));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("{}\n\n", table.trim_fmt());
    text.push_str(&format!(
        "{} files met, {} indexed",
        grouped(report.files),
        grouped(report.indexed)
    ));
    if report.partly > 0 {
        text.push_str(&format!(" ({} of them partly)", grouped(report.partly)));
    }
    let skipped: u64 = report.skipped.iter().map(|(_, count)| count).sum();
    if skipped > 0 {
        let reasons: Vec<String> = report
            .skipped
            .iter()
            .map(|(reason, count)| format!("{} {}", grouped(*count), reason.word()))
            .collect();
        text.push_str(&format!(", {} skipped: {}", grouped(skipped), reasons.join(", ")));
    }
    let done = if summary.changed { "built" } else { "nothing has changed since" };
    text.push_str(&format!(
        "\n{done} generation {}: {} of source, {} of index, {:.2} s\n",
        summary.generation,
        bytes(report.bytes),
        bytes(summary.store_bytes),
        summary.elapsed.as_secs_f64()
    ));
    text
}

fn row(
    name: &str,
    counts: [u64; 3],
    verdicts: [u64; Verdict::ALL.len()],
    problems: u64,
) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    cells.extend(counts.map(grouped));
    cells.extend(verdicts.map(|count| percent(count, counts[2])));
    cells.push(grouped(problems));
    cells
}

fn timings_line(timings: &[Timing]) -> String {
    if timings.is_empty() {
        return "nothing was read".to_owned();
    }
    let part = |word: &str, elapsed: Duration, cpu: Duration| {
        format!("{word} {:.3} s ({:.3} CPU)", elapsed.as_secs_f64(), cpu.as_secs_f64())
    };
    let mut parts: Vec<String> = timings
        .iter()
        .map(|timing| part(timing.phase.word(), timing.elapsed, timing.cpu))
        .collect();
    parts.push(part(
        "all",
        timings.iter().map(|timing| timing.elapsed).sum(),
        timings.iter().map(|timing| timing.cpu).sum(),
    ));
    parts.join(" · ")
}

fn json(summary: &Summary) -> String {
    let report = &summary.report;
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut languages = Map::new();
    for numbers in &report.languages {
        let mut language = Map::new();
        language.insert("files".to_owned(), numbers.files.into());
        language.insert("symbols".to_owned(), numbers.symbols.into());
        language.insert("references".to_owned(), numbers.references.into());
        for (verdict, count) in Verdict::ALL.iter().zip(numbers.verdicts) {
            language.insert(verdict.word().to_owned(), count.into());
        }
        language.insert("problems".to_owned(), numbers.problems.into());
        languages.insert(grammar::language(numbers.language).name.to_owned(), language.into());
    }
    let skipped: Map<String, Value> = report
        .skipped
        .iter()
        .map(|(reason, count)| (reason.word().to_owned(), (*count).into()))
        .collect();
    let phases = |duration: fn(&Timing) -> Duration| -> Map<String, Value> {
        let number = |timing: &Timing| {
            (timing.phase.word().to_owned(), milliseconds(duration(timing)).into())
        };
        summary.timings.iter().map(number).collect()
    };
    json!({
        "changed": summary.changed,
        "generation": summary.generation,
        "files": report.files,
        "indexed": report.indexed,
        "partly": report.partly,
        "symbols": report.symbols(),
        "references": report.references(),
        "problems": report.problems,
        "source_bytes": report.bytes,
        "languages": languages,
        "skipped": skipped,
        "store_bytes": summary.store_bytes,
        "milliseconds": milliseconds(summary.elapsed),
        "phases_milliseconds": phases(|timing| timing.elapsed),
        "phases_cpu_milliseconds": phases(|timing| timing.cpu),
    })
    .to_string()
}
