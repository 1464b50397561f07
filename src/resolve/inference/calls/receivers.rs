//! Overloads for receivers: of two methods that differ in being for constant receivers, or for the
//! type itself, a call means the one for its receiver.

use crate::db::Db;
use crate::db::ty::{Entity, Ty};
use crate::inference::calls::overload;
use crate::inference::members::{hierarchy, lookup};
use crate::inference::names::scopes;
use crate::inference::types::infer;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::facts::{
    Binding, BindingKind, Expr, ExprId, LocalSymbol, ScopeId, Site, Symbol, Wrapper, flags,
};
use cograph_model::graph::{FileId, SymbolRef};
use cograph_model::{SymbolKind, Visibility};

/// Drops the overloads that the receiver of a call excludes, as far as it is known to be constant
/// or not.
pub(crate) fn for_receiver(db: &Db, file: FileId, site: &Site, symbols: Symbols) -> Symbols {
    let needs_constant = |symbol: &SymbolRef| has(db, *symbol, flags::READ_ONLY);
    let are_mixed = symbols.iter().any(needs_constant) && !symbols.iter().all(needs_constant);
    let Some(is_constant) =
        are_mixed.then(|| has_constant_receiver(db, file, site, &symbols)).flatten()
    else {
        return symbols;
    };
    let is_possible = |symbol: &SymbolRef| match is_constant {
        true => needs_constant(symbol) || has(db, *symbol, flags::STATIC),
        // A constant method may be called on any receiver, but the other one is closer.
        false => !needs_constant(symbol) || !has_twin(db, *symbol, &symbols),
    };
    let left: Symbols = symbols.iter().copied().filter(is_possible).collect();
    if left.is_empty() { symbols } else { left }
}

/// Drops the members of instances from a call on a type, and those of the type from a call on an
/// instance, where both have the name.
pub(crate) fn for_type_or_instance(
    db: &Db,
    file: FileId,
    site: &Site,
    symbols: Symbols,
) -> Symbols {
    if !has_both(db, &symbols) {
        return symbols;
    }
    let unit = db.program.known(file);
    let is_on_type = match site.target.get().map(|target| unit.facts.exprs[target]) {
        Some(Expr::Name(..)) => is_static_around(db, file, site.enclosing),
        Some(Expr::Member(object, _)) => {
            match object.get().map(|object| unit.facts.exprs[object]) {
                Some(Expr::SelfValue(_) | Expr::SuperValue(_)) => {
                    is_static_around(db, file, site.enclosing)
                }
                _ => is_type(&infer::type_of(db, file, object)),
            }
        }
        _ => None,
    };
    members_of(db, symbols, is_on_type)
}

/// Drops what a reference cannot see, where closures have receivers: private symbols of other
/// files, and extensions that a type declares for itself.
pub(crate) fn visible(db: &Db, file: FileId, site: &Site, mut symbols: Symbols) -> Symbols {
    let unit = db.program.known(file);
    if !unit.language.manifest.resolution.closure_receivers {
        return accessible(db, file, site, symbols);
    }
    symbols.retain(|symbol| {
        let entry = db.program.symbol(*symbol);
        let is_private = entry.visibility == Visibility::Private && symbol.file != file;
        let is_extension = entry.flags & flags::EXTENSION != 0;
        let around = db.program.known(symbol.file).scope_symbol(entry.scope);
        let of_type = SymbolRef { file: symbol.file, symbol: around };
        let is_for_type =
            is_extension && of_type.symbol.is_some() && db.program.symbol(of_type).kind.is_type();
        let name = db.program.name_of(*symbol);
        let is_imported = || unit.facts.imports.iter().any(|it| unit.name(it.item) == name);
        !is_private && (!is_for_type || is_within(db, file, site, of_type) || is_imported())
    });
    symbols
}

/// Drops overloads that a reference cannot use, where the arguments would not tell: private ones of
/// other files, and protected ones of other packages outside of the types that derive.
fn accessible(db: &Db, file: FileId, site: &Site, symbols: Symbols) -> Symbols {
    let manifest = &db.program.known(file).language.manifest;
    if symbols.len() < 2 || manifest.conversions.top.is_none() {
        return symbols;
    }
    let can_use = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        let is_elsewhere = match entry.visibility {
            Visibility::Private => symbol.file != file,
            Visibility::Protected => {
                db.program.package_of(symbol.file) != db.program.package_of(file)
            }
            _ => false,
        };
        let of = SymbolRef { file: symbol.file, symbol: entry.container };
        let is_of_type = entry.container.is_some() && db.program.symbol(of).kind.is_type();
        !is_elsewhere || !is_of_type || is_within(db, file, site, hierarchy::primary(db, of))
    };
    let left: Symbols = symbols.iter().copied().filter(can_use).collect();
    if left.is_empty() { symbols } else { left }
}

