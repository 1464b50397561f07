//! Head of a declaration: its leading words, classified.

use crate::preprocess::attributes::{Finder, Holds};
use crate::preprocess::edits::{Edit, Use};
use crate::preprocess::tokens::Kind;
use cograph_grammar::WordLists;
use cograph_model::SiteKind;
use smallvec::SmallVec;

/// Part of the head of a declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Word or path without a meaning in the language.
    Name,
    /// Names of builtin types, or an elaborated type (`struct name`).
    Type,
    /// Pointer or reference mark.
    Mark,
}

/// Parts by their first tokens; few declarations have more.
type Parts = SmallVec<[(Part, usize); 8]>;

/// Head of a declaration.
pub(super) struct DeclarationHead {
    pub(super) parts: Parts,
    /// Token behind it.
    pub(super) end: usize,
    /// True if the name is not among the parts: an operator, or in parentheses.
    pub(super) named_elsewhere: bool,
    /// True for the name of a destructor.
    pub(super) destructor: bool,
}

impl Finder<'_> {
    /// Reads the head of a declaration; `None` for statements.
    pub(super) fn head(&mut self, start: usize, inside: Holds) -> Option<DeclarationHead> {
        let mut head = DeclarationHead {
            parts: Parts::new(),
            end: start,
            named_elsewhere: false,
            destructor: false,
        };
        let mut at = start;
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                Kind::Word if self.is_before_outermost(at) => head.parts.push((Part::Name, at)),
                Kind::Word if token.lists == WordLists::default() => {
                    let mut last = self.end_of_path(at);
                    if self.tokens.get(last + 1).is_some_and(|next| next.kind == Kind::Scope) {
                        // Path of a destructor or an operator.
                        if self.is_in(last + 2, WordLists::NAME) {
                            at = last + 2;
                            continue;
                        }
                        if self.is(last + 2, b'~') {
                            head.destructor = true;
                            last += 3;
                        }
                    }
                    if !self.is(last + 1, b'(') {
                        head.parts.push((Part::Name, at));
                    } else if self.is_attribute(at) && self.is_leading_attribute(at, &head, inside)
                    {
                        at = self.take(at) + 1;
                        continue;
                    } else {
                        head.parts.push((Part::Name, at));
                        at = last + 1;
                        break;
                    }
                    at = last;
                }
                Kind::Word if self.is_in(at, WordLists::STATEMENT.and(WordLists::ASSEMBLER)) => {
                    return None;
                }
                Kind::Word if self.is_in(at, WordLists::TYPE) => {
                    at = self.type_head(at + 1);
                    head.parts.push((Part::Type, at));
                    if self.is_plain(at) {
                        at = self.end_of_path(at) + 1;
                    }
                    continue;
                }
                Kind::Word if self.is_in(at, WordLists::NAME) => {
                    // Operator: its name ends before the parameters.
                    while self
                        .tokens
                        .get(at)
                        .is_some_and(|token| !matches!(token.kind, Kind::Mark(b'(' | b';' | b'{')))
                    {
                        at += 1;
                    }
                    if self.is(at + 1, b')') && self.is(at + 2, b'(') {
                        at += 2;
                    }
                    head.named_elsewhere = true;
                    break;
                }
                Kind::Word if self.is_in(at, WordLists::VALUE_TYPE) => {
                    head.parts.push((Part::Type, at));
                    at = self.value_type(at);
                }
                Kind::Word if self.is_in(at, WordLists::ATTRIBUTE) => at = self.end_of_use(at),
                Kind::Word if self.is_in(at, WordLists::BUILTIN) => {
                    head.parts.push((Part::Type, at))
                }
                Kind::Word
                    if self.is_in(at, WordLists::BLOCK.and(WordLists::PARAMETER))
                        && !head.parts.is_empty() =>
                {
                    break;
                }
                Kind::Mark(b'~') => head.destructor = true,
                Kind::Mark(b'*' | b'&') => head.parts.push((Part::Mark, at)),
                Kind::Word | Kind::Scope => {}
                Kind::Mark(b'[') if self.is(at + 1, b'[') => {
                    at = self.brackets.close(at).unwrap_or(at)
                }
                _ => break,
            }
            at += 1;
        }
        head.end = at;
        Some(head)
    }

    /// True for an attribute before a path from the outermost scope (`API ::a::T *f();`).
    fn is_before_outermost(&self, at: usize) -> bool {
        let end = self.tokens[at].range().end;
        self.is_attribute(at)
            && self.tokens.get(at + 1).is_some_and(|next| {
                next.kind == Kind::Scope && next.range().start > end && self.is_word(at + 2)
            })
    }

    /// Masks the operand of a type operator. Returns its last token.
    fn value_type(&mut self, at: usize) -> usize {
        let close = self.end_of_use(at);
        if close > at && at >= self.noted {
            self.noted = close;
            for word in at + 2..close {
                if self.is_plain(word)
                    && !matches!(self.tokens[word - 1].kind, Kind::Mark(b'.' | b'>'))
                {
                    self.uses.push(Use { name: self.tokens[word].range(), kind: SiteKind::Read });
                }
            }
            self.edits.push(Edit::blank(self.range(at + 1, close)));
        }
        close
    }

    /// Processes attributes between `class` and the name of a type with a body. Returns the next
    /// token.
    fn type_head(&mut self, mut at: usize) -> usize {
        while self.is_attribute(at) || self.is_in(at, WordLists::ATTRIBUTE) {
            let end = self.end_of_use(at);
            if self.is_in(at, WordLists::ATTRIBUTE) {
                at = end + 1;
                continue;
            }
            if self.is(end + 1, b'{')
                && (end > at || !self.is_capital(at))
                && self.known_or_reserved(at)
            {
                return self.take(at) + 1;
            }
            if !self.is_word(end + 1) {
                break;
            }
            let after = self.end_of_path(end + 1) + 1;
            let defines = match self.tokens.get(after).map(|token| token.kind) {
                Some(Kind::Mark(b'{' | b':')) => true,
                Some(Kind::Word) => {
                    self.is_in(after, WordLists::QUALIFIER) || self.is_attribute(end + 1)
                }
                Some(Kind::Mark(b'(')) => end > at || self.heads_type(end + 1),
                _ => end > at,
            };
            if !defines {
                break;
            }
            at = self.take(at) + 1;
        }
        at
    }

    /// True if an attribute with arguments is followed by the name of a type with a body.
    fn heads_type(&self, at: usize) -> bool {
        let name = self.end_of_use(at) + 1;
        let after = self.end_of_path(name) + 1;
        self.is_attribute(at)
            && self.is_word(name)
            && (self.is(after, b'{')
                || self.is(after, b':')
                || self.is_in(after, WordLists::QUALIFIER))
    }

    pub(super) fn known_or_reserved(&self, at: usize) -> bool {
        self.is_attribute(at)
            && (!self.is_capital(at) || self.known.is_nothing(self.tokens[at].bytes(self.source)))
    }
}
