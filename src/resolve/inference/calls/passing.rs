//! Conversions of arguments to the types of parameters.

use crate::db::Db;
use crate::db::ty::{ARRAY, Ty, TyList};
use crate::inference::calls::library_types::{Passing, canonical, is_final, passing_names};
use crate::inference::members::prototypes;
use crate::inference::members::type_flow::{is_any_value, is_value_type, last_segment};
use crate::inference::members::{hierarchy, lookup};
use crate::inference::types::{generics, infer, return_types};
use cograph_grammar::{Conversions, ImplicitUse, Language};
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingKind, ScopeId, Synthetic};
use cograph_model::graph::{FileId, SymbolRef};

/// Returns the conversion of a value of type `given` to `wanted`.
pub(super) fn passing(db: &Db, file: FileId, wanted: &Ty, given: &Ty) -> Passing {
    let language = db.program.known(file).language;
    let rules = &language.manifest.conversions;
    if !wanted.is_known() || !given.is_known() {
        return Passing::Open;
    }
    if wanted == given {
        return Passing::Same;
    }
    match (wanted, given) {
        _ if is_any_value(db, file, wanted) => match outside_name(db, file, given) {
            _ if is_value_type(db, file, given) => Passing::Derived,
            Some(name) if !rules.supertypes.contains_key(name) => Passing::Open,
            _ => Passing::Never,
        },
        (Ty::Union(parts), _) => {
            let all = parts.iter().map(|part| passing(db, file, part, given));
            all.max().unwrap_or(Passing::Open)
        }
        (_, Ty::Union(parts)) => {
            // One of several values replaces another that is missing.
            let held = |part| optional_value(language, part).unwrap_or(part);
            let all = parts.iter().map(|part| passing(db, file, wanted, held(part)));
            all.max().unwrap_or(Passing::Open)
        }
        (_, Ty::Builtin(null, _)) if rules.null.as_deref() == Some(&**null) => {
            match primitive(rules, wanted)
                || (language.optional().is_some() && is_value_type(db, file, wanted))
            {
                true => Passing::Never,
                false => Passing::Derived,
            }
        }
        // The value of an optional type parameter is not inferred from another value.
        _ if let Some(held @ Ty::Param(..)) = optional_value(language, wanted)
            && is_value_type(db, file, held)
            && optional_value(language, given).is_none() =>
        {
            Passing::Never
        }
        _ if let Some(held) = optional_value(language, wanted) => {
            let given = optional_value(language, given).unwrap_or(given);
            passing(db, file, held, given).max(Passing::Derived)
        }
        (wanted, _)
            if let Some(held) = optional_value(language, given)
                && !matches!(wanted, Ty::Param(..)) =>
        {
            match primitive(rules, wanted) || is_value_type(db, file, wanted) {
                true => Passing::Never,
                false => passing(db, file, wanted, held),
            }
        }
        (Ty::Param(of, binding), _) => {
            let bound = db.program.known(*of).binding(*binding).ty();
            let limit =
                if bound.is_some() { infer::instance_of_expr(db, *of, bound) } else { Ty::Unknown };
            match limit {
                // What follows the name of a parameter of a template is a default, no bound.
                _ if rules.top.is_none() => Passing::Same,
                // A closure has no type of its own that could be the argument.
                Ty::Unknown | Ty::Param(..) if matches!(given, Ty::Lambda(..)) => Passing::Unlikely,
                Ty::Unknown | Ty::Param(..) => match primitive(rules, given) {
                    // Where values may be missing, primitives are type arguments like others.
                    true if language.optional().is_none() => Passing::Boxed,
                    _ => Passing::Derived,
                },
                limit => passing(db, file, &limit, given).max(Passing::Derived),
            }
        }
        (_, Ty::Param(of, binding)) => {
            let bound = db.program.known(*of).binding(*binding).ty();
            match (bound.is_some(), &rules.top) {
                (true, _) => {
                    let limit = infer::instance_of_expr(db, *of, bound);
                    if matches!(limit, Ty::Param(..)) {
                        Passing::Open
                    } else {
                        passing(db, file, wanted, &limit).max(Passing::Derived)
                    }
                }
                (false, Some(top)) => {
                    passing(db, file, wanted, &Ty::builtin(top, &[])).max(Passing::Derived)
                }
                (false, None) => Passing::Open,
            }
        }
        // An object without a name has no type but its own.
        (Ty::Instance(..) | Ty::Builtin(..) | Ty::External(_), Ty::Members(of, scope))
            if is_closed(db, file) && prototypes::base_of_unnamed(db, *of, *scope).is_none() =>
        {
            match outside_name(db, file, wanted) == rules.top.as_deref() {
                true => Passing::Derived,
                false => Passing::Never,
            }
        }
        (Ty::Instance(of, held), Ty::Instance(..)) => match passing_project(db, *of, given) {
            Passing::Same | Passing::Derived
                if excludes_arguments(db, file, (*of, held), given) =>
            {
                Passing::Never
            }
            passing => passing,
        },
        (Ty::Function(wanted), Ty::Function(given)) if is_closed(db, file) => {
            passing_function(db, file, wanted, given)
        }
        (_, Ty::Lambda(..) | Ty::Callable(..) | Ty::Function(_)) => {
            passing_closure(db, file, wanted, given)
        }
        (Ty::Builtin(wanted, inner), Ty::Builtin(given, held))
            if &**wanted == ARRAY && &**given == ARRAY =>
        {
            let (Some(inner), Some(held)) = (inner.first(), held.first()) else {
                return Passing::Open;
            };
            match passing(db, file, inner, held) {
                passing if language.optional().is_some() && matches!(inner, Ty::Param(..)) => {
                    passing
                }
                Passing::Derived if primitive(rules, held) || primitive(rules, inner) => {
                    Passing::Never
                }
                Passing::Boxed if rules.top.is_some() => Passing::Never,
                passing => passing,
            }
        }
        // Nothing but a closure or callable converts to a function type.
        (Ty::Function(_), Ty::Instance(given, _))
            if language.nothing().is_some()
                && db.program.symbol(*given).kind != SymbolKind::TypeAlias =>
        {
            Passing::Never
        }
        (Ty::Function(_), Ty::Builtin(..)) if language.nothing().is_some() => Passing::Never,
        (_, Ty::Instance(given, _)) => passing_outside(db, file, wanted, *given),
        (Ty::Instance(symbol, _), _) if converts(db, *symbol, given) => Passing::Unlikely,
        (Ty::Instance(symbol, held), Ty::Builtin(..))
            if rules.top.is_none() && is_constructed(db, file, (*symbol, held), given) =>
        {
            Passing::Boxed
        }
        (Ty::Instance(..), _) => match outside_name(db, file, given) {
            Some(_) if rules.top.is_some() => Passing::Never,
            Some(_) => Passing::Unlikely,
            None => Passing::Open,
        },
        _ => match (outside_name(db, file, wanted), outside_name(db, file, given)) {
            (Some(name), Some(other)) => {
                let (name, other) = (canonical(language, name), canonical(language, other));
                passing_names(rules, name, other).max(passing_arguments(db, file, wanted, given))
            }
            _ => Passing::Open,
        },
    }
}

