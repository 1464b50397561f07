//! Name resolution: facts of a whole repository to targets, by scopes, imports, types and members.
//! Pure and language-independent.
//!
//! ```text
//! FileFacts of all files ──> workspace::Tables <── imports: module systems
//!                                  │ read only
//! facts of one file ──> db ──> references ──> calls ──> types ──> members ──> names
//!                                  │
//!                                  ├──> Resolved: target, verdict and step of each reference
//!                                  └──> footprint ──> incremental: what a change invalidates
//! ```
//!
//! - `workspace`: the symbol table. `Tables` has the facts of every file with lookup tables, in a
//!   full build only their exported part. `Program` is the view of one resolution, which records
//!   every access (`footprint`).
//! - `imports`: module systems, which map an import to a file.
//! - `db`: inputs and memos of the resolution of one file, the first parameter of every function
//!   below; `queries`: what these functions ask of a concept above their own.
//! - `names`: name lookup; `members`: member lookup; `types`: type inference; `calls`: overload
//!   resolution and return types; `references`: the target of a reference.
//! - `incremental`: the files to resolve again after a change.
//!
//! Files are resolved one at a time. The result is a function of the tables alone, so that the
//! graph is independent of order and threads; and a function of the recorded accesses, so that
//! after a change only files are resolved again that read a changed value.

mod calls;
mod db;
mod imports;
mod incremental;
mod members;
mod names;
mod queries;
mod references;
mod types;
mod units;
mod workspace;

use cograph_model::RepoPath;
use cograph_model::graph::SymbolRef;
use smallvec::SmallVec;

pub use crate::incremental::assemble::ListedFile;
pub use crate::units::archive::{Archive, Posting, PostingFlags};
pub use crate::units::footprint::Asked;
pub use crate::units::interner::Names;
pub use crate::units::partition::Shared;
pub use crate::{
    references::file::Resolved,
    units::prepared::{Head, Prepared},
    units::stack::limit_stack,
};
pub use incremental::invalidate::{Change, Changed, Listing};
pub use workspace::packed::PackedEntry;
pub use workspace::tables::Tables;

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

/// Interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(u32);

/// Symbols of one name in one scope: overloads, or a single one.
type Symbols = SmallVec<[SymbolRef; 2]>;

/// Filter of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Wanted {
    /// Callables.
    Callables,
    /// Everything else.
    Others,
    /// Everything except modules and namespaces.
    NoModules,
    /// Everything except tags: type names that are visible only behind a keyword.
    Untagged,
    /// Candidates in type position: types, namespaces, and macros, which may expand to either.
    Types,
}
