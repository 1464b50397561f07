//! Folds of an excerpt: what is left of a long definition is its signature, its control flow and
//! the lines with calls of the repository, or the lines around a name; and the lines with the names
//! of the functions in which these are.

use std::collections::BTreeSet;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::show::answer::{Excerpt, ShowParams};
use cograph_model::SiteKind;
use cograph_store::{FileRow, SiteTarget, SymbolRow};

/// Minimum number of lines of a fold.
const MIN_LINES: u32 = 2;

/// Maximum number of lines of a signature.
const MAX_SIGNATURE: u32 = 12;

/// Lines around a name, if none are requested.
const AROUND: u32 = 2;

/// Words with which a line of control flow begins, in any language.
const CONTROL: [&str; 38] = [
    "if", "else", "elif", "elsif", "elseif", "unless", "for", "foreach", "while", "until", "loop",
    "do", "repeat", "switch", "case", "default", "match", "when", "select", "try", "catch",
    "except", "rescue", "finally", "ensure", "return", "throw", "raise", "break", "continue",
    "yield", "with", "defer", "guard", "begin", "goto", "next", "panic",
];

/// Returns the folds of an excerpt, each as its first and last line: none unless the parameters
/// request them.
pub(super) fn folds(
    lookup: &Lookup<'_>,
    file: &FileRow,
    symbol: Option<&SymbolRow>,
    excerpt: &Excerpt,
    params: &ShowParams,
) -> Result<Vec<(u32, u32)>, QueryError> {
    if !params.calls && params.around.is_none() {
        return Ok(Vec::new());
    }
    let numbered = || excerpt.lines.iter().zip(excerpt.first_line..);
    let last = excerpt.first_line + u32::try_from(excerpt.lines.len()).unwrap_or(u32::MAX);
    let (mut kept, mut names) = (BTreeSet::new(), BTreeSet::new());
    if let Some(symbol) = symbol.filter(|_| !excerpt.stale) {
        kept.extend(signature(symbol, excerpt));
    }
    if params.calls {
        kept.extend(numbered().filter(|(line, _)| is_control(line)).map(|(_, number)| number));
        if !excerpt.stale {
            let calls = lookup.snapshot.sites_of(file)?.into_iter().filter(|site| {
                let is_call =
                    matches!(site.kind, SiteKind::Call | SiteKind::Construct | SiteKind::Decorate);
                is_call && !matches!(site.target, SiteTarget::External(_) | SiteTarget::None)
            });
            kept.extend(calls.map(|site| site.at.line));
        }
    }
    if let Some(name) = &params.around {
        let around = params.context.max(AROUND);
        for (_, number) in numbered().filter(|(line, _)| has_word(line, name)) {
            kept.extend(number.saturating_sub(around)..=number.saturating_add(around));
        }
    }
    if !excerpt.stale {
        for inner in lookup.snapshot.symbols_of(file)? {
            let (name, lines) =
                (inner.name_at.line, inner.extent.start.line..=inner.extent.end.line);
            let holds_kept = || kept.range(lines.clone()).next().is_some();
            if inner.kind.is_callable() && (params.calls || holds_kept()) {
                names.insert(name);
            }
        }
        kept.extend(names.range(excerpt.first_line..last));
    }
    let mut folds: Vec<(u32, u32)> = Vec::new();
    for number in (excerpt.first_line..last).filter(|number| !kept.contains(number)) {
        match folds.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            _ => folds.push((number, number)),
        }
    }
    folds.retain(|(first, last)| last - first + 1 >= MIN_LINES);
    Ok(folds)
}

/// Lines of the signature: to the name, and on while brackets are open.
fn signature(symbol: &SymbolRow, excerpt: &Excerpt) -> Vec<u32> {
    let start = symbol.extent.start.line;
    let (mut open, mut lines) = (0_i32, Vec::new());
    for (line, number) in excerpt.lines.iter().zip(excerpt.first_line..) {
        if number < start {
            continue;
        }
        lines.push(number);
        for letter in line.chars() {
            open += match letter {
                '(' | '[' => 1,
                ')' | ']' => -1,
                _ => 0,
            };
        }
        if (number >= symbol.name_at.line && open <= 0) || number - start >= MAX_SIGNATURE {
            break;
        }
    }
    lines
}

fn is_control(line: &str) -> bool {
    let line = line.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '}');
    let word: String = line.chars().take_while(|letter| letter.is_alphanumeric()).collect();
    let rest = &line[word.len()..];
    // No name that only begins like a word, and no call or assignment of such a name.
    CONTROL.contains(&word.as_str()) && !rest.starts_with(['_', '.', '='])
}

/// True if a line has a name as a whole word.
fn has_word(line: &str, name: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(is_of_name)
            && !line[at + name.len()..].chars().next().is_some_and(is_of_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_flow_is_recognized_by_its_first_word() {
        for line in ["if x:", "  } else {", "return", "for (;;) {", "}catch (e) {", "case 3:"] {
            assert!(is_control(line), "{line}");
        }
        for line in ["iffy()", "return_value = 3", "x = 1", "}", "match.start()", "", "do_it()"] {
            assert!(!is_control(line), "{line}");
        }
    }

    #[test]
    fn names_are_whole_words() {
        assert!(has_word("a.name(b)", "name") && has_word("name", "name"));
        assert!(!has_word("rename names", "name") && !has_word("name_of", "name"));
    }
}
