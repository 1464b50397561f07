//! Builder of facts: interns names, appends expressions, scopes, bindings and sites. Independent of
//! syntax.

use cograph_model::facts::{
    Binding, BindingId, BindingKind, Clauses, ClausesId, Details, Expr, ExprId, FileFacts, Import,
    ImportId, LocalSymbol, NameId, Run, Scope, ScopeId, ScopeKind, Site, SiteId, Symbol, Synthetic,
};
use cograph_model::{Problem, ProblemKind};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// Facts under construction.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) facts: FileFacts,
    /// Sites in order of creation; packed into the facts at the end.
    pub(crate) sites: Vec<Site>,
    /// Values of builtin types.
    literals: FxHashMap<NameId, ExprId>,
    /// First byte of the current node.
    pub(crate) at: u32,
    /// Ends of the headers of symbols with a body, in order of creation. No part of the facts.
    pub(crate) headers: Vec<(LocalSymbol, u32)>,
    /// Interned names; their texts are in the facts.
    name_ids: HashTable<NameId>,
    /// Values of symbols in order of creation; grouped into runs of `lists` at the end.
    values: Vec<(LocalSymbol, ExprId)>,
    bases: Vec<(LocalSymbol, ExprId)>,
    /// First binding of a name in a scope.
    bound: FxHashMap<(ScopeId, NameId), BindingId>,
    /// Last type that a test gives a name of a scope.
    narrowed: FxHashMap<(ScopeId, NameId), ExprId>,
}

/// Typical number of source bytes for each expression, each site, and each name and binding: used
/// to reserve capacity.
const BYTES_PER_EXPRESSION: usize = 24;
const BYTES_PER_SITE: usize = 40;
const BYTES_PER_NAME: usize = 100;

impl Builder {
    /// Creates a builder for a source of this length.
    pub(crate) fn for_source(bytes: usize) -> Self {
        let mut builder = Self::default();
        builder.facts.exprs.reserve(bytes / BYTES_PER_EXPRESSION);
        builder.facts.positions.reserve(bytes / BYTES_PER_EXPRESSION);
        builder.sites.reserve(bytes / BYTES_PER_SITE);
        builder.name_ids = HashTable::with_capacity(bytes / BYTES_PER_NAME);
        builder.bound.reserve(bytes / BYTES_PER_NAME);
        builder
    }

    pub(crate) fn name(&mut self, text: &str) -> NameId {
        let names = &mut self.facts.names;
        let hash = FxBuildHasher.hash_one(text);
        if let Some(&id) = self.name_ids.find(hash, |id| &*names[id.0 as usize] == text) {
            return id;
        }
        let id = NameId::at(names.len());
        names.push(text.into());
        self.name_ids.insert_unique(hash, id, |id| FxBuildHasher.hash_one(&*names[id.0 as usize]));
        id
    }

    /// Interns a name of what has none in the source.
    pub(crate) fn synthetic(&mut self, name: Synthetic) -> NameId {
        self.name(name.text())
    }

    /// Returns the id of a name that is already interned.
    pub(crate) fn known_name(&self, text: &str) -> Option<NameId> {
        let names = &self.facts.names;
        self.name_ids
            .find(FxBuildHasher.hash_one(text), |id| &*names[id.0 as usize] == text)
            .copied()
    }

    pub(crate) fn text(&self, name: NameId) -> &str {
        name.get().map_or("", |position| &self.facts.names[position])
    }

    pub(crate) fn expr(&mut self, expr: Expr) -> ExprId {
        let id = ExprId::at(self.facts.exprs.len());
        self.facts.exprs.push(expr);
        self.facts.positions.push(self.at);
        id
    }

    /// Name of a member of what the file exports, without a position: it finds what no name in
    /// the file does.
    pub(crate) fn exported(&mut self, name: NameId) -> ExprId {
        let at = std::mem::replace(&mut self.at, Binding::OF_EXPORTS);
        let expr = self.expr(Expr::Name(name, ScopeId(0)));
        self.at = at;
        expr
    }

