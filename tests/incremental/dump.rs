//! All rows of a store as text that has no keys in it: files are named by their path, symbols and
//! sites by their file and number, names are written as a search reaches them. Times and
//! generations are left out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Snapshot, Store};
use rusqlite::{Connection, OpenFlags};

use super::names;

/// What every table says, one line a row.
const TABLES: [(&str, &str); 9] = [
    (
        "file",
        "SELECT path, language, size, hex(hash), lines, skipped, flags, symbols, sites, resolved, \
         likely, ambiguous, external, \
         unresolved, possible FROM file ORDER BY path",
    ),
    (
        "symbol",
        "SELECT l.label, n.text, s.traits, c.label, s.least, s.most, s.start_line, s.start_column, \
         s.more_lines, \
         s.end_column, s.start_byte, s.length, s.name_down, s.name_column, \
         (SELECT signature FROM symbols v WHERE v.id = s.id), s.doc, s.refs, \
         CASE WHEN s.site_span > 0 THEN s.first_site - f.first_site ELSE s.first_site END, \
         s.site_span, s.complexity FROM symbol s JOIN label l ON l.id = s.id LEFT JOIN name n \
         ON n.id = s.name JOIN file f ON f.id = s.file LEFT JOIN label c ON c.id = s.container \
         ORDER BY f.path, s.id",
    ),
    (
        "site",
        "SELECT f.path, s.id - f.first_site, e.label, n.text, s.mark, s.col, \
         CASE WHEN s.target < 0 THEN (SELECT \
         group_concat(label, ' ') FROM \
         (SELECT a.label FROM candidate d JOIN label a ON a.id = d.symbol WHERE d.list = -s.target \
         ORDER BY a.label)) \
         WHEN s.mark & 7 IN (0, 1, 4) THEN t.label WHEN s.mark & 7 = 3 THEN x.text ELSE s.target \
         END, \
         (SELECT g.path FROM site_file sf JOIN file g ON g.id = sf.file WHERE sf.site = s.id) FROM \
         site s \
         JOIN file f ON f.id = s.file LEFT JOIN label e ON e.id = s.enclosing LEFT JOIN name n ON \
         n.id = s.name \
         LEFT JOIN label t ON s.mark & 7 IN (0, 1, 4) AND t.id = s.target LEFT JOIN name x ON \
         s.mark & 7 = 3 AND x.id = s.target \
         ORDER BY f.path, s.id",
    ),
    (
        "import",
        "SELECT f.path, i.place, m.text, i.level, n.text, i.line, i.col, t.path, i.marks \
         FROM import i JOIN file f ON f.id = i.file \
         JOIN name m ON m.id = i.module LEFT JOIN name n ON n.id = i.item LEFT JOIN file t ON t.id \
         = i.target \
         ORDER BY f.path, i.place",
    ),
    (
        "relation",
        "SELECT a.label, r.kind, b.label FROM relation r LEFT JOIN label a ON a.id = r.source LEFT \
         JOIN label b \
         ON b.id = r.target ORDER BY a.label, r.kind, b.label",
    ),
    (
        "problem",
        "SELECT f.path, p.place, p.kind, p.first_line, p.last_line FROM problem p LEFT JOIN file f \
         ON f.id = p.file \
         ORDER BY f.path, p.place",
    ),
    (
        "file_edge",
        "SELECT a.path, b.path, e.sites, e.imports FROM file_edge e \
         LEFT JOIN file a ON a.id = e.source LEFT JOIN file b ON b.id = e.target \
         ORDER BY a.path, b.path",
    ),
    (
        "words",
        "SELECT f.path, hex(w.words), hex(w.postings) FROM file_words w LEFT JOIN file f ON f.id = \
         w.file ORDER BY f.path",
    ),
    (
        "totals",
        "SELECT files, symbols, sites, (SELECT count(*) FROM site), (SELECT count(*) FROM symbol), \
         (SELECT count(*) FROM site_file), (SELECT count(*) FROM site WHERE mark & 7 = 2), \
         (SELECT count(*) FROM candidate WHERE list NOT IN (SELECT -target FROM site WHERE target \
         < 0)), \
         (SELECT count(DISTINCT list) FROM candidate) FROM meta",
    ),
];

/// The rows of the store in this file.
pub(crate) fn of(path: &Path) -> String {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a store");
    let check: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("it can be read");
    assert_eq!(check, "ok", "{}", path.display());
    connection
        .execute_batch(
            "CREATE TEMP TABLE label AS SELECT s.id, f.path || '#' || printf('%04d', s.id - \
             f.first_symbol) AS label \
             FROM main.symbol s JOIN main.file f ON f.id = s.file; CREATE INDEX temp.label_id ON \
             label (id);",
        )
        .expect("a table of names");
    let mut text = String::new();
    for (table, statement) in TABLES {
        let mut statement =
            connection.prepare(statement).unwrap_or_else(|error| panic!("{table}: {error}"));
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect("it can be read");
        while let Some(row) = rows.next().expect("a row") {
            text.push_str(table);
            for column in 0..columns {
                let value = row.get_ref(column).expect("a column");
                let value = match value {
                    rusqlite::types::ValueRef::Null => "-".to_owned(),
                    rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                    other => other.as_str().expect("text").to_owned(),
                };
                text.push('|');
                text.push_str(&value);
            }
            text.push('\n');
        }
    }
    for line in names::of(&connection, &snapshot(path)) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// What readers see of the store in this file.
fn snapshot(path: &Path) -> Snapshot {
    let directory = path.parent().expect("a store is in a directory");
    let location = Location::at(PathBuf::from("/somewhere"), directory.to_owned());
    let mut generations = location.generations().expect("a directory").into_iter();
    let generation = generations
        .find(|generation| location.generation_path(*generation) == path)
        .expect("a store's own name");
    let store = Arc::new(Store::open(&location, generation).expect("a store"));
    store.snapshot(&CancelToken::new()).expect("a snapshot")
}
