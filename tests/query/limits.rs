//! Questions on graphs that are deep, wide or go round in circles end, and say what they did not look at.

use cograph::model::{SiteKind, Step, SymbolKind};
use cograph::query::trace::{Direction, TraceFinding};
use cograph::query::{Total, TraceParams, trace};

use super::token;
use crate::sample::{Answer, Cache, GraphBuilder, Options};

/// `size` functions, each of which calls the next, the last one the first.
fn ring(size: u32) -> Cache {
    let mut builder = GraphBuilder::default();
    let file = builder.file("ring.x", 0, "");
    let functions: Vec<_> = (0..size)
        .map(|number| {
            let line = number + 1;
            builder.symbol(file, SymbolKind::Function, &format!("f{number}"), (line, line), Options::default())
        })
        .collect();
    for (number, &function) in (0..size).zip(&functions) {
        let next = (number + 1) % size;
        let answer = Answer::To(functions[next as usize]);
        builder.site(file, Some(function), SiteKind::Call, &format!("f{next}"), (number + 1, 8), answer, Step::Lexical);
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    cache
}

#[test]
fn a_ring_is_walked_once() {
    let cache = ring(300);
    let snapshot = cache.snapshot();
    for direction in [Direction::Callers, Direction::Callees] {
        let params = TraceParams { symbol: "f0".to_owned(), direction, depth: u32::MAX, limit: 1_000, ..TraceParams::default() };
        let TraceFinding::Tree(tree) = trace(&snapshot, &params, &token()).expect("a trace").finding else { panic!("a tree") };
        assert_eq!((tree.total, tree.nodes.len()), (Total::Exact(300), 300));
        assert!(tree.nodes[299].repeated, "the root itself is not walked again");
        assert_eq!(tree.nodes[299].depth, 300);
    }
}

#[test]
fn a_long_path_is_found_and_a_missing_one_is_proven() {
    let cache = ring(300);
    let snapshot = cache.snapshot();
    let params =
        |to: &str, depth| TraceParams { symbol: "f1".to_owned(), to: Some(to.to_owned()), depth, ..TraceParams::default() };
    let TraceFinding::Path(steps) = trace(&snapshot, &params("f0", 400), &token()).expect("a trace").finding else {
        panic!("there is a path")
    };
    assert_eq!(steps.len(), 300);
    let TraceFinding::NoPath { exhausted: false, visited } =
        trace(&snapshot, &params("f0", 10), &token()).expect("a trace").finding
    else {
        panic!("too far")
    };
    assert_eq!(visited, 11);
}
