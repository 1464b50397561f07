//! Functions of a library that return what they are given, or hold it in their result.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::inference::calls::call::{FIRST_CALLEE, LIKE_FIRST};
use crate::inference::members::type_flow;
use crate::inference::types::infer;
use crate::units::unit::Unit;
use cograph_model::facts::{Binding, ExprId, Symbol};
use cograph_model::graph::FileId;

/// Name in the table of results for the first type argument, or else the first argument.
const FIRST_VALUE: &str = "value0";

/// Returns the type that is declared for what a call makes.
pub(super) fn declared_for(unit: Unit<'_>, call: ExprId) -> Option<ExprId> {
    let facts = unit.facts;
    let mut bound = facts.bindings.iter().filter(|binding| binding.value == call);
    let of_binding = || bound.find(|binding| binding.ty().is_some()).map(Binding::ty);
    let mut symbols = facts.symbols.iter().filter(|symbol| symbol.ty.is_some());
    let has_value = |symbol: &&Symbol| facts.lists[symbol.values.range()].contains(&call);
    symbols.find(has_value).map(|symbol| symbol.ty).or_else(of_binding)
}

/// True for a function of a library that returns its first argument, or what has the type of it.
pub(super) fn gives_back(db: &Db, file: FileId, callee: ExprId) -> bool {
    let results = &db.program.known(file).language.manifest.builtins.results;
    let is_first = |made: &String| made == FIRST_CALLEE || made == LIKE_FIRST;
    if !results.values().any(is_first) {
        return false;
    }
    match infer::ty(db, file, callee) {
        Ty::External(name) | Ty::BuiltinType(name, _) => {
            results.get(type_flow::last_segment(&name)).is_some_and(is_first)
        }
        _ => false,
    }
}

/// True if the result of a library function holds its first argument, of the type that a call
/// writes (`createContext<T>({})`).
pub(super) fn holds_first(db: &Db, file: FileId, function: &str) -> bool {
    let results = &db.program.known(file).language.manifest.builtins.results;
    let result = results.get(type_flow::last_segment(function));
    result.is_some_and(|template| template.contains(FIRST_VALUE))
}
