//! `show`: source of symbols and of lines, several at once.

pub(crate) mod answer;
mod folds;

use super::names::{self, Named};
use crate::graph::answer::SymbolInfo;
use crate::graph::content::{Content, ReadFile};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
pub use answer::{Excerpt, ShowParams, ShowResult, ShownItem};
use cograph_faults::{Fault, planted};
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_store::{FileRow, Snapshot, SymbolRow};
use std::collections::{BTreeMap, BTreeSet};

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
        match show_one(&lookup, files, target, params) {
            Err(error @ (QueryError::Cancelled | QueryError::Store(_))) => return Err(error),
            Err(QueryError::AmbiguousSymbol { .. }) => {
                for meaning in names::meanings(&lookup, target)? {
                    for symbol in std::iter::once(&meaning.symbol).chain(&meaning.also) {
                        let outcome = of_symbol(&lookup, files, symbol, params);
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
    params: &ShowParams,
) -> Result<Excerpt, QueryError> {
    match names::symbol_or_lines(lookup, target)? {
        Named::Symbol(symbol) => of_symbol(lookup, files, &symbol, params),
        Named::Lines(file, first, last) => {
            let (first, last) = with_context(first, last, params);
            let mut excerpt = excerpt(files, &file, None, first, last)?;
            excerpt.folds = folds::folds(lookup, &file, None, &excerpt, params)?;
            Ok(excerpt)
        }
    }
}

fn of_symbol(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    symbol: &SymbolRow,
    params: &ShowParams,
) -> Result<Excerpt, QueryError> {
    let file = lookup.file(symbol.file)?;
    let (first, last) = with_context(symbol.extent.start.line, symbol.extent.end.line, params);
    let mut excerpt = excerpt(files, &file, Some(lookup.info(symbol)?), first, last)?;
    excerpt.folds = folds::folds(lookup, &file, Some(symbol), &excerpt, params)?;
    Ok(excerpt)
}

/// Lines with context. Around a name the context is that of the name.
fn with_context(first: u32, last: u32, params: &ShowParams) -> (u32, u32) {
    let context = if params.around.is_some() { 0 } else { params.context };
    (first.saturating_sub(context), last.saturating_add(context))
}

/// Reads lines of files by path and number; those of files that have changed since they were
/// indexed are left out, because the numbers may be of other lines now.
pub fn source_lines(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    wanted: &BTreeSet<(RepoPath, u32)>,
) -> Result<BTreeMap<(RepoPath, u32), String>, QueryError> {
    let mut found = BTreeMap::new();
    let mut last: Option<(RepoPath, Option<String>)> = None;
    for (path, line) in wanted {
        if last.as_ref().is_none_or(|(known, _)| known != path) {
            let text = match (snapshot.file_at(path.as_str())?, files.content(path)) {
                (Some(file), Ok(content))
                    if planted(Fault::StaleLines) || !is_stale(&file, &content) =>
                {
                    Some(String::from_utf8_lossy(&content.text).into_owned())
                }
                _ => None,
            };
            last = Some((path.clone(), text));
        }
        let text = last.as_ref().and_then(|(_, text)| text.as_deref());
        if let Some(text) = text.and_then(|text| text.lines().nth(*line as usize - 1)) {
            found.insert((path.clone(), *line), text.trim().to_owned());
        }
    }
    Ok(found)
}

/// Returns the lines `first` to `last` of the current file, clamped to its end.
pub(super) fn excerpt(
    files: &dyn ReadFile,
    file: &FileRow,
    symbol: Option<SymbolInfo>,
    first: u32,
    last: u32,
) -> Result<Excerpt, QueryError> {
    let content = files
        .content(&file.path)
        .map_err(|error| QueryError::Read { path: file.path.clone(), reason: error.to_string() })?;
    let text = String::from_utf8_lossy(&content.text);
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
        stale: is_stale(file, &content),
        lossy: content.lossy || matches!(text, std::borrow::Cow::Owned(_)),
        folds: Vec::new(),
    })
}

/// True if the contents differ from the indexed version.
pub(super) fn is_stale(file: &FileRow, content: &Content) -> bool {
    let original = content.original();
    if file.hash == 0 { file.size != original.size } else { file.hash != original.hash }
}
