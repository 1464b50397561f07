//! What the client is told and asked without having sent a request at that moment: that the
//! resources have changed (several changes in a row are told once), and what it works on.

use super::{Dispatcher, Work};
use crate::server::jsonrpc::message::{INTERNAL_ERROR, RequestId, RpcError};
use crate::server::jsonrpc::requests::Ticket;
use crate::server::protocol::subscriptions::WantedChanges;
use serde_json::Value;
use std::time::Instant;

/// Subscriptions that may be open at the same time.
pub(in crate::server) const MOST_SUBSCRIPTIONS: usize = 64;

impl Dispatcher {
    /// Opens a subscription. Its request stays in flight until the client cancels it or the process
    /// ends.
    pub(super) fn on_listen(&mut self, ticket: Ticket, id: RequestId, wanted: WantedChanges) {
        if self.subscriptions().count() >= MOST_SUBSCRIPTIONS {
            let reason =
                format!("{MOST_SUBSCRIPTIONS} subscriptions are open already: cancel one first");
            return self.answer(ticket, Err(RpcError::new(INTERNAL_ERROR, reason)));
        }
        self.output.send(wanted.acknowledged(&id));
        self.set_work(ticket, Work::Changes(id, wanted));
    }

    /// There is a new generation: the client will hear of it, but not of each one by itself.
    pub(super) fn on_published(&mut self) {
        self.resources_untold = true;
        self.tell_at.get_or_insert_with(|| Instant::now() + self.limits.change_interval);
    }

    /// A call needs a repository and names none. A client that has roots is asked for them, once.
    pub(super) fn needs_roots(&mut self) {
        if !self.roots.were_asked() {
            self.ask_for_roots();
        }
    }

    /// The roots are other ones. If no call has needed them yet, the next one asks.
    pub(super) fn on_roots_changed(&mut self) {
        if self.roots.were_asked() {
            self.ask_for_roots();
        }
    }

    /// Asks a client for its roots that has them, if they matter. Calls wait for the answer, not
    /// for long; if none comes, they mean the repository that the process was started in.
    fn ask_for_roots(&mut self) {
        if self.session.has_roots() && self.tools.asks_client() {
            self.tools.client_was_asked(Instant::now() + self.limits.roots_wait);
            let question = self.roots.ask();
            self.output.send(question);
        }
    }

    /// Takes an answer of the client.
    pub(super) fn on_response(&mut self, id: Option<&RequestId>, result: Option<&Value>) {
        let directories = id.and_then(|id| self.roots.answered(id, result));
        if directories.is_some_and(|directories| self.tools.set_client(directories)) {
            self.on_published();
        }
    }

    /// Tells of changes if it is time.
    pub(super) fn tell_of_changes(&mut self) {
        if self.tell_at.is_none_or(|at| at > Instant::now()) {
            return;
        }
        // A client that does not read hears of it once it does.
        if !self.output.has_room() {
            self.tell_at = Some(Instant::now() + self.limits.change_interval);
            return;
        }
        self.tell_at = None;
        if std::mem::take(&mut self.tools_untold) {
            self.tell_of_tools();
        }
        if !std::mem::take(&mut self.resources_untold) {
            return;
        }
        let negotiated =
            self.session.wanted().into_iter().flat_map(|wanted| wanted.notifications(None));
        let asked = self.subscriptions().flat_map(|(id, wanted)| wanted.notifications(Some(id)));
        for frame in negotiated.chain(asked) {
            self.output.send(frame);
        }
    }

    /// The list of tools is another one: whoever wants to know is told.
    pub(super) fn tell_of_tools(&mut self) {
        if !self.output.has_room() {
            self.tools_untold = true;
            self.tell_at.get_or_insert_with(|| Instant::now() + self.limits.change_interval);
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
