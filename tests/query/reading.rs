//! `show`, `outline` and `grep`: source text, its structure, and what is found in it.

use std::collections::{BTreeMap, BTreeSet};

use cograph::model::RepoPath;
use cograph::query::outline::DirectoryEntry;
use cograph::query::show::Excerpt;
use cograph::query::{
    GrepParams, GrepResult, OutlineParams, OutlineResult, QueryError, ShowParams, Total, grep,
    outline, show, source_lines,
};
use cograph::store::Snapshot;

use super::token;
use crate::sample::{Files, stored_sample};

fn shown(snapshot: &Snapshot, files: &Files, target: &str) -> Result<Excerpt, QueryError> {
    let params = ShowParams { targets: vec![target.to_owned()], ..ShowParams::default() };
    show(snapshot, files, &params, &token()).expect("a show").items.remove(0).outcome
}

#[test]
fn show_gives_symbols_lines_and_files() {
    let (_cache, snapshot, files) = stored_sample();
    for (target, first_line, lines) in [
        ("Service.run", 8, vec!["  def run() {", "    helper(2)", "  }"]),
        ("app/service.x:9", 8, vec!["  def run() {", "    helper(2)", "  }"]),
        ("app/service.x:5-6", 5, vec!["    this.run()", "    helper(n)"]),
        ("util.x::helper_two", 3, vec!["def helper_two() {", "  x.helper()", "  app.fetch()", "}"]),
        ("README.md", 1, vec!["# Sample", "helper is described here"]),
        ("README.md:2", 2, vec!["helper is described here"]),
        ("README.md:2-99", 2, vec!["helper is described here"]),
        ("README.md:7-9", 7, vec![]),
    ] {
        let excerpt =
            shown(&snapshot, &files, target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(
            (excerpt.first_line, excerpt.lines),
            (first_line, lines.iter().map(|&line| line.to_owned()).collect()),
            "{target}"
        );
        assert!(!excerpt.stale && !excerpt.lossy, "{target}");
    }
    assert_eq!(shown(&snapshot, &files, "README.md:7-9").expect("lines").file_lines, 2);
}

#[test]
fn one_failure_does_not_touch_the_others() {
    let (_cache, snapshot, mut files) = stored_sample();
    files.0.remove("app/base.x");
    let targets =
        ["zebra", "fetch", "Base", "app/base.x:4-2", "helper_two"].map(str::to_owned).to_vec();
    let params = ShowParams { targets, context: 1, ..ShowParams::default() };
    let items = show(&snapshot, &files, &params, &token()).expect("a show").items;
    assert!(matches!(items[0].outcome, Err(QueryError::NoSuchSymbol { .. })));
    let both: Vec<_> = items[1..3]
        .iter()
        .map(|item| item.outcome.as_ref().expect("a meaning").path.as_str())
        .collect();
    assert_eq!(both, ["app/util.x", "lib/util.x"], "every meaning of the name");
    assert!(matches!(items[3].outcome, Err(QueryError::Read { .. })));
    assert!(matches!(items[4].outcome, Err(QueryError::InvalidParameter { .. })));
    let excerpt = items[5].outcome.as_ref().expect("a symbol");
    assert_eq!(
        (excerpt.first_line, excerpt.lines.len()),
        (2, 5),
        "one line of context on each side that has one"
    );
}

#[test]
fn changed_files_are_said_to_be_stale() {
    let (_cache, snapshot, mut files) = stored_sample();
    files.0.insert("app/util.x".to_owned(), b"\xff changed\ndef helper(n) {\n".to_vec());
    let excerpt = shown(&snapshot, &files, "app/util.x::helper").expect("a symbol");
    assert!(excerpt.stale && excerpt.lossy);
    let found = found(
        &snapshot,
        &files,
        GrepParams {
            pattern: "helper".to_owned(),
            path: Some("app/util.x".into()),
            ..GrepParams::default()
        },
    );
    assert!(found.files[0].stale);
    assert_eq!(found.files[0].hits[0].enclosing, None, "lines may have moved");
}

#[test]
fn lines_of_a_changed_file_are_not_shown_by_their_old_numbers() {
    let (_cache, snapshot, mut files) = stored_sample();
    let wanted = ["app/util.x", "lib/util.x"].map(|path| (RepoPath::new(path).expect("a path"), 1));
    let wanted = BTreeSet::from(wanted);
    let lines = |files: &Files| {
        let found = source_lines(&snapshot, files, &wanted).expect("lines");
        found.into_iter().map(|((path, _), line)| (path.to_string(), line)).collect::<Vec<_>>()
    };
    let line = |path: &str, line: &str| (path.to_owned(), line.to_owned());
    let of_lib = line("lib/util.x", "def fetch() {");
    assert_eq!(lines(&files), [line("app/util.x", "def helper(n) {"), of_lib.clone()]);
    files.0.insert("app/util.x".to_owned(), b"\ndef helper(n) {\n".to_vec());
    assert_eq!(lines(&files), [of_lib]);
}

#[test]
fn a_file_is_a_tree_of_symbols() {
    let (_cache, snapshot, _) = stored_sample();
    let params = OutlineParams { path: "app/service.x".to_owned(), ..OutlineParams::default() };
    let OutlineResult::File(file) = outline(&snapshot, &params, &token()).expect("an outline")
    else {
        panic!("a file")
    };
    assert_eq!((file.symbols.len(), file.file.symbols, file.file.lines), (1, 5, 12));
    let members: Vec<_> =
        file.symbols[0].children.iter().map(|node| node.symbol.name.as_str()).collect();
    assert_eq!(
        (file.symbols[0].symbol.name.as_str(), members),
        ("Service", vec!["new", "handle", "run", "get"])
    );
    let OutlineResult::File(file) =
        outline(&snapshot, &OutlineParams { path: "main.x".to_owned(), ..params }, &token())
            .expect("an outline")
    else {
        panic!("an ending of a path will do")
    };
    assert_eq!(file.imports[0].target.as_ref().map(|path| path.as_str()), Some("app/service.x"));
}

#[test]
fn a_directory_is_files_and_directories_with_sums() {
    let (_cache, snapshot, _) = stored_sample();
    let ask = |path: &str, depth: u32| {
        let params = OutlineParams { path: path.to_owned(), depth, ..OutlineParams::default() };
        outline(&snapshot, &params, &token())
    };
    let OutlineResult::Directory { info, entries } = ask("", 1).expect("the root") else {
        panic!("a directory")
    };
    assert_eq!((info.files, info.symbols), (12, 19));
    let names: Vec<_> = entries
        .iter()
        .map(|entry| match entry {
            DirectoryEntry::Directory { info, entries } => {
                assert!(entries.is_empty(), "one level only");
                (info.path.as_str(), info.files)
            }
            DirectoryEntry::File { info, .. } => (info.path.as_str(), 1),
        })
        .collect();
    assert_eq!(
        names,
        [("app", 5), ("lib", 1), ("native", 3), ("tests", 1), ("README.md", 1), ("blob.bin", 1)]
    );
    let OutlineResult::Directory { entries, .. } = ask("./app/", 1).expect("a directory") else {
        panic!("a directory")
    };
    let DirectoryEntry::File { info, top } = &entries[3] else { panic!("a file") };
    assert_eq!(
        (info.path.as_str(), top[0].name.as_str(), top.len()),
        ("app/service.x", "Service", 3)
    );
    let OutlineResult::Directory { entries, .. } = ask("", 2).expect("the root") else {
        panic!("a directory")
    };
    assert!(matches!(&entries[0], DirectoryEntry::Directory { entries, .. } if entries.len() == 5));
    let Err(QueryError::NoSuchPath { near, .. }) = ask("app/servise.x", 1) else {
        panic!("no such file")
    };
    assert_eq!(near, ["app/service.x"]);
}

fn found(snapshot: &Snapshot, files: &Files, params: GrepParams) -> GrepResult {
    grep(snapshot, files, &params, &token()).expect("a valid search")
}

#[test]
fn grep_finds_lines_with_the_symbols_around_them() {
    let (_cache, snapshot, files) = stored_sample();
    let helper = || GrepParams { pattern: "helper".to_owned(), ..GrepParams::default() };
    let all = found(&snapshot, &files, helper());
    let lines: BTreeMap<_, _> = all
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.hits.iter().map(|hit| hit.line).collect::<Vec<_>>()))
        .collect();
    assert_eq!(
        lines,
        BTreeMap::from([
            ("README.md", vec![2]),
            ("app/service.x", vec![6, 9]),
            ("app/util.x", vec![1]),
            ("lib/util.x", vec![3, 4]),
        ])
    );
    assert_eq!(
        (all.total, all.file_total, all.searched, all.not_text),
        (Total::Exact(6), Total::Exact(4), 11, 1)
    );
    let hit = &all.files[1].hits[1];
    assert_eq!((hit.text.as_str(), hit.column), ("    helper(2)", 4));
    assert_eq!(
        hit.enclosing.as_ref().map(|symbol| symbol.qualified_name()),
        Some("Service.run".to_owned())
    );

    let page = found(&snapshot, &files, GrepParams { offset: 2, limit: 2, ..helper() });
    let places: Vec<_> =
        page.files.iter().map(|file| (file.path.as_str(), file.hits[0].line, file.total)).collect();
    assert_eq!(
        (places, page.total),
        (vec![("app/service.x", 9, 2), ("app/util.x", 1, 1)], Total::Exact(6))
    );
    let around = found(
        &snapshot,
        &files,
        GrepParams { path: Some("README.md".into()), context: 3, ..helper() },
    );
    assert_eq!((around.files[0].hits[0].before.len(), around.files[0].hits[0].after.len()), (1, 0));
}

