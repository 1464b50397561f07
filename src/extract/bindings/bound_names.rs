//! Names in patterns: bindings of new variables and writes of existing ones.

use crate::facts::builder::Builder;
use crate::walk::input::Input;
use crate::walk::{Context, Definition, Usage, Walk, ignored, names};
use cograph_model::facts::{
    Binding, BindingKind, Expr, ExprId, LocalSymbol, NameId, ScopeId, ScopeKind, Synthetic,
};
use cograph_model::{SiteKind, SymbolKind};
use std::ops::Range;
use tree_sitter::Node;

/// Kind of binding for the names in a pattern.
#[derive(Clone, Copy)]
pub(crate) enum Bind {
    /// New variables; symbols where the scope has members or is a file.
    Declare(SymbolKind),
    /// New or existing variables of the function.
    AssignNew,
    /// Existing variables.
    AssignKnown,
    /// Parameters.
    Param,
}

/// Value that is bound to a pattern.
#[derive(Clone, Copy)]
pub(crate) struct Flow<'t> {
    pub(crate) ty: ExprId,
    pub(crate) value: ExprId,
    /// Definition as a whole, for signatures.
    pub(crate) node: Node<'t>,
}

pub(crate) fn variable_kind(context: &Context<'_>, kind: Option<SymbolKind>) -> SymbolKind {
    match kind {
        Some(kind) => kind,
        None if context.around.declared_constant => SymbolKind::Constant,
        None => SymbolKind::Variable,
    }
}

pub(super) fn bind_name<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    flow: Flow<'t>,
    how: Bind,
) -> LocalSymbol {
    let name = names::name_of(walk, node);
    if ignored::is_ignored(&walk.input, &walk.facts, name) {
        return LocalSymbol::NONE;
    }
    match how {
        Bind::Param => {
            walk.bind(walk.context.scope, name, BindingKind::Param, 0, flow.ty, flow.value);
            LocalSymbol::NONE
        }
        Bind::Declare(kind) => declare_name(walk, node, name, flow, kind),
        Bind::AssignNew => assign_new(walk, node, name, flow),
        Bind::AssignKnown => assign_known(walk, node, name, flow),
    }
}

/// Returns the scope of what a declaration defines: that of the function or file around the blocks,
/// if the declaration is hoisted out of them.
pub(crate) fn hoisted_scope(walk: &Walk<'_>) -> ScopeId {
    let scope = walk.context.scope;
    let nearest = walk.facts.nearest(scope, |kind| kind != ScopeKind::Flow);
    if !walk.context.around.hoisted || walk.facts.scope_kind(nearest) != ScopeKind::Block {
        return scope;
    }
    walk.facts.nearest(scope, |kind| !matches!(kind, ScopeKind::Flow | ScopeKind::Block))
}

pub(crate) fn declare_name<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: NameId,
    flow: Flow<'t>,
    kind: SymbolKind,
) -> LocalSymbol {
    let function_scoped =
        walk.input.language.manifest.resolution.function_scoped || walk.context.around.hoisted;
    let owns = |scope: ScopeKind| {
        scope != ScopeKind::Flow && !(function_scoped && scope == ScopeKind::Block)
    };
    let owner = walk.facts.nearest(walk.context.scope, owns);
    let local = matches!(walk.facts.scope_kind(owner), ScopeKind::Function | ScopeKind::Block);
    if local && kind != SymbolKind::Variant {
        walk.bind(owner, name, BindingKind::Value, flow.node.end_byte(), flow.ty, flow.value);
        return LocalSymbol::NONE;
    }
    let (header_end, has_body) = (flow.node.end_byte(), true);
    let scope = hoisted_scope(walk);
    let outer = std::mem::replace(&mut walk.context.scope, scope);
    let symbol = walk.define(&Definition {
        name,
        name_node: node,
        node: flow.node,
        kind,
        header_end,
        has_body,
    });
    walk.context.scope = outer;
    walk.facts.symbol_mut(symbol).ty = flow.ty;
    walk.facts.add_value(symbol, flow.value);
    symbol
}

