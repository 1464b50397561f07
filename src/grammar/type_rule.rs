//! Roles of node kinds in type position. A closed set; manifests choose among them.

use crate::selector::Selector;
use serde::Deserialize;

/// Role of a node in type position.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(
    tag = "role",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum TypeRule {
    /// An unknown type; nothing inside is visited.
    Skip {},
    /// The type of its child `of`, by default of the first named one; without such a child the
    /// builtin type `otherwise`. If there is a child `wrap`, the type is wrapped by it (a pointer).
    Pass { of: Option<Selector>, otherwise: Option<String>, wrap: Option<Selector> },
    /// A list: each named child is a type.
    Each {},
    /// A name.
    Name {},
    /// A member of a module or type.
    Member { object: Option<Selector>, name: Selector },
    /// A path of names in one node, with the type arguments of the last one.
    Segments { names: Selector, args: Option<Selector> },
    /// A generic type with type arguments; `open`: an empty list has places for them (`Map<,>`).
    Apply {
        base: Selector,
        args: Option<Selector>,
        #[serde(default)]
        open: bool,
    },
    /// An array or slice, or another builtin container by `name`; an array of arrays for each
    /// bracket in `dimensions`; `sizes` holds expressions.
    Array {
        of: Selector,
        name: Option<String>,
        dimensions: Option<Selector>,
        sizes: Option<Selector>,
    },
    /// A mapping of the builtin type `ty`.
    Mapping { ty: String, key: Selector, value: Selector },
    /// A wrapper that is transparent to member lookup (pointer, reference).
    Wrap {
        of: Option<Selector>,
        #[serde(default)]
        name: Option<String>,
    },
    /// A union of its children.
    Union {},
    /// One of the types `of`, by a condition that is not evaluated: their union.
    Choice { of: Vec<Selector> },
    /// A function type, possibly with a receiver.
    Function {
        params: Option<Selector>,
        returns: Option<Selector>,
        receiver: Option<Selector>,
        type_params: Option<Selector>,
    },
    /// A tuple.
    Tuple {},
    /// A node among type arguments that is no type (a lifetime).
    Mark {},
    /// An argument for a member of the type that is applied (`Item = T` in `Source<Item = T>`).
    Named { name: Selector, of: Selector },
    /// An object type with members in place; it has those of the type `copies` as well, if there is
    /// one (a mapped type).
    Object { copies: Option<Selector> },
    /// A builtin type, by `name` or by its text.
    Builtin { name: Option<String> },
    /// The enclosing type.
    SelfType {},
    /// A string whose text is a type.
    Quoted {},
    /// An expression, not a type.
    Expression {},
    /// A type guard: the callable tests whether its first argument has this type.
    Guard { of: Selector },
    /// The type of a named value.
    TypeOf { of: Option<Selector> },
    /// A type that may be defined where it is used.
    Specifier { name: Option<Selector>, body: Option<Selector> },
}