#[test]
fn grep_takes_text_as_text_and_patterns_as_patterns() {
    let (_cache, snapshot, mut files) = stored_sample();
    let count = |params: GrepParams| found(&snapshot, &files, params).total.number();
    let with = |pattern: &str| GrepParams { pattern: pattern.to_owned(), ..GrepParams::default() };
    assert_eq!(count(with("helper(")), 4);
    assert_eq!(count(GrepParams { regex: true, ..with(r"helper\((n|2)\)") }), 3);
    assert_eq!(count(with("HELPER")), 0);
    assert_eq!(count(GrepParams { ignore_case: true, ..with("HELPER") }), 6);
    assert_eq!(count(GrepParams { word: true, ..with("helper") }), 5);
    assert_eq!(count(GrepParams { language: Some("beta".into()), ..with("connect") }), 3);
    for wrong in [with(""), with("a\nb"), GrepParams { regex: true, ..with("(") }] {
        assert!(matches!(
            grep(&snapshot, &files, &wrong, &token()),
            Err(QueryError::InvalidParameter { parameter: "pattern", .. })
        ));
    }
    files.0.remove("lib/util.x");
    files.0.insert("app/util.x".to_owned(), b"helper\0helper".to_vec());
    let result = found(&snapshot, &files, with("helper"));
    assert_eq!((result.unreadable.len(), result.not_text), (1, 2));
    assert_eq!(result.unreadable[0].0.as_str(), "lib/util.x");
}
