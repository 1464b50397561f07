//! Place of files: which of them are variants of one file, and which may be linked with each other.

use crate::db::Db;
use crate::imports::{self, SEARCHED, search_directory};
use crate::units::symbols::Symbols;
use cograph_model::RepoPath;
use cograph_model::facts::ImportKind;
use cograph_model::graph::{FileId, SymbolRef};
use smallvec::SmallVec;

/// Kind of a directory of separate programs: files outside do not link with its contents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Apart {
    /// One program.
    Program,
    /// Tests, which are built together with what they test.
    Tests,
    /// A program per folder.
    Programs,
    /// A project of others per folder, which does not know this one.
    Vendored,
}

impl Apart {
    /// Kind of a directory by its name.
    fn of(folder: &str) -> Option<Self> {
        Some(match folder {
            "tools" | "scripts" | "contrib" | "example" => Self::Program,
            "tests" | "test" | "testing" | "benchmarks" => Self::Tests,
            "selftests" | "samples" | "examples" => Self::Programs,
            "deps" | "vendor" | "third_party" | "thirdparty" | "external" => Self::Vendored,
            _ => return None,
        })
    }
}

/// Returns the separate programs that contain a file, outermost first: the kind of the directory,
/// and the path of the program with its last slash.
fn programs(path: &str) -> impl Iterator<Item = (Apart, &str)> {
    let mut start = 0;
    path.match_indices('/').filter_map(move |(slash, _)| {
        let kind = Apart::of(&path[start..slash]);
        start = slash + 1;
        let inner = match kind? {
            Apart::Programs | Apart::Vendored => path[start..].find('/'),
            Apart::Program | Apart::Tests => None,
        };
        let end = inner.map_or(slash, |inner| start + inner);
        Some((kind?, &path[..=end]))
    })
}

/// True if the directories of two files allow linking: the definition is not in a separate program
/// without `from`, and `from` is not in another project's code without the definition.
pub(crate) fn links_to(from: &str, definition: &str) -> bool {
    programs(definition).all(|(_, program)| from.starts_with(program))
        && programs(from)
            .filter(|(kind, _)| *kind == Apart::Vendored)
            .all(|(_, program)| definition.starts_with(program))
}

/// True if a file is in a separate program, without the definition, that is no test: it may be
/// linked with the definition, or with a library that has the name.
pub(crate) fn leaves_program(from: &str, definition: &str) -> bool {
    programs(from).any(|(kind, program)| kind != Apart::Tests && !definition.starts_with(program))
}

/// Returns visible symbols with their variants: an include that matches several files resolves
/// to one of them (`asm/io.h` of one of many machines), and the compiled one is unknown, unless
/// the build names its include directories.
pub(crate) fn with_variants(
    db: &Db,
    file: FileId,
    mut found: Symbols,
    all: &[SymbolRef],
) -> Symbols {
    if all.len() < 2 || found.is_empty() || found.len() == all.len() {
        return found;
    }
    if db.program.has_include_directories(file)
        || found.iter().all(|seen| is_included_by_place(db, file, seen.file))
    {
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
    let is_searched = |path: &RepoPath| search_directory(path.as_str()).is_some();
    let seen: SmallVec<[(&str, bool); 2]> = found
        .iter()
        .map(|seen| db.program.path(seen.file))
        .map(|path| (path.file_name(), is_searched(path)))
        .collect();
    // An include of a file in a search directory finds files in search directories only.
    let fits = |other: &SymbolRef| {
        let path = db.program.path(other.file);
        let mut named = seen.iter().filter(|(name, _)| *name == path.file_name());
        named.any(|(_, needs_search)| !needs_search || is_searched(path))
            && links_to(from, path.as_str())
    };
    found.extend(others.into_iter().filter(fits));
    found.sort_unstable();
    found
}

/// True if a quoted include of a file leads from its directory to another file: no include
/// directory decides which one is meant.
fn is_included_by_place(db: &Db, file: FileId, other: FileId) -> bool {
    let (folder, path) = (db.program.path(file).directory(), db.program.path(other).as_str());
    db.program.known(file).facts.imports.iter().any(|import| {
        import.kind == ImportKind::Include
            && import.level == 0
            && imports::normal(folder, &import.module).is_some_and(|found| found == path)
    })
}

/// True if two files correspond in two parallel directories (`arch/arm/asm/io.h` and
/// `arch/mips/asm/io.h`), neither of which contains a third file. Directories below a search
/// directory are none: an include names one of them.
fn is_variant(one: &str, other: &str, from: &str) -> bool {
    let (left, right) = (one.as_bytes(), other.as_bytes());
    let is_slash = |byte: &u8| *byte == b'/';
    let Some(at) = left.iter().zip(right).position(|(a, b)| a != b) else { return false };
    // Both are the same up to the folder that differs, and behind it.
    let start = left[..at].iter().rposition(is_slash).map_or(0, |slash| slash + 1);
    let end = |path: &[u8]| path[start..].iter().position(is_slash).map(|length| start + length);
    let (Some(left_end), Some(right_end)) = (end(left), end(right)) else { return false };
    if left[left_end..] != right[right_end..] {
        return false;
    }
    let is_in = |folder: &str| {
        from.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    !one[..start].split('/').any(|folder| SEARCHED.contains(&folder))
        && !is_in(&one[..left_end])
        && !is_in(&other[..right_end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_others_link_with_their_own_definitions_only() {
        assert!(links_to("deps/parser/src/a.c", "deps/parser/src/b.c"));
        assert!(!links_to("deps/parser/src/a.c", "deps/hiredis/test.c"), "another program");
        assert!(!links_to("deps/parser/src/a.c", "src/server.c"), "it does not know the project");
        assert!(links_to("tests/a.c", "src/server.c") && !links_to("src/server.c", "tests/a.c"));
        assert!(leaves_program("tools/perf/a.c", "lib/sort.c"));
        assert!(!leaves_program("tools/perf/a.c", "tools/lib/sort.c"));
        assert!(
            !leaves_program("tests/a.c", "src/server.c"),
            "a test is linked with what it tests"
        );
        assert!(!links_to("samples/net/a.c", "samples/bpf/b.c"), "each sample is a program");
    }

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
        assert!(is_variant("a/io.h", "ab/io.h", "abc/c.c"), "one name is the start of the other");
        assert!(
            !is_variant("a/io.h", "ab/io.h", "ab/c.c") && !is_variant("ab/io.h", "a/io.h", "a")
        );
        assert!(!is_variant("arm/io.h", "arm/mips.h", "a.c"), "another file");
        assert!(!is_variant("io.h", "x/io.h", "a.c") && !is_variant("x/io.h", "io.h", "a.c"));
        assert!(!is_variant("x/y/io.h", "z/io.h", "a.c"), "one is deeper");
        assert!(
            !is_variant("include/linux/export.h", "include/generic/export.h", "a.c"),
            "an include names one of them"
        );
    }
}
