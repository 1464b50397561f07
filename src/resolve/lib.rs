//! Name resolution: facts of a whole repository to targets, by scopes, imports, types and members.
//! Pure and language-independent.
//!
//! ```text
//! FileFacts of all files ──> files ──> imports ──> workspace::Tables
//!                                                       │ read only
//! facts of one file ────────────────────> db ──> inference ──> references
//!                                                       │
//!                                  ├──> Resolved: target, verdict and step of each reference
//!                                  └──> footprint ──> incremental: what a change invalidates
//! ```
//!
//! - `units`: what is known of one file alone. `files`: the files of a repository, whose facts are
//!   in memory (in a full build only their exported part) or read on demand.
//! - `imports`: module systems, which map an import to a file.
//! - `workspace`: the symbol table. `Tables` has files, modules and lookup tables; `Program` is the
//!   view of one resolution, which records every access (`footprint`).
//! - `db`: inputs and memos of the resolution of one file, the first parameter of every function of
//!   the layers above.
//! - `inference`: what names and expressions mean. `references`: the target of a reference.
//! - `incremental`: the files to resolve again after a change.
//!
//! Files are resolved one at a time. The result is a function of the tables alone, so that the
//! graph is independent of order and threads; and a function of the recorded accesses, so that
//! after a change only files are resolved again that read a changed value.

mod db;
mod files;
mod imports;
mod incremental;
mod inference;
mod references;
mod units;
mod workspace;

pub use files::archive::{Archive, Posting, PostingFlags};
pub use files::project_file::ProjectFile;
pub use incremental::assemble::ListedFile;
pub use incremental::change::{Change, Changed, Listing};
pub use references::file::Resolved;
pub use units::footprint::Footprint;
pub use units::interner::{Name, Names};
pub use units::partition::Shared;
pub use units::prepared::{FileSummary, Prepared};
pub use units::stack::limit_stack;
pub use workspace::packed::PackedEntry;
pub use workspace::tables::Tables;
