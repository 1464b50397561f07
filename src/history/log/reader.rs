//! Commits out of the output of `git log --raw`. Pure.

use crate::log::commits::{Commit, MAX_FILES, TextTable};
use crate::patch::unquoted;
use cograph_model::RepoPath;

/// One line a commit, which no line of a file begins like.
pub(super) const FORMAT: &str = "--format=%x01%H %ct %aN";
/// Mark at the beginning of a commit.
const MARK: u8 = 1;
/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 8 << 10;

/// Reader of commits.
#[derive(Default)]
pub(super) struct LogReader {
    line: Vec<u8>,
    commits: Vec<ReadCommit>,
}

#[derive(Default)]
struct ReadCommit {
    id: Box<str>,
    time: u64,
    author: Box<str>,
    files: Vec<RepoPath>,
    count: u32,
    renames: Vec<(RepoPath, RepoPath)>,
}

impl LogReader {
    /// Takes a piece of the output.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (now, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.line.is_empty() {
                read(&mut self.commits, now);
            } else {
                self.keep(now);
                let line = std::mem::take(&mut self.line);
                read(&mut self.commits, &line);
            }
            bytes = rest;
        }
        self.keep(bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The commits. The last one may be incomplete if the output was not read to its end.
    pub(super) fn finish(
        mut self,
        paths: &mut TextTable,
        authors: &mut TextTable,
        is_whole: bool,
    ) -> Vec<Commit> {
        if !is_whole {
            self.commits.pop();
        }
        let commit = |read: ReadCommit| Commit {
            id: read.id,
            time: read.time,
            author: authors.add(&read.author),
            files: read.files.iter().map(|file| paths.add(file.as_str())).collect(),
            count: read.count,
            renames: (read.renames.iter())
                .map(|(old, new)| (paths.add(old.as_str()), paths.add(new.as_str())))
                .collect(),
        };
        self.commits.into_iter().map(commit).collect()
    }
}

fn read(commits: &mut Vec<ReadCommit>, line: &[u8]) {
    let Ok(line) = std::str::from_utf8(line) else { return };
    if let Some(head) = line.strip_prefix(char::from(MARK)) {
        let mut words = head.splitn(3, ' ');
        commits.push(ReadCommit {
            id: words.next().unwrap_or_default().into(),
            time: words.next().and_then(|time| time.parse().ok()).unwrap_or(0),
            author: words.next().unwrap_or_default().into(),
            ..ReadCommit::default()
        });
        return;
    }
    let (Some(commit), Some(entry)) = (commits.last_mut(), line.strip_prefix(':')) else { return };
    let mut parts = entry.split('\t');
    let kind = parts.next().and_then(|modes| modes.rsplit(' ').next()).unwrap_or_default();
    let mut path = || parts.next().and_then(|path| RepoPath::new(&unquoted(path)));
    let (first, second) = (path(), path());
    let (old, new) = match second {
        Some(new) => (first, Some(new)),
        None => (None, first),
    };
    let Some(new) = new else { return };
    commit.count += 1;
    // A rename counts even in a commit of many: it has the former name of a file.
    if let Some(old) = old.filter(|_| kind.starts_with('R')) {
        commit.renames.push((old, new.clone()));
    }
    if commit.files.len() < MAX_FILES && commit.count as usize <= MAX_FILES {
        commit.files.push(new);
    } else {
        commit.files.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\u{1}aaaa 20 Ann B\n\n:100644 100644 0001 0002 M\tsrc/a.py\n\
                       :100644 100644 0001 0001 R090\told.py\t\"n\\303\\244me.py\"\n\
                       \u{1}bbbb 10 Bob\n\n:000000 100644 0000 0001 A\tb.py\n";

    fn commits(size: usize, is_whole: bool) -> (Vec<Commit>, TextTable) {
        let (mut paths, mut authors) = (TextTable::default(), TextTable::default());
        let mut reader = LogReader::default();
        LOG.as_bytes().chunks(size).for_each(|bytes| reader.take(bytes));
        (reader.finish(&mut paths, &mut authors, is_whole), paths)
    }

    #[test]
    fn commits_are_read_however_the_bytes_arrive() {
        for size in [1, 3, 17, 1000] {
            let (commits, paths) = commits(size, true);
            assert_eq!(commits.len(), 2);
            assert_eq!((&*commits[0].id, commits[0].time, commits[0].count), ("aaaa", 20, 2));
            let names: Vec<&str> = paths.texts.iter().map(|text| &**text).collect();
            assert_eq!(names, ["src/a.py", "näme.py", "old.py", "b.py"]);
            assert_eq!(commits[0].renames, [(2, 1)]);
        }
    }

    #[test]
    fn the_last_commit_of_an_incomplete_log_is_left_out() {
        assert_eq!(commits(7, false).0.len(), 1);
    }

    #[test]
    fn a_commit_of_many_files_has_none() {
        let mut reader = LogReader::default();
        reader.take(b"\x01cccc 1 X\n");
        for at in 0..=MAX_FILES {
            reader.take(format!(":1 1 1 1 M\tf{at}\n").as_bytes());
        }
        let commits = reader.finish(&mut TextTable::default(), &mut TextTable::default(), true);
        assert_eq!((commits[0].files.len(), commits[0].count as usize), (0, MAX_FILES + 1));
    }
}
