//! Every query over the sample: what is found, in which order, how many there are, and what an
//! empty answer reports.

mod completing;
mod limits;
mod locating;
mod naming;
mod reading;
mod rows;
mod searching;
mod sources;
mod walking;

use cograph::model::cancel::CancelToken;
use cograph::model::{ProblemKind, SkipReason, SymbolKind};
use cograph::query::overview::EntryPoint;
use cograph::query::search::{Match, SearchMode};
use cograph::query::sql::{KeptRows, SqlBound, SqlValue};
use cograph::query::{
    OverviewParams, QueryError, SearchParams, SqlParams, StatusParams, SymbolInfo, Tests, Total,
    overview, search, sql, status,
};
use cograph::store::Snapshot;

use crate::sample::stored_sample;

fn token() -> CancelToken {
    CancelToken::new()
}

fn names(symbols: &[SymbolInfo]) -> Vec<String> {
    symbols.iter().map(SymbolInfo::full_name).collect()
}

fn found(snapshot: &Snapshot, params: &SearchParams) -> Vec<(String, Match)> {
    let result = search(snapshot, params, &token()).expect("a valid search");
    assert_eq!(result.total, Total::Exact(result.hits.len() as u64));
    result.hits.iter().map(|hit| (hit.symbol.full_name(), hit.matched)).collect()
}

fn words(text: &str) -> SearchParams {
    SearchParams { text: text.to_owned(), ..SearchParams::default() }
}

#[test]
fn search_ranks_by_fit_then_references() {
    let (_cache, snapshot, _) = stored_sample();
    let check = |text: &str, expected: &[(&str, Match)]| {
        let expected: Vec<_> =
            expected.iter().map(|(name, matched)| ((*name).to_owned(), *matched)).collect();
        assert_eq!(found(&snapshot, &words(text)), expected, "{text}");
    };
    check(
        "helper",
        &[("app/util.x::helper", Match::Exact), ("lib/util.x::helper_two", Match::Prefix)],
    );
    check(
        "HELPER",
        &[("app/util.x::helper", Match::IgnoringCase), ("lib/util.x::helper_two", Match::Prefix)],
    );
    check("two", &[("lib/util.x::helper_two", Match::Words)]);
    check("elper_t", &[("lib/util.x::helper_two", Match::Substring)]);
    check("two helper", &[("lib/util.x::helper_two", Match::Words)]);
    check("helper two", &[("lib/util.x::helper_two", Match::IgnoringCase)]);
    check("helpre", &[("app/util.x::helper", Match::Fuzzy)]);
    check(
        "handle",
        &[
            ("app/service.x::Service.handle", Match::Exact),
            ("tests/test_service.x::test_handle", Match::Words),
        ],
    );
    check(
        "service handle",
        &[
            ("app/service.x::Service.handle", Match::Around),
            ("tests/test_service.x::test_handle", Match::Around),
        ],
    );
    check("Service.handle", &[("app/service.x::Service.handle", Match::Exact)]);
    check("app/util.x::fetch", &[("app/util.x::fetch", Match::Exact)]);
    check(
        "fetch zebra",
        &[("app/util.x::fetch", Match::SomeWords), ("lib/util.x::fetch", Match::SomeWords)],
    );
    check("zebra", &[]);
}

