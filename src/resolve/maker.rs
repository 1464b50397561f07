//! Callables that make values: where callables can have members, `new f()` is a value with the members that `f` was given.

use super::member::Member;
use super::ty::Ty;
use super::{Name, Resolver, Symbols};
use crate::model::graph::SymbolRef;
use std::rc::Rc;

impl Resolver<'_, '_> {
    /// The callable that a type is, if callables of its language make values.
    pub(super) fn maker(&self, ty: &Ty) -> Option<SymbolRef> {
        let Ty::Callable(symbols, _) = ty else { return None };
        let symbol = *symbols.last()?;
        let manifest = &self.program.known(symbol.file).language.manifest;
        manifest.names.values_member.as_ref().map(|_| symbol)
    }

    /// A value of what a type names: also of a callable that makes values.
    pub(super) fn made(&self, ty: &Ty) -> Ty {
        match self.maker(ty) {
            Some(symbol) => Ty::instance(symbol),
            None => super::infer::instance_of(ty),
        }
    }

    /// A member that a callable was given.
    pub(super) fn callable_member(&self, of: &Ty, name: Name) -> Member {
        let given = |symbol: SymbolRef| self.program.extensions(symbol).and_then(|members| members.get(&name));
        match self.maker(of).and_then(given) {
            Some(found) => Member::Symbols(Symbols::from_slice(found)),
            None => Member::Outside(Rc::from(self.program.text(name))),
        }
    }
}
