//! What a repository is called, and what stands in its files, at a terminal: no character moves the
//! cursor, turns text around or hides.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::setup::{Repository, program, stderr, stdout};

const DECEIVES: [char; 6] = ['\u{1b}', '\u{202e}', '\u{200b}', '\u{e0101}', '\u{3164}', '\u{7}'];

/// A name with all of them, and a line of its own.
fn name() -> String {
    format!("x{}[31m\nok       store: whole", DECEIVES.iter().collect::<String>())
}

fn check(command: &mut Command, what: &str) {
    let output = command.output().expect("the program starts");
    for text in [stdout(&output), stderr(&output)] {
        let found: Vec<char> = text.chars().filter(|letter| DECEIVES.contains(letter)).collect();
        assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
        assert!(
            !text.lines().any(|line| line == "ok       store: whole"),
            "{what}: a line of its own: {text:?}"
        );
    }
    assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{what}: it says something");
}

#[test]
fn names_of_a_repository_do_not_deceive_at_a_terminal() {
    let repository = Repository::new();
    let (home, root) = (repository.sibling("home"), repository.root().join(name()));
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    };
    let comment = format!("{{\n  // {}\n  \"servers\": {{ }}\n}}\n", name().replace('\n', " "));
    write(".git/HEAD", "");
    write("inner/a.py", &format!("def f():\n    \"\"\"{}\"\"\"\n", name()));
    write(".vscode/mcp.json", &comment);
    write(".mcp.json", &format!("{{{comment}"));
    let missing = format!("missing{}", name());
    fs::create_dir(&home).expect("created");
    for words in [
        &["index", "."][..],
        &["index", "inner"],
        &["index", &missing],
        &["search", "f"],
        &["search", "f", "--root", &missing],
        &["status"],
        &["doctor"],
        &["install", "vscode", "--scope", "project", "--dry-run"],
        &["install", "claude-code", "--scope", "project"],
    ] {
        let mut command = program(&repository.sibling("cache"));
        check(command.args(words).current_dir(&root).env("HOME", &home), &words.join(" "));
    }
    assert!(!Path::new(&missing).exists());
}
