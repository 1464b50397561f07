//! Local variables that are constructed with arguments in parentheses, which a grammar may take for
//! declarations of functions.

use crate::extract::walk::children::Children;
use crate::extract::walk::{Declared, READ, Usage, Walker};
use crate::grammar::{Rule, TypeRule};
use crate::model::SiteKind;
use crate::model::facts::{BindingKind, Expr, ExprId, ScopeKind};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Returns the names in a parameter list that are arguments: inside a function, bare and each
    /// without a declarator. A qualified name may be a type, but a local declaration of a function
    /// is much rarer than the construction of an object with a member of a class.
    pub(super) fn bare_arguments(
        &mut self,
        declared: &Declared<'t>,
        ty_node: Option<Node<'t>>,
    ) -> Option<Children<'t>> {
        if !self.language.manifest.resolution.locals_construct || !declared.wraps.is_empty() {
            return None;
        }
        if !matches!(
            self.build.scope_kind(self.owner_scope()),
            ScopeKind::Function | ScopeKind::Block
        ) {
            return None;
        }
        let params = self.named_children(declared.params?);
        let language = self.language;
        let rule = |node: Node<'t>| language.type_rule(node.kind_id());
        let constructs =
            ty_node.is_some_and(|ty| !matches!(rule(ty), Some(TypeRule::Builtin { .. })));
        let mut names = Children::new();
        for param in params {
            let Some(Rule::Param { ty: Some(ty), .. }) = self.rule_at(param) else { return None };
            let only = self.only_named_child(param)?;
            let name = ty.first(param).filter(|name| name.id() == only.id())?;
            let is_argument = match rule(name) {
                Some(TypeRule::Name {}) => self.is_value(name),
                Some(TypeRule::Member { .. }) => constructs,
                _ => false,
            };
            if !is_argument {
                return None;
            }
            names.push(name);
        }
        (!names.is_empty()).then_some(names)
    }

    /// True if the visible binding of a name is a value.
    fn is_value(&mut self, name: Node<'t>) -> bool {
        let name = self.name_of(name);
        self.build.visible(self.scope, name).is_some_and(|binding| {
            matches!(binding.kind, BindingKind::Param | BindingKind::Value | BindingKind::Narrow)
        })
    }

    /// Value of a declared type with constructor arguments; the call site is at the name of the
    /// type.
    pub(super) fn constructed(
        &mut self,
        ty_node: Option<Node<'t>>,
        ty: ExprId,
        arguments: &[Node<'t>],
    ) -> ExprId {
        let named = ty_node.and_then(|node| self.type_name_node(node));
        let mut list = Vec::new();
        for argument in arguments {
            let value = self.visit(*argument, READ);
            list.push(self.known(value));
        }
        let Some(name_node) = named.filter(|_| ty.is_some()) else {
            return self.build.of(ty, Expr::OfType);
        };
        let list = self.build.list(&list);
        let name = self.name_of(name_node);
        self.take_call_site();
        self.site(Usage::Site(SiteKind::Construct), name_node, name, ty);
        if let Some(site) = self.take_call_site().get() {
            self.build.sites[site].args = list;
        }
        self.build.expr(Expr::Construct(ty, list))
    }

    /// Returns the name node of a type that is a name, a path or a generic application.
    pub(super) fn type_name_node(&self, node: Node<'t>) -> Option<Node<'t>> {
        match self.language.type_rule(node.kind_id())? {
            TypeRule::Name {} => Some(node),
            TypeRule::Member { name, .. } => {
                name.first(node).and_then(|name| self.type_name_node(name))
            }
            TypeRule::Apply { base, .. } => {
                base.first(node).and_then(|base| self.type_name_node(base))
            }
            TypeRule::Pass { of: Some(of), .. } => {
                of.first(node).and_then(|inner| self.type_name_node(inner))
            }
            TypeRule::Specifier { name: Some(name), .. } => {
                name.first(node).and_then(|name| self.type_name_node(name))
            }
            _ => None,
        }
    }
}
