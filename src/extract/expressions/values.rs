//! Names bound to closures, types, objects or modules: the name is then the callable, type, owner
//! of members or import itself.

use crate::bindings::{bound_names, variables};
use crate::definitions::symbols::Marks;
use crate::definitions::{callable_scope, callables, doc_types, parameters, symbols};
use crate::expressions::literals;
use crate::facts::builder::Builder;
use crate::imports::record;
use crate::imports::record::ModuleName;
use crate::types::generics;
use crate::walk::input::Input;
use crate::walk::{
    Definition, READ, Surroundings, Usage, Walk, children, fallback, names, rule_choice, texts,
};
use crate::{definitions, types};
use cograph_grammar::{Pattern, Rule, Selector, Signature};
use cograph_model::facts::{
    BindingKind, Contextual, Expr, ExprId, LocalSymbol, NameId, ScopeId, ScopeKind, Synthetic,
    flags,
};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::Node;

/// Visits an anonymous callable, or one with the name of the variable that holds it.
pub(crate) fn lambda<'t>(
    walk: &mut Walk<'t>,
    rule: &'static Rule,
    node: Node<'t>,
    symbol: LocalSymbol,
) -> ExprId {
    let Rule::Lambda { name, params, returns, body, tail, type_params, own_self, flat, signature } =
        rule
    else {
        return ExprId::NONE;
    };
    let own = name.as_ref().and_then(|selector| selector.first(node));
    let symbol = match own {
        Some(own) if !symbol.is_some() => self_named(walk, rule, node, own),
        _ => symbol,
    };
    let scope = walk.open(ScopeKind::Function, symbol, node);
    let before = (walk.context.callable, walk.context.enclosing);
    let held_as = std::mem::replace(&mut walk.context.held_as, ExprId::NONE);
    if held_as.is_some() {
        let name = walk.facts.synthetic(Synthetic::ClosureHolder);
        walk.bind(walk.context.scope, name, BindingKind::Result, 0, held_as, ExprId::NONE);
    }
    if symbol.is_some() {
        let inner = walk.context.scope;
        let entry = walk.facts.symbol_mut(symbol);
        entry.inner = inner;
        entry.flags |= flags::FUNCTION_VALUE;
        walk.context.enclosing = symbol;
        mark_lambda(&walk.input, &mut walk.facts, symbol, node);
    }
    walk.context.callable.symbol = symbol;
    if symbol.is_some() {
        walk.context.callable.named = symbol;
    }
    if let Some(own) = own {
        let (name, scope) = (names::name_of(walk, own), walk.context.scope);
        match symbol.is_some() {
            true => walk.facts.bind_symbol(scope, scope, name, 0, symbol),
            false => {
                let value = walk.facts.expr(Expr::Lambda(scope));
                walk.bind(scope, name, BindingKind::Value, 0, ExprId::NONE, value);
            }
        }
    }
    if *own_self {
        walk.context.callable.self_scope = if callable_scope::is_member(&mut walk.facts, symbol) {
            walk.context.scope
        } else {
            ScopeId::NONE
        };
    }
    if *own_self && symbol.is_some() {
        doc_types::receiver(walk, node);
    }
    if walk.input.language.manifest.resolution.closure_receivers {
        given_receiver(walk);
    }
    generics::generics(walk, symbol, node, type_params.as_ref());
    let params = params.as_ref().and_then(|selector| selector.first(node));
    let first_param = walk.facts.facts.bindings.len();
    if let Some(params) = params {
        parameters::parameters(walk, params, symbol);
    } else {
        implicit_parameters(walk);
        if symbol.is_some() {
            walk.facts.symbol_mut(symbol).arity = (0, 0);
        }
    }
    let mut result = ExprId::NONE;
    if let Some(returns) = returns.as_ref().and_then(|selector| selector.first(node)) {
        result = parameters::result_type(walk, returns);
        if symbol.is_some() {
            walk.facts.symbol_mut(symbol).ty = result;
        } else if result.is_some() && signature.is_none() {
            // Bound at the start, where no value is.
            let (name, scope) = (walk.facts.synthetic(Synthetic::Results), walk.context.scope);
            let value = walk.facts.expr(Expr::OfType(result));
            walk.bind(scope, name, BindingKind::Result, 0, ExprId::NONE, value);
        }
    }
    let stated = signature.map(|signature| match signature {
        Signature::Call => (Synthetic::CallSignature, function_type(walk, first_param, result)),
        Signature::Index => (Synthetic::IndexSignature, result),
    });
    if let Some(body) = body.as_ref().and_then(|selector| selector.first(node)) {
        callables::body(walk, body, symbol, *tail);
    } else if *flat {
        callables::statements(walk, node, params, symbol, *tail);
    }
    fallback::visit_left_out(walk, node);
    (walk.context.callable, walk.context.enclosing) = before;
    let inner = walk.context.scope;
    walk.close(scope);
    if let Some((name, ty)) = stated {
        let name = walk.facts.synthetic(name);
        let around = walk.context.scope;
        walk.bind(around, name, BindingKind::Field, node.start_byte(), ty, ExprId::NONE);
    }
    walk.facts.expr(Expr::Lambda(inner))
}

