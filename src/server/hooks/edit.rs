//! Edits of files in the calls of tools, under the names of every client, and the texts of both
//! sides of them. Reads no file.

use super::call::HookCall;
use super::patch::{self, Hunk};
use serde_json::Value;
use std::path::PathBuf;

/// Names of the path of a file.
const PATH: [&str; 4] = ["file_path", "filePath", "path", "absolute_path"];

/// Names of a text that is replaced, and of the text in its place.
const OLD: [&str; 3] = ["old_string", "oldString", "old_str"];
const NEW: [&str; 3] = ["new_string", "newString", "new_str"];

/// Names of a list of replacements.
const LIST: [&str; 2] = ["edits", "replacements"];

/// Names of the text of a whole file.
const WHOLE: [&str; 4] = ["content", "file_text", "contents", "fileText"];

/// Names, in results, of the text of the file before the edit.
const BEFORE: [&str; 3] = ["originalFile", "originalFileContents", "originalContent"];

/// Names of a patch.
const PATCH: [&str; 3] = ["command", "input", "patch"];

/// Maximum number of files of one call.
const MAX_FILES: usize = 20;

/// Edited file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct EditedFile {
    /// Path as the client gave it.
    pub(super) path: PathBuf,
    /// What is known of the edit, the most certain first.
    known: Vec<Known>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Known {
    /// Text before it.
    Before(String),
    /// Blocks of lines.
    Hunks(Vec<Hunk>),
    /// Replacements in order.
    Replaced(Vec<Replacement>),
    /// The file is gone.
    Removed,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Replacement {
    old: String,
    new: String,
    is_everywhere: bool,
}

/// Texts of both sides of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Sides {
    /// None if it is not known.
    pub(super) before: Option<Vec<u8>>,
    /// Text after it.
    pub(super) after: Vec<u8>,
}

/// Files that a call has edited.
pub(super) fn files(call: &HookCall) -> Vec<EditedFile> {
    let input = &call.input;
    let texts = PATCH.iter().filter_map(|name| input.get(*name));
    if let Some(text) = texts.chain([input]).find_map(patch_in) {
        let files = patch::parse(&text).into_iter().take(MAX_FILES);
        return files.map(of_patch).collect();
    }
    let Some(path) = text(input, &PATH) else { return Vec::new() };
    let replaced = replacements(input);
    if replaced.is_empty() && text(input, &WHOLE).is_none() {
        return Vec::new();
    }
    let mut known = Vec::new();
    for result in [&call.output, &call.output["returnDisplay"]] {
        // What was created breaks nothing.
        if result["type"] == "create"
            || BEFORE.iter().any(|name| result[*name] == Value::Null && result.get(name).is_some())
        {
            return Vec::new();
        }
        known.extend(text(result, &BEFORE).map(|before| Known::Before(before.to_owned())));
        let hunks = result["structuredPatch"].as_array().map(|hunks| patch::structured(hunks));
        known.extend(hunks.filter(|hunks| !hunks.is_empty()).map(Known::Hunks));
    }
    if !replaced.is_empty() {
        known.push(Known::Replaced(replaced));
    }
    vec![EditedFile { path: PathBuf::from(path), known }]
}

impl EditedFile {
    /// Texts of both sides, from the text on disk; none if the call has not changed it.
    pub(super) fn sides(&self, disk: Option<&[u8]>) -> Option<Sides> {
        let Some(disk) = disk else {
            let is_removed = self.known.contains(&Known::Removed);
            return is_removed.then(|| Sides { before: None, after: Vec::new() });
        };
        if self.known.contains(&Known::Removed) {
            return None;
        }
        let found = self.known.iter().find_map(|known| known.sides(disk));
        Some(found.unwrap_or_else(|| Sides { before: None, after: disk.to_vec() }))
    }
}

impl Known {
    fn sides(&self, disk: &[u8]) -> Option<Sides> {
        let before = |text: Vec<u8>| Sides { before: Some(text), after: disk.to_vec() };
        match self {
            Self::Before(text) => Some(before(text.clone().into_bytes())),
            Self::Hunks(hunks) => {
                if let Some(old) = patch::applied(disk, hunks, true) {
                    return Some(before(old));
                }
                // A hook may run before the client writes.
                let after = patch::applied(disk, hunks, false)?;
                Some(Sides { before: Some(disk.to_vec()), after })
            }
            Self::Replaced(all) => {
                let mut text = std::str::from_utf8(disk).ok()?.to_owned();
                for one in all.iter().rev() {
                    text = one.undone(&text)?;
                }
                Some(before(text.into_bytes()))
            }
            Self::Removed => None,
        }
    }
}

impl Replacement {
    /// The text before it; none if its place is not known.
    fn undone(&self, text: &str) -> Option<String> {
        let has_returns = text.contains("\r\n") && !self.new.contains('\r');
        let (old, new) = match has_returns {
            true => (self.old.replace('\n', "\r\n"), self.new.replace('\n', "\r\n")),
            false => (self.old.clone(), self.new.clone()),
        };
        if new.is_empty() {
            return None;
        }
        match (self.is_everywhere, text.matches(&new).count()) {
            (_, 1) => Some(text.replacen(&new, &old, 1)),
            (true, 2..) => Some(text.replace(&new, &old)),
            _ => None,
        }
    }
}

fn of_patch(file: patch::PatchedText) -> EditedFile {
    let known = match file.hunks {
        None => Known::Removed,
        Some(hunks) => Known::Hunks(hunks),
    };
    EditedFile { path: PathBuf::from(file.path), known: vec![known] }
}

