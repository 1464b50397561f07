//! `overview`: languages, modules, their dependencies, and entry points of a repository.

pub mod cycles;
pub mod map;
pub mod matrix;
mod modules;
pub mod rules;
pub mod thresholds;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::graph::answer::SymbolInfo;
use crate::graph::components;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_grammar::{self as grammar, Tier};
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{RepoPath, SymbolKind};
use cograph_store::{FileKey, FileRow, Snapshot};
pub use modules::ModuleInfo;
use modules::{Modules, Uses, Weights, files_below, fitting_depth, module_of};

/// Parameters of `overview`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OverviewParams {
    /// Directory; empty for the whole repository.
    pub path: String,
    /// Levels of directories below `path` that are separate modules. 0 selects a depth that yields
    /// some dozen modules.
    pub depth: u32,
    /// Maximum number of entries in each list.
    pub limit: usize,
}

impl Default for OverviewParams {
    fn default() -> Self {
        Self { path: String::new(), depth: 0, limit: 20 }
    }
}

/// Language with its share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanguageShare {
    /// Name.
    pub name: String,
    /// Tier of analysis.
    pub tier: Tier,
    /// Files.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Symbols.
    pub symbols: u64,
}

/// Dependency between modules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependency {
    /// Dependent module.
    pub from: String,
    /// Module depended on.
    pub to: String,
    /// Certain and likely sites, and imports of files.
    pub sites: u64,
}

/// Entry point for execution or reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntryPoint {
    /// Main function.
    Main(Box<SymbolInfo>),
    /// File with dependencies and without dependents.
    Root {
        /// File.
        path: RepoPath,
        /// Number of files it uses directly.
        uses: u64,
    },
}

/// Result of `overview`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OverviewResult {
    /// Languages, largest first; those of data last.
    pub languages: Vec<LanguageShare>,
    /// Modules, most used first; those of data alone last.
    pub modules: Vec<ModuleInfo>,
    /// Number of modules.
    pub module_total: u64,
    /// Dependencies between modules, by number of sites.
    pub dependencies: Vec<Dependency>,
    /// Number of dependencies.
    pub dependency_total: u64,
    /// Entry points: main functions, then root files by number of dependencies.
    pub entry_points: Vec<EntryPoint>,
    /// Number of entry points.
    pub entry_point_total: u64,
    /// Most referenced symbols outside test code.
    pub hot_spots: Vec<SymbolInfo>,
    /// Cyclic dependencies: strongly connected components of modules, largest first.
    pub cycles: Vec<Vec<String>>,
    /// Number of cycles.
    pub cycle_total: u64,
}

/// Name of the main function in languages that have one.
const MAIN: &str = "main";

/// Summarises a repository or directory.
pub fn overview(
    snapshot: &Snapshot,
    params: &OverviewParams,
    cancel: &CancelToken,
) -> Result<OverviewResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let (path, files) = files_below(&lookup, &params.path)?;
    let depth = if params.depth == 0 { fitting_depth(&files, &path) } else { params.depth };
    let modules = Modules::new(&lookup, &files, |file| module_of(file, &path, depth));
    let uses = Uses::new(&lookup, &files, &modules)?;
    let dependencies = &uses.dependencies;
    let mut cycles = components::cycles(uses.of_production.keys().copied());
    let entry_points = entry_points(&lookup, &files, &uses)?;
    let (module_total, dependency_total, cycle_total) =
        (modules.infos.len(), dependencies.len(), cycles.len());
    cycles.truncate(params.limit);
    let named = |module: usize| modules.infos[module].path.clone();
    Ok(OverviewResult {
        languages: languages(&lookup, &files),
        modules: modules.most_used(&uses, params.limit),
        module_total: module_total as u64,
        dependencies: heaviest(dependencies, params.limit)
            .map(|((from, to), sites)| Dependency { from: named(from), to: named(to), sites })
            .collect(),
        dependency_total: dependency_total as u64,
        entry_point_total: entry_points.len() as u64,
        entry_points: entry_points.into_iter().take(params.limit).collect(),
        hot_spots: hot_spots(&lookup, &files, params.limit)?,
        cycles: cycles.into_iter().map(|cycle| cycle.into_iter().map(named).collect()).collect(),
        cycle_total: cycle_total as u64,
    })
}

