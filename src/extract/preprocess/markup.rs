//! Masking of markup: in a language whose files are markup with code in it, everything but the code
//! becomes blank, so that the grammar of the code parses the file.
//!
//! Blocks of code stay as they are. An expression of the markup becomes a statement in parentheses,
//! and the name of a component in a tag a statement of its own: both are in the scope of the file,
//! whose names they refer to. Markup that binds names (a loop) becomes a block in braces.

use cograph_grammar::{MarkMeaning, Markup};
use memchr::memmem;
use std::ops::Range;

/// Masked markup.
pub(super) struct Masked {
    pub(super) source: Vec<u8>,
    /// Names that the markup binds, each in a block.
    pub(super) bound: Vec<Range<usize>>,
    /// Names of components with hyphens, which are no names of the code.
    pub(super) components: Vec<Range<usize>>,
}

/// Code in a file.
#[derive(Clone)]
enum Piece {
    /// Content of an element that holds code.
    Code(Range<usize>),
    /// Expression, with the positions of the bytes around it that delimit it.
    Expression { open: usize, code: Range<usize>, close: usize },
    /// Name of a component.
    Component(Range<usize>),
    /// Start of a block, and the names that it binds. The end follows in `Close`.
    Open { at: usize, names: Vec<Range<usize>>, is_closed: bool },
    /// End of a block.
    Close(usize),
}

impl Piece {
    /// Positions of all bytes that it needs.
    fn extent(&self) -> Range<usize> {
        match self {
            Self::Code(range) | Self::Component(range) => range.clone(),
            Self::Expression { open, close, .. } => *open..close + 1,
            Self::Open { at, .. } | Self::Close(at) => *at..at + 1,
        }
    }

    /// True for statements that have to be ended before the next one.
    fn is_open_ended(&self) -> bool {
        matches!(self, Self::Code(_) | Self::Expression { .. } | Self::Component(_))
    }
}

/// Masks the markup of a file.
pub(super) fn mask(rules: &Markup, source: &[u8]) -> Masked {
    let blank = |&byte: &u8| if matches!(byte, b'\n' | b'\r') { byte } else { b' ' };
    let mut masked: Vec<u8> = source.iter().map(blank).collect();
    let copy = |masked: &mut Vec<u8>, range: &Range<usize>| {
        masked[range.clone()].copy_from_slice(&source[range.clone()]);
    };
    let (mut bound, mut components) = (Vec::new(), Vec::new());
    let mut last: Option<Piece> = None;
    let scanner = Scanner { rules, source, pieces: Vec::new(), blocks: Vec::new() };
    for piece in scanner.pieces() {
        if let Piece::Component(name) = &piece
            && source[name.clone()].contains(&b'-')
        {
            components.push(name.clone());
            continue;
        }
        let is_joined = last.as_ref().is_some_and(|last| !separate(&mut masked, last, &piece));
        match &piece {
            Piece::Code(range) | Piece::Component(range) => copy(&mut masked, range),
            Piece::Expression { open, code, close } => {
                copy(&mut masked, code);
                // Several statements are no expression.
                let has_several = source[code.clone()].contains(&b';');
                let [before, after] = if has_several { *b"{}" } else { *b"()" };
                masked[*open] = if is_joined { b' ' } else { before };
                masked[*close] = after;
            }
            Piece::Open { is_closed: false, .. } => continue,
            Piece::Open { at, names, .. } => {
                masked[*at] = b'{';
                bound.extend_from_slice(names);
            }
            Piece::Close(at) => masked[*at] = b'}',
        }
        last = Some(piece);
    }
    Masked { source: masked, bound, components }
}

/// Ends a statement before the next one: `(a) (b)` would be a call. Returns false if the markup
/// between them has no byte for it; then both are parts of one expression.
fn separate(masked: &mut [u8], last: &Piece, next: &Piece) -> bool {
    if !last.is_open_ended() {
        return true;
    }
    let mut between = last.extent().end..next.extent().start;
    match (between.find(|&at| masked[at] == b' '), last) {
        (Some(at), _) => masked[at] = b';',
        (None, Piece::Expression { close, .. }) => {
            masked[*close] = b',';
            return false;
        }
        (None, _) => {}
    }
    true
}

/// Element or block of the markup that is not closed yet.
struct OpenBlock {
    name: Range<usize>,
    /// Position of its `Piece::Open`, if it is a scope.
    piece: Option<usize>,
}

struct Scanner<'a> {
    rules: &'a Markup,
    source: &'a [u8],
    pieces: Vec<Piece>,
    blocks: Vec<OpenBlock>,
}

