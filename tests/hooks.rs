//! Hooks of agents on the program itself: what they add to a search, and that they are silent, end
//! in time and build nothing whatever they are given.

mod edits;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository with callers of a function, and what has almost its name.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().expect("a temporary directory"));
        project.write(".git/HEAD", "ref: refs/heads/main\n");
        project.write(
            "config.py",
            "def parseConfig(text):\n    return text\n\ndef plain():\n    pass\n",
        );
        let caller = |name: &str| {
            format!("from config import parseConfig\n\ndef {name}():\n    parseConfig('')\n")
        };
        for name in ["one", "two"] {
            project.write(&format!("{name}.py"), &caller(name));
        }
        project.write("table.py", "def hand_over():\n    pass\n\nTABLE = [hand_over]\n");
        project.write("notes.md", "# parseConfig\n");
        project
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists").join("repository")
    }

    fn write(&self, path: &str, text: &str) {
        let place = self.0.path().join("repository").join(path);
        fs::create_dir_all(place.parent().expect("the root is above it")).expect("created");
        fs::write(place, text).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command.args(arguments).current_dir(self.root()).env_remove("CLAUDE_PROJECT_DIR");
        command.env("COGRAPH_CACHE_DIR", self.0.path().join("cache"));
        command
    }

    fn index(&self) {
        let output = self.command(&["index"]).output().expect("the program starts");
        assert!(output.status.success(), "{output:?}");
    }

    /// Output of a hook, which must end well and in silence on standard error.
    fn hook(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut command = self.command(&["hook"]);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        // One that has ended without reading is no failure.
        let _ = child.stdin.take().expect("it is piped").write_all(input);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    /// Text for the model after a command of a shell, with the output that it had.
    fn after(&self, command: &str, output: &str) -> String {
        let input = json!({
            "session_id": "s", "cwd": self.root(), "hook_event_name": "PostToolUse",
            "tool_name": "Bash", "tool_input": {"command": command},
            "tool_response": {"stdout": output, "stderr": "", "interrupted": false},
        });
        let reply = self.hook(&["post-tool-use"], input.to_string().as_bytes());
        if reply.is_empty() {
            return reply;
        }
        let reply: Value = serde_json::from_str(&reply).expect("it is JSON");
        let specific = &reply["hookSpecificOutput"];
        assert_eq!(specific["hookEventName"], "PostToolUse", "{reply}");
        specific["additionalContext"].as_str().expect("it is text").to_owned()
    }
}

#[test]
fn a_search_for_a_symbol_is_answered_with_its_uses() {
    let project = Project::new();
    project.index();
    let text = project.after("cd . && grep -rn \"parseConfig\" . | head", "config.py:1:def");
    assert!(
        text.contains("`parseConfig`: function at config.py:1; 2 certain callers in 2 files; ")
            && text.contains("`cograph trace parseConfig`"),
        "{text}"
    );
    assert!(text.lines().count() <= 5 && text.starts_with("cograph, from the index"), "{text}");
    let text = project.after("rg -w plain", "config.py:4:def plain():");
    assert!(text.contains("`plain`: function at config.py:4; no certain callers;"), "{text}");

    let text = project.after("rg hand_over", "");
    assert!(text.contains("; no certain callers, 1 other reference; "), "{text}");

    project.write("config.py", "\n\ndef parseConfig(text):\n    return text\n");
    let text = project.after("rg parseConfig", "config.py:3:def");
    assert!(text.ends_with("config.py has changed since"), "{text}");
}

#[test]
fn a_search_that_found_nothing_gets_the_name_that_the_code_has() {
    let project = Project::new();
    project.index();
    for sought in ["parse_config", "ParseConfig", "parse_config\\(", "parseconfig("] {
        let text = project.after(&format!("rg '{sought}' ."), "");
        let asked = sought.trim_end_matches(['(', '\\']);
        let expected = format!("`parseConfig` (for `{asked}`): function at config.py:1;");
        assert!(text.contains(&expected), "{text}");
        assert_eq!(project.after(&format!("rg '{sought}' ."), "a.py:1: it"), "", "it was found");
    }
}

#[test]
fn everything_else_is_silence() {
    let project = Project::new();
    let search = json!({"cwd": project.root(), "tool_input": {"command": "rg parseConfig"}});
    let search = search.to_string();
    assert_eq!(project.hook(&["post-tool-use"], search.as_bytes()), "", "there is no index");
    assert_eq!(project.hook(&["session-start"], b"{}"), "");
    assert!(!project.0.path().join("cache").exists(), "and none is made");
    project.index();
    assert_ne!(project.hook(&["post-tool-use"], search.as_bytes()), "");
    let huge = format!("{{\"tool_input\": \"{}\"}}", "x".repeat(9 << 20));
    for input in ["", "{", "[]", "{}", "{\"tool_input\": {\"command\": 7}}", "\u{0}", &huge] {
        assert_eq!(project.hook(&["post-tool-use"], input.as_bytes()), "", "{:.40}", input);
    }
    assert_eq!(project.hook(&["post-tool-use"], b"\xff\xfe"), "");
    for command in ["ls", "rg 'grep -rn TODO'", "grep -n parseConfig notes.md", "rg absent_name"] {
        assert_eq!(project.after(command, ""), "", "{command}");
    }
    for event in ["stop", "", "PostToolUse"] {
        assert_eq!(project.hook(&[event], search.as_bytes()), "", "{event}");
    }
    let mut broken = project.command(&["hook", "post-tool-use"]);
    broken.env("COGRAPH_CACHE_DIR", "relative");
    let output = broken.stdin(Stdio::null()).output().expect("the program starts");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
}

#[test]
fn a_wrong_command_line_stops_no_agent() {
    // Clients take the exit code 2 for a decision of the hook.
    let output = Project::new();
    for arguments in
        [&["hook"][..], &["hook", "post-tool-use", "--unknown", "x"], &["hook", "--client"]]
    {
        fs::create_dir_all(output.root()).expect("created");
        let ended = output.command(arguments).stdin(Stdio::null()).output();
        let ended = ended.expect("the program starts");
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        assert!(ended.stdout.is_empty(), "{ended:?}");
    }
}

#[test]
fn a_client_that_sends_nothing_is_not_waited_for() {
    let project = Project::new();
    let begun = Instant::now();
    let mut command = project.command(&["hook", "post-tool-use"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
    let input = child.stdin.take();
    assert!(child.wait().expect("it ends").success());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    drop(input);
}

#[test]
fn a_session_starts_with_one_line_in_the_shape_of_its_client() {
    let project = Project::new();
    project.index();
    for (client, event, place) in [
        ("claude-code", "session-start", "/hookSpecificOutput/additionalContext"),
        ("claude-code", "subagent-start", "/hookSpecificOutput/additionalContext"),
        ("gemini", "session-start", "/hookSpecificOutput/additionalContext"),
        ("cursor", "session-start", "/additional_context"),
        ("copilot", "session-start", "/additionalContext"),
    ] {
        let input = json!({"cwd": project.root(), "workspace_roots": [project.root()]});
        let reply = project.hook(&[event, "--client", client], input.to_string().as_bytes());
        let reply: Value = serde_json::from_str(&reply).expect("it is JSON");
        let text = reply.pointer(place).and_then(Value::as_str).expect("there is a text");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("5 files") && text.contains("symbols"), "{text}");
        for command in ["explore", "trace", "references"] {
            assert!(text.contains(&format!("`cograph {command} ")), "{text}");
        }
    }
}