#[test]
fn search_filters_and_modes() {
    let (_cache, snapshot, _) = stored_sample();
    let check = |params: SearchParams, expected: &[&str]| {
        let names: Vec<_> = found(&snapshot, &params).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, expected, "{params:?}");
    };
    let helper = ["app/util.x::helper"];
    check(SearchParams { mode: SearchMode::Name, ..words("helper") }, &helper);
    check(SearchParams { mode: SearchMode::Name, ..words("HELPER") }, &[]);
    check(SearchParams { mode: SearchMode::Regex, ..words("^help..$") }, &helper);
    check(
        SearchParams { mode: SearchMode::Substring, ..words("PER_T") },
        &["lib/util.x::helper_two"],
    );
    check(SearchParams { path: Some("app".into()), ..words("helper") }, &helper);
    check(
        SearchParams { path: Some("**/util.*".into()), ..words("helper") },
        &["app/util.x::helper", "lib/util.x::helper_two"],
    );
    check(SearchParams { exported: Some(true), ..words("helper") }, &helper);
    check(SearchParams { exported: Some(false), ..words("helper") }, &["lib/util.x::helper_two"]);
    check(
        SearchParams { kinds: vec![SymbolKind::Method], ..words("handle") },
        &["app/service.x::Service.handle"],
    );
    check(
        SearchParams { tests: Tests::Only, ..words("handle") },
        &["tests/test_service.x::test_handle"],
    );
    check(
        SearchParams { tests: Tests::Exclude, ..words("handle") },
        &["app/service.x::Service.handle"],
    );
    check(
        SearchParams { language: Some("beta".into()), ..words("c") },
        &["native/api.h::connect", "native/api.c::connect"],
    );
    let page =
        search(&snapshot, &SearchParams { offset: 1, limit: 1, ..words("helper") }, &token())
            .expect("a page");
    assert_eq!((page.total, page.hits[0].symbol.name.as_str()), (Total::Exact(2), "helper_two"));
}

#[test]
fn wrong_parameters_are_errors_that_say_what_is_right() {
    let (_cache, snapshot, _) = stored_sample();
    let reason = |params: SearchParams| {
        search(&snapshot, &params, &token()).expect_err("invalid").to_string()
    };
    assert!(reason(words("  ")).contains("`text`: it is empty"));
    assert!(
        reason(SearchParams { mode: SearchMode::Regex, ..words("(") }).contains("no valid pattern")
    );
    let unknown = reason(SearchParams { language: Some("gamma".into()), ..words("x") });
    assert!(unknown.contains("there are alpha, beta"), "{unknown}");
    assert!(reason(SearchParams { path: Some("../x".into()), ..words("x") }).contains("`path`"));
}

#[test]
fn a_withdrawn_question_ends() {
    let (_cache, snapshot, _) = stored_sample();
    let cancelled = token();
    cancelled.cancel();
    let outcome = search(&snapshot, &words("helper"), &cancelled);
    assert!(matches!(outcome, Err(QueryError::Cancelled)));
}

#[test]
fn status_counts_everything() {
    let (_cache, snapshot, _) = stored_sample();
    let result = status(&snapshot, &StatusParams::default(), &token()).expect("a status");
    assert_eq!((result.files, result.identity), (12, snapshot.identity()));
    let alpha = &result.languages[0];
    assert_eq!((alpha.name.as_str(), alpha.files, alpha.partial), ("alpha", 7, 1));
    assert_eq!((alpha.sites.resolved, alpha.sites.likely, alpha.sites.ambiguous), (11, 1, 1));
    assert_eq!((alpha.sites.external, alpha.sites.unresolved, alpha.sites.total()), (1, 1, 15));
    let beta = &result.languages[1];
    assert_eq!(
        (beta.name.as_str(), beta.files, beta.symbols, beta.sites.total()),
        ("beta", 3, 3, 1)
    );
    let skipped: Vec<_> = result
        .skipped
        .iter()
        .map(|entry| (entry.reason, entry.files, entry.examples.len()))
        .collect();
    assert_eq!(skipped, [(SkipReason::NoLanguage, 1, 1), (SkipReason::Binary, 1, 1)]);
    assert_eq!((result.problem_total, result.problem_files), (1, 1));
    let (path, problem) = &result.problems[0];
    assert_eq!(
        (path.as_str(), problem.kind, problem.first_line),
        ("app/over.x", ProblemKind::Syntax, 6)
    );
    assert!(result.store_bytes > 4_096);
}

