//! Arguments whose type is left out: it is that of the parameter which they are for.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::inference::calls::{call, closures, extensions, overload};
use crate::inference::members::overrides;
use crate::inference::types::{callee, generics};
use crate::units::symbols::Symbols;
use cograph_model::facts::{ExprId, Run, flags};
use cograph_model::graph::{FileId, SymbolRef};

/// Returns the type of the parameter for the argument at a position, if all callables that have one
/// there agree on it. The arguments do not choose among them: one of them has no type yet.
pub(crate) fn parameter(db: &Db, file: FileId, callee: ExprId, argument: usize) -> Ty {
    let position = argument;
    let (callee, written) = generics::unapplied(db, file, callee);
    let called = match callee::callee_ty(db, file, callee, &[], Run::default()) {
        found @ (Ty::Callable(..) | Ty::Type(..)) => found,
        other => {
            let count = u16::try_from(position + 1).unwrap_or(u16::MAX);
            let given = extensions::KnownArguments::Number(count);
            extensions::callee_ty(db, file, callee, given).unwrap_or(other)
        }
    };
    let written = written.map_or_else(Vec::new, |types| closures::written_types(db, file, types));
    let (called, bind) = generics::with_arguments(db, file, called, written);
    let (symbols, receiver, position) = match &called {
        Ty::Callable(symbols, receiver) => {
            let is_extension = extensions::receiver(db, symbols, receiver.as_deref()).is_some();
            (symbols.clone(), receiver.as_deref(), position + usize::from(is_extension))
        }
        Ty::Type(symbol, _) => {
            let mut makers = call::makers(db, *symbol, false);
            if !db.program.symbol(*symbol).params().is_empty() {
                makers.push(*symbol);
            }
            (makers, Some(&called), position)
        }
        _ => (Symbols::new(), None, position),
    };
    let declares = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        (entry.kind.is_callable() || entry.kind.is_type()) && entry.flags & flags::PROPERTY == 0
    };
    let stated = overrides::signatures(db, &symbols);
    let mut types = stated
        .iter()
        .filter(|symbol| declares(symbol))
        .filter_map(|symbol| overload::parameter_types(db, *symbol).get(position).cloned())
        .map(|ty| generics::substituted(db, ty.map(&bind), receiver));
    // Tables state the parameters of a library's members.
    let Some(first) = types.next() else {
        return closures::taken_by_table(db, file, callee, argument);
    };
    if types.all(|ty| ty == first) { first } else { Ty::Unknown }
}
