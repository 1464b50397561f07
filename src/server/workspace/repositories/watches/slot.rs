//! Ownership of a repository's watch.

use cograph_watch::{Watch, WatchError};

/// Ownership state of a watch.
#[derive(Default)]
pub(super) enum Slot {
    /// Being created: queries check everything meanwhile.
    #[default]
    Creating,
    /// In use by a query.
    InUse,
    Idle(Box<Watch>),
    /// The watched directory was moved or removed, or could not be listed; another may take its
    /// place.
    Replaced(String),
    /// Not possible; the reason.
    None(String),
}

impl Slot {
    /// No watch, with the reason. After an interruption reports are lost: only a new watch is
    /// complete.
    pub(super) fn without(error: &WatchError) -> Self {
        match error {
            WatchError::Lost { .. } | WatchError::Source(_) => Self::Replaced(error.to_string()),
            WatchError::Limit { .. } | WatchError::Remote { .. } | WatchError::System { .. } => {
                Self::None(error.to_string())
            }
        }
    }
}
