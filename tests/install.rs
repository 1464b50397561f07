//! `install` and `uninstall` as a new user meets them: a home directory of its own, clients that
//! are scripts, and files as people write them.

mod hooks;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A home directory, a project in it, and a directory for programs.
struct Home(TempDir);

/// Every client, its file in the home directory and in a project, and a file of it that says
/// something else already.
const FILES: [(&str, &str, &str, &str); 6] = [
    (
        "claude-code",
        ".claude.json",
        ".mcp.json",
        "{\"mcpServers\" : { \"other\":{\"type\":\"stdio\",\"command\":\"o\"} },\n   \"odd\":   1}",
    ),
    (
        "codex",
        ".codex/config.toml",
        ".codex/config.toml",
        "# mine\nmodel=\"m\"  # c\n\n[mcp_servers.other]\ncommand=\"o\"\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        ".gemini/settings.json",
        "{\n  // mine\n  \"theme\": \"dark\"\n}",
    ),
    ("cursor", ".cursor/mcp.json", ".cursor/mcp.json", "{\r\n\t\"mcpServers\": {\r\n\t}\r\n}\r\n"),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        ".vscode/mcp.json",
        "{ \"servers\": {}, \"inputs\": [], }\n",
    ),
    (
        "copilot",
        ".copilot/mcp-config.json",
        ".github/mcp.json",
        "{\n  \"mcpServers\": {\"other\": {\"type\": \"local\", \"command\": \"o\"}}\n}\n",
    ),
];

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir_all(home.path("project/.git")).expect("created");
        fs::create_dir_all(home.path("bin")).expect("created");
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("the home is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// A program in the search path.
    fn program(&self, name: &str, script: &str) {
        self.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(self.path(&format!("bin/{name}")), PermissionsExt::from_mode(0o755))
            .expect("it is ours");
    }

    /// Runs the program in the project: exit code and output.
    fn run(&self, words: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command.args(words).current_dir(self.path("project")).env_clear();
        let search = format!("{}:/usr/bin:/bin", self.path("bin").display());
        let output = command
            .env("HOME", self.path(""))
            .env("PATH", search)
            .output()
            .expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        (output.status.code(), text(output.stdout) + &text(output.stderr))
    }

    /// Every file and what is in it, without the programs.
    fn everything(&self) -> Vec<(PathBuf, String)> {
        fn walk(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
            for entry in fs::read_dir(directory).expect("readable") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    walk(&path, found)
                } else {
                    found.push((path.clone(), fs::read_to_string(&path).expect("text")))
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.path(""), &mut found);
        found.sort();
        found
    }
}

#[test]
fn every_client_gets_the_entry_once_and_loses_it_without_a_trace() {
    for (client, user_file, project_file, text) in FILES {
        for (scope, file) in
            [("user", user_file.to_owned()), ("project", format!("project/{project_file}"))]
        {
            let home = Home::new();
            home.write(&file, text);
            fs::set_permissions(home.path(&file), PermissionsExt::from_mode(0o640))
                .expect("it is ours");
            let before = home.everything();

            let (code, said) = home.run(&["install", client, "--scope", scope, "--dry-run"]);
            assert_eq!(code, Some(0), "{said}");
            assert!(
                said.contains("nothing was written")
                    && said.contains("+")
                    && said.contains("cograph"),
                "{said}"
            );
            assert_eq!(home.everything(), before, "{client}, {scope}: a dry run changes nothing");

            let (code, said) = home.run(&["install", client, "--scope", scope]);
            assert_eq!(code, Some(0), "{said}");
            let after = home.read(&file).expect("it exists");
            let command = if scope == "user" { env!("CARGO_BIN_EXE_cograph") } else { "cograph" };
            assert!(
                after.contains(&format!("{command:?}")) && after.contains("\"mcp\""),
                "{after}"
            );
            let mode = fs::metadata(home.path(&file)).expect("it exists").permissions().mode();
            assert_eq!(mode & 0o777, 0o640, "{client}, {scope}");
            let mut rest = after.chars();
            assert!(
                text.chars().all(|letter| rest.any(|other| other == letter)),
                "{client}, {scope}: only added to: {after}"
            );

            let installed = home.everything();
            let (code, said) = home.run(&["install", client, "--scope", scope]);
            assert!(code == Some(0) && said.contains("nothing to do"), "{said}");
            assert_eq!(
                home.everything(),
                installed,
                "{client}, {scope}: the second time there is nothing to do"
            );

            let (code, said) = home.run(&["uninstall", client, "--scope", scope]);
            assert_eq!(code, Some(0), "{said}");
            assert_eq!(home.everything(), before, "{client}, {scope}: everything is as it was");
            let (code, said) = home.run(&["uninstall", client, "--scope", scope]);
            assert!(code == Some(0) && said.contains("nothing to do"), "{said}");
        }
    }
}

