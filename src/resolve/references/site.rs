//! Resolution of one reference: verdict, with the step that decided it or the reason for the
//! failure.

use crate::db::Db;
use crate::db::ty::{Entity, Member, Ty};
use crate::inference::{
    aliases,
    call::{self, CallArguments},
    callee, conditions, definition, generics, hierarchy, infer, inherent, inherited_fields,
    linkage, lists, lookup, namespaces, overrides,
    predicates::{
        calls_itself, has_accessor, is_call, is_missing, is_type, matches_target_name,
        takes_arguments, takes_receivers,
    },
    prototypes, receiver, receivers, scopes, symbol_types,
    variants::are_variants,
};
use crate::references::constructed;
use crate::references::constructed::{construct_site, field_site, makers_site, super_site};
use crate::references::outcome::{
    chosen, external, held_by, module_target, possible_alone, receiver_step, unresolved,
};
use crate::references::written::Key;
use crate::references::{
    by_interface, exhaustiveness, heuristic, implied, imports, proof, tiered, variants, written,
};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::{ImplicitUse, Tier};
use cograph_model::facts::{BindingKind, Expr, ExprId, Site, external_callable};
use cograph_model::graph::{FileId, Resolution, SymbolRef};
use cograph_model::{SiteKind, Step, SymbolKind, Verdict};

/// Returns the verdict of a reference of a file; results that exhaust the budget are discarded.
pub(super) fn resolve(db: &Db, file: FileId, site: &Site) -> Resolution {
    if db.budget.is_spent() {
        return unresolved(Step::Fault);
    }
    let found = match making_site(db, file, site) {
        Some(found) => found,
        None => find_site(db, file, site),
    };
    let found = tiered::limited_by_tier(db, file, site, found);
    let found = tiered::limited_to_members(db, file, site, found);
    let found = possible_alone(variants::or_variants(db, file, found));
    if db.budget.is_spent() { unresolved(Step::Fault) } else { found }
}

/// Resolves a call of the member of a type that makes an instance.
fn making_site(db: &Db, file: FileId, site: &Site) -> Option<Resolution> {
    if site.kind != SiteKind::Call {
        return None;
    }
    let made = match callee::made_by(db, file, site.target)? {
        Ty::Type(symbol, _) => Symbols::from_slice(&[symbol]),
        _ => return None,
    };
    Some(construct_site(db, file, site, &made, Step::InferredType))
}

