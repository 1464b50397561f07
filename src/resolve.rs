//! Name resolution: facts of a whole repository to targets, by scopes, imports, types and members.
//! Pure and language-independent.
//!
//! - `workspace`: the symbol table. `Tables` has the facts of every file with lookup tables, in a
//!   full build only their exported part. `Program` is the view of one resolution, which records
//!   every access (`footprint`).
//! - `imports`: module systems, which map an import to a file.
//! - `names`: name lookup; `types`: type inference; `members`: member lookup; `calls`: overload
//!   resolution and return types; `references`: the target of a reference.
//! - `incremental`: the files to resolve again after a change.
//!
//! A `Resolver` works on one file at a time. Its result is a function of the tables alone, so that
//! the graph is independent of order and threads; and a function of the recorded accesses, so that
//! after a change only files are resolved again that read a changed value.

mod calls;
mod imports;
mod incremental;
mod members;
mod names;
mod references;
mod types;
mod units;
mod workspace;

use crate::model::RepoPath;
use crate::model::facts::NameId;
use crate::model::graph::{FileId, SymbolRef};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub use crate::resolve::incremental::assemble::ListedFile;
pub use crate::resolve::units::archive::{Archive, Posting};
pub use crate::resolve::units::footprint::Asked;
pub use crate::resolve::units::interner::Names;
pub use crate::resolve::units::partition::Shared;
pub use crate::resolve::{
    references::file::Resolved,
    units::prepared::{Head, Prepared},
};
pub use incremental::invalidate::{Change, Changed, Listing};
pub use workspace::packed::PackedEntry;
use workspace::program::Program;
pub use workspace::tables::Tables;

/// Project file of a module system (`package.json`, `go.mod`, …): path and text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectFile {
    /// Path.
    pub path: RepoPath,
    /// Text.
    pub text: String,
}

/// Interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(u32);

/// Symbols of one name in one scope: overloads, or a single one.
type Symbols = SmallVec<[SymbolRef; 2]>;

/// Filter of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Wanted {
    /// Callables.
    Callables,
    /// Everything else.
    Others,
    /// Everything except modules and namespaces.
    NoModules,
    /// Everything except tags: type names that are visible only behind a keyword.
    Untagged,
    /// Candidates in type position: types, namespaces, and macros, which may expand to either.
    Types,
}

/// Resolver of one file; its memos of types are kept between files.
struct Resolver<'p, 'a> {
    program: &'p Program<'a>,
    /// File being resolved: its language decides how types of other languages are treated.
    origin: FileId,
    types: types::memo::Types,
    literals: FxHashMap<Name, types::ty::Ty>,
    results: FxHashMap<SymbolRef, types::ty::Ty>,
    linear: FxHashMap<SymbolRef, std::rc::Rc<members::hierarchy::Hierarchy>>,
    /// Memo of names without a member in a type's hierarchy, by filter.
    absent: FxHashSet<(SymbolRef, Name, Option<Wanted>)>,
    /// Memo of members of types, by filter.
    members: FxHashMap<(SymbolRef, Name, Option<Wanted>), crate::resolve::types::ty::Member>,
    generic: FxHashMap<SymbolRef, std::rc::Rc<[(types::generics::Parameter, usize)]>>,
    /// Memo of constructors by file and scope.
    constructors: FxHashMap<FileId, std::rc::Rc<FxHashMap<crate::model::facts::ScopeId, Symbols>>>,
    definitions: FxHashMap<SymbolRef, Symbols>,
    /// Memo of names in namespaces that are definitions.
    defined: FxHashMap<(crate::resolve::units::space::Space, Name), Symbols>,
    /// Memo: definitions of sets of declarations.
    with_definitions: FxHashMap<Symbols, Symbols>,
    /// Memo: sets of symbols without duplicate signatures.
    distinct: FxHashMap<Symbols, Symbols>,
    /// Memo: conditional variants of a symbol of another file; empty if it is the only one.
    variants: FxHashMap<SymbolRef, std::rc::Rc<Symbols>>,
    /// Memo: link-time targets of names without an included declaration.
    linked: FxHashMap<(crate::resolve::units::space::Space, Name), Symbols>,
    satisfied: FxHashMap<SymbolRef, std::rc::Rc<[SymbolRef]>>,
    parameters: FxHashMap<SymbolRef, std::rc::Rc<[types::ty::Ty]>>,
    reach: FxHashMap<FileId, std::rc::Rc<crate::resolve::units::footprint::FileSet>>,
    seen: FxHashMap<(FileId, crate::resolve::units::space::Space, Name), Symbols>,
    /// Memo: searches along wildcard imports.
    wildcards: names::wildcard::closure::Wildcards,
    /// Memo: imported packages of a file by their declared names.
    own_names: FxHashMap<FileId, std::rc::Rc<names::paths::OwnNames<'a>>>,
    /// Memo: true if the many bindings of a name are successive values of one variable.
    assigned: FxHashMap<(FileId, crate::model::facts::ScopeId, Name), bool>,
    depth: u32,
    budget: crate::resolve::units::bounds::Budget,
    /// True if values are skipped, in a lookup of a type or module.
    types_only: bool,
    /// Filter of the current lookup.
    wanted: Option<Wanted>,
}

impl<'p, 'a> Resolver<'p, 'a> {
    fn new(program: &'p Program<'a>, origin: FileId) -> Self {
        Self {
            program,
            origin,
            types: types::memo::Types::default(),
            literals: FxHashMap::default(),
            results: FxHashMap::default(),
            linear: FxHashMap::default(),
            absent: FxHashSet::default(),
            members: FxHashMap::default(),
            generic: FxHashMap::default(),
            constructors: FxHashMap::default(),
            definitions: FxHashMap::default(),
            defined: FxHashMap::default(),
            with_definitions: FxHashMap::default(),
            distinct: FxHashMap::default(),
            variants: FxHashMap::default(),
            linked: FxHashMap::default(),
            satisfied: FxHashMap::default(),
            parameters: FxHashMap::default(),
            reach: FxHashMap::default(),
            seen: FxHashMap::default(),
            wildcards: names::wildcard::closure::Wildcards::default(),
            own_names: FxHashMap::default(),
            assigned: FxHashMap::default(),
            depth: 0,
            budget: crate::resolve::units::bounds::Budget::default(),
            types_only: false,
            wanted: None,
        }
    }

    /// Starts another file, with a new budget.
    fn begin(&mut self, file: FileId) {
        self.origin = file;
        self.wildcards.begin();
        self.budget.begin(self.program.known(file).facts);
    }

    fn name(&self, file: FileId, name: NameId) -> Name {
        self.program.known(file).name(name)
    }
}