/// Returns the function type of the parameters that the current scope binds from `first` on.
fn function_type(walk: &mut Walk<'_>, first: usize, result: ExprId) -> ExprId {
    let scope = walk.context.scope;
    let bindings = walk.facts.facts.bindings.iter().skip(first);
    let params =
        bindings.filter(|binding| binding.scope == scope && binding.kind == BindingKind::Param);
    let types: Vec<ExprId> = params.map(|param| param.ty()).chain([result]).collect();
    let types: Vec<ExprId> =
        types.into_iter().map(|ty| names::known(&mut walk.facts, ty)).collect();
    let list = walk.facts.list(&types);
    walk.facts.expr(Expr::Function(list))
}

/// Makes the receiver that the call of a closure may give it the owner of the closure's scope.
fn given_receiver(walk: &mut Walk<'_>) {
    let scope = walk.context.scope;
    let receiver = walk.facts.expr(Expr::Given(scope, Contextual::Receiver));
    if let Some(position) = scope.get() {
        walk.facts.facts.scopes[position].owner = receiver;
    }
    walk.context.callable.self_scope = scope;
}

/// Binds the names of parameters that are not declared.
fn implicit_parameters(walk: &mut Walk<'_>) {
    let scope = walk.context.scope;
    let words = &walk.input.language.manifest.names.implicit_params;
    for (position, word) in words.iter().enumerate() {
        let (name, value) = (walk.facts.name(word), Expr::Given(scope, Contextual::at(position)));
        let value = walk.facts.expr(value);
        walk.bind(scope, name, BindingKind::Param, 0, ExprId::NONE, value);
    }
}

/// The receiver at a position, or that of the type or callable with the name `of`.
pub(super) fn receiver<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: Option<&'static Selector>,
) -> ExprId {
    let innermost = walk.context.callable.self_scope;
    if !innermost.is_some() {
        return ExprId::NONE;
    }
    let Some(label) = of.and_then(|selector| selector.first(node)) else {
        return walk.facts.expr(Expr::SelfValue(innermost));
    };
    let name = names::name_of(walk, label);
    let mut scope = walk.context.scope;
    while let Some(position) = scope.get() {
        let entry = &walk.facts.facts.scopes[position];
        if entry.symbol.get().is_some_and(|own| walk.facts.facts.symbols[own].name == name) {
            return walk.facts.expr(Expr::SelfValue(scope));
        }
        scope = entry.parent;
    }
    ExprId::NONE
}

/// Defines a closure with a name of its own that nothing else holds: a callable whose name only
/// its body can use. Values of members are known by the members.
fn self_named<'t>(
    walk: &mut Walk<'t>,
    lambda: &'static Rule,
    node: Node<'t>,
    own: Node<'t>,
) -> LocalSymbol {
    let declaring = walk.facts.nearest(walk.context.scope, |kind| kind != ScopeKind::Flow);
    if walk.facts.scope_kind(declaring) == ScopeKind::Type {
        return LocalSymbol::NONE;
    }
    let pending = std::mem::take(&mut walk.context.pending);
    let around = Surroundings { detached: true, ..Surroundings::NONE };
    let around = std::mem::replace(&mut walk.context.around, around);
    let name = names::name_of(walk, own);
    let header_end = children::lambda_header(lambda, node);
    let kind = SymbolKind::Function;
    let symbol = symbols::define(
        walk,
        &Definition { name, name_node: own, node, kind, header_end, has_body: true },
    );
    walk.facts.symbol_mut(symbol).flags |= flags::LOCAL;
    (walk.context.pending, walk.context.around) = (pending, around);
    symbol
}

/// Applies the modifiers of a closure to the callable with its name.
fn mark_lambda<'t>(input: &Input<'t>, facts: &mut Builder, symbol: LocalSymbol, node: Node<'t>) {
    let mut marks = Marks::default();
    for child in children::children(input, node) {
        if !child.is_named() {
            symbols::mark_word(input, &mut marks, child.kind());
        }
    }
    facts.symbol_mut(symbol).flags |= marks.flags & (flags::ASYNC | flags::GENERATOR);
}

