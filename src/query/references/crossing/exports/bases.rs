//! Members of a type or module by a name: its own, or those of its nearest bases.

use super::headers::language_of;
use super::modules::{by_other_name, is_import_in, is_module};
use super::public::{Exports, Part};
use crate::graph::error::QueryError;
use crate::names::keys_of;
use cograph_grammar::{Language, MemberLookup};
use cograph_model::{RelationKind, SymbolKind};
use cograph_store::SymbolKey;

/// Maximum number of bases in which a member is looked for.
const MAX_BASES: usize = 200;

/// Adds the members of a type or module by a name, its own or those of its nearest bases.
pub(super) fn member(
    exports: &Exports<'_>,
    container: SymbolKey,
    part: Part<'_>,
    found: &mut Vec<SymbolKey>,
) -> Result<(), QueryError> {
    for key in members_of(exports, container, part)? {
        if !found.contains(&key) {
            found.push(key);
        }
    }
    Ok(())
}

/// The members of a type or module by a name, its own or those of its nearest bases.
fn members_of(
    exports: &Exports<'_>,
    container: SymbolKey,
    Part { name, is_called }: Part<'_>,
) -> Result<Vec<SymbolKey>, QueryError> {
    let mut level = vec![container];
    let (mut seen, mut found) = (level.clone(), Vec::new());
    let separates = |language: &Language| language.manifest.resolution.separate_callables;
    let is_callable = is_called && language_of(exports, container)?.is_some_and(separates);
    while !level.is_empty() && seen.len() < MAX_BASES {
        let mut is_found = false;
        for head in exports.heads(name)?.iter() {
            let may_be = !is_callable || head.kind != SymbolKind::Field;
            if head.container.is_some_and(|own| level.contains(&own))
                && may_be
                && exports.is_public(head.key)?
            {
                is_found = true;
                if !found.contains(&head.key) {
                    found.push(head.key);
                }
            }
        }
        for &module in &level {
            is_found |= imported(exports, module, name, &mut found)?;
        }
        if is_found {
            return without_hidden(exports, container, found);
        }
        let mut above = Vec::new();
        for &symbol in &level {
            for relation in exports.lookup.relations_from(symbol)?.iter() {
                let is_base = matches!(
                    relation.kind,
                    RelationKind::Inherits | RelationKind::Implements | RelationKind::Defines
                );
                if is_base && !seen.contains(&relation.to) {
                    seen.push(relation.to);
                    above.push(relation.to);
                }
            }
        }
        level = above;
    }
    Ok(found)
}

/// The members but those that the type has for an interface, where one of its own hides them.
fn without_hidden(
    exports: &Exports<'_>,
    container: SymbolKey,
    found: Vec<SymbolKey>,
) -> Result<Vec<SymbolKey>, QueryError> {
    let language = language_of(exports, container)?;
    let hides =
        |language: &Language| language.manifest.resolution.members == MemberLookup::InherentFirst;
    if found.len() < 2 || !language.is_some_and(hides) {
        return Ok(found);
    }
    let mut own = Vec::new();
    for &key in &found {
        let relations = exports.lookup.relations_from(key)?;
        if !relations.iter().any(|one| one.kind == RelationKind::Overrides) {
            own.push(key);
        }
    }
    Ok(if own.is_empty() { found } else { own })
}

/// Adds what a module inside of a file imports by a name; true if there is something.
fn imported(
    exports: &Exports<'_>,
    module: SymbolKey,
    name: &str,
    found: &mut Vec<SymbolKey>,
) -> Result<bool, QueryError> {
    let row = exports.lookup.symbol(module)?;
    if !is_module(row.kind) {
        return Ok(false);
    }
    let (file, mut is_found) = (exports.lookup.file(row.file)?, false);
    for key in keys_of(&exports.lookup, name)? {
        let sites = exports.lookup.snapshot.sites_named(&file, key)?;
        for site in &sites {
            if !is_import_in(exports, &file, site, Some(module))? {
                continue;
            }
            for target in exports.lookup.targets(site)? {
                is_found = true;
                if !found.contains(&target) {
                    found.push(target);
                }
            }
        }
    }
    Ok(by_other_name(exports, &file, name, Some(module), found)? || is_found)
}
