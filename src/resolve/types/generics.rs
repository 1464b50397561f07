//! Generic parameters of types, declared in the header or as type variables in the bases, and their
//! substitution.

use super::ty::{Ty, TyList};
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, BindingKind, Expr, ExprId, Run};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::types::builtin_types::last_segment;
use crate::resolve::types::return_types::unify;
use crate::resolve::{Resolver, Symbols};
use std::cell::RefCell;
use std::rc::Rc;

/// Type parameter, identified by its binding.
pub(in crate::resolve) type Parameter = (FileId, BindingId);

impl Resolver<'_, '_> {
    /// Returns the substitution of a type's parameters by arguments.
    pub(in crate::resolve) fn arguments_of(
        &mut self,
        symbol: SymbolRef,
        args: &TyList,
    ) -> impl Fn(&Ty) -> Option<Ty> + use<> {
        let params = if args.is_empty() { Rc::from([]) } else { self.parameters_of_type(symbol) };
        let args = args.clone();
        move |ty: &Ty| match ty {
            Ty::Param(file, binding) => {
                let (_, position) = params.iter().find(|(param, _)| *param == (*file, *binding))?;
                args.get(*position).cloned()
            }
            _ => None,
        }
    }

    /// Substitutes the parameters of the receiver's type in a type by the receiver's arguments.
    pub(in crate::resolve) fn substituted(&mut self, ty: Ty, receiver: Option<&Ty>) -> Ty {
        let Some(Ty::Instance(symbol, args) | Ty::Type(symbol, args)) = receiver else { return ty };
        if args.is_empty() && self.program.symbol(*symbol).bases.len == 0 {
            return ty;
        }
        let own = self.arguments_of(*symbol, args);
        let hierarchy = self.hierarchy(*symbol);
        let shared = self.has_variables(symbol.file);
        let mut given: Vec<(Parameter, Ty)> = Vec::new();
        if shared {
            let params = self.parameters_of_type(*symbol);
            given.extend(params.iter().map(|(param, _)| (*param, Ty::Param(param.0, param.1))));
        }
        for (base, base_args) in hierarchy.types.iter().skip(1).filter(|(_, args)| !args.is_empty())
        {
            for (param, position) in self.parameters_of_type(*base).iter() {
                let Some(arg) = base_args.get(*position) else { continue };
                match given.iter_mut().find(|(known, _)| known == param) {
                    // A type variable shared by several types may have several arguments.
                    Some((_, known)) if shared && known != arg => *known = Ty::Unknown,
                    Some(_) => {}
                    None => given.push((*param, arg.clone())),
                }
            }
        }
        let ty = ty.map(&|ty: &Ty| match ty {
            Ty::Param(file, binding) => given
                .iter()
                .find(|(param, _)| *param == (*file, *binding))
                .map(|(_, ty)| ty.clone()),
            _ => None,
        });
        ty.map(&own)
    }

    /// True if the language has type variables, which several types and callables may share.
    pub(super) fn has_variables(&self, file: FileId) -> bool {
        !self.program.known(file).language.manifest.names.type_variables.is_empty()
    }

    /// Returns the type of a base in a header, where a type variable among the arguments is a type
    /// parameter.
    pub(in crate::resolve) fn base_type(&mut self, file: FileId, base: ExprId) -> Ty {
        let ty = self.ty(file, base);
        let facts = self.program.known(file).facts;
        match (&ty, base.get().map(|position| facts.exprs[position])) {
            (Ty::Type(symbol, _), Some(Expr::Apply(_, args))) if self.has_variables(file) => {
                let args = facts.lists[args.range()]
                    .iter()
                    .map(|arg| self.instance_of_expr(file, *arg))
                    .collect();
                Ty::Type(*symbol, args)
            }
            _ => ty,
        }
    }

