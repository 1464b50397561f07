//! Forms that a grammar does not know, found among the tokens of a source and written over with
//! forms of the same length.

use crate::preprocess::tokens::{self, Kind, Token};
use cograph_grammar::{Form, Manifest};
use cograph_model::SiteKind;
use std::ops::Range;

/// Greatest number of tokens, with brackets as one, that a gap in a form covers.
const MOST_SKIPPED: usize = 80;

/// Places of one form.
#[derive(Default)]
pub(super) struct Edits {
    /// Parts of the source, with what is written there.
    texts: Vec<(Range<usize>, Vec<u8>)>,
    /// Names that are written over.
    pub(super) names: Vec<(Range<usize>, SiteKind)>,
}

impl Edits {
    /// Writes the texts, each filled up with blanks.
    pub(super) fn apply(&self, source: &mut [u8]) {
        for (range, text) in &self.texts {
            let place = &mut source[range.clone()];
            let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
            if place.iter().take(text.len()).any(is_break) {
                continue;
            }
            place.iter_mut().filter(|byte| !is_break(byte)).for_each(|byte| *byte = b' ');
            place[..text.len()].copy_from_slice(text);
        }
    }
}

/// Returns the places of the manifest's forms in a source, for each form that occurs.
pub(super) fn find(manifest: &Manifest, source: &[u8]) -> Vec<Edits> {
    let rules = &manifest.repairs;
    let mut found = Vec::new();
    if !rules.forms.is_empty() {
        let tokens = tokens::tokens(&manifest.preprocessor, source);
        let text = Text { source, closing: closing(&tokens), tokens };
        found.extend(rules.forms.iter().map(|form| text.places(form)));
    }
    if let Some(mark) = &rules.interpolation {
        found.push(repeated_marks(mark.as_bytes(), source));
    }
    if let Some(quotes) = &rules.quotes {
        found.push(further_quotes(quotes.as_bytes(), source));
    }
    found.retain(|edits: &Edits| !edits.texts.is_empty());
    found
}

struct Text<'s> {
    source: &'s [u8],
    tokens: Vec<Token>,
    /// Position of the closing bracket of each token that is an opening one.
    closing: Vec<Option<usize>>,
}

