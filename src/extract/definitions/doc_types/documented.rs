//! Types in comments, as text.

use crate::imports::in_comments::{self, braced, closing};
use crate::types;
use crate::walk::{QUOTES, Usage, Walk, names};
use cograph_model::facts::{BindingKind, Expr, ExprId, LocalSymbol, Run};
use tree_sitter::Node;

/// Parses a type without braces: a union of types, of which the vague ones are left out.
pub(super) fn bare_union<'t>(walk: &mut Walk<'t>, node: Node<'t>, text: &str) -> ExprId {
    let vague = &walk.input.language.manifest.documentation.vague_types;
    let parts: Vec<ExprId> = types::split(text.trim_start_matches('?'), '|')
        .into_iter()
        .map(str::trim)
        .filter(|part| !vague.iter().any(|word| word == part))
        .map(|part| walk.deeper(node, |walk| bare_part(walk, node, part)))
        .collect();
    walk.facts.union(&parts)
}

fn bare_part<'t>(walk: &mut Walk<'t>, node: Node<'t>, text: &str) -> ExprId {
    if let Some(inner) = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        return bare_union(walk, node, inner);
    }
    if let Some(item) = text.strip_suffix("[]") {
        let item = walk.deeper(node, |walk| bare_part(walk, node, item));
        return walk.facts.of(item, Expr::Array);
    }
    if names::is_self_type(&walk.input, text) {
        return walk.facts.expr(Expr::SelfType(walk.context.scope));
    }
    let (base, args) = text.split_once('<').unwrap_or((text, ""));
    let arrays = &walk.input.language.manifest.documentation.array_types;
    if !args.is_empty() && arrays.iter().any(|word| word == base) {
        let args = types::split(args.strip_suffix('>').unwrap_or(args), ',');
        let item = args.last().copied().unwrap_or_default();
        let item = walk.deeper(node, |walk| bare_union(walk, node, item.trim()));
        return walk.facts.of(item, Expr::Array);
    }
    let plain = text.replace('<', "[").replace('>', "]");
    types::written_type(walk, node, &plain, Usage::Silent)
}

/// Parses a type in a comment: strips marks for optional values and normalizes generic types.
pub(super) fn stated_type<'t>(walk: &mut Walk<'t>, node: Node<'t>, text: &str) -> ExprId {
    let text =
        text.trim().trim_start_matches(['?', '!', '.']).trim_end_matches(['=', '?', '!']).trim();
    let text = in_brackets(text).unwrap_or(text);
    if let Some((params, result)) = function_type(text) {
        return walk.deeper(node, |walk| function(walk, node, params, result));
    }
    if let Some(item) = text.strip_suffix("[]") {
        let item = walk.deeper(node, |walk| stated_type(walk, node, item));
        return walk.facts.of(item, Expr::Array);
    }
    if let Some((of, member)) = member_type(text) {
        let name = walk.facts.name(member);
        let of = walk.deeper(node, |walk| stated_type(walk, node, of));
        return walk.facts.of(of, |of| Expr::Member(of, name));
    }
    let text = in_comments::with_names(walk, node, text);
    let plain = text.replace(".<", "<").replace('<', "[").replace('>', "]");
    let vague = &walk.input.language.manifest.documentation.vague_types;
    let (mut parts, mut values) = (Vec::new(), Vec::new());
    // What is of two types at once has the members of both, as what is of one of them may have.
    let alternatives = types::split(&plain, '|').into_iter();
    for part in alternatives.flat_map(|part| types::split(part, '&')).map(str::trim) {
        match part.strip_prefix(TYPE_OF) {
            Some(value) => values.push(value.trim()),
            None if vague.iter().any(|word| word == part) => {}
            None => parts.push(part),
        }
    }
    let stated = types::written_type(walk, node, &parts.join("|"), Usage::Silent);
    let mut all = vec![stated];
    for value in values {
        let value = types::written_type(walk, node, value, Usage::Silent);
        all.push(walk.facts.of(value, Expr::TypeOf));
    }
    if all.len() == 1 { stated } else { walk.facts.union(&all) }
}

/// Splits the type of a member (`Name["member"]`) into the type before it and the name.
fn member_type(text: &str) -> Option<(&str, &str)> {
    let (of, key) = text.strip_suffix(']')?.rsplit_once('[')?;
    let quote = key.chars().next().filter(|quote| QUOTES.contains(quote))?;
    let name = key.strip_prefix(quote)?.strip_suffix(quote)?;
    let is_single = !of.contains(['|', '&', '{']) && !of.trim().is_empty();
    is_single.then_some((of.trim(), name))
}

/// Word before the name of a value whose type is meant.
const TYPE_OF: &str = "typeof ";

/// Returns what is in the brackets around a type.
fn in_brackets(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?;
    let close = closing(inner, '(', ')')?;
    (close + 1 == inner.len()).then(|| &inner[..close])
}

/// Splits the type of a function (`(a: A, B) => C`, `function(A, B): C`) into its parameters and
/// its result.
fn function_type(text: &str) -> Option<(&str, &str)> {
    let after_word = text.strip_prefix("function");
    let inner = after_word.unwrap_or(text).trim_start().strip_prefix('(')?;
    let close = closing(inner, '(', ')')?;
    let rest = inner[close + 1..].trim_start();
    let result = match after_word {
        Some(_) => rest.strip_prefix(':').unwrap_or_default(),
        None => rest.strip_prefix("=>")?,
    };
    Some((&inner[..close], result))
}

fn function<'t>(walk: &mut Walk<'t>, node: Node<'t>, params: &str, result: &str) -> ExprId {
    let mut parts = Vec::new();
    for param in types::split(params, ',') {
        // A name may stand before the type.
        let ty = types::split(param, ':').get(1).copied().unwrap_or(param);
        let ty = stated_type(walk, node, ty);
        parts.push(names::known(&mut walk.facts, ty));
    }
    let result = stated_type(walk, node, result);
    parts.push(names::known(&mut walk.facts, result));
    let list = walk.facts.list(&parts);
    walk.facts.expr(Expr::Function(list))
}

/// Binds the type parameters that tags of a comment name (`@template T`, `@template {Base} T, U`)
/// in the current scope.
pub(super) fn type_params<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    comment: &str,
    symbol: LocalSymbol,
) {
    let start = walk.facts.facts.bindings.len();
    for tag in &walk.input.language.manifest.documentation.template_tags {
        for (at, _) in comment.match_indices(tag.as_str()) {
            let after = comment[at + tag.len()..].lines().next().unwrap_or_default();
            if !after.starts_with([' ', '\t', '{']) {
                continue;
            }
            let (bound, names) = match braced(after) {
                Some((bound, names)) => (stated_type(walk, node, bound), names),
                None => (ExprId::NONE, after),
            };
            for name in names.split(',') {
                let name = name.trim_start().trim_start_matches('[');
                let word = name.split(|c: char| !c.is_alphanumeric() && c != '_').next();
                let Some(word) = word.filter(|word| !word.is_empty()) else { break };
                let name_id = walk.facts.name(word);
                let (scope, kind) = (walk.context.scope, BindingKind::TypeParam);
                walk.bind(scope, name_id, kind, 0, bound, ExprId::NONE);
                // What follows a name is a remark.
                if name.len() > word.len() && !name[word.len()..].starts_with([',', '=', ']']) {
                    break;
                }
            }
        }
    }
    let run = Run::of(start..walk.facts.facts.bindings.len());
    if !run.is_empty() && symbol.is_some() {
        walk.facts.clauses_mut(symbol).type_params = run;
    }
}
