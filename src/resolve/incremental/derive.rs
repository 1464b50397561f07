//! Derived tables: facts about types outside of their bodies, by language family: extension
//! members, implemented interfaces, interfaces by method.
//!
//! Stages in order: nested types find their enclosing types (`nest`), members their types
//! (`extend`), interfaces their methods (`structural`). Each stage reads the results of earlier
//! ones only, so the result is independent of the order of changes.

use crate::db::each_file::each_file;
use crate::inference::{aliases, inherent, structural};
use crate::workspace::extensions::{Family, FoundExtensions};
use crate::workspace::program::Program;
use crate::workspace::tables::Tables;
use cograph_model::SymbolKind;
use cograph_model::facts::LocalSymbol;
use cograph_model::graph::{FileId, SymbolRef};
use std::collections::BTreeMap;

/// Computes the contributions of some families again and keeps the others. `is_touched` selects
/// families.
pub(crate) fn derive(tables: &mut Tables, is_touched: impl Fn(&str) -> bool) {
    let before = std::mem::take(&mut tables.derived);
    let mut extending: BTreeMap<&'static str, Vec<FileId>> = BTreeMap::new();
    for (file, language) in
        tables.files.ids().filter_map(|file| Some((file, tables.files.extends_types(file)?)))
    {
        extending.entry(crate::units::import_target::family(language)).or_default().push(file);
    }
    let mut families: BTreeMap<&'static str, Family> = BTreeMap::new();
    let (mut left, mut again) = (before.families, Vec::new());
    for (family, files) in extending {
        match left.remove(family).filter(|_| !is_touched(family)) {
            Some(known) => drop(families.insert(family, known)),
            None => again.push((family, files)),
        }
    }
    tables.join(&[]);
    // Families are independent, so their order is irrelevant.
    for family in families.values() {
        family.put_nested(tables);
        family.put_found(tables);
    }
    for (family, files) in &again {
        let nested = nest(tables, files);
        let (found, asked) = tables.recorded(|program| find(program, files));
        let own = Family { nested, found, asked, interfaces: Vec::new() };
        own.put_found(tables);
        families.insert(family, own);
    }
    let members = families.values().flat_map(|family| &family.found.members);
    let joined: Vec<_> = members
        .filter_map(|(member, owner)| Some((tables.list_of_member(*owner, *member)?, *member)))
        .collect();
    tables.join(&joined);
    for (family, files) in &again {
        let (interfaces, asked) = tables.recorded(|program| structural::by_method(program, files));
        let own = families.get_mut(family).expect("it was put in above");
        own.interfaces = interfaces;
        own.asked.questions.extend(asked.questions);
    }
    for (name, interface) in families.values().flat_map(|family| &family.interfaces) {
        tables.derived.interfaces.entry(*name).or_default().push(*interface);
    }
    tables.derived.families = families;
}

impl Family {
    fn put_nested(&self, tables: &mut Tables) {
        for (member, owner) in &self.nested {
            add_member(tables, *member, *owner);
        }
    }

    fn put_found(&self, tables: &mut Tables) {
        for (member, owner) in &self.found.members {
            if !tables.derived.containers.contains_key(member) {
                add_member(tables, *member, *owner);
            }
        }
        for (outside, member) in &self.found.external_extensions {
            let name = tables.files.name_of(*member);
            tables
                .derived
                .external_extensions
                .entry(outside.clone())
                .or_default()
                .entry(name)
                .or_default()
                .push(*member);
        }
        for (owner, interface) in &self.found.outside {
            let interfaces = tables.derived.implemented_outside.entry(*owner).or_default();
            if !interfaces.contains(interface) {
                interfaces.push(interface.clone());
            }
        }
        for (owner, interface) in &self.found.implemented {
            let interfaces = tables.derived.implemented.entry(*owner).or_default();
            if !interfaces.contains(interface) {
                interfaces.push(*interface);
            }
        }
    }
}

