//! Resolution of constructions: to the constructor, where overloads distinguish constructors, else
//! to the type.

use crate::db::Db;
use crate::db::ty::{Entity, Ty};
use crate::inference::{
    aliases,
    call::{self, CallArguments},
    conditions, hierarchy, infer, linkage, lookup, overload, receivers, scopes, type_flow,
};
use crate::references::outcome::{chosen, external, unresolved};
use crate::references::{implied, variants};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::{CallMeaning, FlowKind};
use cograph_model::Step;
use cograph_model::facts::{Expr, ExprId, Site};
use cograph_model::graph::{FileId, Resolution, SymbolRef};
use std::rc::Rc;

/// Resolves an instantiation: to the constructor, where overloads distinguish constructors,
/// else to the type.
pub(super) fn construct_site(
    db: &Db,
    file: FileId,
    site: &Site,
    symbols: &Symbols,
    step: Step,
) -> Resolution {
    let rules = &db.program.known(symbols[0].file).language.manifest.resolution;
    // Without constructors it is a cast, which names the type as it is written.
    if rules.declarations && !rules.overloads {
        let all = conditions::compiled_with(db, file, site.byte, symbols.clone());
        return variants::chosen_or_variants(db, file, &all, step, Step::SeveralValues);
    }
    let of = aliases::alias_target(db, symbols[0]).unwrap_or(symbols[0]);
    // A conversion makes no object: it names the type as it is written, if it is.
    if linkage::is_conversion(db, of) {
        let name = db.program.name_of(symbols[0]);
        if db.program.known(file).name(site.name) != name {
            return external(db.program.text(name), Step::Builtin);
        }
        let all = conditions::compiled_with(db, file, site.byte, symbols.clone());
        return variants::chosen_or_variants(db, file, &all, step, Step::SeveralValues);
    }
    if let Some(outside) = implied::outside_alias(db, of) {
        return external(&outside, Step::Builtin);
    }
    if !rules.overloads {
        return chosen(&Symbols::from_slice(&[of]), step, step);
    }
    let constructors = call::makers(db, of, !receivers::is_inside(db, file, site, of));
    let count = overload::argument_count(site.args);
    let accepts = |symbol: &SymbolRef| overload::accepts(db, *symbol, count, site.spread);
    // Others are implied by the header of the type, or by its bases.
    let fit_place = |symbols| conditions::compiled_with(db, file, site.byte, symbols);
    if !constructors.iter().any(accepts) {
        let definitions = fit_place(aliases::definitions_of_type(db, of));
        let of = if definitions.is_empty() { Symbols::from_slice(&[of]) } else { definitions };
        return variants::chosen_or_variants(db, file, &of, step, step);
    }
    let fitting =
        call::fitting(db, file, &constructors, CallArguments::Written(site.args), site.spread);
    variants::chosen_or_variants(db, file, &fit_place(fitting), step, Step::Overloads)
}

/// Resolves a reference to the constructors of a type as a value: who calls that decides which of
/// them is meant.
pub(super) fn makers_site(db: &Db, file: FileId, site: &Site, ty: ExprId) -> Resolution {
    let Ty::Instance(made, _) = infer::instance_of_expr(db, file, ty) else {
        return unresolved(Step::LocalValue);
    };
    let made = aliases::alias_target(db, made).unwrap_or(made);
    let constructors = call::makers(db, made, !receivers::is_inside(db, file, site, made));
    match constructors.is_empty() {
        // The reference to the type says it all.
        true => unresolved(Step::LocalValue),
        false => variants::chosen_or_variants(
            db,
            file,
            &constructors,
            Step::InferredType,
            Step::Overloads,
        ),
    }
}

/// Resolves the initialization of a field with arguments: to the constructor of the field's
/// type.
pub(super) fn field_site(db: &Db, file: FileId, site: &Site, field: SymbolRef) -> Resolution {
    let ty = db.program.symbol(field).ty;
    let facts = db.program.known(field.file).facts;
    let holds_value = matches!(
        ty.get().map(|position| facts.exprs[position]),
        Some(Expr::Name(..) | Expr::Member(..) | Expr::Apply(..))
    );
    if !holds_value {
        return unresolved(Step::LocalValue);
    }
    match infer::instance_of_expr(db, field.file, ty) {
        Ty::Instance(symbol, _) => {
            construct_site(db, file, site, &Symbols::from_slice(&[symbol]), Step::DeclaredType)
        }
        Ty::External(name) | Ty::Builtin(name, _) => external(&name, Step::Builtin),
        _ => unresolved(Step::ReceiverUnknown),
    }
}

