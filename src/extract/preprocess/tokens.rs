//! Tokenizer: words, numbers, strings, marks and whole directives. Omits comments and white space.

use cograph_grammar::{Language, Preprocessor, WordClass, WordLists};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Word,
    Number,
    Text,
    Mark(u8),
    /// `::`.
    Scope,
    Directive,
}

/// Token. Small, because their number is about a quarter of the number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Word lists that contain it.
    pub(crate) lists: WordLists,
    start: u32,
    end: u32,
}

impl Token {
    fn new(kind: Kind, lists: WordLists, range: Range<usize>) -> Self {
        let offset =
            |byte: usize| u32::try_from(byte).expect("files are limited to far less than 4 GiB");
        Self { kind, lists, start: offset(range.start), end: offset(range.end) }
    }

    /// Range in the source.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(crate) fn bytes<'s>(&self, source: &'s [u8]) -> &'s [u8] {
        &source[self.range()]
    }

    pub(crate) fn text<'s>(&self, source: &'s [u8]) -> &'s str {
        std::str::from_utf8(&source[self.range()]).unwrap_or_default()
    }

    pub(crate) fn is(&self, mark: u8) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

pub(crate) fn tokens(rules: &Preprocessor, source: &[u8]) -> Vec<Token> {
    let directive = rules.directive.as_ref().and_then(|mark| mark.bytes().next());
    let verbatim = rules.words_of(WordClass::Verbatim);
    let mut tokens = Vec::with_capacity(source.len() / 4);
    let (mut at, mut line_start) = (0, true);
    while at < source.len() {
        let (start, byte) = (at, source[at]);
        if byte == b'\n' {
            line_start = true;
            at += 1;
            continue;
        }
        if byte.is_ascii_whitespace() || byte == b'\\' {
            at += 1;
            continue;
        }
        let next = source.get(at + 1).copied();
        match (byte, next) {
            (b'/', Some(b'/')) => {
                at = end_of_line(source, at);
                continue;
            }
            (b'/', Some(b'*')) => {
                at = end_of_comment(source, at);
                continue;
            }
            _ => {}
        }
        let mut lists = WordLists::default();
        let opens = |mark: &&String| source[at..].starts_with(mark.as_bytes());
        let kind = if let Some(opening) = verbatim.iter().find(opens) {
            at = end_of_verbatim_string(source, at + opening.len());
            Kind::Text
        } else if line_start && Some(byte) == directive {
            at = end_of_line(source, at);
            Kind::Directive
        } else if byte == b'R' && next == Some(b'"') {
            at = end_of_raw_string(source, at + 1);
            Kind::Text
        } else if byte == b'"' || byte == b'\'' {
            at = end_of_string(source, at);
            Kind::Text
        } else if byte.is_ascii_digit() {
            let rest = source[at..].iter();
            at += rest.take_while(|&&byte| is_word(byte) || byte == b'.' || byte == b'\'').count();
            Kind::Number
        } else if is_word(byte) {
            at += source[at..].iter().take_while(|&&byte| is_word(byte)).count();
            lists = rules.lists_with(&source[start..at]);
            Kind::Word
        } else if byte == b':' && next == Some(b':') {
            at += 2;
            Kind::Scope
        } else {
            at += 1;
            Kind::Mark(byte)
        };
        line_start = false;
        tokens.push(Token::new(kind, lists, start..at));
    }
    tokens
}

/// Removes the tokens of masked ranges: ranges of whole tokens, each of which ends at the end of a
/// line or before a directive, so that the remaining tokens are unchanged.
pub(crate) fn remove(tokens: &mut Vec<Token>, mut blanks: Vec<Range<usize>>) {
    blanks.sort_unstable_by_key(|range| range.start);
    // Tokens before `kept` are kept; those from there to `next` are removed.
    let (mut kept, mut next) = (0, 0);
    for blank in blanks {
        let from = next + tokens[next..].partition_point(|token| token.range().start < blank.start);
        tokens.copy_within(next..from, kept);
        kept += from - next;
        next = from + tokens[from..].partition_point(|token| token.range().end <= blank.end);
    }
    tokens.drain(kept..next);
}

/// Returns the macros alone on a line that open or close namespaces, by their names
/// (`LIB_NAMESPACE_BEGIN`, `LIB_END_NAMESPACE`).
pub(crate) fn namespace_macros(source: &[u8], tokens: &[Token]) -> Vec<Range<usize>> {
    const WORD: &[u8] = b"NAMESPACE";
    let is_alone = |range: &Range<usize>| {
        let before = source[..range.start].iter().rev().find(|&&byte| byte != b' ');
        let after = source[range.end..].iter().find(|&&byte| !matches!(byte, b' ' | b'\r'));
        before.is_none_or(|&byte| byte == b'\n') && after.is_none_or(|&byte| byte == b'\n')
    };
    let is_macro = |range: &Range<usize>| {
        let name = &source[range.clone()];
        name.len() > WORD.len()
            && name.iter().all(|byte| !byte.is_ascii_lowercase())
            && name.windows(WORD.len()).any(|part| part == WORD)
    };
    let words = tokens.iter().filter(|token| token.kind == Kind::Word);
    words.map(Token::range).filter(|range| is_macro(range) && is_alone(range)).collect()
}