/// Defines a name that holds a closure as a callable.
pub(crate) fn function_value<'t>(
    walk: &mut Walk<'t>,
    name: NameId,
    name_node: Node<'t>,
    node: Node<'t>,
    lambda: &'static Rule,
    lambda_node: Node<'t>,
) -> LocalSymbol {
    let header_end = children::lambda_header(lambda, lambda_node);
    let definition = Definition {
        name,
        name_node,
        node,
        kind: SymbolKind::Function,
        header_end,
        has_body: true,
    };
    let scope = bound_names::hoisted_scope(walk);
    let outer = std::mem::replace(&mut walk.context.scope, scope);
    let symbol = symbols::define(walk, &definition);
    walk.context.scope = outer;
    self::lambda(walk, lambda, lambda_node, symbol);
    symbol
}

/// Defines an anonymous closure or type under the name that holds it. Returns true if the value
/// is one.
pub(crate) fn named_value<'t>(
    walk: &mut Walk<'t>,
    name: NameId,
    name_node: Node<'t>,
    node: Node<'t>,
    value: Node<'t>,
) -> bool {
    if let Some((lambda, lambda_node)) = variables::lambda_in(&walk.input, value) {
        function_value(walk, name, name_node, node, lambda, lambda_node);
        return true;
    }
    let Some(rule @ Rule::Type { name: own_name, .. }) = rule_choice::rule_at(&walk.input, value)
    else {
        return false;
    };
    if own_name.as_ref().is_some_and(|selector| selector.first(value).is_some()) {
        return false;
    }
    definitions::types::named_type(walk, rule, value, node, name, name_node);
    true
}

/// Makes a variable that holds an object literal the owner of its members. Returns true if the
/// value is one.
pub(crate) fn object_value<'t>(
    walk: &mut Walk<'t>,
    name: NameId,
    name_node: Node<'t>,
    node: Node<'t>,
    value: Node<'t>,
    ty: ExprId,
    kind: SymbolKind,
) -> bool {
    if !matches!(rule_choice::rule_at(&walk.input, value), Some(Rule::Object { .. }))
        || is_local_scope(walk)
    {
        return false;
    }
    let definition =
        Definition { name, name_node, node, kind, header_end: value.start_byte(), has_body: true };
    let symbol = symbols::define(walk, &definition);
    let members = literals::object(walk, value, symbol, None);
    walk.facts.symbol_mut(symbol).ty = ty;
    walk.facts.add_value(symbol, members);
    true
}

fn is_local_scope(walk: &Walk<'_>) -> bool {
    let owner = walk.facts.nearest(walk.context.scope, |kind| kind != ScopeKind::Flow);
    matches!(walk.facts.scope_kind(owner), ScopeKind::Function | ScopeKind::Block)
}

/// Returns the module that a call imports, with the wrapper of its result.
fn imported_module<'t>(
    walk: &mut Walk<'t>,
    callee: Node<'t>,
    args: Node<'t>,
) -> Option<(ModuleName<'t>, &'static str)> {
    let calls = &walk.input.language.manifest.names.import_calls;
    let text = || texts::text_of(&walk.input, callee);
    let wrapper = if calls.is_empty() { None } else { calls.get(text()) }?;
    let all = children::named_children(&walk.input, args);
    let (&module, others) = all.split_first()?;
    if !matches!(rule_choice::rule_at(&walk.input, module), Some(Rule::Text { .. })) {
        return None;
    }
    let anchor = match others {
        [] => None,
        [anchor] => Some(*anchor),
        _ => return None,
    };
    record::named_module(walk, module, anchor).map(|module| (module, wrapper.as_str()))
}

/// Visits a call that imports a module: the value is bound to a synthetic name, unique for the
/// call.
pub(super) fn import_call<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    callee: Node<'t>,
    args: Node<'t>,
) -> Option<ExprId> {
    let (module, wrapper) = imported_module(walk, callee, args)?;
    let hidden = names::name_of(walk, node);
    record::import_by_call(walk, &module, hidden);
    let value = walk.facts.expr(Expr::Name(hidden, walk.context.scope));
    if wrapper.is_empty() {
        return Some(value);
    }
    if is_given_away(walk, node) {
        let name = walk.facts.synthetic(Synthetic::DefaultExport);
        let member = walk.facts.expr(Expr::Member(value, name));
        walk.site(READ, callee, name, member);
    }
    let base = literals::literal(walk, wrapper);
    Some(types::applied(&mut walk.facts, base, &[value]))
}

