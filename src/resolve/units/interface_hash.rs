//! Interface hash of a file: a hash of all facts that the resolution of other files can reach.
//! Facts that only references of the file itself reach are excluded, and so are positions: an edit
//! of a body leaves the hash equal.

mod hashing;

use crate::units::contexts::Context;
use crate::units::scope_bindings::ByScope;
use cograph_model::children::Children;
use cograph_model::facts::{
    Binding, BindingId, BindingKind, Expr, ExprId, FileFacts, NameId, Run, ScopeId, ScopeKind,
    Symbol, Synthetic,
};
use hashing::{Own, last_byte, ranks};
use rustc_hash::FxHashMap;

/// Returns the interface hash of a file. `contexts` has the contexts of closures and objects.
pub(crate) fn of(facts: &FileFacts, contexts: &FxHashMap<ScopeId, (Context, u32)>) -> u64 {
    of_first(facts, facts.symbols.len(), contexts)
}

/// Returns the interface hash of a file without the symbols from this number on. Those left out are
/// functions at the top level.
pub(crate) fn of_first(
    facts: &FileFacts,
    symbols: usize,
    contexts: &FxHashMap<ScopeId, (Context, u32)>,
) -> u64 {
    let mut reach = Reachability::new(facts, symbols, contexts);
    reach.run();
    reach.own().number(|scope| scope)
}

/// Facts of a file that other files can reach, by position.
pub(crate) struct Reached {
    pub(crate) scopes: Vec<bool>,
    pub(crate) bindings: Vec<bool>,
    pub(crate) exprs: Vec<bool>,
    pub(crate) lists: Vec<bool>,
    /// Interface hash after partitioning, when these facts come first.
    pub(crate) interface: u64,
}

/// Computes the facts that other files can reach: the hashed ones, and with each binding all of its
/// name in its scope.
pub(crate) fn reached(facts: &FileFacts, contexts: &FxHashMap<ScopeId, (Context, u32)>) -> Reached {
    let mut reach = Reachability::new(facts, facts.symbols.len(), contexts);
    reach.run();
    let own = reach.own();
    reach.with_same_names();
    let Reachability { scopes, bindings, exprs, lists, .. } = reach;
    let moved = ranks(&scopes);
    let interface = own.number(|scope| moved[scope] as usize);
    Reached { scopes, bindings, exprs, lists, interface }
}

enum Step {
    Expr(usize),
    Binding(usize),
    Scope(usize),
}

/// Reachability from symbols and from names outside of bodies.
struct Reachability<'f> {
    facts: &'f FileFacts,
    symbols: &'f [Symbol],
    contexts: &'f FxHashMap<ScopeId, (Context, u32)>,
    by_scope: ByScope,
    exprs: Vec<bool>,
    bindings: Vec<bool>,
    /// Visited bindings.
    found: Vec<usize>,
    scopes: Vec<bool>,
    lists: Vec<bool>,
    /// Scopes with all names reached.
    open: Vec<bool>,
    /// Names in scopes with all bindings reached, by the index of the first.
    bound: Vec<bool>,
    waiting: Vec<Step>,
    /// Positions of everything reached; only their order matters.
    places: Vec<u32>,
}

