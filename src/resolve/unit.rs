//! One file as resolution sees it: its facts, its names as names of the repository, its bindings in order of scope and name.

use super::Name;
use crate::grammar::Language;
use crate::model::SymbolKind;
use crate::model::facts::{
    Binding, BindingId, BindingKind, Expr, ExprId, FileFacts, HELD_AS, ImportId, LocalSymbol, NameId, ScopeId, ScopeKind, Symbol,
    flags,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// Every name of the repository, with how many files have it. A name keeps its number when the last file that has it goes.
#[derive(Debug, Default)]
pub struct Names {
    ids: FxHashMap<Arc<str>, Name>,
    texts: Vec<Arc<str>>,
    files: Vec<u32>,
}

impl Names {
    /// The name with this text; no file has it until its table is counted in.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(&name) = self.ids.get(text) {
            return name;
        }
        let name = Name(u32::try_from(self.texts.len()).expect("a repository has far fewer than 2^32 names"));
        let text: Arc<str> = Arc::from(text);
        self.ids.insert(Arc::clone(&text), name);
        self.texts.push(text);
        self.files.push(0);
        name
    }

    /// Counts a file's names in; gives those that no file had.
    pub(super) fn add(&mut self, unit: &UnitTable) -> Vec<Name> {
        let mut first = Vec::new();
        for name in &unit.names {
            let files = &mut self.files[name.0 as usize];
            *files += 1;
            if *files == 1 {
                first.push(*name);
            }
        }
        first
    }

    /// Counts a file's names out; gives those that no file has any more.
    pub(super) fn remove(&mut self, unit: &UnitTable) -> Vec<Name> {
        let mut last = Vec::new();
        for name in &unit.names {
            let files = &mut self.files[name.0 as usize];
            *files -= 1;
            if *files == 0 {
                last.push(*name);
            }
        }
        last
    }

    /// The name with this text, if some file has it.
    pub(super) fn get(&self, text: &str) -> Option<Name> {
        self.ids.get(text).copied().filter(|name| self.exists(*name))
    }

    /// Whether some file has the name.
    pub(super) fn exists(&self, name: Name) -> bool {
        self.files[name.0 as usize] > 0
    }

    pub(super) fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

/// One file with facts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit<'a> {
    pub(super) facts: &'a FileFacts,
    pub(super) language: &'static Language,
    pub(super) table: &'a UnitTable,
}

/// What is worked out once about the facts of a file.
#[derive(Debug)]
pub(super) struct UnitTable {
    names: Vec<Name>,
    /// By scope, in order of name and appearance.
    bindings: Vec<(Name, BindingId)>,
    /// Where the bindings of each scope start, and where those of the last one end.
    scope_starts: Vec<u32>,
    /// Imports that are visible to importers without being bound here.
    reexports: Vec<(Name, ImportId)>,
    /// Imports of everything, in order.
    wildcards: Vec<ImportId>,
    /// The callables whose scope each function scope is, where they belong to a type by an expression.
    owners: FxHashMap<ScopeId, ExprId>,
    /// Where closures and objects stand, by their scope.
    contexts: FxHashMap<ScopeId, Context>,
    /// Stands for everything that the resolution of other files may look at.
    pub(super) interface: u64,
}

impl UnitTable {
    /// Works it out. `texts` are the file's names; `interface` is known of a file that was prepared before.
    pub(super) fn of(facts: &FileFacts, texts: Vec<Name>, interface: Option<u64>) -> Self {
        let name_of = |name: NameId| name.get().map(|position| texts[position]);
        let (bindings, scope_starts) = bindings_by_scope(facts, name_of);
        let bound: FxHashSet<ImportId> =
            facts.bindings.iter().map(|binding| binding.import).filter(|import| import.is_some()).collect();
        let mut reexports = Vec::new();
        let mut wildcards = Vec::new();
        for (position, import) in facts.imports.iter().enumerate() {
            let id = ImportId::at(position);
            if import.reexport && !bound.contains(&id) {
                reexports.extend(name_of(import.alias).map(|alias| (alias, id)));
            }
            if matches!(import.kind, crate::model::facts::ImportKind::Wildcard | crate::model::facts::ImportKind::Include) {
                wildcards.push(id);
            }
        }
        reexports.sort_unstable();
        let owners = facts
            .symbols
            .iter()
            .filter(|symbol| symbol.owner.is_some() && symbol.inner.is_some() && !symbol.kind.is_type())
            .map(|symbol| (symbol.inner, symbol.owner))
            .collect();
        let contexts = contexts(facts);
        let interface = interface.unwrap_or_else(|| super::interface::of(facts, &contexts));
        Self { names: texts, bindings, scope_starts, reexports, wildcards, owners, contexts, interface }
    }
}

