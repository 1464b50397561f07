//! Page encoder for SQLite's file format, as far as it is needed to fill empty B-trees that SQLite
//! created. Independent of tables.

use std::fs::File;
use std::io;

use crate::format::schema::value::Value;
use cograph_system::positioned::write_all_at;

/// Page size in bytes.
pub(super) const PAGE_BYTES: usize = 4_096;

/// Lock-byte page of SQLite, which must stay empty.
const LOCK_PAGE: u32 = 0x4000_0000 / PAGE_BYTES as u32 + 1;

/// Pages per write.
const PAGES_AT_ONCE: usize = 64;

/// Offset of the page count in the file header.
const PAGE_COUNT_AT: u64 = 28;

/// Payload of an overflow page in bytes, after the number of the next one.
const CHAINED_BYTES: usize = PAGE_BYTES - 4;

/// Appends pages to a file.
pub(super) struct PageFile<'f> {
    file: &'f File,
    /// Number of pages, including buffered ones.
    count: u32,
    /// Maximum number of pages.
    most: u32,
    /// Buffered pages.
    waiting: Vec<u8>,
}

impl<'f> PageFile<'f> {
    /// Appends after the pages of `file`, up to `max_bytes` in total.
    pub(crate) fn new(file: &'f File, max_bytes: Option<u64>) -> io::Result<Self> {
        let pages = |bytes: u64| u32::try_from(bytes / PAGE_BYTES as u64).unwrap_or(u32::MAX);
        let count = pages(file.metadata()?.len());
        // SQLite's maximum page number.
        let most = max_bytes.map_or(u32::MAX, pages).min(u32::MAX - 2);
        Ok(Self { file, count, most, waiting: Vec::with_capacity(PAGES_AT_ONCE * PAGE_BYTES) })
    }

    /// Appends a page and returns its number.
    pub(crate) fn append(&mut self, page: &[u8; PAGE_BYTES]) -> io::Result<u32> {
        let number = self.next();
        if number != self.count + 1 {
            self.append_bytes(&[0; PAGE_BYTES])?;
        }
        self.append_bytes(page)?;
        Ok(number)
    }

    /// Number of the next page.
    fn next(&self) -> u32 {
        if self.count + 1 == LOCK_PAGE { LOCK_PAGE + 1 } else { self.count + 1 }
    }

