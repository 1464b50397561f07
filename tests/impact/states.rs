//! States of a repository that are not the usual one: another repository inside, files that differ
//! from both the index and the last commit, renames with changes, a long history, bare clones.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use super::repository::GitRepository;
use super::{CART, changed_cart, shop};

#[test]
fn a_submodule_is_named_as_unknown_and_is_a_repository_itself() {
    let (inner, outer) = (shop(), GitRepository::new());
    outer.write("main.py", "def main():\n    return 1\n");
    let address = format!("file://{}", inner.root().display());
    outer.git(&["submodule", "add", "-q", &address, "lib"]);
    outer.commit("one");
    let lib = outer.root().join("lib");
    std::fs::write(lib.join("shop/cart.py"), changed_cart()).expect("written");
    let (code, text) = outer.ask_in(&lib, &["impact", "--root", "."], "");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("11 breaks"), "{text}");
    // Another commit of it is a change whose symbols the outer repository does not have.
    std::fs::write(lib.join("shop/cart.py"), CART).expect("written");
    inner.write("shop/more.py", "x = 1\n");
    inner.commit("two");
    outer.git(&["-C", "lib", "pull", "-q", "origin", "main"]);
    let (code, text) = outer.ask(&["impact", "--check"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("not compared: another repository"), "{text}");
}

#[test]
fn staged_and_unstaged_changes_of_one_file_are_apart() {
    let repository = shop();
    let staged = CART.replace("return a + b", "return b + a");
    repository.write("shop/cart.py", &staged);
    repository.git(&["add", "-A"]);
    repository.write("shop/cart.py", &staged.replace("return x", "return x + 1"));
    assert_eq!(repository.changed(&["impact", "--staged"]), ["body add"]);
    assert_eq!(repository.changed(&["impact"]), ["body add", "body removed"]);
    std::fs::remove_file(repository.root().join("shop/use.py")).expect("it exists");
    let changed = repository.changed(&["impact"]);
    assert!(changed.contains(&"removed run".to_owned()), "{changed:?}");
}

#[test]
fn a_renamed_and_changed_file_has_both_sides() {
    let repository = shop();
    repository.git(&["mv", "shop/cart.py", "shop/basket.py"]);
    repository.write("shop/basket.py", &CART.replace("return a + b", "return b + a"));
    repository.commit("two");
    let answer = repository.json(&["impact", "HEAD~1..HEAD"]);
    let file = &answer["files"][0];
    assert_eq!(
        (&file["path"], &file["old_path"]),
        (&"shop/basket.py".into(), &"shop/cart.py".into())
    );
    assert_eq!(repository.changed(&["impact", "HEAD~1..HEAD"]), ["body add"]);
    let (code, text) = repository.ask(&["impact", "HEAD~1..HEAD", "--check"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("shop/use.py:1 shop/cart.py: the file is shop/basket.py now"), "{text}");
}

#[test]
fn line_ends_that_git_converts_are_no_change() {
    let repository = shop();
    repository.write(".gitattributes", "*.py text eol=crlf\n");
    repository.commit("two");
    repository.write("shop/cart.py", &CART.replace('\n', "\r\n"));
    let changed = repository.changed(&["impact"]);
    assert!(changed.iter().all(|one| !one.contains("Cart")), "{changed:?}");
    repository
        .write("shop/cart.py", &CART.replace("return a + b", "return b + a").replace('\n', "\r\n"));
    assert!(repository.changed(&["impact"]).contains(&"body add".to_owned()));
}

/// Adds commits to the branch `main`, each of which changes one file.
fn import(repository: &GitRepository, count: u32) {
    let mut stream = String::new();
    for at in 0..count {
        let text = format!("x = {at}\n");
        let _ = write!(
            stream,
            "commit refs/heads/main\ncommitter a <a@example.org> {} +0000\ndata 1\n.\n{}M 100644 \
             inline m{}.py\ndata {}\n{text}\n",
            1_700_000_000 + at,
            if at == 0 { "from refs/heads/main^0\n" } else { "" },
            at % 50,
            text.len()
        );
    }
    let file = repository.sibling("stream");
    std::fs::write(&file, stream).expect("written");
    let status = Command::new("git")
        .current_dir(repository.root())
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::from(std::fs::File::open(&file).expect("it exists")))
        .status()
        .expect("there is git");
    assert!(status.success());
    repository.git(&["reset", "-q", "--hard"]);
}

#[test]
fn a_long_history_is_read_to_its_beginning() {
    let repository = shop();
    import(&repository, 5_000);
    repository.write("m7.py", "x = 0\n");
    let answer = repository.json(&["impact"]);
    assert_eq!(answer["history"][0]["commits"], 100, "{}", answer["history"]);
    let unknown = answer["unknown"].to_string();
    assert!(!unknown.contains("history"), "{unknown}");
}

