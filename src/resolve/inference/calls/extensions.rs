//! Extensions: functions that are called like members of their first parameter's type, where that
//! has no such member.

use crate::db::Db;
use crate::db::ty::{Entity, Member, Ty, instance_of};
use crate::inference::calls::overload;
use crate::inference::calls::overload::Fit;
use crate::inference::members::{lookup, type_flow};
use crate::inference::types::{infer, lists};
use crate::units::import_target::{ImportTarget, Module, family};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::ModifierMeaning;
use cograph_model::facts::{Expr, ExprId, ImportKind, Run, flags};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Maximum number of extensions of one name among which a call chooses.
const MAX_EXTENSIONS: usize = 64;

/// Extensions that a call of a member may mean.
pub(crate) struct Extensions {
    pub(crate) symbols: Symbols,
    /// True if the file sees their packages and they are known to take the receiver.
    pub(crate) are_certain: bool,
}

/// What is known of the arguments of a call.
#[derive(Clone, Copy)]
pub(crate) enum KnownArguments {
    /// Their number, while a closure among them is inferred from the callee.
    Number(u16),
    /// Their types as well.
    Types(Run),
}

impl KnownArguments {
    /// True if one of them is of a type of the repository, which no library member takes by name.
    fn has_own(self, db: &Db, file: FileId) -> bool {
        let Self::Types(args) = self else { return false };
        let types = lists::types_of(db, file, args);
        types.iter().any(|ty| matches!(ty, Ty::Instance(..)))
    }

    fn count(self) -> u16 {
        match self {
            Self::Number(count) => count,
            Self::Types(args) => overload::argument_count(args),
        }
    }
}

/// Returns the extensions that a call of a member with these arguments means instead of the member
/// found.
pub(crate) fn called(
    db: &Db,
    file: FileId,
    of: &Ty,
    name: Name,
    found: &Member,
    args: KnownArguments,
) -> Option<Extensions> {
    if !has_extensions(db, file)
        || matches!(of, Ty::Unknown | Ty::Type(..) | Ty::Module(_) | Ty::BuiltinType(..))
        || !yields_to_member(db, file, of, name, found, args)
    {
        return None;
    }
    // The library knows little of a function type that the repository names.
    let is_common = matches!(found, Member::Outside(_))
        && !matches!(of, Ty::Function(_))
        && db.program.known(file).language.is_common_member(db.program.text(name));
    let of = instance_of(of);
    let all = of_name(db, file, name);
    let ranks: Vec<Option<u8>> = all
        .iter()
        .map(|symbol| {
            let fit = overload::receiver_fit(db, file, *symbol, &of)?;
            let is_enough = match fit {
                Fit::Open => !matches!(of, Ty::External(_)),
                // A file that imports the extension, which takes the arguments, means it rather
                // than a member of a type whose bases are not known.
                Fit::Unlisted => {
                    !is_common
                        && is_visible(db, file, *symbol)
                        && overload::accepts(db, *symbol, args.count().saturating_add(1), false)
                }
                // A name of library members is that of an extension only where the library type is
                // known exactly, the extension is imported, and the members of the type are listed
                // or an argument is no library value. On a type of the repository it would have no
                // use if the library had the member.
                fit => {
                    let is_listed = || has_table(db, file, &of) || matches!(of, Ty::Instance(..));
                    let is_exact = || {
                        fit == Fit::Same
                            && (!has_aliases(db, file, &of)
                                || !type_flow::is_named(db, file, &of, name))
                    };
                    !is_common
                        || is_exact()
                            && is_visible(db, file, *symbol)
                            && (is_listed() || args.has_own(db, file))
                }
            };
            let is_open =
                matches!(fit, Fit::Open | Fit::Unlisted) || !is_visible(db, file, *symbol);
            is_enough.then_some(u8::from(is_open))
        })
        .collect();
    let best = ranks.iter().flatten().min().copied()?;
    let of_rank =
        |(symbol, rank): (&SymbolRef, &Option<u8>)| (*rank == Some(best)).then_some(*symbol);
    let symbols: Symbols = all.iter().zip(&ranks).filter_map(of_rank).collect();
    let has_member = matches!(found, Member::Symbols(_) | Member::Entity(_));
    if has_member && !takes_any(db, file, &symbols, &of, args) {
        return None;
    }
    (symbols.len() <= MAX_EXTENSIONS).then_some(Extensions { symbols, are_certain: best == 0 })
}

