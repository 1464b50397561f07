//! Declarations with chains of declarators (`*name[3]`, `(*name)(int)`), and type aliases of that
//! form.

use crate::bindings::bound_names::{Bind, Flow};
use crate::bindings::{bound_names, patterns, variables};
use crate::definitions::{callable_scope, constructions, declarator_chain, parameters, symbols};
use crate::types::generics;
use crate::walk::input::Input;
use crate::walk::{
    Declarator, Declared, Definition, Pending, READ, Usage, Walk, children, names, rule_choice,
    texts,
};
use crate::{definitions, types};
use cograph_grammar::{ModifierMeaning, Rule, TypeRule, WordClass};
use cograph_model::facts::{Expr, ExprId, LocalSymbol, Run, ScopeKind, flags};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

pub(crate) fn declaration<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Declaration { kind, ty, declarators, values, hoisted } = rule else {
        return ExprId::NONE;
    };
    let pending = std::mem::take(&mut walk.context.pending);
    walk.context.pending.comment = pending.comment;
    walk.context.pending.decorators = pending.decorators;
    symbols::visit_modifiers(walk, node);
    let mut pending_here = std::mem::take(&mut walk.context.pending);
    pending_here.start = pending.start;
    let outer = walk.context.around;
    let ty_node = ty.as_ref().and_then(|selector| selector.first(node));
    let declarators = children::every(&walk.input, Some(declarators), node);
    if declarators.is_empty()
        && let Some(body) = ty_node.and_then(|ty| anonymous_body(&walk.input, ty))
    {
        // Members of an anonymous type without a variable belong to the enclosing scope.
        walk.visit_children(body);
        return ExprId::NONE;
    }
    walk.context.around.hoisted = *hoisted;
    // The type may name type parameters, which are bound in the scope of the callable.
    let waits = declarators.len() == 1 && walk.context.waiting_type_params.is_some();
    walk.context.around.declared = match ty_node {
        Some(ty) if !waits => types::visit_type(walk, ty, Usage::Site(SiteKind::Type)),
        _ => ExprId::NONE,
    };
    let words = variables::words(&walk.input, node);
    let rules = &walk.input.language.manifest.modifiers;
    let has = |meaning: ModifierMeaning| rules.have(&words, meaning);
    walk.context.around.declared_constant =
        *kind == Some(SymbolKind::Constant) || variables::is_constant(&walk.input, &words);
    walk.context.around.declared_static = has(ModifierMeaning::Static);
    let in_type = walk.facts.scope_kind(walk.context.scope) == ScopeKind::Type;
    let elsewhere =
        has(ModifierMeaning::Declaration) || (in_type && has(ModifierMeaning::FieldDeclaration));
    if let Some(visibility) =
        words.iter().find_map(|word| walk.input.language.manifest.visibility.words.get(*word))
    {
        walk.context.around.section =
            cograph_model::Visibility::from_word(visibility).or(walk.context.around.section);
    }
    let mut values = children::every(&walk.input, values.as_ref(), node);
    let alone = declarators.len() == 1;
    let outer_whole = walk.context.whole;
    for declarator in declarators {
        walk.context.whole = alone.then(|| (declarator.id(), node));
        walk.context.pending = pending_here.clone();
        if matches!(rule_choice::rule_at(&walk.input, declarator), Some(Rule::Variable { .. })) {
            walk.visit(declarator, READ);
            continue;
        }
        let kind = bound_names::variable_kind(&walk.context, *kind);
        let outside = values.first().copied().filter(|_| alone);
        let (symbol, uses_outside) =
            declare_through(walk, declarator, (node, elsewhere), ty_node, kind, outside);
        let has_value = !values.is_empty();
        if uses_outside {
            values.clear();
        }
        assign_members(walk, symbol);
        let Some(index) = symbol.get() else { continue };
        let entry = &mut walk.facts.facts.symbols[index];
        if entry.kind.is_callable() && !values.is_empty() {
            entry.flags = (entry.flags & !flags::DECLARATION) | flags::ABSTRACT;
        } else if !entry.kind.is_callable()
            && elsewhere
            && !has_value
            && entry.values == Run::default()
        {
            entry.flags |= flags::DECLARATION;
        }
    }
    walk.context.whole = outer_whole;
    for value in values {
        walk.visit(value, READ);
    }
    walk.context.around = outer;
    ExprId::NONE
}

