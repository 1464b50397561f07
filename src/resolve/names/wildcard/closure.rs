//! The modules whose names wildcard imports make visible at a place, in the order in which a
//! depth-first search meets them. They are the same for every name, so that the search is a memo,
//! and a name costs a look at each module rather than at each import between them.

use crate::grammar::ModuleSystem;
use crate::model::SymbolKind;
use crate::model::facts::ScopeId;
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::names::scopes::{CHAIN, ScopePlace, Visited};
use crate::resolve::types::ty::Entity;
use crate::resolve::units::footprint::FileSet;
use crate::resolve::units::import_target::{ImportTarget, Module};
use crate::resolve::units::unit::mark;
use crate::resolve::{Name, Resolver, Symbols};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// So many imports, or modules, are looked at in one step of the budget.
const A_STEP: usize = 32;

/// After so many searches for one file, others go on where these went.
const MANY_SEARCHES: usize = 16;

/// Where a search starts: the scope whose wildcards it follows, the module around if that was
/// searched already, and whether values are passed over.
type Start = (FileId, ScopeId, Option<ScopePlace>, bool);

/// Memos of one resolver.
#[derive(Default, Debug)]
pub(in crate::resolve) struct Wildcards {
    /// Nothing for a place from which every name has a way of its own.
    stops: FxHashMap<Start, Option<Rc<[Stop]>>>,
    /// Whether a search is under way: one inside of it would have no end.
    is_searching: bool,
    /// The import of everything from outside that may have a callable, or anything else, that a
    /// file declares nowhere; nothing inside if there are several.
    pub(super) outside: FxHashMap<(FileId, bool), Option<Option<usize>>>,
}

impl Wildcards {
    /// Goes on with another file. What is found for one does not depend on those before it.
    pub(in crate::resolve) fn begin(&mut self) {
        self.stops.clear();
    }
}

/// Where a search stops to ask for a name.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// The top of a file.
    File {
        file: FileId,
        /// Whether it was reached by an import that a list of exports restricts.
        is_listed: bool,
        /// Whether the search does not go on from it.
        is_leaf: bool,
        marks: u64,
    },
    Package(u32),
    /// A module written inside a file.
    Inline(SymbolRef),
    /// The folder of a module: after everything that the module makes visible.
    Folder(Module),
    /// What is no module.
    Other(Box<Entity>),
}

/// A module has a name and does not give it: the search goes on elsewhere than for other names.
pub(super) struct OwnWay;

/// A search.
#[derive(Default)]
struct Search {
    stops: Vec<Stop>,
    files: FileSet,
    others: FxHashSet<ScopePlace>,
    depth: usize,
    /// Whether it has met something that is not known for all names at once.
    is_cut: bool,
}

impl Search {
    /// Enters a place; false if it was there, or is at the end of a chain.
    fn enter(&mut self, place: ScopePlace) -> bool {
        let enters = self.depth < CHAIN && self.meet(place);
        self.depth += usize::from(enters);
        enters
    }

    /// Notes a place; false if it was noted already.
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

    /// Goes where another search went, as far as it is new.
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
    /// The innermost scope around a scope with wildcards that hold in it.
    pub(super) fn scope_with_wildcards(&self, file: FileId, from: ScopeId) -> Option<ScopeId> {
        let unit = self.program.known(file);
        if unit.wildcards().is_empty() {
            return None;
        }
        self.scopes_of_module(file, from).find(|scope| !unit.wildcards_in(*scope).is_empty())
    }

    /// A scope and those around it, as far as the module goes that they are in.
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

    /// The wildcards that hold in a scope, in order.
    pub(super) fn wildcards_at(&self, file: FileId, scope: ScopeId) -> Vec<usize> {
        let unit = self.program.known(file);
        let scopes = self.scopes_of_module(file, scope);
        let all = scopes.flat_map(|scope| unit.wildcards_in(scope));
        let mut found: Vec<usize> = all.filter_map(|(_, import)| import.get()).collect();
        found.sort_unstable();
        found
    }

    /// The stops of a search from a scope of a file; none if each name has a way of its own.
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
        if !self.budget.take(1 + wildcards.len() / A_STEP) {
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
                        self.go_on(file, ScopeId(0), ScopePlace::Module(module), search);
                    }
                }
                search.stops.extend(has_folder.then_some(Stop::Folder(module)));
            }
        }
        search.depth -= 1;
    }

    /// Goes on from a module. After many searches it is joined what one from there has found: not
    /// before, because in circles of modules the order depends on where a search starts.
    fn go_on(&mut self, file: FileId, scope: ScopeId, module: ScopePlace, search: &mut Search) {
        let start = (file, scope, Some(module), self.types_only);
        let is_late = self.wildcards.stops.len() >= MANY_SEARCHES;
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
        // What a namespace has in all files is looked up by the name.
        search.is_cut |= self.program.space_of_symbol(symbol).is_some();
        if !search.enter(ScopePlace::Inline(symbol)) {
            return;
        }
        search.stops.push(Stop::Inline(symbol));
        if let Some(scope) = self.scope_with_wildcards(symbol.file, entry.inner) {
            self.go_on(symbol.file, scope, ScopePlace::Inline(symbol), search);
        }
        search.depth -= 1;
    }

    /// What the first stop that has a name gives for it.
    pub(super) fn first_of(
        &mut self,
        stops: &[Stop],
        name: Name,
        visited: &mut Visited,
    ) -> Result<Option<Entity>, OwnWay> {
        if stops.is_empty() || !self.budget.take(1 + stops.len() / A_STEP) {
            return Ok(None);
        }
        self.program.asks_for_bound(name);
        let mark = mark(name);
        for stop in stops {
            let found = match stop {
                Stop::File { marks, .. } if marks & mark == 0 => continue,
                Stop::File { file, is_listed, is_leaf, .. } => {
                    match self.at_stop(*file, *is_listed, name, visited) {
                        Err(OwnWay) if *is_leaf => continue,
                        found => found?,
                    }
                }
                Stop::Inline(symbol) => {
                    let inner = self.program.symbol(*symbol).inner;
                    let place = (inner, u32::MAX, true);
                    match self.in_scope(symbol.file, inner, name, place, false) {
                        Some(_) => Some(self.symbol_member(*symbol, name, visited).ok_or(OwnWay)?),
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

    /// What a file gives for a name that its top may have.
    fn at_stop(
        &mut self,
        file: FileId,
        is_listed: bool,
        name: Name,
        visited: &mut Visited,
    ) -> Result<Option<Entity>, OwnWay> {
        let (unit, top, module) = (self.program.known(file), ScopeId(0), Module::File(file));
        let is_bound = !self.program.bound(file, unit, top, name).is_empty();
        if is_bound && is_listed && !self.is_offered(module, name) {
            return Err(OwnWay);
        }
        let place = (top, u32::MAX, true);
        let gives = is_bound && self.in_scope(file, top, name, place, false).is_some();
        if !gives && unit.reexport(name).is_none() {
            return Ok(None);
        }
        self.module_member(module, name, visited).map(Some).ok_or(OwnWay)
    }
}
