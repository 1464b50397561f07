//! Subscriptions to change notifications: of resources, and of the list of tools if it has external
//! ones; the list of prompts is constant. Pure: returns bytes, sends nothing.

use super::resources;
use crate::jsonrpc::message::RequestId;
use crate::jsonrpc::requests::notification;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Maximum number of URIs in a subscription.
pub(crate) const MAX_ADDRESSES: usize = 256;

/// Metadata key of notifications in the stateless protocol: the id of the request that opened the
/// subscription.
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// Contents of a subscription.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct WantedChanges {
    /// Changes of the list of resources.
    list: bool,
    /// Changes of the list of tools.
    tools: bool,
    /// Changes of the resources with these URIs.
    addresses: BTreeSet<String>,
}

impl WantedChanges {
    /// Subscription of every client after a handshake: older versions have no choice.
    pub(crate) fn negotiated() -> Self {
        Self { list: true, tools: true, addresses: BTreeSet::new() }
    }

    /// Subscription from a client's request, as far as it is supported. Only what `to_json`
    /// contains is ever sent.
    pub(crate) fn asked(params: &Map<String, Value>, tools_change: bool) -> Self {
        let of = |name: &str| params.get("notifications").and_then(|asked| asked.get(name));
        let is_requested = |name: &str| of(name) == Some(&Value::Bool(true));
        let (list, tools) = (
            is_requested("resourcesListChanged"),
            tools_change && is_requested("toolsListChanged"),
        );
        let mut wanted = Self { list, tools, addresses: BTreeSet::new() };
        for address in of("resourceSubscriptions").and_then(Value::as_array).into_iter().flatten() {
            if let Some(address) = address.as_str() {
                wanted.follow(address);
            }
        }
        wanted
    }

    /// The subscription in protocol form.
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

    /// Adds a URI. Returns false if there are too many, or the URI cannot exist.
    pub(crate) fn follow(&mut self, address: &str) -> bool {
        if resources::question(address).is_err() || self.addresses.len() >= MAX_ADDRESSES {
            return self.addresses.contains(address);
        }
        self.addresses.insert(address.to_owned());
        true
    }

    /// Removes a URI.
    pub(super) fn unfollow(&mut self, address: &str) {
        self.addresses.remove(address);
    }

    /// Notifications for a new generation. Changed files are not mapped to URIs: a notification may
    /// be redundant, and reading the resource again is cheap.
    pub(crate) fn notifications(&self, subscription: Option<&RequestId>) -> Vec<Vec<u8>> {
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

    /// Notification of a changed list of tools, for subscribers.
    pub(crate) fn tools_notification(&self, subscription: Option<&RequestId>) -> Option<Vec<u8>> {
        let params = subscription.map_or_else(|| json!({}), |id| json!({"_meta": meta(id)}));
        self.tools.then(|| notification("notifications/tools/list_changed", params))
    }

    /// First notification of a subscription: its contents.
    pub(crate) fn acknowledged(&self, id: &RequestId) -> Vec<u8> {
        let params = json!({"_meta": meta(id), "notifications": self.to_json()});
        notification("notifications/subscriptions/acknowledged", params)
    }
}

/// Metadata of a subscription.
pub(crate) fn meta(id: &RequestId) -> Value {
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
        assert!((0..MAX_ADDRESSES).all(|number| wanted.follow(&address(number))));
        assert!(!wanted.follow("cograph://overview") && wanted.follow(&address(0)));
        wanted.unfollow(&address(0));
        assert!(wanted.follow("cograph://overview"));
        assert_eq!(wanted.notifications(None).len(), 1 + MAX_ADDRESSES);
    }
}
