//! Modules whose names wildcard imports make visible in a scope, in depth-first order. They are
//! independent of the name, so the search is memoized, and a lookup costs one check of each module
//! rather than of each import between them.

use crate::grammar::ModuleSystem;
use crate::model::SymbolKind;
use crate::model::facts::ScopeId;
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::names::scopes::{MAX_CHAIN, ScopePlace, Visited};
use crate::resolve::types::ty::Entity;
use crate::resolve::units::footprint::FileSet;
use crate::resolve::units::import_target::{ImportTarget, Module};
use crate::resolve::units::unit::mark;
use crate::resolve::{Name, Resolver, Symbols};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Imports, or modules, visited for one step of the budget.
const VISITS_PER_STEP: usize = 32;

/// Minimum number of searches for one file after which searches are joined from memos.
const MIN_SEARCHES: usize = 16;

/// Start of a search: the scope whose wildcard imports it follows, the enclosing module if it was
/// searched, and whether values are skipped.
type Start = (FileId, ScopeId, Option<ScopePlace>, bool);

/// Memos of one resolver.
#[derive(Default, Debug)]
pub(in crate::resolve) struct Wildcards {
    /// Memo of searches; `None` for a scope where each name needs a search of its own.
    stops: FxHashMap<Start, Option<Rc<[Stop]>>>,
    /// True during a search: a nested one would not terminate.
    is_searching: bool,
    /// External wildcard import that may have an undeclared callable, or other name, of a file;
    /// `None` inside if there are several.
    pub(super) outside: FxHashMap<(FileId, bool), Option<Option<usize>>>,
}

impl Wildcards {
    /// Clears the memo for another file: results are independent of earlier files.
    pub(in crate::resolve) fn begin(&mut self) {
        self.stops.clear();
    }
}

/// Place that a search checks for a name.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// Top level of a file.
    File {
        file: FileId,
        /// True if an export list restricts the import that reached it.
        is_listed: bool,
        /// True if the search ends there.
        is_leaf: bool,
        marks: u64,
    },
    Package(u32),
    /// Inline module.
    Inline(SymbolRef),
    /// Directory of a module: after the names that the module makes visible.
    Folder(Module),
    /// Anything but a module.
    Other(Box<Entity>),
}

/// Error: a module binds a name but has no meaning for it, so this name needs a search of its own.
pub(super) struct NotShared;

/// Search state.
#[derive(Default)]
struct Search {
    stops: Vec<Stop>,
    files: FileSet,
    others: FxHashSet<ScopePlace>,
    depth: usize,
    /// True if a part depends on the name.
    is_cut: bool,
}

impl Search {
    /// Enters a place; false if it was visited, or the chain is too long.
    fn enter(&mut self, place: ScopePlace) -> bool {
        let enters = self.depth < MAX_CHAIN && self.meet(place);
        self.depth += usize::from(enters);
        enters
    }

    /// Marks a place as visited; false if it was before.
    fn meet(&mut self, place: ScopePlace) -> bool {
        match place {
            ScopePlace::Module(Module::File(file)) => {
                let is_new = !self.files.contains(file);
                self.files.insert(file);
                is_new
            }
            other => self.others.insert(other),
        }
    }

    /// Adds the unvisited stops of another search.
    fn join(&mut self, stops: &[Stop]) {
        for stop in stops {
            let is_new = match stop {
                Stop::File { file, .. } => self.meet(ScopePlace::Module(Module::File(*file))),
                Stop::Package(package) => self.meet(ScopePlace::Module(Module::Package(*package))),
                Stop::Inline(symbol) => self.meet(ScopePlace::Inline(*symbol)),
                Stop::Folder(_) | Stop::Other(_) => true,
            };
            self.stops.extend(is_new.then(|| stop.clone()));
        }
    }
}

