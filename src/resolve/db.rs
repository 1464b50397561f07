//! Database of one resolution: its inputs, one memo for each function that is computed once, and
//! the bounds of the computation. Functions take it as their first parameter; what they may ask of
//! concepts above their own is in `queries`.

pub(super) mod each_file;
pub(super) mod expression_types;
pub(super) mod in_progress;
pub(super) mod memo;
pub(super) mod ty;
pub(super) mod wanted;
pub(super) mod wildcards;

use crate::db::wanted::{Filter, Wanted};
use crate::units::bounds::{Budget, MAX_DEPTH};
use crate::units::footprint::FileSet;
use crate::units::interner::Name;
use crate::units::space::Space;
use crate::units::symbols::Symbols;
use crate::workspace::postings::Definitions;
use crate::workspace::program::Program;
use cograph_faults::{Fault, planted};
use cograph_grammar::Tier;
use cograph_model::facts::{FileFacts, NameId, ScopeId};
use cograph_model::graph::{FileId, SymbolRef};
use expression_types::ExpressionTypes;
use in_progress::InProgress;
use memo::Memo;
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::rc::Rc;
use ty::{Hierarchy, Member, OwnNames, Parameter, Ty};
use wildcards::Wildcards;

/// Inputs and memos of the resolution of one file after another.
pub(super) struct Db<'a> {
    pub(super) program: &'a Program<'a>,
    /// File being resolved: its language decides how types of other languages are treated.
    pub(super) origin: Cell<FileId>,
    pub(super) budget: Budget,
    /// Filter of the current lookup.
    filter: Cell<Filter>,
    /// Nesting of type inference.
    pub(super) depth: Cell<u32>,
    pub(super) in_progress: InProgress,
    /// Variable whose value the current reference leads to.
    pub(super) holder: Cell<Option<SymbolRef>>,

    // Types.
    pub(super) types: ExpressionTypes,
    pub(super) literals: Memo<Name, Ty>,
    /// Targets of aliases; an instance of the alias itself while it is looked for.
    pub(super) aliased: Memo<SymbolRef, Ty>,
    /// Types of variables, and results of callables.
    pub(super) results: Memo<SymbolRef, Ty>,
    pub(super) parameters: Memo<SymbolRef, Rc<[Ty]>>,
    /// Generic parameters of types, with their positions.
    pub(super) generic: Memo<SymbolRef, Rc<[(Parameter, usize)]>>,

    // Members.
    pub(super) linear: Memo<SymbolRef, Rc<Hierarchy>>,
    /// Types that derive from a type that may be opened again.
    pub(super) derived: Memo<SymbolRef, Symbols>,
    /// Names without a member in a type's hierarchy, by filter.
    pub(super) absent: Memo<(SymbolRef, Name, Filter), ()>,
    /// Members of types, by filter.
    pub(super) members: Memo<(SymbolRef, Name, Filter), Member>,
    /// Structural interfaces of types.
    pub(super) satisfied: Memo<SymbolRef, Rc<[SymbolRef]>>,
    /// Constructors by file and scope.
    pub(super) constructors: Memo<FileId, Rc<FxHashMap<ScopeId, Symbols>>>,
    /// Numbers of parameters of closures by file and scope.
    pub(super) closure_parameters: Memo<FileId, Rc<FxHashMap<ScopeId, usize>>>,

    // Names.
    pub(super) definitions: Memo<SymbolRef, Symbols>,
    /// Names in namespaces that are definitions.
    pub(super) defined: Memo<(Space, Name), Definitions>,
    /// Definitions of sets of declarations.
    pub(super) with_definitions: Memo<Symbols, Symbols>,
    /// Sets of symbols without duplicate signatures.
    pub(super) distinct: Memo<Symbols, Symbols>,
    /// Conditional variants of a symbol of another file; empty if it is the only one.
    pub(super) variants: Memo<SymbolRef, Rc<Symbols>>,
    /// Whether symbols of one name are variants of one definition.
    pub(super) are_variants: Memo<Symbols, bool>,
    /// Link-time targets of names without an included declaration.
    pub(super) linked: Memo<(Space, Name), Symbols>,
    pub(super) reach: Memo<FileId, Rc<FileSet>>,
    pub(super) seen: Memo<(FileId, Space, Name), Symbols>,
    /// Declarations of types that may be opened again.
    pub(super) openings: Memo<SymbolRef, Symbols>,
    /// Types that the declaration file next to a module has for a class of it.
    pub(super) stated_types: Memo<SymbolRef, Symbols>,
    pub(super) wildcards: Wildcards,
    /// Imported packages of a file by their declared names.
    pub(super) own_names: Memo<FileId, Rc<OwnNames<'a>>>,
    /// True if the many bindings of a name are successive values of one variable.
    pub(super) assigned: Memo<(FileId, ScopeId, Name), bool>,
}

