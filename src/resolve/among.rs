//! Languages in which callables have names of their own: a call never means a variable, a value never a callable.

use super::Resolver;
use super::ty::{Entity, Ty};
use crate::model::facts::{Binding, BindingKind, Expr, ExprId};
use crate::model::graph::{FileId, SymbolRef};

impl Resolver<'_, '_> {
    /// Looks a name up among callables only, or among everything else, where the language of `file` keeps them apart. What
    /// `is_missing` there is looked for among all names (accessors without a body, callables named without a call).
    pub(super) fn among<T>(
        &mut self,
        file: FileId,
        callables: bool,
        look: impl Fn(&mut Self) -> T,
        is_missing: impl Fn(&T) -> bool,
    ) -> T {
        if !self.program.known(file).language.manifest.resolution.separate_callables {
            return look(self);
        }
        let before = self.wanted.replace(callables);
        let mut found = look(self);
        self.wanted = None;
        if is_missing(&found) {
            found = look(self);
        }
        self.wanted = before;
        found
    }

    /// The type of what is called.
    pub(super) fn callee_ty(&mut self, file: FileId, callee: ExprId) -> Ty {
        let unit = self.program.known(file);
        if !unit.language.manifest.resolution.separate_callables {
            return self.ty(file, callee);
        }
        let Some(position) = callee.get() else { return Ty::Unknown };
        match unit.facts.exprs[position] {
            Expr::Name(name, scope) => {
                let (name, at) = (self.name(file, name), unit.facts.positions[position]);
                match self.among(file, true, |resolver| resolver.lookup(file, name, scope, at), Option::is_none) {
                    // The receiver that is not written says what its type's parameters stand for.
                    Some((Entity::Symbols(symbols), _)) => {
                        let receiver = self.scope_type(file, scope);
                        self.symbols_ty(&symbols, false, receiver.as_ref())
                    }
                    Some((entity, _)) => self.entity_ty(&entity, false),
                    None => Ty::Unknown,
                }
            }
            Expr::Member(object, name) => {
                let object = self.ty(file, object);
                let name = self.name(file, name);
                self.among(file, true, |resolver| resolver.member_ty(&object, name), |ty| !ty.is_known())
            }
            _ => self.ty(file, callee),
        }
    }

    /// Whether a symbol is of the kind that is looked for.
    pub(super) fn is_wanted(&self, symbol: SymbolRef) -> bool {
        self.wanted.is_none_or(|callables| self.program.symbol(symbol).kind.is_callable() == callables)
    }

    /// Whether a binding may be of the kind that is looked for.
    pub(super) fn is_wanted_binding(&self, file: FileId, binding: &Binding) -> bool {
        let is_value = matches!(
            binding.kind,
            BindingKind::Value | BindingKind::Param | BindingKind::Field | BindingKind::Narrow | BindingKind::Result
        );
        if self.types_only && is_value {
            return false;
        }
        match (self.wanted, binding.kind) {
            (None, _) | (_, BindingKind::Import | BindingKind::Outer) => true,
            (Some(_), BindingKind::Symbol) => self.is_wanted(SymbolRef { file, symbol: binding.symbol }),
            (Some(callables), _) => !callables,
        }
    }
}
