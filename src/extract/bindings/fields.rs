//! Fields declared by assignment: members of the receiver.

use crate::bindings::bound_names::{self, Flow};
use crate::bindings::{derivation, stated_types};
use crate::walk::{Definition, READ, Surroundings, Usage, Walk};
use crate::walk::{children, names, rule_choice};
use cograph_grammar::{ModifierMeaning, Rule, Selector};
use cograph_model::facts::{Expr, ExprId, LocalSymbol, NameId, ScopeId, ScopeKind, flags};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Assignment to a member: declares a field of the receiver's type, or is a write.
pub(super) fn bind_member<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    object: &'static Selector,
    name: &'static Selector,
    flow: Flow<'t>,
) {
    let (Some(object), Some(name_node)) = (object.first(node), name.first(node)) else {
        return;
    };
    let object = walk.visit(object, READ);
    let type_scope = walk.context.callable.type_scope;
    let name = names::name_of(walk, name_node);
    stated_types::of_member(walk, flow.value, object, name, node);
    derivation::by_assignment(walk, object, name, flow.value);
    bind_to(walk, object, name_node, type_scope, flow);
}

/// Assignment to a field of the receiver that is named without it.
pub(super) fn bind_field<'t>(walk: &mut Walk<'t>, node: Node<'t>, flow: Flow<'t>) {
    let receiver = names::receiver(walk);
    if receiver.is_some() {
        let type_scope = declaring_type(walk);
        bind_to(walk, receiver, node, type_scope, flow);
    }
}

fn bind_to<'t>(
    walk: &mut Walk<'t>,
    object: ExprId,
    name_node: Node<'t>,
    type_scope: ScopeId,
    flow: Flow<'t>,
) {
    let name = names::name_of(walk, name_node);
    let rules = &walk.input.language.manifest.resolution;
    let declared_only = rules.declared_members;
    let made = match walk.context.callable.self_scope.get() {
        Some(scope) if !declared_only && names::is_receiver(walk, object) => {
            walk.facts.facts.scopes[scope].owner
        }
        _ => ExprId::NONE,
    };
    if made.is_some()
        && !type_scope.is_some()
        && !walk.context.in_target
        && walk.context.declared_members.insert((walk.context.callable.self_scope, name))
    {
        let around = Surroundings { owner: made, detached: true, ..Surroundings::NONE };
        let field = define_field(walk, name_node, name, ScopeId(0), around, flow);
        walk.facts.add_value(field, flow.value);
        walk.facts.symbol_mut(field).ty = flow.ty;
        return;
    }
    if let Some(owner) = assigned_owner(walk, object, name, flow.value) {
        let declared_static = owner == object;
        let around = Surroundings { owner, detached: true, declared_static, ..Surroundings::NONE };
        let field = define_field(walk, name_node, name, ScopeId(0), around, flow);
        walk.facts.add_value(field, flow.value);
        return;
    }
    let is_other = !names::is_receiver(walk, object) || !type_scope.is_some();
    if is_other || declared_only && rules.variables_keep_types {
        let target = walk.facts.of(object, |object| Expr::Member(object, name));
        walk.site(Usage::Site(SiteKind::Write), name_node, name, target);
        bound_names::give_type(walk, target, flow.value);
        return;
    }
    let elsewhere =
        type_scope.get().is_some_and(|position| walk.facts.facts.scopes[position].owner.is_some());
    // What is read as well (`+=`, `++`) exists: of this type or of a base.
    let declared = declared_only
        || walk.context.in_target
        || walk.context.declared_members.contains(&(type_scope, name))
        || walk
            .facts
            .bound(type_scope, name)
            .is_some_and(|binding| !is_of_type_alone(walk, binding.symbol()));
    if !elsewhere && !declared {
        walk.context.declared_members.insert((type_scope, name));
        let field = define_field(walk, name_node, name, type_scope, Surroundings::NONE, flow);
        if !flow.ty.is_some() {
            walk.facts.symbol_mut(field).flags |= flags::ASSIGNED;
            write_of_inherited(walk, object, name_node, name, type_scope);
        }
    } else {
        let target = walk.facts.expr(Expr::Member(object, name));
        walk.site(Usage::Site(SiteKind::Write), name_node, name, target);
        bound_names::give_type(walk, target, flow.value);
    }
    let symbol =
        walk.facts.bound(type_scope, name).map_or(LocalSymbol::NONE, |binding| binding.symbol());
    // A value assigned to a method is no return value.
    if symbol.is_some() && !walk.facts.symbol_mut(symbol).kind.is_callable() {
        walk.facts.add_value(symbol, flow.value);
    }
    if symbol.is_some() && flow.ty.is_some() && !walk.facts.symbol_mut(symbol).ty.is_some() {
        walk.facts.symbol_mut(symbol).ty = flow.ty;
    }
}

/// True for a method of a type, not of its instances, where these may have a member of its name.
fn is_of_type_alone(walk: &Walk<'_>, symbol: LocalSymbol) -> bool {
    let symbol = symbol.get().and_then(|position| walk.facts.facts.symbols.get(position));
    walk.input.language.manifest.resolution.separate_statics
        && symbol.is_some_and(|one| one.kind.is_callable() && one.flags & flags::STATIC != 0)
}

