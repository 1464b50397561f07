//! Return types of callables, declared or inferred from returned values, for a receiver and
//! arguments.

use super::infer::{MAX_DEPTH, instance_of};
use super::ty::Ty;
use crate::model::SymbolKind;
use crate::model::facts::{
    BindingId, BindingKind, Expr, ExprId, LocalSymbol, RESULT, ScopeId, flags,
};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::Resolver;
use crate::resolve::types::ty::ARRAY;

impl Resolver<'_, '_> {
    /// Returns the instance that decorators substitute for a callable, if they return a type of the
    /// repository.
    pub(super) fn decorated(&mut self, symbol: SymbolRef) -> Option<Ty> {
        let (unit, entry) = (self.program.known(symbol.file), self.program.symbol(symbol));
        if entry.decorators.len == 0
            || !unit.language.manifest.resolution.decorators_replace
            || self.depth >= MAX_DEPTH
        {
            return None;
        }
        self.depth += 1;
        let mut value = None;
        for decorator in unit.facts.lists[entry.decorators.range()].iter().rev() {
            let decorator = self.ty(symbol.file, *decorator);
            let results: Vec<Ty> = decorator
                .alternatives()
                .iter()
                .map(|decorator| match decorator {
                    Ty::Callable(symbols, receiver) => {
                        self.result_of(symbols, receiver.as_deref(), &[])
                    }
                    Ty::Function(result) => (**result).clone(),
                    _ => Ty::Unknown,
                })
                .collect();
            let results = Ty::union(results);
            let instances: Vec<Ty> = results
                .alternatives()
                .iter()
                .filter(|ty| matches!(ty, Ty::Instance(..)))
                .cloned()
                .collect();
            if !instances.is_empty() {
                value = Some(Ty::union(instances));
            }
        }
        self.depth -= 1;
        value
    }

    /// Returns an instance of the type that contains a symbol.
    pub(super) fn container_instance(&mut self, symbol: SymbolRef, receiver: Option<&Ty>) -> Ty {
        let container = match self.program.container(symbol) {
            Some(&container) => container,
            None => SymbolRef { file: symbol.file, symbol: self.program.symbol(symbol).container },
        };
        if container.symbol.get().is_none() {
            return Ty::Unknown;
        }
        match receiver {
            Some(Ty::Type(of, args) | Ty::Instance(of, args)) if *of == container => {
                Ty::Instance(container, args.clone())
            }
            _ => Ty::instance(container),
        }
    }

    /// Returns the result of one callable for a receiver and arguments.
    pub(in crate::resolve) fn return_ty(
        &mut self,
        symbol: SymbolRef,
        receiver: Option<&Ty>,
        args: &[Ty],
    ) -> Ty {
        let entry = self.program.symbol(symbol);
        if matches!(entry.kind, SymbolKind::Constructor | SymbolKind::Variant) {
            return self.container_instance(symbol, receiver);
        }
        let facts = self.program.known(symbol.file).facts;
        let returns_self = |expr: ExprId| {
            let mut expr = expr;
            while let Some(Expr::Wrap(inner, _)) = expr.get().map(|position| facts.exprs[position])
            {
                expr = inner;
            }
            matches!(
                expr.get().map(|position| facts.exprs[position]),
                Some(Expr::SelfType(_) | Expr::SelfValue(_))
            )
        };
        if returns_self(entry.ty)
            && let Some(receiver @ (Ty::Instance(..) | Ty::Type(..))) = receiver
        {
            return instance_of(receiver);
        }
        let result = self.declared_or_inferred(symbol);
        if let (Ty::Instance(made, _), Some(Ty::Instance(given, _) | Ty::Type(given, _))) =
            (&result, receiver)
            && self.declared_result(symbol).is_none()
            && self.returns_receiver(symbol)
            && self.hierarchy(*given).types.iter().any(|(ty, _)| ty == made)
        {
            return receiver.map_or(Ty::Unknown, instance_of);
        }
        let result = self.bind_parameters(symbol, result, args);
        let result = self.bind_receiver_parameters(symbol, result, receiver);
        self.substituted(result, receiver)
    }

    pub(super) fn declared_or_inferred(&mut self, symbol: SymbolRef) -> Ty {
        if let Some(known) = self.results.get(&symbol) {
            return known.clone();
        }
        self.results.insert(symbol, Ty::Unknown);
        let entry = self.program.symbol(symbol);
        let infers = self.program.known(symbol.file).language.manifest.resolution.infer_returns;
        let ty = if let Some(declared) = self.declared_result(symbol) {
            declared
        } else if infers || entry.flags & flags::FUNCTION_VALUE != 0 {
            let parts = self.all(symbol.file, entry.values);
            let union = Ty::union(parts);
            match entry.flags & flags::GENERATOR != 0 {
                true => Ty::builtin("Iterator", &[union]),
                false if !union.is_known() && entry.ty.is_some() => {
                    self.instance_of_expr(symbol.file, entry.ty)
                }
                false => union,
            }
        } else {
            Ty::Unknown
        };
        self.results.insert(symbol, ty.clone());
        ty
    }

