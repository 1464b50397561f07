//! Functions around a program whose parameters have the names of the export objects.

use crate::walk::input::Input;
use crate::walk::{Walk, children, rule_choice, texts};
use cograph_grammar::Rule;
use tree_sitter::Node;

/// True for an export object whose name a function around it binds, unless that is called with
/// the export object of the file.
pub(super) fn is_of_another<'t>(walk: &mut Walk<'t>, object: Node<'t>) -> bool {
    let text = texts::text_of(&walk.input, object);
    let first = text.split('.').next().unwrap_or(text);
    let name = walk.facts.name(first);
    let is_bound = walk.facts.visible(walk.context.scope, name).is_some();
    is_bound && walk.facts.bound(cograph_model::facts::ScopeId(0), name).is_none() && {
        !is_given(&walk.input, object, first)
    }
}

/// True if the function around a node that has a parameter of this name is called with what has
/// the name outside: where it stands, or by the function that it is an argument of.
fn is_given<'t>(input: &Input<'t>, node: Node<'t>, name: &str) -> bool {
    let mut around = node;
    while let Some(parent) = around.parent() {
        around = parent;
        if let Some(position) = parameter(input, around, name) {
            return is_called_with(input, around, position, name);
        }
    }
    false
}

/// Returns the position of the parameter with a name of a function.
fn parameter<'t>(input: &Input<'t>, function: Node<'t>, name: &str) -> Option<usize> {
    let Rule::Lambda { params: Some(params), .. } = rule_choice::rule_at(input, function)? else {
        return None;
    };
    let params = children::named_children(input, params.first(function)?);
    params.iter().position(|param| texts::text_of(input, *param) == name)
}

fn is_called_with<'t>(input: &Input<'t>, function: Node<'t>, position: usize, name: &str) -> bool {
    let whole = outermost(input, function);
    let Some(parent) = whole.parent() else { return false };
    if let Some((callee, args)) = call(input, parent)
        && callee == whole
    {
        return argument(input, args, position).is_some_and(|arg| has_word(arg, name));
    }
    // The function is an argument: the one that is called calls its parameter.
    let Some((callee, args)) = parent.parent().and_then(|parent| call(input, parent)) else {
        return false;
    };
    let args = children::named_children(input, args);
    let Some(at) = args.iter().position(|arg| *arg == whole) else { return false };
    let wrapper = innermost(input, callee);
    let Some(Rule::Lambda { params: Some(params), body: Some(body), .. }) =
        rule_choice::rule_at(input, wrapper)
    else {
        return false;
    };
    let params = params.first(wrapper).map(|params| children::named_children(input, params));
    let (Some(param), Some(body)) =
        (params.and_then(|params| params.get(at).copied()), body.first(wrapper))
    else {
        return false;
    };
    let start = format!("{}(", texts::text_of(input, param));
    let calls = texts::text_of(input, body).split(start.as_str()).skip(1);
    let given = |rest: &str| {
        let args = rest.split(')').next().unwrap_or_default();
        args.split(',').nth(position).is_some_and(|arg| arg.trim() == name)
    };
    calls.into_iter().any(given)
}

/// Returns the callee and the list of arguments of a call.
fn call<'t>(input: &Input<'t>, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
    match rule_choice::rule_at(input, node)? {
        Rule::Call { callee: Some(callee), args: Some(args), .. } => {
            Some((callee.first(node)?, args.first(node)?))
        }
        _ => None,
    }
}

fn argument<'t>(input: &Input<'t>, args: Node<'t>, position: usize) -> Option<&'t str> {
    let args = children::named_children(input, args);
    args.get(position).map(|arg| texts::text_of(input, *arg))
}

/// True for a text that has a word: `typeof exports == 'undefined' ? this : exports`.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').any(|part| part == word)
}

/// Returns a function with the nodes around it that pass its value.
fn outermost<'t>(input: &Input<'t>, function: Node<'t>) -> Node<'t> {
    let mut whole = function;
    while let Some(parent) = whole.parent()
        && matches!(rule_choice::rule_at(input, parent), Some(Rule::Pass { of: None }))
    {
        whole = parent;
    }
    whole
}

fn innermost<'t>(input: &Input<'t>, node: Node<'t>) -> Node<'t> {
    let mut inner = node;
    while let Some(Rule::Pass { of: None }) = rule_choice::rule_at(input, inner)
        && let Some(only) = children::only_named_child(input, inner)
    {
        inner = only;
    }
    inner
}
