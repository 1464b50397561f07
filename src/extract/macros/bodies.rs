//! Macros with textual replacement: their symbols, and references in the replacement text.

use crate::facts::builder::Builder;
use crate::macros;
use crate::preprocess::Cleared;
use crate::walk::input::Input;
use crate::walk::position::{line, offset, position};
use crate::walk::{Definition, Surroundings, Walk, children, names, texts};
use cograph_grammar::{Rule, WordClass};
use cograph_model::facts::{
    Expr, ExprId, ImportId, LocalSymbol, NameId, Run, ScopeId, ScopeKind, Site, Wrapper, flags,
};
use cograph_model::{Position, Problem, ProblemKind, SiteKind, SymbolKind};
use std::ops::Range;
use tree_sitter::Node;

/// Token of replacement text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Word,
    /// `.` and `->`.
    Member,
    /// `::`.
    Scope,
    Open,
    Close,
    Other,
}

pub(crate) fn macro_definition<'t>(
    walk: &mut Walk<'t>,
    rule: &'static Rule,
    node: Node<'t>,
) -> ExprId {
    let Rule::Macro { name, params, value, body } = rule else { return ExprId::NONE };
    let Some(name_node) = name.first(node) else { return ExprId::NONE };
    let name = names::name_of(walk, name_node);
    let params_node = params.as_ref().and_then(|selector| selector.first(node));
    if let Some(suffix) = walk.input.language.manifest.names.macro_suffix.as_deref() {
        let (kind, header_end) = (SymbolKind::Macro, name_node.end_byte());
        let definition = Definition { name, name_node, node, kind, header_end, has_body: true };
        let symbol = walk.define(&definition);
        // Invocations refer to the name with the suffix only.
        let marked = format!("{}{suffix}", walk.facts.text(name));
        let marked = walk.facts.name(&marked);
        walk.facts.rename_last(marked);
        let outer = std::mem::replace(&mut walk.context.enclosing, symbol);
        if let Some(body) = body {
            for part in children::every(&walk.input, Some(&body.of), node) {
                if let Some(list) = children::named_children(&walk.input, part).last() {
                    macros::body(walk, *list, body, suffix);
                }
            }
        }
        walk.context.enclosing = outer;
        return ExprId::NONE;
    }
    let has_tokens = |value: &Node<'t>| !tokens(texts::text_of(&walk.input, *value)).is_empty();
    let value_node = value.as_ref().and_then(|selector| selector.first(node)).filter(has_tokens);
    let kind = if params.is_none() && value_node.is_some() {
        SymbolKind::Constant
    } else {
        SymbolKind::Macro
    };
    let header_end = match (params_node, value_node) {
        (Some(params), _) => params.end_byte(),
        (None, Some(value)) => value.end_byte(),
        _ => name_node.end_byte(),
    };
    // A macro is visible to the end of the file, regardless of the enclosing block.
    let before = (walk.context.scope, walk.context.around, walk.context.enclosing);
    let around =
        Surroundings { conditional: walk.context.around.conditional, ..Surroundings::NONE };
    (walk.context.scope, walk.context.around) = (ScopeId(0), around);
    let symbol =
        walk.define(&Definition { name, name_node, node, kind, header_end, has_body: true });
    walk.context.enclosing = symbol;
    let arity = params_node.map_or((0, 0), |params| macro_arity(&walk.input, params));
    let entry = walk.facts.symbol_mut(symbol);
    (entry.arity, entry.flags) = (arity, entry.flags | flags::TEXTUAL);
    if let Some(value) = value_node.filter(|_| params_node.is_none()) {
        let named = named_path(walk, texts::text_of(&walk.input, value));
        walk.facts.add_value(symbol, named);
    }
    if let Some(value) = value_node {
        opened_namespaces(walk, node, (name_node, texts::text_of(&walk.input, value)));
        let params = params_node.map(|params| words_in(&walk.input, params)).unwrap_or_default();
        let result = replacement(walk, value, &params);
        if matches!(walk.facts.get(result), Expr::Call(..)) {
            walk.facts.add_value(symbol, result);
        }
    }
    (walk.context.scope, walk.context.around, walk.context.enclosing) = before;
    ExprId::NONE
}

