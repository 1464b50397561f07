//! Reaching definitions: the assignments of a variable whose values may reach a position.

use crate::db::Db;
use crate::units::interner::Name;
use cograph_model::facts::{Binding, BindingId, BindingKind, ScopeId};
use cograph_model::graph::FileId;
use smallvec::SmallVec;

/// Bindings of one name that are scanned for one step of the budget.
pub(crate) const BINDINGS_PER_STEP: usize = 4;

/// Use of a name, as seen from a scope around it.
#[derive(Clone, Copy)]
pub(super) struct NameUse {
    /// Innermost scope around the use.
    pub(super) scope: ScopeId,
    /// Byte position of the use.
    pub(super) at: u32,
    /// True if a function encloses the use but not the searched scope: the function may run after
    /// any assignment.
    pub(super) crossed: bool,
}

impl NameUse {
    /// Use from outside of a scope: all of its bindings are visible.
    pub(super) fn outside(scope: ScopeId) -> Self {
        Self { scope, at: u32::MAX, crossed: true }
    }
}

/// Minimum number of bindings of a name for a binary search instead of a scan.
const MIN_SEARCHED: usize = 64;

/// Returns the bindings of a name in a scope that may reach a position. For a variable with at
/// least `MIN_SEARCHED` assignments: the last one whose block encloses the position, and those
/// after it; otherwise all.
pub(super) fn last_values<'a>(
    db: &Db<'a>,
    file: FileId,
    scope: ScopeId,
    name: Name,
    bound: &'a [BindingId],
    from: NameUse,
) -> &'a [BindingId] {
    if bound.len() < MIN_SEARCHED || !are_values_in_order(db, file, scope, name, bound) {
        return bound;
    }
    let unit = db.program.known(file);
    let before = &bound[..bound.partition_point(|&id| unit.binding(id).from <= from.at)];
    if before.is_empty() {
        return bound;
    }
    let certain =
        before.iter().rposition(|&id| encloses(db, file, unit.binding(id).block(), from.scope));
    &before[certain.unwrap_or(0)..]
}

/// True if all bindings are assignments or parameters of one variable, sorted by position.
fn are_values_in_order(
    db: &Db,
    file: FileId,
    scope: ScopeId,
    name: Name,
    bound: &[BindingId],
) -> bool {
    let variable = (file, scope, name);
    if let Some(known) = db.assigned.get(&variable) {
        return known;
    }
    let unit = db.program.known(file);
    let bindings = || bound.iter().map(|&id| unit.binding(id));
    let are_values = bindings()
        .all(|binding| matches!(binding.kind, BindingKind::Value | BindingKind::Param))
        && bindings().is_sorted_by_key(|binding| binding.from);
    db.assigned.insert(variable, are_values);
    are_values
}

/// Returns the bindings of a variable that may reach a position: the last one whose block
/// encloses it, and those after it.
pub(super) fn reaching<'a>(
    db: &Db<'a>,
    file: FileId,
    all: &[(BindingId, &'a Binding)],
    from: NameUse,
) -> SmallVec<[BindingId; 2]> {
    let values = || {
        all.iter().filter(|(_, binding)| {
            matches!(
                binding.kind,
                BindingKind::Value
                    | BindingKind::Param
                    | BindingKind::TypeParam
                    | BindingKind::Field
            )
        })
    };
    if from.crossed {
        return values().map(|(id, _)| *id).collect();
    }
    let before: SmallVec<[(BindingId, &Binding); 4]> =
        values().filter(|(_, binding)| binding.from <= from.at).copied().collect();
    if before.is_empty() {
        return values().map(|(id, _)| *id).collect();
    }
    let certain = before
        .iter()
        .rposition(|(_, binding)| encloses(db, file, binding.block(), from.scope))
        .unwrap_or(0);
    before[certain..].iter().map(|(id, _)| *id).collect()
}

fn encloses(db: &Db, file: FileId, outer: ScopeId, mut inner: ScopeId) -> bool {
    let unit = db.program.known(file);
    while inner.is_some() {
        if inner == outer {
            return true;
        }
        inner = unit.parent(inner);
    }
    false
}
