//! Type expressions and qualified names of definitions.

mod compound;
pub(super) mod generics;

use super::walk::{READ, Usage, Walk};
use crate::facts::builder::Builder;
use crate::walk::input::Input;
use crate::walk::{children, ignored, names, rule_choice, texts};
use cograph_grammar::{PathWord, Rule, Selector, TypeRule};
use cograph_model::facts::{
    Expr, ExprId, LocalSymbol, NameId, ScopeId, ScopeKind, Synthetic, Wrapper,
};
use cograph_model::{ProblemKind, SiteKind};
use tree_sitter::Node;

/// Maximum length of a type in a string or comment, in bytes: each level of brackets is scanned
/// again.
const MAX_TYPE_BYTES: usize = 8 << 10;

/// Visits a node in type position and returns the type.
pub(super) fn visit_type<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    walk.deeper(node, |walk| visit_type_node(walk, node, usage))
}

fn visit_type_node<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    let Some(rule) = walk.input.language.type_rule(node.kind_id()) else {
        return match rule_choice::rule_at(&walk.input, node) {
            Some(Rule::Name { .. } | Rule::Path {} | Rule::Member { .. }) => {
                walk.visit(node, usage)
            }
            Some(Rule::Pass { of }) => {
                let chosen = match of {
                    Some(selector) => selector.first(node),
                    None => children::first_named_child(&walk.input, node),
                };
                chosen.map_or(ExprId::NONE, |chosen| visit_type(walk, chosen, usage))
            }
            _ => {
                walk.visit(node, READ);
                ExprId::NONE
            }
        };
    };
    walk.facts.at = super::walk::offset(node.start_byte());
    let inner = if usage == Usage::Silent { Usage::Silent } else { Usage::Site(SiteKind::Type) };
    match rule {
        TypeRule::Skip {} | TypeRule::Mark {} => ExprId::NONE,
        TypeRule::Pass { of, otherwise, wrap } => {
            let mut found = ExprId::NONE;
            match of {
                Some(selector) => {
                    found = selector
                        .first(node)
                        .map_or(ExprId::NONE, |child| visit_type(walk, child, usage));
                }
                None => {
                    for child in children::named_children(&walk.input, node) {
                        let ty = visit_type(walk, child, usage);
                        found = if found.is_some() { found } else { ty };
                    }
                }
            }
            if wrap.as_ref().is_some_and(|selector| selector.first(node).is_some()) {
                found = walk.facts.of(found, |ty| Expr::Wrap(ty, Wrapper::Plain));
            }
            match otherwise {
                Some(name) if !found.is_some() => walk.literal(name),
                _ => found,
            }
        }
        TypeRule::Each {} | TypeRule::Union {} => {
            let parts = visit_types(walk, node, usage);
            walk.facts.union(&parts)
        }
        TypeRule::Choice { of } => compound::choice(walk, node, of, usage),
        TypeRule::Name {} => {
            let text = texts::text_of(&walk.input, node);
            if names::is_self_type(&walk.input, text) {
                return walk.facts.expr(Expr::SelfType(walk.context.scope));
            }
            if walk.input.language.manifest.names.inferred_types.iter().any(|word| word == text) {
                return ExprId::NONE;
            }
            if let Some(word) = names::path_word(walk, text) {
                return word;
            }
            let name = names::name_of(walk, node);
            let value = walk.facts.expr(Expr::Name(name, walk.context.scope));
            walk.site(usage, node, name, value);
            value
        }
        TypeRule::Member { object, name } => {
            let object = object.as_ref().and_then(|selector| selector.first(node));
            let Some(name_node) = name.first(node) else {
                return compound::without_name(walk, node, inner);
            };
            let object_usage = if usage == Usage::Silent { Usage::Silent } else { READ };
            let Some(object) = object else { return outermost(walk, node, name_node, usage) };
            let object = visit_type(walk, object, object_usage);
            let object = path_head(&walk.input, &mut walk.facts, object);
            let mut object = names::known(&mut walk.facts, object);
            let mut name_node = name_node;
            // A path may nest in the name.
            while let Some(TypeRule::Member { object: Some(part), name: rest }) =
                walk.input.language.type_rule(name_node.kind_id())
            {
                let (Some(part), Some(rest)) = (part.first(name_node), rest.first(name_node))
                else {
                    break;
                };
                let (part, args) = generic_name(walk, part, inner);
                let name = names::name_of(walk, part);
                object = walk.facts.expr(Expr::Member(object, name));
                walk.site(object_usage, part, name, object);
                (object, name_node) = (applied(&mut walk.facts, object, &args), rest);
            }
            let (name_node, args) = generic_name(walk, name_node, inner);
            let name = names::name_of(walk, name_node);
            let value = walk.facts.expr(Expr::Member(object, name));
            walk.site(usage, name_node, name, value);
            applied(&mut walk.facts, value, &args)
        }
        TypeRule::Segments { names, args } => {
            let names = children::every(&walk.input, Some(names), node);
            let Some((last, before)) = names.split_last() else { return ExprId::NONE };
            let mut base = ExprId::NONE;
            for (name, usage) in before.iter().map(|name| (name, READ)).chain([(last, usage)]) {
                let usage = if inner == Usage::Silent { Usage::Silent } else { usage };
                base = if base.is_some() {
                    let base = path_head(&walk.input, &mut walk.facts, base);
                    let text = names::name_of(walk, *name);
                    let member = walk.facts.expr(Expr::Member(base, text));
                    walk.site(usage, *name, text, member);
                    member
                } else {
                    visit_type(walk, *name, usage)
                };
            }
            let args = type_arguments(walk, node, (base, args.as_ref()), inner);
            applied(&mut walk.facts, base, &args)
        }
        TypeRule::Apply { base, args, open } => {
            let base = base.first(node).map_or(ExprId::NONE, |base| visit_type(walk, base, usage));
            let args = type_arguments(walk, node, (base, args.as_ref()), inner);
            let args = compound::or_places(walk, node, args, *open);
            applied(&mut walk.facts, base, &args)
        }
        TypeRule::Array { of, name, dimensions, sizes } => {
            if let Some(sizes) = sizes.as_ref().and_then(|selector| selector.first(node)) {
                walk.visit_children(sizes);
            }
            let item = of.first(node).map_or(ExprId::NONE, |item| visit_type(walk, item, inner));
            let mut item = names::known(&mut walk.facts, item);
            let dimensions = dimensions.as_ref().and_then(|selector| selector.first(node));
            for _ in 1..dimensions.map_or(1, children::brackets) {
                item = walk.facts.expr(Expr::Array(item));
            }
            match name {
                Some(name) => {
                    let base = walk.literal(name);
                    applied(&mut walk.facts, base, &[item])
                }
                None => walk.facts.expr(Expr::Array(item)),
            }
        }
        TypeRule::Mapping { key, value, .. } => {
            let key = key.first(node).map_or(ExprId::NONE, |key| visit_type(walk, key, inner));
            let value =
                value.first(node).map_or(ExprId::NONE, |value| visit_type(walk, value, inner));
            let (key, value) =
                (names::known(&mut walk.facts, key), names::known(&mut walk.facts, value));
            walk.facts.expr(Expr::Mapping(key, value))
        }
        TypeRule::Wrap { of, name } => {
            let inside = match of {
                Some(selector) => selector.first(node),
                None => children::last_named_child(node),
            };
            let ty = inside.map_or(ExprId::NONE, |inside| visit_type(walk, inside, usage));
            let wrapper = match name {
                Some(name) => Wrapper::Named(walk.facts.name(name)),
                None => Wrapper::Plain,
            };
            walk.facts.of(ty, |ty| Expr::Wrap(ty, wrapper))
        }
        TypeRule::Function { params, returns, receiver, type_params } => {
            let scope = type_params.as_ref().map(|type_params| {
                let scope = walk.open(ScopeKind::Block, LocalSymbol::NONE, node);
                generics::generics(walk, LocalSymbol::NONE, node, Some(type_params));
                scope
            });
            let [params, returns, receiver] = [params, returns, receiver]
                .map(|part| part.as_ref().and_then(|selector| selector.first(node)));
            let ty = compound::function(walk, params, returns, receiver, inner);
            if let Some(scope) = scope {
                walk.close(scope);
            }
            ty
        }
        TypeRule::Tuple {} => {
            let mut parts = Vec::new();
            for part in visit_types(walk, node, inner) {
                parts.push(names::known(&mut walk.facts, part));
            }
            if let [only] = parts[..] {
                return only;
            }
            let list = walk.facts.list(&parts);
            walk.facts.expr(Expr::Tuple(list))
        }
        TypeRule::Object { copies } => compound::object(walk, node, copies.as_ref()),
        TypeRule::Builtin { name } => {
            let text = name.as_deref().unwrap_or_else(|| texts::text_of(&walk.input, node));
            let name = walk.facts.name(text);
            walk.facts.literal(name)
        }
        TypeRule::SelfType {} => walk.facts.expr(Expr::SelfType(walk.context.scope)),
        TypeRule::Quoted {} => quoted_type(walk, node),
        TypeRule::Expression {} => walk.visit(node, READ),
        TypeRule::Named { of, .. } => {
            of.first(node).map_or(ExprId::NONE, |of| visit_type(walk, of, inner))
        }
        TypeRule::Guard { of } => {
            let tested = of.first(node).map_or(ExprId::NONE, |of| visit_type(walk, of, inner));
            let base = walk.literal(Synthetic::TypeGuard.text());
            applied(&mut walk.facts, base, &[tested])
        }
        TypeRule::TypeOf { of } => {
            let value = walk.visit_selected(node, of.as_ref(), READ);
            let value = imported_value(walk, value);
            walk.facts.of(value, Expr::TypeOf)
        }
        TypeRule::Specifier { name, body } => {
            if body.as_ref().is_some_and(|selector| selector.first(node).is_some()) {
                return walk.visit(node, READ);
            }
            match name.as_ref().and_then(|selector| selector.first(node)) {
                Some(name) => visit_type(walk, name, usage),
                None => ExprId::NONE,
            }
        }
    }
}