    fn append_bytes(&mut self, page: &[u8; PAGE_BYTES]) -> io::Result<()> {
        if self.count >= self.most {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.waiting.extend_from_slice(page);
        self.count += 1;
        if self.waiting.len() >= PAGES_AT_ONCE * PAGE_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes a chain of overflow pages and returns the number of its first page.
    fn append_chain(&mut self, bytes: &[u8]) -> io::Result<u32> {
        let first = self.next();
        let mut page = [0; PAGE_BYTES];
        let mut parts = bytes.chunks(CHAINED_BYTES).peekable();
        while let Some(part) = parts.next() {
            let number = self.next();
            let after = if number + 1 == LOCK_PAGE { LOCK_PAGE + 1 } else { number + 1 };
            let after = if parts.peek().is_some() { after } else { 0 };
            page[..4].copy_from_slice(&after.to_be_bytes());
            page[4..4 + part.len()].copy_from_slice(part);
            page[4 + part.len()..].fill(0);
            self.append(&page)?;
        }
        Ok(first)
    }

    /// Overwrites a page that existed before.
    pub(crate) fn replace(&self, number: u32, page: &[u8; PAGE_BYTES]) -> io::Result<()> {
        write_all_at(self.file, page, offset(number - 1))
    }

    fn flush(&mut self) -> io::Result<()> {
        let waiting =
            u32::try_from(self.waiting.len() / PAGE_BYTES).expect("only a number of pages wait");
        write_all_at(self.file, &self.waiting, offset(self.count - waiting))?;
        self.waiting.clear();
        Ok(())
    }

    /// Flushes the buffer and writes the page count.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        write_all_at(self.file, &self.count.to_be_bytes(), PAGE_COUNT_AT)
    }
}

/// File offset of the page after this many others.
fn offset(before: u32) -> u64 {
    u64::from(before) * PAGE_BYTES as u64
}

/// Appends a varint of the SQLite file format: seven bits per byte, big-endian; not the varint of
/// `model::packed`.
pub(super) fn put_sqlite_varint(bytes: &mut Vec<u8>, number: u64) {
    if number < 0x80 {
        bytes.push(number as u8);
        return;
    }
    if number >> 56 != 0 {
        // Nine-byte form: eight groups of seven bits, and a full byte.
        bytes.extend((0..8).rev().map(|place| (number >> (8 + 7 * place)) as u8 | 0x80));
        bytes.push(number as u8);
        return;
    }
    let more = (63 - number.leading_zeros()) / 7;
    bytes.extend((1..=more).rev().map(|place| (number >> (7 * place)) as u8 | 0x80));
    bytes.push(number as u8 & 0x7f);
}

/// Appends a record: header with serial types, then the values. The rowid column of a table is
/// stored as NULL.
pub(super) fn put_row(bytes: &mut Vec<u8>, has_number: bool, values: &[Value<'_>]) {
    let start = bytes.len();
    // Length of the record header, including itself.
    bytes.push(0);
    if has_number {
        bytes.push(0);
    }
    for value in values {
        let code = match *value {
            Value::Null => 0,
            Value::Integer(number) => u64::from(width(number).0),
            Value::Text(text) => 13 + 2 * text.len() as u64,
            Value::Blob(blob) => 12 + 2 * blob.len() as u64,
        };
        put_sqlite_varint(bytes, code);
    }
    let head = bytes.len() - start;
    assert!(head < 0x80, "a row has some twenty values at most, and few of them are long");
    bytes[start] = head as u8;
    for value in values {
        match *value {
            Value::Null => {}
            Value::Integer(number) => {
                bytes.extend_from_slice(&number.to_be_bytes()[8 - width(number).1..])
            }
            Value::Text(text) => bytes.extend_from_slice(text.as_bytes()),
            Value::Blob(blob) => bytes.extend_from_slice(blob),
        }
    }
}

/// Serial type of an integer, and its length in bytes.
fn width(number: i64) -> (u8, usize) {
    let bits = 65 - (number ^ (number >> 63)).leading_zeros();
    match (number, bits) {
        (0, _) => (8, 0),
        (1, _) => (9, 0),
        (_, ..=8) => (1, 1),
        (_, ..=16) => (2, 2),
        (_, ..=24) => (3, 3),
        (_, ..=32) => (4, 4),
        (_, ..=48) => (5, 6),
        _ => (6, 8),
    }
}

/// Appends a payload to a cell, up to `most` bytes; the rest goes to overflow pages.
pub(super) fn put_payload(
    cell: &mut Vec<u8>,
    row: &[u8],
    most: usize,
    pages: &mut PageFile<'_>,
) -> io::Result<()> {
    /// Minimum length of the local payload.
    const LEAST: usize = (PAGE_BYTES - 12) * 32 / 255 - 23;
    if row.len() <= most {
        cell.extend_from_slice(row);
        return Ok(());
    }
    // Local payload such that the last overflow page is full, if possible.
    let wanted = LEAST + (row.len() - LEAST) % CHAINED_BYTES;
    let (here, elsewhere) = row.split_at(if wanted <= most { wanted } else { LEAST });
    cell.extend_from_slice(here);
    cell.extend_from_slice(&pages.append_chain(elsewhere)?.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_sqlite_varint(&mut bytes, number);
        bytes
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        for (value, bytes) in [
            (0, &[0][..]),
            (0x7f, &[0x7f]),
            (0x80, &[0x81, 0]),
            (0x3fff, &[0xff, 0x7f]),
            (0x4000, &[0x81, 0x80, 0]),
            ((1 << 56) - 1, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            (1 << 56, &[0x80, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]),
            (u64::MAX, &[0xff; 9]),
        ] {
            assert_eq!(number(value), bytes, "{value:x}");
        }
        let widths =
            [0, 1, 2, -1, 127, 128, -128, -129, 1 << 23, -(1 << 31), 1 << 31, 1 << 47, i64::MIN]
                .map(|n| width(n).1);
        assert_eq!(widths, [0, 0, 1, 1, 1, 2, 1, 2, 4, 4, 6, 8, 8]);
    }

    #[test]
    fn the_page_that_is_locked_holds_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("pages");
        let file = File::options()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(path)
            .expect("a file");
        file.set_len(offset(LOCK_PAGE - 3)).expect("a file with a hole");
        let mut pages = PageFile::new(&file, None).expect("it has a length");
        assert_eq!(pages.append(&[1; PAGE_BYTES]).expect("room"), LOCK_PAGE - 2);
        let chain = vec![2; CHAINED_BYTES + 1];
        assert_eq!(pages.append_chain(&chain).expect("room"), LOCK_PAGE - 1);
        assert_eq!(pages.append(&[3; PAGE_BYTES]).expect("room"), LOCK_PAGE + 2);
        pages.finish().expect("it can be written");
        let page = |number: u32| {
            let mut page = vec![0; PAGE_BYTES];
            cograph_system::positioned::read_exact_at(&file, &mut page, offset(number - 1))
                .expect("it was written");
            page
        };
        assert_eq!(page(LOCK_PAGE), [0; PAGE_BYTES]);
        assert_eq!(page(LOCK_PAGE - 1)[..5], [&(LOCK_PAGE + 1).to_be_bytes()[..], &[2]].concat());
        assert_eq!(page(LOCK_PAGE + 1)[..6], [0, 0, 0, 0, 2, 0]);
        assert_eq!(page(LOCK_PAGE + 2), [3; PAGE_BYTES]);
        assert_eq!(page(1)[28..32], (LOCK_PAGE + 2).to_be_bytes());
    }
}
