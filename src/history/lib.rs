//! Changes of a repository and its history, read through the `git` program (`git`, `log`), from a
//! patch (`patch`), and as symbols of both sides (`symbols`). Edits of one file, from its texts
//! (`edited`).
//!
//! The new side of a change is the tree, or blobs of a revision that is not checked out. Without
//! git there are patches and symbols, and no history.

mod blobs;
mod checkout;
mod edited;
mod git;
mod log;
mod patch;
mod symbols;
mod tree;
mod types;

use std::io;
use std::path::Path;
use std::time::Duration;

use rustc_hash::FxHashSet;

use blobs::{BlobReader, Blobs};
pub use checkout::{Checkout, MAX_ANCESTORS, checkout};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_model::change::{CallShapes, Change, ChangedFile, ChangedSymbol, UNREAD_BINARY};
use cograph_model::words::{Term, terms_of};
pub use edited::{Before, edited, is_in_body};
use git::Git;
pub use git::{GitError, TIMEOUT};
pub use log::{History, MAX_COMMITS};
pub use patch::MAX_FILES;
use patch::PatchedFile;
use symbols::{FileSide, STACK, SideSymbol};
pub use tree::{TreeError, commit_of, ends, write_tree};

/// Maximum size of a patch.
pub const MAX_PATCH: usize = 16 << 20;
/// Maximum number of files that git does not know, which are listed.
pub const MAX_UNTRACKED: usize = 500;

/// What is compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Between {
    /// The last commit and the files, those that git does not know among them.
    WorkTree,
    /// The last commit and the index.
    Staged,
    /// A commit and the files.
    Revision(String),
    /// Two commits; of the common ancestor of both if `is_fork`.
    Range {
        /// From.
        from: String,
        /// To.
        to: String,
        /// True for `A...B`.
        is_fork: bool,
    },
    /// The files, which have a patch applied, and the files without it.
    Patch(Vec<u8>),
}

impl Between {
    /// A revision or a range as written on a command line.
    pub fn revision(text: &str) -> Self {
        let or_head = |end: &str| if end.is_empty() { "HEAD".to_owned() } else { end.to_owned() };
        let range = |mark: &str, is_fork| {
            let (from, to) = text.split_once(mark)?;
            Some(Self::Range { from: or_head(from), to: or_head(to), is_fork })
        };
        range("...", true)
            .or_else(|| range("..", false))
            .unwrap_or_else(|| Self::Revision(text.to_owned()))
    }
}

/// Why a change cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChangeError {
    /// Git gave no answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The patch cannot be read.
    #[error("{0}")]
    Patch(String),
}

/// Reads a file of the tree.
pub type ReadTree<'r> = &'r (dyn Fn(&RepoPath) -> io::Result<Vec<u8>> + Sync);

/// Reads a change with the symbols of both sides.
pub fn change(
    root: &Path,
    between: &Between,
    read: ReadTree<'_>,
    cancel: &CancelToken,
) -> Result<Change, ChangeError> {
    let (words, patch, source) = match between {
        Between::Patch(text) => {
            ("the patch".to_owned(), text.clone(), Source { git: None, is_tree: true })
        }
        between => {
            let git = Git::open(root, cancel)?;
            let (words, patch, is_tree) = diff(&git, between)?;
            (words, patch, Source { git: Some(git), is_tree })
        }
    };
    let (mut files, more_files) = patch::parse(&patch).map_err(ChangeError::Patch)?;
    if *between == Between::WorkTree
        && let Some(git) = &source.git
    {
        files.extend(untracked(git)?);
    }
    let blobs = source.blobs(&files)?;
    let files = in_thread(|| {
        let mut changed = Sides::default();
        for file in files {
            if cancel.is_cancelled() {
                return Err(GitError::Cancelled);
            }
            changed.add(file, &source, &blobs, read);
        }
        Ok(changed.finish())
    })??;
    let is_elsewhere = match (&source.git, between) {
        (Some(git), Between::Range { to, .. }) => git.commit(to)? != git.commit("HEAD")?,
        _ => false,
    };
    Ok(Change { between: words, is_elsewhere, files, more_files })
}

/// The history of the files up to the present commit: what is kept in `known`, brought up to date
/// within a time. Returns true if it is different from what is kept.
pub fn history(
    root: &Path,
    known: Option<&[u8]>,
    within: Duration,
    cancel: &CancelToken,
) -> Result<(History, bool), GitError> {
    let git = Git::open(root, cancel)?;
    let mut history = known.and_then(History::decoded).unwrap_or_default();
    let is_new = history.refresh(&git, within)?;
    Ok((history, is_new))
}

