//! Application of the rule of a node: the choice among definitions, bindings, types, imports,
//! macros and expressions.

use crate::bindings::{conditions, stated_types, variables};
use crate::definitions::{callables, constructions, declarators, decorators, doc_types};
use crate::expressions::{construct, dispatch, packages, values};
use crate::facts::exports::Ambient;
use crate::imports::{export, import};
use crate::macros::bodies;
use crate::types::generics;
use crate::walk::position::offset;
use crate::walk::{READ, Usage, Walk, children, fallback, rule_choice, surroundings};
use crate::{definitions, types};
use cograph_grammar::Rule;
use cograph_model::facts::{
    BindingKind, Expr, ExprId, LocalSymbol, ScopeId, ScopeKind, Synthetic, flags,
};
use cograph_model::{ProblemKind, SiteKind};
use tree_sitter::Node;

pub(super) fn visit_node<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    kind: u16,
    usage: Usage,
) -> ExprId {
    if walk.input.has_errors && (node.is_error() || node.is_missing()) {
        walk.problem(ProblemKind::Syntax, node);
    }
    walk.facts.at = offset(node.start_byte());
    match rule_choice::rule_of(&walk.input, node, kind) {
        Some(rule) => {
            let value = apply(walk, rule, node, usage);
            fallback::visit_rest_of(walk, node);
            value
        }
        // A node that is only a type is one in any position.
        None if walk.input.language.type_rule(kind).is_some() => {
            let ty = types::visit_type(walk, node, Usage::Site(SiteKind::Type));
            walk.facts.of(ty, Expr::OfType)
        }
        None => {
            walk.visit_children(node);
            ExprId::NONE
        }
    }
}

fn apply<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>, usage: Usage) -> ExprId {
    match rule {
        Rule::Skip {} | Rule::ParamMark {} => ExprId::NONE,
        Rule::Item { .. } => definitions::items::item(walk, rule, node),
        Rule::Defines { .. } => definitions::items::defines(walk, rule, node),
        Rule::Statics { body, bases } => {
            definitions::types::statics(walk, node, body, bases.as_ref())
        }
        Rule::Pass { of } => {
            let value = pass(walk, node, of.as_ref(), usage);
            if usage == READ { documented(walk, node, value) } else { value }
        }
        Rule::Computed {} => {
            walk.visit_children(node);
            ExprId::NONE
        }
        Rule::Ambient { global } => ambient(walk, node, global),
        Rule::Statement { end } => statement(walk, node, end),
        Rule::Block {} => walk.block(node, ScopeKind::Block),
        Rule::Accessor { value } => callables::accessor(walk, node, value),
        Rule::Flow {} => walk.block(node, ScopeKind::Flow),
        Rule::Jump { of, returns } => jump(walk, node, of.as_ref(), *returns),
        Rule::Yield { of } => jump(walk, node, of.as_ref(), true),
        Rule::Gives { args } => gives(walk, node, args.as_ref()),
        Rule::Function { .. } => callables::function(walk, rule, node),
        Rule::Lambda { .. } => values::lambda(walk, rule, node, LocalSymbol::NONE),
        Rule::Type { .. } => definitions::types::type_definition(walk, rule, node),
        Rule::TypeName { .. } => definitions::types::type_name(walk, rule, node),
        Rule::Extend { .. } => definitions::types::extend(walk, rule, node),
        Rule::Module { .. } => definitions::types::module(walk, rule, node),
        Rule::Package { name, body } => packages::package(walk, node, name, body.as_ref()),
        Rule::Exports { of } => export::exports(walk, node, of),
        Rule::Alias { .. } => declarators::alias(walk, rule, node),
        Rule::Embed { of, several, hooks, first } => {
            let (is_list, is_first) = (several.unwrap_or_default(), first.unwrap_or_default());
            definitions::types::embed(walk, node, of, is_list, hooks.as_deref(), is_first)
        }
        Rule::Group { repeats } => definitions::types::group(walk, node, *repeats),
        Rule::Declaration { .. } => declarators::declaration(walk, rule, node),
        Rule::Variable { .. } => {
            constructions::of_variant(walk, rule, node);
            variables::variable(walk, rule, node)
        }
        Rule::Variants {} => variables::variants(walk, node),
        Rule::Assign { .. } => variables::assign(walk, rule, node),
        Rule::Param { .. } | Rule::SelfParam { .. } => {
            walk.visit_children(node);
            ExprId::NONE
        }
        Rule::TypeParam { .. } => {
            generics::type_params(walk, LocalSymbol::NONE, node);
            ExprId::NONE
        }
        Rule::Bounds {} | Rule::Bound { .. } => ExprId::NONE,
        Rule::Positions { ty } => generics::positions(walk, node, ty),
        Rule::Outer { of } => variables::outer(walk, node, of),
        Rule::Decorated { of, decorators } => decorators::decorated(walk, node, of, decorators),
        Rule::Decorator { name, args } => decorators::decorator(walk, node, name, args.as_ref()),
        Rule::Export { .. } => export::export(walk, rule, node),
        Rule::Import { form } => {
            import::import(walk, form, node);
            ExprId::NONE
        }
        Rule::Macro { .. } => bodies::macro_definition(walk, rule, node),
        Rule::Section { mark, of } => surroundings::section(walk, node, mark.as_ref(), of.as_ref()),
        Rule::Generic { params } => surroundings::generic(walk, node, params),
        Rule::MemberInit { name, args } => surroundings::member_init(walk, node, name, args),
        Rule::Outside {} => surroundings::outside(walk, node),
        Rule::Conditional { .. } => conditions::conditional(walk, rule, node),
        _ => dispatch::express(walk, rule, node, usage),
    }
}