/// Returns the extensions that a call of the member of a library value may mean, as the type of the
/// value says too little: those that the file sees, by the number of arguments; of a type of the
/// language those of exactly that type without arguments, which would have no use if it had the
/// member itself.
pub(crate) fn possible(db: &Db, file: FileId, of: &Ty, name: Name, args: Run) -> Symbols {
    let count = KnownArguments::Number(overload::argument_count(args));
    let outside = Member::Outside(Rc::from(""));
    let is_listed = matches!(of, Ty::Builtin(..)) && count.count() == 0;
    let is_common = || db.program.known(file).language.is_common_member(db.program.text(name));
    if !has_extensions(db, file)
        || !is_listed
            && (!matches!(of, Ty::External(_))
                || is_common()
                || !yields_to_member(db, file, of, name, &outside, count))
    {
        return Symbols::new();
    }
    let of = instance_of(of);
    let may_be = |symbol: &SymbolRef| {
        (is_visible(db, file, *symbol) || is_imported(db, file, *symbol))
            && overload::accepts(db, *symbol, count.count().saturating_add(1), false)
            && match overload::receiver_fit(db, file, *symbol, &of) {
                Some(fit) => !is_listed || fit == Fit::Same && is_of_type(db, *symbol, &of),
                None => false,
            }
    };
    of_name(db, file, name).into_iter().filter(may_be).take(MAX_EXTENSIONS).collect()
}

/// True for an extension of a type of the language with as many type arguments.
fn is_of_type(db: &Db, extension: SymbolRef, of: &Ty) -> bool {
    match (overload::parameter_types(db, extension).first(), of) {
        (Some(Ty::Builtin(wanted, inner)), Ty::Builtin(given, held)) => {
            wanted == given && inner.len() == held.len()
        }
        _ => false,
    }
}

/// Returns the extensions of a name in the language family of a file.
fn of_name(db: &Db, file: FileId, name: Name) -> Symbols {
    let own = family(db.program.known(file).language);
    let is_extension = |symbol: &SymbolRef| {
        db.program.symbol(*symbol).flags & flags::EXTENSION != 0
            && family(db.program.known(symbol.file).language) == own
    };
    let all = db.program.members(name).into_iter().flatten().copied();
    all.filter(is_extension).collect()
}

/// True if a file imports a symbol by its name.
fn is_imported(db: &Db, file: FileId, symbol: SymbolRef) -> bool {
    let unit = db.program.known(file);
    let name = db.program.name_of(symbol);
    unit.facts.imports.iter().any(|import| unit.name(import.item) == name)
}

/// True for a library type with a table of its members.
fn has_table(db: &Db, file: FileId, of: &Ty) -> bool {
    let Ty::Builtin(name, _) = of else { return false };
    type_flow::flow(db, file, name).is_some()
}

/// True for a library type whose name may be another one in the source.
fn has_aliases(db: &Db, file: FileId, of: &Ty) -> bool {
    let Ty::Builtin(name, _) = of else { return false };
    type_flow::flow(db, file, name).is_some_and(|(_, flow)| !flow.aliases.is_empty())
}

fn has_extensions(db: &Db, file: FileId) -> bool {
    let modifiers = &db.program.known(file).language.manifest.modifiers;
    modifiers.has_modifier(ModifierMeaning::Extension)
}

/// Returns the receiver that is the first argument of a call of an extension.
pub(crate) fn receiver<'t>(
    db: &Db,
    symbols: &[SymbolRef],
    receiver: Option<&'t Ty>,
) -> Option<&'t Ty> {
    // Elsewhere the receiver of an extension is none of its parameters.
    let first = symbols.first().filter(|first| has_extensions(db, first.file))?;
    (db.program.symbol(*first).flags & flags::EXTENSION != 0)
        .then_some(receiver?)
        .filter(|receiver| !matches!(receiver, Ty::Type(..)))
}

