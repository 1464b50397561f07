//! Syntax of imports: the forms of module systems, and the relevant children of a node in each.

use crate::selector::Selector;
use serde::Deserialize;

/// Syntax of an import. The forms are those of module systems, not of single languages.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(
    tag = "as",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum ImportForm {
    /// Modules by name. A child of `names` with an alias has the name in `aliased` and the alias in
    /// `alias`; without one the first segment is bound.
    Modules { names: Selector, alias: Option<Selector>, aliased: Option<Selector> },
    /// Items of a module named by a dotted path that may be relative.
    Items {
        module: Selector,
        relative: Option<Selector>,
        names: Selector,
        wildcard: Option<Selector>,
        alias: Option<Selector>,
        aliased: Option<Selector>,
    },
    /// Clauses before a quoted source: default, namespace, named items.
    Clauses {
        source: Selector,
        default: Option<Selector>,
        namespace: Option<Selector>,
        named: Option<Selector>,
        wildcard: Option<Selector>,
        item: Option<Selector>,
        alias: Option<Selector>,
        /// Keywords of type-only imports.
        #[serde(default)]
        types: Vec<String>,
    },
    /// A tree of paths with lists, aliases and wildcards. The texts are node kinds; the selectors
    /// apply to these nodes.
    Tree {
        of: Selector,
        list: Selector,
        path: Selector,
        name: Selector,
        alias: Selector,
        wildcard: String,
        scoped_list: String,
        aliased: String,
        plain_list: String,
    },
    /// One path whose last segment may be a wildcard; `member` is the token of an import of members
    /// (`import static`).
    /// `everywhere` marks an import that all files of the project see.
    Path {
        of: Selector,
        wildcard: Option<Selector>,
        member: Option<String>,
        everywhere: Option<Selector>,
    },
    /// A quoted path bound under its last segment, another name, everything (`.`) or nothing (`_`).
    Quoted { path: Selector, alias: Option<Selector> },
    /// Textual inclusion; `system` is the node kind of a path that is searched outside of the
    /// repository first. A `computed` part is only known at run time: the path is what follows it.
    Include { path: Selector, system: String, computed: Option<Selector> },
    /// A path with a node for each segment, and the names that are taken from it; without any, its
    /// last segment is.
    Joined {
        path: Selector,
        names: Option<Selector>,
        wildcard: Option<Selector>,
        alias: Option<Selector>,
        aliased: Option<Selector>,
    },
    /// A using declaration: a name of another scope becomes visible here, possibly under an alias;
    /// with the token `namespace`, all names of that scope. In a list, `prefix` is the common
    /// prefix in the parent node.
    Using {
        of: Selector,
        namespace: Option<String>,
        alias: Option<Selector>,
        prefix: Option<Selector>,
        everywhere: Option<Selector>,
    },
    /// Re-exports of an export declaration.
    Export {
        source: Selector,
        clause: Selector,
        item: Selector,
        alias: Selector,
        namespace: Selector,
        /// Keywords of type-only imports.
        #[serde(default)]
        types: Vec<String>,
    },
    /// A child module, by name.
    Child { name: Selector },
    /// A package as a whole, by name.
    Whole { name: Selector, alias: Option<Selector> },
}
