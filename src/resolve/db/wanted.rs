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
}
