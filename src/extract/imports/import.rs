//! Imports, in the forms of module systems.

pub(super) mod clauses;
pub(super) mod tree;

use crate::imports::record::ImportEntry;
use crate::imports::{export, record};
use crate::walk::input::Input;
use crate::walk::position::position;
use crate::walk::{Walk, children, names, rule_choice, texts};
use cograph_grammar::{ImportForm, PathWord, Selector};
use cograph_model::facts::{Binding, Import, ImportKind, NameId};
use tree_sitter::Node;

pub(crate) fn import<'t>(walk: &mut Walk<'t>, form: &'static ImportForm, node: Node<'t>) {
    match form {
        ImportForm::Modules { names, alias, aliased } => {
            for name in children::every(&walk.input, Some(names), node) {
                let inner = aliased.as_ref().and_then(|selector| selector.first(name));
                let alias_node = alias.as_ref().and_then(|selector| selector.first(name));
                import_module(walk, inner.unwrap_or(name), alias_node);
            }
        }
        ImportForm::Items { module, relative, names, wildcard, alias, aliased } => {
            let Some(module_node) = module.first(node) else { return };
            let (module, level) = relative_module(&walk.input, module_node, relative.as_ref());
            if let Some(wildcard) = wildcard.as_ref().and_then(|selector| selector.first(node)) {
                let (item, alias) = (NameId::NONE, NameId::NONE);
                record::record(
                    walk,
                    ImportEntry {
                        kind: ImportKind::Wildcard,
                        module,
                        level,
                        item,
                        alias,
                        node: wildcard,
                        reexport: true,
                    },
                );
                return;
            }
            for name in children::every(&walk.input, Some(names), node) {
                let inner =
                    aliased.as_ref().and_then(|selector| selector.first(name)).unwrap_or(name);
                let alias_node =
                    alias.as_ref().and_then(|selector| selector.first(name)).unwrap_or(inner);
                let (item, alias) = (names::name_of(walk, inner), names::name_of(walk, alias_node));
                let module = module.clone();
                record::record(
                    walk,
                    ImportEntry {
                        kind: ImportKind::Item,
                        module,
                        level,
                        item,
                        alias,
                        node: inner,
                        reexport: true,
                    },
                );
            }
        }
        ImportForm::Clauses { .. } => clauses::import_clauses(walk, form, node),
        ImportForm::Tree { of, .. } => {
            let reexport = is_public(&walk.input, node);
            if let Some(tree) = of.first(node) {
                let reexport = reexport || walk.context.around.exported;
                tree::import_tree(walk, form, tree, &mut Vec::new(), reexport);
            }
        }
        ImportForm::Path { of, wildcard, member, everywhere } => {
            walk.context.everywhere = is_everywhere(everywhere.as_ref(), node);
            tree::import_path(walk, node, of, wildcard.as_ref(), member.as_deref())
        }
        ImportForm::Quoted { path, alias } => import_quoted(walk, node, path, alias.as_ref()),
        ImportForm::Include { path, system, computed } => {
            let Some(path) = path.first(node) else { return };
            let is_system = path.kind() == system;
            let known = children::every(&walk.input, computed.as_ref(), node)
                .last()
                .map_or(path.start_byte(), |last| last.end_byte());
            let module = texts::text_at(&walk.input, known..path.end_byte())
                .trim_matches(['"', '\'', '<', '>', ' '])
                .to_owned();
            let module = if known > path.start_byte() {
                module.trim_start_matches('/').to_owned()
            } else {
                module
            };
            let (item, alias) = (NameId::NONE, NameId::NONE);
            let level = u16::from(is_system);
            record::record(
                walk,
                ImportEntry {
                    kind: ImportKind::Include,
                    module,
                    level,
                    item,
                    alias,
                    node: path,
                    reexport: true,
                },
            );
        }
        ImportForm::Using { of, namespace, alias, prefix, everywhere } => {
            walk.context.everywhere = is_everywhere(everywhere.as_ref(), node);
            let before = prefix.as_ref().and_then(|prefix| prefix.first(node.parent()?.parent()?));
            import_using(walk, node, before, of, namespace.as_deref(), alias.as_ref());
        }
        ImportForm::Joined { path, names, wildcard, alias, aliased } => {
            let segments: Vec<&str> = children::every(&walk.input, Some(path), node)
                .iter()
                .map(|part| rule_choice::trimmed_text(&walk.input, *part))
                .collect();
            import_joined(walk, node, &segments, names, wildcard, alias, aliased);
        }
        ImportForm::Export { .. } => {
            export::export_from(walk, form, node);
        }
        ImportForm::Whole { name, alias } => {
            let reexport = is_public(&walk.input, node);
            let Some(name) = name.first(node) else { return };
            let alias = alias.as_ref().and_then(|selector| selector.first(node)).unwrap_or(name);
            let (module, alias, item) = (
                texts::text_of(&walk.input, name).to_owned(),
                names::name_of(walk, alias),
                NameId::NONE,
            );
            record::record(
                walk,
                ImportEntry {
                    kind: ImportKind::Module,
                    module,
                    level: 0,
                    item,
                    alias,
                    node: name,
                    reexport,
                },
            );
        }
        ImportForm::Child { name } => {
            if let Some(name) = name.first(node) {
                child_module(walk, node, name);
            }
        }
    }
}

