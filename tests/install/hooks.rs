//! Hooks of every client: added on request, taken out byte for byte, and kept apart from those of
//! others.

use super::Home;

/// Every client with hooks, its files of hooks in the home directory and in a project, and
/// settings of the user.
const HOOKS: [(&str, &str, &str, &str); 5] = [
    (
        "claude-code",
        ".claude/settings.json",
        ".claude/settings.json",
        "{\n  \"hooks\": {\"Stop\": [{\"hooks\":[{\"type\":\"command\",\
         \"command\":\"s\"}]}]},\n \"x\":  1}",
    ),
    ("codex", ".codex/hooks.json", ".codex/hooks.json", "{\"hooks\": {}}"),
    (
        "gemini",
        ".gemini/settings.json",
        ".gemini/settings.json",
        "{\r\n  // mine\r\n  \"theme\": \"dark\",\r\n}\r\n",
    ),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json", "{ \"version\": 1, \"hooks\": {} }"),
    ("copilot", ".copilot/hooks/cograph.json", ".github/hooks/cograph.json", "{}"),
];

#[test]
fn hooks_come_on_request_and_go_with_the_server_without_a_trace() {
    for (client, user_file, project_file, text) in HOOKS {
        for (scope, file) in
            [("user", user_file.to_owned()), ("project", format!("project/{project_file}"))]
        {
            for text in [Some(text), None] {
                let home = Home::new();
                text.inspect(|text| home.write(&file, text));
                let before = home.everything();
                let install = ["install", client, "--scope", scope];
                let (code, said) = home.run(&[&install[..], &["--hooks", "--dry-run"]].concat());
                assert!(code == Some(0) && said.contains("cograph hook"), "{said}");
                assert_eq!(home.everything(), before, "{client}, {scope}: a dry run");

                assert_eq!(home.run(&install).0, Some(0));
                let hooks = home.read(&file).unwrap_or_default();
                assert!(!hooks.contains(" hook "), "{client}: hooks are asked for: {hooks}");
                let (code, said) = home.run(&[&install[..], &["--hooks"]].concat());
                assert!(code == Some(0) && said.contains("hooks installed"), "{said}");
                let hooks = home.read(&file).expect("it exists");
                let own = env!("CARGO_BIN_EXE_cograph");
                let program = if scope == "user" { own } else { "cograph" };
                assert!(hooks.contains(&format!("\"{program} hook post-tool-use")), "{hooks}");

                let installed = home.everything();
                let (code, said) = home.run(&[&install[..], &["--hooks"]].concat());
                assert!(code == Some(0) && said.contains("are there already"), "{said}");
                assert_eq!(home.everything(), installed, "{client}: a second time");

                let (code, said) = home.run(&["uninstall", client, "--scope", scope]);
                assert!(code == Some(0) && said.contains("hooks uninstalled"), "{said}");
                assert_eq!(home.everything(), before, "{client}, {scope}: as it was");
            }
        }
    }
    let (code, said) = Home::new().run(&["install", "vscode", "--hooks"]);
    assert!(code == Some(2) && said.contains("claude-code, codex"), "{said}");
}

#[test]
fn hooks_of_others_that_came_since_stay() {
    let home = Home::new();
    let file = ".claude/settings.json";
    assert_eq!(home.run(&["install", "claude-code", "--hooks"]).0, Some(0));
    let installed = home.read(file).expect("it exists");
    let other = "\"Stop\": [ {\"hooks\": [ {\"type\": \"command\", \"command\": \"other\"} ]} ]";
    let both = installed.replace("\"SessionStart\"", &format!("{other},\n    \"SessionStart\""));
    home.write(file, &both);
    assert_eq!(home.run(&["uninstall", "claude-code"]).0, Some(0));
    let left = home.read(file).expect("it exists");
    assert!(left.contains(other) && !left.contains("cograph"), "{left}");
    let parsed: serde_json::Value = serde_json::from_str(&left).expect("it is JSON");
    assert_eq!(parsed["hooks"].as_object().map(|hooks| hooks.len()), Some(1), "{left}");
}

#[test]
fn settings_that_are_no_json_are_left_alone() {
    let home = Home::new();
    home.write(".claude/settings.json", "{ \"hooks\": [] }");
    let (code, said) = home.run(&["install", "claude-code", "--hooks"]);
    assert!(code == Some(3) && said.contains("is not an object"), "{said}");
    assert_eq!(home.read(".claude/settings.json").as_deref(), Some("{ \"hooks\": [] }"));
}
