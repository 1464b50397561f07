//! Modules whose names wildcard imports make visible in a scope, in depth-first order. They are
//! independent of the name, so the search is memoized, and a lookup costs one check of each module
//! rather than of each import between them.

use crate::db::Db;
use crate::db::ty::Entity;
use crate::db::wildcards::{ScopePlace, Stop};
use crate::inference::names::assignments::NameUse;
use crate::inference::names::scopes::imported;
use crate::inference::names::visited::{MAX_CHAIN, Visited};
use crate::inference::names::{bindings, namespaces, variants};
use crate::units::footprint::FileSet;
use crate::units::import_target::{ImportTarget, Module};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use crate::units::unit::mark;
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingKind, ScopeId, flags};
use cograph_model::graph::{FileId, SymbolRef};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Imports, or modules, visited for one step of the budget.
const VISITS_PER_STEP: usize = 32;

/// Minimum number of searches for one file after which searches are joined from memos.
const MIN_SEARCHES: usize = 16;

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

/// Returns the innermost enclosing scope with wildcard imports that apply to a scope.
pub(super) fn scope_with_wildcards(db: &Db, file: FileId, from: ScopeId) -> Option<ScopeId> {
    let unit = db.program.known(file);
    if unit.wildcards().is_empty() {
        return None;
    }
    scopes_of_module(db, file, from).find(|scope| !unit.wildcards_in(*scope).is_empty())
}

