//! Imports with clauses: a quoted module with default, named and namespace imports.

use super::ImportEntry;
use crate::extract::walk::Walker;
use crate::grammar::ImportForm;
use crate::model::facts::{ImportId, ImportKind, NameId};
use tree_sitter::Node;

impl<'t> Walker<'t> {
    pub(super) fn import_clauses(&mut self, form: &'static ImportForm, node: Node<'t>) {
        let ImportForm::Clauses { source, default, namespace, named, item, alias, types, .. } =
            form
        else {
            return;
        };
        let Some(source_node) = source.first(node) else { return };
        let module = self.quoted(source_node);
        let first = self.build.facts.imports.len();
        let mut any = false;
        if let Some(name) = default.as_ref().and_then(|selector| selector.first(node)) {
            let alias = self.name_of(name);
            let item = NameId::NONE;
            let module = module.clone();
            self.record(ImportEntry {
                kind: ImportKind::Default,
                module,
                level: 0,
                item,
                alias,
                node: name,
                reexport: false,
            });
            any = true;
        }
        if let Some(name) = namespace.as_ref().and_then(|selector| selector.first(node)) {
            let name = self.first_named_child(name).unwrap_or(name);
            let alias = self.name_of(name);
            let item = NameId::NONE;
            let module = module.clone();
            self.record(ImportEntry {
                kind: ImportKind::Module,
                module,
                level: 0,
                item,
                alias,
                node: name,
                reexport: false,
            });
            any = true;
        }
        for clause in self.every(named.as_ref(), node) {
            for specifier in self.named_children(clause) {
                let Some(name) = item.as_ref().and_then(|selector| selector.first(specifier))
                else {
                    continue;
                };
                let alias_node =
                    alias.as_ref().and_then(|selector| selector.first(specifier)).unwrap_or(name);
                let alias = self.name_of(alias_node);
                let (kind, item) = match self.text_of(name) {
                    "default" => (ImportKind::Default, NameId::NONE),
                    _ => (ImportKind::Item, self.name_of(name)),
                };
                let module = module.clone();
                let id = self.record(ImportEntry {
                    kind,
                    module,
                    level: 0,
                    item,
                    alias,
                    node: name,
                    reexport: false,
                });
                self.mark_type_only(id, specifier, types);
                any = true;
            }
        }
        if !any {
            let (item, alias) = (NameId::NONE, NameId::NONE);
            self.record(ImportEntry {
                kind: ImportKind::Include,
                module,
                level: 0,
                item,
                alias,
                node: source_node,
                reexport: false,
            });
        }
        for position in first..self.build.facts.imports.len() {
            self.mark_type_only(ImportId::at(position), node, types);
        }
    }

    /// Marks an import as type-only if one of the node's keywords does.
    pub(in crate::extract::imports) fn mark_type_only(
        &mut self,
        import: ImportId,
        node: Node<'t>,
        types: &[String],
    ) {
        let says = self
            .children(node)
            .into_iter()
            .any(|child| !child.is_named() && types.iter().any(|word| word == child.kind()));
        if let Some(position) = import.get().filter(|_| says) {
            self.build.facts.imports[position].type_only = true;
        }
    }
}
