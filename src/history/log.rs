//! History of the files: which commits changed them, when, and by whom. Read once from the log,
//! kept by its caller as bytes, and continued: with the commits that are new, with those that were
//! not reached in time, and without those of a branch that was left.

mod codec;
mod commits;
mod reader;

use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::git::{Git, GitError};
use cograph_model::RepoPath;
use cograph_model::change::{FileHistory, Together};
pub(super) use commits::Commit;
pub use commits::History;
use reader::LogReader;

/// Maximum number of commits that are kept.
pub const MAX_COMMITS: usize = 200_000;
/// Number of newest commits in which files that changed together are counted.
const WINDOW: usize = 3_000;
/// Least number of commits in common that is evidence.
const MIN_COMMITS: u32 = 2;
/// Length of the time that counts as recent, in seconds.
const RECENT: u64 = 365 * 24 * 3600;
/// Maximum number of authors of a file.
const MAX_OWNERS: usize = 3;
/// Present path of a file whose name another one took.
const NO_FILE: u32 = u32::MAX;

impl History {
    /// The history in the bytes that [`History::encoded`] made; none if they are others.
    pub fn decoded(bytes: &[u8]) -> Option<Self> {
        codec::decoded(bytes)
    }

    /// The history as bytes.
    pub fn encoded(&self) -> Vec<u8> {
        codec::encoded(self)
    }

    /// Number of commits.
    pub fn commits(&self) -> usize {
        self.commits.len()
    }

