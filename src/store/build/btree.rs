//! Append-only B-tree writer for a table or an index in key order: each page is written once, when
//! it is full, and none is read. Independent of the contents of rows.

use std::io;

use crate::build::page::{PAGE_BYTES, PageFile, put_payload, put_sqlite_varint};

/// Maximum length of a row within a page, in bytes, for a table and for an index; longer ones use
/// overflow pages.
const MAX_TABLE_PAYLOAD: usize = PAGE_BYTES - 35;
const MAX_INDEX_PAYLOAD: usize = (PAGE_BYTES - 12) * 64 / 255 - 23;

/// Length of a page header: leaf and interior.
const LEAF_HEAD: usize = 8;
const INNER_HEAD: usize = 12;

/// Kind of a B-tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Table B-tree: rows with an integer key (rowid).
    Table,
    /// Index B-tree: the row is its own key.
    Index,
}

/// Append-only B-tree.
pub(super) struct Tree {
    shape: Shape,
    /// Root page, which exists already.
    root: u32,
    /// Pages in progress: the last leaf, then its ancestors.
    levels: Vec<Node>,
    /// Rowid of the last row.
    last: i64,
    /// Buffer for the current cell, reused.
    cell: Vec<u8>,
}

impl Tree {
    /// Creates an empty tree.
    pub(crate) fn new(shape: Shape, root: u32) -> Self {
        Self { shape, root, levels: vec![Node::new(LEAF_HEAD)], last: i64::MIN, cell: Vec::new() }
    }

    /// Appends a row; `key` is its rowid, in a table.
    pub(crate) fn add(&mut self, pages: &mut PageFile<'_>, key: i64, row: &[u8]) -> io::Result<()> {
        let mut cell = std::mem::take(&mut self.cell);
        cell.clear();
        put_sqlite_varint(&mut cell, row.len() as u64);
        if self.shape == Shape::Table {
            put_sqlite_varint(&mut cell, key as u64);
            put_payload(&mut cell, row, MAX_TABLE_PAYLOAD, pages)?;
        } else {
            put_payload(&mut cell, row, MAX_INDEX_PAYLOAD, pages)?;
        }
        if !self.levels[0].has_room(&cell) {
            let mut between = Vec::new();
            match self.shape {
                // The separator in a table is the last key of a page; in an index the separator row
                // moves up.
                Shape::Table => put_sqlite_varint(&mut between, self.last as u64),
                Shape::Index => between = self.levels[0].take_last(),
            }
            let full = pages.append(self.levels[0].sealed(self.shape, None))?;
            self.levels[0].clear();
            self.lift(pages, 1, full, &between)?;
        }
        self.levels[0].put(&cell);
        debug_assert!(
            self.shape == Shape::Index || key > self.last,
            "rows come in the order of their numbers"
        );
        self.last = key;
        self.cell = cell;
        Ok(())
    }

    /// Adds a full page and its separator to the parent level; another page follows.
    fn lift(
        &mut self,
        pages: &mut PageFile<'_>,
        level: usize,
        full: u32,
        between: &[u8],
    ) -> io::Result<()> {
        if self.levels.len() == level {
            self.levels.push(Node::new(INNER_HEAD));
        }
        let cell = [&full.to_be_bytes()[..], between].concat();
        if !self.levels[level].has_room(&cell) {
            let (last, between) = self.levels[level].take_last_page();
            let full = pages.append(self.levels[level].sealed(self.shape, Some(last)))?;
            self.levels[level].clear();
            self.lift(pages, level + 1, full, &between)?;
        }
        self.levels[level].put(&cell);
        Ok(())
    }

    /// Writes the pages in progress. The file is valid only after all its trees are finished.
    pub(crate) fn finish(mut self, pages: &mut PageFile<'_>) -> io::Result<()> {
        let top = self.levels.len() - 1;
        let mut below = None;
        for level in &mut self.levels[..top] {
            below = Some(pages.append(level.sealed(self.shape, below))?);
        }
        pages.replace(self.root, self.levels[top].sealed(self.shape, below))
    }
}

/// Page in progress: header and cell pointers grow from the front, cells from the back.
struct Node {
    bytes: Box<[u8; PAGE_BYTES]>,
    head: usize,
    cells: usize,
    /// Offset of the last cell.
    start: usize,
    /// Length of the last cell.
    last: usize,
}

impl Node {
    fn new(head: usize) -> Self {
        Self { bytes: Box::new([0; PAGE_BYTES]), head, cells: 0, start: PAGE_BYTES, last: 0 }
    }

    fn clear(&mut self) {
        self.bytes.fill(0);
        (self.cells, self.start, self.last) = (0, PAGE_BYTES, 0);
    }

    fn has_room(&self, cell: &[u8]) -> bool {
        self.head + 2 * (self.cells + 1) + cell.len() <= self.start
    }

    fn put(&mut self, cell: &[u8]) {
        self.start -= cell.len();
        self.last = cell.len();
        self.bytes[self.start..self.start + cell.len()].copy_from_slice(cell);
        let at = self.head + 2 * self.cells;
        self.bytes[at..at + 2].copy_from_slice(&place(self.start));
        self.cells += 1;
    }

