//! Rendering of `outline`.

use super::json;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::render::{
    CONTENT, RAISE, lines, name, path, plural, quote_text, signature_below, text_path,
};
use crate::base::escape::SafeLine;
use cograph_query::OutlineResult;
use cograph_query::outline::{DirectoryEntry, DirectoryInfo, FileInfo, FileOutline, OutlineNode};
use serde_json::Value;

impl Answer for OutlineResult {
    fn render(&self, page: &mut Page) -> String {
        match self {
            Self::File(outline) => file(outline, page),
            Self::Directory { info, entries } => directory(info, entries, page),
        }
    }

    fn json(&self) -> Value {
        json::outline(self)
    }
}

fn file(outline: &FileOutline, page: &mut Page) -> String {
    let mut flat = Vec::new();
    outline.symbols.iter().for_each(|node| flatten(node, 0, &mut flat));
    let quotes = outline.symbols.iter().any(quotes);
    for problem in outline.problems.iter().take(5) {
        page.add(&format!(
            "lines {}: not understood ({})",
            lines(problem.first_line, problem.last_line),
            problem.kind.word()
        ));
    }
    if outline.problems.len() > 5 {
        page.add(&format!("… {} more regions not understood", outline.problems.len() - 5));
    }
    if !outline.imports.is_empty() {
        let mut modules: Vec<String> = outline
            .imports
            .iter()
            .map(|import| SafeLine::new(&import.module, 80).to_string())
            .collect();
        modules.dedup();
        let shown = modules.len().min(12);
        let more = if modules.len() > shown {
            format!(", … {} more", modules.len() - shown)
        } else {
            String::new()
        };
        page.add(&format!("imports {}{more}", modules[..shown].join(", ")));
    }
    // Outer symbols have priority over inner ones.
    let shown = levels(page, &flat);
    page.left_out(
        shown,
        flat.len() as u64,
        "symbols inside these",
        &format!("{RAISE}, or `show` one of them"),
    );
    let content = if quotes { format!(" · {CONTENT}") } else { String::new() };
    format!("{} · {}{content}", path(&outline.file.path), figures(&outline.file))
}

/// Adds the lines of a tree: as many whole levels as fit, and part of the first level if necessary.
/// Returns the number of lines.
fn levels(page: &mut Page, flat: &[(usize, String)]) -> usize {
    let deepest = flat.iter().map(|(depth, _)| *depth).max().unwrap_or(0);
    let cost = |level: usize| {
        flat.iter()
            .filter(|(depth, _)| *depth <= level)
            .map(|(_, line)| line.len() + 1)
            .sum::<usize>()
    };
    let level = (0..=deepest).rev().find(|level| cost(*level) <= page.room()).unwrap_or(0);
    page.add_all(flat.iter().filter(|(depth, _)| *depth <= level).map(|(_, line)| line.as_str()))
}

fn quotes(node: &OutlineNode) -> bool {
    quote_text([&node.symbol].into_iter()) || node.children.iter().any(quotes)
}

fn flatten(node: &OutlineNode, depth: usize, flat: &mut Vec<(usize, String)>) {
    let symbol = &node.symbol;
    let what = if symbol.signature.is_empty() {
        format!("{} {}", symbol.kind.word(), SafeLine::new(&symbol.name, 120))
    } else {
        signature_below(symbol).to_string()
    };
    let at = lines(symbol.first_line, symbol.last_line);
    flat.push((depth, format!("{}{at} {what}", "  ".repeat(depth))));
    node.children.iter().for_each(|child| flatten(child, depth + 1, flat));
}

fn figures(file: &FileInfo) -> String {
    if let Some(reason) = file.skipped {
        return format!("not indexed: {}", reason.word());
    }
    let mut parts: Vec<String> =
        file.language.iter().map(|language| SafeLine::new(language, 40).to_string()).collect();
    parts.push(plural(u64::from(file.lines), "line"));
    parts.push(plural(u64::from(file.symbols), "symbol"));
    parts.extend(file.generated.then(|| "generated".to_owned()));
    parts.extend(file.test.then(|| "test".to_owned()));
    parts.join(", ")
}

fn directory(info: &DirectoryInfo, entries: &[DirectoryEntry], page: &mut Page) -> String {
    let mut flat = Vec::new();
    entries.iter().for_each(|entry| flatten_entry(entry, &info.path, 0, &mut flat));
    let shown = levels(page, &flat);
    page.left_out(
        shown,
        flat.len() as u64,
        "entries",
        &format!("{RAISE}, or outline a directory below"),
    );
    let name =
        if info.path.is_empty() { ".".to_owned() } else { text_path(&info.path).to_string() };
    format!("{name}/ · {}", sums(info))
}

fn flatten_entry(
    entry: &DirectoryEntry,
    parent: &str,
    depth: usize,
    flat: &mut Vec<(usize, String)>,
) {
    let indent = "  ".repeat(depth);
    match entry {
        DirectoryEntry::Directory { info, entries } => {
            let below =
                info.path.strip_prefix(parent).unwrap_or(&info.path).trim_start_matches('/');
            flat.push((depth, format!("{indent}{}/ {}", text_path(below), sums(info))));
            entries.iter().for_each(|entry| flatten_entry(entry, &info.path, depth + 1, flat));
        }
        DirectoryEntry::File { info, top } => {
            let names: Vec<String> = top.iter().map(|symbol| name(symbol).to_string()).collect();
            let names =
                if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
            flat.push((
                depth,
                format!("{indent}{} {}{names}", text_path(info.path.file_name()), figures(info)),
            ));
        }
    }
}

fn sums(info: &DirectoryInfo) -> String {
    [(info.files, "file"), (info.lines, "line"), (info.symbols, "symbol")]
        .map(|(count, word)| plural(count, word))
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_levels_come_before_inner_ones() {
        let tree: Vec<(usize, String)> = (0..20)
            .flat_map(|outer| {
                [(0, format!("outer {outer}")), (1, format!("  inner {outer} {}", "x".repeat(40)))]
            })
            .collect();
        let mut page = Page::new(200);
        assert_eq!(levels(&mut page, &tree), 20, "every outer line, no inner one");
        let mut page = Page::new(1000);
        assert_eq!(levels(&mut page, &tree), 40);
        let mut page = Page::new(60);
        let shown = levels(&mut page, &tree);
        assert!((1..20).contains(&shown) && !page.finish("head").contains("inner"));
    }
}