fn find_site(db: &Db, file: FileId, site: &Site) -> Resolution {
    let facts = db.program.known(file).facts;
    if site.kind == SiteKind::Import {
        return imports::import_site(db, file, site);
    }
    if site.kind == SiteKind::Construct
        && let Some(holder) = constructed::library_holder(db, file, site.target)
    {
        return external(&holder, Step::Builtin);
    }
    let Some(target) = site.target.get() else { return unresolved(Step::Dynamic) };
    if !matches_target_name(db, file, site) {
        tracing::error!(path = %db.program.path(file), byte = site.byte, "a reference and \
            what it names do not belong together");
        return unresolved(Step::Fault);
    }
    match facts.exprs[target] {
        Expr::Name(name, scope) => {
            let name = db.name(file, name);
            let args = match site.kind == SiteKind::Call && takes_receivers(db, file) {
                true => lists::types_of(db, file, site.args),
                false => Vec::new(),
            };
            let place = (name, scope, facts.read_at(target, site.byte));
            let look = || match site.kind {
                SiteKind::Call => callee::called(db, file, place, &args, site.args),
                _ => scopes::lookup(db, file, name, scope, place.2),
            };
            let found = match site.kind {
                SiteKind::Decorate
                    if let Some(found) =
                        scopes::lookup_decorator(db, file, name, scope, site.byte) =>
                {
                    Some(found)
                }
                kind if namespaces::means_type(db, file, kind) => {
                    scopes::lookup_type(db, file, name, scope, site.byte)
                }
                kind => namespaces::lookup_value(db, file, kind == SiteKind::Call, look),
            };
            match found {
                Some((Entity::Module(_), _)) if is_call(site.kind) => {
                    match namespaces::ignoring_modules(db, look) {
                        Some((entity, step)) => entity_site(db, file, site, &entity, step),
                        None => unresolved(Step::Dynamic),
                    }
                }
                Some(found) => {
                    let (entity, step) = implied::meant(db, file, site, (name, scope), found);
                    entity_site(db, file, site, &entity, step)
                }
                None if let Some(outside) =
                    callee::implicit_outside_name(db, file, site, (name, scope)) =>
                {
                    external(&outside, Step::Builtin)
                }
                None => {
                    let found = unbound_site(db, file, site, name);
                    let is_open = found.verdict == Verdict::Unresolved;
                    let apart =
                        is_open.then(|| variants::by_alternatives(db, file, site, name, scope));
                    apart.flatten().unwrap_or_else(|| proof::or_library(db, file, found, place))
                }
            }
        }
        Expr::Member(object, name) if site.kind == SiteKind::Write => {
            let name = db.name(file, name);
            match written::key(db, file, object, name) {
                Some(Key::Fields(fields)) => {
                    exhaustiveness::all(symbols_site(db, file, site, &fields, Step::DeclaredType))
                }
                Some(Key::Unknown(step)) => unresolved(step),
                None => member_site(db, file, site, object, name),
            }
        }
        Expr::Member(object, name) => {
            let name = db.name(file, name);
            implied::accessor(db, file, site, object, name).unwrap_or_else(|| {
                let name = implied::whole_name(db, file, site, object, name);
                member_site(db, file, site, object, name)
            })
        }
        Expr::Construct(ty, args) if site.kind == SiteKind::Construct => {
            let constructors = call::implied_constructors(db, file, ty, args);
            match constructors.is_empty() {
                true => unresolved(Step::LocalValue),
                false => symbols_site(db, file, site, &constructors, Step::DeclaredType),
            }
        }
        Expr::Construct(ty, _) if site.kind == SiteKind::Read => makers_site(db, file, site, ty),
        Expr::Argument(..) if site.kind == SiteKind::Write => unresolved(Step::LocalValue),
        Expr::Item(made, position) if site.kind == SiteKind::Write => {
            match written::at_position(db, file, made, position as usize) {
                Some(field) => {
                    symbols_site(db, file, site, &Symbols::from_slice(&[field]), Step::DeclaredType)
                }
                None => unresolved(Step::LocalValue),
            }
        }
        Expr::SelfValue(_) if site.kind == SiteKind::Call => {
            let of = infer::ty(db, file, site.target);
            match of {
                Ty::Instance(symbol, _)
                    if db
                        .program
                        .known(file)
                        .language
                        .manifest
                        .names
                        .member_behind(ImplicitUse::Call)
                        .is_none() =>
                {
                    construct_site(
                        db,
                        file,
                        site,
                        &Symbols::from_slice(&[symbol]),
                        Step::SelfMember,
                    )
                }
                _ => value_site(db, file, site, &of),
            }
        }
        Expr::SuperValue(_) => {
            let of = infer::ty(db, file, site.target);
            super_site(db, file, site, &of)
        }
        _ => {
            let callee = infer::ty(db, file, site.target);
            value_site(db, file, site, &callee)
        }
    }
}

fn entity_site(db: &Db, file: FileId, site: &Site, entity: &Entity, step: Step) -> Resolution {
    match entity {
        Entity::Symbols(symbols) => symbols_site(db, file, site, symbols, step),
        Entity::Module(module) => module_target(*module, step),
        Entity::Variants(parts) => {
            let each = parts.iter().map(|part| entity_site(db, file, site, part, step));
            variants::of_each(db, (file, site.byte), each.collect())
        }
        // An external wildcard import is no evidence that the namespace has the name.
        Entity::External(_) if step == Step::Wildcard && db.tier(file) != Tier::Full => {
            unresolved(Step::NoSuchName)
        }
        // No library has such a name: a module was looked for and not found.
        Entity::External(name) if proof::is_unfound(name) => unresolved(Step::NoSuchName),
        Entity::External(name) => external(name, Step::ExternalImport),
        Entity::Builtin(name) => external(db.program.text(*name), Step::Builtin),
        Entity::Local(..) if !is_call(site.kind) => unresolved(Step::LocalValue),
        Entity::Local(local, bindings) => {
            let is_type_param = bindings.iter().any(|binding| {
                db.program.known(*local).binding(*binding).kind == BindingKind::TypeParam
            });
            if is_type_param {
                return unresolved(Step::LocalValue);
            }
            let callee = symbol_types::entity_ty(db, entity, false);
            let found = value_site(db, file, site, &callee);
            if matches!(found.step, Step::Dynamic | Step::SeveralValues)
                && let Some(values) = exhaustiveness::values_of_declared(db, *local, bindings)
            {
                // A later assignment of another is not excluded.
                return exhaustiveness::one_of_several(value_site(db, file, site, &values));
            }
            exhaustiveness::limited_by_known_values(db, *local, bindings, found)
        }
    }
}

