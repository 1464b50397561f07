//! Chains of declarators: the name at their end, and the types that they wrap around it.

use crate::bindings::variables;
use crate::facts::builder::Builder;
use crate::walk::children;
use crate::walk::rule_choice;
use crate::walk::{Declarator, Declared, READ, Walk};
use cograph_grammar::{Rule, Selector};
use cograph_model::facts::{Expr, ExprId, Wrapper};
use tree_sitter::Node;

/// Follows a chain of declarators to its name.
pub(crate) fn declarator<'t>(walk: &mut Walk<'t>, start: Node<'t>) -> Declared<'t> {
    let mut declared = Declared::default();
    let mut node = start;
    loop {
        match rule_choice::rule_at(&walk.input, node) {
            Some(Rule::Declarator { up_to: Some(_), params, .. }) => {
                declared.name = Some(node);
                declared.params = params.as_ref().and_then(|selector| selector.first(node));
                declared.is_callable = true;
                return declared;
            }
            Some(Rule::Declarator {
                of,
                params,
                wrap,
                size,
                value,
                args,
                returns,
                up_to: None,
            }) => {
                let select = |selector: &Option<Selector>| {
                    selector.as_ref().and_then(|selector| selector.first(node))
                };
                let next = match of {
                    Some(selector) => selector.first(node),
                    None => children::last_named_child(node),
                };
                declared.value = declared.value.or(select(value));
                declared.args = declared.args.or(select(args));
                if let Some(size) = select(size) {
                    walk.visit(size, READ);
                }
                if let Some(params) = params {
                    declared.params = params.first(node);
                    declared.is_callable = true;
                    declared.is_read_only = variables::is_read_only(&walk.input, node);
                    declared.wraps.push(Declarator::Function);
                    declared.returns = select(returns).or(declared.returns);
                } else if let Some(wrap) = wrap {
                    declared.is_callable = false;
                    declared.wraps.push(if wrap == "array" {
                        Declarator::Array
                    } else {
                        Declarator::Named(wrap.clone())
                    });
                }
                let Some(next) = next else { break };
                node = next;
            }
            Some(Rule::Variable { name, value, .. }) => {
                declared.value = value.as_ref().and_then(|selector| selector.first(node));
                let Some(next) = name.first(node) else { break };
                node = next;
            }
            Some(Rule::Name { .. } | Rule::Member { .. } | Rule::Pass { .. }) => {
                declared.name = Some(node);
                let last = children::last_of_path(&walk.input, node);
                if let Some(Rule::Declarator { up_to: Some(_), params, .. }) =
                    rule_choice::rule_at(&walk.input, last)
                {
                    declared.params = params.as_ref().and_then(|selector| selector.first(last));
                    declared.is_callable = true;
                    return declared;
                }
                break;
            }
            _ => {
                declared.name = walk.input.language.pattern(node.kind_id()).map(|_| node);
                break;
            }
        }
    }
    if declared.is_callable && declared.wraps.last() == Some(&Declarator::Function) {
        declared.wraps.pop();
    }
    declared
}

/// Applies declarators to a type.
pub(super) fn wrapped(facts: &mut Builder, ty: ExprId, wraps: &[Declarator]) -> ExprId {
    let mut ty = ty;
    for wrap in wraps {
        if !ty.is_some() {
            return ty;
        }
        ty = match wrap {
            Declarator::Array => facts.expr(Expr::Array(ty)),
            Declarator::Named(name) => {
                let wrapper = Wrapper::Named(facts.name(name));
                facts.expr(Expr::Wrap(ty, wrapper))
            }
            Declarator::Function => {
                let list = facts.list(&[ty]);
                facts.expr(Expr::Function(list))
            }
        };
    }
    ty
}
