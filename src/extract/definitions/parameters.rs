//! Parameters: bindings, arity, receivers, and parameters that are fields.

use crate::bindings::bound_names::{Bind, Flow};
use crate::bindings::{patterns, variables};
use crate::definitions::{callable_scope, declarator_chain, doc_types, symbols};
use crate::facts::builder::Builder;
use crate::macros::bodies;
use crate::types;
use crate::walk::children::Children;
use crate::walk::input::Input;
use crate::walk::{Context, READ, Usage, Walk, children, names, rule_choice, texts};
use cograph_faults::{Fault, planted};
use cograph_grammar::{Gathers, ModifierMeaning, Pattern, Rule};
use cograph_model::facts::{
    Binding, BindingKind, Contextual, Expr, ExprId, LocalSymbol, NameId, ScopeKind, Wrapper, flags,
};
use cograph_model::{SiteKind, SymbolKind, Visibility};
use tree_sitter::Node;

/// Binds parameters in the current scope and records them in their symbol.
pub(crate) fn parameters<'t>(walk: &mut Walk<'t>, node: Node<'t>, symbol: LocalSymbol) {
    let nodes = match rule_choice::rule_at(&walk.input, node) {
        Some(Rule::Name { .. } | Rule::Param { .. }) => smallvec::smallvec![node],
        // Those of a closure may be patterns, a placeholder among them.
        _ if !symbol.is_some() => patterns::pattern_parts(&walk.input, node),
        _ => children::named_children(&walk.input, node),
    };
    parameters_among(walk, node, nodes, symbol);
}

/// Does the same for the parameters among the children of a node.
pub(super) fn parameters_among<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    nodes: Children<'t>,
    symbol: LocalSymbol,
) {
    let comment = walk.context.documented.take().filter(|_| symbol.is_some());
    doc_types::type_params(walk, node, comment, symbol);
    let mut start = walk.facts.facts.bindings.len();
    let symbols = walk.facts.facts.symbols.len();
    let (mut least, mut most, mut position) = (0u16, 0u16, 0u32);
    let closure = !symbol.is_some()
        || walk.facts.symbol_mut(symbol).flags & flags::FUNCTION_VALUE != 0
        || is_in_object(&mut walk.facts, symbol);
    // Names in patterns, and fields, follow all parameters, so that parameters and arguments
    // have the same positions.
    let mut patterns: Vec<(Node<'t>, Flow<'t>, bool)> = Vec::new();
    if bodies::has_rest_word(&walk.input, node) {
        most = u16::MAX;
    }
    let mut receiver = callable_scope::first_parameter(walk, symbol);
    let in_type = walk.facts.scope_kind(walk.context.scope) == ScopeKind::Type;
    let is_extension = nodes.first().is_some_and(|first| extends_type(&walk.input, *first));
    let mut siblings = [None; 2];
    for param in nodes {
        // A name or default value next to its parameter is visited with it.
        if siblings.contains(&Some(param.id())) {
            continue;
        }
        if walk
            .input
            .language
            .manifest
            .names
            .ignored_params
            .iter()
            .any(|text| text == texts::text_of(&walk.input, param))
        {
            continue;
        }
        if let Some(value) = receiver.take() {
            receiver_parameter(walk, param, value, symbol);
            // It takes no argument of a call.
            start = walk.facts.facts.bindings.len();
            continue;
        }
        match rule_choice::rule_at(&walk.input, param) {
            Some(Rule::ParamMark {} | Rule::Decorator { .. }) => continue,
            Some(Rule::SelfParam { .. }) => {
                if symbol.is_some() {
                    walk.facts.symbol_mut(symbol).flags |= flags::HAS_SELF;
                }
                continue;
            }
            Some(Rule::Param { name: Some(name), ty, .. })
                if names::is_self_word(&walk.input, name.first(param)) =>
            {
                if symbol.is_some() {
                    walk.facts.symbol_mut(symbol).flags |= flags::HAS_SELF;
                }
                if let Some(ty) = ty.as_ref().and_then(|selector| selector.first(param)) {
                    let ty = types::visit_type(walk, ty, Usage::Site(SiteKind::Type));
                    declare_receiver(walk, ty);
                }
                continue;
            }
            Some(rule @ Rule::Param { name, variadic, optional, value, .. }) => {
                let given = if closure {
                    walk.facts
                        .expr(Expr::Given(walk.context.scope, Contextual::Parameter(position)))
                } else {
                    ExprId::NONE
                };
                let count = parameter(walk, rule, param, in_type, given, comment, &mut patterns);
                siblings = [name, value].map(|part| Some(part.as_ref()?.first(param)?.id()));
                let has_default = *optional || siblings[1].is_some();
                let gathers = *variadic || is_variadic(&walk.input, param);
                if gathers && !planted(Fault::RestTakesOne) {
                    most = u16::MAX;
                } else {
                    most = most.saturating_add(count);
                    let may_be_left_out = has_default && !planted(Fault::DefaultsRequired);
                    least += if may_be_left_out { 0 } else { count };
                }
            }
            _ => {
                let given = if closure {
                    walk.facts
                        .expr(Expr::Given(walk.context.scope, Contextual::Parameter(position)))
                } else {
                    ExprId::NONE
                };
                let ty = doc_types::documented_parameter(walk, comment, param);
                let flow = Flow { ty, value: given, node: param };
                let rest = matches!(
                    walk.input.language.pattern(param.kind_id()),
                    Some(Pattern::Rest { .. })
                );
                let default = matches!(
                    walk.input.language.pattern(param.kind_id()),
                    Some(Pattern::Default { .. })
                );
                bind_parameter(walk, param, flow, &mut patterns);
                most = if rest { u16::MAX } else { most.saturating_add(1) };
                least += u16::from(!rest && !default);
            }
        }
        position += 1;
    }
    let run = walk.facts.gather(walk.context.scope, start, symbols);
    for (pattern, flow, is_field) in patterns {
        if is_field {
            field_parameter(walk, pattern, flow);
        } else {
            patterns::bind_pattern(walk, pattern, flow, Bind::Param);
        }
    }
    if symbol.is_some() {
        if is_extension {
            walk.facts.symbol_mut(symbol).flags |= flags::EXTENSION;
        }
        let declared = walk.facts.symbol_mut(symbol).ty;
        let ty = doc_types::or_documented(walk, declared, |walk| {
            doc_types::documented_result(walk, comment, node)
        });
        let entry = walk.facts.symbol_mut(symbol);
        entry.set_params(run);
        entry.arity = (least, most);
        entry.ty = ty;
    }
}

