//! Functional types: those whose values may be closures. A closure has the signature of the type
//! itself, of the member behind a call, or of the one abstract member.

use crate::db::Db;
use crate::inference::members::{hierarchy, lookup};
use crate::units::interner::Name;
use cograph_grammar::ImplicitUse;
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingKind, ExprId, ScopeId, Synthetic, flags};
use cograph_model::graph::{FileId, SymbolRef};
use smallvec::SmallVec;

/// Returns the function type that an interface states for calls of its values, with the file of it.
pub(super) fn stated(db: &Db, ty: SymbolRef) -> Option<(FileId, ExprId)> {
    if db.program.symbol(ty).kind != SymbolKind::Interface {
        return None;
    }
    let name = db.program.synthetic(Synthetic::CallSignature);
    let hierarchy = hierarchy::hierarchy(db, ty);
    hierarchy.types.iter().find_map(|(of, _)| {
        let inner = db.program.symbol(*of).inner;
        of_scope(db, of.file, inner, name).map(|stated| (of.file, stated))
    })
}

/// Returns the same for the type with members of this scope.
pub(super) fn stated_in(db: &Db, file: FileId, scope: ScopeId) -> Option<ExprId> {
    of_scope(db, file, scope, db.program.synthetic(Synthetic::CallSignature))
}

/// Returns the same where it is the only one: of several, which is called is not known.
pub(super) fn only_stated_in(db: &Db, file: FileId, scope: ScopeId) -> Option<ExprId> {
    let mut bound =
        db.program.known(file).bindings(scope, db.program.synthetic(Synthetic::CallSignature));
    let (_, first) = bound.next()?;
    bound.next().is_none().then_some(first.ty())
}

fn of_scope(db: &Db, file: FileId, scope: ScopeId, name: Name) -> Option<ExprId> {
    let mut bound = db.program.known(file).bindings(scope, name);
    bound.next().map(|(_, binding)| binding.ty())
}

/// Returns the member that a closure implements where a value of a type is expected.
pub(super) fn implemented(db: &Db, ty: SymbolRef) -> Option<SymbolRef> {
    let manifest = &db.program.known(ty.file).language.manifest;
    if let Some(call) = manifest.names.member_behind(ImplicitUse::Call) {
        let called = lookup::type_member(db, ty, db.program.named(call));
        if let [member, ..] = called[..] {
            return Some(member);
        }
    }
    let is_open = matches!(db.program.symbol(ty).kind, SymbolKind::Interface | SymbolKind::Trait);
    // Where types are compared by their members, a closure is no object with a method.
    (is_open && manifest.resolution.structural.is_empty()).then(|| abstract_member(db, ty))?
}

/// Returns the abstract member of a type, if it has members of one name that are.
fn abstract_member(db: &Db, ty: SymbolRef) -> Option<SymbolRef> {
    let mut seen: SmallVec<[Name; 8]> = SmallVec::new();
    let mut found: Option<(Name, SymbolRef)> = None;
    for (of, _) in &hierarchy::hierarchy(db, ty).types {
        if !db.budget.take(1) {
            return None;
        }
        let unit = db.program.known(of.file);
        let from = seen.len();
        for &id in unit.all_bound(db.program.symbol(*of).inner) {
            let binding = unit.binding(id);
            let name = unit.name(binding.name);
            // Nearer types implement what those above them declare.
            if binding.kind != BindingKind::Symbol || seen[..from].contains(&name) {
                continue;
            }
            let member = SymbolRef { file: of.file, symbol: binding.symbol() };
            let entry = db.program.symbol(member);
            if !entry.kind.is_callable() || entry.flags & flags::STATIC != 0 {
                continue;
            }
            seen.push(name);
            if entry.flags & flags::ABSTRACT == 0 {
                continue;
            }
            match found {
                Some((other, _)) if other != name => return None,
                Some(_) => {}
                None => found = Some((name, member)),
            }
        }
    }
    found.map(|(_, member)| member)
}