    /// Returns the declared return type of a callable. If it is a type variable, the returned
    /// values determine it.
    fn declared_result(&mut self, symbol: SymbolRef) -> Option<Ty> {
        let entry = self.program.symbol(symbol);
        let declared = entry.ty.is_some().then(|| self.instance_of_expr(symbol.file, entry.ty))?;
        let is_variable = matches!(declared, Ty::Param(..))
            && entry.type_params.len == 0
            && self.has_variables(symbol.file);
        (names_a_type(&declared) && !is_variable).then_some(declared)
    }

    /// True if a callable returns only its receiver or a call of its receiver.
    pub(super) fn returns_receiver(&self, symbol: SymbolRef) -> bool {
        let unit = self.program.known(symbol.file);
        let entry = self.program.symbol(symbol);
        let expr = |value: ExprId| {
            value.get().map_or(Expr::Unknown, |position| unit.facts.exprs[position])
        };
        let bound_to = |name, wanted: fn(Expr) -> bool| {
            unit.bindings(entry.inner, unit.name(name))
                .any(|(_, binding)| wanted(expr(binding.value)))
        };
        let is_receiver = |value: &ExprId| match expr(*value) {
            Expr::SelfValue(_) => true,
            Expr::Name(name, _) => bound_to(name, |bound| matches!(bound, Expr::SelfValue(_))),
            Expr::Call(callee, _) => match expr(callee) {
                Expr::Name(name, _) => bound_to(name, |bound| matches!(bound, Expr::SelfType(_))),
                _ => false,
            },
            _ => false,
        };
        entry.values.len > 0 && unit.facts.lists[entry.values.range()].iter().all(is_receiver)
    }

    /// Substitutes a callable's own type parameters, inferred from the arguments.
    pub(super) fn bind_parameters(&mut self, symbol: SymbolRef, result: Ty, args: &[Ty]) -> Ty {
        let entry = self.program.symbol(symbol);
        if (entry.type_params.len == 0 && !self.has_variables(symbol.file)) || args.is_empty() {
            return result;
        }
        let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
        for (position, arg) in entry.params.range().zip(args) {
            let param = &self.program.known(symbol.file).facts.bindings[position];
            let declared = self.instance_of_expr(symbol.file, param.ty);
            let arg = if matches!(declared, Ty::Function(_)) {
                self.as_function(arg)
            } else {
                arg.clone()
            };
            unify(&declared, &arg, &mut known);
        }
        result.map(&|ty: &Ty| match ty {
            Ty::Param(file, binding) => known
                .iter()
                .find(|(param, _)| *param == (*file, *binding))
                .map(|(_, ty)| ty.clone()),
            _ => None,
        })
    }

    /// Converts a closure or callable to a function type with its result.
    fn as_function(&mut self, value: &Ty) -> Ty {
        let result = match value {
            Ty::Lambda(file, scope) => self.lambda_result(*file, *scope),
            Ty::Callable(symbols, receiver) => self.result_of(symbols, receiver.as_deref(), &[]),
            other => return other.clone(),
        };
        Ty::function(result)
    }

    /// Returns the result type of a closure.
    pub(in crate::resolve) fn lambda_result(&mut self, file: FileId, scope: ScopeId) -> Ty {
        let symbol = self.program.known(file).scope_symbol(scope);
        match symbol.get() {
            Some(_) => self.return_ty(SymbolRef { file, symbol: LocalSymbol(symbol.0) }, None, &[]),
            None => {
                let unit = self.program.known(file);
                let name = self.program.named(RESULT);
                let values: Vec<ExprId> = unit
                    .bindings(scope, name)
                    .filter(|(_, binding)| binding.kind == BindingKind::Result)
                    .map(|(_, binding)| binding.value)
                    .collect();
                Ty::union(
                    values
                        .into_iter()
                        .map(|value| instance_of(&self.ty(file, value)))
                        .collect::<Vec<_>>(),
                )
            }
        }
    }
}

/// True if a declared type is known: the name of a computed type is not.
fn names_a_type(ty: &Ty) -> bool {
    match ty {
        Ty::Unknown => false,
        Ty::External(name) => !name.ends_with("()"),
        _ => true,
    }
}

pub(in crate::resolve) fn unify(
    declared: &Ty,
    given: &Ty,
    known: &mut Vec<((FileId, BindingId), Ty)>,
) {
    match (declared, given) {
        // The first argument that binds a parameter decides.
        (Ty::Param(file, binding), given)
            if given.is_known() && !known.iter().any(|(param, _)| *param == (*file, *binding)) =>
        {
            known.push(((*file, *binding), given.clone()));
        }
        (Ty::Instance(a, declared), Ty::Instance(b, given)) if a == b => {
            declared
                .iter()
                .zip(given.iter())
                .for_each(|(declared, given)| unify(declared, given, known));
        }
        (Ty::Builtin(a, declared), Ty::Builtin(b, given)) if a == b => {
            declared
                .iter()
                .zip(given.iter())
                .for_each(|(declared, given)| unify(declared, given, known));
        }
        (Ty::Builtin(a, declared), Ty::Builtin(_, given)) if &**a == ARRAY && given.len() == 1 => {
            declared
                .iter()
                .zip(given.iter())
                .for_each(|(declared, given)| unify(declared, given, known));
        }
        (Ty::Type(a, _), Ty::Type(b, _)) if a == b => {}
        (Ty::Function(declared), Ty::Function(given)) => unify(declared, given, known),
        (Ty::Union(parts), given) => parts.iter().for_each(|part| unify(part, given, known)),
        _ => {}
    }
}