    /// What limits it; empty if it is whole.
    pub fn limit(&self) -> &'static str {
        match () {
            () if self.is_shallow => "the clone is shallow",
            () if self.commits.len() >= MAX_COMMITS => "older commits are not read",
            () if !self.is_whole => "reading it took too long: the next answer reads on",
            () if self.commits.len() == 1 => "it may be squashed",
            () => "",
        }
    }

    /// Brings it to the present commit, within a time. Returns true if it is different now.
    pub(super) fn refresh(&mut self, git: &Git<'_>, within: Duration) -> Result<bool, GitError> {
        let until = Instant::now() + within;
        let head = match git.commit("HEAD") {
            // Without a commit there is no history.
            Err(GitError::NoRevision(_)) => {
                let is_new = !self.head.is_empty();
                *self = Self { is_whole: true, ..Self::default() };
                return Ok(is_new);
            }
            head => head?,
        };
        if self.head == head && (self.is_whole || self.commits.len() >= MAX_COMMITS) {
            return Ok(false);
        }
        let facts = git.lines(&["rev-parse", "--is-shallow-repository", "--show-prefix"])?;
        let is_shallow = facts.first().is_some_and(|line| line == "true");
        let prefix = facts.get(1).cloned().unwrap_or_default();
        if self.head.is_empty() || self.prefix != prefix || self.is_shallow != is_shallow {
            *self = Self { prefix, is_shallow, head: head.clone(), ..Self::default() };
        } else if self.head != head && !self.follow(git, &head, until)? {
            let (prefix, head) = (std::mem::take(&mut self.prefix), head.clone());
            *self = Self { prefix, is_shallow, head, ..Self::default() };
        }
        if !self.is_whole && self.commits.len() < MAX_COMMITS {
            let mut reader = LogReader::default();
            let skip = format!("--skip={}", self.commits.len());
            let most = format!("-n{}", MAX_COMMITS - self.commits.len());
            self.is_whole = self.read(git, &[&skip, &most, &head], until, &mut reader)?;
            let read = reader.finish(&mut self.paths, &mut self.authors, self.is_whole);
            self.commits.extend(read);
        }
        Ok(true)
    }

    /// Takes the commits that are new, and leaves those of a branch that is not the present one.
    /// Returns false if that is not possible.
    fn follow(&mut self, git: &Git<'_>, head: &str, until: Instant) -> Result<bool, GitError> {
        let gone = format!("{head}..{}", self.head);
        let listed = git.read(&["rev-list", "--max-count=20000", &gone, "--"], b"", 2 << 20);
        let gone = match listed {
            Ok(gone) => gone,
            // Its object is gone, or the branches have little in common.
            Err(GitError::Failed(_) | GitError::TooMuch(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        let gone: FxHashSet<&str> =
            std::str::from_utf8(&gone).unwrap_or_default().split_whitespace().collect();
        let mut reader = LogReader::default();
        let range = format!("{}..{head}", self.head);
        if !self.read(git, &[&range], until, &mut reader)? {
            return Ok(false);
        }
        self.commits.retain(|commit| !gone.contains(&*commit.id));
        let mut commits = reader.finish(&mut self.paths, &mut self.authors, true);
        commits.append(&mut self.commits);
        commits.truncate(MAX_COMMITS);
        self.commits = commits;
        head.clone_into(&mut self.head);
        Ok(true)
    }

    /// Reads a part of the log; true if it was read to its end.
    fn read(
        &self,
        git: &Git<'_>,
        which: &[&str],
        until: Instant,
        reader: &mut LogReader,
    ) -> Result<bool, GitError> {
        let mut renames = "-M";
        loop {
            let mut arguments = vec!["log", "--no-merges", "--raw", renames, "--relative"];
            arguments.extend(["--abbrev=4", "--no-show-signature", reader::FORMAT]);
            arguments.extend(which);
            arguments.push("--");
            let left = until.saturating_duration_since(Instant::now());
            let read = git.stream(&arguments, b"", left, &mut |bytes| {
                reader.take(bytes);
                true
            });
            match read {
                // Without the contents of a partial clone, names cannot be followed.
                Err(GitError::Failed(_)) if renames == "-M" => {
                    (*reader, renames) = (LogReader::default(), "--no-renames");
                }
                read => return read,
            }
        }
    }

    /// Visits the commits, newest first, with the present paths of their files.
    fn visit(&self, mut visit: impl FnMut(&Commit, &[u32])) {
        let mut present: FxHashMap<u32, u32> = FxHashMap::default();
        for commit in &self.commits {
            let now = |file: &u32| present.get(file).copied().unwrap_or(*file);
            let mut files: Vec<u32> =
                commit.files.iter().map(now).filter(|&file| file != NO_FILE).collect();
            files.sort_unstable();
            files.dedup();
            visit(commit, &files);
            for &(old, new) in &commit.renames {
                // What had the new name before was another file.
                let present_name = present.insert(new, NO_FILE).unwrap_or(new);
                present.insert(old, present_name);
            }
        }
    }

    /// Facts about files by their present paths: those in `wanted`, or all.
    pub fn files(
        &self,
        ignored: &FxHashSet<String>,
        wanted: Option<&FxHashSet<RepoPath>>,
    ) -> FxHashMap<RepoPath, FileHistory> {
        let newest = self.commits.iter().map(|commit| commit.time).max().unwrap_or(0);
        let mut found: FxHashMap<u32, (FileHistory, FxHashMap<u32, u32>)> = FxHashMap::default();
        let wanted: Option<FxHashSet<u32>> = wanted.map(|wanted| {
            let known = wanted.iter().filter_map(|path| self.paths.known.get(path.as_str()));
            known.copied().collect()
        });
        self.visit(|commit, files| {
            if ignored.contains(&*commit.id) {
                return;
            }
            let is_wanted = |file: &u32| wanted.as_ref().is_none_or(|all| all.contains(file));
            for &file in files.iter().filter(|file| is_wanted(file)) {
                let (facts, authors) = found.entry(file).or_default();
                facts.commits += 1;
                facts.recent += u32::from(newest.saturating_sub(commit.time) <= RECENT);
                facts.last = facts.last.max(commit.time);
                *authors.entry(commit.author).or_default() += 1;
            }
        });
        let named = |(file, (mut facts, authors)): (u32, (FileHistory, FxHashMap<u32, u32>))| {
            let path = RepoPath::new(&self.paths.texts[file as usize])?;
            facts.authors = u32::try_from(authors.len()).unwrap_or(u32::MAX);
            let mut authors: Vec<(&str, u32)> = authors
                .into_iter()
                .map(|(author, count)| (&*self.authors.texts[author as usize], count))
                .collect();
            authors.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
            authors.truncate(MAX_OWNERS);
            facts.owners =
                authors.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
            Some((path, facts))
        };
        found.into_iter().filter_map(named).collect()
    }

    /// Pairs of files that changed in the same commits, each once, with the number of these.
    pub fn pairs(&self, ignored: &FxHashSet<String>) -> Vec<(RepoPath, RepoPath, u32)> {
        let (mut both, mut counted): (FxHashMap<(u32, u32), u32>, usize) = Default::default();
        self.visit(|commit, files| {
            counted += 1;
            if ignored.contains(&*commit.id) || counted > WINDOW {
                return;
            }
            for (at, &file) in files.iter().enumerate() {
                for &other in &files[at + 1..] {
                    *both.entry((file, other)).or_default() += 1;
                }
            }
        });
        let path = |file: u32| RepoPath::new(&self.paths.texts[file as usize]);
        let mut pairs: Vec<(RepoPath, RepoPath, u32)> = both
            .into_iter()
            .filter(|(_, count)| *count >= MIN_COMMITS)
            .filter_map(|((one, other), count)| Some((path(one)?, path(other)?, count)))
            .collect();
        pairs.sort_unstable();
        pairs
    }

    /// Files that changed in the same commits as these. `later` are commits that do not count.
    pub fn changed_together(
        &self,
        changed: &FxHashSet<RepoPath>,
        ignored: &FxHashSet<String>,
        later: &FxHashSet<String>,
    ) -> Together {
        let known = changed.iter().filter_map(|path| self.paths.known.get(path.as_str()));
        let changed: FxHashSet<u32> = known.copied().collect();
        let (mut own, mut both): (FxHashMap<u32, u32>, FxHashMap<(u32, u32), u32>) =
            Default::default();
        let mut counted = 0;
        self.visit(|commit, files| {
            counted += usize::from(!later.contains(&*commit.id));
            let is_left_out = later.contains(&*commit.id) || ignored.contains(&*commit.id);
            if is_left_out || counted > WINDOW {
                return;
            }
            for &file in files.iter().filter(|file| changed.contains(file)) {
                *own.entry(file).or_default() += 1;
                for &other in files.iter().filter(|other| **other != file) {
                    *both.entry((file, other)).or_default() += 1;
                }
            }
        });
        let mut together = Together {
            commits: self.commits.len() as u64,
            limit: self.limit(),
            ..Together::default()
        };
        let mut both: Vec<((u32, u32), u32)> = both.into_iter().collect();
        both.sort_unstable();
        for ((file, other), count) in both {
            let path = RepoPath::new(&self.paths.texts[other as usize]);
            let Some(path) = path.filter(|_| count >= MIN_COMMITS) else { continue };
            // One more commit, so that few prove little.
            let share = count * 1000 / (own.get(&file).copied().unwrap_or(1).max(1) + 1);
            let known = together.shares.entry(path).or_default();
            *known = (*known).max(share);
        }
        together
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Author, files and renames of a commit.
    type Written<'t> = (&'t str, &'t [&'t str], &'t [(&'t str, &'t str)]);

    fn history(commits: &[Written<'_>]) -> History {
        let mut history = History { head: "h".to_owned(), is_whole: true, ..History::default() };
        for (at, (author, files, renames)) in commits.iter().enumerate() {
            let author = history.authors.add(author);
            let files: Vec<u32> = files.iter().map(|file| history.paths.add(file)).collect();
            let mut pair =
                |pair: &(&str, &str)| (history.paths.add(pair.0), history.paths.add(pair.1));
            let renames = renames.iter().map(&mut pair).collect();
            let (id, time) = (format!("{at:040}").into(), 1_000_000_000 - at as u64 * 1_000);
            let count = files.len() as u32;
            history.commits.push(Commit { id, time, author, files, count, renames });
        }
        history
    }

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("a path")
    }

    #[test]
    fn a_file_keeps_its_history_under_a_new_name() {
        let history = history(&[
            ("ann", &["b.py"], &[]),
            ("bob", &["b.py"], &[("a.py", "b.py")]),
            ("ann", &["a.py", "c.py"], &[]),
        ]);
        let files = history.files(&FxHashSet::default(), None);
        let own = &files[&path("b.py")];
        assert_eq!((own.commits, own.authors, own.last), (3, 2, 1_000_000_000));
        assert_eq!(own.owners[0], ("ann".to_owned(), 2));
        assert!(!files.contains_key(&path("a.py")));
        let ignored = FxHashSet::from_iter([format!("{:040}", 0)]);
        assert_eq!(history.files(&ignored, None)[&path("b.py")].commits, 2);
        let wanted = FxHashSet::from_iter([path("c.py")]);
        assert_eq!(history.files(&FxHashSet::default(), Some(&wanted)).len(), 1);
    }

    #[test]
    fn what_was_encoded_is_decoded_and_nothing_else() {
        let history = history(&[("ann", &["b.py", "ä/x"], &[("a.py", "b.py")]), ("bob", &[], &[])]);
        let bytes = history.encoded();
        assert_eq!(History::decoded(&bytes), Some(history));
        for cut in [0, 1, 9, bytes.len() / 2, bytes.len() - 1] {
            assert_eq!(History::decoded(&bytes[..cut]), None);
        }
        for at in 0..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_eq!(History::decoded(&other), None, "byte {at}");
        }
    }

    #[test]
    fn files_of_the_same_commits_have_a_share() {
        let both: &[&str] = &["a.py", "test_a.py"];
        let history = history(&[("x", both, &[]), ("x", both, &[]), ("x", &["a.py"], &[])]);
        let changed = FxHashSet::from_iter([path("a.py")]);
        let none = FxHashSet::default();
        let together = history.changed_together(&changed, &none, &none);
        assert_eq!(together.shares[&path("test_a.py")], 500);
        let later = FxHashSet::from_iter([format!("{:040}", 0)]);
        assert!(
            history.changed_together(&changed, &none, &later).shares.is_empty(),
            "one is no evidence"
        );
    }
}
