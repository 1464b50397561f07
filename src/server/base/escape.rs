//! Escaping of untrusted text (repository contents, file names, arguments) for responses, so that
//! it cannot forge their structure. Nothing is deleted: deceptive characters become `\u{..}`, and
//! truncation is marked.

use cograph_faults::{Fault, planted};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

thread_local! {
    /// Number of characters escaped on this thread.
    static ESCAPED: Cell<u64> = const { Cell::new(0) };
}

/// Adds what was escaped for this thread's call on another one.
pub(crate) fn count(escaped: u64) {
    ESCAPED.set(ESCAPED.get() + escaped);
}

/// Runs `work` and counts the characters escaped in it, including those of entries that did not
/// fit.
pub(crate) fn counting<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = ESCAPED.get();
    let done = work();
    (done, ESCAPED.get() - before)
}

/// Escaped text on one line, with a bounded length: names, paths, signatures, values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SafeLine(String);

impl SafeLine {
    /// Escapes `text`; beyond `most` bytes it is replaced by its number of characters.
    pub(crate) fn new(text: &str, most: usize) -> Self {
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

    /// The escaped text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Source line. Keeps tabs; the gutter in front of it marks it as source.
pub(crate) fn source_line(text: &str, most: usize) -> String {
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

/// Multi-line text of an upstream; keeps line ends and tabs.
pub(crate) fn block(text: &str, most: usize) -> String {
    let escaped = escape(text, |_| false);
    if escaped.len() <= most {
        return escaped.into_owned();
    }
    let end = escaped.floor_char_boundary(most);
    format!("{}…(+{})", &escaped[..end], escaped[end..].chars().count())
}

/// Escapes a JSON value, including member names.
pub(crate) fn value(given: &Value, most: usize) -> Value {
    match given {
        Value::String(text) => Value::String(block(text, most)),
        Value::Array(items) => items.iter().map(|item| value(item, most)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (block(name, most), value(member, most))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => given.clone(),
    }
}

/// Escapes text for a terminal: keeps line ends and tabs, escapes control characters and
/// bidirectional overrides.
pub fn for_terminal(text: &str) -> String {
    escape(text, |_| false).into_owned()
}

/// Escapes text for a terminal, on one line.
pub fn one_line(text: &str) -> String {
    escape(text, |letter| letter == '\t' || letter == '\n').into_owned()
}

/// True for characters that are invisible or change how neighbouring text is displayed. `before`
/// decides about variation selectors.
fn deceives(letter: char, before: Option<char>) -> bool {
    (planted(Fault::OverEager) && !letter.is_ascii())
        || match letter {
            // Variation selectors are valid after pictographs and ideographs only; elsewhere they
            // can carry hidden data.
            '\u{fe0e}' | '\u{fe0f}' => !before.is_some_and(is_pictograph),
            '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => {
                !before.is_some_and(is_ideograph)
            }
            _ => is_unseen(letter),
        }
}

fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' // control characters
        | '\u{ad}' | '\u{34f}' // soft hyphen, joiner
        | '\u{61c}' | '\u{180b}'..='\u{180f}' // Arabic and Mongolian marks
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // fillers of Hangul
        | '\u{17b4}' | '\u{17b5}' | '\u{2800}' // vowels without a shape, the empty Braille pattern
        | '\u{200b}'..='\u{200f}' // zero width
        | '\u{2028}'..='\u{202e}' // line separators, direction
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' // joiners, isolates, marks
        | '\u{fe00}'..='\u{fe0f}' // forms
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' // marks of shorthand and of music
        | '\u{e0000}'..='\u{e0fff}') // tags, forms
}

/// Characters with a text and an emoji presentation.
fn is_pictograph(letter: char) -> bool {
    matches!(letter,
        '#' | '*' | '0'..='9' | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}'
        | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{24ff}'
        | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn escape(text: &str, also: impl Fn(char) -> bool) -> Cow<'_, str> {
    if planted(Fault::SingleReplace) {
        return Cow::Owned(text.replacen('\u{1b}', "", 1).replace('\n', " "));
    }
    let befores = || std::iter::once(None).chain(text.chars().map(Some));
    // Fast path: printable ASCII needs no escape.
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !planted(Fault::OverEager);
    if text.bytes().all(is_plain)
        || !text
            .chars()
            .zip(befores())
            .any(|(letter, before)| deceives(letter, before) || also(letter))
    {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for (letter, before) in text.chars().zip(befores()) {
        let deceives = deceives(letter, before);
        ESCAPED.set(ESCAPED.get() + u64::from(deceives || also(letter)));
        match letter {
            '\n' if also(letter) => escaped.push_str("\\n"),
            '\t' if also(letter) => escaped.push_str("\\t"),
            _ if deceives || also(letter) => escaped.extend(letter.escape_unicode()),
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
        assert_eq!(
            line.as_str(),
            "a\\n</system>\\u{1b}[31m\\u{202e}x\\u{200b}\\u{e0041}\\u{85}\\u{d}\\u{feff}```"
        );
        assert_eq!(source_line("\tif a:\r", 1000), "\tif a:\\u{d}");
    }

    #[test]
    fn what_is_escaped_is_counted() {
        let (line, count) = counting(|| SafeLine::new("a\u{202e}b\n\u{1b}", 1000));
        assert_eq!((line.as_str(), count), ("a\\u{202e}b\\n\\u{1b}", 3));
        assert_eq!(counting(|| source_line("\tnothing to escape", 1000)).1, 0);
    }

    #[test]
    fn letters_without_a_shape_are_shown() {
        let fillers =
            "\u{3164}\u{ffa0}\u{115f}\u{1160}\u{34f}\u{17b4}\u{17b5}\u{2800}\u{180b}\u{e0fff}";
        let shown: String =
            fillers.chars().map(|letter| letter.escape_unicode().to_string()).collect();
        assert_eq!(SafeLine::new(fillers, 1000).as_str(), shown);
        // Data hidden in variation selectors: only the first of a run can be legitimate.
        assert_eq!(SafeLine::new("a\u{fe0f}\u{e0101}", 1000).as_str(), "a\\u{fe0f}\\u{e0101}");
        assert_eq!(
            SafeLine::new("❤\u{fe0f}\u{fe0e}\u{fe03}", 1000).as_str(),
            "❤\u{fe0f}\\u{fe0e}\\u{fe03}"
        );
        assert_eq!(SafeLine::new("葛\u{e0101}\u{e0102}x", 1000).as_str(), "葛\u{e0101}\\u{e0102}x");
        assert_eq!(SafeLine::new("\u{fe0f}", 1000).as_str(), "\\u{fe0f}");
    }

    #[test]
    fn honest_text_stays_as_it_is() {
        for text in
            ["", "def f(x): # 名前 é 🦀", "`a` ```b``` <c>", "1\u{fe0f} ❤\u{fe0f} 葛\u{e0100}"]
        {
            assert_eq!(SafeLine::new(text, 1000).as_str(), text);
            assert_eq!(source_line(text, 1000), text);
        }
    }

    #[test]
    fn what_is_cut_is_marked_and_is_cut_between_characters() {
        assert_eq!(SafeLine::new("ééééé", 5).as_str(), "éé…(+3)");
        assert!(SafeLine::new(&"x".repeat(1 << 20), 200).as_str().len() < 230);
        assert_eq!(source_line("abcdef", 4), "abcd…(+2)");
    }
}
