//! Rendering of `grep` results.

use super::json;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{CONTENT, RAISE, TOP, digits, gutter, name, path, plural};
use crate::base::escape::SafeLine;
use cograph_query::grep::{GrepFile, GrepHit};
use cograph_query::{GrepParams, GrepResult};
use serde_json::Value;

/// Query and result.
pub(crate) struct FoundText {
    /// Query.
    pub(crate) params: GrepParams,
    /// Result.
    pub(crate) result: GrepResult,
}

impl Answer for FoundText {
    fn render(&self, page: &mut Page) -> String {
        let result = &self.result;
        let mut shown = 0;
        for file in &result.files {
            let count = add_file(page, file);
            shown += count;
            if count < file.hits.len() {
                break;
            }
        }
        let seen = self.params.offset + shown;
        page.left_out(
            seen,
            result.total.number(),
            "lines",
            &format!("`offset`: {seen}, {RAISE}, or filter by `path`"),
        );
        for (file, reason) in result.unreadable.iter().take(3) {
            page.note(format!("not read: {} ({})", path(file), SafeLine::new(reason, 120)));
        }
        if result.unreadable.len() > 3 {
            page.note(format!("… {} more files could not be read", result.unreadable.len() - 3));
        }
        if result.not_text > 0 {
            page.note(format!(
                "{} not searched: binary, a link or a special file",
                plural(result.not_text, "file")
            ));
        }
        let is_like_regex = |text: &str| {
            text.contains(['*', '|', '^', '\\', '[', '$', '+']) && regex::Regex::new(text).is_ok()
        };
        if result.files.is_empty() && !self.params.regex && is_like_regex(&self.params.pattern) {
            page.note("searched as text: `regex` reads it as a regular expression");
        }
        let pattern = SafeLine::new(&self.params.pattern, 120);
        let kind = if self.params.regex { "regular expression " } else { "" };
        let content = if shown > 0 { format!(" · {CONTENT}") } else { String::new() };
        format!(
            "{shown} of {} lines in {} of {} searched files match {kind}`{pattern}`{content}",
            result.total, result.file_total, result.searched
        )
    }

    fn json(&self) -> Value {
        json::grep(&self.result)
    }

    fn is_empty(&self) -> bool {
        self.result.files.is_empty()
    }
}

/// Adds the matches of a file that fit, below its path and their enclosing symbols.
fn add_file(page: &mut Page, file: &GrepFile) -> usize {
    let stale = if file.stale { " [changed since it was indexed]" } else { "" };
    let last = file.hits.last().map_or(0, |hit| hit.line as usize + hit.after.len());
    let width = digits(last);
    let hits = file.hits.len() as u64;
    let some =
        if file.total > hits { format!(" ({hits} of {})", file.total) } else { String::new() };
    let mut title = format!("{}{some}{stale}\n", path(&file.path));
    let mut around = None;
    for (count, hit) in file.hits.iter().enumerate() {
        let name = hit.enclosing.as_ref().map(name);
        let within = match &name {
            Some(name) if around != Some(name.clone()) => format!(" {name}\n"),
            None if around.is_some() => format!(" {TOP}\n"),
            _ => String::new(),
        };
        if !page.add(&format!("{title}{within}{}", hit_lines(hit, width))) {
            return count;
        }
        title.clear();
        around = name;
    }
    file.hits.len()
}

fn hit_lines(hit: &GrepHit, width: usize) -> String {
    let first = hit.line - u32::try_from(hit.before.len()).unwrap_or(0);
    let all = hit.before.iter().chain([&hit.text]).chain(&hit.after);
    let lines: Vec<String> = all
        .zip(first..)
        .map(|(text, number)| format!("  {}", gutter(number, width, text)))
        .collect();
    lines.join("\n")
}
