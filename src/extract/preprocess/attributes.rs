//! Scan of the tokens of a source: finds the starts of declarations and statements, and masks text
//! there. `declared` handles heads of declarations, `invoked` invocations among declarations,
//! `code` statements and arguments, `made` definitions created by macros.

use super::brackets::Brackets;
use super::tokens::{Kind, Token};
use super::words::{KnownWords, is_capital};
use crate::preprocess::edits::{Edit, Made, Use};
use cograph_grammar::{Preprocessor, TestMarkers, WordClass, WordLists};
use cograph_model::SiteKind;
use std::ops::Range;

/// Contents of a pair of brackets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    Declarations,
    /// Members of a type: the token of its name, and whether it is a type definition with an alias
    /// behind it.
    Members {
        name: Option<usize>,
        typedef: bool,
    },
    Statements,
    /// Initializer list.
    Values,
    /// Parentheses: a cast, or anything else.
    Parens {
        cast: bool,
    },
    /// Square brackets.
    Index,
}

/// Open pair of brackets.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) holds: Holds,
    /// Opening token.
    open: usize,
    /// Start of the enclosing declaration or statement.
    statement: usize,
    /// True if a statement follows the brackets.
    heads: bool,
    /// True if its arguments are expressions, so that a type among them implies a macro.
    pub(super) values: bool,
    /// True inside of a body.
    pub(super) in_code: bool,
    /// True after a question mark without its colon.
    asked: bool,
    /// True if assembler operands follow a string.
    operands: bool,
    /// True for the names of an enumeration.
    names: bool,
}

/// Tokens and brackets of a source, and the results of the scan.
pub(super) struct Finder<'a> {
    pub(super) source: &'a [u8],
    pub(super) tokens: &'a [Token],
    pub(super) rules: &'a Preprocessor,
    pub(super) brackets: Brackets,
    pub(super) known: KnownWords<'a>,
    pub(super) uses: Vec<Use>,
    pub(super) edits: Vec<Edit>,
    pub(super) made: Vec<Made>,
    /// Position up to which operands of type operators have been processed.
    pub(super) noted: usize,
    /// Macros whose definitions are tests.
    pub(super) tests: &'a TestMarkers,
}

