//! Rendering of `explore`.

use super::json;
use crate::query::explore::{Connection, CoveringTest, Explored, OtherSymbol, Why};
use crate::query::{ExploreResult, SymbolInfo};
use crate::server::answers::Answer;
use crate::server::answers::budget::Page;
use crate::server::answers::render::{
    CONTENT, Groups, RAISE, after_name, full_name, name, path, plural, symbol_line, symbol_place,
};
use crate::server::base::escape::SafeLine;
use crate::server::tools::show::text::beginning;
use serde_json::Value;

/// Number of callers and callees per symbol.
const NEIGHBOURS: usize = 4;
/// Number of tests.
const TESTS: usize = 4;
/// Number of call chains.
const CONNECTIONS: usize = 4;
/// Divisor: share of the limit for further symbols.
const OTHERS_PART: usize = 2;
/// Divisor: share of the budget for source.
const SOURCE_PART: usize = 5;
/// Maximum length of a header on the line of a further symbol, in bytes.
const SHORT_HEADER: usize = 44;

impl Answer for ExploreResult {
    fn render(&self, page: &mut Page) -> String {
        let mut shown = page.add_all(self.symbols.iter().map(summary));
        if let (0, Some(best)) = (shown, self.symbols.first()) {
            shown = usize::from(page.add(&place(best)));
        }
        let others = self.others(page);
        page.left_out(
            shown + others,
            self.total.number(),
            "symbols fit less",
            "name one, give `path`, or use `search`",
        );
        if shown == self.symbols.len() {
            let connections = self.connections.iter().take(CONNECTIONS).map(connection);
            page.section("how they connect:", connections);
        }
        let tests = self.tests(page);
        page.left_out(tests, self.test_total.number(), "tests", "`trace` with `tests`: only");
        self.sources(page);
        let shown = shown + others;
        let content = if shown > 0 { format!(" · {CONTENT}") } else { String::new() };
        format!("{shown} of {} symbols that fit{content}", self.total)
    }

    fn json(&self) -> Value {
        json::explore(self)
    }

    fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

impl ExploreResult {
    /// Tests grouped by what they reach, at most `TESTS`.
    fn tests(&self, page: &mut Page) -> usize {
        let mut shown = 0;
        let tests = &self.tests[..self.tests.len().min(TESTS)];
        for group in tests.chunk_by(|one, other| one.covers == other.covers) {
            let covered: Vec<String> = group[0]
                .covers
                .iter()
                .filter_map(|&at| self.symbols.get(at))
                .map(|explored| name(&explored.symbol).to_string())
                .collect();
            let title = format!("tests that reach {}:", covered.join(", "));
            let mut groups = Groups::inline(page.room().saturating_sub(title.len() + 1));
            let count = group
                .iter()
                .take_while(|test| {
                    groups.add(&path(&test.symbol.path).to_string(), &test_entry(test))
                })
                .count();
            if count > 0 {
                page.add(&title);
            }
            groups.write(page);
            shown += count;
        }
        shown
    }

    /// Further symbols, one line each, by rank.
    fn others(&self, page: &mut Page) -> usize {
        let mut groups = Groups::ranked(page.room() / OTHERS_PART);
        let entry =
            |other: &OtherSymbol| format!("{}{}", short_line(&other.symbol), because(&other.why));
        let shown = self
            .others
            .iter()
            .take_while(|other| groups.add(&path(&other.symbol.path).to_string(), &entry(other)))
            .count();
        groups.write(page);
        shown
    }

