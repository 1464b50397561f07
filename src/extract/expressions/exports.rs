//! Exports by assignment: members of the export object, and the value that replaces it.

mod wrapper;

use crate::bindings::variables;
use crate::definitions::symbols;
use crate::expressions::values;
use crate::walk::input::Input;
use crate::walk::{Definition, READ, Surroundings, Walk, children, names, rule_choice, texts};
use cograph_grammar::Rule;
use cograph_model::SymbolKind;
use cograph_model::facts::{Binding, BindingKind, Expr, ExprId, NameId, ScopeId, flags};
use tree_sitter::Node;

/// Visits assignments to the export object or to a member of it. Returns the value of such an
/// assignment.
pub(crate) fn export_assignment<'t>(
    walk: &mut Walk<'t>,
    left: Node<'t>,
    right: Node<'t>,
    node: Node<'t>,
) -> Option<ExprId> {
    let objects = &walk.input.language.manifest.names.export_objects;
    if objects.is_empty() || walk.context.callable.symbol.is_some() {
        return None;
    }
    let text = texts::text_of(&walk.input, left);
    if objects.first().is_some_and(|object| object == text) {
        if wrapper::is_of_another(walk, left) {
            return None;
        }
        export_whole(walk, right, node);
        return Some(ExprId::NONE);
    }
    let (object, name_node) = exported_member(walk, left)?;
    if wrapper::is_of_another(walk, object) {
        return None;
    }
    if !names::is_export_object(walk, object) {
        walk.visit(object, READ);
    }
    let name = names::name_of(walk, name_node);
    let outer = walk.context.around;
    let around = Surroundings { exported: true, of_exports: true, ..Surroundings::NONE };
    walk.context.around = around;
    if !values::named_value(walk, name, name_node, node, right) {
        walk.context.around.of_exports = false;
        let given = walk.visit(right, READ);
        walk.context.around.of_exports = true;
        export_member(walk, name, name_node, node, given);
    }
    walk.context.around = outer;
    Some(walk.facts.exported(name))
}

/// Returns the export object, or a variable that holds it, and the name of a member of it.
fn exported_member<'t>(walk: &Walk<'t>, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
    let rule = rule_choice::rule_at(&walk.input, node);
    let Some(Rule::Member { object: Some(object), name, .. }) = rule else { return None };
    let object = object.first(node)?;
    let text = texts::text_of(&walk.input, object);
    let objects = &walk.input.language.manifest.names.export_objects;
    (objects.iter().any(|export| export == text) || walk.exports.held_as.contains(&text))
        .then_some(object)
        .zip(name.first(node))
}

/// Visits the value of a variable that is also assigned to the export object, or to a member of
/// it: the variable is the whole export, or the exported member.
pub(crate) fn exported_value<'t>(walk: &mut Walk<'t>, name: Node<'t>, value: Node<'t>) -> Node<'t> {
    let mut inner = value;
    let objects = &walk.input.language.manifest.names.export_objects;
    if objects.is_empty() {
        return inner;
    }
    while let Some((left, right)) = assignment_in(&walk.input, inner) {
        let text = texts::text_of(&walk.input, left);
        let local = names::name_of(walk, name);
        if let Some(whole) = objects.first().filter(|object| *object == text) {
            let whole = walk.facts.name(whole);
            walk.exports.names.push((whole, local));
        } else if let Some((_, member)) = exported_member(walk, left) {
            let member = names::name_of(walk, member);
            walk.exports.names.push((member, local));
        } else if !objects.iter().any(|object| object == text) {
            break;
        }
        inner = right;
    }
    let text = texts::text_of(&walk.input, inner);
    if objects.iter().any(|object| object == text) && !walk.context.callable.symbol.is_some() {
        walk.exports.held_as.push(texts::text_of(&walk.input, name));
    }
    inner
}

/// Returns the sides of the assignment that a node is, possibly inside transparent nodes.
fn assignment_in<'t>(input: &Input<'t>, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
    match rule_choice::rule_at(input, node)? {
        Rule::Assign { left, right: Some(right), reads: false, .. } => {
            Some((left.first(node)?, right.first(node)?))
        }
        Rule::Pass { of: None } => {
            children::only_named_child(input, node).and_then(|only| assignment_in(input, only))
        }
        _ => None,
    }
}

fn export_member<'t>(
    walk: &mut Walk<'t>,
    name: NameId,
    name_node: Node<'t>,
    node: Node<'t>,
    given: ExprId,
) {
    if let Expr::Name(local, scope) = walk.facts.get(given) {
        match walk.facts.declaring(scope, local) {
            ScopeId(0) => walk.exports.names.push((name, local)),
            _ => bind_exported(walk, name, given),
        }
        return;
    }
    let (kind, header_end) = (SymbolKind::Variable, node.end_byte());
    let symbol = symbols::define(
        walk,
        &Definition { name, name_node, node, kind, header_end, has_body: true },
    );
    walk.facts.add_value(symbol, given);
}

/// Exports a value as a whole. It is bound to the name of the export object; members of an
/// object literal are exports of their own.
pub(crate) fn export_whole<'t>(walk: &mut Walk<'t>, value: Node<'t>, node: Node<'t>) {
    let objects = &walk.input.language.manifest.names.export_objects;
    let name = objects.first().map_or(NameId::NONE, |object| walk.facts.name(object));
    walk.context.around.exported = true;
    if let Some((Rule::Lambda { name: Some(own), .. }, lambda)) =
        variables::lambda_in(&walk.input, value)
        && let Some(own_node) = own.first(lambda)
    {
        let own = names::name_of(walk, own_node);
        walk.exports.names.push((name, own));
        values::named_value(walk, own, own_node, node, value);
        return;
    }
    if values::named_value(walk, name, value, node, value) {
        return;
    }
    let given = walk.visit(value, READ);
    if let Expr::Members(members) = walk.facts.get(given) {
        export_members(walk, members);
    }
    if let Expr::Name(local, _) = walk.facts.get(given) {
        walk.exports.names.push((name, local));
    } else {
        walk.bind(ScopeId(0), name, BindingKind::Value, 0, ExprId::NONE, given);
    }
}

fn export_members(walk: &mut Walk<'_>, members: ScopeId) {
    let inside: Vec<_> = walk
        .facts
        .facts
        .bindings
        .iter()
        .filter(|binding| binding.scope == members)
        .cloned()
        .collect();
    for binding in inside {
        if let BindingKind::Symbol = binding.kind {
            walk.facts.symbol_mut(binding.symbol()).flags |= flags::EXPORTED;
            let (top, from) = (ScopeId(0), Binding::OF_EXPORTS);
            walk.facts.bind_symbol(top, top, binding.name, from, binding.symbol());
        } else if let Expr::Name(local, _) = walk.facts.get(binding.value) {
            walk.exports.names.push((binding.name, local));
        } else {
            bind_exported(walk, binding.name, binding.value);
        }
    }
}

/// Binds a value to a member of what the file exports.
fn bind_exported(walk: &mut Walk<'_>, name: NameId, value: ExprId) {
    if name.is_some() {
        let place = Binding::at(ScopeId(0), name, Binding::OF_EXPORTS);
        walk.facts.bind(place.of_value(BindingKind::Value, ExprId::NONE, value));
    }
}
