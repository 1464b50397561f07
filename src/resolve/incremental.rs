//! Incremental name resolution: interface hashes, fingerprints of answers, and invalidation.

pub(super) mod assemble;
pub(super) mod change;
pub(super) mod derive;
pub(super) mod fingerprints;
pub(super) mod invalidate;
