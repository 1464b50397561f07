//! Placement of arguments: which parameter each one is for. Named, spread and trailing arguments
//! need not stand at the position of their parameter.

use crate::db::Db;
use crate::db::ty::{ARRAY, Ty};
use crate::inference::members::{hierarchy, lookup, overrides};
use crate::units::interner::Name;
use cograph_model::facts::{ArgumentLabel, Expr, ExprId, FileFacts, Run, Wrapper};
use cograph_model::graph::{FileId, SymbolRef};
use smallvec::SmallVec;

/// Way in which an argument finds its parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Label {
    Position,
    Name(Name),
    /// Elements for the variadic parameter.
    Spread,
    /// The last parameter.
    Last,
}

pub(super) type Labels = SmallVec<[Label; 8]>;

/// Returns how the arguments of a call find their parameters; empty if all do by position. `count`:
/// their number with the receiver of an extension, which stands before them.
pub(super) fn labels(db: &Db, file: FileId, args: Run, count: usize) -> Labels {
    let unit = db.program.known(file);
    let values = &unit.facts.lists[args.range()];
    let label = |value: &ExprId| match value.get().map(|value| unit.facts.exprs[value]) {
        Some(Expr::Argument(_, label)) => match label {
            ArgumentLabel::Name(name) => Label::Name(unit.name(name)),
            ArgumentLabel::Last => Label::Last,
            ArgumentLabel::Spread => Label::Spread,
        },
        _ => Label::Position,
    };
    let receiver = (count > values.len()).then_some(Label::Position);
    let labels: Labels = receiver.into_iter().chain(values.iter().map(label)).collect();
    if labels.iter().all(|label| *label == Label::Position) { Labels::new() } else { labels }
}

/// Returns the position of the parameter for each argument; `None` if an argument has none.
/// `variadic` is the position of the variadic parameter.
pub(super) fn places(
    db: &Db,
    symbol: SymbolRef,
    labels: &[Label],
    variadic: Option<usize>,
) -> Option<SmallVec<[usize; 8]>> {
    let unit = db.program.known(symbol.file);
    let params = &unit.facts.bindings[db.program.symbol(symbol).params().range()];
    let mut places: SmallVec<[usize; 8]> = SmallVec::new();
    for (position, label) in labels.iter().enumerate() {
        let place = match label {
            Label::Position => match variadic {
                Some(variadic) if position > variadic => variadic,
                _ => position,
            },
            Label::Name(name) => params.iter().position(|param| unit.name(param.name) == *name)?,
            Label::Spread => variadic?,
            Label::Last => params.len().checked_sub(1)?,
        };
        let is_taken = places.contains(&place) && Some(place) != variadic;
        if place >= params.len() || is_taken {
            return None;
        }
        places.push(place);
    }
    // Where a value by default is not known, no parameter is known to need an argument.
    let needs = |position: usize| !params[position].value.is_some() && Some(position) != variadic;
    let needed = (0..params.len()).filter(|&position| needs(position));
    let count = u16::try_from(labels.len()).unwrap_or(u16::MAX);
    let is_known = needed.clone().count() == usize::from(db.program.symbol(symbol).arity.0)
        && !inherits_defaults(db, symbol, count);
    let is_left_out = |position: usize| is_known && !places.contains(&position);
    (!needed.clone().any(is_left_out)).then_some(places)
}

/// Returns the parameter that an argument is for of those that a call writes, with the receiver of
/// an extension `count`.
pub(super) fn place(
    db: &Db,
    file: FileId,
    symbol: SymbolRef,
    (args, count): (Run, usize),
    argument: usize,
) -> Option<usize> {
    let labels = labels(db, file, args, count);
    let variadic = variadic_place(db, symbol);
    if labels.is_empty() {
        return Some(variadic.map_or(argument, |variadic| argument.min(variadic)));
    }
    places(db, symbol, &labels, variadic)?.get(argument).copied()
}

/// True unless a callable takes a value where a call passes a variable, or a variable where it
/// passes a value. `count`: the number of arguments with the receiver of an extension.
pub(super) fn take_variables(
    db: &Db,
    file: FileId,
    symbol: SymbolRef,
    (args, count): (Run, usize),
) -> bool {
    let (own, of) = (db.program.known(file).facts, db.program.known(symbol.file).facts);
    let params = &of.bindings[db.program.symbol(symbol).params().range()];
    let of_variable = |facts: &FileFacts, mut expr: ExprId| {
        while let Some(Expr::Argument(inner, _)) = expr.get().map(|at| facts.exprs[at]) {
            expr = inner;
        }
        matches!(expr.get().map(|at| facts.exprs[at]), Some(Expr::Wrap(_, Wrapper::Variable)))
    };
    if !params.iter().any(|param| of_variable(of, param.ty()))
        && !own.lists[args.range()].iter().any(|arg| of_variable(own, *arg))
    {
        return true;
    }
    let before = count.saturating_sub(args.len() as usize);
    let mut written = own.lists[args.range()].iter().enumerate();
    written.all(|(position, arg)| {
        let place = place(db, file, symbol, (args, count), position + before);
        let param = place.and_then(|place| params.get(place));
        param.is_none_or(|param| of_variable(of, param.ty()) == of_variable(own, *arg))
    })
}

/// Returns the position of the variadic parameter of a callable: the first one that is an array,
/// else the last one.
pub(super) fn variadic_place(db: &Db, symbol: SymbolRef) -> Option<usize> {
    if db.program.symbol(symbol).arity.1 != u16::MAX {
        return None;
    }
    let declared = db.parameter_types(symbol);
    let is_array = |ty: &Ty| matches!(ty, Ty::Builtin(name, _) if &**name == ARRAY);
    declared.iter().position(is_array).or(declared.len().checked_sub(1))
}

/// True if a callable overrides one that accepts this number of arguments: it inherits the default
/// values of parameters.
pub(super) fn inherits_defaults(db: &Db, symbol: SymbolRef, count: u16) -> bool {
    let unit = db.program.known(symbol.file);
    let entry = db.program.symbol(symbol);
    let container = unit.scope_symbol(entry.scope);
    if !unit.language.manifest.resolution.closure_receivers
        || !entry.kind.is_callable()
        || !container.is_some()
        || !unit.symbol(container).kind.is_type()
    {
        return false;
    }
    let name = db.program.name_of(symbol);
    let container = SymbolRef { file: symbol.file, symbol: container };
    let hierarchy = hierarchy::hierarchy(db, container);
    hierarchy.types.iter().skip(1).any(|(base, _)| {
        let mut members = lookup::own_members(db, *base, name).into_iter();
        members.any(|member| {
            let (least, most) = db.program.symbol(member).arity;
            least <= count && count <= most && overrides::overrides(db, symbol, member)
        })
    })
}
