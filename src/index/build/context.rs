//! What the steps of a run get of it: limits, cancellation, progress.

use crate::outcome::IndexError;
use crate::progress::Progress;
use crate::quarantine::Isolation;
use cograph_config::Limits;
use cograph_extract as extract;
use cograph_extract::Exhausted;
use cograph_model::LanguageId;
use cograph_model::cancel::CancelToken;
use cograph_model::facts::FileFacts;
use std::path::Path;

/// What every step of a run gets.
#[derive(Clone, Copy)]
pub(crate) struct RunContext<'a> {
    /// Limits.
    pub(crate) limits: Limits,
    /// Cancellation.
    pub(crate) cancel: &'a CancelToken,
    /// Progress callback; see [`crate::Run::progress`].
    pub(crate) progress: &'a (dyn Fn(Progress) + Sync),
    /// Extraction of one file.
    pub(crate) extract:
        fn(LanguageId, &str, &[u8], extract::Limits) -> Result<FileFacts, Exhausted>,
    /// Quarantine and suspects, in a worker process.
    pub(crate) caution: Option<&'a Isolation>,
}

impl RunContext<'_> {
    /// Fails once the run is cancelled.
    pub(crate) fn check(&self, root: &Path) -> Result<(), IndexError> {
        if self.cancel.is_cancelled() {
            Err(IndexError::Cancelled { root: root.to_path_buf() })
        } else {
            Ok(())
        }
    }
}
