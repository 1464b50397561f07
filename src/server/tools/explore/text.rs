//! Rendering of `explore`: what fits into the budget, as text and, with the same symbols and lines,
//! as JSON.

use super::json;
use super::shared::Shared;
use super::shown::Shown;
use super::sources::{Extract, Sources, symbols};
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{
    CONTENT, Groups, RAISE, after_name, full_name, path, plural, symbol_line, symbol_place,
};
use crate::base::escape::SafeLine;
use cograph_query::explore::{Connection, CoveringTest, Explored, OtherSymbol, UnmatchedWord, Why};
use cograph_query::{ExploreResult, SymbolInfo};
use cograph_store::SymbolKey;
use serde_json::Value;

/// Number of callers and callees per symbol.
const NEIGHBOURS: usize = 4;
/// Number of tests.
const TESTS: usize = 4;
/// Number of call chains.
const CONNECTIONS: usize = 4;
/// Divisor: share of the budget for source.
const SOURCE_PART: usize = 2;
/// Divisor: share of the budget for further symbols that source does not take.
const OTHERS_PART: usize = 6;
/// Divisor: share of the budget for names of further functions, and their number.
const FUNCTIONS_PART: usize = 12;
const FUNCTIONS: usize = 40;
const FUNCTIONS_TITLE: &str = "further functions of the best files:";
/// Divisor: share of the budget for tests.
const TESTS_PART: usize = 16;
/// Bytes reserved for notes in addition to those of the page.
const NOTES: usize = 160;
/// Maximum length of a header on the line of a further symbol, in bytes.
const SHORT_HEADER: usize = 44;

impl Answer for ExploreResult {
    fn render(&self, page: &mut Page) -> String {
        Layout(self).lay_out(page).0
    }

    fn json(&self) -> Value {
        self.json_within(&mut Page::new(u64::from(u32::MAX)))
    }

    fn json_within(&self, page: &mut Page) -> Value {
        let (_, shown) = Layout(self).lay_out(page);
        json::explore(self, &shown)
    }

    fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }
}

/// A result as it is laid out on a page.
struct Layout<'r>(&'r ExploreResult);

impl<'r> Layout<'r> {
    /// Fills the page. Returns the first line, and what is shown.
    fn lay_out(&self, page: &mut Page) -> (String, Shown<'r>) {
        let shared = Shared::of(symbols(self.0));
        let mut shown = page.add_all(self.0.symbols.iter().map(|one| summary(one, &shared)));
        let mut with_source = shown;
        if let (0, Some(best)) = (shown, self.0.symbols.first()) {
            shown = usize::from(page.add(&place(&best.symbol, &shared)));
            with_source = 0;
        }
        let all = shown == self.0.symbols.len();
        let connections: Vec<String> = self
            .0
            .connections
            .iter()
            .take(if all { CONNECTIONS } else { 0 })
            .map(|one| connection(one, &shared))
            .collect();
        let sources = Sources::of(self.0, with_source, |symbol| full_name(&shared.short(symbol)));
        let tests = self.tests(page.limit() / TESTS_PART, &shared);
        // The source comes last and has its share all the same.
        let names = (page.limit() / FUNCTIONS_PART).min(self.0.functions.len() * SHORT_HEADER);
        let after = connections.iter().chain(tests.iter().map(|(text, _)| text));
        let after: usize = after.map(|text| text.len() + 1).sum();
        let kept = (page.limit() / SOURCE_PART).min(sources.wanted()) + names + after + NOTES;
        let room = page.room();
        let others_room = room.saturating_sub(kept).max(room.min(page.limit() / OTHERS_PART));
        let others = self.others(page, others_room, &shared);
        page.left_out(
            shown + others,
            self.0.total.number(),
            "symbols fit less",
            "name one, give `path`, or use `search`",
        );
        let listed: Vec<_> = self.0.others[..others].iter().map(|other| other.symbol.key).collect();
        let functions = self.functions(page, &listed, &shared);
        let connections = page.section("how they connect:", connections);
        let tests = tests.into_iter().take_while(|(text, _)| page.add(text));
        let tests: usize = tests.map(|(_, count)| count).sum();
        page.left_out(tests, self.0.test_total.number(), "tests", "`trace` with `tests`: only");
        let sources = self.sources(page, &sources, with_source, others, &shared);
        if let Some(note) = unmatched(&self.0.unmatched) {
            page.note(note);
        }
        let count = shown + others;
        let content = if count > 0 { format!(" · {CONTENT}") } else { String::new() };
        let head =
            format!("{count} of {} symbols that fit{}{content}", self.0.total, shared.notice());
        (head, Shown { symbols: shown, others, functions, connections, tests, sources })
    }

