//! Generic parameters of types, declared in the header or as type variables in the bases, and their
//! substitution.

use crate::db::Db;
use crate::db::ty::{Entity, Parameter, Ty, TyList};
use crate::db::wanted::Wanted;
use crate::inference::members::type_flow::last_segment;
use crate::inference::members::{hierarchy, prototypes, type_flow};
use crate::inference::names::scopes;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_grammar::FlowKind;
use cograph_model::Step;
use cograph_model::facts::{BindingId, Expr, ExprId, NameId, Run};
use cograph_model::graph::{FileId, SymbolRef};
use std::cell::RefCell;
use std::rc::Rc;

/// Marker in type flow tables: first type argument that a call of a member writes.
pub(crate) const WRITTEN_TYPE: &str = "type0";

/// Number of expressions after a name among which its application is searched.
const MAX_APPLIED: usize = 64;

/// Returns the substitution of a type's parameters by arguments.
pub(crate) fn arguments_of(
    db: &Db,
    symbol: SymbolRef,
    args: &TyList,
) -> impl Fn(&Ty) -> Option<Ty> + use<> {
    let params = parameters_of_type(db, symbol);
    let known = params.iter().filter_map(|(param, at)| {
        let given = args.get(*at).cloned();
        Some((*param, given.or_else(|| default_of(db, *param))?))
    });
    let known: Vec<(Parameter, Ty)> = known.collect();
    move |ty: &Ty| ty.filled(&known)
}

/// Returns the type that a parameter without an argument has by default.
fn default_of(db: &Db, (file, binding): Parameter) -> Option<Ty> {
    let default = db.program.known(file).binding(binding).value;
    let ty = default.is_some().then(|| db.instance_of_expr(file, default))?;
    ty.is_known().then_some(ty)
}

/// Substitutes the parameters of the receiver's type in a type by the receiver's arguments.
pub(crate) fn substituted(db: &Db, ty: Ty, receiver: Option<&Ty>) -> Ty {
    let base = match receiver {
        Some(Ty::Members(file, scope)) => prototypes::base_of_unnamed(db, *file, *scope),
        _ => None,
    };
    let receiver = base.as_ref().or(receiver);
    let Some(Ty::Instance(symbol, args) | Ty::Type(symbol, args)) = receiver else { return ty };
    let clauses = db.program.clauses(*symbol);
    let is_plain = args.is_empty() && clauses.bases.is_empty() && clauses.type_params.is_empty();
    if is_plain || planted(Fault::Unsubstituted) {
        return ty;
    }
    let own = arguments_of(db, *symbol, args);
    let hierarchy = hierarchy::hierarchy(db, *symbol);
    let shared = hierarchy::has_variables(db, symbol.file);
    let mut given: Vec<(Parameter, Ty)> = Vec::new();
    if shared {
        let params = parameters_of_type(db, *symbol);
        given.extend(params.iter().map(|(param, _)| (*param, Ty::Param(param.0, param.1))));
    }
    for (base, base_args) in hierarchy.types.iter().skip(1) {
        for (param, position) in parameters_of_type(db, *base).iter() {
            let default = || default_of(db, *param);
            let Some(arg) = &base_args.get(*position).cloned().or_else(default) else { continue };
            match given.iter_mut().find(|(known, _)| known == param) {
                // A type variable shared by several types may have several arguments.
                Some((_, known)) if shared && known != arg => *known = Ty::Unknown,
                Some(_) => {}
                None => given.push((*param, arg.clone())),
            }
        }
    }
    let ty = ty.map(&|ty: &Ty| match ty {
        Ty::Param(file, binding) => {
            given.iter().find(|(param, _)| *param == (*file, *binding)).map(|(_, ty)| ty.clone())
        }
        _ => None,
    });
    ty.map(&own)
}

