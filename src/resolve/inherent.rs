//! Types whose members come from several places outside of their body: inherent ones first, then those of interfaces, then
//! those of what a value stands for; and members that types from outside of the repository gain in it.

use super::flow::last_segment;
use super::member::Member;
use super::result::unify;
use super::ty::Ty;
use super::{Name, Resolver, Symbols};
use crate::model::SymbolKind;
use crate::model::facts::{BindingId, Expr, ExprId};
use crate::model::graph::{FileId, SymbolRef};

/// The key of members that every type gains.
pub(super) const EVERY_TYPE: &str = "";

impl Resolver<'_, '_> {
    /// Of members of one name, those that belong to the type itself, where there are any.
    pub(super) fn inherent(&self, found: Symbols) -> Symbols {
        let is_inherent = |member: &SymbolRef| !self.program.symbol(*member).implements.is_some();
        if found.iter().any(is_inherent) { found.into_iter().filter(is_inherent).collect() } else { found }
    }

    /// A member of what a value stands for when it has no such member itself.
    pub(super) fn beyond_value(&mut self, value: &Ty, name: Name) -> Option<Member> {
        let Ty::Instance(symbol, _) = value else { return None };
        let names = &self.program.known(symbol.file).language.manifest.names;
        let text = self.program.text(name);
        if names.deref_members.iter().any(|member| member == text) || self.depth >= super::infer::DEPTH {
            return None;
        }
        let wanted = self.wanted.take();
        self.depth += 1;
        let inner = names.deref_members.iter().map(|member| self.result_of_member(value, member)).find(Ty::is_known);
        self.wanted = wanted;
        let found = inner.filter(|inner| inner != value).map(|inner| self.member(&inner, name));
        self.depth -= 1;
        found.filter(|member| !matches!(member, Member::None | Member::Unknown))
    }

    /// A member that a type from outside gains in the repository.
    pub(super) fn gained(&mut self, outer: &str, name: Name) -> Option<Symbols> {
        let found = self.program.gained.get(last_segment(outer)).and_then(|members| members.get(&name))?;
        let found: Symbols = found.iter().copied().filter(|member| self.is_wanted(*member)).collect();
        (!found.is_empty()).then(|| self.inherent(found))
    }

    /// A member that every type gains in the repository.
    pub(super) fn gained_by_all(&mut self, name: Name) -> Option<Symbols> {
        self.gained(EVERY_TYPE, name)
    }

    /// The name of the type from outside, or of every type, that members written for `owner` belong to.
    pub(super) fn outside_owner(&mut self, file: FileId, owner: ExprId) -> Option<Box<str>> {
        match self.instance_of_expr(file, owner) {
            Ty::Builtin(name, _) | Ty::External(name) => Some(Box::from(last_segment(&name))),
            Ty::Param(..) => Some(Box::from(EVERY_TYPE)),
            _ => None,
        }
    }

    /// A type in which the parameters of the place where a member is written are those of its receiver.
    pub(super) fn seen_by_receiver(&mut self, symbol: SymbolRef, ty: Ty, receiver: Option<&Ty>) -> Ty {
        let owner = self.program.symbol(symbol).owner;
        let (true, Some(receiver)) = (owner.is_some(), receiver) else { return ty };
        let receiver = super::infer::instance_of(receiver);
        let owner = self.instance_of_expr(symbol.file, owner);
        let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
        unify(&owner, &receiver, &mut known);
        if known.is_empty() {
            return ty;
        }
        ty.map(&|ty: &Ty| match ty {
            Ty::Param(file, binding) => known.iter().find(|(param, _)| *param == (*file, *binding)).map(|(_, ty)| ty.clone()),
            _ => None,
        })
    }

    /// A type that is a member of the type around: the one given where the name is written comes before all others.
    pub(super) fn associated_here(&mut self, file: FileId, object: ExprId, name: Name) -> Option<Ty> {
        let unit = self.program.known(file);
        let Expr::SelfType(scope) = unit.facts.exprs[object.get()?] else { return None };
        let here = unit.type_scope(scope);
        let found: Symbols = unit
            .bindings(here, name)
            .filter(|(_, binding)| binding.symbol.is_some())
            .map(|(_, binding)| SymbolRef { file, symbol: binding.symbol })
            .filter(|symbol| self.program.symbol(*symbol).kind == SymbolKind::TypeAlias)
            .collect();
        (!found.is_empty()).then(|| self.symbols_ty(&found, true, None))
    }

    /// The field of a value by its position.
    pub(super) fn positional(&mut self, value: &Ty, position: usize) -> Ty {
        let Some(name) = self.program.names.get(&position.to_string()) else { return Ty::Unknown };
        self.member_ty(&super::infer::instance_of(value), name)
    }
}
