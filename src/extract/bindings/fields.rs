//! Fields declared by assignment: members of the receiver.

use super::variables::Flow;
use crate::extract::walk::{Definition, READ, Surroundings, Usage, Walker};
use crate::grammar::Selector;
use crate::model::facts::{Expr, ExprId, LocalSymbol, NameId, ScopeId};
use crate::model::{SiteKind, SymbolKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Assignment to a member: declares a field of the receiver's type, or is a write.
    pub(super) fn bind_member(
        &mut self,
        node: Node<'t>,
        object: &'static Selector,
        name: &'static Selector,
        flow: Flow<'t>,
    ) {
        let (Some(object), Some(name_node)) = (object.first(node), name.first(node)) else {
            return;
        };
        let object = self.visit(object, READ);
        let name = self.name_of(name_node);
        let type_scope = self.callable.type_scope;
        let declared_only = self.language.manifest.resolution.closures_are_values;
        let made = match self.callable.self_scope.get() {
            Some(scope) if !declared_only && self.is_receiver(object) => {
                self.build.facts.scopes[scope].owner
            }
            _ => ExprId::NONE,
        };
        if made.is_some()
            && !type_scope.is_some()
            && self.declared_members.insert((self.callable.self_scope, name))
        {
            let around = Surroundings { owner: made, detached: true, ..Surroundings::NONE };
            let field = self.define_field(name_node, name, (ScopeId(0), around), flow);
            self.build.add_value(field, flow.value);
            self.build.symbol_mut(field).ty = flow.ty;
            return;
        }
        if let Some(owner) = self.assigned_owner(object, flow.value) {
            let declared_static = owner == object;
            let around =
                Surroundings { owner, detached: true, declared_static, ..Surroundings::NONE };
            let field = self.define_field(name_node, name, (ScopeId(0), around), flow);
            self.build.add_value(field, flow.value);
            return;
        }
        if declared_only || !self.is_receiver(object) || !type_scope.is_some() {
            let target = self.build.of(object, |object| Expr::Member(object, name));
            self.site(Usage::Site(SiteKind::Write), name_node, name, target);
            return;
        }
        let elsewhere = type_scope
            .get()
            .is_some_and(|position| self.build.facts.scopes[position].owner.is_some());
        let declared = self.declared_members.contains(&(type_scope, name))
            || self.build.bound(type_scope, name).is_some();
        if !elsewhere && !declared {
            self.define_field(name_node, name, (type_scope, Surroundings::NONE), flow);
        } else {
            let target = self.build.expr(Expr::Member(object, name));
            self.site(Usage::Site(SiteKind::Write), name_node, name, target);
        }
        let symbol =
            self.build.bound(type_scope, name).map_or(LocalSymbol::NONE, |binding| binding.symbol);
        // A value assigned to a method is no return value.
        if symbol.is_some() && !self.build.symbol_mut(symbol).kind.is_callable() {
            self.build.add_value(symbol, flow.value);
        }
        if symbol.is_some() && flow.ty.is_some() && !self.build.symbol_mut(symbol).ty.is_some() {
            self.build.symbol_mut(symbol).ty = flow.ty;
        }
    }

    /// Returns the owner of a member that an assignment at the top level gives to a value of the
    /// file: where values take any member, a callable or a type that is given becomes one.
    fn assigned_owner(&self, object: ExprId, value: ExprId) -> Option<ExprId> {
        let prototype = self.language.manifest.names.values_member.as_deref()?;
        let owner = match self.build.get(object) {
            Expr::Member(of, name) if self.build.text(name) == prototype => of,
            _ => object,
        };
        let at_top = |name| self.build.bound(ScopeId(0), name);
        let (Expr::Name(owner_name, _), false) =
            (self.build.get(owner), self.callable.symbol.is_some())
        else {
            return None;
        };
        let is_callable_or_type = |symbol: LocalSymbol| {
            symbol.get().is_none_or(|symbol| {
                let kind = self.build.facts.symbols[symbol].kind;
                kind.is_callable() || kind.is_type()
            })
        };
        let is_fitting = match self.build.get(value) {
            Expr::Lambda(_) => true,
            Expr::Name(name, _) => {
                at_top(name).is_none_or(|binding| is_callable_or_type(binding.symbol))
            }
            _ => false,
        };
        (is_fitting && at_top(owner_name).is_some_and(|binding| binding.symbol.is_some()))
            .then_some(owner)
    }

    fn define_field(
        &mut self,
        node: Node<'t>,
        name: NameId,
        place: (ScopeId, Surroundings),
        flow: Flow<'t>,
    ) -> LocalSymbol {
        let (scope, around, pending) = (self.scope, self.around, std::mem::take(&mut self.pending));
        (self.scope, self.around) = place;
        let header_end = flow.node.end_byte();
        let definition = Definition {
            name,
            name_node: node,
            node: flow.node,
            kind: SymbolKind::Field,
            header_end,
            has_body: true,
        };
        let symbol = self.define(&definition);
        (self.scope, self.around, self.pending) = (scope, around, pending);
        symbol
    }
}
