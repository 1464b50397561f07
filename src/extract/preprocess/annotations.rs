//! Annotations in a row before a type, which a grammar takes for an annotated expression: all but
//! the last are masked, and the names in them kept.

use crate::preprocess::edits::{Edit, Use};
use cograph_model::SiteKind;
use std::ops::Range;

/// Most bytes of the arguments of an annotation.
const MOST_ARGUMENTS: usize = 2_000;

/// Most words between the annotations and the keyword: prose has any number of them.
const MOST_MODIFIERS: usize = 8;

/// Returns the annotations to mask before types with one of these keywords, and their names. A type
/// with parameters, type parameters or bases is no expression: there all annotations stay.
pub(super) fn stacked(keywords: &[String], source: &[u8]) -> (Vec<Edit>, Vec<Use>) {
    let (mut edits, mut uses) = (Vec::new(), Vec::new());
    if memchr::memchr(b'@', source).is_none() {
        return (edits, uses);
    }
    for keyword in keywords {
        for start in memchr::memmem::find_iter(source, keyword.as_bytes()) {
            let end = start + keyword.len();
            if !is_whole(source, start..end) || !may_be_an_expression(&source[end..]) {
                continue;
            }
            let mut at = start_of_modifiers(source, start);
            let mut annotations = Vec::new();
            while let Some(found) = annotation_before(source, at) {
                at = found.start;
                annotations.push(found);
            }
            for masked in annotations.into_iter().skip(1) {
                names(source, masked.clone(), &mut uses);
                edits.push(Edit::blank(masked));
            }
        }
    }
    (edits, uses)
}

fn is_whole(source: &[u8], word: Range<usize>) -> bool {
    let before = source[..word.start].last();
    before.is_none_or(u8::is_ascii_whitespace)
        && source.get(word.end).is_some_and(u8::is_ascii_whitespace)
}

/// True if what follows the keyword is a name, and then nothing that an expression cannot have.
fn may_be_an_expression(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let name = rest.iter().take_while(|&&byte| is_word(byte)).count();
    let mut rest = rest[name..].trim_ascii_start();
    if let Some(inner) = rest.strip_prefix(b"(") {
        // Without parameters it may be a call.
        match inner.trim_ascii_start().strip_prefix(b")") {
            Some(behind) => rest = behind.trim_ascii_start(),
            None => return false,
        }
    }
    name > 0 && !matches!(rest.first(), Some(b':' | b'<'))
}

/// Returns where the words directly before a keyword start.
fn start_of_modifiers(source: &[u8], keyword: usize) -> usize {
    let mut start = keyword;
    for _ in 0..MOST_MODIFIERS {
        let blank = source[..start].trim_ascii_end().len();
        let word =
            source[..blank].iter().rev().take_while(|byte| byte.is_ascii_lowercase()).count();
        let is_modifier =
            word > 0 && source[..blank - word].last().is_none_or(u8::is_ascii_whitespace);
        if !is_modifier {
            break;
        }
        start = blank - word;
    }
    start
}

/// Returns the annotation that ends before a position, with nothing but blanks between.
fn annotation_before(source: &[u8], at: usize) -> Option<Range<usize>> {
    let end = source[..at].trim_ascii_end().len();
    let head = match source[..end].last()? {
        b')' => start_of_arguments(source, end)?,
        _ => end,
    };
    let is_part = |byte: &&u8| is_word(**byte) || matches!(byte, b'.' | b':');
    let name = source[..head].iter().rev().take_while(is_part).count();
    let start = (head - name).checked_sub(1)?;
    (name > 0 && source[start] == b'@').then_some(start..end)
}

/// Returns where the parentheses start that end at a position.
fn start_of_arguments(source: &[u8], end: usize) -> Option<usize> {
    let (mut depth, mut is_text) = (0_usize, false);
    for (at, byte) in source[..end].iter().enumerate().rev().take(MOST_ARGUMENTS) {
        match byte {
            b'"' => is_text = !is_text,
            b')' if !is_text => depth += 1,
            b'(' if !is_text => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Adds the names in an annotation: its own, and the first of each path in its arguments.
fn names(source: &[u8], annotation: Range<usize>, uses: &mut Vec<Use>) {
    let (mut at, mut is_text, mut kind) = (annotation.start, false, SiteKind::Decorate);
    while at < annotation.end {
        let byte = source[at];
        if byte == b'"' {
            is_text = !is_text;
        }
        if is_text || !is_word(byte) || byte.is_ascii_digit() {
            at += 1;
            continue;
        }
        let length = source[at..annotation.end].iter().take_while(|&&byte| is_word(byte)).count();
        let name = at..at + length;
        let is_path = matches!(source[..name.start].last(), Some(b'.' | b':'));
        let next = source[name.end..annotation.end].trim_ascii_start();
        let is_label = next.first() == Some(&b'=') && next.get(1) != Some(&b'=');
        if !is_path && !is_label {
            uses.push(Use { name: name.clone(), kind });
        }
        kind = SiteKind::Read;
        at = name.end;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text, and the names that were masked.
    fn masked(text: &str) -> (String, Vec<&str>) {
        let keywords = ["class".to_owned(), "interface".to_owned()];
        let (edits, uses) = stacked(&keywords, text.as_bytes());
        let mut left = text.to_owned();
        for edit in edits {
            left.replace_range(edit.range.clone(), &" ".repeat(edit.range.len()));
        }
        (left, uses.into_iter().map(|found| &text[found.name]).collect())
    }

    #[test]
    fn the_last_annotation_stays() {
        let text = "@A(x = B::class, \"(\") @C\nopen class D { }";
        assert_eq!(masked(text), (" ".repeat(21) + " @C\nopen class D { }", vec!["A", "B"]));
        assert_eq!(masked("@A @B class C() {}"), ("   @B class C() {}".to_owned(), vec!["A"]));
        assert_eq!(masked("@A @B interface C"), ("   @B interface C".to_owned(), vec!["A"]));
    }

    #[test]
    fn what_is_no_expression_stays_whole() {
        for text in
            ["@A @B class C(x: Int)", "@A @B class C() : D { }", "@A class C { }", "x class"]
        {
            assert_eq!(masked(text), (text.to_owned(), vec![]));
        }
    }
}
