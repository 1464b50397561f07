//! How imports are written: the forms that module systems have, and which children of a node matter in each.

use super::Selector;
use serde::Deserialize;

/// How an import is written. The forms are those of module systems, not of single languages.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "as", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub(crate) enum ImportForm {
    /// Modules, each with an optional alias node (`name`, `alias`). Without an alias the first segment is bound.
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
    /// Clauses in front of a quoted source.
    Clauses {
        source: Selector,
        default: Option<Selector>,
        namespace: Option<Selector>,
        named: Option<Selector>,
        wildcard: Option<Selector>,
        item: Option<Selector>,
        alias: Option<Selector>,
        /// Words that take only types.
        #[serde(default)]
        types: Vec<String>,
    },
    /// A tree of paths with lists, aliases and wildcards inside; node kinds by their place in the tree.
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
    /// One path whose last segment may be a wildcard; `member` marks an import of members of a type.
    Path { of: Selector, wildcard: Option<Selector>, member: Option<String> },
    /// A quoted path bound under its last segment, another name, everything (`.`) or nothing (`_`).
    Quoted { path: Selector, alias: Option<Selector> },
    /// Textual inclusion; `system` is the kind of node of a path that is searched outside first.
    /// What stands in `computed` is not known before the program runs: the path is what follows it.
    Include { path: Selector, system: String, computed: Option<Selector> },
    /// A path with a node for each segment, and the names that are taken from it; without any, its last segment is.
    Joined {
        path: Selector,
        names: Option<Selector>,
        wildcard: Option<Selector>,
        alias: Option<Selector>,
        aliased: Option<Selector>,
    },
    /// A name of another scope made visible here (`using a::b`), maybe under another name; `namespace`: everything in it when
    /// this token is present.
    /// In a list, `prefix` is what the node around the list has written before it.
    Using { of: Selector, namespace: Option<String>, alias: Option<Selector>, prefix: Option<Selector> },
    /// What an export says of other modules.
    Export {
        source: Selector,
        clause: Selector,
        item: Selector,
        alias: Selector,
        namespace: Selector,
        /// Words that take only types.
        #[serde(default)]
        types: Vec<String>,
    },
    /// A child module, by name.
    Child { name: Selector },
    /// A package as a whole, by name.
    Whole { name: Selector, alias: Option<Selector> },
}
