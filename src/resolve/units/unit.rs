//! One file as seen by name resolution: facts, interned names, bindings sorted by scope and name.

use super::contexts::{Context, contexts};
use crate::units::interner::Name;
use crate::units::interner::Names;
use crate::units::scope_bindings::ByScope;
use crate::units::spaces::Spaces;
use cograph_grammar::Language;
use cograph_model::facts::{
    Binding, BindingId, Clauses, Contextual, Expr, ExprId, FileFacts, ImportId, LocalSymbol,
    NameId, ScopeId, ScopeKind, Symbol,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// File with facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit<'a> {
    pub(crate) facts: &'a FileFacts,
    pub(crate) language: &'static Language,
    pub(crate) table: &'a UnitTable,
    pub(crate) spaces: &'a Spaces,
    pub(crate) texts: &'a Names,
}

/// Number of scopes and bindings covered by a table, from the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub(crate) scopes: usize,
    pub(crate) bindings: usize,
}

/// Tables computed once from the facts of a file.
#[derive(Debug)]
pub(crate) struct UnitTable {
    pub(crate) names: Arc<[Name]>,
    bindings: ByScope,
    /// Re-exports: imports visible to importers without a local binding.
    reexports: Vec<(Name, ImportId)>,
    /// Wildcard imports with their scopes, sorted.
    wildcards: Vec<(ScopeId, ImportId)>,
    /// Bloom filter of the names that other files can find at the top level.
    marks: u64,
    /// What few files have.
    of_scopes: Option<Box<OfScopes>>,
    /// Interface hash.
    pub(crate) interface: u64,
}

/// What is known of some scopes of a file.
#[derive(Debug, Default)]
struct OfScopes {
    /// Owner expressions of member functions defined outside of their type, by function scope.
    owners: FxHashMap<ScopeId, ExprId>,
    /// Contexts of closures and objects, by their scope.
    contexts: FxHashMap<ScopeId, (Context, u32)>,
}

impl OfScopes {
    fn kept(self) -> Option<Box<Self>> {
        (!self.owners.is_empty() || !self.contexts.is_empty()).then(|| Box::new(self))
    }
}

impl UnitTable {
    /// Computes the tables. `names` are those of the file; `interface` is known for a partitioned
    /// file.
    pub(crate) fn of(facts: &FileFacts, names: Arc<[Name]>, interface: Option<u64>) -> Self {
        Self::of_first(
            facts,
            names,
            interface,
            First { scopes: facts.scopes.len(), bindings: facts.bindings.len() },
        )
    }

    /// Computes the tables with the bindings of the first scopes only.
    pub(crate) fn of_first(
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
            .map(|binding| binding.import())
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
                cograph_model::facts::ImportKind::Wildcard
                    | cograph_model::facts::ImportKind::Include
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
                // The body of a type that is defined in another is its own.
                let inner = symbol.inner.get().map(|inner| facts.scopes[inner].kind);
                facts.clauses_of(symbol).owner.is_some()
                    && inner.is_some_and(|kind| kind != ScopeKind::Type)
            })
            .map(|symbol| (symbol.inner, facts.clauses_of(symbol).owner))
            .collect();
        let contexts = contexts(facts);
        let interface =
            interface.unwrap_or_else(|| crate::units::interface_hash::of(facts, &contexts));
        let name_of_bound = |id: &BindingId| name_of(facts.bindings[id.0 as usize].name);
        let at_top = bindings.of_scope(ScopeId(0)).iter().filter_map(name_of_bound);
        let marks = at_top.chain(reexports.iter().map(|&(name, _)| name)).map(mark);
        let marks = marks.fold(0, |all, mark| all | mark);
        let of_scopes = OfScopes { owners, contexts }.kept();
        Self { names, bindings, reexports, wildcards, marks, of_scopes, interface }
    }

    /// Drops contexts and owners beyond the first scopes and expressions.
    pub(crate) fn truncate(&mut self, scopes: usize, exprs: usize) {
        let is_left = |position: Option<usize>, count: usize| {
            position.is_some_and(|position| position < count)
        };
        let mut of_scopes = self.of_scopes.take().map(|known| *known).unwrap_or_default();
        of_scopes
            .owners
            .retain(|scope, owner| is_left(scope.get(), scopes) && is_left(owner.get(), exprs));
        of_scopes.owners.shrink_to_fit();
        of_scopes.contexts.retain(|scope, (context, _)| {
            let is_known = match context {
                Context::Argument(expr, _) | Context::Declared(expr) => is_left(expr.get(), exprs),
                Context::Member(of, _) | Context::Result(of) => is_left(of.get(), scopes),
            };
            is_left(scope.get(), scopes) && is_known
        });
        of_scopes.contexts.shrink_to_fit();
        self.of_scopes = of_scopes.kept();
        self.reexports.shrink_to_fit();
        self.wildcards.shrink_to_fit();
    }
}

