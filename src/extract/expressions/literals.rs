//! Literals and displays: lists, mappings, tuples, objects, and access to their elements.

use crate::bindings::{fields, stated_types};
use crate::expressions::paths;
use crate::walk::children;
use crate::walk::context::LiteralParts;
use crate::walk::input::Input;
use crate::walk::names;
use crate::walk::rule_choice;
use crate::walk::texts;
use crate::walk::{READ, Usage, Walk};
use cograph_grammar::{Rule, Selector};
use cograph_model::SiteKind;
use cograph_model::facts::{
    BindingKind, Contextual, Expr, ExprId, LocalSymbol, NameId, Run, ScopeKind, Synthetic,
};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Returns the type that the form of a number gives it, if it is a special one.
pub(crate) fn by_form<'t>(
    input: &Input<'t>,
    node: Node<'t>,
    suffixes: &'static Option<BTreeMap<String, String>>,
    fractions: &'static Option<BTreeMap<String, String>>,
) -> Option<&'static str> {
    if suffixes.is_none() && fractions.is_none() {
        return None;
    }
    let text = texts::text_of(input, node);
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let exponent = if is_hex { ['p', 'P'] } else { ['e', 'E'] };
    let is_fraction = fractions.is_some() && (text.contains('.') || text.contains(exponent));
    let of_form = if is_fraction { fractions } else { suffixes };
    let fitting = of_form.iter().flatten().filter(|(suffix, _)| text.ends_with(suffix.as_str()));
    fitting.max_by_key(|(suffix, _)| suffix.len()).map(|(_, ty)| ty.as_str())
}

pub(crate) fn literal(walk: &mut Walk<'_>, ty: &str) -> ExprId {
    if ty.is_empty() {
        return ExprId::NONE;
    }
    let name = walk.facts.name(ty);
    walk.facts.literal(name)
}

/// Visits the names behind a mark that the grammar leaves in the text of a string: the mark is a
/// piece of its own, and the next one begins with the name.
pub(super) fn marked_names<'t>(walk: &mut Walk<'t>, node: Node<'t>, mark: &str) {
    let mut is_marked = false;
    for piece in children::named_children(&walk.input, node) {
        let text = texts::text_of(&walk.input, piece);
        let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end = text.find(|letter| !is_name(letter)).unwrap_or(text.len());
        let starts_name = text.starts_with(|letter: char| is_name(letter) && !letter.is_numeric());
        if is_marked && starts_name {
            paths::named(walk, piece, &text[..end], READ, false);
        }
        is_marked = text == mark;
    }
}

pub(super) fn list_literal<'t>(walk: &mut Walk<'t>, node: Node<'t>, ty: &str) -> ExprId {
    let expected = std::mem::replace(&mut walk.context.expected, ExprId::NONE);
    let mut items = Vec::new();
    for child in children::named_children(&walk.input, node) {
        let value = element_of(walk, child, expected);
        let several = matches!(rule_choice::rule_at(&walk.input, child), Some(Rule::Spread {}));
        items.push(if several { walk.facts.of(value, Expr::Element) } else { value });
    }
    let item = walk.facts.union(&items);
    container(walk, ty, item)
}

/// A value of a builtin type with one type argument, if that is known.
fn container(walk: &mut Walk<'_>, ty: &str, item: ExprId) -> ExprId {
    if item.is_some() {
        let name = walk.facts.name(ty);
        let base = walk.facts.literal(name);
        let list = walk.facts.list(&[item]);
        return walk.facts.expr(Expr::Apply(base, list));
    }
    literal(walk, ty)
}

pub(super) fn class_object<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: &'static Selector,
    ty: &str,
) -> ExprId {
    let named = walk.visit_selected(node, Some(of), READ);
    container(walk, ty, named)
}

/// Visits an element of a container, which has its type where it leaves out its own.
pub(crate) fn element_of<'t>(walk: &mut Walk<'t>, node: Node<'t>, container: ExprId) -> ExprId {
    let leaves_type_out = matches!(
        rule_choice::rule_at(&walk.input, node),
        Some(Rule::Construct { ty: None, args: Some(_), .. } | Rule::List { .. })
    );
    if !leaves_type_out || !container.is_some() {
        return walk.visit(node, READ);
    }
    let element = walk.facts.expr(Expr::Element(container));
    walk.visit_wanted(node, element)
}

pub(super) fn mapping_literal<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    key: Option<&'static Selector>,
    value: Option<&'static Selector>,
) -> ExprId {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for child in children::named_children(&walk.input, node) {
        let pair = (
            key.and_then(|selector| selector.first(child)),
            value.and_then(|selector| selector.first(child)),
        );
        if let (Some(key), Some(value)) = pair {
            keys.push(walk.visit(key, READ));
            values.push(walk.visit(value, READ));
        } else {
            walk.visit(child, READ);
        }
    }
    let (key, value) = (walk.facts.union(&keys), walk.facts.union(&values));
    let (key, value) = (names::known(&mut walk.facts, key), names::known(&mut walk.facts, value));
    walk.facts.expr(Expr::Mapping(key, value))
}

pub(super) fn tuple<'t>(walk: &mut Walk<'t>, node: Node<'t>, usage: Usage) -> ExprId {
    let children = children::named_children(&walk.input, node);
    if let [only] = children[..] {
        return walk.visit(only, usage);
    }
    let mut parts = SmallVec::<[ExprId; 8]>::new();
    for child in children {
        let part = walk.visit(child, READ);
        parts.push(names::known(&mut walk.facts, part));
    }
    let list = walk.facts.list(&parts);
    walk.facts.expr(Expr::Tuple(list))
}

