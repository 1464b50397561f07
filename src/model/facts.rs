//! `FileFacts`: the result of extraction for one file, independent of language and of all other
//! files.
//!
//! It is a small program: scopes, bindings, expressions for the origin of values, and sites to
//! resolve. Ids are positions in the vectors of the same `FileFacts`. Name resolution reads it and
//! does not modify it.

mod binding;
mod clauses;
mod complexity;
mod details;
pub(crate) mod ids;
mod operands;
mod sites;
mod synthetic;

pub use binding::{Binding, BindingKind};
pub use clauses::Clauses;
pub use complexity::Complexity;
pub use details::Details;
pub use ids::{BindingId, ClausesId, ExprId, ImportId, LocalSymbol, NameId, Run, ScopeId, SiteId};
pub use operands::{ArgumentLabel, Contextual, Wrapper};
pub use sites::Sites;
pub use synthetic::{CALL_SUFFIX, ELEMENT, Synthetic, external_callable, is_held_part};

use super::{Position, Problem, SiteKind, Span, SymbolKind, Visibility};

/// Facts of one file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FileFacts {
    /// Distinct names, in order of first use.
    pub names: Vec<Box<str>>,
    /// Scopes; the first is that of the file.
    pub scopes: Vec<Scope>,
    /// Definitions and declarations, in order of their start.
    pub symbols: Vec<Symbol>,
    /// Details of each symbol, parallel to `symbols`; empty where the symbols of all files are in
    /// memory.
    pub details: Vec<Details>,
    /// Decorators, bases, type parameters and owners of the few symbols that have any.
    pub clauses: Vec<Clauses>,
    /// Bindings of names in scopes.
    pub bindings: Vec<Binding>,
    /// Imports in order.
    pub imports: Vec<Import>,
    /// Expressions; a child precedes its parent.
    pub exprs: Vec<Expr>,
    /// Position of each expression: its first byte. Parallel to `exprs`.
    pub positions: Vec<u32>,
    /// Lists that expressions and symbols refer to by `Run`.
    pub lists: Vec<ExprId>,
    /// Sites in order of position.
    pub sites: Sites,
    /// Regions of conditional compilation, in order of their start.
    pub conditions: Vec<Condition>,
    /// Incomplete regions.
    pub problems: Vec<Problem>,
    /// Declared package or module (`package a.b;`), if any.
    pub package: Option<Box<str>>,
    /// Number of lines.
    pub lines: u32,
    /// True if the file has a notice of generated code.
    pub generated: bool,
    /// True for a test file.
    pub test: bool,
    /// Terms of its text and path, see [`super::words`]. Read by the store only.
    pub words: DocumentTerms,
}

/// Encoded terms of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DocumentTerms {
    /// Number of words, then the terms in order with quantized frequencies: see
    /// [`super::words::FileWords`].
    pub words: Box<[u8]>,
    /// Lengths of the passages, then those of each term: see [`super::words::Postings`].
    pub postings: Box<[u8]>,
}

impl FileFacts {
    /// Decorators, bases, type parameters and owner of one of the symbols.
    #[inline]
    pub fn clauses_of(&self, symbol: &Symbol) -> &Clauses {
        symbol.clauses.get().map_or(&Clauses::NONE, |of| &self.clauses[of])
    }

    /// Returns the position of a name that is read at a byte: that of its expression, if that is
    /// one of a member of the exports.
    pub fn read_at(&self, expr: usize, byte: u32) -> u32 {
        match self.positions[expr] {
            Binding::OF_EXPORTS => Binding::OF_EXPORTS,
            _ => byte,
        }
    }

    /// Minimizes memory: packs the sites and releases unused capacity of vectors. The facts of all
    /// files of a repository may be in memory at the same time.
    pub fn shrink(&mut self) {
        self.sites.pack();
        self.names.shrink_to_fit();
        self.scopes.shrink_to_fit();
        self.symbols.shrink_to_fit();
        self.details.shrink_to_fit();
        self.clauses.shrink_to_fit();
        self.bindings.shrink_to_fit();
        self.imports.shrink_to_fit();
        self.exprs.shrink_to_fit();
        self.positions.shrink_to_fit();
        self.lists.shrink_to_fit();
        self.conditions.shrink_to_fit();
        self.problems.shrink_to_fit();
    }
}