    /// Value of the builtin type of a name: one expression for the file, at its start, because it
    /// means the same everywhere.
    pub(crate) fn literal(&mut self, name: NameId) -> ExprId {
        let Self { facts, literals, .. } = self;
        *literals.entry(name).or_insert_with(|| {
            let id = ExprId::at(facts.exprs.len());
            facts.exprs.push(Expr::Literal(name));
            facts.positions.push(0);
            id
        })
    }

    pub(crate) fn get(&self, expr: ExprId) -> Expr {
        expr.get().map_or(Expr::Unknown, |position| self.facts.exprs[position])
    }

    /// Creates an expression from a part; none if the part is unknown.
    pub(crate) fn of(&mut self, part: ExprId, make: impl FnOnce(ExprId) -> Expr) -> ExprId {
        if part.is_some() { self.expr(make(part)) } else { ExprId::NONE }
    }

    pub(crate) fn list(&mut self, items: &[ExprId]) -> Run {
        if items.is_empty() {
            return Run::EMPTY;
        }
        let start = self.facts.lists.len();
        self.facts.lists.extend_from_slice(items);
        Run::of(start..self.facts.lists.len())
    }

    pub(crate) fn items(&self, run: Run) -> &[ExprId] {
        &self.facts.lists[run.range()]
    }

    /// Part `position` of a destructured value.
    pub(crate) fn item(&mut self, value: ExprId, position: usize) -> ExprId {
        if let Expr::Tuple(items) = self.get(value) {
            return self.items(items).get(position).copied().unwrap_or(ExprId::NONE);
        }
        let position = u32::try_from(position).expect("bounded by the file's size");
        self.of(value, |value| Expr::Item(value, position))
    }

    /// Union of several values without unknown parts.
    pub(crate) fn union(&mut self, parts: &[ExprId]) -> ExprId {
        let known: SmallVec<[ExprId; 8]> =
            parts.iter().copied().filter(|part| part.is_some()).collect();
        match known[..] {
            [] => ExprId::NONE,
            [one] => one,
            _ => {
                let list = self.list(&known);
                self.expr(Expr::Union(list))
            }
        }
    }

    pub(crate) fn scope(
        &mut self,
        parent: ScopeId,
        kind: ScopeKind,
        symbol: LocalSymbol,
        start: usize,
        end: usize,
    ) -> ScopeId {
        let id = ScopeId::at(self.facts.scopes.len());
        let offset =
            |byte: usize| u32::try_from(byte).expect("files are limited to far less than 4 GiB");
        self.facts.scopes.push(Scope {
            parent,
            kind,
            symbol,
            owner: ExprId::NONE,
            start: offset(start),
            end: offset(end),
        });
        id
    }

    pub(crate) fn scope_kind(&self, scope: ScopeId) -> ScopeKind {
        scope.get().map_or(ScopeKind::File, |position| self.facts.scopes[position].kind)
    }

    pub(crate) fn parent(&self, scope: ScopeId) -> ScopeId {
        scope.get().map_or(ScopeId::NONE, |position| self.facts.scopes[position].parent)
    }

    /// Returns the innermost scope, from `scope` outwards, that passes `accept`.
    pub(crate) fn nearest(
        &self,
        mut scope: ScopeId,
        accept: impl Fn(ScopeKind) -> bool,
    ) -> ScopeId {
        while scope.is_some() && !accept(self.scope_kind(scope)) {
            scope = self.parent(scope);
        }
        scope
    }

    pub(crate) fn symbol(&mut self, symbol: Symbol, details: Details) -> LocalSymbol {
        let id = LocalSymbol::at(self.facts.symbols.len());
        self.facts.symbols.push(symbol);
        self.facts.details.push(details);
        id
    }