/// True for the result of a closure that is an argument or a member of an object: what takes it
/// uses the default export, as loaders of components and of routes do.
fn is_given_away<'t>(walk: &Walk<'t>, node: Node<'t>) -> bool {
    let Some(closure) = node.parent() else { return false };
    let is_result = matches!(
        rule_choice::rule_at(&walk.input, closure),
        Some(Rule::Lambda { body: Some(body), .. }) if body.first(closure) == Some(node)
    );
    let around = closure.parent().map(|around| rule_choice::rule_at(&walk.input, around));
    let in_call = || {
        let call = closure.parent().and_then(|args| args.parent());
        call.is_some_and(|call| {
            matches!(
                rule_choice::rule_at(&walk.input, call),
                Some(Rule::Call { args: Some(args), .. }) if args.first(call) == closure.parent()
            )
        })
    };
    is_result && (matches!(around, Some(Some(Rule::Initializer { .. }))) || in_call())
}

/// Defines a variable, or a pattern of members, bound to an imported module as an import.
/// Returns true if the value is one.
pub(crate) fn import_value<'t>(walk: &mut Walk<'t>, pattern: Node<'t>, value: Node<'t>) -> bool {
    let Some(Rule::Call { callee: Some(callee), args: Some(args), .. }) =
        rule_choice::rule_at(&walk.input, value)
    else {
        return false;
    };
    let (Some(callee), Some(args)) = (callee.first(value), args.first(value)) else {
        return false;
    };
    let Some((module, "")) = imported_module(walk, callee, args) else { return false };
    walk.seen.note(value);
    if matches!(rule_choice::rule_at(&walk.input, pattern), Some(Rule::Name { .. })) {
        let alias = names::name_of(walk, pattern);
        record::import_by_call(walk, &module, alias);
        return true;
    }
    let mut names = Vec::new();
    if !matches!(walk.input.language.pattern(pattern.kind_id()), Some(Pattern::Fields { .. })) {
        return false;
    }
    for child in children::named_children(&walk.input, pattern) {
        let (key, alias) = match walk.input.language.pattern(child.kind_id()) {
            Some(Pattern::Shorthand {}) => (child, child),
            Some(Pattern::Field { key, value: Some(value) }) => {
                match (key.first(child), value.first(child)) {
                    (Some(key), Some(value))
                        if matches!(
                            rule_choice::rule_at(&walk.input, value),
                            Some(Rule::Name { .. })
                        ) =>
                    {
                        (key, value)
                    }
                    _ => return false,
                }
            }
            _ => return false,
        };
        names.push((key, names::name_of(walk, alias)));
    }
    for (key, alias) in names {
        record::item_by_call(walk, &module, key, alias);
    }
    true
}

/// Returns the title of a test in the form of a call with a title and a closure.
pub(super) fn test_title<'t>(
    input: &Input<'t>,
    callee: Node<'t>,
    args: Node<'t>,
) -> Option<Node<'t>> {
    let calls = &input.language.manifest.tests.calls;
    if calls.is_empty() {
        return None;
    }
    let text = texts::text_of(input, callee);
    let head =
        text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or(text);
    if !calls.iter().any(|call| call == head) {
        return None;
    }
    let args = children::named_children(input, args);
    let title = args.first().copied()?;
    let is_text = matches!(rule_choice::rule_at(input, title), Some(Rule::Text { .. }));
    (is_text && args.iter().skip(1).any(|arg| variables::lambda_in(input, *arg).is_some()))
        .then_some(title)
}

/// Defines such a test as a symbol with its title; references in its closure belong to it.
pub(super) fn test_call<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    callee: Node<'t>,
    args: Node<'t>,
    title: Node<'t>,
) -> ExprId {
    walk.visit(callee, Usage::Site(SiteKind::Call));
    walk.take_call_site();
    walk.visit(title, READ);
    let name = names::name_of(walk, title);
    let definition = Definition {
        name,
        name_node: title,
        node,
        kind: SymbolKind::Test,
        header_end: title.end_byte(),
        has_body: true,
    };
    // A title is no name that code can refer to.
    let outer = std::mem::replace(&mut walk.context.around.detached, true);
    let symbol = symbols::define(walk, &definition);
    walk.context.around.detached = outer;
    let entry = walk.facts.symbol_mut(symbol);
    entry.flags = (entry.flags | flags::TEST) & !(flags::LOCAL | flags::EXPORTED);
    for arg in children::named_children(&walk.input, args).into_iter().skip(1) {
        match variables::lambda_in(&walk.input, arg) {
            Some((lambda, lambda_node)) => drop(self::lambda(walk, lambda, lambda_node, symbol)),
            None => drop(walk.visit(arg, READ)),
        }
    }
    ExprId::NONE
}
