//! Words in capitals that stand for attributes, or for nothing, where a parser expects a type or a name.

use super::tokens::{Kind, Token};
use crate::grammar::WordLists;
use smallvec::SmallVec;
use std::ops::Range;

/// A use of a macro that is blanked.
pub(super) struct Found {
    pub(super) name: Range<usize>,
    /// With its arguments.
    pub(super) whole: Range<usize>,
    pub(super) has_arguments: bool,
}

/// What a pair of braces holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Declarations,
    Members,
    Statements,
}

/// Words of a declaration by their positions; few have more of them.
type Words = SmallVec<[usize; 8]>;

struct Finder<'a> {
    source: &'a [u8],
    tokens: &'a [Token],
    found: Vec<Found>,
}

/// Whether a word is written like a macro.
pub(super) fn is_capital(word: &[u8]) -> bool {
    word.len() > 1
        && word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && word.iter().any(u8::is_ascii_uppercase)
}

/// Uses of macros that no grammar has a place for.
pub(super) fn find(source: &[u8], tokens: &[Token]) -> Vec<Found> {
    let mut finder = Finder { source, tokens, found: Vec::new() };
    finder.walk();
    finder.found.sort_by_key(|found| found.name.start);
    finder.found.dedup_by_key(|found| found.name.start);
    finder.found
}

