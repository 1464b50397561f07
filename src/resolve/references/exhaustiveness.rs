//! Exhaustiveness: whether all possible values of a variable are known. A default or one branch
//! does not exclude other values.

use crate::db::Db;
use crate::db::ty::{Entity, Ty};
use crate::inference::{infer, scopes};
use cograph_model::facts::{BindingId, BindingKind, Expr, ExprId, Site};
use cograph_model::graph::{FileId, Resolution, Target};
use cograph_model::{SiteKind, Step, Verdict};

/// Returns the verdict of a call of a local value. If only some of its values are known, they
/// are candidates.
pub(super) fn limited_by_known_values(
    db: &Db,
    file: FileId,
    bindings: &[BindingId],
    found: Resolution,
) -> Resolution {
    let certain = bindings.iter().all(|binding| is_certain_binding(db, file, *binding));
    if certain { found } else { one_of_several(found) }
}

/// Returns the functions that a variable with a declared type is given: the type of a function
/// says what it takes, not which one it is.
pub(super) fn values_of_declared(db: &Db, file: FileId, bindings: &[BindingId]) -> Option<Ty> {
    let unit = db.program.known(file);
    let all = || bindings.iter().map(|id| unit.binding(*id));
    if !all().any(|binding| binding.ty().is_some()) {
        return None;
    }
    let given = all().filter(|binding| binding.value.is_some());
    let values = Ty::union(given.map(|binding| infer::ty(db, file, binding.value)));
    let is_function = |ty: &Ty| matches!(ty, Ty::Callable(..) | Ty::Type(..) | Ty::Lambda(..));
    let are_functions = match &values {
        Ty::Union(parts) => parts.iter().any(is_function),
        one => is_function(one),
    };
    are_functions.then_some(values)
}

fn is_certain_binding(db: &Db, file: FileId, id: BindingId) -> bool {
    let unit = db.program.known(file);
    let binding = unit.binding(id);
    let value = binding.value.get().map(|position| unit.facts.exprs[position]);
    match binding.kind {
        BindingKind::Narrow => true,
        _ if binding.ty().is_some() => true,
        BindingKind::Param if matches!(value, Some(Expr::Name(..) | Expr::Lambda(_)) | None) => {
            false
        }
        _ => is_certain(db, file, binding.value),
    }
}

fn is_certain(db: &Db, file: FileId, value: ExprId) -> bool {
    let facts = db.program.known(file).facts;
    let Some(position) = value.get() else { return false };
    if db.is_too_deep() {
        return false;
    }
    db.deeper(|| match facts.exprs[position] {
        Expr::Union(parts) => {
            facts.lists[parts.range()].iter().all(|part| is_certain(db, file, *part))
        }
        Expr::Name(name, scope) => {
            let name = db.name(file, name);
            match scopes::lookup(db, file, name, scope, facts.positions[position]) {
                Some((Entity::Local(of, bindings), _)) => {
                    bindings.iter().all(|id| is_certain_binding(db, of, *id))
                }
                found => found.is_some(),
            }
        }
        _ => infer::ty(db, file, value).is_known(),
    })
}

/// Returns the verdict of a use of a field of a value with one of several known types: it refers to
/// the fields of all of them. Which method is called depends on the value.
pub(super) fn of_union(of: &Ty, site: &Site, found: Resolution) -> Resolution {
    let is_known = |part: &Ty| {
        matches!(part, Ty::Instance(..) | Ty::Type(..) | Ty::Members(..) | Ty::Filled(..))
    };
    let is_use = matches!(site.kind, SiteKind::Read | SiteKind::Write);
    match of {
        Ty::Union(parts) if is_use && parts.iter().any(is_known) => all(found),
        _ => found,
    }
}

/// Makes several candidates the targets of one reference.
pub(super) fn all(found: Resolution) -> Resolution {
    match (found.verdict, found.step) {
        (Verdict::Ambiguous, Step::SeveralValues) => {
            Resolution { verdict: Verdict::Resolved, step: Step::Conditional, ..found }
        }
        _ => found,
    }
}

/// Lowers a verdict whose target is only one of several values.
pub(super) fn one_of_several(found: Resolution) -> Resolution {
    match found.target {
        Target::Symbol(target) => Resolution {
            verdict: Verdict::Ambiguous,
            step: Step::SeveralValues,
            target: Target::Candidates(Box::new([target])),
        },
        _ => found,
    }
}
