//! How often a saved file is read until the store reflects it, and its directory listed: counted by
//! the notifications of the system, in whichever process it happens.

#![cfg(target_os = "linux")]

use std::fs;
use std::mem::MaybeUninit;
use std::path::PathBuf;

use cograph::config::WorkerCommand;
use cograph::index::{ChangeSet, Jobs, Residents, Run, WorkerPool, apply};
use cograph::model::SkipReason;
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::PATIENCE;
use super::project::{Project, generation, limits};

/// Accesses to a directory and the files in it, since the last look.
struct Accesses(OwnedFd);

/// Number of times that a file was opened, and that its directory was listed.
#[derive(PartialEq, Eq, Debug)]
struct Count {
    reads: usize,
    lists: usize,
}

impl Accesses {
    fn below(project: &Project) -> Self {
        let queue = inotify::init(CreateFlags::NONBLOCK).expect("there are instances left");
        // Ends as well: equal events that follow each other are one.
        let kinds = WatchFlags::OPEN | WatchFlags::ACCESS | WatchFlags::CLOSE_NOWRITE;
        inotify::add_watch(&queue, project.location.root(), kinds).expect("the root is there");
        Self(queue)
    }

    fn of(&self, file: &str) -> Count {
        let mut count = Count { reads: 0, lists: 0 };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.0, &mut buffer);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break count,
                Err(error) => panic!("{error}"),
            };
            let name = event.file_name().map(|name| name.to_bytes());
            let is_list = name.is_none() && event.events().contains(ReadFlags::ACCESS);
            let is_read = name == Some(file.as_bytes()) && event.events().contains(ReadFlags::OPEN);
            count.lists += usize::from(is_list);
            count.reads += usize::from(is_read);
        }
    }
}

fn workers() -> WorkerPool {
    WorkerPool::new(WorkerCommand {
        program: PathBuf::from(env!("CARGO_BIN_EXE_cograph")),
        arguments: ["index", "--worker"].map(Into::into).to_vec(),
    })
}

/// A repository whose file was saved after its store was built: the size is as before.
fn saved() -> Project {
    let project = Project::with(&[("a.py", "def a():\n    return 1\n"), ("b.py", "x = 1\n")]);
    assert_eq!(generation(&project.refresh()), (true, 1));
    project.write("a.py", "def b():\n    return 1\n");
    project
}

#[test]
fn a_saved_file_is_read_once_to_be_compared_and_once_to_be_indexed() {
    let project = saved();
    let (pool, residents) = (workers(), Residents::new());
    let quiet = || Run::quiet(limits(), &project.cancel);
    let runs = [
        Run { workers: Some(&pool), ..quiet() },
        // Again with the state that the worker has kept.
        Run { workers: Some(&pool), ..quiet() },
        Run { residents: Some(&residents), ..quiet() },
    ];
    for (number, run) in (2..).zip(runs) {
        project.write("a.py", &format!("def f{number}():\n    return 1\n"));
        let accesses = Accesses::below(&project);
        let changes = project.changes();
        assert_eq!(changes.len(), Some(1));
        assert_eq!(accesses.of("a.py").reads, usize::from(number > 2), "another size needs none");
        let applied = apply(&project.location, &changes, PATIENCE, &run);
        assert_eq!(generation(&applied.expect("nothing stands in the way")), (true, number));
        assert_eq!(accesses.of("a.py"), Count { reads: 1, lists: 0 }, "run {number}");
        assert!(project.changes().is_empty());
    }
}

#[test]
fn what_another_process_has_published_is_compared_under_the_lock() {
    let project = saved();
    let changes = project.changes();
    assert_eq!(generation(&project.refresh()), (true, 2));
    let pool = workers();
    let run = Run { workers: Some(&pool), ..Run::quiet(limits(), &project.cancel) };
    let applied = || {
        let accesses = Accesses::below(&project);
        let outcome = apply(&project.location, &changes, PATIENCE, &run);
        (generation(&outcome.expect("nothing stands in the way")), accesses.of("a.py"))
    };
    assert_eq!(applied(), ((false, 2), Count { reads: 1, lists: 0 }), "it is there already");
    project.write("a.py", "def c():\n    return 1\n");
    assert_eq!(applied(), ((true, 3), Count { reads: 2, lists: 0 }), "saved again since");
    assert!(project.changes().is_empty());
}

#[test]
fn a_file_that_is_gone_or_a_link_when_its_change_is_applied_is_taken_for_what_it_is() {
    let project = saved();
    let pool = workers();
    let run = Run { workers: Some(&pool), ..Run::quiet(limits(), &project.cancel) };
    let applied = |changes: &ChangeSet| {
        let outcome = apply(&project.location, changes, PATIENCE, &run);
        generation(&outcome.expect("nothing stands in the way"))
    };
    let changes = project.changes();
    fs::remove_file(project.path("a.py")).expect("removed");
    assert_eq!(applied(&changes), (true, 2));
    assert!(project.changes().is_empty(), "{:?}", project.changes());
    project.write("a.py", "def b():\n    return 1\n");
    let changes = project.changes();
    fs::remove_file(project.path("a.py")).expect("removed");
    std::os::unix::fs::symlink("b.py", project.path("a.py")).expect("linked");
    assert_eq!(applied(&changes), (true, 3));
    let row = project.snapshot().file_at("a.py").expect("it can be read").expect("it exists");
    assert_eq!(row.skipped, Some(SkipReason::Symlink));
    project.refresh();
    assert!(project.changes().is_empty(), "{:?}", project.changes());
    crate::incremental::assert_names_what_exists(&project.location);
}

#[test]
fn many_changes_that_mean_a_whole_build_are_compared_once() {
    let names: Vec<String> = (0..80).map(|number| format!("file_{number:02}.py")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x = 1\n")).collect();
    let project = Project::with(&files);
    project.refresh();
    names.iter().for_each(|name| project.write(name, "y = 1\n"));
    let changes = project.changes();
    let accesses = Accesses::below(&project);
    let outcome = apply(&project.location, &changes, PATIENCE, &project.run());
    let outcome = outcome.expect("nothing stands in the way");
    assert!(outcome.is_whole(&project.location), "{outcome:?}");
    assert_eq!(accesses.of("file_07.py"), Count { reads: 1, lists: 1 });
}

/// A job may be joined by one that has found the file to be something else.
#[test]
fn a_run_covers_what_was_found_of_a_file_and_not_its_path_alone() {
    let project = saved();
    let jobs = Jobs::new(limits(), None);
    let changes = project.changes();
    let job = jobs.start_for(&project.location, Some(changes.clone()), None);
    assert!(job.covers_changes(Some(&changes)));
    assert!(!job.covers_changes(Some(&longer(&changes))));
    job.wait(std::time::Instant::now() + PATIENCE);
}

fn longer(changes: &ChangeSet) -> ChangeSet {
    let ChangeSet::Some { touched, gone, compared } = changes.clone() else {
        panic!("{changes:?}")
    };
    let longer = |mut file: cograph::source::WalkedFile| {
        file.stamp.size += 1;
        file
    };
    ChangeSet::Some { touched: touched.into_iter().map(longer).collect(), gone, compared }
}
