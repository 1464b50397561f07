//! Definitions in the arguments of a macro invocation: tokens that parse as definitions are
//! extracted as such.

use crate::parser::parse;
use crate::walk::{Walk, children, texts};
use cograph_model::ProblemKind;
use cograph_model::facts::ScopeKind;
use tree_sitter::{Node, Range};

/// Extracts a list of tokens as definitions, if it is at a position for definitions, starts
/// with one of `words` and parses, if need be without the lines that start with `mark`.
pub(super) fn embedded_items<'t>(
    walk: &mut Walk<'t>,
    list: Node<'t>,
    words: &'static [String],
    mark: Option<&str>,
) -> bool {
    let in_body = walk
        .facts
        .nearest(walk.context.scope, |kind| matches!(kind, ScopeKind::Function | ScopeKind::Block));
    if words.is_empty() || in_body.is_some() {
        return false;
    }
    let tokens = children::children(&walk.input, list);
    let (Some(open), Some(close)) = (tokens.first(), tokens.last()) else { return false };
    let Some(first) = tokens.iter().skip(1).find(|token| !token.is_extra()) else {
        return false;
    };
    let starts = |word: &String| texts::text_of(&walk.input, *first) == word;
    if !words.iter().any(starts) {
        return false;
    }
    let within = Range {
        start_byte: open.end_byte(),
        end_byte: close.start_byte(),
        start_point: open.end_position(),
        end_point: close.start_position(),
    };
    let source = walk.input.source;
    let unmarked = mark.map_or_else(Vec::new, |mark| without_marked(source, within, mark));
    for parts in [vec![within], unmarked] {
        if parts.is_empty() {
            return false;
        }
        let Ok(tree) = parse(walk.input.language, source, walk.input.embedded.budget, &parts)
        else {
            walk.problem(ProblemKind::TimeLimit, list);
            return false;
        };
        if tree.root_node().has_error() {
            continue;
        }
        let root = walk.input.embedded.trees.alloc(tree).root_node();
        walk.context.pending = crate::walk::Pending::default();
        let outer = std::mem::replace(&mut walk.context.in_arguments, true);
        walk.visit_children(root);
        walk.context.in_arguments = outer;
        return true;
    }
    false
}

/// Returns the parts of a range between the lines that start with a mark and a word; none if it has
/// no such line.
fn without_marked(source: &[u8], within: Range, mark: &str) -> Vec<Range> {
    let (mut parts, mut part) = (Vec::new(), within);
    let (mut byte, mut point) = (within.start_byte, within.start_point);
    for line in source[within.start_byte..within.end_byte].split_inclusive(|byte| *byte == b'\n') {
        let blanks = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let word = line[blanks..].strip_prefix(mark.as_bytes());
        let is_marked = word.and_then(|word| word.first()).is_some_and(u8::is_ascii_alphabetic);
        let next = tree_sitter::Point { row: point.row + 1, column: 0 };
        if is_marked && line.ends_with(b"\n") {
            parts.push(Range { end_byte: byte, end_point: point, ..part });
            part = Range { start_byte: byte + line.len(), start_point: next, ..within };
        }
        (byte, point) = (byte + line.len(), next);
    }
    if !parts.is_empty() {
        parts.push(part);
    }
    parts
}
/// Visits directives that were moved out of lists. Their macros are visible to the end of the
/// file like others.
pub(crate) fn moved(walk: &mut Walk<'_>, directives: &[std::ops::Range<usize>]) {
    if directives.is_empty() {
        return;
    }
    let (mut point, mut counted) = (tree_sitter::Point::default(), 0);
    let mut point_at = |byte: usize| {
        let passed = &walk.input.source[counted..byte];
        counted = byte;
        point.row += memchr::memchr_iter(b'\n', passed).count();
        point.column = match memchr::memrchr(b'\n', passed) {
            Some(line_end) => passed.len() - line_end - 1,
            None => point.column + passed.len(),
        };
        point
    };
    let range = |range: &std::ops::Range<usize>| {
        let (start_point, end_point) = (point_at(range.start), point_at(range.end));
        Range { start_byte: range.start, end_byte: range.end, start_point, end_point }
    };
    let within: Vec<Range> = directives.iter().map(range).collect();
    let Ok(tree) =
        parse(walk.input.language, walk.input.source, walk.input.embedded.budget, &within)
    else {
        return;
    };
    let root = walk.input.embedded.trees.alloc(tree).root_node();
    walk.visit_children(root);
}
