//! Changes that a client wants to hear of, and the notifications that it gets when they happen.
//! What can change are the resources, and the list of tools where others' tools are in it: that of
//! prompts is fixed. Pure: it makes the bytes, it sends nothing.

use super::resources;
use crate::server::jsonrpc::message::RequestId;
use crate::server::jsonrpc::requests::notification;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Addresses that one client may follow in one subscription.
pub(in crate::server) const MOST_ADDRESSES: usize = 256;

/// What the stateless era marks every notification of a subscription with: the id of the request
/// that opened it.
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// The changes that one subscription is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::server) struct WantedChanges {
    /// That resources have come or gone.
    list: bool,
    /// That tools have come or gone.
    tools: bool,
    /// That the resources at these addresses may read differently.
    addresses: BTreeSet<String>,
}

impl WantedChanges {
    /// What every client hears that has shaken hands: the older versions cannot choose.
    pub(in crate::server) fn negotiated() -> Self {
        Self { list: true, tools: true, addresses: BTreeSet::new() }
    }

    /// What a client asks for that can choose, as far as it can be had. What is missing from
    /// `to_json` will never come.
    pub(in crate::server) fn asked(params: &Map<String, Value>, tools_change: bool) -> Self {
        let of = |name: &str| params.get("notifications").and_then(|asked| asked.get(name));
        let is_asked = |name: &str| of(name) == Some(&Value::Bool(true));
        let (list, tools) =
            (is_asked("resourcesListChanged"), tools_change && is_asked("toolsListChanged"));
        let mut wanted = Self { list, tools, addresses: BTreeSet::new() };
        for address in of("resourceSubscriptions").and_then(Value::as_array).into_iter().flatten() {
            if let Some(address) = address.as_str() {
                wanted.follow(address);
            }
        }
        wanted
    }

    /// The same in the words of the protocol.
    fn to_json(&self) -> Value {
        let mut wanted = json!({});
        if self.list {
            wanted["resourcesListChanged"] = Value::Bool(true);
        }
        if self.tools {
            wanted["toolsListChanged"] = Value::Bool(true);
        }
        if !self.addresses.is_empty() {
            wanted["resourceSubscriptions"] = self.addresses.iter().cloned().collect();
        }
        wanted
    }

    /// Follows one more address. False if there are too many, or nothing can ever be there.
    pub(in crate::server) fn follow(&mut self, address: &str) -> bool {
        if resources::question(address).is_err() || self.addresses.len() >= MOST_ADDRESSES {
            return self.addresses.contains(address);
        }
        self.addresses.insert(address.to_owned());
        true
    }

    /// Follows an address no more.
    pub(super) fn unfollow(&mut self, address: &str) {
        self.addresses.remove(address);
    }

    /// What to send when there is a new generation. Which files it concerns is not looked at: a
    /// notification says that something may have changed, and reading it again is cheap.
    pub(in crate::server) fn notifications(
        &self,
        subscription: Option<&RequestId>,
    ) -> Vec<Vec<u8>> {
        let marked = |mut params: Value| {
            if let Some(id) = subscription {
                params["_meta"] = meta(id);
            }
            params
        };
        let list = self
            .list
            .then(|| notification("notifications/resources/list_changed", marked(json!({}))));
        let updated = self.addresses.iter().map(|address| {
            let params = marked(json!({"uri": address}));
            notification("notifications/resources/updated", params)
        });
        list.into_iter().chain(updated).collect()
    }

    /// What to send when the list of tools is another one, to those who want to know.
    pub(in crate::server) fn tools_notification(
        &self,
        subscription: Option<&RequestId>,
    ) -> Option<Vec<u8>> {
        let params = subscription.map_or_else(|| json!({}), |id| json!({"_meta": meta(id)}));
        self.tools.then(|| notification("notifications/tools/list_changed", params))
    }

    /// The first notification of a subscription: what it will bring.
    pub(in crate::server) fn acknowledged(&self, id: &RequestId) -> Vec<u8> {
        let params = json!({"_meta": meta(id), "notifications": self.to_json()});
        notification("notifications/subscriptions/acknowledged", params)
    }
}

/// The mark of a subscription.
pub(in crate::server) fn meta(id: &RequestId) -> Value {
    json!({SUBSCRIPTION_KEY: id.to_json()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_had_is_promised_and_sent() {
        let asked = json!({"notifications": {
            "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
            "resourceSubscriptions": [
                "cograph://overview", "cograph://outline/../x", "file:///x", 5
            ],
        }});
        let wanted = WantedChanges::asked(asked.as_object().expect("it is an object"), false);
        assert_eq!(
            wanted.to_json(),
            json!({"resourcesListChanged": true, "resourceSubscriptions": ["cograph://overview"]})
        );
        let id = RequestId::from_json(&json!("l")).expect("text is an id");
        let sent: Vec<Value> = wanted
            .notifications(Some(&id))
            .iter()
            .map(|frame| serde_json::from_slice(frame).expect("notifications are JSON"))
            .collect();
        let methods: Vec<&str> =
            sent.iter().filter_map(|message| message["method"].as_str()).collect();
        assert_eq!(
            methods,
            ["notifications/resources/list_changed", "notifications/resources/updated"]
        );
        assert!(
            sent.iter().all(|message| message["params"]["_meta"][SUBSCRIPTION_KEY] == json!("l"))
        );
        assert!(WantedChanges::asked(&Map::new(), true).notifications(Some(&id)).is_empty());
    }

    #[test]
    fn addresses_are_bounded_and_can_be_given_up() {
        let mut wanted = WantedChanges::negotiated();
        let address = |number: usize| format!("cograph://outline/{number}");
        assert!((0..MOST_ADDRESSES).all(|number| wanted.follow(&address(number))));
        assert!(!wanted.follow("cograph://overview") && wanted.follow(&address(0)));
        wanted.unfollow(&address(0));
        assert!(wanted.follow("cograph://overview"));
        assert_eq!(wanted.notifications(None).len(), 1 + MOST_ADDRESSES);
    }
}
