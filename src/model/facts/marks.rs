//! Synthetic names and positions by which facts refer to what has no name in the source.

/// Synthetic name of the results of a closure without a symbol, bound in its scope.
pub const RESULT: &str = "()";

/// Synthetic name of the function type of a call of a value, bound in the scope of its type.
pub const CALL_SIGNATURE: &str = "(..)";

/// Name of the site of a call whose callee has none.
pub const UNNAMED: &str = "()";

/// Start of the synthetic names of the arguments with which a callable calls the closure that is
/// passed to it, bound in its scope: the position of the argument follows.
pub const GIVEN: &str = "()";

/// Number of arguments of such a call that are kept.
pub const MAX_GIVEN: usize = 4;

/// Builtin type of a type guard's result: its argument is the type that the guard implies.
pub const TYPE_GUARD: &str = "is";

/// Synthetic name of the declared type of the variable that holds a closure, bound in the closure's
/// scope.
pub const HOLDER_TYPE_NAME: &str = "=>";

/// Synthetic name of an object literal whose type is stated by what is around it, bound with that
/// type.
pub const STATED_TYPE: &str = ":";

/// Position, among the parameters of a closure, of the receiver that it may be given.
pub const RECEIVER: u32 = u32::MAX;

/// Position, among the parameters of a scope, of the object literal with that scope itself: the
/// value that its context expects.
pub const EXPECTED: u32 = u32::MAX - 1;

/// Name of the wrapper around the type of a receiver, the first part of a function type.
pub const RECEIVER_TYPE: &str = "this";

/// Name in `Expr::Argument` of a value whose elements are arguments.
pub const SPREAD_ARGUMENT: &str = "*";

/// Name of the wrapper around the type of a decorator, which may omit a suffix of its name.
pub const DECORATOR_TYPE: &str = "@";

/// Name of the wrapper around a type whose values are constant.
pub const READ_ONLY_TYPE: &str = "const";

/// Name of the wrapper around a base whose members come before those of the type itself.
pub const PREPENDED: &str = "prepended";
