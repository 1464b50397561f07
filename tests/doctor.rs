//! `doctor` on a repository where all is well, and with one thing after the other set up wrongly.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A home directory with a repository in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().expect("a temporary directory"));
        fs::create_dir_all(place.path("repository/.git")).expect("created");
        place.write("repository/a.py", "def helper():\n    pass\n");
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("the place is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn script(&self, path: &str, text: &str) -> PathBuf {
        self.write(path, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(path), PermissionsExt::from_mode(0o755)).expect("it is ours");
        self.path(path)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command.args(words).current_dir(self.path("repository")).env_clear();
        command
            .env("HOME", self.path(""))
            .env("PATH", "/usr/bin:/bin")
            .env("COGRAPH_CACHE_DIR", self.path("cache"));
        command
    }

    /// Runs the command: exit code, and what it has found.
    fn examine(&self, variables: &[(&str, &str)]) -> (Option<i32>, Value) {
        let output = self
            .command(&["doctor", "--json"])
            .envs(variables.iter().copied())
            .output()
            .expect("the program starts");
        let found = serde_json::from_slice(&output.stdout).expect("it is JSON");
        (output.status.code(), found)
    }

    /// The one problem that there must be.
    fn problem(&self, variables: &[(&str, &str)], area: &str) -> String {
        let (code, found) = self.examine(variables);
        let findings = found["findings"].as_array().expect("a list");
        let problems: Vec<&Value> =
            findings.iter().filter(|finding| finding["verdict"] == "problem").collect();
        assert_eq!(
            (code, problems.len(), found["healthy"].as_bool()),
            (Some(1), 1, Some(false)),
            "{found:#}"
        );
        assert_eq!(problems[0]["area"], area, "{found:#}");
        assert!(!problems[0]["hint"].as_str().unwrap_or_default().is_empty(), "{found:#}");
        problems[0]["text"].as_str().expect("it is text").to_owned()
    }
}

fn finding<'v>(found: &'v Value, area: &str) -> &'v Value {
    let findings = found["findings"].as_array().expect("a list");
    findings
        .iter()
        .find(|finding| finding["area"] == area)
        .unwrap_or_else(|| panic!("nothing about {area}: {found:#}"))
}

#[test]
fn all_is_well_before_and_after_the_first_index() {
    let place = Place::new();
    let (code, found) = place.examine(&[]);
    assert_eq!((code, found["healthy"].as_bool()), (Some(0), Some(true)), "{found:#}");
    let server = finding(&found, "server");
    assert!(
        server["tools"].as_u64().is_some_and(|tools| tools >= 10)
            && server["initialize_ms"].is_u64(),
        "{server}"
    );
    let text = server["text"].as_str().expect("it is text");
    assert!(text.contains("2025-11-25") && text.contains("2026-07-28"), "{text}");
    assert_eq!(
        (
            finding(&found, "store")["verdict"].as_str(),
            finding(&found, "clients")["verdict"].as_str()
        ),
        (Some("note"), Some("note"))
    );
    assert_eq!(finding(&found, "watcher")["directories"].as_u64(), Some(1));
    assert!(!place.path("cache").exists(), "it changes nothing, and starts no index");

    assert!(place.command(&["index"]).output().expect("the program starts").status.success());
    assert!(
        place
            .command(&["install", "cursor"])
            .output()
            .expect("the program starts")
            .status
            .success()
    );
    let output = place.command(&["doctor"]).output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("store: generation 1") && text.contains("whole") && text.contains("cursor: "),
        "{text}"
    );
    assert!(
        text.lines().filter(|line| !line.is_empty()).count() >= 7 && text.ends_with("healthy\n"),
        "{text}"
    );
}

#[test]
fn hooks_are_checked_as_entries_are() {
    let place = Place::new();
    let run = |words: &[&str]| place.command(words).output().expect("the program starts");
    assert!(run(&["install", "claude-code", "--hooks"]).status.success());
    let (code, found) = place.examine(&[]);
    let findings = found["findings"].as_array().expect("a list");
    let texts: Vec<&str> = findings.iter().filter_map(|finding| finding["text"].as_str()).collect();
    assert!(
        code == Some(0) && texts.iter().any(|text| text.contains("hooks of SessionStart")),
        "{found:#}"
    );
    let file = ".claude/settings.json";
    let settings = fs::read_to_string(place.path(file)).expect("it exists");
    place.write(file, &settings.replace("post-tool-use", "after-tool"));
    let text = place.problem(&[], "claude-code");
    assert!(text.contains("are not those of this version"), "{text}");
    place.write(file, &settings.replace(env!("CARGO_BIN_EXE_cograph"), "/absent/cograph"));
    let text = place.problem(&[], "claude-code");
    assert!(text.contains("/absent/cograph") && text.contains("does not exist"), "{text}");
    place.write(file, "{ \"hooks\": ");
    let text = place.problem(&[], "claude-code");
    assert!(text.contains("cannot be understood"), "{text}");
}