/// True if a first parameter makes its function an extension of the parameter's type.
fn extends_type<'t>(input: &Input<'t>, param: Node<'t>) -> bool {
    let modifiers = &input.language.manifest.modifiers;
    modifiers.has_modifier(ModifierMeaning::Extension)
        && modifiers.have(&variables::words(input, param), ModifierMeaning::Extension)
}

/// True if a callable is a member of an object literal.
fn is_in_object(facts: &mut Builder, symbol: LocalSymbol) -> bool {
    let scope = facts.symbol_mut(symbol).scope;
    let Some(scope) = scope.get().map(|position| &facts.facts.scopes[position]) else {
        return false;
    };
    let of_type =
        scope.symbol.get().is_some_and(|symbol| facts.facts.symbols[symbol].kind.is_type());
    scope.kind == ScopeKind::Type && !of_type && !scope.owner.is_some()
}

/// Binds a parameter that is a name; for a pattern binds the position and records the pattern.
fn bind_parameter<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    flow: Flow<'t>,
    patterns: &mut Vec<(Node<'t>, Flow<'t>, bool)>,
) {
    let pattern = match walk.input.language.pattern(node.kind_id()) {
        Some(Pattern::Default { of, .. }) => {
            of.first(node).and_then(|of| walk.input.language.pattern(of.kind_id()))
        }
        other => other,
    };
    if !matches!(pattern, Some(Pattern::Fields { .. } | Pattern::Tuple { .. })) {
        let before = walk.facts.facts.bindings.len();
        patterns::bind_pattern(walk, node, flow, Bind::Param);
        if walk.facts.facts.bindings.len() > before {
            return;
        }
        // A blank one has a position, as all others.
        unnamed_parameter(walk, flow.ty, flow.value);
        return;
    }
    unnamed_parameter(walk, flow.ty, flow.value);
    patterns.push((node, flow, false));
}

/// Binds the position of a parameter without a name.
fn unnamed_parameter(walk: &mut Walk<'_>, ty: ExprId, value: ExprId) {
    let scope = walk.context.scope;
    let place = Binding::at(scope, NameId::NONE, 0);
    walk.facts.bind(place.of_value(BindingKind::Param, ty, value));
}

