//! Conversions between library types, by the tables of the language.

use crate::db::ty::ARRAY;
use cograph_grammar::{Conversions, Language};

/// Conversion of an argument to the type of a parameter, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Passing {
    /// Identical types.
    Same,
    /// Subtype or widening conversion.
    Derived,
    /// Unknown types.
    Open,
    /// Boxing, unboxing, or construction of a library type.
    Boxed,
    /// No known conversion, but none is excluded.
    Unlikely,
    /// Impossible.
    Never,
}

/// Returns the name of a primitive, or of a type that nothing derives from, for all names of its
/// table.
pub(super) fn canonical<'t>(language: &'static Language, name: &'t str) -> &'t str {
    let rules = &language.manifest.conversions;
    match language.flow(name) {
        Some((canonical, _))
            if rules.boxes.get(canonical).is_some_and(|object| object == name)
                || is_final(rules, canonical) && is_final(rules, name) =>
        {
            canonical
        }
        _ => name,
    }
}

pub(super) fn is_final(rules: &Conversions, name: &str) -> bool {
    rules.r#final.iter().any(|other| other == name)
}

pub(super) fn passing_names(rules: &Conversions, wanted: &str, given: &str) -> Passing {
    if wanted == given {
        return Passing::Same;
    }
    if rules.widening.get(given).is_some_and(|wider| wider.iter().any(|name| name == wanted)) {
        return Passing::Derived;
    }
    if is_final(rules, wanted) {
        return Passing::Never;
    }
    if rules.top.is_none() {
        return passing_library(rules, wanted, given);
    }
    let (boxed, unboxed) =
        (rules.boxes.get(given), rules.boxes.iter().find(|(_, object)| *object == given));
    if rules.boxes.contains_key(wanted) {
        return match (boxed, unboxed) {
            (None, Some((primitive, _)))
                if passing_names(rules, wanted, primitive) <= Passing::Derived =>
            {
                Passing::Boxed
            }
            _ => Passing::Never,
        };
    }
    if let Some(object) = boxed {
        return if passing_names(rules, wanted, object) <= Passing::Derived {
            Passing::Boxed
        } else {
            Passing::Never
        };
    }
    if rules.top.as_deref() == Some(wanted) {
        return Passing::Derived;
    }
    match derivation(rules, wanted, given) {
        Derivation::Found => Passing::Derived,
        Derivation::Excluded => Passing::Never,
        Derivation::Open => Passing::Unlikely,
    }
}

/// Conversion between library types of a language where other conversions than the listed ones
/// are possible.
fn passing_library(rules: &Conversions, wanted: &str, given: &str) -> Passing {
    let is_constructed =
        rules.constructs.get(given).is_some_and(|made| made.iter().any(|name| name == wanted));
    match derivation(rules, wanted, given) {
        Derivation::Found => Passing::Derived,
        _ if is_constructed => Passing::Boxed,
        _ => Passing::Unlikely,
    }
}

/// Whether one library type derives from another.
enum Derivation {
    Found,
    /// All supertypes are known, and it is none of them.
    Excluded,
    /// The supertypes are not known.
    Open,
}

fn derivation(rules: &Conversions, wanted: &str, given: &str) -> Derivation {
    let mut all_known = true;
    let mut waiting = vec![given];
    let mut seen = vec![given];
    while let Some(next) = waiting.pop() {
        match rules.supertypes.get(next) {
            Some(above) => {
                for name in above {
                    if name == wanted {
                        return Derivation::Found;
                    }
                    if !seen.contains(&name.as_str()) {
                        seen.push(name);
                        waiting.push(name);
                    }
                }
            }
            None => all_known &= rules.top.as_deref() == Some(next) || next == ARRAY,
        }
    }
    if all_known { Derivation::Excluded } else { Derivation::Open }
}
