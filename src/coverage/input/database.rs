//! Databases: the data file of coverage.py with contexts, and that of pytest-testmon.

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::input::lines::{ExecutedLines, MAX_LINE, MAX_ROWS, READ_TIME, Read, Visit, WANTED};
use crate::names;
use cograph_store::{ForeignDatabase, SqlValue, StoreError};

/// What a data file without names of tests lacks.
pub(super) const NO_CONTEXTS: &str = "it is of a whole suite and has no contexts, so that it does \
    not say which test executed what: run pytest with --cov-context=test, or set `dynamic_context \
    = test_function` for coverage.py";

pub(super) fn read(path: &Path, visit: Visit<'_>) -> Result<Read, String> {
    let database = ForeignDatabase::open(path, READ_TIME).map_err(|error| reason(&error))?;
    let tables = database.tables().map_err(|error| reason(&error))?;
    let has = |names: &[&str]| names.iter().all(|name| tables.iter().any(|table| table == name));
    if has(&["coverage_schema", "file", "context"]) {
        let (has_lines, has_arcs) = (has(&["line_bits"]), has(&["arc"]));
        return of_coverage(&database, has_lines, has_arcs, visit);
    }
    if has(&["test_execution", "file_fp", "test_execution_file_fp"]) {
        return of_testmon(&database, visit);
    }
    Err(format!("it is a database of another program; {WANTED}"))
}

fn reason(error: &StoreError) -> String {
    format!("the database cannot be read: {}", error.detail)
}

const FILES: &str = "SELECT id, path FROM file";
const CONTEXTS: &str = "SELECT id, context FROM context";
const LINES: &str = "SELECT file_id, context_id, numbits FROM line_bits ORDER BY file_id";
const ARCS: &str = "SELECT file_id, context_id, fromno, tono FROM arc ORDER BY file_id, context_id";

fn of_coverage(
    database: &ForeignDatabase,
    has_lines: bool,
    has_arcs: bool,
    visit: Visit<'_>,
) -> Result<Read, String> {
    let failed = |error: StoreError| reason(&error);
    let files = texts(database, FILES)?;
    let contexts = texts(database, CONTEXTS)?;
    if !contexts.values().any(|context| names::of_context(context).is_some()) {
        return Err(NO_CONTEXTS.to_owned());
    }
    let (mut rows, mut is_cut) = (0_usize, false);
    let mut pass = |file: i64, context: i64, lines: &[u32]| {
        let (Some(file), Some(context)) = (files.get(&file), contexts.get(&context)) else {
            return true;
        };
        visit(ExecutedLines { test: names::of_context(context), file, lines: Some(lines) })
    };
    if has_lines {
        database
            .visit(LINES, &mut |row| {
                rows += 1;
                let [SqlValue::Integer(file), SqlValue::Integer(context), SqlValue::Blob(bits)] =
                    row
                else {
                    return true;
                };
                is_cut = rows > MAX_ROWS || !pass(*file, *context, &lines(bits));
                !is_cut
            })
            .map_err(failed)?;
    }
    if has_arcs && !is_cut {
        let mut own: ((i64, i64), Vec<u32>) = ((0, 0), Vec::new());
        database
            .visit(ARCS, &mut |row| {
                rows += 1;
                let [
                    SqlValue::Integer(file),
                    SqlValue::Integer(context),
                    SqlValue::Integer(from),
                    SqlValue::Integer(to),
                ] = row
                else {
                    return true;
                };
                if own.0 != (*file, *context) {
                    own.1.sort_unstable();
                    own.1.dedup();
                    is_cut = !own.1.is_empty() && !pass(own.0.0, own.0.1, &own.1);
                    own = ((*file, *context), Vec::new());
                }
                // Negative numbers are the entries and exits of code objects.
                let lines = [from, to].into_iter().filter_map(|line| u32::try_from(*line).ok());
                own.1.extend(lines.filter(|line| (1..=MAX_LINE).contains(line)));
                is_cut |= rows > MAX_ROWS;
                !is_cut
            })
            .map_err(failed)?;
        if !is_cut && !own.1.is_empty() {
            own.1.sort_unstable();
            own.1.dedup();
            is_cut = !pass(own.0.0, own.0.1, &own.1);
        }
    }
    if rows == 0 {
        return Err("it has no data: no line was measured".to_owned());
    }
    Ok(Read { format: "coverage.py data", is_cut })
}

/// Texts of a table by key.
fn texts(
    database: &ForeignDatabase,
    statement: &'static str,
) -> Result<FxHashMap<i64, String>, String> {
    let mut found = FxHashMap::default();
    database
        .visit(statement, &mut |row| {
            if let [SqlValue::Integer(key), SqlValue::Text(text)] = row {
                found.insert(*key, text.clone());
            }
            found.len() < MAX_ROWS
        })
        .map_err(|error| reason(&error))?;
    Ok(found)
}

/// Lines of a set of bits.
fn lines(bits: &[u8]) -> Vec<u32> {
    let mut lines = Vec::new();
    for (at, byte) in (0_u32..=MAX_LINE / 8).zip(bits) {
        lines.extend((0..8).filter(|bit| byte >> bit & 1 == 1).map(|bit| at * 8 + bit));
    }
    lines
}

/// Tests with the files of which they executed something.
const EXECUTIONS: &str = "
    SELECT e.test_name, f.filename FROM test_execution e
    JOIN test_execution_file_fp p ON p.test_execution_id = e.id JOIN file_fp f ON f.id = p.fingerprint_id
    ORDER BY f.filename";

fn of_testmon(database: &ForeignDatabase, visit: Visit<'_>) -> Result<Read, String> {
    let (mut rows, mut is_cut) = (0_usize, false);
    database
        .visit(EXECUTIONS, &mut |row| {
            let [SqlValue::Text(test), SqlValue::Text(file)] = row else { return true };
            rows += 1;
            let run = ExecutedLines { test: names::of_context(test), file, lines: None };
            is_cut = rows > MAX_ROWS || !visit(run);
            !is_cut
        })
        .map_err(|error| reason(&error))?;
    if rows == 0 {
        return Err("it has no test: run pytest --testmon first".to_owned());
    }
    Ok(Read { format: "testmon data", is_cut })
}
