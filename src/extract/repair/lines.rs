//! The structure of a source by the indentation of its lines, for parts that have no tree.

use cograph_grammar::Language;
use std::ops::Range;
use tree_sitter::Point;

/// Columns between stops of tabulators.
const TAB: usize = 4;

/// Lines of a source.
pub(super) struct Lines<'s> {
    pub(super) source: &'s [u8],
    /// First byte of each line, and the end of the source.
    starts: Vec<usize>,
    /// Indentation of each line; none for a line that has no place of its own: an empty one, or a
    /// directive.
    indents: Vec<Option<usize>>,
    /// True for a line that ends what began at its indentation.
    closers: Vec<bool>,
}

impl<'s> Lines<'s> {
    pub(super) fn of(language: &Language, source: &'s [u8]) -> Self {
        let mut lines = Self { source, starts: vec![0], indents: Vec::new(), closers: Vec::new() };
        lines.starts.extend(memchr::memchr_iter(b'\n', source).map(|at| at + 1));
        if lines.starts.last() != Some(&source.len()) {
            lines.starts.push(source.len());
        }
        let directive = language.manifest.preprocessor.directive.as_deref().unwrap_or("\0");
        for line in lines.starts.windows(2) {
            let text = &source[line[0]..line[1]];
            let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let (blanks, rest) = text.split_at(blanks);
            let column = |column: usize, byte: &u8| match byte {
                b'\t' => column + TAB - column % TAB,
                _ => column + 1,
            };
            let has_place = !rest.is_empty() && !rest.starts_with(directive.as_bytes());
            lines.indents.push(has_place.then(|| blanks.iter().fold(0, column)));
            lines.closers.push(is_closer(rest, &language.manifest.repairs.ends));
        }
        lines
    }

    /// True if a line ends what began at its indentation.
    pub(super) fn closes(&self, row: usize) -> bool {
        self.closers.get(row).copied().unwrap_or_default()
    }

    fn indent(&self, row: usize) -> Option<usize> {
        self.indents.get(row).copied().flatten()
    }

    /// Returns the end of the item that begins with a line: that line, deeper ones, and those that
    /// end it.
    fn end_of(&self, start: usize, indent: usize) -> usize {
        let mut end = start + 1;
        for row in start + 1..self.indents.len() {
            match self.indent(row) {
                None => continue,
                Some(other) if other > indent || (other == indent && self.closes(row)) => {
                    end = row + 1;
                }
                Some(_) => break,
            }
        }
        end
    }

    /// Returns the items that are siblings among the given lines.
    pub(super) fn items(&self, rows: Range<usize>) -> Vec<Range<usize>> {
        let (mut items, mut row) = (Vec::new(), rows.start);
        while row < rows.end {
            let Some(indent) = self.indent(row) else {
                row += 1;
                continue;
            };
            let end = self.end_of(row, indent).min(rows.end);
            items.push(row..end);
            row = end;
        }
        items
    }

    /// Returns the items inside of an item.
    pub(super) fn children(&self, item: &Range<usize>) -> Vec<Range<usize>> {
        let Some(indent) = self.indent(item.start) else { return Vec::new() };
        let is_inside = |row: &usize| self.indent(*row).is_some_and(|other| other > indent);
        let mut children = Vec::new();
        let mut row = item.start + 1;
        while let Some(start) = (row..item.end).find(is_inside) {
            let end = (start..item.end)
                .find(|row| self.indent(*row).is_some_and(|other| other <= indent));
            row = end.unwrap_or(item.end);
            children.extend(self.items(start..row));
        }
        children
    }

    /// Returns the lines of all items that share lines with the given ones.
    pub(super) fn around(&self, rows: &Range<usize>) -> Range<usize> {
        let least = rows.clone().filter_map(|row| self.indent(row)).min().unwrap_or_default();
        let begins = |row: &usize| {
            !self.closes(*row) && self.indent(*row).is_some_and(|indent| indent <= least)
        };
        let start = (0..=rows.start).rev().find(begins).unwrap_or(rows.start);
        let end = self.items(start..rows.end).last().map_or(rows.end, |item| item.end);
        let end_of = |row: usize| self.end_of(row, self.indent(row).unwrap_or_default());
        let last = self.items(start..rows.end).last().map_or(end, |item| end_of(item.start));
        start..last.max(end)
    }

    /// Returns the lines of the items around an item that are not inside of them: their first lines
    /// and their ends.
    pub(super) fn frame(&self, item: &Range<usize>) -> Vec<Range<usize>> {
        let (mut frame, mut row) = (Vec::new(), item.start);
        let mut least = self.indent(item.start).unwrap_or_default();
        while let Some(start) = (0..row).rev().find(|row| {
            !self.closes(*row) && self.indent(*row).is_some_and(|indent| indent < least)
        }) {
            least = self.indent(start).unwrap_or_default();
            let is_edge = |row: &usize| self.indent(*row) == Some(least);
            let edges = (start..self.end_of(start, least)).filter(is_edge);
            frame.extend(edges.map(|row| row..row + 1));
            row = start;
        }
        frame.sort_unstable_by_key(|rows| rows.start);
        frame
    }

    /// Returns the bytes of lines.
    pub(super) fn bytes(&self, rows: &Range<usize>) -> Range<usize> {
        let start = |row: usize| self.starts.get(row).copied().unwrap_or(self.source.len());
        start(rows.start)..start(rows.end)
    }

    /// Returns the place of lines for the parser.
    pub(super) fn place(&self, rows: &Range<usize>) -> tree_sitter::Range {
        let bytes = self.bytes(rows);
        tree_sitter::Range {
            start_byte: bytes.start,
            end_byte: bytes.end,
            start_point: Point { row: rows.start, column: 0 },
            end_point: Point { row: rows.end, column: 0 },
        }
    }
}

fn is_closer(text: &[u8], ends: &[String]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match text.first() {
        Some(b'}' | b')' | b']') => true,
        Some(byte) if is_word(byte) => {
            let end = text.iter().position(|byte| !is_word(byte)).unwrap_or(text.len());
            ends.iter().any(|word| word.as_bytes() == &text[..end])
        }
        _ => false,
    }
}
