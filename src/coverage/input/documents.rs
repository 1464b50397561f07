//! JSON documents: exports of llvm-cov, `coverage-final.json` of istanbul, and reports of
//! coverage.py with contexts.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::input::lines::{
    ExecutedLines, MAX_JSON, MAX_LINE, MAX_ROWS, NO_TEST, Read, Visit, WANTED,
};
use crate::names;

pub(super) fn read(text: &str, test: Option<&str>, visit: Visit<'_>) -> Result<Read, String> {
    if text.len() as u64 > MAX_JSON {
        return Err(format!("it is larger than {} MiB", MAX_JSON >> 20));
    }
    let broken = |error: serde_json::Error| format!("it is no JSON that is read: {error}");
    // Only the members that decide are read first.
    let head: DocumentHead = serde_json::from_str(text).map_err(broken)?;
    if head.kind.as_ref().and_then(Text::as_str) == Some(EXPORT) {
        let export: Export = serde_json::from_str(text).map_err(broken)?;
        return of_export(&export, test, visit);
    }
    if head.meta.is_some() && head.files.is_some() {
        let report: Report = serde_json::from_str(text).map_err(broken)?;
        return of_report(&report, visit);
    }
    let files: BTreeMap<String, Statements> = serde_json::from_str(text)
        .map_err(|error| format!("it is JSON of another kind ({error}); {WANTED}"))?;
    of_statements(&files, test, visit)
}

/// Type of the export of llvm-cov.
const EXPORT: &str = "llvm.coverage.json.export";

#[derive(Deserialize)]
struct DocumentHead {
    #[serde(default, rename = "type")]
    kind: Option<Text>,
    #[serde(default)]
    meta: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    files: Option<serde::de::IgnoredAny>,
}

/// A text, or anything else that is none.
struct Text(Option<String>);

impl Text {
    fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self(value.as_str().map(str::to_owned)))
    }
}

#[derive(Deserialize)]
struct Export {
    data: Vec<ExportData>,
}

#[derive(Deserialize)]
struct ExportData {
    files: Vec<ExportFile>,
}

#[derive(Deserialize)]
struct ExportFile {
    filename: String,
    #[serde(default)]
    segments: Vec<Segment>,
}

/// Line, column, count, whether there is a count, whether a region begins, whether it is a gap.
#[derive(Deserialize)]
#[expect(dead_code, reason = "a member that is not read has a place in the list")]
struct Segment(u32, u32, u64, bool, bool, #[serde(default)] bool);

impl Segment {
    fn is_executed(&self) -> bool {
        let Self(_, _, count, has_count, _, is_gap) = self;
        *has_count && *count > 0 && !is_gap
    }
}

fn of_export(export: &Export, test: Option<&str>, visit: Visit<'_>) -> Result<Read, String> {
    let files = export.data.iter().flat_map(|data| &data.files);
    let test = Some(test.ok_or_else(|| NO_TEST.to_owned())?);
    let (mut count, mut is_cut) = (0, false);
    for file in files {
        let mut lines = Vec::new();
        for pair in file.segments.windows(2).filter(|pair| pair[0].is_executed()) {
            let (from, to) = (pair[0].0, &pair[1]);
            // Where the next one begins at the start of a line, that line is not part of this one.
            let last = if to.1 <= 1 { to.0.saturating_sub(1) } else { to.0 };
            lines.extend(from..=last.max(from).min(MAX_LINE));
            lines.dedup();
        }
        count += 1;
        if !visit(ExecutedLines { test, file: &file.filename, lines: Some(&lines) }) {
            is_cut = true;
            break;
        }
    }
    if count == 0 {
        return Err("it has no file".to_owned());
    }
    Ok(Read { format: "llvm-cov export", is_cut })
}

#[derive(Deserialize)]
struct Statements {
    path: String,
    #[serde(rename = "statementMap")]
    places: BTreeMap<String, Extent>,
    #[serde(rename = "s")]
    counts: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct Extent {
    start: Start,
}

#[derive(Deserialize)]
struct Start {
    line: u32,
}

fn of_statements(
    files: &BTreeMap<String, Statements>,
    test: Option<&str>,
    visit: Visit<'_>,
) -> Result<Read, String> {
    if files.is_empty() {
        return Err(format!("it has no file; {WANTED}"));
    }
    let test = Some(test.ok_or_else(|| NO_TEST.to_owned())?);
    let mut is_cut = false;
    for file in files.values() {
        let is_executed = |key: &String| file.counts.get(key).is_some_and(|&count| count > 0);
        let executed = file.places.iter().filter(|(key, _)| is_executed(key));
        let lines: Vec<u32> = executed.map(|(_, place)| place.start.line).collect();
        if !visit(ExecutedLines { test, file: &file.path, lines: Some(&lines) }) {
            is_cut = true;
            break;
        }
    }
    Ok(Read { format: "istanbul coverage", is_cut })
}

#[derive(Deserialize)]
struct Report {
    files: BTreeMap<String, ReportFile>,
}

#[derive(Deserialize)]
struct ReportFile {
    #[serde(default)]
    contexts: BTreeMap<String, Vec<String>>,
}

fn of_report(report: &Report, visit: Visit<'_>) -> Result<Read, String> {
    let (mut rows, mut is_cut, mut has_test) = (0_usize, false, false);
    'files: for (path, file) in &report.files {
        let mut tests: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (line, contexts) in &file.contexts {
            let Ok(line) = line.parse::<u32>() else { continue };
            for test in contexts.iter().filter_map(|context| names::of_context(context)) {
                rows += 1;
                tests.entry(test).or_default().push(line);
            }
        }
        for (test, lines) in &tests {
            has_test = true;
            if rows > MAX_ROWS
                || !visit(ExecutedLines { test: Some(test), file: path, lines: Some(lines) })
            {
                is_cut = true;
                break 'files;
            }
        }
    }
    if !has_test {
        return Err(super::database::NO_CONTEXTS.to_owned());
    }
    Ok(Read { format: "coverage.py report", is_cut })
}
