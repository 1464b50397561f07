//! Facts of a whole repository to targets: scopes, imports, types, members. Pure, and without the
//! name of any language.
//!
//! - `workspace` has the symbol table: `Tables` holds every file's facts with the tables that
//!   lookups need, in a whole build only those that others may look at. `Program` is the view of
//!   them that one resolution has, which writes down what was asked (`footprint`).
//! - `imports` has the module systems: which file an import names.
//! - `names` finds what a name means, `types` what type an expression has, `members` what a type
//!   has under a name, `calls` which overload is meant and what a call gives, `references` what a
//!   reference leads to.
//! - `incremental` finds which files have to be resolved again after a change.
//!
//! A `Resolver` answers for one file at a time. The result for a file is a function of the tables
//! alone, so that any order and any number of threads give the same graph, and a function of the
//! answers to what it asked: after a change only those files are resolved again that got an answer
//! which is another now.

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

/// A file of a module system that is not source (`package.json`, `go.mod`, …): its path and text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectFile {
    /// Where it is.
    pub path: RepoPath,
    /// Its text.
    pub text: String,
}

/// A name of the whole repository.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(u32);

/// Symbols that share a name in one place: overloads, or a single one.
type Symbols = SmallVec<[SymbolRef; 2]>;

/// Which of the things that have a name are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Wanted {
    /// What can be called.
    Callables,
    /// Everything else.
    Others,
    /// What is no module and no namespace.
    NoModules,
    /// What a place for a type can mean: types, namespaces, and macros that may stand for either.
    Types,
}

/// Answers for one file; what it has found out about types stays with it.
struct Resolver<'p, 'a> {
    program: &'p Program<'a>,
    /// The file that it answers for: its language says what types from outside are like.
    home: FileId,
    types: types::memo::Types,
    literals: FxHashMap<Name, types::ty::Ty>,
    results: FxHashMap<SymbolRef, types::ty::Ty>,
    linear: FxHashMap<SymbolRef, std::rc::Rc<members::hierarchy::Hierarchy>>,
    /// Names that no member of a type's hierarchy has, for each kind of symbol that is looked for.
    absent: FxHashSet<(SymbolRef, Name, Option<Wanted>)>,
    /// What types have under names, for each kind of symbol that is looked for.
    members: FxHashMap<(SymbolRef, Name, Option<Wanted>), crate::resolve::types::ty::Member>,
    generic: FxHashMap<SymbolRef, std::rc::Rc<[(types::generics::Parameter, usize)]>>,
    /// The constructors that files write, by the scopes that they are in.
    constructors: FxHashMap<FileId, std::rc::Rc<FxHashMap<crate::model::facts::ScopeId, Symbols>>>,
    definitions: FxHashMap<SymbolRef, Symbols>,
    /// What namespaces have under names that is no declaration.
    defined: FxHashMap<(crate::resolve::units::space::Space, Name), Symbols>,
    /// Sets of symbols with the definitions in the place of declarations.
    established: FxHashMap<Symbols, Symbols>,
    /// Sets of symbols with each signature once.
    distinct: FxHashMap<Symbols, Symbols>,
    /// What a symbol of another file may as well be; empty where it is the only one.
    variants: FxHashMap<SymbolRef, std::rc::Rc<Symbols>>,
    /// What names that nothing included declares are linked to.
    linked: FxHashMap<(crate::resolve::units::space::Space, Name), Option<SymbolRef>>,
    satisfied: FxHashMap<SymbolRef, std::rc::Rc<[SymbolRef]>>,
    parameters: FxHashMap<SymbolRef, std::rc::Rc<[types::ty::Ty]>>,
    reach: FxHashMap<FileId, std::rc::Rc<crate::resolve::units::footprint::FileSet>>,
    seen: FxHashMap<(FileId, crate::resolve::units::space::Space, Name), Symbols>,
    wildcards: names::wildcard::closure::Wildcards,
    /// The packages that a file imports, by the names that they give themselves.
    own_names: FxHashMap<FileId, std::rc::Rc<names::paths::OwnNames<'a>>>,
    /// Whether the bindings of a name, where they are many, are values of a variable in the order
    /// of their places.
    assigned: FxHashMap<(FileId, crate::model::facts::ScopeId, Name), bool>,
    depth: u32,
    budget: crate::resolve::units::bounds::Budget,
    /// Whether values are passed over: a type or module is looked for.
    types_only: bool,
    /// Which of the things that have a name are looked for, where not all are.
    wanted: Option<Wanted>,
}

impl<'p, 'a> Resolver<'p, 'a> {
    fn new(program: &'p Program<'a>, home: FileId) -> Self {
        Self {
            program,
            home,
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
            established: FxHashMap::default(),
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

    /// Goes on to answer for another file, with a budget of its own.
    fn begin(&mut self, file: FileId) {
        self.home = file;
        self.wildcards.begin();
        self.budget.begin(self.program.known(file).facts);
    }

    fn name(&self, file: FileId, name: NameId) -> Name {
        self.program.known(file).name(name)
    }
}