/// Returns the parameters of a type with their positions.
pub(crate) fn parameters_of_type(db: &Db, symbol: SymbolRef) -> Rc<[(Parameter, usize)]> {
    if let Some(known) = db.generic.get(&symbol) {
        return known;
    }
    // Ends circular bases: a type has no parameters while they are being computed.
    db.generic.insert(symbol, Rc::from([]));
    let mut params: Vec<(Parameter, usize)> = Vec::new();
    for part in hierarchy::parts_of_type(db, symbol) {
        let written = db
            .program
            .clauses(part)
            .type_params
            .range()
            .map(|position| (part.file, BindingId::at(position)));
        params.extend(written.zip(0..));
    }
    if params.is_empty() && hierarchy::has_variables(db, symbol.file) {
        params.extend(variables_in_bases(db, symbol).into_iter().zip(0..));
    }
    let params: Rc<[(Parameter, usize)]> = params.into();
    db.generic.insert(symbol, params.clone());
    params
}

/// Returns the type variables in the bases of a type: those of the base that lists them, else
/// all in order of appearance.
fn variables_in_bases(db: &Db, symbol: SymbolRef) -> Vec<Parameter> {
    let unit = db.program.known(symbol.file);
    let lists = &unit.language.manifest.names.type_variable_lists;
    let found: RefCell<Vec<Parameter>> = RefCell::default();
    for base in &unit.facts.lists[db.program.clauses(symbol).bases.range()] {
        let Some(Expr::Base(base, _)) = base.get().map(|position| unit.facts.exprs[position])
        else {
            continue;
        };
        let Some(Expr::Apply(of, args)) = base.get().map(|position| unit.facts.exprs[position])
        else {
            continue;
        };
        let is_list = match db.type_of(symbol.file, of) {
            Ty::External(name) => lists.iter().any(|list| list == last_segment(&name)),
            _ => false,
        };
        if is_list {
            found.borrow_mut().clear();
        }
        for arg in &unit.facts.lists[args.range()] {
            db.instance_of_expr(symbol.file, *arg).map(&|ty: &Ty| {
                if let Ty::Param(file, binding) = ty
                    && !found.borrow().contains(&(*file, *binding))
                {
                    found.borrow_mut().push((*file, *binding));
                }
                None
            });
        }
        if is_list {
            break;
        }
    }
    found.into_inner()
}

/// Returns the types among symbols of one name that have as many type parameters as a reference has
/// arguments, and of the parts of one type the first.
pub(crate) fn of_arity(db: &Db, file: FileId, target: ExprId, symbols: Symbols) -> Symbols {
    let is_type = |symbol: &SymbolRef| db.program.symbol(*symbol).kind.is_type();
    let of_packages = |symbol: &SymbolRef| {
        db.program.known(symbol.file).language.manifest.modules.has_types_by_arity()
    };
    if !symbols.iter().all(|symbol| is_type(symbol) && of_packages(symbol)) {
        return symbols;
    }
    let count = type_arguments(db, file, target);
    let mut found = Symbols::new();
    for symbol in symbols {
        let symbol = hierarchy::primary(db, hierarchy::of_arity(db, symbol, count));
        if !found.contains(&symbol) {
            found.push(symbol);
        }
    }
    found
}

/// Returns what a name means: where what is found are types with other numbers of type parameters
/// than the reference has arguments, the type further out or of another import that has as many.
pub(crate) fn with_arity(
    db: &Db,
    file: FileId,
    target: ExprId,
    found: Option<(Entity, Step)>,
) -> Option<(Entity, Step)> {
    let Some((Entity::Symbols(symbols), _)) = &found else { return found };
    let unit = db.program.known(file);
    let manifest = &unit.language.manifest;
    if !manifest.resolution.typed_positions || !manifest.modules.has_types_by_arity() {
        return found;
    }
    let Some(Expr::Name(name, scope)) = target.get().map(|at| unit.facts.exprs[at]) else {
        return found;
    };
    let is_type = |symbol: &SymbolRef| db.program.symbol(*symbol).kind.is_type();
    if !symbols.iter().all(is_type) {
        return found;
    }
    let count = type_arguments(db, file, target);
    let arity = |symbol: SymbolRef| db.program.clauses(symbol).type_params.len() as usize;
    let fits = |symbol: &SymbolRef| arity(hierarchy::of_arity(db, *symbol, count)) == count;
    if symbols.iter().any(fits) {
        return found;
    }
    let at = target.get().map_or(0, |at| unit.facts.positions[at]);
    let wanted = Wanted::Arity(u32::try_from(count).unwrap_or(u32::MAX));
    let look = || scopes::lookup(db, file, unit.name(name), scope, at);
    match db.filtered(Some(wanted), look) {
        other @ Some((Entity::Symbols(_), _)) => other,
        _ => found,
    }
}

