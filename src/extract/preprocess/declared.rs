//! Heads of declarations with more words than a type and a name: the others are attribute macros or
//! empty macros.

mod head;

use super::attributes::{Finder, Holds};
use super::tokens::Kind;
use super::words::is_like_type;
use crate::preprocess::edits::{Edit, Use};
use cograph_grammar::WordLists;
use cograph_model::SiteKind;
use head::{DeclarationHead, Part};
use smallvec::SmallVec;

impl Finder<'_> {
    /// Processes the head of a declaration or statement that starts here. Returns the start of the
    /// next one, if no token ends it.
    pub(super) fn declaration(&mut self, start: usize, inside: Holds) -> Option<usize> {
        if inside == Holds::Declarations && self.type_in_arguments(start) {
            return None;
        }
        let declares = inside != Holds::Statements || self.is_in(start, WordLists::START);
        if declares
            && !matches!(inside, Holds::Parens { .. })
            && let Some(end) = self.invocation(start, inside)
        {
            return Some(end + 1);
        }
        let head = self.head(start, inside)?;
        self.mask_extra_words(head, inside)
    }

    /// True if an attribute macro with arguments precedes the rest of a declaration.
    fn is_leading_attribute(&self, at: usize, head: &DeclarationHead, inside: Holds) -> bool {
        let in_code = inside == Holds::Statements;
        let Some(close) = self.brackets.close(at + 1) else { return false };
        let next = close + 1;
        let Some(token) = self.tokens.get(next) else { return false };
        let typed = head.parts.iter().any(|(part, _)| *part != Part::Mark);
        if typed && self.holds_parameters(at + 1) {
            // Name of a function, with attributes behind its parameters.
            return false;
        }
        match token.kind {
            Kind::Directive | Kind::Mark(b'}') => !typed && inside == Holds::Declarations,
            Kind::Mark(b'*') => typed && !in_code,
            Kind::Mark(b'(') => typed && !in_code && self.is(next + 1, b'*'),
            Kind::Word
                if self
                    .is_in(next, WordLists::TYPE.and(WordLists::BUILTIN).and(WordLists::START)) =>
            {
                !in_code || typed
            }
            Kind::Word if self.is_in(next, WordLists::PARAMETER.and(WordLists::BLOCK)) => !in_code,
            Kind::Word if self.is_in(next, WordLists::QUALIFIER.and(WordLists::ATTRIBUTE)) => {
                !typed && !in_code
            }
            Kind::Word if !self.is_plain(next) => false,
            Kind::Word if !typed => !in_code,
            Kind::Word => {
                let after = self.end_of_path(next) + 1;
                match self.tokens.get(after).map(|token| token.kind) {
                    Some(Kind::Word | Kind::Mark(b'*' | b'&')) => true,
                    Some(Kind::Mark(b'(')) => self.holds_parameters(after),
                    Some(Kind::Mark(b'=' | b';' | b',' | b'[')) => !self.is_attribute(next),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// True if parentheses contain parameters rather than arguments.
    pub(super) fn holds_parameters(&self, open: usize) -> bool {
        let Some(close) = self.brackets.close(open) else { return false };
        let is_type = |at: usize| {
            self.is_in(at, WordLists::TYPE.and(WordLists::BUILTIN).and(WordLists::QUALIFIER))
        };
        open + 1 == close
            || (open + 1..close.min(open + 8)).any(|at| {
                is_type(at)
                    || (self.is_plain(at) && (self.is_plain(at + 1) || self.is(at + 1, b'*')))
            })
    }

    /// Masks the words that are neither type nor name.
    fn mask_extra_words(&mut self, mut head: DeclarationHead, inside: Holds) -> Option<usize> {
        let mark = self.tokens.get(head.end)?.kind;
        let opens = mark == Kind::Mark(b'(');
        let in_code = inside == Holds::Statements;
        if mark == Kind::Mark(b':') && matches!(inside, Holds::Members { .. }) {
            self.bits(&head);
        }
        let cast = inside == Holds::Parens { cast: true } && mark == Kind::Mark(b')');
        if matches!(inside, Holds::Parens { .. })
            && mark == Kind::Mark(b')')
            && self.is(head.end + 1, b'(')
        {
            self.pointer_to_function(&head);
        }
        if !in_code {
            self.take_known(&mut head, opens);
        }
        if !in_code
            && !matches!(inside, Holds::Parens { .. })
            && let Some(line) = self.take_line(&head)
        {
            return Some(line + 1);
        }
        head.named_elsewhere |= cast || (opens && self.is_named_inside(&head));
        let name = self.mask_head(&head, in_code, opens, inside);
        if let Some(name) = name
            && !(in_code && opens)
            && !(self.is_capital(name) && !matches!(inside, Holds::Parens { .. }) && opens)
        {
            self.after_declarator(head.end, opens);
        } else if head.named_elsewhere
            && opens
            && !in_code
            && head.parts.iter().any(|(part, _)| *part != Part::Mark)
        {
            self.after_declarator(head.end, opens);
        }
        None
    }

    /// Bit field: masks the width of an unnamed one, and attributes behind the width.
    fn bits(&mut self, head: &DeclarationHead) {
        if let [(Part::Name | Part::Type, _)] = head.parts[..]
            && self.is(head.end + 2, b';')
        {
            self.edits.push(Edit::blank(self.range(head.end, head.end + 1)));
        } else if self.is_attribute(head.end + 2)
            && self.is(self.end_of_use(head.end + 2) + 1, b';')
        {
            self.take(head.end + 2);
        }
    }

    /// Masks words that the file itself defines as empty.
    fn take_known(&mut self, head: &mut DeclarationHead, opens: bool) {
        let last = head.parts.len().saturating_sub(1);
        let parts = std::mem::take(&mut head.parts);
        for (position, (part, at)) in parts.into_iter().enumerate() {
            let is_name = opens && position == last;
            if part == Part::Name
                && !is_name
                && last > 0
                && self.known.is_nothing(self.tokens[at].bytes(self.source))
            {
                self.take(at);
            } else {
                head.parts.push((part, at));
            }
        }
    }

    /// Masks a word in capitals alone on its line, or before the start of a declaration. Returns
    /// it.
    fn take_line(&mut self, head: &DeclarationHead) -> Option<usize> {
        let [(Part::Name, at), ..] = head.parts[..] else { return None };
        let next = at + 1;
        if !self.is_attribute(at) || head.parts.len() > 1 {
            return None;
        }
        let starts = self.is_in(
            next,
            WordLists::TYPE.and(WordLists::BLOCK).and(WordLists::START).and(WordLists::PARAMETER),
        );
        let apart = self
            .tokens
            .get(next)
            .is_some_and(|token| token.is(b'}') || token.kind == Kind::Directive);
        if starts || (apart && self.is_line_of_its_own(at)) {
            self.take(at);
            return Some(at);
        }
        None
    }

    /// True if the name is in the parentheses behind the head.
    fn is_named_inside(&self, head: &DeclarationHead) -> bool {
        let end = head.end;
        let encloses = self.is_word(end + 1) && self.is(end + 2, b')') && self.is(end + 3, b'(');
        let points = self.is(end + 1, b'*')
            || (self.is_attribute(end + 1)
                && self.is(end + 2, b'*')
                && self.is(end + 4, b')')
                && self.is(end + 5, b'('));
        encloses || points || head.parts.last().is_some_and(|(part, _)| *part != Part::Name)
    }

    /// `(WINAPI *name)(…)`: masks the word before the pointer mark.
    fn pointer_to_function(&mut self, head: &DeclarationHead) {
        if let [(Part::Name, at), (Part::Mark, _), (Part::Name, _)] = head.parts[..]
            && self.is_attribute(at)
        {
            self.take(at);
        }
    }

    /// Masks the words that are neither type nor name. Returns the name, if the head is one of a
    /// declaration.
    fn mask_head(
        &mut self,
        head: &DeclarationHead,
        in_code: bool,
        opens: bool,
        inside: Holds,
    ) -> Option<usize> {
        let parts = &head.parts;
        let mark = parts.iter().rposition(|(part, _)| *part == Part::Mark);
        let typed = parts.iter().position(|(part, _)| *part == Part::Type);
        let names = |range: std::ops::Range<usize>| -> SmallVec<[usize; 8]> {
            parts[range].iter().filter(|(part, _)| *part == Part::Name).map(|(_, at)| *at).collect()
        };
        let all = names(0..parts.len());
        if let (Some(&last), false) = (all.last(), head.named_elsewhere)
            && opens
            && typed.is_none()
            && mark.is_none()
            && (head.destructor || self.is_constructor(last, inside))
        {
            self.take_all_but(&all, &[last], in_code);
            return Some(last);
        }
        let (before, after) = match mark {
            Some(mark) => (names(0..mark), names(mark..parts.len())),
            None => (SmallVec::new(), all),
        };
        // With a known type, names before a mark are no types.
        let kept_type = match (typed, mark) {
            (Some(_), _) | (None, None) => None,
            (None, Some(_)) => Some(self.type_among(&before)?),
        };
        self.take_all_but(&before, kept_type.as_slice(), in_code);
        let is_typed = typed.is_some() || kept_type.is_some();
        if head.named_elsewhere
            && typed.is_none()
            && mark.is_some()
            && matches!(inside, Holds::Parens { cast: true })
        {
            // Probably an operator.
            return None;
        }
        if head.named_elsewhere {
            let kept = if is_typed { None } else { self.type_among(&after) };
            match after.last() {
                // The parentheses contain the name, not an argument.
                Some(&last) if opens && last + 1 == head.end && kept != Some(last) && !in_code => {
                    self.edits.push(Edit::blank(self.tokens[last].range()));
                    self.uses.push(Use { name: self.tokens[last].range(), kind: SiteKind::Call });
                    self.take_all_but(&after[..after.len() - 1], kept.as_slice(), in_code);
                }
                _ => self.take_all_but(&after, kept.as_slice(), in_code),
            }
            return None;
        }
        if let Some(first_type) = typed
            && mark.is_none()
        {
            // Words before the type are no name.
            let early = names(0..first_type);
            let late = names(first_type..parts.len());
            self.take_all_but(&early, &[], in_code);
            let name = self.name_among(&late, true, head.end)?;
            self.take_all_but(&late, &[name], in_code);
            return Some(name);
        }
        if is_typed {
            let name = self.name_among(&after, true, head.end)?;
            self.take_all_but(&after, &[name], in_code);
            return Some(name);
        }
        if after.len() < 2 {
            return None;
        }
        if let (Holds::Parens { cast: false }, [first, _], true) = (inside, &after[..], opens)
            && self.is_capital(*first)
        {
            // Probably a macro before a call.
            self.take(*first);
            return None;
        }
        let name = self.name_among(&after, false, head.end)?;
        let others: SmallVec<[usize; 8]> = after.iter().copied().filter(|at| *at != name).collect();
        let ty = self.type_among(&others)?;
        self.take_all_but(&after, &[name, ty], in_code);
        Some(name)
    }

    /// True if a name before parentheses is that of its type (a constructor).
    fn is_constructor(&self, at: usize, inside: Holds) -> bool {
        let last = self.end_of_path(at);
        if last > at {
            let text = |at: usize| self.tokens[at].bytes(self.source);
            return last >= at + 2 && self.tokens[last - 1].kind == Kind::Scope && {
                let outer = (at..last - 1).rev().find(|&at| {
                    self.is_word(at)
                        && self
                            .tokens
                            .get(at + 1)
                            .is_some_and(|next| next.kind == Kind::Scope || next.is(b'<'))
                });
                outer.is_some_and(|outer| text(outer) == text(last))
            };
        }
        matches!(
            inside,
            Holds::Members { name: Some(name), .. }
                if self.tokens[name].bytes(self.source) == self.tokens[at].bytes(self.source)
        )
    }

    /// Masks words; in code only those that are probably attributes.
    fn take_all_but(&mut self, words: &[usize], kept: &[usize], in_code: bool) {
        for &at in words {
            if !kept.contains(&at) && (!in_code || self.is_attribute(at)) {
                self.take(at);
            }
        }
    }

    /// Returns the type among words that must include one.
    fn type_among(&self, words: &[usize]) -> Option<usize> {
        let is_type = |at: &&usize| is_like_type(self.tokens[**at].bytes(self.source));
        let is_plain = |at: &&usize| !self.is_attribute(**at);
        let likely = words.iter().rev().filter(is_plain).find(is_type);
        likely
            .or_else(|| words.iter().rev().find(is_plain))
            .or_else(|| words.iter().rev().find(is_type))
            .or(words.last())
            .copied()
    }

    /// Returns the name among the words behind a type, or among all if no type is known.
    fn name_among(&self, words: &[usize], typed: bool, end: usize) -> Option<usize> {
        let last = *words.last()?;
        let needed = if typed { 1 } else { 2 };
        let mut plain = words.iter().filter(|at| !self.is_attribute(**at));
        let is_trailing = self.is_attribute(last)
            && plain.clone().count() >= needed
            && match self.tokens.get(end).map(|token| token.kind) {
                Some(Kind::Mark(b'(')) => {
                    let mut after = self.brackets.close(end).unwrap_or(self.tokens.len()) + 1;
                    while self.is_in(after, WordLists::ATTRIBUTE) {
                        after = self.end_of_use(after) + 1;
                    }
                    let ends =
                        [b';', b'=', b',', b')', b'{'].iter().any(|mark| self.is(after, *mark))
                            || self.is_attribute(after);
                    ends && !self.holds_parameters(end)
                }
                Some(Kind::Mark(b';' | b'=' | b',' | b')' | b'[' | b'{')) => true,
                _ => false,
            };
        if is_trailing { plain.next_back().copied() } else { Some(last) }
    }

    /// Masks attributes behind parameters or array bounds.
    pub(super) fn after_declarator(&mut self, end: usize, opens: bool) {
        let mut at = end;
        while self.is(at, b'[') || (opens && at == end) {
            let Some(close) = self.brackets.close(at) else { return };
            at = close + 1;
        }
        if at == end {
            return;
        }
        while self.is_word(at) || self.is(at, b'&') {
            if self.is_attribute(at) && !self.known_type_follows(at) {
                at = self.take(at) + 1;
            } else if self.is_in(at, WordLists::QUALIFIER.and(WordLists::ATTRIBUTE)) {
                at = self.end_of_use(at) + 1;
            } else if opens && self.is_plain(at) && self.is(at + 1, b'{') {
                self.take(at);
                return;
            } else if self.is(at, b'&') {
                at += 1;
            } else {
                return;
            }
        }
    }

    /// True if a word behind parameters starts their declarations.
    fn known_type_follows(&self, at: usize) -> bool {
        !self.is(at + 1, b'(')
            && (self.is(at + 1, b'*') || (self.is_plain(at + 1) && !self.is_attribute(at + 1)))
    }

    /// Processes the words behind the body of a type.
    pub(super) fn after_body(&mut self, start: usize, typedef: bool) {
        let mut words: SmallVec<[usize; 8]> = SmallVec::new();
        let mut at = start;
        while self.is_plain(at) {
            words.push(at);
            at = self.end_of_use(at) + 1;
        }
        self.after_declarator(at, false);
        let with_arguments = |at: usize| self.end_of_use(at) > at;
        let is_extra = |at: &usize| {
            self.known_or_reserved(*at) || (self.is_attribute(*at) && with_arguments(*at))
        };
        match words[..] {
            [_, _, ..] if !typedef && words.iter().all(is_extra) => {
                self.take_all_but(&words, &[], false)
            }
            [only] if is_extra(&only) && !typedef => drop(self.take(only)),
            [_, _, ..] => {
                let plain = words
                    .iter()
                    .rev()
                    .find(|at| !self.is_attribute(**at))
                    .or(words.last())
                    .copied();
                self.take_all_but(&words, plain.as_slice(), false);
            }
            _ => {}
        }
    }
}
