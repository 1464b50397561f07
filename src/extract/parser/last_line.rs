//! Annotations that end a text. They belong to nothing, and a scanner that looks behind them for
//! what follows may not look at the end of the text: they are left out of the parse.

use std::ops::ControlFlow;
use tree_sitter::{Point, Range};

/// Node kind of annotations, in the grammars of languages that have them.
const ANNOTATION: &str = "annotation";
/// First byte of an annotation.
const MARK: u8 = b'@';

/// Returns the ranges to parse, `within` those given, all if there are none, without the annotation
/// that ends the text; `None` if nothing is left out.
pub(crate) fn ended(
    grammar: &tree_sitter::Language,
    source: &[u8],
    within: &[Range],
) -> Option<Vec<Range>> {
    let ranges = without_annotation(source, within)?;
    (grammar.id_for_node_kind(ANNOTATION, true) != 0).then_some(ranges)
}

fn without_annotation(source: &[u8], within: &[Range]) -> Option<Vec<Range>> {
    let (start, end) = within
        .last()
        .map_or((0, source.len()), |last| (last.start_byte, last.end_byte.min(source.len())));
    let text = source.get(start..end)?;
    let line = start + text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let tail = &source[line..end];
    // A scanner that decides whether a statement goes on begins at the start of a line.
    if tail.trim_ascii_start().first() != Some(&MARK) {
        return None;
    }
    let is_apart = |at: usize| at == 0 || tail[at - 1].is_ascii_whitespace();
    let mut marks = (0..tail.len()).filter(|&at| tail[at] == MARK && is_apart(at));
    let cut = line + marks.find(|&at| is_endless(&tail[at..]))?;
    let mut ranges = within.to_vec();
    match ranges.last_mut() {
        Some(last) => {
            // The mark is in the last line of the range.
            let column = last.end_point.column.saturating_sub(last.end_byte.saturating_sub(cut));
            (last.end_byte, last.end_point.column) = (cut, column);
        }
        None => {
            let row = source[..line].iter().filter(|&&byte| byte == b'\n').count();
            ranges.push(Range {
                start_byte: 0,
                end_byte: cut,
                start_point: Point::default(),
                end_point: Point { row, column: cut - line },
            });
        }
    }
    Some(ranges)
}

/// True if no white space outside of parentheses follows.
fn is_endless(tail: &[u8]) -> bool {
    let followed = tail.iter().try_fold(false, |is_inside, byte| match byte {
        b'(' => ControlFlow::Continue(true),
        b')' => ControlFlow::Continue(false),
        byte if byte.is_ascii_whitespace() && !is_inside => ControlFlow::Break(()),
        _ => ControlFlow::Continue(is_inside),
    });
    followed.is_continue()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_before_a_mark_without_an_end() {
        for (text, expected) in [
            ("val a = 1\n@Old", Some(10)),
            ("val a = 1\n  @Old(\"use it", Some(12)),
            ("val a = 1\n@Old(x)", Some(10)),
            ("val a = 1\n@Old x @New(y z", Some(17)),
            ("val a = 1\n@Old(\"a\") x", None),
            ("val a = 1\n@Old\n", None),
            ("@Old(\nval a = 1", None),
            ("val a = 1\nval b = \"x@y\"", None),
            ("val a = 1\n@Old val b = c@d", None),
            ("", None),
        ] {
            let ranges = without_annotation(text.as_bytes(), &[]);
            let end = ranges.as_ref().map(|ranges| ranges[0].end_byte);
            assert_eq!(end, expected, "{text:?}");
            let Some(cut) = expected else { continue };
            let end = ranges.expect("it was cut")[0].end_point;
            let line = text[..cut].rfind('\n').map_or(0, |at| at + 1);
            assert_eq!((end.row, end.column), (1, cut - line), "{text:?}");
        }
    }

    #[test]
    fn the_last_of_several_ranges_is_cut() {
        let text = b"val a\n@A val b @Old }";
        let range = |start: usize, end: usize| Range {
            start_byte: start,
            end_byte: end,
            start_point: Point { row: 1, column: start - 6 },
            end_point: Point { row: 1, column: end - 6 },
        };
        let cut = without_annotation(text, &[range(6, 6), range(6, 19)]);
        assert_eq!(cut, Some(vec![range(6, 6), range(6, 15)]));
        assert_eq!(without_annotation(text, &[range(6, 6), range(6, 20)]), None);
    }
}
