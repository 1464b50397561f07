//! Modules: directories cut at a depth, and the uses between them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names;
use cograph_model::RepoPath;
use cograph_store::{FileEdge, FileKey, FileRow};

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

/// With a depth of 0: minimum number of modules, and maximum depth.
const MIN_MODULES: usize = 8;
const MAX_CUT: u32 = 6;

/// Returns the files below a directory that were indexed, and its path as it is stored.
pub(super) fn files_below(
    lookup: &Lookup<'_>,
    directory: &str,
) -> Result<(String, Vec<FileRow>), QueryError> {
    let path = directory.strip_prefix("./").unwrap_or(directory).trim_end_matches('/');
    let path = if path == "." { "" } else { path };
    let mut files = match RepoPath::new(path) {
        _ if path.is_empty() => lookup.snapshot.files()?,
        Some(directory) => lookup.snapshot.files_below(&directory)?,
        None => Vec::new(),
    };
    files.retain(|file| file.skipped.is_none());
    if files.is_empty() && !path.is_empty() {
        return Err(QueryError::NoSuchPath {
            path: path.to_owned(),
            near: names::near_paths(lookup, path)?,
        });
    }
    Ok((path.to_owned(), files))
}

/// Returns the part of a path below a directory.
pub(super) fn below<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    if directory.is_empty() { Some(path) } else { path.strip_prefix(directory)?.strip_prefix('/') }
}

/// Returns the module of a file: the first `depth` directories below `top`.
pub(super) fn module_of<'p>(path: &'p str, top: &str, depth: u32) -> &'p str {
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

pub(super) fn fitting_depth(files: &[FileRow], top: &str) -> u32 {
    let is_enough = |depth: u32| {
        let mut modules = BTreeSet::new();
        files.iter().any(|file| {
            modules.insert(module_of(file.path.as_str(), top, depth))
                && modules.len() >= MIN_MODULES
        })
    };
    (1..MAX_CUT).find(|&depth| is_enough(depth)).unwrap_or(MAX_CUT)
}

/// Numbers of sites by dependent module and module depended on.
pub(super) type Weights = BTreeMap<(usize, usize), u64>;

pub(super) struct Modules {
    pub(super) infos: Vec<ModuleInfo>,
    /// Symbols of each module that are no data.
    pub(super) code: Vec<u64>,
    /// Module of each file, in the order of the files.
    pub(super) of_file: Vec<usize>,
}

impl Modules {
    /// `module` names the module of a path.
    pub(super) fn new<'f>(
        lookup: &Lookup<'_>,
        files: &'f [FileRow],
        module: impl Fn(&'f str) -> &'f str,
    ) -> Self {
        let of_file = Vec::with_capacity(files.len());
        let mut modules = Self { infos: Vec::new(), code: Vec::new(), of_file };
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        for file in files {
            let path = module(file.path.as_str());
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

    pub(super) fn most_used(&self, all: &Uses, limit: usize) -> Vec<ModuleInfo> {
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
pub(super) struct Uses {
    /// Dependencies between modules.
    pub(super) dependencies: Weights,
    /// Dependencies between modules, without those of tests.
    pub(super) of_production: Weights,
    /// By module: sites in it with a target outside of the directory, and sites outside with a
    /// target in it.
    pub(super) outside: Vec<(u64, u64)>,
    /// Number of dependencies by file.
    pub(super) numbers: Vec<u64>,
    /// True for files used by a file other than a test.
    pub(super) is_used: Vec<bool>,
}

impl Uses {
    pub(super) fn new(
        lookup: &Lookup<'_>,
        files: &[FileRow],
        modules: &Modules,
    ) -> Result<Self, QueryError> {
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