    /// Removes the last cell. A full page has others.
    fn take_last(&mut self) -> Vec<u8> {
        let cell = self.start..self.start + self.last;
        let taken = self.bytes[cell.clone()].to_vec();
        self.bytes[cell].fill(0);
        self.start += self.last;
        self.cells -= 1;
        let at = self.head + 2 * self.cells;
        self.bytes[at..at + 2].fill(0);
        taken
    }

    /// Removes the last cell of an interior page: the child page and its separator.
    fn take_last_page(&mut self) -> (u32, Vec<u8>) {
        let cell = self.take_last();
        let (page, between) =
            cell.split_first_chunk().expect("above the lowest level a cell begins with a page");
        (u32::from_be_bytes(*page), between.to_vec())
    }

    /// Encodes the page; `last` is the right-most child.
    fn sealed(&mut self, shape: Shape, last: Option<u32>) -> &[u8; PAGE_BYTES] {
        self.bytes[0] = match (shape, last) {
            (Shape::Table, None) => 13,
            (Shape::Table, Some(_)) => 5,
            (Shape::Index, None) => 10,
            (Shape::Index, Some(_)) => 2,
        };
        self.bytes[3..5].copy_from_slice(&place(self.cells));
        self.bytes[5..7].copy_from_slice(&place(self.start));
        if let Some(last) = last {
            self.bytes[8..12].copy_from_slice(&last.to_be_bytes());
        }
        &self.bytes
    }
}

fn place(number: usize) -> [u8; 2] {
    u16::try_from(number).expect("places in a page are below 2^16").to_be_bytes()
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use rusqlite::Connection;

    use super::*;
    use crate::build::page::put_row;
    use crate::format::schema::value::Value;

    /// Lengths around the overflow limits of tables and indexes, and around full overflow pages.
    const LENGTHS: [usize; 16] =
        [0, 1, 60, 470, 489, 900, 985, 986, 987, 1_100, 4_040, 4_052, 4_060, 5_000, 8_600, 13_000];
    const NUMBERS: [i64; 14] = [
        0,
        1,
        2,
        -1,
        127,
        128,
        -129,
        1 << 15,
        1 << 23,
        1 << 31,
        1 << 40,
        1 << 47,
        i64::MAX,
        i64::MIN,
    ];

    fn contents(number: usize) -> (i64, Option<i64>, String, Vec<u8>) {
        let length = LENGTHS[number % LENGTHS.len()] + number % 7;
        let (text, bytes) =
            (format!("{number:06}{}", "t".repeat(length)), vec![number as u8; length / 2]);
        (
            number as i64 * 3 + 1,
            Some(NUMBERS[number % NUMBERS.len()]).filter(|_| !number.is_multiple_of(5)),
            text,
            bytes,
        )
    }

    /// Fills two trees with this many rows and runs SQLite's integrity check.
    fn check(count: usize) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("trees.db");
        let connection = Connection::open(&path).expect("a file");
        let tables =
            "PRAGMA page_size = 4096; CREATE TABLE plain (id INTEGER PRIMARY KEY, number INTEGER, text TEXT, bytes BLOB);
            CREATE TABLE keyed (text TEXT, number INTEGER, PRIMARY KEY (text, number)) WITHOUT ROWID;";
        connection.execute_batch(tables).expect("they are valid");
        drop(connection);
        let file = File::options().read(true).write(true).open(&path).expect("SQLite has made it");
        let mut pages = PageFile::new(&file, None).expect("it has a length");
        let (mut plain, mut keyed) = (Tree::new(Shape::Table, 2), Tree::new(Shape::Index, 3));
        for (id, number, text, bytes) in (0..count).map(contents) {
            let mut row = Vec::new();
            put_row(&mut row, true, &[number.into(), (&*text).into(), Value::from(&*bytes)]);
            plain.add(&mut pages, id, &row).expect("room");
            row.clear();
            put_row(&mut row, false, &[Value::from(&*text), id.into()]);
            keyed.add(&mut pages, 0, &row).expect("room");
        }
        plain.finish(&mut pages).and_then(|()| keyed.finish(&mut pages)).expect("room");
        pages.finish().expect("room");
        let connection = Connection::open(&path).expect("a store");
        let verdict: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("a verdict");
        assert_eq!(verdict, "ok", "{count} rows");
        let mut select = connection
            .prepare("SELECT id, number, text, bytes FROM plain ORDER BY id")
            .expect("it is valid");
        let rows = select
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .expect("rows");
        let rows: Vec<(i64, Option<i64>, String, Vec<u8>)> =
            rows.collect::<Result<_, _>>().expect("values of their types");
        assert!(rows.into_iter().eq((0..count).map(contents)), "{count} rows");
        let mut find = connection
            .prepare("SELECT p.id FROM keyed k JOIN plain p ON p.id = k.number WHERE k.text = ?1")
            .expect("valid");
        for (id, _, text, _) in (0..count).map(contents) {
            assert_eq!(find.query_row([text], |row| row.get::<_, i64>(0)).expect("it exists"), id);
        }
    }

    #[test]
    fn sqlite_finds_in_a_tree_what_was_put_there() {
        [0, 1, 2, 3, 5, 11, 100, 6_000].into_iter().for_each(check);
    }
}
