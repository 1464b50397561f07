//! `FileFacts`: everything extraction learns about one file, independent of language and of all
//! other files.
//!
//! It is a small program in itself: scopes, what is bound in them, expressions that say where
//! values come from, and the sites to resolve. Ids are positions in the vectors of the same
//! `FileFacts`. Resolution reads it and adds nothing to it.

mod sites;

pub use sites::Sites;

use super::{Position, Problem, SiteKind, Span, SymbolKind, Visibility};

/// Declares an id: a position in one of the vectors of `FileFacts`.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// Stands for "there is none".
            pub const NONE: $name = $name(u32::MAX);

            /// The position, if there is one.
            #[inline]
            pub fn get(self) -> Option<usize> {
                (self.0 != u32::MAX).then_some(self.0 as usize)
            }

            /// Whether there is one.
            #[inline]
            pub fn is_some(self) -> bool {
                self.0 != u32::MAX
            }

            /// The id of a position.
            #[inline]
            pub fn at(position: usize) -> Self {
                Self(u32::try_from(position).expect("a file is limited to far fewer than 2^32 \
                    facts"))
            }
        }
    )+};
}

ids! {
    /// A name of the file's name table.
    NameId,
    /// A scope.
    ScopeId,
    /// A symbol of this file.
    LocalSymbol,
    /// A binding.
    BindingId,
    /// An import.
    ImportId,
    /// An expression.
    ExprId,
    /// A site.
    SiteId,
}

/// A run of consecutive entries in one of the vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// First entry.
    pub start: u32,
    /// Number of entries.
    pub len: u32,
}

impl Run {
    /// The positions it covers.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// What one file says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FileFacts {
    /// Every distinct name, in order of first use.
    pub names: Vec<Box<str>>,
    /// Scopes; the first is the file's own.
    pub scopes: Vec<Scope>,
    /// Definitions and declarations, in order of their start.
    pub symbols: Vec<Symbol>,
    /// What is bound in which scope.
    pub bindings: Vec<Binding>,
    /// Imports in order.
    pub imports: Vec<Import>,
    /// Expressions; a child comes before its parent.
    pub exprs: Vec<Expr>,
    /// Where each expression stands: its first byte. Runs parallel to `exprs`.
    pub positions: Vec<u32>,
    /// Members of lists that expressions and symbols refer to by `Run`.
    pub lists: Vec<ExprId>,
    /// References in order of position.
    pub sites: Sites,
    /// Regions that are compiled only under a condition, in order of their start.
    pub conditions: Vec<Condition>,
    /// Regions that are incomplete.
    pub problems: Vec<Problem>,
    /// The package or module the file says it belongs to (`package a.b;`), if it does.
    pub package: Option<Box<str>>,
    /// Number of lines.
    pub lines: u32,
    /// Whether the file says that it is generated.
    pub generated: bool,
    /// Whether the file is test code as a whole.
    pub test: bool,
    /// The words of its text and path, see [`super::words`]. Nothing but the store looks at them.
    pub words: Box<[u8]>,
}

impl FileFacts {
    /// Makes the facts as small as they can be kept: packs the references, and gives back the room
    /// that vectors have set aside to grow. Facts of all files of a repository in use stay at the
    /// same time.
    pub fn shrink(&mut self) {
        self.sites.pack();
        self.names.shrink_to_fit();
        self.scopes.shrink_to_fit();
        self.symbols.shrink_to_fit();
        self.bindings.shrink_to_fit();
        self.imports.shrink_to_fit();
        self.exprs.shrink_to_fit();
        self.positions.shrink_to_fit();
        self.lists.shrink_to_fit();
        self.conditions.shrink_to_fit();
        self.problems.shrink_to_fit();
    }
}

/// A region in which names are looked up together.
#[derive(Clone, PartialEq, Debug)]
pub struct Scope {
    /// The scope around it; none for the file's.
    pub parent: ScopeId,
    /// What kind of region it is.
    pub kind: ScopeKind,
    /// The symbol whose body it is.
    pub symbol: LocalSymbol,
    /// The type whose members it holds when that type is defined elsewhere (`impl`, extensions).
    pub owner: ExprId,
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

/// What kind of region a scope is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScopeKind {
    /// The file.
    File,
    /// Body of a type: its bindings are members, reached from methods only as the language allows.
    Type,
    /// Body of a module or namespace inside a file.
    Module,
    /// A function with its parameters, or a closure.
    Function,
    /// A block that owns the names declared in it.
    Block,
    /// A branch or loop body in a language whose names belong to the function: owns narrowings
    /// only.
    Flow,
}

/// A region that is compiled only if something holds, or only if it does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    /// What is tested, as written, without white space and without the words for tests and
    /// negations.
    pub tested: NameId,
    /// Whether it holds in the region.
    pub holds: bool,
}

