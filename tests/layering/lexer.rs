//! Source text to tokens, and tokens to the paths they name. Knows just enough of the syntax to
//! skip comments and literals, to follow nested `use` trees and to know in which inline module a
//! path stands; knows no rule.

/// A piece of source text that a rule may look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// Its text; for literals and comments without the delimiters.
    pub(super) text: String,
    /// 1-based line on which it starts.
    pub(super) line: usize,
    /// Whether it is a literal in which a backslash is one.
    pub(super) is_raw: bool,
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Identifier,
    Literal,
    Comment,
    /// `::` or a single character.
    Mark,
}

/// A path such as `crate::store::read`, as it is written in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Path {
    /// Its segments; a wildcard is `*`.
    pub(super) segments: Vec<String>,
    /// How many inline modules of the file are around it.
    pub(super) inline_modules: usize,
    /// Whether it stands in a `use`.
    pub(super) is_import: bool,
    /// Whether one of those is called `tests`.
    pub(super) in_tests: bool,
    /// 1-based line.
    pub(super) line: usize,
}

/// Every token of the file, comments and literals included.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut line, mut found) = (0, 1, Vec::new());
    while at < chars.len() {
        let (start, first_line) = (at, line);
        let here = |offset: usize| chars.get(start + offset).copied().unwrap_or('\0');
        let (kind, inner) = if here(0).is_whitespace() {
            at += 1;
            (None, at..at)
        } else if here(0) == '/' && here(1) == '/' {
            at = (start..chars.len()).find(|&i| chars[i] == '\n').unwrap_or(chars.len());
            (Some(Kind::Comment), start + 2..at)
        } else if here(0) == '/' && here(1) == '*' {
            at = block_comment_end(&chars, start);
            (Some(Kind::Comment), start + 2..at.saturating_sub(2).max(start + 2))
        } else if let Some((open, hashes)) = raw_string(&chars, start) {
            let close: Vec<char> =
                std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            let end = (open..chars.len())
                .find(|&i| chars[i..].starts_with(&close))
                .unwrap_or(chars.len());
            at = (end + close.len()).min(chars.len());
            (Some(Kind::Literal), open..end)
        } else if here(0) == '"' || (matches!(here(0), 'b' | 'c') && here(1) == '"') {
            let open = start + if here(0) == '"' { 1 } else { 2 };
            let end = quote_end(&chars, open, '"');
            at = (end + 1).min(chars.len());
            (Some(Kind::Literal), open..end)
        } else if here(0) == '\'' && (here(1) == '\\' || here(2) == '\'') {
            let end = quote_end(&chars, start + 1, '\'');
            at = (end + 1).min(chars.len());
            (Some(Kind::Literal), start + 1..end)
        } else if here(0).is_alphanumeric() || here(0) == '_' {
            at = (start..chars.len())
                .find(|&i| !chars[i].is_alphanumeric() && chars[i] != '_')
                .unwrap_or(chars.len());
            (Some(Kind::Identifier), start..at)
        } else {
            at += if here(0) == ':' && here(1) == ':' { 2 } else { 1 };
            (Some(Kind::Mark), start..at)
        };
        line += chars[start..at].iter().filter(|&&c| c == '\n').count();
        if let Some(kind) = kind {
            let is_raw = kind == Kind::Literal && raw_string(&chars, start).is_some();
            let text = chars[inner].iter().collect();
            found.push(Token { kind, text, line: first_line, is_raw });
        }
    }
    found
}

/// Where a raw string's text starts and how many `#` close it, if one starts here.
fn raw_string(chars: &[char], start: usize) -> Option<(usize, usize)> {
    let mut at = start;
    if matches!(chars[at], 'b' | 'c') {
        at += 1;
    }
    if chars.get(at) != Some(&'r') {
        return None;
    }
    let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
    (chars.get(at + 1 + hashes) == Some(&'"')).then_some((at + 2 + hashes, hashes))
}

fn quote_end(chars: &[char], open: usize, quote: char) -> usize {
    let mut at = open;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at.min(chars.len())
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < chars.len() {
        let pair = (chars[at], chars.get(at + 1).copied().unwrap_or('\0'));
        match pair {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at.min(chars.len())
}

/// Every path of the file: those of `use` trees spelled out, and those in code that have at least
/// two segments.
pub(super) fn paths(tokens: &[Token]) -> Vec<Path> {
    let code: Vec<&Token> = tokens
        .iter()
        .filter(|token| !matches!(token.kind, Kind::Comment | Kind::Literal))
        .collect();
    let is = |at: usize, text: &str| code.get(at).is_some_and(|token| token.text == text);
    let (mut found, mut at, mut depth) = (Vec::new(), 0, 0);
    // Brace depths at which an inline module was opened, and whether it is called `tests`.
    let mut modules: Vec<(usize, bool)> = Vec::new();
    while at < code.len() {
        if is(at, "{") {
            depth += 1;
        } else if is(at, "}") {
            depth -= 1;
            modules.retain(|&(opened, _)| opened <= depth);
        } else if is(at, "mod") && is(at + 2, "{") {
            depth += 1;
            modules.push((depth, is(at + 1, "tests")));
            at += 3;
            continue;
        } else if is(at, "use") && code[at].kind == Kind::Identifier && !is(at + 1, "<") {
            let mut tree = Vec::new();
            let end = use_tree(&code, at + 1, &[], &mut tree);
            found.extend(tree.into_iter().map(|(segments, line)| Path {
                is_import: true,
                ..path(segments, line, &modules)
            }));
            at = end;
            continue;
        } else if code[at].kind == Kind::Identifier
            && is(at + 1, "::")
            && !(at > 0 && is(at - 1, "::"))
        {
            let mut segments = vec![code[at].text.clone()];
            let line = code[at].line;
            while is(at + 1, "::")
                && code.get(at + 2).is_some_and(|token| token.kind == Kind::Identifier)
            {
                at += 2;
                segments.push(code[at].text.clone());
            }
            found.push(path(segments, line, &modules));
        }
        at += 1;
    }
    found
}

fn path(segments: Vec<String>, line: usize, modules: &[(usize, bool)]) -> Path {
    Path {
        segments,
        inline_modules: modules.len(),
        is_import: false,
        in_tests: modules.iter().any(|&(_, tests)| tests),
        line,
    }
}

/// Reads one `use` tree that starts at `at` below `prefix`; returns the position behind it.
fn use_tree(
    code: &[&Token],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, usize)>,
) -> usize {
    let mut segments = prefix.to_vec();
    let is = |at: usize, text: &str| code.get(at).is_some_and(|token| token.text == text);
    let Some(line) = code.get(at).map(|token| token.line) else { return at };
    loop {
        if is(at, "::") {
            at += 1;
        } else if is(at, "{") {
            at += 1;
            while at < code.len() && !is(at, "}") {
                at = use_tree(code, at, &segments, found);
                if is(at, ",") {
                    at += 1;
                }
            }
            return at + 1;
        } else if is(at, "as") {
            at += 2;
        } else if is(at, "*") || code.get(at).is_some_and(|token| token.kind == Kind::Identifier) {
            segments.push(code[at].text.clone());
            at += 1;
        } else {
            found.push((segments, line));
            return at;
        }
    }
}
