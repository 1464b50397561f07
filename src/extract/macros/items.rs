//! Definitions in the arguments of a macro invocation: tokens that parse as definitions are
//! extracted as such.

use crate::parser::parse;
use crate::walk::{Walk, children, texts};
use cograph_model::ProblemKind;
use cograph_model::facts::ScopeKind;
use tree_sitter::{Node, Range};

/// Extracts a list of tokens as definitions, if it is at a position for definitions, starts
/// with one of `words` and parses.
pub(super) fn embedded_items<'t>(
    walk: &mut Walk<'t>,
    list: Node<'t>,
    words: &'static [String],
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
    let Ok(tree) =
        parse(walk.input.language, walk.input.source, walk.input.embedded.budget, &[within])
    else {
        walk.problem(ProblemKind::TimeLimit, list);
        return false;
    };
    let root = walk.input.embedded.trees.alloc(tree).root_node();
    if root.has_error() {
        return false;
    }
    walk.context.pending = crate::walk::Pending::default();
    walk.visit_children(root);
    true
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
