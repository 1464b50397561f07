//! `cograph page --out` and `cograph export dot|mermaid`: what is written of a small repository;
//! and the questions of the page about modules.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cograph::model::cancel::CancelToken;
use cograph::query::overview::map::{MapNodeKind, MapParams, map};
use cograph::query::overview::matrix::{MatrixParams, MatrixResult, matrix, uses_between};
use serde_json::Value;
use tempfile::TempDir;

use crate::sample::stored_sample;

const FILES: &[(&str, &str)] = &[
    ("app/main.py", "from lib.low import low\n\n\ndef main():\n    return low()\n"),
    ("lib/low.py", "from util.deep import deep\n\n\ndef low():\n    return deep() + deep()\n"),
    (
        "util/deep.py",
        "import lib.low\n\n\ndef deep():\n    return lib.low.low\n\n\n\
         def up():\n    return lib.low.low()\n",
    ),
];

struct Project {
    root: TempDir,
    cache: TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = || tempfile::tempdir().expect("a temporary directory");
        let project = Self { root: directory(), cache: directory() };
        for (path, text) in files {
            let path = project.path(path);
            fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
            fs::write(path, text).expect("written");
        }
        project
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cograph"))
            .current_dir(self.root.path())
            .args(arguments)
            .args(["--root", "."])
            .env("COGRAPH_CACHE_DIR", self.cache.path())
            .output()
            .expect("the program starts")
    }

    /// Standard output of a run that succeeds.
    fn text(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("it is UTF-8")
    }

    /// The document that is written, and the data inside.
    fn page(&self, arguments: &[&str]) -> (String, Value) {
        let file = self.cache.path().join("page.html");
        let name = file.to_str().expect("it is plain");
        self.text(&[&["page", "--out", name], arguments].concat());
        let html = fs::read_to_string(&file).expect("it was written");
        let (_, rest) =
            html.split_once(r#"<script type="application/json" id="data">"#).expect("data");
        let (data, _) = rest.split_once("</script>").expect("they end");
        let data = serde_json::from_str(data).expect("they are JSON");
        (html, data)
    }
}

fn answer(data: &Value, name: &str, has: impl Fn(&Value) -> bool) -> Option<Value> {
    let answers = data["answers"].as_array().expect("a list");
    let found = answers.iter().find(|one| one[0] == name && has(&one[1]))?;
    Some(unpacked(&found[2], data))
}

/// What is packed, as `packed.ts` of the page reads it.
fn unpacked(packed: &Value, data: &Value) -> Value {
    let Some([tag, values @ ..]) = packed.as_array().map(Vec::as_slice) else {
        return packed.clone();
    };
    let at = |tag: i64| usize::try_from(tag - 1).expect("a place");
    let values = values.iter().map(|one| unpacked(one, data));
    match tag.as_i64().expect("a tag") {
        0 => Value::Array(values.collect()),
        tag @ 1.. => {
            let names = data["shapes"][at(tag)].as_array().expect("names").iter();
            names.map(|name| name.as_str().expect("a name").to_owned()).zip(values).collect()
        }
        tag => unpacked(&data["shared"][at(-tag)], data),
    }
}

#[test]
fn a_written_page_has_its_answers_inside_and_says_what_it_leaves_out() {
    let project = Project::new(FILES);
    let (html, data) = project.page(&[]);
    assert!(html.contains("connect-src 'none'") && !html.contains("connect-src 'self'"));
    let around = answer(&data, "around", |values| values["symbol"] == "util/deep.py::deep");
    let around = around.unwrap_or_else(|| panic!("{data}"));
    assert_eq!(around["callers"]["nodes"][0]["end"]["symbol"]["symbol"], "lib/low.py::low");
    assert_eq!(around["source"]["lines"][0], "def deep():");
    for name in ["overview", "map", "matrix"] {
        assert!(answer(&data, name, |_| true).is_some(), "{name}");
    }
    assert!(answer(&data, "impact", |_| true).is_none(), "it is no repository of git");
    let symbols = data["symbols"].as_array().expect("a list");
    assert!(symbols.iter().any(|one| one["symbol"] == "lib/low.py::low"), "{symbols:?}");
    let left_out = data["left_out"].as_array().expect("a list");
    assert!(
        left_out[0].as_str().is_some_and(|text| text.contains(" of 4 symbols")),
        "{left_out:?}"
    );
}