/// Commits after the old side of a change, which know more than the change may.
pub fn later(
    root: &Path,
    between: Option<&Between>,
    cancel: &CancelToken,
) -> Result<FxHashSet<String>, GitError> {
    let Some(Between::Revision(from) | Between::Range { from, .. }) = between else {
        return Ok(FxHashSet::default());
    };
    let git = Git::open(root, cancel)?;
    let range = format!("{}..HEAD", git.commit(from)?);
    let listed = git.read(&["rev-list", "--max-count=200000", &range, "--"], b"", 16 << 20)?;
    Ok(String::from_utf8_lossy(&listed).split_whitespace().map(str::to_owned).collect())
}

/// Names of commits in a file of those that only reformat (`.git-blame-ignore-revs`).
pub fn ignored(text: &[u8]) -> FxHashSet<String> {
    let text = String::from_utf8_lossy(text);
    let names = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    names.filter(|name| name.len() >= 40).map(str::to_lowercase).collect()
}

/// True if git knows a commit of this name.
pub fn is_revision(root: &Path, name: &str, cancel: &CancelToken) -> bool {
    Git::open(root, cancel).and_then(|git| git.commit(name)).is_ok()
}

/// Calls of a file with their arguments; none if it cannot be parsed.
pub fn calls(path: &RepoPath, text: &[u8]) -> CallShapes {
    let found = in_thread(|| symbols::calls(path, text));
    found.ok().and_then(Result::ok).unwrap_or_default()
}

fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, GitError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("change-symbols".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|error| GitError::Failed(error.to_string()))?;
        thread.join().map_err(|_| GitError::Failed("extraction of symbols failed".to_owned()))
    })
}

/// The two states in words, the patch, and whether the tree is its new side.
fn diff(git: &Git<'_>, between: &Between) -> Result<(String, Vec<u8>, bool), GitError> {
    let head = || match git.commit("HEAD") {
        // Without a commit everything is new.
        Err(GitError::NoRevision(_)) => git.line(&["hash-object", "-t", "tree", "/dev/null"]),
        found => found,
    };
    let (words, ends, is_tree) = match between {
        Between::WorkTree => ("working tree against HEAD".to_owned(), vec![head()?], true),
        Between::Staged => {
            ("index against HEAD".to_owned(), vec!["--cached".to_owned(), head()?], false)
        }
        Between::Revision(revision) => {
            (format!("working tree against {revision}"), vec![git.commit(revision)?], true)
        }
        Between::Range { from, to, is_fork } => {
            let (mut start, end) = (git.commit(from)?, git.commit(to)?);
            if *is_fork {
                start = git.line(&["merge-base", &start, &end])?;
            }
            (format!("{to} against {from}"), vec![start, end], false)
        }
        Between::Patch(_) => (String::new(), Vec::new(), true),
    };
    let mut arguments = vec![
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-relative",
        "--relative",
        "--submodule=short",
        "--full-index",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "-M",
        "-U0",
        "--inter-hunk-context=0",
        "--diff-algorithm=histogram",
    ];
    arguments.extend(ends.iter().map(String::as_str));
    arguments.push("--");
    Ok((words, git.read(&arguments, b"", MAX_PATCH)?, is_tree))
}

fn untracked(git: &Git<'_>) -> Result<Vec<PatchedFile>, GitError> {
    let listed = git.read(&["ls-files", "-z", "--others", "--exclude-standard"], b"", 1 << 20)?;
    let paths = listed.split(|&byte| byte == 0).filter_map(|path| {
        let path = std::str::from_utf8(path).ok().and_then(RepoPath::new)?;
        Some(PatchedFile { new: Some(path), ..PatchedFile::default() })
    });
    Ok(paths.take(MAX_UNTRACKED).collect())
}

/// Where the texts of both sides come from.
struct Source<'g> {
    /// Blobs; without git the old side is made from the new one.
    git: Option<Git<'g>>,
    /// True if the new side is the tree.
    is_tree: bool,
}

impl Source<'_> {
    /// Reads the blobs of both sides that are not in the tree.
    fn blobs(&self, files: &[PatchedFile]) -> Result<Blobs, GitError> {
        let Some(git) = &self.git else { return Ok(Blobs::default()) };
        let is_real = |name: &&String| name.bytes().any(|byte| byte != b'0');
        let mut wanted: Vec<&String> = Vec::new();
        for file in files.iter().filter(|file| !file.is_binary && !file.is_link) {
            let Some((old, new)) = &file.objects else { continue };
            wanted.push(old);
            if !self.is_tree {
                wanted.push(new);
            }
        }
        wanted.retain(is_real);
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(Blobs::default());
        }
        let asked: String = wanted.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
        let mut reader = BlobReader::default();
        let arguments = ["cat-file", "--batch"];
        git.stream(&arguments, asked.as_bytes(), BLOB_TIME, &mut |bytes| reader.take(bytes))?;
        Ok(reader.blobs)
    }
}