/// Returns the names in directives that no node of a tree has: of those that end a macro, and of
/// conditions in `masked` ranges.
pub(crate) fn directive_names(
    language: &Language,
    source: &[u8],
    tokens: &[Token],
    masked: &[Range<usize>],
) -> Vec<Range<usize>> {
    let (rules, tests) = (&language.manifest.preprocessor, &language.manifest.conditions.tests);
    let masked: FxHashSet<usize> = masked.iter().map(|range| range.start).collect();
    let mut names = Vec::new();
    for directive in tokens.iter().filter(|token| token.kind == Kind::Directive) {
        let range = directive.range();
        let text = source[range.start + 1..range.end].trim_ascii_start();
        let start = range.end - text.len();
        let length = text.iter().take_while(|&&byte| is_word(byte)).count();
        let is_read = match &text[..length] {
            b"undef" => true,
            b"if" | b"ifdef" | b"ifndef" | b"elif" | b"elifdef" | b"elifndef" => {
                masked.contains(&range.start)
            }
            _ => false,
        };
        if is_read {
            let words = self::tokens(rules, &text[length..]).into_iter();
            let words = words.filter(|word| word.kind == Kind::Word);
            let is_test = |word: &[u8]| tests.iter().any(|test| test.as_bytes() == word);
            let from = start + length;
            let ranges = words.map(|word| from + word.range().start..from + word.range().end);
            names.extend(ranges.filter(|name| !is_test(&source[name.clone()])));
        }
    }
    names
}

/// Returns the blanks and comments behind the name of each macro without a value. The parser looks
/// for a value behind them, and finds one in the next line.
pub(crate) fn empty_values(source: &[u8], tokens: &[Token]) -> Vec<Range<usize>> {
    let directives = tokens.iter().filter(|token| token.kind == Kind::Directive);
    directives.filter_map(|token| empty_value(source, token.range())).collect()
}

fn empty_value(source: &[u8], directive: Range<usize>) -> Option<Range<usize>> {
    let line = &source[..directive.end];
    let blanks = |at: usize| {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
        at + line[at..].iter().take_while(is_blank).count()
    };
    let word = |at: usize| at + line[at..].iter().take_while(|&&byte| is_word(byte)).count();
    let command = blanks(directive.start + 1);
    if line[command..word(command)] != *b"define" {
        return None;
    }
    let mut name_end = word(blanks(word(command)));
    if line[name_end..].starts_with(b"(") {
        name_end = find(line, name_end, b")")? + 1;
    }
    let mut at = blanks(name_end);
    while line[at..].starts_with(b"/*") {
        at = blanks(end_of_comment(line, at));
    }
    let is_last = line[at..].trim_ascii().is_empty();
    (at > name_end && is_last).then_some(name_end..at)
}

/// True, by value, for bytes that may be part of a word.
static WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        let is_ascii_word =
            byte < 0x80 && (byte as u8).is_ascii_alphanumeric() || byte == b'_' as usize;
        table[byte] = is_ascii_word || byte >= 0x80;
        byte += 1;
    }
    table
};

fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

/// Returns the end of a block comment that starts here.
fn end_of_comment(source: &[u8], start: usize) -> usize {
    let mut at = start + 3;
    while let Some(slash) = source.get(at..).and_then(|rest| memchr::memchr(b'/', rest)) {
        at += slash + 1;
        if source[at - 2] == b'*' {
            return at;
        }
    }
    source.len()
}

/// Returns the end of a line, including continuation lines and block comments.
fn end_of_line(source: &[u8], mut at: usize) -> usize {
    loop {
        let Some(next) = source.get(at..).and_then(|rest| memchr::memchr2(b'/', b'\n', rest))
        else {
            return source.len();
        };
        at += next;
        if source[at..].starts_with(b"/*") {
            at = end_of_comment(source, at);
            continue;
        }
        if source[at] == b'\n' {
            let before = source[..at].strip_suffix(b"\r").unwrap_or(&source[..at]);
            if !before.ends_with(b"\\") {
                return at;
            }
        }
        at += 1;
    }
}

fn find(source: &[u8], from: usize, text: &[u8]) -> Option<usize> {
    memchr::memmem::find(source.get(from..)?, text).map(|position| from + position)
}

fn end_of_string(source: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < source.len() && source[at] != source[start] {
        if source[at] == b'\n' {
            return at;
        }
        at += if source[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(source.len())
}

/// Returns the end of a string whose text starts at `at`, in which a doubled quote is one.
fn end_of_verbatim_string(source: &[u8], mut at: usize) -> usize {
    while let Some(quote) = source.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        at += quote + 1;
        if source.get(at) != Some(&b'"') {
            return at;
        }
        at += 1;
    }
    source.len()
}

/// Returns the end of a raw string with a delimiter, whose quote is at `quote`.
fn end_of_raw_string(source: &[u8], quote: usize) -> usize {
    let Some(open) = find(source, quote, b"(").filter(|open| open - quote <= 17) else {
        return end_of_string(source, quote);
    };
    let mut close = vec![b')'];
    close.extend_from_slice(&source[quote + 1..open]);
    close.push(b'"');
    find(source, open, &close).map_or(source.len(), |end| end + close.len())
}
