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
mod files;
mod imports;
mod incremental;
mod members;
mod names;
mod queries;
mod references;
mod types;
mod units;
mod workspace;

pub use files::archive::{Archive, Posting, PostingFlags};
pub use files::project_file::ProjectFile;
pub use incremental::assemble::ListedFile;
pub use incremental::change::{Change, Changed, Listing};
pub use references::file::Resolved;
pub use units::footprint::Asked;
pub use units::interner::{Name, Names};
pub use units::partition::Shared;
pub use units::prepared::{Head, Prepared};
pub use units::stack::limit_stack;
pub use workspace::packed::PackedEntry;
pub use workspace::tables::Tables;