/// Returns the type of a callee that may be an extension of its object's type.
pub(crate) fn callee_ty(db: &Db, file: FileId, callee: ExprId, args: KnownArguments) -> Option<Ty> {
    let unit = db.program.known(file);
    if !has_extensions(db, file) {
        return None;
    }
    let Expr::Member(object, name) = unit.facts.exprs[callee.get()?] else { return None };
    let (object, name) = (infer::ty(db, file, object), db.name(file, name));
    let found = lookup::member(db, &object, name);
    let extensions = called(db, file, &object, name, &found, args)?;
    Some(Ty::callable(extensions.symbols, Some(&instance_of(&object))))
}

/// True if a member found on a receiver is none that a call with these arguments can mean.
fn yields_to_member(
    db: &Db,
    file: FileId,
    of: &Ty,
    name: Name,
    found: &Member,
    args: KnownArguments,
) -> bool {
    let can_be_called = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        match entry.kind.is_callable() && entry.flags & flags::PROPERTY == 0 {
            true => overload::accepts(db, *symbol, args.count(), false),
            false => entry.kind.is_type(),
        }
    };
    match found {
        Member::Symbols(symbols) | Member::Entity(Entity::Symbols(symbols)) => {
            let callable: Symbols = symbols.iter().copied().filter(can_be_called).collect();
            callable.is_empty() || excludes_types(db, file, callable, args)
        }
        Member::Entity(_) => false,
        Member::Outside(_) => {
            let (Ty::Builtin(outer, _) | Ty::External(outer)) = of else { return true };
            let flow = type_flow::flow(db, file, outer);
            let text = db.program.text(name);
            !flow.is_some_and(|(_, flow)| flow.members.contains_key(text))
        }
        Member::None | Member::Unknown => true,
    }
}

/// True if none of several callables takes the types of the arguments.
fn excludes_types(db: &Db, file: FileId, callables: Symbols, args: KnownArguments) -> bool {
    let KnownArguments::Types(args) = args else { return false };
    let types = lists::types_of(db, file, args);
    !overload::is_applicable(db, file, &Entity::Symbols(callables), &types, args, false)
}

/// True if one of several extensions takes a receiver and the types of the arguments.
fn takes_any(db: &Db, file: FileId, extensions: &Symbols, of: &Ty, args: KnownArguments) -> bool {
    let KnownArguments::Types(args) = args else { return true };
    let mut types = lists::types_of(db, file, args);
    types.insert(0, of.clone());
    extensions.iter().any(|symbol| overload::takes(db, file, *symbol, &types))
}

/// True if a file sees the package of a symbol: it is its own, one around it, or imported.
fn is_visible(db: &Db, file: FileId, symbol: SymbolRef) -> bool {
    let (unit, other) = (db.program.known(file), db.program.known(symbol.file));
    let scope = db.program.symbol(symbol).scope;
    let Some(package) = other.spaces.package_around(other.facts, scope) else { return true };
    let Some(first) = unit.facts.package.as_deref() else { return false };
    let separator = unit.language.manifest.modules.separator.as_str();
    let is_around = |own: &str| {
        let rest = own.strip_prefix(package);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
    };
    if is_around(first) || unit.spaces.packages.iter().any(|(_, own)| is_around(own)) {
        return true;
    }
    let number = db.program.package_of_symbol(symbol);
    let shared = db.program.shared_imports(file).wildcards.iter();
    let leads = |target: &ImportTarget| {
        matches!(
            target,
            ImportTarget::Path { module: Module::Package(of), .. } if Some(*of) == number
        )
    };
    if shared.into_iter().any(leads) {
        return true;
    }
    let targets = db.program.import_targets(file);
    unit.facts
        .imports
        .iter()
        .zip(targets)
        .any(|(import, target)| import.kind == ImportKind::Wildcard && leads(target))
}
