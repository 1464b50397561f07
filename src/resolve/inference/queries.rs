//! Queries: what a function may ask of a concept above its own. Names depend on members, members
//! on types, types on calls and these on names again; every such step goes through this list, and
//! all other arrows go downwards. A result is memoized where it is computed.

use crate::db::Db;
use crate::db::ty::{Entity, Member, Ty, TyList};
use crate::inference::calls::{call, closures, extensions, overload, untyped};
use crate::inference::members::{hierarchy, lookup, receiver};
use crate::inference::names::visited::Visited;
use crate::inference::names::{module_members, scopes};
use crate::inference::types::{generics, infer, return_types, symbol_types};
use crate::units::import_target::Module;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::Step;
use cograph_model::facts::{Contextual, ExprId, Run, ScopeId};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

impl Db<'_> {
    /// Looks a name up below an entity.
    pub(super) fn below(
        &self,
        entity: &Entity,
        name: Name,
        visited: &mut Visited,
    ) -> Option<Entity> {
        module_members::below(self, entity, name, visited)
    }

    /// Looks a name up in a module, as visible to importers.
    pub(super) fn module_member(
        &self,
        module: Module,
        name: Name,
        visited: &mut Visited,
    ) -> Option<Entity> {
        module_members::module_member(self, module, name, visited)
    }

    /// Looks a name up inside a namespace or type.
    pub(super) fn symbol_member(
        &self,
        symbol: SymbolRef,
        name: Name,
        visited: &mut Visited,
    ) -> Option<Entity> {
        module_members::symbol_member(self, symbol, name, visited)
    }

    /// Looks a name up from a position in a file; returns its meaning and the step.
    pub(super) fn lookup(
        &self,
        file: FileId,
        name: Name,
        scope: ScopeId,
        at: u32,
    ) -> Option<(Entity, Step)> {
        scopes::lookup(self, file, name, scope, at)
    }

    /// True if something that a call may mean accepts the arguments, as far as types are known.
    pub(super) fn is_applicable(
        &self,
        file: FileId,
        entity: &Entity,
        args: &[Ty],
        written: Run,
    ) -> bool {
        overload::is_applicable(self, file, entity, args, written, false)
    }

    pub(super) fn implicit_member(
        &self,
        file: FileId,
        scope: ScopeId,
        name: Name,
    ) -> Option<Symbols> {
        receiver::implicit_member(self, file, scope, name)
    }

    /// Returns the member of the implicit receiver in a scope that every value has.
    pub(super) fn implicit_top(&self, file: FileId, scope: ScopeId, name: Name) -> Option<Entity> {
        receiver::implicit_top(self, file, scope, name)
    }

    /// Returns the extensions of every type that a bare name may mean.
    pub(super) fn implicit_extension(
        &self,
        file: FileId,
        scope: ScopeId,
        name: Name,
    ) -> Option<Symbols> {
        receiver::implicit_extension(self, file, scope, name)
    }

    /// Returns the member of the receiver that a closure may be given.
    pub(super) fn closure_member(
        &self,
        file: FileId,
        closure: ScopeId,
        name: Name,
    ) -> Option<Entity> {
        receiver::closure_member(self, file, closure, name)
    }

    /// Returns the member of a module, type or value.
    pub(super) fn member(&self, of: &Ty, name: Name) -> Member {
        lookup::member(self, of, name)
    }

    /// Returns the members of a type itself, without its bases.
    pub(super) fn own_members(&self, symbol: SymbolRef, name: Name) -> Symbols {
        lookup::own_members(self, symbol, name)
    }

    /// Returns the members of a type with a name: those of the first type in its hierarchy that has
    /// any.
    pub(super) fn type_member(&self, symbol: SymbolRef, name: Name) -> Symbols {
        lookup::type_member(self, symbol, name)
    }

    /// Returns the substitution of a type's parameters by arguments.
    pub(super) fn arguments_of(
        &self,
        symbol: SymbolRef,
        args: &TyList,
    ) -> impl Fn(&Ty) -> Option<Ty> + use<> {
        generics::arguments_of(self, symbol, args)
    }

    /// Returns an instance of the type that an expression names.
    pub(super) fn instance_of_expr(&self, file: FileId, expr: ExprId) -> Ty {
        infer::instance_of_expr(self, file, expr)
    }

    /// Returns the type of an expression's value.
    pub(super) fn ty(&self, file: FileId, expr: ExprId) -> Ty {
        infer::ty(self, file, expr)
    }

    /// Returns the type that an expression in type position names, as a type.
    pub(super) fn type_of(&self, file: FileId, expr: ExprId) -> Ty {
        infer::type_of(self, file, expr)
    }

    /// Returns the union of the results of callables.
    pub(super) fn result_of(&self, symbols: &Symbols, receiver: Option<&Ty>, args: &[Ty]) -> Ty {
        return_types::result_of(self, symbols, receiver, args)
    }

    /// Returns the result of one callable for a receiver and arguments.
    pub(super) fn return_ty(&self, symbol: SymbolRef, receiver: Option<&Ty>, args: &[Ty]) -> Ty {
        return_types::return_ty(self, symbol, receiver, args)
    }

    /// Returns the type of a member of a value.
    pub(super) fn member_ty(&self, object: &Ty, name: Name) -> Ty {
        symbol_types::member_ty(self, object, name)
    }

    /// Returns the result of calling a value.
    pub(super) fn call_result(&self, file: FileId, callee: &Ty, args: Run) -> Ty {
        call::call_result(self, file, callee, args)
    }

    /// Returns the type of a callee that is an extension of its object's type.
    pub(super) fn extension_callee(&self, file: FileId, callee: ExprId, args: Run) -> Option<Ty> {
        extensions::callee_ty(self, file, callee, extensions::KnownArguments::Types(args))
    }

    /// Returns the other declarations of a type in several parts.
    pub(super) fn parts_of_type(&self, symbol: SymbolRef) -> Symbols {
        hierarchy::parts_of_type(self, symbol)
    }

    /// Returns the type of a closure's parameter from the call that the closure is passed to.
    pub(super) fn given(&self, file: FileId, closure: ScopeId, what: Contextual) -> Ty {
        closures::given(self, file, closure, what)
    }

    /// Returns the type of what a callee takes as the argument at a position.
    pub(super) fn parameter(&self, file: FileId, callee: ExprId, position: usize) -> Ty {
        untyped::parameter(self, file, callee, position)
    }

    pub(super) fn constructors_of(&self, ty: SymbolRef) -> Symbols {
        call::constructors(self, ty)
    }

    pub(super) fn parameter_types(&self, symbol: SymbolRef) -> Rc<[Ty]> {
        overload::parameter_types(self, symbol)
    }
}