fn heaviest(
    weights: &Weights,
    limit: usize,
) -> impl Iterator<Item = ((usize, usize), u64)> + use<> {
    let mut sorted: Vec<_> = weights.iter().map(|(&ends, &sites)| (ends, sites)).collect();
    sorted.sort_by_key(|&(ends, sites)| (Reverse(sites), ends));
    sorted.into_iter().take(limit)
}

fn languages(lookup: &Lookup<'_>, files: &[FileRow]) -> Vec<LanguageShare> {
    let mut shares: BTreeMap<&str, LanguageShare> = BTreeMap::new();
    for file in files {
        let name = lookup.language(file.language);
        let tier = grammar::tier_of(name).unwrap_or(Tier::Full);
        let empty =
            || LanguageShare { name: name.to_owned(), tier, files: 0, lines: 0, symbols: 0 };
        let share = shares.entry(name).or_insert_with(empty);
        share.files += 1;
        share.lines += u64::from(file.lines);
        share.symbols += u64::from(file.symbols);
    }
    let mut shares: Vec<_> = shares.into_values().collect();
    shares.sort_by_key(|share| (grammar::has_data(&share.name), Reverse(share.lines)));
    shares
}

fn entry_points(
    lookup: &Lookup<'_>,
    files: &[FileRow],
    uses: &Uses,
) -> Result<Vec<EntryPoint>, QueryError> {
    let mut mains = Vec::new();
    let known: FxHashMap<FileKey, &FileRow> = files.iter().map(|file| (file.key, file)).collect();
    for (key, _) in
        lookup.snapshot.names_ignoring_case(MAIN)?.into_iter().filter(|(_, name)| name == MAIN)
    {
        for symbol in lookup.snapshot.symbols_named(key)? {
            let is_function = symbol.kind == SymbolKind::Function
                && symbol.flags & (flags::TEST | flags::DECLARATION) == 0;
            if is_function && known.get(&symbol.file).is_some_and(|file| !file.test) {
                mains.push(lookup.info(&symbol)?);
            }
        }
    }
    mains.sort_by(|a, b| a.path.cmp(&b.path).then(a.first_line.cmp(&b.first_line)));
    let of_files = uses.numbers.iter().zip(&uses.is_used);
    let mut roots: Vec<(u64, &RepoPath)> = files
        .iter()
        .zip(of_files)
        .filter(|(file, (uses, is_used))| !file.test && !**is_used && **uses > 0)
        .map(|(file, (uses, _))| (*uses, &file.path))
        .collect();
    roots.sort_by_key(|&(uses, path)| (Reverse(uses), path));
    let mains = mains.into_iter().map(|symbol| EntryPoint::Main(Box::new(symbol)));
    Ok(mains
        .chain(roots.into_iter().map(|(uses, path)| EntryPoint::Root { path: path.clone(), uses }))
        .collect())
}

fn hot_spots(
    lookup: &Lookup<'_>,
    files: &[FileRow],
    limit: usize,
) -> Result<Vec<SymbolInfo>, QueryError> {
    let production: BTreeSet<FileKey> =
        files.iter().filter(|file| !file.test).map(|file| file.key).collect();
    let mut heads = Vec::new();
    lookup.snapshot.visit_referenced(2, |head| {
        if head.flags & flags::TEST == 0 && production.contains(&head.file) {
            heads.push(head);
        }
        heads.len() < limit && lookup.check().is_ok()
    })?;
    lookup.check()?;
    heads.truncate(limit);
    heads.into_iter().map(|head| lookup.info_of(head.key)).collect()
}