/// Lexical scope.
#[derive(Clone, PartialEq, Debug)]
pub struct Scope {
    /// Parent scope; `NONE` for that of the file.
    pub parent: ScopeId,
    /// Kind.
    pub kind: ScopeKind,
    /// Symbol whose body it is.
    pub symbol: LocalSymbol,
    /// Type whose members it contains, if the type is defined elsewhere (`impl`, extensions).
    pub owner: ExprId,
    /// First byte.
    pub start: u32,
    /// Byte behind the last.
    pub end: u32,
}

/// Kind of a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScopeKind {
    /// File.
    File,
    /// Body of a type: its bindings are members, visible in methods only as the language allows.
    Type,
    /// Body of an inline module or namespace.
    Module,
    /// Function with its parameters, or closure.
    Function,
    /// Block that owns the names declared in it.
    Block,
    /// Branch or loop body in a language with function scope: owns type narrowings only.
    Flow,
}

/// Region that is compiled only if a condition holds, or only if it does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// First byte.
    pub start: u32,
    /// Byte behind the last.
    pub end: u32,
    /// Condition as written, without white space and without the words for tests and negations.
    pub tested: NameId,
    /// True if the condition holds in the region.
    pub holds: bool,
}

/// Definition or declaration.
#[derive(Clone, PartialEq, Debug)]
pub struct Symbol {
    /// Unqualified name.
    pub name: NameId,
    /// Kind.
    pub kind: SymbolKind,
    /// Enclosing symbol, or the symbol of this file whose body it extends.
    pub container: LocalSymbol,
    /// Scope of its declaration.
    pub scope: ScopeId,
    /// Scope of its body.
    pub inner: ScopeId,
    /// Properties, see [`flags`].
    pub flags: u32,
    /// Visibility.
    pub visibility: Visibility,
    /// First byte of its whole extent, with decorators, without the doc comment.
    pub start_byte: u32,
    /// Byte behind the last of its extent.
    pub end_byte: u32,
    /// First of its parameters: bindings, see [`Symbol::params`].
    pub params_start: u32,
    /// Number of its parameters, at most `u16::MAX`, as in its arity.
    pub params_len: u16,
    /// Minimum and maximum number of arguments; the maximum is `u16::MAX` if unbounded.
    pub arity: (u16, u16),
    /// Declared type: of the value for a variable or field, of the result for a callable, of the
    /// target for an alias.
    pub ty: ExprId,
    /// Returned values of a callable, or assigned values of a variable or field. In `lists`.
    pub values: Run,
    /// What few symbols have; `NONE` for [`Clauses::NONE`].
    pub clauses: ClausesId,
}

// A full build has the symbols of all files in memory, which is most of what it needs: five million
// in the Linux tree.
const _: () = assert!(size_of::<Symbol>() <= 56);

impl Symbol {
    /// Whole extent, with decorators, without the doc comment.
    pub fn extent(&self, details: &Details) -> Span {
        let Symbol { start_byte, end_byte, .. } = *self;
        Span { start_byte, end_byte, start: details.start, end: details.end }
    }

    /// Parameters: bindings.
    pub fn params(&self) -> Run {
        Run::new(self.params_start, self.params_len.into()).unwrap_or_default()
    }

    /// Sets the parameters; those beyond the largest number are left out.
    pub fn set_params(&mut self, params: Run) {
        self.params_start = params.start();
        self.params_len = u16::try_from(params.len()).unwrap_or(u16::MAX);
    }

    /// True for a macro of a preprocessor, with or without parameters.
    pub fn is_macro(&self) -> bool {
        self.flags & flags::TEXTUAL != 0
    }

