//! Difference between the graphs of two states of a repository: symbols and edges that came, went
//! and moved. An edge is from a symbol, or the top level of a file, to a symbol, with the number of
//! its sites.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::calls::edge::certainty;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SiteKind, SymbolKind};
use cograph_store::{Snapshot, SymbolKey};

/// Symbol of one state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Named {
    /// File.
    pub path: String,
    /// Qualified name; empty for the top level of the file.
    pub name: String,
    /// Kind; empty for the top level.
    pub kind: &'static str,
    /// Position among those of the same name and kind in the file, from 0.
    pub nth: u32,
}

/// Symbol on one side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiffSymbol {
    /// Identity.
    pub symbol: Named,
    /// Line of its name.
    pub line: u32,
    /// Header.
    pub signature: String,
}

/// Edge of one state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// Where it starts.
    pub from: Named,
    /// Where it leads.
    pub to: Named,
    /// Kind: that of a site, or `overrides`.
    pub kind: &'static str,
}

/// Result of a comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GraphDiff {
    /// Symbols of the new side only.
    pub came: Vec<DiffSymbol>,
    /// Symbols of the old side only.
    pub went: Vec<DiffSymbol>,
    /// Symbols that are in another file or symbol.
    pub moved: Vec<(DiffSymbol, DiffSymbol)>,
    /// Symbols with another header.
    pub changed: Vec<(DiffSymbol, DiffSymbol)>,
    /// Edges of the new side only, with their sites.
    pub edges_came: Vec<(Edge, u32)>,
    /// Edges of the old side only, with their sites.
    pub edges_went: Vec<(Edge, u32)>,
    /// Edges between symbols of which one moved.
    pub edges_moved: Vec<(Edge, u32)>,
}

/// Compares two states.
pub fn diff(old: &Snapshot, new: &Snapshot, cancel: &CancelToken) -> Result<GraphDiff, QueryError> {
    let (old, new) = (Side::read(old, cancel)?, Side::read(new, cancel)?);
    let mut found = GraphDiff::default();
    let (mut gone, mut fresh) = (Vec::new(), Vec::new());
    for (name, symbol) in &old.symbols {
        match new.symbols.get(name) {
            None => gone.push(symbol),
            Some(now) if now.signature != symbol.signature => {
                found.changed.push((symbol.clone(), now.clone()));
            }
            Some(_) => {}
        }
    }
    fresh.extend(new.symbols.iter().filter(|(name, _)| !old.symbols.contains_key(name)));
    let moves = moves(&gone, &fresh);
    let arrived: FxHashSet<&Named> = moves.values().copied().collect();
    for symbol in gone {
        match moves.get(&symbol.symbol) {
            Some(to) => found.moved.push((symbol.clone(), new.symbols[*to].clone())),
            None => found.went.push(symbol.clone()),
        }
    }
    let came = fresh.into_iter().filter(|(name, _)| !arrived.contains(name));
    found.came.extend(came.map(|(_, symbol)| symbol.clone()));
    let renamed = renamed_files(&old, &new);
    let place = |named: &Named| -> Named {
        match moves.get(named) {
            Some(to) => (*to).clone(),
            None if named.name.is_empty() => {
                let path = renamed.get(named.path.as_str()).copied().unwrap_or(&named.path);
                Named { path: path.to_owned(), ..named.clone() }
            }
            None => named.clone(),
        }
    };
    let mut kept: FxHashSet<Edge> = FxHashSet::default();
    for (edge, &sites) in &old.edges {
        let now = Edge { from: place(&edge.from), to: place(&edge.to), kind: edge.kind };
        match new.edges.get(&now) {
            None => found.edges_went.push((edge.clone(), sites)),
            Some(&sites) => {
                if now != *edge {
                    found.edges_moved.push((now.clone(), sites));
                }
                kept.insert(now);
            }
        }
    }
    let came = new.edges.iter().filter(|(edge, _)| !kept.contains(edge));
    found.edges_came.extend(came.map(|(edge, &sites)| (edge.clone(), sites)));
    Ok(found)
}

