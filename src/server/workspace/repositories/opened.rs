//! A repository that can be asked, and the words for how its answers stand to the files: one
//! wording for the first line of an answer, for the JSON of it, and for what programs are told
//! beside it.

use super::{Files, rough};
use crate::index::ChangeSet;
use crate::model::RepoPath;
use crate::query::ReadFile;
use crate::server::base::escape::SafeLine;
use crate::store::{Location, Snapshot};
use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

/// Files that an answer names because it does not reflect them yet; more are counted.
const NAMED_FILES: usize = 5;
/// Letters of the path of a repository.
const LONGEST_ROOT: usize = 300;
/// Letters of the reason why an answer does not reflect them.
const LONGEST_REASON: usize = 300;

/// A repository that can be asked.
pub(in crate::server) struct Opened {
    /// Its store at one moment.
    pub(in crate::server) snapshot: Snapshot,
    /// Its files.
    pub(in crate::server) files: Files,
    /// Where its store is.
    pub(super) location: Location,
    /// What the store does not reflect yet.
    pub(super) behind: Option<Behind>,
    /// How far it is known that it reflects the rest.
    pub(super) extent: Extent,
    /// Whether the answer says which repository it is about: the first one of a session does.
    pub(super) names_root: bool,
}

/// How far it is known what a store reflects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// Every file was looked at, or could not have changed untold.
    All,
    /// What was reported was looked at; every file, for changes that nobody reports, so long ago.
    Reported(Duration),
    /// Every file was looked at, as this kind of file system shows it here: others may have changed
    /// it since.
    Remote(String),
}

/// Changes of the files that a store does not reflect yet.
pub(super) struct Behind {
    /// Which.
    pub(super) changes: ChangeSet,
    /// Why the store does not reflect them.
    pub(super) cause: Cause,
}

/// Why a store does not reflect changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// The index run goes on; how far it is.
    Pending(String),
    /// The index run has failed, for this reason.
    Failed(String),
}

/// How much an answer does not reflect yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::server) struct Stale {
    /// So many files; none for every file: the store was made by other rules.
    files: Option<usize>,
    cause: Cause,
}

impl Stale {
    /// What becomes of the files, and how many they are.
    fn what(&self) -> String {
        let files = match self.files {
            Some(1) => "1 file".to_owned(),
            Some(count) => format!("{count} files"),
            None => "all files".to_owned(),
        };
        format!(
            "{files} {}",
            if matches!(self.cause, Cause::Failed(_)) { "not indexed" } else { "pending" }
        )
    }

    /// How far the run is, or why it has failed.
    fn why(&self) -> String {
        let (Cause::Pending(why) | Cause::Failed(why)) = &self.cause;
        format!(": {}", SafeLine::new(why, LONGEST_REASON))
    }
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what(), self.why())
    }
}

impl Opened {
    /// How much the answer does not reflect yet, if anything.
    pub(in crate::server) fn stale(&self) -> Option<Stale> {
        self.behind
            .as_ref()
            .map(|behind| Stale { files: behind.changes.len(), cause: behind.cause.clone() })
    }

    /// Whether the answer is known to be about the files as they are.
    pub(in crate::server) fn is_up_to_date(&self) -> bool {
        self.behind.is_none() && self.extent == Extent::All
    }

    /// Every file that the answer does not reflect yet; none if the store was made by other rules.
    pub(in crate::server) fn stale_files(&self) -> Vec<&str> {
        self.behind.iter().flat_map(|behind| behind.changes.paths()).map(RepoPath::as_str).collect()
    }

    /// Of which state of the files the answer speaks.
    pub(in crate::server) fn freshness(&self) -> String {
        let meta = self.snapshot.meta();
        let generation = meta.identity.generation;
        let Some((Behind { changes, .. }, stale)) = self.behind.as_ref().zip(self.stale()) else {
            let state = self.reserve().unwrap_or_else(|| "up to date".to_owned());
            return format!("generation {generation}, {state}");
        };
        let age = rough(SystemTime::now().duration_since(meta.built_at).unwrap_or_default());
        let Some(count) = changes.len() else {
            return format!(
                "generation {generation}, made {age} ago by other rules; stale: {stale}"
            );
        };
        let names = changes
            .paths()
            .take(NAMED_FILES)
            .map(|path| SafeLine::new(path.as_str(), 120).to_string());
        let more = (count > NAMED_FILES).then(|| format!("{} more", count - NAMED_FILES));
        let named: Vec<String> = names.chain(more).collect();
        let (what, why) = (stale.what(), stale.why());
        format!(
            "generation {generation}, made {age} ago; stale: {what} ({}){why}",
            named.join(", ")
        )
    }

    /// Which repository the answers of a session speak of: for the first one.
    pub(in crate::server) fn place(&self) -> Option<String> {
        let root = SafeLine::new(&self.location.root().to_string_lossy(), LONGEST_ROOT);
        self.names_root.then(|| format!("{root}, "))
    }

    /// What is not known of files that nothing is known to have happened to.
    pub(in crate::server) fn reserve(&self) -> Option<String> {
        match &self.extent {
            Extent::All => None,
            Extent::Reported(ago) => Some(format!(
                "up to date by what was reported; all files looked at {} ago",
                rough(*ago)
            )),
            Extent::Remote(kind) => Some(format!(
                "files as {} shows them here: changes made elsewhere may come late",
                SafeLine::new(kind, 40)
            )),
        }
    }
}

impl ReadFile for Files {
    fn read(&self, path: &RepoPath) -> io::Result<Vec<u8>> {
        // Lines of any length may be looked at; they are cut when they are shown. What binary data
        // means the question decides.
        let read = self.root.read_named(path, self.limits.file_bytes);
        read.map_err(|error| io::Error::other(error.to_string()))?
            .map_err(|reason| io::Error::other(reason.word()))
    }
}
