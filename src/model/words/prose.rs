//! Spans of comments and string literals, which contain natural language. An approximation for most
//! languages, not a lexer: misclassified text is searched all the same.

/// Maximum length of a text in back ticks in bytes: an unmatched one must not turn the rest of a
/// file into text.
const MAX_IN_TICKS: usize = 2_000;

/// Returns the spans of comments and strings, in order.
pub(super) fn spans(text: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| {
        rest.iter().position(|byte| matches!(byte, b'/' | b'#' | b'"' | b'\'' | b'`'))
    }) {
        let start = at + found;
        match end_of(text, start) {
            Some(end) => {
                spans.push((start, end));
                at = end;
            }
            None => at = start + 1,
        }
    }
    spans
}

/// Returns the end of the comment or string that begins at `start`, if one does.
fn end_of(text: &[u8], start: usize) -> Option<usize> {
    let rest = &text[start..];
    let before = start.checked_sub(1).map(|before| text[before]);
    let line = || memchr::memchr(b'\n', rest).map_or(text.len(), |length| start + length);
    let after = |mark: &[u8], from: usize| {
        memchr::memmem::find(rest.get(from..)?, mark)
            .map(|length| start + from + length + mark.len())
    };
    match rest {
        [b'/', b'/', ..] if before != Some(b':') => Some(line()),
        [b'/', b'*', ..] => Some(after(b"*/", 2).unwrap_or(text.len())),
        [b'#', next, ..]
            if matches!(next, b' ' | b'#' | b'!' | b':')
                && before.is_none_or(|byte| byte.is_ascii_whitespace()) =>
        {
            Some(line())
        }
        [b'"', b'"', b'"', ..] => Some(after(b"\"\"\"", 3).unwrap_or(text.len())),
        [b'\'', b'\'', b'\'', ..] => Some(after(b"'''", 3).unwrap_or(text.len())),
        [b'`', ..] => after(b"`", 1).filter(|end| end - start <= MAX_IN_TICKS),
        // Apostrophes, lifetimes and character literals are no strings.
        [b'\'', ..] if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) => None,
        [quote @ (b'"' | b'\''), ..] => closing(rest, *quote).map(|length| start + length),
        _ => None,
    }
}

/// Returns the length of a quoted string with both quotes, if it ends on its line.
fn closing(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return None,
            _ if byte == quote => return Some(at + 1),
            // Between two lifetimes.
            b'<' | b'>' | b'&' if quote == b'\'' => return None,
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_found_in_any_language() {
        for (text, expected) in [
            ("a = 'b c' # d\ne", vec!["'b c'", "# d"]),
            ("#include <x>\nint a; // b\n/* c\nd */ e", vec!["// b", "/* c\nd */"]),
            ("x(\"a \\\" b\", `c\nd`)", vec!["\"a \\\" b\"", "`c\nd`"]),
            ("def f():\n    \"\"\"Gives\n    one.\"\"\"\n", vec!["\"\"\"Gives\n    one.\"\"\""]),
            ("it's \"open\n next", vec![]),
            ("a / b; http://x", vec![]),
            ("#[derive(A)]\nfn f<'a>(x: &'a str)", vec![]),
        ] {
            let found: Vec<&str> =
                spans(text.as_bytes()).into_iter().map(|(start, end)| &text[start..end]).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
