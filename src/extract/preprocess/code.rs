//! Statements and arguments that are parsable only after preprocessing: statement macros, types as
//! arguments, inline assembly.

use super::attributes::Finder;
use super::tokens::{Kind, Token};
use super::words::Definition;
use crate::preprocess::edits::{Edit, Use};
use cograph_grammar::WordLists;
use cograph_model::SiteKind;

impl Finder<'_> {
    /// `each(item, list) { … }`: inserts a statement end before the body or the next statement.
    /// Returns the start of that.
    pub(super) fn statement_macro(&mut self, at: usize) -> Option<usize> {
        if self.is_capital(at) && self.is_plain(at) && self.is_statement_word(at) {
            self.take(at);
            return Some(at + 1);
        }
        if !self.is_plain(at) || !self.is(at + 1, b'(') {
            return None;
        }
        let close = self.brackets.close(at + 1)?;
        let next = close + 1;
        if self.is_alternative(at, next) && self.replace_by(at, b"if") {
            return Some(at + 1);
        }
        let ends = match self.tokens.get(next).map(|token| token.kind) {
            Some(Kind::Mark(b'{' | b'}')) => true,
            Some(Kind::Word) if !self.is_plain(next) => {
                !self.is_in(next, WordLists::QUALIFIER) || self.is_on_new_line(close, next)
            }
            Some(Kind::Word) => self.is_on_new_line(close, next) || self.is(next + 1, b'('),
            _ => false,
        };
        if ends && !self.end_statement(close) && self.is(next, b'}') {
            // Without space for a semicolon the macro is masked.
            self.take(at);
            self.note_arguments(at + 1, close);
        }
        ends.then_some(next)
    }

    /// True if a block behind a macro with arguments is one of several alternatives.
    fn is_alternative(&self, at: usize, open: usize) -> bool {
        let is_else = |at: usize| {
            self.tokens.get(at).is_some_and(|token| token.bytes(self.source) == b"else")
        };
        self.is(open, b'{')
            && (at.checked_sub(1).is_some_and(is_else)
                || self.brackets.close(open).is_some_and(|close| is_else(close + 1)))
    }

    /// True if a word without arguments is a statement, or the head of a block.
    fn is_statement_word(&self, at: usize) -> bool {
        self.is(at + 1, b'{')
            || self.is(at + 1, b'}')
            || (self.is_word(at + 1) && self.is_on_new_line(at, at + 1))
    }

    /// `do { … } each(a, b);`: the loop macro is replaced by a keyword of the language.
    pub(super) fn after_loop(&mut self, at: usize) {
        if at < self.tokens.len() && self.is_plain(at) && self.is(at + 1, b'(') {
            self.replace_by(at, b"while");
        }
    }

    /// Replaces the name of a macro by a keyword of the language, if there is space for it.
    fn replace_by(&mut self, at: usize, keyword: &[u8]) -> bool {
        let name = self.tokens[at].range();
        if name.len() < keyword.len() {
            return false;
        }
        self.edits.push(Edit::blank(name.clone()));
        for (byte, letter) in (name.start..).zip(keyword) {
            self.edits.push(Edit { range: byte..byte + 1, first: *letter });
        }
        self.uses.push(Use { name, kind: SiteKind::Call });
        true
    }

    /// Masks a macro among the names of an enumeration, with its value and the comma behind it.
    pub(super) fn enumerator(&mut self, mut at: usize) {
        while self.is_plain(at) && self.is(at + 1, b'(') {
            let Some(close) = self.brackets.close(at + 1) else { return };
            let mut next = close + 1;
            if self.is(next, b'=') {
                let ends = |token: &Token| {
                    matches!(token.kind, Kind::Mark(b',' | b'}' | b';') | Kind::Directive)
                };
                while self.tokens.get(next).is_some_and(|token| !ends(token)) {
                    next = if self.is(next, b'(') {
                        self.brackets.close(next).unwrap_or(next)
                    } else {
                        next
                    } + 1;
                }
            }
            let goes_on = self.is(next, b',');
            next += usize::from(goes_on);
            self.edits.push(Edit::blank(self.range(at, next - 1)));
            self.uses.push(Use { name: self.tokens[at].range(), kind: SiteKind::Call });
            if goes_on {
                // The scan continues behind the comma.
                return;
            }
            at = next;
        }
    }

    pub(super) fn is_line_of_its_own(&self, at: usize) -> bool {
        let range = self.tokens[at].range();
        let before = self.source[..range.start]
            .iter()
            .rev()
            .take_while(|&&byte| byte != b'\n')
            .all(u8::is_ascii_whitespace);
        let after = self.source[range.end..]
            .iter()
            .take_while(|&&byte| byte != b'\n')
            .all(u8::is_ascii_whitespace);
        before && after
    }

    pub(super) fn is_on_new_line(&self, before: usize, at: usize) -> bool {
        self.source[self.tokens[before].range().end..self.tokens[at].range().start].contains(&b'\n')
    }

    /// Inserts a semicolon into the white space behind a token; returns false if there is none.
    fn end_statement(&mut self, at: usize) -> bool {
        let start = self.tokens[at].range().end;
        let end = self.tokens.get(at + 1).map_or(self.source.len(), |next| next.range().start);
        // Not into a comment.
        let gap = self.source[start..end].iter().take_while(|byte| byte.is_ascii_whitespace());
        let place = gap
            .into_iter()
            .position(|byte| matches!(byte, b' ' | b'\t'))
            .map(|place| start + place);
        if let Some(place) = place {
            self.edits.push(Edit { range: place..place + 1, first: b';' });
        }
        place.is_some()
    }

    /// Processes a case label, of whose range (`1 ... 3`) only the first value is kept.
    pub(super) fn after_case(&mut self, at: usize) -> Option<usize> {
        if self.tokens[at].bytes(self.source) != b"case" {
            return None;
        }
        let rest = &self.tokens[at..];
        let colon = rest.iter().position(|token| {
            matches!(token.kind, Kind::Mark(b':' | b';' | b'{' | b'}') | Kind::Directive)
        })?;
        if !rest[colon].is(b':') || rest[..colon].iter().any(|token| token.is(b'?')) {
            return None;
        }
        let dots =
            rest[..colon].windows(3).position(|three| three.iter().all(|token| token.is(b'.')));
        if let Some(dots) = dots {
            self.edits.push(Edit::blank(self.range(at + dots, at + colon - 1)));
        }
        Some(at + colon + 1)
    }

    /// Masks inline assembly with its operands. Returns the token behind it.
    pub(super) fn assembler(&mut self, at: usize) -> usize {
        let mut open = at + 1;
        while self.is_word(open) {
            open += 1;
        }
        let closes = if self.is(open, b'(') || self.is(open, b'{') {
            self.brackets.close(open)
        } else {
            None
        };
        let Some(close) = closes else { return at + 1 };
        self.edits.push(Edit::blank(self.range(at, close)));
        close + 1
    }

    /// Masks lines of assembly, which start with a dot, up to the next directive. Returns the token
    /// behind them.
    pub(super) fn assembly(&mut self, at: usize) -> usize {
        let rest = self.tokens[at..].iter().position(|token| token.kind == Kind::Directive);
        let end = rest.map_or(self.tokens.len(), |rest| at + rest);
        self.edits.push(Edit::blank(self.range(at, end - 1)));
        end
    }

    /// Replaces a type or a bare operator by a number, as an argument of a macro.
    pub(super) fn type_argument(&mut self, start: usize) -> bool {
        if self.is(start, b'.') && self.is_plain(start + 1) && self.is(start + 2, b'=') {
            // Member of a value that the macro creates.
            self.edits.push(Edit::blank(self.range(start, start + 2)));
            return true;
        }
        if self.is(start, b',') || self.is(start, b')') && self.is(start - 1, b',') {
            return self.empty_argument(start);
        }
        let (mut at, mut named, mut is_type, mut words) = (start, None, false, 0);
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                Kind::Word
                    if self.is_in(
                        at,
                        WordLists::TYPE.and(WordLists::BUILTIN).and(WordLists::QUALIFIER),
                    ) =>
                {
                    is_type = true
                }
                Kind::Word if self.is_plain(at) => {
                    words += 1;
                    named = named.or(Some(at));
                }
                Kind::Mark(b'*') if words > 0 || is_type => {
                    // Only a type ends with one.
                    is_type |= matches!(
                        self.tokens.get(at + 1).map(|next| next.kind),
                        Some(Kind::Mark(b',' | b')' | b'*'))
                    );
                }
                Kind::Mark(b',' | b')') => break,
                Kind::Mark(
                    b'+' | b'-' | b'=' | b'<' | b'>' | b'&' | b'|' | b'/' | b'%' | b'^' | b'!'
                    | b'~',
                ) if words == 0 && !is_type => {
                    return self.operator_argument(start);
                }
                _ => return false,
            }
            at += 1;
        }
        if !is_type || at == start {
            return false;
        }
        self.edits.push(Edit { range: self.range(start, at - 1), first: b'0' });
        if let Some(named) = named {
            self.uses.push(Use { name: self.tokens[named].range(), kind: SiteKind::Type });
        }
        true
    }

    /// Handles an empty argument: the last one is masked with its comma, another one is replaced by
    /// a number if there is space.
    fn empty_argument(&mut self, at: usize) -> bool {
        let start = self.tokens[at - 1].range();
        if self.is(at, b')') {
            self.edits.push(Edit::blank(start));
            return true;
        }
        let gap = start.end..self.tokens[at].range().start;
        let place = gap
            .clone()
            .find(|&byte| self.source[byte] == b' ')
            .filter(|_| self.source[gap.clone()].iter().all(u8::is_ascii_whitespace));
        if let Some(place) = place {
            self.edits.push(Edit { range: place..place + 1, first: b'0' });
        } else if self.source[gap.clone()].starts_with(b" ") {
            self.edits.push(Edit { range: gap.start..gap.start + 1, first: b'0' });
        }
        true
    }

    /// Argument that consists of an operator.
    fn operator_argument(&mut self, start: usize) -> bool {
        let mut at = start;
        while self.tokens.get(at).is_some_and(|token| {
            matches!(
                token.kind,
                Kind::Mark(
                    b'+' | b'-'
                        | b'*'
                        | b'='
                        | b'<'
                        | b'>'
                        | b'&'
                        | b'|'
                        | b'/'
                        | b'%'
                        | b'^'
                        | b'!'
                        | b'~'
                )
            )
        }) {
            at += 1;
        }
        if !self.is(at, b',') && !self.is(at, b')') {
            return false;
        }
        self.edits.push(Edit { range: self.range(start, at - 1), first: b'0' });
        true
    }

    /// Processes parentheses: those of a macro before a string belong to the string; of a path to a
    /// member only the first name is kept; an empty argument is replaced by a number.
    pub(super) fn around_parens(&mut self, open: usize) {
        let Some(before) = open.checked_sub(1).filter(|before| self.is_word(*before)) else {
            return;
        };
        let Some(close) = self.brackets.close(open) else { return };
        if self.is_plain(before)
            && self.tokens.get(close + 1).is_some_and(|next| next.kind == Kind::Text)
        {
            self.take(before);
        } else if self.is_in(before, WordLists::MEMBER)
            && self.is_word(close.saturating_sub(1)) | self.is(close - 1, b']')
        {
            // Far beyond real code.
            let path = (open + 1..close)
                .rev()
                .take(100)
                .take_while(|&at| !self.is(at, b','))
                .last()
                .unwrap_or(close);
            if path + 1 < close && self.is_plain(path) && self.is(path - 1, b',') {
                self.edits.push(Edit::blank(self.range(path + 1, close - 1)));
            }
        }
    }

    /// Masks comments in the replacement of a macro and the mark of a named variadic parameter: no
    /// grammar accepts them.
    pub(super) fn definition(&mut self, at: usize) {
        let token = self.tokens[at].range();
        let text = &self.source[token.clone()];
        let Some(definition) = Definition::read(text) else { return };
        if let Some(parameters) = definition.parameters
            && let Some(name) = parameters.strip_suffix(b"...").filter(|rest| {
                rest.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            })
        {
            let start =
                token.start + (name.as_ptr() as usize - text.as_ptr() as usize) + name.len();
            self.edits.push(Edit::blank(start..start + 3));
        }
        let mut from = 0;
        while let Some(start) = memchr::memmem::find(&text[from..], b"/*").map(|start| from + start)
        {
            let Some(end) =
                memchr::memmem::find(&text[start + 2..], b"*/").map(|end| start + end + 4)
            else {
                return;
            };
            let mut start = start;
            for line in text[start..end].split_inclusive(|byte| *byte == b'\n') {
                self.edits.push(Edit::blank(token.start + start..token.start + start + line.len()));
                start += line.len();
                // The directive continues behind the comment.
                let last = line
                    .strip_suffix(b"\n")
                    .map(|line| line.strip_suffix(b"\r").unwrap_or(line).len());
                if let Some(last) = last.filter(|last| *last > 0) {
                    let place = token.start + start - line.len() + last - 1;
                    self.edits.push(Edit { range: place..place + 1, first: b'\\' });
                }
            }
            from = end;
        }
    }
}
