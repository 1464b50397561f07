//! Repair: where the grammar does not understand a source, the parser may lose the definitions
//! around the place. Forms that the manifest lists are written over, then the innermost lines that
//! cannot be parsed are masked, and the rest is parsed again.
//!
//! Lengths and lines are kept, so that positions in the tree are positions in the source. A source
//! whose tree has no error is never changed.

mod errors;
mod forms;
mod lines;
mod search;

use crate::budget::{Budget, Exhausted};
use crate::parser::parse;
use crate::preprocess::edits::Use;
use crate::preprocess::{self, Cleared};
use cograph_grammar::Language;
use cograph_system::clock::thread_cpu;
use errors::Errors;
use lines::Lines;
use std::borrow::Cow;
use tree_sitter::Tree;

/// End of a line that is continued.
const CONTINUED: &[u8] = b"\\\r\n";

/// Greatest number of times that the lines with errors are looked for.
const MOST_ROUNDS: usize = 4;

/// Masks what cannot be parsed, parses, and repairs what is lost by that. Repair has a budget of
/// its own, and then leaves the tree as it is.
pub(super) fn tree<'s>(
    language: &'static Language,
    path: &str,
    source: &'s [u8],
    budget: &Budget,
) -> Result<(Cleared<'s>, Tree), Exhausted> {
    let mut cleared = preprocess::clear(language, source);
    let parsing = tracing::trace_span!("parse").entered();
    let mut tree = parse(language, &cleared.source, budget, &[])?;
    if tree.root_node().has_error()
        && let Some(filled) = preprocess::placeholders::filled(&language.manifest, path, source)
    {
        cleared = preprocess::clear(language, &filled).owned();
        tree = parse(language, &cleared.source, budget, &[])?;
    }
    drop(parsing);
    let _span = tracing::trace_span!("repair").entered();
    budget.end_first_parse();
    let (begun, spare) = (thread_cpu(), budget.spare(source.len()));
    if tree.root_node().has_error() {
        join(language, &mut cleared, &mut tree, &spare);
        rewrite(language, &mut cleared, &mut tree, &spare);
    }
    let mut left = Some(source.len().saturating_mul(search::MOST_TIMES));
    for _ in 0..MOST_ROUNDS {
        if !tree.root_node().has_error()
            || !mask(language, &mut cleared, &mut tree, &spare, &mut left)
        {
            break;
        }
    }
    budget.end_repairs(begun);
    Ok((cleared, tree))
}

/// Moves the mark of a continued line behind the carriage return that some grammars do not expect.
fn join(language: &Language, cleared: &mut Cleared<'_>, tree: &mut Tree, budget: &Budget) {
    let mut source = cleared.source.to_vec();
    for at in memchr::memmem::find_iter(&cleared.source, CONTINUED) {
        source.swap(at, at + 1);
    }
    if source != *cleared.source
        && let Ok(other) = parse(language, &source, budget, &[])
        && lost(language, &other, &source) < lost(language, tree, &cleared.source)
    {
        (*tree, cleared.source) = (other, Cow::Owned(source));
    }
}

fn lost(language: &Language, tree: &Tree, source: &[u8]) -> usize {
    Errors::of(tree, &Lines::of(language, source)).lost()
}

/// Writes over the forms that the grammar does not know: all of them, or else each kind that leaves
/// fewer lines with errors.
fn rewrite(language: &Language, cleared: &mut Cleared<'_>, tree: &mut Tree, budget: &Budget) {
    let found = forms::find(&language.manifest, &cleared.source);
    if found.is_empty() {
        return;
    }
    let mut least = lost(language, tree, &cleared.source);
    let mut attempt = |edits: &[&forms::Edits], cleared: &mut Cleared<'_>, tree: &mut Tree| {
        let mut source = cleared.source.to_vec();
        edits.iter().for_each(|edits| edits.apply(&mut source));
        let Ok(other) = parse(language, &source, budget, &[]) else { return false };
        let lost = lost(language, &other, &source);
        let is_better = lost < least;
        if is_better {
            (least, *tree, cleared.source) = (lost, other, Cow::Owned(source));
            let names = edits.iter().flat_map(|edits| edits.names.iter().cloned());
            cleared.uses.extend(names.map(|(name, kind)| Use { name, kind }));
            cleared.sort_uses();
        }
        is_better
    };
    let all: Vec<&forms::Edits> = found.iter().collect();
    if !attempt(&all, cleared, tree) && all.len() > 1 {
        for edits in all {
            attempt(&[edits], cleared, tree);
        }
    }
}

/// Masks the lines behind one region with errors. False if nothing is gained by that.
fn mask(
    language: &Language,
    cleared: &mut Cleared<'_>,
    tree: &mut Tree,
    budget: &Budget,
    left: &mut Option<usize>,
) -> bool {
    let (masked, other) = {
        let lines = Lines::of(language, &cleared.source);
        let errors = Errors::of(tree, &lines);
        let mut search = search::Search::new(language, &lines, budget, left);
        let masked: Vec<_> =
            errors.wide.iter().flat_map(|rows| search.broken_in(rows.clone())).collect();
        if masked.is_empty() {
            return false;
        }
        let ranges: Vec<_> = masked.iter().map(|rows| lines.bytes(rows)).collect();
        let mut source = cleared.source.to_vec();
        ranges.iter().for_each(|range| preprocess::blank(&mut source[range.clone()]));
        let Ok(other) = parse(language, &source, budget, &[]) else { return false };
        let still = Errors::of(&other, &Lines::of(language, &source)).lost();
        let gone: usize = masked.iter().map(ExactSizeIterator::len).sum();
        if still + gone >= errors.lost() {
            return false;
        }
        // The line break behind the last line is no part of the problem.
        cleared.dropped.extend(ranges.into_iter().map(|range| range.start..range.end - 1));
        (source, other)
    };
    (cleared.source, *tree) = (Cow::Owned(masked), other);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::budget::Allowance;
    use cograph_grammar as grammar;
    use cograph_model::RepoPath;

    #[test]
    fn repairs_end_after_the_same_work_however_much_time_there_is() {
        let path = RepoPath::new("a.rs").expect("a path");
        let found = grammar::detect(&path, &[], &vec![0; grammar::count()]);
        let language = grammar::language(found.expect("it is built in"));
        let table = "CREATE TABLE word (id INTEGER NOT NULL, name TEXT, last INTEGER);\n";
        let source = format!("const TABLES: &str = \"\n{}", table.repeat(40));
        let hour = Allowance { base: 3_600_000_000_000, per_byte: 0, most: u64::MAX };
        let limits = Limits { first_parse: hour, time: hour, ..Limits::default() };
        let parses = || {
            let spare = Budget::start(&limits, source.len()).spare(source.len());
            let mut count = 0;
            while count < 1_000 && parse(language, source.as_bytes(), &spare, &[]).is_ok() {
                count += 1;
            }
            assert_eq!(spare.exhausted(), Some(Exhausted::Time), "after {count}");
            count
        };
        let first = parses();
        assert!(first > 0, "no repair could be tried");
        assert_eq!(parses(), first);
    }
}