#[test]
fn every_planted_entry_of_a_client_is_found() {
    let place = Place::new();
    let other = place.script("other/cograph", "echo cograph 0.0.1");
    let hangs = place.script("hangs/cograph", "exec sleep 1000");
    let unrelated = place.script("unrelated/cograph", "echo something else");
    place.write("plain/cograph", "not executable");
    let plain = place.path("plain/cograph");
    let own = env!("CARGO_BIN_EXE_cograph");
    for (command, argument, wrong) in [
        ("/gone/cograph", "mcp", "does not exist"),
        (plain.to_str().expect("it is text"), "mcp", "cannot be executed"),
        ("cograph", "mcp", "not in the search path"),
        (other.to_str().expect("it is text"), "mcp", "is version 0.0.1"),
        (hangs.to_str().expect("it is text"), "mcp", "was ended"),
        (unrelated.to_str().expect("it is text"), "mcp", "another program"),
        (own, "status", "not started as a server"),
    ] {
        place.write(
            ".claude.json",
            &format!(
                "{{\"mcpServers\": {{\"cograph\": {{\"command\": {command:?}, \"args\": \
                      [{argument:?}]}}}}}}"
            ),
        );
        let text = place.problem(&[], "claude-code");
        assert!(text.contains(wrong) && text.contains(".claude.json"), "{command}: {text}");
    }
}

#[test]
fn every_list_of_every_client_is_checked() {
    let place = Place::new();
    let root = place.path("repository");
    for (area, file, text) in [
        (
            "claude-code",
            "repository/.mcp.json",
            "{\"mcpServers\": {\"x\": {\"command\": \"/gone/cograph\"}}}".to_owned(),
        ),
        (
            "claude-code",
            ".claude.json",
            format!(
                "{{\"projects\": {{{root:?}: {{\"mcpServers\": {{\"cograph\": {{\"command\": \
                 \"/gone\"}}}}}}}}}}"
            ),
        ),
        ("codex", ".codex/config.toml", "[mcp_servers.cograph]\ncommand = \"/gone\"\n".to_owned()),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\": {\"cograph\": {\"command\": \"/gone\"}}}".to_owned(),
        ),
        (
            "cursor",
            "repository/.cursor/mcp.json",
            "{\"mcpServers\": {\"cograph\": {\"command\": \"/gone\"}}}".to_owned(),
        ),
        (
            "vscode",
            "repository/.vscode/mcp.json",
            "{\"servers\": {\"cograph\": {\"command\": \"/gone\"}}}".to_owned(),
        ),
        ("vscode", ".config/Code/User/mcp.json", "{\"servers\": [}".to_owned()),
    ] {
        place.write(file, &text);
        let found = place.problem(&[], area);
        assert!(found.contains(file) || found.contains("cannot be understood"), "{file}: {found}");
        fs::remove_file(place.path(file)).expect("it was written");
    }
}

#[test]
fn nothing_that_a_repository_names_is_started() {
    let json = |section: &str, command: &str| {
        format!(
            "{{\"{section}\": {{\"cograph\": {{\"command\": {command:?}, \"args\": [\"mcp\"]}}}}}}"
        )
    };
    type List<'l> = (&'l str, &'l str, &'l dyn Fn(&str) -> String);
    let lists: [List<'_>; 5] = [
        ("claude-code", ".mcp.json", &|command| json("mcpServers", command)),
        ("cursor", ".cursor/mcp.json", &|command| json("mcpServers", command)),
        ("gemini", ".gemini/settings.json", &|command| json("mcpServers", command)),
        ("vscode", ".vscode/mcp.json", &|command| json("servers", command)),
        ("codex", ".codex/config.toml", &|command| {
            format!("[mcp_servers.cograph]\ncommand = {command:?}\nargs = [\"mcp\"]\n")
        }),
    ];
    for (area, file, text) in lists {
        let place = Place::new();
        let mark = place.path("was-started");
        let script =
            format!("echo x > {}; echo cograph {}", mark.display(), env!("CARGO_PKG_VERSION"));
        let inside = place.script("repository/tool/cograph", &script);
        let outside = place.script("elsewhere/cograph", &script);
        for command in [
            "./tool/cograph",
            "tool/cograph",
            inside.to_str().expect("text"),
            outside.to_str().expect("text"),
        ] {
            place.write(&format!("repository/{file}"), &text(command));
            let said = place.problem(&[], area);
            assert!(said.contains(file) && !mark.exists(), "{command}: {said}");
        }
        // Nor does the user's own list start what lies in the repository.
        fs::remove_file(place.path(&format!("repository/{file}"))).expect("it was written");
        place.write(".claude.json", &json("mcpServers", inside.to_str().expect("text")));
        let said = place.problem(&[], "claude-code");
        assert!(said.contains("lies in the repository") && !mark.exists(), "{said}");
    }
}

#[test]
fn a_projects_list_that_names_the_program_alone_is_right_where_the_search_path_has_one() {
    let place = Place::new();
    let mark = place.path("was-started");
    place.script("bin/cograph", &format!("echo x > {}; echo cograph 0.0.1", mark.display()));
    place.write(
        "repository/.mcp.json",
        "{\"mcpServers\": {\"cograph\": {\"command\": \"cograph\", \"args\": [\"mcp\"]}}}",
    );
    let search = format!("{}:/usr/bin:/bin", place.path("bin").display());
    let (code, found) = place.examine(&[("PATH", &search)]);
    assert_eq!(code, Some(0), "{found:#}");
    let text = finding(&found, "claude-code")["text"].as_str().expect("it is text").to_owned();
    assert!(text.contains("bin/cograph here") && !mark.exists(), "{text}");
}

