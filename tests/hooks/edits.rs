//! Hooks after an edit, on the program itself: uses that no longer fit, and silence about all else.

use serde_json::{Value, json};

use super::Project;

/// Files with a function, a type with a method, and their uses, in three languages.
const FILES: [(&str, &str); 8] = [
    (
        "lib/text.py",
        "def parse(a, b):\n    return a + b\n\n\ndef keep(a):\n    return parse(a, 1)\n\n\n\
         class Cart:\n    def total(self, tax):\n        return tax\n\n    def twice(self):\n\
         \x20       return self.total(1) * 2\n",
    ),
    (
        "lib/use.py",
        "from lib.text import parse, Cart\n\n\ndef one():\n    parse(1, 2)\n\
         \x20   parse(a=1, b=2)\n\n\ndef two():\n    cart = Cart()\n    cart.total(3)\n",
    ),
    ("lib/__init__.py", ""),
    (
        "web/text.ts",
        "export function parse(a: string, b: string): string {\n  return a + b;\n}\n\n\
         export class Cart {\n  total(tax: number): number {\n    return tax;\n  }\n}\n",
    ),
    (
        "web/use.ts",
        "import { parse, Cart } from './text';\n\nexport function one(): void {\n\
         \x20 parse('1', '2');\n  const cart = new Cart();\n  cart.total(3);\n}\n",
    ),
    ("core/Cargo.toml", "[package]\nname = \"core\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
    (
        "core/src/lib.rs",
        "pub mod text;\n\nuse text::{Cart, parse};\n\npub fn one() {\n    parse(1, 2);\n\
         \x20   let cart = Cart {};\n    cart.total(3);\n}\n",
    ),
    (
        "core/src/text.rs",
        "pub fn parse(a: u8, b: u8) -> u8 {\n    a + b\n}\n\npub struct Cart {}\n\nimpl Cart {\n\
         \x20   pub fn total(&self, tax: u8) -> u8 {\n        tax\n    }\n}\n",
    ),
];

/// An indexed project with these files.
fn project() -> Project {
    let project = Project::new();
    for (path, text) in FILES {
        project.write(path, text);
    }
    project.index();
    project
}

impl Project {
    /// The present text of one of `FILES` with a part replaced, which is written.
    fn replaced(&self, path: &str, old: &str, new: &str) -> Value {
        let text = std::fs::read_to_string(self.root().join(path)).expect("it exists");
        assert_eq!(text.matches(old).count(), 1, "{path}: {old}");
        self.write(path, &text.replace(old, new));
        json!({"file_path": self.root().join(path), "old_string": old, "new_string": new})
    }

    /// Text for the model after a tool with this input.
    fn context(&self, tool: &str, input: &Value) -> String {
        let call = json!({
            "session_id": "s", "cwd": self.root(), "hook_event_name": "PostToolUse",
            "tool_name": tool, "tool_input": input, "tool_response": {"success": true},
        });
        let reply = self.hook(&["post-tool-use"], call.to_string().as_bytes());
        if reply.is_empty() {
            return reply;
        }
        let reply: Value = serde_json::from_str(&reply).expect("it is JSON");
        let text = &reply["hookSpecificOutput"]["additionalContext"];
        text.as_str().expect("it is text").to_owned()
    }

    /// Text for the model after a part of a file was replaced.
    fn edited(&self, path: &str, old: &str, new: &str) -> String {
        let input = self.replaced(path, old, new);
        self.context("Edit", &input)
    }
}

/// Holds that an edit is answered in these words, on at most five lines.
fn check(path: &str, old: &str, new: &str, expected: &[&str]) {
    let text = project().edited(path, old, new);
    for part in expected {
        assert!(text.contains(part), "{path}, {new}: `{part}` is not in:\n{text}");
    }
    assert!(text.starts_with("cograph: ") && text.lines().count() <= 5, "{text}");
    assert!(text.contains("`cograph impact` for all"), "{text}");
}

#[test]
fn an_added_parameter_no_longer_fits_its_calls() {
    check(
        "lib/text.py",
        "def parse(a, b):",
        "def parse(a, b, c):",
        &[
            "3 call sites no longer fit `def parse(a, b, c)`: lib/text.py:6 (2 arguments, 3 taken)",
            "lib/use.py:5 (2 arguments, 3 taken), lib/use.py:6",
        ],
    );
    check(
        "web/text.ts",
        "parse(a: string, b: string)",
        "parse(a: string, b: string, c: string)",
        &["1 call site no longer fits `", "web/use.ts:4 (2 arguments, 3 taken)"],
    );
    check(
        "core/src/text.rs",
        "parse(a: u8, b: u8)",
        "parse(a: u8)",
        &["1 call site no longer fits `", "core/src/lib.rs:6 (2 arguments, 1 taken)"],
    );
}

#[test]
fn a_removed_function_leaves_its_uses() {
    check(
        "lib/text.py",
        "def parse(a, b):\n    return a + b\n\n\n",
        "\"\"\"Texts.\"\"\"\n\n",
        &["left of `parse`, which is gone: lib/text.py:4, lib/use.py:1, lib/use.py:5"],
    );
    check(
        "web/text.ts",
        "export function parse(a: string, b: string): string {\n  return a + b;\n}\n",
        "// Texts.\n",
        &["2 uses left of `parse`, which is gone: web/use.ts:1, web/use.ts:4"],
    );
    check(
        "core/src/text.rs",
        "pub fn parse(a: u8, b: u8) -> u8 {\n    a + b\n}\n",
        "// Texts.\n",
        &["2 uses left of `parse`, which is gone: core/src/lib.rs:3, core/src/lib.rs:6"],
    );
}

#[test]
fn a_renamed_method_leaves_its_uses() {
    check(
        "lib/text.py",
        "def total(self, tax):",
        "def sum(self, tax):",
        &["2 uses left of `Cart.total`, which is `sum` now: lib/text.py:14, lib/use.py:11"],
    );
    check(
        "web/text.ts",
        "total(tax: number)",
        "sum(tax: number)",
        &["1 use left of `Cart.total`, which is `sum` now: web/use.ts:6"],
    );
    check(
        "core/src/text.rs",
        "pub fn total(",
        "pub fn sum(",
        &["1 use left of `Cart.total`, which is `sum` now: core/src/lib.rs:8"],
    );
}

#[test]
fn an_edit_that_breaks_nothing_for_certain_is_silence() {
    for (path, old, new) in [
        ("lib/text.py", "return a + b", "return b + a"),
        ("lib/text.py", "class Cart:", "def fresh():\n    pass\n\n\nclass Cart:"),
        ("lib/text.py", "def parse(a, b):", "def parse(a, b, c=1):"),
        ("lib/text.py", "def keep(a):", "def kept(a):"),
        ("lib/text.py", "def total(self, tax):", "def total(self, rate):"),
        // Half-written.
        ("lib/text.py", "def parse(a, b):", "def parse(a, b, c"),
        ("web/text.ts", "export class Cart {", "export class Cart"),
        ("core/src/text.rs", "pub fn parse(a: u8, b: u8) -> u8 {", "pub fn parse(a: u8) -> u8 "),
        // Another definition has the name.
        ("lib/text.py", "def parse(a, b):", "parse = print\n\n\ndef other(a, b):"),
        ("web/text.ts", "function parse", "const parse = join;\n\nfunction join"),
        ("lib/use.py", "parse(1, 2)", "parse(1, 2, 3)"),
        ("notes.md", "# parseConfig", "# parse"),
    ] {
        assert_eq!(project().edited(path, old, new), "", "{path}: {new}");
    }
}

#[test]
fn what_another_base_may_have_is_not_gone() {
    let project = Project::new();
    project.write(
        "mixin.py",
        "class Mixin:\n    def start(self):\n        self.begin()\n\n    def begin(self):\n\
         \x20       pass\n",
    );
    project.write(
        "case.py",
        "from elsewhere import Case\nfrom mixin import Mixin\n\n\nclass Own(Mixin, Case):\n\
         \x20   def start(self):\n        super().start()\n        self.begin()\n",
    );
    project.index();
    assert_eq!(project.edited("mixin.py", "def start(self)", "def started(self)"), "");
    let text = project.edited("mixin.py", "def begin(self)", "def begun(self)");
    assert!(
        text.contains("1 use left of `Mixin.begin`, which is `begun` now: mixin.py:3"),
        "{text}"
    );
}

#[test]
fn what_is_not_indexed_is_silence() {
    let project = Project::new();
    let (path, text) = FILES[0];
    project.write(path, text);
    project.write("lib/use.py", FILES[1].1);
    assert_eq!(project.edited(path, "def parse(a, b):", "def parse(a):"), "", "no index");
    project.write(path, text);
    project.index();
    let input = project.replaced(path, "def parse(a, b):", "def parse(a):");
    assert_ne!(project.context("Edit", &input), "", "with an index it is answered");
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let file = elsewhere.path().join("text.py");
    std::fs::write(&file, text.replace("def parse(a, b):", "def parse(a):")).expect("written");
    let mut outside = input;
    outside["file_path"] = json!(file);
    assert_eq!(project.context("Edit", &outside), "", "in no indexed repository");
    project.write("lib/new.py", "def parse(a):\n    pass\n");
    outside["file_path"] = json!(project.root().join("lib/new.py"));
    assert_eq!(project.context("Edit", &outside), "", "a file that the index does not have");
    outside["file_path"] = json!(project.root().join("lib/../../absent/x.py"));
    assert_eq!(project.context("Edit", &outside), "", "no file");
}

#[test]
fn a_directory_that_is_no_repository_of_git_is_that_of_the_client() {
    let project = project();
    std::fs::remove_dir_all(project.root().join(".git")).expect("removed");
    project.index();
    let text = project.edited("lib/text.py", "def parse(a, b):", "def parse(a, b, c):");
    assert!(text.contains("3 call sites no longer fit"), "{text}");
}

#[test]
fn only_what_the_edit_breaks_is_reported() {
    let project = project();
    let text = project.edited("lib/text.py", "def parse(a, b):", "def parse(a, b, c):");
    assert!(text.contains("3 call sites"), "{text}");
    // The next edits of the same and of another file break nothing, and the index is as old.
    assert_eq!(project.edited("lib/text.py", "return tax\n", "return tax + 1\n"), "");
    assert_eq!(project.edited("lib/use.py", "parse(1, 2)", "parse(1, 2, 3)"), "");
    let text = project.edited("lib/text.py", "def parse(a, b, c):", "def parse(a, b, c, d):");
    assert_eq!(text, "", "the calls in a file that changed are not compared");
    // An index of the text after the edit has the same uses.
    project.replaced("lib/text.py", "def parse(a, b, c, d):", "def parse(a, b, c=0):");
    let input = project.replaced("lib/text.py", "def parse(a, b, c=0):", "def parse(a, b):");
    project.index();
    let text = project.context("Edit", &input);
    assert!(
        text.contains("1 call site no longer fits `def parse(a, b)`: lib/use.py:5 (3"),
        "{text}"
    );
    let input = project.replaced("lib/text.py", "def parse(a, b):", "def parsed(a, b):");
    project.index();
    let text = project.context("Edit", &input);
    let expected = "uses left of `parse`, which is `parsed` now: lib/text.py:6, lib/use.py:1";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn edits_are_known_in_the_shape_of_every_client() {
    let project = project();
    let path = project.root().join("lib/text.py");
    let before = std::fs::read_to_string(&path).expect("it exists");
    let after = before.replace("def parse(a, b):", "def parse(a):");
    project.write("lib/text.py", &after);
    let edit = json!({"file_path": path, "old_string": "def parse(a, b):",
        "new_string": "def parse(a):"});
    let patch = "*** Begin Patch\n*** Update File: lib/text.py\n@@\n-def parse(a, b):\n\
        +def parse(a):\n     return a + b\n*** End Patch\n";
    let root = project.root();
    for (client, place, call) in [
        (
            "claude-code",
            "/hookSpecificOutput/additionalContext",
            json!({"cwd": root,
            "tool_name": "Edit", "tool_input": edit}),
        ),
        (
            "claude-code",
            "/hookSpecificOutput/additionalContext",
            json!({"cwd": root,
            "tool_name": "MultiEdit", "tool_input": {"file_path": path, "edits": [edit]}}),
        ),
        (
            "claude-code",
            "/hookSpecificOutput/additionalContext",
            json!({"cwd": root,
            "tool_name": "Write", "tool_input": {"file_path": path, "content": after},
            "tool_response": {"type": "update", "originalFile": before}}),
        ),
        // Without the text before, the index has its symbols.
        (
            "claude-code",
            "/hookSpecificOutput/additionalContext",
            json!({"cwd": root,
            "tool_name": "Write", "tool_input": {"file_path": path, "content": after}}),
        ),
        (
            "codex",
            "/hookSpecificOutput/additionalContext",
            json!({"cwd": root,
            "tool_name": "apply_patch", "tool_input": {"command": patch}}),
        ),
        (
            "codex",
            "/hookSpecificOutput/additionalContext",
            json!({"cwd": root,
            "tool_name": "Bash", "tool_input": {"command":
            format!("apply_patch <<'EOF'\n{patch}EOF")}}),
        ),
        (
            "gemini",
            "/hookSpecificOutput/additionalContext",
            json!({"cwd": root,
            "tool_name": "replace", "tool_input": edit}),
        ),
        (
            "gemini",
            "/hookSpecificOutput/additionalContext",
            json!({"cwd": root,
            "tool_name": "write_file", "tool_input": {"file_path": path, "content": after}}),
        ),
        (
            "cursor",
            "/additional_context",
            json!({"workspace_roots": [root],
            "hook_event_name": "afterFileEdit", "file_path": path, "edits": [edit]}),
        ),
        (
            "copilot",
            "/additionalContext",
            json!({"cwd": root, "toolName": "edit",
            "toolArgs": json!({"path": path, "old_str": "def parse(a, b):",
            "new_str": "def parse(a):"}).to_string()}),
        ),
        (
            "copilot",
            "/additionalContext",
            json!({"cwd": root, "toolName": "create",
            "toolArgs": {"path": "lib/text.py", "file_text": after}}),
        ),
    ] {
        let arguments = ["post-tool-use", "--client", client];
        let reply = project.hook(&arguments, call.to_string().as_bytes());
        let reply: Value = serde_json::from_str(&reply).unwrap_or_default();
        let text = reply.pointer(place).and_then(Value::as_str).unwrap_or_default();
        assert!(text.contains("`def parse(a)`: "), "{call}\n{reply}");
        assert!(text.contains("lib/use.py:5 (2 arguments, 1 taken)"), "{call}\n{reply}");
    }
    // A client that has not written yet.
    project.write("lib/text.py", &before);
    let text = project.context("apply_patch", &json!({"command": patch}));
    assert!(text.contains("lib/use.py:5 (2 arguments, 1 taken)"), "{text}");
}

#[test]
fn a_removed_file_leaves_the_uses_of_what_it_had() {
    let project = project();
    std::fs::remove_file(project.root().join("lib/text.py")).expect("removed");
    let patch = "*** Begin Patch\n*** Delete File: lib/text.py\n*** End Patch\n";
    let text = project.context("apply_patch", &json!({"command": patch}));
    assert!(text.contains("left of `parse`, which is gone: lib/use.py:1"), "{text}");
}

#[test]
fn what_came_to_another_file_of_its_package_is_not_gone() {
    let project = Project::new();
    project.write("go.mod", "module m\n\ngo 1.22\n");
    project.write("a.go", "package m\n\nfunc parse(a int) int { return a }\n");
    project.write("b.go", "package m\n\nfunc use() int { return parse(1) }\n");
    project.index();
    let text = project.edited("a.go", "func parse(a int) int { return a }\n", "// Nothing.\n");
    assert!(text.contains("1 use left of `parse`, which is gone: b.go:3"), "{text}");
    project.write("a.go", "package m\n\nfunc parse(a int) int { return a }\n");
    project.write("c.go", "package m\n\nfunc parse(a int) int { return a }\n");
    let text = project.edited("a.go", "func parse(a int) int { return a }\n", "// Nothing.\n");
    assert_eq!(text, "");
}
