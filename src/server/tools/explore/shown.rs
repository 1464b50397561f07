//! What is shown of a result of `explore`: the text and the JSON have the same.

use super::sources::Extract;
use cograph_query::SymbolInfo;

/// What is shown of a result.
pub(super) struct Shown<'r> {
    /// Numbers of symbols with neighbours and of others.
    pub(super) symbols: usize,
    pub(super) others: usize,
    /// Further functions by file.
    pub(super) functions: Vec<Vec<&'r SymbolInfo>>,
    /// Numbers of call chains and of tests.
    pub(super) connections: usize,
    pub(super) tests: usize,
    /// Lines of source.
    pub(super) sources: Vec<Extract<'r>>,
}