/// Records the declared receiver type of a callable outside of any type.
fn declare_receiver(walk: &mut Walk<'_>, ty: ExprId) {
    if let Some(scope) = walk
        .context
        .scope
        .get()
        .filter(|_| ty.is_some() && !walk.context.callable.self_scope.is_some())
    {
        walk.facts.facts.scopes[scope].owner = ty;
        walk.context.callable.self_scope = walk.context.scope;
    }
}

fn is_variadic<'t>(input: &Input<'t>, param: Node<'t>) -> bool {
    let is_rest = |child: Node<'_>| {
        matches!(input.language.pattern(child.kind_id()), Some(Pattern::Rest { .. }))
    };
    input.language.has_rests() && children::named_children(input, param).into_iter().any(is_rest)
}

fn receiver_parameter<'t>(walk: &mut Walk<'t>, param: Node<'t>, value: Expr, symbol: LocalSymbol) {
    let (name_node, ty) = match rule_choice::rule_at(&walk.input, param) {
        Some(Rule::Param { name: Some(name), ty, .. }) => {
            let ty = ty.as_ref().and_then(|selector| selector.first(param));
            (name.first(param).unwrap_or(param), ty)
        }
        _ => (param, None),
    };
    let name = names::name_of(walk, name_node);
    // The receiver is a value of the type around it, whatever its type says.
    if let Some(ty) = ty {
        types::visit_type(walk, ty, Usage::Site(SiteKind::Type));
    }
    let value = walk.facts.expr(value);
    let scope = walk.context.scope;
    let place = Binding::at(scope, name, 0);
    walk.facts.bind(place.of_value(BindingKind::Param, ExprId::NONE, value));
    walk.context.callable.receiver = name;
    if symbol.is_some() {
        walk.facts.symbol_mut(symbol).flags |= flags::HAS_SELF;
    }
}

/// Binds one parameter node, which may contain several names; returns their number.
fn parameter<'t>(
    walk: &mut Walk<'t>,
    rule: &'static Rule,
    node: Node<'t>,
    in_type: bool,
    given: ExprId,
    comment: Option<(usize, usize)>,
    patterns: &mut Vec<(Node<'t>, Flow<'t>, bool)>,
) -> u16 {
    let Rule::Param { name, declarator, ty, value, variadic, visibility, of_variable, .. } = rule
    else {
        return 0;
    };
    symbols::visit_modifiers(walk, node);
    walk.context.pending = crate::walk::Pending::default();
    let mut declared = match ty.as_ref().and_then(|selector| selector.first(node)) {
        Some(ty) => types::visit_type(walk, ty, Usage::Site(SiteKind::Type)),
        None => ExprId::NONE,
    };
    if let Some(name) = name.as_ref().and_then(|selector| selector.first(node)) {
        declared = doc_types::or_documented(walk, declared, |walk| {
            doc_types::documented_name(walk, comment, name)
        });
    }
    let default = walk.visit_selected(node, value.as_ref(), READ);
    if *variadic {
        declared = walk.facts.of(declared, Expr::Array);
    }
    if of_variable.is_some() {
        declared = walk.facts.of(declared, |ty| Expr::Wrap(ty, Wrapper::Variable));
    }
    let mut names = children::every(&walk.input, name.as_ref(), node);
    if let Some(start) = declarator.as_ref().and_then(|selector| selector.first(node)) {
        let found = declarator_chain::declarator(walk, start);
        let is_read_only = !found.wraps.is_empty() && variables::is_read_only(&walk.input, node);
        declared = variables::qualified(walk, declared, is_read_only);
        declared = declarator_chain::wrapped(&mut walk.facts, declared, &found.wraps);
        names.extend(found.name);
    }
    let words = &walk.input.language.manifest.names.field_parameter_words;
    let in_type = in_type && words.is_empty();
    let as_field = in_type || is_field_parameter(&walk.input, &mut walk.context, node);
    for name_node in &names {
        let flow = Flow { ty: declared, value: default, node };
        if in_type {
            let section = walk.context.around.section;
            let own = visibility.as_ref().and_then(|word| Visibility::from_word(word));
            walk.context.around.section = own.or(section);
            field_parameter(walk, *name_node, flow);
            walk.context.around.section = section;
        } else if as_field {
            patterns.push((*name_node, flow, true));
        }
        let declared = gathered(&walk.input, &mut walk.facts, *name_node, declared);
        if !in_type {
            let value =
                if declared.is_some() { default } else { walk.facts.union(&[default, given]) };
            bind_parameter(walk, *name_node, Flow { ty: declared, value, ..flow }, patterns);
        }
    }
    if names.is_empty() {
        unnamed_parameter(walk, declared, default);
        return 1;
    }
    u16::try_from(names.len()).unwrap_or(u16::MAX)
}

