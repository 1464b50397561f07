//! A store reflects the files as they are: what has changed is noticed by itself, what has not
//! costs nothing, and all who wait for a run share it.

mod project;
mod reads;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use cograph::config::Limits;
use cograph::index::{
    ChangeSet, IndexError, JobState, Jobs, Outcome, Report, Residents, Run, Verified, apply,
    freshness, refresh,
};
use cograph::model::cancel::CancelToken;
use cograph::store::{Store, StoreErrorKind};

use crate::incremental::assert_names_what_exists;
use project::{Project, generation, limits, set_age};

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn nothing_changed_writes_nothing() {
    let project = Project::with(&[
        ("a.py", "def a():\n    pass\n"),
        ("notes.txt", "text"),
        ("tool", "#!/bin/sh\n"),
    ]);
    assert_eq!(generation(&project.refresh()), (true, 1));
    assert!(project.changes().is_empty(), "{:?}", project.changes());
    assert_eq!(generation(&project.refresh()), (false, 1));
}

#[test]
fn every_kind_of_change_is_seen() {
    let files = [
        ("changed.py", "x = 1\n"),
        ("same_size.py", "x = 1\n"),
        ("gone.py", "x = 1\n"),
        ("sub/stays.py", "x = 1\n"),
    ];
    let project = Project::with(&files);
    project.refresh();
    project.write("changed.py", "x = 12\n");
    project.write("same_size.py", "x = 2\n");
    project.write("new.py", "x = 1\n");
    project.write("new.txt", "text");
    fs::remove_file(project.path("gone.py")).expect("removed");
    assert_eq!(
        project.changed_paths(),
        ["changed.py", "new.py", "new.txt", "same_size.py", "gone.py"]
    );
    assert_eq!(generation(&project.refresh()), (true, 2));
    assert!(project.changes().is_empty());

    fs::rename(project.path("sub"), project.path("moved")).expect("renamed");
    assert_eq!(project.changed_paths(), ["moved/stays.py", "sub/stays.py"]);
    project.refresh();
    assert_names_what_exists(&project.location);
    project.write(".gitignore", "moved/\n");
    assert_eq!(project.changed_paths(), ["moved/stays.py"], "what is ignored from now on is gone");
    project.refresh();
    assert_names_what_exists(&project.location);
}

#[test]
fn a_time_that_changes_without_the_bytes_is_no_change() {
    let project = Project::with(&[("a.py", "x = 1\n"), ("b.txt", "text")]);
    project.refresh();
    set_age(&project.path("a.py"), 10);
    set_age(&project.path("b.txt"), 10);
    assert!(project.changes().is_empty());
    assert_eq!(generation(&project.refresh()), (false, 1));
}

/// Waits until the time of the last change of a file is long enough past to be trusted.
fn come_to_rest(path: &Path) {
    let until = Instant::now() + PATIENCE;
    let changed = |path: &Path| {
        fs::metadata(path)
            .map(|found| Duration::new(found.ctime() as u64, found.ctime_nsec() as u32))
    };
    let now =
        || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is right");
    while changed(path).expect("it exists") + Duration::from_millis(600) > now() {
        assert!(Instant::now() < until, "time goes by");
        std::thread::yield_now();
    }
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    let project = Project::with(&[("a.py", "x = 1\n"), ("b.py", "x = 1\n")]);
    let time = |path: &str| {
        fs::metadata(project.path(path))
            .and_then(|metadata| metadata.modified())
            .expect("it has one")
    };
    let write_as_old = |path: &str, text: &str, time: SystemTime| {
        fs::write(project.path(path), text).expect("written");
        fs::File::options()
            .write(true)
            .open(project.path(path))
            .and_then(|file| file.set_modified(time))
            .expect("it is ours");
    };
    ["a.py", "b.py"].into_iter().for_each(|path| come_to_rest(&project.path(path)));
    project.refresh();
    let verified = Verified::new();
    let snapshot = project.snapshot();
    let look = || {
        freshness(&snapshot, &limits(), &verified, &project.cancel).expect("the root can be read")
    };
    let before = time("a.py");
    // The same bytes: what was found of them then is remembered, and is worth nothing for other
    // bytes.
    write_as_old("a.py", "x = 1\n", before);
    assert!(look().is_empty());
    come_to_rest(&project.path("a.py"));
    assert!(look().is_empty());
    write_as_old("a.py", "x = 2\n", before);
    assert_eq!(look().len(), Some(1), "as copying and unpacking do that keep times");
    write_as_old("b.tmp", "x = 2\n", time("b.py"));
    fs::rename(project.path("b.tmp"), project.path("b.py")).expect("renamed");
    assert_eq!(project.changed_paths(), ["a.py", "b.py"]);
    assert_eq!(generation(&project.refresh()), (true, 2));
    assert!(project.changes().is_empty());
}

