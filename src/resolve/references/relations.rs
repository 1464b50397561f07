//! Relations between symbols: extends, implements and overrides.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::inference::{
    aliases, definition, hierarchy, lookup, overrides, return_types, structural, symbol_types,
};
use crate::units::symbols::Symbols;
use cograph_grammar::MemberLookup;
use cograph_model::facts::{Expr, LocalSymbol, ScopeKind, flags};
use cograph_model::graph::{FileId, Relation, SymbolRef};
use cograph_model::{RelationKind, SymbolKind, Visibility};
use rustc_hash::FxHashSet;

/// Returns the relations that start at symbols of a file, sorted and without duplicates.
pub(crate) fn of_file(db: &Db, file: FileId) -> Vec<Relation> {
    let facts = db.program.known(file).facts;
    let mut relations = Vec::new();
    for position in 0..facts.symbols.len() {
        let symbol = SymbolRef { file, symbol: LocalSymbol::at(position) };
        let entry = &facts.symbols[position];
        if entry.kind.is_type() {
            bases(db, symbol, &mut relations);
            let satisfied = structural::satisfied(db, symbol);
            let kind = RelationKind::Implements;
            relations.extend(satisfied.iter().map(|&to| Relation { kind, from: symbol, to }));
        }
        if matches!(entry.kind, SymbolKind::Method | SymbolKind::Field | SymbolKind::Constructor) {
            overridden(db, symbol, &mut relations);
        }
        results(db, symbol, &mut relations);
        let declared = definition::declarations_of(db, symbol).into_iter();
        for to in declared.chain(aliases::expected_by(db, symbol)) {
            relations.push(Relation { kind: RelationKind::Defines, from: symbol, to });
        }
        for interface in aliases::interfaces(db, file, facts.clauses_of(entry).implements) {
            if let (Some(from), Some(to)) = (
                aliases::named_type(db, file, facts.clauses_of(entry).owner),
                aliases::named_type(db, file, interface),
            ) {
                relations.push(Relation { kind: RelationKind::Implements, from, to });
            }
        }
    }
    relations.sort_unstable();
    relations.dedup();
    relations
}

fn bases(db: &Db, symbol: SymbolRef, relations: &mut Vec<Relation>) {
    let facts = db.program.known(symbol.file).facts;
    for base in &facts.lists[db.program.clauses(symbol).bases.range()] {
        let Some(Expr::Base(base, implement)) = base.get().map(|position| facts.exprs[position])
        else {
            continue;
        };
        if let Some(to) = aliases::named_type(db, symbol.file, base)
            && to != symbol
        {
            let kind = if implement { RelationKind::Implements } else { RelationKind::Inherits };
            relations.push(Relation { kind, from: symbol, to });
        }
    }
}

/// Adds the types of the repository whose values a function, property or field gives, in languages
/// that infer them and where no type is written but a word for the type around it.
fn results(db: &Db, symbol: SymbolRef, relations: &mut Vec<Relation>) {
    let unit = db.program.known(symbol.file);
    let entry = db.program.symbol(symbol);
    let is_property = entry.flags & flags::PROPERTY != 0;
    let is_member_or_global = entry.container.get().is_none_or(|around| {
        let around = &unit.facts.symbols[around];
        around.kind.is_type() || matches!(around.kind, SymbolKind::Module | SymbolKind::Namespace)
    });
    let is_inferred = unit.language.manifest.resolution.infer_returns
        && is_member_or_global
        && (is_own_type(db, symbol) || !entry.ty.is_some() && !entry.values.is_empty())
        && entry.visibility != Visibility::Private;
    if !is_inferred {
        return;
    }
    let symbols = Symbols::from_slice(&[symbol]);
    let ty = match entry.kind {
        kind if kind.is_callable() && kind != SymbolKind::Constructor && !is_property => {
            return_types::result_of(db, &symbols, None, &[])
        }
        SymbolKind::Constructor => return,
        kind if kind.is_callable() => symbol_types::symbols_ty(db, &symbols, false, None),
        SymbolKind::Field | SymbolKind::Variable | SymbolKind::Constant => {
            symbol_types::symbols_ty(db, &symbols, false, None)
        }
        _ => return,
    };
    for result in ty.alternatives() {
        if let Ty::Instance(to, _) = result {
            relations.push(Relation { kind: RelationKind::Returns, from: symbol, to: *to });
        }
    }
}

/// True for a symbol whose type is written as the type around it.
fn is_own_type(db: &Db, symbol: SymbolRef) -> bool {
    let facts = db.program.known(symbol.file).facts;
    let mut ty = db.program.symbol(symbol).ty;
    while let Some(Expr::Wrap(inner, _)) = ty.get().map(|position| facts.exprs[position]) {
        ty = inner;
    }
    matches!(
        ty.get().map(|position| facts.exprs[position]),
        Some(Expr::SelfType(_) | Expr::SelfValue(_))
    )
}

