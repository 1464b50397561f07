//! Whole builds in a process of their own: they make what a build in this process makes, and
//! whatever that process does, the one that waits for it gets an answer.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cograph::config::{Limits, WorkerCommand};
use cograph::index::{
    ChangeSet, IndexError, JobState, Jobs, Outcome, Report, Run, WorkerPool, apply, refresh,
};
use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Store, StoreErrorKind};
use tempfile::TempDir;

use crate::incremental::{assert_names_what_exists, rows};

const PATIENCE: Duration = Duration::from_secs(60);

struct Project {
    _directory: TempDir,
    location: Location,
    cancel: CancelToken,
}

impl Project {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let top = fs::canonicalize(directory.path()).expect("it exists");
        fs::create_dir(top.join("root")).expect("created");
        fs::write(
            top.join("root/a.py"),
            "def one():\n    return two()\n\ndef two():\n    return 2\n",
        )
        .expect("written");
        let location = Location::new(&top.join("cache"), &top.join("root"));
        Self { _directory: directory, location, cancel: CancelToken::new() }
    }

    fn apply(&self, worker: &WorkerCommand, forced: bool) -> Result<Outcome, IndexError> {
        let workers = WorkerPool::new(worker.clone());
        let run = Run { workers: Some(&workers), ..Run::quiet(limits(), &self.cancel) };
        apply(&self.location, &ChangeSet::Everything { forced }, PATIENCE, &run)
    }

    fn report(&self) -> Report {
        let store = Arc::new(Store::open_newest(&self.location).expect("there is a store"));
        Report::of(&store.snapshot(&self.cancel).expect("it can be read")).expect("it is whole")
    }

    fn has_store(&self) -> bool {
        Store::open_newest(&self.location).is_ok()
    }
}

fn limits() -> Limits {
    Limits { threads: 2, ..Limits::default() }
}

fn command(program: &str, arguments: &[&str]) -> WorkerCommand {
    WorkerCommand {
        program: PathBuf::from(program),
        arguments: arguments.iter().map(Into::into).collect(),
    }
}

fn worker() -> WorkerCommand {
    command(env!("CARGO_BIN_EXE_cograph"), &["index", "--worker"])
}

/// Something that is no worker of ours but is started as one.
fn impostor(script: &str) -> WorkerCommand {
    command("sh", &["-c", script])
}

#[test]
fn a_worker_builds_what_this_process_builds() {
    let project = Project::new();
    let run = Run::quiet(limits(), &project.cancel);
    let here =
        Location::new(&project.location.root().with_file_name("here"), project.location.root());
    let Ok(Outcome::Published { published: built_here, .. }) = refresh(&here, PATIENCE, &run)
    else {
        panic!("a store is built")
    };
    let Ok(Outcome::Published { published, timings }) = project.apply(&worker(), false) else {
        panic!("a store is built")
    };
    assert_eq!(rows(&published.path), rows(&built_here.path));
    let report = project.report();
    assert_eq!((report.files, report.indexed), (1, 1));
    assert_eq!((report.symbols(), report.references()), (2, 1));
    assert_eq!((published.identity.generation, timings.len()), (1, 5));
    assert_names_what_exists(&project.location);
    assert!(matches!(
        project.apply(&worker(), false),
        Ok(Outcome::Unchanged { identity }) if identity == published.identity
    ));
    assert!(matches!(refresh(&project.location, PATIENCE, &run), Ok(Outcome::Unchanged { .. })));
    let Ok(Outcome::Published { published, .. }) = project.apply(&worker(), true) else {
        panic!("it was to be built anyway")
    };
    assert_eq!(published.identity.generation, 2);
}

#[test]
fn the_report_counts_everything_once() {
    let project = Project::new();
    fs::write(project.location.root().join("b.txt"), "words\n").expect("written");
    fs::write(project.location.root().join("c.py"), "import a\na.one()\na.none()\n")
        .expect("written");
    project.apply(&worker(), false).expect("a store is built");
    let report = project.report();
    let skipped: u64 = report.skipped.iter().map(|(_, count)| count).sum();
    assert_eq!((report.files, report.indexed, skipped), (3, 2, 1));
    assert_eq!(report.languages.iter().map(|numbers| numbers.files).sum::<u64>(), 2);
    for numbers in &report.languages {
        assert!(numbers.references > 3);
        assert_eq!(
            numbers.references,
            numbers.verdicts.iter().sum::<u64>(),
            "every reference has a verdict"
        );
    }
}

