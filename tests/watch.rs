//! What a watch reports: everything that the index reads, at once, whatever happens to the
//! directories around it, and nothing that it does not read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cograph::model::cancel::CancelToken;
use cograph::watch::{Hints, Watch, WatchError};
use tempfile::TempDir;

struct Project {
    _directory: TempDir,
    root: PathBuf,
    cancel: CancelToken,
}

impl Project {
    fn with(files: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = fs::canonicalize(directory.path()).expect("it exists").join("root");
        fs::create_dir(&root).expect("created");
        let project = Self { _directory: directory, root, cancel: CancelToken::new() };
        files.iter().for_each(|path| project.write(path, "x = 1\n"));
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root.join(from), self.root.join(to)).expect("renamed");
    }

    fn watch(&self) -> Watch {
        let watch = Watch::start(&self.root, 2, &self.cancel).expect("it can be watched");
        // The machine may be busy, and a test wants the paths.
        watch.with_patience(Duration::from_secs(60))
    }

    fn drain(&self, watch: &mut Watch) -> Hints {
        watch.drain(&self.cancel).expect("the root is there")
    }

    /// The paths that are reported, which are not everything.
    fn paths(&self, watch: &mut Watch) -> Vec<String> {
        let hints = self.drain(watch);
        assert!(!hints.everything);
        hints.paths.iter().map(ToString::to_string).collect()
    }
}

#[test]
fn a_file_that_was_saved_is_reported_at_once() {
    let project = Project::with(&["a.py", "sub/b.py"]);
    let mut watch = project.watch();
    assert!(project.drain(&mut watch).is_empty());
    for number in 0..300 {
        project.write("sub/b.py", &format!("x = {number}\n"));
        assert_eq!(project.paths(&mut watch), ["sub/b.py"], "save {number}");
    }
    fs::remove_file(project.root.join("a.py")).expect("removed");
    project.write("new.py", "x = 1\n");
    project.rename("sub/b.py", "sub/c.py");
    assert_eq!(project.paths(&mut watch), ["a.py", "new.py", "sub/b.py", "sub/c.py"]);
    fs::read(project.root.join("new.py")).expect("it exists");
    assert!(project.drain(&mut watch).is_empty(), "to read is no change");
}

#[test]
fn what_is_ignored_is_not_watched() {
    let project = Project::with(&["a.py", "out/deep/x.py", ".git/objects/x", "node/.gitignore"]);
    project.write(".gitignore", "out/\n");
    let mut watch = project.watch();
    // The root, `node`, and the directory of git's own rules if there is one.
    assert_eq!(watch.directories(), 2);
    project.write("out/deep/x.py", "x = 2\n");
    project.write("out/deeper/still/x.py", "x = 2\n");
    project.write(".git/objects/y", "y");
    assert!(project.drain(&mut watch).is_empty());
    project.write("node/.gitignore", "*.log\n");
    assert_eq!(project.paths(&mut watch), ["node"], "other rules: the directory is looked at");
    project.write(".gitignore", "nothing\n");
    assert!(project.drain(&mut watch).everything, "other rules for all");
    project.write("out/deep/x.py", "x = 3\n");
    assert_eq!(project.paths(&mut watch), ["out/deep/x.py"], "it is watched from then on");
}

#[test]
fn rules_of_git_that_are_not_in_the_tree_are_seen() {
    let project = Project::with(&["a.py", ".git/info/exclude"]);
    let mut watch = project.watch();
    project.write(".git/info/exclude", "a.py\n");
    assert!(project.drain(&mut watch).everything);
    project.write("sub/.git/HEAD", "ref: refs/heads/main\n");
    project.drain(&mut watch);
    fs::remove_dir_all(project.root.join("sub/.git")).expect("removed");
    assert!(project.drain(&mut watch).everything, "a repository inside has rules of its own");
}

#[test]
fn directories_that_appear_move_and_go_are_followed() {
    let project = Project::with(&["a.py", "sub/deep/b.py"]);
    let mut watch = project.watch();
    project.write("new/deep/er/c.py", "x = 1\n");
    assert_eq!(project.paths(&mut watch), ["new"]);
    project.write("new/deep/er/d.py", "x = 1\n");
    assert_eq!(project.paths(&mut watch), ["new/deep/er/d.py"]);

    project.rename("sub", "moved");
    assert_eq!(project.paths(&mut watch), ["moved", "sub"]);
    project.write("moved/deep/b.py", "x = 2\n");
    assert_eq!(project.paths(&mut watch), ["moved/deep/b.py"], "under its new name");

    let before = watch.directories();
    fs::remove_dir_all(project.root.join("moved")).expect("removed");
    assert!(project.paths(&mut watch).contains(&"moved".to_owned()));
    assert_eq!(watch.directories(), before - 2);
    project.write("moved/deep/b.py", "x = 3\n");
    project.drain(&mut watch);
    project.write("moved/deep/b.py", "x = 4\n");
    assert_eq!(project.paths(&mut watch), ["moved/deep/b.py"]);
}