/// Returns the module that an import by a call gives, without the wrapper of its result.
fn imported_value(walk: &Walk<'_>, value: ExprId) -> ExprId {
    let calls = &walk.input.language.manifest.names.import_calls;
    if let Expr::Apply(base, list) = walk.facts.get(value)
        && let Expr::Literal(wrapper) = walk.facts.get(base)
        && calls.values().any(|word| word == walk.facts.text(wrapper))
        && let [module] = *walk.facts.items(list)
    {
        return module;
    }
    value
}

/// Visits the type arguments of a generic type.
fn type_arguments<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    (base, args): (ExprId, Option<&'static Selector>),
    usage: Usage,
) -> Vec<ExprId> {
    let mut list = Vec::new();
    for args in children::every(&walk.input, args, node) {
        let is_list = walk.input.language.type_rule(args.kind_id()) == Some(&TypeRule::Each {});
        if is_list {
            for arg in children::named_children(&walk.input, args) {
                match walk.input.language.type_rule(arg.kind_id()) {
                    Some(TypeRule::Mark {}) => continue,
                    Some(TypeRule::Named { name, .. }) => {
                        compound::named_argument(walk, (base, name.first(arg)), usage);
                    }
                    _ => {}
                }
                let ty = visit_type(walk, arg, usage);
                list.push(names::known(&mut walk.facts, ty));
            }
        } else {
            let ty = visit_type(walk, args, usage);
            list.push(names::known(&mut walk.facts, ty));
        }
    }
    list
}

