//! Includes that several files fit: a repository may have one file for each machine, board or backend, in folders of their own, and
//! a build decides which of them is pasted. What is found in one of them may as well be what another one has.

use super::asked::Files;
use super::linkage::links_to;
use super::{Resolver, Symbols};
use crate::model::graph::{FileId, SymbolRef};
use smallvec::SmallVec;

impl Resolver<'_, '_> {
    /// Symbols that a file sees, with those that it would see just as well: an include that several files fit leads to one of them
    /// (`asm/io.h` of one of many machines), and which one is compiled is not known.
    pub(super) fn with_variants(&self, file: FileId, mut found: Symbols, all: &Symbols, reach: &Files) -> Symbols {
        if all.len() < 2 || found.is_empty() || found.len() == all.len() {
            return found;
        }
        let path = |file: FileId| self.program.path(file).as_str();
        let from = path(file);
        let is_one_of_several = |seen: &SymbolRef| {
            all.iter().any(|other| !reach.contains(other.file) && is_variant(path(seen.file), path(other.file), from))
        };
        if !found.iter().all(is_one_of_several) {
            return found;
        }
        let names: SmallVec<[&str; 2]> = found.iter().map(|seen| self.program.path(seen.file).file_name()).collect();
        let fits = |other: &SymbolRef| {
            let path = self.program.path(other.file);
            !reach.contains(other.file) && names.contains(&path.file_name()) && links_to(from, path.as_str())
        };
        found.extend(all.iter().copied().filter(fits));
        found.sort_unstable();
        found
    }
}

/// Whether two files are the same one of two folders (`arch/arm/asm/io.h` and `arch/mips/asm/io.h`), neither of which a third file is
/// in.
fn is_variant(one: &str, other: &str, from: &str) -> bool {
    let (left, right): (Folders<'_>, Folders<'_>) = (one.split('/').collect(), other.split('/').collect());
    if left.len() != right.len() || left.last() != right.last() {
        return false;
    }
    let mut differing = left.iter().zip(&right).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
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
        assert!(is_variant(arm, mips, "drivers/net/a.c") && is_variant(mips, arm, "arch/x86/kernel/b.c"));
        assert!(!is_variant(arm, mips, "arch/arm/mm/c.c"), "a file of one of them means its own");
        assert!(!is_variant(arm, mips, "arch/mips/d.c"));
        assert!(!is_variant(arm, "arch/arm/include/asm/bitops.h", "a.c"), "another file");
        assert!(!is_variant(arm, "arch/mips/include/generated/io.h", "a.c"), "they differ in two folders");
        assert!(!is_variant("include/linux/types.h", "include/uapi/linux/types.h", "a.c"), "one is deeper");
        assert!(!is_variant(arm, arm, "a.c"));
    }
}