/// True if an import has the mark of one that all files of the project see; `None` where imports
/// have no such mark.
fn is_everywhere(mark: Option<&Selector>, node: Node<'_>) -> Option<bool> {
    mark.map(|mark| mark.first(node).is_some())
}

/// Visits an import with one node for each segment of its path.
fn import_joined<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    segments: &[&str],
    names: &'static Option<Selector>,
    wildcard: &'static Option<Selector>,
    alias: &'static Option<Selector>,
    aliased: &'static Option<Selector>,
) {
    let kind = ImportKind::Item;
    if let Some(wildcard) = wildcard.as_ref().and_then(|selector| selector.first(node)) {
        let (module, item, alias) =
            (joined_text(&walk.input, segments), NameId::NONE, NameId::NONE);
        record::record(
            walk,
            ImportEntry {
                kind: ImportKind::Wildcard,
                module,
                level: 0,
                item,
                alias,
                node: wildcard,
                reexport: false,
            },
        );
        return;
    }
    let names = children::every(&walk.input, names.as_ref(), node);
    if let (true, Some((last, before))) = (names.is_empty(), segments.split_last()) {
        let (module, item) = (joined_text(&walk.input, before), walk.facts.name(last));
        record::record(
            walk,
            ImportEntry { kind, module, level: 0, item, alias: item, node, reexport: false },
        );
    }
    for name in names {
        let part = |selector: &'static Option<Selector>| {
            selector.as_ref().and_then(|selector| selector.first(name))
        };
        let inner = part(aliased).unwrap_or(name);
        let (item, alias) =
            (names::name_of(walk, inner), names::name_of(walk, part(alias).unwrap_or(inner)));
        let module = joined_text(&walk.input, segments);
        record::record(
            walk,
            ImportEntry { kind, module, level: 0, item, alias, node: inner, reexport: false },
        );
    }
}

fn joined_text(input: &Input<'_>, segments: &[&str]) -> String {
    segments.join(&input.language.manifest.modules.separator)
}

fn import_module<'t>(walk: &mut Walk<'t>, name: Node<'t>, alias: Option<Node<'t>>) {
    let module: String = texts::text_of(&walk.input, name).split_whitespace().collect();
    let separator = &walk.input.language.manifest.modules.separator;
    let bound = match alias {
        Some(alias) => names::name_of(walk, alias),
        // Without an alias the first package is bound; the others are its members.
        None => {
            let first = module.split(separator.as_str()).next().unwrap_or(&module).to_owned();
            walk.facts.name(&first)
        }
    };
    let whole = alias.is_some() || !module.contains(separator.as_str());
    let item = NameId::NONE;
    if whole {
        record::record(
            walk,
            ImportEntry {
                kind: ImportKind::Module,
                module,
                level: 0,
                item,
                alias: bound,
                node: name,
                reexport: true,
            },
        );
        return;
    }
    let first = walk.facts.text(bound).to_owned();
    record::record(
        walk,
        ImportEntry {
            kind: ImportKind::Module,
            module,
            level: 0,
            item,
            alias: NameId::NONE,
            node: name,
            reexport: true,
        },
    );
    if walk.facts.bound(walk.context.scope, bound).is_none() {
        let id = walk.facts.import(Import {
            kind: ImportKind::Module,
            module: first.into(),
            level: 0,
            item,
            alias: bound,
            reexport: true,
            type_only: false,
            lazy: false,
            test: false,
            scope: walk.context.scope,
            at: position(name),
        });
        let scope = walk.context.scope;
        let place = Binding::at(scope, bound, 0);
        walk.facts.bind(place.of_import(id));
    }
}

/// Parses a relative module with leading dots: returns its name and the number of levels.
fn relative_module<'t>(
    input: &Input<'t>,
    node: Node<'t>,
    relative: Option<&'static Selector>,
) -> (String, u16) {
    let text: String = texts::text_of(input, node).split_whitespace().collect();
    if relative.is_none() {
        return (text, 0);
    }
    let dots = text.len() - text.trim_start_matches('.').len();
    (text[dots..].to_owned(), u16::try_from(dots).unwrap_or(u16::MAX))
}

