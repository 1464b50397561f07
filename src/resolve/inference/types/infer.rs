//! Type inference for expressions. Values and types share one expression language: `ty` evaluates
//! an expression as a value, `type_of` as a type.

use crate::db::Db;
use crate::db::in_progress::Computation;
use crate::db::ty::{ARRAY, Entity, MAPPING, Member, Ty, instance_of};
use crate::inference::members::{aliases, hierarchy, lookup, prototypes, receiver, type_flow};
use crate::inference::names::{namespaces, outside, scopes};
use crate::inference::types::{builtin_types, callee, generics, lists, operators, symbol_types};
use crate::units::interner::Name;
use crate::units::space::Space;
use cograph_faults::{Fault, planted};
use cograph_model::Step;
use cograph_model::facts::{Expr, ExprId, Run, Wrapper};
use cograph_model::graph::FileId;
use std::rc::Rc;

/// Returns the type of a receiver.
pub(crate) fn of_receiver(db: &Db, file: FileId, object: ExprId) -> Ty {
    if planted(Fault::ReceiverIgnored) { Ty::Unknown } else { ty(db, file, object) }
}

/// Returns the type of an expression's value.
pub(crate) fn ty(db: &Db, file: FileId, expr: ExprId) -> Ty {
    let Some(position) = expr.get() else { return Ty::Unknown };
    if let Some(known) = db.types.get(file, expr) {
        return known;
    }
    if db.is_too_deep() || !db.budget.take(1) {
        return Ty::Unknown;
    }
    // A value that depends on itself has an unknown type on that path.
    db.types.set(file, expr, Ty::Unknown);
    let ty = db.deeper(|| {
        db.unfiltered(|| {
            let ty = compute(db, file, db.program.known(file).facts.exprs[position], position);
            aliases::unaliased(db, ty)
        })
    });
    db.types.set(file, expr, ty.clone());
    ty
}

