//! One file as resolution sees it: its facts, its names as names of the repository, its bindings in
//! order of scope and name.

use super::contexts::{Context, contexts};
use crate::grammar::Language;
use crate::model::facts::{
    Binding, BindingId, ExprId, FileFacts, ImportId, LocalSymbol, NameId, ScopeId, ScopeKind,
    Symbol,
};
use crate::resolve::Name;
use crate::resolve::units::interner::Names;
use crate::resolve::units::scope_bindings::ByScope;
use crate::resolve::units::spaces::Spaces;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// One file with facts.
#[derive(Clone, Copy, Debug)]
pub(in crate::resolve) struct Unit<'a> {
    pub(in crate::resolve) facts: &'a FileFacts,
    pub(in crate::resolve) language: &'static Language,
    pub(in crate::resolve) table: &'a UnitTable,
    pub(in crate::resolve) spaces: &'a Spaces,
    pub(in crate::resolve) texts: &'a Names,
}

/// How many scopes and bindings of a file a table tells of, from the first on.
#[derive(Clone, Copy, Debug)]
pub(in crate::resolve) struct First {
    pub(in crate::resolve) scopes: usize,
    pub(in crate::resolve) bindings: usize,
}

/// What is worked out once about the facts of a file.
#[derive(Debug)]
pub(in crate::resolve) struct UnitTable {
    pub(in crate::resolve) names: Arc<[Name]>,
    bindings: ByScope<Name>,
    /// Imports that are visible to importers without being bound here.
    reexports: Vec<(Name, ImportId)>,
    /// Imports of everything with the scopes that they are in, sorted.
    wildcards: Vec<(ScopeId, ImportId)>,
    /// Marks of the names that others may find at the top of the file, all in one.
    marks: u64,
    /// The callables whose scope each function scope is, where they belong to a type by an
    /// expression.
    owners: FxHashMap<ScopeId, ExprId>,
    /// Where closures and objects stand, by their scope.
    contexts: FxHashMap<ScopeId, Context>,
    /// Stands for everything that the resolution of other files may look at.
    pub(in crate::resolve) interface: u64,
}

impl UnitTable {
    /// Works it out. `names` are those of the file; `interface` is known of a file that was
    /// prepared before.
    pub(in crate::resolve) fn of(
        facts: &FileFacts,
        names: Arc<[Name]>,
        interface: Option<u64>,
    ) -> Self {
        Self::of_first(
            facts,
            names,
            interface,
            First { scopes: facts.scopes.len(), bindings: facts.bindings.len() },
        )
    }

    /// The same with the bindings of the first scopes alone.
    pub(in crate::resolve) fn of_first(
        facts: &FileFacts,
        names: Arc<[Name]>,
        interface: Option<u64>,
        first: First,
    ) -> Self {
        let name_of = |name: NameId| name.get().map(|position| names[position]);
        let bindings = ByScope::of(facts, first.scopes, first.bindings, |id| {
            let binding = &facts.bindings[id.0 as usize];
            binding
                .scope
                .get()
                .filter(|&scope| scope < first.scopes)
                .and_then(|_| name_of(binding.name))
        });
        let bound: FxHashSet<ImportId> = facts
            .bindings
            .iter()
            .map(|binding| binding.import)
            .filter(|import| import.is_some())
            .collect();
        let mut reexports = Vec::new();
        let mut wildcards = Vec::new();
        for (position, import) in facts.imports.iter().enumerate() {
            let id = ImportId::at(position);
            if import.reexport && !bound.contains(&id) {
                reexports.extend(name_of(import.alias).map(|alias| (alias, id)));
            }
            if matches!(
                import.kind,
                crate::model::facts::ImportKind::Wildcard
                    | crate::model::facts::ImportKind::Include
            ) {
                wildcards.push((import.scope, id));
            }
        }
        reexports.sort_unstable();
        wildcards.sort_unstable();
        let owners = facts
            .symbols
            .iter()
            .filter(|symbol| {
                symbol.owner.is_some() && symbol.inner.is_some() && !symbol.kind.is_type()
            })
            .map(|symbol| (symbol.inner, symbol.owner))
            .collect();
        let contexts = contexts(facts);
        let interface = interface
            .unwrap_or_else(|| crate::resolve::units::interface_hash::of(facts, &contexts));
        let at_top = bindings.of_scope(ScopeId(0)).iter().map(|&(name, _)| name);
        let marks = at_top.chain(reexports.iter().map(|&(name, _)| name)).map(mark);
        let marks = marks.fold(0, |all, mark| all | mark);
        Self { names, bindings, reexports, wildcards, marks, owners, contexts, interface }
    }

    /// Leaves what is said of closures and members in the first scopes, with the first expressions,
    /// alone.
    pub(in crate::resolve) fn truncate(&mut self, scopes: usize, exprs: usize) {
        let is_left = |position: Option<usize>, count: usize| {
            position.is_some_and(|position| position < count)
        };
        self.owners
            .retain(|scope, owner| is_left(scope.get(), scopes) && is_left(owner.get(), exprs));
        self.owners.shrink_to_fit();
        self.contexts.retain(|scope, context| {
            let is_known = match context {
                Context::Argument(expr, _) | Context::Declared(expr) => is_left(expr.get(), exprs),
                Context::Member(object, _) => is_left(object.get(), scopes),
            };
            is_left(scope.get(), scopes) && is_known
        });
        self.contexts.shrink_to_fit();
        self.reexports.shrink_to_fit();
        self.wildcards.shrink_to_fit();
    }
}

