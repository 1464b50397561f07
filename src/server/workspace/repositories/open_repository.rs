//! Open repository: snapshot, files and freshness. One wording of the freshness for the first line
//! of text responses, for JSON and for resources.

use crate::base::escape::SafeLine;
use crate::workspace::repositories::files::Files;
use cograph_index::{ChangeSet, repositories_in};
use cograph_model::RepoPath;
use cograph_query::{Content, Original, ReadFile};
use cograph_store::{Location, Snapshot};
use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{fmt, io};

/// Maximum number of stale files to list; the rest is counted.
const NAMED_FILES: usize = 5;
/// Repositories of a directory to list; the rest is counted.
const NAMED_REPOSITORIES: usize = 5;
/// Maximum length of a root's path, in characters.
const MAX_ROOT: usize = 300;
/// Maximum length of a reason, in characters.
const MAX_REASON: usize = 300;

/// Open repository.
pub(crate) struct OpenRepository {
    /// Snapshot of its store.
    pub(crate) snapshot: Snapshot,
    /// Its files.
    pub(crate) files: Files,
    /// Location of its store.
    pub(super) location: Location,
    /// Changes that the store does not reflect yet.
    pub(super) behind: Option<Behind>,
    /// Evidence that it reflects everything else.
    pub(super) extent: Extent,
    /// True if the response names the repository: the first one of a session does.
    pub(super) names_root: bool,
}

/// Evidence for the freshness of a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// Every file was checked, or is covered by a watch.
    All,
    /// Files with reported changes were checked; all files, for unreported changes, this long ago.
    Reported(Duration),
    /// Every file was checked on a network file system: changes from other machines may be visible
    /// late.
    Remote(String),
}

/// Changes that a store does not reflect yet.
pub(super) struct Behind {
    /// Changed files.
    pub(super) changes: ChangeSet,
    /// Why they are not applied.
    pub(super) cause: Cause,
}

/// Why changes are not applied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// The index run is in progress; its progress.
    Pending(String),
    /// The index run failed; its error.
    Failed(String),
}

/// Staleness of a response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stale {
    /// Number of stale files; none if all are, because the store has another fingerprint.
    files: Option<usize>,
    cause: Cause,
}

impl Stale {
    /// Number of files and their status.
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

    /// Progress or error of the run.
    fn why(&self) -> String {
        let (Cause::Pending(why) | Cause::Failed(why)) = &self.cause;
        format!(": {}", SafeLine::new(why, MAX_REASON))
    }
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.what(), self.why())
    }
}

impl OpenRepository {
    /// Staleness of the response, if any.
    pub(crate) fn stale(&self) -> Option<Stale> {
        self.behind
            .as_ref()
            .map(|behind| Stale { files: behind.changes.len(), cause: behind.cause.clone() })
    }

    /// True if the response is known to reflect the current files.
    pub(crate) fn is_up_to_date(&self) -> bool {
        self.behind.is_none() && self.extent == Extent::All
    }

    /// Every stale file; none if the store has another fingerprint.
    pub(crate) fn stale_files(&self) -> Vec<&str> {
        self.behind.iter().flat_map(|behind| behind.changes.paths()).map(RepoPath::as_str).collect()
    }

    /// Freshness in words: two of them where nothing else is to be said.
    pub(crate) fn freshness(&self) -> String {
        let Some((Behind { changes, .. }, stale)) = self.behind.as_ref().zip(self.stale()) else {
            let state = self.reserve().unwrap_or_else(|| "up to date".to_owned());
            return format!("{state}{}", self.left_out());
        };
        let meta = self.snapshot.meta();
        let generation = meta.identity.generation;
        let age = rough(SystemTime::now().duration_since(meta.built_at).unwrap_or_default());
        let Some(count) = changes.len() else {
            return format!(
                "generation {generation}, made {age} ago {}; stale: {stale}",
                match changes {
                    ChangeSet::Everything { forced: true } => "and not readable in full",
                    _ => "by other rules",
                }
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
            "generation {generation}, made {age} ago; stale: {what} ({}){why}{}",
            named.join(", "),
            self.left_out(),
        )
    }

    /// Files that are left out because of what indexing them costs, if any.
    fn left_out(&self) -> String {
        let (deferred, others) = self.snapshot.left_out().unwrap_or_default();
        let parts = [(deferred, "slow", "not indexed yet"), (others, "costly", "left out")];
        let shown = parts.iter().filter(|(count, ..)| *count > 0).map(|(count, which, what)| {
            let files = if *count == 1 { "file" } else { "files" };
            format!("; {count} {which} {files} {what} (`status` names them)")
        });
        shown.collect()
    }

    /// Root of the repository.
    pub(crate) fn root(&self) -> &Path {
        self.location.root()
    }

    /// The repository's path, in the first response of a session. A directory that only holds
    /// repositories is read as one: the text says how to ask about one alone.
    pub(crate) fn place(&self) -> Option<String> {
        if !self.names_root {
            return None;
        }
        let path = self.location.root();
        let root = SafeLine::new(&path.to_string_lossy(), MAX_ROOT);
        let inside = repositories_in(path);
        let [first, _, ..] = inside.as_slice() else { return Some(format!("{root}, ")) };
        let named: Vec<&str> = inside.iter().take(NAMED_REPOSITORIES).map(String::as_str).collect();
        let more = match inside.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = SafeLine::new(&named.join(", "), MAX_ROOT);
        let alone = path.join(first);
        let alone = SafeLine::new(&alone.to_string_lossy(), MAX_ROOT);
        Some(format!(
            "{root} is no repository and holds {}, read as one: {named}{more}; `root`: \"{alone}\" \
             asks one alone, ",
            inside.len(),
        ))
    }

    /// Reservation about unreported changes.
    pub(crate) fn reserve(&self) -> Option<String> {
        match &self.extent {
            Extent::All => None,
            Extent::Reported(ago) => Some(format!(
                "up to date by what was reported; all files compared {} ago",
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
        Ok(self.content(path)?.text)
    }

    fn content(&self, path: &RepoPath) -> io::Result<Content> {
        // Lines of any length are accepted; they are truncated where they are shown. The caller
        // decides about binary files.
        let read = self.root.read_named(path, self.limits.file_bytes);
        let shown = read
            .map_err(|error| io::Error::other(error.to_string()))?
            .map_err(|reason| io::Error::other(reason.word()))?;
        let original = shown.original.map(|(hash, size)| Original { hash, size });
        Ok(Content { text: shown.bytes, original, lossy: shown.lossy })
    }
}

/// A duration rounded for people.
pub(crate) fn rough(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
