//! The commit that is checked out: its ancestors, its branch, and whether the files are its own.

use std::path::Path;

use super::git::{Git, GitError};
use cograph_model::cancel::CancelToken;

/// Maximum number of ancestors that are listed.
pub const MAX_ANCESTORS: usize = 10_000;

/// Checked-out commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkout {
    /// The commit and its ancestors, newest first.
    pub ancestors: Vec<String>,
    /// Branch; none if a commit is checked out by itself.
    pub branch: Option<String>,
    /// Branch that the remote repository names as its usual one.
    pub default_branch: Option<String>,
    /// A file that differs from the commit, or that git does not know.
    pub changed: Option<String>,
    /// Path of the directory inside of the repository; empty for its root.
    pub prefix: String,
}

/// Reads what is checked out around a directory.
pub fn checkout(root: &Path, cancel: &CancelToken) -> Result<Checkout, GitError> {
    let git = Git::open(root, cancel)?;
    let head = git.commit("HEAD")?;
    let most = format!("--max-count={MAX_ANCESTORS}");
    let ancestors = git.lines(&["rev-list", &most, &head, "--"])?;
    let name = |reference: &str| match git.line(&["symbolic-ref", "--short", "-q", reference]) {
        Ok(name) => Ok(Some(name).filter(|name| !name.is_empty())),
        Err(GitError::Failed(_)) => Ok(None),
        Err(error) => Err(error),
    };
    let remote = name("refs/remotes/origin/HEAD")?;
    let default_branch = remote.and_then(|name| name.strip_prefix("origin/").map(str::to_owned));
    let changed = git.lines(&["status", "--porcelain", "--untracked-files=normal"])?;
    let changed = changed.first().and_then(|line| line.get(3..)).map(str::to_owned);
    let prefix = git.line(&["rev-parse", "--show-prefix"])?;
    Ok(Checkout { ancestors, branch: name("HEAD")?, default_branch, changed, prefix })
}
