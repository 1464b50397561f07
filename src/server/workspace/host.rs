//! Who a call is made for: whoever runs tools brings one.

use crate::model::cancel::CancelToken;
use crate::server::workspace::metrics::{ProgressReport, ServerState};
use std::time::Duration;

/// Who a call is made for.
pub trait Host {
    /// Raised when nobody wants the answer any more.
    fn cancel(&self) -> &CancelToken;
    /// Says how far the call is.
    fn progress(&self, report: &ProgressReport);
    /// The call is going to wait and needs no permit meanwhile.
    fn pause(&self);
    /// The call has waited; blocks until it may go on. False if it is to end.
    fn resume(&self) -> bool;
    /// What the server is doing, if one is running and the tool is of class `Control`.
    fn server(&self) -> Option<&ServerState>;
    /// Told once, at the end of the call: how long statements have run for it.
    fn spent_in_statements(&self, time: Duration);
}
