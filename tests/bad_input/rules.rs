//! Files of ignore rules that are no regular files, or too large: they have no rules, they hold
//! nothing up, and `status` names them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use cograph::model::SkipReason;

use super::setup::{Repository, paths, program, skipped, stderr, stdout};

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
    assert!(Command::new("mkfifo").arg(path).status().expect("the system has it").success());
}

/// The path that the error names when the function has replaced a rules file below a root.
type Case = (&'static str, fn(&Path));

const CASES: [Case; 10] = [
    (".gitignore", |root| pipe(&root.join(".gitignore"))),
    ("sub/.ignore", |root| pipe(&root.join("sub/.ignore"))),
    (".cographignore", |root| pipe(&root.join(".cographignore"))),
    (".gitignore", |root| symlink("/dev/zero", root.join(".gitignore")).expect("linked")),
    ("sub/.gitignore", |root| symlink("/dev/tty", root.join("sub/.gitignore")).expect("linked")),
    (".ignore", |root| symlink("rules", root.join(".ignore")).expect("linked")),
    (".gitignore", |root| {
        fs::write(root.join(".gitignore"), "*".repeat((1 << 20) + 1)).expect("written")
    }),
    (".git/info/exclude", |root| pipe(&root.join(".git/info/exclude"))),
    (".git", |root| pipe(&root.join(".git"))),
    (".git", |root| {
        fs::write(root.join(".git"), "gitdir: sub").expect("written");
        pipe(&root.join("sub/commondir"));
    }),
];

#[test]
fn rules_that_are_no_regular_files_are_named_and_cost_nothing_else() {
    for (number, (named, plant)) in CASES.into_iter().enumerate() {
        let repository =
            Repository::with(&[("sub/a.py", b"def a():\n    pass\n"), ("rules", b"*.py\n")]);
        plant(&repository.root());
        let store = repository.store();
        assert_eq!(skipped(&store, named), SkipReason::UnreadRules, "case {number}");
        assert!(
            paths(&store).contains(&"sub/a.py".to_owned()),
            "case {number}: {:?}",
            paths(&store)
        );
    }
}

#[test]
fn the_program_answers_and_says_which_rules_it_did_not_read() {
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n")]);
    pipe(&repository.root().join(".gitignore"));
    let ask = |words: &[&str]| {
        let mut command = program(&repository.sibling("cache"));
        command
            .args(words)
            .arg("--root")
            .arg(repository.root())
            .output()
            .expect("the program starts")
    };
    let answer = ask(&["search", "a"]);
    assert!(stdout(&answer).contains("a.py"), "{}{}", stdout(&answer), stderr(&answer));
    let status = ask(&["status"]);
    assert!(stdout(&status).contains("1 unread-rules, e.g. .gitignore"), "{}", stdout(&status));
    // A file of rules in its place counts at once.
    fs::remove_file(repository.root().join(".gitignore")).expect("it was made");
    repository.write(".gitignore", b"a.py\n");
    let status = ask(&["status"]);
    assert!(stdout(&status).contains(": 0 files, 0 symbols"), "{}", stdout(&status));
}

#[test]
fn rules_decide_as_they_do_for_git() {
    let files: &[(&str, &[u8])] = &[
        (
            ".gitignore",
            b"\xef\xbb\xbfout.py\n# comment.py\n*.gen.py\r\n/top.py\nbuild/\n\xff\xfe\n[\nlast.py",
        ),
        ("sub/.gitignore", b"!kept.gen.py\nlocal.py\n"),
        ("sub/.ignore", b"!local.py\n"),
        ("own/.cographignore", b"*.py\n!one.py\n"),
        ("own/.ignore", b"one.py\n"),
        (".git/info/exclude", b"secret.py\n"),
        ("nested/.git/info/exclude", b"inner.py\n"),
        ("nested/inner.py", b""),
        ("inner.py", b""),
        ("out.py", b""),
        ("comment.py", b""),
        ("a.gen.py", b""),
        ("top.py", b""),
        ("last.py", b""),
        ("secret.py", b""),
        ("build/a.py", b""),
        ("sub/top.py", b""),
        ("sub/kept.gen.py", b""),
        ("sub/other.gen.py", b""),
        ("sub/local.py", b""),
        ("sub/secret.py", b""),
        ("own/one.py", b""),
        ("own/two.py", b""),
    ];
    let store = Repository::with(files).store();
    assert_eq!(
        paths(&store),
        ["comment.py", "inner.py", "own/one.py", "sub/kept.gen.py", "sub/local.py", "sub/top.py"]
    );
}
