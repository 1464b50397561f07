//! The prose of a file: its comments, and the strings that are messages to a user. Knows the
//! notation of comments in each kind of file; knows no rule.

use std::path::Path;

use super::lexer::{self, Kind, Token};

/// The folder whose strings are data: sources of fixtures, and expectations.
const DATA: &str = "tests/";

/// The comments and messages of a file, in order. What is neither Rust nor Python has comments
/// behind `#` alone: TOML, YAML and shell.
pub(super) fn prose(path: &str, text: &str) -> Vec<Token> {
    let is_rust = Path::new(path).extension().is_some_and(|extension| extension == "rs");
    let mut found = if is_rust {
        lexer::tokens(text)
    } else if is_python(path, text) {
        python(text)
    } else {
        hash_comments(text)
    };
    let has_messages = !path.starts_with(DATA);
    found.retain(|token| match token.kind {
        Kind::Comment => true,
        Kind::Literal => has_messages,
        Kind::Identifier | Kind::Mark => false,
    });
    found
}

/// By the name, or by the first line of a script without an extension.
fn is_python(path: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    path.ends_with(".py") || (first.starts_with("#!") && first.contains("python"))
}

/// The comments and strings of a Python program, docstrings among them. An f-string is one string
/// with the expressions in it.
fn python(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    while at < chars.len() {
        let start = at;
        let (kind, inner) = match chars[start] {
            '#' => {
                at = (start..chars.len()).find(|&i| chars[i] == '\n').unwrap_or(chars.len());
                (Some(Kind::Comment), start + 1..at)
            }
            quote @ ('"' | '\'') => {
                let width = if chars[start..].starts_with(&[quote; 3]) { 3 } else { 1 };
                let end = string_end(&chars, start + width, &[quote; 3][..width]);
                at = (end + width).min(chars.len());
                (Some(Kind::Literal), start + width..end)
            }
            _ => {
                at += 1;
                (None, start..start)
            }
        };
        if let Some(kind) = kind {
            let is_raw = kind == Kind::Literal && has_raw_prefix(&chars[..start]);
            found.push(Token { kind, text: chars[inner].iter().collect(), line, is_raw });
        }
        line += chars[start..at].iter().filter(|&&c| c == '\n').count();
    }
    found
}

/// Where the text of a string ends; in raw strings, too, a quote behind a backslash does not.
fn string_end(chars: &[char], open: usize, close: &[char]) -> usize {
    let mut at = open;
    while at < chars.len() && !chars[at..].starts_with(close) {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at.min(chars.len())
}

/// Whether the letters before a quote make a string a raw one: `r`, `rb`, `fR`.
fn has_raw_prefix(before: &[char]) -> bool {
    let prefix = before.iter().rev().take_while(|c| c.is_alphanumeric() || **c == '_');
    let letters: Vec<char> = prefix.map(char::to_ascii_lowercase).collect();
    letters.len() <= 2 && letters.contains(&'r')
}

/// The comments from a `#` at the start of a line, or behind white space, to the end of the line.
fn hash_comments(text: &str) -> Vec<Token> {
    let comment = |(line, text): (usize, &str)| {
        let starts = |at: &usize| text[..*at].chars().next_back().is_none_or(char::is_whitespace);
        let at = text.match_indices('#').map(|(at, _)| at).find(starts)?;
        Some(Token { kind: Kind::Comment, text: text[at + 1..].to_owned(), line, is_raw: false })
    };
    (1..).zip(text.lines()).filter_map(comment).collect()
}

#[test]
fn comments_and_strings_of_each_notation_are_read() {
    let read = |path: &str, text: &str| {
        let found = prose(path, text).into_iter();
        found.map(|token| (token.line, token.text.trim().to_owned())).collect::<Vec<_>>()
    };
    let expected = |tokens: &[(usize, &str)]| {
        tokens.iter().map(|(line, text)| (*line, (*text).to_owned())).collect::<Vec<_>>()
    };
    for (path, text, tokens) in [
        ("src/x.rs", "f(\"a\"); // b", &[(1, "a"), (1, "b")][..]),
        ("tests/x.rs", "f(\"a\"); // b", &[(1, "b")]),
        ("benches/x.rs", "f(\"a\"); // b", &[(1, "a"), (1, "b")]),
        ("scripts/x.py", "\"\"\"a\n\nb\"\"\"\nc = 1  # d", &[(1, "a\n\nb"), (4, "d")]),
        ("scripts/x.py", "a = '# b'  # it's c\n", &[(1, "# b"), (1, "it's c")]),
        ("scripts/x.py", "f('a\\'b', r\"c\\\"d\", '')", &[(1, "a\\'b"), (1, "c\\\"d"), (1, "")]),
        ("scripts/x.py", "f'''a\"\"\"'b'''", &[(1, "a\"\"\"'b")]),
        ("scripts/x.py", "f('a", &[(1, "a")]),
        ("scripts/x", "#!/usr/bin/env python3\nf('a')", &[(1, "!/usr/bin/env python3"), (2, "a")]),
        ("scripts/x", "#!/bin/sh\nf 'a' $# ${b#c} # d", &[(1, "!/bin/sh"), (2, "d")]),
        ("grammars/x/grammar.toml", "# a\nb = \"<#>\" # c", &[(1, "a"), (2, "c")]),
        (".github/workflows/x.yml", "  # a\n  b: 'c'\n", &[(1, "a")]),
    ] {
        assert_eq!(read(path, text), expected(tokens), "{path}: {text}");
    }
    let raw = |text: &str| python(text).iter().map(|token| token.is_raw).collect::<Vec<_>>();
    assert_eq!(raw("(r'a', Rb'b', f'c', 'd', bar'e')"), [true, true, false, false, false]);
}
