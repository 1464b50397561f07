//! Definitions with members: types and their bases, extensions, modules, aliases.

use crate::bindings::bound_names;
use crate::bindings::bound_names::Flow;
use crate::bindings::{fields, variables};
use crate::definitions::callable_scope;
use crate::definitions::callable_scope::CallableContext;
use crate::definitions::constructions;
use crate::definitions::generated;
use crate::definitions::items;
use crate::definitions::parameters;
use crate::definitions::symbols;
use crate::imports::import;
use crate::types;
use crate::types::generics;
use crate::walk::Definition;
use crate::walk::children;
use crate::walk::fallback;
use crate::walk::names;
use crate::walk::rule_choice;
use crate::walk::{Callable, Pending, READ, Surroundings, Usage, Walk};
use cograph_grammar::{Rule, Selector};
use cograph_model::facts::{
    BindingKind, Expr, ExprId, LocalSymbol, NameId, ScopeKind, Synthetic, Wrapper, flags,
};
use cograph_model::{ProblemKind, SiteKind, SymbolKind, Visibility};
use smallvec::SmallVec;
use tree_sitter::Node;

pub(crate) fn type_definition<'t>(
    walk: &mut Walk<'t>,
    rule: &'static Rule,
    node: Node<'t>,
) -> ExprId {
    let Rule::Type { kind, name, bases, body, .. } = rule else { return ExprId::NONE };
    let Some(name_node) = name.as_ref().and_then(|selector| selector.first(node)) else {
        let body_node = body.as_ref().and_then(|selector| selector.first(node));
        if *kind == SymbolKind::Enum
            && walk.input.language.manifest.resolution.variants_visible
            && let Some(body) = body_node
        {
            // The variants of an anonymous type belong to the enclosing scope.
            walk.visit_children(body);
            return ExprId::NONE;
        }
        return anonymous_type(walk, node, bases, body_node);
    };
    symbols::visit_modifiers(walk, node);
    let owner = walk.context.around.owner;
    let (name, name_node) = walk.qualified_name(name_node);
    let value = named_type(walk, rule, node, node, name, name_node);
    walk.context.around.owner = owner;
    value
}

/// Defines a type under its own name or that of its alias; `whole` is the definition including
/// the name.
pub(crate) fn named_type<'t>(
    walk: &mut Walk<'t>,
    rule: &'static Rule,
    node: Node<'t>,
    whole: Node<'t>,
    name: NameId,
    name_node: Node<'t>,
) -> ExprId {
    let Rule::Type { kind, bases, body, type_params, params, fields, members, .. } = rule else {
        return ExprId::NONE;
    };
    let body_node = body.as_ref().and_then(|selector| selector.first(node));
    let header_end = body_node.map_or(whole.end_byte(), |body| body.start_byte());
    let definition =
        Definition { name, name_node, node: whole, kind: *kind, header_end, has_body: true };
    let generated = generated::of_pending(walk);
    let symbol = symbols::define(walk, &definition);
    // The path before the name (`module A::B`) owns the type, not what its body defines.
    let owner = std::mem::replace(&mut walk.context.around.owner, ExprId::NONE);
    let declarations = walk.input.language.manifest.resolution.declarations;
    if declarations && body_node.is_none() && body.is_some() && params.is_none() {
        walk.facts.symbol_mut(symbol).flags |= flags::DECLARATION;
    }
    let before = enter_type(walk, symbol, node, type_params.as_ref());
    let inner = walk.context.scope;
    walk.context.callable.self_scope = inner;
    self::bases(walk, node, bases, symbol);
    if let Some(params) = params.as_ref().and_then(|selector| selector.first(node)) {
        let outer = std::mem::replace(
            &mut walk.context.around.section,
            fields.as_ref().and_then(|word| Visibility::from_word(word)),
        );
        parameters::parameters(walk, params, symbol);
        walk.context.around.section = outer;
    }
    if let Some(members) = members {
        items::listed(walk, node, members);
    }
    if let Some(body) = body_node {
        fields::note_members(walk, inner, body);
        match rule_choice::rule_at(&walk.input, body) {
            Some(Rule::Positions { .. }) => walk.visit(body, READ),
            Some(Rule::Variants {}) => variables::variants(walk, body),
            _ => walk.visit_children(body),
        };
        constructions::of_bare_variants(walk, symbol, body);
    }
    fallback::visit_left_out(walk, node);
    generated::define(walk, symbol, inner, &generated);
    let outer = before.outer.scope;
    callable_scope::leave_callable(walk, before);
    walk.context.around.owner = owner;
    if *kind == SymbolKind::Enum {
        bind_variants(walk, symbol, node);
    }
    walk.facts.expr(Expr::Name(name, outer))
}

