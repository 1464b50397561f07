//! Members of a type itself that its body does not define: those of the bases of its part with such
//! members, of the package of its name, and of the value that an alias names as well.

use crate::db::Db;
use crate::db::in_progress::Computation;
use crate::db::ty::{Entity, Member, Ty};
use crate::inference::members::{aliases, hierarchy};
use crate::inference::names::module_members;
use crate::inference::names::visited::Visited;
use crate::units::interner::Name;
use cograph_model::SymbolKind;
use cograph_model::facts::Synthetic;
use cograph_model::graph::SymbolRef;

/// Returns a member of a type itself that it does not define.
pub(super) fn undefined_here(db: &Db, of: &Ty, name: Name) -> Option<Member> {
    let Ty::Type(symbol, _) = of else { return None };
    of_bases(db, *symbol, name)
        .or_else(|| of_value(db, *symbol, name))
        .or_else(|| of_namesake(db, *symbol, name).map(Member::Entity))
}

/// Returns the member that the bases of the part with members of the type itself have.
pub(crate) fn of_bases(db: &Db, symbol: SymbolRef, name: Name) -> Option<Member> {
    let statics = db.program.synthetic(Synthetic::Statics);
    hierarchy::parts_of_type(db, symbol).into_iter().find_map(|part| {
        let unit = db.program.known(part.file);
        let mut bases = unit.bindings(db.program.symbol(part).inner, statics);
        bases.find_map(|(_, base)| {
            let following = Computation::Following(part.file, base.ty(), name);
            let base = || db.member(&db.instance_of_expr(part.file, base.ty()), name);
            let found = db.in_progress.once(following, base)?;
            (!matches!(found, Member::None | Member::Unknown)).then_some(found)
        })
    })
}

/// Returns the member of the value that an alias of a namespace names as well.
fn of_value(db: &Db, alias: SymbolRef, name: Name) -> Option<Member> {
    let target = aliases::alias_target(db, alias)?;
    let is_alias = db.program.symbol(alias).kind == SymbolKind::TypeAlias;
    let is_namespace = is_namespace(db.program.symbol(target).kind);
    (is_alias && is_namespace).then(|| of_namesake_value(db, target, name))?
}

/// Returns the member of the value that has the name of a namespace in its scope, where these are
/// merged.
pub(super) fn of_namesake_value(db: &Db, namespace: SymbolRef, name: Name) -> Option<Member> {
    let unit = db.program.known(namespace.file);
    if !unit.language.manifest.resolution.merged_types {
        return None;
    }
    let entry = unit.symbol(namespace.symbol);
    let mut bound = db.program.bindings(namespace.file, unit, entry.scope, unit.name(entry.name));
    let value = bound.find_map(|(_, binding)| {
        let symbol = binding.symbol().get().map(|symbol| &unit.facts.symbols[symbol])?;
        matches!(symbol.kind, SymbolKind::Constant | SymbolKind::Variable).then_some(symbol.ty)
    })?;
    let following = Computation::Following(namespace.file, value, name);
    let found = || db.member(&db.instance_of_expr(namespace.file, value), name);
    let found = db.in_progress.once(following, found)?;
    (!matches!(found, Member::None | Member::Unknown)).then_some(found)
}

fn is_namespace(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Namespace | SymbolKind::Module)
}

/// Returns the member of the package that has the name of a type.
fn of_namesake(db: &Db, symbol: SymbolRef, name: Name) -> Option<Entity> {
    let unit = db.program.known(symbol.file);
    if db.program.symbol(symbol).container.is_some() {
        return None;
    }
    let separator = unit.language.manifest.modules.separator.as_str();
    let own = db.program.text(db.program.name_of(symbol));
    let package = format!("{}{separator}{own}", unit.facts.package.as_deref()?);
    let package = db.program.declared_package(symbol.file, &package)?;
    module_members::module_member(db, package, name, &mut Visited::default())
}