/// A definition or declaration.
#[derive(Clone, PartialEq, Debug)]
pub struct Symbol {
    /// Its own name, unqualified.
    pub name: NameId,
    /// What it is.
    pub kind: SymbolKind,
    /// The symbol it is written inside of, or whose body it extends in this file.
    pub container: LocalSymbol,
    /// The scope it is declared in.
    pub scope: ScopeId,
    /// The scope it opens.
    pub inner: ScopeId,
    /// Properties, see [`flags`].
    pub flags: u16,
    /// Who may use it.
    pub visibility: Visibility,
    /// Whole extent, with decorators, without the doc comment.
    pub extent: Span,
    /// Where its name is written.
    pub name_at: Position,
    /// Its header on one line, white space folded, without the body.
    pub signature: Box<str>,
    /// First paragraph of its doc comment or string, on one line; empty if there is none.
    pub doc: Box<str>,
    /// Its parameters: bindings.
    pub params: Run,
    /// Least and greatest number of arguments; the greatest is `u16::MAX` where there is no bound.
    pub arity: (u16, u16),
    /// Declared type: of the value for a variable or field, of the result for a callable, of the
    /// target for an alias.
    pub ty: ExprId,
    /// Values it is made of: what a callable returns, or what a variable or field was given.
    /// Members of `lists`.
    pub values: Run,
    /// What decorators apply to it, in order of appearance. Members of `lists`.
    pub decorators: Run,
    /// Base types, `Expr::Base`. Members of `lists`.
    pub bases: Run,
    /// Type parameters: bindings.
    pub type_params: Run,
    /// The type it belongs to when that is written as an expression (method receivers, `impl`,
    /// `A::f`).
    pub owner: ExprId,
    /// The scoped trait or interface that the owner implements here (`impl Trait for Type`).
    pub implements: ExprId,
}

/// Bits of `Symbol::flags`.
pub mod flags {
    /// Visible outside its file as the language defines it.
    pub const EXPORTED: u16 = 1;
    /// Test code.
    pub const TEST: u16 = 1 << 1;
    /// A declaration without a body whose definition may be elsewhere (prototype, overload
    /// signature, forward declaration).
    pub const DECLARATION: u16 = 1 << 2;
    /// Has no body because derived types give it one.
    pub const ABSTRACT: u16 = 1 << 3;
    /// Belongs to the type, not to its values.
    pub const STATIC: u16 = 1 << 4;
    /// Returns a future of what it says.
    pub const ASYNC: u16 = 1 << 5;
    /// Is read like a field although it is a function.
    pub const PROPERTY: u16 = 1 << 6;
    /// The first parameter is the type itself.
    pub const CLASS_METHOD: u16 = 1 << 7;
    /// Yields its values one by one.
    pub const GENERATOR: u16 = 1 << 8;
    /// Is the file's default export.
    pub const DEFAULT_EXPORT: u16 = 1 << 9;
    /// Only compiled under a condition.
    pub const CONDITIONAL: u16 = 1 << 10;
    /// Marked as deprecated.
    pub const DEPRECATED: u16 = 1 << 11;
    /// A local definition inside a function body.
    pub const LOCAL: u16 = 1 << 12;
    /// A variable or field that holds a function.
    pub const FUNCTION_VALUE: u16 = 1 << 13;
    /// Opens again a type that is defined elsewhere.
    pub const EXTENSION: u16 = 1 << 14;
    /// Has a receiver parameter (`self`, `this`) that is not counted in its arity.
    pub const HAS_SELF: u16 = 1 << 15;
}

/// A name that a scope knows.
#[derive(Clone, PartialEq, Debug)]
pub struct Binding {
    /// The scope that owns it.
    pub scope: ScopeId,
    /// The innermost scope at the place of binding (differs from `scope` inside flow blocks).
    pub block: ScopeId,
    /// The name.
    pub name: NameId,
    /// How it came to be.
    pub kind: BindingKind,
    /// First byte at which it holds.
    pub from: u32,
    /// The symbol, for `BindingKind::Symbol`.
    pub symbol: LocalSymbol,
    /// The import, for `BindingKind::Import`.
    pub import: ImportId,
    /// Declared type.
    pub ty: ExprId,
    /// Value it was given.
    pub value: ExprId,
}

/// The name under which the results of a closure without a symbol are bound in its scope.
pub const RESULT: &str = "()";

/// The builtin type of a test's result: its argument is the type that what was tested has.
pub const GUARD: &str = "is";

/// The name under which the declared type of what holds a closure is bound in the closure's scope.
pub const HELD_AS: &str = "=>";

