//! Nodes around definitions: type parameters, friends, visibility sections, test macros.

use crate::extract::preprocess::Made;
use crate::extract::walk::{Declared, READ, Surroundings, Usage, Walker};
use crate::grammar::{Rule, Selector};
use crate::model::facts::{Expr, ExprId, NameId, ScopeKind};
use crate::model::{SiteKind, Visibility};
use tree_sitter::Node;

/// Test that a macro defines from a body.
pub(in crate::extract) struct TestMacro<'t> {
    pub(in crate::extract) name: NameId,
    pub(in crate::extract) node: Node<'t>,
    /// Type that the test is a member of.
    pub(in crate::extract) fixture: Option<Node<'t>>,
}

impl<'t> Walker<'t> {
    /// Visits a definition behind its type parameters.
    pub(super) fn generic(&mut self, node: Node<'t>, params: &'static Selector) -> ExprId {
        let params = params.first(node);
        let start = self.pending.start.or(Some(node));
        let outer = self.waiting_type_params;
        let mut pending = std::mem::take(&mut self.pending);
        pending.start = start;
        for child in self.named_children(node) {
            if params.is_some_and(|params| params.id() == child.id()) {
                continue;
            }
            self.waiting_type_params = params;
            self.pending = pending.clone();
            self.visit(child, READ);
        }
        self.waiting_type_params = outer;
        ExprId::NONE
    }

    /// Visits definitions that belong to the scope around the type.
    pub(super) fn outside(&mut self, node: Node<'t>) -> ExprId {
        let before = (self.scope, self.around, self.enclosing);
        let pending = std::mem::take(&mut self.pending);
        self.scope = self
            .build
            .nearest(self.scope, |kind| !matches!(kind, ScopeKind::Type | ScopeKind::Flow));
        self.around = Surroundings::NONE;
        for child in self.named_children(node) {
            self.pending = pending.clone();
            self.visit(child, READ);
        }
        (self.scope, self.around, self.enclosing) = before;
        ExprId::NONE
    }

    /// Returns the test that a macro before a body defines.
    pub(in crate::extract) fn test_macro(
        &mut self,
        name: Node<'t>,
        declared: Option<&Declared<'t>>,
    ) -> Option<TestMacro<'t>> {
        let rules = &self.language.manifest.tests;
        let text = self.text_of(name);
        let is = |names: &[String]| names.iter().any(|name| name == text);
        let with_fixture = is(&rules.fixture_macros);
        if !with_fixture && !is(&rules.macros) {
            return None;
        }
        let arguments = self.named_children(declared?.params?);
        let test = *arguments.last()?;
        let id = self.name_of(name);
        let target = self.build.expr(Expr::Name(id, self.scope));
        self.site(Usage::Site(SiteKind::Call), name, id, target);
        self.take_call_site();
        let fixture = arguments.first().filter(|_| with_fixture && arguments.len() > 1);
        let fixture = fixture.and_then(|fixture| self.first_named_child(*fixture));
        let parts: Vec<&str> = arguments.iter().map(|argument| self.text_of(*argument)).collect();
        let name =
            if fixture.is_some() { self.name_of(test) } else { self.build.name(&parts.concat()) };
        Some(TestMacro { name, node: test, fixture })
    }

    /// Returns the definition created by a macro whose arguments or name contain a name in a
    /// header.
    pub(in crate::extract) fn made_at(&self, name: Node<'t>) -> Option<&'t Made> {
        let byte = name.start_byte();
        let made = &self.made[self.made.partition_point(|made| made.head.end <= byte)..];
        made.first().filter(|made| made.head.start <= byte)
    }

    /// Visits a base or field that a constructor initializes with arguments.
    pub(super) fn member_init(
        &mut self,
        node: Node<'t>,
        name: &'static Selector,
        args: &'static Selector,
    ) -> ExprId {
        let Some(name_node) = name.first(node) else { return self.visit_children(node) };
        let name_node = self.plain_name(name_node);
        self.take_call_site();
        if matches!(self.rule_at(name_node), Some(Rule::Member { .. })) {
            self.visit(name_node, Usage::Site(SiteKind::Construct));
        } else {
            let name = self.name_of(name_node);
            let target = self.build.expr(Expr::Name(name, self.scope));
            self.site(Usage::Site(SiteKind::Construct), name_node, name, target);
        }
        let site = self.take_call_site();
        let (args, spread, _) = self.arguments(args.first(node));
        if let Some(site) = site.get() {
            (self.build.sites[site].args, self.build.sites[site].spread) = (args, spread);
        }
        ExprId::NONE
    }

    pub(in crate::extract) fn section(&mut self, node: Node<'t>) -> ExprId {
        let word = self.text_of(node).trim_end_matches(':').trim();
        if let Some(visibility) = self.language.manifest.visibility.words.get(word) {
            self.around.section = Visibility::from_word(visibility);
        }
        ExprId::NONE
    }
}
