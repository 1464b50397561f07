//! What counts as the change: states of a repository, patches, both sides of symbols.

use super::repository::GitRepository;
use super::{CART, changed_cart, shop};

#[test]
fn the_change_is_the_working_tree_the_index_a_revision_or_a_range() {
    let repository = shop();
    repository.write("shop/cart.py", &CART.replace("return a + b", "return b + a"));
    repository.git(&["add", "-A"]);
    repository.write("shop/use.py", "def other():\n    return 1\n");
    assert_eq!(repository.changed(&["impact", "--staged"]), ["body add"]);
    let all = repository.changed(&["impact"]);
    assert!(all.contains(&"body add".to_owned()), "{all:?}");
    assert!(all.contains(&"removed run".to_owned()), "{all:?}");
    repository.commit("two");
    repository.write("shop/more.py", "def fresh():\n    return 1\n");
    assert_eq!(repository.changed(&["impact"]), ["added fresh"], "git does not know the file");
    repository.commit("three");
    assert_eq!(repository.changed(&["impact", "HEAD~1..HEAD"]), ["added fresh"]);
    assert!(repository.changed(&["impact", "HEAD~2"]).contains(&"body add".to_owned()));
    let (code, text) = repository.ask(&["impact", "HEAD~2..HEAD~1"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("the uses are those of the working tree"), "{text}");
    let (code, text) = repository.ask(&["impact", "nosuch..HEAD"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("git knows no commit `nosuch`"), "{text}");
    let (code, text) = repository.ask(&["impact", "add", "--staged"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("one of them"), "{text}");
}

#[test]
fn renamed_and_moved_symbols_keep_both_sides() {
    let repository = shop();
    repository.git(&["mv", "shop/cart.py", "shop/basket.py"]);
    let moved = "def removed(x):\n    return x\n";
    let renamed = CART.replace("def old_name", "def renamed");
    repository.write("shop/basket.py", &renamed.replace(moved, ""));
    repository.write("shop/away.py", moved);
    repository.git(&["add", "-A"]);
    let changed = repository.changed(&["impact", "--staged"]);
    assert_eq!(changed, ["moved removed", "renamed renamed"]);
    let answer = repository.json(&["impact", "--staged"]);
    assert_eq!(answer["changed"][0]["old"]["path"], "shop/cart.py");
    assert_eq!(answer["changed"][1]["old"]["name"], "old_name");
    let breaks = answer["breaks"].as_array().expect("a list");
    let is_one = |line: u64, reason: &str| {
        breaks.iter().any(|one| {
            one["path"] == "shop/use.py" && one["line"] == line && one["reason"] == reason
        })
    };
    assert!(is_one(1, "the file is shop/basket.py now"), "{breaks:?}");
    repository.git(&["mv", "shop/basket.py", "shop/cart.py"]);
    let (_, text) = repository.ask(&["impact"]);
    assert!(text.contains("shop/use.py:6 old_name: renamed to renamed (certain)"), "{text}");
    assert!(text.contains("shop/use.py:7 removed: moved to shop/away.py (certain)"), "{text}");
}

#[test]
fn line_ends_do_not_matter() {
    let repository = GitRepository::new();
    let text = CART.replace('\n', "\r\n");
    repository.write("cart.py", &text);
    repository.commit("one");
    repository.write("cart.py", &text.replace("return a + b", "return b + a"));
    assert_eq!(repository.changed(&["impact"]), ["body add"]);
    let patch = repository.git(&["diff"]).replace('\r', "");
    let answer =
        repository.ask_in(&repository.root(), &["impact", "--patch", "-", "--json"], &patch);
    assert!(answer.1.contains("\"change\":\"body\""), "{}", answer.1);
}

#[test]
fn a_patch_is_read_from_a_file_or_standard_input_and_fits_the_tree() {
    let repository = shop();
    repository.write("shop/cart.py", &changed_cart());
    let patch = repository.git(&["diff"]);
    let file = repository.sibling("change.patch");
    std::fs::write(&file, &patch).expect("written");
    let file = file.to_str().expect("UTF-8").to_owned();
    let from_git = repository.changed(&["impact"]);
    assert_eq!(repository.changed(&["impact", "--patch", &file]), from_git);
    let (code, text) = repository.ask_in(&repository.root(), &["impact", "--patch", "-"], &patch);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("impact of the patch: 1 file, 5 symbols"), "{text}");
    repository.write("shop/cart.py", CART);
    let (_, text) = repository.ask(&["impact", "--patch", &file]);
    assert!(text.contains("the tree is not the new side of the patch"), "{text}");
    let nonsense = "--- a/x\n+++ b/x\n@@ nonsense\n";
    let (code, text) = repository.ask_in(&repository.root(), &["impact", "--patch", "-"], nonsense);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("line 3 of the patch"), "{text}");
    let (code, text) = repository.ask(&["impact", "--patch", "/nowhere/at/all"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("there is no such file"), "{text}");
}

#[test]
fn without_git_there_are_symbols_and_patches_and_no_history() {
    let repository = shop();
    repository.write("shop/cart.py", &changed_cart());
    let patch = repository.git(&["diff"]);
    let (code, text) = repository.ask_without_git(&["impact"], "");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("the program `git` is not there; name symbols"), "{text}");
    let (code, text) = repository.ask_without_git(&["impact", "add"], "");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("history: none") && text.contains("test_add:15"), "{text}");
    let (code, text) = repository.ask_without_git(&["impact", "--patch", "-"], &patch);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("11 breaks"), "{text}");
}

