//! Numbers of parameters of closures: one fits only a function type that has as many parameters.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::inference::calls::passing::is_closed;
use crate::inference::calls::{arguments, functional};
use crate::inference::members::type_flow;
use crate::inference::types::infer;
use cograph_grammar::FlowKind;
use cograph_model::SymbolKind;
use cograph_model::facts::{Expr, ExprId, Run, ScopeId, Wrapper, flags};
use cograph_model::graph::{FileId, SymbolRef};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// False if a parameter of a callable has a function type with another number of parameters than
/// the closure or callable that is passed to it.
pub(super) fn fits(db: &Db, file: FileId, symbol: SymbolRef, place: usize, given: &Ty) -> bool {
    let entry = db.program.symbol(symbol);
    let facts = db.program.known(symbol.file).facts;
    let place = match arguments::variadic_place(db, symbol) {
        Some(variadic) => place.min(variadic),
        None => place,
    };
    let Some(param) = entry.params().range().nth(place) else { return true };
    let taken = match given {
        Ty::Lambda(of, scope) if *of == file => of_closure(db, file, *scope).map(|it| vec![it]),
        Ty::Callable(symbols, _) => of_callables(db, file, symbols),
        _ => None,
    };
    let Some(taken) = taken else { return true };
    let wanted = of_type(db, symbol.file, facts.bindings[param].ty());
    // Where conversions are open, a closure may leave parameters out.
    let may_leave_out = !is_closed(db, file) && matches!(given, Ty::Lambda(..));
    let takes = |(least, most): &(usize, usize), wanted: usize| match may_leave_out {
        true => *least <= wanted,
        false => (*least..=*most).contains(&wanted),
    };
    wanted.is_none_or(|wanted| taken.iter().any(|taken| takes(taken, wanted)))
}

/// Returns the numbers of parameters of callables that are passed by their name, where no receiver
/// may be one of them.
fn of_callables(db: &Db, file: FileId, symbols: &[SymbolRef]) -> Option<Vec<(usize, usize)>> {
    let rules = &db.program.known(file).language.manifest.resolution;
    let is_plain = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        entry.kind.is_callable() && entry.flags & (flags::EXTENSION | flags::PROPERTY) == 0
    };
    let count = |symbol: &SymbolRef| db.program.symbol(*symbol).params().len() as usize;
    (rules.arguments_infer && symbols.iter().all(is_plain))
        .then(|| symbols.iter().map(|symbol| (count(symbol), count(symbol))).collect())
}

/// Returns the least and the greatest number of parameters that a closure of a file may have.
fn of_closure(db: &Db, file: FileId, closure: ScopeId) -> Option<(usize, usize)> {
    let known = db.closure_parameters.get(&file).unwrap_or_else(|| {
        let counted = Rc::new(counted(db, file));
        db.closure_parameters.insert(file, Rc::clone(&counted));
        counted
    });
    let count = known.get(&closure).copied().unwrap_or(0);
    let unit = db.program.known(file);
    let words = &unit.language.manifest.names.implicit_params;
    let is_implicit = |word: &String| {
        let mut bound = unit.bindings(closure, db.program.named(word));
        bound.any(|(_, binding)| binding.from == 0)
    };
    match words.iter().any(is_implicit) {
        true => Some((0, words.len())),
        false => Some((count, count)),
    }
}

/// Returns the numbers of parameters of all closures of a file.
fn counted(db: &Db, file: FileId) -> FxHashMap<ScopeId, usize> {
    let mut counts: FxHashMap<ScopeId, usize> = FxHashMap::default();
    for expr in &db.program.known(file).facts.exprs {
        if let Expr::Given(scope, what) = expr
            && let Some(position) = what.position()
        {
            let count = counts.entry(*scope).or_default();
            *count = (*count).max(position + 1);
        }
    }
    counts
}

/// Returns the number of parameters of a function type; none if it is not known to be one.
fn of_type(db: &Db, file: FileId, function: ExprId) -> Option<usize> {
    let position = function.get()?;
    if db.is_too_deep() {
        return None;
    }
    let unit = db.program.known(file);
    let facts = unit.facts;
    db.deeper(|| match facts.exprs[position] {
        Expr::Function(parts) => {
            let (_, params) = facts.lists[parts.range()].split_last()?;
            let is_receiver = |part: &&ExprId| {
                let part = part.get().map(|part| facts.exprs[part]);
                matches!(part, Some(Expr::Wrap(_, Wrapper::Receiver)))
            };
            Some(params.len() - params.iter().take(1).filter(is_receiver).count())
        }
        Expr::Wrap(inner, _) | Expr::Array(inner) => of_type(db, file, inner),
        Expr::Name(..) | Expr::Member(..) | Expr::Apply(..) => {
            match infer::type_of(db, file, function) {
                Ty::Type(symbol, _) | Ty::Instance(symbol, _) => of_symbol(db, symbol),
                _ => match facts.exprs[position] {
                    Expr::Apply(base, args) => of_applied(db, file, base, args),
                    _ => of_applied(db, file, function, Run::default()),
                },
            }
        }
        _ => None,
    })
}

/// Returns the number of parameters of the closures that are values of a type.
fn of_symbol(db: &Db, symbol: SymbolRef) -> Option<usize> {
    let entry = db.program.symbol(symbol);
    if entry.kind == SymbolKind::TypeAlias {
        return of_type(db, symbol.file, entry.ty);
    }
    if let Some((file, stated)) = functional::stated(db, symbol) {
        return of_type(db, file, stated);
    }
    let member = functional::implemented(db, symbol)?;
    Some(db.program.symbol(member).params().len() as usize)
}

/// Returns the number for a library type with type arguments that the tables make a function type.
fn of_applied(db: &Db, file: FileId, base: ExprId, args: Run) -> Option<usize> {
    let name = match infer::type_of(db, file, base) {
        Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => name,
        _ => return None,
    };
    let facts = db.program.known(file).facts;
    match (type_flow::flow(db, file, &name)?.1.kind?, &facts.lists[args.range()]) {
        (FlowKind::Function, [params, rest @ ..]) => match facts.exprs[params.get()?] {
            Expr::Tuple(list) if rest.len() == 1 => Some(list.len() as usize),
            _ => Some(rest.len()),
        },
        (FlowKind::Procedure, params) => Some(params.len()),
        (FlowKind::Transparent | FlowKind::Optional, [inner]) => of_type(db, file, *inner),
        _ => None,
    }
}
