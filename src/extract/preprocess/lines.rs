//! Line breaks inside of a header that a grammar takes for the end of a definition: the keyword
//! behind such a break moves in front of it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Moves keywords at the start of a line, possibly behind other words, to the line before, where
/// that ends with the name of a definition with one of the listed keywords.
pub(super) fn join(words: &BTreeMap<String, Vec<String>>, source: &mut Cow<'_, [u8]>) {
    let mut moves: Vec<(Range<usize>, &[u8])> = Vec::new();
    for (word, heads) in words {
        let word = word.as_bytes();
        for start in memchr::memmem::find_iter(source, word) {
            let end = start + word.len();
            if source.get(end).is_some_and(|&byte| is_word(byte)) {
                continue;
            }
            let line = source[..start].iter().rposition(|&byte| byte == b'\n');
            let Some(line) = line.filter(|&line| {
                source[line..start].iter().all(|&byte| is_word(byte) || byte.is_ascii_whitespace())
                    && source[..start].last().is_some_and(u8::is_ascii_whitespace)
            }) else {
                continue;
            };
            let is_header = heads.iter().any(|head| ends_a_header(&source[..line], head));
            // The word and a blank before it take the place of the line break.
            if is_header && end - line > word.len() + 1 {
                moves.push((line..end, word));
            }
        }
    }
    for (range, word) in moves {
        let text = &mut source.to_mut()[range];
        text.fill(b' ');
        text[1..=word.len()].copy_from_slice(word);
        text[word.len() + 1] = b'\n';
    }
}

/// Greatest length of type parameters over several lines.
const MOST_PARAMETERS: usize = 2_000;

/// True if a text ends with a keyword, a name, and possibly type parameters.
fn ends_a_header(text: &[u8], keyword: &str) -> bool {
    let text = without_parameters(text.trim_ascii_end());
    let start = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |line| line + 1);
    let line = text[start..].trim_ascii();
    let Some(at) = memchr::memmem::rfind(line, keyword.as_bytes()) else { return false };
    let is_whole = at == 0 || line[..at].last().is_some_and(u8::is_ascii_whitespace);
    let rest = &line[at + keyword.len()..];
    let name = rest.trim_ascii_start();
    let is_name = !name.is_empty() && name.iter().all(|&byte| is_word(byte));
    is_whole && rest.len() > name.len() && is_name
}

/// Returns a text without the type parameters at its end.
fn without_parameters(text: &[u8]) -> &[u8] {
    if !text.ends_with(b">") {
        return text;
    }
    let mut open = 0usize;
    for (at, byte) in text.iter().enumerate().rev().take(MOST_PARAMETERS) {
        match byte {
            b'>' => open += 1,
            b'<' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return text[..at].trim_ascii_end();
        }
    }
    text
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> String {
        let words = BTreeMap::from([("constructor".to_owned(), vec!["class".to_owned()])]);
        let mut source = Cow::Borrowed(text.as_bytes());
        join(&words, &mut source);
        assert_eq!(source.len(), text.len());
        String::from_utf8(source.into_owned()).expect("only ASCII was moved")
    }

    #[test]
    fn a_header_goes_on_in_the_next_line() {
        let text = "class A {\n  class B<T>\n  internal constructor(x: T)\n}";
        let joined = joined(text);
        assert_eq!(joined, "class A {\n  class B<T> constructor\n          (x: T)\n}");
        let text = "class B<\n  T : C<T>\n>\nopen constructor(x: T)";
        let expected = "class B<\n  T : C<T>\n> constructor\n    (x: T)";
        assert_eq!(self::joined(text), expected);
    }

    #[test]
    fn a_member_of_that_name_stays() {
        for text in ["class A {\n  val class: B\n  constructor(x: T)\n}", "f()\n  constructor(x)"] {
            assert_eq!(joined(text), text);
        }
    }
}