/// Worst conversion between the type arguments of a library type: those that exclude each other
/// make it unlikely.
fn passing_arguments(db: &Db, file: FileId, wanted: &Ty, given: &Ty) -> Passing {
    let (Ty::Builtin(name, wanted), Ty::Builtin(other, given)) = (wanted, given) else {
        return Passing::Same;
    };
    let excludes = |(wanted, given): (&Ty, &Ty)| passing(db, file, wanted, given) == Passing::Never;
    let are_alike = name == other && wanted.len() == given.len();
    match are_alike && is_closed(db, file) && wanted.iter().zip(given.iter()).any(excludes) {
        true => Passing::Unlikely,
        false => Passing::Same,
    }
}

/// True if a type argument of a value's type is none of the wanted type: one of them is the
/// optional of a value type and the other is not. A type parameter represents either.
fn excludes_arguments(
    db: &Db,
    file: FileId,
    (wanted, held): (SymbolRef, &TyList),
    given: &Ty,
) -> bool {
    let language = db.program.known(file).language;
    let Ty::Instance(of, args) = given else { return false };
    if held.is_empty() || language.optional().is_none() || !is_closed(db, file) {
        return false;
    }
    let hierarchy = hierarchy::hierarchy(db, *of);
    let own = generics::arguments_of(db, *of, args);
    let above = hierarchy.types.iter().find(|(ty, _)| *ty == wanted);
    let above = match above {
        _ if *of == wanted => args.clone(),
        Some((_, above)) => above.iter().map(|arg| arg.map(&own)).collect(),
        None => return false,
    };
    let is_optional = |ty: &Ty| optional_value(language, ty).is_some();
    let is_excluded = |(wanted, given): (&Ty, &Ty)| match is_optional(wanted) {
        true => given.is_known() && !is_optional(given),
        false => is_optional(given) && is_value_type(db, file, wanted),
    };
    held.iter().zip(above.iter()).any(is_excluded)
}

