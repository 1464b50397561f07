//! Recorded executions for answers: kept next to the store by `cograph coverage add`.

use rustc_hash::FxHashMap;

use crate::tools::tool::context::QueryContext;
use cograph_coverage::{self as coverage, Covered, Present, Records};
use cograph_model::RepoPath;
use cograph_model::change::Change;
use cograph_query::impact::Execution;
use cograph_query::{self as query, QueryError};
use cograph_store::read_side_file;

/// Share of a test that executed a changed function: at least this, and more with each other one.
const LEAST_SHARE: f32 = 0.75;
/// Share of a test of which only the executed files are known.
const FILE_SHARE: f32 = 0.25;

/// Executions of the repository of a question.
pub(crate) struct KnownCoverage {
    records: Records,
}

impl KnownCoverage {
    /// None if no coverage was added.
    pub(crate) fn of(context: &QueryContext<'_>) -> Option<Self> {
        let kept = read_side_file(context.snapshot.store(), coverage::FILE)?;
        Records::decoded(&kept).map(|records| Self { records })
    }

    /// Tests that executed the changed functions with their bodies before the change.
    pub(super) fn of_change(
        &self,
        context: &QueryContext<'_>,
        change: &Change,
    ) -> Result<Vec<Execution>, QueryError> {
        let read = |path: &RepoPath| context.files.read(path);
        let present = Present::new(&self.records, context.snapshot, &read)?;
        let [functions, files] = present.of_change(change);
        let mut found = self.executions(&functions);
        let by_file = files.keys().filter(|test| !functions.contains_key(*test));
        found.extend(by_file.map(|&test| Execution { test: self.name(test), share: FILE_SHARE }));
        Ok(in_order(found))
    }

    /// Tests that executed these symbols with their present bodies.
    pub(super) fn of_symbols(
        &self,
        context: &QueryContext<'_>,
        symbols: &[String],
    ) -> Result<Vec<Execution>, QueryError> {
        let named = query::impact::named(context.snapshot, symbols, context.cancel)?;
        let functions: Vec<(RepoPath, String)> = named
            .into_iter()
            .map(|symbol| {
                let name = symbol.qualified_name();
                (symbol.path, name)
            })
            .collect();
        let read = |path: &RepoPath| context.files.read(path);
        let present = Present::new(&self.records, context.snapshot, &read)?;
        Ok(in_order(self.executions(&present.of_functions(&functions)?)))
    }

    /// Every function that tests executed with its present body, and the names of the tests.
    pub(crate) fn covered<T>(
        &self,
        context: &QueryContext<'_>,
        take: impl FnOnce(Vec<Covered<'_>>, Vec<&str>) -> T,
    ) -> Result<T, QueryError> {
        let read = |path: &RepoPath| context.files.read(path);
        let present = Present::new(&self.records, context.snapshot, &read)?;
        Ok(take(present.covered()?, self.records.test_names().collect()))
    }

    fn executions(&self, tests: &FxHashMap<u32, u32>) -> Vec<Execution> {
        let most = tests.values().copied().max().unwrap_or(1).max(1);
        let share = |count: u32| LEAST_SHARE + (1.0 - LEAST_SHARE) * count as f32 / most as f32;
        let mut all: Vec<(u32, u32)> = tests.iter().map(|(test, count)| (*test, *count)).collect();
        all.sort_unstable();
        all.into_iter()
            .map(|(test, count)| Execution { test: self.name(test), share: share(count) })
            .collect()
    }

    fn name(&self, test: u32) -> String {
        self.records.test_name(test).to_owned()
    }
}

fn in_order(mut found: Vec<Execution>) -> Vec<Execution> {
    found.sort_by(|one, other| one.test.cmp(&other.test));
    found
}
