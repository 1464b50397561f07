//! Items: definitions with only a name, a position and contents, such as sections, keys, blocks,
//! and calls that define.

use crate::definitions::symbols;
use crate::walk::input::Input;
use crate::walk::{Definition, READ, Surroundings, Walk, children, names, rule_choice};
use cograph_grammar::{Listed, Rule};
use cograph_model::facts::{Expr, ExprId, NameId, Run, ScopeKind};
use tree_sitter::Node;

/// Maximum length of a joined name in bytes: a longer one is text, and its prefix suffices for a
/// search.
const MAX_NAME_BYTES: usize = 160;

/// Defines a named part of a file and visits its contents.
pub(crate) fn item<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Item { kind, name, join, body, flat, leaf } = rule else { return ExprId::NONE };
    let parts: Vec<Node<'t>> = name
        .iter()
        .flat_map(|selector| children::every(&walk.input, Some(selector), node))
        .collect();
    let text = join_parts(&walk.input, &parts, join);
    let body = body.as_ref().map(|selector| selector.first(node));
    let Some(first) = parts.first().copied().filter(|_| !text.is_empty()) else {
        return walk.visit_children(body.flatten().unwrap_or(node));
    };
    let name = walk.facts.name(&text);
    // Without a body selector, the header is the line with the name.
    let last = parts.last().map_or(first, |last| *last);
    let line_end = || {
        let after = walk.input.source.get(last.end_byte()..node.end_byte()).unwrap_or_default();
        last.end_byte() + after.iter().position(|&byte| byte == b'\n').unwrap_or(after.len())
    };
    let header_end =
        body.flatten().map(|body| body.start_byte()).filter(|&start| start >= last.end_byte());
    let header_end = header_end.unwrap_or_else(line_end);
    let definition =
        Definition { name, name_node: first, node, kind: *kind, header_end, has_body: true };
    let symbol = symbols::define(walk, &definition);
    let before = (walk.context.scope, walk.context.around, walk.context.enclosing);
    if !flat {
        walk.context.scope = walk.facts.scope(
            walk.context.scope,
            ScopeKind::Module,
            symbol,
            node.start_byte(),
            node.end_byte(),
        );
        walk.context.around = Surroundings::NONE;
        let inner = walk.context.scope;
        walk.facts.symbol_mut(symbol).inner = inner;
    }
    walk.context.enclosing = symbol;
    match body {
        _ if *leaf => {}
        Some(Some(body)) => drop(walk.visit(body, READ)),
        Some(None) => {}
        None => drop(walk.visit_children(node)),
    }
    (walk.context.scope, walk.context.around, walk.context.enclosing) = before;
    ExprId::NONE
}

/// Joins the parts of a name, each trimmed and with white space folded to single blanks.
fn join_parts<'t>(input: &Input<'t>, parts: &[Node<'t>], join: &str) -> String {
    let words = |part: &Node<'t>| {
        rule_choice::trimmed_text(input, *part).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut text =
        parts.iter().map(words).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(join);
    if text.len() > MAX_NAME_BYTES {
        let end = (0..=MAX_NAME_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// Defines a symbol for each name that a node lists. The rest of the node is ignored.
pub(crate) fn defines<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Defines { kind, names, field, alias_of, alias_in, suffixes } = rule else {
        return ExprId::NONE;
    };
    let comment = walk.context.pending.comment;
    let alias_of = alias_of.as_ref().and_then(|selector| selector.first(node));
    let alias_in = alias_in.as_ref().and_then(|selector| selector.first(node));
    let plain = [String::new()];
    let suffixes = if suffixes.is_empty() { &plain } else { &suffixes[..] };
    let all = children::every(&walk.input, Some(names), node);
    for (name_node, suffix) in all.iter().flat_map(|name| suffixes.iter().map(|end| (*name, end))) {
        let mut name = names::name_of(walk, name_node);
        if !suffix.is_empty() {
            name = names::with_suffix(walk, name, suffix);
        }
        walk.context.pending.comment = comment;
        let header_end = node.end_byte();
        let symbol = symbols::define(
            walk,
            &Definition { name, name_node, node, kind: *kind, header_end, has_body: true },
        );
        if let Some(prefix) = field.as_ref().filter(|_| suffix.is_empty()) {
            let field = format!("{prefix}{}", walk.facts.text(name));
            let field = walk.facts.name(&field);
            let value = member_of_receiver(walk, field);
            walk.facts.add_value(symbol, value);
        }
        if let Some(other) = alias_of {
            let other = names::name_of(walk, other);
            let member = match alias_in {
                Some(ty) => {
                    let ty = names::name_of(walk, ty);
                    let ty = walk.facts.expr(Expr::Name(ty, walk.context.scope));
                    let of = instance_or_type(walk, ty);
                    walk.facts.expr(Expr::Member(of, other))
                }
                None => member_of_receiver(walk, other),
            };
            let value = walk.facts.expr(Expr::Call(member, Run::default()));
            walk.facts.add_value(symbol, value);
        }
    }
    ExprId::NONE
}

/// Defines the members that a list of names in a node makes.
pub(super) fn listed<'t>(walk: &mut Walk<'t>, node: Node<'t>, members: &'static Listed) {
    for name_node in children::every(&walk.input, Some(&members.of), node) {
        for suffix in &members.suffixes {
            let mut name = names::name_of(walk, name_node);
            if !suffix.is_empty() {
                name = names::with_suffix(walk, name, suffix);
            }
            let definition = Definition {
                name,
                name_node,
                node: name_node,
                kind: members.kind,
                header_end: name_node.end_byte(),
                has_body: true,
            };
            symbols::define(walk, &definition);
        }
    }
}

/// Returns a member of what the next definition is a member of: of the type, or of an instance.
fn member_of_receiver(walk: &mut Walk<'_>, name: NameId) -> ExprId {
    let ty = walk.facts.expr(Expr::SelfType(walk.context.scope));
    let of = instance_or_type(walk, ty);
    walk.facts.expr(Expr::Member(of, name))
}

/// Returns an instance of a type, or the type, whichever has what is defined next as a member.
fn instance_or_type(walk: &mut Walk<'_>, ty: ExprId) -> ExprId {
    match walk.context.around.declared_static {
        true => ty,
        false => walk.facts.expr(Expr::OfType(ty)),
    }
}
