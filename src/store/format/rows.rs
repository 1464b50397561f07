//! Rows as plain data: keys, files, symbols, sites, imports and relations of one generation.

use super::schema::import_marks;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use cograph_model::facts::Complexity;
pub use cograph_model::graph::FileKey;
use cograph_model::graph::FileStamp;
use cograph_model::{
    Position, Problem, RelationKind, RepoPath, SiteKind, SkipReason, Span, Step, SymbolKind,
    Verdict, Visibility,
};

/// Declares key types: ids of rows, valid within one generation.
macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
    )+};
}

keys! {
    /// Interned name.
    NameKey,
    /// Symbol.
    SymbolKey,
    /// Site.
    SiteKey,
    /// Language.
    LanguageKey,
}

/// Store and generation, which replies, cursors and caches must agree on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// Random id, assigned by the full build. That of a copy differs in the lower half.
    pub uid: u64,
    /// Change counter of the store.
    pub generation: u64,
}

impl Identity {
    /// Id of a copy of this store, from a random number.
    pub(crate) fn uid_of_copy(self, random: u64) -> u64 {
        lineage(self.uid) << 32 | (random & u64::from(u32::MAX))
    }
}

/// Part of a uid that a store shares with its copies.
pub fn lineage(uid: u64) -> u64 {
    uid >> 32
}

/// Metadata of a store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meta {
    /// Store and generation.
    pub identity: Identity,
    /// Fingerprint of the code and limits; a different value means that a rebuild may give other
    /// facts.
    pub fingerprint: u64,
    /// Root of the repository.
    pub root: PathBuf,
    /// End of the build.
    pub built_at: SystemTime,
    /// Duration of the build.
    pub build_duration: Duration,
    /// Number of files found by the walk.
    pub files: u64,
    /// Number of symbols.
    pub symbols: u64,
    /// Number of sites.
    pub sites: u64,
    /// Number of symbol names in the name index: keys from 1 to this one.
    pub symbol_names: u32,
    /// Greatest file key of the full build: later files have greater ones.
    pub last_file: u32,
    /// Greatest symbol key of the full build: symbols that were added or moved later have greater
    /// ones.
    pub last_symbol: u32,
}

/// Row of table `file`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRow {
    /// Key.
    pub key: FileKey,
    /// Path.
    pub path: RepoPath,
    /// Language, if known.
    pub language: Option<LanguageKey>,
    /// Size in bytes.
    pub size: u64,
    /// Modification time (mtime), nanoseconds since 1970.
    pub modified_ns: i64,
    /// Inode change time (ctime), nanoseconds since 1970.
    pub changed_ns: i64,
    /// Inode number.
    pub inode: u64,
    /// XXH3-128 of the contents; 0 if not read.
    pub hash: u128,
    /// Number of lines.
    pub lines: u32,
    /// Why it was not indexed, if it was not.
    pub skipped: Option<SkipReason>,
    /// True if the file is marked as generated.
    pub generated: bool,
    /// True if the whole file is test code.
    pub test: bool,
    /// Key of its first symbol; keys are consecutive.
    pub first_symbol: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// Key of its first site; keys are consecutive.
    pub first_site: u32,
    /// Number of sites.
    pub sites: u32,
    /// Number of sites by verdict, in the order of `Verdict::ALL`.
    pub verdicts: [u32; Verdict::ALL.len()],
    /// Package or namespace that it declares.
    pub package: Option<Box<str>>,
}

impl FileRow {
    /// Stamp for change detection.
    pub fn stamp(&self) -> FileStamp {
        let &Self { size, modified_ns, changed_ns, inode, hash, .. } = self;
        FileStamp { size, modified_ns, changed_ns, inode, hash }
    }
}

/// Row of table `symbol`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolRow {
    /// Key.
    pub key: SymbolKey,
    /// File.
    pub file: FileKey,
    /// Unqualified name.
    pub name: NameKey,
    /// Text of the name.
    pub name_text: Box<str>,
    /// Kind.
    pub kind: SymbolKind,
    /// Lexically enclosing symbol.
    pub container: Option<SymbolKey>,
    /// Flags, see `model::facts::flags`.
    pub flags: u32,
    /// Visibility.
    pub visibility: Visibility,
    /// Minimum and maximum number of arguments; the maximum is `u16::MAX` if unbounded.
    pub arity: (u16, u16),
    /// Extent of the definition.
    pub extent: Span,
    /// Position of the name.
    pub name_at: Position,
    /// Declaration header on one line.
    pub signature: Box<str>,
    /// First paragraph of the documentation; may be empty.
    pub doc: Box<str>,
    /// Number of resolved and likely sites.
    pub references: u32,
    /// Key of the first site whose innermost enclosing symbol this is.
    pub first_site: u32,
    /// Number of keys from the first to the last of these sites; others may lie between.
    pub site_span: u32,
    /// Complexity of its body, if that is measured.
    pub complexity: Option<Complexity>,
}

