//! Members from outside of a type's body, in order of precedence: inherent members, those of
//! interfaces, those of the dereferenced target; and extension members of external types.

use crate::db::Db;
use crate::db::in_progress::{Computation, Operation};
use crate::db::ty::{Member, Ty, unify};
use crate::inference::members::type_flow::last_segment;
use crate::inference::members::{hierarchy, type_flow};
use crate::inference::names::namespaces;
use crate::units::bounds::MAX_CANDIDATES;
use crate::units::import_target::Module;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::{ImplicitUse, MemberLookup, TypeFlow};
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingId, Expr, ExprId, flags};
use cograph_model::graph::{FileId, SymbolRef};
use std::rc::Rc;

/// Key of members that every type has (blanket extensions).
const EVERY_TYPE: &str = "";

/// Type flow table for members of any type.
pub(crate) const ANY_TYPE: &str = "*";

/// Type flow table for members of any enumeration.
const ANY_ENUM: &str = "enum";

/// Returns the inherent members among members of one name; all if there are none.
pub(super) fn inherent(db: &Db, found: Symbols) -> Symbols {
    let is_inherent = |member: &SymbolRef| !db.program.clauses(*member).implements.is_some();
    if found.iter().any(is_inherent) {
        found.into_iter().filter(is_inherent).collect()
    } else {
        found
    }
}

/// Among several members of a callable's own receiver, those of the block that the callable is
/// declared in: the others belong to other forms of the type, such as references to it. A callable
/// that seems to call itself delegates to another form.
pub(crate) fn of_same_block(db: &Db, file: FileId, receiver: ExprId, found: Symbols) -> Symbols {
    let unit = db.program.known(file);
    if found.len() < 2 || unit.language.manifest.resolution.members != MemberLookup::InherentFirst {
        return found;
    }
    let (Some(Expr::SelfValue(scope)) | Some(Expr::Name(_, scope))) =
        receiver.get().map(|position| unit.facts.exprs[position])
    else {
        return found;
    };
    let callable = std::iter::successors(Some(scope), |scope| Some(unit.parent(*scope)))
        .take_while(|scope| scope.is_some())
        .map(|scope| unit.scope_symbol(scope))
        .find(|symbol| symbol.is_some() && unit.symbol(*symbol).kind.is_callable());
    let Some(callable) = callable else { return found };
    let block = unit.symbol(callable).scope;
    let is_sibling =
        |member: &SymbolRef| member.file == file && db.program.symbol(*member).scope == block;
    let siblings: Symbols = found.iter().copied().filter(is_sibling).collect();
    if siblings.iter().all(|member| member.symbol == callable) { found } else { siblings }
}

/// Returns a member that is not the type's own: of the dereferenced target, of every type, or
/// external.
pub(super) fn fallback_member(db: &Db, value: &Ty, name: Name) -> Option<Member> {
    if let Some(found) = deref_member(db, value, name) {
        return Some(found);
    }
    if let Some(found) = external_extensions(db, EVERY_TYPE, name) {
        return Some(Member::Symbols(found));
    }
    let (Ty::Instance(symbol, _) | Ty::Type(symbol, _)) = value else { return None };
    let (interface, _) = outside_interface(db, *symbol, name)?;
    let text = db.program.text(name);
    Some(Member::Outside(if interface == ANY_TYPE {
        Rc::from(text)
    } else {
        Rc::from(format!("{interface}.{text}"))
    }))
}

/// Returns the external interface, with its table, that provides a member of a type of the
/// repository.
fn outside_interface(
    db: &Db,
    symbol: SymbolRef,
    name: Name,
) -> Option<(&'static str, &'static TypeFlow)> {
    let language = db.program.known(symbol.file).language;
    let text = db.program.text(name);
    let implemented =
        db.program.implemented_outside(symbol).into_iter().flatten().map(|interface| &**interface);
    let of_kind = (db.program.symbol(symbol).kind == SymbolKind::Enum).then_some(ANY_ENUM);
    let tables = implemented.chain(of_kind).chain(std::iter::once(ANY_TYPE));
    let mut tables = tables.filter_map(|interface| language.flow(interface));
    tables.find(|(_, flow)| flow.members.contains_key(text))
}

/// Returns the type of an external member of a type of the repository, or of a member that every
/// type has.
pub(crate) fn outside_member_of(db: &Db, value: &Ty, name: Name) -> Option<Ty> {
    if let Ty::Param(file, _) = value {
        let (_, flow) = db.program.known(*file).language.flow(ANY_TYPE)?;
        let template = flow.members.get(db.program.text(name))?;
        return Some(type_flow::instantiated(template, flow, &[], value));
    }
    let (Ty::Instance(symbol, _) | Ty::Type(symbol, _)) = value else { return None };
    let (_, flow) = outside_interface(db, *symbol, name)?;
    let template = flow.members.get(db.program.text(name))?;
    let instance = crate::db::ty::instance_of(value);
    let mut element = Ty::Unknown;
    if flow.element.is_some() && !db.is_too_deep() {
        element = db.deeper(|| next_item(db, &instance));
    }
    let args: Vec<Ty> = flow
        .params
        .iter()
        .map(
            |param| {
                if flow.element.as_ref() == Some(param) { element.clone() } else { Ty::Unknown }
            },
        )
        .collect();
    Some(type_flow::instantiated(template, flow, &args, &instance))
}

