//! Context of a call of a tool: store, files, cancellation, size limit.

use crate::answers::Answer;
use crate::tools::tool::values::Arguments;
use crate::workspace::metrics::{Activity, ServerState};
use cograph_model::cancel::CancelToken;
use cograph_query::{QueryError, ReadFile};
use cograph_store::Snapshot;

/// Context of a query.
pub(crate) struct QueryContext<'a> {
    /// Store.
    pub(crate) snapshot: &'a Snapshot,
    /// Files.
    pub(crate) files: &'a dyn ReadFile,
    /// Cancellation.
    pub(crate) cancel: &'a CancelToken,
    /// Size limit of the response, in bytes.
    pub(crate) room: usize,
    /// Maximum number of source lines of sites.
    pub(crate) sources: usize,
    /// State of the server process, for tools of class `Control`.
    pub(crate) process: Option<(&'a ServerState, Activity)>,
}

impl QueryContext<'_> {
    /// Number of entries of at least `bytes` that fit the limit, with a surplus, so that truncation
    /// leaves no gap.
    pub(crate) fn entries(&self, bytes: usize) -> usize {
        (self.room / bytes).max(10)
    }
}

/// Implementation of a tool: runs the query for these arguments.
pub(crate) type Handler = fn(&Arguments, &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError>;
