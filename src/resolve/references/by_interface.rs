//! Members called by the path of a library's interface (`Interface::member(value)`): the
//! implementation of the repository that the value, or the result around the call, asks for.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::inference::{infer, inherent, lookup};
use crate::references::outcome::chosen;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_grammar::MemberLookup;
use cograph_model::facts::{ExprId, Site, flags};
use cograph_model::graph::{FileId, Resolution, SymbolRef, Target};
use cograph_model::{SiteKind, Step, Verdict};
use std::rc::Rc;

/// Returns the target of such a call, if the known types leave one implementation.
pub(super) fn implementation(
    db: &Db,
    file: FileId,
    site: &Site,
    interface: &Ty,
    name: Name,
) -> Option<Resolution> {
    let unit = db.program.known(file);
    if site.kind != SiteKind::Call
        || unit.language.manifest.resolution.members != MemberLookup::InherentFirst
    {
        return None;
    }
    let interface = outside_name(interface)?;
    let implements = |member: &SymbolRef| {
        let implemented = db.program.clauses(*member).implements;
        implemented.is_some()
            && outside_name(&infer::type_of(db, member.file, implemented))
                .is_some_and(|of| is_same(&of, &interface))
    };
    let first = unit.facts.lists[site.args.range()].first().copied();
    if let Some(of) = first.and_then(|first| only_type(&infer::ty(db, file, first))) {
        let mut found = lookup::own_members(db, of, name);
        found.retain(|member| implements(member));
        let found = inherent::of_same_block(db, file, first.unwrap_or(ExprId::NONE), found);
        if found.len() == 1 {
            return Some(chosen(&found, Step::InferredType, Step::SeveralValues));
        }
    }
    let takes_none = |member: &SymbolRef| db.program.symbol(*member).flags & flags::HAS_SELF == 0;
    let all = db.program.members(name)?.iter().copied();
    let fits = |member: &SymbolRef| takes_none(member) && implements(member);
    let found: Symbols = all.filter(fits).take(2).collect();
    let [only] = found[..] else { return None };
    site.enclosing.get()?;
    let result = db.program.symbol(SymbolRef { file, symbol: site.enclosing }).ty;
    let result = result.is_some().then(|| infer::instance_of_expr(db, file, result))?;
    let Ty::Instance(made, _) =
        infer::instance_of_expr(db, only.file, db.program.clauses(only).owner)
    else {
        return None;
    };
    mentions(&result, made).then_some(Resolution {
        verdict: Verdict::Likely,
        step: Step::UniqueName,
        target: Target::Symbol(only),
    })
}

/// Returns the type of the repository that a value has, whatever its type arguments are.
fn only_type(of: &Ty) -> Option<SymbolRef> {
    match of {
        Ty::Instance(symbol, _) => Some(*symbol),
        Ty::Union(parts) => {
            let mut types = parts.iter().map(only_type);
            let first = types.next()??;
            types.all(|other| other == Some(first)).then_some(first)
        }
        _ => None,
    }
}

/// Returns the name of a type of a library.
fn outside_name(ty: &Ty) -> Option<Rc<str>> {
    match ty {
        Ty::External(name) | Ty::BuiltinType(name, _) => Some(name.clone()),
        _ => None,
    }
}

/// True if two qualified names of libraries have the same segments.
fn is_same(one: &str, other: &str) -> bool {
    let segments = |name| str::split(name, ['.', ':']).filter(|segment| !segment.is_empty());
    segments(one).eq(segments(other))
}

/// True if a type is another one or has it among its arguments.
fn mentions(of: &Ty, wanted: SymbolRef) -> bool {
    let among = |types: &[Ty]| types.iter().any(|ty| mentions(ty, wanted));
    match of {
        Ty::Instance(symbol, args) => *symbol == wanted || among(args),
        Ty::Builtin(_, args) | Ty::Tuple(args) | Ty::Union(args) => among(args),
        _ => false,
    }
}