/// Filter bit of a name, one of 64. A file without the bit does not have the name.
pub(crate) fn mark(name: Name) -> u64 {
    1 << (name.0.wrapping_mul(0x9e37_79b9) >> 26)
}

impl<'a> Unit<'a> {
    /// Returns the context of a closure or an object that may determine its type, with the number
    /// of lists around the object.
    pub(crate) fn context(&self, scope: ScopeId) -> Option<(Context, u32)> {
        self.table.of_scopes.as_ref()?.contexts.get(&scope).copied()
    }

    /// Returns the interned name of a name of the file.
    pub(crate) fn name(&self, name: NameId) -> Name {
        name.get().map_or(Name(u32::MAX), |position| self.table.names[position])
    }

    /// Returns the text of a name of the file; empty if it has none.
    pub(crate) fn text(&self, name: NameId) -> &'a str {
        name.get().map_or("", |position| self.texts.text(self.table.names[position]))
    }

    /// Returns all bindings of a scope, sorted by name.
    pub(crate) fn all_bound(&self, scope: ScopeId) -> &'a [BindingId] {
        self.table.bindings.of_scope(scope)
    }

    /// Returns the bindings of a name in a scope, in order of appearance, as stored in the table.
    pub(crate) fn bound(&self, scope: ScopeId, name: Name) -> &'a [BindingId] {
        // The table has only bindings with a name.
        let (bindings, names) = (&*self.facts.bindings, &*self.table.names);
        let name_of = |id: BindingId| names[bindings[id.0 as usize].name.0 as usize];
        self.table.bindings.of_name(scope, name, name_of)
    }

    /// Returns the bindings of a name in a scope, in order of appearance.
    pub(crate) fn bindings(
        &self,
        scope: ScopeId,
        name: Name,
    ) -> impl Iterator<Item = (BindingId, &'a Binding)> + use<'a> {
        let unit = *self;
        self.bound(scope, name).iter().map(move |&id| (id, unit.binding(id)))
    }

    pub(crate) fn symbol(&self, symbol: LocalSymbol) -> &'a Symbol {
        &self.facts.symbols[symbol.get().expect("a SymbolRef always names a symbol")]
    }

    pub(crate) fn clauses(&self, symbol: LocalSymbol) -> &'a Clauses {
        self.facts.clauses_of(self.symbol(symbol))
    }

    pub(crate) fn binding(&self, id: BindingId) -> &'a Binding {
        &self.facts.bindings[id.get().expect("ids of bindings come from the table of bindings")]
    }

    /// Returns the wildcard imports with their scopes, sorted.
    pub(crate) fn wildcards(&self) -> &'a [(ScopeId, ImportId)] {
        &self.table.wildcards
    }

    /// Returns the wildcard imports of one scope, in order.
    pub(crate) fn wildcards_in(&self, scope: ScopeId) -> &'a [(ScopeId, ImportId)] {
        let from = self.table.wildcards.partition_point(|&(of, _)| of < scope);
        let (_, rest) = self.table.wildcards.split_at(from);
        &rest[..rest.partition_point(|&(of, _)| of == scope)]
    }

    /// Filter bits of the names that the top level of the file binds or re-exports.
    pub(crate) fn marks(&self) -> u64 {
        self.table.marks
    }

    pub(crate) fn reexport(&self, name: Name) -> Option<ImportId> {
        let start = self.table.reexports.partition_point(|&(n, _)| n < name);
        self.table.reexports.get(start).filter(|&&(n, _)| n == name).map(|&(_, id)| id)
    }

    pub(crate) fn scope_kind(&self, scope: ScopeId) -> ScopeKind {
        scope.get().map_or(ScopeKind::File, |position| self.facts.scopes[position].kind)
    }

    pub(crate) fn is_module(&self, scope: ScopeId) -> bool {
        scope.is_some() && self.scope_kind(scope) == ScopeKind::Module
    }

    pub(crate) fn parent(&self, scope: ScopeId) -> ScopeId {
        scope.get().map_or(ScopeId::NONE, |position| self.facts.scopes[position].parent)
    }

    /// Returns the inline modules around a scope, outermost first.
    pub(crate) fn inline_modules(&self, scope: ScopeId) -> Vec<LocalSymbol> {
        let mut found = Vec::new();
        let mut current = scope;
        while current.is_some() {
            if self.scope_kind(current) == ScopeKind::Module {
                found.push(self.scope_symbol(current));
            }
            current = self.parent(current);
        }
        found.reverse();
        found
    }

    pub(crate) fn scope_symbol(&self, scope: ScopeId) -> LocalSymbol {
        scope.get().map_or(LocalSymbol::NONE, |position| self.facts.scopes[position].symbol)
    }

    /// Returns the type expression that owns the definitions in a scope: of an extension, or of a
    /// member defined outside its type.
    pub(crate) fn scope_owner(&self, scope: ScopeId) -> ExprId {
        let Some(position) = scope.get() else { return ExprId::NONE };
        let owner = self.facts.scopes[position].owner;
        if owner.is_some() { owner } else { self.member_owner(scope) }
    }

    /// Returns the type expression that owns a member defined outside of its type, by the member's
    /// scope.
    pub(crate) fn member_owner(&self, scope: ScopeId) -> ExprId {
        let owners = self.table.of_scopes.as_ref().map(|known| &known.owners);
        owners.and_then(|owners| owners.get(&scope)).copied().unwrap_or(ExprId::NONE)
    }

    /// Returns the scope of the members of an object or type without a name, if that is the
    /// innermost one around a scope that has members.
    pub(crate) fn unnamed_object(&self, mut scope: ScopeId) -> Option<ScopeId> {
        while scope.is_some() && !self.scope_owner(scope).is_some() {
            if self.scope_kind(scope) == ScopeKind::Type {
                return (!self.scope_symbol(scope).is_some()).then_some(scope);
            }
            scope = self.parent(scope);
        }
        None
    }

    /// True for the body of a type without a name, which has a base: its members have no owner, as
    /// those of an extension do.
    pub(crate) fn is_unnamed_type(&self, scope: ScopeId) -> bool {
        let is_own = |id: &BindingId| {
            let symbol = self.binding(*id).symbol();
            symbol.is_some() && !self.clauses(symbol).owner.is_some()
        };
        self.scope_kind(scope) == ScopeKind::Type
            && !self.scope_symbol(scope).is_some()
            && self.scope_owner(scope).is_some()
            && self.all_bound(scope).iter().any(is_own)
    }

    /// Returns the receiver that the call of a closure may give it.
    pub(crate) fn given_receiver(&self, scope: ScopeId) -> Option<ExprId> {
        let owner = self.facts.scopes[scope.get()?].owner;
        matches!(self.facts.exprs[owner.get()?], Expr::Given(_, Contextual::Receiver))
            .then_some(owner)
    }

    /// Returns the innermost type scope around a scope: of a type's body, or of a member with an
    /// owner.
    pub(crate) fn type_scope(&self, mut scope: ScopeId) -> ScopeId {
        while scope.is_some() {
            let owner = self.scope_owner(scope);
            let is_type = self.scope_kind(scope) == ScopeKind::Type
                && (self.scope_symbol(scope).is_some() || owner.is_some());
            if (is_type || owner.is_some()) && self.given_receiver(scope).is_none() {
                return scope;
            }
            scope = self.parent(scope);
        }
        ScopeId::NONE
    }
}
