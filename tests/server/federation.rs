//! One client before several upstreams: the results of each are under its name, and one that
//! misbehaves harms no other.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Client, PATIENCE, PROMPT, meta, place};

mod broken;
mod lifetime;
mod stateless;

/// A repository whose function has this name.
fn repository(function: &str) -> TempDir {
    let text = format!(
        "def {function}():\n    return shared_helper()\n\n\ndef shared_helper():\n    return 1\n"
    );
    place(&[("a.py", &text)])
}

/// A client of these upstreams, each `NAME=TARGET`.
fn client_of(upstreams: &[String]) -> Client {
    let place = place(&[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    command
        .arg("mcp")
        .current_dir(place.path())
        .env("COGRAPH_CACHE_DIR", place.path().join("cache"));
    for upstream in upstreams {
        command.args(["--upstream", upstream]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut client = Client::of(place, command);
    client.hello("2025-11-25");
    client
}

/// This program as an upstream that serves a place.
fn own(name: &str, place: &TempDir) -> String {
    let (program, place) = (env!("CARGO_BIN_EXE_cograph"), place.path().display());
    format!(
        "{name}=cmd:env COGRAPH_CACHE_DIR={place}/cache {program} mcp --root {place}/repository"
    )
}

/// An upstream that is a script: it answers the handshake, and `body` the rest, in branches of a
/// `case` over each line. `$id` is the id of the request; `say` answers it.
fn script(place: &TempDir, name: &str, body: &str) -> String {
    let path = place.path().join(format!("{name}.sh"));
    let text = format!(
        r#"say() {{ echo "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}}"; }}
here="{here}"
while read -r line; do
  id=${{line#*\"id\":}}; id=${{id%%,*}}
  case $line in
    *'"method":"initialize"'*) say '{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"script","version":"1"}}}}' ;;
    {body}
  esac
done
"#,
        here = place.path().display(),
    );
    fs::write(&path, text).expect("files can be written");
    format!("{name}=cmd:sh {}", path.display())
}

const LISTS_ECHO: &str = r#"*'"method":"tools/list"'*) say '{"tools":[{"name":"echo","description":"Says it again","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) say '{"content":[{"type":"text","text":"heard"}]}' ;;"#;

/// The names of the tools that are listed.
fn tools(client: &mut Client) -> Vec<String> {
    let id = json!(format!("list-{}", client.seen.len()));
    client.request(id.clone(), "tools/list", json!({}));
    let listed = client.answer(&id)["result"]["tools"].clone();
    listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// Lists until a tool is listed.
fn await_tool(client: &mut Client, name: &str) {
    let until = Instant::now() + PATIENCE;
    while !tools(client).iter().any(|tool| tool == name) {
        assert!(Instant::now() < until, "{name} is not listed");
    }
}

/// Asks until each of these answers: a call waits only a moment for those that are still being
/// connected to.
fn await_answers_of(client: &mut Client, upstreams: &[&str]) {
    let until = Instant::now() + PATIENCE;
    loop {
        let (text, _) = client.outcome("search", json!({"query": "anything"}));
        if upstreams.iter().all(|name| text.contains(&format!("== {name} =="))) {
            return;
        }
        assert!(Instant::now() < until, "{upstreams:?} do not all answer: {text}");
    }
}

/// A runtime on a socket of its own, which ends with the value.
struct Runtime(Child);

impl Drop for Runtime {
    fn drop(&mut self) {
        // Nothing to say if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a runtime for a place and waits until it listens.
fn runtime(place: &TempDir) -> (Runtime, PathBuf) {
    let socket = place.path().join("run").join("socket");
    fs::create_dir(place.path().join("run")).expect("the directory is new");
    fs::set_permissions(place.path().join("run"), PermissionsExt::from_mode(0o700))
        .expect("it is ours");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    command
        .args(["serve", "--root"])
        .arg(place.path().join("repository"))
        .arg("--socket")
        .arg(&socket);
    command.env("COGRAPH_CACHE_DIR", place.path().join("cache"));
    (started(command, 1).0, socket)
}

/// Starts a runtime with a number of listeners, and waits for them. Gives the address of the last.
fn started(mut command: Command, ways: usize) -> (Runtime, String) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program was built with the tests");
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let lines: Vec<String> =
        output.lines().take(ways).map(|line| line.expect("it can be read")).collect();
    let last = lines.last().and_then(|line| line.strip_prefix("listening on "));
    let target = last.unwrap_or_else(|| panic!("it says where it listens: {lines:?}")).to_owned();
    (Runtime(child), target)
}

#[test]
fn answers_of_two_runtimes_stand_under_their_origins() {
    let (first, second) = (repository("only_in_first"), repository("only_in_second"));
    let (_one, socket) = runtime(&first);
    let (_two, other) = runtime(&second);
    let mut client =
        client_of(&[format!("first={}", socket.display()), format!("second={}", other.display())]);
    await_answers_of(&mut client, &["first", "second"]);
    let found = client.ask("search", json!({"query": "only_in"}));
    assert!(found.starts_with("search: 2 of 2 upstreams answered"), "{found}");
    let (before, after) = found.split_once("== second ==").expect("both are named");
    assert!(
        before.contains("== first ==")
            && before.contains("only_in_first")
            && !before.contains("only_in_second"),
        "{found}"
    );
    assert!(after.contains("only_in_second") && !after.contains("only_in_first"), "{found}");

    let traced = client.ask("trace", json!({"symbol": "shared_helper"}));
    let (before, after) = traced.split_once("== second ==").expect("both are named");
    assert!(
        before.contains("== first ==")
            && before.contains("only_in_first")
            && after.contains("only_in_second"),
        "{traced}"
    );

    let alone = client.ask("search", json!({"query": "only_in", "root": "second"}));
    assert!(!alone.contains("== first ==") && alone.contains("only_in_second"), "{alone}");
    let (text, is_error) = client.outcome("search", json!({"query": "x", "root": "third"}));
    assert!(is_error && text.contains("first, second"), "{text}");
    let (text, is_error) = client.outcome("sql", json!({"statement": "SELECT 1"}));
    assert!(is_error && text.contains("first, second"), "{text}");
    assert!(client.structured("sql", json!({"statement": "SELECT 1", "root": "first"})).is_some());
    let status = client.ask("status", json!({}));
    assert!(
        status.contains("first: connected") && status.contains("second: connected"),
        "{status}"
    );
}

#[test]
fn answers_keep_to_the_budget_together() {
    let many: String =
        (0..400).map(|number| format!("def function_number_{number}():\n    pass\n\n")).collect();
    let places = [place(&[("a.py", &many)]), place(&[("b.py", &many)])];
    let mut client = client_of(&[own("one", &places[0]), own("two", &places[1])]);
    await_answers_of(&mut client, &["one", "two"]);
    let text = client.ask("search", json!({"query": "function_number", "budget": 600}));
    assert!(
        text.contains("== one ==") && text.contains("== two ==") && text.len() <= 600 * 4,
        "{}: {text}",
        text.len()
    );
}

#[test]
fn an_upstream_that_is_dead_slow_or_noisy_delays_no_call() {
    let (place, scripts) = (repository("only_here"), place(&[]));
    let silent = script(&scripts, "silent", "*) sleep 1000 ;;");
    fs::write(scripts.path().join("mute.sh"), "sleep 1000\n").expect("files can be written");
    fs::write(scripts.path().join("noise.sh"), "while :; do echo noise; echo noise >&2; done\n")
        .expect("files can be written");
    let of = |name: &str| {
        format!("{name}=cmd:sh {}", scripts.path().join(format!("{name}.sh")).display())
    };
    let upstreams = [
        own("good", &place),
        silent,
        of("mute"),
        of("noise"),
        "gone=/no/such/socket".to_owned(),
        "no=cmd:/no/such/program".to_owned(),
    ];
    let begun = Instant::now();
    let mut client = client_of(&upstreams);
    assert!(
        tools(&mut client).len() >= 10 && begun.elapsed() < PROMPT,
        "the own tools are listed at once"
    );
    await_answers_of(&mut client, &["good"]);
    let text = client.ask("search", json!({"query": "only_here"}));
    assert!(text.contains("== good ==") && text.contains("only_here"), "{text}");
    client.ping();
    let status = client.ask("status", json!({"root": "good"}));
    assert!(
        status.contains("gone: not connected") && status.contains("no: not connected"),
        "{status}"
    );
    client.close_input();
    let (status, elapsed) = client.ended();
    assert!(status.success() && elapsed < PROMPT, "{status} {elapsed:?}");
}

#[test]
fn tools_of_others_are_listed_under_their_upstream_and_called() {
    let scripts = place(&[]);
    let hostile = r#"*'"method":"tools/list"'*) say '{"tools":[{"name":"do.it","description":"a\u001b[31m\u202eb","inputSchema":{"type":"object"}},{"name":"a b","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) say '{"content":[{"type":"text","text":"x\u001b]0;y\u0007"}]}' ;;"#;
    let mut client =
        client_of(&[script(&scripts, "plain", LISTS_ECHO), script(&scripts, "hostile", hostile)]);
    await_tool(&mut client, "plain__echo");
    await_tool(&mut client, "hostile__do_it");
    assert_eq!(client.ask("plain__echo", json!({"any": ["thing", {"nested": 1}]})), "heard");
    assert_eq!(client.ask("hostile__do_it", json!({})), "x\\u{1b}]0;y\\u{7}");
    client.request("l", "tools/list", json!({}));
    let listed = client.answer(&json!("l"))["result"].clone();
    let hostile = listed["tools"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|tool| tool["name"] == "hostile__do_it")
        .cloned();
    assert_eq!(hostile.expect("it is listed")["description"], "[hostile] a\\u{1b}[31m\\u{202e}b");
    let status = client.outcome("status", json!({})).0;
    assert!(status.contains("`a b` has other letters"), "what is left out is named: {status}");
    client.request("d", "server/discover", json!({"_meta": meta("2026-07-28")}));
    assert_eq!(
        client.answer(&json!("d"))["result"]["capabilities"]["tools"]["listChanged"],
        json!(true)
    );
    client.call("u", "plain__gone", json!({}));
    assert_eq!(client.answer(&json!("u"))["error"]["code"], json!(-32602));
}

#[test]
fn a_client_is_notified_when_the_tools_have_become_others() {
    let scripts = place(&[]);
    let gate = scripts.path().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().expect("it can be made").success());
    // Its first list waits at the gate until the client has listed what there is without it.
    let grows = r#"*'"method":"tools/list"'*) [ -n "$open" ] || read open < "$here/gate"; say "{\"tools\":[{\"name\":\"t$n\",\"inputSchema\":{\"type\":\"object\"}}]}" ;;
    *'"method":"tools/call"'*) n=1; echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; say '{"content":[]}' ;;"#;
    let mut client = client_of(&[script(&scripts, "grows", grows)]);
    assert!(!tools(&mut client).contains(&"grows__t".to_owned()));
    fs::write(&gate, "open\n").expect("somebody reads it");
    await_tool(&mut client, "grows__t");
    client.wait_for("word of the first", |message| {
        message["method"] == "notifications/tools/list_changed"
    });
    client.seen.clear();
    client.call("c", "grows__t", json!({}));
    assert!(client.answer(&json!("c"))["result"].is_object());
    client
        .wait_for("word of it", |message| message["method"] == "notifications/tools/list_changed");
    let names = tools(&mut client);
    assert!(
        names.contains(&"grows__t1".to_owned()) && !names.contains(&"grows__t".to_owned()),
        "{names:?}"
    );
}

#[test]
fn a_list_without_an_end_is_left_at_its_bound_and_that_is_reported() {
    let scripts = place(&[]);
    let endless = r#"*'"method":"tools/list"'*) n=$((n+1)); echo $n > "$here/pages"; say "{\"tools\":[{\"name\":\"t$n\",\"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":\"c$n\"}" ;;"#;
    let circle = r#"*'"method":"tools/list"'*) say '{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"nextCursor":"same"}' ;;"#;
    let mut client =
        client_of(&[script(&scripts, "endless", endless), script(&scripts, "circle", circle)]);
    await_tool(&mut client, "endless__t100");
    await_tool(&mut client, "circle__t");
    assert_eq!(
        fs::read_to_string(scripts.path().join("pages")).expect("it was asked").trim(),
        "100",
        "exactly so many questions"
    );
    let status = client.outcome("status", json!({})).0;
    assert!(
        status.contains(
            "endless: connected, 100 tools; the list is incomplete: it has more than 100 pages"
        ),
        "{status}"
    );
    assert!(
        status
            .contains("circle: connected, 1 tools; circle__t occurs twice; the list is incomplete"),
        "{status}"
    );
}

#[test]
fn a_call_that_changes_something_is_never_sent_twice() {
    let scripts = place(&[]);
    let dies = r#"*'"method":"tools/list"'*) say '{"tools":[{"name":"write","inputSchema":{"type":"object"}},{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
    *'"name":"write"'*) echo w >> "$here/writes"; exit 1 ;;
    *'"name":"read"'*) echo r >> "$here/reads"; exit 1 ;;"#;
    let mut client = client_of(&[script(&scripts, "dies", dies)]);
    await_tool(&mut client, "dies__write");
    let (text, is_error) = client.outcome("dies__write", json!({}));
    assert!(is_error && text.contains("outcome unknown"), "{text}");
    let (_, is_error) = client.outcome("dies__read", json!({}));
    assert!(is_error);
    let count = |name: &str| {
        fs::read_to_string(scripts.path().join(name)).expect("it was called").lines().count()
    };
    assert_eq!((count("writes"), count("reads")), (1, 2), "what only reads is sent once more");
    client.ping();
}

#[test]
fn an_upstream_that_is_slow_to_answer_calls_does_not_hold_up_the_others() {
    let (place, scripts) = (repository("only_here"), place(&[]));
    let slow = r#"*'"method":"tools/list"'*) say '{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*) : ;;"#;
    let mut client = client_of(&[
        own("good", &place),
        script(&scripts, "slow", slow),
        script(&scripts, "plain", LISTS_ECHO),
    ]);
    await_tool(&mut client, "slow__wait");
    await_tool(&mut client, "plain__echo");
    for id in 0..40 {
        client.call(format!("slow-{id}"), "slow__wait", json!({}));
    }
    let begun = Instant::now();
    assert_eq!(client.ask("plain__echo", json!({})), "heard");
    assert!(begun.elapsed() < PROMPT, "{:?}", begun.elapsed());
    assert!(client.ask("search", json!({"query": "only_here"})).contains("only_here"));
    let busy = (0..40).filter(|id| client.answers(&json!(format!("slow-{id}"))) == 1).count();
    assert_eq!(busy, 36, "as many of one upstream wait as may, the rest is told so at once");
    client.signal("TERM");
    assert!(client.ended().1 < PROMPT);
}

#[test]
fn names_and_targets_that_cannot_be_meant_are_reported_at_once() {
    for (words, part) in [
        (vec!["--upstream", "a b=/x"], "cannot name an upstream"),
        (vec!["--upstream", "a=/x", "--upstream", "a=/y"], "two upstreams are named a"),
        (vec!["--upstream", "a=/x", "--upstream", "/y"], "each needs a name"),
        (vec!["--upstream", "a=auto"], "auto"),
        (vec!["--upstream", "cmd:sh x"], "needs a name"),
        (vec!["--upstream", "a=cmd:"], "command line"),
        (vec!["--upstream", "a=cmd:sh 'x"], "command line"),
        (vec!["--upstream", "a="], "empty"),
        (vec!["--upstream", "a=/x", "--root", "."], "--root"),
        (
            vec!["--upstream", "a=/x", "--token-file", "a=/dev/null"],
            "a: cannot use the token in /dev/null: it is no regular file",
        ),
        (
            vec!["--upstream", "a=http://127.0.0.1:1/", "--token-file", "b=/x"],
            "no upstream is named b",
        ),
        (
            vec!["--upstream", "a=http://127.0.0.1:1/", "--token-file", "/x"],
            "needs the name of one",
        ),
        (
            vec![
                "--upstream",
                "a=http://127.0.0.1:1/",
                "--token-file",
                "a=/x",
                "--token-file",
                "a=/y",
            ],
            "has one already",
        ),
        (
            vec!["--upstream", "/x", "--token-file", "/x", "--token-file", "/y"],
            "takes one --token-file",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        let output = command.arg("mcp").args(&words).output().expect("the program starts");
        let text = String::from_utf8(output.stderr).expect("output is UTF-8");
        assert!(output.status.code() == Some(2) && text.contains(part), "{words:?}: {text}");
    }
}

#[test]
fn each_upstream_is_shown_its_own_token() {
    let tokens = ["token-of-the-first-one", "token-of-the-second-one"];
    let places = [repository("in_the_first"), repository("in_the_second")];
    let settings = tempfile::tempdir().expect("a temporary directory");
    let mut lines = String::from("[upstreams]\n");
    let mut runtimes = Vec::new();
    for ((name, token), place) in ["one", "two"].into_iter().zip(tokens).zip(&places) {
        let file = settings.path().join(format!("{name}.token"));
        fs::write(&file, token).expect("written");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("it is ours");
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .args(["serve", "--http", "127.0.0.1:0", "--root"])
            .arg(place.path().join("repository"));
        command.env("COGRAPH_CACHE_DIR", place.path().join("cache")).env("COGRAPH_TOKEN", token);
        let (runtime, address) = started(command, 2);
        lines += &format!("{name} = {{ target = \"{address}\", token-file = \"{name}.token\" }}\n");
        runtimes.push(runtime);
    }
    let file = settings.path().join("upstreams.toml");
    fs::write(&file, &lines).expect("written");
    let client = |place: TempDir| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .args(["mcp", "--upstreams"])
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut client = Client::of(place, command);
        client.hello("2025-11-25");
        client
    };
    let mut both = client(repository("unused"));
    await_answers_of(&mut both, &["one", "two"]);
    let text = both.ask("search", json!({"query": "in_the"}));
    assert!(text.contains("== one ==") && text.contains("== two =="), "{text}");
    fs::write(settings.path().join("two.token"), tokens[0]).expect("written");
    let mut one = client(repository("unused"));
    await_answers_of(&mut one, &["one"]);
    let text = one.ask("search", json!({"query": "in_the"}));
    assert!(text.contains("== one ==") && text.contains("not connected: two"), "{text}");
}

#[test]
fn upstreams_are_named_in_a_file_as_well() {
    let (place, settings) =
        (repository("only_here"), tempfile::tempdir().expect("a temporary directory"));
    let target = own("x", &place);
    let target = target.strip_prefix("x=").expect("it has a name");
    fs::create_dir_all(settings.path().join("cograph")).expect("created");
    let file = settings.path().join("cograph/upstreams.toml");
    fs::write(&file, format!("[upstreams]\nmine = {}\n", Value::from(target))).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    command.args(["mcp", "--upstreams"]).env("XDG_CONFIG_HOME", settings.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut client = Client::of(place, command);
    client.hello("2025-11-25");
    await_answers_of(&mut client, &["mine"]);
    fs::write(&file, "[upstreams]\nmine = 5\n").expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
    let output =
        command.args(["mcp", "--upstreams"]).arg(&file).output().expect("the program starts");
    assert!(
        output.status.code() == Some(3)
            && String::from_utf8_lossy(&output.stderr).contains("upstreams.toml")
    );
}
