//! Rendering of `impact`.

use super::history::in_words;
use super::shell::command_line;
use super::{Impact, json};
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{CONTENT, RAISE, TOP, name, path, plural};
use crate::base::escape::SafeLine;
use cograph_model::change::{ChangeKind, ChangedSymbol};
use cograph_query::Certainty;
use cograph_query::impact::{AffectedTest, Break, Dependent, ImpactResult, ImpactSeed, TestClass};
use serde_json::Value;
use std::collections::BTreeMap;

/// Tokens of the default answer by section: changed symbols, what breaks, dependents.
const SECTIONS: [usize; 3] = [220, 300, 300];
/// Entries of the default answer.
const TESTS: usize = 18;
const COMMANDS: usize = 4;
const HISTORY: usize = 3;
/// Maximum number of names of a file in a line.
const NAMES: usize = 15;
/// Maximum number of tests of a file and of words of a command line that are shown by default.
const TESTS_OF_FILE: usize = 6;
const WORDS: usize = 8;
/// Room of the default answer, in bytes.
const ROOM: usize = 6_000;
/// Bytes of a token.
const TOKEN: usize = 4;

impl Answer for Impact {
    fn render(&self, page: &mut Page) -> String {
        let result = &self.result;
        // The default answer is shorter than others; a larger budget gives more of each list.
        let more = (page.room() / ROOM).max(1);
        let within = |section: usize| SECTIONS[section] * TOKEN * more;
        fill(page, "changed:", changed(result, NAMES * more), within(0), "changed symbols");
        fill(page, "breaks:", breaks(&result.breaks), within(1), "breaks");
        let (certain, possible): (Vec<&Dependent>, Vec<&Dependent>) =
            result.dependents.iter().partition(|dependent| dependent.certainty.is_sure());
        fill(page, "dependents:", dependents(&certain, NAMES * more), within(2), "dependents");
        fill(
            page,
            "possible dependents:",
            dependents(&possible, NAMES * more),
            within(2) / 3,
            "possible",
        );
        tests(page, &result.tests, TESTS * more);
        let history = self.history.iter().take(HISTORY * more);
        let lines = history.map(|(file, facts)| format!("{}: {}", path(file), in_words(facts)));
        page.section("history:", lines);
        commands(page, result, more);
        if !result.forcing.is_empty() {
            let all: Vec<String> = result
                .forcing
                .iter()
                .take(10)
                .map(|forcing| format!("{} ({})", path(&forcing.path), forcing.reason))
                .collect();
            page.add(&format!("may affect every test: {}", all.join(", ")));
        }
        if !result.unknown.is_empty() {
            let unknown = SafeLine::new(&result.unknown.join("; "), 600);
            page.add(&format!("unknown: {unknown}"));
        }
        head(result)
    }

    fn json(&self) -> Value {
        json::impact(&self.result, &self.history)
    }

    fn is_empty(&self) -> bool {
        self.result.commands.is_empty() || self.result.tests.is_empty()
    }
}

/// First line: totals, each zero with its verdict.
fn head(result: &ImpactResult) -> String {
    let what = match result.between.as_str() {
        "" => {
            let names: Vec<String> = result
                .seeds
                .iter()
                .take(4)
                .filter_map(|seed| seed.symbol.as_ref())
                .map(|symbol| {
                    format!("{} ({}:{})", name(symbol), path(&symbol.path), symbol.name_at.line)
                })
                .collect();
            names.join(", ")
        }
        between => {
            let files = plural(result.files.len() as u64, "file");
            let symbols = plural(result.seeds.len() as u64, "symbol");
            format!("{}: {files}, {symbols}", SafeLine::new(between, 120))
        }
    };
    if result.files.is_empty() && result.seeds.is_empty() {
        return format!("no change: {what}");
    }
    let sure = |certainty: Certainty| certainty.is_sure();
    let breaks = match (result.breaks.len(), result.between.is_empty()) {
        (0, true) => "breaks: not asked, nothing is changed".to_owned(),
        (0, false) if result.seeds.iter().all(keeps_header) => {
            "0 breaks: no name or header of a known symbol changed".to_owned()
        }
        (0, false) => "0 breaks found among the uses that are known".to_owned(),
        (all, _) => {
            let counts = Certainty::ALL.into_iter().map(|certainty| {
                let all = result.breaks.iter().filter(|found| found.certainty == certainty);
                (all.count(), certainty.word())
            });
            let counts: Vec<String> = counts
                .filter(|(count, _)| *count > 0)
                .map(|(count, word)| format!("{count} {word}"))
                .collect();
            format!("{} ({})", plural(all as u64, "break"), counts.join(", "))
        }
    };
    let known = result.dependents.iter().filter(|dependent| sure(dependent.certainty)).count();
    let possible = result.dependents.len() - known;
    let at_least = |is_cut: bool| if is_cut { "at least " } else { "" };
    let (least, or_more) = (at_least(result.more_dependents), at_least(result.more_possible));
    let dependents = match (known, possible) {
        (0, 0) if result.seeds.is_empty() => {
            "dependents: not known, the change is outside of symbols".to_owned()
        }
        (0, 0) => "0 dependents: nothing known refers to it".to_owned(),
        (0, possible) => format!("0 certain dependents, {or_more}{possible} possible"),
        (known, 0) => format!("{least}{}", plural(known as u64, "dependent")),
        (known, possible) => {
            let known = plural(known as u64, "dependent");
            format!("{least}{known}, {or_more}{possible} possible")
        }
    };
    let tests = match result.tests.len() {
        0 if result.test_files == 0 => "0 tests: no test file is recognized".to_owned(),
        0 => format!(
            "0 tests: none of {} is known to reach it",
            plural(result.test_files, "test file")
        ),
        all => {
            let classes: Vec<String> = result
                .by_class
                .iter()
                .map(|(class, count)| format!("{count} {}", class.word()))
                .collect();
            let weaker = match result.weaker {
                0 => String::new(),
                weaker => format!(", {weaker} with less evidence left out"),
            };
            format!("{} ({}{weaker})", plural(all as u64, "test"), classes.join(", "))
        }
    };
    let content = if quotes(result) { format!(" · {CONTENT}") } else { String::new() };
    format!("impact of {what}; {breaks}; {dependents}; {tests}{content}")
}