/// Object literal; its members belong to the symbol that holds it, if any.
pub(super) fn object<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    symbol: LocalSymbol,
    pairs: Option<&str>,
) -> ExprId {
    if let Some(token) = pairs {
        return paired_object(walk, node, symbol, token);
    }
    let scope = walk.open(ScopeKind::Type, symbol, node);
    let inner = walk.context.scope;
    let outer = std::mem::take(&mut walk.context.literal);
    fields::note_members(walk, inner, node);
    walk.visit_children(node);
    let LiteralParts { keys, spread } = std::mem::replace(&mut walk.context.literal, outer);
    walk.close(scope);
    if !spread.is_empty() {
        // What it has more members of.
        let name = walk.facts.synthetic(Synthetic::Spread);
        let values = walk.facts.union(&spread);
        walk.bind(inner, name, BindingKind::Value, node.start_byte(), ExprId::NONE, values);
    }
    if !keys.is_empty() {
        // The keys are members of the value that the context expects, or of what is spread.
        let expected = walk.facts.expr(Expr::Given(inner, Contextual::Object));
        let whole: SmallVec<[ExprId; 2]> = std::iter::once(expected).chain(spread).collect();
        let whole = walk.facts.union(&whole);
        for key in keys {
            let name = walk.facts.sites[key].name;
            walk.facts.sites[key].target = walk.facts.expr(Expr::Member(whole, name));
        }
    }
    walk.facts.expr(Expr::Members(inner))
}

/// Object literal whose names and values are its children, with a token between them; a value
/// without a name has that of what it reads. No value sees the members.
fn paired_object<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    symbol: LocalSymbol,
    token: &str,
) -> ExprId {
    let mut members: SmallVec<[(NameId, ExprId, usize); 8]> = SmallVec::new();
    for child in children::named_children(&walk.input, node) {
        if child.next_sibling().is_some_and(|next| next.kind() == token) {
            continue;
        }
        let value = walk.visit(child, READ);
        let before = child.prev_sibling().filter(|before| before.kind() == token);
        let read = value.is_some().then(|| walk.facts.get(value));
        let name = match (before.and_then(|token| token.prev_sibling()), read) {
            (Some(name), _) => names::name_of(walk, name),
            (None, Some(Expr::Name(name, _) | Expr::Member(_, name))) => name,
            _ => continue,
        };
        members.push((name, value, child.start_byte()));
    }
    let scope = walk.open(ScopeKind::Type, symbol, node);
    let inner = walk.context.scope;
    for (name, value, start) in members {
        walk.bind(inner, name, BindingKind::Field, start, ExprId::NONE, value);
    }
    walk.close(scope);
    walk.facts.expr(Expr::Members(inner))
}

/// Notes a key of the object literal around it, which writes a member.
pub(super) fn note_key<'t>(walk: &mut Walk<'t>, node: Node<'t>, name: NameId) {
    let before = walk.facts.sites.len();
    walk.site(Usage::Site(SiteKind::Write), node, name, ExprId::NONE);
    if walk.facts.sites.len() > before {
        walk.context.literal.keys.push(before);
    }
}

/// Visits what is spread: in an object literal its members are those of the literal.
pub(super) fn spread<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    let value = walk.visit_children(node);
    let around = node.parent().and_then(|around| rule_choice::rule_at(&walk.input, around));
    if value.is_some() && matches!(around, Some(Rule::Object { .. })) {
        walk.context.literal.spread.push(value);
    }
    value
}

pub(super) fn shorthand<'t>(walk: &mut Walk<'t>, node: Node<'t>) -> ExprId {
    let value = paths::name_expression(walk, node, READ, false);
    if walk.facts.scope_kind(walk.context.scope) == ScopeKind::Type {
        let name = names::name_of(walk, node);
        note_key(walk, node, name);
        walk.bind(
            walk.context.scope,
            name,
            BindingKind::Field,
            node.start_byte(),
            ExprId::NONE,
            value,
        );
    }
    value
}

pub(super) fn element<'t>(walk: &mut Walk<'t>, node: Node<'t>, name: &'static Selector) -> ExprId {
    let name_node = name.first(node);
    let mut component = ExprId::NONE;
    if let Some(name_node) = name_node {
        let builtin =
            matches!(rule_choice::rule_at(&walk.input, name_node), Some(Rule::Name { .. }))
                && texts::text_of(&walk.input, name_node)
                    .starts_with(|first: char| first.is_lowercase());
        if !builtin {
            component = walk.visit(name_node, Usage::Site(SiteKind::Construct));
            walk.take_call_site();
        }
    }
    for child in children::named_children(&walk.input, node) {
        if name_node.is_none_or(|name| name.id() != child.id()) {
            let value = walk.visit(child, READ);
            if component.is_some()
                && matches!(
                    rule_choice::rule_at(&walk.input, child),
                    Some(Rule::NamedArgument { .. })
                )
                && let Some(attribute) = children::first_named_child(&walk.input, child)
            {
                stated_types::of_attribute(walk, value, component, attribute);
            }
        }
    }
    walk.facts.of(component, |component| Expr::Construct(component, Run::default()))
}