/// True if a reference is inside of a type or of one that derives from it.
fn is_within(db: &Db, file: FileId, site: &Site, of: SymbolRef) -> bool {
    let unit = db.program.known(file);
    let mut around = site.enclosing;
    while around.is_some() {
        let entry = unit.symbol(around);
        let own = SymbolRef { file, symbol: around };
        let own = if entry.kind.is_type() { hierarchy::primary(db, own) } else { own };
        if entry.kind.is_type()
            && (own == of || hierarchy::hierarchy(db, own).types.iter().any(|(ty, _)| *ty == of))
        {
            return true;
        }
        around = entry.container;
    }
    false
}

/// True if a reference is inside of a type.
pub(crate) fn is_inside(db: &Db, file: FileId, site: &Site, of: SymbolRef) -> bool {
    let entry = db.program.symbol(of);
    of.file == file && (entry.start_byte..entry.end_byte).contains(&site.byte)
}

/// Drops the members that a receiver of this type does not have, where a type and its instances
/// have members of one name.
pub(crate) fn for_receiver_type(db: &Db, receiver: Option<&Ty>, symbols: &Symbols) -> Symbols {
    let symbols = symbols.clone();
    if has_both(db, &symbols) {
        members_of(db, symbols, receiver.and_then(is_type))
    } else {
        symbols
    }
}

/// True if some of the symbols are members of a type and some of its instances, in a language in
/// which both may have one name.
fn has_both(db: &Db, symbols: &Symbols) -> bool {
    let is_static = |symbol: &SymbolRef| has(db, *symbol, flags::STATIC);
    symbols.len() > 1
        && symbols.iter().any(is_static)
        && !symbols.iter().all(is_static)
        && symbols.iter().all(|symbol| {
            db.program.known(symbol.file).language.manifest.resolution.separate_statics
        })
}

fn members_of(db: &Db, mut symbols: Symbols, is_on_type: Option<bool>) -> Symbols {
    if let Some(is_on_type) = is_on_type {
        symbols.retain(|symbol| has(db, *symbol, flags::STATIC) == is_on_type);
    }
    symbols
}

/// True for a type as a value, false for an instance; none if it is not known.
fn is_type(ty: &Ty) -> Option<bool> {
    match ty {
        Ty::Type(..) => Some(true),
        Ty::Instance(..) => Some(false),
        _ => None,
    }
}

fn has(db: &Db, symbol: SymbolRef, flag: u32) -> bool {
    db.program.symbol(symbol).flags & flag != 0
}

/// True if a method without the modifier has the same parameters.
fn has_twin(db: &Db, symbol: SymbolRef, among: &Symbols) -> bool {
    among.iter().any(|other| {
        !has(db, *other, flags::READ_ONLY)
            && overload::parameter_types(db, *other) == overload::parameter_types(db, symbol)
    })
}

/// True if the receiver of a call of one of the members is constant, false if it is not; none if it
/// is not known.
fn has_constant_receiver(db: &Db, file: FileId, site: &Site, members: &Symbols) -> Option<bool> {
    let exprs = &db.program.known(file).facts.exprs;
    match exprs[site.target.get()?] {
        Expr::Name(..) => is_read_only_around(db, file, site.enclosing),
        Expr::Member(object, _) => {
            let container = db.program.container(*members.first()?).copied();
            is_constant_value(db, file, site, object, container)
        }
        _ => None,
    }
}

/// True if the method around a position leaves its receiver unchanged.
fn is_read_only_around(db: &Db, file: FileId, symbol: LocalSymbol) -> Option<bool> {
    let member = member_around(db, file, symbol).filter(|member| member.kind.is_callable())?;
    Some(member.flags & flags::READ_ONLY != 0)
}

/// True if the receiver at a position is the type around it: in a static member, and directly in
/// the body of the type.
fn is_static_around(db: &Db, file: FileId, symbol: LocalSymbol) -> Option<bool> {
    let member = member_around(db, file, symbol)?;
    Some(is_body(member) || member.flags & flags::STATIC != 0)
}

