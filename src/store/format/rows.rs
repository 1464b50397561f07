//! Rows of the store as plain data: keys, files, symbols, sites, imports and relations of one
//! generation.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::model::graph::FileStamp;
use crate::model::{
    Position, Problem, RelationKind, RepoPath, SiteKind, SkipReason, Span, Step, SymbolKind,
    Verdict, Visibility,
};

/// Declares keys: ids of rows, valid within one generation.
macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
    )+};
}

keys! {
    /// A distinct name.
    NameKey,
    /// A file.
    FileKey,
    /// A symbol.
    SymbolKey,
    /// A site.
    SiteKey,
    /// A language.
    LanguageKey,
}

/// Which store and which state of it: what a reply, a cursor or a cache must agree on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Identity {
    /// Drawn at random when the file was built.
    pub uid: u64,
    /// Counts the states of one repository's store.
    pub generation: u64,
}

/// What a store says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meta {
    /// Which store and state.
    pub identity: Identity,
    /// What the rules were that made the facts; another value means that a rebuild gives other
    /// facts.
    pub fingerprint: u64,
    /// The repository's root.
    pub root: PathBuf,
    /// When the build ended.
    pub built_at: SystemTime,
    /// How long it took.
    pub build_duration: Duration,
    /// Files that the walk met.
    pub files: u64,
    /// Symbols.
    pub symbols: u64,
    /// Sites.
    pub sites: u64,
    /// Names that symbols have: the keys from 1 to this one.
    pub symbol_names: u32,
    /// The greatest key of a file that the build gave: files with greater ones were added since.
    pub last_file: u32,
    /// The greatest key of a symbol that the build gave: symbols with greater ones were added or
    /// moved since.
    pub last_symbol: u32,
}

/// A file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRow {
    /// Its key.
    pub key: FileKey,
    /// Where it is.
    pub path: RepoPath,
    /// Its language, if one claims it.
    pub language: Option<LanguageKey>,
    /// Size in bytes.
    pub size: u64,
    /// Time of last modification, nanoseconds since 1970.
    pub modified_ns: i64,
    /// Time of the last change of its inode, nanoseconds since 1970.
    pub changed_ns: i64,
    /// The number of its inode.
    pub inode: u64,
    /// XXH3-128 of its bytes; 0 where they were not read.
    pub hash: u128,
    /// Lines.
    pub lines: u32,
    /// Why it was not indexed, if it was not.
    pub skipped: Option<SkipReason>,
    /// Whether it says that it is generated.
    pub generated: bool,
    /// Whether it is test code as a whole.
    pub test: bool,
    /// The key of its first symbol; the others follow.
    pub first_symbol: u32,
    /// How many symbols it has.
    pub symbols: u32,
    /// The key of its first site; the others follow.
    pub first_site: u32,
    /// How many sites it has.
    pub sites: u32,
    /// Numbers of its sites by verdict, in the order of `Verdict::ALL`.
    pub verdicts: [u32; 5],
}

impl FileRow {
    /// Identity of its bytes.
    pub fn stamp(&self) -> FileStamp {
        let &Self { size, modified_ns, changed_ns, inode, hash, .. } = self;
        FileStamp { size, modified_ns, changed_ns, inode, hash }
    }
}

/// A symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolRow {
    /// Its key.
    pub key: SymbolKey,
    /// Its file.
    pub file: FileKey,
    /// Its own name.
    pub name: NameKey,
    /// The text of its name.
    pub name_text: Box<str>,
    /// What it is.
    pub kind: SymbolKind,
    /// The symbol it is written inside of.
    pub container: Option<SymbolKey>,
    /// Properties, see `model::facts::flags`.
    pub flags: u16,
    /// Who may use it.
    pub visibility: Visibility,
    /// Least and greatest number of arguments; the greatest is `u16::MAX` where there is no bound.
    pub arity: (u16, u16),
    /// Whole extent.
    pub extent: Span,
    /// Where its name is written.
    pub name_at: Position,
    /// Its header on one line.
    pub signature: Box<str>,
    /// First paragraph of its documentation; empty if there is none.
    pub doc: Box<str>,
    /// Resolved and likely sites that lead to it.
    pub references: u32,
    /// The key of the first site that it is the innermost symbol around.
    pub first_site: u32,
    /// So many keys from the first to the last of them; others may lie between.
    pub site_span: u32,
}

/// The part of a symbol that ranking looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolHead {
    /// Its key.
    pub key: SymbolKey,
    /// Its file.
    pub file: FileKey,
    /// What it is.
    pub kind: SymbolKind,
    /// The symbol it is written inside of.
    pub container: Option<SymbolKey>,
    /// Properties, see `model::facts::flags`.
    pub flags: u16,
    /// Resolved and likely sites that lead to it.
    pub references: u32,
}

/// The part of a symbol that qualified names are made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedInside {
    /// Its own name.
    pub name: Box<str>,
    /// The symbol it is written inside of.
    pub container: Option<SymbolKey>,
}

/// A site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteRow {
    /// Its key; sites of a file are in order of place.
    pub key: SiteKey,
    /// Its file.
    pub file: FileKey,
    /// The innermost symbol around it.
    pub enclosing: Option<SymbolKey>,
    /// The name as written.
    pub name: NameKey,
    /// What it does.
    pub kind: SiteKind,
    /// Where the name is written.
    pub at: Position,
    /// How far its target is known.
    pub verdict: Verdict,
    /// What decided that.
    pub step: Step,
    /// Where it leads.
    pub target: SiteTarget,
}

/// Where a site leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteTarget {
    /// Nowhere that is known, or to a file as a whole (`Snapshot::site_file` tells).
    None,
    /// To one symbol.
    Symbol(SymbolKey),
    /// To the function that this variable or field holds, whichever that is.
    HeldBy(SymbolKey),
    /// To one of a set (`Snapshot::candidates`).
    Candidates(u32),
    /// Out of the repository: the qualified name as far as it is known.
    External(NameKey),
}

/// An import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportRow {
    /// The file it is in.
    pub file: FileKey,
    /// The module as written.
    pub module: Box<str>,
    /// Levels up a relative import starts.
    pub level: u16,
    /// The item taken from the module.
    pub item: Option<Box<str>>,
    /// Where the module is written.
    pub at: Position,
    /// The file it leads to.
    pub target: Option<FileKey>,
}

/// A relation between two symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RelationRow {
    /// What the relation is.
    pub kind: RelationKind,
    /// The symbol that overrides, derives, implements or defines.
    pub from: SymbolKey,
    /// The symbol that is overridden, derived from, implemented or declared.
    pub to: SymbolKey,
}

/// A region that is incomplete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProblemRow {
    /// The file.
    pub file: FileKey,
    /// What is wrong, and where.
    pub problem: Problem,
}