fn assign_new<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: NameId,
    flow: Flow<'t>,
) -> LocalSymbol {
    let function_scoped = walk.input.language.manifest.resolution.function_scoped;
    let owns = |scope: ScopeKind| {
        scope != ScopeKind::Flow && !(function_scoped && scope == ScopeKind::Block)
    };
    let owner = walk.facts.nearest(walk.context.scope, owns);
    match walk.facts.bound(owner, name).map(|binding| (binding.kind, binding.symbol())) {
        Some((BindingKind::Outer, _)) => assign_known(walk, node, name, flow),
        Some((BindingKind::Symbol, symbol)) => {
            write(walk, node, name);
            walk.facts.add_value(symbol, flow.value);
            symbol
        }
        Some((BindingKind::Import, _)) if walk.facts.scope_kind(owner) == ScopeKind::File => {
            write(walk, node, name);
            LocalSymbol::NONE
        }
        Some((BindingKind::Value | BindingKind::Param, _))
            if walk.input.language.manifest.resolution.variables_keep_types =>
        {
            LocalSymbol::NONE
        }
        _ if matches!(walk.facts.scope_kind(owner), ScopeKind::Function | ScopeKind::Block) => {
            walk.bind(owner, name, BindingKind::Value, flow.node.end_byte(), flow.ty, flow.value);
            LocalSymbol::NONE
        }
        _ => {
            let text = walk.facts.text(name);
            let constant = text.chars().any(|c| c.is_ascii_uppercase())
                && !text.chars().any(|c| c.is_ascii_lowercase());
            let kind = if constant { SymbolKind::Constant } else { SymbolKind::Variable };
            declare_name(walk, node, name, flow, kind)
        }
    }
}

fn assign_known<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: NameId,
    flow: Flow<'t>,
) -> LocalSymbol {
    let target = write(walk, node, name);
    give_type(walk, target, flow.value);
    let start = walk.facts.nearest(walk.context.scope, |kind| kind != ScopeKind::Flow);
    let outer =
        walk.facts.bound(start, name).is_some_and(|binding| binding.kind == BindingKind::Outer);
    let from = if outer { walk.facts.parent(start) } else { start };
    let Some(known) = walk.facts.visible(from, name) else { return LocalSymbol::NONE };
    let (kind, scope, symbol) = (known.kind, known.scope, known.symbol());
    let has_type = known.ty().is_some() || known.value.is_some();
    // The type stays, but of two names either may be the function that the variable holds.
    let are_names =
        !known.ty().is_some() && is_name(walk, known.value) && is_name(walk, flow.value);
    if has_type && walk.input.language.manifest.resolution.variables_keep_types && !are_names {
        return symbol;
    }
    match kind {
        BindingKind::Symbol => walk.facts.add_value(symbol, flow.value),
        BindingKind::Value | BindingKind::Param if flow.value.is_some() => {
            walk.bind(scope, name, BindingKind::Value, flow.node.end_byte(), flow.ty, flow.value);
        }
        _ => {}
    }
    symbol
}

/// True if an expression is a bare name.
fn is_name(walk: &Walk<'_>, expr: ExprId) -> bool {
    expr.is_some() && matches!(walk.facts.get(expr), Expr::Name(..))
}

fn write<'t>(walk: &mut Walk<'t>, node: Node<'t>, name: NameId) -> ExprId {
    let target = walk.facts.expr(Expr::Name(name, walk.context.scope));
    walk.site(Usage::Site(SiteKind::Write), node, name, target);
    target
}

/// A closure that is assigned has the type of what it is assigned to.
pub(crate) fn give_type(walk: &mut Walk<'_>, target: ExprId, value: ExprId) {
    if !value.is_some() {
        return;
    }
    if let Expr::Lambda(closure) = walk.facts.get(value) {
        let name = walk.facts.synthetic(Synthetic::ClosureHolder);
        let ty = walk.facts.of(target, Expr::TypeOf);
        walk.bind(closure, name, BindingKind::Result, 0, ty, ExprId::NONE);
    }
}

/// Binds names of the markup around the code, in the innermost scopes at their positions.
pub(crate) fn of_markup(input: &Input<'_>, facts: &mut Builder, bound: &[Range<usize>]) {
    for range in bound {
        let Ok(text) = std::str::from_utf8(&input.source[range.clone()]) else { continue };
        let name = facts.name(text);
        let from = u32::try_from(range.start).expect("files are smaller than 4 GiB");
        let (scope, _) = facts.around(from);
        let place = Binding::at(scope, name, from);
        facts.bind(place.of_value(BindingKind::Value, ExprId::NONE, ExprId::NONE));
    }
}