fn text<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| value.get(*name)?.as_str())
}

fn replacements(input: &Value) -> Vec<Replacement> {
    let list = LIST.iter().find_map(|name| input.get(*name)?.as_array());
    let all = list.map_or(std::slice::from_ref(input), Vec::as_slice);
    let one = |value: &Value| {
        let is_everywhere =
            ["replace_all", "replaceAll", "allow_multiple"].iter().any(|name| value[*name] == true)
                || value["expected_replacements"].as_u64().is_some_and(|count| count > 1);
        Some(Replacement {
            old: text(value, &OLD)?.to_owned(),
            new: text(value, &NEW)?.to_owned(),
            is_everywhere,
        })
    };
    all.iter().filter_map(one).collect()
}

/// A patch in a text, or in one of the words of a command.
fn patch_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.contains(patch::BEGIN).then(|| text.clone()),
        Value::Array(words) => words.iter().find_map(patch_in),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const AFTER: &str = "a\nb2\nc\nb3\n";

    /// Path, and the text before an edit whose result is `AFTER`.
    fn check(call: &Value) -> Vec<(String, Option<String>)> {
        let call = HookCall::read(&call.to_string()).expect("it is an object");
        let found = files(&call).into_iter().filter_map(|file| {
            let sides = file.sides(Some(AFTER.as_bytes()))?;
            let before = sides.before.map(|text| String::from_utf8(text).expect("it is text"));
            Some((file.path.display().to_string(), before))
        });
        found.collect()
    }

    #[test]
    fn the_text_before_an_edit_is_known_in_the_shape_of_every_client() {
        let one = |before: Option<&str>| vec![("/r/a.py".to_owned(), before.map(str::to_owned))];
        let edit = json!({"file_path": "/r/a.py", "old_string": "b", "new_string": "b2"});
        let patch = "*** Begin Patch\n*** Update File: /r/a.py\n@@\n a\n-b\n+b2\n c\n*** End Patch";
        for call in [
            json!({"tool_name": "Edit", "tool_input": edit}),
            json!({"tool_name": "Edit", "tool_input": edit, "tool_response": {
                "originalFile": "a\nb\nc\nb3\n"}}),
            json!({"tool_name": "Write", "tool_input": {"file_path": "/r/a.py", "content": AFTER},
                "tool_response": {"type": "update", "structuredPatch": [{"oldStart": 1,
                "newStart": 1, "lines": [" a", "-b", "+b2", " c"]}]}}),
            json!({"tool_name": "MultiEdit", "tool_input": {"file_path": "/r/a.py", "edits": [
            {"old_string": "b\n", "new_string": "x\n"}, {"old_string": "x", "new_string": "b2"}
            ]}}),
            json!({"tool_name": "apply_patch", "tool_input": {"command": patch}}),
            json!({"tool_name": "shell", "tool_input": {"command": ["apply_patch", patch]}}),
            json!({"tool_name": "shell", "tool_input": {"command":
                format!("apply_patch <<'EOF'\n{patch}\nEOF\n")}}),
            json!({"tool_name": "write_file", "tool_input": {"file_path": "/r/a.py",
                "content": AFTER}, "tool_response": {"returnDisplay": {
                "originalContent": "a\nb\nc\nb3\n"}}}),
            json!({"tool_name": "replace", "tool_input": edit}),
            json!({"hook_event_name": "afterFileEdit", "file_path": "/r/a.py",
                "edits": [{"old_string": "b", "new_string": "b2"}]}),
            json!({"toolName": "edit", "toolArgs": json!({"path": "/r/a.py", "old_str": "b",
                "new_str": "b2"}).to_string()}),
        ] {
            assert_eq!(check(&call), one(Some("a\nb\nc\nb3\n")), "{call}");
        }
        for unknown in [
            json!({"tool_input": {"file_path": "/r/a.py", "content": AFTER}}),
            json!({"tool_input": {"file_path": "/r/a.py", "old_string": "q", "new_string": ""}}),
            json!({"tool_input": {"file_path": "/r/a.py", "old_string": "q", "new_string": "b"}}),
        ] {
            assert_eq!(check(&unknown), one(None), "{unknown}");
        }
        for none in [
            json!({"tool_name": "Read", "tool_input": {"file_path": "/r/a.py"}}),
            json!({"tool_input": {"path": "src", "pattern": "b2"}}),
            json!({"tool_input": {"file_path": "/r/a.py", "content": "x"},
                "tool_response": {"type": "create", "originalFile": null}}),
        ] {
            assert_eq!(check(&none), [], "{none}");
        }
    }

    #[test]
    fn a_replacement_everywhere_is_undone_everywhere() {
        let all = json!({"tool_input": {"file_path": "/r/a.py", "old_string": "q",
            "new_string": "b", "replace_all": true}});
        assert_eq!(check(&all)[0].1.as_deref(), Some("a\nq2\nc\nq3\n"));
    }

    #[test]
    fn a_removed_file_has_no_text_after() {
        let patch = "*** Begin Patch\n*** Delete File: b.py\n*** End Patch\n";
        let call = json!({"tool_name": "apply_patch", "tool_input": {"command": patch}});
        let call = HookCall::read(&call.to_string()).expect("it is an object");
        let [file] = &files(&call)[..] else { unreachable!("there is one") };
        assert_eq!(file.sides(None), Some(Sides { before: None, after: Vec::new() }));
        assert_eq!(file.sides(Some(b"there still")), None);
    }
}
