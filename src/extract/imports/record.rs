//! Import entries: one recorded import with its binding.

use crate::facts::builder::Builder;
use crate::walk::input::Input;
use crate::walk::position::position;
use crate::walk::{QUOTES, Usage, Walk, children, names, rule_choice, texts};
use cograph_faults::{Fault, planted};
use cograph_grammar::Rule;
use cograph_model::SiteKind;
use cograph_model::facts::{ExprId, Import, ImportId, ImportKind, NameId, ScopeKind};
use tree_sitter::Node;

/// Import before it is recorded.
pub(super) struct ImportEntry<'t> {
    pub(crate) kind: ImportKind,
    pub(crate) module: String,
    pub(crate) level: u16,
    pub(crate) item: NameId,
    pub(crate) alias: NameId,
    /// Node of the item, or else of the module.
    pub(crate) node: Node<'t>,
    pub(crate) reexport: bool,
}

/// Records an import with its reference.
pub(super) fn record<'t>(walk: &mut Walk<'t>, entry: ImportEntry<'t>) -> ImportId {
    let (item, node) = (entry.item, entry.node);
    let id = enter(walk, entry);
    let name = if item.is_some() { item } else { last_segment(&walk.input, &mut walk.facts, id) };
    let name_node = last_of_name(walk, node, name);
    walk.site(Usage::Site(SiteKind::Import), name_node, name, ExprId::NONE);
    if let Some(site) = walk.facts.sites.last_mut() {
        site.import = id;
    }
    id
}

/// Returns the last segment of a path, where a name stands.
fn last_of_name<'t>(walk: &Walk<'t>, node: Node<'t>, name: NameId) -> Node<'t> {
    if let Some(Rule::Member { name, .. }) = rule_choice::rule_at(&walk.input, node) {
        return name.first(node).unwrap_or(node);
    }
    let is_name = |last: &Node<'t>| {
        last.end_byte() == node.end_byte()
            && texts::text_of(&walk.input, *last) == walk.facts.text(name)
    };
    children::last_named_child(node).filter(is_name).unwrap_or(node)
}

/// Records an import without a reference.
pub(super) fn enter<'t>(walk: &mut Walk<'t>, entry: ImportEntry<'t>) -> ImportId {
    let ImportEntry { kind, module, level, item, alias, node, reexport } = entry;
    let reexport = walk.context.everywhere.take().unwrap_or(reexport);
    let alias = if planted(Fault::LostAlias) && item.is_some() { item } else { alias };
    let type_only = is_for_type_checkers(walk, node);
    let id = walk.facts.import(Import {
        kind,
        module: module.into(),
        level,
        item,
        alias,
        reexport,
        type_only,
        lazy: false,
        test: false,
        scope: walk.context.scope,
        at: position(node),
    });
    let function_scoped = walk.input.language.manifest.resolution.function_scoped;
    let owns =
        |kind: ScopeKind| kind != ScopeKind::Flow && !(function_scoped && kind == ScopeKind::Block);
    if alias.is_some() {
        let scope = walk.facts.nearest(walk.context.scope, owns);
        walk.facts.bind_import(scope, walk.context.scope, alias, id);
    }
    id
}

/// True below a condition that holds for type checkers only.
fn is_for_type_checkers<'t>(walk: &Walk<'t>, node: Node<'t>) -> bool {
    let words = &walk.input.language.manifest.modules.erased_imports.conditions;
    if words.is_empty() || walk.facts.scope_kind(walk.context.scope) == ScopeKind::File {
        return false;
    }
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        if let Some(Rule::If { condition, then, .. }) = rule_choice::rule_at(&walk.input, outer)
            && let (Some(condition), Some(then)) = (condition.first(outer), then.first(outer))
        {
            let text = texts::text_of(&walk.input, condition);
            if then.id() == inner.id() && words.iter().any(|word| *word == text) {
                return true;
            }
        }
        inner = outer;
    }
    false
}

/// Module that a call names.
pub(crate) struct ModuleName<'t> {
    module: String,
    level: u16,
    node: Node<'t>,
}

/// Returns the module that a text names. Behind leading separators it is relative: to the package
/// that a further argument names, or to that of the file if the argument is a name that the file
/// does not bind: the run time binds it (`__package__`).
pub(crate) fn named_module<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    anchor: Option<Node<'t>>,
) -> Option<ModuleName<'t>> {
    let text = quoted(&walk.input, node);
    let Some(anchor) = anchor else { return Some(ModuleName { module: text, level: 0, node }) };
    let anchor = match rule_choice::rule_at(&walk.input, anchor) {
        Some(Rule::NamedArgument { value, .. }) => value.first(anchor)?,
        _ => anchor,
    };
    let separator = &walk.input.language.manifest.modules.separator;
    let plain = text.trim_start_matches(separator.as_str());
    let level = (text.len() - plain.len()) / separator.len().max(1);
    match rule_choice::rule_at(&walk.input, anchor) {
        _ if level == 0 => Some(ModuleName { module: text, level: 0, node }),
        Some(Rule::Text { .. }) => {
            let package = quoted(&walk.input, anchor);
            let parts: Vec<&str> = package.split(separator.as_str()).collect();
            let kept = parts.len().checked_sub(level - 1)?;
            let all: Vec<&str> = parts[..kept].iter().copied().chain([plain]).collect();
            Some(ModuleName { module: all.join(separator), level: 0, node })
        }
        Some(Rule::Name { .. }) => {
            let name = names::name_of(walk, anchor);
            if walk.facts.visible(walk.context.scope, name).is_some() {
                return None;
            }
            let level = u16::try_from(level).ok()?;
            Some(ModuleName { module: plain.to_owned(), level, node })
        }
        _ => None,
    }
}

/// Records an import in the form of a call.
pub(crate) fn import_by_call<'t>(walk: &mut Walk<'t>, named: &ModuleName<'t>, alias: NameId) {
    let (kind, item) = (ImportKind::Module, NameId::NONE);
    let ModuleName { module, level, node } = named;
    let (module, level, node) = (module.clone(), *level, *node);
    record(walk, ImportEntry { kind, module, level, item, alias, node, reexport: false });
}

/// Records the import of what a key of a pattern names, out of a module that a call gives.
pub(crate) fn item_by_call<'t>(
    walk: &mut Walk<'t>,
    named: &ModuleName<'t>,
    key: Node<'t>,
    alias: NameId,
) {
    let (kind, item) = (ImportKind::Item, names::name_of(walk, key));
    let (module, level) = (named.module.clone(), named.level);
    record(walk, ImportEntry { kind, module, level, item, alias, node: key, reexport: false });
}

fn last_segment(input: &Input<'_>, facts: &mut Builder, import: ImportId) -> NameId {
    let module =
        import.get().map_or("", |position| &facts.facts.imports[position].module).to_owned();
    let separator = &input.language.manifest.modules.separator;
    let last = module.rsplit(separator.as_str()).next().unwrap_or(&module);
    facts.name(last)
}

pub(super) fn quoted<'t>(input: &Input<'t>, node: Node<'t>) -> String {
    texts::text_of(input, node).trim_matches(QUOTES).to_owned()
}
