//! Imported coverage: which test executed what, as long as the bodies are the same. The databases
//! have the schema of their programs; the texts are what the other tools write.

use std::fs;

use rusqlite::Connection;

use super::repository::GitRepository;
use super::{CART, shop};

/// Schema of coverage.py 7.
const COVERAGE: &str = "
    CREATE TABLE coverage_schema (version integer);
    CREATE TABLE meta (key text, value text, unique (key));
    CREATE TABLE file (id integer primary key, path text, unique (path));
    CREATE TABLE context (id integer primary key, context text, unique (context));
    CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob,
        foreign key (file_id) references file (id), unique (file_id, context_id));
    CREATE TABLE arc (file_id integer, context_id integer, fromno integer, tono integer,
        unique (file_id, context_id, fromno, tono));
    CREATE TABLE tracer (file_id integer primary key, tracer text);
    INSERT INTO coverage_schema VALUES (7);
    INSERT INTO context VALUES (1, '');";

/// Schema of pytest-testmon 2.
const TESTMON: &str = "
    PRAGMA user_version = 14;
    CREATE TABLE metadata (dataid TEXT PRIMARY KEY, data TEXT);
    CREATE TABLE environment (id INTEGER PRIMARY KEY ASC, environment_name TEXT,
        system_packages TEXT, python_version TEXT);
    CREATE TABLE test_execution (id INTEGER PRIMARY KEY ASC, environment_id INTEGER,
        test_name TEXT, duration FLOAT, failed BIT, forced BIT);
    CREATE TABLE file_fp (id INTEGER PRIMARY KEY, filename TEXT, method_checksums BLOB,
        mtime FLOAT, fsha TEXT);
    CREATE TABLE test_execution_file_fp (test_execution_id INTEGER, fingerprint_id INTEGER);";

/// Number of the line with a text.
fn line(text: &str, part: &str) -> u32 {
    let at = text.lines().position(|line| line.contains(part));
    u32::try_from(at.expect("it has the line") + 1).expect("few lines")
}

fn numbits(lines: &[u32]) -> Vec<u8> {
    let mut bits = vec![0_u8; lines.iter().max().map_or(0, |most| *most as usize / 8 + 1)];
    for line in lines {
        bits[*line as usize / 8] |= 1 << (line % 8);
    }
    bits
}

/// A data file of coverage.py; returns its path.
fn measured(repository: &GitRepository, name: &str, runs: &[(&str, &str, &[u32])]) -> String {
    let path = repository.sibling(name);
    let _ = fs::remove_file(&path);
    let database = Connection::open(&path).expect("created");
    database.execute_batch(COVERAGE).expect("the schema");
    for (context, file, lines) in runs {
        let file = match file.starts_with('/') {
            true => (*file).to_owned(),
            false => repository.root().join(file).to_str().expect("UTF-8").to_owned(),
        };
        database.execute("INSERT OR IGNORE INTO file (path) VALUES (?)", [&file]).expect("a file");
        database
            .execute("INSERT OR IGNORE INTO context (context) VALUES (?)", [context])
            .expect("a context");
        database
            .execute(
                "INSERT INTO line_bits SELECT f.id, c.id, ?3 FROM file f, context c
                 WHERE f.path = ?1 AND c.context = ?2",
                (&file, context, numbits(lines)),
            )
            .expect("lines");
    }
    path.to_str().expect("UTF-8").to_owned()
}

const TOTAL: &str = "tests/test_cart.py::test_total|run";

/// The shop, in which two tests executed `Cart.total`, and one of them `add`.
fn measured_shop() -> GitRepository {
    let repository = shop();
    let (total, add) = (line(CART, "return add("), line(CART, "return a + b"));
    let def = line(CART, "def removed");
    let file = measured(
        &repository,
        "data",
        &[
            ("", "shop/cart.py", &[1, 2, 5, 9, 13, def]),
            (TOTAL, "shop/cart.py", &[total, def]),
            ("tests/test_cart.py::test_run[1|2]|setup", "shop/cart.py", &[total, add]),
        ],
    );
    let (code, text) = repository.ask(&["coverage", "add", &file]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.starts_with("2 tests executed 2 functions in 1 files: 3 pairs\n")
            && text.contains("coverage.py data\n")
            && text.contains("1 executed lines are in no function"),
        "{text}"
    );
    repository
}

