//! Edges between repositories: a name outside of one, joined with the public symbols of another.
//!
//! ```text
//! snapshot of the user    ──> outside_names ──> qualified names with their sites
//!                                                     │
//! snapshot of the library, its packages ──> exports ──┴──> symbols, and how certain that is
//! ```
//!
//! Each function reads one snapshot. Nothing is stored: an edge is as fresh as both snapshots.

mod ends;
mod exports;
mod headers;
mod names;
mod renames;
mod subject;

pub use exports::{Export, Exports, MAX_POSSIBLE};
pub use names::{OutsideName, OutsideNames, UseFilter, UseLookup, UseSite, may_name};
pub use renames::{MAX_READ, Renamed};
pub use subject::{Subject, subjects};