/// Resolves a call of a value: the function or type that it holds, or the call operator of its
/// type.
fn value_site(db: &Db, file: FileId, site: &Site, callee: &Ty) -> Resolution {
    match callee {
        Ty::Callable(symbols, _) => symbols_site(db, file, site, symbols, Step::InferredType),
        Ty::Type(symbol, _) => {
            symbols_site(db, file, site, &Symbols::from_slice(&[*symbol]), Step::InferredType)
        }
        Ty::Lambda(of, scope) => match db.program.known(*of).scope_symbol(*scope) {
            symbol if symbol.is_some() => chosen(
                &Symbols::from_slice(&[SymbolRef { file: *of, symbol }]),
                Step::InferredType,
                Step::SeveralValues,
            ),
            _ => unresolved(Step::LocalValue),
        },
        Ty::Instance(symbol, _) => {
            let names = &db.program.known(symbol.file).language.manifest.names;
            let member =
                names.member_behind(ImplicitUse::Call).map(|member| db.program.named(member));
            match member.map(|member| lookup::member_symbols(db, callee, member)) {
                Some(symbols) if !symbols.is_empty() => {
                    symbols_site(db, file, site, &symbols, Step::InferredType)
                }
                _ => unresolved(Step::Dynamic),
            }
        }
        // What a library gave back may be a function of the repository.
        Ty::External(name) if external_callable(name).is_some() => unresolved(Step::Dynamic),
        Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => {
            external(name, Step::Builtin)
        }
        Ty::Union(parts) => {
            let mut symbols = Symbols::new();
            for part in parts.iter() {
                match part {
                    Ty::Callable(more, _) => symbols.extend(more.iter().copied()),
                    Ty::Type(symbol, _) => symbols.push(*symbol),
                    _ => {}
                }
            }
            if symbols.is_empty() {
                return unresolved(Step::Dynamic);
            }
            let found = symbols_site(db, file, site, &symbols, Step::InferredType);
            // A function passed by a caller is another possible target.
            let given =
                |part: &Ty| matches!(part, Ty::Function(_) | Ty::External(_) | Ty::Param(..));
            if parts.iter().any(given) { exhaustiveness::one_of_several(found) } else { found }
        }
        _ => unresolved(Step::Dynamic),
    }
}