/// Function and test of each row of the view.
fn covers(repository: &GitRepository) -> Vec<String> {
    let statement = "SELECT s.name || ' ' || c.test FROM covers c JOIN symbols s ON s.id = \
        c.symbol_id JOIN symbols t ON t.id = c.test_symbol_id AND t.name = c.test ORDER BY 1";
    let answer = repository.json(&["sql", statement]);
    let rows = answer["rows"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    rows.map(|row| row[0].as_str().expect("a text").to_owned()).collect()
}

/// Names of the tests of a class.
fn executed(repository: &GitRepository, arguments: &[&str]) -> Vec<String> {
    let tests = repository.tests(arguments);
    let mut tests: Vec<String> =
        tests.iter().filter_map(|test| test.strip_suffix(" executed")).map(str::to_owned).collect();
    tests.sort();
    tests
}

const BOTH: [&str; 3] = ["add test_run", "total test_run", "total test_total"];

#[test]
fn pairs_survive_a_new_index_lines_that_move_and_renames() {
    let repository = measured_shop();
    assert_eq!(covers(&repository), BOTH);
    repository.ask(&["index", "--force"]);
    assert_eq!(covers(&repository), BOTH);
    repository.write("shop/cart.py", &format!("import os\n\n\n{CART}"));
    assert_eq!(covers(&repository), BOTH);
    repository.write("shop/cart.py", CART);
    repository.git(&["mv", "shop/cart.py", "shop/basket.py"]);
    assert_eq!(covers(&repository), BOTH);
    repository.write("lib/cart.py", &format!("\n{CART}"));
    repository.git(&["rm", "-q", "-f", "shop/basket.py"]);
    assert_eq!(covers(&repository), BOTH);
    let (_, text) = repository.ask(&["coverage", "status"]);
    assert!(
        text.contains("2 tests, 2 functions in 1 files, 3 pairs; of present bodies: 2 "),
        "{text}"
    );
    assert_eq!(repository.ask(&["coverage", "remove"]).0, Some(0));
    assert_eq!(covers(&repository), [""; 0]);
    assert_eq!(repository.ask(&["coverage", "status"]).0, Some(1));
}

#[test]
fn a_pair_expires_with_the_body_and_returns_with_it() {
    let repository = measured_shop();
    let other = CART.replace("add(sum(items), tax)", "add(tax, sum(items))");
    repository.write("shop/cart.py", &other);
    assert_eq!(covers(&repository), ["add test_run"]);
    assert_eq!(executed(&repository, &["impact", "Cart.total"]), [""; 0]);
    repository.write("shop/cart.py", CART);
    assert_eq!(covers(&repository), BOTH);
    assert_eq!(executed(&repository, &["impact", "Cart.total"]), ["test_run", "test_total"]);
}

#[test]
fn a_change_finds_the_tests_of_the_body_before_it() {
    let repository = measured_shop();
    let other = CART.replace("add(sum(items), tax)", "add(tax, sum(items))");
    repository.write("shop/cart.py", &other);
    assert_eq!(executed(&repository, &["impact"]), ["test_run", "test_total"]);
    let answer = repository.json(&["impact"]);
    assert_eq!(answer["tests"][0]["class"], "executed", "{answer}");
    assert_eq!(answer["totals"]["tests"]["executed"], 2, "{answer}");
    let line = answer["commands"][0]["line"].as_str().expect("a line");
    assert!(line.contains("test_total"), "{line}");
    let (_, text) = repository.ask(&["impact"]);
    assert!(text.contains("2 executed"), "{text}");
    let (_, text) = repository.ask(&["impact", "--format", "markdown"]);
    assert!(text.contains("executed"), "{text}");
    repository.commit("changed");
    let more = other.replace("add(tax, sum(items))", "add(tax, sum(items)) + 0");
    repository.write("shop/cart.py", &more);
    assert_eq!(executed(&repository, &["impact"]), [""; 0]);
    let answer = repository.json(&["impact"]);
    let unknown = answer["unknown"].as_array().expect("a list");
    assert!(
        unknown
            .iter()
            .any(|one| one == "no recorded run executed it with its body before the change")
    );
}

#[test]
fn importing_again_adds_and_a_new_body_replaces() {
    let repository = measured_shop();
    let add = line(CART, "return a + b");
    let file =
        measured(&repository, "more", &[("tests.test_cart.test_add", "shop/cart.py", &[add])]);
    repository.ask(&["coverage", "add", &file]);
    assert_eq!(covers(&repository)[..2], ["add test_add", "add test_run"]);
    let other = CART.replace("return a + b", "return b + a");
    repository.write("shop/cart.py", &other);
    let (_, text) = repository.ask(&["coverage", "add", &file]);
    assert!(text.contains("1 earlier bodies replaced"), "{text}");
    assert_eq!(covers(&repository)[0], "add test_add");
    repository.write("shop/cart.py", CART);
    assert_eq!(covers(&repository), BOTH[1..]);
}

#[test]
fn every_test_case_is_in_the_view_and_so_is_a_test_without_a_symbol() {
    let repository = measured_shop();
    let total = line(CART, "return add(");
    let file = measured(
        &repository,
        "more",
        &[
            ("tests/test_cart.py::test_lost|run", "shop/cart.py", &[total]),
            (TOTAL, "/usr/lib/other.py", &[1]),
            (TOTAL, "shop/cart.py", &[999]),
        ],
    );
    let (_, text) = repository.ask(&["coverage", "add", &file]);
    for part in [
        "1 tests have no symbol: tests/test_cart.py::test_lost",
        "1 recorded files are not indexed: /usr/lib/other.py",
        "1 executed lines are behind the ends of their files",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let answer = repository.json(&["sql", "SELECT name, path, functions FROM tests ORDER BY name"]);
    assert_eq!(
        answer["rows"],
        serde_json::json!([
            ["test_add", "tests/test_cart.py", null],
            ["test_run", "tests/test_cart.py", 2],
            ["test_total", "tests/test_cart.py", 1],
            ["tests/test_cart.py::test_lost", null, 1],
        ])
    );
    let statement =
        "SELECT count(*), count(t.symbol_id) FROM covers c JOIN tests t ON t.id = c.test_id";
    assert_eq!(repository.json(&["sql", statement])["rows"][0], serde_json::json!([4, 3]));
    let (code, text) = repository.ask(&["sql", "SELECT * FROM kept_cover"]);
    assert!(code == Some(3) && text.contains("no such table: kept_cover"), "{text}");
    let statement = "SELECT c.test, k.tests FROM covers c, kept_cover k";
    let (code, text) = repository.ask(&["sql", statement]);
    assert!(code == Some(3) && text.contains("no documented view"), "{text}");
}

#[test]
fn a_nested_function_has_its_own_lines() {
    let repository = shop();
    let text = "def outer(f):\n    def inner(x):\n        return f(x)\n    return inner\n\n\n\
                def one(): return 1\n";
    repository.write("shop/deep.py", text);
    let test = "tests/test_cart.py::test_add|run";
    let file = measured(
        &repository,
        "data",
        &[(test, "shop/deep.py", &[3, 7]), (TOTAL, "shop/deep.py", &[2, 4])],
    );
    repository.ask(&["coverage", "add", &file]);
    assert_eq!(covers(&repository), ["inner test_add", "one test_add", "outer test_total"]);
    repository.commit("two");
    repository.write("shop/deep.py", &text.replace("f(x)", "f(x, x)"));
    assert_eq!(executed(&repository, &["impact"]), ["test_add", "test_total"]);
}

/// What an import of a file says.
fn import(
    repository: &GitRepository,
    name: &str,
    text: &str,
    more: &[&str],
) -> (Option<i32>, String) {
    let path = repository.sibling(name);
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("UTF-8");
    repository.ask(&[&["coverage", "add", path], more].concat())
}

#[test]
fn other_formats_are_recognized_by_their_contents() {
    let total = line(CART, "return add(");
    let root = |repository: &GitRepository| repository.root().display().to_string();
    let lcov = format!(
        "TN:test_add\nSF:shop/cart.py\nFN:2,total\nDA:{total},1\nDA:1,0\nend_of_record\n\
         TN:test_run\nSF:shop/cart.py\nDA:{total},2,abc\nend_of_record\n"
    );
    let profile = format!("mode: set\nexample.com/shop/cart.py:{total}.5,{total}.30 1 3\n");
    let export = format!(
        r#"{{"type": "llvm.coverage.json.export", "version": "2.0.1", "data": [{{"totals": {{}},
        "files": [{{"filename": "/ci/shop/cart.py", "summary": {{}},
        "segments": [[{total}, 1, 4, true, true, false], [{next}, 1, 0, true, false]]}}]}}]}}"#,
        next = total + 1
    );
    let statements = |root: &str| {
        format!(
            r#"{{"{root}/shop/cart.py": {{"path": "{root}/shop/cart.py", "fnMap": {{}},
            "statementMap": {{"0": {{"start": {{"line": {total}, "column": 4}},
            "end": {{"line": {total}, "column": 9}}}}}}, "s": {{"0": 1}}, "b": {{}}}}}}"#
        )
    };
    let report = format!(
        r#"{{"meta": {{"version": "7"}}, "totals": {{}}, "files": {{"shop/cart.py":
        {{"contexts": {{"1": [""], "{total}": ["tests/test_cart.py::test_add|run"]}}}}}}}}"#
    );
    let repository = shop();
    let root = root(&repository);
    for (name, text, words) in [
        ("lcov.info", lcov, "lcov tracefile"),
        ("test_add.out", profile, "cover profile"),
        ("test_add.json", export, "llvm-cov export"),
        ("test_add.x", statements(&root), "istanbul coverage"),
        ("report.json", report, "coverage.py report"),
    ] {
        repository.ask(&["coverage", "remove"]);
        let (code, answer) = import(&repository, name, &text, &[]);
        assert_eq!(code, Some(0), "{name}: {answer}");
        assert!(answer.contains(words), "{name}: {answer}");
        assert!(covers(&repository).contains(&"total test_add".to_owned()), "{name}: {answer}");
    }
    let file = repository.sibling("arcs");
    let database = Connection::open(&file).expect("created");
    database.execute_batch(COVERAGE).expect("the schema");
    database
        .execute_batch(&format!(
            "INSERT INTO file VALUES (1, '{root}/shop/cart.py');
             INSERT INTO context VALUES (2, 'tests/test_cart.py::test_run|run');
             INSERT INTO arc VALUES (1, 2, -2, {total}), (1, 2, {total}, -2);"
        ))
        .expect("arcs");
    repository.ask(&["coverage", "remove"]);
    let (code, answer) = repository.ask(&["coverage", "add", file.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(0), "{answer}");
    assert_eq!(covers(&repository), ["total test_run"]);
}