#[test]
fn a_list_that_is_no_file_of_the_project_is_a_problem_and_holds_nothing_up() {
    let place = Place::new();
    let list = place.path("repository/.mcp.json");
    let made = Command::new("mkfifo").arg(&list).status().expect("the system has it");
    assert!(made.success());
    let said = place.problem(&[], "claude-code");
    assert!(said.contains("no regular file"), "{said}");
    fs::remove_file(&list).expect("it was made");
    place.write("secret.json", "{\"mcpServers\": {\"cograph\": {\"command\": \"/secret/name\"}}}");
    std::os::unix::fs::symlink("../secret.json", &list).expect("linked");
    let said = place.problem(&[], "claude-code");
    assert!(
        said.contains("leads out of the repository") && !said.contains("/secret/name"),
        "{said}"
    );
}

#[test]
fn what_the_server_stands_on_is_tried() {
    let place = Place::new();
    assert!(place.command(&["index"]).output().expect("the program starts").status.success());
    place.write("a-file", "");
    let no_cache = place.path("a-file");
    let text =
        place.problem(&[("COGRAPH_CACHE_DIR", no_cache.to_str().expect("it is text"))], "cache");
    assert!(text.contains("a-file"), "{text}");

    let text = place.problem(&[("COGRAPH_THREADS", "many")], "settings");
    assert!(text.contains("COGRAPH_THREADS"), "{text}");

    let (_, found) = place.examine(&[("COGRAPH_LINE_LIMIT", "100")]);
    assert_eq!(finding(&found, "store")["verdict"], "note", "made by other rules: {found:#}");

    let stores = fs::read_dir(place.path("cache")).expect("there is an index").flatten();
    let files = stores
        .filter_map(|store| fs::read_dir(store.path()).ok())
        .flatten()
        .flatten()
        .map(|file| file.path());
    let store = files
        .into_iter()
        .find(|file| file.extension().is_some_and(|ending| ending == "db"))
        .expect("there is a store");
    let mut bytes = fs::read(&store).expect("it can be read");
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0x5a);
    fs::write(&store, bytes).expect("it is ours");
    let text = place.problem(&[], "store");
    assert!(text.contains("checking store") || text.contains("store"), "{text}");
}

#[test]
fn configured_upstreams_are_started_and_ended() {
    let place = Place::new();
    let file = ".config/cograph/upstreams.toml";
    let hangs =
        place.script("hangs", "trap '' TERM; echo $$ > \"$0.pid\"; while :; do sleep 1000; done");
    let own = format!(
        "[upstreams]\nown = \"cmd:{} mcp --root {}\"\n",
        env!("CARGO_BIN_EXE_cograph"),
        place.path("repository").display()
    );
    place.write(file, &own);
    let (code, found) = place.examine(&[]);
    assert_eq!(code, Some(0), "{found:#}");
    assert!(
        finding(&found, "upstream own")["tools"].as_u64().is_some_and(|tools| tools >= 10),
        "{found:#}"
    );

    place.write(file, &format!("[upstreams]\nstuck = \"cmd:{}\"\n", hangs.display()));
    let mut command = place.command(&["doctor", "--json", "--timeout", "1"]);
    let output = command.output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    assert!(
        output.status.code() == Some(1)
            && text.contains("no answer to `initialize`")
            && text.contains("was killed"),
        "{text}"
    );
    let pid = fs::read_to_string(place.path("hangs.pid")).expect("it was started");
    assert!(!PathBuf::from(format!("/proc/{}", pid.trim())).exists(), "nothing is left behind");

    for (text, area, part) in [
        ("[upstreams]\nx = \"/no/such/socket\"\n", "upstream x", "cannot be reached"),
        ("[upstreams]\nx = \"cmd:/no/such/program\"\n", "upstream x", "cannot be started"),
        ("[upstreams]\n\"a b\" = \"x\"\n", "upstreams", "cannot name an upstream"),
        ("[upstreams]\nx = 1\n", "upstreams", "not a text"),
        ("[other]\nx = 1\n", "upstreams", "\"other\" is not known"),
    ] {
        place.write(file, text);
        let found = place.problem(&[], area);
        assert!(found.contains(part), "{text}: {found}");
    }
}

#[test]
fn a_command_line_that_cannot_be_meant_is_distinguished_from_problems() {
    let place = Place::new();
    for words in [&["doctor", "--timeout", "0"][..], &["doctor", "extra"]] {
        assert_eq!(
            place.command(words).output().expect("the program starts").status.code(),
            Some(2),
            "{words:?}"
        );
    }
    let output =
        place.command(&["doctor", "--root", "nowhere"]).output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    assert!(output.status.code() == Some(1) && text.contains("nowhere"), "{text}");
}
