//! What resolution adds to facts, and the file records that go into a store: the boundary between
//! `index`, `resolve` and `store`.

use std::sync::Arc;

use super::facts::{FileFacts, LocalSymbol};
use super::{LanguageId, RelationKind, RepoPath, SkipReason, Step, Verdict};

/// A file of the graph that is being built: its position in `Graph::files`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// A symbol anywhere in the repository.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolRef {
    /// The file that defines it.
    pub file: FileId,
    /// Its position among that file's symbols.
    pub symbol: LocalSymbol,
}

/// Where a site leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Nowhere that is known.
    None,
    /// To one symbol (verdict `Resolved` or `Likely`).
    Symbol(SymbolRef),
    /// To one of several (verdict `Ambiguous`), in order of file and symbol, without repeats.
    Candidates(Box<[SymbolRef]>),
    /// Out of the repository: the qualified name as far as it is known.
    External(Box<str>),
    /// To a file as a whole (import of a module).
    File(FileId),
}

/// The answer of resolution for one site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// How far the target is known.
    pub verdict: Verdict,
    /// Which step decided, or why none did.
    pub step: Step,
    /// Where the site leads.
    pub target: Target,
}

/// A relation between two symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Relation {
    /// What the relation is.
    pub kind: RelationKind,
    /// The symbol that overrides, derives, implements or defines.
    pub from: SymbolRef,
    /// The symbol that is overridden, derived from, implemented or declared.
    pub to: SymbolRef,
}

/// What resolution found for one file. The vectors run parallel to those of its facts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileResolution {
    /// One entry a site.
    pub sites: Vec<Resolution>,
    /// One entry an import: the file it leads to, if that is in the repository.
    pub imports: Vec<Option<FileId>>,
    /// Relations that start at symbols of this file, sorted.
    pub relations: Vec<Relation>,
    /// Members whose type is in another file, with that type, in order of member (`impl`,
    /// receivers, `A::f`).
    pub containers: Vec<(LocalSymbol, SymbolRef)>,
}

/// Identity of a file's bytes, and what is needed to see cheaply that they may have changed.
///
/// The time of modification is whatever a program says it is (`rsync -t`, `cp -p`, `tar` and
/// reproducible builds set it back), so the time of the last change of the inode, which only the
/// system's clock sets, and the inode's number are compared as well. The number of the device is
/// not: it may be another one after every mount, and a copy of an inode on another device has a
/// time of its own.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FileStamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of last modification (`mtime`), nanoseconds since 1970 (may be negative).
    pub modified_ns: i64,
    /// Time of the last change of the inode (`ctime`), nanoseconds since 1970; [`UNTRUSTED_TIME`]
    /// if it says nothing.
    pub changed_ns: i64,
    /// The number of the inode.
    pub inode: u64,
    /// XXH3-128 of the bytes; 0 where they were not read.
    pub hash: u128,
}

/// A time of change that says nothing, and equals none: the file was changed so shortly before it
/// was looked at that it may have been changed again without another time.
pub const UNTRUSTED_TIME: i64 = i64::MIN;

impl FileStamp {
    /// Whether nothing suggests that a file with this stamp has other bytes than it had with the
    /// other one.
    pub fn suggests_same_bytes(&self, other: &Self) -> bool {
        let same = |stamp: &Self| (stamp.size, stamp.modified_ns, stamp.changed_ns, stamp.inode);
        self.changed_ns != UNTRUSTED_TIME && same(self) == same(other)
    }
}

/// A file that the walk met, with what became of it.
#[derive(Clone, PartialEq, Debug)]
pub struct FileRecord {
    /// Where it is.
    pub path: RepoPath,
    /// Identity of its bytes.
    pub stamp: FileStamp,
    /// Its language, if one claims it.
    pub language: Option<LanguageId>,
    /// Its facts, or why it has none.
    pub content: Result<Arc<FileFacts>, SkipReason>,
}

/// A whole repository, ready to be stored. `files` is sorted by path; `resolutions` runs parallel
/// to it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    /// Every file that the walk met.
    pub files: Vec<FileRecord>,
    /// What resolution found; empty entries for skipped files.
    pub resolutions: Vec<FileResolution>,
}