#[test]
fn a_file_that_did_not_exist_is_gone_again() {
    for (client, user_file, ..) in FILES {
        let home = Home::new();
        let before = home.everything();
        let (code, said) = home.run(&["install", client]);
        assert_eq!(code, Some(0), "{said}");
        assert!(home.read(user_file).is_some_and(|text| text.contains("cograph")), "{client}");
        assert_eq!(
            home.everything().len(),
            before.len() + 1,
            "no copy of a file that was not there"
        );
        let (code, said) = home.run(&["uninstall", client, "--dry-run"]);
        assert!(code == Some(0) && said.contains("would be removed"), "{said}");
        assert_eq!(home.run(&["uninstall", client]).0, Some(0));
        assert_eq!(home.everything(), before, "{client}");
    }
}

#[test]
fn an_eager_entry_loads_all_tools_and_goes_without_a_trace() {
    for (client, file, member) in [
        ("claude-code", ".claude.json", "\"alwaysLoad\": true"),
        ("copilot", ".copilot/mcp-config.json", "\"deferTools\": \"never\""),
    ] {
        let home = Home::new();
        home.write(file, "{\"mcpServers\" : {},\n   \"odd\":   1}");
        // The command of the client does not know the member.
        home.program("claude", "echo used >> \"$HOME/used\"");
        let before = home.everything();
        assert_eq!(home.run(&["install", client, "--eager"]).0, Some(0));
        let text = home.read(file).expect("it exists");
        assert!(text.contains(member) && home.read("used").is_none(), "{text}");
        let (code, said) = home.run(&["install", client]);
        assert!(code == Some(0) && said.contains("nothing to do"), "{said}");
        assert_eq!(home.run(&["uninstall", client]).0, Some(0));
        assert_eq!(home.everything(), before, "{client}");
        assert_eq!(home.run(&["install", client, "--scope", "project"]).0, Some(0));
        let (code, said) = home.run(&["install", client, "--scope", "project", "--eager"]);
        assert!(code == Some(0) && said.contains(member), "{said}");
    }
    let (code, said) = Home::new().run(&["install", "codex", "--eager"]);
    assert!(code == Some(2) && said.contains("claude-code, copilot"), "{said}");
}

#[test]
fn what_was_changed_since_stays() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\":   \"a\"}\n  }\n}\n",
    );
    assert_eq!(home.run(&["install", "cursor"]).0, Some(0));
    let installed = home.read(".cursor/mcp.json").expect("it exists");
    home.write(
        ".cursor/mcp.json",
        &installed.replace("\"a\": {\"command\":   \"a\"}", "\"b\": {\"command\":  \"b\"}"),
    );
    let (code, said) = home.run(&["uninstall", "cursor"]);
    assert_eq!(code, Some(0), "{said}");
    let expected = "{\n  \"mcpServers\": {\n    \"b\": {\"command\":  \"b\"}\n  }\n}\n";
    assert_eq!(home.read(".cursor/mcp.json").as_deref(), Some(expected));
}

#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    for (client, file, text) in [
        ("claude-code", ".claude.json", "{\"mcpServers\": {}} // a comment\n"),
        ("claude-code", ".claude.json", "{\"mcpServers\": []}"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {},, }"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {}, \"mcpServers\": {}}"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n"),
        ("codex", ".codex/config.toml", "[mcp_servers\n"),
    ] {
        let home = Home::new();
        home.program("claude", "echo it ran >> \"$HOME/ran\"");
        home.write(file, text);
        let before = home.everything();
        let (code, said) = home.run(&["install", client]);
        assert_eq!(code, Some(3), "{text}: {said}");
        assert!(said.contains(file) && said.contains("hint:"), "{said}");
        assert_eq!(home.everything(), before, "{text}");
    }
}