    /// True if it exists under a condition only.
    pub fn is_conditional(&self) -> bool {
        self.flags & flags::CONDITIONAL != 0
    }
}

/// Bits of `Symbol::flags`.
pub mod flags {
    /// Visible outside its file as the language defines it.
    pub const EXPORTED: u32 = 1;
    /// Test code.
    pub const TEST: u32 = 1 << 1;
    /// Declaration without a body whose definition may be elsewhere (prototype, overload signature,
    /// forward declaration).
    pub const DECLARATION: u32 = 1 << 2;
    /// Abstract: derived types provide the body.
    pub const ABSTRACT: u32 = 1 << 3;
    /// Member of the type, not of its instances.
    pub const STATIC: u32 = 1 << 4;
    /// Returns a future of its declared result.
    pub const ASYNC: u32 = 1 << 5;
    /// Function that is read like a field.
    pub const PROPERTY: u32 = 1 << 6;
    /// The first parameter is the type itself.
    pub const CLASS_METHOD: u32 = 1 << 7;
    /// Generator: yields its values one by one.
    pub const GENERATOR: u32 = 1 << 8;
    /// Default export of the file.
    pub const DEFAULT_EXPORT: u32 = 1 << 9;
    /// Compiled conditionally.
    pub const CONDITIONAL: u32 = 1 << 10;
    /// Marked as deprecated.
    pub const DEPRECATED: u32 = 1 << 11;
    /// Local definition inside a function body.
    pub const LOCAL: u32 = 1 << 12;
    /// Variable or field that holds a function.
    pub const FUNCTION_VALUE: u32 = 1 << 13;
    /// Extension of a type that is defined elsewhere.
    pub const EXTENSION: u32 = 1 << 14;
    /// Has a receiver parameter (`self`, `this`) that is not counted in its arity.
    pub const HAS_SELF: u32 = 1 << 15;
    /// Leaves its receiver unchanged: the overload for receivers that are constant.
    pub const READ_ONLY: u32 = 1 << 16;
    /// Part of a type: others of the same name in its package are the same type.
    pub const PARTIAL: u32 = 1 << 17;
    /// Namespace that the replacement of a macro opens: its contents are where the macro is used.
    pub const BY_MACRO: u32 = 1 << 18;
    /// Declared in the global scope of the program: visible in every file without an import.
    pub const GLOBAL: u32 = 1 << 19;
    /// Field without a declaration: an assignment to a member of the receiver makes it.
    pub const ASSIGNED: u32 = 1 << 20;
    /// Its type parameters have a condition: arguments that fit them may be excluded.
    pub const CONSTRAINED: u32 = 1 << 21;
    /// Macro of a preprocessor: its replacement is text.
    pub const TEXTUAL: u32 = 1 << 22;
    /// Written in the arguments of a macro, which decides what becomes of it.
    pub const ARGUMENT: u32 = 1 << 23;
    /// Type that is named by its tag alone: its header starts with the keyword for it.
    pub const TAGGED: u32 = 1 << 24;
}

/// Import of a name (or of all names) from another module.
#[derive(Clone, PartialEq, Debug)]
pub struct Import {
    /// Kind.
    pub kind: ImportKind,
    /// Module as written: its segments joined by the language's separator, without quotes.
    pub module: Box<str>,
    /// Number of levels up at which a relative import starts (leading dots or `super`s). 0 is
    /// absolute.
    pub level: u16,
    /// Imported item; `NONE` for the module itself or everything.
    pub item: NameId,
    /// Local name; `NONE` for wildcards and bare re-exports.
    pub alias: NameId,
    /// True if the name is visible to importers of this file.
    pub reexport: bool,
    /// True if it leaves nothing at run time: only types are imported.
    pub type_only: bool,
    /// True inside of a function: it happens when that is called.
    pub lazy: bool,
    /// True in test code.
    pub test: bool,
    /// Enclosing scope.
    pub scope: ScopeId,
    /// Position of the module.
    pub at: Position,
}