/// Returns the item type of an iterator: the result of its `next` member without its wrapper.
fn next_item(db: &Db, value: &Ty) -> Ty {
    let Ty::Instance(symbol, _) = value else { return Ty::Unknown };
    let language = db.program.known(symbol.file).language;
    let members = language.manifest.names.members_behind(ImplicitUse::Iterate);
    let Some(next) = members.last().map(|next| db.program.named(next)) else {
        return Ty::Unknown;
    };
    match &db.own_members(*symbol, next)[..] {
        [next] => {
            let result = db.return_ty(*next, Some(value), &[]);
            type_flow::through(db, symbol.file, &result, |flow| flow.unwrapped.as_deref())
                .unwrap_or(Ty::Unknown)
        }
        _ => Ty::Unknown,
    }
}

/// Returns the blanket extension member for the same arguments of the interface, if one exists,
/// for a member found on a value known only by an interface; else the member found.
pub(super) fn blanket_extension(db: &Db, of: &Ty, name: Name, found: Member) -> Member {
    let (Ty::Instance(interface, args), Member::Symbols(symbols)) = (of, &found) else {
        return found;
    };
    let is_open = |symbol: &SymbolRef| db.program.symbol(*symbol).flags & flags::ABSTRACT != 0;
    if args.is_empty()
        || db.program.symbol(*interface).kind != SymbolKind::Trait
        || !symbols.iter().all(is_open)
    {
        return found;
    }
    let Some(external_extensions) = external_extensions(db, EVERY_TYPE, name) else {
        return found;
    };
    let fitting: Symbols = external_extensions
        .into_iter()
        .filter(|member| {
            let implements = db.program.clauses(*member).implements;
            matches!(
                db.type_of(member.file, implements),
                Ty::Type(of, given) if of == *interface && given == *args
            )
        })
        .collect();
    if fitting.len() == 1 { Member::Symbols(fitting) } else { found }
}

/// Returns a member of the dereferenced target of a value.
fn deref_member(db: &Db, value: &Ty, name: Name) -> Option<Member> {
    let Ty::Instance(symbol, _) = value else { return None };
    let names = &db.program.known(symbol.file).language.manifest.names;
    let members = names.members_behind(ImplicitUse::Dereference);
    let text = db.program.text(name);
    if members.iter().any(|member| member == text) || db.is_too_deep() {
        return None;
    }
    let found = db.deeper(|| {
        let inner = db.filtered(None, || {
            members.iter().map(|member| result_of_member(db, value, member)).find(Ty::is_known)
        });
        inner.filter(|inner| inner != value).map(|inner| db.member(&inner, name))
    });
    found.filter(|member| !matches!(member, Member::None | Member::Unknown))
}

/// Returns the dereferenced target of a value if that, and not the value itself, has these
/// members.
pub(crate) fn holder(db: &Db, value: &Ty, members: &Symbols) -> Option<Ty> {
    let Ty::Instance(symbol, _) = value else { return None };
    let names = &db.program.known(symbol.file).language.manifest.names;
    let implicit = names.members_behind(ImplicitUse::Dereference);
    if implicit.is_empty() {
        return None;
    }
    let first = *members.first()?;
    let name = db.program.name_of(first);
    if db.type_member(*symbol, name).contains(&first) {
        return None;
    }
    let dereference = Computation::Operating(*symbol, Operation::Dereference);
    let target = || {
        let mut results = implicit.iter().map(|member| result_of_member(db, value, member));
        let inner = results.find(Ty::is_known)?;
        Some(holder(db, &inner, members).unwrap_or(inner))
    };
    db.in_progress.once(dereference, target)?
}

/// Returns the extension members of an external type.
pub(super) fn external_extensions(db: &Db, outer: &str, name: Name) -> Option<Symbols> {
    let found = db
        .program
        .external_extensions(last_segment(outer))
        .and_then(|members| members.get(&name))?;
    let found: Symbols =
        found.iter().copied().filter(|member| namespaces::is_wanted(db, *member)).collect();
    (!found.is_empty()).then(|| inherent(db, found))
}

