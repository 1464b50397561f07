//! Questions on graphs that are deep, wide or go round in circles end, and say what they did not
//! look at.

use cograph::model::{SiteKind, Step, SymbolKind};
use cograph::query::trace::{Direction, TraceFinding};
use cograph::query::{SearchParams, Total, TraceParams, search, trace};

use super::token;
use crate::sample::{Answer, Cache, GraphBuilder, Options};

/// `size` functions, each of which calls the next, the last one the first.
fn ring(size: u32) -> Cache {
    let mut builder = GraphBuilder::default();
    let file = builder.file("ring.x", 0, "");
    let functions: Vec<_> = (0..size)
        .map(|number| {
            let line = number + 1;
            builder.symbol(
                file,
                SymbolKind::Function,
                &format!("f{number}"),
                (line, line),
                Options::default(),
            )
        })
        .collect();
    for (number, &function) in (0..size).zip(&functions) {
        let next = (number + 1) % size;
        let answer = Answer::To(functions[next as usize]);
        builder.site(
            file,
            Some(function),
            SiteKind::Call,
            &format!("f{next}"),
            (number + 1, 8),
            answer,
            Step::Lexical,
        );
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    cache
}

/// A function that is called four times in each of 150 files, each of which has another function of
/// one name; what is written where the first caller is called is not resolved.
fn much_used() -> Cache {
    let mut builder = GraphBuilder::default();
    let target = builder.file("a_target.x", 0, "");
    let hot = builder.symbol(target, SymbolKind::Function, "hot", (1, 2), Options::default());
    for number in 0..150 {
        let file = builder.file(&format!("callers/{number:03}.x"), 0, "");
        for call in 0..4 {
            let (name, line) = (format!("caller_{number}_{call}"), call * 10 + 1);
            let caller = builder.symbol(
                file,
                SymbolKind::Function,
                &name,
                (line, line + 5),
                Options::default(),
            );
            builder.site(
                file,
                Some(caller),
                SiteKind::Call,
                "hot",
                (line + 1, 4),
                Answer::To(hot),
                Step::Import,
            );
        }
        let common =
            builder.symbol(file, SymbolKind::Function, "common", (50, 60), Options::default());
        if number < 3 {
            builder.site(
                file,
                Some(common),
                SiteKind::Call,
                "caller_0_0",
                (51, 4),
                Answer::Unknown,
                Step::Lexical,
            );
        }
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    cache
}

#[test]
fn what_is_kept_of_a_question_answers_the_next_one_alike() {
    let cache = much_used();
    let store = cache.open();
    let asked = |depth| {
        let snapshot = store.snapshot(&token()).expect("a snapshot");
        let params =
            TraceParams { symbol: "hot".to_owned(), depth, limit: 1_000, ..TraceParams::default() };
        let TraceFinding::Tree(tree) =
            trace(&snapshot, &params, &token()).expect("a trace").finding
        else {
            panic!("a tree")
        };
        tree
    };
    let first = asked(2);
    assert_eq!((first.total, first.root_counts.certain), (Total::Exact(600), 600));
    // The unresolved sites with a caller's name are counted, though not listed.
    assert_eq!((first.nodes[0].not_followed.textual, first.nodes[1].not_followed.textual), (3, 0));
    assert_eq!(asked(2), first);
    assert_eq!(asked(1).nodes.len(), 600);
}

#[test]
fn symbols_of_many_files_are_distinguished() {
    let cache = much_used();
    let store = cache.open();
    // The first question finds files by their rows, the second in the table of all.
    for has_table in [false, true] {
        let snapshot = store.snapshot(&token()).expect("a snapshot");
        if has_table {
            snapshot.path_table().expect("paths");
        }
        assert_eq!(snapshot.known_path_table().is_some(), has_table);
        let params =
            SearchParams { text: "common".to_owned(), limit: 1_000, ..SearchParams::default() };
        let result = search(&snapshot, &params, &token()).expect("an answer");
        let paths: Vec<&str> = result.hits.iter().map(|hit| hit.symbol.path.as_str()).collect();
        let expected: Vec<String> =
            (0..150).map(|number| format!("callers/{number:03}.x")).collect();
        assert_eq!(
            (paths, result.total),
            (expected.iter().map(String::as_str).collect(), Total::Exact(150))
        );
        assert!(
            result
                .hits
                .iter()
                .all(|hit| hit.symbol.container.is_empty() && hit.symbol.first_line == 50)
        );
    }
}

#[test]
fn a_ring_is_walked_once() {
    let cache = ring(300);
    let snapshot = cache.snapshot();
    for direction in [Direction::Callers, Direction::Callees] {
        let params = TraceParams {
            symbol: "f0".to_owned(),
            direction,
            depth: u32::MAX,
            limit: 1_000,
            ..TraceParams::default()
        };
        let TraceFinding::Tree(tree) =
            trace(&snapshot, &params, &token()).expect("a trace").finding
        else {
            panic!("a tree")
        };
        assert_eq!((tree.total, tree.nodes.len()), (Total::Exact(300), 300));
        assert!(tree.nodes[299].repeated, "the root itself is not walked again");
        assert_eq!(tree.nodes[299].depth, 300);
    }
}

#[test]
fn a_long_path_is_found_and_a_missing_one_is_proven() {
    let cache = ring(300);
    let snapshot = cache.snapshot();
    let params = |to: &str, depth| TraceParams {
        symbol: "f1".to_owned(),
        to: Some(to.to_owned()),
        depth,
        ..TraceParams::default()
    };
    let TraceFinding::Path(steps) =
        trace(&snapshot, &params("f0", 400), &token()).expect("a trace").finding
    else {
        panic!("there is a path")
    };
    assert_eq!(steps.len(), 300);
    let TraceFinding::NoPath { exhausted: false, visited, .. } =
        trace(&snapshot, &params("f0", 10), &token()).expect("a trace").finding
    else {
        panic!("too far")
    };
    assert_eq!(visited, 11);
}