/// Defines the namespaces that the replacement text of a macro opens and does not close.
fn opened_namespaces<'t>(walk: &mut Walk<'t>, node: Node<'t>, (at, text): (Node<'t>, &str)) {
    let manifest = &walk.input.language.manifest;
    let words = manifest.preprocessor.words_of(WordClass::Block);
    if !words.iter().any(|word| text.contains(word.as_str())) {
        return;
    }
    let inline = &manifest.names.transparent_module_words;
    let tokens = tokens(text);
    let text_at = |at: usize| tokens.get(at).map_or("", |(_, range)| &text[range.clone()]);
    // Of each open brace the namespace, with whether it is inline, or none.
    let mut open: Vec<Option<(&str, bool)>> = Vec::new();
    for at in 0..tokens.len() {
        match text_at(at) {
            "{" => {
                let head = at.checked_sub(2).map(text_at);
                let is_head = head.is_some_and(|head| words.iter().any(|word| word == head));
                let is_inline = at >= 3 && inline.iter().any(|word| word == text_at(at - 3));
                open.push(is_head.then(|| (text_at(at - 1), is_inline)));
            }
            "}" => drop(open.pop()),
            _ => {}
        }
    }
    let outer = (walk.context.scope, walk.context.around, walk.context.enclosing);
    walk.context.enclosing = LocalSymbol::NONE;
    for (name, is_inline) in open.into_iter().flatten() {
        if is_inline {
            continue;
        }
        let id = walk.facts.name(name);
        let kind = SymbolKind::Namespace;
        let header_end = at.end_byte();
        let definition =
            Definition { name: id, name_node: at, node, kind, header_end, has_body: true };
        let symbol = walk.define(&definition);
        walk.open(ScopeKind::Module, symbol, node);
        let inner = walk.context.scope;
        let entry = walk.facts.symbol_mut(symbol);
        entry.inner = inner;
        entry.flags |= flags::BY_MACRO;
        walk.facts.details_mut(symbol).signature = format!("namespace {name}").into();
        walk.context.enclosing = symbol;
    }
    (walk.context.scope, walk.context.around, walk.context.enclosing) = outer;
}

/// Returns what a name or a path of names means: the macro is another name of it. `NONE` for any
/// other text.
fn named_path(walk: &mut Walk<'_>, text: &str) -> ExprId {
    let tokens = tokens(text);
    let is_word = |at: usize| matches!(tokens.get(at), Some((Token::Word, _)));
    let is_path = is_word(0)
        && tokens.len() % 2 == 1
        && tokens.chunks(2).all(|pair| {
            pair[0].0 == Token::Word && pair.get(1).is_none_or(|(mark, _)| *mark == Token::Scope)
        });
    if !is_path {
        return ExprId::NONE;
    }
    let mut names = tokens.into_iter().step_by(2).map(|(_, range)| &text[range]);
    let first = names.next().map_or(NameId::NONE, |name| walk.facts.name(name));
    let mut path = walk.facts.expr(Expr::Name(first, ScopeId(0)));
    for name in names {
        let name = walk.facts.name(name);
        path = walk.facts.expr(Expr::Member(path, name));
    }
    path
}

fn macro_arity<'t>(input: &Input<'t>, params: Node<'t>) -> (u16, u16) {
    let count = u16::try_from(children::named_children(input, params).len()).unwrap_or(u16::MAX);
    // The mark of a named variadic parameter is no token.
    let names_rest = input.language.manifest.names.rest_words.iter().any(|word| {
        texts::text_of(input, params)
            .trim_end_matches(')')
            .trim_end()
            .strip_suffix(word.as_str())
            .is_some_and(|rest| rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    });
    match has_rest_word(input, params) {
        true => (count, u16::MAX),
        false if names_rest => (count.saturating_sub(1), u16::MAX),
        false => (count, count),
    }
}

/// True if a parameter list has a token of a variadic parameter.
pub(crate) fn has_rest_word<'t>(input: &Input<'t>, params: Node<'t>) -> bool {
    let words = &input.language.manifest.names.rest_words;
    !words.is_empty()
        && children::children(input, params)
            .into_iter()
            .any(|child| words.iter().any(|word| word == texts::text_of(input, child)))
}

fn words_in<'t>(input: &Input<'t>, params: Node<'t>) -> Vec<&'t str> {
    children::named_children(input, params)
        .into_iter()
        .map(|param| texts::text_of(input, param))
        .collect()
}

