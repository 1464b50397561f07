//! Resolution to variants of one definition, and to symbols of includes that match several files: a
//! repository may have one file for each machine, board or backend in parallel directories, and
//! the build selects the included one.

use crate::db::Db;
use crate::inference::{conditions, linkage, namespaces, placement, variants::are_variants};
use crate::references::exhaustiveness::one_of_several;
use crate::references::outcome::{chosen, unresolved};
use crate::units::bounds::MAX_CANDIDATES;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::facts::{ScopeId, Site};
use cograph_model::graph::{FileId, Resolution, SymbolRef, Target};
use cograph_model::{Step, Verdict};
use std::rc::Rc;

/// One symbol is the target, and so are several that are variants of one definition; others stay
/// candidates, for the reason `several`.
pub(super) fn chosen_or_variants(
    db: &Db,
    file: FileId,
    symbols: &Symbols,
    step: Step,
    several: Step,
) -> Resolution {
    let mut found = chosen(symbols, step, several);
    let is_possible = |symbol: &SymbolRef| !db.program.exclude_each_other(file, symbol.file);
    if found.verdict == Verdict::Ambiguous
        && symbols.iter().all(is_possible)
        && are_variants(db, symbols)
    {
        (found.verdict, found.step) = (Verdict::Resolved, Step::Conditional);
    }
    found
}

/// Joins the resolutions of a reference to each alternative of which the build of a program selects
/// one. Those that are never compiled with the reference are left out.
pub(super) fn of_each(db: &Db, (file, at): (FileId, u32), each: Vec<Resolution>) -> Resolution {
    let mut all = Symbols::new();
    let mut is_certain = true;
    let mut other: Option<Resolution> = None;
    for found in each {
        is_certain &= !matches!(found.verdict, Verdict::Likely | Verdict::Ambiguous);
        match (&found.target, found.verdict) {
            (_, Verdict::External | Verdict::Unresolved) => {}
            (Target::Symbol(symbol), _) => {
                all.push(*symbol);
                continue;
            }
            (Target::Candidates(several), _) => {
                all.extend(several.iter().copied());
                continue;
            }
            _ => {}
        }
        let is_better = |other: &Resolution| {
            other.verdict == Verdict::Unresolved && found.verdict != Verdict::Unresolved
        };
        if other.as_ref().is_none_or(is_better) {
            other = Some(found);
        }
    }
    all.sort_unstable();
    all.dedup();
    let all = conditions::compiled_with(db, file, at, all);
    if all.is_empty() {
        return other.unwrap_or_else(|| unresolved(Step::NoSuchName));
    }
    let mut found = chosen(&all, Step::Conditional, Step::SeveralValues);
    if !is_certain {
        return one_of_several(found);
    }
    (found.verdict, found.step) = (Verdict::Resolved, Step::Conditional);
    found
}

/// Adds to a resolution the variants of its targets in files that an include may match instead.
pub(super) fn or_variants(db: &Db, file: FileId, found: Resolution) -> Resolution {
    // A macro whose replacement is a function of its own name resolves to that function as a
    // value does.
    let is_seen = matches!(found.step, Step::Wildcard | Step::InferredType | Step::Conditional);
    if found.verdict != Verdict::Resolved
        || !is_seen
        || !db.program.known(file).language.manifest.modules.pastes_files()
    {
        return found;
    }
    let mut all = Symbols::from_slice(found.targets());
    for symbol in found.targets().iter().filter(|symbol| symbol.file != file) {
        let variants = match db.variants.get(symbol) {
            Some(known) => known,
            None => {
                let variants = Rc::new(variants_of(db, file, *symbol));
                db.variants.insert(*symbol, Rc::clone(&variants));
                variants
            }
        };
        all.extend(variants.iter().copied());
    }
    if all.len() == found.targets().len() {
        return found;
    }
    all.sort_unstable();
    all.dedup();
    let all = conditions::in_one_program(db, file, linkage::without_own_names(db, all));
    chosen_or_variants(db, file, &all, found.step, Step::SeveralValues)
}

/// Resolves a name that nothing in the program of a file defines: definitions in alternatives
/// and other programs are candidates, never likely.
pub(super) fn by_alternatives(
    db: &Db,
    file: FileId,
    site: &Site,
    name: Name,
    scope: ScopeId,
) -> Option<Resolution> {
    if !db.program.known(file).language.manifest.modules.pastes_files() {
        return None;
    }
    let found = linkage::linked_in_alternatives(db, file, name, scope);
    let found = namespaces::fitting_kind(db, site.kind, &found);
    let is_few = (1..=MAX_CANDIDATES).contains(&found.len());
    is_few.then(|| match found[..] {
        [_] => one_of_several(chosen(&found, Step::UniqueName, Step::SeveralValues)),
        _ => chosen(&found, Step::UniqueName, Step::SeveralValues),
    })
}

/// Returns a symbol with its variants; empty if there are no others.
fn variants_of(db: &Db, file: FileId, symbol: SymbolRef) -> Symbols {
    let unit = db.program.known(symbol.file);
    let space = db.program.space_around(symbol.file, unit, db.program.symbol(symbol).scope);
    let all = space.and_then(|space| db.program.in_space(space, db.program.name_of(symbol)));
    // A member is not in the namespace around its type.
    let Some(all) = all.filter(|all| all.contains(&symbol)) else { return Symbols::new() };
    let several = placement::with_variants(db, file, Symbols::from_slice(&[symbol]), all);
    if several.len() > 1 { several } else { Symbols::new() }
}