/// Returns the first segment of a path, where it never names a value.
pub(super) fn path_head(input: &Input<'_>, facts: &mut Builder, object: ExprId) -> ExprId {
    match facts.get(object) {
        Expr::Name(..) if input.language.manifest.resolution.paths_name_types => {
            facts.expr(Expr::Wrap(object, Wrapper::Plain))
        }
        _ => object,
    }
}

/// Visits all parts of a list of types, or the only node.
pub(super) fn visit_types<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> Vec<ExprId> {
    match walk.input.language.type_rule(node.kind_id()) {
        Some(TypeRule::Each {} | TypeRule::Union {} | TypeRule::Tuple {}) => {
            children::named_children(&walk.input, node)
                .into_iter()
                .flat_map(|child| visit_each(walk, child, usage))
                .collect()
        }
        _ => vec![visit_type(walk, node, usage)],
    }
}

fn visit_each<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> Vec<ExprId> {
    match walk.input.language.type_rule(node.kind_id()) {
        Some(TypeRule::Each {}) => visit_types(walk, node, usage),
        _ => vec![visit_type(walk, node, usage)],
    }
}

pub(super) fn applied(facts: &mut Builder, base: ExprId, args: &[ExprId]) -> ExprId {
    if args.is_empty() || !base.is_some() {
        return base;
    }
    let list = facts.list(args);
    facts.expr(Expr::Apply(base, list))
}

