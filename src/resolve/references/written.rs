//! Keys of object literals and names of arguments: writes of the members of the value that is made.

use crate::db::Db;
use crate::db::ty::{Ty, instance_of};
use crate::inference::{call, hierarchy, infer, lookup};
use crate::units::import_target::family;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::facts::{Contextual, Expr, ExprId, LocalSymbol, ScopeKind};
use cograph_model::graph::{FileId, SymbolRef};
use cograph_model::{Step, SymbolKind};

/// Meaning of a key.
pub(super) enum Key {
    /// Fields of the type that is made.
    Fields(Symbols),
    /// No field is known, for this reason.
    Unknown(Step),
}

/// Returns the meaning of a member that a key writes; `None` for other targets.
pub(super) fn key(db: &Db, file: FileId, object: ExprId, name: Name) -> Option<Key> {
    let facts = db.program.known(file).facts;
    let written = match facts.exprs[object.get()?] {
        Expr::Given(_, Contextual::Object) => Some(infer::ty(db, file, object)),
        Expr::Union(parts)
            if facts.lists[parts.range()].first().is_some_and(|first| {
                let first = first.get().map(|first| facts.exprs[first]);
                matches!(first, Some(Expr::Given(_, Contextual::Object)))
            }) =>
        {
            Some(infer::ty(db, file, object))
        }
        Expr::Argument(made, _) => made_by(db, file, made),
        _ => return None,
    };
    let Some(of) = written else { return Some(Key::Unknown(Step::LocalValue)) };
    let is_field = |symbol: &SymbolRef| {
        matches!(db.program.symbol(*symbol).kind, SymbolKind::Field | SymbolKind::Method)
    };
    let declared = match facts.exprs[object.get()?] {
        Expr::Argument(..) => parameter_fields(db, &of, name),
        _ => None,
    };
    let fields: Symbols = declared.unwrap_or_else(|| {
        lookup::member_symbols(db, &of, name).into_iter().filter(is_field).collect()
    });
    if !fields.is_empty() {
        return Some(Key::Fields(fields));
    }
    let is_open = of
        .alternatives()
        .iter()
        .all(|ty| matches!(ty, Ty::Unknown | Ty::External(_) | Ty::Param(..) | Ty::Callable(..)));
    let step = match is_open && is_field_name(db, file, name) {
        true => Step::ReceiverUnknown,
        false => Step::LocalValue,
    };
    Some(Key::Unknown(step))
}

/// Returns the field that an element of a construction without keys writes: the elements are the
/// values of all fields in order.
pub(super) fn at_position(
    db: &Db,
    file: FileId,
    made: ExprId,
    position: usize,
) -> Option<SymbolRef> {
    let Expr::Construct(_, elements) = db.program.known(file).facts.exprs[made.get()?] else {
        return None;
    };
    let Ty::Instance(of, _) = infer::ty(db, file, made) else { return None };
    let unit = db.program.known(of.file);
    let bound = unit.all_bound(unit.symbol(of.symbol).inner).iter();
    let symbols = bound.map(|binding| unit.binding(*binding).symbol());
    let mut fields: Vec<LocalSymbol> = symbols
        .filter(|symbol| symbol.is_some() && unit.symbol(*symbol).kind == SymbolKind::Field)
        .collect();
    fields.sort_unstable();
    // Without a name for each element, as an embedded field has none, positions are not known.
    let symbol = *fields.get(position).filter(|_| fields.len() == elements.len() as usize)?;
    Some(SymbolRef { file: of.file, symbol })
}

/// Returns the fields that parameters of a name declare; `None` where no constructor has one.
fn parameter_fields(db: &Db, of: &Ty, name: Name) -> Option<Symbols> {
    let Ty::Instance(made, _) = of else { return None };
    let constructors = call::constructors(db, *made);
    let mut takers = constructors
        .iter()
        .filter(|constructor| {
            let unit = db.program.known(constructor.file);
            let params = &unit.facts.bindings[db.program.symbol(**constructor).params().range()];
            params.iter().any(|param| param.name.is_some() && unit.name(param.name) == name)
        })
        .peekable();
    takers.peek()?;
    let declared = takers.flat_map(|constructor| {
        let unit = db.program.known(constructor.file);
        let around = db.program.symbol(*constructor);
        let is_inside = move |symbol: &LocalSymbol| {
            let field = symbol.is_some().then(|| unit.symbol(*symbol));
            field.is_some_and(|field| {
                field.kind == SymbolKind::Field
                    && (around.start_byte..around.end_byte).contains(&field.start_byte)
            })
        };
        unit.bindings(around.scope, name)
            .map(|(_, binding)| binding.symbol())
            .filter(is_inside)
            .map(|symbol| SymbolRef { file: constructor.file, symbol })
    });
    Some(declared.collect())
}

/// Returns what a call with named arguments makes, if their names may be those of fields: of an
/// instance without a constructor of its own, or one whose parameters are fields, or of what is not
/// known.
fn made_by(db: &Db, file: FileId, made: ExprId) -> Option<Ty> {
    let made = match db.program.known(file).facts.exprs[made.get()?] {
        Expr::Call(callee, _) => infer::ty(db, file, callee),
        Expr::Construct(ty, _) => infer::type_of(db, file, ty),
        _ => return None,
    };
    match made {
        Ty::Type(symbol, _) => {
            let names = &db.program.known(symbol.file).language.manifest.names;
            let is_made = |ty: &SymbolRef| !call::constructors(db, *ty).is_empty();
            let own = hierarchy::hierarchy(db, symbol);
            let has_parameters = own.types.iter().any(|(ty, _)| is_made(ty));
            (!has_parameters || !names.field_parameter_words.is_empty()).then(|| instance_of(&made))
        }
        Ty::External(_) | Ty::Unknown => Some(Ty::Unknown),
        _ => None,
    }
}

/// True if a type of the repository has a field of a name.
fn is_field_name(db: &Db, file: FileId, name: Name) -> bool {
    let own = family(db.program.known(file).language);
    let is_field = |symbol: &SymbolRef| {
        let unit = db.program.known(symbol.file);
        let entry = db.program.symbol(*symbol);
        let in_literal = unit.scope_kind(entry.scope) == ScopeKind::Type
            && !unit.scope_symbol(entry.scope).is_some()
            && !unit.scope_owner(entry.scope).is_some();
        !in_literal && family(unit.language) == own
    };
    db.program.fields(name).is_some_and(|all| all.iter().any(is_field))
}
