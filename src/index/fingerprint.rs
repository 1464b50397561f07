//! Fingerprint of the code and limits that built a store. Knows no store.

use cograph_config::Limits;
use cograph_grammar as grammar;

/// Fingerprint to store: another code version or other limits force a full build.
pub fn fingerprint(limits: &Limits) -> u64 {
    let own = [grammar::fingerprint(), limits.file_bytes, limits.line_bytes as u64];
    let own = own.iter().flat_map(|part| part.to_le_bytes());
    let bytes: Vec<u8> = own.chain(cograph_version::RULES.bytes()).collect();
    xxhash_rust::xxh3::xxh3_64(&bytes)
}