#[test]
fn progress_comes_from_the_worker() {
    let project = Project::new();
    let phases = std::sync::Mutex::new(Vec::new());
    let note = |progress: cograph::index::Progress| {
        phases.lock().expect("nobody panics").push(progress.phase.word())
    };
    let workers = WorkerPool::new(worker());
    let run =
        Run { workers: Some(&workers), progress: &note, ..Run::quiet(limits(), &project.cancel) };
    apply(&project.location, &ChangeSet::Everything { forced: false }, PATIENCE, &run)
        .expect("a store is built");
    let mut phases = phases.into_inner().expect("nobody panics");
    phases.dedup();
    assert_eq!(phases, ["list", "parse", "tables", "resolve", "write"]);
}

#[test]
fn an_error_of_the_worker_is_reported_unchanged() {
    let project = Project::new();
    let held = project.location.lock(Duration::ZERO).expect("no other process writes");
    let workers = WorkerPool::new(worker());
    let run = Run { workers: Some(&workers), ..Run::quiet(limits(), &project.cancel) };
    let failed =
        apply(&project.location, &ChangeSet::Everything { forced: false }, Duration::ZERO, &run);
    let error = failed.expect_err("somebody else writes");
    let expected = project.location.lock(Duration::ZERO).expect_err("the same in this process");
    assert_eq!((error.to_string(), expected.kind), (expected.to_string(), StoreErrorKind::Locked));
    assert_eq!(error.hint(), IndexError::Store(expected).hint());
    drop(held);
}

#[test]
fn what_a_dead_worker_said_last_is_in_the_error() {
    let project = Project::new();
    let chatter = "i=0; while [ $i -lt 30000 ]; do echo a line of some length that nobody needs; \
                   i=$((i+1)); done >&2";
    let error = project
        .apply(&impostor(&format!("{chatter}; echo the last words >&2; kill -ABRT $$")), false);
    let error = error.expect_err("nothing was built");
    let IndexError::Worker { how, said, .. } = &error else { panic!("{error}") };
    assert!(
        how.contains("ABORT") && said.ends_with("the last words") && said.len() < 500,
        "{how}: {said}"
    );
    assert!(error.to_string().ends_with("the last words"), "{error}");
    assert!(!project.has_store());
}

#[test]
fn no_worker_and_a_worker_without_a_word_are_errors() {
    let project = Project::new();
    let missing = project
        .apply(&command("/nowhere/at/all", &[]), false)
        .expect_err("there is no such program");
    assert!(
        matches!(&missing, IndexError::NoWorker { .. })
            && missing.to_string().contains("/nowhere/at/all"),
        "{missing}"
    );
    let cases = [
        ("exit 0", "exit code 0"),
        ("exit 7", "exit code 7"),
        ("printf 'what\\0is\\0this\\0'; cat", "signal 9 KILL"),
    ];
    for (script, how) in cases {
        let error =
            project.apply(&impostor(script), false).expect_err("nothing was built").to_string();
        assert!(error.contains("has died") && error.contains(how), "{script}: {error}");
    }
}

#[test]
fn a_job_that_is_cancelled_ends_its_worker() {
    let project = Project::new();
    // It reports one file of two as parsed (as COBS: the bytes 0, 1, 1, 2), reads its order, and
    // then waits for an end of the input that does not come.
    let progress = r"printf '\001\004\001\001\002\000'";
    let jobs = Jobs::new(limits(), Some(impostor(&format!("{progress}; cat >/dev/null"))));
    let job = jobs.start(&project.location);
    let until = Instant::now() + PATIENCE;
    let mut seen = None;
    while let JobState::Running(progress) = job.wait_for_progress(seen, until) {
        if progress.total == 2 {
            break;
        }
        seen = Some(progress);
    }
    let started = Instant::now();
    job.cancel();
    let JobState::Done(Err(error)) = job.wait(until) else { panic!("it goes on") };
    assert!(matches!(&*error, IndexError::Cancelled { .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert!(!project.has_store());
}

#[test]
fn a_worker_does_nothing_without_an_order() {
    let output = Command::new(env!("CARGO_BIN_EXE_cograph"))
        .args(["index", "--worker"])
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        output.stdout.is_empty(),
        "standard output is for messages to the process that ordered"
    );
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("started by this program"),
        "{output:?}"
    );
}
