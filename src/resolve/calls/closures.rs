//! Closures: types of their parameters from the calls that they are passed to, and their results
//! for those calls.

use super::call::CallArguments;
use crate::grammar::FlowKind;
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, Expr, ExprId, Run, ScopeId};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::types::infer::MAX_DEPTH;
use crate::resolve::types::return_types::unify;
use crate::resolve::types::ty::Ty;
use crate::resolve::units::contexts::Context;
use crate::resolve::{Name, Resolver};

/// Marker in type flow tables: type of the first argument of a call.
const FIRST_ARGUMENT: &str = "arg0";

/// Marker in type flow tables: result of the closure passed to a call.
const CLOSURE_RESULT: &str = "result";

impl Resolver<'_, '_> {
    /// Returns the type of a closure's parameter from the call that the closure is passed to.
    pub(in crate::resolve) fn given(
        &mut self,
        file: FileId,
        closure: ScopeId,
        position: usize,
    ) -> Ty {
        let unit = self.program.known(file);
        let (call, argument) = match unit.context(closure) {
            Some(Context::Argument(call, argument)) => (call, argument),
            Some(Context::Declared(ty)) => return self.parameter_of(file, ty, position),
            Some(Context::Member(object, name)) => {
                return self.given_to_member(file, object, unit.name(name), position);
            }
            None => return Ty::Unknown,
        };
        let Some(call) = call.get() else { return Ty::Unknown };
        match unit.facts.exprs[call] {
            Expr::Call(callee, args) => {
                let known = self.ty(file, callee);
                if let Ty::Callable(symbols, receiver) = &known {
                    let given = self.arguments_without_closures(file, args);
                    let fitting = self.fitting(file, symbols, CallArguments::Typed(&given), false);
                    return self.given_by(
                        &fitting,
                        receiver.as_deref(),
                        &given,
                        argument,
                        position,
                    );
                }
                let Expr::Member(object, name) = unit.facts.exprs[callee.get().unwrap_or(call)]
                else {
                    return Ty::Unknown;
                };
                let object = self.ty(file, object);
                let member = self.program.text(unit.name(name));
                let parts: Vec<Ty> = object
                    .alternatives()
                    .iter()
                    .map(|object| self.given_by_table(file, object, member, position))
                    .collect();
                Ty::union(parts)
            }
            Expr::Construct(ty, args) => {
                let made = self.type_of(file, ty);
                let (Ty::Type(symbol, _) | Ty::Instance(symbol, _)) = made else {
                    return Ty::Unknown;
                };
                let symbol = self.alias_target(symbol).unwrap_or(symbol);
                let types: Vec<SymbolRef> =
                    self.hierarchy(symbol).types.iter().map(|(ty, _)| *ty).collect();
                let Some(constructors) = types
                    .into_iter()
                    .map(|ty| self.constructors(ty))
                    .find(|found| !found.is_empty())
                else {
                    return Ty::Unknown;
                };
                let given = self.arguments_without_closures(file, args);
                self.given_by(&constructors, Some(&made), &given, argument, position)
            }
            _ => Ty::Unknown,
        }
    }

    /// Returns the type of a parameter of a closure that is a member of an object, from the
    /// declared type of the object.
    fn given_to_member(
        &mut self,
        file: FileId,
        object: ScopeId,
        name: Name,
        position: usize,
    ) -> Ty {
        let object = self.object_type(file, object);
        let Some(&member) = self.member_symbols(&object, name).first() else { return Ty::Unknown };
        let entry = self.program.symbol(member);
        let given = match entry.kind.is_callable() {
            true => self.parameter_types(member).get(position).cloned().unwrap_or(Ty::Unknown),
            false => self.parameter_of(member.file, entry.ty, position),
        };
        self.substituted(given, Some(&object))
    }

