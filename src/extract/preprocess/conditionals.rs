//! Preprocessor conditionals. Between statements they are left to the parser, which parses every
//! branch. Where they cut through a statement, the directives are masked and one branch is kept.

use super::tokens::{Kind, Token};
use super::words::is_capital;
use cograph_faults::{Fault, planted};
use cograph_grammar::WordLists;
use std::ops::Range;

/// Conditional with its branches.
struct Group {
    branches: Vec<Branch>,
    /// Directive that ends it.
    end: Range<usize>,
    /// First token behind it.
    next: usize,
}

struct Branch {
    directive: Range<usize>,
    /// Token positions.
    tokens: Range<usize>,
    /// True if its condition is constant and false.
    never: bool,
}

/// Open bracket and its contents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// `(` or `[`.
    Expression,
    /// Initializer list.
    Values,
    /// Names separated by commas.
    Names,
    /// Statements or declarations.
    Block,
}

struct Settling<'a> {
    source: &'a [u8],
    tokens: &'a [Token],
    settled: Resolved,
}

/// Result of the processing.
#[derive(Default)]
pub(super) struct Resolved {
    /// Ranges to mask, so that directives remain only between statements.
    pub(super) blanks: Vec<Range<usize>>,
    /// Code lost by it.
    pub(super) dropped: Vec<Range<usize>>,
    /// Other masked directives, each with the end of its line.
    pub(super) moved: Vec<Range<usize>>,
}

/// Processes the directives of a source.
pub(super) fn resolved(source: &[u8], tokens: &[Token]) -> Resolved {
    let mut settling = Settling { source, tokens, settled: Resolved::default() };
    let mut open = Vec::new();
    settling.walk(0..tokens.len(), &mut open, None);
    settling.settled
}

