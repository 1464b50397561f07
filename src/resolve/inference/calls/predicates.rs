//! Predicates of a call, or another reference, and of the symbols that it may lead to.

use crate::db::Db;
use crate::db::ty::{Member, Ty};
use crate::inference::calls::overload;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::ImplicitUse;
use cograph_model::facts::{Expr, Site};
use cograph_model::graph::{FileId, SymbolRef};
use cograph_model::{SiteKind, SymbolKind};

pub(crate) fn takes_receivers(db: &Db, file: FileId) -> bool {
    db.program.known(file).language.manifest.resolution.closure_receivers
}

/// True if a reference and its target expression have the same name. References and expressions
/// are numbered separately; a stale id would yield the result of another expression.
pub(crate) fn matches_target_name(db: &Db, file: FileId, site: &Site) -> bool {
    let unit = db.program.known(file);
    match site.target.get().map(|target| unit.facts.exprs[target]) {
        // The name of a macro may have a suffix that its call omits.
        Some(Expr::Name(name, _) | Expr::Member(_, name)) => {
            name == site.name || unit.text(name).starts_with(unit.text(site.name))
        }
        _ => true,
    }
}

/// True for the member of a callable that calls it.
pub(crate) fn calls_itself(db: &Db, file: FileId, name: Name) -> bool {
    let names = &db.program.known(file).language.manifest.names;
    let name = db.program.text(name);
    names.members_behind(ImplicitUse::Call).iter().any(|member| member == name)
}

/// True if a field implies a callable of its name, as a component of a record does.
pub(crate) fn has_accessor(db: &Db, field: SymbolRef) -> bool {
    let unit = db.program.known(field.file);
    let container = db.program.symbol(field).container.get();
    unit.language.manifest.resolution.separate_callables
        && container
            .is_some_and(|container| unit.facts.symbols[container].kind == SymbolKind::Struct)
}

/// False if none of the symbols accepts the number of arguments. A function that is declared
/// without parameters may take any.
pub(crate) fn takes_arguments(db: &Db, site: &Site, symbols: &Symbols) -> bool {
    let count = overload::argument_count(site.args);
    symbols.iter().any(|symbol| {
        db.program.symbol(*symbol).arity.1 == 0
            || overload::accepts(db, *symbol, count, site.spread)
    })
}

pub(crate) fn is_type(db: &Db, symbols: &Symbols) -> bool {
    symbols.iter().all(|symbol| db.program.symbol(*symbol).kind.is_type())
}

pub(crate) fn is_call(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::Call | SiteKind::Construct | SiteKind::Decorate)
}

/// True if nothing is known of a member, so that callables may be meant where values are not, and
/// values where callables are not. What is written of an interface is an element of an annotation,
/// which is a method.
pub(crate) fn is_missing(db: &Db, site: &Site, of: &Ty, member: &Member) -> bool {
    match (member, of) {
        (Member::None | Member::Unknown, _) => true,
        (Member::Outside(_), Ty::Instance(symbol, _)) => {
            site.kind == SiteKind::Write && db.program.symbol(*symbol).kind == SymbolKind::Interface
        }
        _ => false,
    }
}