fn compute(db: &Db, file: FileId, expr: Expr, position: usize) -> Ty {
    match expr {
        Expr::Name(name, scope) => {
            let at = db.program.known(file).facts.positions[position];
            let name = db.name(file, name);
            let look = || scopes::lookup(db, file, name, scope, at);
            let found = namespaces::among(db, file, false, look, Option::is_none);
            let read = ExprId::at(position);
            match generics::with_arity(db, file, ExprId::at(position), found) {
                Some((Entity::External(_), Step::SelfMember)) => {
                    callee::implicit_outside(db, file, name, scope)
                }
                // The implicit receiver gives its bases type arguments.
                Some((Entity::Symbols(symbols), Step::SelfMember)) => {
                    let receiver = match symbols.first() {
                        Some(first) => receiver::receiver_of(db, file, scope, *first),
                        None => None,
                    };
                    symbol_types::symbols_ty(db, &symbols, false, receiver.as_ref())
                }
                Some((Entity::External(_), Step::Wildcard))
                    if let Some(inherited) =
                        receiver::inherited_outside(db, file, (name, scope), Some(read)) =>
                {
                    Ty::External(inherited)
                }
                Some((entity, _)) => symbol_types::entity_ty(db, &entity, false),
                None => match callee::implicit_outside(db, file, name, scope) {
                    Ty::Unknown => outside::of_library(db, file, name, scope)
                        .or_else(|| {
                            receiver::inherited_outside(db, file, (name, scope), Some(read))
                        })
                        .map_or_else(|| namespace(db, file, &Ty::Unknown, name), Ty::External),
                    outside => outside,
                },
            }
        }
        Expr::Member(object, name) => {
            let object = ty(db, file, object);
            let name = db.name(file, name);
            let found = namespaces::among(
                db,
                file,
                false,
                || symbol_types::member_ty(db, &object, name),
                |ty| !ty.is_known(),
            );
            match found {
                Ty::Unknown => {
                    match outside::of_opened(db, file, ExprId::at(position), &object, name) {
                        Some(outside) => Ty::External(outside),
                        None if matches!(object, Ty::Namespace(_)) => {
                            namespace(db, file, &object, name)
                        }
                        None => Ty::Unknown,
                    }
                }
                Ty::Function(value) if is_library_property(db, file, &object, name) => {
                    (*value).clone()
                }
                found => found,
            }
        }
        Expr::Call(callee, args) => {
            if let Some(computed) = operators::computed(db, file, callee, args) {
                return computed;
            }
            if let Some(made) = callee::made_by(db, file, callee) {
                return instance_of(&made);
            }
            let rules = &db.program.known(file).language.manifest.resolution;
            let types = match rules.closure_receivers {
                true => lists::types_of(db, file, args),
                false => Vec::new(),
            };
            let (callee, given) = generics::unapplied(db, file, callee);
            let callee = match db.extension_callee(file, callee, args) {
                Some(extension) => extension,
                None => callee::callee_ty(db, file, callee, &types, args),
            };
            match given {
                Some(given) => {
                    let given: Vec<Ty> =
                        lists::types_of(db, file, given).iter().map(instance_of).collect();
                    let (callee, bind) = generics::with_arguments(db, file, callee, given);
                    db.call_result(file, &callee, args).map(&bind)
                }
                None => {
                    let callee = generics::without_arguments(db, callee);
                    generics::inferred(db, &callee, db.call_result(file, &callee, args))
                }
            }
        }
        Expr::Construct(made, _) => {
            let made = match type_of(db, file, made) {
                // What nothing in the repository opens is of a library.
                Ty::Namespace(_) => ty(db, file, made),
                made => made,
            };
            prototypes::made(db, &made)
        }
        Expr::Index(object, key) => {
            let object = ty(db, file, object);
            builtin_types::indexed(db, file, &object, key)
        }
        Expr::Element(value) => {
            let value = ty(db, file, value);
            builtin_types::element(db, file, &value)
        }
        Expr::Key(value) => {
            let value = ty(db, file, value);
            if let Some(key) = type_flow::through(db, file, &value, |flow| flow.key.as_deref()) {
                return key;
            }
            match aliases::underlying(db, &value).unwrap_or(value) {
                Ty::Builtin(_, args) if args.len() > 1 => args[0].clone(),
                _ => Ty::Unknown,
            }
        }
        Expr::Uncalled(callee) => callee::callee_ty(db, file, callee, &[], Run::default()),
        Expr::Await(value) => {
            let value = ty(db, file, value);
            type_flow::through(db, file, &value, |flow| flow.awaited.as_deref()).unwrap_or(value)
        }
        Expr::Unwrapped(value) => {
            let value = ty(db, file, value);
            type_flow::through(db, file, &value, |flow| flow.unwrapped.as_deref()).unwrap_or(value)
        }
        Expr::Enter(value) => {
            let value = ty(db, file, value);
            builtin_types::entered(db, file, &value)
        }
        Expr::Item(value, item) => {
            let value = ty(db, file, value);
            builtin_types::item(db, file, &value, item as usize)
        }
        Expr::SelfValue(scope) => receiver::receiver_type(db, file, scope).unwrap_or(Ty::Unknown),
        Expr::SuperValue(scope) => match receiver::scope_type(db, file, scope) {
            Some(Ty::Instance(symbol, _)) => {
                let definitions = aliases::definitions_of_type(db, symbol);
                let own = definitions.into_iter().find(|definition| definition.file == file);
                Ty::Super(own.unwrap_or(symbol))
            }
            Some(Ty::Members(of, scope)) => {
                prototypes::base_of_unnamed(db, of, scope).unwrap_or(Ty::Unknown)
            }
            _ => Ty::Unknown,
        },
        Expr::SelfType(scope) => match receiver::scope_type(db, file, scope) {
            Some(Ty::Instance(symbol, args)) => Ty::Type(symbol, args),
            Some(other) => other,
            None => Ty::Unknown,
        },
        Expr::Literal(name) => {
            let unit = db.program.known(file);
            let literal = unit.name(name);
            db.literals.get(&literal).unwrap_or_else(|| {
                let ty = Ty::builtin(unit.text(name), &[]);
                db.literals.insert(literal, ty.clone());
                ty
            })
        }
        Expr::OfType(ty) => {
            let value = instance_of_expr(db, file, ty);
            symbol_types::variant_members(db, file, ty, &value).unwrap_or(value)
        }
        Expr::Union(list) => {
            let parts = lists::types_of(db, file, list);
            Ty::union(parts.into_iter().filter(|part| !builtin_types::is_empty(db, file, part)))
        }
        Expr::Tuple(list) => Ty::Tuple(lists::types_of(db, file, list).into()),
        Expr::Lambda(scope) => Ty::Lambda(file, scope),
        Expr::Parameter(callee, position) => db.parameter(file, callee, position as usize),
        Expr::Given(scope, position) => db.given(file, scope, position),
        Expr::Members(scope) => Ty::Members(file, scope),
        Expr::Apply(base, args) => {
            let base = of_arity(db, ty(db, file, base), args.len() as usize);
            let args: Vec<Ty> = lists::types_of(db, file, args).iter().map(instance_of).collect();
            builtin_types::applied(db, file, base, &args)
        }
        Expr::Mapping(key, value) => {
            let parts = [ty(db, file, key), ty(db, file, value)].map(|part| instance_of(&part));
            Ty::builtin(MAPPING, &parts)
        }
        Expr::Wrap(inner, Wrapper::Variable) => ty(db, file, inner),
        Expr::Wrap(..) | Expr::Array(_) | Expr::Function(_) | Expr::Base(..) => {
            type_of(db, file, ExprId::at(position))
        }
        Expr::TypeOf(value) => match ty(db, file, value) {
            Ty::Instance(symbol, args) => Ty::Type(symbol, args),
            other => other,
        },
        Expr::Argument(value, _) => ty(db, file, value),
        Expr::Unknown => Ty::Unknown,
    }
}

