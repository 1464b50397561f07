//! Roles of node kinds in binding position. A closed set; manifests choose among them.

use crate::selector::Selector;
use serde::Deserialize;

/// Role of a node in binding position.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(
    tag = "role",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum Pattern {
    /// Binds nothing.
    Skip {},
    /// Has the bindings of its child.
    Pass { of: Option<Selector> },
    /// An element of a container: a write to the container named by `of`.
    Element { of: Selector, key: Option<Selector> },
    /// A name. With `capitals`, a name with a leading capital is a constant or variant to compare
    /// with.
    Name {
        #[serde(default)]
        capitals: bool,
    },
    /// Elements by position. `single`: a list of one is the whole value.
    Tuple {
        #[serde(default)]
        single: bool,
    },
    /// Assignment targets: one takes the value, several take its elements.
    Targets {},
    /// Elements of a sequence.
    Items {},
    /// The remaining elements. As a parameter, the declared type is that of the whole, or with
    /// `gathers` that of each gathered argument.
    Rest { of: Option<Selector>, gathers: Option<Gathers> },
    /// A pattern with a default value.
    Default { of: Selector, value: Selector },
    /// Members by name; children have the roles `field` or `shorthand`.
    Fields { ty: Option<Selector> },
    /// A member that is bound to another name or pattern.
    Field { key: Selector, value: Option<Selector> },
    /// A member that is bound to its own name.
    Shorthand {},
    /// A variant with patterns for its positional parts.
    Variant { ty: Selector },
    /// A name for the whole value, and a pattern for its parts (`x @ p`). `ty`: the type that the
    /// value has where it matches.
    Both { name: Option<Selector>, of: Option<Selector>, ty: Option<Selector> },
    /// A named value or type to compare with.
    Compare {},
    /// Alternatives of patterns.
    Either {},
}

/// Arguments that a rest parameter gathers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gathers {
    /// Positional arguments.
    Items,
    /// Named arguments.
    Named,
}
