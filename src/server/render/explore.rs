//! The answer of `explore`.

use super::show::beginning;
use super::{CONTENT, Groups, RAISE, full_name, name, path, plural, symbol_line};
use crate::query::explore::{Connection, CoveringTest, Explored};
use crate::query::{ExploreResult, SymbolInfo};
use crate::server::budget::Page;
use crate::server::reply;
use crate::server::tools::Answer;
use serde_json::Value;

/// Callers and callees that are named for each symbol.
const NEIGHBOURS: usize = 6;
/// Tests that are named.
const TESTS: usize = 10;

impl Answer for ExploreResult {
    fn render(&self, page: &mut Page) -> String {
        let shown = page.add_all(self.symbols.iter().map(summary));
        page.left_out(shown, self.total.number(), "symbols fit", "name one of these, give `path`, or use `search`");
        page.section("how they connect:", self.connections.iter().take(10).map(connection));
        let tests = self.tests(page);
        page.left_out(tests, self.test_total.number(), "tests", "`trace` with `tests`: only");
        self.sources(page);
        format!("{shown} of {} symbols that fit · {CONTENT}", self.total)
    }

    fn json(&self) -> Value {
        reply::explore(self)
    }

    fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

impl ExploreResult {
    /// Tests by what they reach, at most `TESTS` of them.
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
            let count =
                group.iter().take_while(|test| groups.add(&path(&test.symbol.path).to_string(), &test_entry(test))).count();
            if count > 0 {
                page.add(&title);
            }
            groups.write(page);
            shown += count;
        }
        shown
    }

    /// The source of the symbols, best first, with what room is left shared out so that none takes all of it.
    fn sources(&self, page: &mut Page) {
        let mut without = Vec::new();
        for (at, explored) in self.symbols.iter().enumerate() {
            let Ok(excerpt) = &explored.source else { continue };
            let title = full_name(&explored.symbol);
            // A symbol may take half of what is left, and the last one all of it.
            let last = at + 1 == self.symbols.len();
            let share = if last { page.room() } else { page.room() / 2 };
            match beginning(excerpt, share.saturating_sub(title.len() + 100)) {
                Some((text, lines)) => {
                    let whole = explored.symbol.last_line.saturating_sub(explored.symbol.first_line) as usize + 1;
                    let more = if whole > lines { format!("\n… {} more lines: `show`", whole - lines) } else { String::new() };
                    page.add(&format!("{title}{text}{more}"));
                }
                None => without.push(name(&explored.symbol).to_string()),
            }
        }
        if !without.is_empty() {
            page.omit(format!("… no room for the source of {}: `show`, or {RAISE}", without.join(", ")));
        }
    }
}

/// `name:line`, and how far away it is if it is not next to them.
fn test_entry(test: &CoveringTest) -> String {
    let steps = if test.distance > 1 { format!(" ({} calls)", test.distance) } else { String::new() };
    format!("{}:{}{steps}", name(&test.symbol), test.symbol.first_line)
}

fn summary(explored: &Explored) -> String {
    let symbol = &explored.symbol;
    let mut text = format!("{}:{}", path(&symbol.path), symbol_line(symbol));
    let possible =
        if explored.possible_callers > 0 { format!(", {} possible", explored.possible_callers) } else { String::new() };
    for (names, total, what, note) in [
        (&explored.callers, explored.caller_total, "callers", possible.as_str()),
        (&explored.callees, explored.callee_total, "calls", ""),
    ] {
        if total > 0 {
            let shown = names.len().min(NEIGHBOURS);
            let more = if total > shown as u64 { ", …" } else { "" };
            let neighbours: Vec<String> = names[..shown].iter().map(|other| neighbour(other, symbol)).collect();
            text.push_str(&format!("\n  {what} ({total}{note}): {}{more}", neighbours.join(", ")));
        } else if !note.is_empty() {
            text.push_str(&format!("\n  {what} (0{note})"));
        }
    }
    text
}

/// A symbol near another one: its path only where it is not the same.
fn neighbour(symbol: &SymbolInfo, near: &SymbolInfo) -> String {
    if symbol.path == near.path {
        format!("{}:{}", name(symbol), symbol.first_line)
    } else {
        format!("{} {}:{}", name(symbol), path(&symbol.path), symbol.first_line)
    }
}

fn connection(connection: &Connection) -> String {
    let steps: Vec<String> = connection
        .chain
        .iter()
        .map(|(symbol, line)| if *line > 0 { format!("{}:{line}", name(symbol)) } else { name(symbol).to_string() })
        .collect();
    format!("  {} ({})", steps.join(" → "), plural(steps.len().saturating_sub(1) as u64, "call"))
}
