//! Error: a repository cannot be queried, with a hint for the caller.

use crate::base::escape::SafeLine;
use cograph_store::StoreError;

/// Why a repository cannot be queried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unavailable {
    /// Error.
    pub what: String,
    /// Suggested fix.
    pub hint: String,
}

pub(super) fn store_failed(error: &StoreError) -> Unavailable {
    let hint = if error.is_cancelled() {
        "ask again"
    } else {
        "check the cache directory: its permissions and its free space"
    };
    unavailable(&error.to_string(), hint)
}

pub(super) fn unavailable(what: &str, hint: &str) -> Unavailable {
    Unavailable { what: SafeLine::new(what, 600).to_string(), hint: hint.to_owned() }
}
