//! `outline`: symbol tree of a file, or entries of a directory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::names;
use crate::graph::answer::SymbolInfo;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::cancel::CancelToken;
use cograph_model::{Problem, RepoPath, SkipReason};
use cograph_store::{FileRow, Snapshot, SymbolKey, SymbolRow};

/// Parameters of `outline`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineParams {
    /// File or directory; empty for the root.
    pub path: String,
    /// Levels of directories to expand (1: the entries of `path` itself).
    pub depth: u32,
    /// Symbols listed for each file of a directory.
    pub symbols_per_file: usize,
}

impl Default for OutlineParams {
    fn default() -> Self {
        Self { path: String::new(), depth: 1, symbols_per_file: 3 }
    }
}

/// File with statistics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileInfo {
    /// Path.
    pub path: RepoPath,
    /// Language, if detected.
    pub language: Option<String>,
    /// Lines.
    pub lines: u32,
    /// Bytes.
    pub size: u64,
    /// Symbols defined in it.
    pub symbols: u32,
    /// Reason for skipping, if it was not indexed.
    pub skipped: Option<SkipReason>,
    /// True if it is marked as generated.
    pub generated: bool,
    /// True for a test file.
    pub test: bool,
}

/// Symbol with nested symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineNode {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// Nested symbols, in order.
    pub children: Vec<OutlineNode>,
}

/// Import of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportInfo {
    /// Module as written, with leading dots for a relative one.
    pub module: String,
    /// Imported item, if named.
    pub item: Option<String>,
    /// Line.
    pub line: u32,
    /// Target file, if it is in the repository.
    pub target: Option<RepoPath>,
}

/// Outline of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileOutline {
    /// File.
    pub file: FileInfo,
    /// Symbols, in order.
    pub symbols: Vec<OutlineNode>,
    /// Imports, in order.
    pub imports: Vec<ImportInfo>,
    /// Incomplete regions.
    pub problems: Vec<Problem>,
}

/// Directory with totals of everything below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectoryInfo {
    /// Path; empty for the root.
    pub path: String,
    /// Files below it.
    pub files: u64,
    /// Lines below it.
    pub lines: u64,
    /// Symbols below it.
    pub symbols: u64,
}

/// Entry of a directory's outline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DirectoryEntry {
    /// Directory, expanded if the depth allows.
    Directory {
        /// Statistics.
        info: DirectoryInfo,
        /// Entries; empty if not expanded.
        entries: Vec<DirectoryEntry>,
    },
    /// File.
    File {
        /// Statistics.
        info: FileInfo,
        /// Most referenced symbols.
        top: Vec<SymbolInfo>,
    },
}

/// Result of `outline`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OutlineResult {
    /// `path` is a file.
    File(Box<FileOutline>),
    /// `path` is a directory.
    Directory {
        /// Statistics.
        info: DirectoryInfo,
        /// Entries: directories first, then files, each by path.
        entries: Vec<DirectoryEntry>,
    },
}

/// Outlines a file or directory.
pub fn outline(
    snapshot: &Snapshot,
    params: &OutlineParams,
    cancel: &CancelToken,
) -> Result<OutlineResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let path = params.path.strip_prefix("./").unwrap_or(&params.path).trim_end_matches('/');
    let path = if path == "." { "" } else { path };
    if let Some(file) = snapshot.file_at(path)? {
        return Ok(OutlineResult::File(Box::new(file_outline(&lookup, &file)?)));
    }
    let below = match RepoPath::new(path) {
        Some(directory) if !path.is_empty() => snapshot.files_below(&directory)?,
        _ => snapshot.files()?.into_iter().filter(|file| relative(file, path).is_some()).collect(),
    };
    if below.is_empty() && !path.is_empty() {
        // No directory of that path: a suffix of a file's path, or an error that lists candidates.
        let file = names::file(&lookup, path)?;
        return Ok(OutlineResult::File(Box::new(file_outline(&lookup, &file)?)));
    }
    let files: Vec<&FileRow> = below.iter().collect();
    let entries = if params.depth == 0 {
        Vec::new()
    } else {
        entries(&lookup, &files, path, params.depth, params)?
    };
    Ok(OutlineResult::Directory { info: directory_info(path, &files), entries })
}

/// Returns the path of a file relative to a directory, if it is below it.
fn relative<'f>(file: &'f FileRow, directory: &str) -> Option<&'f str> {
    let path = file.path.as_str();
    if directory.is_empty() { Some(path) } else { path.strip_prefix(directory)?.strip_prefix('/') }
}

