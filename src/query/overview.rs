//! `overview`: what a repository consists of, how its parts depend on each other, and where to begin.

use super::{QueryError, SymbolInfo};
use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::store::Snapshot;

/// What to look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OverviewParams {
    /// Only this directory; empty for the whole repository.
    pub path: String,
    /// Levels of directories below `path` that count as modules of their own. 0 chooses a depth that gives some dozen modules.
    pub depth: u32,
    /// At most so many entries in each list.
    pub limit: usize,
}

impl Default for OverviewParams {
    fn default() -> Self {
        Self { path: String::new(), depth: 0, limit: 20 }
    }
}

/// A language with its share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanguageShare {
    /// The language.
    pub name: String,
    /// Files.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Symbols.
    pub symbols: u64,
}

/// A module: a directory with the code below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleInfo {
    /// The directory; `.` for files at the top.
    pub path: String,
    /// Files.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Symbols.
    pub symbols: u64,
    /// Certain and likely sites in other modules that lead here.
    pub used_by: u64,
    /// Certain and likely sites here that lead to other modules.
    pub uses: u64,
}

/// One module depends on another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// The module that needs the other.
    pub from: String,
    /// The other.
    pub to: String,
    /// Certain and likely sites, and imports of files.
    pub sites: u64,
}

/// A place where execution or reading begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntryPoint {
    /// A function that runs first.
    Main(Box<SymbolInfo>),
    /// A file that uses others and that no other file uses.
    Root {
        /// The file.
        path: RepoPath,
        /// Files it uses directly.
        uses: u64,
    },
}

/// The answer of `overview`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OverviewResult {
    /// Languages, largest first.
    pub languages: Vec<LanguageShare>,
    /// Modules, most used first.
    pub modules: Vec<ModuleInfo>,
    /// How many modules there are.
    pub module_total: u64,
    /// Dependencies between modules, heaviest first.
    pub dependencies: Vec<Dependency>,
    /// How many dependencies there are.
    pub dependency_total: u64,
    /// Where to begin: main functions, then roots that use most.
    pub entry_points: Vec<EntryPoint>,
    /// How many entry points there are.
    pub entry_point_total: u64,
    /// The most referenced symbols outside test code.
    pub hot_spots: Vec<SymbolInfo>,
    /// Groups of modules that depend on each other in a circle, largest first.
    pub cycles: Vec<Vec<String>>,
    /// How many such groups there are.
    pub cycle_total: u64,
}

/// Summarises a repository or directory.
pub fn overview(snapshot: &Snapshot, params: &OverviewParams, cancel: &CancelToken) -> Result<OverviewResult, QueryError> {
    super::pending(snapshot, params, cancel)
}