impl Finder<'_> {
    fn walk(&mut self) {
        // What each open brace holds.
        let mut open: Vec<Holds> = Vec::new();
        let (mut parens, mut statement) = (0usize, 0usize);
        for at in 0..self.tokens.len() {
            if at == statement && parens == 0 {
                self.declaration(at, open.last().copied().unwrap_or(Holds::Declarations));
            }
            match self.tokens[at].kind {
                Kind::Mark(b'(' | b'[') => parens += 1,
                Kind::Mark(b')' | b']') => parens = parens.saturating_sub(1),
                Kind::Mark(b'{') if parens == 0 => {
                    open.push(self.holds(statement, at));
                    statement = at + 1;
                }
                Kind::Mark(b'}') if parens == 0 => {
                    open.pop();
                    statement = at + 1;
                }
                Kind::Mark(b';') | Kind::Directive if parens == 0 => statement = at + 1,
                Kind::Mark(b':') if parens == 0 && at == statement + 1 => statement = at + 1,
                Kind::Mark(b'>') if parens == 0 && self.ends_parameters_of_type(statement, at) => statement = at + 1,
                Kind::Text if at == statement + 1 => statement = at + 1,
                Kind::Number => self.suffix(at),
                _ => {}
            }
        }
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    fn is_capital(&self, at: usize) -> bool {
        self.is_word(at) && is_capital(self.tokens[at].bytes(self.source))
    }

    fn is_in(&self, at: usize, lists: WordLists) -> bool {
        self.tokens.get(at).is_some_and(|token| token.lists.is_in(lists))
    }

    /// What a brace holds: statements where its head has parameters and names no type, module or linkage.
    fn holds(&self, statement: usize, brace: usize) -> Holds {
        let head = statement..brace;
        let has = |lists: WordLists| head.clone().take_while(|&at| !self.tokens[at].is(b'(')).any(|at| self.is_in(at, lists));
        if has(WordLists::TYPE) {
            Holds::Members
        } else if !has(WordLists::BLOCK)
            && (head.clone().any(|at| self.tokens[at].is(b'(')) || statement == brace || self.starts_statement(statement))
        {
            Holds::Statements
        } else {
            Holds::Declarations
        }
    }

    fn starts_statement(&self, at: usize) -> bool {
        self.is_in(at, WordLists::STATEMENT)
    }

    /// Whether `template <…>` ends here.
    fn ends_parameters_of_type(&self, statement: usize, at: usize) -> bool {
        self.is_in(statement, WordLists::PARAMETER)
            && self.tokens[statement..=at].iter().filter(|token| token.is(b'<')).count()
                == self.tokens[statement..=at].iter().filter(|token| token.is(b'>')).count()
    }

    /// The token that closes the bracket at `open`.
    fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Kind::Mark(b'(' | b'[' | b'{') => depth += 1,
                Kind::Mark(b')' | b']' | b'}') => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                Kind::Directive => return None,
                _ => {}
            }
        }
        None
    }

    /// The end of type arguments that open at `<`, if that is what it does.
    fn close_angle(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in open..self.tokens.len().min(open + 200) {
            match self.tokens[at].kind {
                Kind::Mark(b'<') => depth += 1,
                Kind::Mark(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                Kind::Mark(b';' | b'{' | b'}') | Kind::Directive => return None,
                _ => {}
            }
        }
        None
    }

    /// The last token of a use of a macro: its name, or the end of its arguments.
    fn end_of_use(&self, at: usize) -> usize {
        match self.tokens.get(at + 1) {
            Some(next) if next.is(b'(') => self.close(at + 1).unwrap_or(at),
            _ => at,
        }
    }

    fn take(&mut self, at: usize) -> usize {
        let end = self.end_of_use(at);
        let (name, last) = (self.tokens[at].range(), self.tokens[end].range().end);
        self.found.push(Found { whole: name.start..last, name, has_arguments: end > at });
        end
    }

    /// A word in capitals right after a number.
    fn suffix(&mut self, at: usize) {
        if self.is_capital(at + 1) && !self.tokens.get(at + 2).is_some_and(|token| token.is(b'(')) {
            self.take(at + 1);
        }
    }

    /// Looks at the head of a declaration or statement that starts here.
    fn declaration(&mut self, start: usize, inside: Holds) {
        let in_code = inside == Holds::Statements;
        if inside == Holds::Declarations && self.is_capital(start) {
            let end = self.end_of_use(start);
            if end > start && self.tokens.get(end + 1).is_some_and(|token| token.is(b';')) {
                // Written like a call where nothing is called.
                self.take(start);
                return;
            }
        }
        // The words that can be the type and the name, in order.
        let mut words = Words::new();
        let mut builtin_before = false;
        let mut at = start;
        let mut last_is_mark = false;
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                Kind::Word if self.starts_statement(at) => return,
                Kind::Word if self.is_in(at, WordLists::TYPE) => {
                    at = self.type_head(at + 1);
                    continue;
                }
                Kind::Word if self.is_in(at, WordLists::NAME) => {
                    // An operator: its name ends before the parameters.
                    while self.tokens.get(at).is_some_and(|token| !matches!(token.kind, Kind::Mark(b'(' | b';' | b'{'))) {
                        at += 1;
                    }
                    if self.tokens.get(at + 1).is_some_and(|token| token.is(b')'))
                        && self.tokens.get(at + 2).is_some_and(|token| token.is(b'('))
                    {
                        at += 2;
                    }
                    break;
                }
                Kind::Word if self.is_in(at, WordLists::QUALIFIER) || self.is_in(at, WordLists::BLOCK) => {}
                Kind::Word if self.is_capital(at) && self.stands_alone(at, &words, in_code) => {
                    at = self.take(at) + 1;
                    continue;
                }
                Kind::Word => {
                    let builtin = self.is_in(at, WordLists::BUILTIN);
                    if !(builtin && builtin_before) {
                        words.push(at);
                    }
                    builtin_before = builtin;
                    last_is_mark = builtin;
                    at = self.end_of_path(at) + 1;
                    continue;
                }
                Kind::Mark(b'*' | b'&' | b'~') => last_is_mark = true,
                Kind::Scope => {}
                Kind::Mark(b'[') if self.tokens.get(at + 1).is_some_and(|token| token.is(b'[')) => {
                    at = self.close(at).unwrap_or(at);
                }
                _ => break,
            }
            at += 1;
        }
        self.thin_out(words, at, last_is_mark, in_code);
    }

    /// The last token of a path of names with type arguments.
    fn end_of_path(&self, mut at: usize) -> usize {
        loop {
            match self.tokens.get(at + 1).map(|token| token.kind) {
                Some(Kind::Scope) if self.is_word(at + 2) => at += 2,
                Some(Kind::Mark(b'<')) => match self.close_angle(at + 1) {
                    Some(close) => at = close,
                    None => return at,
                },
                _ => return at,
            }
        }
    }

    /// After `class` and the like: capitals before the name of a type with a body. Gives the token to go on with.
    fn type_head(&mut self, mut at: usize) -> usize {
        while self.is_capital(at) {
            let end = self.end_of_use(at);
            if !self.is_word(end + 1) {
                break;
            }
            let after = self.end_of_path(end + 1) + 1;
            let defines = match self.tokens.get(after).map(|token| token.kind) {
                Some(Kind::Mark(b'{' | b':')) => true,
                Some(Kind::Word) => self.is_in(after, WordLists::QUALIFIER) || self.is_capital(end + 1),
                _ => false,
            };
            if !defines {
                break;
            }
            at = self.take(at) + 1;
        }
        at
    }

    /// Whether capitals at the start of a declaration are no part of it.
    fn stands_alone(&self, at: usize, words: &[usize], in_code: bool) -> bool {
        if !words.is_empty() || in_code {
            return false;
        }
        let end = self.end_of_use(at);
        let next = end + 1;
        let starts = self.is_in(next, WordLists::TYPE)
            || self.is_in(next, WordLists::BLOCK)
            || self.is_in(next, WordLists::START)
            || self.is_in(next, WordLists::PARAMETER);
        let apart = self.tokens.get(next).is_some_and(|token| token.is(b'}') || token.kind == Kind::Directive);
        if end == at {
            return starts || (apart && self.is_line_of_its_own(at));
        }
        // With arguments and without a body or an end of its own.
        starts || self.is_word(next) || apart
    }

    fn is_line_of_its_own(&self, at: usize) -> bool {
        let range = self.tokens[at].range();
        let before = self.source[..range.start].iter().rev().take_while(|&&byte| byte != b'\n').all(u8::is_ascii_whitespace);
        let after = self.source[range.end..].iter().take_while(|&&byte| byte != b'\n').all(u8::is_ascii_whitespace);
        before && after
    }

    /// Of more words than a type and a name, those in capitals are none of both.
    fn thin_out(&mut self, mut words: Words, end: usize, last_is_mark: bool, in_code: bool) {
        let Some(mark) = self.tokens.get(end).map(|token| token.kind) else { return };
        let opens = mark == Kind::Mark(b'(');
        let names = |at: usize, mark: u8| self.tokens.get(at).is_some_and(|token| token.is(mark));
        let encloses_name = opens && self.is_word(end + 1) && names(end + 2, b')') && names(end + 3, b'(');
        let needed = if encloses_name
            || opens && last_is_mark && self.tokens[end.saturating_sub(1)].kind != Kind::Word
            || opens && words.last().is_some_and(|&last| self.is_in(last, WordLists::BUILTIN))
        {
            // The name is in the parentheses.
            1
        } else {
            2
        };
        let mut trailing = None;
        while words.len() > needed {
            let before_name = if needed == 1 { words.len() } else { words.len() - 1 };
            match words[..before_name].iter().position(|&word| self.is_capital(word)) {
                Some(position) => {
                    let word = words.remove(position);
                    self.take(word);
                }
                None => {
                    trailing = words.last().copied().filter(|&last| self.is_capital(last));
                    break;
                }
            }
        }
        if let Some(last) = trailing {
            let after = self.end_of_use(last) + 1;
            if self.tokens.get(after).is_some_and(|token| matches!(token.kind, Kind::Mark(b';' | b'=' | b'{' | b','))) {
                self.take(last);
            }
            return;
        }
        if opens && !in_code && !words.last().is_some_and(|&name| self.is_capital(name)) {
            self.after_parameters(end);
        }
    }

    /// Capitals between parameters and body.
    fn after_parameters(&mut self, open: usize) {
        let Some(close) = self.close(open) else { return };
        let mut at = close + 1;
        while self.is_word(at) || self.tokens.get(at).is_some_and(|token| token.is(b'&')) {
            if self.is_capital(at) {
                at = self.take(at) + 1;
            } else if self.is_in(at, WordLists::QUALIFIER) {
                at = self.end_of_use(at) + 1;
            } else {
                return;
            }
        }
    }
}