fn directory_info(path: &str, files: &[&FileRow]) -> DirectoryInfo {
    DirectoryInfo {
        path: path.to_owned(),
        files: files.len() as u64,
        lines: files.iter().map(|file| u64::from(file.lines)).sum(),
        symbols: files.iter().map(|file| u64::from(file.symbols)).sum(),
    }
}

fn entries(
    lookup: &Lookup<'_>,
    files: &[&FileRow],
    path: &str,
    depth: u32,
    params: &OutlineParams,
) -> Result<Vec<DirectoryEntry>, QueryError> {
    let mut directories: BTreeMap<&str, Vec<&FileRow>> = BTreeMap::new();
    let mut own = Vec::new();
    for &file in files {
        lookup.check()?;
        match relative(file, path).and_then(|rest| rest.split_once('/')) {
            Some((name, _)) => directories.entry(name).or_default().push(file),
            None => own.push(file),
        }
    }
    let mut listed = Vec::new();
    for (name, files) in directories {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        let entries =
            if depth > 1 { entries(lookup, &files, &path, depth - 1, params)? } else { Vec::new() };
        listed.push(DirectoryEntry::Directory { info: directory_info(&path, &files), entries });
    }
    for file in own {
        let top = top_symbols(lookup, file, params.symbols_per_file)?;
        listed.push(DirectoryEntry::File { info: file_info(lookup, file), top });
    }
    Ok(listed)
}

/// Returns the most referenced symbols of a file; top-level ones before nested ones with equal
/// numbers.
fn top_symbols(
    lookup: &Lookup<'_>,
    file: &FileRow,
    limit: usize,
) -> Result<Vec<SymbolInfo>, QueryError> {
    if limit == 0 || file.symbols == 0 {
        return Ok(Vec::new());
    }
    let mut symbols = lookup.snapshot.symbol_heads_of(file)?;
    symbols.sort_unstable_by_key(|symbol| {
        (Reverse(symbol.references), symbol.container.is_some(), symbol.key)
    });
    symbols.into_iter().take(limit).map(|symbol| lookup.info_of(symbol.key)).collect()
}

fn file_info(lookup: &Lookup<'_>, file: &FileRow) -> FileInfo {
    FileInfo {
        path: file.path.clone(),
        language: Some(lookup.language(file.language))
            .filter(|name| !name.is_empty())
            .map(str::to_owned),
        lines: file.lines,
        size: file.size,
        symbols: file.symbols,
        skipped: file.skipped,
        generated: file.generated,
        test: file.test,
    }
}

fn file_outline(lookup: &Lookup<'_>, file: &FileRow) -> Result<FileOutline, QueryError> {
    let symbols = lookup.snapshot.symbols_of(file)?;
    let mut children: BTreeMap<Option<SymbolKey>, Vec<&SymbolRow>> = BTreeMap::new();
    for symbol in &symbols {
        // A member of a type in another file is at the top level of its own.
        let here = symbol.container.filter(|&container| {
            symbols.binary_search_by_key(&container, |other| other.key).is_ok()
        });
        children.entry(here).or_default().push(symbol);
    }
    let imports = lookup.snapshot.imports_of(file.key)?.into_iter().map(|import| {
        Ok(ImportInfo {
            module: format!("{}{}", ".".repeat(usize::from(import.level)), import.module),
            item: import.item.map(String::from),
            line: import.at.line,
            target: import
                .target
                .map(|key| lookup.place(key).map(|file| file.path.clone()))
                .transpose()?,
        })
    });
    Ok(FileOutline {
        file: file_info(lookup, file),
        symbols: nodes(lookup, &mut children, None)?,
        imports: imports.collect::<Result<_, QueryError>>()?,
        problems: lookup
            .snapshot
            .problems_of(file.key)?
            .into_iter()
            .map(|row| row.problem)
            .collect(),
    })
}

/// Builds the nodes inside a container. Removes them from `children`, so that cyclic containers
/// terminate.
fn nodes(
    lookup: &Lookup<'_>,
    children: &mut BTreeMap<Option<SymbolKey>, Vec<&SymbolRow>>,
    container: Option<SymbolKey>,
) -> Result<Vec<OutlineNode>, QueryError> {
    let mut found = Vec::new();
    for symbol in children.remove(&container).unwrap_or_default() {
        lookup.check()?;
        found.push(OutlineNode {
            symbol: lookup.info(symbol)?,
            children: nodes(lookup, children, Some(symbol.key))?,
        });
    }
    Ok(found)
}