    /// Source of the symbols, best first, with the remaining space shared so that no symbol takes
    /// all of it.
    fn sources(&self, page: &mut Page) {
        let mut without = Vec::new();
        // Further symbols are as useful as source.
        let mut left = page.whole() / SOURCE_PART;
        for (at, explored) in self.symbols.iter().enumerate() {
            let Ok(excerpt) = &explored.source else { continue };
            let title = full_name(&explored.symbol);
            // A symbol may take half of the remaining space, the last one all of it.
            let last = at + 1 == self.symbols.len();
            let room = page.room().min(left);
            let share = if last { room } else { room / 2 };
            match beginning(excerpt, share.saturating_sub(title.len() + 100)) {
                Some((text, lines)) => {
                    let whole = explored.symbol.last_line.saturating_sub(explored.symbol.first_line)
                        as usize
                        + 1;
                    let more = if whole > lines {
                        format!("\n… {} more lines: `show`", whole - lines)
                    } else {
                        String::new()
                    };
                    let entry = format!("{title}{text}{more}");
                    left = left.saturating_sub(entry.len());
                    page.add(&entry);
                }
                None => without.push(name(&explored.symbol).to_string()),
            }
        }
        if !without.is_empty() {
            page.omit(format!(
                "… no room for the source of {}: `show`, or {RAISE}",
                without.join(", ")
            ));
        }
    }
}

/// ` · named; has parse, token`: why the symbol was selected.
fn because(why: &Why) -> String {
    let words = why
        .words
        .iter()
        .map(|word| SafeLine::new(word, 40).to_string())
        .collect::<Vec<_>>()
        .join(", ");
    match (why.is_named, words.is_empty()) {
        (true, _) => " · named".to_owned(),
        (false, false) => format!(" · {words}"),
        (false, true) => String::new(),
    }
}

/// One line for a symbol, with its parameters if they are short.
fn short_line(symbol: &SymbolInfo) -> String {
    let rest = after_name(symbol).to_string();
    let shown = &rest[..rest.floor_char_boundary(SHORT_HEADER)];
    let mark = if shown.len() < rest.len() { "…" } else { "" };
    let test = if symbol.is_test() { " [test]" } else { "" };
    format!("{}{shown}{mark}{test}", symbol_place(symbol))
}

/// `name:line`, with the distance if it is not a direct test.
fn test_entry(test: &CoveringTest) -> String {
    let steps =
        if test.distance > 1 { format!(" ({} calls)", test.distance) } else { String::new() };
    format!("{}:{}{steps}", name(&test.symbol), test.symbol.first_line)
}

/// Where a symbol is defined, where there is no room for its header.
fn place(explored: &Explored) -> String {
    format!("{}:{}", path(&explored.symbol.path), symbol_place(&explored.symbol))
}

fn summary(explored: &Explored) -> String {
    let symbol = &explored.symbol;
    let mut text =
        format!("{}:{}{}", path(&symbol.path), symbol_line(symbol), because(&explored.why));
    let possible = if explored.possible_callers > 0 {
        format!(", {} possible", explored.possible_callers)
    } else {
        String::new()
    };
    for (names, total, what, note) in [
        (&explored.callers, explored.caller_total, "callers", possible.as_str()),
        (&explored.callees, explored.callee_total, "calls", ""),
    ] {
        if total > 0 {
            let shown = names.len().min(NEIGHBOURS);
            let more = if total > shown as u64 { ", …" } else { "" };
            let neighbours: Vec<String> =
                names[..shown].iter().map(|other| neighbour(other, symbol)).collect();
            text.push_str(&format!("\n  {what} ({total}{note}): {}{more}", neighbours.join(", ")));
        } else if !note.is_empty() {
            text.push_str(&format!("\n  {what} (0{note})"));
        }
    }
    text
}

/// A neighbour of a symbol; its path only if it differs.
fn neighbour(symbol: &SymbolInfo, near: &SymbolInfo) -> String {
    if symbol.path == near.path {
        format!("{}:{}", name(symbol), symbol.first_line)
    } else {
        format!("{} {}:{}", name(symbol), path(&symbol.path), symbol.first_line)
    }
}

fn connection(connection: &Connection) -> String {
    let steps: Vec<String> =
        connection
            .chain
            .iter()
            .map(|(symbol, line)| {
                if *line > 0 {
                    format!("{}:{line}", name(symbol))
                } else {
                    name(symbol).to_string()
                }
            })
            .collect();
    format!("  {} ({})", steps.join(" → "), plural(steps.len().saturating_sub(1) as u64, "call"))
}