fn passing_project(db: &Db, wanted: SymbolRef, value: &Ty) -> Passing {
    let Ty::Instance(given, _) = value else { return Passing::Open };
    if wanted == *given {
        return Passing::Same;
    }
    let hierarchy = hierarchy::hierarchy(db, *given);
    match hierarchy.types.iter().any(|(ty, _)| *ty == wanted) {
        true => Passing::Derived,
        // A constructor or an operator may convert.
        false if converts(db, wanted, value) => Passing::Unlikely,
        false if hierarchy.open || !is_closed(db, wanted.file) => Passing::Unlikely,
        false => Passing::Never,
    }
}

/// True if a constructor of a type takes a library value as it is, where constructors convert.
fn is_constructed(db: &Db, file: FileId, (wanted, held): (SymbolRef, &TyList), given: &Ty) -> bool {
    let own = generics::arguments_of(db, wanted, held);
    db.constructors_of(wanted).iter().any(|constructor| {
        let (least, most) = db.program.symbol(*constructor).arity;
        if least > 1 || most == 0 {
            return false;
        }
        let params = db.parameter_types(*constructor);
        match params.first().map(|param| param.map(&own)) {
            // One that takes any type is for those that its own type is made of.
            Some(Ty::Param(..)) => held.contains(given),
            Some(param @ Ty::Builtin(..)) => passing(db, file, &param, given) <= Passing::Derived,
            _ => false,
        }
    })
}

/// True if a type declares a conversion of a value to itself, or the type of the value one to it.
fn converts(db: &Db, wanted: SymbolRef, given: &Ty) -> bool {
    let names = &db.program.known(wanted.file).language.manifest.names;
    let Some(name) = names.member_behind(ImplicitUse::Convert) else { return false };
    let name = db.program.named(name);
    let mut operators = lookup::own_members(db, wanted, name);
    if let Ty::Instance(of, _) = given {
        operators.extend(lookup::own_members(db, *of, name));
    }
    let is_of = |ty: &Ty, of: SymbolRef| matches!(ty, Ty::Instance(other, _) if *other == of);
    operators.iter().any(|operator| {
        let made = infer::instance_of_expr(db, operator.file, db.program.symbol(*operator).ty);
        let taken = db.parameter_types(*operator).first().cloned().unwrap_or(Ty::Unknown);
        let takes = match (&taken, given) {
            (Ty::Instance(of, _), Ty::Instance(given, _)) => {
                hierarchy::hierarchy(db, *given).types.iter().any(|(ty, _)| ty == of)
            }
            (Ty::Instance(..), Ty::Builtin(..)) => false,
            (Ty::Builtin(..), Ty::Builtin(..)) => {
                passing(db, operator.file, &taken, given) < Passing::Never
            }
            _ => true,
        };
        takes && (!made.is_known() || is_of(&made, wanted))
    })
}

fn passing_closure(db: &Db, file: FileId, wanted: &Ty, given: &Ty) -> Passing {
    let rules = &db.program.known(file).language.manifest.conversions;
    match wanted {
        Ty::Function(result) => passing_result(db, file, result, given),
        Ty::Instance(symbol, _) => match db.program.symbol(*symbol).kind {
            SymbolKind::Interface | SymbolKind::TypeAlias => Passing::Derived,
            _ if rules.top.is_some() => Passing::Never,
            _ => Passing::Unlikely,
        },
        _ if primitive(rules, wanted) => Passing::Never,
        Ty::Builtin(name, _) if &**name == ARRAY => Passing::Never,
        _ => match outside_name(db, file, wanted) {
            Some(_) if rules.top.is_none() => Passing::Open,
            Some(name)
                if rules.supertypes.contains_key(name) || rules.top.as_deref() == Some(name) =>
            {
                Passing::Never
            }
            _ => Passing::Open,
        },
    }
}

/// Conversion of a function type to another by their results: those that exclude each other exclude
/// the functions.
fn passing_function(db: &Db, file: FileId, wanted: &Ty, given: &Ty) -> Passing {
    let nothing = db.program.known(file).language.nothing();
    let is_nothing = |ty: &Ty| matches!(ty, Ty::Builtin(name, _) if nothing == Some(&**name));
    match passing(db, file, wanted, given) {
        _ if is_nothing(wanted) || is_nothing(given) => Passing::Open,
        converted @ (Passing::Same | Passing::Derived | Passing::Never) => converted,
        _ => Passing::Open,
    }
}

