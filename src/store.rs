//! The store: one SQLite file for each repository and generation, written whole and read through
//! snapshots.
//!
//! Alone here: SQLite, the LRU of open stores, and the files in the cache directory. Knows nothing
//! of ranking, JSON, source text or how a graph is made.
//!
//! - `format` says what is in the files and where they are: tables, indexes, documented views,
//!   statements, rows, the segment, the writer's lock; and keeps other users out of the cache
//!   (`ownership`).
//! - `read` opens a generation, or says why the file is none, and answers from it; it keeps stores
//!   open while they are in use (`pool`), and runs the SQL of users (`sandbox`).
//! - `name_index` packs the names of symbols, so that a search looks at all of them or at the few
//!   that may fit.
//! - `build` turns a graph into the next generation, page by page; it appears by a rename or not at
//!   all.
//! - `update` changes a generation in one transaction.
//! - `lifecycle` bounds what the stores of all repositories take (`quota`), and gives a repository
//!   that was moved or copied its store (`seed`).
//!
//! An index is rebuilt, never migrated: a file of another format is passed over.

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
    FileKey, FileRow, Identity, ImportRow, LanguageKey, Meta, NameKey, NamedInside, ProblemRow,
    RelationRow, SiteKey, SiteRow, SiteTarget, SymbolHead, SymbolKey, SymbolRow,
};
pub use format::schema::FORMAT;
pub use format::segment::{Draft, Placed, Segment, decompressed};
pub use format::views::{VIEWS, View};
pub use lifecycle::quota::{Dropped, bytes_taken, check_owner, make_room};
pub use lifecycle::seed::adopt;
pub use name_index::cursor::NameWalk;
pub use name_index::filter::NameParts;
pub use name_index::names::{NameEntry, NameRank};
pub use read::connection::{Snapshot, Store};
pub use read::control::{MEMORY_BYTES, PATTERN_BYTES};
pub use read::name_cache::NameRuns;
pub use read::order::{FileRank, KeyOrder, SiteRank, SymbolRank};
pub use read::path_table::{FileMark, PathTable};
pub use read::pool::{
    Clock, Lease, MonotonicClock, Opener, Pool, PoolCounts, PoolSettings, StoreOpener,
};
pub use read::sandbox::{SqlOutcome, SqlValue, VALUE_BYTES};
pub use update::amendment::{Amendment, KnownRows};
pub use update::delta::carry_over;
pub use update::restamp::restamp;
