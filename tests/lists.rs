//! What a list has by default, and how it reports what it leaves out.

use super::bad_input::setup::Repository;

fn asked(files: &[(&str, &[u8])], arguments: &[&str]) -> String {
    Repository::with(files).asked(arguments)
}

#[test]
fn files_that_are_gone_are_not_among_those_that_are_not_searched() {
    let notes: Vec<String> = (0..60).map(|number| format!("notes{number:02}.unknown")).collect();
    let mut files: Vec<(&str, &[u8])> =
        notes.iter().map(|name| (name.as_str(), &b"plain text\n"[..])).collect();
    files.push(("a.py", b"def helper():\n    pass\n\n\ndef main():\n    helper()\n"));
    let repository = Repository::with(&files);
    let answer = repository.asked(&["references", "helper"]);
    assert!(answer.contains("left out: 28 files not searched"), "{answer}");
    for name in &notes[5..15] {
        std::fs::remove_file(repository.root().join(name)).expect("it exists");
    }
    let answer = repository.asked(&["references", "helper"]);
    assert!(answer.contains("left out: 18 files not searched"), "{answer}");
}

#[test]
fn a_name_means_code_before_headings_and_blocks_of_tests() {
    let files: &[(&str, &[u8])] = &[
        (
            "grow.ts",
            b"export function grow() { return 1; }\nexport const twice = grow() + grow();\n",
        ),
        ("grow.test.ts", b"import { grow } from './grow';\ndescribe('grow', () => { grow(); });\n"),
        ("guide.md", b"# grow\n\nIt grows.\n"),
        ("only.md", b"# shrink\n\nNothing does.\n"),
    ];
    let repository = Repository::with(files);
    let answer = repository.asked(&["trace", "grow"]);
    assert!(answer.contains("of grow (grow.ts:1)") && !answer.contains("means"), "{answer}");
    let answer = repository.asked(&["show", "shrink"]);
    assert!(answer.contains("only.md:1"), "without code the heading is meant: {answer}");
}

#[test]
fn a_list_of_one_kind_has_anonymous_implementations_and_says_what_it_leaves_out() {
    let source = "interface Task { void run(); }\n\
        class Named implements Task { public void run() {} }\n\
        class Uses {\n    Task task = new Task() { public void run() {} };\n}\n\
        // A Task does something.\n";
    let repository = Repository::with(&[("Task.java", source.as_bytes())]);
    let answer = repository.asked(&["references", "Task", "--kinds", "implement"]);
    assert!(answer.contains("2 certain in 1 file"), "{answer}");
    assert!(answer.contains("Named:2") && answer.contains("Uses:4"), "{answer}");
    assert_eq!(answer.matches("Named:2").count(), 1, "it is named once: {answer}");
    let left_out = "left out: 1 of other kinds; 1 line more with the word in comments, ";
    assert!(answer.contains(left_out), "{answer}");
}

#[test]
fn calls_of_a_body_that_lead_nowhere_are_named() {
    let source = b"def known():\n    pass\n\n\ndef main(given):\n    known()\n    given.lost()\n";
    let answer = asked(&[("a.py", source)], &["trace", "main", "--direction", "callees"]);
    assert!(answer.contains("known:1 at 6"), "{answer}");
    assert!(answer.contains("not followed") && answer.contains("lost:7"), "{answer}");
}

#[test]
fn a_pattern_that_would_be_an_expression_gets_a_hint_how_to_be_one() {
    let files: &[(&str, &[u8])] = &[("a.py", b"first = 1\n")];
    let answer = asked(files, &["grep", "fi.*st"]);
    assert!(answer.contains("`regex` reads it as a regular expression"), "{answer}");
    for plain in [&["grep", "nowhere"][..], &["grep", "--regex", "no.*where"]] {
        assert!(!asked(files, plain).contains("reads it as"), "{plain:?}");
    }
}
