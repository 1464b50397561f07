//! Decorators: their references, and the values that they apply to the next definition.

use crate::definitions::shadowing;
use crate::macros;
use crate::types;
use crate::walk::children;
use crate::walk::names;
use crate::walk::rule_choice;
use crate::walk::texts;
use crate::walk::{Decorator, READ, Usage, Walk};
use cograph_grammar::{DecoratorMeaning, Rule, Selector};
use cograph_model::SiteKind;
use cograph_model::facts::{Expr, ExprId, Run, Wrapper};
use tree_sitter::Node;

pub(crate) fn decorated<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: &'static Selector,
    decorators: &'static Selector,
) -> ExprId {
    for decorator in children::every(&walk.input, Some(decorators), node) {
        walk.visit(decorator, READ);
    }
    of.first(node).map_or(ExprId::NONE, |definition| walk.visit(definition, READ))
}

pub(crate) fn decorator<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: &'static Selector,
    args: Option<&'static Selector>,
) -> ExprId {
    let pending = std::mem::take(&mut walk.context.pending);
    let name_node = name.first(node);
    let before = walk.facts.sites.len();
    let mut value = ExprId::NONE;
    if let Some(name_node) = name_node {
        let usage = Usage::Site(SiteKind::Decorate);
        value = match rule_choice::rule_at(&walk.input, name_node) {
            Some(Rule::Name { .. } | Rule::Member { .. }) => walk.visit(name_node, usage),
            Some(_) => walk.visit(name_node, READ),
            None => types::visit_type(walk, name_node, usage),
        };
    }
    let text = name_node.map_or("", |name| texts::text_of(&walk.input, name));
    let text = text.split(['(', '<']).next().unwrap_or(text).trim();
    if let Some(args) = args.and_then(|selector| selector.first(node)) {
        let modifiers = &walk.input.language.manifest.modifiers;
        if modifiers.is_decorator(text, DecoratorMeaning::Applying) {
            macros::applied_names(walk, args);
        } else {
            let site = walk.facts.sites[before..]
                .iter()
                .position(|site| site.kind == SiteKind::Decorate)
                .map(|position| before + position);
            let outer = std::mem::take(&mut walk.context.named);
            let (list, spread) = arguments(walk, args, value);
            let named = std::mem::replace(&mut walk.context.named, outer);
            if !named.is_empty() {
                let made = walk.facts.of(value, |ty| Expr::Call(ty, list));
                names::written(walk, &named, made);
            }
            if let Some(site) = site {
                let entry = &mut walk.facts.sites[site];
                (entry.args, entry.spread) = (list, spread);
            }
        }
    }
    walk.context.pending = pending;
    walk.context.pending.decorators.push(Decorator { name: text.into(), node, value });
    ExprId::NONE
}

/// True for a node that only holds decorators, such as the attributes in one pair of brackets, or
/// lists of them.
pub(crate) fn is_list<'t>(walk: &Walk<'t>, node: Node<'t>) -> bool {
    let rule = |node| rule_choice::rule_at(&walk.input, node);
    let mut parts = children::named_children(&walk.input, node).into_iter().peekable();
    matches!(rule(node), Some(Rule::Pass { .. }))
        && parts.peek().is_some()
        && parts.all(|part| match rule(part) {
            Some(Rule::Decorator { .. }) => true,
            Some(Rule::Pass { .. }) => children::named_children(&walk.input, part)
                .into_iter()
                .all(|inner| matches!(rule(inner), Some(Rule::Decorator { .. }))),
            _ => false,
        })
}

/// Visits the arguments of a decorator and the members of it that they write.
fn arguments<'t>(walk: &mut Walk<'t>, args: Node<'t>, ty: ExprId) -> (Run, bool) {
    let is_member = |walk: &Walk<'t>, part: &Node<'t>| {
        matches!(rule_choice::rule_at(&walk.input, *part), Some(Rule::Initializer { .. }))
    };
    let parts = children::named_children(&walk.input, args);
    if !parts.iter().any(|part| is_member(walk, part)) {
        let (list, spread, _) = walk.arguments(Some(args));
        return (list, spread);
    }
    let ty = walk.facts.of(ty, |ty| Expr::Wrap(ty, Wrapper::Decorator));
    let made = walk.facts.of(ty, Expr::OfType);
    let mut values = Vec::new();
    for part in parts {
        if is_member(walk, &part) {
            shadowing::constructed_part(walk, part, made);
        } else {
            let value = walk.visit(part, READ);
            values.push(names::known(&mut walk.facts, value));
        }
    }
    (walk.facts.list(&values), false)
}
