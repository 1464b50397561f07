//! Host of a tool call: cancellation, progress and deadline handling, implemented by whatever runs
//! tools.

use crate::workspace::metrics::{ProgressReport, ServerState};
use cograph_model::cancel::CancelToken;
use std::time::Duration;

/// Format of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Text within the budget.
    Text,
    /// JSON, complete.
    Json,
}

/// Host of a tool call.
pub trait Host {
    /// Cancellation of the call.
    fn cancel(&self) -> &CancelToken;
    /// Reports progress.
    fn progress(&self, report: &ProgressReport);
    /// The call begins or ends a comparison of the files with the index, which its deadline allows
    /// for.
    fn compares(&self, begins: bool);
    /// The call is about to wait: pauses its deadline and releases its permit.
    fn pause(&self);
    /// Ends a pause; blocks until a permit is available. Returns false if the call must end.
    fn resume(&self) -> bool;
    /// Server state, for tools of class `Control` in a running server.
    fn server(&self) -> Option<&ServerState>;
    /// Reports the run time of SQL statements; called once, at the end of the call.
    fn spent_in_statements(&self, time: Duration);
    /// Format of the response.
    fn form(&self) -> Form {
        Form::Text
    }
}
