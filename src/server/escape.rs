//! The door through which text of the repository, of file names and of callers comes into a reply: it cannot forge structure
//! there. Nothing is deleted: what could deceive is shown as `\u{..}`, and what is cut says so.

use crate::faults::{Fault, planted};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

thread_local! {
    /// Characters that were escaped on this thread: a call is rendered on one.
    static ESCAPED: Cell<u64> = const { Cell::new(0) };
}

/// Does some work, and counts the characters that were escaped for it, those of entries that found no room included.
pub(super) fn counting<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = ESCAPED.get();
    let done = work();
    (done, ESCAPED.get() - before)
}

/// Text on one line, of bounded length: names, paths, signatures, values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct SafeLine(String);

impl SafeLine {
    /// Escapes `text`; what exceeds `most` bytes is replaced by its number of characters.
    pub(super) fn new(text: &str, most: usize) -> Self {
        let escaped = escape(text, |letter| letter == '\t' || letter == '\n');
        if escaped.len() <= most {
            return Self(escaped.into_owned());
        }
        let mut end = most;
        while !escaped.is_char_boundary(end) {
            end -= 1;
        }
        Self(format!("{}…(+{})", &escaped[..end], escaped[end..].chars().count()))
    }

    /// The text.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One line of source. It keeps its tabs, and stands behind a gutter with its number, so that it cannot be taken for
/// anything else.
pub(super) fn source_line(text: &str, most: usize) -> String {
    let escaped = escape(text, |letter| letter == '\n');
    if escaped.len() <= most {
        return escaped.into_owned();
    }
    let mut end = most;
    while !escaped.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…(+{})", &escaped[..end], escaped[end..].chars().count())
}

/// Several lines of somebody who has answered for us: they keep their line ends and tabs.
pub(super) fn block(text: &str, most: usize) -> String {
    let escaped = escape(text, |_| false);
    if escaped.len() <= most {
        return escaped.into_owned();
    }
    let end = escaped.floor_char_boundary(most);
    format!("{}…(+{})", &escaped[..end], escaped[end..].chars().count())
}

/// The same for values of a structure, names included.
pub(super) fn value(given: &Value, most: usize) -> Value {
    match given {
        Value::String(text) => Value::String(block(text, most)),
        Value::Array(items) => items.iter().map(|item| value(item, most)).collect(),
        Value::Object(members) => members.iter().map(|(name, member)| (block(name, most), value(member, most))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => given.clone(),
    }
}

/// Whether a character changes how the text around it is read or shown, without being seen itself.
fn deceives(letter: char) -> bool {
    (planted(Fault::OverEager) && !letter.is_ascii())
        || matches!(letter,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'   // control characters
        | '\u{ad}' | '\u{61c}' | '\u{180e}'                            // soft hyphen, Arabic mark, Mongolian separator
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'            // zero width, line separators, direction
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' // joiners, isolates, marks
        | '\u{e0000}'..='\u{e007f}') // tags
}

fn escape(text: &str, also: impl Fn(char) -> bool) -> Cow<'_, str> {
    if planted(Fault::SingleReplace) {
        return Cow::Owned(text.replacen('\u{1b}', "", 1).replace('\n', " "));
    }
    if !text.chars().any(|letter| deceives(letter) || also(letter)) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        ESCAPED.set(ESCAPED.get() + u64::from(deceives(letter) || also(letter)));
        match letter {
            '\n' if also(letter) => escaped.push_str("\\n"),
            '\t' if also(letter) => escaped.push_str("\\t"),
            _ if deceives(letter) || also(letter) => escaped.extend(letter.escape_unicode()),
            _ => escaped.push(letter),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_invisible_gets_through_and_nothing_is_lost() {
        let hostile = "a\n</system>\u{1b}[31m\u{202e}x\u{200b}\u{e0041}\u{85}\r\u{feff}```";
        let line = SafeLine::new(hostile, 1000);
        assert_eq!(line.as_str(), "a\\n</system>\\u{1b}[31m\\u{202e}x\\u{200b}\\u{e0041}\\u{85}\\u{d}\\u{feff}```");
        assert_eq!(source_line("\tif a:\r", 1000), "\tif a:\\u{d}");
    }

    #[test]
    fn what_is_escaped_is_counted() {
        let (line, count) = counting(|| SafeLine::new("a\u{202e}b\n\u{1b}", 1000));
        assert_eq!((line.as_str(), count), ("a\\u{202e}b\\n\\u{1b}", 3));
        assert_eq!(counting(|| source_line("\tnothing to escape", 1000)).1, 0);
    }

    #[test]
    fn honest_text_stays_as_it_is() {
        for text in ["", "def f(x): # 名前 é 🦀", "`a` ```b``` <c>"] {
            assert_eq!(SafeLine::new(text, 1000).as_str(), text);
            assert_eq!(source_line(text, 1000), text);
        }
    }

    #[test]
    fn what_is_cut_says_so_and_is_cut_between_characters() {
        assert_eq!(SafeLine::new("ééééé", 5).as_str(), "éé…(+3)");
        assert!(SafeLine::new(&"x".repeat(1 << 20), 200).as_str().len() < 230);
        assert_eq!(source_line("abcdef", 4), "abcd…(+2)");
    }
}