/// Columns of a symbol that ranking needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolHead {
    /// Key.
    pub key: SymbolKey,
    /// File.
    pub file: FileKey,
    /// Kind.
    pub kind: SymbolKind,
    /// Lexically enclosing symbol.
    pub container: Option<SymbolKey>,
    /// Flags, see `model::facts::flags`.
    pub flags: u32,
    /// Number of resolved and likely sites.
    pub references: u32,
}

/// Columns of a symbol that full-text search needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolDocument {
    /// Ranking columns.
    pub head: SymbolHead,
    /// Unqualified name.
    pub name: Box<str>,
    /// Extent in bytes.
    pub bytes: Range<u32>,
    /// Number of lines.
    pub lines: u32,
    /// Header on one line.
    pub signature: Box<str>,
    /// First paragraph of its documentation.
    pub doc: Box<str>,
}

/// Columns of a symbol that qualified names need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedInside {
    /// Unqualified name.
    pub name: Box<str>,
    /// Lexically enclosing symbol.
    pub container: Option<SymbolKey>,
}

/// Row of table `site`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteRow {
    /// Key; sites of a file are in order of position.
    pub key: SiteKey,
    /// File.
    pub file: FileKey,
    /// Innermost enclosing symbol.
    pub enclosing: Option<SymbolKey>,
    /// Name as written.
    pub name: NameKey,
    /// Kind of the reference.
    pub kind: SiteKind,
    /// Position of the name.
    pub at: Position,
    /// Verdict: certainty of the target.
    pub verdict: Verdict,
    /// Step that decided the verdict.
    pub step: Step,
    /// Target.
    pub target: SiteTarget,
}

/// Target of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteTarget {
    /// Unknown, or a file as a whole (see `Snapshot::site_file`).
    None,
    /// One symbol.
    Symbol(SymbolKey),
    /// A function held by this variable or field, whichever it is.
    HeldBy(SymbolKey),
    /// Several symbols (see `Snapshot::candidates`): candidates of an ambiguous site, variants of a
    /// resolved one.
    Candidates(u32),
    /// Outside of the repository: the qualified name as far as known.
    External(NameKey),
}

/// What an import is needed for; of several, the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ImportSort {
    /// Tests.
    Test,
    /// Types alone: it leaves nothing at run time.
    Types,
    /// Calls of the function that it is inside of.
    Lazy,
    /// The file as such.
    Runtime,
    /// Nothing: it declares a module that is part of its own.
    Declaration,
}

impl ImportSort {
    /// From the column `import.marks`.
    pub(crate) fn of(marks: i64) -> Self {
        match marks {
            marks if marks & import_marks::DECLARES != 0 => Self::Declaration,
            marks if marks & import_marks::TEST != 0 => Self::Test,
            marks if marks & import_marks::TYPE_ONLY != 0 => Self::Types,
            marks if marks & import_marks::LAZY != 0 => Self::Lazy,
            _ => Self::Runtime,
        }
    }

    /// Bit in `file_edge.imports`; the view has the same.
    pub(crate) fn bit(self) -> u8 {
        match self {
            Self::Runtime => 1,
            Self::Types => 2,
            Self::Lazy => 4,
            Self::Test => 8,
            Self::Declaration => 16,
        }
    }
}

/// Edge between two files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileEdge {
    /// The file that uses.
    pub from: FileKey,
    /// The file that is used.
    pub to: FileKey,
    /// Number of certain and likely sites, and imports.
    pub sites: u32,
    pub(crate) imports: u8,
}

impl FileEdge {
    /// True if an import of this sort leads along it.
    pub fn has(&self, sort: ImportSort) -> bool {
        self.imports & sort.bit() != 0
    }
}

/// Row of table `import`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportRow {
    /// File.
    pub file: FileKey,
    /// Module as written.
    pub module: Box<str>,
    /// Number of levels up, for a relative import.
    pub level: u16,
    /// Imported item.
    pub item: Option<Box<str>>,
    /// Position of the module.
    pub at: Position,
    /// Target file.
    pub target: Option<FileKey>,
    /// Sort.
    pub sort: ImportSort,
}

/// Relation between two symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RelationRow {
    /// Kind.
    pub kind: RelationKind,
    /// Symbol that overrides, derives, implements, defines or returns.
    pub from: SymbolKey,
    /// Symbol that is overridden, derived from, implemented or declared.
    pub to: SymbolKey,
}

/// Incomplete region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProblemRow {
    /// File.
    pub file: FileKey,
    /// Problem and its span.
    pub problem: Problem,
}
