//! The graph in SCIP, the format that compilers and their indexers exchange.
//!
//! ```text
//! Snapshot ──> names ──> document ──> export ──> wire ──> SCIP index
//!                ▲          ▲
//! manifests ──> packages   text
//!                           │
//! SCIP index ──> wire ──> input ──> import ──> model::stated: edges by the content of their file
//! ```
//!
//! - `wire`: an index is a stream of fields, so it is written and read one document at a time.
//! - `names`: the symbols of SCIP. `packages`: the package that a file, or a name outside of the
//!   repository, belongs to.
//! - `document`: a file with its definitions and references. `import`: those of an index, as edges
//!   to the symbols of the store.

mod document;
mod export;
mod import;
mod input;
mod names;
mod packages;
mod text;
mod wire;

pub use document::Exported;
pub use export::{ExportError, export};
pub use import::{ImportError, Imported, import};
pub use packages::ReadText;
