//! Members of symbols along a qualified name: of types and their bases, of modules inside of a
//! file, and of what a call returns.

use super::headers::{
    HeldValue, every_value_gives, handed_on, holder_member, infers_result, language_of, plain,
    values_of,
};
use super::modules::{by_other_name, is_import_in, is_module};
use super::public::{Exports, Part};
use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use crate::names::keys_of;
use cograph_grammar::{ImplicitUse, Language, MemberLookup};
use cograph_model::RelationKind;
use cograph_store::SymbolKey;

/// Maximum number of bases in which a member is looked for.
const MAX_BASES: usize = 200;

/// What the rest of a name leads to.
#[derive(Debug)]
pub(super) struct Followed {
    /// Symbols; none if a step cannot be followed.
    pub(super) found: Vec<SymbolKey>,
    pub(super) certainty: Certainty,
    /// True if the step that cannot be followed is the result of a function without a type in its
    /// header, in a language that infers it.
    pub(super) is_inferred: bool,
    /// True for a member of a type of the language: no symbol of the package.
    pub(super) is_outside: bool,
}

/// What a part of a name leads to, while the next one is read.
#[derive(Default)]
struct PartMeaning {
    found: Vec<SymbolKey>,
    /// Values that a type of the language hands on: the element of a list.
    passed: Vec<HeldValue>,
    is_outside: bool,
}

/// Symbols that the rest of a name leads to, from those of its part before.
pub(super) fn members(
    exports: &Exports<'_>,
    from: Vec<SymbolKey>,
    first: Part<'_>,
    rest: &[Part<'_>],
) -> Result<Followed, QueryError> {
    let (mut here, mut part, mut certainty) = (from, first, Certainty::Certain);
    let mut passed: Vec<HeldValue> = Vec::new();
    for next in rest {
        let (mut reached, mut infers) = (PartMeaning::default(), false);
        let mut values = std::mem::take(&mut passed);
        for &symbol in &here {
            exports.lookup.check()?;
            let row = exports.lookup.symbol(symbol)?;
            let gives_result = part.is_called && row.kind.is_callable();
            if !gives_result {
                member(exports, symbol, next.name, &mut reached.found)?;
                let is_type = row.kind.is_type() && !part.is_called;
                if is_type && next.is_called && reached.found.is_empty() {
                    let made = HeldValue { ty: symbol, holders: Vec::new() };
                    let is_maker = makes_instance(exports, symbol, next.name)?;
                    let given = match is_maker {
                        true => Some(made),
                        false => every_value_gives(exports, &made, next.name)?,
                    };
                    reached.passed.extend(given);
                }
            }
            // A field, or a function that is read like one.
            let is_value = !part.is_called && !row.kind.is_type() && !is_module(row.kind);
            if gives_result || is_value && reached.found.is_empty() {
                // The type is read from the header, or was inferred.
                certainty = certainty.max(Certainty::Likely);
                let mut types = values_of(exports, &row)?;
                if types.is_empty() {
                    types = plain(exports.lookup.inferred_types(symbol)?);
                }
                values.extend(types);
                infers |= infers_result(exports, &row)?;
            }
        }
        // What is held by another type is meant where no type alone has the member.
        let (alone, held): (Vec<HeldValue>, Vec<HeldValue>) =
            values.into_iter().partition(|value| value.holders.is_empty());
        for values in [alone, held] {
            if reached.found.is_empty() && reached.passed.is_empty() {
                for value in values {
                    follow(exports, &value, next.name, &mut reached)?;
                }
            }
        }
        let PartMeaning { found, passed: next_passed, is_outside } = reached;
        if !next_passed.is_empty() {
            certainty = certainty.max(Certainty::Likely);
        }
        if found.is_empty() && next_passed.is_empty() {
            return Ok(Followed { found, certainty, is_inferred: infers, is_outside });
        }
        (here, part, passed) = (found, *next, next_passed);
    }
    let is_outside = here.is_empty();
    Ok(Followed { found: here, certainty, is_inferred: false, is_outside })
}

/// True for the member of types by which code makes an instance, where a language has one.
fn makes_instance(exports: &Exports<'_>, ty: SymbolKey, member: &str) -> Result<bool, QueryError> {
    let language = language_of(exports, ty)?;
    let maker =
        |language: &'static Language| language.manifest.names.member_behind(ImplicitUse::Make);
    Ok(language.and_then(maker).is_some_and(|maker| maker == member))
}

/// Adds what a member of a value is: that of its type, or what the types that hold it say.
fn follow(
    exports: &Exports<'_>,
    value: &HeldValue,
    name: &str,
    reached: &mut PartMeaning,
) -> Result<(), QueryError> {
    let language = language_of(exports, value.ty)?;
    let mut holders = &value.holders[..];
    while let Some((holder, inner)) = holders.split_first() {
        if let Some((flow, template)) = holder_member(language, &holder.name, name) {
            let held = HeldValue { ty: value.ty, holders: holders.to_vec() };
            match handed_on(template, flow, &held) {
                Some(passed) => reached.passed.push(passed),
                None => reached.is_outside = true,
            }
            return Ok(());
        }
        holders = inner;
    }
    let before = reached.found.len();
    member(exports, value.ty, name, &mut reached.found)?;
    if reached.found.len() == before {
        let alone = HeldValue { ty: value.ty, holders: Vec::new() };
        reached.passed.extend(every_value_gives(exports, &alone, name)?);
    }
    Ok(())
}

/// Adds the members of a type or module by a name, its own or those of its nearest bases.
fn member(
    exports: &Exports<'_>,
    container: SymbolKey,
    name: &str,
    found: &mut Vec<SymbolKey>,
) -> Result<(), QueryError> {
    let mut level = vec![container];
    let (mut seen, before) = (level.clone(), found.len());
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
            return without_hidden(exports, container, found, before);
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

/// Removes the new members that the type has for an interface, where one of its own hides them.
fn without_hidden(
    exports: &Exports<'_>,
    container: SymbolKey,
    found: &mut Vec<SymbolKey>,
    before: usize,
) -> Result<(), QueryError> {
    let language = language_of(exports, container)?;
    let hides =
        |language: &Language| language.manifest.resolution.members == MemberLookup::InherentFirst;
    if found.len() < before + 2 || !language.is_some_and(hides) {
        return Ok(());
    }
    let mut own = Vec::new();
    for &key in &found[before..] {
        let relations = exports.lookup.relations_from(key)?;
        if !relations.iter().any(|one| one.kind == RelationKind::Overrides) {
            own.push(key);
        }
    }
    if !own.is_empty() {
        found.truncate(before);
        found.extend(own);
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
    Ok(by_other_name(exports, &file, name, Some(module), found)? || is_found)
}