/// Returns the body of an anonymous type.
fn anonymous_body<'t>(input: &Input<'t>, node: Node<'t>) -> Option<Node<'t>> {
    match rule_choice::rule_at(input, node) {
        Some(Rule::Type { name: Some(name), body: Some(body), .. })
            if name.first(node).is_none() =>
        {
            body.first(node)
        }
        _ => None,
    }
}

/// Assigns the members of an anonymous type to the first variable declared with it.
fn assign_members(walk: &mut Walk<'_>, symbol: LocalSymbol) {
    let Expr::Members(inner) = walk.facts.get(walk.context.around.declared) else { return };
    let Some(index) = inner.get().filter(|_| symbol.is_some()) else { return };
    if walk.facts.facts.scopes[index].symbol.is_some() {
        return;
    }
    walk.facts.facts.scopes[index].symbol = symbol;
    for member in walk.facts.facts.symbols.iter_mut().filter(|member| member.scope == inner) {
        member.container = symbol;
    }
}

/// Declares the name in a chain of declarators: a variable, or a callable without a body.
/// The value `outside` of its declarator is that of a variable; true if it is used.
fn declare_through<'t>(
    walk: &mut Walk<'t>,
    start: Node<'t>,
    (node, elsewhere): (Node<'t>, bool),
    ty_node: Option<Node<'t>>,
    kind: SymbolKind,
    outside: Option<Node<'t>>,
) -> (LocalSymbol, bool) {
    let declared = declarator_chain::declarator(walk, start);
    let builtin_types = walk.input.language.manifest.preprocessor.words_of(WordClass::BuiltinType);
    let is_type = |name: &Node<'t>| {
        // The text behind a syntax error may look like the head of a callable.
        declared.is_callable
            && builtin_types.iter().any(|word| word == texts::text_of(&walk.input, *name))
    };
    let name_node = declared.name.filter(|name| !is_type(name));
    let waits = walk.context.waiting_type_params.is_some();
    let waits = waits && !walk.context.around.declared.is_some();
    if waits
        && !(declared.is_callable && name_node.is_some())
        && let Some(ty) = ty_node
    {
        walk.context.around.declared = types::visit_type(walk, ty, Usage::Site(SiteKind::Type));
    }
    let Some(name_node) = name_node else {
        walk.visit_children(start);
        return (LocalSymbol::NONE, false);
    };
    let points = declared.wraps.iter().any(|wrap| matches!(wrap, Declarator::Named(_)));
    let is_read_only = points && variables::is_read_only(&walk.input, node);
    let ty = variables::qualified(walk, walk.context.around.declared, is_read_only);
    let ty = declarator_chain::wrapped(&mut walk.facts, ty, &declared.wraps);
    // The target of a pointer may be constant; the pointer is not.
    let kind = if points && kind == SymbolKind::Constant { SymbolKind::Variable } else { kind };
    if declared.is_callable {
        let symbol = match constructions::bare_arguments(walk, &declared, ty_node) {
            Some(arguments) => {
                let value = constructions::constructed(walk, ty_node, ty, &arguments);
                patterns::bind_pattern(
                    walk,
                    name_node,
                    Flow { ty, value, node },
                    Bind::Declare(kind),
                )
            }
            None => {
                let result = (ty, ty_node.filter(|_| waits));
                declare_callable(walk, &declared, name_node, node, result)
            }
        };
        return (symbol, false);
    }
    let pending = std::mem::take(&mut walk.context.pending);
    if let Some(params) = declared.params {
        for param in children::named_children(&walk.input, params) {
            types::parameter_type(walk, param, Usage::Site(SiteKind::Type));
        }
    }
    let is_plain = declared.wraps.is_empty();
    let value = match (declared.args, declared.value.or(outside)) {
        (Some(args), _) if is_plain => {
            let arguments = children::named_children(&walk.input, args);
            constructions::constructed(walk, ty_node, ty, &arguments)
        }
        (_, Some(list)) if is_plain && constructions::is_list(&walk.input, list) => {
            let arguments = children::named_children(&walk.input, list);
            constructions::constructed(walk, ty_node, ty, &arguments)
        }
        (_, Some(value)) => {
            let value = initial_value(walk, value, ty);
            if is_plain && value.is_some() {
                constructions::implied(walk, ty_node, ty, value);
            }
            value
        }
        _ => {
            if is_plain && !elsewhere {
                constructions::implied(walk, ty_node, ty, ExprId::NONE);
            }
            ExprId::NONE
        }
    };
    walk.context.pending = pending;
    let symbol = if matches!(
        rule_choice::rule_at(&walk.input, name_node),
        Some(Rule::Member { scoped: true, .. })
    ) {
        let outer = walk.context.around.owner;
        let (name, name_node) = walk.qualified_name(name_node);
        let definition = Definition {
            name,
            name_node,
            node,
            kind: SymbolKind::Field,
            header_end: node.end_byte(),
            has_body: true,
        };
        let symbol = symbols::define(walk, &definition);
        walk.context.around.owner = outer;
        walk.facts.symbol_mut(symbol).ty = ty;
        walk.facts.add_value(symbol, value);
        symbol
    } else {
        patterns::bind_pattern(walk, name_node, Flow { ty, value, node }, Bind::Declare(kind))
    };
    if symbol.is_some() && declared.wraps.contains(&Declarator::Function) {
        walk.facts.symbol_mut(symbol).flags |= flags::FUNCTION_VALUE;
    }
    (symbol, outside.is_some() && declared.value.is_none())
}