    pub(crate) fn details_mut(&mut self, symbol: LocalSymbol) -> &mut Details {
        &mut self.facts.details[symbol.get().expect("callers hold the id of a symbol they made")]
    }

    pub(crate) fn symbol_mut(&mut self, symbol: LocalSymbol) -> &mut Symbol {
        &mut self.facts.symbols[symbol.get().expect("callers hold the id of a symbol they made")]
    }

    /// Keeps the clauses of a symbol, if it has any.
    pub(crate) fn clauses(&mut self, of: Clauses) -> ClausesId {
        if of == Clauses::NONE {
            return ClausesId::NONE;
        }
        self.facts.clauses.push(of);
        ClausesId::at(self.facts.clauses.len() - 1)
    }

    pub(crate) fn clauses_mut(&mut self, symbol: LocalSymbol) -> &mut Clauses {
        let FileFacts { symbols, clauses, .. } = &mut self.facts;
        let entry = &mut symbols[symbol.get().expect("callers hold the id of a symbol they made")];
        let place = entry.clauses.get().unwrap_or_else(|| {
            clauses.push(Clauses::NONE);
            clauses.len() - 1
        });
        entry.clauses = ClausesId::at(place);
        &mut clauses[place]
    }

    /// Returns the type that owns a symbol, if it is an expression.
    pub(crate) fn owner(&mut self, symbol: LocalSymbol) -> ExprId {
        self.symbol_mut(symbol)
            .clauses
            .get()
            .map_or(ExprId::NONE, |of| self.facts.clauses[of].owner)
    }

    pub(crate) fn bind(&mut self, binding: Binding) -> BindingId {
        let id = BindingId::at(self.facts.bindings.len());
        self.bound.entry((binding.scope, binding.name)).or_insert(id);
        if binding.kind == BindingKind::Narrow && binding.ty().is_some() {
            self.narrowed.insert((binding.scope, binding.name), binding.ty());
        }
        self.facts.bindings.push(binding);
        id
    }

    /// Puts the bindings of a scope since `start`, which are parameters, before those that their
    /// types and default values have made; returns their run. `symbols` is the number of symbols
    /// then.
    pub(crate) fn gather(&mut self, scope: ScopeId, start: usize, symbols: usize) -> Run {
        let is_own = |position: &usize| {
            let binding = &self.facts.bindings[*position];
            binding.scope == scope && binding.kind != BindingKind::TypeParam
        };
        let all = start..self.facts.bindings.len();
        let count = all.clone().filter(is_own).count();
        let run = Run::of(start..start + count);
        // Most parameters come with nothing else.
        if (start..start + count).all(|position| is_own(&position)) {
            return run;
        }
        let (own, others): (Vec<usize>, Vec<usize>) = all.partition(is_own);
        let order: Vec<usize> = own.into_iter().chain(others).collect();
        let mut places = vec![BindingId::NONE; order.len()];
        for (place, before) in order.iter().enumerate() {
            places[before - start] = BindingId::at(start + place);
        }
        let moved: Vec<Binding> =
            order.iter().map(|position| self.facts.bindings[*position].clone()).collect();
        let place = |before: u32| places.get((before as usize).checked_sub(start)?).copied();
        let first_of_name: Vec<_> = moved
            .iter()
            .filter_map(|binding| {
                let key = (binding.scope, binding.name);
                Some((key, place(self.bound.get(&key)?.0)?))
            })
            .collect();
        self.bound.extend(first_of_name);
        self.facts.bindings.truncate(start);
        self.facts.bindings.extend(moved);
        // Those of a symbol in a type or value are no parameters here, and stay one run.
        let moved = |run: Run| match place(run.start()) {
            Some(id) if !run.is_empty() => run.moved_to(id.0),
            _ => run,
        };
        for symbol in &mut self.facts.symbols[symbols..] {
            symbol.set_params(moved(symbol.params()));
            if let Some(clauses) = symbol.clauses.get() {
                let clauses = &mut self.facts.clauses[clauses];
                clauses.type_params = moved(clauses.type_params);
            }
        }
        run
    }

