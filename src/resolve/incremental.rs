//! Incremental resolution: interface hashes, fingerprints of answers, and which files a change
//! invalidates.

pub(super) mod assemble;
pub(super) mod derive;
pub(super) mod fingerprints;
pub(super) mod invalidate;