/// Records the names of the members that a body declares for instances: an assignment before the
/// declaration is none of its own.
pub(crate) fn note_members<'t>(walk: &mut Walk<'t>, scope: ScopeId, body: Node<'t>) {
    let is_hoisted = walk.input.language.manifest.resolution.hoisted;
    for member in children::named_children(&walk.input, body) {
        let rule = rule_choice::rule_at(&walk.input, member);
        if let Some(Rule::Declaration { declarators, .. }) = rule {
            note_declared(walk, scope, &children::every(&walk.input, Some(declarators), member));
        }
        if !is_hoisted {
            continue;
        }
        let name = match rule {
            Some(Rule::Function { name: Some(name), .. })
                if !is_declared_for_type(walk, member) =>
            {
                name.first(member)
            }
            Some(Rule::Variable { name, .. } | Rule::Initializer { name, .. }) => {
                name.first(member)
            }
            _ => None,
        };
        if let Some(name) = name {
            let name = names::name_of(walk, name);
            walk.context.declared_members.insert((scope, name));
        }
    }
}

fn note_declared<'t>(walk: &mut Walk<'t>, scope: ScopeId, declarators: &[Node<'t>]) {
    for &declarator in declarators {
        let rule = rule_choice::rule_at(&walk.input, declarator);
        if let Some(Rule::Variable { name, .. }) = rule
            && let Some(name) = name.first(declarator)
        {
            let name = names::name_of(walk, name);
            walk.context.declared_members.insert((scope, name));
        }
    }
}

/// True for a member with a word that makes it one of the type, where types and instances may both
/// have a member of its name.
fn is_declared_for_type<'t>(walk: &Walk<'t>, member: Node<'t>) -> bool {
    let manifest = &walk.input.language.manifest;
    let makes_static = |word: &Node<'t>| {
        let meanings = manifest.modifiers.words.get(word.kind());
        !word.is_named() && meanings.is_some_and(|all| all.contains(&ModifierMeaning::Static))
    };
    manifest.resolution.separate_statics
        && children::children(&walk.input, member).iter().any(makes_static)
}

/// The first assignment to a member of the receiver is a write where a base declares the field.
fn write_of_inherited<'t>(
    walk: &mut Walk<'t>,
    object: ExprId,
    name_node: Node<'t>,
    name: NameId,
    type_scope: ScopeId,
) {
    let scopes = &walk.facts.facts.scopes;
    let owner = type_scope.get().map(|position| scopes[position].symbol);
    if owner.is_some_and(|owner| owner.is_some() && walk.facts.has_base(owner)) {
        let target = walk.facts.expr(Expr::Member(object, name));
        walk.site(Usage::Site(SiteKind::Write), name_node, name, target);
    }
}

/// Returns the scope of the type whose fields assignments to the receiver declare: that of the
/// enclosing method, or the type in whose body the assignment is.
fn declaring_type(walk: &Walk<'_>) -> ScopeId {
    let callable = walk.context.callable;
    let is_type = walk.facts.scope_kind(callable.self_scope) == ScopeKind::Type;
    if is_type { callable.self_scope } else { callable.type_scope }
}

/// An assignment to a member of the receiver through a setter: its value is one of the accessor of
/// that name, if a declaration makes one.
pub(crate) fn set_accessor(walk: &mut Walk<'_>, object: ExprId, name: NameId, value: ExprId) {
    if !names::is_receiver(walk, object) {
        return;
    }
    let accessor = walk.facts.bound(declaring_type(walk), name).map(|binding| binding.symbol());
    let Some(position) = accessor.and_then(|accessor| accessor.get()) else { return };
    let entry = &walk.facts.facts.symbols[position];
    if entry.kind.is_callable() && !entry.inner.is_some() {
        walk.facts.add_value(LocalSymbol::at(position), value);
    }
}

/// Returns the owner of a member that an assignment at the top level gives to a value of the
/// file: where values take any member, a callable, a type or an object that is given becomes one,
/// and one of a function what a call makes.
fn assigned_owner(
    walk: &Walk<'_>,
    object: ExprId,
    member: NameId,
    value: ExprId,
) -> Option<ExprId> {
    let prototype = walk.input.language.manifest.names.values_member.as_deref()?;
    let owner = match walk.facts.get(object) {
        Expr::Member(of, name) if walk.facts.text(name) == prototype => of,
        _ => object,
    };
    let at_top = |name| walk.facts.bound(ScopeId(0), name);
    let (Expr::Name(owner_name, _), false) =
        (walk.facts.get(owner), walk.context.callable.symbol.is_some())
    else {
        return None;
    };
    let kind = |symbol: LocalSymbol| Some(walk.facts.facts.symbols[symbol.get()?].kind);
    let is_callable_or_type =
        |symbol: LocalSymbol| kind(symbol).is_none_or(|kind| kind.is_callable() || kind.is_type());
    let is_fitting = match walk.facts.get(value) {
        Expr::Lambda(_) | Expr::Members(_) => true,
        Expr::Name(name, _) => {
            at_top(name).is_none_or(|binding| is_callable_or_type(binding.symbol()))
        }
        // What a call makes may be a function: a function is given it as one of its members.
        Expr::Call(..) if owner == object && walk.facts.text(member) != prototype => {
            at_top(owner_name)
                .and_then(|binding| kind(binding.symbol()))
                .is_some_and(|kind| kind.is_callable())
        }
        _ => false,
    };
    (is_fitting && at_top(owner_name).is_some_and(|binding| binding.symbol().is_some()))
        .then_some(owner)
}

fn define_field<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    name: NameId,
    scope: ScopeId,
    around: Surroundings,
    flow: Flow<'t>,
) -> LocalSymbol {
    let outer = std::mem::replace(&mut walk.context.scope, scope);
    let outer_around = std::mem::replace(&mut walk.context.around, around);
    let pending = std::mem::take(&mut walk.context.pending);
    let header_end = flow.node.end_byte();
    let definition = Definition {
        name,
        name_node: node,
        node: flow.node,
        kind: SymbolKind::Field,
        header_end,
        has_body: true,
    };
    let symbol = walk.define(&definition);
    (walk.context.scope, walk.context.around, walk.context.pending) =
        (outer, outer_around, pending);
    symbol
}