fn is_public<'t>(input: &Input<'t>, node: Node<'t>) -> bool {
    children::children(input, node)
        .into_iter()
        .any(|child| input.language.is_modifier_node(child.kind_id()))
}

fn import_quoted<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    path: &'static Selector,
    alias: Option<&'static Selector>,
) {
    let Some(path_node) = path.first(node) else { return };
    let module = record::quoted(&walk.input, path_node);
    let separator = &walk.input.language.manifest.modules.separator;
    let alias_text = alias
        .and_then(|selector| selector.first(node))
        .map(|alias| texts::text_of(&walk.input, alias));
    let (kind, bound) = match alias_text {
        Some(".") => (ImportKind::Wildcard, ""),
        Some("_") => (ImportKind::Include, ""),
        Some(alias) => (ImportKind::Module, alias),
        None => (ImportKind::Module, package_name(&module, separator)),
    };
    let alias = if bound.is_empty() { NameId::NONE } else { walk.facts.name(bound) };
    let item = NameId::NONE;
    record::record(
        walk,
        ImportEntry {
            kind,
            module: module.clone(),
            level: 0,
            item,
            alias,
            node: path_node,
            reexport: false,
        },
    );
}

/// Makes the members of a module visible in the enclosing scope.
pub(crate) fn import_members<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let module = rule_choice::path_text(&walk.input, node);
    let (item, alias) = (NameId::NONE, NameId::NONE);
    record::record(
        walk,
        ImportEntry {
            kind: ImportKind::Wildcard,
            module,
            level: 0,
            item,
            alias,
            node,
            reexport: true,
        },
    );
}

fn import_using<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    before: Option<Node<'t>>,
    of: &'static Selector,
    namespace: Option<&str>,
    alias: Option<&'static Selector>,
) {
    let Some(path_node) = of.first(node) else { return };
    let mut text = rule_choice::path_text(&walk.input, path_node);
    let separator = walk.input.language.manifest.modules.separator.clone();
    if let Some(before) = before {
        text = format!("{}{separator}{text}", texts::text_of(&walk.input, before));
    }
    if namespace.is_some_and(|word| {
        children::children(&walk.input, node).into_iter().any(|child| child.kind() == word)
    }) {
        import_members(walk, path_node);
        return;
    }
    if let Some(alias) = alias.and_then(|selector| selector.first(node)) {
        let (item, alias) = (NameId::NONE, names::name_of(walk, alias));
        let kind = ImportKind::Module;
        record::record(
            walk,
            ImportEntry {
                kind,
                module: text,
                level: 0,
                item,
                alias,
                node: path_node,
                reexport: true,
            },
        );
        return;
    }
    let (module, last) = text.rsplit_once(separator.as_str()).unwrap_or(("", &text));
    let (item, module) = (walk.facts.name(last), module.to_owned());
    record::record(
        walk,
        ImportEntry {
            kind: ImportKind::Item,
            module,
            level: 0,
            item,
            alias: item,
            node: path_node,
            reexport: true,
        },
    );
}

/// Declares a child module in a separate file.
pub(crate) fn child_module<'t>(walk: &mut Walk<'t>, node: Node<'t>, name_node: Node<'t>) {
    let reexport = is_public(&walk.input, node);
    let current = walk.input.language.manifest.modules.word(PathWord::Current);
    let paths = export::module_paths(&walk.input, &walk.context);
    let item = names::name_of(walk, name_node);
    let kind = ImportKind::Module;
    let entry = |module: String| ImportEntry {
        kind,
        module,
        level: 0,
        item,
        alias: item,
        node: name_node,
        reexport,
    };
    let always = paths.always.unwrap_or_else(|| current.unwrap_or_default().to_owned());
    let mut modules = paths.conditional.into_iter().chain([always]);
    // One of the files is the target of the reference.
    if let Some(first) = modules.next() {
        record::record(walk, entry(first));
    }
    for module in modules {
        record::enter(walk, entry(module));
    }
}

/// Returns the default name of a package: the last segment without a version.
fn package_name<'m>(module: &'m str, separator: &str) -> &'m str {
    let mut segments = module.rsplit(separator);
    let last = segments.next().unwrap_or(module);
    let is_version = last
        .strip_prefix('v')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    let name = if is_version { segments.next().unwrap_or(last) } else { last };
    name.split('.').next().unwrap_or(name)
}