#[test]
fn testmon_knows_files_only() {
    let repository = shop();
    let file = repository.sibling(".testmondata");
    let database = Connection::open(&file).expect("created");
    database.execute_batch(TESTMON).expect("the schema");
    database
        .execute_batch(
            "INSERT INTO test_execution VALUES (1, 1, 'tests/test_cart.py::test_add', .1, 0, 0);
             INSERT INTO file_fp VALUES (1, 'shop/cart.py', x'00', 1, 'ab');
             INSERT INTO test_execution_file_fp VALUES (1, 1);",
        )
        .expect("rows");
    let (code, text) = repository.ask(&["coverage", "add", file.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("testmon data"), "{text}");
    assert_eq!(covers(&repository), [""; 0]);
    repository.write("shop/cart.py", &CART.replace("return x", "return -x"));
    assert_eq!(executed(&repository, &["impact"]), ["test_add"]);
    repository.commit("two");
    repository.write("shop/cart.py", CART);
    assert_eq!(executed(&repository, &["impact"]), [""; 0]);
}

#[test]
fn what_says_nothing_about_tests_is_refused_and_nothing_is_lost() {
    let repository = measured_shop();
    let database = |name: &str, schema: &str| {
        let file = repository.sibling(name);
        let database = Connection::open(&file).expect("created");
        database.execute_batch(schema).expect("the schema");
        fs::read(&file).expect("read")
    };
    let whole = format!(
        "{COVERAGE} INSERT INTO file VALUES (1, 'shop/cart.py');
        INSERT INTO line_bits VALUES (1, 1, x'ff');"
    );
    let computed = COVERAGE.replace(
        "CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob,
        foreign key (file_id) references file (id), unique (file_id, context_id));",
        "CREATE VIEW line_bits AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT 1 AS file_id, 2 AS context_id, x'ff' AS numbits FROM n;",
    ) + " INSERT INTO context VALUES (2, 'a::b');";
    assert!(computed.contains("CREATE VIEW"));
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("whole.db", database("w", &whole), "--cov-context=test"),
        (
            "empty.db",
            database("e", &format!("{COVERAGE} INSERT INTO context VALUES (2, 'a::b');")),
            "no data",
        ),
        ("computed.db", database("c", &computed), "no data"),
        ("other.db", database("o", "CREATE TABLE file (a);"), "another program"),
        ("testmon.db", database("t", TESTMON), "no test"),
        ("cut.db", database("w2", &whole)[..5_000].to_vec(), "cannot be read"),
        ("nothing", Vec::new(), "empty"),
        ("text", b"hello\n".to_vec(), "no format that is read"),
        ("binary", vec![0xff, 0xfe, 0, 1], "wanted is"),
        ("broken.json", b"{\"data\": [".to_vec(), "no JSON"),
        ("deep.json", b"{\"a\":".repeat(100_000), "no JSON"),
        ("other.json", b"{\"a\": 1}".to_vec(), "another kind"),
        (
            "coverage-final.json",
            b"{\"a\": {\"path\": \"a\", \"statementMap\": {}, \"s\": {}}}".to_vec(),
            "--test NAME",
        ),
        ("lcov.info", b"TN:\nSF:shop/cart.py\nDA:3,1\nend_of_record\n".to_vec(), "--test NAME"),
        ("cut.info", b"TN:test_add\nSF:shop/cart.py\nDA:3,1\n".to_vec(), "inside of a record"),
        (
            "odd.info",
            b"TN:test_add\nSF:shop/cart.py\nDA:x\nend_of_record\n".to_vec(),
            "no line and count",
        ),
        ("cover.out", b"mode: set\nshop/cart.py:3.1,3.9 1 1\n".to_vec(), "--test NAME"),
        ("odd.out", b"mode: set\nshop/cart.py:3\n".to_vec(), "no block"),
        (
            "huge.info",
            b"TN:test_add\nSF:shop/cart.py\nDA:99999999999,1\nend_of_record\n".to_vec(),
            "no test executed",
        ),
        (
            "far.info",
            b"TN:test_add\nSF:other.py\nDA:3,1\nend_of_record\n".to_vec(),
            "not indexed: other.py",
        ),
    ];
    for (name, content, wanted) in cases {
        let path = repository.sibling(name);
        fs::write(&path, content).expect("written");
        let (code, text) = repository.ask(&["coverage", "add", path.to_str().expect("UTF-8")]);
        assert_eq!(code, Some(2), "{name}: {text}");
        assert!(text.starts_with("error: ") && text.contains(wanted), "{name}: {text}");
    }
    let good = repository.sibling("data");
    let bad = repository.sibling("text");
    let files = [good.to_str().expect("UTF-8"), bad.to_str().expect("UTF-8")];
    assert_eq!(repository.ask(&["coverage", "add", files[0], files[1]]).0, Some(2));
    assert_eq!(repository.ask(&["coverage", "add", "/dev/zero"]).0, Some(2));
    assert_eq!(repository.ask(&["coverage", "add", "nowhere"]).0, Some(2));
    assert_eq!(covers(&repository), BOTH);
    let given = "mode: set\nshop/cart.py:3.1,3.9 1 1\n";
    let (code, text) = import(&repository, "cover.out", given, &["--test", "test_add"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(covers(&repository).contains(&"total test_add".to_owned()));
}

#[test]
fn records_of_another_program_are_none() {
    let repository = measured_shop();
    let cache = repository.sibling("cache");
    let directory = fs::read_dir(cache).expect("the cache").filter_map(Result::ok);
    let file = directory.map(|entry| entry.path().join("coverage")).find(|file| file.is_file());
    let file = file.expect("it is next to the store");
    let mut bytes = fs::read(&file).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).expect("written");
    assert_eq!(covers(&repository), [""; 0]);
    repository.write("shop/cart.py", &CART.replace("return x", "return -x"));
    assert_eq!(repository.ask(&["impact"]).0, Some(0));
}