/// Binds the variants of an enumeration in the scope around it as well, if the language does.
fn bind_variants<'t>(walk: &mut Walk<'t>, of: LocalSymbol, node: Node<'t>) {
    let rules = &walk.input.language.manifest.resolution;
    let is_scoped = |word: &&str| rules.scoped_enum_words.iter().any(|other| other == word);
    if !rules.variants_visible || variables::words(&walk.input, node).iter().any(is_scoped) {
        return;
    }
    // Where types have tags, the body of a type is no scope of names.
    let owns = |kind: ScopeKind| !rules.tagged_types || kind != ScopeKind::Type;
    let around = walk.facts.nearest(walk.context.scope, owns);
    let first = of.get().map_or(usize::MAX, |own| own + 1);
    let members = walk.facts.facts.symbols.get(first..).unwrap_or_default();
    let variants: Vec<_> = (first..)
        .zip(members)
        .filter(|(_, member)| member.container == of && member.kind == SymbolKind::Variant)
        .map(|(at, member)| (LocalSymbol::at(at), member.name, member.start_byte))
        .collect();
    for (variant, name, from) in variants {
        walk.facts.bind_symbol(around, walk.context.scope, name, from, variant);
    }
}

/// Opens the scope of a type's members.
fn enter_type<'t>(
    walk: &mut Walk<'t>,
    symbol: LocalSymbol,
    node: Node<'t>,
    type_params: Option<&'static Selector>,
) -> CallableContext {
    let (callable, enclosing) = (walk.context.callable, walk.context.enclosing);
    let before =
        CallableContext { outer: walk.open(ScopeKind::Type, symbol, node), callable, enclosing };
    let inner = walk.context.scope;
    walk.facts.symbol_mut(symbol).inner = inner;
    walk.context.enclosing = symbol;
    walk.context.callable.symbol = LocalSymbol::NONE;
    walk.context.callable.named = LocalSymbol::NONE;
    generics::generics(walk, symbol, node, type_params);
    before
}

fn anonymous_type<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    bases: &'static [cograph_grammar::BaseRule],
    body: Option<Node<'t>>,
) -> ExprId {
    let of_type = |rule: &'static cograph_grammar::BaseRule| Some(&rule.of);
    fallback::visit_passed(walk, node, bases.iter().map(of_type), body);
    // The members of the type are no names in its header.
    let first = self::bases(walk, node, bases, LocalSymbol::NONE);
    let first = names::known(&mut walk.facts, first);
    let scope = walk.open(ScopeKind::Type, LocalSymbol::NONE, node);
    let inner = walk.context.scope;
    if let Some(index) = inner.get() {
        walk.facts.facts.scopes[index].owner = first;
    }
    let outer = std::mem::replace(&mut walk.context.callable.self_scope, inner);
    if let Some(body) = body {
        walk.visit_children(body);
    }
    walk.context.callable.self_scope = outer;
    walk.close(scope);
    walk.facts.expr(Expr::Members(inner))
}

