//! What can still be read of a message that is no JSON: cut off, or broken by bytes that are no
//! text. The failure then reaches the request that it belongs to.

use serde_json::Value;

/// Members of a broken message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Remains {
    /// The id, unchecked.
    pub(super) raw_id: Option<Value>,
    /// A method: a request or a notification.
    pub(crate) has_method: bool,
    /// Members that only JSON-RPC messages and responses have: the line is no other output.
    has_frame: bool,
}

impl Remains {
    /// True for the rest of a response.
    pub(crate) fn is_response(&self) -> bool {
        self.has_frame && !self.has_method
    }
}

/// Looks for the members at the top level of an object. None if the line does not begin as one.
pub(crate) fn remains(line: &[u8]) -> Option<Remains> {
    let mut rest = line.trim_ascii_start().strip_prefix(b"{")?;
    let (mut found, mut depth) = (Remains::default(), 1usize);
    while let [byte, behind @ ..] = rest {
        rest = behind;
        match byte {
            b'"' => {
                let end = end_of_text(behind);
                let (name, after) = behind.split_at(end);
                rest = after.strip_prefix(b"\"").unwrap_or(after);
                let value = rest.trim_ascii_start().strip_prefix(b":");
                if let Some(value) = value.filter(|_| depth == 1) {
                    match name {
                        b"id" => {
                            found.raw_id = found.raw_id.or_else(|| id(value.trim_ascii_start()));
                        }
                        b"method" => found.has_method = true,
                        b"jsonrpc" | b"result" | b"error" => found.has_frame = true,
                        _ => {}
                    }
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Some(found)
}

/// Length of a text without its closing quote; all of it if it is cut off.
fn end_of_text(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = text.iter().position(|&byte| match byte {
        _ if is_escaped => {
            is_escaped = false;
            false
        }
        b'\\' => {
            is_escaped = true;
            false
        }
        byte => byte == b'"',
    });
    end.unwrap_or(text.len())
}

/// The id at the beginning of `text`. One that may go on behind a cut is none.
fn id(text: &[u8]) -> Option<Value> {
    let length = match text.strip_prefix(b"\"") {
        Some(inner) => end_of_text(inner) + 2,
        None => text.iter().position(|byte| matches!(byte, b',' | b'}' | b' '))?,
    };
    serde_json::from_slice(text.get(..length)?).ok()
}
