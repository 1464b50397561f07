//! Boundary types shared by all layers: ids, paths, kinds and verdicts. Plain data without
//! dependencies.
//!
//! ```text
//! bytes of a file                                             rows and answers
//!       │                                                            ▲
//!    extract ──> facts::FileFacts ──> resolve ──> graph ──> store ───┘
//!                       │                           │
//!                       └─────────> packed <────────┘     bytes of the segment
//! words: names and prose ──> terms of a document ──> posting lists
//! ```
//!
//! `facts`: result of extraction for one file. `graph`: result of resolution for the repository.
//! `cancel`: cancellation tokens. `packed`: binary encoding of facts and results. `words`:
//! tokenization of source text. `stated`: edges that a compiler states. `panics`: panics as values.

pub mod cancel;
pub mod change;
pub mod children;
pub mod facts;
pub mod graph;
pub mod package;
pub mod packed;
pub mod panics;
pub mod stated;
pub mod words;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A path inside a repository: relative, `/`-separated, never empty, without `.` or `..`
/// components.
///
/// Bytes of a file name that are not UTF-8 are written as `%XX` (and `%` itself as `%25` in such a
/// name, and in one that looks like such an escape), so that every file has exactly one printable
/// path, and every path names one file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RepoPath(Arc<str>);

impl RepoPath {
    /// Accepts `text` if it has the shape described on the type.
    pub fn new(text: &str) -> Option<Self> {
        let well_formed = !text.is_empty()
            && !text.starts_with('/')
            && text.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
            && !text.contains('\0');
        well_formed.then(|| Self(Arc::from(text)))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Everything before the last component; empty for a file at the root.
    pub fn directory(&self) -> &str {
        self.0.rfind('/').map_or("", |end| &self.0[..end])
    }

    /// Whether this is the path of `directory`, or of something in it.
    pub fn starts_with(&self, directory: &Self) -> bool {
        self.0
            .strip_prefix(directory.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The text after the last dot of the file name, if the dot is not its first character.
    pub fn extension(&self) -> Option<&str> {
        let name = self.file_name();
        name.rfind('.').filter(|&dot| dot > 0).map(|dot| &name[dot + 1..])
    }
}

impl From<RepoPath> for String {
    fn from(path: RepoPath) -> Self {
        path.as_str().to_owned()
    }
}

impl TryFrom<String> for RepoPath {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or("not the path of a file of a repository")
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// Declares a closed vocabulary: an enum whose variants have one stable word each, used in the
/// store, in replies and in fixtures alike. Numbers are the variants' positions and are part of the
/// store's format.
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every variant in the order of its number.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The stable word.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// The variant with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }

            /// The variant with this number.
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.get(usize::from(number)).copied()
            }
        }
    };
}

vocabulary! {
    /// What a symbol is. Languages map their own words onto these.
    SymbolKind {
        /// A module or package that has a definition of its own (`mod m {}`, `module M {}`).
        Module = "module",
        /// A namespace block.
        Namespace = "namespace",
        /// A class.
        Class = "class",
        /// A struct or record.
        Struct = "struct",
        /// A union type with a body.
        Union = "union",
        /// An interface or protocol.
        Interface = "interface",
        /// A trait.
        Trait = "trait",
        /// An enumeration.
        Enum = "enum",
        /// A variant or enumerator.
        Variant = "variant",
        /// A function outside any type.
        Function = "function",
        /// A function that belongs to a type.
        Method = "method",
        /// A function that makes values of its type.
        Constructor = "constructor",
        /// A field, attribute or property of a type.
        Field = "field",
        /// A named value that is not reassigned.
        Constant = "constant",
        /// A named value outside functions.
        Variable = "variable",
        /// Another name for a type.
        TypeAlias = "type",
        /// A macro.
        Macro = "macro",
        /// A unit of test that has no name of its own kind (`test("...", ...)`).
        Test = "test",
    }
}

