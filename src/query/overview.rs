//! `overview`: languages, modules, their dependencies, and entry points of a repository.

pub mod cycles;
pub mod rules;
pub mod thresholds;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::names;
use crate::graph::answer::SymbolInfo;
use crate::graph::components;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_grammar::{self as grammar, Tier};
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{RepoPath, SymbolKind};
use cograph_store::{FileEdge, FileKey, FileRow, Snapshot};

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

/// Module: a directory with the code below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleInfo {
    /// Directory; `.` for files at the top.
    pub path: String,
    /// Files.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Symbols.
    pub symbols: u64,
    /// Certain and likely sites in other modules with a target here.
    pub used_by: u64,
    /// Certain and likely sites here with a target in other modules.
    pub uses: u64,
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

/// With a depth of 0: minimum number of modules, and maximum depth.
const MIN_MODULES: usize = 8;
const MAX_CUT: u32 = 6;

/// Summarises a repository or directory.
pub fn overview(
    snapshot: &Snapshot,
    params: &OverviewParams,
    cancel: &CancelToken,
) -> Result<OverviewResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let path = params.path.strip_prefix("./").unwrap_or(&params.path).trim_end_matches('/');
    let path = if path == "." { "" } else { path };
    let files: Vec<FileRow> = snapshot
        .files()?
        .into_iter()
        .filter(|file| file.skipped.is_none() && below(file.path.as_str(), path).is_some())
        .collect();
    if files.is_empty() && !path.is_empty() {
        return Err(QueryError::NoSuchPath {
            path: path.to_owned(),
            near: names::near_paths(&lookup, path)?,
        });
    }
    let depth = if params.depth == 0 { fitting_depth(&files, path) } else { params.depth };
    let modules = Modules::new(&lookup, &files, path, depth);
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

/// Returns the part of a path below a directory.
fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    if directory.is_empty() { Some(path) } else { path.strip_prefix(directory)?.strip_prefix('/') }
}

/// Returns the module of a file: the first `depth` directories below `top`.
fn module_of<'p>(path: &'p str, top: &str, depth: u32) -> &'p str {
    let rest = below(path, top).unwrap_or(path);
    let inner = match rest.match_indices('/').take(depth as usize).last() {
        Some((end, _)) => &rest[..end],
        None => "",
    };
    let start = path.len() - rest.len();
    match (inner.is_empty(), start) {
        (true, 0) => ".",
        (true, _) => &path[..start - 1],
        (false, _) => &path[..start + inner.len()],
    }
}

fn fitting_depth(files: &[FileRow], top: &str) -> u32 {
    let is_enough = |depth: u32| {
        let mut modules = BTreeSet::new();
        files.iter().any(|file| {
            modules.insert(module_of(file.path.as_str(), top, depth))
                && modules.len() >= MIN_MODULES
        })
    };
    (1..MAX_CUT).find(|&depth| is_enough(depth)).unwrap_or(MAX_CUT)
}

type Weights = BTreeMap<(usize, usize), u64>;

struct Modules {
    infos: Vec<ModuleInfo>,
    /// Symbols of each module that are no data.
    code: Vec<u64>,
    /// Module of each file, in the order of the files.
    of_file: Vec<usize>,
}

impl Modules {
    fn new(lookup: &Lookup<'_>, files: &[FileRow], top: &str, depth: u32) -> Self {
        let of_file = Vec::with_capacity(files.len());
        let mut modules = Self { infos: Vec::new(), code: Vec::new(), of_file };
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        for file in files {
            let path = module_of(file.path.as_str(), top, depth);
            let place = *places.entry(path).or_insert_with(|| {
                modules.infos.push(ModuleInfo {
                    path: path.to_owned(),
                    files: 0,
                    lines: 0,
                    symbols: 0,
                    used_by: 0,
                    uses: 0,
                });
                modules.code.push(0);
                modules.infos.len() - 1
            });
            if !lookup.has_data(file.language) {
                modules.code[place] += u64::from(file.symbols);
            }
            let info = &mut modules.infos[place];
            info.files += 1;
            info.lines += u64::from(file.lines);
            info.symbols += u64::from(file.symbols);
            modules.of_file.push(place);
        }
        modules
    }

