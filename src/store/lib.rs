//! Store: one SQLite file per repository and generation, written atomically and read through
//! snapshots.
//!
//! ```text
//! resolve ──> build ──────┐                                    ┌──> Snapshot ──> query
//!                         ├──> generation (SQLite) + segment ──┤
//! index::apply ──> update ┘      format: what is in them       └──> sandbox ──> sql
//!                         lifecycle: quota, seed          read: pool, connections
//! ```
//!
//! Owns SQLite, the LRU of open stores, and the files in the cache directory. Knows nothing of
//! ranking, JSON, source text or graph construction.
//!
//! - `format`: schema, indexes, documented views, statements, rows, the segment, file names and the
//!   writer lock; keeps other users out of the cache (`ownership`).
//! - `read`: opens a generation or explains why it is unreadable, and answers queries; pools open
//!   stores (`pool`), runs user SQL (`sandbox`, `kept`), and reads databases of other programs
//!   (`foreign`).
//! - `name_index`: front-coded symbol names with trigram posting lists.
//! - `build`: writes a graph as the next generation, page by page, published by a rename.
//! - `update`: changes a generation in one transaction.
//! - `lifecycle`: disk quota of all stores (`quota`), taking over a store of another place
//!   (`adopt`), such as that of another checkout (`seed`) or machine (`transfer`), and files that a
//!   re-index does not replace (`side_files`).
//!
//! An index is rebuilt, never migrated: files of other formats are ignored.

mod build;
mod format;
mod lifecycle;
mod name_index;
mod read;
mod update;

pub use build::{BuildInfo, Outline, Places, Published, publish, publish_files};
pub use format::error::{StoreError, StoreErrorKind};
pub use format::location::{Location, Version, WriterLock};
pub use format::rows::{
    FileEdge, FileKey, FileRow, Identity, ImportRow, ImportSort, LanguageKey, Meta, NameKey,
    NamedInside, ProblemRow, RelationRow, SiteKey, SiteRow, SiteTarget, SymbolDocument, SymbolHead,
    SymbolKey, SymbolRow, lineage,
};
pub use format::schema::FORMAT;
pub use format::segment::{Draft, Placed, Segment, decompressed};
pub use format::sql_value::SqlValue;
pub use format::views::{KEPT_VIEWS, VIEWS, View, all_views};
pub use lifecycle::adopt::{Adoption, adopt};
pub use lifecycle::quota::{Dropped, REVISIONS, bytes_taken, check_owner, enforce_quota};
pub use lifecycle::seed::{Unindexed, seed};
pub use lifecycle::side_files::{
    MAX_SIDE_FILES, read_in, read_side_file, read_side_head, remove_side_file, write_side_file,
};
pub use lifecycle::transfer::{Arrival, Departure, Part, depart};
pub use name_index::cursor::NameWalk;
pub use name_index::filter::NameParts;
pub use name_index::names::{NameEntry, NameRank};
pub use read::connection::{Snapshot, Store};
pub use read::control::{MEMORY_BYTES, PATTERN_BYTES};
pub use read::foreign::ForeignDatabase;
pub use read::kept::{KeptRows, LoadKept};
pub use read::name_cache::NameRuns;
pub use read::order::{FileRank, KeyOrder, SiteRank, SymbolRank};
pub use read::path_table::{FileMark, PathTable};
pub use read::pool::{
    Clock, Lease, MonotonicClock, Opener, Pool, PoolCounts, PoolSettings, StoreOpener,
};
pub use read::sandbox::{SqlOutcome, VALUE_BYTES};
pub use update::amendment::{Amendment, KnownRows, WrittenFile};
pub use update::delta::checkpoint;
pub use update::restamp::restamp;