/// Returns the extension members of the library types that a type of the repository inherits from.
pub(super) fn of_bases(db: &Db, of: &Ty, name: Name) -> Option<Symbols> {
    let Ty::Instance(symbol, _) = of else { return None };
    let hierarchy = hierarchy::hierarchy(db, *symbol);
    hierarchy.outside.iter().find_map(|base| external_extensions(db, base, name))
}

/// Returns the extensions of a name that every type has.
pub(super) fn extensions_of_all(db: &Db, name: Name) -> Option<Symbols> {
    external_extensions(db, EVERY_TYPE, name)
}

/// True if an extension of the repository may be meant by a member of an external value: its type
/// is not in the type flow tables, or is not known to have the member.
pub(crate) fn may_extend(db: &Db, file: FileId, of: &Ty, name: Name) -> bool {
    let Ty::External(_) = of else { return false };
    // Of more candidates than are kept, none would be chosen.
    let rules = &db.program.known(file).language.manifest.resolution;
    if !rules.closure_receivers || type_flow::has_member(db, file, of, name) {
        return false;
    }
    let is_extension =
        |symbol: &SymbolRef| db.program.symbol(*symbol).flags & flags::EXTENSION != 0;
    let all = db.program.members(name);
    all.is_some_and(|all| all.iter().take(MAX_CANDIDATES).any(is_extension))
}

/// Returns the extensions of a name that a package declares.
pub(crate) fn extensions_in(db: &Db, module: Module, name: Name) -> Symbols {
    let Module::Package(package) = module else { return Symbols::new() };
    let is_extension = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        entry.flags & flags::EXTENSION != 0
            || (entry.kind == SymbolKind::Variable && db.program.clauses(*symbol).owner.is_some())
    };
    let is_in = |symbol: &SymbolRef| {
        db.program.package_of_symbol(*symbol) == Some(package) && is_extension(symbol)
    };
    let lists = [db.program.members(name), db.program.fields(name)];
    lists.into_iter().flatten().flatten().copied().filter(is_in).collect()
}

/// Returns the name of what the file being resolved imports under this name, where extensions are
/// imported by their names.
pub(super) fn imported_as(db: &Db, name: Name) -> Option<Name> {
    let unit = db.program.known(db.origin.get());
    let rules = &unit.language.manifest;
    if !rules.resolution.closure_receivers {
        return None;
    }
    let mut imports = unit.facts.imports.iter().filter(|import| import.alias.is_some());
    let import = imports.find(|import| unit.name(import.alias) == name)?;
    let own = match import.item.is_some() {
        true => unit.name(import.item),
        false => {
            let (_, last) = import.module.rsplit_once(rules.modules.separator.as_str())?;
            db.program.named(last)
        }
    };
    (own != name).then_some(own)
}

/// True for members that are defined outside of their type.
pub(super) fn are_extensions(db: &Db, found: &Symbols) -> bool {
    found.iter().all(|symbol| db.program.clauses(*symbol).owner.is_some())
}

/// Returns the name of the external type, or of every type, that members defined for `owner`
/// extend. A member that one value of the type is given extends no type.
pub(crate) fn outside_owner(db: &Db, file: FileId, owner: ExprId) -> Option<Box<str>> {
    let takes_members = db.program.known(file).language.manifest.names.values_member.is_some();
    if takes_members && matches!(db.ty(file, owner), Ty::Builtin(..)) {
        return None;
    }
    match db.instance_of_expr(file, owner) {
        Ty::Builtin(name, _) | Ty::External(name) => Some(Box::from(last_segment(&name))),
        Ty::Param(..) => Some(Box::from(EVERY_TYPE)),
        _ => None,
    }
}

/// Substitutes the type parameters of the scope that defines a member by those of its receiver.
pub(crate) fn bind_receiver_parameters(
    db: &Db,
    symbol: SymbolRef,
    ty: Ty,
    receiver: Option<&Ty>,
) -> Ty {
    let owner = db.program.clauses(symbol).owner;
    let (true, Some(receiver)) = (owner.is_some(), receiver) else { return ty };
    let receiver = crate::db::ty::instance_of(receiver);
    let owner = db.instance_of_expr(symbol.file, owner);
    let mut known: Vec<((FileId, BindingId), Ty)> = Vec::new();
    unify(&owner, &receiver, &mut known);
    if known.is_empty() {
        return ty;
    }
    ty.map(&|ty: &Ty| match ty {
        Ty::Param(file, binding) => {
            known.iter().find(|(param, _)| *param == (*file, *binding)).map(|(_, ty)| ty.clone())
        }
        _ => None,
    })
}

/// Returns the result of calling a member of a value without arguments.
pub(crate) fn result_of_member(db: &Db, value: &Ty, member: &str) -> Ty {
    let name = db.program.named(member);
    match db.member_ty(value, name) {
        Ty::Callable(symbols, receiver) => db.result_of(&symbols, receiver.as_deref(), &[]),
        _ => Ty::Unknown,
    }
}
