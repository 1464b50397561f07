//! All SQL statements on rows but the INSERT statements of `tables`. A `Statement` can be created
//! only here, and each is in `ALL`, so that the test of query plans covers every one.

use super::schema::tables::Table;

/// SQL statement of this file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statement {
    text: &'static str,
}

impl Statement {
    /// SQL text.
    pub(crate) fn text(self) -> &'static str {
        self.text
    }
}

/// Settings of a reader. Temporary data stays in memory, where `sandbox` counts it, instead of
/// unlinked files. No memory mapping: a truncated file or an I/O error under a mapping is a SIGBUS,
/// under a read an error. With this cache size queries on the index of Django take the same time
/// either way.
pub(crate) const READER_SETTINGS: &str = "PRAGMA query_only = 1; PRAGMA temp_store = \
    MEMORY; PRAGMA mmap_size = 0; PRAGMA cache_size = -16000;";

/// Settings of the build connection, on a file that is not visible yet: a crash leaves a leftover,
/// not a store.
pub(crate) const WRITER_SETTINGS: &str = "
PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;";

/// Checkpoints the whole WAL into the file; returns 1 if a reader blocks it.
pub(crate) const FULL_CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// Settings of a file that will be read and changed concurrently.
pub(crate) const SHARED_SETTINGS: &str = "PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL;";

/// Settings of a connection that changes a store in place. A transaction lost in a power failure
/// leaves the previous generation. Changes go to the WAL; the checkpoint is a separate step.
pub(crate) const UPDATE_SETTINGS: &str = "
PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16000;
PRAGMA temp_store = MEMORY;";

