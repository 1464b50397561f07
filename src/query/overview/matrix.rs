//! `matrix`: dependencies between the modules of a directory, with cycles.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::modules::{ModuleInfo, Modules, Uses, below, files_below, fitting_depth, module_of};
use crate::graph::components;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_store::{FileEdge, FileKey, FileRow, Snapshot};

/// Modules fewer than these are shown as files.
const FEWEST: usize = 3;

/// Parameters of `matrix`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatrixParams {
    /// Directory; empty for the whole repository.
    pub path: String,
    /// Levels of directories below `path` that are separate modules. 0 selects a depth.
    pub depth: u32,
    /// True to include files of test code.
    pub tests: bool,
    /// Maximum number of modules: those with most dependencies.
    pub limit: usize,
}

/// Dependency in a matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatrixCell {
    /// Dependent module, by position.
    pub from: usize,
    /// Module depended on.
    pub to: usize,
    /// Certain and likely sites.
    pub sites: u64,
    /// Those outside of test code.
    pub of_production: u64,
}

/// Result of `matrix`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatrixResult {
    /// Directory as it is stored.
    pub path: String,
    /// Levels of directories; 0 if every file is a module.
    pub depth: u32,
    /// Modules, by path.
    pub modules: Vec<ModuleInfo>,
    /// Number of modules, shown or not.
    pub total: u64,
    /// Dependencies between the modules that are shown.
    pub cells: Vec<MatrixCell>,
    /// Cycles of these modules, by position, without dependencies of tests.
    pub cycles: Vec<Vec<usize>>,
}

/// Uses of one file by another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileUse {
    /// Dependent file.
    pub from: RepoPath,
    /// File depended on.
    pub to: RepoPath,
    /// Certain and likely sites.
    pub sites: u64,
    /// True for a dependent file that is test code.
    pub test: bool,
}

/// Finds the dependencies between the modules of a directory. A directory with fewer than three
/// modules is shown by its files.
pub fn matrix(
    snapshot: &Snapshot,
    params: &MatrixParams,
    cancel: &CancelToken,
) -> Result<MatrixResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let (path, files) = files_of(&lookup, params)?;
    let (depth, modules) = modules_at(&lookup, &files, &path, params.depth);
    let uses = Uses::new(&lookup, &files, &modules)?;
    let mut weight = vec![(0_u64, 0_u64); modules.infos.len()];
    for (&(from, to), &sites) in &uses.dependencies {
        weight[from].0 += sites;
        weight[to].1 += sites;
    }
    let mut shown: Vec<usize> = (0..modules.infos.len()).collect();
    shown.sort_by_key(|&module| {
        (Reverse(weight[module].0 + weight[module].1), Reverse(modules.infos[module].lines), module)
    });
    shown.truncate(params.limit);
    shown.sort_by(|one, other| modules.infos[*one].path.cmp(&modules.infos[*other].path));
    let places: FxHashMap<usize, usize> =
        shown.iter().enumerate().map(|(place, module)| (*module, place)).collect();
    let cells = uses.dependencies.iter().filter_map(|(&(from, to), &sites)| {
        let of_production = uses.of_production.get(&(from, to)).copied().unwrap_or(0);
        let (from, to) = (*places.get(&from)?, *places.get(&to)?);
        Some(MatrixCell { from, to, sites, of_production })
    });
    let cells = cells.collect();
    // Of the modules that are shown: through another one a cycle could not be followed.
    let among = uses
        .of_production
        .keys()
        .filter_map(|(from, to)| Some((*places.get(from)?, *places.get(to)?)));
    let cycles = components::cycles(among);
    let infos = shown.iter().map(|&module| {
        let (uses, used_by) = weight[module];
        ModuleInfo { uses, used_by, ..modules.infos[module].clone() }
    });
    let (modules, total) = (infos.collect(), modules.infos.len() as u64);
    Ok(MatrixResult { path, depth, modules, total, cells, cycles })
}

/// Finds the uses of files of one module by files of another: all of them are counted, those with
/// most sites are returned.
pub fn uses_between(
    snapshot: &Snapshot,
    params: &MatrixParams,
    (from, to): (&str, &str),
    cancel: &CancelToken,
) -> Result<(Vec<FileUse>, u64), QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let (path, files) = files_of(&lookup, params)?;
    let (_, modules) = modules_at(&lookup, &files, &path, params.depth);
    let module = |name: &str| modules.infos.iter().position(|info| info.path == name);
    let missing = |name: &str| QueryError::NoSuchPath { path: name.to_owned(), near: Vec::new() };
    let from = module(from).ok_or_else(|| missing(from))?;
    let to = module(to).ok_or_else(|| missing(to))?;
    let of_file = files.iter().zip(&modules.of_file);
    let known: FxHashMap<FileKey, (&FileRow, usize)> =
        of_file.map(|(file, module)| (file.key, (file, *module))).collect();
    let mut found = Vec::new();
    snapshot.visit_file_edges(|FileEdge { from: one, to: other, sites, .. }| {
        if let (Some((one, user)), Some((other, used))) = (known.get(&one), known.get(&other))
            && (*user, *used) == (from, to)
        {
            found.push(FileUse {
                from: one.path.clone(),
                to: other.path.clone(),
                sites: u64::from(sites),
                test: one.test,
            });
        }
        lookup.check().is_ok()
    })?;
    lookup.check()?;
    found.sort_by(|one, other| {
        (one.test, Reverse(one.sites), &one.from, &one.to).cmp(&(
            other.test,
            Reverse(other.sites),
            &other.from,
            &other.to,
        ))
    });
    let total = found.len() as u64;
    found.truncate(params.limit);
    Ok((found, total))
}

/// The files of a matrix. A directory of tests alone is shown with its tests.
fn files_of(
    lookup: &Lookup<'_>,
    params: &MatrixParams,
) -> Result<(String, Vec<FileRow>), QueryError> {
    let (path, mut files) = files_below(lookup, &params.path)?;
    if !params.tests && files.iter().any(|file| !file.test) {
        files.retain(|file| !file.test);
    }
    Ok((path, files))
}

/// The modules of a directory, and the levels that they are cut at; 0 for files.
fn modules_at(lookup: &Lookup<'_>, files: &[FileRow], path: &str, depth: u32) -> (u32, Modules) {
    let depth = if depth == 0 { fitting_depth(files, path) } else { depth };
    let modules = Modules::new(lookup, files, |file| module_of(file, path, depth));
    let is_flat = || {
        files
            .iter()
            .all(|file| below(file.path.as_str(), path).is_some_and(|rest| !rest.contains('/')))
    };
    if modules.infos.len() < FEWEST && (files.len() < 100 || is_flat()) {
        return (0, Modules::new(lookup, files, |file| file));
    }
    (depth, modules)
}
