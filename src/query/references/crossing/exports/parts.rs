//! What a value of another repository holds: the parts of tuples and variants, elements, and what
//! an iteration over it gives.

use super::bases::member;
use super::headers::{HeldValue, held_part, values_of};
use super::public::{Exports, Part};
use crate::graph::error::QueryError;
use cograph_grammar::{ImplicitUse, Language};
use cograph_model::SymbolKind;
use cograph_model::facts::ELEMENT;

/// What a value holds: the part of a tuple by its position, or an element, by the table of what
/// holds it or by the members that an iteration calls.
pub(super) fn part_of(
    exports: &Exports<'_>,
    language: Option<&'static Language>,
    value: &HeldValue,
    part: &str,
) -> Result<Vec<HeldValue>, QueryError> {
    if !value.holders.is_empty() {
        return Ok(held_part(language, value, part).into_iter().collect());
    }
    let calls = language
        .map_or(&[][..], |language| language.manifest.names.members_behind(ImplicitUse::Iterate));
    if part != ELEMENT || calls.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = vec![value.clone()];
    for (at, call) in calls.iter().enumerate() {
        let given = results(exports, &values, call)?;
        // An iterator is what an iteration over it begins with.
        if !given.is_empty() || at > 0 {
            values = given;
        }
    }
    let items = values.iter().filter_map(|one| held_part(language, one, ELEMENT));
    let mut found = Vec::new();
    for item in items {
        found.extend(unaliased(exports, item)?);
    }
    Ok(found)
}

/// What a member of each value gives.
fn results(
    exports: &Exports<'_>,
    values: &[HeldValue],
    name: &str,
) -> Result<Vec<HeldValue>, QueryError> {
    let mut given: Vec<HeldValue> = Vec::new();
    for value in values {
        exports.lookup.check()?;
        let mut found = Vec::new();
        member(exports, value.ty, Part { name, is_called: true }, &mut found)?;
        for symbol in found {
            for one in values_of(exports, &*exports.lookup.symbol(symbol)?, &value.params)? {
                if !given.contains(&one) {
                    given.push(one);
                }
            }
        }
    }
    Ok(given)
}

/// The values of the type that is behind a name of it: the item of an iterator.
fn unaliased(exports: &Exports<'_>, value: HeldValue) -> Result<Vec<HeldValue>, QueryError> {
    let row = exports.lookup.symbol(value.ty)?;
    if row.kind != SymbolKind::TypeAlias {
        return Ok(vec![value]);
    }
    let named = values_of(exports, &row, &value.params)?;
    let held = |mut one: HeldValue| {
        one.holders.splice(..0, value.holders.iter().cloned());
        one
    };
    Ok(named.into_iter().map(held).collect())
}