#[test]
fn overview_shows_modules_and_how_they_hang_together() {
    let (_cache, snapshot, _) = stored_sample();
    let result = overview(&snapshot, &OverviewParams::default(), &token()).expect("an overview");
    let languages: Vec<_> =
        result.languages.iter().map(|share| (share.name.as_str(), share.files)).collect();
    assert_eq!(languages, [("alpha", 7), ("beta", 3)]);
    let modules: Vec<_> = result
        .modules
        .iter()
        .map(|module| (module.path.as_str(), module.files, module.used_by, module.uses))
        .collect();
    assert_eq!(
        modules,
        [("app", 5, 3, 1), ("lib", 1, 1, 1), ("native", 3, 0, 0), ("tests", 1, 0, 2)]
    );
    let dependencies: Vec<_> = result
        .dependencies
        .iter()
        .map(|edge| (edge.from.as_str(), edge.to.as_str(), edge.sites))
        .collect();
    assert_eq!(dependencies, [("tests", "app", 2), ("app", "lib", 1), ("lib", "app", 1)]);
    assert_eq!(result.cycles, [["app", "lib"]]);
    let EntryPoint::Main(main) = &result.entry_points[0] else { panic!("main comes first") };
    assert_eq!(main.full_name(), "app/main.x::main");
    let roots: Vec<_> = result.entry_points[1..]
        .iter()
        .map(|entry| match entry {
            EntryPoint::Root { path, uses } => (path.as_str(), *uses),
            EntryPoint::Main(symbol) => panic!("one main only, not {}", symbol.full_name()),
        })
        .collect();
    assert_eq!(roots, [("app/main.x", 1), ("native/use.c", 1)]);
    assert_eq!(
        names(&result.hot_spots)[..2],
        ["app/service.x::Service", "app/service.x::Service.handle"]
    );
}

#[test]
fn overview_of_a_directory() {
    let (_cache, snapshot, _) = stored_sample();
    let params = OverviewParams { path: "native".into(), ..OverviewParams::default() };
    let result = overview(&snapshot, &params, &token()).expect("an overview");
    assert_eq!(
        (result.module_total, result.modules[0].path.as_str(), result.modules[0].files),
        (1, "native", 3)
    );
    let params = OverviewParams { path: "nativ".into(), ..OverviewParams::default() };
    let Err(QueryError::NoSuchPath { near, .. }) = overview(&snapshot, &params, &token()) else {
        panic!("no such path")
    };
    assert!(near.iter().any(|path| path.starts_with("native/")), "{near:?}");
}

/// What is kept next to a store: nothing.
fn no_rows(_: &str) -> Result<Vec<KeptRows>, String> {
    Ok(Vec::new())
}

fn run(snapshot: &Snapshot, statement: &str) -> Result<Vec<Vec<SqlValue>>, String> {
    let params = SqlParams { statement: statement.to_owned(), ..SqlParams::default() };
    sql(snapshot, &params, &no_rows, &token())
        .map(|result| result.rows)
        .map_err(|error| error.to_string())
}