/// Returns the name of the type that an expression names, without its type arguments.
pub(super) fn named(facts: &Builder, ty: ExprId) -> Option<NameId> {
    let named = |ty: ExprId| ty.is_some().then(|| facts.get(ty));
    let base = match named(ty)? {
        Expr::Apply(base, _) => named(base)?,
        plain => plain,
    };
    match base {
        Expr::Name(name, _) | Expr::Member(_, name) => Some(name),
        _ => None,
    }
}

/// Splits a name that may have type arguments into the name's node and the arguments.
fn generic_name<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> (Node<'t>, Vec<ExprId>) {
    // A name may be inside of a node with a keyword before it (`A::template B<T>`).
    let mut node = node;
    while let Some(TypeRule::Pass { of, .. }) = walk.input.language.type_rule(node.kind_id()) {
        let inner = match of {
            Some(of) => of.first(node),
            None => children::first_named_child(&walk.input, node),
        };
        let Some(inner) = inner else { break };
        node = inner;
    }
    let rule = walk.input.language.type_rule(node.kind_id());
    let Some(TypeRule::Apply { base, args, .. }) = rule else {
        return (node, Vec::new());
    };
    let mut list = Vec::new();
    for args in children::every(&walk.input, args.as_ref(), node) {
        for arg in visit_types(walk, args, usage) {
            list.push(names::known(&mut walk.facts, arg));
        }
    }
    (base.first(node).unwrap_or(node), list)
}

pub(super) fn parameter_type<'t>(walk: &mut Walk<'t>, param: Node<'t>, usage: Usage) -> ExprId {
    match rule_choice::rule_at(&walk.input, param) {
        Some(Rule::Param { ty: Some(ty), .. }) => match ty.first(param) {
            Some(ty) => visit_type(walk, ty, usage),
            None => ExprId::NONE,
        },
        _ => visit_type(walk, param, usage),
    }
}

/// Parses a quoted type, as far as it consists of names, paths, generic applications and
/// alternatives.
fn quoted_type<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    let text = texts::text_of(&walk.input, node).trim_matches(['"', '\'']);
    written_type(walk, node, text, Usage::Site(SiteKind::Type))
}

/// Parses a type from text; its references are at the given node.
pub(super) fn written_type<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    text: &str,
    usage: Usage,
) -> ExprId {
    if text.len() > MAX_TYPE_BYTES {
        walk.problem(ProblemKind::TooDeep, node);
        return ExprId::NONE;
    }
    walk.deeper(node, |walk| {
        let parts =
            split(text, '|').into_iter().map(|part| written_part(walk, node, part.trim(), usage));
        let parts: Vec<ExprId> = parts.collect();
        walk.facts.union(&parts)
    })
}

