//! What is said about types outside of their bodies, gathered from all files: members, interfaces, and members by name.

use super::tables::Tables;
use super::{Name, Program, Resolver, Symbols};
use crate::model::SymbolKind;
use crate::model::facts::LocalSymbol;
use crate::model::graph::{FileId, SymbolRef};
use rustc_hash::FxHashMap;

/// Finds out which members are defined outside of their type's body, and which interfaces types implement there.
pub(super) fn extend(tables: &mut Tables) {
    let Found { members, implemented, outside, gained } = tables.asking(find);
    for (member, owner) in members {
        if tables.containers.contains_key(&member) {
            continue;
        }
        let name = tables.name_of(member);
        if let Some(content) = &tables.files[member.file.0 as usize].content {
            tables.linkage.add_member(owner, &content.unit(&tables.names), name, member);
        }
        tables.extensions.entry(owner).or_default().entry(name).or_default().push(member);
        tables.containers.insert(member, owner);
    }
    for (outside, member) in gained {
        let name = tables.name_of(member);
        tables.gained.entry(outside).or_default().entry(name).or_default().push(member);
    }
    for (owner, interface) in outside {
        let interfaces = tables.implemented_outside.entry(owner).or_default();
        if !interfaces.contains(&interface) {
            interfaces.push(interface);
        }
    }
    for (owner, interface) in implemented {
        let interfaces = tables.implemented.entry(owner).or_default();
        if !interfaces.contains(&interface) {
            interfaces.push(interface);
        }
    }
}

/// What files say about types that are not theirs.
#[derive(Default)]
struct Found {
    /// Members with their types.
    members: Vec<(SymbolRef, SymbolRef)>,
    /// Types with interfaces that they implement.
    implemented: Vec<(SymbolRef, SymbolRef)>,
    /// The same for interfaces from outside.
    outside: Vec<(SymbolRef, Box<str>)>,
    /// Types from outside with members that they gain.
    gained: Vec<(Box<str>, SymbolRef)>,
}

fn find(program: &Program<'_>) -> Found {
    let mut found = Found::default();
    let mut resolver = Resolver::new(program, FileId(0));
    for (file, unit) in program.whole().units() {
        resolver.begin(file);
        let mut previous = None;
        for (position, symbol) in unit.facts.symbols.iter().enumerate() {
            if !symbol.owner.is_some() {
                continue;
            }
            let Some(owner) = resolver.named_type(file, symbol.owner) else {
                if let Some(outside) = resolver.outside_owner(file, symbol.owner) {
                    found.gained.push((outside, SymbolRef { file, symbol: LocalSymbol::at(position) }));
                }
                continue;
            };
            found.members.push((SymbolRef { file, symbol: LocalSymbol::at(position) }, owner));
            if symbol.implements.is_some() && previous != Some((symbol.owner, symbol.implements)) {
                match resolver.named_type(file, symbol.implements) {
                    Some(interface) => found.implemented.push((owner, interface)),
                    None => {
                        found.outside.extend(resolver.outside_owner(file, symbol.implements).map(|interface| (owner, interface)))
                    }
                }
            }
            previous = Some((symbol.owner, symbol.implements));
        }
    }
    found
}

/// Every symbol of some kinds, by name.
pub(super) fn by_name(tables: &Tables, kinds: &[SymbolKind]) -> FxHashMap<Name, Symbols> {
    let mut members: FxHashMap<Name, Symbols> = FxHashMap::default();
    for (file, unit) in tables.units() {
        for (position, symbol) in unit.facts.symbols.iter().enumerate() {
            if kinds.contains(&symbol.kind) {
                members.entry(unit.name(symbol.name)).or_default().push(SymbolRef { file, symbol: LocalSymbol::at(position) });
            }
        }
    }
    members
}
