//! Tables filled from a graph: their columns, keys and rows, described once. `schema` creates the
//! tables from this description, `row_encoder` fills rows by the names of columns, and
//! `bulk_loader` reads the key and the columns of indexes from it.

use super::value::Value;

/// Columns and key of a table.
pub(crate) struct TableSchema {
    /// Name.
    pub(crate) name: &'static str,
    /// Columns in order: name and declaration.
    pub(crate) columns: &'static [(&'static str, &'static str)],
    /// Columns of the primary key of a table WITHOUT ROWID; none where the first column is the
    /// rowid.
    pub(crate) key: &'static [&'static str],
    /// CREATE statement.
    pub(crate) create: &'static str,
    /// INSERT statement; its parameters are the columns in order.
    pub(crate) insert: &'static str,
}

impl TableSchema {
    /// Number of a column.
    pub(crate) fn column(&self, name: &str) -> usize {
        let position = self.columns.iter().position(|(column, _)| *column == name);
        position.unwrap_or_else(|| panic!("table {} has no column {name}", self.name))
    }

    /// True if the first column is the rowid.
    pub(crate) fn has_rowid(&self) -> bool {
        self.key.is_empty()
    }
}

/// Row of a table.
pub(crate) struct Row<'v, const COLUMNS: usize> {
    pub(crate) table: Table,
    pub(crate) values: [Value<'v>; COLUMNS],
}

/// Parameter of an INSERT statement for one more column.
macro_rules! parameter {
    ($column:ident) => {
        ", ?"
    };
}

/// End of a CREATE statement.
macro_rules! end {
    () => { ")" };
    ($first:ident $($key:ident)*) => {
        concat!(
            ", PRIMARY KEY (", stringify!($first), $(", ", stringify!($key),)* ")) WITHOUT ROWID"
        )
    };
}

macro_rules! tables {
    ($(
        $(#[$doc:meta])*
        $table:ident = $name:ident(
            $first:ident: $is:literal $(, $column:ident: $declared:literal)+ $(,)?
        )
        $(key($($key:ident),+))?;
    )+) => {
        /// Table filled from a graph.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Table { $($(#[$doc])* $table,)+ }

        impl Table {
            /// Every table, by number.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$table,)+];

            /// Columns and key.
            pub(crate) const fn schema(self) -> &'static TableSchema {
                match self { $(Self::$table => &$name::SCHEMA,)+ }
            }
        }

        $(
            $(#[$doc])*
            pub(crate) mod $name {
                pub(super) const SCHEMA: $crate::format::schema::tables::TableSchema =
                    $crate::format::schema::tables::TableSchema {
                        name: stringify!($name),
                        columns: &[
                            (stringify!($first), $is),
                            $((stringify!($column), $declared),)+
                        ],
                        key: &[$($(stringify!($key),)+)?],
                        create: concat!(
                            "CREATE TABLE ", stringify!($name), " (", stringify!($first), " ", $is,
                            $(", ", stringify!($column), " ", $declared,)+ end!($($($key)+)?)
                        ),
                        insert: concat!(
                            "INSERT INTO ", stringify!($name),
                            " VALUES (?", $(parameter!($column),)+ ")"
                        ),
                    };

                /// Values by column.
                pub(crate) struct Columns<'v> {
                    pub(crate) $first: $crate::format::schema::value::Value<'v>,
                    $(pub(crate) $column: $crate::format::schema::value::Value<'v>,)+
                }

                impl<'v> Columns<'v> {
                    /// The values in the order of the columns.
                    pub(crate) fn in_order(
                        self,
                    ) -> $crate::format::schema::tables::Row<'v, { SCHEMA.columns.len() }> {
                        $crate::format::schema::tables::Row {
                            table: $crate::format::schema::tables::Table::$table,
                            values: [self.$first, $(self.$column,)+],
                        }
                    }
                }
            }
        )+
    };
}

/// Row of a table from values of several types: `row!(site_file { site: key, file })`.
macro_rules! row {
    (@ $column:ident) => { $column };
    (@ $column:ident: $value:expr) => { $value };
    ($table:ident { $($column:ident $(: $value:expr)?),+ $(,)? }) => {
        $crate::format::schema::tables::$table::Columns {
            $($column: $crate::format::schema::value::Value::from(
                $crate::format::schema::tables::row!(@ $column $(: $value)?)
            ),)+
        }
        .in_order()
    };
}
pub(crate) use row;

