//! Bulk loader: fills every table and index of a new store in key order, page by page. Index
//! entries are collected and sorted after the last row. SQLite has created the empty tables from
//! `schema`.

use std::fs::File;
use std::io;
use std::thread::Builder;

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::row::{RowSink, Table, Value, row};
use crate::build::btree::{Shape, Tree};
use crate::build::page::{PageFile, put_row};
use crate::format::schema::MIN_INDEXED_REFS;
use crate::format::statements;
use cograph_model::Verdict;

/// Root page of each table and index, by name.
pub(super) struct Roots(FxHashMap<String, u32>);

impl Roots {
    /// Reads the root pages of a database.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut roots = connection.prepare(statements::ROOTS.text())?;
        let roots = roots.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        roots.collect::<Result<_, _>>().map(Self)
    }

    fn of(&self, name: &str) -> u32 {
        *self.0.get(name).expect("the schema has every table that is filled and every index")
    }
}

/// Bulk loader of all tables of a file.
pub(super) struct BulkRows<'f> {
    pages: PageFile<'f>,
    roots: Roots,
    /// By table.
    tables: Vec<Tree>,
    indexes: Indexes,
    row: Vec<u8>,
}

impl<'f> BulkRows<'f> {
    /// Creates a loader for a file without other writers; the file may grow to `max_bytes`.
    pub(crate) fn new(file: &'f File, roots: Roots, max_bytes: Option<u64>) -> io::Result<Self> {
        let tree = |table: &Table| {
            Tree::new(
                if has_numbers(*table) { Shape::Table } else { Shape::Index },
                roots.of(table.name()),
            )
        };
        let tables = Table::ALL.iter().map(tree).collect();
        Ok(Self {
            pages: PageFile::new(file, max_bytes)?,
            roots,
            tables,
            indexes: Indexes::default(),
            row: Vec::new(),
        })
    }

    /// Finishes the tables and writes the indexes.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        for tree in self.tables {
            tree.finish(&mut self.pages)?;
        }
        self.indexes.write(&mut self.pages, &self.roots)?;
        self.pages.finish()
    }
}

impl RowSink for BulkRows<'_> {
    type Error = io::Error;

    fn add(&mut self, table: Table, values: &[Value<'_>]) -> io::Result<()> {
        self.indexes.collect(table, values);
        self.row.clear();
        let (key, others) = if has_numbers(table) {
            (Some(number(values, 0)), &values[1..])
        } else {
            (None, values)
        };
        put_row(&mut self.row, key.is_some(), others);
        self.tables[table as usize].add(&mut self.pages, key.unwrap_or_default(), &self.row)
    }
}

/// True if the first column is the rowid; false for tables WITHOUT ROWID.
fn has_numbers(table: Table) -> bool {
    match table {
        Table::Name
        | Table::NameRun
        | Table::NameTops
        | Table::NameGram
        | Table::File
        | Table::FileWords
        | Table::TermBlock
        | Table::FileLengths
        | Table::Symbol
        | Table::Site
        | Table::SiteFile => true,
        Table::OtherName
        | Table::Candidate
        | Table::Import
        | Table::Relation
        | Table::Problem
        | Table::FileEdge => false,
    }
}

