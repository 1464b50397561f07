//! Types of parameters and arguments as far as one file shows them: literals, constructions, and
//! names with a declared type or such a value. Pure.

use cograph_model::facts::{BindingKind, Expr, ExprId, FileFacts, NameId, ScopeId};

/// Mark of the type of a literal in double quotes.
const TEXT: &str = "\"";

/// Maximum number of steps from an argument to its type.
const MAX_STEPS: usize = 12;

/// Name of the one type that a type expression is, without what wraps it.
pub(super) fn name_of_type(facts: &FileFacts, ty: ExprId) -> String {
    let mut next = ty;
    for _ in 0..MAX_STEPS {
        let Some(at) = next.get() else { break };
        match facts.exprs[at] {
            Expr::Name(name, _) | Expr::Literal(name) | Expr::Member(_, name) => {
                return text(facts, name);
            }
            Expr::Wrap(inner, _) | Expr::OfType(inner) => next = inner,
            _ => break,
        }
    }
    String::new()
}

/// Name of the type of a value in a text. That of a literal in
/// double quotes is marked, for some languages give it the type of a character.
pub(super) fn name_of_value(facts: &FileFacts, source: &[u8], value: ExprId) -> String {
    let mut next = value;
    for _ in 0..MAX_STEPS {
        let Some(at) = next.get() else { break };
        match facts.exprs[at] {
            Expr::Literal(name) => {
                let name = text(facts, name);
                let start = source.get(facts.positions[at] as usize..).unwrap_or_default();
                let quoted = start.iter().find(|byte| !byte.is_ascii_alphanumeric());
                return if quoted == Some(&b'"') { name + TEXT } else { name };
            }
            Expr::Construct(ty, _) | Expr::OfType(ty) => return name_of_type(facts, ty),
            Expr::Argument(inner, _) | Expr::Wrap(inner, _) => next = inner,
            Expr::Name(name, scope) => match declared(facts, name, scope) {
                Declared::Type(ty) => return name_of_type(facts, ty),
                Declared::Value(value) => next = value,
                Declared::Nothing => break,
            },
            _ => break,
        }
    }
    String::new()
}

enum Declared {
    Type(ExprId),
    Value(ExprId),
    Nothing,
}

/// What the innermost scope with a binding of a name says about it, if that is one thing.
fn declared(facts: &FileFacts, name: NameId, scope: ScopeId) -> Declared {
    let mut next = scope;
    for _ in 0..MAX_STEPS {
        let Some(at) = next.get() else { break };
        let mut own =
            facts.bindings.iter().filter(|binding| binding.scope == next && binding.name == name);
        if let Some(first) = own.next() {
            // A default is one of the values of a parameter.
            return match (own.next(), first.ty().get(), first.value.get()) {
                (Some(_), ..) => Declared::Nothing,
                (None, Some(_), _) => Declared::Type(first.ty()),
                (None, None, Some(_)) if first.kind != BindingKind::Param => {
                    Declared::Value(first.value)
                }
                _ => Declared::Nothing,
            };
        }
        next = facts.scopes[at].parent;
    }
    Declared::Nothing
}

fn text(facts: &FileFacts, name: NameId) -> String {
    name.get().map_or_else(String::new, |name| facts.names[name].to_string())
}