impl Text<'_> {
    fn places(&self, form: &Form) -> Edits {
        let mut edits = Edits::default();
        for at in 0..self.tokens.len() {
            let mut ranges = Vec::new();
            if !self.matches(&form.find, at, &mut ranges) {
                continue;
            }
            for (element, range) in form.find.iter().zip(ranges.iter().rev()) {
                if let Some(text) = form.write.get(element)
                    && text.len() <= range.len()
                    && !range.is_empty()
                {
                    edits.texts.push((range.clone(), text.clone().into_bytes()));
                }
                let is_type = form.types.contains(element);
                if is_type || form.reads.contains(element) {
                    let used = self.names(range).map(|at| match is_type {
                        true => (self.tokens[at].range(), SiteKind::Type),
                        false => (self.tokens[at].range(), self.kind_of_value(at)),
                    });
                    edits.names.extend(used);
                }
            }
        }
        edits
    }

    /// Returns the words in a part of the source that are no labels.
    fn names(&self, range: &Range<usize>) -> impl Iterator<Item = usize> {
        let from = self.tokens.partition_point(|token| token.range().start < range.start);
        let to = self.tokens.partition_point(|token| token.range().end <= range.end);
        (from..to).filter(|at| {
            let is_label = self.tokens.get(at + 1).is_some_and(|next| next.is(b':'));
            self.tokens[*at].kind == Kind::Word && !is_label
        })
    }

    /// Returns the use of a word that is a value: a call where a list of arguments follows.
    fn kind_of_value(&self, at: usize) -> SiteKind {
        match self.tokens.get(at + 1).is_some_and(|next| next.is(b'(')) {
            true => SiteKind::Call,
            false => SiteKind::Read,
        }
    }

    /// True if the elements match from a token on. `ranges` gets their places, last one first.
    fn matches(&self, elements: &[String], at: usize, ranges: &mut Vec<Range<usize>>) -> bool {
        let Some((element, rest)) = elements.split_first() else { return true };
        let end = match element.as_str() {
            ".." => return self.gap(rest, at, ranges),
            "^" if self.is_first(at) => at,
            "_" if self.follows_a_blank(at) => at,
            "^" | "_" => return false,
            "()" | "[]" | "{}" => match self.closing.get(at).copied().flatten() {
                Some(end) if self.tokens[at].is(element.as_bytes()[0]) => end + 1,
                _ => return false,
            },
            "<>" => match self.after_angles(at) {
                Some(end) => end,
                None => return false,
            },
            "*" => match self.tokens.get(at) {
                Some(token) if token.kind == Kind::Word => at + 1,
                _ => return false,
            },
            word if word.len() > 1 && word.starts_with('!') => {
                match self.is_token(&word[1..], at) {
                    true => return false,
                    false => at,
                }
            }
            words => {
                let is_one = |word: &&str| !word.is_empty() && self.is_token(word, at);
                match words.split('|').find(is_one) {
                    Some(word) => at + self.length(word, at),
                    None => return false,
                }
            }
        };
        if !self.matches(rest, end, ranges) {
            return false;
        }
        ranges.push(self.range(element, at, end));
        true
    }

    /// Matches the fewest tokens before the rest of the elements.
    fn gap(&self, rest: &[String], at: usize, ranges: &mut Vec<Range<usize>>) -> bool {
        let mut end = at;
        for _ in 0..MOST_SKIPPED {
            if self.matches(rest, end, ranges) {
                ranges.push(self.range("", at, end));
                return true;
            }
            let Some(token) = self.tokens.get(end) else { return false };
            let stops = token.is(b';') || token.is(b'}') || token.is(b')') || token.is(b']');
            let close = self.closing[end].unwrap_or(end);
            let is_last = close == end && rest.last().is_some_and(|last| self.is_token(last, end));
            let breaks = end > at && self.is_first(end) || self.has_break(end, close);
            if stops || is_last || breaks {
                return false;
            }
            end = close + 1;
        }
        false
    }

    fn range(&self, element: &str, at: usize, end: usize) -> Range<usize> {
        let start = self.tokens.get(at).map_or(self.source.len(), |token| token.range().start);
        match end.checked_sub(1).and_then(|last| self.tokens.get(last)) {
            _ if element == "_" => start - 1..start,
            Some(last) if end > at => start..last.range().end,
            _ => start..start,
        }
    }

    /// True if the token is the first of its line.
    fn is_first(&self, at: usize) -> bool {
        at == 0 || (at < self.tokens.len() && self.has_break(at - 1, at))
    }

    fn has_break(&self, from: usize, to: usize) -> bool {
        let between = self.tokens[from].range().end..self.tokens[to].range().start;
        let text = self.source.get(between).unwrap_or_default();
        memchr::memchr(b'\n', text).is_some()
    }

    fn follows_a_blank(&self, at: usize) -> bool {
        let before = self.tokens.get(at).and_then(|token| token.range().start.checked_sub(1));
        before.is_some_and(|before| matches!(self.source[before], b' ' | b'\t'))
    }

    /// True if a token, or the operator that begins with it, has this text.
    fn is_token(&self, text: &str, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        if token.kind == Kind::Word {
            return token.bytes(self.source) == text.as_bytes();
        }
        let start = token.range().start;
        let (before, rest) = self.source.split_at(start);
        let follows = rest.get(text.len()).copied().unwrap_or(b' ');
        // An assignment is no part of a comparison or an arrow.
        let is_whole = !text.ends_with('=')
            || !(matches!(follows, b'=' | b'>')
                || (text == "=" && matches!(before.last(), Some(b'=' | b'!' | b'<' | b'>'))));
        rest.starts_with(text.as_bytes()) && is_whole
    }

    /// Returns the number of tokens that a text at a token covers.
    fn length(&self, text: &str, at: usize) -> usize {
        let end = self.tokens[at].range().start + text.len();
        let is_inside = |token: &&Token| token.range().start < end;
        self.tokens[at..].iter().take_while(is_inside).count()
    }

    fn after_angles(&self, at: usize) -> Option<usize> {
        if !self.tokens.get(at)?.is(b'<') {
            return None;
        }
        let mut open = 0usize;
        for (position, token) in self.tokens.iter().enumerate().skip(at).take(MOST_SKIPPED) {
            match token.kind {
                Kind::Mark(b'<') => open += 1,
                Kind::Mark(b'>') if !self.tokens[position - 1].is(b'-') => open -= 1,
                Kind::Mark(b';' | b'{' | b'}') => return None,
                _ => {}
            }
            if open == 0 {
                return Some(position + 1);
            }
        }
        None
    }
}