#[test]
fn the_history_is_in_views() {
    let repository = shop();
    for round in 0..3 {
        repository.write("shop/cart.py", &format!("{CART}\nround = {round}\n"));
        repository.write("shop/use.py", &format!("round = {round}\n"));
        repository.commit("both");
    }
    let statement = "SELECT path, commits, commits_year, length(last_change), authors, owner FROM \
        file_history WHERE path LIKE 'shop/cart%'";
    let rows = repository.json(&["sql", statement])["rows"].clone();
    assert_eq!(rows, serde_json::json!([["shop/cart.py", 4, 4, 10, 1, "author"]]));
    let statement = "SELECT other, commits FROM changed_together WHERE path = 'shop/use.py'";
    let rows = repository.json(&["sql", statement])["rows"].clone();
    assert_eq!(rows, serde_json::json!([["shop/cart.py", 4]]));
    let joined = "SELECT count(*) FROM file_history h JOIN files f ON f.path = h.path JOIN \
        changed_together t ON t.path = h.path JOIN tests c";
    assert_eq!(repository.json(&["sql", joined])["rows"][0][0], 6);
    let (code, text) = repository.ask_without_git(&["sql", statement], "");
    assert!(code == Some(3) && text.contains("there is no history"), "{text}");
    let (code, text) = repository.ask_without_git(&["sql", "SELECT 1 FROM files"], "");
    assert_eq!(code, Some(0), "{text}");
}