    /// Tests grouped by what they reach, at most `TESTS`: text and number of each group.
    fn tests(&self, mut room: usize, shared: &Shared) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        let tests = &self.0.tests[..self.0.tests.len().min(TESTS)];
        for group in tests.chunk_by(|one, other| one.covers == other.covers) {
            let covered: Vec<String> = group[0]
                .covers
                .iter()
                .filter_map(|&at| self.0.symbols.get(at))
                .map(|explored| shared.name(&explored.symbol))
                .collect();
            let title = format!("tests that reach {}:", covered.join(", "));
            let mut groups = Groups::inline(room.saturating_sub(title.len() + 1));
            let count = group
                .iter()
                .take_while(|test| {
                    groups.add(&path(&test.symbol.path).to_string(), &test_entry(test, shared))
                })
                .count();
            if count == 0 {
                break;
            }
            let text = format!("{title}\n{}", groups.texts().collect::<Vec<_>>().join("\n"));
            room = room.saturating_sub(text.len() + 1);
            found.push((text, count));
        }
        found
    }

    /// Further symbols, one line each, by rank.
    fn others(&self, page: &mut Page, room: usize, shared: &Shared) -> usize {
        let mut groups = Groups::ranked(room);
        let entry = |other: &OtherSymbol| {
            format!("{}{}", short_line(&shared.short(&other.symbol)), because(&other.why))
        };
        let shown = self
            .0
            .others
            .iter()
            .take_while(|other| groups.add(&path(&other.symbol.path).to_string(), &entry(other)))
            .count();
        groups.write(page);
        shown
    }

    /// Names of further functions of the best files, the best ones that fit, one line for each
    /// file.
    fn functions(
        &self,
        page: &mut Page,
        listed: &[SymbolKey],
        shared: &Shared,
    ) -> Vec<Vec<&'r SymbolInfo>> {
        let room = page.room().min(page.limit() / FUNCTIONS_PART);
        let mut left = room.saturating_sub(FUNCTIONS_TITLE.len() + 1);
        let mut files: Vec<(String, Vec<&SymbolInfo>)> = Vec::new();
        let further = self.0.functions.iter().filter(|symbol| !listed.contains(&symbol.key));
        for symbol in further.take(FUNCTIONS) {
            let known = files.iter().position(|(_, own)| own[0].path == symbol.path);
            let heading = format!("{}:", path(&symbol.path));
            let name = shared.short(symbol).qualified_name();
            let entry = format!(" {}:{}", SafeLine::new(&name, 160), symbol.name_at.line);
            let cost = entry.len() + known.map_or(heading.len() + 1, |_| 1);
            if cost > left {
                break;
            }
            left -= cost;
            match known {
                Some(at) => {
                    let (line, own) = &mut files[at];
                    line.push(',');
                    line.push_str(&entry);
                    own.push(symbol);
                }
                None => files.push((format!("{heading}{entry}"), vec![symbol])),
            }
        }
        let count = page.section(FUNCTIONS_TITLE, files.iter().map(|(line, _)| line));
        files.into_iter().take(count).map(|(_, own)| own).collect()
    }

    /// Source of the symbols: whole, or around the words of the question.
    fn sources(
        &self,
        page: &mut Page,
        sources: &Sources<'r>,
        with_source: usize,
        others: usize,
        shared: &Shared,
    ) -> Vec<Extract<'r>> {
        let last = self.0.symbols.len() + others;
        let mut shown = Vec::new();
        let mut is_folded = false;
        for extract in sources.fit(page.room().saturating_sub(NOTES)) {
            let Some(symbol) = symbols(self.0).nth(extract.at).filter(|_| extract.at < last) else {
                continue;
            };
            let text = extract.text(symbol);
            if page.add(&format!("{}{text}", full_name(&shared.short(symbol)))) {
                is_folded |= extract.folded(symbol) > 0;
                shown.push(extract);
            }
        }
        let without: Vec<String> = self.0.symbols[..with_source]
            .iter()
            .enumerate()
            .filter(|(at, one)| one.source.is_ok() && !shown.iter().any(|own| own.at == *at))
            .map(|(_, one)| shared.name(&one.symbol))
            .collect();
        if !without.is_empty() {
            page.omit(format!(
                "… no room for the source of {}: `show`, or {RAISE}",
                without.join(", ")
            ));
        } else if is_folded {
            page.omit(format!("… folded lines: `show`, or {RAISE}"));
        }
        shown
    }
}

