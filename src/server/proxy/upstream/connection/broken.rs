//! Lines of a peer that are no messages: cut off, oversized, or not JSON. A request whose response
//! came in such a line fails at once.

use super::{Connection, LineKind, answered};
use crate::jsonrpc::message::{self, Remains, RequestId};

impl Connection {
    /// Handles a line that is no message, with the id where it could be parsed. The rest of a
    /// response fails its request; if no id can be read, every pending one: it is unknown whose
    /// response it was, and that request would wait in vain.
    pub(super) fn broken_line(&self, line: &[u8], id: Option<RequestId>, why: &str) -> LineKind {
        let Some(remains) = message::remains(line).filter(Remains::is_response) else {
            return self.invalid_line();
        };
        let failed: Vec<_> = match id.or_else(|| remains.id()) {
            Some(id) => self.remove_pending(&id).into_iter().collect(),
            None => std::mem::take(&mut self.state().calls).into_values().collect(),
        };
        if failed.is_empty() {
            return self.invalid_line();
        }
        for pending in failed {
            pending.end(answered(why));
        }
        LineKind::Invalid
    }
}