/// Returns the number of type arguments that a reference has.
pub(crate) fn type_arguments(db: &Db, file: FileId, target: ExprId) -> usize {
    applied_to(db, file, target).map_or(0, |args| args.len() as usize)
}

/// Returns the type arguments of a reference.
fn applied_to(db: &Db, file: FileId, target: ExprId) -> Option<Run> {
    let exprs = &db.program.known(file).facts.exprs;
    let after = target.get().map_or(&[][..], |position| &exprs[position + 1..]);
    // The application follows the arguments, which follow the name.
    after.iter().take(MAX_APPLIED).find_map(|expr| match expr {
        Expr::Apply(base, args) if *base == target => Some(*args),
        _ => None,
    })
}

/// Returns the result of a call: type parameters of the callee that neither its arguments nor a
/// bound decide are unknown.
pub(crate) fn inferred(db: &Db, callee: &Ty, result: Ty) -> Ty {
    let Ty::Callable(symbols, _) = callee else { return result };
    let is_own = |file: FileId, binding: BindingId| {
        let own = |symbol: &SymbolRef| {
            let params = db.program.clauses(*symbol).type_params.range();
            symbol.file == file && params.contains(&(binding.0 as usize))
        };
        symbols.iter().any(own)
    };
    result.map(&|ty: &Ty| match ty {
        Ty::Param(file, binding)
            if is_own(*file, *binding)
                && !db.program.known(*file).binding(*binding).ty().is_some() =>
        {
            Some(Ty::Unknown)
        }
        _ => None,
    })
}

/// Splits a callee into the callee itself and the type arguments of the call.
pub(crate) fn unapplied(db: &Db, file: FileId, callee: ExprId) -> (ExprId, Option<Run>) {
    let unit = db.program.known(file);
    let is_read = unit.language.manifest.resolution.type_arguments;
    match callee.get().map(|position| unit.facts.exprs[position]) {
        Some(Expr::Apply(base, args)) if is_read => (base, Some(args)),
        _ => (callee, None),
    }
}

/// Returns the callables that have as many type parameters as a call has type arguments; all if
/// none has or the call has none.
pub(crate) fn with_parameters(db: &Db, symbols: &Symbols, count: usize) -> Symbols {
    let fits = |symbol: &SymbolRef| match count {
        0 => are_inferred(db, *symbol),
        _ => db.program.clauses(*symbol).type_params.len() as usize == count,
    };
    if symbols.len() < 2 || !symbols.iter().any(fits) {
        return symbols.clone();
    }
    symbols.iter().copied().filter(fits).collect()
}

/// False if no parameter of a callable names one of its type parameters, where the arguments alone
/// decide what those are.
fn are_inferred(db: &Db, symbol: SymbolRef) -> bool {
    let unit = db.program.known(symbol.file);
    let (entry, facts) = (unit.symbol(symbol.symbol), unit.facts);
    if !unit.language.manifest.resolution.arguments_infer {
        return true;
    }
    facts.bindings[facts.clauses_of(entry).type_params.range()].iter().all(|of| {
        let mut params = facts.bindings[entry.params().range()].iter();
        params.any(|param| names(db, symbol.file, param.ty(), of.name))
    })
}

/// Returns the arguments of a type from which a value of it infers a type parameter: of a function
/// type the result, as the parameters of a closure have the types that are expected.
fn inferring(db: &Db, file: FileId, base: ExprId, args: Run) -> Run {
    let (Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _)) =
        db.type_of(file, base)
    else {
        return args;
    };
    match type_flow::flow(db, file, &name).and_then(|(_, flow)| flow.kind) {
        Some(FlowKind::Procedure) => Run::default(),
        Some(FlowKind::Function) if args.len() > 1 => args.last(),
        _ => args,
    }
}

