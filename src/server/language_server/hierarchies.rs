//! Hierarchies of calls and of types. An item names its symbol by the position of its name, which
//! is found again in the index of the moment.

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Position, Range,
    TypeHierarchyItem,
};

use super::capabilities::kind;
use super::failure::Failure;
use super::view::View;
use cograph_model::RepoPath;
use cograph_query::SymbolInfo;
use cograph_query::navigate::{self, Direction, Side};

/// Items for what a position names.
pub(super) fn prepare<T>(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
    item: fn(&mut View<'_>, &SymbolInfo) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let symbols = view.symbols_at(path, at)?;
    Ok(symbols.iter().filter_map(|symbol| item(view, symbol)).collect())
}

/// Callers of the symbol whose name is at a position.
pub(super) fn incoming(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
) -> Result<Vec<CallHierarchyIncomingCall>, Failure> {
    calls(view, path, at, Direction::Callers, |from, from_ranges| CallHierarchyIncomingCall {
        from,
        from_ranges,
    })
}

/// Callees of the symbol whose name is at a position.
pub(super) fn outgoing(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
) -> Result<Vec<CallHierarchyOutgoingCall>, Failure> {
    calls(view, path, at, Direction::Callees, |to, from_ranges| CallHierarchyOutgoingCall {
        to,
        from_ranges,
    })
}

/// Symbols on the other end of calls, with the ranges of the calls in the file of the caller.
fn calls<T>(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
    direction: Direction,
    entry: fn(CallHierarchyItem, Vec<Range>) -> T,
) -> Result<Vec<T>, Failure> {
    let mut entries = Vec::new();
    for symbol in view.symbols_at(path, at)? {
        for call in navigate::calls(view.snapshot, symbol.key, direction, view.cancel)? {
            let Some(item) = call_item(view, &call.symbol) else { continue };
            let caller = match direction {
                Direction::Callers => &call.symbol.path,
                Direction::Callees => path,
            };
            let sites = call.sites.iter().filter(|site| site.path == *caller);
            let ranges =
                sites.map(|site| view.positions.name(&site.path, site.at, &site.name)).collect();
            entries.push(entry(item, ranges));
        }
    }
    Ok(entries)
}

/// Symbols one step above or below the one whose name is at a position.
pub(super) fn relatives(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
    side: Side,
) -> Result<Vec<TypeHierarchyItem>, Failure> {
    let mut items = Vec::new();
    for symbol in view.symbols_at(path, at)? {
        let relatives = navigate::hierarchy(view.snapshot, symbol.key, side, view.cancel)?;
        items.extend(relatives.iter().filter_map(|symbol| type_item(view, symbol)));
    }
    Ok(items)
}

pub(super) fn call_item(view: &mut View<'_>, symbol: &SymbolInfo) -> Option<CallHierarchyItem> {
    let place = view.symbol(symbol)?;
    Some(CallHierarchyItem {
        name: symbol.name.clone(),
        kind: kind(symbol.kind),
        tags: None,
        detail: Some(detail(symbol)),
        uri: place.uri,
        range: View::lines(symbol),
        selection_range: place.range,
        data: None,
    })
}

pub(super) fn type_item(view: &mut View<'_>, symbol: &SymbolInfo) -> Option<TypeHierarchyItem> {
    let place = view.symbol(symbol)?;
    Some(TypeHierarchyItem {
        name: symbol.name.clone(),
        kind: kind(symbol.kind),
        tags: None,
        detail: Some(detail(symbol)),
        uri: place.uri,
        range: View::lines(symbol),
        selection_range: place.range,
        data: None,
    })
}

/// Container and file, which tell equal names apart.
fn detail(symbol: &SymbolInfo) -> String {
    match symbol.container.as_str() {
        "" => symbol.path.to_string(),
        container => format!("{container} · {}", symbol.path),
    }
}