#[test]
fn shallow_clones_detached_heads_and_worktrees_are_read() {
    let repository = shop();
    repository.write("shop/cart.py", &CART.replace("return a + b", "return b + a"));
    repository.commit("two");
    repository.git(&["checkout", "-q", "--detach", "HEAD"]);
    assert_eq!(repository.changed(&["impact", "HEAD~1"]), ["body add"]);
    let other = repository.sibling("tree");
    repository.git(&["worktree", "add", "-q", other.to_str().expect("UTF-8"), "HEAD"]);
    std::fs::write(other.join("shop/cart.py"), CART).expect("written");
    let (code, text) = repository.ask_in(&other, &["impact"], "");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("shop/cart.py: add:9"), "{text}");
    let shallow = GitRepository::clone_of(&repository, &["--depth", "1"]);
    shallow.write("shop/cart.py", CART);
    let (code, text) = shallow.ask(&["impact"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("history: 1 commit read, the clone is shallow"), "{text}");
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let repository = shop();
    let marker = repository.sibling("was-run");
    let run = format!("touch {}; cat", marker.display());
    for (name, value) in [
        ("core.fsmonitor", run.as_str()),
        ("diff.external", &run),
        ("filter.evil.clean", &run),
        ("filter.evil.smudge", &run),
        ("filter.evil.required", "true"),
        ("diff.evil.textconv", &run),
        ("diff.evil.command", &run),
        ("core.pager", &run),
        ("core.hooksPath", "hooks"),
        ("core.sshCommand", &run),
    ] {
        repository.git(&["config", name, value]);
    }
    repository.write(".gitattributes", "*.py filter=evil diff=evil\n");
    repository
        .write("hooks/post-index-change", &format!("#!/bin/sh\ntouch {}\n", marker.display()));
    repository.write("shop/cart.py", &changed_cart());
    let (code, text) = repository.ask(&["impact"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("11 breaks"), "{text}");
    assert!(!marker.exists(), "a program was run");
}

#[test]
fn what_no_reference_shows_is_named() {
    let repository = shop();
    repository.write("requirements.txt", "flask\n");
    repository.write("conftest.py", "import shop\n");
    repository.write("app/migrations/0001_first.py", "x = 1\n");
    std::fs::write(repository.root().join("logo.png"), b"\x89PNG\0\0").expect("written");
    let (_, text) = repository.ask(&["impact"]);
    for expected in [
        "conftest.py (set-up of tests)",
        "app/migrations/0001_first.py (migration)",
        "logo.png (data: no reference shows who reads it)",
        "symbols of 1 changed file not compared: binary",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn files_that_change_in_the_same_commits_are_evidence() {
    let repository = shop();
    repository.write("tests/test_far.py", "def test_far():\n    assert 1\n");
    for round in 0..4 {
        repository.write("shop/cart.py", &format!("{CART}\n\nround_{round} = {round}\n"));
        repository.write("tests/test_far.py", &format!("def test_far():\n    assert {round}\n"));
        repository.commit("both");
    }
    repository.write("shop/cart.py", CART);
    let tests = repository.tests(&["impact"]);
    assert!(tests.contains(&"test_far changed together".to_owned()), "{tests:?}");
}

#[test]
fn each_test_file_that_reaches_the_change_has_a_test_in_the_answer() {
    let repository = GitRepository::new();
    let mut chain = "def step_0(a):\n    return a\n".to_owned();
    for number in 1..=10 {
        let before = number - 1;
        chain += &format!("\n\ndef step_{number}(a):\n    return step_{before}(a)\n");
    }
    repository.write("shop/chain.py", &chain);
    let case =
        |name: &str, called: &str| format!("\n\ndef test_{name}():\n    assert {called}(1) == 1\n");
    let import = "from shop import chain\n";
    let near = case("one", "chain.step_0") + &case("two", "chain.step_0");
    repository.write("tests/test_near.py", &(import.to_owned() + &near));
    let far: String = ["a", "b", "c"].map(|name| case(name, "distant")).concat();
    repository.write("shop/front.py", "from shop.chain import step_10 as distant\n");
    let import = "from shop.front import distant\n";
    repository.write("tests/test_far.py", &(import.to_owned() + &far));
    repository.write("tests/test_other.py", "def test_nothing():\n    assert True\n");
    repository.commit("one");
    repository.write("shop/chain.py", &chain.replace("return a\n", "return a + 0\n"));
    let answer = repository.json(&["impact"]);
    let tests = answer["tests"].as_array().expect("a list");
    let count = |path: &str| tests.iter().filter(|test| test["path"] == path).count();
    let counts = ["near", "far", "other"].map(|name| count(&format!("tests/test_{name}.py")));
    assert_eq!(counts, [2, 1, 0], "{tests:?}");
    assert_eq!(tests[2]["path"], "tests/test_far.py", "the nearest come first: {tests:?}");
}

#[test]
fn where_no_reference_leads_to_a_test_the_nearest_importers_are_named() {
    let repository = GitRepository::new();
    repository.write("package.json", r#"{"name": "app", "main": "index.js"}"#);
    repository.write("index.js", "module.exports = require('./lib/app');\n");
    repository.write("lib/app.js", "module.exports = require('./router');\n");
    let router = "var proto = module.exports = {};\nproto.handle = function () { return 1; };\n";
    repository.write("lib/router.js", router);
    let test = "var app = require('..');\ndescribe('app', function () {\n  \
                it('answers', function () { app['han' + 'dle'](); });\n});\n";
    repository.write("test/app.js", test);
    repository.commit("one");
    repository.write("lib/router.js", &router.replace("return 1", "return 2"));
    let answer = repository.json(&["impact"]);
    let tests = answer["tests"].as_array().expect("a list");
    assert_eq!((tests.len(), &tests[0]["class"]), (1, &"imports".into()), "{tests:?}");
    assert_eq!(tests[0]["evidence"]["imports"], 3);
}