impl Finder<'_> {
    /// Scans for macro uses that no grammar accepts.
    pub(super) fn walk(&mut self) {
        let mut frames: Vec<Frame> = Vec::new();
        let (mut statement, mut skip, mut blanked) = (0usize, 0usize, 0usize);
        for at in 0..self.tokens.len() {
            if at < blanked {
                continue;
            }
            let inside = frames.last().copied();
            if at == statement && self.is(at, b'.') && inside.is_none() {
                blanked = self.assembly(at);
                statement = blanked;
                continue;
            }
            if at == statement {
                self.begin(at, inside, &mut statement);
            }
            match self.tokens[at].kind {
                Kind::Mark(b'(' | b'[') => {
                    self.around_parens(at);
                    frames.push(self.parens(at, statement, inside));
                    statement = at + 1;
                }
                Kind::Mark(b'{') => {
                    let holds = self.holds(statement, at, inside);
                    let in_code = matches!(holds, Holds::Statements | Holds::Values);
                    let head = statement.min(at)..at;
                    let names = matches!(holds, Holds::Members { .. })
                        && head.into_iter().any(|word| self.is_in(word, WordLists::LIST));
                    if names {
                        self.enumerator(at + 1);
                    }
                    frames.push(Frame {
                        holds,
                        open: at,
                        statement,
                        in_code,
                        names,
                        ..Frame::NONE
                    });
                    statement = if holds == Holds::Values { self.tokens.len() } else { at + 1 };
                }
                Kind::Mark(mark @ (b')' | b']')) => {
                    statement = self.leave_parens(&mut frames, at, mark).unwrap_or(statement);
                }
                Kind::Mark(b'}') => {
                    if let Some(frame) = frames.pop() {
                        let around_parens = frames.last().is_some_and(|frame| {
                            matches!(frame.holds, Holds::Parens { .. } | Holds::Index)
                        });
                        statement = if around_parens || frame.holds == Holds::Values {
                            frame.statement
                        } else {
                            at + 1
                        };
                        if frame.open > 0 && self.is_in(frame.open - 1, WordLists::CLAUSE) {
                            self.after_loop(at + 1);
                        }
                        if let Holds::Members { typedef, .. } = frame.holds {
                            self.after_body(at + 1, typedef);
                        }
                    }
                }
                Kind::Mark(b';') => statement = at + 1,
                Kind::Directive => {
                    self.definition(at);
                    statement = at + 1;
                }
                Kind::Mark(b',') if inside.is_some_and(|frame| frame.names) => {
                    self.enumerator(at + 1)
                }
                Kind::Mark(b',')
                    if matches!(inside.map(|frame| frame.holds), Some(Holds::Parens { .. })) =>
                {
                    statement = at + 1
                }
                Kind::Mark(b':') => {
                    if let Some(frame) = frames.last_mut() {
                        frame.operands |= !frame.asked && self.is_text_first(frame);
                    }
                    if at == statement + 1 {
                        if self.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Directive)
                            && self.is_plain(statement)
                        {
                            // Label before a possible non-statement.
                            self.edits.push(Edit::blank(self.range(statement, at)));
                        }
                        statement = at + 1;
                    }
                }
                Kind::Mark(b'?') => {
                    if let Some(frame) = frames.last_mut() {
                        frame.asked = true;
                    }
                }
                Kind::Mark(b'>')
                    if inside.is_none_or(|frame| {
                        !matches!(frame.holds, Holds::Parens { .. } | Holds::Index)
                    }) && self.ends_parameters_of_type(statement, at) =>
                {
                    statement = at + 1;
                }
                Kind::Text if at == statement + 1 => statement = at + 1,
                Kind::Text if self.is_plain(at + 1) && self.is(at + 2, b'(') => {
                    self.take(at + 1);
                }
                Kind::Number => self.suffix(at),
                Kind::Word if self.is_in(at, WordLists::ASSEMBLER) && at >= skip => {
                    skip = self.assembler(at)
                }
                Kind::Word if self.is_in(at, WordLists::OPERAND_TYPE) => self.operands(at),
                Kind::Word if self.is_in(at, WordLists::IGNORED) => {
                    self.edits.push(Edit::blank(self.range(at, at)))
                }
                Kind::Word if self.is_in(at, WordLists::ATTRIBUTE) && self.is(at + 1, b'(') => {
                    self.edits.push(Edit::blank(self.range(at, self.end_of_use(at))));
                }
                Kind::Word
                    if self.is_capital(at)
                        && self.is_capital(at + 1)
                        && self.tokens.get(at + 2).is_some_and(|next| next.kind == Kind::Text) =>
                {
                    self.take(at);
                }
                _ => {}
            }
        }
    }

    /// Processes the declaration or statement that starts at a token. A token that is followed by a
    /// statement starts one itself.
    fn begin(&mut self, at: usize, inside: Option<Frame>, statement: &mut usize) {
        match inside.map_or(Holds::Declarations, |frame| frame.holds) {
            holds @ (Holds::Declarations | Holds::Members { .. }) => {
                if !self.made(at) {
                    *statement = self.declaration(at, holds).unwrap_or(at);
                }
            }
            Holds::Statements => {
                if self.is_in(at, WordLists::CLAUSE) {
                    *statement = at + 1;
                } else if self.is_in(at, WordLists::STATEMENT) {
                    *statement = self.after_case(at).unwrap_or(at);
                } else {
                    let next = self
                        .statement_macro(at)
                        .or_else(|| self.declaration(at, Holds::Statements));
                    *statement = next.unwrap_or(at);
                }
            }
            holds @ Holds::Parens { .. } => {
                if !inside.is_some_and(|frame| frame.values && self.type_argument(at)) {
                    self.declaration(at, holds);
                }
            }
            Holds::Values | Holds::Index => {}
        }
    }

    /// Returns the frame of a `(` or `[`.
    fn parens(&self, at: usize, statement: usize, inside: Option<Frame>) -> Frame {
        let in_code = inside.is_some_and(|frame| frame.in_code);
        let frame = Frame { open: at, statement, in_code, ..Frame::NONE };
        if self.tokens[at].is(b'[') {
            return Frame { holds: Holds::Index, ..frame };
        }
        let Some(before) = at.checked_sub(1) else { return frame };
        let is_head = self.is_in(before, WordLists::HEAD);
        let is_code_around = inside.is_some_and(|frame| frame.holds == Holds::Statements);
        let cast = match self.tokens[before].kind {
            Kind::Word => self.is_in(before, WordLists::STATEMENT) && !is_head,
            Kind::Mark(mark) => !matches!(mark, b')' | b']' | b'>' | b'}'),
            _ => true,
        };
        let values = in_code && self.is_plain(before) && !self.names_declared(before, statement);
        Frame { holds: Holds::Parens { cast }, heads: is_head && is_code_around, values, ..frame }
    }

    /// True if the word before parentheses is the name in a declaration: only words and pointer
    /// marks precede it.
    fn names_declared(&self, at: usize, statement: usize) -> bool {
        let declares = |at: &usize| match self.tokens[*at].kind {
            Kind::Word => !self.is_in(*at, WordLists::STATEMENT),
            kind => matches!(kind, Kind::Mark(b'*' | b'&') | Kind::Scope),
        };
        statement < at && (statement..at).rev().take_while(declares).count() == at - statement
    }

    /// Returns the start of the statement around the brackets, or of the one behind them.
    fn leave_parens(&mut self, frames: &mut Vec<Frame>, at: usize, mark: u8) -> Option<usize> {
        let frame = frames.pop()?;
        if frame.operands && mark == b')' {
            let range = self.tokens[frame.open].range().end..self.tokens[at].range().start;
            self.edits.push(Edit::blank(range));
        }
        Some(if frame.heads { at + 1 } else { frame.statement })
    }

    fn is_text_first(&self, frame: &Frame) -> bool {
        matches!(frame.holds, Holds::Parens { .. })
            && self.tokens.get(frame.open + 1).is_some_and(|token| token.kind == Kind::Text)
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    pub(super) fn is_capital(&self, at: usize) -> bool {
        self.is_word(at) && is_capital(self.tokens[at].bytes(self.source))
    }

    pub(super) fn is_in(&self, at: usize, lists: WordLists) -> bool {
        self.tokens.get(at).is_some_and(|token| token.lists.is_in(lists))
    }

    /// True if a token is a word without a meaning in the language.
    pub(super) fn is_plain(&self, at: usize) -> bool {
        self.is_word(at) && self.tokens[at].lists == WordLists::default()
    }

    pub(super) fn is(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(mark))
    }

    /// True if a token is a word that is probably an attribute macro.
    pub(super) fn is_attribute(&self, at: usize) -> bool {
        self.is_plain(at) && self.known.is_attribute(self.tokens[at].bytes(self.source))
    }

    /// Contents of a brace: statements if its head has parameters and names no type, module or
    /// linkage.
    fn holds(&self, statement: usize, brace: usize, inside: Option<Frame>) -> Holds {
        let before = brace.checked_sub(1);
        if before.is_some_and(|before| self.tokens[before].kind == Kind::Text) {
            // Linkage specification.
            return Holds::Declarations;
        }
        if inside.is_some_and(|frame| frame.holds == Holds::Values)
            || before
                .is_some_and(|before| matches!(self.tokens[before].kind, Kind::Mark(b'=' | b',')))
        {
            return Holds::Values;
        }
        if matches!(inside.map(|frame| frame.holds), Some(Holds::Parens { .. } | Holds::Index)) {
            return Holds::Statements;
        }
        let head = statement.min(brace)..brace;
        let head = || head.clone().take_while(|&at| !self.tokens[at].is(b'('));
        let has = |lists: WordLists| head().any(|at| self.is_in(at, lists));
        let parameters = statement < brace && head().count() < brace - statement;
        if has(WordLists::TYPE) && !(parameters && self.is_function_head(statement, brace)) {
            let word = head().find(|&at| self.is_in(at, WordLists::TYPE)).unwrap_or(statement);
            let names = (word + 1..brace)
                .take_while(|&at| !self.is(at, b':'))
                .filter(|&at| self.is_plain(at) && !self.is(at + 1, b'('));
            let name = names.clone().find(|&at| !self.is_attribute(at)).or_else(|| names.last());
            let typedef =
                self.is_word(statement) && self.tokens[statement].bytes(self.source) == b"typedef";
            Holds::Members { name, typedef }
        } else if !has(WordLists::BLOCK)
            && (parameters || statement == brace || self.is_in(statement, WordLists::STATEMENT))
            || inside.is_some_and(|frame| frame.holds == Holds::Statements) && !has(WordLists::LIST)
        {
            Holds::Statements
        } else {
            Holds::Declarations
        }
    }

    /// True if a head with a type keyword before its parentheses is that of a function: a body
    /// follows its parameters.
    fn is_function_head(&self, statement: usize, brace: usize) -> bool {
        let open = (statement..brace).find(|&at| self.tokens[at].is(b'('));
        open.is_some_and(|open| {
            open > statement && self.is_word(open - 1) && {
                let word = open - 1;
                !self.is_in(word, WordLists::ATTRIBUTE)
                    && (!self.is_attribute(word)
                        || self.brackets.close(open) == brace.checked_sub(1))
            }
        })
    }

    /// True if `template <…>` ends here.
    fn ends_parameters_of_type(&self, statement: usize, at: usize) -> bool {
        self.is_in(statement, WordLists::PARAMETER)
            && self.tokens[statement..=at].iter().filter(|token| token.is(b'<')).count()
                == self.tokens[statement..=at].iter().filter(|token| token.is(b'>')).count()
    }

    /// Returns the end of type arguments that open at `<`, if it is such a bracket.
    fn close_angle(&self, open: usize) -> Option<usize> {
        if self.rules.words_of(WordClass::Parameters).is_empty() {
            return None;
        }
        let mut depth = 0usize;
        for at in open..self.tokens.len().min(open + 200) {
            match self.tokens[at].kind {
                Kind::Mark(b'<') => depth += 1,
                Kind::Mark(b'>') if self.is(at - 1, b'-') => {}
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

    /// Returns the last token of a path of names with type arguments.
    pub(super) fn end_of_path(&self, mut at: usize) -> usize {
        loop {
            match self.tokens.get(at + 1).map(|token| token.kind) {
                Some(Kind::Scope)
                    if self.is_word(at + 2) && !self.is_in(at + 2, WordLists::NAME) =>
                {
                    at += 2
                }
                Some(Kind::Mark(b'<')) => match self.close_angle(at + 1) {
                    Some(close) => at = close,
                    None => return at,
                },
                _ => return at,
            }
        }
    }

    /// Returns the last token of a macro use: its name, or the end of its arguments.
    pub(super) fn end_of_use(&self, at: usize) -> usize {
        match self.tokens.get(at + 1) {
            Some(next) if next.is(b'(') => self.brackets.close(at + 1).unwrap_or(at),
            _ => at,
        }
    }

    /// Masks a macro use with its arguments. Returns its last token.
    pub(super) fn take(&mut self, at: usize) -> usize {
        let end = self.end_of_use(at);
        let (name, last) = (self.tokens[at].range(), self.tokens[end].range().end);
        self.edits.push(Edit::blank(name.start..last));
        self.uses.push(Use { name, kind: if end > at { SiteKind::Call } else { SiteKind::Read } });
        end
    }

    /// Records the names in the arguments of a masked macro use. What a word or the mark of a
    /// pointer precedes is declared there, and members need their receiver.
    pub(super) fn note_arguments(&mut self, open: usize, close: usize) {
        for at in open + 1..close {
            let (before, next) = (self.tokens[at - 1].kind, self.tokens[at + 1].kind);
            let is_pointer = matches!(before, Kind::Mark(b'*' | b'&'))
                && self.is_word(at - 2)
                && matches!(next, Kind::Mark(b')' | b','));
            let is_member = self.is(at - 1, b'.') || self.is(at - 1, b'>') && self.is(at - 2, b'-');
            if self.is_plain(at) && before != Kind::Word && !is_pointer && !is_member {
                let kind = match next {
                    Kind::Mark(b'(') => SiteKind::Call,
                    _ => SiteKind::Read,
                };
                self.uses.push(Use { name: self.tokens[at].range(), kind });
            }
        }
    }

    /// Joins the operands in parentheses behind a word: a parser expects one expression there.
    fn operands(&mut self, at: usize) {
        let Some(close) = self.brackets.close(at + 1) else { return };
        let (mut inner, mut arguments) = (at + 2, 0_usize);
        while inner < close {
            match self.tokens[inner].kind {
                Kind::Mark(b'(' | b'[' | b'{') => {
                    inner = self.brackets.close(inner).unwrap_or(inner);
                }
                Kind::Mark(b'<') => arguments += 1,
                Kind::Mark(b'>') if !self.is(inner - 1, b'-') => {
                    arguments = arguments.saturating_sub(1);
                }
                Kind::Mark(b',') if arguments == 0 => {
                    self.edits.push(Edit { range: self.range(inner, inner), first: b'^' });
                }
                _ => {}
            }
            inner += 1;
        }
    }

    /// Masks a word in capitals right behind a number.
    fn suffix(&mut self, at: usize) {
        if self.is_capital(at + 1) && !self.is(at + 2, b'(') {
            self.take(at + 1);
        }
    }

    pub(super) fn range(&self, first: usize, last: usize) -> Range<usize> {
        self.tokens[first].range().start..self.tokens[last].range().end
    }
}

impl Frame {
    const NONE: Self = Self {
        holds: Holds::Parens { cast: false },
        open: 0,
        statement: 0,
        heads: false,
        values: false,
        in_code: false,
        asked: false,
        operands: false,
        names: false,
    };
}
