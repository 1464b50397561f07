//! Members of symbols along a qualified name: of types, of modules inside of a file, and of what a
//! call returns.

use super::bases::member;
use super::headers::{
    HeldValue, TypeParam, every_value_gives, handed_on, holder_member, infers_result, language_of,
    plain, values_of,
};
use super::modules::is_module;
use super::parts;
use super::public::{Exports, Part};
use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use cograph_grammar::{ImplicitUse, Language};
use cograph_model::facts::is_held_part;
use cograph_store::SymbolKey;

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
    /// Type parameters with a default of the types whose members these are.
    params: Vec<TypeParam>,
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
    let mut params: Vec<TypeParam> = Vec::new();
    let mut passed: Vec<HeldValue> = Vec::new();
    for (at, next) in rest.iter().enumerate() {
        let is_last = at + 1 == rest.len();
        let wanted =
            Part { is_called: next.is_called || is_last && exports.has_calls_only, ..*next };
        let (mut reached, mut infers) = (PartMeaning::default(), false);
        let mut values = std::mem::take(&mut passed);
        for &symbol in &here {
            exports.lookup.check()?;
            let row = exports.lookup.symbol(symbol)?;
            let gives_result = part.is_called && row.kind.is_callable();
            if !gives_result && row.kind.is_type() && is_held_part(next.name) {
                values.extend(plain(vec![symbol]));
            }
            if !gives_result {
                member(exports, symbol, wanted, &mut reached.found)?;
                let is_type = row.kind.is_type() && !part.is_called;
                if is_type && next.is_called && reached.found.is_empty() {
                    let made = HeldValue::of(symbol);
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
                let mut types = values_of(exports, &row, &params)?;
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
                    follow(exports, &value, wanted, &mut reached)?;
                }
            }
        }
        let PartMeaning { found, params: next_params, passed: next_passed, is_outside } = reached;
        if !next_passed.is_empty() {
            certainty = certainty.max(Certainty::Likely);
        }
        if found.is_empty() && next_passed.is_empty() {
            return Ok(Followed { found, certainty, is_inferred: infers, is_outside });
        }
        (here, part, params, passed) = (found, *next, next_params, next_passed);
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
    part: Part<'_>,
    reached: &mut PartMeaning,
) -> Result<(), QueryError> {
    let language = language_of(exports, value.ty)?;
    let name = part.name;
    if is_held_part(name) {
        reached.passed.extend(parts::part_of(exports, language, value, name)?);
        return Ok(());
    }
    let mut holders = &value.holders[..];
    while let Some((holder, inner)) = holders.split_first() {
        if let Some((flow, template)) = holder_member(language, &holder.name, name) {
            let held = HeldValue { holders: holders.to_vec(), ..value.clone() };
            match handed_on(template, flow, &held) {
                Some(passed) => reached.passed.push(passed),
                None => reached.is_outside = true,
            }
            return Ok(());
        }
        holders = inner;
    }
    let before = reached.found.len();
    member(exports, value.ty, part, &mut reached.found)?;
    if reached.found.len() > before {
        reached.params.extend(value.params.iter().cloned());
    } else {
        let alone = HeldValue { holders: Vec::new(), ..value.clone() };
        reached.passed.extend(every_value_gives(exports, &alone, name)?);
    }
    Ok(())
}
