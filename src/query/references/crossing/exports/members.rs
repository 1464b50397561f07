//! Members of symbols along a qualified name: of types and their bases, of modules inside of a
//! file, and of what a call returns.

use super::modules::{is_import_in, is_module};
use super::public::{Exports, Part};
use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use crate::names::keys_of;
use cograph_grammar as grammar;
use cograph_model::{RelationKind, SiteKind, SymbolKind};
use cograph_store::{SiteRow, SymbolKey, SymbolRow};

/// Maximum number of bases in which a member is looked for.
const MAX_BASES: usize = 200;

/// Words for the type of a method's own container, in a header.
const OWN_TYPE: [&str; 3] = ["Self", "self", "this"];

/// What the rest of a name leads to.
#[derive(Debug)]
pub(super) struct Followed {
    /// Symbols; none if a step cannot be followed.
    pub(super) found: Vec<SymbolKey>,
    pub(super) certainty: Certainty,
    /// True if the step that cannot be followed is the result of a function without a type in its
    /// header, in a language that infers it.
    pub(super) is_inferred: bool,
}

/// Symbols that the rest of a name leads to, from those of its part before.
pub(super) fn members(
    exports: &Exports<'_>,
    from: Vec<SymbolKey>,
    first: Part<'_>,
    rest: &[Part<'_>],
) -> Result<Followed, QueryError> {
    let (mut here, mut part, mut certainty) = (from, first, Certainty::Certain);
    for next in rest {
        let (mut found, mut is_inferred) = (Vec::new(), false);
        for &symbol in &here {
            exports.lookup.check()?;
            let row = exports.lookup.symbol(symbol)?;
            let gives_result = part.is_called && row.kind.is_callable();
            if !gives_result {
                member(exports, symbol, next.name, &mut found)?;
            }
            // A field, or a function that is read like one.
            let is_value = !part.is_called && !row.kind.is_type() && !is_module(row.kind);
            if gives_result || is_value && found.is_empty() {
                // The type is read from the header, not inferred.
                certainty = certainty.max(Certainty::Likely);
                for result in types_of(exports, &row)? {
                    member(exports, result, next.name, &mut found)?;
                }
                is_inferred |= found.is_empty() && infers_result(exports, &row)?;
            }
        }
        if found.is_empty() {
            return Ok(Followed { found, certainty, is_inferred });
        }
        (here, part) = (found, *next);
    }
    Ok(Followed { found: here, certainty, is_inferred: false })
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

/// Types of the repository in the header of a field, or of the result in that of a function.
fn types_of(exports: &Exports<'_>, of: &SymbolRow) -> Result<Vec<SymbolKey>, QueryError> {
    let places = match of.kind.is_callable() {
        true => {
            let (front, behind) = around_parameters(&of.signature, &of.name_text);
            [without_brackets(front), behind.to_owned()]
        }
        false => [String::new(), of.signature.to_string()],
    };
    let mut found: [Vec<SymbolKey>; 2] = Default::default();
    for site in types_in(exports, of)? {
        let name = exports.lookup.name(site.name)?;
        for (place, found) in places.iter().zip(&mut found) {
            if !has_word(place, &name) {
                continue;
            }
            for target in exports.lookup.targets(&site)? {
                let is_type = exports.lookup.symbol(target)?.kind.is_type();
                if is_type && !found.contains(&target) {
                    found.push(target);
                }
            }
        }
    }
    let [front, mut behind] = found;
    if let Some(container) = of.container
        && OWN_TYPE.iter().any(|own| has_word(&places[1], own))
    {
        let kind = exports.lookup.symbol(container)?.kind;
        if (kind.is_type() || kind == SymbolKind::Module) && !behind.contains(&container) {
            behind.push(container);
        }
    }
    Ok(if front.is_empty() { behind } else { front })
}

/// Types that are named in a symbol: in a function, or in the header of a field.
fn types_in(exports: &Exports<'_>, of: &SymbolRow) -> Result<Vec<SiteRow>, QueryError> {
    let snapshot = exports.lookup.snapshot;
    let mut sites = Vec::new();
    if of.kind.is_callable() {
        sites = snapshot.sites_in(of)?;
    } else {
        // What encloses them is the type or function around the field.
        let file = exports.lookup.file(of.file)?;
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let words = of.signature.split(|letter| !is_of_name(letter));
        for word in words.filter(|word| !word.is_empty() && **word != *of.name_text) {
            for key in keys_of(&exports.lookup, word)? {
                sites.extend(snapshot.sites_named(&file, key)?);
            }
        }
        let lines = of.extent.start.line..=of.extent.end.line;
        sites.retain(|site| lines.contains(&site.at.line));
    }
    sites.retain(|site| site.kind == SiteKind::Type);
    Ok(sites)
}

/// True for a function that has no type of its result in its header, in a language that infers it.
fn infers_result(exports: &Exports<'_>, of: &SymbolRow) -> Result<bool, QueryError> {
    let file = exports.lookup.file(of.file)?;
    let language = grammar::by_name(exports.lookup.language(file.language));
    let infers = language.is_some_and(|language| language.manifest.resolution.infer_returns);
    let (_, behind) = around_parameters(&of.signature, &of.name_text);
    Ok(infers && of.kind.is_callable() && !behind.contains(char::is_alphanumeric))
}

/// The header of a function in front of its name, and behind its parameters.
fn around_parameters<'h>(header: &'h str, name: &str) -> (&'h str, &'h str) {
    let Some(at) = word_at(header, name) else { return ("", header) };
    let (front, rest) = (&header[..at], &header[at + name.len()..]);
    let mut depth = 0_usize;
    for (at, letter) in rest.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 1 => return (front, &rest[at + 1..]),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (front, "")
}

/// A text without what is in parentheses, and without the names that qualify another.
fn without_brackets(text: &str) -> String {
    let (mut kept, mut depth) = (String::new(), 0_usize);
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '.' | ':' if depth == 0 => {
                let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
                kept.truncate(kept.trim_end_matches(is_of_name).len());
            }
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept
}

/// True if a text has a word, not as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    word_at(text, word).is_some()
}

/// Where a text has a word first, not as a part of a longer one.
fn word_at(text: &str, word: &str) -> Option<usize> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut places = text.match_indices(word).map(|(at, _)| at).filter(|_| !word.is_empty());
    places.find(|&at| {
        !text[..at].chars().next_back().is_some_and(is_of_word)
            && !text[at + word.len()..].chars().next().is_some_and(is_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::{around_parameters, has_word, without_brackets};

    #[test]
    fn the_type_of_a_result_is_in_front_of_the_name_or_behind_the_parameters() {
        let check = |header: &str, name: &str, front: &str, behind: &str| {
            let (found, rest) = around_parameters(header, name);
            assert_eq!((without_brackets(found).trim(), rest.trim()), (front, behind), "{header}");
        };
        check("func (c *Tree) Kind(a Place) *lib.Kind", "Kind", "func", "*lib.Kind");
        check("static Kind of(Place a) throws Wrong", "of", "static Kind", "throws Wrong");
        check("resolve(at: (a: Tree) => Kind): Place", "resolve", "", ": Place");
        check("get parent()", "parent", "get", "");
        check("fun Tree.kind(): Kind", "kind", "fun", ": Kind");
    }

    #[test]
    fn a_word_is_no_part_of_another() {
        assert!(has_word("fn new() -> Self", "Self"));
        assert!(!has_word("fn new(self: Selfish)", "Self"));
        assert!(!has_word("fn f()", ""));
    }
}
