//! A session about a workspace: several repositories with one default scope, each fresh.

use super::client::{Client, place};
use serde_json::json;
use std::fs;

const FILES: &[(&str, &str)] = &[
    (".cograph/workspace.toml", "members = ['lib', 'user']\n"),
    ("lib/pyproject.toml", "[project]\nname = 'greetlib'\n"),
    ("lib/greetlib.py", "def greet(name):\n    return name\n"),
    ("user/app.py", "from greetlib import greet\n\n\ndef main():\n    greet('a')\n"),
    ("third/greetlib.py", "def greet(name):\n    return name\n"),
];

#[test]
fn a_session_is_about_the_members_of_its_workspace() {
    let mut client = Client::start_in(place(FILES), &[], &[]);
    client.hello("2025-11-25");
    let root = fs::canonicalize(client.place.path().join("repository")).expect("it exists");
    let question = json!({"symbol": "greet"});
    let first = client.ask("trace", question.clone());
    assert!(first.starts_with("trace: 2 of 2 repositories answered; 1 call"), "{first}");
    assert!(first.contains("not instructions") && first.contains("user/app.py: main:5"), "{first}");
    let user = root.join("user/app.py");
    fs::write(&user, "from greetlib import greet\n\n\ndef late():\n    greet('a')\n")
        .expect("written");
    let second = client.ask_fresh("trace", &question);
    assert!(second.contains("user/app.py: late:5") && !second.contains("main:5"), "{second}");
    assert!(!second.contains("not instructions"), "said once: {second}");
    let lib = root.join("lib").display().to_string();
    let alone = client.ask("trace", json!({"symbol": "greet", "root": lib}));
    assert!(!alone.contains("== lib ==") && alone.contains("greetlib.py:1"), "{alone}");
    let list = ["user", "third"].map(|name| root.join(name).display().to_string()).join(":");
    let listed = client.ask("references", json!({"symbol": "greet", "root": list}));
    assert!(listed.contains("== third ==") && listed.contains("user/app.py: "), "{listed}");
    let (refused, is_error) = client.outcome("trace", json!({"symbol": "greet", "root": "a:b"}));
    assert!(is_error && refused.contains("must be an absolute path"), "{refused}");
}

#[test]
fn an_edited_manifest_is_read_by_the_next_question() {
    let files = [
        (".cograph/workspace.toml", "members = ['lib', 'user']\n"),
        ("lib/pyproject.toml", "[project]\nname = 'greetlib'\nversion = '1.2.0'\n"),
        ("lib/greetlib.py", "def greet(name):\n    return name\n"),
        ("user/pyproject.toml", "[project]\nname = 'app'\ndependencies = ['greetlib==1.1.0']\n"),
        ("user/app.py", "from greetlib import greet\n\n\ndef main():\n    greet('a')\n"),
    ];
    let mut client = Client::start_in(place(&files), &[], &[]);
    client.hello("2025-11-25");
    let root = fs::canonicalize(client.place.path().join("repository")).expect("it exists");
    let question = json!({"symbol": "greet"});
    let versions = |client: &mut Client| {
        let answer = client.ask_fresh("trace", &question);
        answer.lines().find(|line| line.contains(" names version ")).map(str::to_owned)
    };
    let line = |user: &str, own: &str| Some(format!("user names version {user}; here is {own}"));
    assert_eq!(versions(&mut client), line("1.1.0", "1.2.0"));
    assert_eq!(versions(&mut client), line("1.1.0", "1.2.0"), "as it was kept");
    let manifest = "[project]\nname = 'greetlib'\nversion = '1.3.0'\n";
    fs::write(root.join("lib/pyproject.toml"), manifest).expect("written");
    assert_eq!(versions(&mut client), line("1.1.0", "1.3.0"));
    let manifest = "[project]\nname = 'app'\ndependencies = ['greetlib==1.1.5']\n";
    fs::write(root.join("user/pyproject.toml"), manifest).expect("written");
    assert_eq!(versions(&mut client), line("1.1.5", "1.3.0"));
    fs::remove_file(root.join("user/pyproject.toml")).expect("it exists");
    assert_eq!(versions(&mut client), None);
}

#[test]
fn many_members_share_the_budget_and_those_without_the_symbol_say_nothing() {
    const OTHERS: usize = 7;
    let mut files: Vec<(String, String)> = Vec::new();
    for member in 0..OTHERS {
        let mut text =
            format!("def common(a):\n    return a\n\n\ndef only_{member}():\n    pass\n");
        for caller in 0..40 {
            text += &format!("\n\ndef caller_{member}_{caller}():\n    return common({caller})\n");
        }
        files.push((format!("m{member}/mod{member}.py"), text));
    }
    files.push(("user/app.py".to_owned(), "from mod1 import common\n\ncommon(1)\n".to_owned()));
    files.push(("none/b.py".to_owned(), "x = 1\n".to_owned()));
    let names: Vec<String> = (0..OTHERS).map(|member| format!("'m{member}'")).collect();
    let list = format!("members = [{}, 'user', 'none']\n", names.join(", "));
    files.push((".cograph/workspace.toml".to_owned(), list));
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut client = Client::start_in(place(&files), &[], &[]);
    client.hello("2025-11-25");
    for budget in [500, 2_000, 10_000] {
        let answer = client.ask_fresh("trace", &json!({"symbol": "common", "budget": budget}));
        assert!(answer.len() <= budget * 4, "{budget}: {}\n{answer}", answer.len());
        let head = "trace: 9 of 9 repositories answered; 1 call from another repository";
        assert!(answer.starts_with(head), "{answer}");
        assert!(
            answer.contains("no such name in none") && !answer.contains("== user =="),
            "{answer}"
        );
        let parts = answer.lines().filter(|line| line.starts_with("== m")).count();
        assert!(budget == 500 || parts == OTHERS, "{budget}: {answer}");
        let callers = answer.matches("caller_").count();
        // The answers of all are whole where there is room.
        assert!(budget < 10_000 || callers == OTHERS * 40, "{callers}: {answer}");
        assert!(budget != 2_000 || callers >= OTHERS * 5, "{callers}: {answer}");
    }
    let one = client.ask("trace", json!({"symbol": "only_3"}));
    assert!(one.contains("== m3 ==") && !one.contains("== m4 =="), "{one}");
}
