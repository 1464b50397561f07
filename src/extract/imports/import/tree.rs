//! Imports of paths: trees with lists, aliases and wildcards, and single paths.

use crate::imports::record;
use crate::imports::record::ImportEntry;
use crate::walk::input::Input;
use crate::walk::{Walk, children, names, texts};
use cograph_grammar::{ImportForm, PathWord, Selector};
use cograph_model::facts::{ImportKind, NameId};
use tree_sitter::Node;

pub(super) fn import_tree<'t>(
    walk: &mut Walk<'t>,
    form: &'static ImportForm,
    node: Node<'t>,
    prefix: &mut Vec<String>,
    reexport: bool,
) {
    let ImportForm::Tree {
        list,
        path,
        name,
        alias,
        wildcard,
        scoped_list,
        aliased,
        plain_list,
        ..
    } = form
    else {
        return;
    };
    let kind = node.kind();
    let depth = prefix.len();
    if kind == scoped_list || kind == plain_list {
        if kind == scoped_list
            && let Some(path) = path.first(node)
        {
            push_path(&walk.input, path, prefix);
        }
        let items = if kind == plain_list { Some(node) } else { list.first(node) };
        for item in
            items.map(|items| children::named_children(&walk.input, items)).unwrap_or_default()
        {
            walk.nested(item, (), |walk| import_tree(walk, form, item, prefix, reexport));
        }
    } else if kind == wildcard {
        for child in children::named_children(&walk.input, node) {
            push_path(&walk.input, child, prefix);
        }
        let (item, alias) = (NameId::NONE, NameId::NONE);
        let module = joined(&walk.input, prefix);
        record::record(
            walk,
            ImportEntry {
                kind: ImportKind::Wildcard,
                module,
                level: 0,
                item,
                alias,
                node,
                reexport,
            },
        );
    } else {
        let (target, alias_node) = match kind == aliased {
            true => (path.first(node), alias.first(node)),
            false => (Some(node), None),
        };
        let Some(target) = target else { return };
        push_path(&walk.input, target, prefix);
        let last_node = name.first(target).unwrap_or(target);
        import_leaf(walk, prefix, last_node, alias_node, reexport);
    }
    prefix.truncate(depth);
}

/// Imports the last segment of a path; the keyword for the module itself imports the path
/// before it.
fn import_leaf<'t>(
    walk: &mut Walk<'t>,
    path: &[String],
    node: Node<'t>,
    alias: Option<Node<'t>>,
    reexport: bool,
) {
    let modules = &walk.input.language.manifest.modules;
    let Some((last, before)) = path.split_last() else { return };
    let is_self = modules.words.get(last) == Some(&PathWord::Current) && !before.is_empty();
    let (item, before) = match before.split_last() {
        Some((item, before)) if is_self => (item, before),
        _ => (last, before),
    };
    let bound = match alias {
        Some(alias) => names::name_of(walk, alias),
        None => walk.facts.name(item),
    };
    let module = before.join(&modules.separator);
    let item = walk.facts.name(item);
    record::record(
        walk,
        ImportEntry {
            kind: ImportKind::Item,
            module,
            level: 0,
            item,
            alias: bound,
            node,
            reexport,
        },
    );
}

fn joined(input: &Input<'_>, path: &[String]) -> String {
    path.join(&input.language.manifest.modules.separator)
}

fn push_path<'t>(input: &Input<'t>, node: Node<'t>, path: &mut Vec<String>) {
    let text: String = texts::text_of(input, node).split_whitespace().collect();
    let separator = &input.language.manifest.modules.separator;
    path.extend(text.split(separator.as_str()).filter(|part| !part.is_empty()).map(str::to_owned));
}

pub(super) fn import_path<'t>(
    walk: &mut Walk<'t>,
    node: Node<'t>,
    of: &'static Selector,
    wildcard: Option<&'static Selector>,
    member: Option<&str>,
) {
    let Some(path_node) = of.first(node) else { return };
    let text: String = texts::text_of(&walk.input, path_node).split_whitespace().collect();
    let separator = walk.input.language.manifest.modules.separator.clone();
    let is_member = member.is_some_and(|word| {
        children::children(&walk.input, node).into_iter().any(|child| child.kind() == word)
    });
    let level = u16::from(is_member);
    if wildcard.is_some_and(|selector| selector.first(node).is_some()) {
        let (item, alias) = (NameId::NONE, NameId::NONE);
        record::record(
            walk,
            ImportEntry {
                kind: ImportKind::Wildcard,
                module: text,
                level,
                item,
                alias,
                node: path_node,
                reexport: false,
            },
        );
        return;
    }
    let (module, last) = text
        .rsplit_once(separator.as_str())
        .map_or(("", text.as_str()), |(module, last)| (module, last));
    let item = walk.facts.name(last);
    let module = module.to_owned();
    record::record(
        walk,
        ImportEntry {
            kind: ImportKind::Item,
            module,
            level,
            item,
            alias: item,
            node: path_node,
            reexport: false,
        },
    );
}