#[test]
fn a_link_is_followed_and_stays_a_link() {
    let home = Home::new();
    home.write("dotfiles/cursor.json", "{}");
    fs::create_dir_all(home.path(".cursor")).expect("created");
    std::os::unix::fs::symlink(home.path("dotfiles/cursor.json"), home.path(".cursor/mcp.json"))
        .expect("linked");
    assert_eq!(home.run(&["install", "cursor"]).0, Some(0));
    assert!(home.path(".cursor/mcp.json").is_symlink());
    assert!(home.read("dotfiles/cursor.json").is_some_and(|text| text.contains("cograph")));
    assert_eq!(home.run(&["uninstall", "cursor"]).0, Some(0));
    assert_eq!(home.read("dotfiles/cursor.json").as_deref(), Some("{}"));
}

#[test]
fn a_project_writes_through_no_link_that_leads_out_of_it() {
    let link = |home: &Home, from: &str, to: &str| {
        std::os::unix::fs::symlink(to, home.path(from)).expect("linked")
    };
    for command in ["install", "uninstall"] {
        for prepare in [
            &|home: &Home| {
                home.write("project/.cursor/other", "");
                link(home, "project/.cursor/mcp.json", "../../.cursor/mcp.json");
            },
            &|home: &Home| link(home, "project/.cursor", "../.cursor"),
            &|home: &Home| {
                home.write("project/.cursor/other", "");
                link(home, "project/.cursor/mcp.json", "../../not-there.json");
            },
        ] as [&dyn Fn(&Home); 3]
        {
            let home = Home::new();
            home.write(".cursor/mcp.json", "{\"mcpServers\": {\"cograph\": {\"command\": \"x\"}}}");
            prepare(&home);
            let before: Vec<_> = fs::read_dir(home.path(""))
                .expect("readable")
                .flatten()
                .map(|entry| entry.file_name())
                .collect();
            let (code, said) = home.run(&[command, "cursor", "--scope", "project"]);
            assert_eq!(code, Some(3), "{said}");
            assert!(
                said.contains("leads out of the repository") && said.contains("hint:"),
                "{said}"
            );
            assert_eq!(
                home.read(".cursor/mcp.json").as_deref(),
                Some("{\"mcpServers\": {\"cograph\": {\"command\": \"x\"}}}")
            );
            let after: Vec<_> = fs::read_dir(home.path(""))
                .expect("readable")
                .flatten()
                .map(|entry| entry.file_name())
                .collect();
            let copies = fs::read_dir(home.path(".cursor")).expect("readable").count();
            assert_eq!((before, copies), (after, 1), "nothing was written outside");
        }
    }
}

#[test]
fn a_link_within_the_project_is_followed() {
    let home = Home::new();
    home.write("project/tools/cursor.json", "{}");
    home.write("project/.cursor/other", "");
    std::os::unix::fs::symlink("../tools/cursor.json", home.path("project/.cursor/mcp.json"))
        .expect("linked");
    let (code, said) = home.run(&["install", "cursor", "--scope", "project"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(home.read("project/tools/cursor.json").is_some_and(|text| text.contains("cograph")));
}

#[test]
fn a_copy_that_the_repository_has_made_a_link_is_not_what_was_there_before() {
    let home = Home::new();
    assert_eq!(home.run(&["install", "cursor", "--scope", "project"]).0, Some(0));
    home.write(
        "project/.cursor/mcp.json",
        "{\"mcpServers\": {\"cograph\": {\"command\": \"c\"}}, \"a\": 1}",
    );
    assert_eq!(home.run(&["install", "cursor", "--scope", "project"]).0, Some(0));
    let directory = home.path("project/.cursor");
    let names = fs::read_dir(&directory).expect("readable").flatten().map(|entry| entry.path());
    let copy = names
        .into_iter()
        .find(|path| path.extension().is_some_and(|ending| ending == "bak"))
        .expect("there is a copy");
    home.write("secret", "{\"secret\": 1}");
    fs::remove_file(&copy).expect("it exists");
    std::os::unix::fs::symlink("../../secret", &copy).expect("linked");
    let (code, said) = home.run(&["uninstall", "cursor", "--scope", "project"]);
    assert_eq!(code, Some(0), "{said}");
    let text = home.read("project/.cursor/mcp.json").expect("it exists");
    assert!(
        !text.contains("secret") && text.contains("\"a\": 1") && !text.contains("cograph"),
        "{text}"
    );
}

/// A client that writes the whole file anew, as most do, and knows how to take an entry out.
const REWRITES: &str = r#"echo "$@" >> "$HOME/calls"
case "$2" in
  add) printf '{"odd": 1, "mcpServers": {"other": {"type": "stdio", "command": "o"}, "cograph": {"type": "stdio", "command": "%s", "args": ["mcp"], "env": {}}}}' "$7" > "$HOME/.claude.json" ;;
  remove) printf '{"odd": 1, "mcpServers": {"other": {"type": "stdio", "command": "o"}}}' > "$HOME/.claude.json" ;;