/// Resolves a reference to one of several symbols of a name.
fn symbols_site(db: &Db, file: FileId, site: &Site, symbols: &Symbols, step: Step) -> Resolution {
    if !db.budget.take(symbols.len()) {
        return unresolved(Step::Fault);
    }
    let symbols = &receivers::visible(db, file, site, symbols.clone());
    if symbols.is_empty() {
        return unresolved(Step::NoSuchMember);
    }
    let symbols = namespaces::fitting_kind(db, site.kind, symbols);
    let symbols = linkage::macros_or_functions(db, file, site, symbols);
    let Some(symbols) = inherited_fields::declared(db, file, site, symbols) else {
        return unresolved(Step::LocalValue);
    };
    let symbols = match aliases::aliased_member(db, &symbols) {
        Some(original) => {
            db.holder.set(symbols.first().copied());
            original
        }
        None => symbols,
    };
    let symbols = generics::of_arity(db, file, site.target, symbols);
    let symbols = conditions::compiled_with(db, file, site.byte, symbols);
    let symbols = linkage::without_openings(db, symbols);
    let declarations = db.program.known(file).language.manifest.resolution.declarations;
    // The initializer of a base has the form of one of a field.
    if site.kind == SiteKind::Write && declarations && is_type(db, &symbols) {
        return unresolved(Step::LocalValue);
    }
    if !is_call(site.kind) {
        let symbols =
            if declarations { definition::with_definitions(db, &symbols) } else { symbols };
        let mut symbols = hierarchy::merged_once(db, linkage::without_own_names(db, symbols));
        overrides::defined(db, &mut symbols);
        let symbols = conditions::compiled_with(db, file, site.byte, symbols);
        return variants::chosen_or_variants(db, file, &symbols, step, Step::SeveralValues);
    }
    let program = db.program;
    let kind = |position: usize| program.symbol(symbols[position]).kind;
    if kind(0).is_type() && (symbols.len() == 1 || declarations) {
        let symbols =
            if declarations { definition::with_definitions(db, &symbols) } else { symbols };
        return construct_site(db, file, site, &symbols, step);
    }
    // An enumerator is a value: a call by its name means a function or macro that is not known.
    if declarations && step == Step::UniqueName && kind(0) == SymbolKind::Variant {
        return unresolved(Step::NoSuchName);
    }
    let is_variable =
        matches!(kind(0), SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field);
    if is_variable && declarations && site.kind == SiteKind::Construct {
        return field_site(db, file, site, symbols[0]);
    }
    if symbols.len() == 1
        && is_variable
        && site.kind == SiteKind::Call
        && has_accessor(db, symbols[0])
    {
        // Call of a name that only a field has: its implied accessor.
        return chosen(&symbols, step, step);
    }
    if symbols.len() == 1 && is_variable {
        let callee = symbol_types::symbols_ty(db, &symbols, false, None);
        let found = value_site(db, file, site, &callee);
        // A builtin value is not callable: the type is the result of the held function. What a
        // library made stays the value of the variable.
        let is_open = matches!(found.verdict, Verdict::Unresolved | Verdict::External);
        if is_open {
            return held_by(symbols[0]);
        }
        db.holder.set(Some(symbols[0]));
        return found;
    }
    let symbols = receivers::for_type_or_instance(db, file, site, symbols);
    let symbols = implied::of_type_arguments(db, file, site, symbols);
    if let Some(top) = implied::of_library_base(db, file, site, &symbols) {
        return external(&top, Step::Builtin);
    }
    let conditional = db.program.known(file).language.manifest.resolution.conditional_definitions;
    let fitting = match conditional && are_variants(db, &symbols) {
        // A condition chooses, not the arguments.
        true => symbols.clone(),
        false => call::fitting(db, file, &symbols, CallArguments::Written(site.args), site.spread),
    };
    if declarations && step == Step::UniqueName && !takes_arguments(db, site, &fitting) {
        return exhaustiveness::one_of_several(chosen(&fitting, step, Step::SeveralValues));
    }
    let fitting = receivers::for_receiver(db, file, site, fitting);
    let fitting = conditions::compiled_with(db, file, site.byte, fitting);
    let fitting = hierarchy::merged_once(db, fitting);
    let scope = |symbol: &SymbolRef| (symbol.file, db.program.symbol(*symbol).scope);
    let together = symbols.iter().all(|symbol| scope(symbol) == scope(&symbols[0]));
    let several = if together { Step::Overloads } else { Step::SeveralValues };
    variants::chosen_or_variants(db, file, &fitting, step, several)
}

/// Resolves a name without a visible binding: a called one by argument-dependent lookup.
fn unbound_site(db: &Db, file: FileId, site: &Site, name: Name) -> Resolution {
    let rules = &db.program.known(file).language.manifest.resolution;
    let args = match site.kind == SiteKind::Call && rules.argument_lookup {
        true => lists::types_of(db, file, site.args),
        false => Vec::new(),
    };
    let found = linkage::by_arguments(db, name, &args);
    if found.is_empty() && rules.open_types && site.kind == SiteKind::Call {
        let receiver = receiver::receiver_around(db, file, site.scope);
        let found = heuristic::by_receiver(db, file, site, receiver.as_ref(), name);
        return match receiver {
            None => heuristic::without_accessor(db, found),
            Some(_) => found,
        };
    }
    if found.is_empty() {
        return unresolved(if site.in_macro { Step::Macro } else { Step::NoSuchName });
    }
    let fitting =
        call::fitting(db, file, &found, CallArguments::Typed(&args, site.args), site.spread);
    chosen(&fitting, Step::Package, Step::Overloads)
}