    /// Returns the type of an object literal from its context.
    fn object_type(&mut self, file: FileId, object: ScopeId) -> Ty {
        let unit = self.program.known(file);
        if self.depth >= MAX_DEPTH {
            return Ty::Unknown;
        }
        self.depth += 1;
        let ty = match unit.context(object) {
            Some(Context::Declared(ty)) => self.instance_of_expr(file, ty),
            Some(Context::Member(outer, name)) => {
                let outer = self.object_type(file, outer);
                self.member_ty(&outer, unit.name(name))
            }
            Some(Context::Argument(call, argument)) => {
                match call.get().map(|call| unit.facts.exprs[call]) {
                    Some(Expr::Call(callee, args)) => match self.ty(file, callee) {
                        Ty::Callable(symbols, receiver) => {
                            let given = self.arguments_without_closures(file, args);
                            let fitting =
                                self.fitting(file, &symbols, CallArguments::Typed(&given), false);
                            let declared = fitting.first().and_then(|callable| {
                                self.parameter_types(*callable).get(argument).cloned()
                            });
                            self.substituted(declared.unwrap_or(Ty::Unknown), receiver.as_deref())
                        }
                        _ => Ty::Unknown,
                    },
                    _ => Ty::Unknown,
                }
            }
            None => Ty::Unknown,
        };
        self.depth -= 1;
        ty
    }

    /// Returns the types of arguments. Closures stay unknown: their results may depend on the
    /// current inference.
    fn arguments_without_closures(&mut self, file: FileId, args: Run) -> Vec<Ty> {
        let facts = self.program.known(file).facts;
        let is_closure = |value: ExprId| {
            let is_object =
                matches!(value.get().map(|value| facts.exprs[value]), Some(Expr::Members(_)));
            is_object || !crate::resolve::units::contexts::closures(facts, value).is_empty()
        };
        let items = &facts.lists[args.range()];
        items
            .iter()
            .map(|item| if is_closure(*item) { Ty::Unknown } else { self.ty(file, *item) })
            .collect()
    }

    /// Returns the declared type of a closure's parameter in callables that accept the closure as
    /// an argument.
    fn given_by(
        &mut self,
        callables: &[SymbolRef],
        receiver: Option<&Ty>,
        given: &[Ty],
        argument: usize,
        position: usize,
    ) -> Ty {
        for &callable in callables {
            let entry = self.program.symbol(callable);
            let Some(param) = entry.params.range().nth(argument) else { continue };
            let facts = self.program.known(callable.file).facts;
            let declared = facts.bindings[param].ty;
            let ty = self.parameter_of(callable.file, declared, position);
            if !ty.is_known() {
                continue;
            }
            let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
            for (param, given) in entry.params.range().zip(given) {
                let declared = self.instance_of_expr(callable.file, facts.bindings[param].ty);
                unify(&declared, given, &mut known);
            }
            let bound = ty.map(&|ty: &Ty| match ty {
                Ty::Param(file, binding) => known
                    .iter()
                    .find(|(param, _)| *param == (*file, *binding))
                    .map(|(_, ty)| ty.clone()),
                _ => None,
            });
            return self.substituted(bound, receiver);
        }
        Ty::Unknown
    }

    /// Returns the type of a parameter of a function type, through aliases, wrappers and
    /// alternatives.
    fn parameter_of(&mut self, file: FileId, function: ExprId, position: usize) -> Ty {
        let Some(expr) = function.get() else { return Ty::Unknown };
        if self.depth >= MAX_DEPTH {
            return Ty::Unknown;
        }
        let facts = self.program.known(file).facts;
        self.depth += 1;
        let ty = match facts.exprs[expr] {
            Expr::Function(parts) => {
                let parts = &facts.lists[parts.range()];
                match parts.split_last().and_then(|(_, params)| params.get(position)) {
                    Some(param) => self.instance_of_expr(file, *param),
                    None => Ty::Unknown,
                }
            }
            Expr::Union(parts) => {
                let parts = facts.lists[parts.range()].iter();
                parts
                    .map(|part| self.parameter_of(file, *part, position))
                    .find(Ty::is_known)
                    .unwrap_or(Ty::Unknown)
            }
            Expr::Wrap(inner, _) => self.parameter_of(file, inner, position),
            Expr::Name(..) | Expr::Member(..) | Expr::Apply(..) => {
                match self.type_of(file, function) {
                    Ty::Type(symbol, args) | Ty::Instance(symbol, args) => {
                        let entry = self.program.symbol(symbol);
                        if entry.kind == SymbolKind::TypeAlias {
                            let ty = self.parameter_of(symbol.file, entry.ty, position);
                            let map = self.arguments_of(symbol, &args);
                            ty.map(&map)
                        } else {
                            Ty::Unknown
                        }
                    }
                    _ => match facts.exprs[expr] {
                        Expr::Apply(base, args) => self
                            .parameter_of_applied(file, base, args, position)
                            .unwrap_or(Ty::Unknown),
                        _ => Ty::Unknown,
                    },
                }
            }
            _ => Ty::Unknown,
        };
        self.depth -= 1;
        ty
    }

