//! `roots/list` protocol state. The request is sent when the first call needs it, and only the
//! latest response counts. Parses text only, no disk access.

use crate::base::uri;
use crate::jsonrpc::message::RequestId;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Maximum number of roots.
pub(crate) const MAX_ROOTS: usize = 100;
/// Maximum length of a root's path, in bytes (PATH_MAX).
pub(crate) const PATH_BYTES: usize = 4096;

/// Pending and past requests.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    asked: u64,
    open: Option<RequestId>,
}

impl Roots {
    /// Creates a request, also if one was sent before.
    pub(crate) fn ask(&mut self) -> Vec<u8> {
        self.asked += 1;
        let id = Value::from(format!("roots-{}", self.asked));
        self.open = RequestId::from_json(&id);
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"})).into_bytes()
    }

    /// True if a request was sent.
    pub(crate) fn were_asked(&self) -> bool {
        self.asked > 0
    }

    /// Handles a response: no directories if it is an error. None if it is not the latest response.
    pub(crate) fn answered(
        &mut self,
        id: &RequestId,
        result: Option<&Value>,
    ) -> Option<Vec<PathBuf>> {
        if self.open.as_ref() != Some(id) {
            return None;
        }
        self.open = None;
        let roots = result.and_then(|result| result.get("roots")?.as_array()).into_iter().flatten();
        Some(
            roots
                .filter_map(|root| directory(root.get("uri")?.as_str()?))
                .take(MAX_ROOTS)
                .collect(),
        )
    }
}

/// Converts a `file:` URI to a local path.
fn directory(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/')
        .then(|| uri::decode(path))
        .flatten()
        .filter(|bytes| bytes.len() <= PATH_BYTES)
        .map(cograph_system::names::from_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> RequestId {
        RequestId::from_json(&Value::from(text)).expect("text is an id")
    }

    #[test]
    fn only_the_answer_to_the_newest_question_counts() {
        let mut roots = Roots::default();
        let first = String::from_utf8(roots.ask()).expect("messages are text");
        assert_eq!(first, "{\"jsonrpc\":\"2.0\",\"id\":\"roots-1\",\"method\":\"roots/list\"}\n");
        roots.ask();
        let result = json!({
            "roots": [
                {"uri": "file:///a%20b"}, {"uri": "https://x/"}, {"name": "x"}, {"uri": "file:///c"}
            ]
        });
        assert_eq!(roots.answered(&id("roots-1"), Some(&result)), None);
        assert_eq!(
            roots.answered(&id("roots-2"), Some(&result)),
            Some(vec!["/a b".into(), "/c".into()])
        );
        assert_eq!(roots.answered(&id("roots-2"), Some(&result)), None, "it was answered");
        roots.ask();
        assert_eq!(
            roots.answered(&id("roots-3"), None),
            Some(Vec::new()),
            "the client could not answer"
        );
    }

    #[test]
    fn addresses_of_directories() {
        let of_length = |bytes: usize| directory(&format!("file:///{}", "a".repeat(bytes - 1)));
        assert!(of_length(PATH_BYTES).is_some() && of_length(PATH_BYTES + 1).is_none());
        for (address, expected) in [
            ("file:///a/b", Some("/a/b")),
            ("file://localhost/a", Some("/a")),
            ("file:///%C3%A9", Some("/é")),
            ("file://elsewhere/a", None),
            ("file://a", None),
            ("file:///a%0", None),
            ("file:///a%00", None),
            ("/a", None),
        ] {
            assert_eq!(directory(address), expected.map(PathBuf::from), "{address}");
        }
    }
}
