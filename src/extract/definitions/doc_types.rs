//! Types in documentation comments for parameters, results and variables, in languages without type
//! declarations. Independent of the syntax tree.

use crate::extract::types;
use crate::extract::walk::Context;
use crate::extract::walk::Input;
use crate::extract::walk::rule_choice;
use crate::extract::walk::texts;
use crate::extract::walk::{Usage, Walk};
use crate::grammar::{Pattern, Rule};
use crate::model::facts::{Expr, ExprId};
use tree_sitter::Node;

/// Keeps the comment before a definition for its parameters and result, if it may contain their
/// types.
pub(super) fn keep_comment<'t>(input: &Input<'t>, context: &mut Context<'t>) {
    let rules = &input.language.manifest.documentation;
    context.documented = if rules.param_tags.is_empty() { None } else { context.pending.comment };
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
pub(in crate::extract) fn documented_variable<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    stated(
        walk,
        node,
        walk.context.pending.comment,
        &walk.input.language.manifest.documentation.type_tags,
        None,
    )
}

/// Returns the type in braces after one of `tags`, and before `name` if given.
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
    for tag in tags {
        for (at, _) in text.match_indices(tag.as_str()) {
            let Some(rest) = text[at + tag.len()..].trim_start().strip_prefix('{') else {
                continue;
            };
            let Some(close) = closing(rest) else { continue };
            let named = rest[close + 1..].trim_start().trim_start_matches('[');
            let named = named
                .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
                .next()
                .unwrap_or_default();
            if name.is_none_or(|name| name == named) {
                return stated_type(walk, node, &rest[..close]);
            }
        }
    }
    ExprId::NONE
}

/// Parses a type in a comment: strips marks for optional values and normalizes generic types.
fn stated_type<'t>(walk: &mut Walk<'t>, node: Node<'t>, text: &str) -> ExprId {
    let text =
        text.trim().trim_start_matches(['?', '!', '.']).trim_end_matches(['=', '?', '!']).trim();
    let text = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(text);
    if let Some(item) = text.strip_suffix("[]") {
        let item = walk.deeper(node, |walk| stated_type(walk, node, item));
        return walk.facts.of(item, Expr::Array);
    }
    let plain = text.replace(".<", "<").replace('<', "[").replace('>', "]");
    let vague = &walk.input.language.manifest.documentation.vague_types;
    let parts =
        plain.split('|').map(str::trim).filter(|part| !vague.iter().any(|word| word == part));
    let parts: Vec<&str> = parts.collect();
    types::written_type(walk, node, &parts.join("|"), Usage::Silent)
}

/// Returns the position of the closing brace of an opened one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, c)| match c {
        '{' => {
            depth += 1;
            None
        }
        '}' if depth == 0 => Some(at),
        '}' => {
            depth -= 1;
            None
        }
        _ => None,
    })
}