/// One bit of 64 for a name. A file that has no name with the bit does not have the name.
pub(in crate::resolve) fn mark(name: Name) -> u64 {
    1 << (name.0.wrapping_mul(0x9e37_79b9) >> 26)
}

impl<'a> Unit<'a> {
    /// Where a closure or an object stands, as far as that may say of what type it is.
    pub(in crate::resolve) fn context(&self, scope: ScopeId) -> Option<Context> {
        self.table.contexts.get(&scope).copied()
    }

    /// A name of the file as a name of the repository.
    pub(in crate::resolve) fn name(&self, name: NameId) -> Name {
        name.get().map_or(Name(u32::MAX), |position| self.table.names[position])
    }

    /// The text of a name of the file; empty for what has none.
    pub(in crate::resolve) fn text(&self, name: NameId) -> &'a str {
        name.get().map_or("", |position| self.texts.text(self.table.names[position]))
    }

    /// All bindings of a scope, with their names, in the order of these.
    pub(in crate::resolve) fn all_bound(&self, scope: ScopeId) -> &'a [(Name, BindingId)] {
        self.table.bindings.of_scope(scope)
    }

    /// The bindings of a name in a scope, in order of appearance, as they are in the table.
    pub(in crate::resolve) fn bound(&self, scope: ScopeId, name: Name) -> &'a [(Name, BindingId)] {
        self.table.bindings.of_name(scope, name)
    }

    /// The bindings of a name in a scope, in order of appearance.
    pub(in crate::resolve) fn bindings(
        &self,
        scope: ScopeId,
        name: Name,
    ) -> impl Iterator<Item = (BindingId, &'a Binding)> + use<'a> {
        let facts = self.facts;
        self.bound(scope, name).iter().map(move |&(_, id)| {
            (
                id,
                &facts.bindings[id.get().expect("ids of bindings come from the table of bindings")],
            )
        })
    }

    pub(in crate::resolve) fn symbol(&self, symbol: LocalSymbol) -> &'a Symbol {
        &self.facts.symbols[symbol.get().expect("a SymbolRef always names a symbol")]
    }

    pub(in crate::resolve) fn binding(&self, id: BindingId) -> &'a Binding {
        &self.facts.bindings[id.get().expect("ids of bindings come from the table of bindings")]
    }

    /// Imports of everything with the scopes that they are in, by scope and in order.
    pub(in crate::resolve) fn wildcards(&self) -> &'a [(ScopeId, ImportId)] {
        &self.table.wildcards
    }

    /// Imports of everything in one scope, in order.
    pub(in crate::resolve) fn wildcards_in(&self, scope: ScopeId) -> &'a [(ScopeId, ImportId)] {
        let from = self.table.wildcards.partition_point(|&(of, _)| of < scope);
        let (_, rest) = self.table.wildcards.split_at(from);
        &rest[..rest.partition_point(|&(of, _)| of == scope)]
    }

    /// The marks of the names that the top of the file binds or hands on.
    pub(in crate::resolve) fn marks(&self) -> u64 {
        self.table.marks
    }

    pub(in crate::resolve) fn reexport(&self, name: Name) -> Option<ImportId> {
        let start = self.table.reexports.partition_point(|&(n, _)| n < name);
        self.table.reexports.get(start).filter(|&&(n, _)| n == name).map(|&(_, id)| id)
    }

    pub(in crate::resolve) fn scope_kind(&self, scope: ScopeId) -> ScopeKind {
        scope.get().map_or(ScopeKind::File, |position| self.facts.scopes[position].kind)
    }

    pub(in crate::resolve) fn is_module(&self, scope: ScopeId) -> bool {
        scope.is_some() && self.scope_kind(scope) == ScopeKind::Module
    }

    pub(in crate::resolve) fn parent(&self, scope: ScopeId) -> ScopeId {
        scope.get().map_or(ScopeId::NONE, |position| self.facts.scopes[position].parent)
    }

    pub(in crate::resolve) fn scope_symbol(&self, scope: ScopeId) -> LocalSymbol {
        scope.get().map_or(LocalSymbol::NONE, |position| self.facts.scopes[position].symbol)
    }

    /// The type expression that owns what is defined in a scope: of an extension, or of a member
    /// defined outside its type.
    pub(in crate::resolve) fn scope_owner(&self, scope: ScopeId) -> ExprId {
        let Some(position) = scope.get() else { return ExprId::NONE };
        let owner = self.facts.scopes[position].owner;
        if owner.is_some() {
            owner
        } else {
            self.table.owners.get(&scope).copied().unwrap_or(ExprId::NONE)
        }
    }

    /// The type expression that a member defined outside of its type belongs to, by the member's
    /// scope.
    pub(in crate::resolve) fn member_owner(&self, scope: ScopeId) -> ExprId {
        self.table.owners.get(&scope).copied().unwrap_or(ExprId::NONE)
    }

    /// The innermost type around a scope: the scope of its body, or the scope of a member that says
    /// whose it is.
    pub(in crate::resolve) fn type_scope(&self, mut scope: ScopeId) -> ScopeId {
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
