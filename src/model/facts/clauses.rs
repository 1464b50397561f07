//! What few symbols have: decorators, bases, type parameters, an owner.

use super::ids::{ExprId, Run};

/// Parts of a symbol that most have none of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clauses {
    /// Applied decorators, in order of appearance. In `lists`.
    pub decorators: Run,
    /// Base types, `Expr::Base`. In `lists`.
    pub bases: Run,
    /// Type parameters: bindings.
    pub type_params: Run,
    /// Owner type, if it is an expression (method receivers, `impl`, `A::f`).
    pub owner: ExprId,
    /// Trait or interface that the owner implements here, with its scope (`impl Trait for Type`).
    pub implements: ExprId,
}

impl Clauses {
    /// No clauses.
    pub const NONE: Self = Self {
        decorators: Run::EMPTY,
        bases: Run::EMPTY,
        type_params: Run::EMPTY,
        owner: ExprId::NONE,
        implements: ExprId::NONE,
    };
}