impl Scanner<'_> {
    fn pieces(mut self) -> Vec<Piece> {
        let mut at = 0;
        while at < self.source.len() {
            at = match self.source[at] {
                b'<' if self.source[at..].starts_with(b"<!--") => self.after(at, b"-->"),
                b'<' if self.source[at..].starts_with(b"</") => self.end_tag(at),
                b'<' => self.tag(at),
                _ => self.expression(at).unwrap_or(at + 1),
            };
        }
        self.pieces
    }

    /// Returns the position after the next occurrence of a text.
    fn after(&self, at: usize, text: &[u8]) -> usize {
        memmem::find(&self.source[at..], text)
            .map_or(self.source.len(), |found| at + found + text.len())
    }

    /// Reads a tag, and the content of an element of code. Returns the position after it.
    fn tag(&mut self, at: usize) -> usize {
        let name = at + 1..self.end_of_tag_name(at + 1);
        let word = &self.source[name.clone()];
        let is_of = |words: &[String]| words.iter().any(|name| name.as_bytes() == word);
        let (is_code, is_other) = (is_of(&self.rules.code), is_of(&self.rules.skipped));
        let is_component = word.first().is_some_and(u8::is_ascii_uppercase)
            || self.rules.has_hyphens() && word.contains(&b'-');
        let block = self.rules.binds_in_attributes().then_some(self.pieces.len());
        if block.is_some() {
            self.pieces.push(Piece::Open { at, names: Vec::new(), is_closed: false });
        }
        if is_component {
            self.pieces.push(Piece::Component(name.clone()));
        }
        let end = self.attributes(name.end.max(at + 1), is_code || is_other, block);
        if self.source[at..end].ends_with(b"/>") {
            self.close(block, end - 1);
            return end;
        }
        if !(is_code || is_other) {
            self.blocks.push(OpenBlock { name, piece: block });
            return end;
        }
        let close = [b"</", &self.source[name]].concat();
        let length = memmem::find(&self.source[end..], &close);
        let content = end..length.map_or(self.source.len(), |length| end + length);
        let next = content.end;
        if is_code {
            self.pieces.push(Piece::Code(content));
        }
        next
    }

    /// Reads an end tag, which also closes elements inside that have no end tag.
    fn end_tag(&mut self, at: usize) -> usize {
        let name = at + 2..self.end_of_tag_name(at + 2);
        let end = self.after(at, b">");
        self.close_named(name, end - 1);
        end
    }

    fn close_named(&mut self, name: Range<usize>, at: usize) {
        let word = &self.source[name];
        let is_same = |block: &OpenBlock| &self.source[block.name.clone()] == word;
        if let Some(open) = self.blocks.iter().rposition(is_same) {
            let block = self.blocks[open].piece;
            self.blocks.truncate(open);
            self.close(block, at);
        }
    }

    /// Ends a block, which is one only if it binds names.
    fn close(&mut self, block: Option<usize>, at: usize) {
        if let Some(Piece::Open { names, is_closed, .. }) =
            block.and_then(|block| self.pieces.get_mut(block))
            && !names.is_empty()
        {
            *is_closed = true;
            self.pieces.push(Piece::Close(at));
        }
    }

    /// Reads the attributes of a tag; of an element of code they are not in its scope. Returns the
    /// position after the tag.
    fn attributes(&mut self, mut at: usize, are_plain: bool, block: Option<usize>) -> usize {
        let mut name = at;
        while let Some(&byte) = self.source.get(at) {
            let value = match byte {
                b'>' => return at + 1,
                b'"' | b'\'' => self.quoted(at),
                _ => None,
            };
            at = match value {
                Some(value) => {
                    let next = value.end + 1;
                    if !are_plain {
                        self.attribute(name..at, value, block);
                    }
                    next
                }
                None if are_plain => at + 1,
                None => self.expression(at).unwrap_or(at + 1),
            };
            if byte.is_ascii_whitespace() {
                name = at;
            }
        }
        self.source.len()
    }

    /// Reads the value of an attribute: an expression, after the names that it binds.
    fn attribute(&mut self, name: Range<usize>, value: Range<usize>, block: Option<usize>) {
        let starts = |prefix: &str| self.source[name.clone()].starts_with(prefix.as_bytes());
        let (open, mut code, close) = (value.start - 1, value.clone(), value.end);
        if let Some((_, ends)) = self.rules.attribute_binders().find(|(prefix, _)| starts(prefix)) {
            let found = ends.iter().find_map(|end| {
                Some((memmem::find(&self.source[value.clone()], end.as_bytes())?, end.len()))
            });
            let (length, separator) = found.unwrap_or((value.len(), 0));
            code.start = value.start + length + separator;
            let names = self.names(value.start..value.start + length);
            if let Some(Piece::Open { names: bound, .. }) =
                block.and_then(|block| self.pieces.get_mut(block))
            {
                bound.extend(names);
            }
        } else if !self.rules.attributes.iter().any(|prefix| starts(prefix)) {
            return;
        }
        self.push(open.max(code.start - 1), code, close);
    }

    /// Returns what stands in quotes from here on.
    fn quoted(&self, at: usize) -> Option<Range<usize>> {
        let length = memchr::memchr(self.source[at], &self.source[at + 1..])?;
        Some(at + 1..at + 1 + length)
    }

    fn end_of_name(&self, start: usize) -> usize {
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        start + self.source[start..].iter().take_while(is_name).count()
    }

    fn end_of_tag_name(&self, start: usize) -> usize {
        let mut end = self.end_of_name(start);
        while end > start && self.source.get(end) == Some(&b'-') {
            end = self.end_of_name(end + 1);
        }
        end
    }

    /// Returns the identifiers in a pattern.
    fn names(&self, pattern: Range<usize>) -> Vec<Range<usize>> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
        let mut names = Vec::new();
        let mut at = pattern.start;
        while at < pattern.end {
            let length =
                self.source[at..pattern.end].iter().take_while(|byte| is_name(**byte)).count();
            if length > 0 && !self.source[at].is_ascii_digit() {
                names.push(at..at + length);
            }
            at += length.max(1);
        }
        names
    }

    /// Reads an expression of the markup. Returns the position after it.
    fn expression(&mut self, at: usize) -> Option<usize> {
        let rest = &self.source[at..];
        let (open, close) =
            self.rules.expressions.iter().find(|(open, _)| rest.starts_with(open.as_bytes()))?;
        let start = at + open.len();
        let end = match open.as_str() {
            "{" => self.closing_brace(start)?,
            _ => start + memmem::find(&self.source[start..], close.as_bytes())?,
        };
        let next = end + close.len();
        match self.rules.marks.get(&char::from(self.source[start])) {
            Some(MarkMeaning::Open) => self.open_block(start, end),
            Some(MarkMeaning::Close) => {
                let name = start + 1..self.end_of_name(start + 1);
                self.close_named(name, end);
            }
            Some(MarkMeaning::Keyword) => {
                let keyword = start + 1..self.end_of_name(start + 1);
                self.push(keyword.end - 1, keyword.end..end, end);
            }
            None => self.push(start - 1, start..end, end),
        }
        Some(next)
    }

    /// Reads the start of a block: a keyword, an expression, and names.
    fn open_block(&mut self, mark: usize, end: usize) {
        let name = mark + 1..self.end_of_name(mark + 1);
        let mut code = name.end..end;
        let mut names = Vec::new();
        let keyword = String::from_utf8_lossy(&self.source[name.clone()]);
        let found = self.rules.binders.get(&*keyword).and_then(|binders| {
            let place = |binder: &String| {
                Some((memmem::rfind(&self.source[code.clone()], binder.as_bytes())?, binder.len()))
            };
            binders.iter().find_map(place)
        });
        if let Some((found, length)) = found {
            names = self.names(code.start + found + length..code.end);
            code.end = code.start + found;
        }
        self.blocks.push(OpenBlock { name: name.clone(), piece: Some(self.pieces.len()) });
        self.pieces.push(Piece::Open { at: mark, names, is_closed: false });
        let close = code.end;
        self.push(name.end - 1, code, close);
    }

    /// Finds the brace that closes the one before `start`: not one in a string.
    fn closing_brace(&self, start: usize) -> Option<usize> {
        let (mut depth, mut quote) = (0_u32, None);
        for (at, &byte) in self.source.iter().enumerate().skip(start) {
            match (byte, quote) {
                (_, Some(open)) if byte == open => quote = None,
                (b'\n', Some(b'"' | b'\'')) => quote = None,
                (_, Some(_)) => {}
                (b'"' | b'\'' | b'`', None) => quote = Some(byte),
                (b'{', None) => depth += 1,
                (b'}', None) if depth == 0 => return Some(at),
                (b'}', None) => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// Adds an expression, without a keyword that follows another (`:else if`) and without the mark
    /// of attributes that a value holds (`...rest`).
    fn push(&mut self, mut open: usize, mut code: Range<usize>, close: usize) {
        let text = self.source[code.clone()].trim_ascii_start();
        if self.source[open].is_ascii_alphanumeric() && text.starts_with(b"if ") {
            code.start = code.end - text.len() + b"if ".len();
            open = code.start - 1;
        } else if text.starts_with(b"...") {
            code.start = code.end - text.len() + b"...".len();
            open = code.start - 1;
        }
        if !self.source[code.clone()].trim_ascii().is_empty() {
            self.pieces.push(Piece::Expression { open, code, close });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masked source without white space. Every remaining byte is where it
    /// was.
    fn masked(rules: &Markup, source: &str) -> String {
        let masked = mask(rules, source.as_bytes()).source;
        assert_eq!(masked.len(), source.len());
        for (new, old) in masked.iter().zip(source.as_bytes()) {
            assert!(new == old || (b" ;(){},".contains(new) && *old != b'\n'), "{source}");
        }
        let masked = String::from_utf8(masked).expect("UTF-8");
        masked.split_whitespace().collect()
    }

    fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
        texts.map(str::to_owned).to_vec()
    }

    /// Expressions in braces, blocks with keywords.
    fn curly() -> Markup {
        Markup {
            code: texts(["script"]),
            skipped: texts(["style"]),
            expressions: [("{".to_owned(), "}".to_owned())].into(),
            binders: [("each".to_owned(), texts([" as "]))].into(),
            marks: [
                ('#', MarkMeaning::Open),
                ('/', MarkMeaning::Close),
                (':', MarkMeaning::Keyword),
                ('@', MarkMeaning::Keyword),
            ]
            .into(),
            ..Markup::default()
        }
    }

    /// Expressions in double braces and in attributes.
    fn double() -> Markup {
        Markup {
            code: texts(["script"]),
            expressions: [("{{".to_owned(), "}}".to_owned())].into(),
            attributes: texts(["@", ":"]),
            binders: [("v-for".to_owned(), texts([" in "]))].into(),
            ..Markup::default()
        }
    }

    #[test]
    fn blocks_stay_where_they_are() {
        for (source, expected) in [
            ("<script>\nlet a;\n</script>\n<p>b</p>", "leta;"),
            ("<script lang=\"ts\">f()</script>", "f()"),
            ("<script>f()</script><script>g()</script>", "f();g()"),
            ("<script src=\"x\" />b", ""),
            ("<script>f()", "f()"),
            ("<style>a{b}</style>", ""),
            ("<!-- {f()} -->", ""),
        ] {
            assert_eq!(masked(&curly(), source), expected, "{source}");
        }
    }

    #[test]
    fn expressions_are_statements() {
        for (rules, source, expected) in [
            (&curly(), "<p>{f(a)}</p>", "(f(a))"),
            (&curly(), "{a}{b}", "(a,b)"),
            (&curly(), "{a}\n{b}", "(a,b)"),
            (&curly(), "{a} {b}", "(a);(b)"),
            (&curly(), "{#if ok({})}x{y}{/if}", "(ok({}));(y)"),
            (&curly(), "{:else if ok}", "(ok)"),
            (&curly(), "{#each xs() as x}", "(xs())"),
            (&curly(), "<Box on:click={f}/>", "Box;(f)"),
            (&curly(), "{'}'}", "('}')"),
            (&curly(), "<a {...rest} {b}>", "(rest);(b)"),
            (&double(), "{{ f() }}", "(f())"),
            (&double(), "<a @x=\"f\" y=\"g\">", "(f)"),
            (&double(), "<a :x=\"a; b()\">", "{a;b()}"),
        ] {
            assert_eq!(masked(rules, source), expected, "{source}");
        }
    }

    #[test]
    fn markup_that_binds_is_a_block() {
        for (rules, source, expected) in [
            (&curly(), "{#each xs() as x}{x}{/each}{y}", "{(xs());(x);}(y)"),
            (&curly(), "{#if a}{b}{:else}{c}{/if}", "(a,b);(c)"),
            (&curly(), "{#each a as b}{#each c as d}{d}{/each}", "(a);{(c);(d);}"),
            (&double(), "<p v-for=\"x in xs\">{{ x }}</p>{{ y }}", "{(xs);(x);}(y)"),
            (&double(), "<p><q v-for=\"x in xs\" /></p>", "{(xs);}"),
            (&double(), "<p v-for=\"x in xs\">", "(xs)"),
        ] {
            assert_eq!(masked(rules, source), expected, "{source}");
        }
    }

    #[test]
    fn markup_that_ends_early_is_blank() {
        for source in ["<", "{", "{{", "<a", "<A b=\"", "<!--", "{\"", "<script", "</"] {
            assert_eq!(masked(&curly(), source).trim_matches('A'), "", "{source}");
        }
    }
}