fn declare_callable<'t>(
    walk: &mut Walk<'t>,
    declared: &Declared<'t>,
    name_node: Node<'t>,
    node: Node<'t>,
    (ty, waiting_ty): (ExprId, Option<Node<'t>>),
) -> LocalSymbol {
    let outer = walk.context.around.owner;
    let (name, name_node) = walk.qualified_name(name_node);
    let kind = SymbolKind::Function;
    let definition =
        Definition { name, name_node, node, kind, header_end: node.end_byte(), has_body: false };
    let symbol = symbols::define(walk, &definition);
    walk.context.around.owner = outer;
    if declared.is_read_only {
        walk.facts.symbol_mut(symbol).flags |= flags::READ_ONLY;
    }
    let context = callable_scope::enter_callable(walk, symbol, node);
    generics::generics(walk, symbol, node, None);
    let ty = waiting_ty.map_or(ty, |waiting| {
        let ty = types::visit_type(walk, waiting, Usage::Site(SiteKind::Type));
        declarator_chain::wrapped(&mut walk.facts, ty, &declared.wraps)
    });
    if let Some(params) = declared.params {
        parameters::parameters(walk, params, symbol);
    }
    let returns = declared
        .returns
        .map(|returns| types::visit_type(walk, returns, Usage::Site(SiteKind::Type)));
    callable_scope::leave_callable(walk, context);
    walk.facts.symbol_mut(symbol).ty = returns.unwrap_or(ty);
    symbol
}

/// Returns the value of an initialiser; an initializer list is a value of the declared type.
fn initial_value<'t>(walk: &mut Walk<'t>, node: Node<'t>, ty: ExprId) -> ExprId {
    let wanted = walk.facts.of(ty, Expr::OfType);
    let value = walk.visit_as(node, wanted);
    if value.is_some() { value } else { wanted }
}

