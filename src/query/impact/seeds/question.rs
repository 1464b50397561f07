//! Parameters of `impact`.

use cograph_model::RepoPath;
use cograph_model::change::{CallShapes, Change, Together};

/// Reads the calls of a file with their arguments.
pub type ReadCalls<'p> = &'p dyn Fn(&RepoPath) -> CallShapes;

/// Parameters of `impact`.
#[derive(Clone, Copy, Default)]
pub struct ImpactParams<'p> {
    /// Symbols.
    pub symbols: &'p [String],
    /// Change.
    pub change: Option<&'p Change>,
    /// Common history of the changed files.
    pub together: Option<&'p Together>,
    /// Calls of a file; without, arguments are not compared.
    pub calls: Option<ReadCalls<'p>>,
    /// Recorded executions of the changed or named symbols.
    pub executed: &'p [Execution],
}

/// Recorded run of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct Execution {
    /// Name of the test, as its runner has it.
    pub test: String,
    /// What it executed of the changed or named symbols: see
    /// [`Evidence::executed`](crate::impact::Evidence::executed).
    pub share: f32,
}
