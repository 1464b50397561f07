//! One file as resolution sees it: its facts, its names as names of the repository, its bindings in order of scope and name.

use super::Name;
use crate::grammar::{self, Language};
use crate::model::facts::{Binding, BindingId, Expr, ExprId, FileFacts, ImportId, LocalSymbol, NameId, ScopeId, ScopeKind};
use crate::model::graph::FileRecord;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Every name of the repository.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    ids: FxHashMap<&'a str, Name>,
    texts: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn intern(&mut self, text: &'a str) -> Name {
        *self.ids.entry(text).or_insert_with(|| {
            self.texts.push(text);
            Name(u32::try_from(self.texts.len() - 1).expect("a repository has far fewer than 2^32 names"))
        })
    }

    pub(super) fn get(&self, text: &str) -> Option<Name> {
        self.ids.get(text).copied()
    }

    pub(super) fn text(&self, name: Name) -> &'a str {
        self.texts[name.0 as usize]
    }
}

/// One file with facts.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    pub(super) facts: &'a FileFacts,
    pub(super) language: &'static Language,
    names: Vec<Name>,
    bindings: Vec<(ScopeId, Name, BindingId)>,
    /// Imports that are visible to importers without being bound here.
    reexports: Vec<(Name, ImportId)>,
    /// Imports of everything, in order.
    pub(super) wildcards: Vec<ImportId>,
    /// The callables whose scope each function scope is, where they belong to a type by an expression.
    owners: FxHashMap<ScopeId, ExprId>,
    /// The calls that closures are arguments of, by the closure's scope, with the argument's position.
    calls: FxHashMap<ScopeId, (ExprId, usize)>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(file: &'a FileRecord, names: &mut Names<'a>) -> Option<Self> {
        let facts = file.content.as_ref().ok()?;
        let language = grammar::language(file.language?);
        let texts: Vec<Name> = facts.names.iter().map(|text| names.intern(text)).collect();
        let name_of = |name: NameId| name.get().map(|position| texts[position]);
        let mut bindings: Vec<(ScopeId, Name, BindingId)> = facts
            .bindings
            .iter()
            .enumerate()
            .filter_map(|(position, binding)| Some((binding.scope, name_of(binding.name)?, BindingId::at(position))))
            .collect();
        bindings.sort_unstable();
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
        let calls = calls_with_closures(facts);
        Some(Self { facts, language, names: texts, bindings, reexports, wildcards, owners, calls })
    }

    /// The call that a closure is an argument of, and which one.
    pub(super) fn call_with(&self, closure: ScopeId) -> Option<(ExprId, usize)> {
        self.calls.get(&closure).copied()
    }

    /// A name of the file as a name of the repository.
    pub(super) fn name(&self, name: NameId) -> Name {
        name.get().map_or(Name(u32::MAX), |position| self.names[position])
    }

    /// The bindings of a name in a scope, in order of appearance.
    pub(super) fn bindings(&self, scope: ScopeId, name: Name) -> impl Iterator<Item = (BindingId, &'a Binding)> + '_ {
        let start = self.bindings.partition_point(|&(s, n, _)| (s, n) < (scope, name));
        self.bindings[start..]
            .iter()
            .take_while(move |&&(s, n, _)| (s, n) == (scope, name))
            .map(|&(_, _, id)| (id, self.binding(id)))
    }

    pub(super) fn binding(&self, id: BindingId) -> &'a Binding {
        &self.facts.bindings[id.get().expect("ids of bindings come from the table of bindings")]
    }

    pub(super) fn reexport(&self, name: Name) -> Option<ImportId> {
        let start = self.reexports.partition_point(|&(n, _)| n < name);
        self.reexports.get(start).filter(|&&(n, _)| n == name).map(|&(_, id)| id)
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
        if owner.is_some() { owner } else { self.owners.get(&scope).copied().unwrap_or(ExprId::NONE) }
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

fn calls_with_closures(facts: &FileFacts) -> FxHashMap<ScopeId, (ExprId, usize)> {
    let mut calls = FxHashMap::default();
    for (position, expr) in facts.exprs.iter().enumerate() {
        let (Expr::Call(_, args) | Expr::Construct(_, args)) = expr else { continue };
        for (argument, value) in facts.lists[args.range()].iter().enumerate() {
            for scope in closures(facts, *value) {
                calls.insert(scope, (ExprId::at(position), argument));
            }
        }
    }
    calls
}