/// Binds a parameter for a value among type parameters (`template <int N>`).
pub(crate) fn value_parameter<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) {
    let pending = std::mem::take(&mut walk.context.pending);
    parameter(walk, rule, node, false, ExprId::NONE, None, &mut Vec::new());
    walk.context.pending = pending;
}

/// Returns the type of a variadic parameter: a collection of the declared type.
fn gathered<'t>(
    input: &Input<'t>,
    facts: &mut Builder,
    name: Node<'t>,
    declared: ExprId,
) -> ExprId {
    match input.language.pattern(name.kind_id()) {
        Some(Pattern::Rest { gathers: Some(Gathers::Items), .. }) => {
            facts.of(declared, Expr::Array)
        }
        Some(Pattern::Rest { gathers: Some(Gathers::Named), .. }) if declared.is_some() => {
            let key = facts.expr(Expr::Unknown);
            facts.expr(Expr::Mapping(key, declared))
        }
        _ => declared,
    }
}

/// Binds the type arguments of a receiver's type as names of that type's parameters.
pub(super) fn receiver_type_params(walk: &mut Walk<'_>, symbol: LocalSymbol) {
    let mut owner = walk.facts.owner(symbol);
    while let Expr::Wrap(inner, _) = walk.facts.get(owner) {
        owner = inner;
    }
    let Expr::Apply(_, args) = walk.facts.get(owner) else { return };
    for arg in walk.facts.items(args).to_vec() {
        if let Expr::Name(name, _) = walk.facts.get(arg) {
            walk.bind(
                walk.context.scope,
                name,
                BindingKind::TypeParam,
                0,
                ExprId::NONE,
                ExprId::NONE,
            );
        }
    }
}

/// Visits a return type. Results in the form of parameters are one type or a tuple, and their
/// names are variables of the callable.
pub(crate) fn result_type<'t>(walk: &mut Walk<'t>, returns: Node<'t>) -> ExprId {
    let results = children::named_children(&walk.input, returns);
    if !results.iter().any(|result| {
        matches!(rule_choice::rule_at(&walk.input, *result), Some(Rule::Param { .. }))
    }) {
        return types::visit_type(walk, returns, Usage::Site(SiteKind::Type));
    }
    let mut parts = Vec::new();
    for result in results {
        let Some(rule @ Rule::Param { ty, .. }) = rule_choice::rule_at(&walk.input, result) else {
            continue;
        };
        let count = parameter(walk, rule, result, false, ExprId::NONE, None, &mut Vec::new());
        let ty = ty.as_ref().and_then(|selector| selector.first(result));
        let ty = ty.map_or(ExprId::NONE, |ty| types::visit_type(walk, ty, Usage::Silent));
        let ty = names::known(&mut walk.facts, ty);
        parts.extend(std::iter::repeat_n(ty, usize::from(count)));
    }
    if let [only] = parts[..] {
        return only;
    }
    let list = walk.facts.list(&parts);
    walk.facts.expr(Expr::Tuple(list))
}

/// True if a parameter also declares a field: it has a visibility modifier in a constructor.
fn is_field_parameter<'t>(input: &Input<'t>, context: &mut Context<'t>, node: Node<'t>) -> bool {
    (context.callable.type_scope.is_some() || context.callable.self_scope == context.scope)
        && children::children(input, node).into_iter().any(|child| {
            (input.language.is_modifier_node(child.kind_id()) || !child.is_named())
                && input
                    .language
                    .manifest
                    .names
                    .field_parameter_words
                    .iter()
                    .any(|word| word == texts::text_of(input, child))
        })
}

fn field_parameter<'t>(walk: &mut Walk<'t>, name_node: Node<'t>, flow: Flow<'t>) {
    let (scope, around) = (walk.context.scope, walk.context.around);
    if walk.context.callable.type_scope.is_some() {
        walk.context.scope = walk.context.callable.type_scope;
    }
    patterns::bind_pattern(walk, name_node, flow, Bind::Declare(SymbolKind::Field));
    (walk.context.scope, walk.context.around) = (scope, around);
}
