//! `trace`, `references` and `explore`: who leads where, how surely, and by which sites.

use cograph::model::{RelationKind, SiteKind, Step, SymbolKind};
use cograph::query::trace::{Direction, TraceEnd, TraceFinding, TraceLink, TraceTree};
use cograph::query::{
    Certainty, Counts, ExploreParams, ReferencesParams, Tests, Total, TraceParams, explore,
    references, trace,
};
use cograph::store::Snapshot;

use super::token;
use crate::sample::{Answer, Cache, GraphBuilder, Options, stored_sample};

fn params(symbol: &str, direction: Direction) -> TraceParams {
    TraceParams { symbol: symbol.to_owned(), direction, ..TraceParams::default() }
}

fn tree(snapshot: &Snapshot, params: &TraceParams) -> TraceTree {
    match trace(snapshot, params, &token()).expect("a trace").finding {
        TraceFinding::Tree(tree) => tree,
        other => panic!("no tree but {other:?}"),
    }
}

/// One line a node: indented by depth, how it hangs there, how surely, and where.
fn drawn(tree: &TraceTree) -> Vec<String> {
    let line = |node: &cograph::query::trace::TraceNode| {
        let end = match &node.end {
            TraceEnd::Symbol(symbol) => symbol.full_name(),
            TraceEnd::File(path) => path.to_string(),
            TraceEnd::External(name) => format!("external {name}"),
        };
        let sites: Vec<_> =
            node.sites.iter().map(|site| format!("{}:{}", site.path, site.at.line)).collect();
        let through = node
            .through
            .as_ref()
            .map(|through| format!(" through {}", through.full_name()))
            .unwrap_or_default();
        let repeated = if node.repeated { " (repeated)" } else { "" };
        let indent = "  ".repeat(node.depth as usize - 1);
        assert_eq!(node.link == TraceLink::Dispatch, node.through.is_some());
        format!("{indent}{end} {} {}{through}{repeated}", node.certainty.word(), sites.join(" "))
    };
    tree.nodes.iter().map(line).collect()
}

#[test]
fn callers_come_with_every_site() {
    let (_cache, snapshot, _) = stored_sample();
    let tree = tree(&snapshot, &params("Service.handle", Direction::Callers));
    assert_eq!(
        drawn(&tree),
        [
            "app/main.x::main certain app/main.x:4",
            "tests/test_service.x::test_handle certain tests/test_service.x:2",
        ]
    );
    assert_eq!(
        (tree.total, tree.root_counts),
        (Total::Exact(2), Counts { certain: 2, ..Counts::default() })
    );
}

