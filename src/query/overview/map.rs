//! `map`: the tree of directories and files by size, cut where a limit of nodes is reached.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::modules::{below, files_below};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_store::{FileRow, Snapshot};

/// Fewest nodes for which a directory is opened whose entries do not all fit.
const FEWEST: usize = 12;

/// Parameters of `map`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapParams {
    /// Directory; empty for the whole repository.
    pub path: String,
    /// Maximum number of nodes.
    pub limit: usize,
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapNodeKind {
    /// Directory; without children if it was not opened.
    Directory,
    /// File.
    File,
    /// Smaller entries of its parent that did not fit.
    Others,
}

/// Node of the map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapNode {
    /// Path; of other entries that of their directory.
    pub path: String,
    /// What it is.
    pub kind: MapNodeKind,
    /// Parent, an earlier position; none for the first.
    pub parent: Option<usize>,
    /// Files.
    pub files: u64,
    /// Lines.
    pub lines: u64,
    /// Symbols.
    pub symbols: u64,
    /// Lines of test files.
    pub test_lines: u64,
}

/// Result of `map`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapResult {
    /// Directory as it is stored.
    pub path: String,
    /// Nodes; the first is the directory. Siblings stand together, the largest first.
    pub nodes: Vec<MapNode>,
    /// Every file with the node that it is part of.
    pub files: Vec<(RepoPath, usize)>,
}

/// TreeEntry of the whole tree.
struct TreeEntry<'f> {
    path: &'f str,
    is_file: bool,
    children: BTreeMap<&'f str, usize>,
    files: u64,
    lines: u64,
    symbols: u64,
    test_lines: u64,
}

/// Finds the tree of a directory, opened where it is largest.
pub fn map(
    snapshot: &Snapshot,
    params: &MapParams,
    cancel: &CancelToken,
) -> Result<MapResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let (path, files) = files_below(&lookup, &params.path)?;
    let entries = tree(&path, &files);
    let (nodes, of_entry) = opened(&entries, params.limit.max(1));
    // A file is part of the innermost entry around it that has a node.
    let place = |file: &FileRow| {
        let (mut entry, mut node) = (0, 0);
        let mut rest = below(file.path.as_str(), &path).unwrap_or_default();
        loop {
            let (name, after) = rest.split_once('/').unwrap_or((rest, ""));
            let Some(&next) = entries[entry].children.get(name) else { return node };
            (entry, rest) = (next, after);
            node = of_entry[entry].unwrap_or(node);
        }
    };
    let files = files.iter().map(|file| (file.path.clone(), place(file))).collect();
    Ok(MapResult { path, nodes, files })
}

/// The whole tree; the first entry is the directory.
fn tree<'f>(top: &'f str, files: &'f [FileRow]) -> Vec<TreeEntry<'f>> {
    let new = |path: &'f str, is_file: bool| TreeEntry {
        path,
        is_file,
        children: BTreeMap::new(),
        files: 0,
        lines: 0,
        symbols: 0,
        test_lines: 0,
    };
    let mut entries = vec![new(top, false)];
    for file in files {
        let whole = file.path.as_str();
        let mut rest = below(whole, top).unwrap_or_default();
        let mut at = 0;
        loop {
            let entry = &mut entries[at];
            entry.files += 1;
            entry.lines += u64::from(file.lines);
            entry.symbols += u64::from(file.symbols);
            entry.test_lines += if file.test { u64::from(file.lines) } else { 0 };
            if rest.is_empty() {
                break;
            }
            let (name, after) = rest.split_once('/').unwrap_or((rest, ""));
            let end = whole.len() - after.len() - usize::from(!after.is_empty());
            at = match entry.children.get(name) {
                Some(&next) => next,
                None => {
                    let next = entries.len();
                    entries[at].children.insert(name, next);
                    entries.push(new(&whole[..end], after.is_empty()));
                    next
                }
            };
            rest = after;
        }
    }
    entries
}

/// Opens the largest directory again and again, until the limit is reached. Returns the nodes, and
/// those of the entries.
fn opened(entries: &[TreeEntry<'_>], limit: usize) -> (Vec<MapNode>, Vec<Option<usize>>) {
    let node = |entry: &TreeEntry<'_>, parent| MapNode {
        path: entry.path.to_owned(),
        kind: if entry.is_file { MapNodeKind::File } else { MapNodeKind::Directory },
        parent,
        files: entry.files,
        lines: entry.lines,
        symbols: entry.symbols,
        test_lines: entry.test_lines,
    };
    let mut of_entry = vec![None; entries.len()];
    let (mut nodes, mut pending) = (vec![node(&entries[0], None)], BinaryHeap::new());
    of_entry[0] = Some(0);
    pending.push((entries[0].lines, Reverse(0_usize)));
    while let Some((_, Reverse(directory))) = pending.pop() {
        let parent = of_entry[directory];
        // A directory with one directory in it is one with that.
        let mut inner = directory;
        while let [only] = entries[inner].children.values().copied().collect::<Vec<_>>()[..]
            && !entries[only].is_file
        {
            inner = only;
            of_entry[inner] = parent;
        }
        if inner != directory
            && let Some(own) = parent.filter(|own| *own != 0)
        {
            nodes[own].path = entries[inner].path.to_owned();
        }
        let mut children: Vec<usize> = entries[inner].children.values().copied().collect();
        children.sort_by_key(|child| (Reverse(entries[*child].lines), entries[*child].path));
        let room = limit - nodes.len();
        if children.len() > room && room < FEWEST {
            continue;
        }
        let fitting = if children.len() > room { room - 1 } else { children.len() };
        let others = children.split_off(fitting);
        for child in children {
            of_entry[child] = Some(nodes.len());
            nodes.push(node(&entries[child], parent));
            if !entries[child].is_file {
                pending.push((entries[child].lines, Reverse(child)));
            }
        }
        if !others.is_empty() {
            let mut rest = node(&entries[inner], parent);
            rest.kind = MapNodeKind::Others;
            (rest.files, rest.lines, rest.symbols, rest.test_lines) = (0, 0, 0, 0);
            for other in others {
                of_entry[other] = Some(nodes.len());
                let other = &entries[other];
                rest.files += other.files;
                rest.lines += other.lines;
                rest.symbols += other.symbols;
                rest.test_lines += other.test_lines;
            }
            nodes.push(rest);
        }
    }
    (nodes, of_entry)
}