impl SymbolKind {
    /// Whether the symbol is a type that can have members.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Self::Class
                | Self::Struct
                | Self::Union
                | Self::Interface
                | Self::Trait
                | Self::Enum
                | Self::TypeAlias
        )
    }

    /// Whether the symbol is code that can be called by its own name.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor | Self::Macro)
    }
}

vocabulary! {
    /// What a reference does with the symbol it names.
    SiteKind {
        /// Calls it.
        Call = "call",
        /// Makes a value of it.
        Construct = "construct",
        /// Uses its value, or names it without calling it.
        Read = "read",
        /// Gives it a value.
        Write = "write",
        /// Uses it as a type.
        Type = "type",
        /// Names it in an import or re-export.
        Import = "import",
        /// Derives from it.
        Inherit = "inherit",
        /// Implements it.
        Implement = "implement",
        /// Applies it as a decorator, annotation or attribute.
        Decorate = "decorate",
    }
}

vocabulary! {
    /// The verdict on a site: how far its target is known (promise P4).
    Verdict {
        /// One target, proven by scope, import or type.
        Resolved = "resolved",
        /// One target, from a named heuristic with evidence.
        Likely = "likely",
        /// Several possible targets, at least two; all are kept.
        Ambiguous = "ambiguous",
        /// The target is outside the repository.
        External = "external",
        /// Nothing is known; `Step` gives the reason.
        Unresolved = "unresolved",
        /// One target, without proof or sufficient evidence.
        Possible = "possible",
    }
}

vocabulary! {
    /// The step of resolution that decided a site, or the reason why none did.
    Step {
        /// Found in an enclosing lexical scope of the same file.
        Lexical = "lexical",
        /// Found in the same module or package, in this or another file, without an import.
        Package = "package",
        /// Found through an import.
        Import = "import",
        /// Found through a wildcard import or include.
        Wildcard = "wildcard",
        /// Member of a module, namespace or package named in the expression.
        ModuleMember = "module-member",
        /// Member of a type named in the expression (`Type.member`).
        TypeMember = "type-member",
        /// Member of the enclosing type through `self`, `this` or an implicit receiver.
        SelfMember = "self-member",
        /// Member of a base of the enclosing type through `super`.
        SuperMember = "super-member",
        /// Member of the receiver's declared type.
        DeclaredType = "declared-type",
        /// Member of the receiver's type, known because it was constructed or assigned.
        InferredType = "inferred-type",
        /// Member of the receiver's type, known from the return type of a call.
        ReturnType = "return-type",
        /// Heuristic: the only symbol of that name in the import closure, with a fitting arity and
        /// an uncommon name.
        UniqueName = "unique-name",
        /// A builtin of the language or a type of its standard library.
        Builtin = "builtin",
        /// An import that leaves the repository.
        ExternalImport = "external-import",
        /// Reason: the receiver's type is not known.
        ReceiverUnknown = "receiver-unknown",
        /// Reason: the receiver's type is known and has no such member.
        NoSuchMember = "no-such-member",
        /// Reason: no declaration of the name is visible.
        NoSuchName = "no-such-name",
        /// Reason: several overloads match.
        Overloads = "overloads",
        /// Reason: several values may reach the expression.
        SeveralValues = "several-values",
        /// Reason: the name is a local variable, parameter or other value without a symbol.
        LocalValue = "local-value",
        /// Reason: the callee is computed.
        Dynamic = "dynamic",
        /// Reason: the site is inside a macro whose expansion is not known.
        Macro = "macro",
        /// Reason: resolution of this file failed; nothing is claimed about it.
        Fault = "fault",
        /// Several variants of one definition: conditional compilation, the include path or the
        /// linker selects one of them. The target is every variant (verdict `Resolved`).
        Conditional = "conditional",
        /// Reason: what is called is the function that a variable or field holds; the target is
        /// that variable or field.
        FunctionValue = "function-value",
        /// Stated by a compiler, in an imported SCIP index.
        Scip = "scip",
    }
}

