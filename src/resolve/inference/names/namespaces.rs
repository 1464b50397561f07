//! Lookups restricted by kind: in languages with a separate namespace for callables, a call never
//! refers to a variable and a value never to a callable; a call never refers to a module.

use crate::db::Db;
use crate::db::ty::Entity;
use crate::db::wanted::Wanted;
use crate::units::symbols::Symbols;
use cograph_grammar::ImplicitUse;
use cograph_model::facts::{Binding, BindingKind, Expr, ExprId, flags};
use cograph_model::graph::{FileId, SymbolRef};
use cograph_model::{SiteKind, Step, SymbolKind};

/// Looks a name up among callables only, or among everything else, where the language of `file`
/// separates them. Falls back to all names if the result `is_missing` (accessors without a
/// body, callables named without a call).
pub(crate) fn among<T>(
    db: &Db,
    file: FileId,
    callables: bool,
    look: impl Fn() -> T,
    is_missing: impl Fn(&T) -> bool,
) -> T {
    if !db.program.known(file).language.manifest.resolution.separate_callables {
        return look();
    }
    let kinds = if callables { Wanted::Callables } else { Wanted::Others };
    let found = db.filtered(Some(kinds), &look);
    if is_missing(&found) { db.filtered(None, look) } else { found }
}

/// Looks up a called name that resolves to a module, ignoring modules.
pub(crate) fn ignoring_modules<T>(db: &Db, look: impl FnOnce() -> T) -> T {
    db.filtered(Some(Wanted::NoModules), look)
}

/// Looks a name up in value position, where tags are ignored.
pub(crate) fn lookup_value(
    db: &Db,
    file: FileId,
    is_call: bool,
    look: impl Fn() -> Option<(Entity, Step)>,
) -> Option<(Entity, Step)> {
    if !db.program.known(file).language.manifest.resolution.tagged_types {
        return among(db, file, is_call, look, Option::is_none);
    }
    db.filtered(Some(Wanted::Untagged), look)
}

/// True if a reference of this kind means a type, whatever else has its name.
pub(crate) fn means_type(db: &Db, file: FileId, kind: SiteKind) -> bool {
    let rules = &db.program.known(file).language.manifest.resolution;
    match kind {
        SiteKind::Type | SiteKind::Inherit => true,
        SiteKind::Construct => rules.typed_positions,
        _ => false,
    }
}

/// True if a symbol passes the filter of the lookup.
pub(crate) fn is_wanted(db: &Db, symbol: SymbolRef) -> bool {
    let Some(wanted) = db.wanted() else { return true };
    let kind = db.program.symbol(symbol).kind;
    match wanted {
        Wanted::Callables => {
            let rules = &db.program.known(symbol.file).language.manifest.resolution;
            kind.is_callable() || kind.is_type() && rules.call_constructs
        }
        Wanted::Others => !kind.is_callable(),
        Wanted::NoModules => !matches!(kind, SymbolKind::Module | SymbolKind::Namespace),
        Wanted::Untagged => !is_tag(db, symbol),
        // A constant may be a macro without parameters.
        Wanted::Types => !matches!(
            kind,
            SymbolKind::Function
                | SymbolKind::Method
                | SymbolKind::Constructor
                | SymbolKind::Field
                | SymbolKind::Variable
        ),
        Wanted::Arity(count) => {
            kind.is_type() && db.program.clauses(symbol).type_params.len() == count
        }
    }
}

/// True if a type is visible only by its tag.
fn is_tag(db: &Db, symbol: SymbolRef) -> bool {
    let entry = db.program.symbol(symbol);
    entry.flags & flags::TAGGED != 0
}

/// True if modules pass the filter of the lookup.
pub(super) fn wants_modules(db: &Db) -> bool {
    db.wanted() != Some(Wanted::NoModules)
}

/// True if a binding may pass the filter of the lookup.
pub(super) fn is_wanted_binding(db: &Db, file: FileId, binding: &Binding) -> bool {
    let is_value = matches!(
        binding.kind,
        BindingKind::Value
            | BindingKind::Param
            | BindingKind::Field
            | BindingKind::Narrow
            | BindingKind::Result
    );
    if db.types_only() && is_value {
        return false;
    }
    match (db.wanted(), binding.kind) {
        (None, _) | (_, BindingKind::Import | BindingKind::Outer) => true,
        (Some(_), BindingKind::Symbol) => {
            is_wanted(db, SymbolRef { file, symbol: binding.symbol() })
        }
        (Some(Wanted::Types), kind) => kind == BindingKind::TypeParam,
        (Some(Wanted::Arity(_)), _) => false,
        (Some(Wanted::Callables), _) => holds_function(db, file, binding),
        (Some(_), _) => true,
    }
}

/// True if a variable is written to hold a function, in languages where it can be called.
fn holds_function(db: &Db, file: FileId, binding: &Binding) -> bool {
    let unit = db.program.known(file);
    let expr = |id: ExprId| id.get().map(|position| unit.facts.exprs[position]);
    unit.language.manifest.names.member_behind(ImplicitUse::Call).is_some()
        && matches!(binding.kind, BindingKind::Value | BindingKind::Param)
        && (matches!(expr(binding.ty()), Some(Expr::Function(_)))
            || matches!(expr(binding.value), Some(Expr::Lambda(_))))
}

/// Selects the symbols of the kind that a reference uses, where types and values share names.
pub(crate) fn fitting_kind(db: &Db, kind: SiteKind, symbols: &Symbols) -> Symbols {
    if symbols.len() < 2 {
        return symbols.clone();
    }
    let is_type = |position: usize| {
        let kind = db.program.symbol(symbols[position]).kind;
        kind.is_type() || matches!(kind, SymbolKind::Module | SymbolKind::Namespace)
    };
    let wanted = matches!(kind, SiteKind::Type | SiteKind::Inherit | SiteKind::Implement);
    let is_value = |position: &usize| {
        let kind = db.program.symbol(symbols[*position]).kind;
        !matches!(kind, SymbolKind::Interface | SymbolKind::TypeAlias | SymbolKind::Namespace)
    };
    let fits = |position: &usize| match kind {
        SiteKind::Call => is_value(position),
        _ => is_type(*position) == wanted,
    };
    let mut fitting: Symbols =
        (0..symbols.len()).filter(fits).map(|position| symbols[position]).collect();
    let is_space = |symbol: &SymbolRef| {
        let kind = db.program.symbol(*symbol).kind;
        matches!(kind, SymbolKind::Module | SymbolKind::Namespace)
    };
    let rules = &db.program.known(symbols[0].file).language.manifest.resolution;
    if wanted && rules.separate_types && !fitting.iter().all(is_space) {
        // The name of a namespace alone is no type.
        fitting.retain(|symbol| !is_space(symbol));
    }
    if fitting.is_empty() && !wanted {
        fitting.extend((0..symbols.len()).filter(is_value).map(|position| symbols[position]));
    }
    if fitting.is_empty() { symbols.clone() } else { fitting }
}
