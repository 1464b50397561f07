//! Opening and closing of scopes with their context.

use super::Walker;
use super::context::Surroundings;
use crate::model::facts::{ExprId, LocalSymbol, ScopeId, ScopeKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Visits a block in a scope of its own; its value is that of its last child.
    pub(in crate::extract) fn block(&mut self, node: Node<'t>, kind: ScopeKind) -> ExprId {
        let scope = self.open(kind, LocalSymbol::NONE, node);
        let value = self.visit_children(node);
        self.close(scope);
        value
    }

    /// Opens a scope and makes it current; returns the state that [`Walker::close`] restores.
    pub(in crate::extract) fn open(
        &mut self,
        kind: ScopeKind,
        symbol: LocalSymbol,
        node: Node<'t>,
    ) -> (ScopeId, Surroundings) {
        let before = (self.scope, self.around);
        self.scope = self.build.scope(self.scope, kind, symbol, node.start_byte(), node.end_byte());
        self.around = Surroundings::NONE;
        before
    }

    pub(in crate::extract) fn close(&mut self, (scope, around): (ScopeId, Surroundings)) {
        self.scope = scope;
        self.around = around;
    }

    /// Opens a scope that ends with the enclosing one: declarations from here on shadow earlier
    /// ones.
    pub(in crate::extract) fn open_rest(&mut self, node: Node<'t>) {
        let end = self
            .scope
            .get()
            .map_or(node.end_byte(), |position| self.build.facts.scopes[position].end as usize);
        let symbol = LocalSymbol::NONE;
        self.scope = self.build.scope(self.scope, ScopeKind::Block, symbol, node.start_byte(), end);
    }

    /// Returns the scope that owns names declared here.
    pub(in crate::extract) fn owner_scope(&self) -> ScopeId {
        self.build.nearest(self.scope, |kind| kind != ScopeKind::Flow)
    }
}