/// Visits the bases of a type; returns the first.
fn bases<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    bases: &'static [cograph_grammar::BaseRule],
    symbol: LocalSymbol,
) -> ExprId {
    let mut first = ExprId::NONE;
    for rule in bases {
        let usage =
            Usage::Site(if rule.implement { SiteKind::Implement } else { SiteKind::Inherit });
        for base in children::every(&walk.input, Some(&rule.of), node) {
            if let Some(library) = &rule.library {
                let ty = walk.literal(library);
                walk.facts.add_base(symbol, ty, rule.implement);
                continue;
            }
            for ty in types::visit_types(walk, base, usage) {
                walk.facts.add_base(symbol, ty, rule.implement);
                first = if first.is_some() { first } else { ty };
            }
        }
    }
    first
}

pub(crate) fn type_name<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::TypeName { name, ty, type_params, kinds } = rule else { return ExprId::NONE };
    let (Some(name_node), Some(ty_node)) = (name.first(node), ty.first(node)) else {
        return walk.visit_children(node);
    };
    let kind = kinds.get(ty_node.kind()).copied();
    let name = names::name_of(walk, name_node);
    // The keyword of the type belongs to the header.
    let word_end = ty_node.child(0).map_or(ty_node.end_byte(), |word| word.end_byte());
    let header_end = if kind.is_some() { word_end } else { node.end_byte() };
    let kind_word = kind.unwrap_or(SymbolKind::TypeAlias);
    let definition =
        Definition { name, name_node, node, kind: kind_word, header_end, has_body: true };
    let symbol = symbols::define(walk, &definition);
    let before = enter_type(walk, symbol, node, type_params.as_ref());
    if kind.is_some() {
        walk.visit_children(ty_node);
    } else {
        let ty = types::visit_type(walk, ty_node, Usage::Site(SiteKind::Type));
        walk.facts.symbol_mut(symbol).ty = ty;
    }
    callable_scope::leave_callable(walk, before);
    ExprId::NONE
}

pub(crate) fn extend<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Extend { ty, interface, body, type_params, receiver } = rule else {
        return ExprId::NONE;
    };
    let callable = walk.context.callable;
    let scope = walk.open(ScopeKind::Type, LocalSymbol::NONE, node);
    let inner = walk.context.scope;
    generics::generics(walk, LocalSymbol::NONE, node, type_params.as_ref());
    let implements = interfaces(walk, node, interface.as_ref());
    let owner = match ty.first(node) {
        Some(ty) => types::visit_type(walk, ty, Usage::Site(SiteKind::Type)),
        None => ExprId::NONE,
    };
    if let Some(index) = inner.get() {
        walk.facts.facts.scopes[index].owner = owner;
    }
    if let Some(receiver) = receiver.as_ref().and_then(|selector| selector.first(node)) {
        let name = names::name_of(walk, receiver);
        walk.bind(inner, name, BindingKind::Param, 0, owner, ExprId::NONE);
    }
    walk.context.around = Surroundings { owner, implements, ..Surroundings::NONE };
    walk.context.callable = Callable { self_scope: inner, ..Callable::NONE };
    // What stands in front of the extension is of no member.
    walk.context.pending = Pending::default();
    if let Some(body) = body.as_ref().and_then(|selector| selector.first(node)) {
        walk.visit_children(body);
    }
    walk.context.callable = callable;
    walk.close(scope);
    ExprId::NONE
}

/// Visits the interfaces that an extension implements: returns the only one, or the union of all.
fn interfaces<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    interface: Option<&'static Selector>,
) -> ExprId {
    let usage = Usage::Site(SiteKind::Implement);
    let found: SmallVec<[ExprId; 2]> = children::every(&walk.input, interface, node)
        .into_iter()
        .map(|interface| types::visit_type(walk, interface, usage))
        .collect();
    match found[..] {
        [] => ExprId::NONE,
        [only] => only,
        _ => {
            let list = walk.facts.list(&found);
            walk.facts.expr(Expr::Union(list))
        }
    }
}