    /// Returns the first binding of a name in a scope.
    pub(crate) fn bound(&self, scope: ScopeId, name: NameId) -> Option<&Binding> {
        self.bound
            .get(&(scope, name))
            .and_then(|id| id.get())
            .map(|position| &self.facts.bindings[position])
    }

    /// Returns the declared type of a name, or what the last test around has left of it; none if
    /// the name or its type is not known.
    pub(crate) fn narrowed_type(&self, mut scope: ScopeId, name: NameId) -> ExprId {
        while scope.is_some() {
            if let Some(ty) = self.narrowed.get(&(scope, name)) {
                return *ty;
            }
            if self.scope_kind(scope) != ScopeKind::Type
                && let Some(binding) = self.bound(scope, name)
            {
                return binding.ty();
            }
            scope = self.parent(scope);
        }
        ExprId::NONE
    }

    /// Returns the first binding of a name in the innermost scope that has one, from `scope`
    /// outwards, except in type scopes.
    pub(crate) fn visible(&self, mut scope: ScopeId, name: NameId) -> Option<&Binding> {
        while scope.is_some() {
            if self.scope_kind(scope) != ScopeKind::Type
                && let Some(binding) = self.bound(scope, name)
            {
                return Some(binding);
            }
            scope = self.parent(scope);
        }
        None
    }

    /// Returns the innermost scope that binds a name, from `scope` outwards, or that of the file.
    pub(crate) fn declaring(&self, mut scope: ScopeId, name: NameId) -> ScopeId {
        while scope.is_some() && self.bound(scope, name).is_none() {
            scope = self.parent(scope);
        }
        if scope.is_some() { scope } else { ScopeId(0) }
    }

    /// Returns the first binding of a name in the innermost scope that has one, from `scope`
    /// outwards, including type scopes.
    pub(crate) fn visible_anywhere(&self, mut scope: ScopeId, name: NameId) -> Option<&Binding> {
        while scope.is_some() {
            if let Some(binding) = self.bound(scope, name) {
                return Some(binding);
            }
            scope = self.parent(scope);
        }
        None
    }

    /// Replaces the declared type of the first binding of a name in a scope.
    pub(crate) fn set_bound_type(&mut self, scope: ScopeId, name: NameId, ty: ExprId) {
        if let Some(position) = self.bound.get(&(scope, name)).and_then(|id| id.get()) {
            self.facts.bindings[position].set_ty(ty);
        }
    }

    /// Renames the last binding.
    pub(crate) fn rename_last(&mut self, name: NameId) {
        let Some(position) = self.facts.bindings.len().checked_sub(1) else { return };
        let id = BindingId::at(position);
        let binding = &mut self.facts.bindings[position];
        let (scope, before) = (binding.scope, std::mem::replace(&mut binding.name, name));
        if self.bound.get(&(scope, before)) == Some(&id) {
            self.bound.remove(&(scope, before));
        }
        self.bound.entry((scope, name)).or_insert(id);
    }

    /// Returns the innermost scope and symbol around a position.
    pub(crate) fn around(&self, byte: u32) -> (ScopeId, LocalSymbol) {
        let scopes = &self.facts.scopes;
        let is_around = |scope: &Scope| scope.start <= byte && byte < scope.end;
        let scope = scopes.iter().rposition(is_around).unwrap_or(0);
        let mut around = ScopeId::at(scope);
        while let Some(position) = around.get() {
            if scopes[position].symbol.is_some() {
                return (ScopeId::at(scope), scopes[position].symbol);
            }
            around = scopes[position].parent;
        }
        (ScopeId::at(scope), LocalSymbol::NONE)
    }

