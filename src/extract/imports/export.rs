//! Exports, re-exports and packages.

use super::import::ImportEntry;
use crate::extract::facts::exports::ExportList;
use crate::extract::walk::{READ, Walker};
use crate::grammar::{ImportForm, Rule, Selector};
use crate::model::facts::{BindingKind, Expr, ExprId, ImportKind, NameId, ScopeId};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    /// Returns the path of a child module's file from a decorator.
    pub(super) fn path_decorator(&self) -> Option<String> {
        let word = self.language.manifest.modules.path_decorator.as_ref()?;
        let node =
            &self.pending.decorators.iter().find(|decorator| *decorator.name == **word)?.node;
        let (_, path) = self.text_of(*node).split_once('"')?;
        path.split_once('"').map(|(path, _)| path.to_owned())
    }

    pub(in crate::extract) fn package(
        &mut self,
        node: Node<'t>,
        name: &'static Selector,
        body: Option<&'static Selector>,
    ) -> ExprId {
        let outer = self.package.clone();
        if let Some(name) = name.first(node) {
            let own: String = self.text_of(name).split_whitespace().collect();
            let separator = &self.language.manifest.modules.separator;
            let whole = outer
                .as_ref()
                .map_or_else(|| own.clone(), |outer| format!("{outer}{separator}{own}"));
            self.build.facts.package = Some(whole.clone().into());
            self.package = Some(whole);
        }
        if let Some(body) = body.and_then(|body| body.first(node)) {
            self.visit_children(body);
        }
        self.package = outer;
        ExprId::NONE
    }

    /// Visits an exported value, which importers see under the file's export name.
    pub(in crate::extract) fn exports(&mut self, node: Node<'t>, of: &'static Selector) -> ExprId {
        match of.first(node) {
            Some(value) => self.export_whole(value, node),
            None => drop(self.visit_children(node)),
        }
        ExprId::NONE
    }

    pub(in crate::extract) fn export(&mut self, rule: &'static Rule, node: Node<'t>) -> ExprId {
        let Rule::Export { declaration, value, default_mark, whole_mark, import } = rule else {
            return ExprId::NONE;
        };
        if self.export_from(import, node) {
            return ExprId::NONE;
        }
        let is_default =
            default_mark.as_ref().is_some_and(|selector| selector.first(node).is_some());
        let outer = self.around;
        self.around.exported = true;
        self.around.default_export = is_default;
        for child in self.named_children(node) {
            if matches!(self.rule_at(child), Some(Rule::Decorator { .. })) {
                self.visit(child, READ);
            }
        }
        if let Some(declaration) = declaration.as_ref().and_then(|selector| selector.first(node)) {
            self.visit(declaration, READ);
        } else if whole_mark.as_ref().is_some_and(|selector| selector.first(node).is_some()) {
            if let Some(value) = self.last_named_child(node) {
                self.export_whole(value, node);
            }
        } else if let Some(value_node) = value.as_ref().and_then(|selector| selector.first(node)) {
            self.export_value(value_node, node, is_default);
        }
        self.around = outer;
        ExprId::NONE
    }

    /// `export default value`: a name is exported itself, any other value becomes a symbol named
    /// `default`.
    fn export_value(&mut self, value: Node<'t>, node: Node<'t>, is_default: bool) {
        let name = self.build.name("default");
        if self.named_value(name, value, node, value) {
            return;
        }
        let given = self.visit(value, READ);
        if !is_default {
            return;
        }
        match self.build.get(given) {
            Expr::Name(local, _) => self.exported_names.push((name, local)),
            _ => self.bind(self.scope, name, BindingKind::Value, 0, ExprId::NONE, given),
        }
    }

    /// Visits an export of names: a re-export from another module, or an export of this one.
    /// Returns true for such a node.
    pub(super) fn export_from(&mut self, form: &'static ImportForm, node: Node<'t>) -> bool {
        let ImportForm::Export { source, clause, item, alias, namespace, types } = form else {
            return false;
        };
        let source_node = source.first(node);
        let module = source_node.map(|source| self.quoted(source));
        if let Some(clause) = clause.first(node) {
            for specifier in self.named_children(clause) {
                let Some(name) = item.first(specifier) else { continue };
                let alias_node = alias.first(specifier).unwrap_or(name);
                let (item, alias) = (self.name_of(name), self.name_of(alias_node));
                match &module {
                    Some(module) => {
                        let kind = if self.text_of(name) == "default" {
                            ImportKind::Default
                        } else {
                            ImportKind::Item
                        };
                        let module = module.clone();
                        // A re-export is not bound here: only importers see it.
                        let id = self.record(ImportEntry {
                            kind,
                            module,
                            level: 0,
                            item,
                            alias: NameId::NONE,
                            node: name,
                            reexport: true,
                        });
                        if let Some(position) = id.get() {
                            self.build.facts.imports[position].alias = alias;
                        }
                        self.mark_type_only(id, node, types);
                        self.mark_type_only(id, specifier, types);
                    }
                    None => {
                        let value = self.build.expr(Expr::Name(item, self.scope));
                        self.site(READ, name, item, value);
                        self.exported_names.push((alias, item));
                    }
                }
            }
            return true;
        }
        let Some(module) = module else { return false };
        let source_node = source_node.expect("a module was read from it");
        let alias = match namespace.first(node) {
            Some(name) => {
                let name = self.first_named_child(name).unwrap_or(name);
                self.name_of(name)
            }
            None => NameId::NONE,
        };
        let kind = if alias.is_some() { ImportKind::Module } else { ImportKind::Wildcard };
        let item = NameId::NONE;
        let id = self.record(ImportEntry {
            kind,
            module,
            level: 0,
            item,
            alias: NameId::NONE,
            node: source_node,
            reexport: true,
        });
        if let Some(position) = id.get() {
            self.build.facts.imports[position].alias = alias;
        }
        self.mark_type_only(id, node, types);
        true
    }
}

impl<'t> Walker<'t> {
    /// Records the effect of a top-level assignment on the export list.
    pub(in crate::extract) fn note_export_list(
        &mut self,
        left: Node<'t>,
        right: Option<Node<'t>>,
        extends: bool,
    ) {
        let Some(list) = &self.language.manifest.names.export_list else { return };
        if self.scope != ScopeId(0) || self.text_of(left) != list {
            return;
        }
        let items = match right.map(|right| (right, self.rule_at(right))) {
            Some((right, Some(Rule::List { .. } | Rule::Tuple {}))) => self.named_children(right),
            _ => {
                self.export_list.open = true;
                return;
            }
        };
        if !extends {
            self.export_list = ExportList { given: true, ..ExportList::default() };
        }
        for item in items {
            match self.rule_at(item) {
                Some(Rule::Text { .. }) => {
                    let name = self.name_of(item);
                    self.export_list.names.push(name);
                }
                _ => self.export_list.open = true,
            }
        }
    }
}
