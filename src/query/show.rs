//! `show`: source of symbols and of lines, several at once.

use super::names::{self, Named};
use super::{QueryError, ReadFile, SymbolInfo};
use crate::model::RepoPath;
use crate::model::cancel::CancelToken;
use crate::query::graph::lookup::Lookup;
use crate::store::{FileRow, Snapshot, SymbolRow};

/// Parameters of `show`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShowParams {
    /// Symbols (`path::Container.name` or a suffix; `path:line` for the one around a line), lines
    /// (`path:from-to`) or whole files (`path`).
    pub targets: Vec<String>,
    /// Number of context lines before and after each.
    pub context: u32,
}

/// Requested item.
#[derive(Clone, Debug)]
pub struct ShownItem {
    /// Target as requested.
    pub target: String,
    /// Source, or the error. An error does not affect other items.
    pub outcome: Result<Excerpt, QueryError>,
}

/// Range of lines of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// File.
    pub path: RepoPath,
    /// Symbol, if one was named.
    pub symbol: Option<SymbolInfo>,
    /// Number of the first line.
    pub first_line: u32,
    /// Lines without line endings.
    pub lines: Vec<String>,
    /// Number of lines of the whole file.
    pub file_lines: u32,
    /// True if the file differs from the indexed version, so that lines may have moved.
    pub stale: bool,
    /// True if invalid UTF-8 was replaced.
    pub lossy: bool,
}

/// Result of `show`.
#[derive(Clone, Debug)]
pub struct ShowResult {
    /// One entry for each target, in order.
    pub items: Vec<ShownItem>,
}

/// Reads the source of the targets.
pub fn show(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &ShowParams,
    cancel: &CancelToken,
) -> Result<ShowResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let mut items = Vec::with_capacity(params.targets.len());
    for target in &params.targets {
        lookup.check()?;
        match show_one(&lookup, files, target, params.context) {
            Err(error @ (QueryError::Cancelled | QueryError::Store(_))) => return Err(error),
            Err(QueryError::AmbiguousSymbol { .. }) => {
                for meaning in names::meanings(&lookup, target)? {
                    for symbol in std::iter::once(&meaning.symbol).chain(&meaning.also) {
                        let outcome = of_symbol(&lookup, files, symbol, params.context);
                        items.push(ShownItem { target: target.clone(), outcome });
                    }
                }
            }
            outcome => items.push(ShownItem { target: target.clone(), outcome }),
        }
    }
    Ok(ShowResult { items })
}

fn show_one(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    target: &str,
    context: u32,
) -> Result<Excerpt, QueryError> {
    match names::symbol_or_lines(lookup, target)? {
        Named::Symbol(symbol) => of_symbol(lookup, files, &symbol, context),
        Named::Lines(file, first, last) => {
            excerpt(files, &file, None, first.saturating_sub(context), last.saturating_add(context))
        }
    }
}

fn of_symbol(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    symbol: &SymbolRow,
    context: u32,
) -> Result<Excerpt, QueryError> {
    let file = lookup.file(symbol.file)?;
    let (first, last) = (symbol.extent.start.line, symbol.extent.end.line);
    excerpt(
        files,
        &file,
        Some(lookup.info(symbol)?),
        first.saturating_sub(context),
        last.saturating_add(context),
    )
}

/// Returns the lines `first` to `last` of the current file, clamped to its end.
pub(super) fn excerpt(
    files: &dyn ReadFile,
    file: &FileRow,
    symbol: Option<SymbolInfo>,
    first: u32,
    last: u32,
) -> Result<Excerpt, QueryError> {
    let bytes = files
        .read(&file.path)
        .map_err(|error| QueryError::Read { path: file.path.clone(), reason: error.to_string() })?;
    let text = String::from_utf8_lossy(&bytes);
    // As in the grammars: a line feed ends a line; a preceding carriage return is part of the line
    // ending.
    let all: Vec<&str> = text.lines().collect();
    let first = first.max(1);
    let start = (first as usize - 1).min(all.len());
    let end = (last as usize).clamp(start, all.len());
    Ok(Excerpt {
        path: file.path.clone(),
        symbol,
        first_line: first,
        lines: all[start..end].iter().map(|&line| line.to_owned()).collect(),
        file_lines: u32::try_from(all.len()).unwrap_or(u32::MAX),
        stale: is_stale(file, &bytes),
        lossy: matches!(text, std::borrow::Cow::Owned(_)),
    })
}

/// True if the bytes differ from the indexed version.
pub(super) fn is_stale(file: &FileRow, bytes: &[u8]) -> bool {
    if file.hash == 0 {
        file.size != bytes.len() as u64
    } else {
        file.hash != xxhash_rust::xxh3::xxh3_128(bytes)
    }
}
