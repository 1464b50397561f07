//! The graph in formats of other programs: SCIP, which compilers and their indexers exchange, and
//! Parquet, which engines over many repositories read.
//!
//! ```text
//! Snapshot ──> names ──┬─> document ──> export ──> wire ──> SCIP index
//!                      └─> dataset ──> Parquet tables
//!                ▲          ▲
//! manifests ──> packages   text
//!                           │
//! SCIP index ──> wire ──> input ──> import ──> model::stated: edges by the content of their file
//! ```
//!
//! - `wire`: an index is a stream of fields, so it is written and read one document at a time.
//! - `names`: the symbols of SCIP. `packages`: the package that a file, or a name outside of the
//!   repository, belongs to. `requirements`: those that it offers to others, and what it needs.
//! - `dataset`: tables of a repository, of which `schema` is a contract.
//! - `document`: a file with its definitions and references. `import`: those of an index, as edges
//!   to the symbols of the store.

mod dataset;
mod document;
mod export;
mod import;
mod input;
mod names;
mod packages;
mod requirements;
mod text;
mod wire;

pub use dataset::{Origin, Written, export_dataset};
pub use document::Exported;
pub use export::{ExportError, export};
pub use import::{ImportError, Imported, import};
pub use packages::{KeptManifests, MAX_KEPT_MANIFESTS, ManifestFiles, ReadText};
pub use requirements::{MAX_MANIFESTS, Requirements, packages};