/// True if the answer quotes headers, or names that are titles.
fn quotes(result: &ImpactResult) -> bool {
    let kind = |seed: &ImpactSeed| seed.changed.as_ref().map(|changed| changed.kind);
    result.seeds.iter().any(|seed| kind(seed) == Some(ChangeKind::Signature))
        || result.tests.iter().any(|test| test.symbol.name.contains(' '))
}

/// True if no use of a symbol can be broken by its change.
fn keeps_header(seed: &ImpactSeed) -> bool {
    let kind = seed.changed.as_ref().map(|changed| changed.kind);
    matches!(kind, None | Some(ChangeKind::Body | ChangeKind::Added))
}

/// Line with the number of names on it, and of those that it is about.
type Entry = (String, usize, usize);

/// Adds a section of at most this many bytes, and says how many entries it leaves out.
fn fill(page: &mut Page, title: &str, entries: Vec<Entry>, most: usize, what: &str) {
    let (mut used, mut shown, mut lines) = (title.len(), 0, Vec::new());
    let total: usize = entries.iter().map(|(_, _, count)| count).sum();
    for (entry, count, _) in entries {
        used += entry.len() + 1;
        if used > most.min(page.room()) && !lines.is_empty() {
            break;
        }
        shown += count;
        lines.push(entry);
    }
    if lines.is_empty() {
        return;
    }
    page.section(title, &lines);
    if shown < total {
        page.add(&format!("… {} more {what}: {RAISE}", total - shown));
        page.mark_cut();
    }
}

/// Changed symbols by file.
fn changed(result: &ImpactResult, most: usize) -> Vec<Entry> {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for changed in result.seeds.iter().filter_map(|seed| seed.changed.as_ref()) {
        files.entry(changed.side().path.as_str()).or_default().push(one_change(changed));
    }
    for file in &result.files {
        let all = files.entry(file.path().as_str()).or_default();
        if let Some(line) = file.outside {
            all.push(format!("outside of symbols:{line}"));
        }
        if let Some(reason) = file.unread {
            all.push(format!("not compared ({reason})"));
        }
        if let Some(old) = file.old.as_ref().filter(|old| file.new.as_ref() != Some(*old)) {
            let word = if file.new.is_some() { "was" } else { "removed" };
            all.insert(0, format!("{word} {}", path(old)));
        }
    }
    files
        .into_iter()
        .map(|(file, all)| {
            let count = all.len();
            (format!("{}: {}", SafeLine::new(file, 300), few(&all, most)), count.min(most), count)
        })
        .collect()
}

/// The first names, and the number of the others.
fn few(names: &[String], most: usize) -> String {
    let first = names[..names.len().min(most)].join(", ");
    match names.len().saturating_sub(most) {
        0 => first,
        rest => format!("{first} (+{rest})"),
    }
}

fn one_change(changed: &ChangedSymbol) -> String {
    let side = changed.side();
    let name = SafeLine::new(&side.qualified_name(), 120);
    let line = side.name_at.line;
    match (changed.kind, &changed.old) {
        (ChangeKind::Body, _) => format!("{name}:{line}"),
        (ChangeKind::Signature, Some(old)) => {
            format!("{name}:{line} header, was {}", SafeLine::new(&old.signature, 120))
        }
        (ChangeKind::Renamed, Some(old)) => {
            format!("{name}:{line} renamed from {}", SafeLine::new(&old.name, 80))
        }
        (ChangeKind::Moved, Some(old)) => format!(
            "{name}:{line} moved from {} {}",
            path(&old.path),
            SafeLine::new(&old.container, 80)
        ),
        (kind, _) => format!("{name}:{line} {}", kind.word()),
    }
}

