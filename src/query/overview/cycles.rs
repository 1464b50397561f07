//! `cycles`: files that import each other in a circle when the program is loaded, and where to cut.
//!
//! ```text
//! imports of file_edges ──> without those for tests, for types alone, inside of functions
//!                       ──> strongly connected components ──> per component: imports to cut
//! ```
//!
//! A node is a file. The declaration of a child module is no import of it.

mod cut;

use crate::graph::components;
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_store::{FileKey, ImportSort, Snapshot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// Parameters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CyclesParams {
    /// Only files of this directory or that fit this glob, and imports between them.
    pub path: Option<String>,
}

/// Import at a line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ImportPlace {
    /// Line.
    pub line: u32,
    /// Module as written.
    pub module: String,
    /// Item taken from it, if any.
    pub item: Option<String>,
}

/// Imports of one file by another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportEdge {
    /// The file that imports.
    pub from: RepoPath,
    /// The file that is imported.
    pub to: RepoPath,
    /// Each imported name.
    pub places: Vec<ImportPlace>,
    /// True if it is among those to cut.
    pub is_cut: bool,
}

/// Files of which each imports each other, directly or through others of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Files, by path.
    pub files: Vec<RepoPath>,
    /// Imports among them, by path.
    pub edges: Vec<ImportEdge>,
    /// True if no other set with fewer imported names, cut, leaves no cycle. False if that was not
    /// tried, since the files are too many.
    pub is_smallest_cut: bool,
}

/// Result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CyclesResult {
    /// Cycles, largest first.
    pub cycles: Vec<Cycle>,
    /// Number of files with an import.
    pub files: u64,
    /// Number of pairs of files of which one imports the other when it is loaded.
    pub edges: u64,
}

/// Finds the cycles of imports.
pub fn cycles(
    snapshot: &Snapshot,
    params: &CyclesParams,
    cancel: &CancelToken,
) -> Result<CyclesResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let filter = FileFilter::new(&lookup, params.path.as_deref(), None)?;
    let mut edges: Vec<(FileKey, FileKey)> = Vec::new();
    snapshot.visit_file_edges(|edge| {
        if edge.has(ImportSort::Runtime) {
            edges.push((edge.from, edge.to));
        }
        lookup.check().is_ok()
    })?;
    lookup.check()?;
    if filter.is_active() {
        let mut admitted: FxHashMap<FileKey, bool> = FxHashMap::default();
        for key in edges.iter().flat_map(|&(from, to)| [from, to]) {
            if let Entry::Vacant(new) = admitted.entry(key) {
                new.insert(lookup.of_file(key, |mark| filter.admits(mark))?);
            }
        }
        edges.retain(|(from, to)| admitted[from] && admitted[to]);
    }
    let files: FxHashSet<FileKey> = edges.iter().flat_map(|&(from, to)| [from, to]).collect();
    let numbers = edges.iter().map(|(from, to)| (from.0 as usize, to.0 as usize));
    let mut found = Vec::new();
    for members in components::cycles(numbers) {
        lookup.check()?;
        found.push(cycle(&lookup, &members, &edges)?);
    }
    found.sort_by(|a, b| b.files.len().cmp(&a.files.len()).then_with(|| a.files.cmp(&b.files)));
    Ok(CyclesResult { cycles: found, files: files.len() as u64, edges: edges.len() as u64 })
}

fn cycle(
    lookup: &Lookup<'_>,
    members: &[usize],
    edges: &[(FileKey, FileKey)],
) -> Result<Cycle, QueryError> {
    let mut files = Vec::new();
    for &member in members {
        let key = FileKey(u32::try_from(member).expect("it was a key of 32 bits"));
        files.push((lookup.place(key)?.path.clone(), key));
    }
    // What is proposed does not depend on the order of keys, which edits change.
    files.sort();
    let places: FxHashMap<FileKey, usize> =
        files.iter().enumerate().map(|(place, (_, key))| (*key, place)).collect();
    let place = |key: &FileKey| places.get(key).copied();
    let mut inside: Vec<(usize, usize)> =
        edges.iter().filter_map(|(from, to)| Some((place(from)?, place(to)?))).collect();
    inside.sort_unstable();
    let mut found = Vec::new();
    let mut imports = (usize::MAX, Vec::new());
    for &(from, to) in &inside {
        lookup.check()?;
        if imports.0 != from {
            imports = (from, lookup.snapshot.imports_of(files[from].1)?);
        }
        let leads = imports.1.iter().filter(|import| {
            import.target == Some(files[to].1) && import.sort == ImportSort::Runtime
        });
        let mut at: Vec<ImportPlace> = leads
            .map(|import| ImportPlace {
                line: import.at.line,
                module: import.module.to_string(),
                item: import.item.as_deref().map(str::to_owned),
            })
            .collect();
        at.sort();
        let (from, to) = (files[from].0.clone(), files[to].0.clone());
        found.push(ImportEdge { from, to, places: at, is_cut: false });
    }
    let weighted: Vec<(usize, usize, u64)> = inside
        .iter()
        .zip(&found)
        .map(|(&(from, to), edge)| (from, to, edge.places.len().max(1) as u64))
        .collect();
    let (cut, is_smallest_cut) = cut::cut(files.len(), &weighted);
    for edge in cut {
        found[edge].is_cut = true;
    }
    let files = files.into_iter().map(|(path, _)| path).collect();
    Ok(Cycle { files, edges: found, is_smallest_cut })
}