#[test]
fn a_callee_comes_with_every_site() {
    let mut builder = GraphBuilder::default();
    let file = builder.file("only.x", 0, "");
    let mut function = |name: &str, lines| {
        builder.symbol(file, SymbolKind::Function, name, lines, Options::default())
    };
    let (once, most) = (function("once", (1, 1)), function("most", (2, 6)));
    for line in [3, 4, 5] {
        let to = Answer::To(once);
        builder.site(file, Some(most), SiteKind::Call, "once", (line, 2), to, Step::Lexical);
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    let callees = tree(&cache.snapshot(), &params("most", Direction::Callees));
    assert_eq!(drawn(&callees), ["only.x::once certain only.x:3 only.x:4 only.x:5"]);
}

#[test]
fn callers_are_three_valued() {
    let (_cache, snapshot, _) = stored_sample();
    let helper = params("app/util.x::helper", Direction::Callers);
    let by_default = tree(&snapshot, &helper);
    assert_eq!(
        drawn(&by_default),
        [
            "app/service.x::Service.handle certain app/service.x:6",
            "app/service.x::Service.run likely app/service.x:9",
        ]
    );
    assert_eq!(by_default.root_counts, Counts { certain: 1, likely: 1, possible: 0, textual: 1 });
    let (site, enclosing) = &by_default.not_followed[0];
    assert_eq!((site.path.as_str(), site.at.line), ("lib/util.x", 4));
    assert_eq!(
        enclosing.as_ref().map(|symbol| symbol.full_name()),
        Some("lib/util.x::helper_two".to_owned())
    );
    let strict = tree(&snapshot, &TraceParams { follow: Certainty::Certain, ..helper.clone() });
    assert_eq!(
        (strict.nodes.len(), strict.not_followed.len(), strict.root_counts),
        (1, 2, by_default.root_counts)
    );
    let loose = tree(&snapshot, &TraceParams { follow: Certainty::Textual, ..helper });
    assert_eq!(drawn(&loose)[2], "lib/util.x::helper_two textual lib/util.x:4");
    assert_eq!(loose.root_counts, by_default.root_counts);
}

#[test]
fn an_ambiguous_site_is_possible_for_each_candidate() {
    let (_cache, snapshot, _) = stored_sample();
    for (name, certain) in [
        ("app/util.x::fetch", "lib/util.x::helper_two"),
        ("lib/util.x::fetch", "app/util.x::fetch"),
    ] {
        let tree = tree(&snapshot, &params(name, Direction::Callers));
        assert_eq!(
            tree.root_counts,
            Counts { certain: 1, possible: 1, ..Counts::default() },
            "{name}"
        );
        assert!(drawn(&tree)[0].starts_with(certain), "{name}");
        assert_eq!(tree.not_followed[0].1.as_ref().map(|symbol| symbol.name.as_str()), Some("get"));
    }
    let callees = params("Service.get", Direction::Callees);
    assert_eq!(tree(&snapshot, &callees).root_counts.possible, 1);
    let followed = tree(&snapshot, &TraceParams { follow: Certainty::Possible, ..callees });
    assert_eq!(
        drawn(&followed),
        [
            "app/util.x::fetch possible app/service.x:11",
            "lib/util.x::fetch possible app/service.x:11",
        ]
    );
    assert_eq!(followed.root_counts.possible, 1, "one site, however many candidates");
}

#[test]
fn dispatch_is_walked_and_marked() {
    let (_cache, snapshot, _) = stored_sample();
    let callees = TraceParams { depth: 2, ..params("Service.handle", Direction::Callees) };
    assert_eq!(
        drawn(&tree(&snapshot, &callees)),
        [
            "app/base.x::Base.run certain app/service.x:5",
            "app/util.x::helper certain app/service.x:6",
            "app/service.x::Service.run certain app/service.x:5 through app/base.x::Base.run",
            "  app/util.x::helper likely app/service.x:9 (repeated)",
        ]
    );
    let without = tree(&snapshot, &TraceParams { dispatch: false, ..callees });
    assert_eq!(without.nodes.len(), 2);
    let callers = tree(&snapshot, &params("Service.run", Direction::Callers));
    assert_eq!(
        drawn(&callers),
        ["app/service.x::Service.handle certain app/service.x:5 through app/base.x::Base.run"]
    );
    assert_eq!(callers.root_counts.certain, 0, "no site names it itself");
}

#[test]
fn calls_that_leave_and_callers_outside_symbols_are_shown() {
    let (_cache, snapshot, _) = stored_sample();
    let callees = tree(&snapshot, &params("main", Direction::Callees));
    assert_eq!(
        drawn(&callees),
        [
            "app/service.x::Service certain app/main.x:4",
            "app/service.x::Service.handle certain app/main.x:4",
            "external builtins.print certain app/main.x:5",
        ]
    );
    assert_eq!(
        drawn(&tree(&snapshot, &params("main", Direction::Callers))),
        ["app/main.x certain app/main.x:7"]
    );
}

#[test]
fn depth_kinds_tests_and_limit_have_their_effect() {
    let (_cache, snapshot, _) = stored_sample();
    let deep = TraceParams { depth: 3, ..params("app/util.x::helper", Direction::Callers) };
    assert_eq!(
        drawn(&tree(&snapshot, &deep)),
        [
            "app/service.x::Service.handle certain app/service.x:6",
            "app/service.x::Service.run likely app/service.x:9",
            "  app/main.x::main certain app/main.x:4",
            "  tests/test_service.x::test_handle certain tests/test_service.x:2",
            "  app/service.x::Service.handle certain app/service.x:5 through app/base.x::Base.run \
             (repeated)",
            "    app/main.x certain app/main.x:7",
        ]
    );
    let production = TraceParams { tests: Tests::Exclude, ..deep.clone() };
    let without_tests: Vec<_> =
        drawn(&tree(&snapshot, &deep)).into_iter().filter(|line| !line.contains("test_")).collect();
    assert_eq!((drawn(&tree(&snapshot, &production)), without_tests.len()), (without_tests, 5));
    let cut = tree(&snapshot, &TraceParams { limit: 2, ..deep.clone() });
    assert_eq!((cut.nodes.len(), cut.total), (2, Total::Exact(6)));
    let reads = TraceParams { kinds: vec![SiteKind::Read], ..deep };
    assert_eq!(tree(&snapshot, &reads).total, Total::Exact(0));
    let inherits =
        TraceParams { kinds: vec![SiteKind::Inherit], ..params("Base", Direction::Callers) };
    assert_eq!(drawn(&tree(&snapshot, &inherits)), ["app/service.x certain app/service.x:1"]);
    assert_eq!(
        tree(&snapshot, &params("Base", Direction::Callers)).total,
        Total::Exact(0),
        "to inherit is no call"
    );
}

#[test]
fn a_path_is_a_shortest_chain() {
    let (_cache, snapshot, _) = stored_sample();
    let path = |from: &str, to: &str, depth: u32| {
        let params =
            TraceParams { to: Some(to.to_owned()), depth, ..params(from, Direction::Callees) };
        trace(&snapshot, &params, &token()).expect("a trace").finding
    };
    let TraceFinding::Path(steps) = path("main", "app/util.x::helper", 9) else {
        panic!("there is a path")
    };
    let chain: Vec<_> = steps
        .iter()
        .map(|step| (step.symbol.name.as_str(), step.sites.first().map_or(0, |site| site.at.line)))
        .collect();
    assert_eq!(chain, [("main", 0), ("handle", 4), ("helper", 6)]);
    let TraceFinding::Path(steps) = path("main", "Service.run", 9) else {
        panic!("there is a path")
    };
    assert_eq!(steps.last().map(|step| step.link), Some(Some(TraceLink::Dispatch)));
    let TraceFinding::Path(steps) = path("go", "native/api.c::connect", 9) else {
        panic!("a declaration leads on")
    };
    assert_eq!(steps.len(), 2);
    let TraceFinding::NoPath { exhausted, .. } = path("main", "app/util.x::helper", 1) else {
        panic!("too far")
    };
    assert!(!exhausted);
    let TraceFinding::NoPath { exhausted, visited, .. } = path("main", "go", 9) else {
        panic!("no way")
    };
    assert!(exhausted && visited >= 5, "{visited}");
}

#[test]
fn references_are_grouped_counted_and_filtered() {
    let (_cache, snapshot, _) = stored_sample();
    let params = |symbol: &str| ReferencesParams {
        symbol: symbol.to_owned(),
        ..ReferencesParams::default()
    };
    let ask =
        |params: &ReferencesParams| references(&snapshot, params, &token()).expect("references");
    let service = ask(&params("Service"));
    assert_eq!(service.by_kind, [(SiteKind::Construct, 2)]);
    let files: Vec<_> =
        service.files.iter().map(|file| (file.path.as_str(), file.references.len())).collect();
    assert_eq!(
        (files, service.file_count),
        (vec![("app/main.x", 1), ("tests/test_service.x", 1)], 2)
    );
    let related: Vec<_> = service
        .related
        .iter()
        .map(|other| (other.kind, other.incoming, other.symbol.name.as_str()))
        .collect();
    assert_eq!(related, [(RelationKind::Inherits, false, "Base")]);

    let run = ask(&params("Base.run"));
    let related: Vec<_> = run
        .related
        .iter()
        .map(|other| (other.kind, other.incoming, other.symbol.full_name()))
        .collect();
    assert_eq!(related, [(RelationKind::Overrides, true, "app/service.x::Service.run".to_owned())]);

    let helper = ask(&params("app/util.x::helper"));
    assert_eq!(helper.counts, Counts { certain: 1, likely: 1, possible: 0, textual: 1 });
    assert_eq!(helper.reasons, [(Certainty::Textual, Step::ReceiverUnknown, 1)]);
    assert_eq!(
        ask(&params("lib/util.x::fetch")).reasons,
        [(Certainty::Possible, Step::Overloads, 1)]
    );
    let listed: Vec<_> = helper
        .files
        .iter()
        .flat_map(|file| &file.references)
        .map(|found| (found.certainty, found.site.at.line))
        .collect();
    // Few vague ones are listed without being asked for.
    let expected = [(Certainty::Certain, 6), (Certainty::Likely, 9), (Certainty::Textual, 4)];
    assert_eq!(listed, expected);
    let all =
        ask(&ReferencesParams { list: Some(Certainty::Textual), ..params("app/util.x::helper") });
    let last = all.files.last().expect("three files");
    assert_eq!(
        (last.path.as_str(), last.references[0].certainty),
        ("lib/util.x", Certainty::Textual)
    );
    assert_eq!(
        last.references[0].enclosing.as_ref().map(|symbol| symbol.name.as_str()),
        Some("helper_two")
    );

    let connect = ask(&params("connect"));
    assert_eq!(connect.counts.certain, 1, "sites of the declaration are its own");
    assert_eq!(connect.declarations[0].full_name(), "native/api.h::connect");

    let none = ask(&ReferencesParams { kinds: vec![SiteKind::Write], ..params("Service") });
    assert_eq!(none.counts, Counts::default());
    let made = ask(&ReferencesParams { kinds: vec![SiteKind::Construct], ..params("Service") });
    assert_eq!((made.counts.certain, made.by_kind), (2, vec![(SiteKind::Construct, 2)]));
    let below = ask(&ReferencesParams { path: Some("tests".into()), ..params("Service") });
    assert_eq!((below.counts.certain, below.files[0].path.as_str()), (1, "tests/test_service.x"));
    let production = ask(&ReferencesParams { tests: Tests::Exclude, ..params("Service") });
    assert_eq!(production.counts.certain, 1);
    let page = ask(&ReferencesParams { offset: 1, limit: 1, ..params("Service") });
    assert_eq!(
        (page.counts.certain, page.files.len(), page.files[0].path.as_str()),
        (2, 1, "tests/test_service.x")
    );
}

#[test]
fn explore_finds_what_matters_and_how_it_hangs_together() {
    let (_cache, snapshot, files) = stored_sample();
    let ask = |text: &str, limit: usize| {
        let params = ExploreParams { text: text.to_owned(), limit, ..ExploreParams::default() };
        explore(&snapshot, &files, &params, &token()).expect("an exploration")
    };
    let result = ask("Service.handle helper", 2);
    let symbols: Vec<_> =
        result.symbols.iter().map(|explored| explored.symbol.full_name()).collect();
    assert_eq!(symbols, ["app/service.x::Service.handle", "app/util.x::helper"]);
    let handle = &result.symbols[0];
    assert_eq!((handle.caller_total, handle.callee_total), (2, 3));
    let source = &handle.source.as_ref().expect("a file").excerpt;
    assert_eq!(
        (source.first_line, source.lines[0].as_str(), source.lines.len()),
        (4, "  def handle(n) {", 4)
    );
    let chain: Vec<_> = result.connections[0]
        .chain
        .iter()
        .map(|(symbol, line)| (symbol.name.as_str(), *line))
        .collect();
    assert_eq!(chain, [("handle", 6), ("helper", 0)]);
    let tests: Vec<_> = result
        .tests
        .iter()
        .map(|test| (test.symbol.name.as_str(), test.covers.as_slice(), test.distance))
        .collect();
    assert_eq!(tests, [("test_handle", [0, 1].as_slice(), 1)]);

    let nothing = ask("whales dive", 3);
    assert!(nothing.symbols.is_empty() && nothing.others.is_empty(), "{nothing:?}");
    let by_name_and_doc = ask("the service for customers", 3);
    assert_eq!(by_name_and_doc.symbols[0].symbol.full_name(), "app/service.x::Service");
    assert!(
        explore(&snapshot, &files, &ExploreParams::default(), &token()).is_err(),
        "nothing to look for"
    );
}
