//! Imports with clauses: a quoted module with default, named and namespace imports.

use crate::facts::builder::Builder;
use crate::imports::record;
use crate::imports::record::ImportEntry;
use crate::walk::input::Input;
use crate::walk::{Walk, children, names, texts};
use cograph_grammar::ImportForm;
use cograph_model::facts::{ImportId, ImportKind, NameId, Synthetic};
use tree_sitter::Node;

pub(super) fn import_clauses<'t>(walk: &mut Walk<'t>, form: &'static ImportForm, node: Node<'t>) {
    let ImportForm::Clauses { source, default, namespace, named, item, alias, types, .. } = form
    else {
        return;
    };
    let Some(source_node) = source.first(node) else { return };
    let module = record::quoted(&walk.input, source_node);
    let first = walk.facts.facts.imports.len();
    let mut any = false;
    if let Some(name) = default.as_ref().and_then(|selector| selector.first(node)) {
        let alias = names::name_of(walk, name);
        let item = NameId::NONE;
        let module = module.clone();
        record::record(
            walk,
            ImportEntry {
                kind: ImportKind::Default,
                module,
                level: 0,
                item,
                alias,
                node: name,
                reexport: false,
            },
        );
        any = true;
    }
    if let Some(name) = namespace.as_ref().and_then(|selector| selector.first(node)) {
        let name = children::first_named_child(&walk.input, name).unwrap_or(name);
        let alias = names::name_of(walk, name);
        let item = NameId::NONE;
        let module = module.clone();
        record::record(
            walk,
            ImportEntry {
                kind: ImportKind::Module,
                module,
                level: 0,
                item,
                alias,
                node: name,
                reexport: false,
            },
        );
        any = true;
    }
    for clause in children::every(&walk.input, named.as_ref(), node) {
        for specifier in children::named_children(&walk.input, clause) {
            let Some(name) = item.as_ref().and_then(|selector| selector.first(specifier)) else {
                continue;
            };
            let alias_node =
                alias.as_ref().and_then(|selector| selector.first(specifier)).unwrap_or(name);
            let alias = names::name_of(walk, alias_node);
            let is_default = Synthetic::DefaultExport.is(texts::text_of(&walk.input, name));
            let (kind, item) = match is_default {
                true => (ImportKind::Default, NameId::NONE),
                false => (ImportKind::Item, names::name_of(walk, name)),
            };
            let module = module.clone();
            let id = record::record(
                walk,
                ImportEntry { kind, module, level: 0, item, alias, node: name, reexport: false },
            );
            mark_type_only(&walk.input, &mut walk.facts, id, specifier, types);
            any = true;
        }
    }
    if !any {
        let (item, alias) = (NameId::NONE, NameId::NONE);
        record::record(
            walk,
            ImportEntry {
                kind: ImportKind::Include,
                module,
                level: 0,
                item,
                alias,
                node: source_node,
                reexport: false,
            },
        );
    }
    for position in first..walk.facts.facts.imports.len() {
        mark_type_only(&walk.input, &mut walk.facts, ImportId::at(position), node, types);
    }
}

/// Marks an import as type-only if one of the node's keywords does.
pub(crate) fn mark_type_only<'t>(
    input: &Input<'t>,
    facts: &mut Builder,
    import: ImportId,
    node: Node<'t>,
    types: &[String],
) {
    let says = children::children(input, node)
        .into_iter()
        .any(|child| !child.is_named() && types.iter().any(|word| word == child.kind()));
    if let Some(position) = import.get().filter(|_| says) {
        facts.facts.imports[position].type_only = true;
    }
}
