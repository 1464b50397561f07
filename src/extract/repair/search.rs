//! Search for the innermost lines that cannot be parsed: each item of a region is parsed on its
//! own, between the first and last lines of the items around it, and so are the items inside of one
//! that fails. All of that costs a few times the region's length.

use crate::budget::Budget;
use crate::parser::has_no_error;
use crate::repair::lines::Lines;
use cograph_grammar::Language;
use std::ops::Range;

/// Greatest number of following items that an item is tried together with, such as an annotation
/// and what it belongs to.
const MOST_JOINED: usize = 4;

/// Bytes that repair may parse, as a multiple of the source's length: a bound by work, which is the
/// same on every machine.
pub(super) const MOST_TIMES: usize = 16;

pub(super) struct Search<'l, 's> {
    language: &'l Language,
    lines: &'l Lines<'s>,
    budget: &'l Budget,
    /// Bytes that may still be parsed; none when the search has cost too much.
    left: &'l mut Option<usize>,
}

impl<'l, 's> Search<'l, 's> {
    pub(super) fn new(
        language: &'l Language,
        lines: &'l Lines<'s>,
        budget: &'l Budget,
        left: &'l mut Option<usize>,
    ) -> Self {
        Self { language, lines, budget, left }
    }

    /// Returns the innermost lines of a region that cannot be parsed; none when the search has cost
    /// too much.
    pub(super) fn broken_in(&mut self, region: Range<usize>) -> Vec<Range<usize>> {
        let items = self.lines.items(region);
        let found = self.broken(&items);
        if self.left.is_some() { found } else { Vec::new() }
    }

    /// Returns the innermost lines of sibling items that cannot be parsed.
    fn broken(&mut self, items: &[Range<usize>]) -> Vec<Range<usize>> {
        let Some(first) = items.first() else { return Vec::new() };
        let frame = self.lines.frame(first);
        let (mut found, mut at, mut last_good) = (Vec::new(), 0, None);
        while let Some(item) = items.get(at) {
            let joined = |from: usize, to: usize| items[from].start..items[to].end;
            if self.parses(&frame, &[joined(at, at)]) {
                last_good = Some(at);
                at += 1;
                continue;
            }
            // What continues the item before it stands at the same indentation in some languages.
            if let Some(before) = last_good
                && self.parses(&frame, &[joined(before, at)])
            {
                at += 1;
                continue;
            }
            let ends = at + 1..items.len().min(at + MOST_JOINED);
            if let Some(end) = ends.into_iter().find(|end| self.parses(&frame, &[joined(at, *end)]))
            {
                (last_good, at) = (Some(at), end + 1);
                continue;
            }
            if let Some((inner, end)) = self.led(&frame, &items[at..]) {
                found.extend(inner);
                (last_good, at) = (None, at + end);
                continue;
            }
            found.extend(self.innermost(&frame, item));
            (last_good, at) = (None, at + 1);
        }
        found
    }

    /// Returns the broken parts of the first item that others are in, where single lines lead it,
    /// such as annotations; and the number of these items.
    fn led(
        &mut self,
        frame: &[Range<usize>],
        items: &[Range<usize>],
    ) -> Option<(Vec<Range<usize>>, usize)> {
        let leading = items.iter().take_while(|item| item.len() == 1).count();
        let item = items.get(leading).filter(|_| (1..MOST_JOINED).contains(&leading))?;
        let children = self.lines.children(item);
        let inner = self.broken(&children);
        let kept = without(items[0].start..item.end, &inner);
        (!inner.is_empty() && self.parses(frame, &kept)).then_some((inner, leading + 1))
    }

    /// Returns the parts of a broken item without which it can be parsed, or all of it.
    fn innermost(&mut self, frame: &[Range<usize>], item: &Range<usize>) -> Vec<Range<usize>> {
        let children = self.lines.children(item);
        let inner = self.broken(&children);
        let kept = without(item.clone(), &inner);
        match !inner.is_empty() && self.parses(frame, &kept) {
            true => inner,
            false => vec![item.clone()],
        }
    }

    /// True if lines can be parsed inside of a frame, or nothing can be found out any more.
    fn parses(&mut self, frame: &[Range<usize>], rows: &[Range<usize>]) -> bool {
        let mut all: Vec<&Range<usize>> = frame.iter().chain(rows).collect();
        all.sort_unstable_by_key(|rows| rows.start);
        let (mut rows, mut end) = (Vec::new(), 0);
        for range in all {
            // Lines of strings and comments may have the indentation of what is around them.
            let start = range.start.max(end);
            if start < range.end {
                rows.push(start..range.end);
                end = range.end;
            }
        }
        let length: usize = rows.iter().map(|rows| self.lines.bytes(rows).len()).sum();
        *self.left = self.left.and_then(|left| left.checked_sub(length));
        // The parser asks while it parses, and small parts are parsed before it asks.
        if self.left.is_none() || self.budget.check().is_break() {
            return true;
        }
        let within: Vec<tree_sitter::Range> =
            rows.iter().map(|rows| self.lines.place(rows)).collect();
        has_no_error(self.language, self.lines.source, self.budget, &within)
    }
}

/// Returns the lines of an item without some of its parts, which are in order.
fn without(item: Range<usize>, parts: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut from = item.start;
    let mut kept: Vec<Range<usize>> =
        parts.iter().map(|part| std::mem::replace(&mut from, part.end)..part.start).collect();
    kept.push(from..item.end);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Allowance;
    use crate::budget::Limits;
    use cograph_grammar as grammar;

    #[test]
    fn small_parts_are_not_parsed_beyond_the_budget() {
        const SOURCE: &[u8] = b"def a():\n    return 1\n\ndef b(:\n    return )\n";
        let none = Allowance { base: 0, per_byte: 0, most: 0 };
        let over = Limits { heap: none, ..Limits::default() };
        let mut tried = 0;
        for language in grammar::all() {
            let lines = Lines::of(language, SOURCE);
            let parts = |budget: &Budget| {
                let mut left = Some(SOURCE.len() * MOST_TIMES);
                let found = Search::new(language, &lines, budget, &mut left).broken_in(0..5);
                (found, left)
            };
            let (found, left) = parts(&Budget::unlimited());
            if found.len() != 1 || found[0] != (3..5) {
                continue;
            }
            tried += 1;
            let budget = Budget::start(&over, SOURCE.len());
            let kept = vec![0_u8; 1 << 16];
            let (found, left_over) = parts(&budget);
            assert!(found.is_empty() && left_over > left, "{}: nothing is tried", language.name);
            drop(kept);
        }
        assert!(tried > 0, "the second function has errors where the first has none");
    }
}
