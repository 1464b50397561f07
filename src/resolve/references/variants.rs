//! Variants: includes that match several files. A repository may have one file for each machine,
//! board or backend in parallel directories, and the build selects the included one. A symbol found
//! in one of them may be replaced by that of another.

use super::exhaustiveness::one_of_several;
use super::heuristic::MAX_CANDIDATES;
use super::outcome::chosen;
use crate::grammar::ModuleSystem;
use crate::model::facts::{ScopeId, Site};
use crate::model::graph::{FileId, Resolution, SymbolRef, Target};
use crate::model::{Step, Verdict};
use crate::resolve::names::linkage::links_to;
use crate::resolve::{Name, Resolver, Symbols};
use smallvec::SmallVec;
use std::rc::Rc;

impl Resolver<'_, '_> {
    /// Returns visible symbols with their variants: an include that matches several files resolves
    /// to one of them (`asm/io.h` of one of many machines), and the compiled one is unknown.
    pub(in crate::resolve) fn with_variants(
        &self,
        file: FileId,
        mut found: Symbols,
        all: &Symbols,
    ) -> Symbols {
        if all.len() < 2 || found.is_empty() || found.len() == all.len() {
            return found;
        }
        let path = |file: FileId| self.program.path(file).as_str();
        let from = path(file);
        let others: Symbols = all.iter().copied().filter(|other| !found.contains(other)).collect();
        let is_one_of_several = |seen: &SymbolRef| {
            others.iter().any(|other| is_variant(path(seen.file), path(other.file), from))
        };
        if !found.iter().all(is_one_of_several) {
            return found;
        }
        let names: SmallVec<[&str; 2]> =
            found.iter().map(|seen| self.program.path(seen.file).file_name()).collect();
        let fits = |other: &SymbolRef| {
            let path = self.program.path(other.file);
            names.contains(&path.file_name()) && links_to(from, path.as_str())
        };
        found.extend(others.into_iter().filter(fits));
        found.sort_unstable();
        found
    }

    /// Returns a resolution, or the candidates of all variants if its target is in a file with
    /// variants.
    pub(super) fn or_variants(&mut self, file: FileId, found: Resolution) -> Resolution {
        // A macro whose replacement is a function of its own name resolves to that function as a
        // value does.
        let is_seen = matches!(found.step, Step::Wildcard | Step::InferredType);
        let (Verdict::Resolved, true, &Target::Symbol(symbol)) =
            (found.verdict, is_seen, &found.target)
        else {
            return found;
        };
        if symbol.file == file
            || self.program.known(file).language.manifest.modules.system != ModuleSystem::Includes
        {
            return found;
        }
        let variants = match self.variants.get(&symbol) {
            Some(known) => Rc::clone(known),
            None => {
                let variants = Rc::new(self.variants_of(file, symbol));
                self.variants.insert(symbol, Rc::clone(&variants));
                variants
            }
        };
        if variants.is_empty() { found } else { chosen(&variants, found.step, Step::SeveralValues) }
    }

    /// Resolves a name that nothing in the program of a file defines: definitions in alternatives
    /// and other programs are candidates, never likely.
    pub(super) fn by_alternatives(
        &mut self,
        file: FileId,
        site: &Site,
        name: Name,
        scope: ScopeId,
    ) -> Option<Resolution> {
        if self.program.known(file).language.manifest.modules.system != ModuleSystem::Includes {
            return None;
        }
        let found = self.linked_in_alternatives(file, name, scope);
        let found = self.fitting_kind(site.kind, &found);
        let is_few = (1..=MAX_CANDIDATES).contains(&found.len());
        is_few.then(|| match found[..] {
            [_] => one_of_several(chosen(&found, Step::UniqueName, Step::SeveralValues)),
            _ => chosen(&found, Step::UniqueName, Step::SeveralValues),
        })
    }

    /// Returns a symbol with its variants; empty if there are no others.
    fn variants_of(&mut self, file: FileId, symbol: SymbolRef) -> Symbols {
        let unit = self.program.known(symbol.file);
        let space = self.program.space_around(symbol.file, unit, self.program.symbol(symbol).scope);
        let all =
            space.and_then(|space| self.program.in_space(space, self.program.name_of(symbol)));
        // A member is not in the namespace around its type.
        let Some(all) = all.filter(|all| all.contains(&symbol)) else { return Symbols::new() };
        let several = self.with_variants(file, Symbols::from_slice(&[symbol]), all);
        if several.len() > 1 { several } else { Symbols::new() }
    }
}

/// True if two files correspond in two parallel directories (`arch/arm/asm/io.h` and
/// `arch/mips/asm/io.h`), neither of which contains a third file.
fn is_variant(one: &str, other: &str, from: &str) -> bool {
    let (left, right): (Folders<'_>, Folders<'_>) =
        (one.split('/').collect(), other.split('/').collect());
    if left.len() != right.len() || left.last() != right.last() {
        return false;
    }
    let mut differing =
        left.iter().zip(&right).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
    let (Some(at), None) = (differing.next(), differing.next()) else { return false };
    let around: Folders<'_> = from.split('/').collect();
    let is_in = |folders: &Folders<'_>| around.starts_with(&folders[..=at]);
    !is_in(&left) && !is_in(&right)
}

type Folders<'p> = SmallVec<[&'p str; 12]>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_sibling_folders_are_variants_for_those_outside_of_both() {
        let (arm, mips) = ("arch/arm/include/asm/io.h", "arch/mips/include/asm/io.h");
        assert!(
            is_variant(arm, mips, "drivers/net/a.c")
                && is_variant(mips, arm, "arch/x86/kernel/b.c")
        );
        assert!(!is_variant(arm, mips, "arch/arm/mm/c.c"), "a file of one of them means its own");
        assert!(!is_variant(arm, mips, "arch/mips/d.c"));
        assert!(!is_variant(arm, "arch/arm/include/asm/bitops.h", "a.c"), "another file");
        assert!(
            !is_variant(arm, "arch/mips/include/generated/io.h", "a.c"),
            "they differ in two folders"
        );
        assert!(
            !is_variant("include/linux/types.h", "include/uapi/linux/types.h", "a.c"),
            "one is deeper"
        );
        assert!(!is_variant(arm, arm, "a.c"));
    }
}