fn member_site(db: &Db, file: FileId, site: &Site, object: ExprId, name: Name) -> Resolution {
    let of = infer::of_receiver(db, file, object);
    match of.of_build() {
        Some(parts) => {
            let each =
                parts.iter().map(|part| member_site_of(db, file, site, (object, part), name));
            variants::of_each(db, (file, site.byte), each.collect())
        }
        None => member_site_of(db, file, site, (object, &of), name),
    }
}

/// Resolves a member of a value of one type.
fn member_site_of(
    db: &Db,
    file: FileId,
    site: &Site,
    (object, of): (ExprId, &Ty),
    name: Name,
) -> Resolution {
    let rules = &db.program.known(file).language.manifest.resolution;
    let step = receiver_step(db, file, object, of);
    let called = site.kind == SiteKind::Call;
    if called && let Some(made) = constructed::made_in_place(db, file, object, name) {
        let made = Symbols::from_slice(&[made]);
        return construct_site(db, file, site, &made, Step::InferredType);
    }
    let is_missing = |member: &Member| is_missing(db, site, of, member);
    let names_callable = called || site.kind == SiteKind::Read && site.spread;
    let found =
        namespaces::among(db, file, names_callable, || lookup::member(db, of, name), is_missing);
    if called
        && let Ty::Callable(symbols, _) = of
        && calls_itself(db, file, name)
    {
        return symbols_site(db, file, site, symbols, Step::InferredType);
    }
    if called && let Some(extension) = implied::of_extension(db, file, site, of, name, &found, step)
    {
        return extension;
    }
    match found {
        Member::Entity(Entity::Module(_)) if is_call(site.kind) => {
            match namespaces::ignoring_modules(db, || lookup::member(db, of, name)) {
                Member::Symbols(symbols) => symbols_site(db, file, site, &symbols, step),
                Member::Entity(entity) => entity_site(db, file, site, &entity, step),
                _ => unresolved(Step::Dynamic),
            }
        }
        Member::Symbols(symbols)
            if called && call::is_of_library(db, file, of, &symbols, name, site.args) =>
        {
            external(db.program.text(name), Step::Builtin)
        }
        Member::Symbols(symbols) => {
            let symbols = match step {
                Step::SelfMember => inherent::of_same_block(db, file, object, symbols),
                _ => symbols,
            };
            exhaustiveness::of_union(of, site, symbols_site(db, file, site, &symbols, step))
        }
        Member::Entity(entity) => entity_site(db, file, site, &entity, step),
        Member::Outside(_)
            if prototypes::may_have_member(db, of, name)
                || inherent::may_extend(db, file, of, name) =>
        {
            heuristic::by_unique_name(db, file, site, name)
        }
        // A value with a default of a library type may be another one.
        Member::Outside(outside) if heuristic::may_be_another(db, file, object, of, name) => {
            proof::or_outside(of, &outside, heuristic::by_receiver(db, file, site, None, name))
        }
        Member::Outside(outside) => {
            let step =
                if step == Step::ModuleMember { Step::ExternalImport } else { Step::Builtin };
            by_interface::implementation(db, file, site, of, name)
                .or_else(|| proof::unproven(db, file, site, (object, of, name)))
                .unwrap_or_else(|| external(&outside, step))
        }
        // Members may be copied from and to an object without a name.
        Member::None
            if step == Step::SelfMember
                && matches!(of, Ty::Members(of, scope)
                    if prototypes::base_of_unnamed(db, *of, *scope).is_none()) =>
        {
            heuristic::by_unique_name(db, file, site, name)
        }
        Member::None if rules.derived_members => {
            heuristic::by_derived(db, file, site, (object, of), name)
        }
        Member::None if !rules.open_types => implied::of_holder(db, file, site, of, name)
            .unwrap_or_else(|| unresolved(Step::NoSuchMember)),
        Member::None | Member::Unknown => proof::or_added_to(db, file, site, of, name),
    }
}
