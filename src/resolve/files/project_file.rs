//! Project files of module systems, and links of the repository.

use cograph_model::RepoPath;

/// Project file of a module system (`package.json`, `go.mod`, …): path and text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectFile {
    /// Path.
    pub path: RepoPath,
    /// Text.
    pub text: String,
}

/// Mark at the start of the text of a link: no file with text has it.
const LINK: char = '\0';

impl ProjectFile {
    /// A link to another place of the repository, as it is written.
    pub fn link(path: RepoPath, target: &str) -> Self {
        Self { path, text: format!("{LINK}{target}") }
    }

    /// Place that a link leads to, as it is written; `None` for a file.
    pub(crate) fn link_target(&self) -> Option<&str> {
        self.text.strip_prefix(LINK)
    }
}
