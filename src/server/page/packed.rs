//! Answers inside of a written page, with what they share written once: names of members, texts,
//! and objects such as symbols. `web/packed.ts` reads this.
//!
//! ```text
//! null, true, 1.5, "short"   itself
//! [0, a, b]                  an array
//! [n, a, b]                  an object with the members `shapes[n - 1]`
//! [-n]                       `shared[n - 1]`, a text or an object
//! ```

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Least length of a text that is shared, in bytes: a reference is not much shorter.
const LONG: usize = 8;

/// What packed values share.
#[derive(Default)]
pub(super) struct Packer {
    shapes: Vec<Vec<String>>,
    shape_of: FxHashMap<Vec<String>, usize>,
    shared: Vec<String>,
    shared_at: FxHashMap<String, usize>,
    /// Size of what is shared, in bytes.
    bytes: usize,
}

impl Packer {
    /// Packs a value, unless it and what is shared exceed `most` bytes: then nothing has changed.
    pub(super) fn pack_within(&mut self, value: &Value, most: usize) -> Option<String> {
        let before = self.shared.len();
        let mut text = String::new();
        self.pack(value, &mut text);
        if self.bytes + text.len() <= most {
            return Some(text);
        }
        for dropped in self.shared.drain(before..) {
            self.bytes -= dropped.len() + 1;
            self.shared_at.remove(&dropped);
        }
        None
    }

    fn pack(&mut self, value: &Value, out: &mut String) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                let _ = write!(out, "{value}");
            }
            Value::String(text) if text.len() < LONG => {
                let _ = write!(out, "{value}");
            }
            Value::String(_) => self.share(value.to_string(), out),
            Value::Array(items) => {
                out.push_str("[0");
                self.pack_all(items, out);
            }
            Value::Object(members) => {
                let names: Vec<String> = members.keys().cloned().collect();
                let shape = match self.shape_of.get(&names) {
                    Some(&known) => known,
                    None => {
                        self.shapes.push(names.clone());
                        self.shape_of.insert(names, self.shapes.len());
                        self.shapes.len()
                    }
                };
                let is_leaf = members.values().all(|one| !one.is_array() && !one.is_object());
                let mut own = format!("[{shape}");
                self.pack_all(members.values(), &mut own);
                match is_leaf && members.len() > 1 {
                    true => self.share(own, out),
                    false => out.push_str(&own),
                }
            }
        }
    }

    fn pack_all<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>, out: &mut String) {
        for value in values {
            out.push(',');
            self.pack(value, out);
        }
        out.push(']');
    }

    fn share(&mut self, text: String, out: &mut String) {
        let at = match self.shared_at.get(&text) {
            Some(&known) => known,
            None => {
                self.bytes += text.len() + 1;
                self.shared.push(text.clone());
                self.shared_at.insert(text, self.shared.len());
                self.shared.len()
            }
        };
        let _ = write!(out, "[-{at}]");
    }

    /// What the packed values refer to, as the members of a JSON object.
    pub(super) fn members(&self) -> String {
        let shapes = json!(self.shapes);
        format!(r#""shapes":{shapes},"shared":[{}]"#, self.shared.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: &Value, shapes: &Value, shared: &Value) -> Value {
        let Some([tag, rest @ ..]) = packed.as_array().map(Vec::as_slice) else {
            return packed.clone();
        };
        let at = |tag: i64| usize::try_from(tag - 1).expect("a place");
        let rest = rest.iter().map(|one| unpacked(one, shapes, shared));
        match tag.as_i64().expect("a tag") {
            0 => Value::Array(rest.collect()),
            tag @ 1.. => {
                let names = shapes[at(tag)].as_array().expect("names").iter();
                names.map(|name| name.as_str().expect("a name").to_owned()).zip(rest).collect()
            }
            tag => unpacked(&shared[at(-tag)], shapes, shared),
        }
    }

    #[test]
    fn a_packed_value_is_the_value_and_what_values_share_is_written_once() {
        let symbol = json!({"symbol": "a.x::Name.of", "kind": "function", "line": 3});
        let values = [
            json!({"symbol": symbol, "lines": ["    return 1\n", "", "    return 1\n"]}),
            json!([symbol, null, -1.5, [], {}, {"one": [-1, 0, 1]}, "[-1]", true]),
        ];
        let mut packer = Packer::default();
        let packed = values.clone().map(|one| packer.pack_within(&one, 1 << 20).expect("it fits"));
        let all: Value =
            serde_json::from_str(&format!("{{{}}}", packer.members())).expect("it is JSON");
        for (value, text) in values.iter().zip(&packed) {
            let read: Value = serde_json::from_str(text).expect("it is JSON");
            assert_eq!(unpacked(&read, &all["shapes"], &all["shared"]), *value);
        }
        let text = packer.members();
        assert_eq!((text.matches("Name.of").count(), text.matches("return 1").count()), (1, 1));
    }

    #[test]
    fn what_does_not_fit_leaves_nothing() {
        let mut packer = Packer::default();
        assert!(packer.pack_within(&json!(["a long text", "another text"]), 20).is_none());
        assert_eq!((packer.bytes, packer.members()), (0, r#""shapes":[],"shared":[]"#.to_owned()));
        let packed = packer.pack_within(&json!(["a long text"]), 40);
        assert_eq!(packed.as_deref(), Some("[0,[-1]]"));
    }
}