/// True if a type expression names a type.
fn names(db: &Db, file: FileId, ty: ExprId, name: NameId) -> bool {
    let facts = db.program.known(file).facts;
    let Some(position) = ty.get().filter(|_| !db.is_too_deep() && db.budget.take(1)) else {
        return false;
    };
    let any = |list: Run| facts.lists[list.range()].iter().any(|part| names(db, file, *part, name));
    db.deeper(|| match facts.exprs[position] {
        Expr::Name(other, _) => other == name,
        Expr::Apply(base, args) => {
            names(db, file, base, name) || any(inferring(db, file, base, args))
        }
        Expr::Array(inner) | Expr::Wrap(inner, _) => names(db, file, inner, name),
        Expr::Function(parts) | Expr::Tuple(parts) | Expr::Union(parts) => any(parts),
        _ => false,
    })
}

/// Returns the callables whose bounds the type arguments of a call meet; all if none does.
pub(crate) fn within_bounds(db: &Db, file: FileId, target: ExprId, symbols: Symbols) -> Symbols {
    let Some(args) = applied_to(db, file, target).filter(|_| symbols.len() > 1) else {
        return symbols;
    };
    let args = db.program.known(file).facts.lists[args.range()].iter();
    let args: Vec<Ty> = args.map(|arg| db.instance_of_expr(file, *arg)).collect();
    let is_closed = db.program.known(file).language.manifest.conversions.top.is_some();
    let meets = |bound: &Ty, arg: &Ty| match (bound, arg) {
        (Ty::Instance(bound, _), Ty::Instance(arg, _)) => {
            let hierarchy = hierarchy::hierarchy(db, *arg);
            hierarchy.open || hierarchy.types.iter().any(|(ty, _)| ty == bound)
        }
        // Where types cannot be extended, one of a library derives from none of the repository.
        (Ty::Instance(..), Ty::Builtin(..)) => !is_closed,
        _ => true,
    };
    let fits = |symbol: &SymbolRef| {
        let facts = db.program.known(symbol.file).facts;
        let params = &facts.bindings[db.program.clauses(*symbol).type_params.range()];
        params.iter().zip(&args).all(|(param, arg)| {
            let bound = db.instance_of_expr(symbol.file, param.ty());
            bound.alternatives().iter().all(|bound| meets(bound, arg))
        })
    };
    let left: Symbols = symbols.iter().copied().filter(fits).collect();
    if left.is_empty() { symbols } else { left }
}

/// Returns the callee of a call without type arguments.
pub(crate) fn without_arguments(db: &Db, callee: Ty) -> Ty {
    match &callee {
        Ty::Callable(symbols, receiver) if symbols.len() > 1 => {
            Ty::callable(with_parameters(db, symbols, 0), receiver.as_deref())
        }
        _ => callee,
    }
}

/// Returns a callee with the type arguments of its call, and the substitution of its parameters.
pub(crate) fn with_arguments(
    db: &Db,
    file: FileId,
    callee: Ty,
    args: Vec<Ty>,
) -> (Ty, impl Fn(&Ty) -> Option<Ty>) {
    let mut known: Vec<(Parameter, Ty)> = Vec::new();
    let results = &db.program.known(file).language.manifest.builtins.results;
    let callee = match callee {
        Ty::Callable(symbols, receiver) => {
            let symbols = with_parameters(db, &symbols, args.len());
            for symbol in &symbols {
                let params = db.program.clauses(*symbol).type_params;
                let params = params.range().map(|at| (symbol.file, BindingId::at(at)));
                known.extend(params.zip(args.iter().cloned()));
            }
            Ty::callable(symbols, receiver.as_deref())
        }
        Ty::BuiltinType(name, _) => Ty::BuiltinType(name, args.into()),
        // A member of a library, with what a table says of its result.
        Ty::Function(result) => Ty::function(result.map(&|ty: &Ty| match ty {
            Ty::Builtin(name, _) if &**name == WRITTEN_TYPE => args.first().cloned(),
            _ => None,
        })),
        // A function of a library, whose results a table lists.
        Ty::External(name) if results.contains_key(last_segment(&name)) => {
            Ty::BuiltinType(Rc::from(last_segment(&name)), args.into())
        }
        other => other,
    };
    let bind = move |ty: &Ty| ty.filled(&known);
    (callee, bind)
}
