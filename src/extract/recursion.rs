//! Queries of the traversal: what it asks of concepts above the asking one. A type has expressions,
//! an expression has definitions, and these have types again. Every such step goes through this
//! list, and all other calls go downwards.

use crate::bindings::conditions;
use crate::definitions::{declarator_chain, doc_types, parameters, symbols};
use crate::expressions::{construct, exports, literals, paths, values};
use crate::walk::{Declared, Definition, Usage, Walk};
use crate::{apply, definitions};
use cograph_grammar::{Rule, Selector};
use cograph_model::facts::{ExprId, LocalSymbol, NameId, Run};
use cograph_model::{SymbolKind, Visibility};
use tree_sitter::Node;

impl<'t> Walk<'t> {
    /// Visits arguments: returns their values, whether some are spread, and their number.
    pub(super) fn arguments(&mut self, node: Option<Node<'t>>) -> (Run, bool, usize) {
        construct::arguments(self, node)
    }

    /// Follows a chain of declarators to its name.
    pub(super) fn declarator(&mut self, start: Node<'t>) -> Declared<'t> {
        declarator_chain::declarator(self, start)
    }

    /// Binds a parameter for a value among type parameters.
    pub(super) fn value_parameter(&mut self, rule: &'static Rule, node: Node<'t>) {
        parameters::value_parameter(self, rule, node)
    }

    /// Records the conditions that decorators set for the next node.
    pub(super) fn decorated_conditions(&mut self, node: Node<'t>) {
        conditions::decorated_conditions(self, node)
    }

    /// Visits an element of a container, which has its type where it leaves out its own.
    pub(super) fn element_of(&mut self, node: Node<'t>, container: ExprId) -> ExprId {
        literals::element_of(self, node, container)
    }

    pub(super) fn define(&mut self, definition: &Definition<'t>) -> LocalSymbol {
        symbols::define(self, definition)
    }

    /// Returns the documented type of a variable, from the comment before its declaration or
    /// assignment.
    pub(super) fn documented_variable(&mut self, node: Node<'t>) -> ExprId {
        doc_types::documented_variable(self, node)
    }

    /// Returns the declared type of a variable, or the documented one where it is absent or vague.
    pub(super) fn or_documented_variable(&mut self, declared: ExprId, node: Node<'t>) -> ExprId {
        doc_types::or_documented(self, declared, |walk| doc_types::documented_variable(walk, node))
    }

    /// Defines an embedded field: a base that is also a field with the name of its type.
    pub(super) fn embedded_field(
        &mut self,
        node: Node<'t>,
        ty: Option<&'static Selector>,
    ) -> ExprId {
        definitions::types::embedded_field(self, node, ty)
    }

    /// Visits assignments to the export object or to a member of it. Returns the value of such an
    /// assignment.
    pub(super) fn export_assignment(
        &mut self,
        left: Node<'t>,
        right: Node<'t>,
        node: Node<'t>,
    ) -> Option<ExprId> {
        exports::export_assignment(self, left, right, node)
    }

    /// Exports a value as a whole. It is bound to the name of the export object; members of an
    /// object literal are exports of their own.
    pub(super) fn export_whole(&mut self, value: Node<'t>, node: Node<'t>) {
        exports::export_whole(self, value, node)
    }

    /// Visits the value of a variable that is also assigned to the export object, or to a member of
    /// it: the variable is the whole export, or the exported member.
    pub(super) fn exported_value(&mut self, name: Node<'t>, value: Node<'t>) -> Node<'t> {
        exports::exported_value(self, name, value)
    }

    /// Defines a name that holds a closure as a callable.
    pub(super) fn function_value(
        &mut self,
        name: NameId,
        name_node: Node<'t>,
        node: Node<'t>,
        lambda: &'static Rule,
        lambda_node: Node<'t>,
    ) -> LocalSymbol {
        values::function_value(self, name, name_node, node, lambda, lambda_node)
    }

    /// Defines a variable, or a pattern of members, bound to an imported module as an import.
    /// Returns true if the value is one.
    pub(super) fn import_value(&mut self, pattern: Node<'t>, value: Node<'t>) -> bool {
        values::import_value(self, pattern, value)
    }

    /// Visits an anonymous callable, or one with the name of the variable that holds it.
    pub(super) fn lambda(
        &mut self,
        rule: &'static Rule,
        node: Node<'t>,
        symbol: LocalSymbol,
    ) -> ExprId {
        values::lambda(self, rule, node, symbol)
    }

    pub(super) fn literal(&mut self, ty: &str) -> ExprId {
        literals::literal(self, ty)
    }

    /// Returns the visibility of a modifier node.
    pub(super) fn marked_visibility(&self, node: Node<'t>) -> Option<Visibility> {
        symbols::marked_visibility(self, node)
    }

    /// Defines an anonymous closure or type under the name that holds it. Returns true if the value
    /// is one.
    pub(super) fn named_value(
        &mut self,
        name: NameId,
        name_node: Node<'t>,
        node: Node<'t>,
        value: Node<'t>,
    ) -> bool {
        values::named_value(self, name, name_node, node, value)
    }

    /// Makes a variable that holds an object literal the owner of its members. Returns true if the
    /// value is one.
    pub(super) fn object_value(
        &mut self,
        name: NameId,
        name_node: Node<'t>,
        node: Node<'t>,
        value: Node<'t>,
        ty: ExprId,
        kind: SymbolKind,
    ) -> bool {
        values::object_value(self, name, name_node, node, value, ty, kind)
    }

    /// Returns the name inside a node with type arguments, and visits these.
    pub(super) fn plain_name(&mut self, node: Node<'t>) -> Node<'t> {
        paths::plain_name(self, node)
    }

    /// Returns the own name of a definition. A path before it (`A::f`) becomes the owner of the
    /// next definition.
    pub(super) fn qualified_name(&mut self, node: Node<'t>) -> (NameId, Node<'t>) {
        paths::qualified_name(self, node)
    }

    /// Visits a value with the expected value `wanted` for a construction without a type.
    pub(super) fn visit_as(&mut self, value: Node<'t>, wanted: ExprId) -> ExprId {
        construct::visit_as(self, value, wanted)
    }

    /// Visits a value; one that is a construction without a type, or has such elements, has the
    /// expected one.
    pub(super) fn visit_wanted(&mut self, value: Node<'t>, wanted: ExprId) -> ExprId {
        construct::visit_wanted(self, value, wanted)
    }

    /// Visits decorators inside modifier nodes and adds them to the pending ones. Returns the ids
    /// of the visited nodes.
    pub(super) fn visit_modifiers(&mut self, node: Node<'t>) -> Vec<usize> {
        symbols::visit_modifiers(self, node)
    }

    pub(super) fn visit_node(&mut self, node: Node<'t>, kind: u16, usage: Usage) -> ExprId {
        apply::visit_node(self, node, kind, usage)
    }
}