vocabulary! {
    /// Declared visibility of a symbol.
    Visibility {
        /// Everybody.
        Public = "public",
        /// The package, crate, file set or directory.
        Internal = "internal",
        /// The type and those derived from it.
        Protected = "protected",
        /// Its own type, file or scope.
        Private = "private",
    }
}

vocabulary! {
    /// A relation between two symbols that is not a site.
    RelationKind {
        /// The first overrides or implements the second (member to member).
        Overrides = "overrides",
        /// The first derives from the second (type to type).
        Inherits = "inherits",
        /// The first implements the second (type to type).
        Implements = "implements",
        /// The first is the definition of what the second declares.
        Defines = "defines",
        /// The first gives values of the second, which its header does not say (function, property
        /// or field to type).
        Returns = "returns",
    }
}

vocabulary! {
    /// Why a file that the walk met has no facts.
    #[derive(Serialize, Deserialize)]
    SkipReason {
        /// No language claims it.
        NoLanguage = "no-language",
        /// It has NUL bytes.
        Binary = "binary",
        /// It is larger than the limit.
        TooLarge = "too-large",
        /// A line is longer than the limit (minified or generated data).
        LongLine = "long-line",
        /// It could not be read.
        Unreadable = "unreadable",
        /// It was gone when it was to be read.
        Vanished = "vanished",
        /// Its bytes are no text that is understood.
        Encoding = "encoding",
        /// Indexing it ended the worker process.
        Quarantined = "quarantined",
        /// It is a symbolic link; what it leads to is indexed under its own path if it lies in the
        /// repository.
        Symlink = "symlink",
        /// It is neither a file nor a directory (pipe, socket, device).
        Special = "special",
        /// It would have ignore rules, and is a link, no regular file or larger than 1 MB: it has
        /// none.
        UnreadRules = "unread-rules",
        /// Parsing it takes more CPU time than a file of its size may take.
        TooSlow = "too-slow",
        /// Parsing it takes more memory than a file of its size may take.
        TooMuchMemory = "too-much-memory",
        /// Parsing it takes long: it was left for a run after the full build.
        Deferred = "deferred",
    }
}

impl SkipReason {
    /// True for the reasons that a directory entry gives: such a file has no language.
    pub fn is_of_entry(self) -> bool {
        matches!(self, Self::Symlink | Self::Special | Self::Unreadable | Self::UnreadRules)
    }

    /// True for a file of a known language that is left out because of what indexing it costs.
    pub fn is_of_cost(self) -> bool {
        matches!(self, Self::Quarantined | Self::TooSlow | Self::TooMuchMemory | Self::Deferred)
    }

    /// True if another attempt may succeed without a change of the file: how long something takes
    /// depends on the machine.
    pub fn is_of_time(self) -> bool {
        matches!(self, Self::TooSlow | Self::Deferred)
    }
}

vocabulary! {
    /// What is incomplete about a file that was indexed.
    ProblemKind {
        /// A region that the grammar could not parse.
        Syntax = "syntax",
        /// A region nested more deeply than the limit; not analysed.
        TooDeep = "too-deep",
        /// Parsing a part stopped at the file's budget of time or memory; the part is missing.
        TimeLimit = "time-limit",
        /// Bytes that are not UTF-8 were replaced.
        Encoding = "encoding",
    }
}

/// A region of a file that is incomplete. Lines are 1-based and inclusive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// First line of the region.
    pub first_line: u32,
    /// Last line of the region.
    pub last_line: u32,
}

/// A place in a file. `line` is 1-based, `column` is 0-based in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// 1-based line.
    pub line: u32,
    /// 0-based column in bytes.
    pub column: u32,
}

/// A region of a file, end exclusive, as positions and as byte offsets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start_byte: u32,
    /// Byte after the last one.
    pub end_byte: u32,
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
}

/// A language: its position in the table that `grammar` makes from `grammars/`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LanguageId(pub u16);
