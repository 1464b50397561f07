//! Folders and documents of the client: which repository a document belongs to, and whether its
//! buffer has changes that the file does not have.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lsp_types::{InitializeParams, Uri};

use super::positions::path_of;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Folders {
    folders: Vec<PathBuf>,
    /// Documents with unsaved changes.
    unsaved: BTreeSet<String>,
}

impl Folders {
    /// Folders that the client has open.
    pub(super) fn of(params: &InitializeParams) -> Self {
        let listed = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        let mut folders: Vec<_> = listed.filter_map(path_of).collect();
        if folders.is_empty() {
            // Clients before version 3.6 of the protocol have one folder.
            #[allow(deprecated, reason = "what such a client sends")]
            folders.extend(params.root_uri.as_ref().and_then(path_of));
        }
        Self { folders, unsaved: BTreeSet::new() }
    }

    /// The client has opened and closed folders.
    pub(super) fn change<'u>(
        &mut self,
        opened: impl Iterator<Item = &'u Uri>,
        closed: impl Iterator<Item = &'u Uri>,
    ) {
        let closed: Vec<_> = closed.filter_map(path_of).collect();
        self.folders.retain(|folder| !closed.contains(folder));
        self.folders.extend(opened.filter_map(path_of));
    }

    /// Every folder.
    pub(super) fn all(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Directory whose repository has a document: the innermost folder around it, or its own.
    pub(super) fn around(&self, document: &Path) -> Option<PathBuf> {
        let around = self.folders.iter().filter(|folder| document.starts_with(folder));
        let innermost = around.max_by_key(|folder| folder.components().count());
        innermost.cloned().or_else(|| document.parent().map(Path::to_path_buf))
    }

    /// The buffer of a document was changed. True if it was as the file before.
    pub(super) fn edited(&mut self, document: &Uri) -> bool {
        self.unsaved.insert(document.as_str().to_owned())
    }

    /// The buffer of a document was saved or given up.
    pub(super) fn saved(&mut self, document: &Uri) {
        self.unsaved.remove(document.as_str());
    }

    /// True if the buffer of a document has changes that the file does not have.
    pub(super) fn is_unsaved(&self, document: &Uri) -> bool {
        self.unsaved.contains(document.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    #[test]
    fn a_document_belongs_to_the_innermost_folder() {
        let uri = |text: &str| Uri::from_str(text).expect("an address");
        let mut folders = Folders::default();
        let (outer, inner) = (uri("file:///w"), uri("file:///w/lib"));
        folders.change([&outer, &inner].into_iter(), std::iter::empty());
        assert_eq!(folders.around(Path::new("/w/lib/a.py")), Some("/w/lib".into()));
        assert_eq!(folders.around(Path::new("/w/library.py")), Some("/w".into()));
        assert_eq!(folders.around(Path::new("/x/y/a.py")), Some("/x/y".into()));
        folders.change(std::iter::empty(), [&inner].into_iter());
        assert_eq!(folders.around(Path::new("/w/lib/a.py")), Some("/w".into()));
    }

    #[test]
    fn a_buffer_is_unsaved_until_it_is_saved() {
        let document = Uri::from_str("file:///w/a.py").expect("an address");
        let mut folders = Folders::default();
        assert!(folders.edited(&document) && !folders.edited(&document));
        assert!(folders.is_unsaved(&document));
        folders.saved(&document);
        assert!(!folders.is_unsaved(&document));
    }
}