#[test]
fn sql_reads_the_documented_views() {
    let (_cache, snapshot, _) = stored_sample();
    let text = |text: &str| SqlValue::Text(text.to_owned());
    assert_eq!(
        run(
            &snapshot,
            "SELECT caller, callee, path, line, verdict FROM calls WHERE callee = 'helper' ORDER \
             BY line"
        ),
        Ok(vec![
            vec![
                text("handle"),
                text("helper"),
                text("app/service.x"),
                SqlValue::Integer(6),
                text("resolved")
            ],
            vec![
                text("run"),
                text("helper"),
                text("app/service.x"),
                SqlValue::Integer(9),
                text("likely")
            ],
        ])
    );
    for (statement, expected) in [
        ("SELECT count(*) FROM symbols WHERE kind = 'method'", 6),
        ("SELECT count(*) FROM refs", 16),
        ("SELECT count(*) FROM refs WHERE external = 'builtins.print'", 1),
        ("SELECT count(*) FROM files WHERE skipped = 'binary'", 1),
        (
            "SELECT count(*) FROM candidates JOIN symbols ON symbols.id = symbol_id WHERE name = \
             'fetch'",
            2,
        ),
        ("SELECT count(*) FROM imports WHERE target = 'native/api.h'", 1),
        ("SELECT count(*) FROM relations WHERE kind = 'overrides'", 1),
        ("SELECT first_line FROM problems", 6),
        ("SELECT sites FROM file_edges WHERE source = 'lib/util.x'", 1),
        (
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT \
             max(i) FROM n",
            50,
        ),
        ("SELECT test FROM symbols WHERE name = 'test_handle'", 1),
        ("SELECT length(doc) > 0 FROM symbols WHERE name = 'Service'", 1),
    ] {
        assert_eq!(
            run(&snapshot, statement),
            Ok(vec![vec![SqlValue::Integer(expected)]]),
            "{statement}"
        );
    }
}

#[test]
fn sql_can_neither_write_nor_look_elsewhere() {
    let (_cache, snapshot, _) = stored_sample();
    for (statement, reason) in [
        ("DELETE FROM symbol", "only SELECT"),
        ("INSERT INTO name VALUES (1, 'x')", "only SELECT"),
        ("CREATE TABLE t (a)", "only SELECT"),
        ("CREATE TEMP TABLE t AS SELECT * FROM files", "only SELECT"),
        ("ATTACH 'x.db' AS x", "only SELECT"),
        ("PRAGMA query_only = 0", "only SELECT"),
        ("VACUUM INTO 'copy.db'", ""),
        ("SELECT * FROM site", "`site` is no documented view; there are files, symbols"),
        ("SELECT * FROM sqlite_master", "no documented view"),
        ("SELECT * FROM pragma_table_info('site')", "no documented view"),
        ("SELECT load_extension('x')", ""),
        ("SELECT 1; SELECT 2", "one statement"),
        ("SELECT", "incomplete input"),
        ("SELECT no_column FROM files", "no such column"),
        ("SELECT ?1", "parameter"),
        ("", ""),
    ] {
        let error = run(&snapshot, statement).expect_err(statement);
        assert!(error.contains(reason), "{statement}: {error}");
    }
    assert_eq!(snapshot.files().expect("our own statements go on").len(), 12);
    assert_eq!(run(&snapshot, "SELECT count(*) FROM files"), Ok(vec![vec![SqlValue::Integer(12)]]));
}

#[test]
fn sql_says_which_bound_stopped_it() {
    let (_cache, snapshot, _) = stored_sample();
    let bounded = |statement: &str, max_rows: usize, milliseconds: u64| {
        let time_limit = std::time::Duration::from_millis(milliseconds);
        let params = SqlParams { statement: statement.to_owned(), max_rows, time_limit };
        sql(&snapshot, &params, &no_rows, &token()).expect("a valid statement")
    };
    let rows = bounded("SELECT path FROM files", 3, 5_000);
    assert_eq!(
        (rows.rows.len(), rows.total, rows.stopped_by),
        (3, Total::AtLeast(4), Some(SqlBound::Rows))
    );
    let all = bounded("SELECT path FROM files", 12, 5_000);
    assert_eq!((all.total, all.stopped_by), (Total::Exact(12), None));
    let endless =
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    assert_eq!(bounded(endless, 3, 30).stopped_by, Some(SqlBound::Time));
    let large = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT \
                 zeroblob(60000) FROM n";
    assert_eq!(bounded(large, 1_000, 5_000).stopped_by, Some(SqlBound::Size));
    assert_eq!(
        bounded("SELECT count(*) FROM files", 1, 5_000).stopped_by,
        None,
        "the next statement has its own time"
    );
}

