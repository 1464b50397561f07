//! Server-initiated messages: change notifications (successive changes are coalesced) and
//! `roots/list` requests.

use super::{Dispatcher, Work};
use crate::jsonrpc::message::{INTERNAL_ERROR, RequestId, RpcError};
use crate::jsonrpc::requests::Ticket;
use crate::protocol::subscriptions::WantedChanges;
use serde_json::Value;
use std::time::Instant;

/// Maximum number of open subscriptions.
pub(crate) const MAX_SUBSCRIPTIONS: usize = 64;

impl Dispatcher {
    /// Opens a subscription. Its request stays in flight until the client cancels it or the session
    /// ends.
    pub(super) fn on_listen(&mut self, ticket: Ticket, id: RequestId, wanted: WantedChanges) {
        if self.subscriptions().count() >= MAX_SUBSCRIPTIONS {
            let reason =
                format!("{MAX_SUBSCRIPTIONS} subscriptions are open already: cancel one first");
            return self.answer(ticket, Err(RpcError::new(INTERNAL_ERROR, reason)));
        }
        self.output.send(wanted.acknowledged(&id));
        self.set_work(ticket, Work::Changes(id, wanted));
    }

    /// Schedules a change notification; several generations share one.
    pub(super) fn on_published(&mut self) {
        self.resources_pending = true;
        self.notify_at.get_or_insert_with(|| Instant::now() + self.limits.change_interval);
    }

    /// A call without a root needs a repository: requests the client's roots, once.
    pub(super) fn needs_roots(&mut self) {
        if !self.roots.were_asked() {
            self.ask_for_roots();
        }
    }

    /// The client's roots changed. They are requested again at once if a call has needed them.
    pub(super) fn on_roots_changed(&mut self) {
        if self.roots.were_asked() {
            self.ask_for_roots();
        }
    }

    /// Sends `roots/list` if the client has roots and they matter. Calls wait for the response;
    /// after a timeout they use the repository that the process was started in.
    fn ask_for_roots(&mut self) {
        if self.session.has_roots() && self.tools.asks_client() {
            self.tools.client_got_request(Instant::now() + self.limits.roots_wait);
            let question = self.roots.ask();
            self.output.send(question);
        }
    }

    /// Handles a response of the client.
    pub(super) fn on_response(&mut self, id: Option<&RequestId>, result: Option<&Value>) {
        let directories = id.and_then(|id| self.roots.answered(id, result));
        if directories.is_some_and(|directories| self.tools.set_client(directories)) {
            self.on_published();
        }
    }

    /// Sends the pending change notification if it is due.
    pub(super) fn send_change_notifications(&mut self) {
        if self.notify_at.is_none_or(|at| at > Instant::now()) {
            return;
        }
        // Held back by output backpressure until the client reads.
        if !self.output.has_room() {
            self.notify_at = Some(Instant::now() + self.limits.change_interval);
            return;
        }
        self.notify_at = None;
        if std::mem::take(&mut self.tools_pending) {
            self.send_tools_notification();
        }
        if !std::mem::take(&mut self.resources_pending) {
            return;
        }
        let negotiated =
            self.session.wanted().into_iter().flat_map(|wanted| wanted.notifications(None));
        let asked = self.subscriptions().flat_map(|(id, wanted)| wanted.notifications(Some(id)));
        for frame in negotiated.chain(asked) {
            self.output.send(frame);
        }
    }

    /// Sends the tool list notification to subscribers.
    pub(super) fn send_tools_notification(&mut self) {
        if !self.output.has_room() {
            self.tools_pending = true;
            self.notify_at.get_or_insert_with(|| Instant::now() + self.limits.change_interval);
            return;
        }
        let negotiated =
            self.session.wanted().map(|wanted| wanted.tools_notification(None)).into_iter();
        let asked = self.subscriptions().map(|(id, wanted)| wanted.tools_notification(Some(id)));
        for frame in negotiated.chain(asked).flatten() {
            self.output.send(frame);
        }
    }

    fn subscriptions(&self) -> impl Iterator<Item = (&RequestId, &WantedChanges)> {
        self.requests.all().filter_map(|(_, work)| match work {
            Work::Changes(id, wanted) => Some((id, wanted)),
            Work::Nothing | Work::Call(_) => None,
        })
    }
}
