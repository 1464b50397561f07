//! `outline`: the symbols of a file as a tree, or the files and directories of a directory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{QueryError, SymbolInfo, names};
use crate::model::cancel::CancelToken;
use crate::model::{Problem, RepoPath, SkipReason};
use crate::query::graph::lookup::Lookup;
use crate::store::{FileRow, Snapshot, SymbolKey, SymbolRow};

/// What to outline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineParams {
    /// A file or directory; empty for the root.
    pub path: String,
    /// Levels of directories to open (1: the entries of `path` itself).
    pub depth: u32,
    /// Symbols named for each file of a directory.
    pub symbols_per_file: usize,
}

impl Default for OutlineParams {
    fn default() -> Self {
        Self { path: String::new(), depth: 1, symbols_per_file: 3 }
    }
}

/// A file with its figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileInfo {
    /// Where it is.
    pub path: RepoPath,
    /// Its language, if it has one.
    pub language: Option<String>,
    /// Lines.
    pub lines: u32,
    /// Bytes.
    pub size: u64,
    /// Symbols it defines.
    pub symbols: u32,
    /// Why it was not indexed, if it was not.
    pub skipped: Option<SkipReason>,
    /// Whether it says that it is generated.
    pub generated: bool,
    /// Whether it is test code as a whole.
    pub test: bool,
}

/// A symbol with the symbols inside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineNode {
    /// The symbol.
    pub symbol: SymbolInfo,
    /// The symbols written inside it, in order.
    pub children: Vec<OutlineNode>,
}

/// One import of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportInfo {
    /// The module as written, with leading dots for a relative one.
    pub module: String,
    /// The item taken from it, if one is named.
    pub item: Option<String>,
    /// The line.
    pub line: u32,
    /// The file it leads to, if that is in the repository.
    pub target: Option<RepoPath>,
}

/// The outline of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileOutline {
    /// The file.
    pub file: FileInfo,
    /// Its symbols, in order.
    pub symbols: Vec<OutlineNode>,
    /// Its imports, in order.
    pub imports: Vec<ImportInfo>,
    /// Regions that are incomplete.
    pub problems: Vec<Problem>,
}

/// A directory with sums over everything below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirectoryInfo {
    /// Where it is; empty for the root.
    pub path: String,
    /// Files below it.
    pub files: u64,
    /// Lines below it.
    pub lines: u64,
    /// Symbols below it.
    pub symbols: u64,
}

/// An entry of a directory's outline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DirectoryEntry {
    /// A directory, opened if the depth allows.
    Directory {
        /// Its figures.
        info: DirectoryInfo,
        /// Its entries; empty if it was not opened.
        entries: Vec<DirectoryEntry>,
    },
    /// A file.
    File {
        /// Its figures.
        info: FileInfo,
        /// Its most referenced symbols.
        top: Vec<SymbolInfo>,
    },
}

/// The answer of `outline`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OutlineResult {
    /// `path` is a file.
    File(Box<FileOutline>),
    /// `path` is a directory.
    Directory {
        /// Its figures.
        info: DirectoryInfo,
        /// Its entries: directories first, then files, each by path.
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
        // No directory of that path: an ending of a file's path, or an error that says what there
        // is.
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

/// The path of a file below a directory, if it is there.
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

/// The symbols of a file that are used most; those outside others before those inside where it does
/// not matter.
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
        // A member whose type is in another file stands at the top of its own.
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

/// The symbols inside one. Takes them out of `children`, so that containers in a circle come to an
/// end.
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
