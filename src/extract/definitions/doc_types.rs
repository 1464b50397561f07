//! Documentation of definitions: its summary, notices of deprecation, and types in comments for
//! parameters, results and variables, in languages without type declarations.

pub(crate) mod aliases;
mod documented;

use self::documented::{bare_union, stated_type};
use crate::facts::text;
use crate::imports::in_comments::braced;
use crate::walk::input::Input;
use crate::walk::{Context, Definition, Pending, Walk, children, rule_choice, texts};
use cograph_faults::{Fault, planted};
use cograph_grammar::{Pattern, Rule};
use cograph_model::facts::{Expr, ExprId, LocalSymbol};
use std::borrow::Cow;
use tree_sitter::Node;

/// Keeps the comment before a definition for its parameters and result, if it may contain their
/// types.
pub(super) fn keep_comment<'t>(input: &Input<'t>, context: &mut Context<'t>) {
    let rules = &input.language.manifest.documentation;
    context.documented = if rules.param_tags.is_empty() { None } else { context.pending.comment };
}

/// Binds the type parameters that a comment names.
pub(super) fn type_params<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    comment: Option<(usize, usize)>,
    symbol: LocalSymbol,
) {
    let tags = &walk.input.language.manifest.documentation.template_tags;
    let Some((start, end)) = comment.filter(|_| !tags.is_empty()) else { return };
    let text = walk.input.source.get(start..end).unwrap_or_default();
    if let Ok(text) = std::str::from_utf8(text) {
        documented::type_params(walk, node, text, symbol);
    }
}

/// Returns the documented type of a parameter.
pub(super) fn documented_parameter<'t>(
    walk: &mut Walk<'t>,
    comment: Option<(usize, usize)>,
    param: Node<'t>,
) -> ExprId {
    let name = match walk.input.language.pattern(param.kind_id()) {
        Some(Pattern::Default { of, .. }) => of.first(param),
        _ => Some(param),
    };
    match name
        .filter(|name| matches!(rule_choice::rule_at(&walk.input, *name), Some(Rule::Name { .. })))
    {
        Some(name) => {
            let name = texts::text_of(&walk.input, name);
            stated(
                walk,
                param,
                comment,
                &walk.input.language.manifest.documentation.param_tags,
                Some(name),
            )
        }
        None => ExprId::NONE,
    }
}

/// Makes the documented type of the receiver that of a function without another one.
pub(crate) fn receiver<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let rules = &walk.input.language.manifest.documentation;
    let (scope, comment) = (walk.context.scope, walk.context.documented);
    if rules.bare_types || walk.context.callable.self_scope.is_some() {
        return;
    }
    let stated = stated(walk, node, comment, &rules.param_tags, Some(""));
    if let (true, Some(position)) = (stated.is_some(), scope.get()) {
        walk.facts.facts.scopes[position].owner = stated;
        walk.context.callable.self_scope = scope;
    }
}

/// Returns the documented type of a parameter with a declaration, of which `name` is the name.
pub(super) fn documented_name<'t>(
    walk: &mut Walk<'t>,
    comment: Option<(usize, usize)>,
    name: Node<'t>,
) -> ExprId {
    if !walk.input.language.manifest.documentation.bare_types {
        return ExprId::NONE;
    }
    let tags = &walk.input.language.manifest.documentation.param_tags;
    stated(walk, name, comment, tags, Some(texts::text_of(&walk.input, name)))
}

/// Returns the declared type, or the documented one where the declared one is absent or vague.
pub(crate) fn or_documented<'t>(
    walk: &mut Walk<'t>,
    declared: ExprId,
    documented: impl FnOnce(&mut Walk<'t>) -> ExprId,
) -> ExprId {
    let rules = &walk.input.language.manifest.documentation;
    let is_vague = match walk.facts.get(declared) {
        _ if !declared.is_some() => true,
        Expr::Literal(name) if rules.bare_types => {
            let name = walk.facts.text(name);
            rules.vague_types.iter().chain(&rules.array_types).any(|word| word == name)
        }
        _ => false,
    };
    let found = if is_vague { documented(walk) } else { ExprId::NONE };
    if found.is_some() { found } else { declared }
}

/// Returns the documented type of a result.
pub(super) fn documented_result<'t>(
    walk: &mut Walk<'t>,
    comment: Option<(usize, usize)>,
    node: Node<'t>,
) -> ExprId {
    stated(walk, node, comment, &walk.input.language.manifest.documentation.result_tags, None)
}

/// Returns the documented type of a variable, from the comment before its declaration or
/// assignment.
pub(crate) fn documented_variable<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    stated(
        walk,
        node,
        walk.context.pending.comment,
        &walk.input.language.manifest.documentation.type_tags,
        None,
    )
}

/// Maximum length of a comment before a value in parentheses, in bytes.
const MAX_CAST_BYTES: usize = 512;

/// Returns the type that a comment directly before a value in parentheses states (`/** @type {T} */
/// (value)`).
pub(crate) fn documented_cast<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    let rules = &walk.input.language.manifest.documentation;
    let (source, start) = (walk.input.source, node.start_byte());
    if rules.type_tags.is_empty() || rules.bare_types || source.get(start) != Some(&b'(') {
        return ExprId::NONE;
    }
    let before = source[..start].trim_ascii_end();
    if !before.ends_with(b"*/") || source.get(node.end_byte() - 1) != Some(&b')') {
        return ExprId::NONE;
    }
    let first = before.len().saturating_sub(MAX_CAST_BYTES);
    let open = memchr::memmem::rfind(&before[first..], b"/**").map(|open| first + open);
    let comment = open.map(|open| (open, before.len()));
    stated(walk, node, comment, &rules.type_tags, None)
}