/// Note about words of the question that are in no file; `None` without any.
fn unmatched(words: &[UnmatchedWord]) -> Option<String> {
    let one = |unmatched: &UnmatchedWord| {
        let word = SafeLine::new(&unmatched.word, 40);
        let similar: Vec<String> =
            unmatched.similar.iter().map(|name| format!("`{}`", SafeLine::new(name, 60))).collect();
        match similar.is_empty() {
            true => format!("`{word}`"),
            false => format!("`{word}` (near: {})", similar.join(", ")),
        }
    };
    let words: Vec<String> = words.iter().map(one).collect();
    (!words.is_empty()).then(|| format!("in no indexed file: {}", words.join(", ")))
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
fn test_entry(test: &CoveringTest, shared: &Shared) -> String {
    let steps =
        if test.distance > 1 { format!(" ({} calls)", test.distance) } else { String::new() };
    format!("{}:{}{steps}", shared.name(&test.symbol), test.symbol.name_at.line)
}

/// Where a symbol is defined, where there is no room for its header.
fn place(symbol: &SymbolInfo, shared: &Shared) -> String {
    format!("{}:{}", path(&symbol.path), symbol_place(&shared.short(symbol)))
}

fn summary(explored: &Explored, shared: &Shared) -> String {
    let symbol = &explored.symbol;
    let line = symbol_line(&shared.short(symbol));
    let mut text = format!("{}:{line}{}", path(&symbol.path), because(&explored.why));
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
                names[..shown].iter().map(|other| neighbour(other, symbol, shared)).collect();
            text.push_str(&format!("\n  {what} ({total}{note}): {}{more}", neighbours.join(", ")));
        } else if !note.is_empty() {
            text.push_str(&format!("\n  {what} (0{note})"));
        }
    }
    text
}

/// A neighbour of a symbol; its path only if it differs.
fn neighbour(symbol: &SymbolInfo, near: &SymbolInfo, shared: &Shared) -> String {
    let name = shared.name(symbol);
    if symbol.path == near.path {
        format!("{name}:{}", symbol.name_at.line)
    } else {
        format!("{name} {}:{}", path(&symbol.path), symbol.name_at.line)
    }
}

fn connection(connection: &Connection, shared: &Shared) -> String {
    let steps: Vec<String> = connection
        .chain
        .iter()
        .map(|(symbol, line)| {
            if *line > 0 { format!("{}:{line}", shared.name(symbol)) } else { shared.name(symbol) }
        })
        .collect();
    format!("  {} ({})", steps.join(" → "), plural(steps.len().saturating_sub(1) as u64, "call"))
}