/// Maximum time of reading blobs.
const BLOB_TIME: Duration = Duration::from_secs(10);

/// Changed files so far, and the symbols that are on one side only.
#[derive(Default)]
struct Sides {
    files: Vec<ChangedFile>,
    removed: Vec<SideSymbol>,
    added: Vec<SideSymbol>,
}

impl Sides {
    fn add(&mut self, file: PatchedFile, source: &Source<'_>, blobs: &Blobs, read: ReadTree<'_>) {
        let mut terms: Vec<Term> = file.changed_texts().flat_map(terms_of).collect();
        let (old_lines, mut new_lines) = file.changed_lines();
        let mut changed = ChangedFile {
            old: file.old.clone(),
            new: file.new.clone(),
            lines: (0, 0),
            symbols: Vec::new(),
            outside: None,
            unread: None,
            terms: Vec::new(),
        };
        let unread = match texts(&file, source, blobs, read) {
            Ok((old, new)) => {
                if file.old.is_none() && file.hunks.is_empty() {
                    // A file that git does not know: all its lines are new.
                    let count = new.as_ref().map_or(0, |text| text.split(|&b| b == b'\n').count());
                    new_lines = (1..=u32::try_from(count).unwrap_or(u32::MAX)).collect();
                    terms = terms_of(new.as_deref().unwrap_or_default());
                }
                self.compare(&mut changed, &old_lines, &new_lines, old, new)
            }
            Err(reason) => Some(reason),
        };
        terms.append(&mut changed.terms);
        terms.sort_unstable();
        terms.dedup();
        let count = |lines: &[u32]| u32::try_from(lines.len()).unwrap_or(u32::MAX);
        changed.lines = (count(&new_lines), count(&old_lines));
        (changed.unread, changed.terms) = (unread, terms);
        self.files.push(changed);
    }

    /// Compares the texts of a file; returns why that is not possible.
    fn compare(
        &mut self,
        changed: &mut ChangedFile,
        old_lines: &[u32],
        new_lines: &[u32],
        old: Option<Vec<u8>>,
        new: Option<Vec<u8>>,
    ) -> Option<&'static str> {
        let side = |path: &Option<RepoPath>, text: &Option<Vec<u8>>| match (path, text) {
            (Some(path), Some(text)) => FileSide::of(path, text),
            _ => Ok(FileSide::default()),
        };
        let (before, after) = match (side(&changed.old, &old), side(&changed.new, &new)) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(reason), _) | (_, Err(reason)) => return Some(reason),
        };
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let (old_touched, old_outside) = before.around(old_lines, &old);
        let (new_touched, new_outside) = after.around(new_lines, &new);
        changed.terms = before.heading_terms(old_outside, &old);
        changed.terms.append(&mut after.heading_terms(new_outside, &new));
        let exists = changed.new.is_some();
        changed.outside = new_outside.or(old_outside.map(|line| if exists { 1 } else { line }));
        let (symbols, removed, added) =
            symbols::compared(&before, &after, &old_touched, &new_touched);
        changed.symbols = symbols;
        self.removed.extend(removed);
        self.added.extend(added);
        None
    }

    fn finish(self) -> Vec<ChangedFile> {
        let mut files = self.files;
        for symbol in symbols::paired(self.removed, self.added) {
            let path = &symbol.side().path;
            let is_its = |file: &&mut ChangedFile| match symbol.new {
                Some(_) => file.new.as_ref() == Some(path),
                None => file.old.as_ref() == Some(path),
            };
            if let Some(file) = files.iter_mut().find(is_its) {
                file.symbols.push(symbol);
            }
        }
        for file in &mut files {
            file.symbols.sort_by_key(|symbol: &ChangedSymbol| {
                (symbol.side().name_at, symbol.kind, symbol.side().name.clone())
            });
        }
        files.sort_by(|one, other| one.path().cmp(other.path()));
        files
    }
}

/// Text of a side; none for the side that has no file.
type SideText = Option<Vec<u8>>;

