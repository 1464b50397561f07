//! Exhaustiveness: whether all possible values of a variable are known. A default or one branch
//! does not exclude other values.

use crate::model::facts::{BindingId, BindingKind, Expr, ExprId};
use crate::model::graph::{FileId, Resolution, Target};
use crate::model::{Step, Verdict};
use crate::resolve::Resolver;
use crate::resolve::types::infer::MAX_DEPTH;
use crate::resolve::types::ty::Entity;

impl Resolver<'_, '_> {
    /// Returns the verdict of a call of a local value. If only some of its values are known, they
    /// are candidates.
    pub(super) fn limited_by_known_values(
        &mut self,
        file: FileId,
        bindings: &[BindingId],
        found: Resolution,
    ) -> Resolution {
        let certain = bindings.iter().all(|binding| self.is_certain_binding(file, *binding));
        if certain { found } else { one_of_several(found) }
    }

    fn is_certain_binding(&mut self, file: FileId, id: BindingId) -> bool {
        let unit = self.program.known(file);
        let binding = unit.binding(id);
        let value = binding.value.get().map(|position| unit.facts.exprs[position]);
        match binding.kind {
            BindingKind::Narrow => true,
            _ if binding.ty.is_some() => true,
            BindingKind::Param
                if matches!(value, Some(Expr::Name(..) | Expr::Lambda(_)) | None) =>
            {
                false
            }
            _ => self.is_certain(file, binding.value),
        }
    }

    fn is_certain(&mut self, file: FileId, value: ExprId) -> bool {
        let facts = self.program.known(file).facts;
        let Some(position) = value.get() else { return false };
        if self.depth >= MAX_DEPTH {
            return false;
        }
        self.depth += 1;
        let certain = match facts.exprs[position] {
            Expr::Union(parts) => {
                facts.lists[parts.range()].iter().all(|part| self.is_certain(file, *part))
            }
            Expr::Name(name, scope) => {
                let name = self.name(file, name);
                match self.lookup(file, name, scope, facts.positions[position]) {
                    Some((Entity::Local(of, bindings), _)) => {
                        bindings.iter().all(|id| self.is_certain_binding(of, *id))
                    }
                    found => found.is_some(),
                }
            }
            _ => self.ty(file, value).is_known(),
        };
        self.depth -= 1;
        certain
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
