//! Comparison of all files of a repository with their recorded stamps. Notifications cover changes
//! through watched directories; a write through mapped memory, or through another link to the file,
//! changes the inode only. Opens no file.

use std::path::{Path, PathBuf};
use std::thread::{Builder, ScopedJoinHandle};

use super::{names, stamp};
use cograph_model::RepoPath;
use cograph_model::graph::FileStamp;
use cograph_system::files::{FileKind, OpenDirectory};

/// Minimum number of files for another thread: they take about a millisecond and a half; starting a
/// thread takes a twentieth of that.
const MIN_FILES_PER_THREAD: usize = 1_024;

/// Recorded stamps of files.
#[derive(Debug)]
pub struct Sweep {
    root: PathBuf,
    /// Sorted by path. A removed file keeps its entry, with the stamp of a missing file.
    files: Vec<(RepoPath, FileStamp)>,
}

impl Sweep {
    /// Creates a sweep of files below a root, with their stamps at the last comparison.
    pub fn new(root: &Path, mut files: Vec<(RepoPath, FileStamp)>) -> Self {
        files.sort_by(|(a, _), (b, _)| a.cmp(b));
        files.dedup_by(|(a, _), (b, _)| a == b);
        Self { root: root.to_path_buf(), files }
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds files that were compared later. Existing entries are newer and kept.
    pub fn add(&mut self, files: Vec<(RepoPath, FileStamp)>) {
        let is_new = |(path, _): &(RepoPath, FileStamp)| {
            self.files.binary_search_by(|(known, _)| known.cmp(path)).is_err()
        };
        let new: Vec<_> = files.into_iter().filter(is_new).collect();
        if !new.is_empty() {
            self.files.extend(new);
            self.files.sort_by(|(a, _), (b, _)| a.cmp(b));
            self.files.dedup_by(|(a, _), (b, _)| a == b);
        }
    }

    /// Compares every file, one system call each, and returns those that differ from the last time.
    /// A file changed too recently is included each time until its time is evidence. Uses at most
    /// this number of threads.
    pub fn changed(&mut self, threads: usize) -> Vec<RepoPath> {
        // Without a root all files are missing.
        let root = OpenDirectory::open_for_looking(&self.root, true).ok();
        // One time for all: files that change from here on are included in the next comparison.
        let (root, begun) = (root.as_ref(), stamp::now_ns());
        let share = self.files.len().div_ceil(threads.max(1)).max(MIN_FILES_PER_THREAD);
        let mut changed = Vec::new();
        let all_were_checked = std::thread::scope(|scope| {
            let mut parts = self.files.chunks_mut(share);
            let own = parts.next();
            let start = |part| {
                Builder::new()
                    .name("sweep".to_owned())
                    .spawn_scoped(scope, move || look_at(root, part, begun))
            };
            let others: Vec<_> = parts.map(start).collect();
            changed.extend(own.map(|part| look_at(root, part, begun)).unwrap_or_default());
            let mut failures = 0;
            for other in others {
                match other.map(ScopedJoinHandle::join) {
                    Ok(Ok(more)) => changed.extend(more),
                    Ok(Err(_)) | Err(_) => failures += 1,
                }
            }
            failures == 0
        });
        if !all_were_checked {
            // The system provides no more threads.
            changed.extend(look_at(root, &mut self.files, begun));
        }
        changed
    }
}

fn look_at(
    root: Option<&OpenDirectory>,
    files: &mut [(RepoPath, FileStamp)],
    begun: i64,
) -> Vec<RepoPath> {
    let mut changed = Vec::new();
    for (path, seen) in files {
        let now = root.and_then(|root| stat(root, path, begun)).unwrap_or_default();
        if !now.suggests_same_bytes(seen) {
            *seen = now;
            changed.push(path.clone());
        }
    }
    changed
}

/// Returns the stamp of a regular file; `None` if there is none at the path.
fn stat(root: &OpenDirectory, path: &RepoPath, begun: i64) -> Option<FileStamp> {
    let plain = path.as_str();
    let found = match plain.contains('%') {
        true => root.stat(&names::to_os(path)),
        false => root.stat(Path::new(plain)),
    };
    let found = found.ok().filter(|found| found.kind == FileKind::Regular)?;
    Some(stamp::of(&found, begun))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::time::{Duration, Instant, SystemTime};

    const PATIENCE: Duration = Duration::from_secs(30);

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("well formed")
    }

    /// Repeats the comparison until the times of changed files are evidence.
    fn until_stable(sweep: &mut Sweep) {
        let until = Instant::now() + PATIENCE;
        while !sweep.changed(1).is_empty() {
            assert!(Instant::now() < until, "a file without writers becomes stable");
            std::thread::yield_now();
        }
    }

    #[test]
    fn changes_without_a_notification_are_detected() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (root, outside) = (place.path().join("root"), place.path().join("link"));
        fs::create_dir_all(root.join("sub")).expect("created");
        for name in ["a.py", "sub/100%41.py", "sub/gone.py"] {
            fs::write(root.join(name), "x = 1\n").expect("written");
        }
        fs::hard_link(root.join("a.py"), &outside).expect("linked");
        let files =
            ["a.py", "sub/100%41.py", "sub/gone.py"].map(|name| (path(name), FileStamp::default()));
        let mut sweep = Sweep::new(&root, files.to_vec());
        assert_eq!(sweep.changed(1).len(), 3);
        until_stable(&mut sweep);
        fs::write(&outside, "x = 2\n").expect("written");
        assert_eq!(sweep.changed(1), [path("a.py")], "another name of the file");
        until_stable(&mut sweep);
        let before = fs::metadata(root.join("a.py"))
            .and_then(|found| found.modified())
            .expect("it has a time");
        fs::write(root.join("a.py"), "x = 3\n").expect("written");
        let set_back = |time: SystemTime| {
            File::options()
                .write(true)
                .open(root.join("a.py"))
                .and_then(|file| file.set_modified(time))
        };
        set_back(before).expect("it is ours");
        assert_eq!(sweep.changed(1), [path("a.py")], "as large and as old as before");
        until_stable(&mut sweep);
        fs::remove_file(root.join("sub/gone.py")).expect("removed");
        assert_eq!(sweep.changed(1), [path("sub/gone.py")]);
        assert!(sweep.changed(1).is_empty(), "what is gone is reported once");
        fs::write(root.join("b.py"), "x = 1\n").expect("written");
        sweep.add(vec![(path("b.py"), FileStamp::default()), (path("a.py"), FileStamp::default())]);
        assert_eq!((sweep.changed(1), sweep.len()), (vec![path("b.py")], 4));
    }

    #[test]
    fn several_threads_find_what_one_finds() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let names: Vec<String> =
            (0..3 * MIN_FILES_PER_THREAD).map(|number| format!("f{number}")).collect();
        names.iter().for_each(|name| drop(File::create(place.path().join(name)).expect("created")));
        let mut sweep = Sweep::new(
            place.path(),
            names.iter().map(|name| (path(name), FileStamp::default())).collect(),
        );
        let mut found = sweep.changed(8);
        found.sort();
        assert_eq!(found, sweep.files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>());
        until_stable(&mut sweep);
        fs::write(place.path().join("f2999"), "x").expect("written");
        assert_eq!(sweep.changed(8), [path("f2999")]);
    }
}