fn breaks(breaks: &[Break]) -> Vec<Entry> {
    let one = |found: &Break| {
        let text = format!(
            "{}:{} {}: {} ({})",
            path(&found.path),
            found.line,
            SafeLine::new(&found.symbol, 120),
            SafeLine::new(&found.reason, 160),
            found.certainty.word()
        );
        (text, 1, 1)
    };
    breaks.iter().map(one).collect()
}

/// Dependents by distance and file: `1 path: name:12, other:15`.
fn dependents(dependents: &[&Dependent], most: usize) -> Vec<Entry> {
    let mut lines: Vec<((u32, &str), Vec<String>)> = Vec::new();
    for dependent in dependents {
        let who = dependent
            .symbol
            .as_ref()
            .map_or_else(|| TOP.to_owned(), |symbol| name(symbol).to_string());
        let text = format!("{who}:{}", dependent.line);
        let key = (dependent.distance, dependent.path.as_str());
        match lines.last_mut() {
            Some((last, all)) if *last == key => all.push(text),
            _ => lines.push((key, vec![text])),
        }
    }
    let line = |((distance, file), all): ((u32, &str), Vec<String>)| {
        let count = all.len();
        (
            format!("{distance} {}: {}", SafeLine::new(file, 300), few(&all, most)),
            count.min(most),
            count,
        )
    };
    lines.into_iter().map(line).collect()
}

/// Tests by file, in the order of the best test of each.
fn tests(page: &mut Page, tests: &[AffectedTest], most: usize) {
    let mut files: Vec<(&str, Vec<&AffectedTest>)> = Vec::new();
    for test in tests {
        let file = test.symbol.path.as_str();
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, all)) => all.push(test),
            None => files.push((file, vec![test])),
        }
    }
    let mut shown = 0;
    let mut lines = Vec::new();
    for (file, all) in &files {
        if shown >= most {
            break;
        }
        let few = all.iter().take(TESTS_OF_FILE.max(most / 4).min(most - shown));
        let few: Vec<&AffectedTest> = few.copied().collect();
        let same = |one: &&AffectedTest, next: &&AffectedTest| reason(one) == reason(next);
        let entries: Vec<String> = few.chunk_by(same).map(by_reason).collect();
        shown += few.len();
        let rest = all.len() - few.len();
        let more = if rest > 0 { format!(" (+{rest})") } else { String::new() };
        let line = format!("{}: {}{more}", SafeLine::new(file, 300), entries.join("; "));
        lines.push((line, few.len()));
    }
    let listed = page.section("tests, best first:", lines.iter().map(|(line, _)| line));
    let shown: usize = lines[..listed].iter().map(|(_, count)| count).sum();
    if shown < tests.len() {
        page.add(&format!("… {} more tests: {RAISE}", tests.len() - shown));
        page.mark_cut();
    }
}

/// `calls 2 via a > b: name:12, other:20`.
fn by_reason(tests: &[&AffectedTest]) -> String {
    let names: Vec<String> = tests
        .iter()
        .map(|test| format!("{}:{}", name(&test.symbol), test.symbol.name_at.line))
        .collect();
    format!("{}: {}", reason(tests[0]), names.join(", "))
}

fn reason(test: &AffectedTest) -> String {
    let class = test.class.word();
    match test.class {
        TestClass::Calls | TestClass::Uses if test.chain.len() > 1 => {
            let inner = test.chain[..test.chain.len() - 1].iter().take(2);
            let inner: Vec<String> =
                inner.map(|name| SafeLine::new(name, 60).to_string()).collect();
            format!("{class} {} via {}", test.evidence.distance, inner.join(" > "))
        }
        _ => class.to_owned(),
    }
}

fn commands(page: &mut Page, result: &ImpactResult, more: usize) {
    let mut lines = Vec::new();
    for command in result.commands.iter().take(COMMANDS * more) {
        let most = WORDS * more;
        let mut short = command.clone();
        short.arguments.truncate(most);
        let rest = command.arguments.len() - short.arguments.len();
        let line = SafeLine::new(&command_line(&short), 1200).to_string();
        // A cut line would not be the whole command: it still runs what it names.
        let mark = if rest > 0 { format!("  # and {rest} more") } else { String::new() };
        lines.push(format!("{line}{mark}"));
    }
    page.section("run:", &lines);
    if result.commands.len() > lines.len() {
        page.add(&format!("… {} more commands: {RAISE}", result.commands.len() - lines.len()));
        page.mark_cut();
    }
}
