//! Variables that are given values again and again: which of the values may reach a place.

use crate::model::facts::{Binding, BindingId, BindingKind, ScopeId};
use crate::model::graph::FileId;
use crate::resolve::{Name, Resolver};
use smallvec::SmallVec;

/// So many bindings of one name are looked through in one step of the budget.
pub(in crate::resolve) const BINDINGS_A_STEP: usize = 4;

/// From so many on, the bindings of a name are searched rather than looked through.
const MANY: usize = 64;

impl<'a> Resolver<'_, 'a> {
    /// Of the bindings of a name in a scope, those that may say what it means at a place: of a
    /// variable with very many values the last one on every way to the place, and those after it;
    /// else all.
    pub(in crate::resolve) fn last_values(
        &mut self,
        (file, scope, name): (FileId, ScopeId, Name),
        bound: &'a [(Name, BindingId)],
        (from, at): (ScopeId, u32),
    ) -> &'a [(Name, BindingId)] {
        if bound.len() < MANY || !self.are_values_in_order((file, scope, name), bound) {
            return bound;
        }
        let unit = self.program.known(file);
        let before = &bound[..bound.partition_point(|&(_, id)| unit.binding(id).from <= at)];
        if before.is_empty() {
            return bound;
        }
        let certain =
            before.iter().rposition(|&(_, id)| self.encloses(file, unit.binding(id).block, from));
        &before[certain.unwrap_or(0)..]
    }

    /// Whether bindings are values of a variable and nothing else, in the order of their places.
    fn are_values_in_order(
        &mut self,
        place: (FileId, ScopeId, Name),
        bound: &[(Name, BindingId)],
    ) -> bool {
        if let Some(known) = self.assigned.get(&place) {
            return *known;
        }
        let unit = self.program.known(place.0);
        let bindings = || bound.iter().map(|&(_, id)| unit.binding(id));
        let are_values = bindings()
            .all(|binding| matches!(binding.kind, BindingKind::Value | BindingKind::Param))
            && bindings().is_sorted_by_key(|binding| binding.from);
        self.assigned.insert(place, are_values);
        are_values
    }

    /// The bindings of a variable that may reach a place: the last one on every way there, and
    /// those after it.
    pub(in crate::resolve) fn reaching(
        &self,
        file: FileId,
        all: &[(BindingId, &'a Binding)],
        from: ScopeId,
        at: u32,
        crossed: bool,
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
        if crossed {
            return values().map(|(id, _)| *id).collect();
        }
        let before: SmallVec<[(BindingId, &Binding); 4]> =
            values().filter(|(_, binding)| binding.from <= at).copied().collect();
        if before.is_empty() {
            return values().map(|(id, _)| *id).collect();
        }
        let certain = before
            .iter()
            .rposition(|(_, binding)| self.encloses(file, binding.block, from))
            .unwrap_or(0);
        before[certain..].iter().map(|(id, _)| *id).collect()
    }

    pub(in crate::resolve) fn encloses(
        &self,
        file: FileId,
        outer: ScopeId,
        mut inner: ScopeId,
    ) -> bool {
        let unit = self.program.known(file);
        while inner.is_some() {
            if inner == outer {
                return true;
            }
            inner = unit.parent(inner);
        }
        false
    }
}
