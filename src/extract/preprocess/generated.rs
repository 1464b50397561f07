//! Definitions created by macros: a body with an invocation as its head. Macros of the same file
//! are expanded; others are recognized by their form.

use super::attributes::Finder;
use super::tokens::{Kind, Token, tokens};
use super::words::Definition;
use crate::preprocess::edits::{Edit, Made, Use};
use cograph_grammar::{Preprocessor, WordLists};
use cograph_model::SiteKind;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Maximum depth of nested macro expansions.
const MAX_EXPANSION_DEPTH: usize = 8;

impl Finder<'_> {
    /// Processes a declaration that starts here; returns true if a macro creates a definition from
    /// the following body.
    pub(super) fn made(&mut self, start: usize) -> bool {
        // The macro that ends the previous definition is on a line of its own.
        let is_end = self.is_attribute(start)
            && self.is_line_of_its_own(start)
            && self.is_attribute(start + 1)
            && self.is(start + 2, b'(');
        if is_end && self.made(start + 1) {
            self.take(start);
            return true;
        }
        let mut at = start;
        while self.is_in(at, WordLists::START.and(WordLists::QUALIFIER)) && !self.is(at + 1, b'(') {
            at += 1;
        }
        if !self.is_attribute(at) || !self.is(at + 1, b'(') {
            return false;
        }
        let word = self.tokens[at].bytes(self.source);
        let Some(close) = self
            .brackets
            .close(at + 1)
            .filter(|close| *close > at + 2 && self.is(*close + 1, b'{'))
        else {
            return false;
        };
        if std::str::from_utf8(word).is_ok_and(|word| self.tests.macro_kind(word).is_some()) {
            return false;
        }
        let arguments = self.arguments(at + 1, close);
        let Some(anchor) = arguments
            .iter()
            .find(|argument| self.is_one_word(argument))
            .map(|argument| argument.start)
        else {
            return false;
        };
        let (name, is_known, words) = self.name_made(at, &arguments, anchor);
        let is_typed = self.rewrite(at, close, &arguments, anchor);
        let head = self.range(at, close);
        self.made.push(Made { head, name, is_known, words, is_typed });
        self.uses.push(Use { name: self.tokens[at].range(), kind: SiteKind::Call });
        true
    }

    /// Returns the arguments between two parentheses, as ranges of tokens.
    fn arguments(&self, open: usize, close: usize) -> Vec<Range<usize>> {
        let mut arguments = Vec::new();
        let (mut start, mut at) = (open + 1, open + 1);
        while at < close {
            match self.tokens[at].kind {
                Kind::Mark(b'(' | b'[' | b'{') => at = self.brackets.close(at).unwrap_or(at),
                Kind::Mark(b',') => {
                    arguments.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        arguments.push(start..close);
        arguments
    }

    fn is_one_word(&self, argument: &Range<usize>) -> bool {
        argument.len() == 1 && self.is_plain(argument.start)
    }

    /// Returns the name of the created definition, whether it is from the expansion, and the words
    /// before it there; otherwise it is that of the first arguments.
    fn name_made(
        &self,
        at: usize,
        arguments: &[Range<usize>],
        anchor: usize,
    ) -> (String, bool, Vec<String>) {
        let text = |argument: &Range<usize>| match argument.is_empty() {
            true => String::new(),
            false => {
                String::from_utf8_lossy(&self.source[self.range(argument.start, argument.end - 1)])
                    .into_owned()
            }
        };
        let texts: Vec<String> = arguments.iter().map(text).collect();
        let name = String::from_utf8_lossy(self.tokens[at].bytes(self.source)).into_owned();
        if let Some((made, words)) =
            Replacements::of(self.rules, self.source, self.tokens).made_by(&name, &texts)
        {
            return (made, true, words);
        }
        let are_words = arguments.iter().all(|argument| self.is_one_word(argument));
        match arguments.len() > 1 && are_words && !self.counts_parameters(at, arguments) {
            true => (texts.join("_"), false, Vec::new()),
            false => (text(&(anchor..anchor + 1)), false, Vec::new()),
        }
    }

    /// True if the name of a macro ends with the number of types and names that follow its first
    /// argument: `DEFINE_CALL2(name, type, parameter, type, parameter)`.
    fn counts_parameters(&self, at: usize, arguments: &[Range<usize>]) -> bool {
        let name = self.tokens[at].text(self.source);
        let number = &name[name.trim_end_matches(|last: char| last.is_ascii_digit()).len()..];
        number.parse().is_ok_and(|count: usize| count > 0 && arguments.len() == 1 + 2 * count)
    }

    /// Rewrites the invocation to the head of a function: its name, and if types and names
    /// alternate, its parameters.
    fn rewrite(
        &mut self,
        at: usize,
        close: usize,
        arguments: &[Range<usize>],
        anchor: usize,
    ) -> bool {
        let rest = &arguments[1..];
        let are_types = |argument: &Range<usize>| {
            argument.clone().any(|at| {
                self.is_in(at, WordLists::TYPE.and(WordLists::BUILTIN).and(WordLists::QUALIFIER))
                    || self.is(at, b'*')
            }) || argument.len() == 1
        };
        let pairs = rest.len() >= 2
            && rest.len().is_multiple_of(2)
            && arguments[0].start == anchor
            && rest.chunks(2).all(|pair| are_types(&pair[0]) && self.is_one_word(&pair[1]))
            && (self.counts_parameters(at, arguments)
                || rest.chunks(2).any(|pair| {
                    pair[0].clone().any(|at| {
                        self.is_in(at, WordLists::TYPE.and(WordLists::BUILTIN)) || self.is(at, b'*')
                    })
                }));
        let name = self.tokens[at].range();
        if pairs && name.len() >= 3 {
            for (byte, letter) in (name.start..).zip(*b"int") {
                self.edits.push(Edit { range: byte..byte + 1, first: letter });
            }
            self.edits.push(Edit::blank(name.start + 3..self.tokens[at + 1].range().end));
            let comma = self.tokens[arguments[0].end].range();
            self.edits.push(Edit { range: comma, first: b'(' });
            for pair in rest.chunks(2) {
                self.edits.push(Edit::blank(self.tokens[pair[0].end].range()));
            }
            return true;
        }
        let (open, end) = (self.tokens[at + 1].range().end, self.tokens[close].range().start);
        let anchor = self.tokens[anchor].range();
        self.edits.push(Edit::blank(open..anchor.start));
        self.edits.push(Edit::blank(anchor.end..end));
        false
    }
}

/// Function-like macros of a file.
struct Replacements<'s> {
    rules: &'s Preprocessor,
    by_name: FxHashMap<&'s str, (Vec<&'s str>, &'s [u8])>,
}

impl<'s> Replacements<'s> {
    fn of(rules: &'s Preprocessor, source: &'s [u8], tokens: &[Token]) -> Self {
        let definitions = tokens.iter().filter(|token| token.kind == Kind::Directive);
        let definitions = definitions.filter_map(|token| Definition::read(token.bytes(source)));
        let read = |definition: Definition<'s>| {
            let text = |bytes: &'s [u8]| std::str::from_utf8(bytes).ok();
            let parameters = text(definition.parameters?)?.split(',').map(str::trim).collect();
            Some((text(definition.name)?, (parameters, definition.replacement)))
        };
        Self { rules, by_name: definitions.filter_map(read).collect() }
    }

    /// Returns the name of the function whose head a macro use expands to, and the words before it.
    fn made_by(&self, name: &str, arguments: &[String]) -> Option<(String, Vec<String>)> {
        let (mut name, mut arguments) = (name.to_owned(), arguments.to_vec());
        let mut before = Vec::new();
        for depth in 0..MAX_EXPANSION_DEPTH {
            let Some((parameters, replacement)) = self.by_name.get(&*name) else {
                return (depth > 0).then_some((name, before));
            };
            let mut words = self.replaced(parameters, replacement, &arguments);
            let (callee, given) = last_call(&words)?;
            words.truncate(words.iter().position(|word| *word == callee).unwrap_or(0));
            before.extend(words);
            (name, arguments) = (callee, given);
        }
        None
    }

    /// Returns the tokens of an expansion, with pasted ones joined.
    fn replaced(
        &self,
        parameters: &[&str],
        replacement: &[u8],
        arguments: &[String],
    ) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut marks = 0;
        for token in tokens(self.rules, replacement) {
            let text = token.text(replacement);
            if token.is(b'#') {
                marks += 1;
                continue;
            }
            let text = match parameters.iter().position(|parameter| *parameter == text) {
                Some(position) => arguments.get(position).cloned().unwrap_or_default(),
                None if text == "__VA_ARGS__" => {
                    arguments.get(parameters.len() - 1..).unwrap_or_default().join(",")
                }
                None => text.to_owned(),
            };
            match words.last_mut() {
                Some(last) if marks >= 2 => last.push_str(&text),
                _ => words.push(text),
            }
            marks = 0;
        }
        words
    }
}

/// Returns the last callee in the head of a text, with its arguments.
fn last_call(words: &[String]) -> Option<(String, Vec<String>)> {
    let head = words.iter().position(|word| word == "{").unwrap_or(words.len());
    let words = &words[..head];
    let mut depth = 0usize;
    let close =
        words.iter().rposition(|word| word == ")").filter(|close| close + 1 == words.len())?;
    let open = (0..=close).rev().find(|&at| {
        match words[at].as_str() {
            ")" => depth += 1,
            "(" => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let name = words.get(open.checked_sub(1)?)?;
    let is_word =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
    let given = words[open + 1..close].concat();
    let given = given.split(',').map(|argument| argument.trim().to_owned()).collect();
    is_word.then(|| (name.clone(), given))
}
