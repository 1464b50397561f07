//! Library types and namespaces that the repository opens again: classes with further members,
//! interfaces that files extend in the global scope, and namespaces that it adds to.

use crate::db::Db;
use crate::inference::members::type_flow;
use crate::units::space::Space;
use crate::units::symbols::Symbols;
use cograph_model::SymbolKind;
use cograph_model::facts::flags;
use cograph_model::graph::SymbolRef;

/// Returns the types by which the repository opens a library type, or that of a library value.
pub(super) fn types(db: &Db, outer: &str) -> Symbols {
    let language = db.program.known(db.origin.get()).language;
    let root = Space::root(language);
    let is_type = |symbol: &&SymbolRef| db.program.symbol(**symbol).kind.is_type();
    if language.manifest.resolution.open_types {
        let all = db.program.in_space(root, db.program.named(outer));
        return all.into_iter().flatten().find(is_type).copied().into_iter().collect();
    }
    if !language.manifest.modules.has_global_scope() {
        return Symbols::new();
    }
    let name = type_flow::flow(db, db.origin.get(), outer).map_or(outer, |(name, _)| name);
    let all = db.program.in_space(root, db.program.named(name));
    all.into_iter().flatten().filter(is_type).copied().collect()
}

/// Returns the name of a namespace of a library, which the repository adds to: its other members
/// are in the library.
pub(super) fn library<'a>(db: &Db<'a>, module: SymbolRef) -> Option<&'a str> {
    let unit = db.program.known(module.file);
    let name = db.program.text(db.program.name_of(module));
    let is_outermost = !db.program.symbol(module).container.is_some();
    let modules = &unit.language.manifest.modules;
    (is_outermost && modules.prelude.iter().any(|library| library == name)).then_some(name)
}

/// True for an interface of the global scope, which may extend one of the library.
pub(super) fn is_global_interface(db: &Db, symbol: SymbolRef) -> bool {
    let entry = db.program.symbol(symbol);
    entry.kind == SymbolKind::Interface && entry.flags & flags::GLOBAL != 0
}
