//! Packages that a file declares: the first is that of the file, further ones are namespaces in it.

use crate::definitions::symbols;
use crate::walk::{Definition, READ, Walk, children, rule_choice};
use cograph_grammar::{Rule, Selector};
use cograph_model::SymbolKind;
use cograph_model::facts::{ExprId, ScopeKind};
use tree_sitter::Node;

pub(crate) fn package<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: &'static Selector,
    body: Option<&'static Selector>,
) -> ExprId {
    let outer = walk.context.package.clone();
    decorators(walk, node);
    let body = body.and_then(|body| body.first(node));
    let before = (walk.context.enclosing, walk.context.scope, walk.context.around);
    if let Some(name) = name.first(node) {
        let own = rule_choice::path_text(&walk.input, name);
        let separator = &walk.input.language.manifest.modules.separator;
        let whole =
            outer.as_ref().map_or_else(|| own.clone(), |outer| format!("{outer}{separator}{own}"));
        let first = walk.facts.facts.package.as_deref();
        match body {
            Some(body) if first.is_some_and(|first| first != whole) => {
                let is_inside = walk.facts.scope_kind(walk.context.scope) == ScopeKind::Module;
                open_package(walk, node, name, body, if is_inside { &own } else { &whole });
            }
            Some(body) if first.is_none() && has_packages_alone(walk, body) => {}
            _ => walk.facts.facts.package = Some(whole.clone().into()),
        }
        walk.context.package = Some(whole);
    }
    if let Some(body) = body {
        walk.visit_children(body);
    }
    walk.context.package = outer;
    (walk.context.enclosing, walk.context.scope, walk.context.around) = before;
    ExprId::NONE
}

/// True if the body of a package has other packages and nothing of its own.
fn has_packages_alone<'t>(walk: &Walk<'t>, body: Node<'t>) -> bool {
    let rules = children::named_children(&walk.input, body)
        .into_iter()
        .filter_map(|child| rule_choice::rule_at(&walk.input, child))
        .filter(|rule| !matches!(rule, Rule::Import { .. } | Rule::Skip {}));
    let mut count = 0;
    rules.inspect(|_| count += 1).all(|rule| matches!(rule, Rule::Package { .. })) && count > 0
}

/// Opens a further package of the file as nested namespaces. They bind no names: like any package
/// they are found by their whole names.
fn open_package<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name_node: Node<'t>,
    body: Node<'t>,
    path: &str,
) {
    let separator = walk.input.language.manifest.modules.separator.as_str();
    let around = walk.context.around;
    for part in path.split(separator).take(walk.depth_left()) {
        let name = walk.facts.name(part);
        walk.context.around = around;
        walk.context.around.detached = true;
        let definition = Definition {
            name,
            name_node,
            node,
            kind: SymbolKind::Namespace,
            header_end: body.start_byte(),
            has_body: true,
        };
        let symbol = symbols::define(walk, &definition);
        walk.open(ScopeKind::Module, symbol, node);
        walk.facts.symbol_mut(symbol).inner = walk.context.scope;
    }
}

/// Visits the decorators of a package, which are those of no definition.
fn decorators<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let pending = std::mem::take(&mut walk.context.pending);
    for child in children::named_children(&walk.input, node) {
        if matches!(rule_choice::rule_at(&walk.input, child), Some(Rule::Decorator { .. })) {
            walk.visit(child, READ);
        }
    }
    walk.context.pending = pending;
}