impl Resolver<'_, '_> {
    /// Returns the innermost enclosing scope with wildcard imports that apply to a scope.
    pub(super) fn scope_with_wildcards(&self, file: FileId, from: ScopeId) -> Option<ScopeId> {
        let unit = self.program.known(file);
        if unit.wildcards().is_empty() {
            return None;
        }
        self.scopes_of_module(file, from).find(|scope| !unit.wildcards_in(*scope).is_empty())
    }

    /// Returns a scope and its enclosing scopes within the module.
    fn scopes_of_module(&self, file: FileId, from: ScopeId) -> impl Iterator<Item = ScopeId> {
        let unit = self.program.known(file);
        let closed = unit.language.manifest.modules.closed;
        let mut next = from;
        std::iter::from_fn(move || {
            let scope = next;
            let is_end = closed && unit.is_module(scope);
            next = if is_end { ScopeId::NONE } else { unit.parent(scope) };
            scope.is_some().then_some(scope)
        })
    }

    /// Returns the wildcard imports that apply to a scope, in order.
    pub(super) fn wildcards_at(&self, file: FileId, scope: ScopeId) -> Vec<usize> {
        let unit = self.program.known(file);
        let scopes = self.scopes_of_module(file, scope);
        let all = scopes.flat_map(|scope| unit.wildcards_in(scope));
        let mut found: Vec<usize> = all.filter_map(|(_, import)| import.get()).collect();
        found.sort_unstable();
        found
    }

    /// Returns the stops of a search from a scope of a file; `None` if each name needs a search of
    /// its own.
    pub(super) fn stops_from(
        &mut self,
        file: FileId,
        scope: ScopeId,
        around: Option<ScopePlace>,
    ) -> Option<Rc<[Stop]>> {
        let start = (file, scope, around, self.types_only);
        if let Some(known) = self.wildcards.stops.get(&start) {
            return known.clone();
        }
        let system = self.program.known(file).language.manifest.modules.system;
        if self.wildcards.is_searching || system == ModuleSystem::Includes {
            return None;
        }
        self.wildcards.is_searching = true;
        let mut search = Search::default();
        if let Some(place) = around {
            search.meet(place);
        }
        self.search_from(file, scope, &mut search);
        self.wildcards.is_searching = false;
        if self.budget.is_spent() {
            return None;
        }
        let stops = (!search.is_cut).then(|| Rc::from(search.stops));
        self.wildcards.stops.insert(start, stops.clone());
        stops
    }

    fn search_from(&mut self, file: FileId, scope: ScopeId, search: &mut Search) {
        let targets = self.program.import_targets(file);
        let wildcards = self.wildcards_at(file, scope);
        if !self.budget.take(1 + wildcards.len() / VISITS_PER_STEP) {
            return;
        }
        for import in wildcards {
            let ImportTarget::Path { module, path } = &targets[import] else { continue };
            if path.is_empty() {
                self.stop_at_module(*module, true, search);
                continue;
            }
            let wanted = self.wanted.take();
            let start = self.follow(*module, path, &mut Visited::default());
            self.wanted = wanted;
            match start {
                Some(Entity::Module(module)) => self.stop_at_module(module, false, search),
                Some(Entity::Symbols(symbols)) => {
                    symbols.into_iter().for_each(|symbol| self.stop_at_symbol(symbol, search));
                }
                Some(outside @ Entity::External(_)) => {
                    search.stops.push(Stop::Other(Box::new(outside)));
                }
                Some(Entity::Local(..) | Entity::Builtin(_)) | None => {}
            }
        }
    }

    fn stop_at_module(&mut self, module: Module, is_listed: bool, search: &mut Search) {
        if !search.enter(ScopePlace::Module(module)) {
            return;
        }
        match module {
            Module::Package(package) => search.stops.push(Stop::Package(package)),
            Module::File(file) => {
                let has_folder = self.program.has_folder(module);
                if let Some(unit) = self.program.unit(file) {
                    let is_leaf = unit.wildcards().is_empty() && !has_folder;
                    let marks = unit.marks();
                    search.stops.push(Stop::File { file, is_listed, is_leaf, marks });
                    if !unit.wildcards().is_empty() {
                        self.continue_from(file, ScopeId(0), ScopePlace::Module(module), search);
                    }
                }
                search.stops.extend(has_folder.then_some(Stop::Folder(module)));
            }
        }
        search.depth -= 1;
    }