    /// Returns the same for an external generic type whose type flow table makes it a function
    /// type, with a list of parameters before the result, or a transparent one.
    fn parameter_of_applied(
        &mut self,
        file: FileId,
        base: ExprId,
        args: Run,
        position: usize,
    ) -> Option<Ty> {
        let (Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _)) =
            self.type_of(file, base)
        else {
            return None;
        };
        let kind = self.flow(file, &name)?.1.kind?;
        let facts = self.program.known(file).facts;
        match (kind, &facts.lists[args.range()]) {
            (FlowKind::Function, [params, _]) => {
                let param = match facts.exprs[params.get()?] {
                    Expr::Tuple(list) => *facts.lists[list.range()].get(position)?,
                    _ if position == 0 => *params,
                    _ => return None,
                };
                Some(self.instance_of_expr(file, param))
            }
            (FlowKind::Transparent, args) => {
                args.iter().map(|arg| self.parameter_of(file, *arg, position)).find(Ty::is_known)
            }
            _ => None,
        }
    }

    /// Returns the type of a closure's parameter from the type flow table of a builtin type's
    /// member.
    fn given_by_table(&mut self, file: FileId, object: &Ty, member: &str, position: usize) -> Ty {
        let (Ty::Builtin(name, args) | Ty::BuiltinType(name, args)) = object else {
            return Ty::Unknown;
        };
        let Some((_, flow)) = self.flow(file, name) else { return Ty::Unknown };
        match flow.callbacks.get(member).and_then(|params| params.get(position)) {
            Some(template) => self.template(template, flow, args, object),
            None => Ty::Unknown,
        }
    }

    /// Substitutes the parts of a table's result that depend on the call: the type of its first
    /// argument, and the result of its closure.
    pub(super) fn filled(&mut self, file: FileId, result: &Ty, args: Run) -> Ty {
        let is = |ty: &Ty, marker: &str| matches!(ty, Ty::Builtin(name, _) if &**name == marker);
        let (argument, closure) = (std::cell::Cell::new(false), std::cell::Cell::new(false));
        result.map(&|ty: &Ty| {
            argument.set(argument.get() || is(ty, FIRST_ARGUMENT));
            closure.set(closure.get() || is(ty, CLOSURE_RESULT));
            None
        });
        if !argument.get() && !closure.get() {
            return result.clone();
        }
        let first = self.program.known(file).facts.lists[args.range()]
            .first()
            .copied()
            .unwrap_or(ExprId::NONE);
        let first = self.ty(file, first);
        let given_back = match &first {
            Ty::Lambda(..) | Ty::Callable(..) | Ty::Function(_) | Ty::Type(..) if closure.get() => {
                self.call_result(file, &first, Run::default())
            }
            _ => Ty::Unknown,
        };
        let given = crate::resolve::types::infer::instance_of(&first);
        result.map(&|ty: &Ty| match ty {
            ty if is(ty, FIRST_ARGUMENT) => Some(given.clone()),
            ty if is(ty, CLOSURE_RESULT) => Some(given_back.clone()),
            _ => None,
        })
    }
}
