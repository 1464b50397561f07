//! Opening and closing of scopes with their context.

use super::Walk;
use super::context::Surroundings;
use cograph_faults::{Fault, planted};
use cograph_model::facts::{ExprId, LocalSymbol, ScopeId, ScopeKind};
use tree_sitter::Node;

/// Enclosing scope and its surroundings, to restore behind an inner scope.
pub(crate) struct OuterScope {
    pub(crate) scope: ScopeId,
    around: Surroundings,
}

impl<'t> Walk<'t> {
    /// Visits a block in a scope of its own; its value is that of its last child.
    pub(crate) fn block(&mut self, node: Node<'t>, kind: ScopeKind) -> ExprId {
        if planted(Fault::OpenBlocks) {
            return self.visit_children(node);
        }
        let scope = self.open(kind, LocalSymbol::NONE, node);
        let value = self.visit_children(node);
        self.close(scope);
        value
    }

    /// Opens a scope and makes it current; returns the state that [`Walk::close`] restores.
    pub(crate) fn open(
        &mut self,
        kind: ScopeKind,
        symbol: LocalSymbol,
        node: Node<'t>,
    ) -> OuterScope {
        let outer = OuterScope { scope: self.context.scope, around: self.context.around };
        self.context.scope =
            self.facts.scope(self.context.scope, kind, symbol, node.start_byte(), node.end_byte());
        self.context.around = Surroundings::NONE;
        outer
    }

    pub(crate) fn close(&mut self, outer: OuterScope) {
        self.context.scope = outer.scope;
        self.context.around = outer.around;
    }

    /// Opens a scope that ends with the enclosing one: declarations from here on shadow earlier
    /// ones.
    pub(crate) fn open_rest(&mut self, node: Node<'t>) {
        let end = self
            .context
            .scope
            .get()
            .map_or(node.end_byte(), |position| self.facts.facts.scopes[position].end as usize);
        let symbol = LocalSymbol::NONE;
        self.context.scope =
            self.facts.scope(self.context.scope, ScopeKind::Block, symbol, node.start_byte(), end);
    }

    /// Returns the scope that owns names declared here.
    pub(crate) fn owner_scope(&self) -> ScopeId {
        self.facts.nearest(self.context.scope, |kind| kind != ScopeKind::Flow)
    }
}