impl Import {
    /// True for the declaration of a module that is part of its own.
    pub fn is_declaration(&self) -> bool {
        self.kind == ImportKind::Module && self.item.is_some()
    }
}

/// Kind of an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportKind {
    /// Module itself.
    Module,
    /// One item.
    Item,
    /// Wildcard import: everything public.
    Wildcard,
    /// No names: for side effects, or textual inclusion.
    Include,
    /// Default export of the module.
    Default,
}

/// Origin of a value or type. Types and values share one expression language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expr {
    /// Name, looked up from a scope.
    Name(NameId, ScopeId),
    /// Member of a value, type or module. The flag in `Member` sites distinguishes static from
    /// dynamic access.
    Member(ExprId, NameId),
    /// Result of a call with the arguments in the list.
    Call(ExprId, Run),
    /// New instance of the type, with the arguments in the list.
    Construct(ExprId, Run),
    /// Item of a container.
    Index(ExprId, ExprId),
    /// Item of an iteration.
    Element(ExprId),
    /// Awaited value.
    Await(ExprId),
    /// Item of a destructured tuple.
    Item(ExprId, u32),
    /// Receiver of the method around this scope.
    SelfValue(ScopeId),
    /// Receiver as an instance of its base type.
    SuperValue(ScopeId),
    /// Type around this scope (`Self`, `cls`).
    SelfType(ScopeId),
    /// Value of the builtin type of this name.
    Literal(NameId),
    /// Value of the type (cast, declared receiver, `x as T`).
    OfType(ExprId),
    /// Union of the list.
    Union(Run),
    /// Tuple.
    Tuple(Run),
    /// Closure, by its scope, which may have a symbol.
    Lambda(ScopeId),
    /// What the context of the closure or object literal with this scope gives it.
    Given(ScopeId, Contextual),
    /// Generic application: base and arguments.
    Apply(ExprId, Run),
    /// Reference, pointer, optional or other wrapper whose members are those of the inner type.
    Wrap(ExprId, Wrapper),
    /// Array, slice or list of the inner type.
    Array(ExprId),
    /// Function type: parameters and result (last of the list).
    Function(Run),
    /// Base type; true if it is implemented rather than extended.
    Base(ExprId, bool),
    /// Value whose members are the bindings of a scope (object literals, anonymous types).
    Members(ScopeId),
    /// Mapping type or value: key and item.
    Mapping(ExprId, ExprId),
    /// Key of an iteration over the value.
    Key(ExprId),
    /// Contents of a wrapper.
    Unwrapped(ExprId),
    /// Value of entering a context manager.
    Enter(ExprId),
    /// Type of a value.
    TypeOf(ExprId),
    /// Argument that is not for the parameter at its position.
    Argument(ExprId, ArgumentLabel),
    /// Callable that a name or member names without a call, where callables have a namespace of
    /// their own.
    Uncalled(ExprId),
    /// What the callee takes as the argument at a position: the value of an argument whose type is
    /// left out.
    Parameter(ExprId, u32),
    /// Unknown.
    Unknown,
}

// As for symbols.
const _: () = assert!(size_of::<Expr>() <= 16);

/// Site: an occurrence of a name as a reference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Site {
    /// Kind.
    pub kind: SiteKind,
    /// Name at the site.
    pub name: NameId,
    /// Position of the name.
    pub at: Position,
    /// First byte of the name.
    pub byte: u32,
    /// Enclosing scope.
    pub scope: ScopeId,
    /// Enclosing symbol; `NONE` at the top level of the file.
    pub enclosing: LocalSymbol,
    /// Referenced expression: `Name`, `Member`, … (`NONE` for an import site).
    pub target: ExprId,
    /// Import, for `SiteKind::Import`.
    pub import: ImportId,
    /// Arguments of a call.
    pub args: Run,
    /// True if the number of arguments is a lower bound: they are spread, or a callable is named
    /// without a call.
    pub spread: bool,
    /// True if it is in the tokens of a macro.
    pub in_macro: bool,
}
