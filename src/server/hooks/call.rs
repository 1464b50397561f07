//! Calls of hooks as clients send them, and replies as they expect them. Fields are read under the
//! names of every client, because some hand each other's configuration on.

use serde_json::{Value, json};
use std::path::PathBuf;

/// Maximum length of the input in bytes: it has the output of the tool.
pub const MAX_INPUT: u64 = 8 << 20;

/// What clients say in place of an empty result.
const NOTHING: [&str; 6] = [
    "no matches found",
    "no files found",
    "no results found",
    "found 0 ",
    "(no output)",
    "output: (empty)",
];

/// Event of a hook.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookEvent {
    /// A session starts.
    SessionStart,
    /// A sub-agent starts.
    SubagentStart,
    /// A tool has run.
    PostToolUse,
}

impl HookEvent {
    /// The event with this name on the command line.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "session-start" => Some(Self::SessionStart),
            "subagent-start" => Some(Self::SubagentStart),
            "post-tool-use" => Some(Self::PostToolUse),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SubagentStart => "SubagentStart",
            Self::PostToolUse => "PostToolUse",
        }
    }
}

/// Client, by the shape of its replies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookClient {
    /// `hookSpecificOutput` with the name of the event: Claude Code, Codex, Gemini CLI, VS Code.
    Specific,
    /// `additional_context`: Cursor.
    Cursor,
    /// `additionalContext`: Copilot CLI.
    Copilot,
}

impl HookClient {
    /// The client with this name on the command line; Claude Code for any other.
    pub fn from_word(word: &str) -> Self {
        match word {
            "cursor" => Self::Cursor,
            "copilot" => Self::Copilot,
            _ => Self::Specific,
        }
    }

    /// A text for the model as the client expects it.
    pub(super) fn reply(self, event: &str, text: &str) -> String {
        let reply = match self {
            Self::Specific => json!({
                "hookSpecificOutput": {"hookEventName": event, "additionalContext": text}
            }),
            Self::Cursor => json!({"additional_context": text}),
            Self::Copilot => json!({"additionalContext": text}),
        };
        reply.to_string()
    }
}

/// Call of a hook.
pub(super) struct HookCall {
    /// Name of the event that the client gave.
    named: Option<String>,
    /// Working directory of the client.
    pub(super) directory: Option<PathBuf>,
    /// Tool that has run.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) input: Value,
    /// Its result.
    pub(super) output: Value,
}

impl HookCall {
    /// Reads the input of a hook; none if it is no object.
    pub(super) fn read(input: &str) -> Option<Self> {
        let mut value: Value = serde_json::from_str(input).ok()?;
        let fields = value.as_object_mut()?;
        let mut take = |names: &[&str]| {
            let found = names.iter().find_map(|name| fields.remove(*name));
            found.unwrap_or_default()
        };
        let text = |value: Value| value.as_str().map(str::to_owned);
        let roots = take(&["workspace_roots"]);
        let directory = text(take(&["cwd"])).or_else(|| text(roots.get(0)?.clone()));
        let mut call = Self {
            named: text(take(&["hook_event_name", "hookEventName"])),
            directory: directory.map(PathBuf::from).filter(|path| path.is_absolute()),
            tool: text(take(&["tool_name", "toolName"])).unwrap_or_default(),
            input: parsed(take(&["tool_input", "toolArgs", "tool_args"])),
            output: parsed(take(&[
                "tool_response",
                "tool_output",
                "toolResult",
                "tool_result",
                "error",
            ])),
        };
        // An event of its own for edits has their arguments next to its name.
        if call.input.is_null() {
            call.input = value;
        }
        Some(call)
    }

    /// Name of the event for the reply.
    pub(super) fn event(&self, event: HookEvent) -> String {
        self.named.clone().unwrap_or_else(|| event.name().to_owned())
    }

    /// True if the tool is known to have found nothing.
    pub(super) fn has_found_nothing(&self) -> bool {
        is_nothing(&self.output)
    }
}

/// A value that some clients send as a text of JSON.
fn parsed(value: Value) -> Value {
    let inner = value.as_str().filter(|text| text.trim_start().starts_with(['{', '[']));
    inner.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(value)
}

fn is_nothing(output: &Value) -> bool {
    match output {
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            let begins = |nothing: &&str| text.starts_with(*nothing);
            let is_short = text.len() < 400;
            text.is_empty()
                || NOTHING.iter().any(begins)
                || (is_short && text.lines().any(|line| NOTHING[4..].contains(&line.trim())))
                || (is_short && text.starts_with("exit code 1") && text.lines().count() == 1)
        }
        Value::Array(items) => items.iter().all(|item| is_nothing(&item["text"])),
        Value::Object(fields) => {
            let counts = ["numFiles", "numMatches", "numLines", "totalMatches", "match_count"];
            let counted: Vec<&Value> = counts.iter().filter_map(|key| fields.get(*key)).collect();
            if !counted.is_empty() {
                return counted.iter().all(|count| count.as_u64() == Some(0));
            }
            let texts =
                ["stdout", "output", "llmContent", "textResultForLlm", "content", "text", "error"];
            let mut texts = texts.iter().filter_map(|key| fields.get(*key)).peekable();
            texts.peek().is_some() && texts.all(is_nothing)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_result_is_known_in_the_words_of_every_client() {
        for nothing in [
            json!({"stdout": "", "stderr": "", "interrupted": false}),
            json!({"mode": "content", "numFiles": 0, "filenames": [], "numLines": 0}),
            json!({"llmContent": "No matches found for pattern \"x\" in path \".\"."}),
            json!({"llmContent": "Command: rg x\nOutput: (empty)\nExit Code: 1"}),
            json!({"resultType": "success", "textResultForLlm": "No matches found."}),
            json!({"exitCode": 1, "stdout": ""}),
            json!([{"type": "text", "text": ""}]),
            json!("No files found"),
            json!("Exit code 1"),
        ] {
            assert!(is_nothing(&nothing), "{nothing}");
        }
        for something in [
            json!({"stdout": "a.x:1:b"}),
            json!({"mode": "files_with_matches", "numFiles": 2, "filenames": ["a"]}),
            json!({"unknown": true}),
            json!(null),
            json!("a.x:1: no matches found"),
        ] {
            assert!(!is_nothing(&something), "{something}");
        }
    }

    #[test]
    fn calls_are_read_in_the_shape_of_every_client() {
        let cases = [
            json!({
                "hook_event_name": "AfterTool", "cwd": "/a", "tool_name": "t",
                "tool_input": {"x": 1}, "tool_response": {"stdout": ""},
            }),
            json!({
                "workspace_roots": ["/a"], "tool_name": "t", "tool_input": {"x": 1},
                "tool_output": "{\"stdout\": \"\"}",
            }),
            json!({
                "cwd": "/a", "toolName": "t", "toolArgs": "{\"x\": 1}",
                "toolResult": {"textResultForLlm": ""},
            }),
        ];
        for case in cases {
            let call = HookCall::read(&case.to_string()).expect("it is an object");
            assert_eq!((call.tool.as_str(), &call.input), ("t", &json!({"x": 1})), "{case}");
            assert_eq!(call.directory.as_deref(), Some(std::path::Path::new("/a")), "{case}");
            assert!(call.has_found_nothing(), "{case}");
        }
        assert!(HookCall::read("[]").is_none() && HookCall::read("{").is_none());
        assert_eq!(
            HookClient::from_word("gemini").reply("AfterTool", "a"),
            "{\"hookSpecificOutput\":{\"hookEventName\":\"AfterTool\",\"additionalContext\":\"a\"}}"
        );
    }
}