    /// Returns the instance that a constructor call creates; the arguments may bind type
    /// parameters.
    pub(in crate::resolve) fn constructed(
        &mut self,
        file: FileId,
        symbol: SymbolRef,
        given: &TyList,
        args: Run,
    ) -> Ty {
        let plain = Ty::Instance(symbol, given.clone());
        if !given.is_empty() || args.len == 0 || !self.has_variables(symbol.file) {
            return plain;
        }
        let params = self.parameters_of_type(symbol);
        let (false, Some(&constructor)) = (params.is_empty(), self.constructors(symbol).last())
        else {
            return plain;
        };
        let values = self.argument_types(file, args);
        let mut known: Vec<(Parameter, Ty)> = Vec::new();
        for (declared, value) in self.parameter_types(constructor).iter().zip(&values) {
            unify(declared, &super::infer::instance_of(value), &mut known);
        }
        if known.is_empty() {
            return plain;
        }
        let stands_for = |param: &Parameter| {
            known.iter().find(|(of, _)| of == param).map_or(Ty::Unknown, |(_, ty)| ty.clone())
        };
        Ty::Instance(symbol, params.iter().map(|(param, _)| stands_for(param)).collect())
    }

    /// Returns the declarations of a type: several of one name in one scope where the language
    /// merges them.
    pub(in crate::resolve) fn parts_of_type(&self, symbol: SymbolRef) -> Symbols {
        let merged = |kind: SymbolKind| matches!(kind, SymbolKind::Interface | SymbolKind::Class);
        let unit = self.program.known(symbol.file);
        let entry = unit.symbol(symbol.symbol);
        let mut parts = Symbols::from_slice(&[symbol]);
        if unit.language.manifest.resolution.merged_types && merged(entry.kind) {
            let siblings = self
                .program
                .bindings(symbol.file, unit, entry.scope, unit.name(entry.name))
                .filter(|(_, binding)| binding.kind == BindingKind::Symbol);
            let siblings = siblings
                .map(|(_, binding)| SymbolRef { file: symbol.file, symbol: binding.symbol });
            parts.extend(
                siblings.filter(|part| *part != symbol && merged(self.program.symbol(*part).kind)),
            );
        }
        parts
    }

    /// Returns the parameters of a type with their positions.
    fn parameters_of_type(&mut self, symbol: SymbolRef) -> Rc<[(Parameter, usize)]> {
        if let Some(known) = self.generic.get(&symbol) {
            return known.clone();
        }
        // Ends circular bases: a type has no parameters while they are being computed.
        self.generic.insert(symbol, Rc::from([]));
        let mut params: Vec<(Parameter, usize)> = Vec::new();
        for part in self.parts_of_type(symbol) {
            let written = self
                .program
                .symbol(part)
                .type_params
                .range()
                .map(|position| (part.file, BindingId::at(position)));
            params.extend(written.zip(0..));
        }
        if params.is_empty() && self.has_variables(symbol.file) {
            params.extend(self.variables_in_bases(symbol).into_iter().zip(0..));
        }
        let params: Rc<[(Parameter, usize)]> = params.into();
        self.generic.insert(symbol, params.clone());
        params
    }

    /// Returns the type variables in the bases of a type: those of the base that lists them, else
    /// all in order of appearance.
    fn variables_in_bases(&mut self, symbol: SymbolRef) -> Vec<Parameter> {
        let unit = self.program.known(symbol.file);
        let lists = &unit.language.manifest.names.type_variable_lists;
        let found: RefCell<Vec<Parameter>> = RefCell::default();
        for base in &unit.facts.lists[self.program.symbol(symbol).bases.range()] {
            let Some(Expr::Base(base, _)) = base.get().map(|position| unit.facts.exprs[position])
            else {
                continue;
            };
            let Some(Expr::Apply(of, args)) = base.get().map(|position| unit.facts.exprs[position])
            else {
                continue;
            };
            let is_list = match self.type_of(symbol.file, of) {
                Ty::External(name) => lists.iter().any(|list| list == last_segment(&name)),
                _ => false,
            };
            if is_list {
                found.borrow_mut().clear();
            }
            for arg in &unit.facts.lists[args.range()] {
                self.instance_of_expr(symbol.file, *arg).map(&|ty: &Ty| {
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
}
