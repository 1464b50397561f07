//! Place of files: which of them are variants of one file, and which may be linked with each other.

use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::Symbols;
use crate::resolve::db::Db;
use smallvec::SmallVec;

/// Directories of separate programs: files outside do not link with their contents.
const APART: [&str; 16] = [
    "tools",
    "tests",
    "test",
    "testing",
    "selftests",
    "samples",
    "examples",
    "example",
    "scripts",
    "deps",
    "vendor",
    "third_party",
    "thirdparty",
    "external",
    "contrib",
    "benchmarks",
];

type Folders<'p> = SmallVec<[&'p str; 12]>;

/// True if the directories of two files allow linking: the definition is not in a separate program
/// without `from`.
pub(in crate::resolve) fn links_to(from: &str, definition: &str) -> bool {
    let mut start = 0;
    definition.match_indices('/').all(|(slash, _)| {
        let folder = &definition[start..slash];
        start = slash + 1;
        !APART.contains(&folder) || from.starts_with(&definition[..=slash])
    })
}

/// Returns visible symbols with their variants: an include that matches several files resolves
/// to one of them (`asm/io.h` of one of many machines), and the compiled one is unknown.
pub(in crate::resolve) fn with_variants(
    db: &Db,
    file: FileId,
    mut found: Symbols,
    all: &Symbols,
) -> Symbols {
    if all.len() < 2 || found.is_empty() || found.len() == all.len() {
        return found;
    }
    let path = |file: FileId| db.program.path(file).as_str();
    let from = path(file);
    let others: Symbols = all.iter().copied().filter(|other| !found.contains(other)).collect();
    let is_one_of_several = |seen: &SymbolRef| {
        others.iter().any(|other| is_variant(path(seen.file), path(other.file), from))
    };
    if !found.iter().all(is_one_of_several) {
        return found;
    }
    let names: SmallVec<[&str; 2]> =
        found.iter().map(|seen| db.program.path(seen.file).file_name()).collect();
    let fits = |other: &SymbolRef| {
        let path = db.program.path(other.file);
        names.contains(&path.file_name()) && links_to(from, path.as_str())
    };
    found.extend(others.into_iter().filter(fits));
    found.sort_unstable();
    found
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
