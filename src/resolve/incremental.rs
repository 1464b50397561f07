//! Incremental resolution: interface hashes, fingerprints of answers, and which files a change invalidates.

pub(super) mod fingerprints;
pub(super) mod interface_hash;
pub(super) mod invalidate;
pub(super) mod partition;
