//! `status`: contents, completeness and age of the store.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_grammar::{self as grammar, Tier};
use cograph_model::cancel::CancelToken;
use cograph_model::stated::{self, Stated};
use cograph_model::{Problem, RepoPath, SkipReason};
use cograph_store::{FileRow, Identity, Snapshot, read_side_file};

/// Parameters of `status`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusParams {
    /// Maximum number of problems, and of files for each skip reason.
    pub limit: usize,
}

impl Default for StatusParams {
    fn default() -> Self {
        Self { limit: 20 }
    }
}

/// Numbers of sites by verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VerdictCounts {
    /// One proven target.
    pub resolved: u64,
    /// One target by heuristic.
    pub likely: u64,
    /// One candidate that is not proven.
    pub possible: u64,
    /// Several candidates.
    pub ambiguous: u64,
    /// External target.
    pub external: u64,
    /// No target.
    pub unresolved: u64,
}

impl VerdictCounts {
    /// Number of all sites.
    pub fn total(&self) -> u64 {
        self.resolved
            + self.likely
            + self.possible
            + self.ambiguous
            + self.external
            + self.unresolved
    }
}

/// Language with statistics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanguageStatus {
    /// Name.
    pub name: String,
    /// Tier of analysis.
    pub tier: Tier,
    /// Indexed files.
    pub files: u64,
    /// Indexed files with problems.
    pub partial: u64,
    /// Lines of indexed files.
    pub lines: u64,
    /// Bytes of indexed files.
    pub bytes: u64,
    /// Symbols.
    pub symbols: u64,
    /// Sites.
    pub sites: VerdictCounts,
}

/// Files skipped for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedFiles {
    /// Reason.
    pub reason: SkipReason,
    /// Number of files.
    pub files: u64,
    /// Some of the files, by path.
    pub examples: Vec<RepoPath>,
}

/// Edges that a program states, which were imported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatedStatus {
    /// Program and its version.
    pub tool: String,
    /// Files with such edges.
    pub files: u64,
    /// Those that still have the content that the edges are of.
    pub present: u64,
    /// References in these.
    pub edges: u64,
}

/// Result of `status`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatusResult {
    /// Store and generation.
    pub identity: Identity,
    /// Root of the repository.
    pub root: PathBuf,
    /// End of the build.
    pub built_at: SystemTime,
    /// Duration of the build.
    pub build_duration: Duration,
    /// Size of the store's file in bytes.
    pub store_bytes: u64,
    /// Files found by the walk.
    pub files: u64,
    /// Languages, most files first.
    pub languages: Vec<LanguageStatus>,
    /// Languages that are left out because their manifest does not fit: directory and reason.
    pub manifest_errors: &'static [String],
    /// Files of builds whose conditions, macros and include directories are in use.
    pub builds: Vec<RepoPath>,
    /// Imported edges by the programs that state them.
    pub stated: Vec<StatedStatus>,
    /// Skipped files by reason, most frequent first.
    pub skipped: Vec<SkippedFiles>,
    /// Incomplete regions, by path and line.
    pub problems: Vec<(RepoPath, Problem)>,
    /// Number of problems.
    pub problem_total: u64,
    /// Number of files with problems.
    pub problem_files: u64,
}

/// Describes the store.
pub fn status(
    snapshot: &Snapshot,
    params: &StatusParams,
    cancel: &CancelToken,
) -> Result<StatusResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let meta = snapshot.meta();
    let files = snapshot.files()?;
    let mut problems = snapshot.problems()?;
    let with_problems: std::collections::BTreeSet<_> =
        problems.iter().map(|problem| problem.file).collect();
    let mut languages: BTreeMap<&str, LanguageStatus> = BTreeMap::new();
    let mut skipped: BTreeMap<SkipReason, SkippedFiles> = BTreeMap::new();
    let is_build = |file: &&FileRow| {
        file.skipped.is_none_or(|reason| reason == SkipReason::NoLanguage)
            && grammar::build_files().any(|name| file.path.file_name() == name)
    };
    let builds = files.iter().filter(is_build).map(|file| file.path.clone()).collect();
    for file in &files {
        lookup.check()?;
        if let Some(reason) = file.skipped {
            let entry = skipped.entry(reason).or_insert_with(|| SkippedFiles {
                reason,
                files: 0,
                examples: Vec::new(),
            });
            entry.files += 1;
            if entry.examples.len() < params.limit {
                entry.examples.push(file.path.clone());
            }
        } else {
            let name = lookup.language(file.language);
            let entry = languages.entry(name).or_insert_with(|| LanguageStatus::empty(name));
            entry.add(file, with_problems.contains(&file.key));
        }
    }
    let mut languages: Vec<_> = languages.into_values().collect();
    languages.sort_by_key(|language| Reverse(language.files));
    let mut skipped: Vec<_> = skipped.into_values().collect();
    skipped.sort_by_key(|entry| Reverse(entry.files));
    let problem_total = problems.len() as u64;
    let place: BTreeMap<_, _> = files.iter().map(|file| (file.key, &file.path)).collect();
    problems.sort_by_key(|row| (place.get(&row.file).copied(), row.problem.first_line));
    problems.truncate(params.limit);
    let listed = problems
        .into_iter()
        .filter_map(|row| Some(((*place.get(&row.file)?).clone(), row.problem)));
    Ok(StatusResult {
        identity: meta.identity,
        root: meta.root.clone(),
        built_at: meta.built_at,
        build_duration: meta.build_duration,
        store_bytes: snapshot.store().bytes(),
        files: meta.files,
        languages,
        manifest_errors: grammar::manifest_errors(),
        builds,
        stated: stated_status(snapshot, &files),
        skipped,
        problems: listed.collect(),
        problem_total,
        problem_files: with_problems.len() as u64,
    })
}

fn stated_status(snapshot: &Snapshot, files: &[FileRow]) -> Vec<StatedStatus> {
    let kept = read_side_file(snapshot.store(), stated::FILE);
    let stated = kept.and_then(|bytes| Stated::decoded(&bytes)).unwrap_or_default();
    let tools = stated.tools.iter().cloned();
    let mut tools: Vec<StatedStatus> =
        tools.map(|tool| StatedStatus { tool, ..StatedStatus::default() }).collect();
    for (path, file) in &stated.files {
        let Some(tool) = tools.get_mut(file.tool as usize) else { continue };
        tool.files += 1;
        let row = files.binary_search_by(|row| row.path.cmp(path)).ok().map(|at| &files[at]);
        if row.is_some_and(|row| stated.of(path, row.hash).is_some()) {
            tool.present += 1;
            tool.edges += u64::from(file.edges);
        }
    }
    tools
}

impl LanguageStatus {
    fn empty(name: &str) -> Self {
        let sites = VerdictCounts::default();
        let tier = grammar::tier_of(name).unwrap_or(Tier::Full);
        Self {
            name: name.to_owned(),
            tier,
            files: 0,
            partial: 0,
            lines: 0,
            bytes: 0,
            symbols: 0,
            sites,
        }
    }

    fn add(&mut self, file: &FileRow, has_problems: bool) {
        let [resolved, likely, ambiguous, external, unresolved, possible] =
            file.verdicts.map(u64::from);
        self.files += 1;
        self.partial += u64::from(has_problems);
        self.lines += u64::from(file.lines);
        self.bytes += file.size;
        self.symbols += u64::from(file.symbols);
        self.sites.resolved += resolved;
        self.sites.likely += likely;
        self.sites.possible += possible;
        self.sites.ambiguous += ambiguous;
        self.sites.external += external;
        self.sites.unresolved += unresolved;
    }
}
