//! Child nodes, listed with few calls of the parser. Independent of rules, except those that select
//! a child.

use crate::walk::input::Input;
use crate::walk::lister::named_count;
use crate::walk::rule_choice;
use cograph_grammar::{Rule, Selector};
use smallvec::SmallVec;
use tree_sitter::Node;

/// Children of a node.
pub(crate) type Children<'t> = SmallVec<[Node<'t>; 8]>;

/// Returns all children in order.
pub(crate) fn children<'t>(input: &Input<'t>, node: Node<'t>) -> Children<'t> {
    let mut children = Children::new();
    input.lister.each(node, |child| {
        children.push(child);
        true
    });
    children
}

/// Returns the named children without comments.
pub(crate) fn named_children<'t>(input: &Input<'t>, node: Node<'t>) -> Children<'t> {
    let mut children = Children::new();
    input.lister.each_named(node, |child| {
        if !child.is_extra() {
            children.push(child);
        }
        true
    });
    children
}

/// Returns the named children including comments.
pub(super) fn named_and_comments<'t>(input: &Input<'t>, node: Node<'t>) -> Children<'t> {
    let mut children = Children::new();
    input.lister.each_named(node, |child| {
        children.push(child);
        true
    });
    children
}

/// Returns the first named child that is not a comment.
pub(crate) fn first_named_child<'t>(input: &Input<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let mut first = None;
    input.lister.each_named(node, |child| {
        first = (!child.is_extra()).then_some(child);
        first.is_none()
    });
    first
}

/// Returns the only named child, if there is no comment either.
pub(crate) fn lone_child<'t>(node: Node<'t>) -> Option<Node<'t>> {
    if node.named_child_count() == 1 {
        node.named_child(0).filter(|child| !child.is_extra())
    } else {
        None
    }
}

/// Returns the number of opening brackets directly inside of a node.
pub(crate) fn brackets(node: Node<'_>) -> usize {
    let is_opening = |at: &u32| node.child(*at).is_some_and(|child| child.kind() == "[");
    (0..node.child_count()).filter(is_opening).count()
}

/// Returns the last child of any kind.
pub(crate) fn last_child<'t>(node: Node<'t>) -> Option<Node<'t>> {
    node.child(node.child_count().checked_sub(1)?)
}

/// Returns the last named child without comments.
pub(crate) fn last_named_child<'t>(node: Node<'t>) -> Option<Node<'t>> {
    (0..named_count(node))
        .rev()
        .find_map(|position| node.named_child(position).filter(|child| !child.is_extra()))
}

/// Returns the only named child, not counting comments.
pub(crate) fn only_named_child<'t>(input: &Input<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let (mut only, mut others) = (None, false);
    input.lister.each_named(node, |child| {
        if !child.is_extra() {
            others = only.replace(child).is_some();
        }
        !others
    });
    only.filter(|_| !others)
}

/// Returns the first token.
pub(crate) fn first_token<'t>(input: &Input<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let mut first = None;
    input.lister.each(node, |child| {
        first = (!child.is_named()).then_some(child);
        first.is_none()
    });
    first
}

/// Returns every child that the last step of a selector selects, in order; none without a
/// selector.
pub(crate) fn every<'t>(
    input: &Input<'t>,
    selector: Option<&Selector>,
    node: Node<'t>,
) -> Children<'t> {
    match selector {
        Some(selector) => input.lister.with_cursor(node, |cursor| selector.every(node, cursor)),
        None => Children::new(),
    }
}

/// Splits the first segment off a path in name position.
pub(crate) fn path_parts<'t>(
    input: &Input<'t>,
    node: Node<'t>,
) -> Option<(Option<Node<'t>>, Node<'t>)> {
    match rule_choice::rule_at(input, node) {
        Some(Rule::Member { object, name, scoped: true, .. }) => {
            let part = object.as_ref().and_then(|selector| selector.first(node));
            Some((part, name.first(node)?))
        }
        _ => None,
    }
}

/// Returns the last segment of a path.
pub(crate) fn last_of_path<'t>(input: &Input<'t>, node: Node<'t>) -> Node<'t> {
    let mut node = node;
    while let Some((_, rest)) = path_parts(input, node) {
        node = rest;
    }
    node
}

/// Returns the end of the header of a closure.
pub(crate) fn lambda_header(lambda: &'static Rule, node: Node<'_>) -> usize {
    let body = match lambda {
        Rule::Lambda { body, .. } => body.as_ref().and_then(|selector| selector.first(node)),
        _ => None,
    };
    body.map_or(node.end_byte(), |body| body.start_byte())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::walk::lister::Lister;
    use crate::walk::lister::MAX_BY_POSITION;

    fn listed<'t>(list: impl FnOnce(&mut dyn FnMut(Node<'t>) -> bool)) -> Vec<usize> {
        let mut ids = Vec::new();
        list(&mut |child| {
            ids.push(child.id());
            true
        });
        ids
    }

    #[test]
    fn few_children_are_listed_like_many() {
        for language in cograph_grammar::all() {
            let (mut few, mut many) = (0, 0);
            // A mark starts the code in languages whose files are text.
            let counts = [0, 1, 2, 9, 10, 11, 40].map(|items| ("", items));
            for (mark, items) in counts.into_iter().chain([("<? ", 40)]) {
                let source =
                    format!("f({});\ng(1, x.y);\n", vec!["a"; items].join(", ")).repeat(items);
                let source = format!("{mark}{source}");
                let budget = Budget::unlimited();
                let tree = crate::parser::parse(language, source.as_bytes(), &budget, &[])
                    .expect("the budget has no end");
                let (lister, mut waiting) = (Lister::default(), vec![tree.root_node()]);
                while let Some(node) = waiting.pop() {
                    let children: Vec<Node<'_>> = node.children(&mut node.walk()).collect();
                    let named = children.iter().filter(|child| child.is_named());
                    assert_eq!(
                        listed(|each| lister.each_named(node, each)),
                        named.map(Node::id).collect::<Vec<_>>()
                    );
                    assert_eq!(
                        listed(|each| lister.each(node, each)),
                        children.iter().map(Node::id).collect::<Vec<_>>()
                    );
                    *(if node.child_count() > MAX_BY_POSITION { &mut many } else { &mut few }) += 1;
                    waiting.extend(children);
                }
            }
            // Fixtures of data formats and markup may have no nodes with many children.
            let is_code = language.tier() == cograph_grammar::Tier::Full;
            assert!(few > 0 && (many > 0 || !is_code), "{}", language.name);
        }
    }
}
