//! `check`: rules, thresholds, cycles and unused code against a baseline that only gets shorter.

use super::Small;
use crate::impact::schema::errors;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../docs/check.schema.json");

const RULES: &str = r#"
[limits]
cyclomatic = 2
file-lines = 40

[[layers]]
name = "layers"
layers = ["app", ["left", "right"], "base"]

[[forbidden]]
name = "no base"
from = ["app"]
to = ["base"]
reason = "parts hide the base"

[[independent]]
name = "parts"
modules = ["left", "right"]
"#;

const FILES: &[(&str, &str)] = &[
    ("app/__init__.py", ""),
    ("app/main.py", "from left import one\n\n\ndef main():\n    return one()\n"),
    ("left/__init__.py", "from base import low\n\n\ndef one():\n    return low()\n"),
    ("right/__init__.py", "def two():\n    return 2\n"),
    ("base/__init__.py", "def low():\n    return 0\n"),
    (
        "tests/test_main.py",
        "from app.main import main\nfrom base import low\n\n\n\
         def test_main():\n    assert main() == low()\n",
    ),
    (".cograph/rules.toml", RULES),
];

/// Keys of what is new.
fn new(answer: &Value) -> Vec<&str> {
    let findings = answer["findings"].as_array().expect("a list").iter();
    let new = findings.filter(|one| one["new"] == true);
    new.map(|one| one["key"].as_str().expect("a text")).collect()
}

fn check(small: &Small, arguments: &[&str]) -> (i32, Value) {
    let (code, answer) = small.json(&[&["check", "--format", "json"], arguments].concat());
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let mut found = Vec::new();
    errors(&schema, &answer, "answer", &mut found);
    assert_eq!(found, Vec::<String>::new());
    (code, answer)
}

#[test]
fn what_breaks_a_rule_is_new() {
    let small = Small::of(FILES);
    let (code, answer) = check(&small, &[]);
    assert_eq!((code, new(&answer)), (0, Vec::new()), "{answer}");
    small.write(
        "app/main.py",
        "from left import one\nfrom base import low\n\n\ndef main():\n    return one() + low()\n",
    );
    small.write("right/__init__.py", "from left import one\n\n\ndef two():\n    return one()\n");
    small.write(
        "base/__init__.py",
        "def low(a=0, b=0):\n    from app.main import main\n    if a and b:\n        \
         return main\n    return 0\n",
    );
    let (code, answer) = check(&small, &[]);
    assert_eq!(code, 1);
    let expected = [
        "rule no base: app/main.py -> base/__init__.py",
        "rule layers: base/__init__.py -> app/main.py",
        "rule layers: right/__init__.py -> left/__init__.py",
        "rule parts: right/__init__.py -> left/__init__.py",
        "limit cyclomatic: base/__init__.py::low",
    ];
    assert_eq!(new(&answer), expected);
    let (code, text, _) = small.run(&["check"]);
    assert_eq!(code, 1);
    for line in [
        "check: 5 new, 0 known, 0 gone from the baseline",
        "rule: base/__init__.py:2 layers: imports app/main.py: base is below app",
        "limit: base/__init__.py:1 low: cyclomatic 3, more than 2",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    small.write(
        ".cograph/rules.toml",
        &format!(
            "{RULES}[[exceptions]]\nrule = \"no base\"\nfrom = \"app/main.py\"\nto = \"base\"\n\
             reason = \"old\"\n\
             [[exceptions]]\nrule = \"layers\"\nfrom = \"app\"\nto = \"right\"\nreason = \"none\"\n"
        ),
    );
    let (code, answer) = check(&small, &[]);
    assert_eq!((code, new(&answer)), (1, expected[1..].to_vec()));
    let needless = answer["needless_exceptions"][0].as_str().expect("one");
    assert!(needless.contains("the exception to `layers` of `app` that imports `right`"));
}

#[test]
fn unused_code_and_cycles_need_no_rules() {
    let small = Small::of(&[
        ("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("src/lib.rs", "mod a;\nmod b;\npub use a::one;\n\nfn forgotten() {}\n"),
        ("src/a.rs", "use crate::b::two;\n\npub fn one() {\n    two();\n}\n"),
        ("src/b.rs", "use crate::a::one;\n\npub fn two() {\n    one();\n}\n"),
    ]);
    let (code, answer) = check(&small, &[]);
    assert_eq!(code, 1);
    assert_eq!(
        new(&answer),
        [
            "cycle: src/a.rs -> src/b.rs",
            "cycle: src/b.rs -> src/a.rs",
            "unused: src/lib.rs::forgotten"
        ]
    );
}

#[test]
fn the_baseline_only_gets_shorter() {
    let long = |decisions: &str| format!("def low(a=0, b=0, c=0):\n    return {decisions}\n");
    let small = Small::of(FILES);
    small.write("base/__init__.py", &long("a and b and c"));
    small.write("right/__init__.py", "from left import one\n\n\ndef two():\n    return one()\n");
    assert_eq!(check(&small, &[]).0, 1);
    // Made where there is none.
    let (code, answer) = check(&small, &["--write-baseline"]);
    assert_eq!((code, new(&answer)), (0, Vec::new()));
    let written = small.read(".cograph/baseline.json");
    assert_eq!(written.lines().count(), 5, "{written}");
    // What is known does not fail, what gets worse does.
    assert_eq!(check(&small, &[]).0, 0);
    small.write("base/__init__.py", &long("a and b and c or a"));
    let (code, answer) = check(&small, &["--write-baseline"]);
    assert_eq!((code, new(&answer)), (1, vec!["limit cyclomatic: base/__init__.py::low"]));
    assert_eq!(small.read(".cograph/baseline.json"), written, "it never grows");
    // What is gone must be taken out.
    small.write("base/__init__.py", &long("a and b and c"));
    small.write("right/__init__.py", "def two():\n    return 2\n");
    let (code, answer) = check(&small, &[]);
    assert_eq!((code, answer["outdated"].as_array().map(Vec::len)), (1, Some(2)), "{answer}");
    let (_, text, _) = small.run(&["check"]);
    assert!(text.contains("gone: rule parts: right/__init__.py -> left/__init__.py"), "{text}");
    assert!(text.contains("cograph check --write-baseline"), "{text}");
    let (code, _) = check(&small, &["--write-baseline"]);
    assert_eq!(code, 0);
    assert!(!small.read(".cograph/baseline.json").contains("rule parts"));
    assert_eq!(check(&small, &[]).0, 0);
}

#[test]
fn sarif_says_what_is_new() {
    let small = Small::of(FILES);
    small.write("base/__init__.py", "def low(a=0, b=0, c=0):\n    return a and b and c\n");
    check(&small, &["--write-baseline"]);
    small.write("right/__init__.py", "from left import one\n\n\ndef two():\n    return one()\n");
    let (code, log) = small.json(&["check", "--format", "sarif"]);
    assert_eq!((code, &log["version"]), (1, &json!("2.1.0")));
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("a list");
    let states: Vec<(&Value, &Value)> =
        results.iter().map(|result| (&result["ruleId"], &result["baselineState"])).collect();
    assert_eq!(
        states,
        [
            (&json!("rule"), &json!("new")),
            (&json!("rule"), &json!("new")),
            (&json!("limit"), &json!("unchanged"))
        ]
    );
    for result in results {
        let rule = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0));
    }
}

