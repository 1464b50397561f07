//! What node kinds mean where names are bound. A closed set; manifests choose among them.

use super::Selector;
use serde::Deserialize;

/// What a node means where names are bound.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "role", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub(crate) enum Pattern {
    /// Binds nothing.
    Skip {},
    /// Binds what its child binds.
    Pass { of: Option<Selector> },
    /// An item of what its child names, which is written as a whole.
    Element { of: Selector, key: Option<Selector> },
    /// The name it is. With `capitals`, a name that starts with a capital is compared instead.
    Name {
        #[serde(default)]
        capitals: bool,
    },
    /// Items by position. `single`: a list of one is the whole value.
    Tuple {
        #[serde(default)]
        single: bool,
    },
    /// Targets side by side: one alone takes the value, several its items.
    Targets {},
    /// Items of a sequence.
    Items {},
    /// All the rest. As a parameter, its declared type is that of the whole unless it `gathers` what has that type.
    Rest { of: Option<Selector>, gathers: Option<Gathers> },
    /// With a default value.
    Default { of: Selector, value: Selector },
    /// Members by name; children have `Field` or `Shorthand`.
    Fields { ty: Option<Selector> },
    /// A member under another name or pattern.
    Field { key: Selector, value: Option<Selector> },
    /// A member under its own name.
    Shorthand {},
    /// The parts of a variant by position.
    Variant { ty: Selector },
    /// A name for the whole value and a pattern for its parts.
    Both { name: Selector, of: Option<Selector> },
    /// A value or type to compare with, by name.
    Compare {},
    /// Any of several patterns.
    Either {},
}

/// What a parameter for the rest gathers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Gathers {
    /// Arguments by position.
    Items,
    /// Arguments by name.
    Named,
}