#[test]
fn a_revision_of_a_bare_clone_is_indexed() {
    let repository = shop();
    repository.write("shop/cart.py", &changed_cart());
    repository.commit("two");
    let bare = repository.sibling("bare.git");
    let (from, to) = (repository.root(), bare.to_str().expect("UTF-8").to_owned());
    repository.git(&["clone", "-q", "--bare", from.to_str().expect("UTF-8"), &to]);
    let (code, text) = repository.ask_in(&bare, &["index", "--rev", "HEAD~1", &to], "");
    assert_eq!(code, Some(0), "{text}");
    let commit = repository.git(&["rev-parse", "HEAD~1"]);
    let tree = repository.sibling("cache").join("revisions").join(commit.trim());
    let tree = tree.to_str().expect("UTF-8");
    let (code, text) = repository.ask_in(&bare, &["trace", "old_name", "--root", tree], "");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("shop/use.py: run:6"), "{text}");
    let (code, text) = repository.ask_in(&bare, &["index", "--rev", "nosuch", &to], "");
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("git knows no commit `nosuch`"), "{text}");
}

#[test]
fn a_diff_has_symbols_and_edges_of_both_sides() {
    let repository = shop();
    repository.write("shop/cart.py", &changed_cart());
    let moved = "def far(x):\n    return x\n";
    repository.write("shop/far.py", moved);
    repository.commit("two");
    let (code, text) = repository.ask(&["diff", "HEAD~1..HEAD"]);
    assert_eq!(code, Some(0), "{text}");
    for expected in [
        "shop/cart.py:11 function new_name",
        "shop/cart.py:20 function removed",
        "shop/cart.py:7 function add: def add(a, b, c), was def add(a, b)",
        "call shop/use.py::run -> shop/cart.py::removed",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    repository.git(&["mv", "shop/far.py", "shop/away.py"]);
    repository.write("shop/use.py", "from shop.away import far\n\n\ndef run(cart):\n    far(1)\n");
    repository.commit("three");
    let answer = repository.json(&["diff", "HEAD~1..HEAD"]);
    let moved = answer["symbols"]["moved"].as_array().expect("a list");
    assert_eq!(moved.len(), 1, "{answer}");
    assert_eq!(moved[0]["new"]["path"], "shop/away.py");
    let came = answer["edges"]["came"].as_array().expect("a list");
    assert!(came.iter().any(|edge| edge["to"]["name"] == "far" && edge["kind"] == "call"));
    assert_eq!(repository.ask(&["diff", "HEAD..HEAD"]).0, Some(1), "nothing differs");
    let (code, text) = repository.ask(&["diff", "nosuch..HEAD"]);
    assert_eq!(code, Some(3), "{text}");
    let left = std::fs::read_dir(repository.sibling("cache")).expect("the cache");
    let left = left.filter_map(Result::ok).map(|entry| entry.file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with("diff-")));
}

#[test]
fn what_a_limit_leaves_out_is_reported() {
    let repository = GitRepository::new();
    let before = "def pour(cup):\n    return cup\n";
    repository.write("pour.py", before);
    let callers = (0..5_001).map(|at| format!("\ndef use_{at}():\n    return pour({at})\n"));
    let callers: String = callers.collect();
    repository.write("callers.py", &format!("from pour import pour\n{callers}"));
    let kinds =
        "class A:\n    def drain(self):\n        pass\n\n\nclass B:\n    def drain(self):\n";
    let unknown = (0..501).map(|at| format!("\ndef drain_{at}(it):\n    return it.drain()\n"));
    let unknown: String = unknown.collect();
    repository.write("drain.py", &format!("{kinds}        pass\n\n{unknown}"));
    repository.commit("one");
    let (_, text) = repository.ask(&["impact", "pour"]);
    assert!(text.contains("at least 999 dependents"), "{text}");
    assert!(text.contains("dependents beyond 1000 symbols"), "{text}");
    let (_, text) = repository.ask(&["impact", "A.drain"]);
    assert!(text.contains("at least 500 possible"), "{text}");
    assert!(text.contains("possible uses beyond 500 are not listed"), "{text}");
    assert_eq!(repository.json(&["impact", "pour"])["totals"]["dependents"]["more"], true);
    repository.write("pour.py", &before.replace("(cup)", "(cup, jug)"));
    let answer = repository.json(&["impact"]);
    assert_eq!(answer["breaks"].as_array().expect("a list").len(), 4_999, "one use is an import");
    let sentence = "of a symbol at most 5000 uses and 2000 types below it are compared";
    let unjudged = answer["unjudged"].as_array().expect("a list");
    assert!(unjudged.iter().any(|one| one == sentence), "{unjudged:?}");
}