/// Resolves a call of `super(...)` itself: to the constructor of the base.
pub(super) fn super_site(db: &Db, file: FileId, site: &Site, of: &Ty) -> Resolution {
    let Ty::Super(symbol) = of else { return unresolved(Step::ReceiverUnknown) };
    match hierarchy::extended(db, *symbol) {
        Some(Ty::Type(base, _) | Ty::Instance(base, _)) => {
            construct_site(db, file, site, &Symbols::from_slice(&[base]), Step::SuperMember)
        }
        Some(Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _)) => {
            external(&name, Step::Builtin)
        }
        Some(Ty::Callable(symbols, _)) => chosen(&symbols, Step::SuperMember, Step::SeveralValues),
        Some(_) => unresolved(Step::ReceiverUnknown),
        None => unresolved(Step::NoSuchMember),
    }
}

/// Returns the name of the library type that a construction makes, where a value of it is one of
/// its type argument: making the holder makes nothing to hold.
pub(super) fn library_holder(db: &Db, file: FileId, ty: ExprId) -> Option<Rc<str>> {
    let facts = db.program.known(file).facts;
    let mut ty = ty;
    loop {
        match facts.exprs[ty.get()?] {
            Expr::Construct(inner, _) | Expr::Wrap(inner, _) => ty = inner,
            Expr::Apply(base, _) => {
                let name = library_type(db, file, base)?;
                let (_, flow) = type_flow::flow(db, file, &name)?;
                return (flow.kind == Some(FlowKind::Transparent)).then_some(name);
            }
            _ => return None,
        }
    }
}

fn library_type(db: &Db, file: FileId, ty: ExprId) -> Option<Rc<str>> {
    match infer::type_of(db, file, ty) {
        Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => Some(name),
        _ => None,
    }
}

/// Returns the type of which a member of a library type makes an instance in place, by the declared
/// type of the variable or field.
pub(super) fn made_in_place(
    db: &Db,
    file: FileId,
    object: ExprId,
    member: Name,
) -> Option<SymbolRef> {
    let language = db.program.known(file).language;
    let text = db.program.text(member);
    if language.manifest.names.special_calls.get(text) != Some(&CallMeaning::Construct) {
        return None;
    }
    let (of, ty) = declared_type(db, file, object)?;
    let facts = db.program.known(of).facts;
    let mut ty = ty;
    while let Expr::Wrap(inner, _) = facts.exprs[ty.get()?] {
        ty = inner;
    }
    let Expr::Apply(base, args) = facts.exprs[ty.get()?] else { return None };
    type_flow::flow(db, of, &library_type(db, of, base)?)?;
    // Of several arguments, as those of a mapping, it is not known which one is made.
    let [held] = facts.lists[args.range()] else { return None };
    // A pointer points to what is made elsewhere.
    let is_value =
        matches!(facts.exprs[held.get()?], Expr::Name(..) | Expr::Member(..) | Expr::Apply(..));
    match infer::instance_of_expr(db, of, held) {
        Ty::Instance(symbol, _) if is_value => Some(symbol),
        _ => None,
    }
}

/// Returns the declared type of a variable or field, with the file that declares it.
fn declared_type(db: &Db, file: FileId, object: ExprId) -> Option<(FileId, ExprId)> {
    let unit = db.program.known(file);
    let position = object.get()?;
    let symbols = match unit.facts.exprs[position] {
        Expr::Name(name, scope) => {
            match scopes::lookup(db, file, unit.name(name), scope, unit.facts.positions[position])?
                .0
            {
                Entity::Local(of, bindings) => {
                    let [only] = bindings[..] else { return None };
                    return Some((of, db.program.known(of).binding(only).ty()));
                }
                Entity::Symbols(symbols) => symbols,
                _ => return None,
            }
        }
        Expr::Member(object, name) => {
            lookup::member_symbols(db, &infer::ty(db, file, object), unit.name(name))
        }
        _ => return None,
    };
    let [only] = symbols[..] else { return None };
    Some((only.file, db.program.symbol(only).ty))
}
