//! Fingerprint of what a store was built from, besides the files: code, limits, and the edges that
//! a compiler states.

use std::path::Path;

use cograph_config::Limits;
use cograph_grammar as grammar;
use cograph_model::stated::{self, STATED_HEAD, Stated};
use cograph_store::{Snapshot, read_in, read_side_head};

/// Fingerprint to store: another code version, other limits or other stated edges force a full
/// build. `directory` is that of the store.
pub fn fingerprint(limits: &Limits, directory: &Path) -> u64 {
    let head = read_side_head::<STATED_HEAD>(directory, stated::FILE);
    let stated = head.and_then(|head| Stated::hash_of(&head)).unwrap_or_default();
    rules(limits) ^ stated
}

/// The same for the store of a snapshot.
pub(crate) fn fingerprint_at(snapshot: &Snapshot, limits: &Limits) -> u64 {
    fingerprint(limits, snapshot.store().path().parent().unwrap_or(Path::new("")))
}

/// Fingerprint of code and limits.
pub(crate) fn rules(limits: &Limits) -> u64 {
    let own = [grammar::fingerprint(), limits.file_bytes, limits.line_bytes as u64];
    let own = own.iter().flat_map(|part| part.to_le_bytes());
    let bytes: Vec<u8> = own.chain(cograph_version::RULES.bytes()).collect();
    xxhash_rust::xxh3::xxh3_64(&bytes)
}

/// Edges that a compiler states, next to the store; none from a damaged file.
pub(crate) fn stated_edges(directory: &Path) -> Stated {
    let Some(bytes) = read_in(directory, stated::FILE) else { return Stated::default() };
    Stated::decoded(&bytes).unwrap_or_else(|| {
        tracing::warn!(directory = %directory.display(), "the imported edges are damaged: none \
            is used until they are imported again");
        Stated::default()
    })
}