/// Texts of both sides, or why one of them is not known.
fn texts(
    file: &PatchedFile,
    source: &Source<'_>,
    blobs: &Blobs,
    read: ReadTree<'_>,
) -> Result<(SideText, SideText), &'static str> {
    if file.is_binary {
        return Err(UNREAD_BINARY);
    }
    if file.is_link {
        return Err("another repository");
    }
    let blob = |name: Option<&String>| {
        name.and_then(|name| blobs.get(name)).cloned().ok_or("not in the object store")
    };
    let (old_name, new_name) =
        file.objects.as_ref().map_or((None, None), |(old, new)| (Some(old), Some(new)));
    let new = match &file.new {
        None => None,
        Some(path) if source.is_tree => Some(read(path).map_err(|_| "not readable in the tree")?),
        Some(_) => Some(blob(new_name)?),
    };
    let old = match (&file.old, &new) {
        (None, _) => None,
        (Some(_), _) if source.git.is_some() => Some(blob(old_name)?),
        (Some(_), None) => Some(file.before(b"").ok_or("the patch does not have the whole file")?),
        (Some(_), Some(text)) => {
            Some(file.before(text).ok_or("the tree is not the new side of the patch")?)
        }
    };
    // A renamed file without a changed line has no hunks, and the same text on both sides.
    Ok((old, new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cograph_model::change::SymbolSide;

    const OLD: &str = r"class Cart:
    size = 1

    def total(self, tax):
        first = tax * size
        return first + other

    def gone(self):
        pass


def outer():
    def inner():
        return 1
    return inner
";

    /// Changed symbols of a patch that is applied to a text, as kind and name.
    fn changed(old: &str, new: &str, patch: &str) -> (Change, Vec<String>) {
        let path = RepoPath::new("cart.py").expect("a path");
        let read = |asked: &RepoPath| {
            assert_eq!(*asked, path);
            Ok(new.as_bytes().to_vec())
        };
        let between = Between::Patch(format!("--- a/cart.py\n+++ b/cart.py\n{patch}").into_bytes());
        let found = change(Path::new("/nowhere"), &between, &read, &CancelToken::new());
        let found = found.expect("a change");
        assert!(found.files[0].unread.is_none(), "{old}: {:?}", found.files[0].unread);
        let name = |symbol: &ChangedSymbol| {
            format!("{} {}", symbol.kind.word(), symbol.side().qualified_name())
        };
        let names = found.files[0].symbols.iter().map(name).collect();
        (found, names)
    }

    #[test]
    fn lines_belong_to_the_innermost_symbol_that_is_no_local() {
        let new = OLD.replace("return 1", "return 2");
        let (_, names) =
            changed(OLD, &new, "@@ -14 +14 @@\n-        return 1\n+        return 2\n");
        assert_eq!(names, ["body outer"]);
        let new = OLD.replace("size = 1", "size = 2");
        let (_, names) = changed(OLD, &new, "@@ -2 +2 @@\n-    size = 1\n+    size = 2\n");
        assert_eq!(names, ["body Cart.size"]);
    }

    #[test]
    fn a_header_a_name_and_a_removal_are_distinct() {
        let new = OLD.replace("def total(self, tax):", "def total(self, tax, rate):");
        let header = "@@ -4 +4 @@\n-    def total(self, tax):\n+    def total(self, tax, rate):\n";
        let (found, names) = changed(OLD, &new, header);
        assert_eq!(names, ["signature Cart.total"]);
        let symbol = &found.files[0].symbols[0];
        let arity = |side: &Option<SymbolSide>| side.as_ref().map(|side| side.arity);
        assert_eq!((arity(&symbol.old), arity(&symbol.new)), (Some((1, 1)), Some((2, 2))));
        let new = OLD.replace("def total", "def whole");
        let name = "@@ -4 +4 @@\n-    def total(self, tax):\n+    def whole(self, tax):\n";
        assert_eq!(changed(OLD, &new, name).1, ["renamed Cart.whole"]);
        let new = OLD.replace("    def gone(self):\n        pass\n\n", "");
        let end = "@@ -8,3 +7,0 @@\n-    def gone(self):\n-        pass\n-\n";
        let (_, names) = changed(OLD, &new, end);
        assert!(names.contains(&"removed Cart.gone".to_owned()), "{names:?}");
    }

    #[test]
    fn lines_outside_of_symbols_are_named() {
        let new = format!("import os\n{OLD}");
        let (found, names) = changed(OLD, &new, "@@ -0,0 +1 @@\n+import os\n");
        assert_eq!((found.files[0].outside, names.len()), (Some(1), 0));
        let old = "secure(\n    1,\n)\n";
        let hunk = "@@ -2 +2 @@\n-    1,\n+    2,\n";
        let (found, names) = changed(old, &old.replace('1', "2"), hunk);
        assert_eq!((found.files[0].outside, names.len()), (Some(2), 0));
        assert!(terms_of(b"secure").iter().all(|term| found.files[0].terms.contains(term)));
    }
}
