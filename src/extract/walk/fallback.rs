//! Fallback for nodes without a rule: their children are visited all the same. In languages without
//! a measurement against a compiler, nodes that a rule omits would otherwise be lost silently.

use crate::walk::context::{READ, Usage};
use crate::walk::input::Input;
use crate::walk::{Walk, children, rule_choice};
use cograph_grammar::{Rule, Selector};
use cograph_model::SiteKind;
use cograph_model::facts::{ExprId, Synthetic};
use tree_sitter::Node;

/// Records a call of a computed callee as a reference without a target.
pub(crate) fn computed_call<'t>(walk: &mut Walk<'t>, callee: Node<'t>, kind: SiteKind) {
    if walk.seen.is_kept {
        let name = walk.facts.synthetic(Synthetic::UnnamedCallee);
        walk.site(Usage::Site(kind), callee, name, ExprId::NONE);
    }
}

/// Visits the children that the rule of a node omits; keeps the pending call site.
#[inline]
pub(crate) fn visit_rest_of<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    if walk.seen.is_kept && !covers_all_children(&walk.input, node) {
        let waiting = walk.take_call_site();
        visit_left_out(walk, node);
        walk.context.call_site = waiting;
    }
}

/// Visits the children of a node that have not been visited, in the current scope.
pub(crate) fn visit_left_out<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    if !walk.seen.is_kept {
        return;
    }
    for child in children::named_children(&walk.input, node) {
        if walk.seen.has(child) || covers_all_children(&walk.input, child) {
            continue;
        }
        // A modifier is no expression: only its children are visited.
        if walk.seen.has_inside(child) || walk.input.language.is_modifier_node(child.kind_id()) {
            walk.nested(child, (), |walk| visit_left_out(walk, child));
        } else if child.named_child_count() > 0 {
            // A single word may be a label or a keyword and is no reference.
            walk.visit(child, READ);
        }
    }
}

/// Visits the children of a node that only pass on what is in them, but for those of selectors and
/// a body: the arguments that a type without a name is made with.
pub(crate) fn visit_passed<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    selected: impl Iterator<Item = Option<&'static Selector>>,
    body: Option<Node<'t>>,
) {
    let others: Vec<usize> = selected
        .flat_map(|selector| children::every(&walk.input, selector, node))
        .chain(body)
        .map(|child| child.id())
        .collect();
    for child in children::named_children(&walk.input, node) {
        let is_passed = matches!(rule_choice::rule_at(&walk.input, child), Some(Rule::Pass { .. }));
        if is_passed && !others.contains(&child.id()) {
            walk.visit(child, READ);
        }
    }
}

/// True if the rule of a node covers all its children.
fn covers_all_children<'t>(input: &Input<'t>, node: Node<'t>) -> bool {
    let rule = rule_choice::rule_of(input, node, node.kind_id());
    matches!(
        rule,
        Some(
            Rule::Skip {}
                | Rule::Import { .. }
                | Rule::Package { .. }
                | Rule::Item { .. }
                | Rule::Defines { .. }
        )
    )
}