    fn most_used(&self, all: &Uses, limit: usize) -> Vec<ModuleInfo> {
        let mut infos: Vec<(u64, ModuleInfo)> =
            self.code.iter().copied().zip(self.infos.iter().cloned()).collect();
        for (&(from, to), &sites) in &all.dependencies {
            infos[from].1.uses += sites;
            infos[to].1.used_by += sites;
        }
        for ((_, info), (uses, used_by)) in infos.iter_mut().zip(&all.outside) {
            info.uses += uses;
            info.used_by += used_by;
        }
        // Folders of data alone come last, however many keys they have.
        infos.sort_by_cached_key(|(code, info)| {
            (*code == 0, Reverse(info.used_by), Reverse(*code), info.path.clone())
        });
        infos.truncate(limit);
        infos.into_iter().map(|(_, info)| info).collect()
    }
}

/// Dependencies of files and modules, from one scan of the edges between files.
struct Uses {
    /// Dependencies between modules.
    dependencies: Weights,
    /// Dependencies between modules, without those of tests.
    of_production: Weights,
    /// By module: sites in it with a target outside of the directory, and sites outside with a
    /// target in it.
    outside: Vec<(u64, u64)>,
    /// Number of dependencies by file.
    numbers: Vec<u64>,
    /// True for files used by a file other than a test.
    is_used: Vec<bool>,
}

impl Uses {
    fn new(lookup: &Lookup<'_>, files: &[FileRow], modules: &Modules) -> Result<Self, QueryError> {
        // Keys are small integers: a vector is faster than a map for the many edges.
        let size = files.iter().map(|file| file.key.0 as usize + 1).max().unwrap_or(0);
        let mut places = vec![None; size];
        for (place, file) in files.iter().enumerate() {
            places[file.key.0 as usize] = Some(place);
        }
        let place_of = |key: FileKey| places.get(key.0 as usize).copied().flatten();
        let mut between: FxHashMap<(usize, usize), (u64, bool, u64)> = FxHashMap::default();
        let (mut numbers, mut is_used) = (vec![0_u64; files.len()], vec![false; files.len()]);
        let mut outside = vec![(0, 0); modules.infos.len()];
        lookup.snapshot.visit_file_edges(|FileEdge { from, to, sites, .. }| {
            let (from, to) = (place_of(from), place_of(to));
            // A use by a test does not make a file part of another program.
            let is_test = from.is_some_and(|from| files[from].test);
            if let Some(from) = from {
                numbers[from] += 1;
            }
            if let Some(to) = to.filter(|_| !is_test) {
                is_used[to] = true;
            }
            let module = |file: Option<usize>| file.map(|file| modules.of_file[file]);
            match (module(from), module(to)) {
                (Some(from), Some(to)) if from != to => {
                    let (all, is_production, production) = between.entry((from, to)).or_default();
                    *all += u64::from(sites);
                    *is_production |= !is_test;
                    *production += if is_test { 0 } else { u64::from(sites) };
                }
                (Some(from), None) => outside[from].0 += u64::from(sites),
                (None, Some(to)) => outside[to].1 += u64::from(sites),
                _ => {}
            }
            lookup.check().is_ok()
        })?;
        lookup.check()?;
        let dependencies = between.iter().map(|(&ends, &(all, ..))| (ends, all)).collect();
        let of_production = between.into_iter().filter(|(_, (_, is_production, _))| *is_production);
        let of_production =
            of_production.map(|(ends, (.., production))| (ends, production)).collect();
        Ok(Self { dependencies, of_production, outside, numbers, is_used })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_directories_cut_at_a_depth() {
        for (path, top, depth, module) in [
            ("a.x", "", 1, "."),
            ("src/a.x", "", 1, "src"),
            ("src/deep/er/a.x", "", 2, "src/deep"),
            ("src/a.x", "", 3, "src"),
            ("src/a.x", "src", 1, "src"),
            ("src/deep/er/a.x", "src", 1, "src/deep"),
        ] {
            assert_eq!(module_of(path, top, depth), module, "{path} below {top:?} at {depth}");
        }
    }
}
