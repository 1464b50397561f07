//! Operands of expressions that are neither names nor other expressions.

use super::ids::NameId;

/// What a closure or an object literal gets from the place where it is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Contextual {
    /// Argument that callers of the closure pass for its parameter at a position.
    Parameter(u32),
    /// Receiver that callers of the closure may give it.
    Receiver,
    /// Object literal itself: the value that is expected there.
    Object,
    /// Result that callers of the closure expect.
    Result,
}

impl Contextual {
    /// The parameter at a position.
    pub fn at(position: usize) -> Self {
        Self::Parameter(u32::try_from(position).expect("bounded by the size of a file"))
    }

    /// Returns the position of a parameter.
    pub fn position(self) -> Option<usize> {
        match self {
            Self::Parameter(position) => Some(position as usize),
            Self::Receiver | Self::Object | Self::Result => None,
        }
    }
}

/// What is around a type in `Expr::Wrap`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wrapper {
    /// Nothing that has a name: an optional, or the first segment of a path.
    Plain,
    /// Pointer, reference or another wrapper that the grammar names.
    Named(NameId),
    /// Type of a receiver, the first part of a function type.
    Receiver,
    /// Type of a decorator, which may omit a suffix of its name.
    Decorator,
    /// Type whose values are constant.
    ReadOnly,
    /// Base whose members come before those of the type itself.
    Prepended,
    /// Parameter that takes a variable instead of a value, and the argument for one.
    Variable,
}

/// Parameter that `Expr::Argument` is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgumentLabel {
    /// The one of a name.
    Name(NameId),
    /// The last: a closure behind the other arguments.
    Last,
    /// A variadic one, which gets the elements of the value.
    Spread,
}
