//! Pattern declarations that may shadow earlier names; members of a constructed value.

use crate::extract::bindings::bound_names::{Bind, Flow};
use crate::extract::bindings::patterns;
use crate::extract::bindings::variables;
use crate::extract::types;
use crate::extract::walk::children;
use crate::extract::walk::names;
use crate::extract::walk::rule_choice;
use crate::extract::walk::texts;
use crate::extract::walk::{READ, Usage, Walk};
use crate::grammar::Rule;
use crate::model::facts::{Expr, ExprId};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Binds the names of a pattern. A name that shadows one of the same function, or that its own
/// value uses, starts a scope for the rest of the block.
pub(in crate::extract) fn let_binding<'t>(
    walk: &mut Walk<'t>,
    rule: &'static Rule,
    node: Node<'t>,
) -> ExprId {
    let Rule::Let { pattern, ty, value, otherwise } = rule else { return ExprId::NONE };
    let value_node = value.as_ref().and_then(|selector| selector.first(node));
    let pattern_node = pattern.first(node);
    let ty = match ty.as_ref().and_then(|selector| selector.first(node)) {
        Some(ty) => types::visit_type(walk, ty, Usage::Site(SiteKind::Type)),
        None => ExprId::NONE,
    };
    if let (Some(pattern_node), Some(value_node)) = (pattern_node, value_node)
        && let Some((lambda, lambda_node)) = variables::lambda_in(&walk.input, value_node)
        && matches!(rule_choice::rule_at(&walk.input, pattern_node), Some(Rule::Name { .. }))
    {
        shadow(walk, pattern_node, node, usize::MAX);
        let sites = walk.facts.sites.len();
        let name = names::name_of(walk, pattern_node);
        let symbol = walk.function_value(name, pattern_node, node, lambda, lambda_node);
        // References in a local closure belong to the enclosing function.
        for site in &mut walk.facts.sites[sites..] {
            if site.enclosing == symbol {
                site.enclosing = walk.context.enclosing;
            }
        }
        return ExprId::NONE;
    }
    let first = walk.facts.facts.exprs.len();
    let given = value_node.map_or(ExprId::NONE, |value| walk.visit(value, READ));
    walk.visit_selected(node, otherwise.as_ref(), READ);
    if let Some(pattern) = pattern_node {
        shadow(walk, pattern, node, first);
        patterns::bind_pattern(
            walk,
            pattern,
            Flow { ty, value: given, node },
            Bind::Declare(SymbolKind::Variable),
        );
    }
    ExprId::NONE
}

/// Opens a scope if a name in the pattern is already visible or used by an expression from
/// `first` on.
fn shadow<'t>(walk: &mut Walk<'t>, pattern: Node<'t>, node: Node<'t>, first: usize) {
    let mut nodes = vec![pattern];
    while let Some(part) = nodes.pop() {
        let known = walk.facts.known_name(texts::text_of(&walk.input, part));
        let hides = known.is_some_and(|name| {
            walk.facts.visible(walk.context.scope, name).is_some()
                || (first != usize::MAX && walk.facts.names_since(first, name))
        });
        if part.named_child_count() == 0 && hides {
            walk.open_rest(node);
            return;
        }
        nodes.extend(children::named_children(&walk.input, part));
    }
}

/// Visits the members of a constructed value with their values.
pub(in crate::extract) fn constructed_fields<'t>(walk: &mut Walk<'t>, list: Node<'t>, ty: ExprId) {
    for child in children::named_children(&walk.input, list) {
        let Some(Rule::Initializer { name, value }) = rule_choice::rule_at(&walk.input, child)
        else {
            walk.visit(child, READ);
            continue;
        };
        let name_node = name.first(child);
        if let Some(value) = value.as_ref().and_then(|selector| selector.first(child)).or(name_node)
        {
            walk.visit(value, READ);
        }
        if let Some(name_node) = name_node
            && ty.is_some()
        {
            let name = names::name_of(walk, name_node);
            let object = walk.facts.expr(Expr::OfType(ty));
            let target = walk.facts.expr(Expr::Member(object, name));
            walk.site(Usage::Site(SiteKind::Write), name_node, name, target);
        }
    }
}
