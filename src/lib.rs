//! cograph, a code knowledge graph: the face of the program's crates, for its tests and for tools
//! that are built on it. ARCHITECTURE.md describes the design, the formats and the terms; this file
//! is the code map: read the crates in its order.
//!
//! Two one-way pipelines meet in the store.
//!
//! ```text
//! WRITE  ChangeSet -> source file -> FileFacts -> resolve -> rows -> store
//!                     one file       pure,                a new file, or a transaction
//!                                    parallel
//! READ   line -> rpc -> tool -> query(snapshot, parameters) -> plain result -> reply -> line
//! ```
//!
//! Invariants that hold across crates:
//! - A crate knows those below it only: `cli -> server -> {page, publish, query, index, history,
//!   watch} -> {store, resolve, extract, source} -> {grammar, config} -> model -> system`.
//!   Manifests say which; the compiler holds it.
//! - `extract` and `resolve` are pure: values in, values out; invalid input becomes a problem in
//!   the result.
//! - Exactly one function changes the contents of a store: `index::apply`. (`store::restamp`
//!   updates the stamps of files with unchanged contents.)
//! - No language is named in `src`: languages are data in `grammars/`.
//! - Repository text is untrusted data: it reaches a reply only through the escaping types of
//!   `server`.

pub use cograph_model as model;

pub use cograph_config as config;
pub use cograph_grammar as grammar;

pub use cograph_extract as extract;
pub use cograph_resolve as resolve;
pub use cograph_source as source;
pub use cograph_store as store;

pub use cograph_coverage as coverage;
pub use cograph_exchange as exchange;
pub use cograph_history as history;
pub use cograph_index as index;
pub use cograph_query as query;
pub use cograph_system as system;
pub use cograph_watch as watch;

pub use cograph_page as page;
#[cfg(feature = "publish")]
pub use cograph_publish as publish;

pub use cograph_server as server;

pub use cograph_cli as cli;

pub use cograph_version as version;