fn number(values: &[Value<'_>], column: usize) -> i64 {
    values[column].integer().expect("a key is a number")
}

/// Entry of an index over integers: the indexed value and the rest of the key. All values are below
/// 2^31, as keys are.
type IndexEntry<const N: usize> = [i32; N];

/// Unsorted entries of every index in `schema`.
#[derive(Default)]
struct Indexes {
    file_path: Vec<(Box<str>, i64)>,
    file_skipped: Vec<IndexEntry<2>>,
    symbol_name: Vec<IndexEntry<2>>,
    /// Negated: the index is descending.
    symbol_refs: Vec<IndexEntry<2>>,
    symbol_container: Vec<IndexEntry<2>>,
    site_target: Vec<IndexEntry<2>>,
    site_open: Vec<IndexEntry<2>>,
    candidate_symbol: Vec<IndexEntry<2>>,
    import_target: Vec<IndexEntry<3>>,
    relation_target: Vec<IndexEntry<3>>,
}

impl Indexes {
    /// Collects the index entries of a row.
    fn collect(&mut self, table: Table, values: &[Value<'_>]) {
        match table {
            Table::File => {
                if let Value::Text(path) = values[1] {
                    self.file_path.push((path.into(), number(values, 0)));
                }
                if values[7].integer().is_some() {
                    self.file_skipped.push(entry(values, [7, 0]));
                }
            }
            Table::Symbol => {
                self.symbol_name.push(entry(values, [2, 0]));
                if number(values, 17) >= MIN_INDEXED_REFS {
                    let [references, key] = entry(values, [17, 0]);
                    self.symbol_refs.push([-references, key]);
                }
                if values[4].integer().is_some() {
                    self.symbol_container.push(entry(values, [4, 0]));
                }
            }
            Table::Site => {
                let verdict = number(values, 4) & 7;
                if verdict != Verdict::External as i64 && values[6].integer().is_some() {
                    self.site_target.push(entry(values, [6, 0]));
                }
                if verdict == Verdict::Unresolved as i64 {
                    self.site_open.push(entry(values, [3, 0]));
                }
            }
            Table::Candidate => self.candidate_symbol.push(entry(values, [1, 0])),
            Table::Import if values[7].integer().is_some() => {
                self.import_target.push(entry(values, [7, 0, 1]))
            }
            Table::Relation => self.relation_target.push(entry(values, [2, 0, 1])),
            Table::Import
            | Table::Name
            | Table::OtherName
            | Table::NameRun
            | Table::NameTops
            | Table::NameGram
            | Table::FileWords
            | Table::TermBlock
            | Table::FileLengths
            | Table::SiteFile
            | Table::Problem
            | Table::FileEdge => {}
        }
    }

    /// Writes the index B-trees.
    fn write(self, pages: &mut PageFile<'_>, roots: &Roots) -> io::Result<()> {
        let Self {
            mut file_path,
            symbol_name,
            symbol_refs,
            symbol_container,
            mut site_target,
            mut site_open,
            ..
        } = self;
        let tree = |name: &str| Tree::new(Shape::Index, roots.of(name));
        std::thread::scope(|scope| {
            // By far the largest index: sorted while the others are written.
            let sort = || {
                [&mut site_target, &mut site_open]
                    .into_iter()
                    .for_each(|entries| entries.sort_unstable())
            };
            Builder::new().name("store-sorter".to_owned()).spawn_scoped(scope, sort)?;
            file_path.sort_unstable();
            let (mut paths, mut row) = (tree("file_path"), Vec::new());
            for (path, key) in &file_path {
                row.clear();
                put_row(&mut row, false, &row![&**path, *key]);
                paths.add(pages, 0, &row)?;
            }
            paths.finish(pages)?;
            fill(tree("file_skipped"), self.file_skipped, pages, |number| number)?;
            fill(tree("symbol_name"), symbol_name, pages, |number| number)?;
            fill(tree("symbol_refs"), symbol_refs, pages, |number| -number)?;
            fill(tree("symbol_container"), symbol_container, pages, |number| number)?;
            fill(tree("candidate_symbol"), self.candidate_symbol, pages, |number| number)?;
            fill(tree("import_target"), self.import_target, pages, |number| number)?;
            fill(tree("relation_target"), self.relation_target, pages, |number| number)
        })?;
        fill(tree("site_target"), site_target, pages, |number| number)?;
        fill(tree("site_open"), site_open, pages, |number| number)
    }
}

fn entry<const N: usize>(values: &[Value<'_>], columns: [usize; N]) -> IndexEntry<N> {
    columns.map(|column| {
        i32::try_from(number(values, column))
            .expect("the numbers of an index are keys and counts below 2^31")
    })
}

/// Sorts the entries of an index if necessary, and writes them; `shown` maps the first column to
/// its stored value.
fn fill<const N: usize>(
    mut tree: Tree,
    mut entries: Vec<IndexEntry<N>>,
    pages: &mut PageFile<'_>,
    shown: impl Fn(i32) -> i32,
) -> io::Result<()> {
    entries.sort_unstable();
    let mut row = Vec::new();
    for mut entry in entries {
        entry[0] = shown(entry[0]);
        row.clear();
        put_row(&mut row, false, &entry.map(|number| Value::Integer(number.into())));
        tree.add(pages, 0, &row)?;
    }
    tree.finish(pages)
}
