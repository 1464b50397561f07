//! Conversion of a lookup result to the resolution of a reference: verdict, target and step.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::units::import_target::Module;
use crate::units::symbols::Symbols;
use cograph_faults::{Fault, planted};
use cograph_model::facts::{Expr, ExprId};
use cograph_model::graph::{FileId, Resolution, SymbolRef, Target};
use cograph_model::{Step, Verdict};

/// One symbol is the target; several stay candidates.
pub(crate) fn chosen(symbols: &Symbols, step: Step, several: Step) -> Resolution {
    let symbols = match planted(Fault::FirstCandidateResolved) {
        true => &symbols[..symbols.len().min(1)],
        false => &symbols[..],
    };
    match symbols[..] {
        [] => unresolved(Step::NoSuchName),
        [only] => {
            let verdict =
                if step == Step::UniqueName { Verdict::Likely } else { Verdict::Resolved };
            Resolution { verdict, step, target: Target::Symbol(only) }
        }
        _ => {
            let mut candidates = symbols.to_vec();
            candidates.sort_unstable();
            candidates.dedup();
            if let [only] = candidates[..] {
                return Resolution {
                    verdict: Verdict::Resolved,
                    step,
                    target: Target::Symbol(only),
                };
            }
            Resolution {
                verdict: Verdict::Ambiguous,
                step: several,
                target: Target::Candidates(candidates.into()),
            }
        }
    }
}

/// A single candidate without proof is possible: there is nothing to tell it apart from.
pub(super) fn possible_alone(found: Resolution) -> Resolution {
    match &found.target {
        Target::Candidates(only) if only.len() == 1 && found.verdict == Verdict::Ambiguous => {
            Resolution { verdict: Verdict::Possible, ..found }
        }
        _ => found,
    }
}

pub(super) fn module_target(module: Module, step: Step) -> Resolution {
    match module {
        Module::File(file) => {
            Resolution { verdict: Verdict::Resolved, step, target: Target::File(file) }
        }
        Module::Package(_) | Module::OneOf(..) => {
            Resolution { verdict: Verdict::Resolved, step, target: Target::None }
        }
    }
}

pub(crate) fn external(name: &str, step: Step) -> Resolution {
    Resolution { verdict: Verdict::External, step, target: Target::External(name.into()) }
}

/// Resolution of a call of the function that a variable or field holds, which is unknown.
pub(super) fn held_by(holder: SymbolRef) -> Resolution {
    Resolution {
        verdict: Verdict::Unresolved,
        step: Step::FunctionValue,
        target: Target::Symbol(holder),
    }
}

/// Resolution of the read of a variable whose value is the target of a call; `None` if the call
/// has no target but the variable.
pub(super) fn through(found: &Resolution, holder: SymbolRef) -> Option<Resolution> {
    let is_other = match &found.target {
        Target::Symbol(symbol) => *symbol != holder,
        Target::Candidates(symbols) => !symbols.contains(&holder),
        Target::None | Target::External(_) | Target::File(_) => false,
    };
    is_other.then_some(Resolution {
        verdict: Verdict::Resolved,
        step: Step::FunctionValue,
        target: Target::Symbol(holder),
    })
}

pub(super) fn unresolved(step: Step) -> Resolution {
    Resolution { verdict: Verdict::Unresolved, step, target: Target::None }
}

/// Returns the step by which the type of a receiver was inferred.
pub(super) fn receiver_step(db: &Db, file: FileId, object: ExprId, of: &Ty) -> Step {
    match of {
        Ty::Module(_) => return Step::ModuleMember,
        Ty::Type(..) | Ty::Namespace(_) => return Step::TypeMember,
        Ty::Super(_) => return Step::SuperMember,
        _ => {}
    }
    let unit = db.program.known(file);
    let Some(position) = object.get() else { return Step::ReceiverUnknown };
    match unit.facts.exprs[position] {
        Expr::SelfValue(_) => Step::SelfMember,
        Expr::Call(..) | Expr::Await(_) | Expr::Unwrapped(_) => Step::ReturnType,
        Expr::Construct(..) => Step::InferredType,
        Expr::Name(name, scope) => {
            let name = unit.name(name);
            let mut current = scope;
            while current.is_some() {
                if let Some((_, binding)) = db.program.bindings(file, unit, current, name).next() {
                    let receiver = matches!(
                        binding.value.get().map(|position| unit.facts.exprs[position]),
                        Some(Expr::SelfValue(_) | Expr::SelfType(_))
                    );
                    return match (receiver, binding.ty().is_some()) {
                        (true, _) => Step::SelfMember,
                        (false, true) => Step::DeclaredType,
                        (false, false) => Step::InferredType,
                    };
                }
                current = unit.parent(current);
            }
            Step::InferredType
        }
        _ => Step::InferredType,
    }
}
