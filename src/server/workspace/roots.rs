//! The directories that a client works on. A client of the older era that has such a list is asked
//! for it when the first call needs it, and only the newest question counts. Looks at text only,
//! never at the disk.

use crate::server::base::uri;
use crate::server::jsonrpc::message::RequestId;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Directories of a client that are taken in; more would only be looked at in vain.
pub(in crate::server) const MOST_ROOTS: usize = 100;
/// Bytes of the longest path of one; no system opens a longer one.
pub(in crate::server) const PATH_BYTES: usize = 4096;

/// Questions that were asked.
#[derive(Debug, Default)]
pub(in crate::server) struct Roots {
    asked: u64,
    open: Option<RequestId>,
}

impl Roots {
    /// Asks, or asks again. Gives the message.
    pub(in crate::server) fn ask(&mut self) -> Vec<u8> {
        self.asked += 1;
        let id = Value::from(format!("roots-{}", self.asked));
        self.open = RequestId::from_json(&id);
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"})).into_bytes()
    }

    /// Whether the client has been asked.
    pub(in crate::server) fn were_asked(&self) -> bool {
        self.asked > 0
    }

    /// Takes an answer: no directories if the client has no list. None if it answers nothing that
    /// is still of interest.
    pub(in crate::server) fn answered(
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
                .take(MOST_ROOTS)
                .collect(),
        )
    }
}

/// The directory that a `file:` address means on this machine.
fn directory(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    path.starts_with('/')
        .then(|| uri::decode(path))
        .flatten()
        .filter(|bytes| bytes.len() <= PATH_BYTES)
        .map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
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
