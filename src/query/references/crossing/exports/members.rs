//! Members of symbols along a qualified name: of types and their bases, of modules inside of a
//! file, and of what a call returns.

use super::modules::{is_import_in, is_module};
use super::public::{Exports, Part};
use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use crate::names::keys_of;
use cograph_model::{RelationKind, SiteKind, SymbolKind};
use cograph_store::SymbolKey;

/// Maximum number of bases in which a member is looked for.
const MAX_BASES: usize = 200;

/// Type of a method's own container, in a header.
const OWN_TYPE: &str = "Self";

/// Symbols that the rest of a name leads to, from those of its part before. None if a step
/// cannot be followed.
pub(super) fn members(
    exports: &Exports<'_>,
    from: Vec<SymbolKey>,
    first: Part<'_>,
    rest: &[Part<'_>],
) -> Result<(Vec<SymbolKey>, Certainty), QueryError> {
    let (mut here, mut part, mut certainty) = (from, first, Certainty::Certain);
    for next in rest {
        let mut found = Vec::new();
        for &symbol in &here {
            exports.lookup.check()?;
            let row = exports.lookup.symbol(symbol)?;
            if part.is_called && row.kind.is_callable() {
                // The type is read from the header, not inferred.
                certainty = certainty.max(Certainty::Likely);
                for result in result_types(exports, symbol)? {
                    member(exports, result, next.name, &mut found)?;
                }
            } else {
                member(exports, symbol, next.name, &mut found)?;
            }
        }
        if found.is_empty() {
            return Ok((Vec::new(), certainty));
        }
        (here, part) = (found, *next);
    }
    Ok((here, certainty))
}

/// Adds the members of a type or module by a name, its own or those of its nearest bases.
fn member(
    exports: &Exports<'_>,
    container: SymbolKey,
    name: &str,
    found: &mut Vec<SymbolKey>,
) -> Result<(), QueryError> {
    let mut level = vec![container];
    let mut seen = level.clone();
    while !level.is_empty() && seen.len() < MAX_BASES {
        let mut is_found = false;
        for head in exports.heads(name)?.iter() {
            if head.container.is_some_and(|own| level.contains(&own))
                && exports.is_public(head.key)?
            {
                is_found = true;
                if !found.contains(&head.key) {
                    found.push(head.key);
                }
            }
        }
        for &module in &level {
            is_found |= imported(exports, module, name, found)?;
        }
        if is_found {
            return Ok(());
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
    Ok(())
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
    Ok(is_found)
}

/// Types of the repository in the header of a function.
fn result_types(exports: &Exports<'_>, function: SymbolKey) -> Result<Vec<SymbolKey>, QueryError> {
    let row = exports.lookup.symbol(function)?;
    let mut found = Vec::new();
    for site in exports.lookup.snapshot.sites_in(&row)? {
        if site.kind != SiteKind::Type {
            continue;
        }
        let name = exports.lookup.name(site.name)?;
        if has_word(&row.signature, &name) {
            for target in exports.lookup.targets(&site)? {
                let is_type = exports.lookup.symbol(target)?.kind.is_type();
                if is_type && !found.contains(&target) {
                    found.push(target);
                }
            }
        }
    }
    if let Some(container) = row.container.filter(|_| has_word(&row.signature, OWN_TYPE)) {
        let kind = exports.lookup.symbol(container)?.kind;
        if (kind.is_type() || kind == SymbolKind::Module) && !found.contains(&container) {
            found.push(container);
        }
    }
    Ok(found)
}

/// True if a text has a word, not as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].chars().next_back().is_some_and(is_of_word)
                && !text[at + word.len()..].chars().next().is_some_and(is_of_word)
        })
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn a_word_is_no_part_of_another() {
        assert!(has_word("fn new() -> Self", "Self"));
        assert!(!has_word("fn new(self: Selfish)", "Self"));
        assert!(!has_word("fn f()", ""));
    }
}