/// Returns the type after one of `tags`, and before `name` if given.
fn stated<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    comment: Option<(usize, usize)>,
    tags: &'static [String],
    name: Option<&str>,
) -> ExprId {
    let Some((start, end)) = comment.filter(|_| !tags.is_empty()) else { return ExprId::NONE };
    let source = walk.input.source;
    let text = std::str::from_utf8(source.get(start..end).unwrap_or_default()).unwrap_or_default();
    let bare = walk.input.language.manifest.documentation.bare_types;
    for tag in tags {
        for (at, _) in text.match_indices(tag.as_str()) {
            let after = &text[at + tag.len()..];
            let Some((ty, rest)) = (if bare { bare_type(after) } else { braced(after) }) else {
                continue;
            };
            let named = rest.trim_start().trim_start_matches(['[', '&', '.']);
            let named = named
                .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
                .next()
                .unwrap_or_default();
            let is_meant = match name {
                Some(name) => name == named,
                None => !has_sigil(walk, named) || is_first(walk, node, named),
            };
            if is_meant {
                return if bare { bare_union(walk, node, ty) } else { stated_type(walk, node, ty) };
            }
        }
    }
    ExprId::NONE
}

/// True if a word begins with a character that is trimmed from names.
fn has_sigil(walk: &Walk<'_>, word: &str) -> bool {
    let sigils = walk.input.language.manifest.names.trim.values();
    word.chars().next().is_some_and(|first| sigils.into_iter().any(|sigil| sigil.contains(first)))
}

/// True if a node begins with a word.
fn is_first(walk: &Walk<'_>, node: Node<'_>, word: &str) -> bool {
    let source = walk.input.source.get(node.start_byte()..node.end_byte()).unwrap_or_default();
    let rest = source.strip_prefix(word.as_bytes());
    rest.is_some_and(|rest| !rest.first().is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_'))
}

/// Splits the text after a tag into a type, up to white space outside of brackets, and the rest.
fn bare_type(after: &str) -> Option<(&str, &str)> {
    let rest = after.trim_start();
    if rest.len() == after.len() {
        return None;
    }
    let mut depth = 0usize;
    let end = rest.char_indices().find_map(|(at, c)| match c {
        '<' | '(' | '{' | '[' => {
            depth += 1;
            None
        }
        '>' | ')' | '}' | ']' => {
            depth = depth.saturating_sub(1);
            None
        }
        _ => (c.is_whitespace() && depth == 0).then_some(at),
    });
    Some(rest.split_at(end.unwrap_or(rest.len())))
}

/// Returns the summary of the documentation of a definition.
pub(super) fn documentation<'t>(
    input: &Input<'t>,
    definition: &Definition<'t>,
    whole: Node<'t>,
    pending: &Pending<'t>,
) -> Box<str> {
    let rules = &input.language.manifest.documentation;
    if let Some(kind) = &rules.body_string
        && definition.has_body
        && (definition.kind.is_callable() || definition.kind.is_type())
        && let Some(string) = first_string(input, definition.node, kind)
    {
        return text::summary(texts::text_of(input, string));
    }
    comment_before(input, definition, whole, pending)
        .map_or_else(Box::default, |comment| text::summary(&comment))
}

/// True if a line of the comment before a definition begins with a word for what should not be used
/// any more.
pub(super) fn says_deprecated<'t>(
    input: &Input<'t>,
    definition: &Definition<'t>,
    whole: Node<'t>,
    pending: &Pending<'t>,
) -> bool {
    let words = &input.language.manifest.documentation.deprecated;
    if words.is_empty() || pending.comment.is_none() {
        return false;
    }
    let comment = comment_before(input, definition, whole, pending);
    comment.is_some_and(|comment| {
        comment.lines().any(|line| {
            let line = line.trim_start_matches(|c: char| c.is_whitespace() || "/*#!-;".contains(c));
            words.iter().any(|word| line.starts_with(word.as_str()))
        })
    })
}

/// Returns the comment that documents a definition: it has a mark, and is next to it.
fn comment_before<'t>(
    input: &Input<'t>,
    definition: &Definition<'t>,
    whole: Node<'t>,
    pending: &Pending<'t>,
) -> Option<Cow<'t, str>> {
    let rules = &input.language.manifest.documentation;
    let (start, end) = pending.comment?;
    let first = definition.first_node(whole, pending).start_byte();
    let gap = input.source.get(end..first).unwrap_or_default();
    let comment = texts::text_at(input, start..end);
    let documents = rules.prefixes.is_empty()
        || rules.prefixes.iter().any(|prefix| comment.starts_with(prefix.as_str()));
    let is_apart = gap.iter().filter(|&&byte| byte == b'\n').count() > 1;
    (documents && (!is_apart || planted(Fault::DistantComments))).then_some(comment)
}

/// Returns the string that is the first statement of a definition's body, and nothing else in it.
fn first_string<'t>(input: &Input<'t>, node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let body = children::last_named_child(node)?;
    let statement = children::first_named_child(input, body)?;
    let string = match statement.kind() == kind {
        true => statement,
        false => children::first_named_child(input, statement)?,
    };
    (string.kind() == kind && string.byte_range() == statement.byte_range()).then_some(string)
}