/// Conversion of a closure to a function type, by whether they have a result, and whether that
/// converts.
fn passing_result(db: &Db, file: FileId, wanted: &Ty, given: &Ty) -> Passing {
    let Some(nothing) = db.program.known(file).language.nothing() else { return Passing::Open };
    let is_nothing = |ty: &Ty| matches!(ty, Ty::Builtin(name, _) if &**name == nothing);
    let result = match given {
        Ty::Lambda(of, scope) if !has_results(db, *of, *scope) => Ty::builtin(nothing, &[]),
        Ty::Lambda(of, scope) => return_types::lambda_result(db, *of, *scope),
        Ty::Callable(symbols, receiver) => {
            return_types::result_of(db, symbols, receiver.as_deref(), &[])
        }
        _ => return Passing::Open,
    };
    match (is_nothing(wanted), is_nothing(&result)) {
        _ if !wanted.is_known() || !result.is_known() => Passing::Open,
        (false, false) if excludes_results(db, file, wanted, &result) => Passing::Never,
        (true, true) | (false, false) => Passing::Derived,
        (true, false) if matches!(given, Ty::Lambda(..)) => Passing::Boxed,
        _ => Passing::Never,
    }
}

/// True if no result of a closure converts to the wanted one, both of types of the repository. Of
/// others it is not known whether the closure is asynchronous and wraps its result.
fn excludes_results(db: &Db, file: FileId, wanted: &Ty, result: &Ty) -> bool {
    let is_own = |ty: &Ty| matches!(ty, Ty::Instance(..) | Ty::Function(_));
    let is_excluded = |part: &Ty| is_own(part) && passing(db, file, wanted, part) == Passing::Never;
    is_closed(db, file) && is_own(wanted) && result.alternatives().iter().all(is_excluded)
}

/// True if a closure gives a result.
fn has_results(db: &Db, file: FileId, scope: ScopeId) -> bool {
    let unit = db.program.known(file);
    let mut bound = unit.bindings(scope, db.program.synthetic(Synthetic::Results));
    unit.scope_symbol(scope).is_some()
        || bound.any(|(_, binding)| binding.kind == BindingKind::Result)
}

/// Returns the type of the value that an optional may hold.
fn optional_value<'t>(language: &Language, ty: &'t Ty) -> Option<&'t Ty> {
    match ty {
        Ty::Builtin(name, held) if language.optional() == Some(&**name) => held.first(),
        _ => None,
    }
}

/// Conversion of a value of a type of the repository to an external type.
fn passing_outside(db: &Db, file: FileId, wanted: &Ty, given: SymbolRef) -> Passing {
    let rules = &db.program.known(file).language.manifest.conversions;
    let Some(wanted_name) = outside_name(db, file, wanted) else { return Passing::Open };
    if is_final(rules, wanted_name) {
        return Passing::Never;
    }
    if rules.top.as_deref() == Some(wanted_name) {
        return Passing::Derived;
    }
    if primitive(rules, wanted) || wanted_name == ARRAY {
        return if rules.top.is_some() { Passing::Never } else { Passing::Unlikely };
    }
    let hierarchy = hierarchy::hierarchy(db, given);
    let mut all_known = !hierarchy.open;
    for base in &hierarchy.outside {
        match passing_names(rules, wanted_name, last_segment(base)) {
            Passing::Same | Passing::Derived => return Passing::Derived,
            Passing::Never => {}
            _ => all_known = false,
        }
    }
    if all_known && rules.top.is_some() { Passing::Never } else { Passing::Unlikely }
}

/// True if it is not known whether a library type derives from another: its bases are not listed.
pub(super) fn is_unlisted(db: &Db, file: FileId, wanted: &Ty, given: &Ty) -> bool {
    let rules = &db.program.known(file).language.manifest.conversions;
    match (outside_name(db, file, wanted), outside_name(db, file, given)) {
        (Some(wanted), Some(given)) => passing_names(rules, wanted, given) == Passing::Unlikely,
        _ => false,
    }
}

/// True if conversions that the tables do not list are impossible.
pub(super) fn is_closed(db: &Db, file: FileId) -> bool {
    db.program.known(file).language.manifest.conversions.top.is_some()
}

fn primitive(rules: &Conversions, ty: &Ty) -> bool {
    matches!(ty, Ty::Builtin(name, _) if rules.boxes.contains_key(&**name))
}

/// Returns the name of an external type: by its spelling where all conversions are known, else
/// only of a library type in the tables. The result of an external call or member has none.
fn outside_name<'t>(db: &Db, file: FileId, ty: &'t Ty) -> Option<&'t str> {
    match ty {
        Ty::Builtin(name, _) => Some(name),
        Ty::External(name) => {
            let last = last_segment(name);
            let language = db.program.known(file).language;
            let rules = &language.manifest.conversions;
            let is_type = match rules.top {
                Some(_) => !last.ends_with(')') && last.starts_with(char::is_uppercase),
                None => rules.supertypes.contains_key(last) || language.flow(last).is_some(),
            };
            is_type.then_some(last)
        }
        _ => None,
    }
}
