//! Source of the symbols of `explore`: which lines of which symbols fit, whole symbols first.

use super::windows::{self, FOLD, Line};
use crate::answers::render::{digits, gutter};
use cograph_query::explore::Source;
use cograph_query::{ExploreResult, SymbolInfo};
use std::collections::BTreeSet;

/// Minimum room for the source of a symbol, in bytes.
const LEAST: usize = 160;

/// Consecutive lines: number of the first, and the lines.
pub(super) type Part<'s> = (u32, &'s [String]);

/// Lines of one symbol that are shown.
pub(super) struct Extract<'s> {
    /// Position of the symbol among all: those with neighbours, then the others.
    pub(super) at: usize,
    pub(super) source: &'s Source,
    /// True for each line that is shown.
    shown: Vec<bool>,
}

impl<'s> Extract<'s> {
    /// Runs of lines that are shown.
    pub(super) fn parts(&self) -> Vec<Part<'s>> {
        let excerpt = &self.source.excerpt;
        let mut parts = Vec::new();
        let mut start = 0;
        for run in self.shown.chunk_by(|one, other| one == other) {
            if run[0] {
                let lines = &excerpt.lines[start..start + run.len()];
                parts.push((excerpt.first_line + start as u32, lines));
            }
            start += run.len();
        }
        parts
    }

    /// Number of lines that are not shown; those behind the excerpt included.
    pub(super) fn folded(&self, symbol: &SymbolInfo) -> usize {
        let lines = (symbol.last_line.saturating_sub(symbol.first_line) + 1) as usize;
        lines.saturating_sub(self.shown.iter().filter(|shown| **shown).count())
    }

    /// Numbered lines; folded ones are replaced by their number.
    pub(super) fn text(&self, symbol: &SymbolInfo) -> String {
        let excerpt = &self.source.excerpt;
        let width = digits(excerpt.first_line as usize + excerpt.lines.len());
        // Indented, as the line numbers are.
        let fold = |lines: u32| match lines {
            0 => String::new(),
            1 => format!("\n{:width$}  … 1 line", ""),
            _ => format!("\n{:width$}  … {lines} lines", ""),
        };
        let (mut text, mut next) = (String::new(), excerpt.first_line);
        for (first, lines) in self.parts() {
            text.push_str(&fold(first - next));
            for (line, number) in lines.iter().zip(first..) {
                text.push('\n');
                text.push_str(&gutter(number, width, line));
            }
            next = first + lines.len() as u32;
        }
        text.push_str(&fold((symbol.last_line + 1).saturating_sub(next)));
        text
    }
}

/// A symbol with source, and the bytes of its lines as text.
struct Entry<'s> {
    at: usize,
    source: &'s Source,
    lines: Vec<usize>,
}

impl Entry<'_> {
    /// Bytes of all lines.
    fn bytes(&self) -> usize {
        self.lines.iter().sum()
    }
}

/// Source of a result, ready to be fitted into a page.
pub(super) struct Sources<'s> {
    result: &'s ExploreResult,
    /// Bytes of each symbol's title.
    titles: Vec<usize>,
    first: Vec<Entry<'s>>,
    others: Vec<Entry<'s>>,
}

impl<'s> Sources<'s> {
    /// Measures the sources of the first symbols, and of the first others.
    pub(super) fn of(
        result: &'s ExploreResult,
        shown: usize,
        title: impl Fn(&SymbolInfo) -> String,
    ) -> Self {
        let entry = |(at, source): (usize, &'s Source)| {
            let excerpt = &source.excerpt;
            let width = digits(excerpt.first_line as usize + excerpt.lines.len());
            let bytes = |(line, number): (&String, u32)| gutter(number, width, line).len() + 1;
            let lines = excerpt.lines.iter().zip(excerpt.first_line..).map(bytes).collect();
            Entry { at, source, lines }
        };
        let first = result.symbols[..shown].iter().enumerate();
        let first = first.filter_map(|(at, one)| Some((at, one.source.as_ref().ok()?)));
        let all = result.symbols.len();
        let others = result.others.iter().enumerate();
        let others = others.filter_map(|(at, one)| Some((all + at, one.source.as_ref()?)));
        let titles = symbols(result).map(|symbol| title(symbol).len() + 1).collect();
        Self {
            titles,
            first: first.map(entry).collect(),
            others: others.map(entry).collect(),
            result,
        }
    }

    /// Bytes of the first symbols with their whole source.
    pub(super) fn wanted(&self) -> usize {
        self.first.iter().map(|entry| entry.bytes() + self.titles[entry.at]).sum()
    }

    /// Selects lines within a number of bytes: of the first symbols, then of the others.
    pub(super) fn fit(&self, room: usize) -> Vec<Extract<'s>> {
        let wanted: Vec<usize> =
            self.first.iter().map(|entry| entry.bytes() + self.titles[entry.at]).collect();
        let mut printed = BTreeSet::new();
        let mut extracts = Vec::new();
        let (mut left, mut saved) = (room, 0);
        for (entry, share) in self.first.iter().zip(windows::shares(&wanted, room)) {
            let own = self.extract(entry, share + saved, &mut printed);
            let used = own.as_ref().map_or(0, |(_, used)| *used);
            saved = (share + saved).saturating_sub(used);
            left = left.saturating_sub(used);
            extracts.extend(own.map(|(extract, _)| extract));
        }
        for entry in &self.others {
            let own = self.extract(entry, left, &mut printed);
            left = left.saturating_sub(own.as_ref().map_or(0, |(_, used)| *used));
            extracts.extend(own.map(|(extract, _)| extract));
        }
        extracts
    }

    /// Selects lines of one symbol, and returns the number of bytes that they take. `None` if
    /// nothing fits or all of it is shown already.
    fn extract(
        &self,
        entry: &Entry<'s>,
        room: usize,
        printed: &mut BTreeSet<(&'s str, u32)>,
    ) -> Option<(Extract<'s>, usize)> {
        let excerpt = &entry.source.excerpt;
        let (path, title) = (excerpt.path.as_str(), self.titles[entry.at]);
        let is_hidden = |line: usize| printed.contains(&(path, excerpt.first_line + line as u32));
        let lines: Vec<Line<'_>> = entry
            .lines
            .iter()
            .zip(&entry.source.words)
            .enumerate()
            .map(|(at, (&bytes, words))| Line { bytes, words, is_hidden: is_hidden(at) })
            .collect();
        let needed: usize =
            lines.iter().filter(|line| !line.is_hidden).map(|line| line.bytes).sum();
        if needed == 0 || room < title + needed.min(LEAST) {
            return None;
        }
        let shown = windows::select(&lines, &self.result.word_weights, room - title);
        let runs = shown.chunk_by(|one, other| one == other).count();
        let text: usize =
            lines.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(line, _)| line.bytes).sum();
        if text == 0 {
            return None;
        }
        let numbers = (excerpt.first_line..).zip(&shown).filter(|(_, shown)| **shown);
        printed.extend(numbers.map(|(number, _)| (path, number)));
        let folds = runs.div_ceil(2) * FOLD;
        let used = title + text + if runs > 1 { folds } else { 0 };
        Some((Extract { at: entry.at, source: entry.source, shown }, used))
    }
}

/// All symbols of a result: those with neighbours, then the others.
pub(super) fn symbols(result: &ExploreResult) -> impl Iterator<Item = &SymbolInfo> {
    let first = result.symbols.iter().map(|explored| &explored.symbol);
    first.chain(result.others.iter().map(|other| &other.symbol))
}