impl Unit<'_> {
    /// How many symbols there are before the functions at the end of the file, outside of everything, of which others can only
    /// know by names that are `new`.
    pub(super) fn symbols_before(&self, new: &FxHashSet<Name>) -> usize {
        let is_apart = |symbol: &&Symbol| {
            symbol.kind == SymbolKind::Function
                && symbol.scope == ScopeId(0)
                && symbol.container == LocalSymbol::NONE
                && symbol.owner == ExprId::NONE
                && symbol.flags & flags::DEFAULT_EXPORT == 0
                && new.contains(&self.name(symbol.name))
        };
        self.facts.symbols.len() - self.facts.symbols.iter().rev().take_while(is_apart).count()
    }

    /// Stands for what others may look at in the first symbols of the file.
    pub(super) fn interface_of_first(&self, symbols: usize) -> u64 {
        super::interface::of_first(self.facts, symbols, &self.table.contexts)
    }
}

/// The bindings of each scope in order of name and appearance, one scope after the other, and where each scope starts.
fn bindings_by_scope(facts: &FileFacts, name_of: impl Fn(NameId) -> Option<Name>) -> (Vec<(Name, BindingId)>, Vec<u32>) {
    let mut bindings: Vec<(usize, Name, BindingId)> = facts
        .bindings
        .iter()
        .enumerate()
        .filter_map(|(position, binding)| Some((binding.scope.get()?, name_of(binding.name)?, BindingId::at(position))))
        .collect();
    bindings.sort_unstable();
    let mut starts = vec![0; facts.scopes.len() + 1];
    for &(scope, ..) in &bindings {
        starts[scope + 1] += 1;
    }
    let mut end = 0;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    (bindings.into_iter().map(|(_, name, id)| (name, id)).collect(), starts)
}

impl<'a> Unit<'a> {
    /// Where a closure or an object stands, as far as that may say of what type it is.
    pub(super) fn context(&self, scope: ScopeId) -> Option<Context> {
        self.table.contexts.get(&scope).copied()
    }

    /// A name of the file as a name of the repository.
    pub(super) fn name(&self, name: NameId) -> Name {
        name.get().map_or(Name(u32::MAX), |position| self.table.names[position])
    }

    /// The bindings of a name in a scope, in order of appearance.
    pub(super) fn bindings(&self, scope: ScopeId, name: Name) -> impl Iterator<Item = (BindingId, &'a Binding)> + use<'a> {
        let (table, facts) = (self.table, self.facts);
        let starts = scope.get().and_then(|scope| table.scope_starts.get(scope..)).unwrap_or_default();
        let bindings = match starts {
            [start, end, ..] => &table.bindings[*start as usize..*end as usize],
            _ => &[],
        };
        let start = bindings.partition_point(|&(bound, _)| bound < name);
        bindings[start..]
            .iter()
            .take_while(move |&&(bound, _)| bound == name)
            .map(move |&(_, id)| (id, &facts.bindings[id.get().expect("ids of bindings come from the table of bindings")]))
    }

    pub(super) fn binding(&self, id: BindingId) -> &'a Binding {
        &self.facts.bindings[id.get().expect("ids of bindings come from the table of bindings")]
    }