    /// Continues from a module. After many searches the memoized search from there is joined: not
    /// earlier, because in cycles of modules the order depends on the start of a search.
    fn continue_from(
        &mut self,
        file: FileId,
        scope: ScopeId,
        module: ScopePlace,
        search: &mut Search,
    ) {
        let start = (file, scope, Some(module), self.types_only);
        let is_late = self.wildcards.stops.len() >= MIN_SEARCHES;
        match self.wildcards.stops.get(&start).filter(|_| is_late) {
            Some(Some(known)) => search.join(known),
            Some(None) => search.is_cut = true,
            None => self.search_from(file, scope, search),
        }
    }

    fn stop_at_symbol(&mut self, symbol: SymbolRef, search: &mut Search) {
        let entry = self.program.symbol(symbol);
        if !matches!(entry.kind, SymbolKind::Module | SymbolKind::Namespace) {
            let only = Entity::Symbols(Symbols::from_slice(&[symbol]));
            return search.stops.push(Stop::Other(Box::new(only)));
        }
        // The contents of a namespace in all files are looked up by name.
        search.is_cut |= self.program.space_of_symbol(symbol).is_some();
        if !search.enter(ScopePlace::Inline(symbol)) {
            return;
        }
        search.stops.push(Stop::Inline(symbol));
        if let Some(scope) = self.scope_with_wildcards(symbol.file, entry.inner) {
            self.continue_from(symbol.file, scope, ScopePlace::Inline(symbol), search);
        }
        search.depth -= 1;
    }

    /// Returns the meaning of a name at the first stop that has it.
    pub(super) fn first_of(
        &mut self,
        stops: &[Stop],
        name: Name,
        visited: &mut Visited,
    ) -> Result<Option<Entity>, NotShared> {
        if stops.is_empty() || !self.budget.take(1 + stops.len() / VISITS_PER_STEP) {
            return Ok(None);
        }
        self.program.record_bound(name);
        let mark = mark(name);
        for stop in stops {
            let found = match stop {
                Stop::File { marks, .. } if marks & mark == 0 => continue,
                Stop::File { file, is_listed, is_leaf, .. } => {
                    match self.at_stop(*file, *is_listed, name, visited) {
                        Err(NotShared) if *is_leaf => continue,
                        found => found?,
                    }
                }
                Stop::Inline(symbol) => {
                    let inner = self.program.symbol(*symbol).inner;
                    let place = (inner, u32::MAX, true);
                    match self.in_scope(symbol.file, inner, name, place, false) {
                        Some(_) => {
                            Some(self.symbol_member(*symbol, name, visited).ok_or(NotShared)?)
                        }
                        None => None,
                    }
                }
                Stop::Package(package) => {
                    self.module_member(Module::Package(*package), name, visited)
                }
                Stop::Folder(module) if self.wants_modules() => {
                    self.program.child_module(*module, name).map(Entity::Module)
                }
                Stop::Folder(_) => None,
                Stop::Other(entity) => self.below(entity, name, visited),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Returns the meaning of a name at the top level of a file.
    fn at_stop(
        &mut self,
        file: FileId,
        is_listed: bool,
        name: Name,
        visited: &mut Visited,
    ) -> Result<Option<Entity>, NotShared> {
        let (unit, top, module) = (self.program.known(file), ScopeId(0), Module::File(file));
        let is_bound = !self.program.bound(file, unit, top, name).is_empty();
        if is_bound && is_listed && !self.is_exported_by_list(module, name) {
            return Err(NotShared);
        }
        let place = (top, u32::MAX, true);
        let gives = is_bound && self.in_scope(file, top, name, place, false).is_some();
        if !gives && unit.reexport(name).is_none() {
            return Ok(None);
        }
        self.module_member(module, name, visited).map(Some).ok_or(NotShared)
    }
}
