//! What a store was built by, as one number. Knows no store.

use crate::config::Limits;
use crate::grammar;

/// What a store was built by: stored with it, so that other rules or limits mean a new build.
pub fn fingerprint(limits: &Limits) -> u64 {
    let own = [grammar::fingerprint(), limits.file_bytes, limits.line_bytes as u64];
    let bytes: Vec<u8> = own.iter().flat_map(|part| part.to_le_bytes()).collect();
    xxhash_rust::xxh3::xxh3_64(&bytes)
}