fn written_part<'t>(walk: &mut Walk<'t>, node: Node<'t>, text: &str, usage: Usage) -> ExprId {
    let separator = walk.input.language.manifest.modules.separator.as_str();
    let (head, args) = match text.split_once('[') {
        Some((head, args)) => (head, args.strip_suffix(']').unwrap_or_default()),
        None => (text, ""),
    };
    let mut value = ExprId::NONE;
    for part in head.trim().split(separator) {
        let root = walk.input.language.manifest.modules.word(PathWord::Root);
        let part = match root {
            Some(root) if part.is_empty() && !value.is_some() => root,
            _ => part,
        };
        let is_root = Some(part) == root;
        if part.is_empty() || !is_root && !part.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return ExprId::NONE;
        }
        let name = walk.facts.name(part);
        if ignored::is_ignored(&walk.input, &walk.facts, name) {
            return ExprId::NONE;
        }
        value = match value.is_some() {
            true => walk.facts.expr(Expr::Member(value, name)),
            false => walk.facts.expr(Expr::Name(name, walk.context.scope)),
        };
    }
    if let (Expr::Name(name, _) | Expr::Member(_, name), true) =
        (walk.facts.get(value), value.is_some())
    {
        walk.site(usage, node, name, value);
    }
    let args: Vec<ExprId> = split(args, ',')
        .into_iter()
        .map(|arg| {
            let arg = written_type(walk, node, arg.trim(), usage);
            names::known(&mut walk.facts, arg)
        })
        .collect();
    applied(&mut walk.facts, value, &args)
}

/// Returns the type of a method's receiver parameter.
pub(super) fn receiver_type<'t>(walk: &mut Walk<'t>, receiver: Node<'t>) -> ExprId {
    for param in children::named_children(&walk.input, receiver) {
        if let Some(Rule::Param { ty: Some(ty), .. }) = rule_choice::rule_at(&walk.input, param)
            && let Some(ty) = ty.first(param)
        {
            return visit_type(walk, ty, Usage::Silent);
        }
    }
    if is_given_as_type(&walk.input, receiver) {
        return visit_type(walk, receiver, Usage::Silent);
    }
    ExprId::NONE
}

/// True if a receiver is written as a type alone, not as a value or a list with a parameter.
pub(super) fn is_given_as_type<'t>(input: &Input<'t>, receiver: Node<'t>) -> bool {
    let is_param =
        |child: Node<'t>| matches!(rule_choice::rule_at(input, child), Some(Rule::Param { .. }));
    input.language.type_rule(receiver.kind_id()).is_some()
        && rule_choice::rule_at(input, receiver).is_none()
        && !children::named_children(input, receiver).into_iter().any(is_param)
}

/// Splits a text at separators outside of brackets; empty for an empty text.
pub(super) fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '<' | '(' | '{' => depth += 1,
            ']' | '>' | ')' | '}' => depth = depth.saturating_sub(1),
            _ if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

/// Type in a path without a first part: a plain name is looked up from the outermost scope on,
/// where such a path means that.
fn outermost<'t>(walk: &mut Walk<'t>, node: Node<'t>, name_node: Node<'t>, usage: Usage) -> ExprId {
    let is_path =
        matches!(rule_choice::rule_at(&walk.input, node), Some(Rule::Member { scoped: true, .. }));
    let is_name =
        matches!(walk.input.language.type_rule(name_node.kind_id()), Some(TypeRule::Name { .. }));
    if !is_path || !is_name || !walk.input.language.manifest.resolution.open_types {
        return visit_type(walk, name_node, usage);
    }
    let name = names::name_of(walk, name_node);
    let value = walk.facts.expr(Expr::Name(name, ScopeId(0)));
    walk.site(usage, name_node, name, value);
    value
}