/// Adds a member that is defined outside of its type. A test of a fixture has no name in it.
fn add_member(tables: &mut Tables, member: SymbolRef, owner: SymbolRef) {
    if tables.files.symbol(member).kind == SymbolKind::Test {
        tables.derived.containers.insert(member, owner);
        return;
    }
    let name = tables.files.name_of(member);
    tables.derived.extensions.entry(owner).or_default().entry(name).or_default().push(member);
    tables.derived.containers.insert(member, owner);
}

fn remove_member(tables: &mut Tables, member: SymbolRef, owner: SymbolRef) {
    let name = tables.files.name_of(member);
    tables.derived.containers.remove(&member);
    let Some(members) = tables.derived.extensions.get_mut(&owner) else { return };
    if let Some(of_name) = members.get_mut(&name) {
        of_name.retain(|other| *other != member);
        if of_name.is_empty() {
            members.remove(&name);
        }
    }
    if members.is_empty() {
        tables.derived.extensions.remove(&owner);
    }
}

/// Finds the enclosing types of nested types that are defined outside of them. A nested type may
/// depend on another one, so this iterates to a fixpoint (at most 8 rounds).
fn nest(tables: &mut Tables, files: &[FileId]) -> Vec<(SymbolRef, SymbolRef)> {
    let mut known: Vec<(SymbolRef, SymbolRef)> = Vec::new();
    for _ in 0..8 {
        let (found, _) = tables.recorded(|program| nested(program, files));
        if found == known {
            break;
        }
        for (member, owner) in &known {
            remove_member(tables, *member, *owner);
        }
        for (member, owner) in &found {
            add_member(tables, *member, *owner);
        }
        known = found;
    }
    known
}

fn nested(program: &Program<'_>, files: &[FileId]) -> Vec<(SymbolRef, SymbolRef)> {
    let mut found = Vec::new();
    each_file(program, files, |db, file| {
        let unit = program.known(file);
        if !unit.language.manifest.resolution.declarations {
            return;
        }
        for (position, symbol) in unit.facts.symbols.iter().enumerate() {
            let clauses = unit.facts.clauses_of(symbol);
            if symbol.kind.is_type()
                && clauses.owner.is_some()
                && let Some(owner) = aliases::named_type(db, file, clauses.owner)
            {
                found.push((SymbolRef { file, symbol: LocalSymbol::at(position) }, owner));
            }
        }
    });
    found
}

fn find(program: &Program<'_>, files: &[FileId]) -> FoundExtensions {
    let mut found = FoundExtensions::default();
    each_file(program, files, |db, file| {
        let mut previous = None;
        let sealed = &program.known(file).language.manifest.builtins.sealed;
        let facts = program.known(file).facts;
        for (position, symbol) in facts.symbols.iter().enumerate() {
            let clauses = facts.clauses_of(symbol);
            if !clauses.owner.is_some() {
                continue;
            }
            let Some(owner) = aliases::named_type(db, file, clauses.owner) else {
                if let Some(outside) = inherent::outside_owner(db, file, clauses.owner)
                    && !sealed.iter().any(|value| **value == *outside)
                {
                    found
                        .external_extensions
                        .push((outside, SymbolRef { file, symbol: LocalSymbol::at(position) }));
                }
                continue;
            };
            found.members.push((SymbolRef { file, symbol: LocalSymbol::at(position) }, owner));
            if previous != Some((clauses.owner, clauses.implements)) {
                for interface in aliases::interfaces(db, file, clauses.implements) {
                    match aliases::named_type(db, file, interface) {
                        Some(interface) => found.implemented.push((owner, interface)),
                        None => found.outside.extend(
                            inherent::outside_owner(db, file, interface)
                                .map(|interface| (owner, interface)),
                        ),
                    }
                }
            }
            previous = Some((clauses.owner, clauses.implements));
        }
    });
    found
}
