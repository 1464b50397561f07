//! Questions of an editor: what a position names, the edges of one symbol, the symbols of one file.
//! The edges are those of `references` and `trace`.

use crate::graph::answer::{Certainty, SiteInfo, SymbolInfo, Tests};
use crate::graph::calls::edge::End;
use crate::graph::calls::{CallGraph, Unresolved};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names;
use crate::references::answer::{ReferencesParams, ReferencesResult};
use crate::references::listing::references_of;
use cograph_model::cancel::CancelToken;
use cograph_model::{Position, RelationKind, RepoPath, SiteKind, Span, Verdict};
use cograph_store::{SiteRow, SiteTarget, Snapshot, SymbolKey};

/// What a position of a file names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedAt {
    /// Position of the name.
    pub at: Position,
    /// The name as written.
    pub name: String,
    /// Symbols that it may refer to, or the symbol that it defines.
    pub symbols: Vec<SymbolInfo>,
    /// Verdict and step of the reference; none at a definition.
    pub site: Option<SiteInfo>,
    /// Qualified name of what is outside of the repository.
    pub outside: Option<String>,
}

/// Finds the name at a position: the definition or reference whose text has it, or ends there.
pub fn named_at(
    snapshot: &Snapshot,
    path: &RepoPath,
    at: Position,
    cancel: &CancelToken,
) -> Result<Option<NamedAt>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let Some(file) = snapshot.file_at(path.as_str())? else { return Ok(None) };
    let covers = |start: Position, name: &str| {
        let end = start.column.saturating_add(u32::try_from(name.len()).unwrap_or(u32::MAX));
        start.line == at.line && start.column <= at.column && at.column <= end
    };
    // A position between two names belongs to the second.
    let mut sites: Vec<(SiteRow, String)> = Vec::new();
    for site in snapshot.sites_of(&file)?.into_iter().filter(|site| site.at.line == at.line) {
        let name = lookup.name(site.name)?;
        if covers(site.at, &name) {
            sites.push((site, name.to_string()));
        }
    }
    let named = snapshot.symbols_of(&file)?.into_iter();
    let mut named: Vec<_> =
        named.filter(|symbol| covers(symbol.name_at, &symbol.name_text)).collect();
    let start = sites.iter().map(|(site, _)| site.at);
    let Some(start) = start.chain(named.iter().map(|symbol| symbol.name_at)).max() else {
        return Ok(None);
    };
    named.retain(|symbol| symbol.name_at == start);
    sites.retain(|(site, _)| site.at == start);
    if let Some(first) = named.first() {
        let symbols = named.iter().map(|symbol| lookup.info(symbol)).collect::<Result<_, _>>()?;
        let name = first.name_text.to_string();
        return Ok(Some(NamedAt { at: start, name, symbols, site: None, outside: None }));
    }
    // Several references at one place (a read and a call of what was read): the best verdict.
    sites.sort_by_key(|(site, _)| Verdict::ALL.iter().position(|known| *known == site.verdict));
    let Some((best, name)) = sites.first() else { return Ok(None) };
    let mut keys: Vec<SymbolKey> = Vec::new();
    for (site, _) in sites.iter().filter(|(site, _)| site.verdict == best.verdict) {
        for target in lookup.targets(site)? {
            if !keys.contains(&target) {
                keys.push(target);
            }
        }
    }
    let outside = match best.target {
        SiteTarget::External(outside) => Some(lookup.name(outside)?.to_string()),
        _ => None,
    };
    Ok(Some(NamedAt {
        at: start,
        name: name.clone(),
        symbols: keys.iter().map(|key| lookup.info_of(*key)).collect::<Result<_, _>>()?,
        site: Some(lookup.site(best)?),
        outside,
    }))
}

/// Declarations and definitions of the same entity, the symbol itself first.
pub fn same_entity(
    snapshot: &Snapshot,
    symbol: SymbolKey,
    cancel: &CancelToken,
) -> Result<Vec<SymbolInfo>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    lookup.same_entity(symbol)?.iter().map(|key| lookup.info_of(*key)).collect()
}

/// References to a symbol by key; `symbol` of the parameters is not used.
pub fn references_to(
    snapshot: &Snapshot,
    symbol: SymbolKey,
    params: &ReferencesParams,
    cancel: &CancelToken,
) -> Result<ReferencesResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let symbol = lookup.symbol(symbol)?;
    references_of(&lookup, &names::Meaning { symbol, also: Vec::new() }, params)
}

/// Calls between a symbol and another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Calls {
    /// Other symbol.
    pub symbol: SymbolInfo,
    /// Highest certainty of the sites.
    pub certainty: Certainty,
    /// Sites, in order of position.
    pub sites: Vec<SiteInfo>,
}

/// Direction of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Callers.
    Callers,
    /// Callees.
    Callees,
}

/// Certain and likely calls of a symbol, or in its bodies. Calls at the top level of a file have no
/// symbol around them and are not among them.
pub fn calls(
    snapshot: &Snapshot,
    symbol: SymbolKey,
    direction: Direction,
    cancel: &CancelToken,
) -> Result<Vec<Calls>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let kinds = [SiteKind::Call, SiteKind::Construct, SiteKind::Decorate];
    let graph = CallGraph::new(&lookup, &kinds, true, Certainty::Likely, Tests::Include);
    let neighbours = match direction {
        Direction::Callers => graph.callers(symbol, Unresolved::Ignored)?,
        Direction::Callees => graph.callees(symbol)?,
    };
    let mut calls = Vec::new();
    for edge in &neighbours.edges {
        let End::Symbol(end) = edge.end else { continue };
        calls.push(Calls {
            symbol: lookup.info_of(end)?,
            certainty: edge.certainty,
            sites: edge.sites.iter().map(|site| lookup.site(site)).collect::<Result<_, _>>()?,
        });
    }
    Ok(calls)
}

/// Side of a hierarchy of types or of methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// What the symbol derives from, implements or overrides.
    Above,
    /// What derives from, implements or overrides it.
    Below,
}

/// Symbols one step above or below in the hierarchy.
pub fn hierarchy(
    snapshot: &Snapshot,
    symbol: SymbolKey,
    side: Side,
    cancel: &CancelToken,
) -> Result<Vec<SymbolInfo>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let mut keys = Vec::new();
    for same in lookup.same_entity(symbol)? {
        let relations = match side {
            Side::Above => lookup.relations_from(same)?,
            Side::Below => lookup.relations_to(same)?,
        };
        for relation in relations.iter().filter(|one| one.kind != RelationKind::Defines) {
            let other = if side == Side::Above { relation.to } else { relation.from };
            if !keys.contains(&other) {
                keys.push(other);
            }
        }
    }
    keys.iter().map(|key| lookup.info_of(*key)).collect()
}

/// Symbol of a file, with its extent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileSymbol {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// Extent of the definition.
    pub extent: Span,
    /// Enclosing symbol.
    pub container: Option<SymbolKey>,
}

/// Symbols of a file by start position; none if the index does not have the file.
pub fn symbols_of(
    snapshot: &Snapshot,
    path: &RepoPath,
    cancel: &CancelToken,
) -> Result<Option<Vec<FileSymbol>>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let Some(file) = snapshot.file_at(path.as_str())? else { return Ok(None) };
    let symbols = snapshot.symbols_of(&file)?.into_iter().map(|row| {
        let (extent, container) = (row.extent, row.container);
        Ok(FileSymbol { symbol: lookup.info(&row)?, extent, container })
    });
    symbols.collect::<Result<_, QueryError>>().map(Some)
}
