//! The store: one SQLite file for each repository and generation, written whole and read through snapshots.
//!
//! Alone here: SQLite, the LRU of open stores, and the files in the cache directory. Knows nothing of ranking, JSON, source
//! text or how a graph is made.
//!
//! - `location` names the files of a repository: generations, temporary files, the writer's lock.
//! - `schema` is the format: tables, indexes, and the views that are documented for `sql`.
//! - `beside` keeps what was worked out for a generation in a file of its own, for other processes.
//! - `blocks` packs the names of symbols, so that a search looks at all of them or at the few that may fit; `runs` is the way to these,
//!   `sieve` tells them from the others of a run.
//! - `write` turns a graph into the next generation; it appears by a rename or not at all.
//! - `connection` opens a generation, or says why the file is none; `read` answers from it.
//! - `room` bounds what the stores of all repositories take; `adopt` gives a repository that was moved or copied its store.
//! - `restamp` notes when files have other times than before and the same bytes.
//! - `private` keeps other users out of the cache.
//! - `pool` keeps stores open while they are in use.
//!
//! An index is rebuilt, never migrated: a file of another format is passed over.

mod adopt;
mod blocks;
mod connection;
mod error;
mod guard;
mod location;
mod names;
mod order;
mod packed;
mod paths;
mod pool;
mod private;
mod read;
mod restamp;
mod room;
mod rows;
mod runs;
mod schema;
mod segment;
mod sieve;
mod sites;
mod statements;
mod views;
mod write;

pub use adopt::adopt;
pub use connection::{Snapshot, Store};
pub use error::{StoreError, StoreErrorKind};
pub use guard::{MEMORY_BYTES, PATTERN_BYTES, SqlOutcome, SqlValue, VALUE_BYTES};
pub use location::{Location, Version, WriterLock};
pub use names::{NameEntry, NameRank};
pub use order::{FileRank, KeyOrder, SiteRank, SymbolRank};
pub use paths::{FileMark, PathTable};
pub use pool::{Clock, Lease, MonotonicClock, Opener, Pool, PoolCounts, PoolSettings, StoreOpener};
pub use read::{NamedInside, SymbolHead};
pub use restamp::restamp;
pub use room::{Dropped, bytes_taken, check_owner, make_room};
pub use rows::{
    FileKey, FileRow, Identity, ImportRow, LanguageKey, Meta, NameKey, ProblemRow, RelationRow, SiteKey, SiteRow, SiteTarget,
    SymbolKey, SymbolRow,
};
pub use runs::{NameRuns, NameWalk};
pub use schema::FORMAT;
pub use segment::{Draft, Placed, Segment, decompressed};
pub use sieve::NameParts;
pub use views::{VIEWS, View};
pub use write::{Amendment, BuildInfo, KnownRows, Outline, Places, Published, carry_over, publish, publish_files};
