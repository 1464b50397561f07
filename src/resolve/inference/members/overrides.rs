//! Overriding: members that replace an inherited one, and overloads that stand next to it.

use crate::db::Db;
use crate::db::ty::{ARRAY, Ty};
use crate::inference::members::lookup::stated;
use crate::inference::members::type_flow::last_segment;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_model::facts::flags;
use cograph_model::graph::SymbolRef;

/// True if a member of a derived type overrides one of a base: same arity and parameter types.
pub(crate) fn overrides(db: &Db, own: SymbolRef, base: SymbolRef) -> bool {
    let (least, most) = db.program.symbol(own).arity;
    let (least_of_base, most_of_base) = db.program.symbol(base).arity;
    // An overriding member inherits the default values of parameters.
    let inherits = db.program.known(own.file).language.manifest.conversions.top.is_some();
    if most != most_of_base || !(least == least_of_base || inherits && least > least_of_base) {
        return false;
    }
    // The languages of one platform have names of their own for types of the library.
    let language = |symbol: SymbolRef| db.program.known(symbol.file).language;
    let are_alike = std::ptr::eq(language(own), language(base));
    // A type parameter of the callable itself represents no other type.
    let of_callable = |of: SymbolRef, ty: &Ty| match ty {
        Ty::Param(file, binding) => {
            let params = db.program.clauses(of).type_params.range();
            inherits && *file == of.file && params.contains(&(binding.0 as usize))
        }
        _ => false,
    };
    let (derived, inherited) = (own, base);
    let (own, base) = (db.parameter_types(own), db.parameter_types(base));
    let is_of_library = |ty: &Ty| !are_alike && matches!(ty, Ty::Builtin(..));
    own.len() == base.len()
        && own.iter().zip(base.iter()).all(|(own, base)| {
            let is_free = [of_callable(derived, own), of_callable(inherited, base)];
            let open = |ty: &Ty| matches!(ty, Ty::Unknown | Ty::Param(..));
            is_free == [true, true]
                || is_free == [false, false] && (open(own) || open(base))
                || is_free != [false, false] && (*own == Ty::Unknown || *base == Ty::Unknown)
                || is_of_library(own) && is_of_library(base)
                || outline(own) == outline(base)
        })
}

/// Adds the members of a base to those of derived types, except overridden ones.
pub(super) fn join_overloads(db: &Db, members: &mut Symbols, of_base: &Symbols) {
    // The overloads of one type do not override each other.
    let derived = members.clone();
    for base in of_base {
        if !members.contains(base) && !derived.iter().any(|own| overrides(db, *own, *base)) {
            members.push(*base);
        }
    }
}

/// Returns the signatures of overloads without the definition that they share, and those that are
/// stated for a member: callers see none of the types of the definition.
pub(crate) fn signatures(db: &Db, symbols: &Symbols) -> Symbols {
    if let [only] = symbols[..]
        && let Some(stated) = stated::member(db, only)
    {
        return stated;
    }
    let is_signature =
        |symbol: &&SymbolRef| db.program.symbol(**symbol).flags & flags::DECLARATION != 0;
    let is_apart = |symbol: &SymbolRef| {
        let rules = &db.program.known(symbol.file).language.manifest.resolution;
        !rules.declarations
    };
    if symbols.len() < 2
        || !symbols.iter().all(is_apart)
        || !symbols.iter().any(|s| is_signature(&s))
    {
        return symbols.clone();
    }
    symbols.iter().filter(is_signature).copied().collect()
}

/// Drops declarations if there are definitions.
pub(crate) fn defined(db: &Db, symbols: &mut Symbols) {
    let is_definition =
        |symbol: &SymbolRef| db.program.symbol(*symbol).flags & flags::DECLARATION == 0;
    let has_both = symbols.len() > 1 && symbols.iter().any(is_definition);
    if has_both && !planted(Fault::DeclarationsKept) {
        symbols.retain(|symbol| is_definition(symbol));
    }
}

/// Erases type arguments, which do not distinguish overloads.
fn outline(ty: &Ty) -> Ty {
    match ty {
        Ty::Instance(symbol, _) => Ty::instance(*symbol),
        Ty::Builtin(name, inner) if &**name == ARRAY => match inner.first() {
            Some(Ty::Param(..)) | None => Ty::builtin(ARRAY, &[]),
            Some(inner) => Ty::builtin(ARRAY, &[outline(inner)]),
        },
        Ty::Builtin(name, _) | Ty::External(name) => Ty::builtin(last_segment(name), &[]),
        other => other.clone(),
    }
}
