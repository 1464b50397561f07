//! Reference of a branch: the manifests of its published commits, newest first, and those that were
//! replaced or removed a short time before. Lines of text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::digest::Digest;

/// Maximum size of a reference.
pub const MAX_REFERENCE: usize = 1 << 20;
/// Maximum number of commits in a reference; older ones are retired.
pub const MAX_COMMITS: usize = 1_000;

const FIRST_LINE: &str = "cograph reference 1";
const RETIRED: &str = "retired";

/// Reference of a branch.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reference {
    /// Published commits, newest first.
    pub commits: Vec<PublishedCommit>,
    /// Manifests that no commit has any more, with the time when it lost them. Publishers that
    /// started before that time may still build on them.
    pub retired: Vec<(Digest, u64)>,
}

/// Commit and its manifest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublishedCommit {
    /// Commit.
    pub commit: String,
    /// Manifest.
    pub manifest: Digest,
    /// Time of the publication, in seconds since 1970.
    pub time: u64,
}

impl Reference {
    /// Parses a reference; an error is the reason.
    pub fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err("it is no reference of this version");
        }
        let mut reference = Self::default();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let [first, digest, time] = words[..] else { return Err("a line has not three words") };
            let manifest = Digest::from_hex(digest).ok_or("a manifest has no digest")?;
            let time = time.parse().map_err(|_| "a time is no number")?;
            if first == RETIRED {
                reference.retired.push((manifest, time));
            } else if is_commit(first) {
                let commit = first.to_owned();
                reference.commits.push(PublishedCommit { commit, manifest, time });
            } else {
                return Err("a commit has no name");
            }
        }
        if reference.commits.len() > MAX_COMMITS {
            return Err("it has too many commits");
        }
        Ok(reference)
    }

    /// Text of the reference.
    pub fn encoded(&self) -> Vec<u8> {
        let mut text = format!("{FIRST_LINE}\n");
        for PublishedCommit { commit, manifest, time } in &self.commits {
            text.push_str(&format!("{commit} {manifest} {time}\n"));
        }
        for (manifest, time) in &self.retired {
            text.push_str(&format!("{RETIRED} {manifest} {time}\n"));
        }
        text.into_bytes()
    }

    /// Adds a commit as the newest, and retires the manifest that it had.
    pub fn add(&mut self, added: PublishedCommit) {
        let now = added.time;
        let (same, mut others): (Vec<_>, Vec<_>) =
            self.commits.drain(..).partition(|known| known.commit == added.commit);
        let replaced = same.into_iter().filter(|known| known.manifest != added.manifest);
        self.retired.extend(replaced.map(|known| (known.manifest, now)));
        others.insert(0, added);
        self.commits = others;
        self.keep(MAX_COMMITS, now);
    }

    /// Retires all commits but the newest.
    pub fn keep(&mut self, count: usize, now: u64) {
        let surplus = self.commits.split_off(count.min(self.commits.len()));
        self.retired.extend(surplus.into_iter().map(|old| (old.manifest, now)));
    }

    /// Retires commits that were published before a time.
    pub fn retire_before(&mut self, time: u64, now: u64) {
        let count = self.commits.iter().take_while(|known| known.time >= time).count();
        self.keep(count, now);
    }

    /// Drops manifests that were retired before a time.
    pub fn forget_before(&mut self, time: u64) {
        self.retired.retain(|(_, retired)| *retired >= time);
    }

    /// Manifests whose pieces must be kept.
    pub fn manifests(&self) -> impl Iterator<Item = Digest> {
        let retired = self.retired.iter().map(|(manifest, _)| *manifest);
        self.commits.iter().map(|known| known.manifest).chain(retired)
    }
}

/// True for the object name of a commit: SHA-1 or SHA-256.
pub(crate) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Present time in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(digit: char, time: u64) -> PublishedCommit {
        let commit = String::from(digit).repeat(40);
        let manifest = Digest::of(commit.as_bytes());
        PublishedCommit { commit, manifest, time }
    }

    #[test]
    fn a_reference_has_one_entry_of_each_commit() {
        let mut reference = Reference::default();
        for (digit, time) in [('a', 1), ('b', 2), ('c', 3)] {
            reference.add(published(digit, time));
        }
        let other = Digest::of(b"another build of the same commit");
        reference.add(PublishedCommit { manifest: other, time: 4, ..published('a', 1) });
        let names: String =
            reference.commits.iter().filter_map(|known| known.commit.chars().next()).collect();
        assert_eq!(names, "acb");
        assert_eq!(reference.retired, [(published('a', 1).manifest, 4)]);
        reference.keep(1, 5);
        assert_eq!((reference.commits.len(), reference.retired.len()), (1, 3));
        assert_eq!(reference.manifests().count(), 4);
        assert_eq!(Reference::parse(&reference.encoded()), Ok(reference.clone()));
        reference.forget_before(5);
        assert_eq!(reference.retired.len(), 2);
    }
}