impl Settling<'_> {
    /// Returns the first word of a directive. The rest may be long and is not read.
    fn word_of(&self, token: usize) -> &[u8] {
        let text =
            self.tokens[token].bytes(self.source).get(1..).unwrap_or_default().trim_ascii_start();
        text.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default()
    }

    fn opens(&self, token: usize) -> bool {
        self.tokens[token].kind == Kind::Directive
            && matches!(self.word_of(token), b"if" | b"ifdef" | b"ifndef")
    }

    /// Scans tokens; `open` are the enclosing brackets, `before` is the preceding token.
    fn walk(
        &mut self,
        range: Range<usize>,
        open: &mut Vec<Open>,
        mut before: Option<usize>,
    ) -> Option<usize> {
        let mut at = range.start;
        while at < range.end {
            if self.opens(at)
                && let Some(group) = self.group(at, range.end)
            {
                let next = group.next;
                before = self.choose(&group, open, before);
                at = next;
                continue;
            }
            self.track(at, open, before);
            match self.tokens[at].kind {
                Kind::Directive if !matches!(open.last(), None | Some(Open::Block)) => {
                    self.move_out(at)
                }
                Kind::Directive => {}
                _ => before = Some(at),
            }
            at += 1;
        }
        before
    }

    /// Moves a directive out of a list, where a parser expects none.
    fn move_out(&mut self, token: usize) {
        if matches!(
            self.word_of(token),
            b"else" | b"elif" | b"elifdef" | b"elifndef" | b"endif" | b"if" | b"ifdef" | b"ifndef"
        ) {
            return;
        }
        let range = self.tokens[token].range();
        self.settled.blanks.push(range.clone());
        if self.source.get(range.end) == Some(&b'\n') {
            self.settled.moved.push(range.start..range.end + 1);
        }
    }

    /// Returns the conditional that starts at a directive, if it ends before `end`.
    fn group(&self, start: usize, end: usize) -> Option<Group> {
        let mut branches = vec![self.branch(start)];
        let (mut depth, mut at) = (0usize, start + 1);
        while at < end {
            if self.tokens[at].kind == Kind::Directive {
                match self.word_of(at) {
                    b"if" | b"ifdef" | b"ifndef" => depth += 1,
                    b"endif" if depth == 0 => {
                        branches.last_mut()?.tokens.end = at;
                        return Some(Group {
                            branches,
                            end: self.tokens[at].range(),
                            next: at + 1,
                        });
                    }
                    b"endif" => depth -= 1,
                    b"else" | b"elif" | b"elifdef" | b"elifndef" if depth == 0 => {
                        branches.last_mut()?.tokens.end = at;
                        branches.push(self.branch(at));
                    }
                    _ => {}
                }
            }
            at += 1;
        }
        None
    }

    fn branch(&self, directive: usize) -> Branch {
        let text = self.tokens[directive].text(self.source);
        let condition = text
            .split_whitespace()
            .skip_while(|word| word.starts_with('#') && word.len() == 1)
            .nth(1);
        let never = self.word_of(directive) == b"if" && condition == Some("0");
        Branch {
            directive: self.tokens[directive].range(),
            tokens: directive + 1..directive + 1,
            never,
        }
    }

    fn choose(
        &mut self,
        group: &Group,
        open: &mut Vec<Open>,
        before: Option<usize>,
    ) -> Option<usize> {
        let inside = open.last().copied();
        let cuts = planted(Fault::FirstBranchOnly)
            || matches!(inside, Some(Open::Expression | Open::Values))
            || before.is_some_and(|before| !self.ends_statement(before, inside))
            || group.branches.iter().any(|branch| self.cuts(branch, inside));
        let around = open.clone();
        if !cuts {
            let mut last = before;
            for (position, branch) in group.branches.iter().enumerate() {
                let mut inner = around.clone();
                let ended = self.walk(branch.tokens.clone(), &mut inner, before);
                if position == 0 {
                    last = ended;
                }
            }
            return last;
        }
        self.settled.blanks.extend(group.branches.iter().map(|branch| branch.directive.clone()));
        self.settled.blanks.push(group.end.clone());
        let is_empty_body = |branch: &Branch| self.is_empty_body(group, branch, before);
        let is_chosen = |branch: &Branch| !branch.never && !is_empty_body(branch);
        let chosen = group.branches.iter().position(is_chosen);
        let all = inside == Some(Open::Values)
            && group.branches.iter().all(|branch| self.net(branch.tokens.clone()) == Some(0));
        let mut last = before;
        for (position, branch) in group.branches.iter().enumerate() {
            if chosen == Some(position) || (all && !branch.never) {
                *open = around.clone();
                last = self.walk(branch.tokens.clone(), open, before);
                continue;
            }
            let (Some(first), Some(end)) =
                (self.tokens.get(branch.tokens.start), branch.tokens.end.checked_sub(1))
            else {
                continue;
            };
            if !branch.tokens.is_empty() {
                let code = first.range().start..self.tokens[end].range().end;
                self.settled.blanks.push(code.clone());
                if !self.is_empty_body(group, branch, before) {
                    self.settled.dropped.push(code);
                }
            }
        }
        last
    }

    /// True if a branch is the empty body of a type that is only declared without it: the body is
    /// for tools that want a definition, and the real one is elsewhere.
    fn is_empty_body(&self, group: &Group, branch: &Branch, before: Option<usize>) -> bool {
        let is_type = before.is_some_and(|before| self.tokens[before].kind == Kind::Word);
        let [open, close] = self.tokens.get(branch.tokens.clone()).unwrap_or_default() else {
            return false;
        };
        let next = self.tokens.get(group.next);
        is_type && open.is(b'{') && close.is(b'}') && next.is_some_and(|next| next.is(b';'))
    }

    /// True if a statement may end with this token.
    fn ends_statement(&self, token: usize, inside: Option<Open>) -> bool {
        match self.tokens[token].kind {
            Kind::Mark(b';' | b'{' | b'}' | b':') => true,
            Kind::Mark(b',') => inside == Some(Open::Names),
            // A statement follows the parentheses of a head (`if (..)`).
            Kind::Mark(b')') => self.called_word(token).is_some_and(|word| {
                !self.tokens[word].lists.is_in(WordLists::HEAD) && self.is_statement_macro(word)
            }),
            Kind::Word => {
                inside == Some(Open::Names) || is_capital(self.tokens[token].bytes(self.source))
            }
            _ => inside == Some(Open::Names),
        }
    }

    /// True if a word before parentheses needs no semicolon: it is in capitals, or starts a
    /// statement.
    fn is_statement_macro(&self, word: usize) -> bool {
        let stands_alone = || match word.checked_sub(1).map(|before| self.tokens[before].kind) {
            None | Some(Kind::Mark(b';' | b'{' | b'}') | Kind::Directive) => true,
            Some(_) => false,
        };
        is_capital(self.tokens[word].bytes(self.source)) || stands_alone()
    }

    /// Returns the word before the parentheses that a token closes.
    fn called_word(&self, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in (0..=close).rev() {
            match self.tokens[at].kind {
                Kind::Mark(b')') => depth += 1,
                Kind::Mark(b'(') => {
                    depth -= 1;
                    if depth == 0 {
                        let before = at.checked_sub(1)?;
                        return (self.tokens[before].kind == Kind::Word).then_some(before);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// True if a branch is not a sequence of whole statements.
    fn cuts(&self, branch: &Branch, inside: Option<Open>) -> bool {
        let mut code =
            branch.tokens.clone().filter(|&token| self.tokens[token].kind != Kind::Directive);
        let Some(first) = code.next() else { return false };
        let last = code.next_back().unwrap_or(first);
        let goes_on = match self.tokens[first].kind {
            Kind::Word => self.tokens[first].bytes(self.source) == b"else",
            Kind::Mark(mark) => matches!(
                mark,
                b',' | b')' | b']' | b'|' | b'?' | b'.' | b'=' | b'+' | b'/' | b'<' | b'>'
            ),
            _ => false,
        };
        goes_on || !self.ends_statement(last, inside) || self.net(branch.tokens.clone()) != Some(0)
    }

    /// Returns the number of unclosed brackets; `None` if an unopened one is closed. Of nested
    /// conditionals the first branch counts.
    fn net(&self, range: Range<usize>) -> Option<i32> {
        let (mut depth, mut at) = (0i32, range.start);
        while at < range.end {
            if self.opens(at)
                && let Some(group) = self.group(at, range.end)
            {
                depth += self.net(group.branches[0].tokens.clone()).unwrap_or(0);
                at = group.next;
                continue;
            }
            match self.tokens[at].kind {
                Kind::Mark(b'(' | b'[' | b'{') => depth += 1,
                Kind::Mark(b')' | b']' | b'}') => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                return None;
            }
            at += 1;
        }
        Some(depth)
    }

    fn track(&self, at: usize, open: &mut Vec<Open>, before: Option<usize>) {
        match self.tokens[at].kind {
            Kind::Mark(b'(' | b'[') => open.push(Open::Expression),
            Kind::Mark(b'{') => open.push(self.block(before, open)),
            Kind::Mark(b')' | b']' | b'}') => drop(open.pop()),
            _ => {}
        }
    }

    /// Contents of a brace behind `before`.
    fn block(&self, before: Option<usize>, open: &[Open]) -> Open {
        let Some(before) = before else { return Open::Block };
        if open.last() == Some(&Open::Values) || self.tokens[before].is(b'=') {
            return Open::Values;
        }
        let words = self.tokens[before.saturating_sub(4)..=before].iter().rev();
        let mut words = words.take_while(|token| token.kind == Kind::Word || token.is(b':'));
        if words.any(|word| word.lists.is_in(WordLists::LIST)) { Open::Names } else { Open::Block }
    }
}