esac"#;

#[test]
fn the_clients_own_program_does_it_and_the_rest_of_the_file_stays_as_it_is() {
    let home = Home::new();
    let (_, file, _, text) = FILES[0];
    home.program("claude", REWRITES);
    home.write(file, text);
    let (code, said) = home.run(&["install", "claude-code"]);
    assert_eq!(code, Some(0), "{said}");
    let program = env!("CARGO_BIN_EXE_cograph");
    assert_eq!(
        home.read("calls"),
        Some(format!("mcp add --scope user cograph -- {program} mcp\n"))
    );
    assert!(said.contains("installed by `claude mcp add"), "{said}");
    let after = home.read(file).expect("it exists");
    assert!(
        after.contains(
            "\"mcpServers\" : { \"other\":{\"type\":\"stdio\",\"command\":\"o\"}, \"cograph\""
        ),
        "{after}"
    );
    assert!(after.ends_with("\n   \"odd\":   1}"), "{after}");
    // An edit of white space: the file no longer equals what was installed, so uninstalling runs
    // the client's program.
    home.write(file, &after.replace("\"odd\":   1", "\"odd\":  1"));
    let (code, said) = home.run(&["uninstall", "claude-code"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        home.read("calls")
            .is_some_and(|calls| calls.ends_with("mcp remove --scope user cograph\n")),
        "{said}"
    );
    assert_eq!(home.read(file), Some(text.replace("\"odd\":   1", "\"odd\":  1")));
}

#[test]
fn a_clients_program_that_fails_or_does_nothing_is_stepped_in_for() {
    for script in
        ["echo no such option >&2; exit 1", "exit 0", "echo '{}' > \"$HOME/.claude.json\""]
    {
        let home = Home::new();
        home.program("claude", script);
        let (code, said) = home.run(&["install", "claude-code"]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("did not do it"), "{said}");
        assert!(
            home.read(".claude.json").is_some_and(|text| text.contains("\"cograph\"")),
            "{script}"
        );
    }
}

#[test]
fn an_entry_that_starts_another_program_is_corrected_and_keeps_its_other_members() {
    let home = Home::new();
    home.program("claude", "exit 1");
    let old = "{\"mcpServers\": {\"cograph\": {\"command\": \"/gone\", \"args\": [\"mcp\", \
               \"--log\", \"x\"], \"env\": {\"A\": \"b\"}}}}";
    home.write(".claude.json", old);
    let (code, said) = home.run(&["install", "claude-code"]);
    assert!(code == Some(0) && !said.contains("did not do it"), "{said}");
    assert_eq!(
        home.read(".claude.json"),
        Some(old.replace("/gone", env!("CARGO_BIN_EXE_cograph")))
    );
}

#[test]
fn without_a_home_or_a_known_client_nothing_happens() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    let output =
        command.args(["install", "cursor"]).env_clear().output().expect("the program starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("HOME"));
    let home = Home::new();
    let (code, said) = home.run(&["install", "emacs"]);
    assert!(code == Some(2) && FILES.iter().all(|(client, ..)| said.contains(client)), "{said}");
}
