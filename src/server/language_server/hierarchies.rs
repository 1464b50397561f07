//! Hierarchies of calls and of types. An item names its symbol by the position of its name, which
//! is found again in the index of the moment.

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Position,
    TypeHierarchyItem,
};

use super::capabilities::kind;
use super::failure::Failure;
use super::view::View;
use cograph_model::RepoPath;
use cograph_query::SymbolInfo;
use cograph_query::navigate::{self, Direction, Side};

/// Items for what a position names.
pub(super) fn prepare_calls(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
) -> Result<Vec<CallHierarchyItem>, Failure> {
    let symbols = view.symbols_at(path, at)?;
    Ok(symbols.iter().filter_map(|symbol| call_item(view, symbol)).collect())
}

/// Callers of the symbol whose name is at a position.
pub(super) fn incoming(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
) -> Result<Vec<CallHierarchyIncomingCall>, Failure> {
    let mut callers = Vec::new();
    for symbol in view.symbols_at(path, at)? {
        let calls = navigate::calls(view.snapshot, symbol.key, Direction::Callers, view.cancel)?;
        for call in calls {
            let Some(from) = call_item(view, &call.symbol) else { continue };
            // Ranges are those of the caller's file.
            let sites = call.sites.iter().filter(|site| site.path == call.symbol.path);
            let from_ranges =
                sites.map(|site| view.positions.name(&site.path, site.at, &site.name)).collect();
            callers.push(CallHierarchyIncomingCall { from, from_ranges });
        }
    }
    Ok(callers)
}

/// Callees of the symbol whose name is at a position.
pub(super) fn outgoing(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
) -> Result<Vec<CallHierarchyOutgoingCall>, Failure> {
    let mut callees = Vec::new();
    for symbol in view.symbols_at(path, at)? {
        let calls = navigate::calls(view.snapshot, symbol.key, Direction::Callees, view.cancel)?;
        for call in calls {
            let Some(to) = call_item(view, &call.symbol) else { continue };
            // Ranges are in the file of the requested symbol.
            let sites = call.sites.iter().filter(|site| site.path == *path);
            let from_ranges =
                sites.map(|site| view.positions.name(&site.path, site.at, &site.name)).collect();
            callees.push(CallHierarchyOutgoingCall { to, from_ranges });
        }
    }
    Ok(callees)
}

/// Types for what a position names.
pub(super) fn prepare_types(
    view: &mut View<'_>,
    path: &RepoPath,
    at: Position,
) -> Result<Vec<TypeHierarchyItem>, Failure> {
    let symbols = view.symbols_at(path, at)?;
    Ok(symbols.iter().filter_map(|symbol| type_item(view, symbol)).collect())
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

fn call_item(view: &mut View<'_>, symbol: &SymbolInfo) -> Option<CallHierarchyItem> {
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

fn type_item(view: &mut View<'_>, symbol: &SymbolInfo) -> Option<TypeHierarchyItem> {
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