fn closing(tokens: &[Token]) -> Vec<Option<usize>> {
    let (mut closing, mut open) = (vec![None; tokens.len()], Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        let closed = match token.kind {
            Kind::Mark(mark @ (b'(' | b'[' | b'{')) => {
                open.push((mark, at));
                continue;
            }
            Kind::Mark(b')') => b'(',
            Kind::Mark(b']') => b'[',
            Kind::Mark(b'}') => b'{',
            _ => continue,
        };
        if let Some(start) = open.iter().rposition(|(mark, _)| *mark == closed) {
            closing[open[start].1] = Some(at);
            open.truncate(start);
        }
    }
    closing
}

/// Returns the marks that are none of interpolation in strings with repeated marks before them, and
/// these.
fn repeated_marks(mark: &[u8], source: &[u8]) -> Edits {
    let mut edits = Edits::default();
    let (Some(&first), mut at) = (mark.first(), 0) else { return edits };
    while let Some(start) = memchr::memchr(first, &source[at..]).map(|found| at + found) {
        let count = source[start..].iter().take_while(|byte| **byte == first).count();
        at = start + count;
        let text = &source[at..];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if count < 2 || !text.starts_with(b"\"") || source[..start].last().is_some_and(is_word) {
            continue;
        }
        let quotes: &[u8] = if text.starts_with(b"\"\"\"") { b"\"\"\"" } else { b"\"" };
        let body = at + quotes.len();
        let Some(length) = memchr::memmem::find(&source[body..], quotes) else { continue };
        edits.texts.push((start..at, Vec::new()));
        at = body + length + quotes.len();
        let mut inside = body;
        while let Some(found) = memchr::memchr(first, &source[inside..body + length]) {
            let from = inside + found;
            let marks = source[from..].iter().take_while(|byte| **byte == first).count();
            inside = from + marks;
            let masked = if marks < count { marks } else { marks - 1 };
            edits.texts.push((from..from + masked, b" ".repeat(masked)));
        }
    }
    edits
}

/// Returns the quotes that belong to the text of a string, next to those that begin and end it.
fn further_quotes(quotes: &[u8], source: &[u8]) -> Edits {
    let (mut edits, mut at) = (Edits::default(), 0);
    let Some(&quote) = quotes.first() else { return edits };
    while let Some(found) = memchr::memmem::find(&source[at..], quotes) {
        let body = at + found + quotes.len();
        let Some(length) = memchr::memmem::find(&source[body..], quotes) else { break };
        let end = body + length;
        let further = |from: usize| {
            from..from + source[from..].iter().take_while(|byte| **byte == quote).count()
        };
        let last = further(end);
        let inside = last.start..last.end - quotes.len();
        let text = b" ".repeat(inside.len());
        edits.texts.push((inside, text));
        at = last.end;
    }
    edits.texts.retain(|(range, _)| !range.is_empty());
    edits
}
