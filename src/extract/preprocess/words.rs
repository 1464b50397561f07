//! Classification of words by spelling and by the macros defined in the same file.

use super::tokens::{Kind, Token};
use cograph_grammar::{Preprocessor, WordLists};
use rustc_hash::{FxHashMap, FxHashSet};

/// True if a word is spelt like a macro.
pub(super) fn is_capital(word: &[u8]) -> bool {
    word.len() > 1
        && word
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && word.iter().any(u8::is_ascii_uppercase)
}

/// True if a word is spelt like one reserved by a compiler or a platform, and not like a type.
fn is_reserved(word: &[u8]) -> bool {
    word.starts_with(b"__") && word.len() > 2 && !is_like_type(word)
}

/// True if a word is spelt like the name of a type: `size_t`, `u32`, `__be16`.
pub(super) fn is_like_type(word: &[u8]) -> bool {
    if word.ends_with(b"_t") {
        return true;
    }
    let plain = word.strip_prefix(b"__").unwrap_or(word);
    let letters = plain.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let digits = &plain[letters..];
    (1..=5).contains(&letters)
        && (1..=3).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
}

/// Words defined as macros in the file.
#[derive(Default)]
pub(super) struct KnownWords<'s> {
    /// Words with an empty expansion, or one without effect on a declaration.
    nothing: FxHashSet<&'s [u8]>,
}

impl<'s> KnownWords<'s> {
    pub(super) fn of(rules: &Preprocessor, source: &'s [u8], tokens: &[Token]) -> Self {
        let mut nothing: FxHashMap<&[u8], bool> = FxHashMap::default();
        for token in tokens.iter().filter(|token| token.kind == Kind::Directive) {
            let Some(definition) = Definition::read(token.bytes(source)) else { continue };
            let is_empty_macro = is_empty_macro(rules, definition.replacement);
            // Of several conditional definitions, all must agree.
            if is_empty_macro || nothing.contains_key(definition.name) {
                nothing
                    .entry(definition.name)
                    .and_modify(|all| *all &= is_empty_macro)
                    .or_insert(is_empty_macro);
            }
        }
        Self {
            nothing: nothing.into_iter().filter(|(_, all)| *all).map(|(name, _)| name).collect(),
        }
    }

    /// True if the file defines a word as a macro without effect on a declaration.
    pub(super) fn is_nothing(&self, word: &[u8]) -> bool {
        !self.nothing.is_empty() && self.nothing.contains(word)
    }

    /// True if a word is probably an attribute macro.
    pub(super) fn is_attribute(&self, word: &[u8]) -> bool {
        is_capital(word) || is_reserved(word) || self.is_nothing(word)
    }
}

/// True if a replacement is empty or consists of qualifiers and attributes.
fn is_empty_macro(rules: &Preprocessor, replacement: &[u8]) -> bool {
    let first = replacement.first().copied();
    if !first.is_none_or(|byte| {
        byte.is_ascii_alphabetic() || byte == b'_' || byte == b'/' || byte == b'['
    }) {
        return false;
    }
    let mut depth = 0usize;
    super::tokens::tokens(rules, replacement).iter().all(|token| match token.kind {
        Kind::Mark(b'(' | b'[') => {
            depth += 1;
            true
        }
        Kind::Mark(b')' | b']') => {
            depth = depth.saturating_sub(1);
            true
        }
        Kind::Word => {
            depth > 0 || token.lists.is_in(WordLists::QUALIFIER.and(WordLists::ATTRIBUTE))
        }
        _ => depth > 0,
    })
}

/// Macro definition in a directive.
pub(super) struct Definition<'s> {
    pub(super) name: &'s [u8],
    /// Text between its parentheses, if it has any.
    pub(super) parameters: Option<&'s [u8]>,
    pub(super) replacement: &'s [u8],
}

impl<'s> Definition<'s> {
    /// `None` if the directive is no definition.
    pub(super) fn read(directive: &'s [u8]) -> Option<Self> {
        let text = directive.get(1..)?.trim_ascii_start().strip_prefix(b"define")?;
        let text =
            text.first().is_some_and(u8::is_ascii_whitespace).then(|| text.trim_ascii_start())?;
        let end = text
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
            .unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let (parameters, replacement) = match rest.strip_prefix(b"(") {
            Some(inside) => {
                let close = inside.iter().position(|byte| *byte == b')')?;
                (Some(&inside[..close]), &inside[close + 1..])
            }
            None => (None, rest),
        };
        (!name.is_empty()).then(|| Self { name, parameters, replacement: replacement.trim_ascii() })
    }
}