pub(crate) fn alias<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Alias { name, declarator, ty, type_params } = rule else { return ExprId::NONE };
    let ty_node = match ty {
        Some(ty) => ty.first(node),
        None => walk.input.language.type_rule(node.kind_id()).map(|_| node),
    };
    let mut names: Vec<(Node<'t>, Vec<Declarator>)> = Vec::new();
    if let Some(selector) = name {
        names.extend(selector.first(node).map(|name| (name, Vec::new())));
    }
    if let Some(selector) = declarator {
        for start in children::every(&walk.input, Some(selector), node) {
            let declared = declarator_chain::declarator(walk, start);
            names.extend(declared.name.map(|name| (name, declared.wraps)));
            if let Some(params) = declared.params {
                let pending = std::mem::take(&mut walk.context.pending);
                for param in children::named_children(&walk.input, params) {
                    types::parameter_type(walk, param, Usage::Site(SiteKind::Type));
                }
                walk.context.pending = pending;
            }
        }
    }
    let mut pending = std::mem::take(&mut walk.context.pending);
    let params = type_params
        .as_ref()
        .and_then(|selector| selector.first(node))
        .or(walk.context.waiting_type_params.take());
    let mut shared = ExprId::NONE;
    if let Some(ty_node) = ty_node
        && matches!(
            walk.input.language.type_rule(ty_node.kind_id()),
            Some(TypeRule::Specifier { .. })
        )
    {
        shared = specified(walk, ty_node, node, &mut names, &mut pending);
    } else if let Some(ty_node) = ty_node
        && names.len() > 1
    {
        shared = types::visit_type(walk, ty_node, Usage::Site(SiteKind::Type));
    }
    for (name_node, wraps) in names {
        walk.context.pending =
            Pending { comment: pending.comment, decorators: Vec::new(), start: pending.start };
        symbols::visit_modifiers(walk, node);
        let name = names::name_of(walk, name_node);
        let kind = SymbolKind::TypeAlias;
        let definition =
            Definition { name, name_node, node, kind, header_end: node.end_byte(), has_body: true };
        let symbol = symbols::define(walk, &definition);
        let before = walk.context.enclosing;
        let scope = walk.open(ScopeKind::Block, symbol, node);
        let inner = walk.context.scope;
        walk.facts.symbol_mut(symbol).inner = inner;
        walk.context.enclosing = symbol;
        walk.context.waiting_type_params = params;
        generics::generics(walk, symbol, node, None);
        if let Some(ty_node) = ty_node
            && !shared.is_some()
        {
            shared = types::visit_type(walk, ty_node, Usage::Site(SiteKind::Type));
        }
        walk.context.enclosing = before;
        walk.close(scope);
        let ty = declarator_chain::wrapped(&mut walk.facts, shared, &wraps);
        walk.facts.symbol_mut(symbol).ty = ty;
    }
    ExprId::NONE
}

/// Visits a type named or defined in an alias. It belongs to the enclosing scope; an anonymous
/// one takes the name of the first plain alias, and an alias with the type's own name is
/// redundant.
fn specified<'t>(
    walk: &mut Walk<'t>,
    ty_node: Node<'t>,
    node: Node<'t>,
    names: &mut Vec<(Node<'t>, Vec<Declarator>)>,
    pending: &mut Pending<'t>,
) -> ExprId {
    let Some(rule @ Rule::Type { name: Some(name), body, .. }) =
        rule_choice::rule_at(&walk.input, ty_node)
    else {
        return types::visit_type(walk, ty_node, Usage::Site(SiteKind::Type));
    };
    let own = name.first(ty_node);
    let has_body = body.as_ref().is_some_and(|selector| selector.first(ty_node).is_some());
    let same = |(alias, wraps): &(Node<'t>, Vec<Declarator>)| {
        wraps.is_empty()
            && own.is_none_or(|own| {
                texts::text_of(&walk.input, own) == texts::text_of(&walk.input, *alias)
            })
    };
    let Some(position) = names.iter().position(same).filter(|_| has_body || own.is_some()) else {
        return types::visit_type(walk, ty_node, Usage::Site(SiteKind::Type));
    };
    let (name_node, _) = names.remove(position);
    walk.context.pending =
        Pending { comment: pending.comment.take(), decorators: Vec::new(), start: pending.start };
    symbols::visit_modifiers(walk, ty_node);
    let name = names::name_of(walk, name_node);
    definitions::types::named_type(walk, rule, ty_node, node, name, name_node)
}