/// Adds the nearest members that a member overrides: the first on each path of bases.
fn overridden(db: &Db, symbol: SymbolRef, relations: &mut Vec<Relation>) {
    let entry = db.program.symbol(symbol);
    if entry.flags & flags::DECLARATION != 0 && !definition::definitions_of(db, symbol).is_empty() {
        return;
    }
    let container = match db.program.container(symbol) {
        Some(&container) => container,
        None => SymbolRef { file: symbol.file, symbol: entry.container },
    };
    let unit = db.program.known(symbol.file);
    // Where callables have a separate namespace, a field hides that of a base.
    let hides =
        entry.kind == SymbolKind::Field && unit.language.manifest.resolution.separate_callables;
    if hides || entry.kind == SymbolKind::Constructor {
        return;
    }
    let has_owner = unit.facts.clauses_of(entry).owner.is_some();
    if has_owner
        && db.program.known(symbol.file).language.manifest.resolution.members
            == MemberLookup::InherentFirst
    {
        return given_to_interface(db, symbol, relations);
    }
    // An anonymous type derives from the type that it is created from. An extension block is no
    // type.
    let nameless = unit.scope_kind(entry.scope) == ScopeKind::Type
        && !unit.scope_symbol(entry.scope).is_some()
        && !has_owner;
    let (container, above) =
        match nameless && container == (SymbolRef { file: symbol.file, symbol: entry.container }) {
            true => match aliases::named_type(db, symbol.file, unit.scope_owner(entry.scope)) {
                Some(base) => (base, 0),
                None => return,
            },
            false => (container, 1),
        };
    if container.symbol.get().is_none() {
        return;
    }
    // The body of a constant derives from the enumeration that has the constant.
    let of = db.program.symbol(container);
    let (container, above) = match of.kind {
        SymbolKind::Variant => (SymbolRef { file: container.file, symbol: of.container }, 0),
        _ => (container, above),
    };
    if container.symbol.get().is_none() || !db.program.symbol(container).kind.is_type() {
        return;
    }
    let name = db.program.name_of(symbol);
    for interface in structural::satisfied(db, container).iter() {
        if let Some(to) = structural::required_method(db, *interface, name) {
            relations.push(Relation { kind: RelationKind::Overrides, from: symbol, to });
        }
    }
    let hierarchy = hierarchy::hierarchy(db, container);
    // Ancestors of bases that have the member: not overridden directly.
    let mut beyond: FxHashSet<SymbolRef> = FxHashSet::default();
    for (base, _) in hierarchy.types.iter().skip(above) {
        if beyond.contains(base) {
            continue;
        }
        let mut found: Symbols = lookup::own_members(db, *base, name);
        if found.is_empty() {
            continue;
        }
        beyond
            .extend(hierarchy::hierarchy(db, *base).types.iter().skip(1).map(|(above, _)| *above));
        let rules = &db.program.known(symbol.file).language.manifest.resolution;
        if rules.declarations {
            found = definition::with_definitions(db, &found);
        }
        found.retain(|to| found_fits(db, symbol, *to));
        // Of overloads with as many parameters the types of these decide, as far as they are known.
        if rules.declarations && rules.overloads && found.len() > 1 {
            let of_same_types: Symbols =
                found.iter().copied().filter(|to| overrides::overrides(db, symbol, *to)).collect();
            if !of_same_types.is_empty() {
                found = of_same_types;
            }
        }
        for to in found {
            if to != symbol {
                relations.push(Relation { kind: RelationKind::Overrides, from: symbol, to });
            }
        }
    }
}

/// Adds the interface member that a member implements.
fn given_to_interface(db: &Db, symbol: SymbolRef, relations: &mut Vec<Relation>) {
    let implements = db.program.clauses(symbol).implements;
    let Some(interface) = aliases::named_type(db, symbol.file, implements) else { return };
    let name = db.program.name_of(symbol);
    for to in lookup::own_members(db, interface, name) {
        if db.program.symbol(to).kind == db.program.symbol(symbol).kind {
            relations.push(Relation { kind: RelationKind::Overrides, from: symbol, to });
        }
    }
}

/// True if a member may override another: in languages with overloads, only with as many
/// parameters. Default values need not be those of the overridden one.
fn found_fits(db: &Db, from: SymbolRef, to: SymbolRef) -> bool {
    let rules = &db.program.known(from.file).language.manifest.resolution;
    let (a, b) = (db.program.symbol(from), db.program.symbol(to));
    let is_as_long = a.params().len() == b.params().len() && a.arity.1 == b.arity.1;
    let fits = a.kind == b.kind && (!rules.overloads || a.arity == b.arity || is_as_long);
    fits && (!rules.inherited_overloads
        || a.kind != SymbolKind::Method
        || overrides::overrides(db, from, to))
}
