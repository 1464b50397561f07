//! Cycles: which imports count, and that the proposed cut leaves none.

use super::Small;
use serde_json::Value;

/// A circle of three files with a shorter one inside, and imports that make none.
const PYTHON: &[(&str, &str)] = &[
    ("app/__init__.py", ""),
    (
        "app/a.py",
        "from app import b\nfrom app.c import one, two\n\n\ndef top():\n    return b, one, two\n",
    ),
    ("app/b.py", "from app.c import one\n\n\ndef middle():\n    return one()\n"),
    (
        "app/c.py",
        "from typing import TYPE_CHECKING\nfrom app import a\n\n\
         if TYPE_CHECKING:\n    from app import d\n\n\n\
         def one():\n    return a.top()\n\n\ndef two():\n    return 2\n",
    ),
    ("app/d.py", "from app import c\n\n\ndef late():\n    return c.one()\n"),
    ("app/e.py", "from app import f\n\n\ndef first():\n    return f\n"),
    ("app/f.py", "def second():\n    from app import e\n    return e\n"),
    ("tests/test_a.py", "from app import a\n\n\ndef test_top():\n    assert a.top()\n"),
];

fn files(cycle: &Value) -> Vec<&str> {
    cycle["files"].as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

/// Ends and lines of the imports to cut.
fn cut(answer: &Value) -> Vec<(String, String, Vec<u64>)> {
    let cycles = answer["cycles"].as_array().expect("a list").iter();
    let edges = cycles.flat_map(|cycle| cycle["edges"].as_array().expect("a list"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    edges
        .filter(|edge| edge["cut"] == true)
        .map(|edge| {
            let lines = edge["imports"].as_array().expect("a list").iter();
            let lines = lines.filter_map(|at| at["line"].as_u64()).collect();
            (text(&edge["from"]), text(&edge["to"]), lines)
        })
        .collect()
}

#[test]
fn only_imports_at_run_time_make_a_cycle_and_the_cut_leaves_none() {
    let small = Small::of(PYTHON);
    let (code, answer) = small.json(&["cycles", "--json"]);
    assert_eq!(code, 0);
    assert_eq!(answer["cycles"].as_array().map(Vec::len), Some(1), "{answer}");
    let cycle = &answer["cycles"][0];
    assert_eq!(files(cycle), ["app/a.py", "app/b.py", "app/c.py"]);
    assert_eq!(cycle["is_smallest_cut"], true);
    // One name of `c` closes both circles.
    assert_eq!(cut(&answer), [("app/c.py".to_owned(), "app/a.py".to_owned(), vec![2])]);
    let (_, text, _) = small.run(&["cycles"]);
    assert!(
        text.contains("3 files, 4 imports of one by another; cut 1 of them (1 names, the fewest)")
    );
    assert!(text.contains("app/c.py:2 -> app/a.py: a of app"), "{text}");
    for (from, _, lines) in cut(&answer) {
        let text = small.read(&from);
        let kept = (1..).zip(text.lines()).filter(|(line, _)| !lines.contains(line));
        small.write(&from, &kept.map(|(_, line)| format!("{line}\n")).collect::<String>());
    }
    let (code, answer) = small.json(&["cycles", "--json"]);
    assert_eq!((code, answer["cycles"].as_array().map(Vec::len)), (1, Some(0)), "{answer}");
}

#[test]
fn edges_say_what_their_imports_are_needed_for() {
    let small = Small::of(PYTHON);
    let said = small.rows(
        "SELECT source, target, runtime, type_only, lazy, test FROM file_edges \
         WHERE NOT runtime AND runtime + type_only + lazy + test > 0 ORDER BY source",
    );
    let shown: Vec<String> = said
        .iter()
        .map(|row| row.iter().map(ToString::to_string).collect::<Vec<String>>().join(" "))
        .collect();
    assert_eq!(
        shown,
        [
            "\"app/c.py\" \"app/d.py\" 0 1 0 0",
            "\"app/f.py\" \"app/e.py\" 0 0 1 0",
            "\"tests/test_a.py\" \"app/a.py\" 0 0 0 1",
        ]
    );
}

#[test]
fn a_path_restricts_the_files() {
    let small = Small::of(PYTHON);
    assert_eq!(small.json(&["cycles", "tests", "--json"]).0, 1);
    let (code, answer) = small.json(&["cycles", "app/[ac].py", "--json"]);
    assert_eq!((code, files(&answer["cycles"][0])), (0, vec!["app/a.py", "app/c.py"]));
    let (code, _, messages) = small.run(&["cycles", "../x"]);
    assert!(code == 3 && messages.contains("without `..`"), "{code} {messages}");
}

#[test]
fn an_import_that_the_compiler_erases_makes_no_cycle() {
    let small = Small::of(&[
        (
            "a.ts",
            "import { B } from './b';\nimport { run } from './c';\n\
             export class A { b?: B; go() { return run(); } }\n",
        ),
        ("b.ts", "import type { A } from './a';\nexport class B { a?: A; }\n"),
        (
            "c.ts",
            "import { A } from './a';\nimport { unused } from './d';\n\
             export function run(a?: A) { return a; }\n",
        ),
        ("d.ts", "import { A } from './a';\nexport const unused = new A();\n"),
        ("e.ts", "import { F } from './f';\nexport class E extends F {}\n"),
        ("f.ts", "import './e';\nexport class F {}\n"),
    ]);
    let (_, answer) = small.json(&["cycles", "--json"]);
    let cycles = answer["cycles"].as_array().expect("a list");
    assert_eq!(cycles.len(), 1, "{answer}");
    assert_eq!(files(&cycles[0]), ["e.ts", "f.ts"]);
}

#[test]
fn the_declaration_of_a_child_module_is_no_import_of_it() {
    let small = Small::of(&[
        ("Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("src/lib.rs", "mod left;\nmod right;\n\npub struct Top;\n"),
        (
            "src/left.rs",
            "use crate::Top;\nuse crate::right::other;\n\npub fn one(_: Top) {\n    other();\n}\n",
        ),
        (
            "src/right.rs",
            "use crate::left::one;\n\npub fn other() {}\n\n\
             #[cfg(test)]\nmod tests {\n    use super::*;\n}\n",
        ),
    ]);
    let (_, answer) = small.json(&["cycles", "--json"]);
    let cycles = answer["cycles"].as_array().expect("a list");
    assert_eq!(cycles.len(), 1, "{answer}");
    assert_eq!(files(&cycles[0]), ["src/left.rs", "src/right.rs"]);
}