/// Passive checkpoint: as far as readers of earlier snapshots allow, without blocking.
pub(crate) const PASSIVE_CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)+) => {
        $($(#[$doc])* pub(crate) const $name: Statement = Statement { text: $text };)+

        /// Every statement with its name.
        #[cfg(test)]
        pub(crate) const ALL: &[(&str, Statement)] = &[$((stringify!($name), $name),)+];
    };
}

macro_rules! file_columns {
    () => {
        "SELECT id, path, language, size, modified_ns, hash, lines, skipped, flags, first_symbol, \
         symbols, first_site, sites, \
         resolved, likely, ambiguous, external, unresolved, possible, changed_ns, inode, \
         package FROM file"
    };
}

macro_rules! symbol_columns {
    () => {
        "SELECT s.id, s.file, s.name, n.text, s.traits, s.container, s.least, s.most, \
         s.start_line, s.start_column, \
         s.more_lines, s.end_column, s.start_byte, s.length, s.name_down, s.name_column, \
         s.signature, s.doc, s.refs, \
         s.first_site, s.site_span, s.complexity FROM symbol s JOIN name n ON n.id = s.name"
    };
}

macro_rules! site_columns {
    () => {
        "SELECT id, file, enclosing, name, mark, col, target FROM site"
    };
}

/// Sites that lead to a set with a symbol.
macro_rules! sites_of_lists {
    () => {
        "SELECT s.id, s.file, s.enclosing, s.name, s.mark, s.col, s.target FROM candidate c CROSS \
         JOIN site s ON s.target = -c.list AND s.mark & 7 != 3 WHERE c.symbol = ?1"
    };
}

statements! {
    // Metadata.
    META = "SELECT uid, generation, fingerprint, root, built_at_ns, build_ns, files, symbols, \
            sites, symbol_names, \
            last_file, last_symbol FROM meta";
    INTEGRITY = "PRAGMA integrity_check(1)";
    QUICK_CHECK = "PRAGMA quick_check(1)";
    LANGUAGES = "SELECT id, name FROM language";

    // Names. Symbol names have the lowest keys.
    NAME_BY_KEY = "SELECT text FROM name WHERE id = ?1";
    OTHER_NAMES_IGNORING_CASE = "SELECT name, text FROM other_name WHERE text = ?1";
    SYMBOL_NAMES_FROM = "SELECT id, text FROM name WHERE id >= ?1 AND id <= (SELECT symbol_names \
                         FROM meta) ORDER BY id";
    LATER_SYMBOL_NAMES = "SELECT n.id, n.text FROM \
                          (SELECT DISTINCT name FROM symbol WHERE name > (SELECT symbol_names FROM \
                          meta)) s CROSS JOIN name n ON n.id = s.name";
    NAME_RUN = "SELECT names FROM name_run WHERE id = ?1";
    NAME_TOPS = "SELECT tops FROM name_tops WHERE id = 1";
    NAME_GRAM = "SELECT runs FROM name_gram WHERE id = ?1";
    CHANGED_NAMES = "SELECT name, EXISTS (SELECT 1 FROM symbol WHERE symbol.name = \
                     name_changed.name) FROM name_changed";

    // Delta over the segment.
    KNOWN = "SELECT file, data FROM known";
    PUT_KNOWN = "INSERT OR REPLACE INTO known VALUES (?1, ?2)";
    REMOVE_KNOWN = "DELETE FROM known WHERE file = ?1";

    // Files.
    FILES = concat!(file_columns!(), " ORDER BY path");
    FILES_SKIPPED = concat!(file_columns!(), " WHERE skipped = ?1");
    COUNT_SKIPPED = "SELECT count(*) FROM file WHERE skipped = ?1";
    PATHS = "SELECT id, path FROM file ORDER BY path";
    PATHS_BY_KEY = "SELECT id, path, first_symbol, symbols, language, flags FROM file ORDER BY id";
    FILE_SIZE = "SELECT path, size FROM file WHERE id = ?1 AND hash IS NOT NULL";
    FILE_SIZES = "SELECT path, size FROM file WHERE hash IS NOT NULL";
    FILE_BY_KEY = concat!(file_columns!(), " WHERE id = ?1");
    FILES_BELOW = concat!(file_columns!(), " WHERE path > ?1 AND path < ?2 ORDER BY path");
    FILE_BY_PATH = concat!(file_columns!(), " WHERE path = ?1");
    // Order of files and symbols: see `order`.
    ADDED_FILES = "SELECT id, path FROM file WHERE id > ?1";
    FILE_KEYS_BY_PATH = "SELECT id FROM file ORDER BY path";
    TERM_BLOCK = "SELECT first, postings FROM term_block WHERE first <= ?1 ORDER BY first DESC \
                  LIMIT 1";
    FILE_LENGTHS = "SELECT lengths FROM file_lengths WHERE id = 1";
    // Files that the blocks of terms do not describe: changed or deleted ones, and later ones.
    LATER_WORDS = "SELECT c.file, w.words FROM words_changed c LEFT JOIN file_words w ON w.file = \
                   c.file UNION ALL SELECT file, words FROM file_words WHERE file > ?1";
    FILE_POSTINGS = "SELECT words, postings FROM file_words WHERE file = ?1";
    FILE_KEY_BEFORE = "SELECT id FROM file WHERE path < ?1 ORDER BY path DESC LIMIT 1";
    LAST_SYMBOL = "SELECT max(id) FROM symbol";
    FILE_OF_SYMBOL = "SELECT file FROM symbol WHERE id = ?1";
    FILE_EDGES = "SELECT source, target, sites, imports FROM file_edge";
    IMPORTS_OF_FILE = "SELECT i.file, m.text, i.level, n.text, i.line, i.col, i.target, i.marks \
                       FROM import \
                       i \
                       JOIN name m ON m.id = i.module LEFT JOIN name n ON n.id = i.item WHERE \
                       i.file = ?1 ORDER BY i.place";
    IMPORTS_OF_TARGET = "SELECT i.file, m.text, i.level, n.text, i.line, i.col, i.target, i.marks \
                         FROM \
                         import i \
                         JOIN name m ON m.id = i.module LEFT JOIN name n ON n.id = i.item WHERE \
                         i.target = ?1 ORDER BY i.file, i.place";
    PROBLEMS = "SELECT file, kind, first_line, last_line FROM problem";
    PROBLEMS_OF_FILE = "SELECT file, kind, first_line, last_line FROM problem WHERE file = ?1 \
                        ORDER BY place";

    // Symbols.
    SYMBOL_BY_KEY = concat!(symbol_columns!(), " WHERE s.id = ?1");
    SYMBOLS_OF_NAME = concat!(symbol_columns!(), " WHERE s.name = ?1 ORDER BY s.id");
    SYMBOLS_BETWEEN = concat!(symbol_columns!(), " WHERE s.id >= ?1 AND s.id < ?2 ORDER BY s.id");
    // Symbols of several lines, and those of the kinds whose bits are in ?3.
    SYMBOL_DOCUMENTS = "SELECT s.id, s.file, s.traits, s.container, s.refs, n.text, \
                        s.start_byte, s.length, s.more_lines, s.signature, s.doc FROM symbol s \
                        JOIN name n ON n.id = s.name WHERE s.id >= ?1 AND s.id < ?2 AND \
                        (s.more_lines >= ?4 OR ?3 >> (s.traits >> 2 & 31) & 1) ORDER BY s.id";
    SYMBOLS_AT = concat!(
        symbol_columns!(),
        " WHERE s.id >= ?1 AND s.id < ?2 AND (s.start_line <= ?4 AND s.start_line + s.more_lines \
         >= ?3 \
         OR s.start_line + s.name_down BETWEEN ?3 AND ?4) ORDER BY s.id"
    );
    SYMBOLS_IN = concat!(symbol_columns!(), " WHERE s.container = ?1 ORDER BY s.id");
    NAME_AND_CONTAINER = "SELECT n.text, s.container FROM symbol s JOIN name n ON n.id = s.name \
                          WHERE s.id = ?1";
    KINDS_IN = "SELECT id FROM symbol WHERE container = ?1 AND traits >> 2 & 31 = ?2 ORDER BY id";
    SYMBOL_HEADS = "SELECT id, file, traits, container, refs FROM symbol WHERE name = ?1";
    COUNT_OF_NAME = "SELECT count(*) FROM (SELECT 1 FROM symbol WHERE name = ?1 LIMIT ?2)";
    SYMBOL_HEADS_BETWEEN = "SELECT id, file, traits, container, refs FROM symbol WHERE id >= ?1 \
                            AND id < ?2";
    NAMED_HEADS_BETWEEN = "SELECT s.id, s.file, s.traits, s.container, s.refs, n.text FROM symbol \
                           s \
                           JOIN name n ON n.id = s.name WHERE s.id >= ?1 AND s.id < ?2";
    NAMED_HEADS_IN = "SELECT s.id, s.file, s.traits, s.container, s.refs, n.text FROM symbol s \
        JOIN name n ON n.id = s.name WHERE s.container = ?1";
    // From the partial index of frequently used symbols.
    FREQUENTLY_REFERENCED = "SELECT id, file, traits, container, refs FROM symbol WHERE refs >= 16 \
                        ORDER BY refs DESC";
    REFERENCED = "SELECT id, file, traits, container, refs FROM symbol WHERE refs >= ?1 AND refs < \
                  16";

    // Sites.
    SITE_BY_KEY = concat!(site_columns!(), " WHERE id = ?1");
    SITES_BETWEEN = concat!(site_columns!(), " WHERE id >= ?1 AND id < ?2 ORDER BY id");
    SITES_NAMED_BETWEEN = concat!(
        site_columns!(),
        " WHERE id >= ?1 AND id < ?2 AND name = ?3 ORDER BY id"
    );
    TARGETS_OUTSIDE_BETWEEN =
        "SELECT id, target FROM site WHERE id >= ?1 AND id < ?2 AND mark & 7 = 3 ORDER BY id";
    SITES_OUTSIDE_NAMED_BETWEEN = concat!(
        site_columns!(),
        " WHERE id >= ?1 AND id < ?2 AND name = ?3 AND mark & 7 = 3 ORDER BY id"
    );
    NAMES_BETWEEN =
        "SELECT name, mark, col FROM site WHERE id >= ?1 AND id < ?2 AND name <> ?3 ORDER BY id";
    SITES_OF_SYMBOL = concat!(
        site_columns!(),
        " WHERE target = ?1 AND mark & 7 != 3 UNION ALL ",
        sites_of_lists!(),
        " AND s.mark & 7 = 0 ORDER BY 1"
    );
    SITES_OF_CANDIDATE = concat!(sites_of_lists!(), " AND s.mark & 7 IN (2, 5) ORDER BY s.id");
    UNRESOLVED_OF_NAME = concat!(site_columns!(), " WHERE name = ?1 AND mark & 7 = 4 ORDER BY id");
    CANDIDATES = "SELECT symbol FROM candidate WHERE list = ?1 ORDER BY symbol";
    SITE_FILE = "SELECT file FROM site_file WHERE site = ?1";
    SITE_FILES_BETWEEN = "SELECT site, file FROM site_file WHERE site >= ?1 AND site < ?2";

    // Relations.
    RELATIONS_FROM = "SELECT kind, source, target FROM relation WHERE source = ?1";
    RELATIONS_BETWEEN = "SELECT kind, source, target FROM relation WHERE source >= ?1 AND source < \
                         ?2";
    RELATIONS_TO = "SELECT kind, source, target FROM relation WHERE target = ?1 ORDER BY kind, \
                    source";

    // Full build.
    ROOTS = "SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0";
    ADD_META = "INSERT INTO meta VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    ADD_WORD = "INSERT INTO word VALUES (?1, ?2)";
    ADD_LANGUAGE = "INSERT INTO language VALUES (?1, ?2)";
    SET_PLACE = "UPDATE meta SET uid = ?1, generation = ?2, root = ?3";
    DOUBT_STAMPS = "UPDATE file SET changed_ns = ?1";
    LEAVE_PLACE = "UPDATE meta SET uid = ?1, generation = 1, root = x'', built_at_ns = 0, build_ns \
                   = 0";
    LEAVE_STAMPS = "UPDATE file SET modified_ns = ?1, changed_ns = ?2, inode = ?3";
    SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    SET_STAMP = "UPDATE file SET modified_ns = ?2, changed_ns = ?3, inode = ?4 WHERE id = ?1";
    ADD_SITE_FILE = Table::SiteFile.schema().insert;

    // Change in place.
    LAST_KEYS = "SELECT (SELECT max(id) FROM name), (SELECT max(list) FROM candidate), (SELECT \
                 max(id) FROM symbol), \
                 (SELECT max(id) FROM site), (SELECT max(id) FROM file)";
    OTHER_NAME_BY_TEXT = "SELECT name FROM other_name WHERE text = ?1 AND text = ?1 COLLATE BINARY";
    NAMES_OF_ROWS = "SELECT id, text FROM name WHERE id IN (SELECT name FROM symbol WHERE id >= ?1 \
                     AND id < ?2 UNION \
                     SELECT name FROM site WHERE id >= ?3 AND id < ?4 UNION \
                     SELECT target FROM site WHERE id >= ?3 AND id < ?4 AND mark & 7 = 3)";
    REFERENCES_OF_SYMBOLS = "SELECT refs FROM symbol WHERE id >= ?1 AND id < ?2 ORDER BY id";
    LISTS_OF_SYMBOL = "SELECT list FROM candidate WHERE symbol = ?1";
    LISTS_OF_SITES = "SELECT DISTINCT -target FROM site WHERE id >= ?1 AND id < ?2 AND target < 0";
    IS_LIST_USED = "SELECT 1 FROM site WHERE target = -?1 AND mark & 7 != 3 LIMIT 1";
    REMOVE_LIST = "DELETE FROM candidate WHERE list = ?1";
    REMOVE_FILE = "DELETE FROM file WHERE id = ?1";
    MARK_WORDS = "INSERT OR IGNORE INTO words_changed SELECT ?1 FROM meta WHERE ?1 <= last_file";
    REMOVE_FILE_WORDS = "DELETE FROM file_words WHERE file = ?1";
    REMOVE_SYMBOLS = "DELETE FROM symbol WHERE id >= ?1 AND id < ?2";
    REMOVE_SITES = "DELETE FROM site WHERE id >= ?1 AND id < ?2";
    REMOVE_SITE_FILES = "DELETE FROM site_file WHERE site >= ?1 AND site < ?2";
    REMOVE_IMPORTS = "DELETE FROM import WHERE file = ?1";
    REMOVE_PROBLEMS = "DELETE FROM problem WHERE file = ?1";
    REMOVE_FILE_EDGES = "DELETE FROM file_edge WHERE source = ?1";
    REMOVE_RELATIONS = "DELETE FROM relation WHERE source >= ?1 AND source < ?2";
    MOVE_SITE_TARGETS = "UPDATE site SET target = target + ?3 WHERE target >= ?1 AND target < ?2 \
                         AND mark & 7 != 3";
    MOVE_CANDIDATES = "UPDATE candidate SET symbol = symbol + ?3 WHERE symbol >= ?1 AND symbol < \
                       ?2";
    MOVE_RELATION_TARGETS = "UPDATE relation SET target = target + ?3 WHERE target >= ?1 AND \
                             target < ?2";
    MOVE_CONTAINERS = "UPDATE symbol SET container = container + ?3 WHERE container >= ?1 AND \
                       container < ?2";
    SET_SITE = "UPDATE site SET mark = ?2, target = ?3 WHERE id = ?1";
    SET_IMPORT = "UPDATE import SET target = ?3 WHERE file = ?1 AND place = ?2";
    SET_REFERENCES = "UPDATE symbol SET refs = ?2 WHERE id = ?1";
    MARK_NAMES = "INSERT OR IGNORE INTO name_changed SELECT name FROM symbol WHERE id >= ?1 AND id \
                  < ?2";
    SET_COUNTS = "UPDATE file SET resolved = ?2, likely = ?3, ambiguous = ?4, external = ?5, \
                  unresolved = ?6, possible = ?7 WHERE id = ?1";
    SET_META = "UPDATE meta SET generation = ?1, built_at_ns = ?2, files = ?3, symbols = ?4, sites \
                = ?5";
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::format::schema;
    use crate::format::views::{KEPT_TABLES, KEPT_VIEWS, VIEWS};

    fn fresh() -> Connection {
        let connection = Connection::open_in_memory().expect("memory is available");
        connection.execute_batch(&schema::create()).expect("the schema is valid");
        for view in VIEWS {
            connection.execute_batch(&view.create()).expect("the views are valid");
        }
        connection
    }

    fn plan(connection: &Connection, text: &str) -> Vec<String> {
        let mut explain = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {text}"))
            .expect("it was prepared before");
        let rows =
            explain.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<_, _>>();
        rows.expect("a plan is text")
    }

    #[test]
    fn every_statement_prepares_and_has_the_plan_it_is_meant_to_have() {
        let connection = fresh();
        let mut plans = String::new();
        for (name, statement) in ALL {
            connection.prepare(statement.text()).unwrap_or_else(|error| panic!("{name}: {error}"));
            for step in plan(&connection, statement.text()) {
                plans.push_str(&format!("{name}: {step}\n"));
            }
        }
        insta::assert_snapshot!("plans", plans);
    }

    #[test]
    fn no_statement_is_parsed_again_for_another_value() {
        let connection = fresh();
        crate::read::connection::configure(&connection).expect("settings of readers");
        for (name, statement) in
            ALL.iter().filter(|(_, statement)| statement.text().starts_with("SELECT"))
        {
            let mut prepared = connection.prepare(statement.text()).expect(name);
            for value in [1, 2, 3] {
                for parameter in 1..=prepared.parameter_count() {
                    prepared.raw_bind_parameter(parameter, value).expect(name);
                }
                prepared.raw_query().next().expect(name);
            }
            assert_eq!(prepared.get_status(rusqlite::StatementStatus::RePrepare), 0, "{name}");
        }
    }

    #[test]
    fn views_have_the_columns_that_are_documented() {
        let connection = fresh();
        for view in VIEWS {
            let statement =
                connection.prepare(&format!("SELECT * FROM {}", view.name)).expect(view.name);
            let columns: Vec<&str> = statement.column_names().collect();
            let documented: Vec<&str> = view.columns.iter().map(|(name, _)| *name).collect();
            assert_eq!(columns, documented, "{}", view.name);
        }
        for (table, columns) in KEPT_TABLES {
            let text = format!("CREATE TEMP TABLE {table} {columns}");
            connection.execute_batch(&text).expect(table);
        }
        for view in KEPT_VIEWS {
            connection.execute_batch(&view.create_temporary()).expect(view.name);
            let statement =
                connection.prepare(&format!("SELECT * FROM {}", view.name)).expect(view.name);
            let columns: Vec<&str> = statement.column_names().collect();
            let documented: Vec<&str> = view.columns.iter().map(|(name, _)| *name).collect();
            assert_eq!(columns, documented, "{}", view.name);
        }
        let of_one = plan(&connection, "SELECT test FROM covers WHERE symbol_id = 1");
        assert!(of_one[0].contains("SEARCH c USING PRIMARY KEY"), "{of_one:?}");
    }

    #[test]
    fn settings_are_understood() {
        let connection = fresh();
        connection.execute_batch(WRITER_SETTINGS).expect("settings of the writer");
        connection.execute_batch(READER_SETTINGS).expect("settings of readers");
        assert!(connection.execute_batch("DELETE FROM meta").is_err(), "a reader cannot write");
    }
}