/// How a binding came to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BindingKind {
    /// A definition.
    Symbol,
    /// An import.
    Import,
    /// A parameter; `ty` or default `value` may be known.
    Param,
    /// A type parameter; `ty` is its bound.
    TypeParam,
    /// A declaration or assignment of a variable.
    Value,
    /// A field set through the receiver (`self.x = value`), owned by the type's scope.
    Field,
    /// Not a new variable: in `block` the name is known to have type `ty`, or the one that the test
    /// `value` tells.
    Narrow,
    /// Belongs to an outer scope although it is assigned here (`global`, `nonlocal`).
    Outer,
    /// Not a variable: `value` is what the closure whose scope this is gives back, or `ty` what it
    /// is held as.
    Result,
}

/// One name (or all names) taken from another module.
#[derive(Clone, PartialEq, Debug)]
pub struct Import {
    /// What kind of import it is.
    pub kind: ImportKind,
    /// The module as written: its segments joined by the language's own separator, without quotes.
    pub module: Box<str>,
    /// Leading dots or `super`s: how many levels up a relative import starts. 0 is absolute.
    pub level: u16,
    /// The item taken from the module; none for the module itself or everything.
    pub item: NameId,
    /// The name it gets here; none for wildcards and bare re-exports.
    pub alias: NameId,
    /// Whether the name is visible to those who import this file.
    pub reexport: bool,
    /// Whether only types are taken.
    pub type_only: bool,
    /// The scope it is written in.
    pub scope: ScopeId,
    /// Where the module is written.
    pub at: Position,
}

/// What an import takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportKind {
    /// The module itself.
    Module,
    /// One item.
    Item,
    /// Everything public.
    Wildcard,
    /// Nothing by name: for its effects, or textual inclusion.
    Include,
    /// The module's default export.
    Default,
}

/// Where a value or type comes from. Types and values share one language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A name looked up from a scope.
    Name(NameId, ScopeId),
    /// A member of a value, type or module. The flag in `Member` sites tells static from dynamic
    /// access.
    Member(ExprId, NameId),
    /// The result of calling the first with the arguments in the list.
    Call(ExprId, Run),
    /// A new value of the type, made with the arguments in the list.
    Construct(ExprId, Run),
    /// One item of a container.
    Index(ExprId, ExprId),
    /// What iterating over the value yields.
    Element(ExprId),
    /// What awaiting the value yields.
    Await(ExprId),
    /// Item of a destructured tuple.
    Item(ExprId, u32),
    /// The receiver of the method around this scope.
    SelfValue(ScopeId),
    /// The receiver seen as its base type.
    SuperValue(ScopeId),
    /// The type around this scope (`Self`, `cls`).
    SelfType(ScopeId),
    /// A value of a builtin type of this name.
    Literal(NameId),
    /// A value of the type (cast, declared receiver, `x as T`).
    OfType(ExprId),
    /// The types of all members of the list.
    Union(Run),
    /// A tuple.
    Tuple(Run),
    /// A closure: the symbol that stands for it, or its scope.
    Lambda(ScopeId),
    /// What those who call a closure give for one of its parameters.
    Given(ScopeId, u32),
    /// Generic application: base and arguments.
    Apply(ExprId, Run),
    /// A reference, pointer, optional or other wrapper whose members are those of the inner type;
    /// name of the wrapper.
    Wrap(ExprId, NameId),
    /// An array, slice or list of the inner type.
    Array(ExprId),
    /// A function type: parameters and result (last of the list).
    Function(Run),
    /// A base type with the relation in which it stands.
    Base(ExprId, bool),
    /// A value whose members are the bindings of a scope (object literals, anonymous types).
    Members(ScopeId),
    /// A mapping type or value: key and item.
    Mapping(ExprId, ExprId),
    /// The key that iterating over the value yields beside the item.
    Key(ExprId),
    /// What a wrapper holds.
    Unwrapped(ExprId),
    /// What entering the value as a context yields.
    Enter(ExprId),
    /// The type that a value has.
    TypeOf(ExprId),
    /// Nothing is known.
    Unknown,
}

/// A reference: one place where a name is used.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Site {
    /// What it does.
    pub kind: SiteKind,
    /// The name at the site.
    pub name: NameId,
    /// Where the name is written.
    pub at: Position,
    /// First byte of the name.
    pub byte: u32,
    /// The scope it is in.
    pub scope: ScopeId,
    /// The symbol around it; none at the top of the file.
    pub enclosing: LocalSymbol,
    /// What is named: `Name`, `Member`, … (for an import site: none).
    pub target: ExprId,
    /// The import it belongs to, for `SiteKind::Import`.
    pub import: ImportId,
    /// Arguments of a call.
    pub args: Run,
    /// Whether arguments were spread, so that their number is a lower bound.
    pub spread: bool,
    /// Whether it comes from the tokens of a macro.
    pub in_macro: bool,
}
