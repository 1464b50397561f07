//! The three questions on the command line, of tables as they are exported and compacted.

use super::data::{Data, without_state};

#[test]
fn callers_are_listed_by_repository_with_versions() {
    let data = Data::exported();
    let text = data.answer(&["callers", "flask.jsonify"]);
    assert_eq!(
        text,
        "flask.jsonify: 2 calls in 2 repositories; at 3.0.1 (1), 3.0.3 (1)\n\
         \n\
         team/billing  flask 3.0.3\n  billing/app.py:10  index\n\
         \n\
         team/shop  flask 3.0.1\n  shop/app.py:10  index\n"
    );
    let total = data.answer(&["callers", "total", "--package", "shop"]);
    assert!(total.contains(": 2 calls in 1 repository; at 1.2.0 (1)\n"), "{total}");
    assert!(total.contains("  shop/app.py:15  Till.pay\n"), "{total}");
    let none = data.answer(&["callers", "jsonify", "--package", "django"]);
    assert_eq!(none, "no calls of `jsonify` of `django`\n");
}

#[test]
fn one_version_of_a_symbol() {
    let data = Data::exported();
    let json = data.answer(&["callers", "cograph pip flask 3.0.3 jsonify.", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["total"], 1);
    assert_eq!(json["calls"][0]["repository"], "team/billing");
    assert_eq!(json["calls"][0]["version"], "3.0.3");
    assert_eq!(json["calls"][0]["line"], 10);
    assert_eq!(json["callees"][0]["repositories"], 2);
}

#[test]
fn answers_are_bounded_and_report_what_is_left_out() {
    let data = Data::exported();
    let text = data.answer(&["callers", "jsonify", "--limit", "1"]);
    assert!(text.contains("\n… 1 more call: "), "{text}");
    let text = data.answer(&["versions", "flask", "--limit", "1"]);
    assert!(text.contains("  3.0.1  1 repository: … 1 more\n"), "{text}");
    let text = data.answer(&["sql", "SELECT path FROM files ORDER BY 1", "--limit", "2"]);
    assert!(text.ends_with("\n2 rows, and there are more\n"), "{text}");
}

#[test]
fn versions_are_listed_with_their_users() {
    let data = Data::exported();
    assert_eq!(
        data.answer(&["versions", "flask"]),
        "flask (pip): 2 uses of 2 versions\n  3.0.3  1 repository: team/billing\n  3.0.1  1 \
         repository: team/shop\n"
    );
    let own = data.answer(&["versions", "shop"]);
    assert!(own.contains("  defined in team/shop\n"), "{own}");
    assert_eq!(data.answer(&["versions", "x"]), "no repository has or uses a package `x`\n");
}

#[test]
fn statements_read_all_tables() {
    let data = Data::exported();
    for table in [
        "repositories",
        "files",
        "symbols",
        "\"references\"",
        "calls",
        "imports",
        "relations",
        "packages",
    ] {
        let text = data.answer(&["sql", &format!("SELECT count(*) AS n FROM {table}")]);
        assert!(text.starts_with("n\n"), "{table}: {text}");
    }
    let statement = "SELECT repository, symbol_version(callee) AS version FROM calls \
                     WHERE symbol_name(callee) = 'jsonify' ORDER BY 1";
    assert_eq!(
        data.answer(&["sql", statement]),
        "repository    version\nteam/billing  3.0.3\nteam/shop     3.0.1\n2 rows\n"
    );
    let json = data.answer(&["sql", statement, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["rows"][1]["version"], "3.0.1");
}

#[test]
fn statements_that_do_not_read_are_refused() {
    let data = Data::exported();
    let target = data.tables().join("stolen.csv");
    let copy = format!("COPY (SELECT 1) TO '{}'", target.display());
    let external = format!(
        "CREATE EXTERNAL TABLE t (a TEXT) STORED AS CSV LOCATION '{}'",
        data.tables().display()
    );
    for statement in [
        copy.as_str(),
        external.as_str(),
        "CREATE TABLE t AS SELECT 1",
        "CREATE VIEW v AS SELECT 1",
        "DROP TABLE calls",
        "INSERT INTO calls SELECT * FROM calls",
        "DELETE FROM calls",
        "UPDATE calls SET path = 'x'",
        "SET datafusion.execution.batch_size = 1",
        "SELECT 1; SELECT 2",
        "SELECT * FROM '/etc/passwd'",
        "SELECT no_column FROM calls",
        "nonsense",
        "",
    ] {
        data.error(&["sql", statement]);
    }
    assert!(!target.exists());
    let text = data.answer(&["sql", "SELECT count(*) AS n FROM repositories"]);
    assert_eq!(text, "n\n2\n1 row\n");
}

#[test]
fn a_long_statement_ends_in_time_and_memory() {
    let data = Data::exported();
    let endless = "SELECT count(*) FROM generate_series(1, 10000000000) a \
                   CROSS JOIN generate_series(1, 1000000) b";
    let message = data.error(&["sql", endless, "--timeout", "1"]);
    assert!(message.contains("no answer within 1 s"), "{message}");
    let large = "SELECT value, array_agg(value) OVER () FROM generate_series(1, 30000000) \
                 ORDER BY value % 7";
    let message = data.error(&["sql", large, "--memory", "16"]);
    assert!(message.contains("more memory"), "{message}");
    let deep = format!("SELECT {}1", "NOT ".repeat(15_000));
    data.error(&["sql", &deep]);
}

#[test]
fn compacted_tables_give_the_same_answers() {
    let data = Data::exported();
    let questions: [&[&str]; 5] = [
        &["callers", "flask.jsonify"],
        &["callers", "total"],
        &["callers", "cograph pip flask 3.0.3 jsonify."],
        &["versions", "flask"],
        &["sql", "SELECT repository, path, line, name FROM \"references\" ORDER BY 1, 2, 3, 4"],
    ];
    let before = questions.map(|question| data.answer(question));
    data.answer(&["compact"]);
    for (question, before) in questions.iter().zip(before) {
        let after = data.answer(question);
        assert!(after.contains("(tables of "), "{after}");
        assert_eq!(without_state(&after), before, "{question:?}");
    }
}