/// Returns a scope and its enclosing scopes within the module.
fn scopes_of_module(db: &Db, file: FileId, from: ScopeId) -> impl Iterator<Item = ScopeId> {
    let unit = db.program.known(file);
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
pub(super) fn wildcards_at(db: &Db, file: FileId, scope: ScopeId) -> Vec<usize> {
    let unit = db.program.known(file);
    let scopes = scopes_of_module(db, file, scope);
    let all = scopes.flat_map(|scope| unit.wildcards_in(scope));
    let mut found: Vec<usize> = all.filter_map(|(_, import)| import.get()).collect();
    found.sort_unstable();
    found
}

/// Returns the stops of a search from a scope of a file; `None` if each name needs a search of
/// its own.
pub(super) fn stops_from(
    db: &Db,
    file: FileId,
    scope: ScopeId,
    around: Option<ScopePlace>,
) -> Option<Rc<[Stop]>> {
    let start = (file, scope, around, db.types_only());
    if let Some(known) = db.wildcards.stops.get(&start) {
        return known;
    }
    let rules = &db.program.known(file).language.manifest.modules;
    if db.wildcards.is_searching.get() || rules.pastes_files() {
        return None;
    }
    db.wildcards.is_searching.set(true);
    let mut search = Search::default();
    if let Some(place) = around {
        search.meet(place);
    }
    search_from(db, file, scope, &mut search);
    db.wildcards.is_searching.set(false);
    if db.budget.is_spent() {
        return None;
    }
    let stops = (!search.is_cut).then(|| Rc::from(search.stops));
    db.wildcards.stops.insert(start, stops.clone());
    stops
}

fn search_from(db: &Db, file: FileId, scope: ScopeId, search: &mut Search) {
    let targets = db.program.import_targets(file);
    let wildcards = wildcards_at(db, file, scope);
    if !db.budget.take(1 + wildcards.len() / VISITS_PER_STEP) {
        return;
    }
    for import in wildcards {
        let ImportTarget::Path { path, .. } = &targets[import] else { continue };
        let Some(module) = targets[import].meant(file, import) else { continue };
        if path.is_empty() {
            stop_at_module(db, module, true, search);
            continue;
        }
        let start =
            db.filtered(None, || imported::follow(db, module, path, &mut Visited::default()));
        match start {
            Some(Entity::Module(module)) => stop_at_module(db, module, false, search),
            Some(Entity::Symbols(symbols)) if variants::are_modules(db, &symbols) => {
                search.stops.push(Stop::Other(Box::new(Entity::Symbols(symbols))));
            }
            Some(Entity::Symbols(symbols)) => {
                symbols.into_iter().for_each(|symbol| stop_at_symbol(db, symbol, search));
            }
            Some(other @ (Entity::External(_) | Entity::Variants(_))) => {
                search.stops.push(Stop::Other(Box::new(other)));
            }
            Some(Entity::Local(..) | Entity::Builtin(_)) | None => {}
        }
    }
}

fn stop_at_module(db: &Db, module: Module, is_listed: bool, search: &mut Search) {
    if !search.enter(ScopePlace::Module(module)) {
        return;
    }
    match module {
        Module::Package(package) => search.stops.push(Stop::Package(package)),
        Module::OneOf(..) => search.stops.push(Stop::Other(Box::new(Entity::Module(module)))),
        Module::File(file) => {
            let has_folder = db.program.has_folder(module);
            if let Some(unit) = db.program.unit(file) {
                let is_leaf = unit.wildcards().is_empty() && !has_folder;
                let marks = unit.marks();
                search.stops.push(Stop::File { file, is_listed, is_leaf, marks });
                if !unit.wildcards().is_empty() {
                    continue_from(db, file, ScopeId(0), ScopePlace::Module(module), search);
                }
            }
            search.stops.extend(has_folder.then_some(Stop::Folder(module)));
        }
    }
    search.depth -= 1;
}

/// Continues from a module. After many searches the memoized search from there is joined: not
/// earlier, because in cycles of modules the order depends on the start of a search.
fn continue_from(db: &Db, file: FileId, scope: ScopeId, module: ScopePlace, search: &mut Search) {
    let start = (file, scope, Some(module), db.types_only());
    let is_late = db.wildcards.stops.len() >= MIN_SEARCHES;
    match db.wildcards.stops.get(&start).filter(|_| is_late) {
        Some(Some(known)) => search.join(&known),
        Some(None) => search.is_cut = true,
        None => search_from(db, file, scope, search),
    }
}

fn stop_at_symbol(db: &Db, symbol: SymbolRef, search: &mut Search) {
    let entry = db.program.symbol(symbol);
    if !matches!(entry.kind, SymbolKind::Module | SymbolKind::Namespace) {
        let only = Entity::Symbols(Symbols::from_slice(&[symbol]));
        return search.stops.push(Stop::Other(Box::new(only)));
    }
    // The contents of a namespace in all files are looked up by name.
    search.is_cut |= db.program.space_of_symbol(symbol).is_some();
    if !search.enter(ScopePlace::Inline(symbol)) {
        return;
    }
    search.stops.push(Stop::Inline(symbol));
    if let Some(scope) = scope_with_wildcards(db, symbol.file, entry.inner) {
        continue_from(db, symbol.file, scope, ScopePlace::Inline(symbol), search);
    }
    search.depth -= 1;
}

/// Returns the meaning of a name at the first stop that has it. A module of a library may have any
/// name: what the repository defines comes first.
pub(super) fn first_of(
    db: &Db,
    stops: &[Stop],
    name: Name,
    visited: &mut Visited,
) -> Result<Option<Entity>, NotShared> {
    if stops.is_empty() || !db.budget.take(1 + stops.len() / VISITS_PER_STEP) {
        return Ok(None);
    }
    db.program.record_bound(name);
    let mark = mark(name);
    let mut outside = None;
    for stop in stops {
        let found = match stop {
            Stop::File { marks, .. } if marks & mark == 0 => continue,
            Stop::File { file, is_listed, is_leaf, .. } => {
                match at_stop(db, *file, *is_listed, name, visited) {
                    Err(NotShared) if *is_leaf => continue,
                    found => found?,
                }
            }
            Stop::Inline(symbol) => {
                let inner = db.program.symbol(*symbol).inner;
                let outside = NameUse::outside(inner);
                match bindings::in_scope(db, symbol.file, inner, name, outside, false) {
                    Some(_) => Some(db.symbol_member(*symbol, name, visited).ok_or(NotShared)?),
                    None => None,
                }
            }
            Stop::Package(package) => db.module_member(Module::Package(*package), name, visited),
            Stop::Folder(module) if namespaces::wants_modules(db) => {
                db.program.child_module(*module, name).map(Entity::Module)
            }
            Stop::Folder(_) => None,
            Stop::Other(entity) => db.below(entity, name, visited),
        };
        match found {
            Some(Entity::External(_)) if matches!(stop, Stop::Other(_)) => {
                outside = outside.or(found);
            }
            Some(_) => return Ok(found),
            None => {}
        }
    }
    Ok(outside)
}

/// Returns the meaning of a name at the top level of a file.
fn at_stop(
    db: &Db,
    file: FileId,
    is_listed: bool,
    name: Name,
    visited: &mut Visited,
) -> Result<Option<Entity>, NotShared> {
    let (unit, top, module) = (db.program.known(file), ScopeId(0), Module::File(file));
    let is_bound = !db.program.bound(file, unit, top, name).is_empty();
    if is_bound && is_listed && !is_exported_by_list(db, module, name) {
        return Err(NotShared);
    }
    let outside = NameUse::outside(top);
    let gives = is_bound && bindings::in_scope(db, file, top, name, outside, false).is_some();
    if !gives && unit.reexport(name).is_none() {
        return Ok(None);
    }
    db.module_member(module, name, visited).map(Some).ok_or(NotShared)
}

/// True if a wildcard import of a module includes a name that it binds, in languages with
/// export lists.
pub(super) fn is_exported_by_list(db: &Db, module: Module, name: Name) -> bool {
    let Module::File(file) = module else { return true };
    let Some(unit) =
        db.program.unit(file).filter(|unit| unit.language.manifest.names.export_list.is_some())
    else {
        return true;
    };
    let mut bound = db.program.bindings(file, unit, ScopeId(0), name).peekable();
    bound.peek().is_none()
        || bound.any(|(_, binding)| match binding.kind {
            BindingKind::Symbol => {
                let symbol = SymbolRef { file, symbol: binding.symbol() };
                db.program.symbol(symbol).flags & flags::EXPORTED != 0
            }
            BindingKind::Import => {
                binding.import().get().is_some_and(|import| unit.facts.imports[import].reexport)
            }
            _ => true,
        })
}
