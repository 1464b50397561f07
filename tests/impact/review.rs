//! `impact` in continuous integration: exit codes of `--check`, and the forms of `--format`.

use serde_json::Value;

use super::repository::GitRepository;
use super::{CART, changed_cart, shop};

#[test]
fn the_exit_code_says_whether_something_breaks() {
    let repository = shop();
    let check = |more: &[&str]| repository.ask(&[&["impact", "--check"], more].concat());
    let (code, text) = check(&[]);
    assert_eq!(code, Some(0), "nothing is changed: {text}");
    repository.write("shop/cart.py", &CART.replace("return a + b", "return b + a"));
    let (code, text) = check(&[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("0 breaks: no name or header of a known symbol changed"), "{text}");
    repository.write("shop/cart.py", &changed_cart());
    let (code, text) = check(&[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("shop/use.py:1 removed: removed (certain)"), "{text}");
    assert_eq!(repository.ask(&["impact"]).0, Some(0), "without --check there are tests to run");
}

#[test]
fn what_is_not_known_is_no_success() {
    let repository = shop();
    let check = |more: &[&str]| repository.ask(&[&["impact", "--check"], more].concat());
    let (code, text) = check(&["nosuch..HEAD"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("error: ") && text.contains("git knows no commit"), "{text}");
    let (code, text) = check(&["--root", "/nowhere/at/all"]);
    assert_eq!(code, Some(2), "{text}");
    let (code, text) = repository.ask_without_git(&["impact", "--check"], "");
    assert_eq!(code, Some(2), "{text}");
    // The old side of a patch that the tree does not have.
    repository.write("shop/cart.py", &CART.replace("return a + b", "return b + a"));
    let patch = repository.git(&["diff"]);
    repository.write("shop/cart.py", CART);
    let arguments = ["impact", "--check", "--patch", "-"];
    let (code, text) = repository.ask_in(&repository.root(), &arguments, &patch);
    assert_eq!(code, Some(2), "{text}");
    // A range whose new side is not the tree.
    repository.write("shop/cart.py", &CART.replace("return a + b", "return b + a"));
    repository.commit("two");
    repository.write("shop/more.py", "");
    repository.commit("three");
    let (code, text) = check(&["HEAD~2..HEAD~1"]);
    assert_eq!(code, Some(2), "{text}");
    assert_eq!(check(&["HEAD~2..HEAD"]).0, Some(0));
}

#[test]
fn files_without_symbols_leave_nothing_open() {
    let repository = shop();
    std::fs::write(repository.root().join("logo.png"), b"\x89PNG\0\0").expect("written");
    let (code, text) = repository.ask(&["impact", "--check"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("not compared: binary"), "{text}");
}

#[test]
fn the_forms_have_the_same_breaks() {
    let repository = shop();
    repository.write("shop/cart.py", &changed_cart());
    let answer = repository.json(&["impact"]);
    let breaks = answer["breaks"].as_array().expect("a list");
    let (code, text) = repository.ask(&["impact", "--check", "--format", "sarif"]);
    assert_eq!(code, Some(1), "{text}");
    let log: Value = serde_json::from_str(&text).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("a list");
    assert_eq!(results.len(), breaks.len());
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], breaks[0]["path"]);
    assert_eq!(place["region"]["startLine"], breaks[0]["line"]);
    let (code, text) = repository.ask(&["impact", "--format", "markdown"]);
    assert_eq!(code, Some(0), "{text}");
    for expected in [
        "### Impact of `working tree against HEAD`",
        &format!("**{} breaks**, 0 possible", breaks.len()),
        "| `shop/use.py:1` | `removed` | `removed` | certain |",
        "pytest tests/test_cart.py::test_add",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let (code, text) = repository.ask(&["impact", "--format", "json"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with('{'), "{text}");
    let (code, text) = repository.ask(&["impact", "--format", "xml"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn an_empty_repository_has_a_verdict() {
    let repository = GitRepository::new();
    repository.write("a.py", "def f():\n    return 1\n");
    let (code, text) = repository.ask(&["impact", "--check"]);
    assert_eq!(code, Some(0), "everything is new: {text}");
    assert!(text.contains("a.py: f:1 added"), "{text}");
}
