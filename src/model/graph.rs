//! Results of name resolution, and the file records for a store: the boundary between `index`,
//! `resolve` and `store`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::facts::{FileFacts, LocalSymbol, SiteId};
use super::{LanguageId, RelationKind, RepoPath, SkipReason, Step, Verdict};

/// File of the graph under construction: position in `Graph::files`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

impl FileId {
    /// Creates the id of a position in the list of files.
    pub fn at(position: usize) -> Self {
        Self(u32::try_from(position).expect("a repository has far fewer than 2^32 files"))
    }
}

/// File of a store: a key lasts when files are added or removed, and is the same in every process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileKey(pub u32);

/// Symbol of the repository.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolRef {
    /// File of its definition.
    pub file: FileId,
    /// Position among the symbols of the file.
    pub symbol: LocalSymbol,
}

/// Target of a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Unknown.
    None,
    /// One symbol (verdict `Resolved` or `Likely`).
    Symbol(SymbolRef),
    /// Several, in order of file and symbol, without duplicates: one of them (verdict `Ambiguous`),
    /// a single one that is not proven (verdict `Possible`), or variants of one definition, each in
    /// its configuration (verdict `Resolved`).
    Candidates(Box<[SymbolRef]>),
    /// External: the qualified name as far as it is known.
    External(Box<str>),
    /// File as a whole (import of a module).
    File(FileId),
}

/// Result of resolution for one site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// Certainty of the target.
    pub verdict: Verdict,
    /// Step that decided, or reason for the failure.
    pub step: Step,
    /// Target.
    pub target: Target,
}

impl Resolution {
    /// Symbols that the site leads to: its target, or every variant of it. Candidates of an
    /// ambiguous site do not count.
    pub fn targets(&self) -> &[SymbolRef] {
        match &self.target {
            Target::Symbol(symbol) => std::slice::from_ref(symbol),
            Target::Candidates(variants) if self.verdict == Verdict::Resolved => variants,
            _ => &[],
        }
    }
}

/// Relation between two symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Relation {
    /// Kind.
    pub kind: RelationKind,
    /// Symbol that overrides, derives, implements or defines.
    pub from: SymbolRef,
    /// Symbol that is overridden, derived from, implemented or declared.
    pub to: SymbolRef,
}

/// Result of resolution for one file. The vectors are parallel to those of its facts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileResolution {
    /// One entry for each site.
    pub sites: Vec<Resolution>,
    /// Variables through which a site reaches its target, by the number of the site, in order:
    /// they are read there as well.
    pub holders: Vec<(SiteId, Resolution)>,
    /// One entry for each import: the target file, if it is in the repository; of a module that is
    /// imported out of another, its own.
    pub imports: Vec<Option<FileId>>,
    /// Relations that start at symbols of this file, sorted.
    pub relations: Vec<Relation>,
    /// Members of types in other files, with the type, in order of member (`impl`, receivers,
    /// `A::f`).
    pub containers: Vec<(LocalSymbol, SymbolRef)>,
}

impl FileResolution {
    /// Symbols that the sites lead to, once for each site.
    pub fn targets(&self) -> impl Iterator<Item = SymbolRef> + '_ {
        let holders = self.holders.iter().map(|(_, holder)| holder);
        self.sites.iter().chain(holders).flat_map(Resolution::targets).copied()
    }
}

/// Content hash of a file, and metadata by which a possible change is detected cheaply.
///
/// Programs can set the time of modification (`rsync -t`, `cp -p`, `tar` and reproducible builds
/// set it back), so the time of the last change of the inode, which only the system's clock sets,
/// and the inode number are compared as well. The device number is not: it may differ after every
/// mount, and a copy of an inode on another device has a time of its own.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct FileStamp {
    /// Size in bytes.
    pub size: u64,
    /// Time of last modification (`mtime`), nanoseconds since 1970 (may be negative).
    pub modified_ns: i64,
    /// Time of the last change of the inode (`ctime`), nanoseconds since 1970; [`UNTRUSTED_TIME`]
    /// if it is no evidence.
    pub changed_ns: i64,
    /// Inode number.
    pub inode: u64,
    /// XXH3-128 of the bytes; 0 if they were not read.
    pub hash: u128,
}

/// Time of change that is no evidence, and equals none: the file was changed so shortly before the
/// `stat` that a later change may have the same time.
pub const UNTRUSTED_TIME: i64 = i64::MIN;

impl FileStamp {
    /// True if the metadata gives no evidence that the bytes of the file differ between two stamps.
    pub fn suggests_same_bytes(&self, other: &Self) -> bool {
        let same = |stamp: &Self| (stamp.size, stamp.modified_ns, stamp.changed_ns, stamp.inode);
        self.changed_ns != UNTRUSTED_TIME && same(self) == same(other)
    }
}

/// File found by the walk, with its facts.
#[derive(Clone, PartialEq, Debug)]
pub struct FileRecord {
    /// Path.
    pub path: RepoPath,
    /// Stamp.
    pub stamp: FileStamp,
    /// Language, if detected.
    pub language: Option<LanguageId>,
    /// Facts, or the reason for skipping it.
    pub content: Result<Arc<FileFacts>, SkipReason>,
}

/// Whole repository, ready to be stored. `files` is sorted by path; `resolutions` is parallel to
/// it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    /// Files found by the walk.
    pub files: Vec<FileRecord>,
    /// Results of resolution; empty for skipped files.
    pub resolutions: Vec<FileResolution>,
}