#[test]
fn hostile_names_stay_inside_of_the_data() {
    let hostile = "</script><script>alert(1)</script>";
    let text = format!("{{\"{hostile}\": 1}}\n");
    let source = format!("def shown():\n    return '{hostile}'\n\n\nshown()\nshown()\nshown()\n");
    let project = Project::new(&[("keys.json", &text), ("shown.py", &source)]);
    let (html, data) = project.page(&[]);
    assert!(!html.contains(hostile));
    let around = answer(&data, "around", |values| values["symbol"] == "shown.py::shown");
    let around = around.unwrap_or_else(|| panic!("{data}"));
    assert_eq!(around["source"]["lines"][1], format!("    return '{hostile}'"));
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let project = Project::new(FILES);
    let done = project.run(&["page", "--out", "no/such/directory/page.html"]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot write no/such/directory/page.html"), "{said}");
    assert!(!project.path("no").exists());
    let done = project.run(&["page", "--out", "page.html", "--port", "80"]);
    assert_eq!(done.status.code(), Some(2), "a file has no port");
}

#[test]
fn modules_a_neighbourhood_and_a_path_are_drawn() {
    let project = Project::new(FILES);
    let dot = project.text(&["export", "dot"]);
    assert!(dot.starts_with("digraph {\n") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("n0 [label=\"app\"];") && dot.contains("n1 [label=\"lib\"];"), "{dot}");
    assert!(dot.contains("n1 -> n2 ") && dot.contains("n2 -> n1 "), "{dot}");
    assert_eq!(dot.matches("color=red").count(), 2, "lib and util use each other: {dot}");
    let around = project.text(&["export", "mermaid", "--around", "low"]);
    assert!(around.starts_with("flowchart LR\n  n0[\"low (lib/low.py)\"]\n"), "{around}");
    assert!(around.contains("[\"main (app/main.py)\"]"), "{around}");
    assert!(around.contains("  n0 -->|\"2\"| n"), "two calls: {around}");
    let path = project.text(&["export", "mermaid", "--from", "main", "--to", "deep"]);
    let expected = "flowchart LR\n  n0[\"main (app/main.py)\"]\n  n1[\"low (lib/low.py)\"]\n  \
                    n2[\"deep (util/deep.py)\"]\n  n0 -->|\"5\"| n1\n  n1 -->|\"5, 5\"| n2\n";
    assert_eq!(path, expected);
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let project = Project::new(FILES);
    for (arguments, code) in [
        (&["export", "dot", "--around", "no_such_thing"][..], 1),
        (&["export", "dot", "--from", "deep", "--to", "main"], 1),
        (&["export", "dot", "--from", "deep"], 2),
        (&["export", "dot", "--path", "nowhere"], 1),
    ] {
        let done = project.run(arguments);
        assert_eq!(done.status.code(), Some(code), "{arguments:?}");
        assert!(!done.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_map_is_a_tree_by_lines_that_is_cut_at_a_limit() {
    let (_cache, snapshot, _) = stored_sample();
    let token = CancelToken::new();
    let all =
        map(&snapshot, &MapParams { path: String::new(), limit: 1000 }, &token).expect("a map");
    let top = &all.nodes[0];
    assert_eq!((top.path.as_str(), top.kind, top.parent), ("", MapNodeKind::Directory, None));
    let files = all.nodes.iter().filter(|node| node.kind == MapNodeKind::File).count();
    assert_eq!((files as u64, all.files.len() as u64), (top.files, top.files));
    for (at, node) in all.nodes.iter().enumerate() {
        let children: Vec<_> = all.nodes.iter().filter(|child| child.parent == Some(at)).collect();
        assert!(node.parent.is_none_or(|parent| parent < at));
        if !children.is_empty() {
            let sum: u64 = children.iter().map(|child| child.lines).sum();
            assert_eq!(node.lines, sum, "{}", node.path);
            assert!(children.is_sorted_by(|one, other| one.lines >= other.lines), "{}", node.path);
        }
    }
    // Every file is part of a node whatever the limit, and the sum is that of the whole.
    let few = map(&snapshot, &MapParams { path: String::new(), limit: 3 }, &token).expect("a map");
    assert!(few.nodes.len() <= 3 && few.files.len() == all.files.len(), "{few:?}");
    let inside = map(&snapshot, &MapParams { path: "app".to_owned(), limit: 100 }, &token);
    let inside = inside.expect("a map");
    assert!(inside.nodes.iter().all(|node| node.path.starts_with("app")), "{inside:?}");
}

#[test]
fn numbers_of_a_symbol_with_more_references_than_are_read_are_at_least_these() {
    let calls = (0..2_600).map(|at| format!("def caller{at}():\n    return deep()\n\n\n"));
    let text = format!("from deep import deep\n\n\n{}", calls.collect::<String>());
    let values = "from deep import deep\nkept = [deep, deep, deep]\n";
    let files = [("deep.py", "def deep():\n    return 1\n"), ("many.py", &text), ("z.py", values)];
    let (_, data) = Project::new(&files).page(&[]);
    let around = answer(&data, "around", |values| values["symbol"] == "deep.py::deep");
    let callers = around.expect("it is used most")["callers"].clone();
    assert_eq!(callers["total"]["exact"], false, "{}", callers["total"]);
    let count = callers["total"]["count"].as_u64().expect("a number");
    assert!((2_400..=2_500).contains(&count), "{count}");
    // Those in the last file are not read.
    assert_eq!(callers["other_uses"], 1, "the import: {}", callers["other_uses"]);
}

#[test]
fn a_matrix_has_cycles_and_the_files_behind_its_cells() {
    let (_cache, snapshot, _) = stored_sample();
    let token = CancelToken::new();
    let params = MatrixParams { path: String::new(), depth: 1, tests: true, limit: 10 };
    let found = matrix(&snapshot, &params, &token).expect("a matrix");
    let place = |name: &str| found.modules.iter().position(|module| module.path == name);
    let (app, lib) = (place("app").expect("a module"), place("lib").expect("a module"));
    let cell = found.cells.iter().find(|cell| (cell.from, cell.to) == (app, lib));
    let cell = cell.unwrap_or_else(|| panic!("{found:?}"));
    let (files, total) =
        uses_between(&snapshot, &params, ("app", "lib"), &token).expect("there are some");
    assert_eq!(files.iter().map(|one| one.sites).sum::<u64>(), cell.sites, "{files:?}");
    assert_eq!(total, files.len() as u64);
    assert!(files.iter().all(|one| Path::new(one.from.as_str()).starts_with("app")));
    let without = MatrixParams { tests: false, ..params.clone() };
    let without = matrix(&snapshot, &without, &token).expect("a matrix");
    let has_tests = |found: &MatrixResult| found.modules.iter().any(|one| one.path == "tests");
    assert!(has_tests(&found) && !has_tests(&without), "{without:?}");
    // Fewer modules than there are: those with most dependencies.
    let few = matrix(&snapshot, &MatrixParams { limit: 2, ..params }, &token).expect("a matrix");
    assert_eq!((few.modules.len(), few.total), (2, found.total));
}