/// Visits a part of a type's body with members of the type itself.
pub(crate) fn statics<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    body: &'static Selector,
    bases: Option<&'static Selector>,
) -> ExprId {
    for base in children::every(&walk.input, bases, node) {
        for ty in types::visit_types(walk, base, Usage::Site(SiteKind::Inherit)) {
            let name = walk.facts.synthetic(Synthetic::Statics);
            walk.bind(walk.context.scope, name, BindingKind::Value, 0, ty, ExprId::NONE);
        }
    }
    let around = Surroundings { declared_static: true, ..Surroundings::NONE };
    let around = std::mem::replace(&mut walk.context.around, around);
    if let Some(body) = body.first(node) {
        walk.visit_children(body);
    }
    walk.context.around = around;
    fallback::visit_left_out(walk, node);
    ExprId::NONE
}

pub(crate) fn module<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Module { kind, name, body } = rule else { return ExprId::NONE };
    let body_node = body.as_ref().and_then(|selector| selector.first(node));
    let name_node = name.as_ref().and_then(|selector| selector.first(node));
    let Some(body_node) = body_node else {
        if let Some(name_node) = name_node {
            import::child_module(walk, node, name_node);
        }
        return ExprId::NONE;
    };
    let Some(name_node) = name_node else {
        // The contents of an unnamed module belong to the enclosing scope with internal
        // visibility.
        let section = walk.context.around.section.replace(Visibility::Internal);
        walk.visit_children(body_node);
        walk.context.around.section = section;
        return ExprId::NONE;
    };
    symbols::visit_modifiers(walk, node);
    let transparent = &walk.input.language.manifest.names.transparent_module_words;
    if !transparent.is_empty()
        && variables::words(&walk.input, node)
            .iter()
            .any(|word| transparent.iter().any(|name| name == word))
    {
        import::import_members(walk, name_node);
    }
    let exported = walk.context.around.exported;
    let before = (walk.context.enclosing, walk.context.scope, walk.context.around);
    for part in module_names(walk, name_node) {
        let name = names::name_of(walk, part);
        let definition = Definition {
            name,
            name_node: part,
            node,
            kind: *kind,
            header_end: body_node.start_byte(),
            has_body: true,
        };
        walk.context.around.exported = exported;
        let symbol = symbols::define(walk, &definition);
        walk.open(ScopeKind::Module, symbol, node);
        let inner = walk.context.scope;
        walk.facts.symbol_mut(symbol).inner = inner;
    }
    walk.visit_children(body_node);
    (walk.context.enclosing, walk.context.scope, walk.context.around) = before;
    ExprId::NONE
}

/// Returns the names of nested modules in one path (`a::b`), or the only name.
fn module_names<'t>(walk: &mut Walk<'t>, name: Node<'t>) -> Vec<Node<'t>> {
    let (mut names, mut left) = (Vec::new(), vec![name]);
    while let Some(node) = left.pop() {
        let parts = children::named_children(&walk.input, node);
        match parts.is_empty() {
            true => names.push(node),
            false => left.extend(parts.into_iter().rev()),
        }
    }
    let most = walk.depth_left();
    if names.len() > most {
        walk.problem(ProblemKind::TooDeep, name);
        names.truncate(most);
    }
    names
}

