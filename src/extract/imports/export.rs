//! Exports, re-exports and packages.

use crate::facts::exports::ExportList;
use crate::imports::import::clauses;
use crate::imports::record;
use crate::imports::record::ImportEntry;
use crate::walk::input::Input;
use crate::walk::{Context, READ, Walk, children, names, rule_choice, texts};
use cograph_grammar::{DecoratorMeaning, ImportForm, Rule, Selector};
use cograph_model::facts::{BindingKind, Expr, ExprId, ImportKind, NameId, ScopeId, Synthetic};
use tree_sitter::Node;

/// Paths of a child module's file from decorators.
#[derive(Default)]
pub(super) struct ModulePaths {
    /// Path whatever the condition.
    pub(super) always: Option<String>,
    /// Paths under conditions.
    pub(super) conditional: Vec<String>,
}

/// Returns the paths of a child module's file from decorators.
pub(super) fn module_paths<'t>(input: &Input<'t>, context: &Context<'t>) -> ModulePaths {
    let mut found = ModulePaths::default();
    let means = |name: &str, meaning| input.language.manifest.modifiers.is_decorator(name, meaning);
    for decorator in &context.pending.decorators {
        let text = texts::text_of(input, decorator.node);
        if means(&decorator.name, DecoratorMeaning::Path) {
            found.always = found.always.or_else(|| quoted_behind(text, &decorator.name));
        } else if means(&decorator.name, DecoratorMeaning::ApplyingIf) {
            // The path is behind the condition, which may have quoted text as well.
            let parts = text.split(',').skip(1);
            let paths = parts.filter_map(|part| {
                let (word, _) = part.split_once('=')?;
                means(word.trim(), DecoratorMeaning::Path).then(|| quoted_behind(part, word))?
            });
            found.conditional.extend(paths);
        }
    }
    found
}

/// Returns the text in quotes that is assigned to a word.
fn quoted_behind(text: &str, word: &str) -> Option<String> {
    let (_, value) = text.split_once(word)?;
    let value = value.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    value.split_once('"').map(|(path, _)| path.to_owned())
}

/// Visits an exported value, which importers see under the file's export name.
pub(crate) fn exports<'t>(walk: &mut Walk<'t>, node: Node<'t>, of: &'static Selector) -> ExprId {
    match of.first(node) {
        Some(value) => walk.export_whole(value, node),
        None => drop(walk.visit_children(node)),
    }
    ExprId::NONE
}

pub(crate) fn export<'t>(walk: &mut Walk<'t>, rule: &'static Rule, node: Node<'t>) -> ExprId {
    let Rule::Export { declaration, value, default_mark, whole_mark, import } = rule else {
        return ExprId::NONE;
    };
    if export_from(walk, import, node) {
        return ExprId::NONE;
    }
    let is_default = default_mark.as_ref().is_some_and(|selector| selector.first(node).is_some());
    let outer = walk.context.around;
    walk.context.around.exported = true;
    walk.context.around.default_export = is_default;
    for child in children::named_children(&walk.input, node) {
        if matches!(rule_choice::rule_at(&walk.input, child), Some(Rule::Decorator { .. })) {
            walk.visit(child, READ);
        }
    }
    if let Some(declaration) = declaration.as_ref().and_then(|selector| selector.first(node)) {
        walk.visit(declaration, READ);
    } else if whole_mark.as_ref().is_some_and(|selector| selector.first(node).is_some()) {
        if let Some(value) = children::last_named_child(node) {
            walk.export_whole(value, node);
        }
    } else if let Some(value_node) = value.as_ref().and_then(|selector| selector.first(node)) {
        export_value(walk, value_node, node, is_default);
    }
    walk.context.around = outer;
    ExprId::NONE
}

/// `export default value`: a name is exported itself, any other value becomes a symbol named
/// `default`.
fn export_value<'t>(walk: &mut Walk<'t>, value: Node<'t>, node: Node<'t>, is_default: bool) {
    let name = walk.facts.synthetic(Synthetic::DefaultExport);
    if walk.named_value(name, value, node, value) {
        return;
    }
    let given = walk.visit(value, READ);
    if !is_default {
        return;
    }
    match walk.facts.get(given) {
        Expr::Name(local, _) => walk.exports.names.push((name, local)),
        _ => walk.bind(walk.context.scope, name, BindingKind::Value, 0, ExprId::NONE, given),
    }
}

