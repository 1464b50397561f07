//! Bulk loader: fills every table and index of a new store in key order, page by page. Index
//! entries are collected and sorted after the last row. SQLite has created the empty tables from
//! `schema`.

use std::fs::File;
use std::io;
use std::thread::Builder;

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::row::RowSink;
use crate::build::btree::{Shape, Tree};
use crate::build::page::{PageFile, put_row};
use crate::format::schema::indexes::{Condition, INDEXES, Index};
use crate::format::schema::tables::{Row, Table};
use crate::format::schema::value::Value;
use crate::format::statements;

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
            let schema = table.schema();
            let shape = if schema.has_rowid() { Shape::Table } else { Shape::Index };
            Tree::new(shape, roots.of(schema.name))
        };
        let tables = Table::ALL.iter().map(tree).collect();
        Ok(Self {
            pages: PageFile::new(file, max_bytes)?,
            roots,
            tables,
            indexes: Indexes::new(),
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

    fn add<const COLUMNS: usize>(&mut self, row: Row<'_, COLUMNS>) -> io::Result<()> {
        let Row { table, values } = row;
        self.indexes.collect(table, &values);
        self.row.clear();
        let (key, others) = if table.schema().has_rowid() {
            (Some(number(&values, 0)), &values[1..])
        } else {
            (None, &values[..])
        };
        put_row(&mut self.row, key.is_some(), others);
        self.tables[table as usize].add(&mut self.pages, key.unwrap_or_default(), &self.row)
    }
}

fn number(values: &[Value<'_>], column: usize) -> i64 {
    values[column].integer().expect("a key is a number")
}

/// Indexes by table.
struct Indexes(Vec<Vec<Filling>>);

impl Indexes {
    fn new() -> Self {
        let of = |table: Table| INDEXES.iter().filter(move |index| index.table == table);
        Self(Table::ALL.iter().map(|&table| of(table).map(Filling::new).collect()).collect())
    }

    /// Collects the index entries of a row.
    fn collect(&mut self, table: Table, values: &[Value<'_>]) {
        for index in &mut self.0[table as usize] {
            index.collect(values);
        }
    }

    /// Writes the index B-trees.
    fn write(mut self, pages: &mut PageFile<'_>, roots: &Roots) -> io::Result<()> {
        let mut of_sites = std::mem::take(&mut self.0[Table::Site as usize]);
        std::thread::scope(|scope| {
            // By far the largest: sorted while the others are written.
            let sort = || of_sites.iter_mut().for_each(|index| index.entries.sort());
            Builder::new().name("store-sorter".to_owned()).spawn_scoped(scope, sort)?;
            self.0.into_iter().flatten().try_for_each(|index| index.write(pages, roots))
        })?;
        of_sites.into_iter().try_for_each(|index| index.write(pages, roots))
    }
}

/// Index whose entries are being collected.
struct Filling {
    index: &'static Index,
    conditions: Vec<(usize, Condition)>,
    columns: Vec<usize>,
    entries: Entries,
}

/// Unsorted entries: the indexed value, negated for a descending index, and the rest of the key.
/// All numbers are below 2^31, as keys are.
enum Entries {
    Texts(Vec<(Box<str>, i32)>),
    Pairs(Vec<[i32; 2]>),
    Triples(Vec<[i32; 3]>),
}

impl Filling {
    fn new(index: &'static Index) -> Self {
        let (conditions, columns) = (index.conditions(), index.columns());
        let entries = match columns.len() {
            2 if index.is_of_texts() => Entries::Texts(Vec::new()),
            2 => Entries::Pairs(Vec::new()),
            3 => Entries::Triples(Vec::new()),
            other => unreachable!("entries of {} have {other} columns", index.name),
        };
        Self { index, conditions, columns, entries }
    }

    fn collect(&mut self, values: &[Value<'_>]) {
        if !self.conditions.iter().all(|&(column, condition)| condition.holds(values[column])) {
            return;
        }
        let sign = if self.index.is_descending() { -1 } else { 1 };
        match &mut self.entries {
            Entries::Texts(entries) => {
                if let Value::Text(text) = values[self.columns[0]] {
                    entries.push((text.into(), small(values, self.columns[1])));
                }
            }
            Entries::Pairs(entries) => {
                let [first, key] = [0, 1].map(|at| small(values, self.columns[at]));
                entries.push([sign * first, key]);
            }
            Entries::Triples(entries) => {
                let [first, key, more] = [0, 1, 2].map(|at| small(values, self.columns[at]));
                entries.push([sign * first, key, more]);
            }
        }
    }

    fn write(mut self, pages: &mut PageFile<'_>, roots: &Roots) -> io::Result<()> {
        self.entries.sort();
        let sign = if self.index.is_descending() { -1 } else { 1 };
        let mut tree = Tree::new(Shape::Index, roots.of(self.index.name));
        let mut row = Vec::new();
        let mut add = |values: &[Value<'_>]| {
            row.clear();
            put_row(&mut row, false, values);
            tree.add(pages, 0, &row)
        };
        let value = |number: i32| Value::Integer(number.into());
        match self.entries {
            Entries::Texts(entries) => {
                entries.iter().try_for_each(|(text, key)| add(&[(&**text).into(), value(*key)]))
            }
            Entries::Pairs(entries) => {
                entries.iter().try_for_each(|&[first, key]| add(&[sign * first, key].map(value)))
            }
            Entries::Triples(entries) => entries
                .iter()
                .try_for_each(|&[first, key, more]| add(&[sign * first, key, more].map(value))),
        }?;
        tree.finish(pages)
    }
}

impl Entries {
    fn sort(&mut self) {
        match self {
            Self::Texts(entries) => entries.sort_unstable(),
            Self::Pairs(entries) => entries.sort_unstable(),
            Self::Triples(entries) => entries.sort_unstable(),
        }
    }
}

fn small(values: &[Value<'_>], column: usize) -> i32 {
    i32::try_from(number(values, column))
        .expect("the numbers of an index are keys and counts below 2^31")
}
