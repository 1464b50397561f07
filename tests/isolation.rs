//! A file that ends the process which parses it costs that file and nothing else. The binary does
//! what such files ask for only when it is built with the feature `faults`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;
use tempfile::TempDir;

const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

struct Project(TempDir);

impl Project {
    /// Some files, and one that asks for a fault.
    fn with(fault: &str) -> Self {
        let project = Self(tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir(project.root()).expect("it is new");
        for name in ["a", "b", "c", "d"] {
            project.write(&format!("{name}.py"), &format!("def {name}():\n    return 1\n"));
        }
        project.write("bad.py", &bad(fault));
        project
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.root().join(path), text).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env_remove("CLAUDE_PROJECT_DIR")
            // The backtrace of a failed allocation takes more memory than a file may.
            .env_remove("RUST_BACKTRACE")
            .env("COGRAPH_CACHE_DIR", self.0.path().join("cache"))
            .env("COGRAPH_FILE_SECONDS", "2")
            .env("COGRAPH_MEMORY_LIMIT", (1_u64 << 30).to_string())
            .env("COGRAPH_THREADS", "2");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// The files of generations in the cache; a store that is changed in place keeps its name.
    fn stores(&self) -> Vec<PathBuf> {
        let inside = |path: PathBuf| {
            fs::read_dir(path)
                .expect("it exists")
                .map(|entry| entry.expect("it can be listed").path())
        };
        let repositories = inside(self.0.path().join("cache")).filter(|path| path.is_dir());
        repositories
            .flat_map(inside)
            .filter(|path| path.extension().is_some_and(|extension| extension == "db"))
            .collect()
    }

    /// Brings the index up to date and gives its numbers, and what was logged.
    fn index(&self) -> (Value, String) {
        let output = self.run(&["index", "--json", "--log-level", "warn"]);
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{log}");
        (serde_json::from_slice(&output.stdout).expect("the numbers are JSON"), log)
    }

    /// The same, with the number of files that must be indexed, and of those that must be left out
    /// because they end the worker. Gives what was logged.
    #[track_caller]
    fn index_to(&self, indexed: u64, quarantined: Option<u64>) -> String {
        let (numbers, log) = self.index();
        let cause = fs::read_to_string(self.root().join("bad.py")).unwrap_or_default();
        let found = (&numbers["indexed"], &numbers["skipped"]["quarantined"]);
        assert_eq!(
            (found.0.as_u64(), found.1.as_u64()),
            (Some(indexed), quarantined),
            "{cause}{log}"
        );
        log
    }
}

fn bad(fault: &str) -> String {
    format!("# worker-fault: {fault}\ndef bad():\n    return 1\n")
}

#[test]
fn a_file_that_ends_the_worker_is_left_out_and_tried_again_when_it_changes() {
    for fault in ["abort", "segv", "overflow", "allocate", "chatter"] {
        let project = Project::with(fault);
        let log = project.index_to(4, Some(1));
        assert!(log.contains("has died"), "{fault}: {log}");
        let status = String::from_utf8(project.run(&["status"]).stdout).expect("answers are text");
        assert!(status.contains("1 quarantined, e.g. bad.py"), "{fault}: {status}");

        assert_eq!(project.index().0["changed"], false, "{fault}");
        project.write("e.py", "def e():\n    return 1\n");
        let log = project.index_to(5, Some(1));
        assert!(!log.contains("has died"), "{fault}: it was known: {log}");

        project.write("bad.py", &bad("none"));
        project.index_to(6, None);
    }
}

#[test]
fn a_changed_file_that_ends_what_parses_it_is_left_out_where_it_is() {
    let project = Project::with("none");
    assert_eq!(project.index().0["indexed"], 5);
    let stores = project.stores();
    assert_eq!(stores.len(), 1);
    for fault in ["abort", "segv", "overflow", "allocate", "chatter"] {
        project.write("bad.py", &bad(fault));
        project.write("a.py", &format!("def a():\n    return '{fault}'\n"));
        let log = project.index_to(4, Some(1));
        assert!(log.contains("bad.py") && log.contains("the file is left out"), "{fault}: {log}");
        assert_eq!(project.stores(), stores, "{fault}: nothing was built anew: {log}");
        assert_eq!(project.index().0["changed"], false, "{fault}");
        let found = project.run(&["grep", &format!("return '{fault}'")]);
        assert!(String::from_utf8_lossy(&found.stdout).contains("up to date"), "{found:?}");
    }
    project.write("bad.py", &bad("none"));
    project.index_to(5, None);
}

#[test]
fn a_slow_file_is_parsed_once_however_often_others_end_the_worker() {
    let project = Project::with("abort");
    project.write("worse.py", &bad("segv"));
    project.write("slow.gleam", &"1<%a(\n".repeat(16_000));
    let output = project.run(&["index", "--json", "--log-level", "debug"]);
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let numbers: Value = serde_json::from_slice(&output.stdout).expect("the numbers are JSON");
    assert_eq!(
        (&numbers["skipped"]["quarantined"], &numbers["skipped"]["too-slow"]),
        (&2.into(), &1.into()),
        "{log}"
    );
    let times = |reason: &str| {
        let is_about = |line: &&str| line.contains("slow.gleam") && line.contains(reason);
        log.lines().filter(|line| line.contains("a file is left out")).filter(is_about).count()
    };
    assert_eq!((times("deferred"), times("too-slow")), (1, 1), "{log}");
}

#[test]
fn a_file_that_takes_much_memory_is_stopped_long_before_the_limit_of_the_process() {
    let project = Project::with("swell");
    let log = project.index_to(4, Some(1));
    assert!(log.contains("exit code 1"), "the watchdog ends it, not a failed allocation: {log}");
}

#[test]
fn the_system_refuses_memory_that_no_file_may_take_before_the_watchdog_looks() {
    let project = Project::with("reserve");
    let log = project.index_to(4, Some(1));
    assert!(log.contains("signal 6 ABORT"), "a failed allocation ends it: {log}");
}

#[test]
fn a_limit_that_is_set_meanwhile_is_the_fault_of_no_file() {
    let project = Project::with("confine");
    let output = project.run(&["index", "--json", "--log-level", "warn"]);
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{log}");
    assert!(log.contains("signal 6 ABORT") && !log.contains("left out"), "{log}");
    project.write("bad.py", &bad("none"));
    project.index_to(5, None);
}

#[test]
fn a_panic_without_memory_ends_with_backtraces_wanted_as_well() {
    let project = Project::with("exhaust");
    let mut command = project.command(&["index", "--json", "--log-level", "warn"]);
    let output = command.env("RUST_BACKTRACE", "1").output().expect("the program starts");
    let log = String::from_utf8_lossy(&output.stderr);
    let numbers: Value = serde_json::from_slice(&output.stdout).expect("the numbers are JSON");
    assert_eq!(
        (&numbers["indexed"], &numbers["skipped"]["too-slow"]),
        (&4.into(), &Value::Null),
        "it has not waited for the watchdog: {log}"
    );
}

#[test]
fn a_file_that_takes_too_long_is_left_out_and_tried_by_the_next_process() {
    let project = Project::with("hang");
    for attempt in 0..2 {
        let (numbers, log) = project.index();
        assert_eq!(
            (&numbers["indexed"], &numbers["skipped"]["too-slow"]),
            (&4.into(), &1.into()),
            "{attempt}: {log}"
        );
        assert!(log.contains("bad.py") && log.contains("exceeds the time limit"), "{log}");
    }
    let found = project.run(&["search", "--mode", "name", "a"]);
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(found.contains("up to date; 1 costly file left out (`status` names them)"), "{found}");
    project.write("bad.py", &bad("none"));
    let numbers = project.index().0;
    assert_eq!((&numbers["indexed"], &numbers["skipped"]["too-slow"]), (&5.into(), &Value::Null));
}

#[test]
fn a_worker_that_is_killed_from_outside_costs_no_file() {
    let project = Project::with("kill");
    let output = project.run(&["index", "--log-level", "warn"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("signal 9 KILL") && !said.contains("left out"), "{said}");
    project.write("bad.py", &bad("none"));
    assert_eq!(project.index().0["indexed"], 5);
    project.write("bad.py", &bad("kill"));
    let found = project.run(&["search", "--mode", "name", "bad"]);
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(
        found.contains("stale: 1 file not indexed (bad.py)") && found.contains("function bad"),
        "{found}"
    );
    project.write("bad.py", &bad("none").replace("bad()", "good()"));
    let numbers = project.index().0;
    assert_eq!(
        (&numbers["indexed"], &numbers["skipped"]["quarantined"]),
        (&5.into(), &Value::Null)
    );
}

#[test]
fn several_files_that_end_the_worker_are_all_found() {
    let project = Project::with("abort");
    for name in ["bad2.py", "bad3.py"] {
        project.write(name, &bad("abort"));
    }
    project.index_to(4, Some(3));
}

#[test]
fn more_files_that_end_the_worker_than_can_be_an_accident_cost_those_files_only() {
    let project = Project::with("none");
    for number in 0..110 {
        project.write(&format!("worse_{number:03}.py"), &bad("abort"));
    }
    project.index_to(5, Some(110));
    let found = project.run(&["search", "--mode", "name", "bad"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("bad.py"), "{found:?}");
}

#[test]
fn a_worker_that_dies_for_no_file_is_an_error_and_the_current_index_still_answers() {
    let project = Project::with("none");
    project.index();
    project.write("worker-fault-at-start", "chatter");
    project.write("a.py", "def changed():\n    return 1\n");
    let output = project.run(&["index", "--force"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(said.contains("signal 6 ABORT") && said.contains("line 19999"), "{said}");
    let output = project.run(&["search", "bad"]);
    assert!(output.status.success(), "{output:?}");
    fs::remove_file(project.root().join("worker-fault-at-start")).expect("it exists");
    let output = project.run(&["search", "changed"]);
    let found = String::from_utf8_lossy(&output.stdout);
    assert!(found.contains("up to date") && found.contains("a.py"), "{output:?}");
}

#[test]
fn a_phase_that_does_not_end_costs_the_change_and_not_the_answer() {
    let project = Project::with("none");
    project.index();
    project.write("worker-fault-at-tables", "hang");
    project.write("a.py", "def changed():\n    return 1\n");
    let begun = Instant::now();
    let output = project
        .command(&["index", "--force"])
        .env("COGRAPH_FILE_SECONDS", "1")
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    // A phase may take twenty times as long as a file. What the watchdog itself takes meanwhile is
    // no progress: it would make ten times as much of it.
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
    assert!(
        said.contains("`tables` takes too long") && said.contains("COGRAPH_FILE_SECONDS"),
        "{said}"
    );
    fs::remove_file(project.root().join("worker-fault-at-tables")).expect("it exists");
    assert_eq!(project.index().0["indexed"], 5);
}

#[test]
fn a_worker_ends_with_the_process_that_started_it() {
    let project = Project::with("hang");
    let mut parent = project
        .command(&["index"])
        .env("COGRAPH_FILE_SECONDS", "3600")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(parent.stderr.take().expect("it is piped")).lines();
    assert!(
        lines.any(|line| line.is_ok_and(|line| line.contains("parse"))),
        "the worker has begun to parse"
    );
    let pid = parent.id();
    let children = fs::read_dir(format!("/proc/{pid}/task"))
        .expect("it runs")
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok())
        .collect::<String>();
    let child: i32 = children.trim().parse().unwrap_or_else(|_| panic!("one worker: {children:?}"));
    let child =
        pidfd_open(Pid::from_raw(child).expect("a process"), PidfdFlags::empty()).expect("it runs");
    parent.kill().and_then(|()| parent.wait()).expect("it is our child");
    let mut waited = [PollFd::new(&child, PollFlags::IN)];
    assert_eq!(
        poll(&mut waited, Some(&PATIENCE)).expect("it can be waited for"),
        1,
        "the worker has outlived its parent"
    );
    let location = cograph::store::Location::new(
        &fs::canonicalize(project.0.path()).expect("it exists").join("cache"),
        &fs::canonicalize(project.root()).expect("it exists"),
    );
    location.lock(Duration::ZERO).expect("nobody writes any more");
}

/// The bound of the stack stands in for a bound that a recursion of name resolution lacks.
#[test]
fn a_recursion_without_an_end_costs_the_references_of_its_file() {
    let project = Project::with("none");
    project.write("calls.py", "def a(): pass\na()\n");
    project.write(
        "circle.ts",
        "class Item { run() {} }\ntype Rows<T> = T extends string ? Rows<T> : Item[];\n\
         function all(rows: Rows<string>) { for (const row of rows) row.run(); }\n",
    );
    // Members that are declared outside of their type: for the tables of all files.
    project.write(
        "outside.ts",
        "class Item { run() {} }\ntype Rows<T> = T extends string ? Rows<T> : Item[];\n\
         declare const rows: Rows<string>;\nrows[0].other = function () {};\n",
    );
    let asked = |statement: &str| {
        let output = project
            .command(&["sql", statement])
            .env("COGRAPH_TEST_FAULT", "followed_circles")
            // To fill a stack takes a while without optimisation.
            .env("COGRAPH_FILE_SECONDS", "60")
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).expect("answers are text"), said)
    };
    let (faults, said) =
        asked("SELECT path, count(*) > 3 FROM refs WHERE step = 'fault' GROUP BY path");
    let rows: Vec<&str> = faults.lines().skip(2).collect();
    assert_eq!(rows, ["circle.ts | 1", "outside.ts | 1"], "{faults}");
    assert!(
        said.contains("declares of types elsewhere stays unknown path=\"outside.ts\""),
        "{said}"
    );
    let (call, _) = asked("SELECT verdict FROM refs WHERE path = 'calls.py' AND kind = 'call'");
    assert_eq!(call.lines().last(), Some("resolved"), "{call}");
}