#[test]
fn one_step_of_a_statement_is_bounded_so_that_the_others_are() {
    let (_cache, snapshot, _) = stored_sample();
    assert_eq!(
        run(&snapshot, "SELECT length(zeroblob(65000))"),
        Ok(vec![vec![SqlValue::Integer(65_000)]])
    );
    for statement in [
        "SELECT length(zeroblob(66000))",
        "SELECT length(replace(hex(zeroblob(30000)), '0', 'aa'))",
    ] {
        let error = run(&snapshot, statement).expect_err("a value is too long");
        assert!(error.contains("65536 bytes are the most; `substr` takes a part"), "{error}");
    }
    let pattern = |length: usize| format!("SELECT 'x' LIKE '{}'", "%".repeat(length));
    assert!(run(&snapshot, &pattern(1_000)).is_ok());
    assert!(
        run(&snapshot, &pattern(1_001)).is_err_and(|error| error.contains("pattern too complex"))
    );
    // Each step compares half of a long text with the other at every place; there are a hundred of
    // them a row, and rows without end.
    let slow = format!("max({})", vec!["instr(h, d || 'b')"; 100].join(", "));
    let statement = format!(
        "WITH RECURSIVE n(i, h, d) AS (VALUES (1, replace(hex(zeroblob(20000)), '0', 'a'), \
         replace(hex(zeroblob(10000)), '0', 'a')) \
         UNION ALL SELECT i + 1, h, d FROM n) SELECT sum({slow}) FROM n"
    );
    let params = SqlParams {
        statement,
        time_limit: std::time::Duration::from_millis(100),
        ..SqlParams::default()
    };
    let begun = std::time::Instant::now();
    let result = sql(&snapshot, &params, &no_rows, &token()).expect("it is a valid statement");
    assert_eq!(result.stopped_by, Some(SqlBound::Time));
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn what_a_statement_keeps_on_its_way_is_in_memory_and_bounded() {
    let (_cache, snapshot, _) = stored_sample();
    let endless = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)";
    for rest in [
        "SELECT length(b) FROM (SELECT randomblob(60000) AS b FROM n ORDER BY b)",
        "SELECT count(DISTINCT randomblob(60000)) FROM n",
        "SELECT count(*) FROM (SELECT DISTINCT i FROM n)",
    ] {
        let time_limit = std::time::Duration::from_secs(300);
        let params = SqlParams {
            statement: format!("{endless} {rest}"),
            time_limit,
            ..SqlParams::default()
        };
        let result = sql(&snapshot, &params, &no_rows, &token()).expect("it is a valid statement");
        assert_eq!((result.rows.len(), result.stopped_by), (0, Some(SqlBound::Memory)), "{rest}");
    }
    assert_eq!(
        run(&snapshot, "SELECT count(*) FROM files"),
        Ok(vec![vec![SqlValue::Integer(12)]]),
        "the next one has its own"
    );
}

#[test]
fn a_statement_that_runs_is_stopped_by_its_token() {
    let (cache, _, _) = stored_sample();
    let cancel = token();
    let snapshot = cache.open().snapshot(&cancel).expect("a snapshot");
    let statement =
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
            .to_owned();
    let params = SqlParams {
        statement,
        time_limit: std::time::Duration::from_secs(600),
        ..SqlParams::default()
    };
    let (begun, begins) = std::sync::mpsc::sync_channel(1);
    let outcome = std::thread::scope(|scope| {
        let (cancel, params) = (&cancel, &params);
        // The snapshot goes with the thread: a connection is used by one thread at a time.
        let running = scope.spawn(move || {
            begun.send(()).expect("somebody waits");
            sql(&snapshot, params, &no_rows, cancel).map(|_| ())
        });
        begins.recv().expect("it begins");
        cancel.cancel();
        running.join().expect("no panic")
    });
    assert!(matches!(outcome, Err(QueryError::Cancelled)), "{outcome:?}");
}
