//! History of the files for answers: kept next to the store, and brought up to date within a time.

use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::answers::render::plural;
use crate::base::escape::SafeLine;
use crate::tools::tool::context::QueryContext;
use cograph_history::{self as history, Between, History};
use cograph_model::RepoPath;
use cograph_model::change::{FileHistory, Together};
use cograph_store::{read_side_file, write_side_file};
use serde_json::{Value, json};

/// Name of the file next to the store.
const FILE: &str = "history";
/// List of commits that only reformat, as `git blame` knows it.
const IGNORED: &str = ".git-blame-ignore-revs";
/// Seconds of a day.
const DAY: u64 = 24 * 3600;

/// History of the repository of a question.
pub(crate) struct KnownHistory {
    history: History,
    ignored: FxHashSet<String>,
}

impl KnownHistory {
    /// Reads on for at most this time; none without git, or in no repository.
    pub(crate) fn of(context: &QueryContext<'_>, within: Duration) -> Option<Self> {
        let (store, root) = (context.snapshot.store(), &context.snapshot.meta().root);
        let kept = read_side_file(store, FILE);
        let (history, is_new) =
            history::history(root, kept.as_deref(), within, context.cancel).ok()?;
        if is_new {
            // Best effort: a read-only cache reads the log again.
            let _ = write_side_file(store, FILE, &history.encoded());
        }
        let list = RepoPath::new(IGNORED).and_then(|path| context.files.read(&path).ok());
        let ignored = history::ignored(&list.unwrap_or_default());
        Some(Self { history, ignored })
    }

    /// Files that changed in the same commits as these, before a change.
    pub(crate) fn changed_together(
        &self,
        context: &QueryContext<'_>,
        between: Option<&Between>,
        changed: &FxHashSet<RepoPath>,
    ) -> Together {
        let root = &context.snapshot.meta().root;
        let later = history::later(root, between, context.cancel).unwrap_or_default();
        self.history.changed_together(changed, &self.ignored, &later)
    }

    /// Facts about these files, or about all.
    pub(crate) fn files(
        &self,
        wanted: Option<&FxHashSet<RepoPath>>,
    ) -> FxHashMap<RepoPath, FileHistory> {
        self.history.files(&self.ignored, wanted)
    }

    /// Pairs of files that changed in the same commits, with the number of these.
    pub(crate) fn pairs(&self) -> Vec<(RepoPath, RepoPath, u32)> {
        self.history.pairs(&self.ignored)
    }

    /// What it rests on: the number of commits, and what limits them.
    pub(crate) fn extent(&self) -> String {
        let commits = self.history.commits();
        match self.history.limit() {
            "" => plural(commits as u64, "commit"),
            limit => format!("{}, {limit}", plural(commits as u64, "commit")),
        }
    }
}

/// `12 commits, 3 in a year, last 2026-11-02, by Ann 8, Bob 4`.
pub(crate) fn in_words(file: &FileHistory) -> String {
    let owners: Vec<String> = file
        .owners
        .iter()
        .map(|(name, count)| format!("{} {count}", SafeLine::new(name, 40)))
        .collect();
    let more = file.authors as usize - owners.len().min(file.authors as usize);
    let more = if more > 0 { format!(" (+{more})") } else { String::new() };
    format!(
        "{}, {} in a year, last {}, by {}{more}",
        plural(file.commits.into(), "commit"),
        file.recent,
        date(file.last),
        owners.join(", ")
    )
}

/// The same as JSON.
pub(crate) fn in_json(file: &FileHistory) -> Value {
    json!({
        "commits": file.commits, "recent": file.recent, "last": date(file.last),
        "authors": file.authors,
        "owners": file.owners.iter()
            .map(|(name, count)| json!({"name": name, "commits": count}))
            .collect::<Vec<_>>(),
    })
}

/// Day of a time in the Gregorian calendar: `2026-11-02`.
pub(crate) fn date(time: u64) -> String {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut days, mut year) = (time / DAY, 1970);
    loop {
        let length = 365 + u64::from(is_leap(year));
        if days < length || year > 9999 {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn a_time_has_a_day() {
        for (time, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_251_199, "2024-02-29"),
            (1_735_689_600, "2025-01-01"),
            (4_107_542_399, "2100-02-28"),
        ] {
            assert_eq!(date(time), day);
        }
    }
}
