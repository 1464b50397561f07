//! Rows of the views that are not in the store: recorded executions and the history of the files.

use std::fmt::Write as _;
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::tools::impact::coverage::KnownCoverage;
use crate::tools::impact::history::{KnownHistory, date};
use crate::tools::tool::context::QueryContext;
use cograph_query::QueryError;
use cograph_query::impact::{all_test_cases, test_cases};
use cograph_query::sql::{KeptRows, SqlValue};
use cograph_store::SymbolKey;

/// Maximum time of reading the history on.
const HISTORY_TIME: Duration = Duration::from_secs(5);
/// Maximum number of keys in a part of a list, so that none is longer than a value may be.
const PART: usize = 4_000;

/// Loads the tables of a view. The error is a sentence.
pub(super) fn load(context: &QueryContext<'_>, view: &str) -> Result<Vec<KeptRows>, String> {
    match view {
        "tests" | "covers" => executions(context).map_err(|error| error.to_string()),
        _ => history(context, view),
    }
}

fn integer(number: impl Into<u64>) -> SqlValue {
    SqlValue::Integer(i64::try_from(number.into()).unwrap_or(i64::MAX))
}

fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

fn executions(context: &QueryContext<'_>) -> Result<Vec<KeptRows>, QueryError> {
    let known = KnownCoverage::of(context);
    // Lists of tests by function, and the names of the tests.
    type Lists = (Vec<(SymbolKey, Vec<u32>)>, Vec<String>);
    let (lists, names): Lists = match known {
        None => Default::default(),
        Some(known) => known.covered(context, |covered, names| {
            let lists = covered.iter().map(|one| (one.symbol, one.tests.to_vec())).collect();
            (lists, names.into_iter().map(str::to_owned).collect())
        })?,
    };
    let named = names.iter().map(String::as_str);
    let symbols = test_cases(context.snapshot, named, context.cancel)?;
    let mut rows: Vec<(Vec<SqlValue>, Option<u64>)> = Vec::new();
    let mut by_symbol: FxHashMap<SymbolKey, usize> = FxHashMap::default();
    for case in all_test_cases(context.snapshot, context.cancel)? {
        by_symbol.insert(case.symbol, rows.len());
        let place = [text(&case.name), text(case.path.as_str()), integer(case.line)];
        let key = integer(case.symbol.0);
        rows.push((place.into_iter().chain([key]).collect(), None));
    }
    // Several names may mean one case, such as the variants of a test.
    let row_of: Vec<usize> = names
        .iter()
        .zip(symbols)
        .map(|(name, case)| {
            let known = case.and_then(|case| by_symbol.get(&case.symbol).copied());
            let row = known.unwrap_or_else(|| {
                let nothing = [SqlValue::Null, SqlValue::Null, SqlValue::Null];
                rows.push(([text(name)].into_iter().chain(nothing).collect(), None));
                rows.len() - 1
            });
            rows[row].1.get_or_insert(0);
            row
        })
        .collect();
    let mut by_function: FxHashMap<SymbolKey, Vec<usize>> = FxHashMap::default();
    for (symbol, tests) in lists {
        let own = by_function.entry(symbol).or_default();
        own.extend(tests.iter().map(|&test| row_of[test as usize]));
    }
    let mut functions: Vec<(SymbolKey, Vec<usize>)> = by_function.into_iter().collect();
    functions.sort_unstable();
    let mut covers = Vec::new();
    for (symbol, mut tests) in functions {
        tests.sort_unstable();
        tests.dedup();
        for &test in &tests {
            *rows[test].1.get_or_insert(0) += 1;
        }
        for (part, keys) in (0_u64..).zip(tests.chunks(PART)) {
            let mut list = String::from("[");
            for key in keys {
                let comma = if list.len() > 1 { "," } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(list, "{comma}{key}");
            }
            list.push(']');
            covers.push(vec![integer(symbol.0), integer(part), SqlValue::Text(list)]);
        }
    }
    let rows = (0_u64..).zip(rows).map(|(key, (place, functions))| {
        let functions = functions.map_or(SqlValue::Null, integer);
        [integer(key)].into_iter().chain(place).chain([functions]).collect()
    });
    Ok(vec![
        KeptRows { table: "kept_test", rows: rows.collect() },
        KeptRows { table: "kept_cover", rows: covers },
    ])
}

fn history(context: &QueryContext<'_>, view: &str) -> Result<Vec<KeptRows>, String> {
    let known = KnownHistory::of(context, HISTORY_TIME)
        .ok_or_else(|| format!("`{view}`: there is no history: no git, or no repository of it"))?;
    if view == "changed_together" {
        let pairs = known.pairs().into_iter().flat_map(|(one, other, commits)| {
            let (one, other) = (text(one.as_str()), text(other.as_str()));
            let back = vec![other.clone(), one.clone(), integer(commits)];
            [vec![one, other, integer(commits)], back]
        });
        return Ok(vec![KeptRows { table: "kept_pair", rows: pairs.collect() }]);
    }
    let mut files: Vec<_> = known.files(None).into_iter().collect();
    files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let row = |(path, facts): (cograph_model::RepoPath, cograph_model::change::FileHistory)| {
        vec![
            text(path.as_str()),
            integer(facts.commits),
            integer(facts.recent),
            SqlValue::Text(date(facts.last)),
            integer(facts.authors),
            facts.owners.first().map_or(SqlValue::Null, |(name, _)| text(name)),
        ]
    };
    Ok(vec![KeptRows { table: "kept_file", rows: files.into_iter().map(row).collect() }])
}