    /// Imports of everything, in order.
    pub(super) fn wildcards(&self) -> &'a [ImportId] {
        &self.table.wildcards
    }

    pub(super) fn reexport(&self, name: Name) -> Option<ImportId> {
        let start = self.table.reexports.partition_point(|&(n, _)| n < name);
        self.table.reexports.get(start).filter(|&&(n, _)| n == name).map(|&(_, id)| id)
    }

    pub(super) fn scope_kind(&self, scope: ScopeId) -> ScopeKind {
        scope.get().map_or(ScopeKind::File, |position| self.facts.scopes[position].kind)
    }

    pub(super) fn parent(&self, scope: ScopeId) -> ScopeId {
        scope.get().map_or(ScopeId::NONE, |position| self.facts.scopes[position].parent)
    }

    pub(super) fn scope_symbol(&self, scope: ScopeId) -> LocalSymbol {
        scope.get().map_or(LocalSymbol::NONE, |position| self.facts.scopes[position].symbol)
    }

    /// The type expression that owns what is defined in a scope: of an extension, or of a member defined outside its type.
    pub(super) fn scope_owner(&self, scope: ScopeId) -> ExprId {
        let Some(position) = scope.get() else { return ExprId::NONE };
        let owner = self.facts.scopes[position].owner;
        if owner.is_some() { owner } else { self.table.owners.get(&scope).copied().unwrap_or(ExprId::NONE) }
    }

    /// The type expression that a member defined outside of its type belongs to, by the member's scope.
    pub(super) fn member_owner(&self, scope: ScopeId) -> ExprId {
        self.table.owners.get(&scope).copied().unwrap_or(ExprId::NONE)
    }

    /// The innermost type around a scope: the scope of its body, or the scope of a member that says whose it is.
    pub(super) fn type_scope(&self, mut scope: ScopeId) -> ScopeId {
        while scope.is_some() {
            let is_type = self.scope_kind(scope) == ScopeKind::Type
                && (self.scope_symbol(scope).is_some() || self.scope_owner(scope).is_some());
            if is_type || self.scope_owner(scope).is_some() {
                return scope;
            }
            scope = self.parent(scope);
        }
        ScopeId::NONE
    }
}

/// The closure that a value is, or the closures of which it is one.
pub(super) fn closures(facts: &FileFacts, value: ExprId) -> SmallVec<[ScopeId; 1]> {
    match value.get().map(|value| facts.exprs[value]) {
        Some(Expr::Lambda(scope)) => smallvec::smallvec![scope],
        Some(Expr::Union(parts)) => facts.lists[parts.range()].iter().flat_map(|part| closures(facts, *part)).collect(),
        _ => SmallVec::new(),
    }
}

/// Where a closure or an object stands, as far as that may say of what type it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Context {
    /// Argument of a call, by its position.
    Argument(ExprId, usize),
    /// Given to something of a declared type.
    Declared(ExprId),
    /// A member of the object with this scope.
    Member(ScopeId, NameId),
}

fn contexts(facts: &FileFacts) -> FxHashMap<ScopeId, Context> {
    let mut contexts = FxHashMap::default();
    let scopes = |value: ExprId| {
        let object = match value.get().map(|value| facts.exprs[value]) {
            Some(Expr::Members(scope)) => Some(scope),
            _ => None,
        };
        closures(facts, value).into_iter().chain(object)
    };
    let in_object = |scope: ScopeId| {
        let Some(scope) = scope.get().map(|position| &facts.scopes[position]) else { return false };
        let of_type = scope.symbol.get().is_some_and(|symbol| facts.symbols[symbol].kind.is_type());
        scope.kind == ScopeKind::Type && !of_type && !scope.owner.is_some()
    };
    for binding in facts.bindings.iter().filter(|binding| binding.name.is_some()) {
        let is_held = binding.kind == BindingKind::Result && binding.ty.is_some();
        if is_held && &*facts.names[binding.name.0 as usize] == HELD_AS {
            contexts.insert(binding.scope, Context::Declared(binding.ty));
        }
        for scope in scopes(binding.value) {
            if binding.ty.is_some() {
                contexts.insert(scope, Context::Declared(binding.ty));
            } else if in_object(binding.scope) {
                contexts.insert(scope, Context::Member(binding.scope, binding.name));
            }
        }
    }
    for symbol in &facts.symbols {
        if symbol.inner.is_some() && symbol.kind.is_callable() && in_object(symbol.scope) {
            contexts.insert(symbol.inner, Context::Member(symbol.scope, symbol.name));
        }
        for value in &facts.lists[symbol.values.range()] {
            for scope in scopes(*value) {
                if symbol.ty.is_some() {
                    contexts.insert(scope, Context::Declared(symbol.ty));
                } else if in_object(symbol.scope) && !symbol.kind.is_callable() {
                    contexts.insert(scope, Context::Member(symbol.scope, symbol.name));
                }
            }
        }
    }
    for (position, expr) in facts.exprs.iter().enumerate() {
        let (Expr::Call(_, args) | Expr::Construct(_, args)) = expr else { continue };
        for (argument, value) in facts.lists[args.range()].iter().enumerate() {
            for scope in scopes(*value) {
                contexts.insert(scope, Context::Argument(ExprId::at(position), argument));
            }
        }
    }
    contexts
}