/// Records the text masked before parsing: macro uses become references, dropped code becomes
/// problems.
pub(crate) fn cleared(input: &Input<'_>, facts: &mut Builder, cleared: &Cleared<'_>) {
    let lines = |byte: usize| memchr::memchr_iter(b'\n', &input.source[..byte]).count();
    let dropped: Vec<(u32, u32)> = cleared
        .dropped
        .iter()
        .map(|range| (line(lines(range.start)), line(lines(range.end))))
        .collect();
    for (first, last) in dropped {
        facts.facts.problems.push(Problem {
            kind: ProblemKind::Syntax,
            first_line: first,
            last_line: last,
        });
    }
    facts.facts.problems.sort_by_key(|problem| problem.first_line);
    let (mut row, mut counted) = (0, 0);
    // The end and the expression of the name before: a name behind a separator is a member of it.
    let mut path: Option<(usize, ExprId)> = None;
    let separator = input.language.manifest.modules.separator.as_bytes();
    for crate::preprocess::Use { name: range, kind } in &cleared.uses {
        row += memchr::memchr_iter(b'\n', &input.source[counted..range.start]).count();
        counted = range.start;
        let column =
            input.source[..range.start].iter().rev().take_while(|&&byte| byte != b'\n').count();
        let Ok(text) = std::str::from_utf8(&input.source[range.clone()]) else { continue };
        let name = match &input.language.manifest.markup {
            Some(markup) => facts.name(&markup.component(text)),
            None => facts.name(text),
        };
        let byte = offset(range.start);
        let (scope, enclosing) = facts.around(byte);
        let target = match &path {
            Some((end, object)) if input.source[*end..range.start] == *separator => {
                let object = match input.language.manifest.resolution.paths_name_types {
                    true => facts.expr(Expr::Wrap(*object, Wrapper::Plain)),
                    false => *object,
                };
                facts.expr(Expr::Member(object, name))
            }
            _ if input.source[..range.start].ends_with(separator) => {
                facts.expr(Expr::Name(name, ScopeId(0)))
            }
            _ => facts.expr(Expr::Name(name, scope)),
        };
        path = Some((range.end, target));
        facts.site(Site {
            kind: *kind,
            name,
            at: Position { line: line(row), column: offset(column) },
            byte,
            scope,
            enclosing,
            target,
            import: ImportId::NONE,
            args: Run::default(),
            spread: true,
            in_macro: false,
        });
    }
}

/// Records references for the names in replacement text: calls and other uses. Returns the value
/// of the text, or of what it assigns, if this is a name, a member or a call.
fn replacement<'t>(walk: &mut Walk<'t>, value: Node<'t>, params: &[&str]) -> ExprId {
    let text = texts::text_of(&walk.input, value);
    let tokens = tokens(text);
    let text_at = |at: usize| tokens.get(at).map_or("", |(_, range)| &text[range.clone()]);
    let type_words = walk.input.language.manifest.preprocessor.words_of(WordClass::Type);
    let outer = std::mem::replace(&mut walk.context.in_macro, true);
    // The value that ends before the token, and the callees of the open parentheses.
    let (mut ended, mut callees) = (ExprId::NONE, Vec::new());
    // The text in the open parentheses, or all of it, is more than one value.
    let mut mixed = false;
    for (index, (token, range)) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| tokens[before].0);
        match token {
            Token::Word => mixed |= matches!(before, Some(Token::Word | Token::Close)),
            Token::Member | Token::Scope => continue,
            Token::Open => {
                callees.push((std::mem::replace(&mut ended, ExprId::NONE), mixed));
                mixed = before == Some(Token::Word)
                    && !callees.last().is_some_and(|(of, _)| of.is_some());
                continue;
            }
            Token::Close => {
                let (callee, around) = callees.pop().unwrap_or((ExprId::NONE, true));
                let inner = if mixed { ExprId::NONE } else { ended };
                ended = match callee.is_some() {
                    true => walk.facts.expr(Expr::Call(callee, Run::default())),
                    false => inner,
                };
                mixed = around;
                continue;
            }
            Token::Other => {
                let is_mark = |at: usize| matches!(tokens.get(at), Some((Token::Other, _)));
                let is_assigned = text_at(index) == "="
                    && callees.is_empty()
                    && !is_mark(index + 1)
                    && !index.checked_sub(1).is_some_and(is_mark);
                (ended, mixed) = (ExprId::NONE, !is_assigned);
                continue;
            }
        }
        let name = &text[range.clone()];
        if params.contains(&name) || walk.input.language.is_word(name) {
            (ended, mixed) = (ExprId::NONE, mixed || walk.input.language.is_word(name));
            continue;
        }
        let next = tokens.get(index + 1).map(|(next, _)| *next);
        // A path from the outermost scope begins with its separator.
        let is_outermost = before == Some(Token::Scope)
            && !ended.is_some()
            && index.checked_sub(2).is_none_or(|at| {
                let is_value = matches!(tokens[at].0, Token::Word | Token::Close);
                text_at(at) != ">" && (!is_value || walk.input.language.is_word(text_at(at)))
            });
        let name_id = walk.facts.name(name);
        let target = match before {
            Some(Token::Member | Token::Scope) if !is_outermost => {
                let is_path = before == Some(Token::Scope)
                    && matches!(walk.facts.get(ended), Expr::Name(..))
                    && walk.input.language.manifest.resolution.paths_name_types;
                let object = match is_path {
                    true => walk.facts.expr(Expr::Wrap(ended, Wrapper::Plain)),
                    false => names::known(&mut walk.facts, ended),
                };
                walk.facts.expr(Expr::Member(object, name_id))
            }
            _ => walk.facts.expr(Expr::Name(name_id, walk.context.scope)),
        };
        let is_open = before == Some(Token::Scope) && !is_outermost && !ended.is_some();
        ended = target;
        let usage = match index.checked_sub(1).map(text_at) {
            Some(word) if type_words.iter().any(|other| other == word) => SiteKind::Type,
            _ if next == Some(Token::Open) => SiteKind::Call,
            // What a name after a path declares has the type of that name.
            _ if before == Some(Token::Scope) && next == Some(Token::Word) => SiteKind::Type,
            _ if is_open => continue,
            _ => SiteKind::Read,
        };
        replacement_site(walk, value, text, range.clone(), usage, name_id, target);
    }
    walk.context.in_macro = outer;
    if mixed { ExprId::NONE } else { ended }
}