/// Visits an export of names: a re-export from another module, or an export of this one.
/// Returns true for such a node.
pub(super) fn export_from<'t>(
    walk: &mut Walk<'t>,
    form: &'static ImportForm,
    node: Node<'t>,
) -> bool {
    let ImportForm::Export { source, clause, item, alias, namespace, types } = form else {
        return false;
    };
    let source_node = source.first(node);
    let module = source_node.map(|source| record::quoted(&walk.input, source));
    if let Some(clause) = clause.first(node) {
        for specifier in children::named_children(&walk.input, clause) {
            let Some(name) = item.first(specifier) else { continue };
            let alias_node = alias.first(specifier).unwrap_or(name);
            let (item, alias) = (names::name_of(walk, name), names::name_of(walk, alias_node));
            match &module {
                Some(module) => {
                    let kind = match Synthetic::DefaultExport.is(texts::text_of(&walk.input, name))
                    {
                        true => ImportKind::Default,
                        false => ImportKind::Item,
                    };
                    let module = module.clone();
                    // A re-export is not bound here: only importers see it.
                    let id = record::record(
                        walk,
                        ImportEntry {
                            kind,
                            module,
                            level: 0,
                            item,
                            alias: NameId::NONE,
                            node: name,
                            reexport: true,
                        },
                    );
                    if let Some(position) = id.get() {
                        walk.facts.facts.imports[position].alias = alias;
                    }
                    clauses::mark_type_only(&walk.input, &mut walk.facts, id, node, types);
                    clauses::mark_type_only(&walk.input, &mut walk.facts, id, specifier, types);
                }
                None => {
                    let value = walk.facts.expr(Expr::Name(item, walk.context.scope));
                    walk.site(READ, name, item, value);
                    walk.exports.names.push((alias, item));
                }
            }
        }
        return true;
    }
    let Some(module) = module else { return false };
    let source_node = source_node.expect("a module was read from it");
    let alias = match namespace.first(node) {
        Some(name) => {
            let name = children::first_named_child(&walk.input, name).unwrap_or(name);
            names::name_of(walk, name)
        }
        None => NameId::NONE,
    };
    let kind = if alias.is_some() { ImportKind::Module } else { ImportKind::Wildcard };
    let item = NameId::NONE;
    let id = record::record(
        walk,
        ImportEntry {
            kind,
            module,
            level: 0,
            item,
            alias: NameId::NONE,
            node: source_node,
            reexport: true,
        },
    );
    if let Some(position) = id.get() {
        walk.facts.facts.imports[position].alias = alias;
    }
    clauses::mark_type_only(&walk.input, &mut walk.facts, id, node, types);
    true
}

/// Records the effect of a top-level assignment on the export list.
pub(crate) fn note_export_list<'t>(
    walk: &mut Walk<'t>,
    left: Node<'t>,
    right: Option<Node<'t>>,
    extends: bool,
) {
    let Some(list) = &walk.input.language.manifest.names.export_list else { return };
    if walk.context.scope != ScopeId(0) || texts::text_of(&walk.input, left) != list {
        return;
    }
    let items = match right.map(|right| (right, rule_choice::rule_at(&walk.input, right))) {
        Some((right, Some(Rule::List { .. } | Rule::Tuple {}))) => {
            children::named_children(&walk.input, right)
        }
        _ => {
            walk.exports.list.open = true;
            return;
        }
    };
    if !extends {
        walk.exports.list = ExportList { given: true, ..ExportList::default() };
    }
    for item in items {
        match rule_choice::rule_at(&walk.input, item) {
            Some(Rule::Text { .. }) => {
                let name = names::name_of(walk, item);
                walk.exports.list.names.push(name);
            }
            _ => walk.exports.list.open = true,
        }
    }
}