#[test]
fn wrong_files_are_refused() {
    let small = Small::of(FILES);
    let fails = |path: &str, text: &str, arguments: &[&str], expected: &str| {
        small.write(path, text);
        let (code, _, messages) = small.run(&[&["check"], arguments].concat());
        assert!(code == 2 && messages.contains(expected), "{code} {messages}");
    };
    let rules = ".cograph/rules.toml";
    fails(rules, "[limit]\n", &[], "line 1: limit: unknown key; known are check, limits,");
    fails(
        rules,
        "[[independent]]\nname = \"a\"\nmodules = [\"nowhere\"]\n",
        &[],
        "no file fits `nowhere`",
    );
    fails(rules, "", &["--rules", "none.toml"], "none.toml: there is no such file");
    fails(".cograph/baseline.json", "[]", &[], "it is no baseline of version 1");
    fails(
        "x",
        "",
        &["--baseline", "none.json"],
        "none.json: there is no such file: --write-baseline",
    );
}

#[test]
fn an_answer_after_edits_is_that_of_a_fresh_index() {
    let small = Small::of(FILES);
    let fresh = |small: &Small| {
        let cache = tempfile::tempdir().expect("a temporary directory");
        let done = small.run_with(cache.path(), &["check", "--format", "json"]);
        String::from_utf8(done.stdout).expect("it is UTF-8")
    };
    for (path, text) in [
        (
            "right/__init__.py",
            "from left import one\n\n\ndef two(a):\n    if a and a:\n        return one()\n",
        ),
        ("base/__init__.py", "def low():\n    from app import main\n    return main\n"),
        (
            "left/__init__.py",
            "import right\nfrom base import low\n\n\ndef one():\n    return low(right)\n",
        ),
        ("right/__init__.py", "def two():\n    from left import one\n    return one()\n"),
        ("app/extra.py", "from . import main\nfrom app import extra\n"),
        ("left/__init__.py", "from base import low\n\n\ndef one():\n    return low()\n"),
    ] {
        small.write(path, text);
        let (_, after, _) = small.run(&["check", "--format", "json"]);
        assert_eq!(after, fresh(&small), "after {path}");
    }
}