impl<'f> Reachability<'f> {
    fn new(
        facts: &'f FileFacts,
        symbols: usize,
        contexts: &'f FxHashMap<ScopeId, (Context, u32)>,
    ) -> Self {
        let name_of = |binding: BindingId| Some(facts.bindings[binding.0 as usize].name);
        Self {
            facts,
            symbols: &facts.symbols[..symbols],
            contexts,
            by_scope: ByScope::of(facts, facts.scopes.len(), facts.bindings.len(), name_of),
            exprs: vec![false; facts.exprs.len()],
            bindings: vec![false; facts.bindings.len()],
            scopes: vec![false; facts.scopes.len()],
            found: Vec::new(),
            lists: vec![false; facts.lists.len()],
            open: vec![false; facts.scopes.len()],
            bound: vec![false; facts.bindings.len()],
            waiting: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Reaches every binding of a name in a scope.
    fn want_bound(&mut self, scope: ScopeId, name: NameId) {
        let name_of = |binding: BindingId| self.facts.bindings[binding.0 as usize].name;
        let (place, bound) = self.by_scope.place_of_name(scope, name, name_of);
        if bound.is_empty() || std::mem::replace(&mut self.bound[place], true) {
            return;
        }
        for &binding in bound {
            reach(binding.0 as usize, &mut self.bindings, &mut self.waiting);
        }
    }

    fn run(&mut self) {
        self.start();
        self.follow();
    }

    fn follow(&mut self) {
        while let Some(step) = self.waiting.pop() {
            match step {
                Step::Expr(expr) => self.expr(expr),
                Step::Binding(binding) => self.binding(binding),
                Step::Scope(scope) => self.scope(scope),
            }
        }
    }

    /// Reaches, for each binding, those of the same name in the same scope, because a lookup reads
    /// them together.
    fn with_same_names(&mut self) {
        let mut visited = 0;
        while let Some(&position) = self.found.get(visited) {
            visited += 1;
            let Binding { name, scope, .. } = self.facts.bindings[position];
            self.want_bound(scope, name);
            self.follow();
        }
    }

    fn start(&mut self) {
        for (position, scope) in self.facts.scopes.iter().enumerate() {
            if matches!(scope.kind, ScopeKind::File | ScopeKind::Module | ScopeKind::Type) {
                self.open_scope(ScopeId::at(position));
            }
        }
        let given: Vec<NameId> = self.given_names();
        for symbol in self.symbols {
            let clauses = self.facts.clauses_of(symbol);
            for expr in [symbol.ty, clauses.owner, clauses.implements] {
                self.want(expr);
            }
            for run in [symbol.values, clauses.decorators, clauses.bases] {
                self.want_all(run);
            }
            for binding in symbol.params().range().chain(clauses.type_params.range()) {
                self.want_binding(binding);
            }
            self.want_scope(symbol.scope);
            self.want_scope(symbol.inner);
            for name in &given {
                self.want_bound(symbol.inner, *name);
            }
            if !symbol.kind.is_callable() {
                self.open_scope(symbol.inner);
            }
        }
        for import in &self.facts.imports {
            self.want_scope(import.scope);
        }
        // The conditions of a symbol depend on positions.
        self.places.extend(self.symbols.iter().map(last_byte));
        self.places.extend(
            self.facts.conditions.iter().flat_map(|condition| [condition.start, condition.end]),
        );
    }

    /// Names of what callables pass to closures, as far as the file has any.
    fn given_names(&self) -> Vec<NameId> {
        let is_given =
            |name: &str| matches!(Synthetic::of(name), Some(Synthetic::PassedArgument(_)));
        let names = self.facts.names.iter().enumerate().filter(|(_, name)| is_given(name));
        names.map(|(position, _)| NameId::at(position)).collect()
    }

    fn want(&mut self, expr: ExprId) {
        if let Some(expr) = expr.get()
            && !std::mem::replace(&mut self.exprs[expr], true)
        {
            self.waiting.push(Step::Expr(expr));
        }
    }

    fn want_all(&mut self, run: Run) {
        let facts = self.facts;
        self.lists[run.range()].fill(true);
        for expr in &facts.lists[run.range()] {
            self.want(*expr);
        }
    }

    fn want_binding(&mut self, binding: usize) {
        reach(binding, &mut self.bindings, &mut self.waiting);
    }

    fn want_scope(&mut self, scope: ScopeId) {
        if let Some(scope) = scope.get()
            && !std::mem::replace(&mut self.scopes[scope], true)
        {
            self.waiting.push(Step::Scope(scope));
        }
    }

    /// Reaches every binding of a scope.
    fn open_scope(&mut self, scope: ScopeId) {
        let Some(position) = scope.get() else { return };
        self.want_scope(scope);
        if !std::mem::replace(&mut self.open[position], true) {
            for &binding in self.by_scope.of_scope(scope) {
                let binding = binding.0 as usize;
                let symbol = self.facts.bindings[binding].symbol();
                if symbol.get().is_none_or(|symbol| symbol < self.symbols.len()) {
                    reach(binding, &mut self.bindings, &mut self.waiting);
                }
            }
        }
    }

    /// Reaches every binding of a name in a scope and its parents.
    fn want_name(&mut self, name: NameId, scope: ScopeId) {
        self.want_scope(scope);
        let mut around = scope;
        while let Some(position) = around.get() {
            self.want_bound(around, name);
            around = self.facts.scopes[position].parent;
        }
    }

    /// Reaches the bindings of a closure or an object, and the context that determines its type.
    fn want_closure(&mut self, scope: ScopeId) {
        self.open_scope(scope);
        self.want_context(scope);
    }

    fn expr(&mut self, position: usize) {
        self.places.push(self.facts.positions[position]);
        let mut expr = self.facts.exprs[position];
        match expr {
            Expr::Name(name, scope) => self.want_name(name, scope),
            Expr::Lambda(scope) | Expr::Given(scope, _) | Expr::Members(scope) => {
                self.want_closure(scope)
            }
            _ => {
                let Children { exprs, list, scope } = expr.children();
                exprs.into_iter().flatten().for_each(|of| self.want(*of));
                list.into_iter().for_each(|run| self.want_all(*run));
                scope.into_iter().for_each(|scope| self.want_scope(*scope));
            }
        }
    }

    fn binding(&mut self, position: usize) {
        self.found.push(position);
        let binding = &self.facts.bindings[position];
        self.want(binding.ty());
        self.want(binding.value);
        self.want_scope(binding.scope);
        self.want_scope(binding.block());
        self.places.push(binding.from);
        if binding.kind == BindingKind::Param {
            // The types of a closure's parameters depend on the context of the closure.
            self.want_context(binding.scope);
        }
    }

    fn want_context(&mut self, scope: ScopeId) {
        match self.contexts.get(&scope).map(|(context, _)| context) {
            Some(Context::Argument(call, _)) => self.want(*call),
            Some(Context::Declared(ty)) => self.want(*ty),
            // An object begins after the object or closure that contains it.
            Some(Context::Member(of, _) | Context::Result(of)) if *of < scope => {
                self.want_context(*of);
            }
            Some(Context::Member(..) | Context::Result(_)) | None => {}
        }
    }

    fn scope(&mut self, position: usize) {
        let scope = &self.facts.scopes[position];
        self.want_scope(scope.parent);
        self.want(scope.owner);
    }

    /// Returns the facts reached so far.
    fn own(&self) -> Own<'f> {
        let mut places = self.places.clone();
        places.sort_unstable();
        places.dedup();
        let (exprs, bindings, scopes) =
            (self.exprs.clone(), self.bindings.clone(), self.scopes.clone());
        Own { facts: self.facts, symbols: self.symbols, exprs, bindings, scopes, places }
    }
}

/// Reaches a binding and queues it.
fn reach(binding: usize, reached: &mut [bool], waiting: &mut Vec<Step>) {
    if binding < reached.len() && !std::mem::replace(&mut reached[binding], true) {
        waiting.push(Step::Binding(binding));
    }
}