#[test]
fn a_file_that_is_written_often_is_one_path() {
    let project = Project::with(&["a.py", "sub/b.py"]);
    let mut watch = project.watch();
    for number in 0..2_000 {
        project.write(if number % 2 == 0 { "a.py" } else { "sub/b.py" }, "x");
    }
    assert_eq!(project.paths(&mut watch), ["a.py", "sub/b.py"]);
}

#[test]
fn more_paths_than_are_kept_mean_everything() {
    let project = Project::with(&["a.py", "sub/b.py"]);
    let mut watch = project.watch();
    for number in 0..11_000 {
        fs::write(project.root.join(format!("sub/{number}")), "x").expect("written");
    }
    // Unseen among the others, one directory takes the place of another.
    project.rename("sub", "old");
    project.write("sub/c.py", "x = 1\n");
    let hints = project.drain(&mut watch);
    assert!(hints.everything && hints.paths.is_empty());
    project.write("sub/c.py", "x = 2\n");
    project.write("old/b.py", "x = 2\n");
    assert_eq!(project.paths(&mut watch), ["old/b.py", "sub/c.py"], "what is there is watched");
}

#[test]
fn a_storm_of_renames_leaves_every_directory_watched() {
    let project = Project::with(&["one/deep/a.py", "two/deep/a.py", "other/a.py"]);
    let mut watch = project.watch();
    for round in 0..300 {
        // The places of two directories change, at any time between two questions.
        project.rename("one", "between");
        if round % 3 == 0 {
            project.drain(&mut watch);
        }
        project.rename("two", "one");
        project.rename("between", "two");
        if round % 2 == 0 {
            // A directory moves over an empty one.
            fs::create_dir(project.root.join("empty")).expect("created");
            project.rename("other", "empty");
            project.rename("empty", "other");
        }
        let seen = project.paths(&mut watch);
        assert!(seen.contains(&"one".to_owned()) && seen.contains(&"two".to_owned()), "{seen:?}");
        for path in ["one/deep/a.py", "other/a.py", "two/deep/a.py"] {
            project.write(path, &format!("x = {round}\n"));
        }
        let written = ["one/deep/a.py", "other/a.py", "two/deep/a.py"];
        assert_eq!(project.paths(&mut watch), written, "round {round}");
    }
}

#[test]
fn a_root_that_goes_is_an_error() {
    for by in [
        |root: &Path| fs::remove_dir_all(root),
        |root: &Path| fs::rename(root, root.with_file_name("elsewhere")),
    ] {
        let project = Project::with(&["a.py"]);
        let mut watch = project.watch();
        by(&project.root).expect("it is ours");
        let error = watch.drain(&project.cancel).expect_err("there is nothing to watch");
        assert!(matches!(&error, WatchError::Lost { root } if *root == project.root), "{error}");
    }
    // A process is in the directory that is gone, as a server is in its working directory: the
    // system keeps it, and reports nothing.
    for by in [
        |root: &Path| fs::remove_dir_all(root),
        |root: &Path| {
            fs::rename(root.parent().expect("it is not the top"), root.join("../../elsewhere"))
        },
    ] {
        let project = Project::with(&["root/a.py"]);
        let root = project.root.join("root");
        let held = fs::File::open(&root).expect("it exists");
        let mut watch = Watch::start(&root, 2, &project.cancel).expect("it can be watched");
        by(&root).expect("it is ours");
        fs::create_dir_all(&root).expect("it is gone");
        let error = watch.drain(&project.cancel).expect_err("another directory is in its place");
        assert!(matches!(&error, WatchError::Lost { root: lost } if *lost == root), "{error}");
        drop(held);
    }
    let nowhere = Path::new("/nowhere/at/all");
    assert!(Watch::start(nowhere, 1, &CancelToken::new()).is_err());
}

#[test]
fn a_wait_ends_with_a_change_or_when_it_is_cancelled() {
    let project = Project::with(&["a.py"]);
    let mut watch = project.watch();
    project.write("a.py", "x = 2\n");
    let started = Instant::now();
    assert!(watch.wait(&project.cancel));
    assert!(started.elapsed() < Duration::from_secs(3), "a burst of one change is over soon");
    assert_eq!(project.paths(&mut watch), ["a.py"]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| watch.wait(&project.cancel));
        project.cancel.cancel();
        assert!(!waiting.join().expect("it does not panic"));
    });
}

#[test]
fn hints_add_up() {
    let path = |text: &str| cograph::model::RepoPath::new(text).expect("well formed");
    let mut hints = Hints { paths: BTreeSet::from([path("a")]), everything: false };
    hints.extend(Hints { paths: BTreeSet::from([path("b")]), everything: true });
    assert_eq!((hints.paths.len(), hints.everything, hints.is_empty()), (2, true, false));
}
