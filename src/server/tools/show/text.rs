//! Rendering of `show` results.

use crate::answers::budget::Page;
use crate::answers::render::{CONTENT, RAISE, lines, name, path, plural, source};
use crate::answers::reply;
use crate::answers::{Answer, failure};
use crate::base::escape::SafeLine;
use cograph_query::show::Excerpt;
use cograph_query::{QueryError, ShowResult};
use serde_json::{Value, json};

/// Minimum number of lines of a truncated excerpt.
const FEW: usize = 3;

impl Answer for ShowResult {
    fn render(&self, page: &mut Page) -> String {
        let (mut whole, mut quotes) = (0, false);
        let mut rest = Vec::new();
        for item in &self.items {
            match &item.outcome {
                Ok(excerpt) if excerpt_fits(page, excerpt) => {
                    whole += 1;
                    quotes |= !excerpt.lines.is_empty();
                }
                Ok(excerpt) => rest.push(format!("{}:{}", path(&excerpt.path), range(excerpt))),
                Err(error) => drop(page.add(&failure::text("show", error))),
            }
        }
        if !rest.is_empty() {
            let names: Vec<&str> = rest.iter().map(String::as_str).take(8).collect();
            page.omit(format!(
                "… no room for {}: {RAISE}, or show them by themselves",
                names.join(", ")
            ));
        }
        let content = if quotes { format!(" · {CONTENT}") } else { String::new() };
        format!("{whole} of {}{content}", plural(self.items.len() as u64, "target"))
    }

    fn json(&self) -> Value {
        let item = |item: &cograph_query::show::ShownItem| match &item.outcome {
            Ok(excerpt) => reply::with(reply::excerpt(excerpt), "target", json!(item.target)),
            Err(error) => json!({"target": item.target, "error": error.to_string()}),
        };
        json!({"items": self.items.iter().map(item).collect::<Vec<_>>()})
    }

    fn is_empty(&self) -> bool {
        self.items.iter().all(|item| {
            matches!(
                item.outcome,
                Err(QueryError::NoSuchSymbol { .. } | QueryError::NoSuchPath { .. })
            )
        })
    }
}

fn range(excerpt: &Excerpt) -> String {
    lines(excerpt.first_line, excerpt.first_line + (excerpt.lines.len() as u32).saturating_sub(1))
}

/// Adds an excerpt, or its first lines and how to get the rest. Returns false if not even the
/// minimum fits.
fn excerpt_fits(page: &mut Page, excerpt: &Excerpt) -> bool {
    let what = match &excerpt.symbol {
        Some(symbol) => format!(" {} {}", symbol.kind.word(), name(symbol)),
        None => String::new(),
    };
    let mut title = format!(
        "{}:{}{what}, of {}",
        path(&excerpt.path),
        range(excerpt),
        plural(u64::from(excerpt.file_lines), "line")
    );
    if excerpt.stale {
        title.push_str(" [changed since it was indexed]");
    }
    if excerpt.lossy {
        title.push_str(" [bytes that are not UTF-8 were replaced]");
    }
    let body = body(excerpt);
    let text = |count: usize| {
        let lines: Vec<&str> = body[..count].iter().map(|(_, line)| line.as_str()).collect();
        lines.join("\n")
    };
    if page.add(&format!("{title}\n{}", text(body.len()))) {
        return true;
    }
    // Space for the title and the note about missing lines.
    let mut room = page.room().saturating_sub(title.len() + 120);
    let fitting = body
        .iter()
        .take_while(|(_, line)| {
            let fits = line.len() < room;
            room = room.saturating_sub(line.len() + 1);
            fits
        })
        .count();
    if fitting < FEW.min(body.len()) {
        return false;
    }
    let next = body[fitting].0 as usize;
    let last = excerpt.first_line as usize + excerpt.lines.len() - 1;
    let more = format!(
        "… {} more lines: show `{}:{next}-{last}`",
        last + 1 - next,
        SafeLine::new(excerpt.path.as_str(), 60)
    );
    page.add(&format!("{title}\n{}\n{more}", text(fitting)))
}

/// Numbered lines of an excerpt, with one line for each fold.
fn body(excerpt: &Excerpt) -> Vec<(u32, String)> {
    let numbered = source(excerpt.first_line, &excerpt.lines).into_iter().zip(excerpt.first_line..);
    let mut folds = excerpt.folds.iter().peekable();
    let mut body = Vec::new();
    for (line, number) in numbered {
        while folds.next_if(|(_, last)| *last < number).is_some() {}
        match folds.peek() {
            Some((first, last)) if *first == number => {
                body.push((number, format!("… {} lines", last - first + 1)));
            }
            Some((first, _)) if *first < number => {}
            _ => body.push((number, line)),
        }
    }
    body
}