tables! {
    /// Names that symbols have come first, in order of their letters.
    Name = name(id: "INTEGER PRIMARY KEY", text: "TEXT NOT NULL");

    /// The names that are not in that order: those that no symbol had when the store was made, and
    /// those that came later.
    OtherName = other_name(text: "TEXT NOT NULL COLLATE NOCASE", name: "INTEGER NOT NULL")
        key(text, name);

    /// The names of symbols in runs: see `front_coding`. They stay as they were made, as the tops
    /// and the letters do.
    NameRun = name_run(id: "INTEGER PRIMARY KEY", names: "BLOB NOT NULL");

    /// The tops of all runs, in one row.
    NameTops = name_tops(id: "INTEGER PRIMARY KEY CHECK (id = 1)", tops: "BLOB NOT NULL");

    /// The runs that have three letters.
    NameGram = name_gram(id: "INTEGER PRIMARY KEY", runs: "BLOB NOT NULL");

    /// Files of the walk, with the first of the consecutive ids of their symbols and sites, and the
    /// number of sites by verdict.
    File = file(
        id: "INTEGER PRIMARY KEY",
        path: "TEXT NOT NULL",
        language: "INTEGER",
        size: "INTEGER NOT NULL",
        modified_ns: "INTEGER NOT NULL",
        hash: "BLOB",
        lines: "INTEGER NOT NULL",
        skipped: "INTEGER",
        flags: "INTEGER NOT NULL",
        first_symbol: "INTEGER NOT NULL",
        symbols: "INTEGER NOT NULL",
        first_site: "INTEGER NOT NULL",
        sites: "INTEGER NOT NULL",
        resolved: "INTEGER NOT NULL",
        likely: "INTEGER NOT NULL",
        ambiguous: "INTEGER NOT NULL",
        external: "INTEGER NOT NULL",
        unresolved: "INTEGER NOT NULL",
        possible: "INTEGER NOT NULL",
        changed_ns: "INTEGER NOT NULL",
        inode: "INTEGER NOT NULL",
        package: "TEXT",
    );

    /// The words of each file, and the symbols that have them, see `model::words`. The second is
    /// read for a few files only.
    FileWords = file_words(
        file: "INTEGER PRIMARY KEY",
        words: "BLOB NOT NULL",
        postings: "BLOB NOT NULL",
    );

    /// The files that have a term, by blocks of terms: see `term_index`. They stay as they were
    /// made, as the lengths do.
    TermBlock = term_block(first: "INTEGER PRIMARY KEY", postings: "BLOB NOT NULL");

    /// The lengths of all files, in one row.
    FileLengths = file_lengths(id: "INTEGER PRIMARY KEY CHECK (id = 1)", lengths: "BLOB NOT NULL");

    /// `traits` is visibility + 4 * kind + 128 * flags. Lines are counted from the first line. For
    /// `signature` see `columns`.
    Symbol = symbol(
        id: "INTEGER PRIMARY KEY",
        file: "INTEGER NOT NULL",
        name: "INTEGER NOT NULL",
        traits: "INTEGER NOT NULL",
        container: "INTEGER",
        least: "INTEGER NOT NULL",
        most: "INTEGER NOT NULL",
        start_line: "INTEGER NOT NULL",
        start_column: "INTEGER NOT NULL",
        more_lines: "INTEGER NOT NULL",
        end_column: "INTEGER NOT NULL",
        start_byte: "INTEGER NOT NULL",
        length: "INTEGER NOT NULL",
        name_down: "INTEGER NOT NULL",
        name_column: "INTEGER NOT NULL",
        signature: "TEXT NOT NULL",
        doc: "TEXT NOT NULL",
        refs: "INTEGER NOT NULL",
        first_site: "INTEGER NOT NULL",
        site_span: "INTEGER NOT NULL",
        complexity: "INTEGER NOT NULL",
    );

    /// `mark` is verdict + 8 * kind + 128 * step + 4096 * line. What `target` is depends on the
    /// verdict: a symbol (resolved, likely), a set of symbols with a minus (candidates if ambiguous
    /// or possible, variants if resolved), a name (external), the variable or field that holds what
    /// is called (unresolved).
    Site = site(
        id: "INTEGER PRIMARY KEY",
        file: "INTEGER NOT NULL",
        enclosing: "INTEGER",
        name: "INTEGER NOT NULL",
        mark: "INTEGER NOT NULL",
        col: "INTEGER NOT NULL",
        target: "INTEGER",
    );

    /// Files that sites lead to.
    SiteFile = site_file(site: "INTEGER PRIMARY KEY", file: "INTEGER NOT NULL");

    /// Many sites have the same candidates or variants; a set is stored once.
    Candidate = candidate(list: "INTEGER NOT NULL", symbol: "INTEGER NOT NULL") key(list, symbol);

    /// Imports. `marks` has the bits of `import_marks`.
    Import = import(
        file: "INTEGER NOT NULL",
        place: "INTEGER NOT NULL",
        module: "INTEGER NOT NULL",
        level: "INTEGER NOT NULL",
        item: "INTEGER",
        line: "INTEGER NOT NULL",
        col: "INTEGER NOT NULL",
        target: "INTEGER",
        marks: "INTEGER NOT NULL",
    ) key(file, place);

    /// Relations between symbols.
    Relation = relation(
        source: "INTEGER NOT NULL",
        kind: "INTEGER NOT NULL",
        target: "INTEGER NOT NULL",
    ) key(source, kind, target);

    /// Regions of files that are incomplete.
    Problem = problem(
        file: "INTEGER NOT NULL",
        place: "INTEGER NOT NULL",
        kind: "INTEGER NOT NULL",
        first_line: "INTEGER NOT NULL",
        last_line: "INTEGER NOT NULL",
    ) key(file, place);

    /// Resolved and likely sites, and imports, that lead from one file to another. `imports` has a
    /// bit for each sort of import.
    FileEdge = file_edge(
        source: "INTEGER NOT NULL",
        target: "INTEGER NOT NULL",
        sites: "INTEGER NOT NULL",
        imports: "INTEGER NOT NULL",
    ) key(source, target);
}