impl<'a> Db<'a> {
    pub(super) fn new(program: &'a Program<'a>, origin: FileId) -> Self {
        Self {
            program,
            origin: Cell::new(origin),
            budget: Budget::default(),
            filter: Cell::default(),
            depth: Cell::default(),
            in_progress: InProgress::default(),
            holder: Cell::default(),
            types: ExpressionTypes::default(),
            literals: Memo::default(),
            aliased: Memo::default(),
            results: Memo::default(),
            parameters: Memo::default(),
            generic: Memo::default(),
            linear: Memo::default(),
            derived: Memo::default(),
            absent: Memo::default(),
            members: Memo::default(),
            satisfied: Memo::default(),
            constructors: Memo::default(),
            closure_parameters: Memo::default(),
            definitions: Memo::default(),
            defined: Memo::default(),
            with_definitions: Memo::default(),
            distinct: Memo::default(),
            variants: Memo::default(),
            are_variants: Memo::default(),
            linked: Memo::default(),
            reach: Memo::default(),
            seen: Memo::default(),
            openings: Memo::default(),
            stated_types: Memo::default(),
            wildcards: Wildcards::default(),
            own_names: Memo::default(),
            assigned: Memo::default(),
        }
    }

    /// Creates a database for the resolution of one file with these facts.
    pub(super) fn of_file(program: &'a Program<'a>, file: FileId, facts: &FileFacts) -> Self {
        let types = ExpressionTypes::of_file(file, facts.exprs.len());
        let db = Self { types, ..Self::new(program, file) };
        db.budget.begin(facts);
        db
    }

    /// Starts another file, with a new budget.
    pub(super) fn begin(&self, file: FileId) {
        self.origin.set(file);
        self.wildcards.begin();
        self.budget.begin(self.program.known(file).facts);
    }

    pub(super) fn name(&self, file: FileId, name: NameId) -> Name {
        self.program.known(file).name(name)
    }

    /// Returns the tier of a file's language.
    pub(super) fn tier(&self, file: FileId) -> Tier {
        self.program.known(file).language.tier()
    }

    /// Returns the files whose types a file may know: its transitive imports and its package.
    pub(super) fn reachable(&self, file: FileId) -> Rc<FileSet> {
        if let Some(known) = self.reach.get(&file) {
            return known;
        }
        let reached = Rc::new(self.program.reached_from(file));
        self.reach.insert(file, Rc::clone(&reached));
        reached
    }

    /// Returns the filter of the current lookup, which memos have in their keys.
    pub(super) fn filter(&self) -> Filter {
        if planted(Fault::MemoWithoutFilter) { Filter::default() } else { self.filter.get() }
    }

    /// Returns the kinds of symbols that are looked up.
    pub(super) fn wanted(&self) -> Option<Wanted> {
        self.filter.get().wanted
    }

    /// True if values are skipped.
    pub(super) fn types_only(&self) -> bool {
        self.filter.get().types_only
    }

    /// Looks symbols of other kinds up.
    pub(super) fn filtered<T>(&self, wanted: Option<Wanted>, look: impl FnOnce() -> T) -> T {
        self.with_filter(Filter { wanted, ..self.filter.get() }, look)
    }

    /// Looks something up with or without values.
    pub(super) fn types_alone<T>(&self, types_only: bool, look: impl FnOnce() -> T) -> T {
        self.with_filter(Filter { types_only, ..self.filter.get() }, look)
    }

    /// Computes what does not depend on the lookup that asks for it.
    pub(super) fn unfiltered<T>(&self, compute: impl FnOnce() -> T) -> T {
        self.with_filter(Filter::default(), compute)
    }

    fn with_filter<T>(&self, filter: Filter, look: impl FnOnce() -> T) -> T {
        let before = self.filter.replace(filter);
        let found = look();
        self.filter.set(before);
        found
    }

    /// Computes something one level deeper.
    pub(super) fn deeper<T>(&self, compute: impl FnOnce() -> T) -> T {
        self.depth.update(|depth| depth + 1);
        let computed = compute();
        self.depth.update(|depth| depth - 1);
        computed
    }

    /// True if nothing may be nested deeper: what would be is unknown.
    pub(super) fn is_too_deep(&self) -> bool {
        self.depth.get() >= MAX_DEPTH
    }

    /// True during type inference.
    pub(super) fn is_nested(&self) -> bool {
        self.depth.get() > 0
    }
}