/// Returns the value with the type that a comment before its parentheses states. A closure and an
/// object keep what is known of them.
fn documented<'t>(walk: &mut Walk<'t>, node: Node<'t>, value: ExprId) -> ExprId {
    let ty = doc_types::documented_cast(walk, node);
    if !ty.is_some() {
        return value;
    }
    stated_types::of_cast(walk, value, ty, node);
    match walk.facts.get(value) {
        Expr::Lambda(_) | Expr::Members(_) => value,
        _ => walk.facts.expr(Expr::OfType(ty)),
    }
}

fn pass<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: Option<&cograph_grammar::Selector>,
    usage: Usage,
) -> ExprId {
    if let Some(only) = children::lone_child(node) {
        let is_chosen = of.is_none_or(|selector| {
            selector.first(node).is_some_and(|chosen| chosen.id() == only.id())
        });
        let value = walk.visit(only, if is_chosen { usage } else { READ });
        return if is_chosen { value } else { ExprId::NONE };
    }
    let children = children::named_children(&walk.input, node);
    let chosen = match of {
        Some(selector) => selector.first(node),
        None => children.first().copied(),
    };
    let mut value = ExprId::NONE;
    for &child in &children {
        let is_chosen = chosen.is_some_and(|chosen| chosen.id() == child.id());
        let child_value = walk.visit(child, if is_chosen { usage } else { READ });
        if is_chosen {
            value = child_value;
        }
    }
    match chosen {
        Some(word) if !word.is_named() => walk.visit(word, usage),
        _ => value,
    }
}

/// Binds the arguments of a call of the passed closure in the scope of the callable.
fn gives<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    args: Option<&'static cograph_grammar::Selector>,
) -> ExprId {
    let (list, ..) = construct::arguments(walk, args.and_then(|selector| selector.first(node)));
    let Some(callable) = walk.context.callable.named.get() else { return ExprId::NONE };
    let scope = walk.facts.facts.symbols[callable].inner;
    let values = walk.facts.items(list).to_vec();
    for (position, value) in values.into_iter().enumerate() {
        let Some(name) = Synthetic::passed_argument(position) else { break };
        let name = walk.facts.synthetic(name);
        walk.bind(scope, name, BindingKind::Result, node.start_byte(), ExprId::NONE, value);
    }
    ExprId::NONE
}

fn ambient<'t>(walk: &mut Walk<'t>, node: Node<'t>, global: &cograph_grammar::Selector) -> ExprId {
    let scopes = walk.facts.facts.scopes.len();
    let first = (walk.facts.facts.symbols.len(), walk.facts.facts.imports.len());
    let value = pass(walk, node, None, READ);
    walk.exports.ambient.push(Ambient {
        symbols: first.0..walk.facts.facts.symbols.len(),
        imports: first.1..walk.facts.facts.imports.len(),
    });
    // The block is the first scope that is opened in the declaration.
    if global.first(node).is_some() && walk.facts.facts.scopes.len() > scopes {
        walk.exports.global.push(ScopeId::at(scopes));
    }
    value
}

fn statement<'t>(walk: &mut Walk<'t>, node: Node<'t>, end: &str) -> ExprId {
    let value = walk.visit_children(node);
    let ended =
        value.is_some() && children::last_child(node).is_some_and(|last| last.kind() == end);
    if ended { ExprId::NONE } else { value }
}

/// A value of the declared type of the results of the callable around; none if it is asynchronous.
fn declared_result(walk: &mut Walk<'_>) -> ExprId {
    let Some(callable) = walk.context.callable.symbol.get() else { return ExprId::NONE };
    let symbol = &walk.facts.facts.symbols[callable];
    let (ty, is_async) = (symbol.ty, symbol.flags & flags::ASYNC != 0);
    if is_async { ExprId::NONE } else { walk.facts.of(ty, Expr::OfType) }
}

fn jump<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: Option<&cograph_grammar::Selector>,
    returns: bool,
) -> ExprId {
    let value = match of {
        Some(of) if returns => match of.first(node) {
            Some(value) => {
                let wanted = declared_result(walk);
                construct::visit_wanted(walk, value, wanted)
            }
            None => ExprId::NONE,
        },
        Some(_) => walk.visit_selected(node, of, READ),
        None => match children::only_named_child(&walk.input, node) {
            Some(value) => {
                let wanted = declared_result(walk);
                construct::visit_wanted(walk, value, wanted)
            }
            None => walk.visit_children(node),
        },
    };
    if returns && walk.context.callable.symbol.is_some() {
        walk.facts.add_value(walk.context.callable.symbol, value);
    } else if returns && value.is_some() {
        let scope = walk.facts.nearest(walk.context.scope, |kind| kind == ScopeKind::Function);
        let name = walk.facts.synthetic(Synthetic::Results);
        if !scope.is_some() {
            return ExprId::NONE;
        }
        walk.bind(scope, name, BindingKind::Result, node.start_byte(), ExprId::NONE, value);
    }
    ExprId::NONE
}