#[test]
fn many_files_that_were_touched_are_read_by_one_process_only() {
    let names: Vec<String> = (0..80).map(|number| format!("file_{number:02}.py")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x = 1\n")).collect();
    let project = Project::with(&files);
    project.refresh();
    names.iter().for_each(|name| set_age(&project.path(name), 1_000));
    names.iter().for_each(|name| come_to_rest(&project.path(name)));
    let before = project.snapshot().identity();
    assert!(project.changes().is_empty());
    let snapshot = project.snapshot();
    assert_eq!(snapshot.identity(), before);
    for row in snapshot.files().expect("files") {
        let found = fs::metadata(project.path(row.path.as_str())).expect("it exists");
        let now = (
            found.mtime() * 1_000_000_000 + found.mtime_nsec(),
            found.ctime() * 1_000_000_000 + found.ctime_nsec(),
        );
        assert_eq!((row.modified_ns, row.changed_ns), now, "{}", row.path);
        assert_eq!(row.inode, found.ino());
    }
}

#[test]
fn a_time_that_is_not_over_when_the_file_is_read_is_not_trusted() {
    let project = Project::with(&[("a.py", "x = 1\n")]);
    // Simulates a write in the same tick of the file system's clock as the read.
    let time = SystemTime::now() + Duration::from_secs(60);
    let write = |text| {
        fs::write(project.path("a.py"), text).expect("written");
        fs::File::options()
            .write(true)
            .open(project.path("a.py"))
            .and_then(|file| file.set_modified(time))
            .expect("it is ours");
    };
    write("x = 1\n");
    project.refresh();
    assert!(project.changes().is_empty());
    write("x = 2\n");
    assert_eq!(project.changed_paths(), ["a.py"], "same size, same time, other bytes");
}

#[test]
fn other_limits_mean_another_build() {
    let project = Project::with(&[("a.py", "x = 1\n")]);
    project.refresh();
    let limits = Limits { file_bytes: 3, ..limits() };
    let changes = freshness(&project.snapshot(), &limits, &Verified::new(), &project.cancel)
        .expect("the root can be read");
    assert_eq!(changes, ChangeSet::Everything { forced: false });
}

#[test]
fn a_build_can_be_forced() {
    let project = Project::with(&[("a.py", "x = 1\n")]);
    project.refresh();
    let applied = |forced| {
        let outcome =
            apply(&project.location, &ChangeSet::Everything { forced }, PATIENCE, &project.run());
        generation(&outcome.expect("nothing stands in the way"))
    };
    assert_eq!(applied(false), (false, 1), "somebody else has built it meanwhile");
    assert_eq!(applied(true), (true, 2));
}

#[test]
fn a_file_that_is_back_when_its_removal_is_applied_stays() {
    let project = Project::with(&[("a.py", "x = 1\n"), ("b.py", "def b():\n    pass\n")]);
    project.refresh();
    fs::remove_file(project.path("b.py")).expect("removed");
    let removal = project.changes();
    assert_eq!(removal.paths().map(|path| path.as_str()).collect::<Vec<_>>(), ["b.py"]);
    let applied = || {
        let outcome = apply(&project.location, &removal, PATIENCE, &project.run());
        generation(&outcome.expect("nothing stands in the way"))
    };
    // As a process finds it that waited for another one.
    project.write("b.py", "def b():\n    pass\n");
    assert_eq!(applied(), (false, 1));
    project.write("b.py", "def changed():\n    pass\n");
    assert_eq!(applied(), (true, 2), "with other contents it is a change");
    assert!(project.changes().is_empty(), "{:?}", project.changes());
    fs::remove_file(project.path("b.py")).expect("removed");
    assert_eq!(applied(), (true, 3));
    assert!(project.changes().is_empty(), "{:?}", project.changes());
}

#[test]
fn a_writer_is_waited_for_up_to_a_timeout() {
    let project = Project::with(&[("a.py", "x = 1\n")]);
    let lock = project.location.lock(Duration::ZERO).expect("no other process writes");
    let refused = refresh(&project.location, Duration::from_millis(20), &project.run());
    assert!(
        matches!(&refused, Err(IndexError::Store(error)) if error.kind == StoreErrorKind::Locked),
        "{refused:?}"
    );
    drop(lock);
    assert_eq!(generation(&project.refresh()), (true, 1));
}

#[test]
fn a_cancelled_run_leaves_the_store_as_it_was() {
    let project = Project::with(&[("a.py", "x = 1\n")]);
    project.refresh();
    project.write("a.py", "x = 3\n");
    for phase in [
        cograph::index::Phase::Walk,
        cograph::index::Phase::Extract,
        cograph::index::Phase::Resolve,
    ] {
        let cancel = CancelToken::new();
        let progress = |progress: cograph::index::Progress| {
            if progress.phase == phase {
                cancel.cancel();
            }
        };
        let ended = refresh(
            &project.location,
            PATIENCE,
            &Run { progress: &progress, ..Run::quiet(limits(), &cancel) },
        );
        assert!(matches!(ended, Err(IndexError::Cancelled { .. })), "{phase:?}: {ended:?}");
        assert_eq!(project.snapshot().identity().generation, 1);
    }
    assert_eq!(generation(&project.refresh()), (true, 2));
}

#[test]
fn all_who_wait_share_one_run() {
    let project = Project::with(&[("a.py", "x = 1\n")]);
    let jobs = Jobs::new(limits(), None);
    // The lock holds the run up until all have come.
    let lock = project.location.lock(Duration::ZERO).expect("no other process writes");
    let first = jobs.start(&project.location);
    let second = jobs.start(&project.location);
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(jobs.current().len(), 1);
    assert!(
        !matches!(first.wait(Instant::now()), JobState::Done(_)),
        "a wait that may not last comes back at once"
    );
    drop(lock);
    std::thread::scope(|scope| {
        for job in [&first, &second] {
            scope.spawn(move || match job.wait(Instant::now() + PATIENCE) {
                JobState::Done(Ok(outcome)) => assert_eq!(generation(&outcome), (true, 1)),
                other => panic!("{other:?}"),
            });
        }
    });
    assert!(jobs.current().is_empty());
    let again = jobs.start(&project.location);
    assert!(!Arc::ptr_eq(&first, &again), "a run that has ended is not joined");
    assert!(matches!(
        again.wait(Instant::now() + PATIENCE),
        JobState::Done(Ok(Outcome::Unchanged { .. }))
    ));
}

#[test]
fn what_matters_most_is_indexed_first_and_the_rest_by_itself() {
    let project = Project::with(&[("a.py", "x = 1\n"), ("b.py", "x = 1\n"), ("c.py", "x = 1\n")]);
    let jobs = Jobs::new(limits(), None);
    let done = |job: Arc<cograph::index::Job>| match job.wait(Instant::now() + PATIENCE) {
        JobState::Done(Ok(outcome)) => generation(&outcome),
        other => panic!("{other:?}"),
    };
    assert_eq!(done(jobs.start(&project.location)), (true, 1));
    for path in ["a.py", "b.py"] {
        project.write(path, "def f():\n    pass\n");
    }
    fs::remove_file(project.path("c.py")).expect("removed");
    let all = project.changes();
    let (first, rest) = all.split(|path| path.as_str() == "b.py").expect("they have names");
    assert_eq!((first.len(), rest.len()), (Some(1), Some(2)));
    let job = jobs.start_for(&project.location, Some(first.clone()), Some(rest.clone()));
    assert!(
        job.covers_changes(Some(&first))
            && !job.covers_changes(Some(&rest))
            && !job.covers_changes(Some(&all))
            && !job.covers_changes(None)
    );
    assert_eq!(done(job), (true, 2));
    // The one for the rest, which is under way, or a new one that finds nothing left to do.
    let (_, last) = done(jobs.start_for(&project.location, Some(rest.clone()), None));
    assert_eq!((last, project.changes().is_empty()), (3, true));
    let again = jobs.start_for(&project.location, Some(all.clone()), None);
    assert!(
        again.covers_changes(Some(&rest))
            && again.covers_changes(Some(&all))
            && jobs.start(&project.location).covers_changes(Some(&all))
    );
    assert_eq!(done(again), (false, 3), "what is in the store already is not written again");
    assert_names_what_exists(&project.location);
}

#[test]
fn where_most_files_have_changed_the_store_is_built_anew() {
    let names: Vec<String> = (0..100).map(|number| format!("file_{number}.py")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x = 1\n")).collect();
    let project = Project::with(&files);
    let residents = Residents::new();
    let run = Run { residents: Some(&residents), ..project.run() };
    let uid = |changed: usize, text: &str| {
        names.iter().take(changed).for_each(|name| project.write(name, text));
        refresh(&project.location, PATIENCE, &run)
            .expect("nothing stands in the way")
            .identity()
            .uid
    };
    let first = uid(0, "");
    assert_eq!(uid(40, "x = 2\n"), first);
    let second = uid(80, "x = 3\n");
    assert_ne!(second, first);
    assert_eq!(uid(3, "x = 4\n"), second);
    assert!(project.changes().is_empty());
    assert_names_what_exists(&project.location);
}

#[test]
fn a_long_log_of_changes_is_carried_over_to_the_store() {
    let project = Project::with(&[("a.py", "x = 1\n"), ("b.py", "x = 1\n")]);
    let residents = Residents::new();
    let run = Run { residents: Some(&residents), ..project.run() };
    let refreshed =
        || refresh(&project.location, PATIENCE, &run).expect("nothing stands in the way");
    refreshed();
    // The log stays while a reader has the store open.
    let reader = Store::open_newest(&project.location).expect("there is a store");
    let log = reader.path().with_extension("db-wal");
    let sizes = || {
        (
            fs::metadata(reader.path()).expect("it exists").len(),
            fs::metadata(&log).expect("it exists").len(),
        )
    };
    project.write("a.py", "x = 12\n");
    refreshed();
    let before = sizes();
    cograph::store::checkpoint(&project.location).expect("nothing stands in the way");
    assert_eq!(sizes(), before, "it is short");
    let many: String = (0..26_000)
        .map(|number| format!("def function_{number}():\n    return call_{number}()\n"))
        .collect();
    project.write("b.py", &many);
    refreshed();
    assert!(sizes().0 == before.0 && sizes().1 > 4 << 20, "{before:?} {:?}", sizes());
    cograph::store::checkpoint(&project.location).expect("nothing stands in the way");
    assert!(sizes().0 > before.0 + (2 << 20), "{before:?} {:?}", sizes());
}

#[test]
fn runs_are_stopped_by_their_owner_and_by_the_end() {
    let projects = [(); 3].map(|()| Project::with(&[("a.py", "x = 1\n")]));
    let locks = projects
        .each_ref()
        .map(|project| project.location.lock(Duration::ZERO).expect("no other process writes"));
    let jobs = Jobs::new(limits(), None);
    let started = projects.each_ref().map(|project| jobs.start(&project.location));
    // At most two work at a time, and they are held up: the third waits for its turn and can be
    // stopped all the same.
    started[2].cancel();
    drop(locks);
    for job in &started[..2] {
        assert!(matches!(job.wait(Instant::now() + PATIENCE), JobState::Done(Ok(_))));
    }
    let third = started[2].wait(Instant::now() + PATIENCE);
    assert!(
        matches!(
            &third, JobState::Done(Err(error)) if matches!(**error, IndexError::Cancelled { .. })
        ),
        "{third:?}"
    );

    let lock = projects[2].location.lock(Duration::ZERO).expect("no other process writes");
    let last = jobs.start(&projects[2].location);
    let other = jobs.start(&projects[0].location);
    // While another writer holds the lock: shutdown does not wait for it.
    drop(jobs);
    drop(lock);
    for job in [last, other] {
        assert!(matches!(job.state(), JobState::Done(_)), "the end of all waits for every thread");
    }
}

#[test]
fn a_directory_that_goes_is_an_error_and_the_store_stays() {
    let project = Project::with(&[("a.py", "x = 1\n")]);
    project.refresh();
    fs::remove_dir_all(project.location.root()).expect("removed");
    let refused = refresh(&project.location, PATIENCE, &project.run());
    assert!(matches!(refused, Err(IndexError::Source(_))), "{refused:?}");
    assert_eq!(project.snapshot().identity().generation, 1);
    assert!(project.directory.path().exists());
}

#[test]
fn changes_are_applied_in_place_and_idle_state_is_dropped() {
    let project = Project::with(&[
        ("a.py", "def f():\n    return g()\n"),
        ("b.py", "from a import f\n\ndef h():\n    f()\n"),
    ]);
    let residents = Residents::with_timeout(Duration::from_millis(50));
    let run = Run { residents: Some(&residents), ..project.run() };
    let refreshed =
        || match refresh(&project.location, PATIENCE, &run).expect("nothing stands in the way") {
            Outcome::Published { published, .. } => published.identity,
            Outcome::Unchanged { .. } => panic!("a file has changed"),
        };
    let first = refreshed();
    project.write("a.py", "def f(x):\n    return g(x)\n");
    let second = refreshed();
    assert_eq!(
        (second.uid, second.generation),
        (first.uid, first.generation + 1),
        "it is the same file in another state"
    );
    assert!(project.changes().is_empty());
    let until = Instant::now() + PATIENCE;
    while !residents.locations().is_empty() {
        assert!(Instant::now() < until, "what nobody uses is let go");
        std::thread::yield_now();
    }
    project.write("a.py", "def f(x, y):\n    return g(x)\n");
    let third = refreshed();
    assert_eq!(
        (third.uid, third.generation),
        (first.uid, second.generation + 1),
        "what is on disk is taken up again"
    );
    assert_names_what_exists(&project.location);
}

#[test]
fn a_store_that_another_process_has_changed_is_not_taken_for_the_known_one() {
    let project = Project::with(&[("a.py", "def f():\n    pass\n")]);
    let (one, other) = (Residents::new(), Residents::new());
    let refreshed = |residents: &Residents| {
        let run = Run { residents: Some(residents), ..project.run() };
        let outcome =
            refresh(&project.location, PATIENCE, &run).expect("nothing stands in the way");
        assert!(matches!(outcome, Outcome::Published { .. }), "a file has changed");
        let store = Arc::new(Store::open_newest(&project.location).expect("there is a store"));
        let snapshot = store.snapshot(&CancelToken::new()).expect("it can be read");
        Report::of(&snapshot).expect("it is whole").symbols()
    };
    refreshed(&one);
    project.write("a.py", "def f():\n    pass\n\ndef g():\n    pass\n");
    refreshed(&other);
    project.write("a.py", "def f():\n    pass\n\ndef g():\n    pass\n\ndef h():\n    pass\n");
    let symbols = refreshed(&one);
    assert_eq!(symbols, 3);
    assert!(project.changes().is_empty());
    assert_names_what_exists(&project.location);
}
