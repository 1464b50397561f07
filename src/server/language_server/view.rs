//! The repository of a document, open for one request.

use std::path::{Path, PathBuf};

use lsp_types::{Location, Position, Range, Uri};

use super::failure::Failure;
use super::positions::{Encoding, Positions, path_of};
use crate::workspace::host::Host;
use crate::workspace::repositories::{OpenRepository, QueryHints, Readiness, Repositories};
use cograph_model::cancel::CancelToken;
use cograph_model::{self as model, RepoPath};
use cograph_query::navigate::{self, NamedAt};
use cograph_query::{SiteInfo, SymbolInfo};
use cograph_store::Snapshot;

/// Opens the repository around a folder. Waits for its index.
pub(super) fn open(
    repositories: &Repositories,
    folder: &Path,
    host: &dyn Host,
) -> Result<Box<OpenRepository>, Failure> {
    let Some(folder) = folder.to_str() else {
        return Err(Failure::request("the path of the folder is not UTF-8"));
    };
    match repositories.open(Some(folder), true, &QueryHints::default(), host) {
        Ok(Readiness::Ready(opened)) => Ok(opened),
        Ok(Readiness::Working(_)) => Err(Failure::cancelled()),
        Err(error) => Err(Failure::request(format!("{}: {}", error.what, error.hint))),
    }
}

/// See the module.
pub(super) struct View<'v> {
    pub(super) snapshot: &'v Snapshot,
    pub(super) cancel: &'v CancelToken,
    pub(super) positions: Positions<'v>,
}

impl<'v> View<'v> {
    /// `shown` is the root as the client names it, which may lead through links.
    pub(super) fn new(
        opened: &'v OpenRepository,
        shown: &'v Path,
        encoding: Encoding,
        cancel: &'v CancelToken,
    ) -> Self {
        let positions = Positions::new(shown, &opened.files, encoding);
        Self { snapshot: &opened.snapshot, cancel, positions }
    }

    /// What a position of a document names.
    pub(super) fn named_at(
        &mut self,
        path: &RepoPath,
        at: Position,
    ) -> Result<Option<NamedAt>, Failure> {
        let at = self.positions.inner(path, at);
        Ok(navigate::named_at(self.snapshot, path, at, self.cancel)?)
    }

    /// Symbols that a position of a document names; empty between names.
    pub(super) fn symbols_at(
        &mut self,
        path: &RepoPath,
        at: Position,
    ) -> Result<Vec<SymbolInfo>, Failure> {
        Ok(self.named_at(path, at)?.map(|named| named.symbols).unwrap_or_default())
    }

    /// Place of the name of a symbol.
    pub(super) fn symbol(&mut self, symbol: &SymbolInfo) -> Option<Location> {
        self.positions.location(&symbol.path, symbol.name_at, &symbol.name)
    }

    /// Place of a reference.
    pub(super) fn site(&mut self, site: &SiteInfo) -> Option<Location> {
        self.positions.location(&site.path, site.at, &site.name)
    }

    /// Whole lines of a symbol.
    pub(super) fn lines(symbol: &SymbolInfo) -> Range {
        let start = Position { line: symbol.first_line.saturating_sub(1), character: 0 };
        Range { start, end: Position { line: symbol.last_line, character: 0 } }
    }

    /// Range of an extent.
    pub(super) fn extent(&mut self, path: &RepoPath, extent: &model::Span) -> Range {
        let start = self.positions.outer(path, extent.start);
        Range { start, end: self.positions.outer(path, extent.end) }
    }
}

/// Root and path of a document in a repository, given the folder of the client around it. The root
/// is as the client names it.
pub(super) fn place(root: &Path, folder: &Path, document: &Path) -> Option<(PathBuf, RepoPath)> {
    // A folder that is reached through a link: its repository begins at it, or is not known here.
    let roots = [root, folder];
    let (root, below) =
        roots.iter().find_map(|root| Some((*root, document.strip_prefix(root).ok()?)))?;
    Some((
        root.to_path_buf(),
        RepoPath::new(&below.to_str()?.replace(std::path::MAIN_SEPARATOR, "/"))?,
    ))
}

/// Path of a document, or the error of a request about something else.
pub(super) fn document_of(uri: &Uri) -> Result<PathBuf, Failure> {
    path_of(uri).ok_or_else(|| Failure::request("only files have symbols"))
}
