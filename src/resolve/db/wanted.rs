//! Filter of a lookup: the kinds of symbols that it is for.

/// What a lookup is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Wanted {
    /// Callables.
    Callables,
    /// Everything else.
    Others,
    /// Everything except modules and namespaces.
    NoModules,
    /// Everything except tags: type names that are visible only behind a keyword.
    Untagged,
    /// Candidates in type position: types, namespaces, and macros, which may expand to either.
    Types,
    /// Types with this number of type parameters.
    Arity(u32),
}

/// Filter of a lookup. What a lookup returns depends on all of it: memos have it in their keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Filter {
    /// Kinds of symbols; `None` for all.
    pub(crate) wanted: Option<Wanted>,
    /// True if values are skipped, in a lookup of a type or module.
    pub(crate) types_only: bool,
}
