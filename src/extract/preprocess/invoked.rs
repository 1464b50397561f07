//! Invocations at the position of declarations: macros that declare, and macros without a parsable
//! expansion.

use super::attributes::{Finder, Holds};
use super::tokens::Kind;
use super::words::is_like_type;
use crate::preprocess::edits::{Edit, Use};
use cograph_grammar::WordLists;
use cograph_model::SiteKind;
use smallvec::SmallVec;

impl Finder<'_> {
    /// Processes an invocation at the position of a declaration. A type and a name as arguments are
    /// a declaration, and so are whole declarations; any other invocation is masked. Returns the
    /// last token.
    pub(super) fn invocation(&mut self, start: usize, inside: Holds) -> Option<usize> {
        let mut at = start;
        while self.is_in(at, WordLists::START) {
            at += 1;
        }
        let end = self.end_of_use(at);
        if !self.is_plain(at) || end == at {
            return None;
        }
        let in_type = matches!(inside, Holds::Members { .. });
        let has_value = self.is(end + 1, b'=');
        if (in_type || (at > start || has_value) && self.is_attribute(at))
            && self.declares_in_arguments(at, end)
        {
            return Some(end);
        }
        let alone = [b';', b'='].iter().any(|mark| self.is(end + 1, *mark));
        if (in_type || at > start) && alone && self.is_plain(at + 2) && self.is(at + 3, b',') {
            // The first argument is the declaration.
            self.note_arguments(at + 3, end);
            self.edits.push(Edit::blank(self.range(at + 3, end - 1)));
            return Some(end);
        }
        let next = end + 1;
        let ends = match self.tokens.get(next).map(|token| token.kind) {
            Some(Kind::Mark(b';')) => inside == Holds::Declarations,
            Some(Kind::Mark(b'}')) => in_type,
            // Without a semicolon, on a line of its own.
            None | Some(Kind::Directive) => inside == Holds::Declarations,
            Some(Kind::Word) => inside == Holds::Declarations && self.is_on_new_line(end, next),
            _ => false,
        };
        if !ends || at != start {
            return None;
        }
        self.take(start);
        self.note_arguments(start + 1, end);
        Some(end)
    }

    /// Keeps the type that is the argument of a macro before a name (`EXPORT(int) open(void);`).
    /// Returns false for other declarations.
    pub(super) fn type_in_arguments(&mut self, start: usize) -> bool {
        let mut at = start;
        while self.is_in(at, WordLists::START) {
            at += 1;
        }
        let close = self.end_of_use(at);
        if !self.is_plain(at)
            || self.known.is_nothing(self.tokens[at].bytes(self.source))
            || close <= at + 2
        {
            return false;
        }
        let is_of_type = |at: usize| {
            let is_value = self.is_in(at, WordLists::STATEMENT.and(WordLists::CLAUSE));
            self.is_word(at) && !is_value || self.is(at, b'*')
        };
        let mut name = close + 1;
        while self.is(name, b'*') {
            name += 1;
        }
        let behind = name + 1;
        let declares = self.is(behind, b'(') && self.holds_parameters(behind)
            || [b';', b'=', b'['].iter().any(|mark| self.is(behind, *mark));
        if !(at + 2..close).all(is_of_type) || !self.is_plain(name) || !declares {
            return false;
        }
        self.uses.push(Use { name: self.tokens[at].range(), kind: SiteKind::Call });
        self.edits.push(Edit::blank(self.range(at, at + 1)));
        self.edits.push(Edit::blank(self.range(close, close)));
        self.after_declarator(behind, self.is(behind, b'('));
        true
    }

    /// Keeps the declarations among the arguments of a macro; returns true if there are any.
    fn declares_in_arguments(&mut self, at: usize, close: usize) -> bool {
        let open = at + 1;
        let (mut depth, mut commas, mut ended) = (0usize, SmallVec::<[usize; 8]>::new(), None);
        for inner in open..close {
            match self.tokens[inner].kind {
                Kind::Mark(b'(' | b'[' | b'{') => depth += 1,
                Kind::Mark(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                Kind::Mark(b',') if depth == 1 && ended.is_none() => commas.push(inner),
                Kind::Mark(b';') if depth == 1 => ended = Some(inner),
                Kind::Directive => return false,
                _ => {}
            }
        }
        if let Some(last) = ended {
            // Arguments of one word precede the declarations.
            let lead = commas
                .iter()
                .copied()
                .take_while(|comma| {
                    *comma <= open + 2 || self.is(comma - 2, b',') || self.is(comma - 1, b',')
                })
                .last();
            self.uses.push(Use { name: self.tokens[at].range(), kind: SiteKind::Call });
            self.edits.push(Edit::blank(self.range(at, lead.unwrap_or(open))));
            self.edits.push(Edit::blank(self.range(close, close)));
            if last + 1 == close && self.is(close + 1, b';') {
                self.edits.push(Edit::blank(self.range(close + 1, close + 1)));
            }
            return true;
        }
        let [comma] = commas[..] else { return false };
        let is_type = (open + 1..comma)
            .any(|at| self.is_in(at, WordLists::TYPE.and(WordLists::BUILTIN)) || self.is(at, b'*'))
            || comma == open + 2 && is_like_type(self.tokens[open + 1].bytes(self.source));
        if !is_type
            || !self.is_plain(comma + 1)
            || (comma + 2 != close && !self.is(comma + 2, b'['))
        {
            return false;
        }
        self.uses.push(Use { name: self.tokens[at].range(), kind: SiteKind::Call });
        self.edits.push(Edit::blank(self.range(at, open)));
        self.edits.push(Edit::blank(self.range(comma, comma)));
        self.edits.push(Edit::blank(self.range(close, close)));
        true
    }
}