/// Returns the type that an expression in type position names, as a type.
pub(crate) fn type_of(db: &Db, file: FileId, expr: ExprId) -> Ty {
    let Some(position) = expr.get() else { return Ty::Unknown };
    if db.is_too_deep() || !db.budget.take(1) {
        return Ty::Unknown;
    }
    // A name in the head of an extension is looked up among the members of what is extended.
    let named = || db.deeper(|| db.unfiltered(|| named(db, file, expr, position)));
    db.in_progress.once(Computation::Naming(file, expr), named).unwrap_or(Ty::Unknown)
}

/// Does the same within the bounds of recursion, without a filter.
fn named(db: &Db, file: FileId, expr: ExprId, position: usize) -> Ty {
    let facts = db.program.known(file).facts;
    let list = |list: Run| facts.lists[list.range()].iter().copied();
    match facts.exprs[position] {
        Expr::Name(name, scope) => {
            let name = db.name(file, name);
            let at = facts.positions[position];
            let found = scopes::lookup_type(db, file, name, scope, at);
            match generics::with_arity(db, file, expr, found) {
                Some((entity, _)) => of_arity(db, symbol_types::entity_ty(db, &entity, true), 0),
                None => match namespace(db, file, &Ty::Unknown, name) {
                    Ty::Unknown => {
                        outside::of_library(db, file, name, scope).map_or(Ty::Unknown, Ty::External)
                    }
                    namespace => namespace,
                },
            }
        }
        Expr::Member(object, name) => {
            let name = db.name(file, name);
            match symbol_types::associated_here(db, file, object, name) {
                Some(associated) => associated,
                None => {
                    let object = type_of(db, file, object);
                    match lookup::member(db, &object, name) {
                        Member::Symbols(symbols) => {
                            symbol_types::symbols_ty(db, &symbols, true, None)
                        }
                        Member::Entity(entity) => symbol_types::entity_ty(db, &entity, true),
                        Member::Outside(outside) => {
                            // A type in one of the library: that of an iterator's item.
                            let object = instance_of(&object);
                            let object = aliases::underlying(db, &object).unwrap_or(object);
                            match symbol_types::member_ty(db, &object, name) {
                                Ty::Unknown | Ty::External(_) => Ty::External(outside),
                                // In the position of a type it is no callable.
                                Ty::Function(held) if held.is_known() => (*held).clone(),
                                known => known,
                            }
                        }
                        Member::Unknown if matches!(object, Ty::Namespace(_)) => {
                            namespace(db, file, &object, name)
                        }
                        Member::None | Member::Unknown => {
                            outside_path(db, file, expr, &object).unwrap_or(Ty::Unknown)
                        }
                    }
                }
            }
        }
        Expr::Apply(base, args) => {
            let base = of_arity(db, type_of(db, file, base), args.len() as usize);
            let args: Vec<Ty> = list(args).map(|arg| instance_of_expr(db, file, arg)).collect();
            builtin_types::applied(db, file, base, &args)
        }
        Expr::Wrap(inner, Wrapper::Decorator) => {
            decorator(db, file, inner).unwrap_or_else(|| type_of(db, file, inner))
        }
        Expr::Wrap(inner, _) | Expr::Base(inner, _) => type_of(db, file, inner),
        Expr::Array(inner) => Ty::builtin(ARRAY, &[instance_of_expr(db, file, inner)]),
        Expr::Mapping(key, value) => {
            let parts = [instance_of_expr(db, file, key), instance_of_expr(db, file, value)];
            Ty::builtin(MAPPING, &parts)
        }
        Expr::Tuple(parts) => {
            Ty::Tuple(list(parts).map(|part| instance_of_expr(db, file, part)).collect())
        }
        Expr::Union(parts) => {
            Ty::union(list(parts).map(|part| type_of(db, file, part)).collect::<Vec<_>>())
        }
        Expr::TypeOf(value) => ty(db, file, value),
        Expr::Function(parts) => match list(parts).last() {
            Some(result) => Ty::function(instance_of_expr(db, file, result)),
            None => Ty::Unknown,
        },
        _ => ty(db, file, expr),
    }
}

