//! What node kinds mean in type position. A closed set; manifests choose among them.

use super::Selector;
use serde::Deserialize;

/// What a node means in type position.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "role", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub(crate) enum TypeRule {
    /// Nothing is known of it; nothing inside matters.
    Skip {},
    /// The type of its child (the first named one if not said); without a type there, the builtin one of this name.
    Pass { of: Option<Selector>, otherwise: Option<String> },
    /// Each named child is a type of its own.
    Each {},
    /// A name.
    Name {},
    /// A member of a module or type.
    Member { object: Option<Selector>, name: Selector },
    /// A generic type with its arguments.
    Apply { base: Selector, args: Option<Selector> },
    /// An array or slice, or another builtin type that holds items, by name.
    Array { of: Selector, name: Option<String> },
    /// A mapping, by the name of the builtin that stands for it.
    Mapping { ty: String, key: Selector, value: Selector },
    /// A wrapper that is looked through.
    Wrap {
        of: Option<Selector>,
        #[serde(default)]
        name: Option<String>,
    },
    /// One of its children, or the sides of an operator.
    Union {},
    /// A function type.
    Function { params: Option<Selector>, returns: Option<Selector> },
    /// A tuple.
    Tuple {},
    /// Stands among type arguments without being one.
    Mark {},
    /// Members written in place.
    Object {},
    /// A builtin type, by its text or the given name.
    Builtin { name: Option<String> },
    /// The type around it.
    SelfType {},
    /// A string whose text is a type.
    Quoted {},
    /// An expression, not a type.
    Expression {},
    /// The result of a test of its first argument: that it is of this type.
    Guard { of: Selector },
    /// The type of the value that is named.
    TypeOf { of: Option<Selector> },
    /// A type that may be defined where it is used.
    Specifier { name: Option<Selector>, body: Option<Selector> },
}
