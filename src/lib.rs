//! cograph, a code knowledge graph. ARCHITECTURE.md describes its design, formats and terms; this
//! file is the code map: read the modules in its order.
//!
//! Two one-way pipelines meet in the store.
//!
//! ```text
//! WRITE  ChangeSet -> source file -> FileFacts -> resolve -> Graph -> store
//!                     one file       pure,        whole      one transaction
//!                                    parallel     repository
//! READ   line -> rpc -> tool -> query(snapshot, parameters) -> plain result -> reply -> line
//! ```
//!
//! Invariants that hold across modules:
//! - Imports go downwards only: `cli -> server -> {query, index, history, watch} -> {store,
//!   resolve, extract, source} -> {grammar, config} -> model` (`tests/layering.rs`).
//! - `extract` and `resolve` are pure: values in, values out; invalid input becomes a problem in
//!   the result.
//! - Exactly one function changes the contents of a store: `index::apply`. (`store::restamp`
//!   updates the stamps of files with unchanged contents.)
//! - No language is named in `src`: languages are data in `grammars/`.
//! - Repository text is untrusted data: it reaches a reply only through the escaping types of
//!   `server`.

pub mod model;

mod faults;

pub mod config;
pub mod grammar;

pub mod extract;
pub mod resolve;
pub mod source;
pub mod store;

pub mod history;
pub mod index;
pub mod query;
pub mod watch;

pub mod server;

pub mod cli;