/// Returns the type of a decorator by the whole of its name.
fn decorator(db: &Db, file: FileId, written: ExprId) -> Option<Ty> {
    let facts = db.program.known(file).facts;
    let position = written.get()?;
    match facts.exprs[position] {
        Expr::Name(name, scope) => {
            let (name, at) = (db.name(file, name), facts.positions[position]);
            let (entity, _) = scopes::lookup_decorator(db, file, name, scope, at)?;
            Some(symbol_types::entity_ty(db, &entity, true))
        }
        Expr::Member(object, name) => {
            let whole = scopes::whole_decorator(db, file, db.name(file, name))?;
            match lookup::member(db, &type_of(db, file, object), whole) {
                Member::Symbols(symbols) => {
                    Some(symbol_types::symbols_ty(db, &symbols, true, None))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// True if a member of a value of this type that is not called is its value.
fn is_library_property(db: &Db, file: FileId, object: &Ty, name: Name) -> bool {
    let is_of_library = match object {
        Ty::Builtin(..) | Ty::External(_) => true,
        Ty::Instance(..) => matches!(lookup::member(db, object, name), Member::Outside(_)),
        _ => false,
    };
    is_of_library
        && db.program.known(file).language.manifest.resolution.library_properties
        && !type_flow::is_method(db, file, object, name)
}

/// Returns the type of the same name with this number of type parameters, if there is one.
fn of_arity(db: &Db, ty: Ty, count: usize) -> Ty {
    match ty {
        Ty::Type(symbol, args) => Ty::Type(hierarchy::of_arity(db, symbol, count), args),
        other => other,
    }
}

/// Returns the namespace that a constant means which nothing defines, in languages in which a path
/// before the name of a type opens it (`class A::B`): below `around`, or at the top.
fn namespace(db: &Db, file: FileId, around: &Ty, name: Name) -> Ty {
    let language = db.program.known(file).language;
    let text = db.program.text(name);
    if !language.manifest.resolution.open_types || !text.starts_with(char::is_uppercase) {
        return Ty::Unknown;
    }
    let around = match around {
        Ty::Namespace(space) => *space,
        _ => Space::root(language),
    };
    Ty::Namespace(around.below(text))
}

/// Returns the type of a library that a path of names means whose first segment nothing defines:
/// packages before the name of a type.
fn outside_path(db: &Db, file: FileId, path: ExprId, object: &Ty) -> Option<Ty> {
    let unit = db.program.known(file);
    let rules = &unit.language.manifest;
    let has_packages = rules.resolution.closure_receivers || rules.modules.has_qualified_types();
    if object.is_known() || !has_packages {
        return None;
    }
    let mut segments: Vec<&str> = Vec::new();
    let mut next = path;
    loop {
        match unit.facts.exprs[next.get()?] {
            Expr::Member(object, name) => {
                segments.push(unit.text(name));
                next = object;
            }
            Expr::Name(name, _) => {
                segments.push(unit.text(name));
                break;
            }
            _ => return None,
        }
    }
    let (ty, packages) = segments.split_first()?;
    let is_path = ty.starts_with(char::is_uppercase)
        && packages.iter().all(|name| name.starts_with(char::is_lowercase));
    segments.reverse();
    is_path.then(|| Ty::External(Rc::from(segments.join(&rules.modules.separator))))
}

/// Returns an instance of the type that an expression names.
pub(crate) fn instance_of_expr(db: &Db, file: FileId, expr: ExprId) -> Ty {
    let ty = type_of(db, file, expr);
    let written = expr.get().map(|position| db.program.known(file).facts.exprs[position]);
    match (written, &ty) {
        // The type of a value, or of a member of a type, that is a callable.
        (Some(Expr::TypeOf(_) | Expr::Member(..)), Ty::Callable(..)) => ty,
        _ => aliases::unaliased(db, instance_of(&ty)),
    }
}