fn replacement_site<'t>(
    walk: &mut Walk<'t>,
    value: Node<'t>,
    text: &str,
    range: Range<usize>,
    kind: SiteKind,
    name: NameId,
    target: ExprId,
) {
    let start = position(value);
    let lines = text[..range.start].matches('\n').count();
    let column = match text[..range.start].rfind('\n') {
        Some(line_start) => range.start - line_start - 1,
        None => range.start + start.column as usize,
    };
    walk.facts.site(Site {
        kind,
        name,
        at: Position { line: start.line + offset(lines), column: offset(column) },
        byte: offset(value.start_byte() + range.start),
        scope: walk.context.scope,
        enclosing: walk.context.enclosing,
        target,
        import: ImportId::NONE,
        args: Run::default(),
        // The number of arguments is known only at the expansion.
        spread: true,
        in_macro: true,
    });
}

/// Tokenizes replacement text as far as needed to classify names; omits comments, strings, numbers
/// and white space.
fn tokens(text: &str) -> Vec<(Token, Range<usize>)> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let rest = &bytes[at..];
        let token = if rest[0].is_ascii_whitespace() || rest[0] == b'\\' {
            at += 1;
            continue;
        } else if rest.starts_with(b"/*") {
            at = text[at..].find("*/").map_or(bytes.len(), |end| at + end + 2);
            continue;
        } else if rest.starts_with(b"//") {
            at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
            continue;
        } else if rest[0] == b'"' || rest[0] == b'\'' {
            at = end_of_string(bytes, at);
            Token::Other
        } else if rest[0].is_ascii_digit() {
            at += rest.iter().take_while(|&&byte| is_word(byte) || byte == b'.').count();
            Token::Other
        } else if is_word(rest[0]) {
            at += rest.iter().take_while(|&&byte| is_word(byte)).count();
            Token::Word
        } else if rest.starts_with(b"->") || rest.starts_with(b"::") {
            at += 2;
            if rest[0] == b':' { Token::Scope } else { Token::Member }
        } else {
            at += 1;
            match rest[0] {
                b'.' => Token::Member,
                b'(' => Token::Open,
                b')' => Token::Close,
                _ => Token::Other,
            }
        };
        tokens.push((token, start..at));
    }
    tokens
}

/// Returns the end of a string or character literal that starts at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != bytes[start] {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_strings_comments_and_numbers_are_none() {
        let text = r#"f(a->b, "g(x)", 'h', 0x1Fu /* k() */) + n::m"#;
        let words: Vec<&str> = tokens(text)
            .into_iter()
            .filter(|(token, _)| *token == Token::Word)
            .map(|(_, range)| &text[range])
            .collect();
        assert_eq!(words, ["f", "a", "b", "n", "m"]);
    }
}
