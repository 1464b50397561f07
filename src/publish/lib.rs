//! Stores of repositories in object stores: published by one machine, pulled by others.
//!
//! ```text
//! store::Departure ──> plan ──> new pieces, manifest, reference ──> object store
//!                       ^ earlier manifest                             │
//! store::Arrival   <── verified pieces <── manifest <── reference <────┘
//! ```
//!
//! A store is a list of units of immutable pieces, which are named by their SHA-256. A publication
//! adds the units that differ from an earlier one. A reference per branch names the manifests of
//! its commits and is swapped at the end, so that a publisher may end at any moment.
//!
//! Owns `object_store`. Knows neither commits of a repository nor what is in the files of a store.

mod address;
mod compression;
mod digest;
mod error;
mod http;
mod layout;
mod manifest;
mod plan;
mod publish;
mod pull;
mod reference;
mod remote;
mod retention;

pub use address::{OBJECT_TIMEOUT, Variables};
pub use digest::{Digest, UnitDigest};
pub use error::PublishError;
pub use manifest::{FileMap, MAX_MANIFEST, MAX_STORE, Manifest, PIECE_BYTES, Piece, UnitRun};
pub use publish::{GRACE, MAX_REFERENCES, Publication, Sent, publish};
pub use pull::{Ancestor, Pulled, Wanted, find, pull};
pub use reference::{MAX_COMMITS, MAX_REFERENCE, PublishedCommit, Reference};
pub use remote::{PARALLEL, Remote};
pub use retention::{Removed, Retention, retain};