pub(crate) fn embed<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: &'static Selector,
    several: bool,
    hooks: Option<&[String]>,
    is_first: bool,
) -> ExprId {
    let mut embedding = walk.context.enclosing;
    if let Some(hooks) = hooks {
        match hooked_type(walk, hooks) {
            Some(of) => embedding = of,
            None => {
                walk.visit_children(node);
                return ExprId::NONE;
            }
        }
    }
    let parts = children::named_children(&walk.input, node);
    if parts.len() > 1 && !several {
        // Several types are bounds of a type parameter, not bases.
        for part in parts {
            types::visit_type(walk, part, Usage::Site(SiteKind::Type));
        }
        return ExprId::NONE;
    }
    let bases = children::every(&walk.input, Some(of), node);
    for base in &bases {
        let mut ty = types::visit_type(walk, *base, Usage::Site(SiteKind::Inherit));
        if is_first {
            ty = walk.facts.of(ty, |ty| Expr::Wrap(ty, Wrapper::Prepended));
        }
        walk.facts.add_base(embedding, ty, false);
    }
    if several {
        // Other names of members of the bases.
        let is_list = |part: &Node<'t>| {
            rule_choice::rule_at(&walk.input, *part).is_none()
                && bases.iter().all(|base| base.id() != part.id())
        };
        let lists: Vec<Node<'t>> = parts.into_iter().filter(is_list).collect();
        for list in lists {
            walk.visit(list, READ);
        }
    }
    ExprId::NONE
}

/// Returns the type around a callable with one of these names, if that is the current one.
fn hooked_type(walk: &Walk<'_>, hooks: &[String]) -> Option<LocalSymbol> {
    let callable = &walk.facts.facts.symbols[walk.context.callable.named.get()?];
    let name = walk.facts.text(callable.name);
    let is_hook = hooks.iter().any(|hook| hook == name);
    (is_hook && callable.container.is_some()).then_some(callable.container)
}

/// Defines an embedded field: a base that is also a field with the name of its type.
pub(crate) fn embedded_field<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    ty: Option<&'static Selector>,
) -> ExprId {
    let Some(ty_node) = ty.and_then(|selector| selector.first(node)) else {
        return ExprId::NONE;
    };
    let pending = std::mem::take(&mut walk.context.pending);
    let ty = types::visit_type(walk, ty_node, Usage::Site(SiteKind::Inherit));
    walk.facts.add_base(walk.context.enclosing, ty, false);
    let mut named = ty;
    let name = loop {
        match walk.facts.get(named) {
            Expr::Wrap(inner, _) | Expr::Apply(inner, _) => named = inner,
            Expr::Name(name, _) | Expr::Member(_, name) => break name,
            _ => return ExprId::NONE,
        }
    };
    walk.context.pending = pending;
    bound_names::declare_name(
        walk,
        ty_node,
        name,
        Flow { ty, value: ExprId::NONE, node },
        SymbolKind::Field,
    );
    ExprId::NONE
}

/// Visits definitions that share one keyword.
pub(crate) fn group<'t>(walk: &mut Walk<'t>, node: Node<'t>, repeats: bool) -> ExprId {
    let alone = children::only_named_child(&walk.input, node).is_some();
    let mut repeated = ExprId::NONE;
    let outer = (walk.context.whole, walk.context.around.declared);
    for member in children::children(&walk.input, node) {
        if walk.input.language.is_comment(member.kind_id()) {
            walk.note_comment(member);
            continue;
        }
        if !member.is_named() {
            continue;
        }
        walk.context.whole = alone.then(|| (member.id(), node));
        if let (true, Some(Rule::Variable { ty, value, .. })) =
            (repeats, rule_choice::rule_at(&walk.input, member))
        {
            let part = |selector: &'static Option<Selector>| {
                selector.as_ref().and_then(|selector| selector.first(member))
            };
            let (ty, value) = (part(ty), part(value));
            walk.context.around.declared =
                if ty.is_none() && value.is_none() { repeated } else { ExprId::NONE };
            walk.visit(member, READ);
            if ty.is_some() || value.is_some() {
                repeated = ty.map_or(ExprId::NONE, |ty| types::visit_type(walk, ty, Usage::Silent));
            }
        } else {
            walk.visit(member, READ);
        }
        walk.context.pending = Pending::default();
    }
    (walk.context.whole, walk.context.around.declared) = outer;
    ExprId::NONE
}