/// True for a type or a module with members.
fn is_body(symbol: &Symbol) -> bool {
    symbol.kind.is_type() || symbol.kind == SymbolKind::Module
}

/// Returns the member around a position, or the type in whose body it directly is.
fn member_around<'a>(db: &Db<'a>, file: FileId, mut symbol: LocalSymbol) -> Option<&'a Symbol> {
    let unit = db.program.known(file);
    while symbol.is_some() {
        let entry = unit.symbol(symbol);
        if is_body(entry) || entry.kind.is_callable() && entry.flags & flags::LOCAL == 0 {
            return Some(entry);
        }
        symbol = entry.container;
    }
    None
}

/// True if a variable, a parameter or a field is constant: declared with a constant class as its
/// type or as the target of its pointer or reference, or a field of a constant value. None if its
/// class is not one that has the member in `container`, as a smart pointer.
fn is_constant_value(
    db: &Db,
    file: FileId,
    site: &Site,
    object: ExprId,
    container: Option<SymbolRef>,
) -> Option<bool> {
    let unit = db.program.known(file);
    let position = object.get()?;
    let (field, of_constant) = match unit.facts.exprs[position] {
        Expr::SelfValue(_) => return is_read_only_around(db, file, site.enclosing),
        Expr::Name(name, scope) => {
            let name = unit.name(name);
            if let Some(binding) = local_variable(db, file, name, scope) {
                return Some(declared(db, file, binding.ty(), container)?.is_constant);
            }
            let at = unit.facts.positions[position];
            let Some((Entity::Symbols(found), _)) = scopes::lookup(db, file, name, scope, at)
            else {
                return None;
            };
            (found, is_read_only_around(db, file, site.enclosing))
        }
        Expr::Member(outer, name) => {
            let found = lookup::member_symbols(db, &infer::ty(db, file, outer), unit.name(name));
            (found, is_constant_value(db, file, site, outer, None))
        }
        _ => return None,
    };
    let [field] = field[..] else { return None };
    let entry = db.program.symbol(field);
    let declared = declared(db, field.file, entry.ty, container)?;
    match entry.kind == SymbolKind::Field && !declared.is_indirect && !declared.is_constant {
        true => of_constant,
        false => Some(declared.is_constant),
    }
}

/// Returns the innermost binding of a name, if it is a local variable or a parameter.
fn local_variable<'a>(
    db: &Db<'a>,
    file: FileId,
    name: Name,
    scope: ScopeId,
) -> Option<&'a Binding> {
    let (unit, mut current) = (db.program.known(file), scope);
    while current.is_some() {
        if let Some((_, binding)) = db.program.bindings(file, unit, current, name).next() {
            let is_local = matches!(binding.kind, BindingKind::Value | BindingKind::Param);
            return is_local.then_some(binding);
        }
        current = unit.parent(current);
    }
    None
}

/// What a declared type says of a value.
struct DeclaredValue {
    is_constant: bool,
    /// True for a pointer or a reference.
    is_indirect: bool,
}

fn declared(
    db: &Db,
    file: FileId,
    mut ty: ExprId,
    container: Option<SymbolRef>,
) -> Option<DeclaredValue> {
    let unit = db.program.known(file);
    let mut value = DeclaredValue { is_constant: false, is_indirect: false };
    while let Expr::Wrap(inner, wrapper) = unit.facts.exprs[ty.get()?] {
        let is_modifier = wrapper == Wrapper::ReadOnly;
        value.is_constant |= is_modifier;
        value.is_indirect |= !is_modifier;
        ty = inner;
    }
    let is_written =
        matches!(unit.facts.exprs[ty.get()?], Expr::Name(..) | Expr::Member(..) | Expr::Apply(..));
    let Ty::Type(symbol, _) = infer::type_of(db, file, ty) else { return None };
    let entry = db.program.symbol(symbol);
    if !is_written || db.is_too_deep() {
        return None;
    }
    if entry.kind == SymbolKind::TypeAlias {
        let of_alias = db.deeper(|| declared(db, symbol.file, entry.ty, container))?;
        value.is_constant |= of_alias.is_constant;
        value.is_indirect |= of_alias.is_indirect;
        return Some(value);
    }
    // The target of a smart pointer has its own modifier.
    let hierarchy = hierarchy::hierarchy(db, symbol);
    let has = |container: SymbolRef| hierarchy.types.iter().any(|(ty, _)| *ty == container);
    container.is_none_or(has).then_some(value)
}
