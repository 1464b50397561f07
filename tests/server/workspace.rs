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