    /// True if an expression from `first` on refers to `name`.
    pub(crate) fn names_since(&self, first: usize, name: NameId) -> bool {
        self.facts.exprs[first..]
            .iter()
            .any(|expr| matches!(expr, Expr::Name(other, _) if *other == name))
    }

    pub(crate) fn bind_symbol(
        &mut self,
        scope: ScopeId,
        block: ScopeId,
        name: NameId,
        from: u32,
        symbol: LocalSymbol,
    ) {
        self.bind(place(scope, block, name, from).of_symbol(symbol));
    }

    pub(crate) fn bind_import(
        &mut self,
        scope: ScopeId,
        block: ScopeId,
        name: NameId,
        import: ImportId,
    ) {
        self.bind(place(scope, block, name, 0).of_import(import));
    }

    pub(crate) fn import(&mut self, import: Import) -> ImportId {
        let id = ImportId::at(self.facts.imports.len());
        self.facts.imports.push(import);
        id
    }

    pub(crate) fn site(&mut self, site: Site) -> SiteId {
        let id = SiteId::at(self.sites.len());
        self.sites.push(site);
        id
    }

    /// Records `value` as a return value of a callable or a value of a variable.
    pub(crate) fn add_value(&mut self, symbol: LocalSymbol, value: ExprId) {
        if symbol.is_some() && value.is_some() {
            self.values.push((symbol, value));
        }
    }

    /// True if a type has a base that it extends rather than implements.
    pub(crate) fn extends(&self, symbol: LocalSymbol) -> bool {
        self.bases
            .iter()
            .any(|&(of, base)| of == symbol && matches!(self.get(base), Expr::Base(_, false)))
    }

    pub(crate) fn add_base(&mut self, symbol: LocalSymbol, base: ExprId, implement: bool) {
        if symbol.is_some() && base.is_some() {
            let base = self.expr(Expr::Base(base, implement));
            self.bases.push((symbol, base));
        }
    }

    /// True if a type has a base so far. Bases are in the order of their types.
    pub(crate) fn has_base(&self, symbol: LocalSymbol) -> bool {
        let later = self.bases.iter().rev().map(|(of, _)| of.get());
        later.take_while(|of| *of >= symbol.get()).any(|of| of == symbol.get())
    }

    pub(crate) fn has_problems(&self) -> bool {
        !self.facts.problems.is_empty()
    }

    pub(crate) fn problem(&mut self, kind: ProblemKind, first_line: u32, last_line: u32) {
        match self.facts.problems.last_mut() {
            Some(last) if last.kind == kind && first_line <= last.last_line + 1 => {
                last.last_line = last.last_line.max(last_line)
            }
            _ => self.facts.problems.push(Problem { kind, first_line, last_line }),
        }
    }

    /// Ends construction: per-symbol lists become runs.
    pub(crate) fn into_facts(mut self) -> FileFacts {
        let values = std::mem::take(&mut self.values);
        self.attach(values, |facts, symbol, run| facts.symbol_mut(symbol).values = run);
        let bases = std::mem::take(&mut self.bases);
        self.attach(bases, |facts, symbol, run| facts.clauses_mut(symbol).bases = run);
        FileFacts { sites: self.sites.into(), ..self.facts }
    }

    fn attach(
        &mut self,
        mut pairs: Vec<(LocalSymbol, ExprId)>,
        set: impl Fn(&mut Self, LocalSymbol, Run),
    ) {
        pairs.sort_by_key(|&(symbol, _)| symbol);
        for group in pairs.chunk_by(|a, b| a.0 == b.0) {
            let items: Vec<ExprId> = group.iter().map(|&(_, item)| item).collect();
            let run = self.list(&items);
            set(self, group[0].0, run);
        }
    }
}

/// Place of a name in a scope, with the innermost scope there.
pub(crate) fn place(scope: ScopeId, block: ScopeId, name: NameId, from: u32) -> Binding {
    Binding::at(scope, name, from).within(block).expect("a file is limited to far fewer scopes")
}