/// Symbols of one side that are in another place on the other: one of the name, kind and header
/// went, and one came.
fn moves<'s>(
    gone: &[&'s DiffSymbol],
    fresh: &[(&'s Named, &'s DiffSymbol)],
) -> FxHashMap<&'s Named, &'s Named> {
    type Key<'s> = (&'s str, &'static str, &'s str);
    fn key(symbol: &DiffSymbol) -> Key<'_> {
        let name = symbol.symbol.name.rsplit('.').next().unwrap_or_default();
        (name, symbol.symbol.kind, &symbol.signature)
    }
    let mut sides: BTreeMap<Key<'s>, (Vec<&'s Named>, Vec<&'s Named>)> = BTreeMap::new();
    for &symbol in gone {
        sides.entry(key(symbol)).or_default().0.push(&symbol.symbol);
    }
    for (name, symbol) in fresh {
        if let Some((_, came)) = sides.get_mut(&key(symbol)) {
            came.push(name);
        }
    }
    let mut found = FxHashMap::default();
    for (went, came) in sides.into_values() {
        if let ([from], [to]) = (&went[..], &came[..]) {
            found.insert(*from, *to);
            continue;
        }
        // Of several, those with the same qualified name are the same one in another file.
        for from in went {
            let mut alike = came.iter().filter(|to| to.name == from.name && to.nth == from.nth);
            if let (Some(to), None) = (alike.next(), alike.next())
                && !found.values().any(|taken| taken == to)
            {
                found.insert(from, *to);
            }
        }
    }
    found
}

/// Files that went and came with the same content.
fn renamed_files<'s>(old: &'s Side, new: &'s Side) -> FxHashMap<&'s str, &'s str> {
    let mut fresh: FxHashMap<u128, &str> = FxHashMap::default();
    for (path, hash) in &new.files {
        if !old.files.contains_key(path) {
            fresh.insert(*hash, path);
        }
    }
    let gone = old.files.iter().filter(|(path, _)| !new.files.contains_key(*path));
    gone.filter_map(|(path, hash)| Some((path.as_str(), *fresh.get(hash)?))).collect()
}

#[derive(Default)]
struct Side {
    symbols: BTreeMap<Named, DiffSymbol>,
    edges: BTreeMap<Edge, u32>,
    /// Hash of the content of each file.
    files: BTreeMap<String, u128>,
}

impl Side {
    fn read(snapshot: &Snapshot, cancel: &CancelToken) -> Result<Self, QueryError> {
        let lookup = Lookup::new(snapshot, cancel)?;
        let mut side = Self::default();
        let mut names: BTreeMap<SymbolKey, Named> = BTreeMap::new();
        let files = snapshot.files()?;
        for file in files.iter().filter(|file| file.skipped.is_none()) {
            lookup.check()?;
            let path = file.path.as_str();
            side.files.insert(path.to_owned(), file.hash);
            let mut counts: FxHashMap<(String, SymbolKind), u32> = FxHashMap::default();
            for row in snapshot.symbols_of(file)? {
                let qualifier = lookup.qualifier(row.container)?;
                let name = match qualifier.is_empty() {
                    true => row.name_text.to_string(),
                    false => format!("{qualifier}.{}", row.name_text),
                };
                let nth = counts.entry((name.clone(), row.kind)).or_default();
                let (kind, path) = (row.kind.word(), path.to_owned());
                let symbol = Named { path, name, kind, nth: *nth };
                *nth += 1;
                names.insert(row.key, symbol.clone());
                if row.flags & flags::LOCAL == 0 {
                    let signature = row.signature.to_string();
                    let line = row.name_at.line;
                    side.symbols.insert(symbol.clone(), DiffSymbol { symbol, line, signature });
                }
            }
        }
        for file in files.iter().filter(|file| file.skipped.is_none()) {
            lookup.check()?;
            let top = Named {
                path: file.path.as_str().to_owned(),
                name: String::new(),
                kind: "",
                nth: 0,
            };
            for site in snapshot.sites_of(file)? {
                if site.kind == SiteKind::Import || !certainty(&site).is_sure() {
                    continue;
                }
                let from = site.enclosing.and_then(|key| names.get(&key)).unwrap_or(&top);
                for to in lookup.targets(&site)? {
                    if let Some(to) = names.get(&to).filter(|to| *to != from) {
                        let kind = site.kind.word();
                        let edge = Edge { from: from.clone(), to: to.clone(), kind };
                        *side.edges.entry(edge).or_default() += 1;
                    }
                }
            }
        }
        for (&key, from) in &names {
            for relation in snapshot.relations_from(key)? {
                if relation.kind == RelationKind::Overrides
                    && let Some(to) = names.get(&relation.to)
                {
                    let kind = relation.kind.word();
                    let edge = Edge { from: from.clone(), to: to.clone(), kind };
                    side.edges.insert(edge, 1);
                }
            }
        }
        Ok(side)
    }
}
