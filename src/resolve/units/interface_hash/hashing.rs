//! Computation of the interface hash: hashes the reached facts, with ids replaced by ranks among
//! them.

use cograph_model::facts::{
    ArgumentLabel, Binding, Details, Expr, ExprId, FileFacts, NameId, Run, Scope, ScopeId,
    ScopeKind, Symbol, Wrapper,
};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Facts covered by the interface hash.
pub(super) struct Own<'f> {
    pub(super) facts: &'f FileFacts,
    pub(super) symbols: &'f [Symbol],
    pub(super) exprs: Vec<bool>,
    pub(super) bindings: Vec<bool>,
    pub(super) scopes: Vec<bool>,
    /// Their positions, sorted.
    pub(super) places: Vec<u32>,
}

impl Own<'_> {
    /// Returns the hash. Some tables refer to scopes by position: `moved` maps a scope to its new
    /// position.
    pub(super) fn number(&self, moved: impl Fn(usize) -> usize) -> u64 {
        let facts = self.facts;
        let ranks = Ranks {
            facts,
            exprs: ranks(&self.exprs),
            scopes: ranks(&self.scopes),
            bindings: ranks(&self.bindings),
            places: &self.places,
        };
        let mut hasher = FxHasher::default();
        (&facts.package, facts.test, facts.generated).hash(&mut hasher);
        for (position, scope) in marked(&facts.scopes, &self.scopes) {
            ranks.scope(&mut hasher, moved(position), scope);
        }
        self.symbols.len().hash(&mut hasher);
        for (symbol, details) in self.symbols.iter().zip(&facts.details) {
            ranks.symbol(&mut hasher, symbol, details);
        }
        for (_, binding) in marked(&facts.bindings, &self.bindings) {
            ranks.binding(&mut hasher, binding);
        }
        for import in &facts.imports {
            ranks.name(&mut hasher, import.item);
            ranks.name(&mut hasher, import.alias);
            let scope = import.scope.get().map_or(ScopeId::NONE, |scope| ScopeId::at(moved(scope)));
            (import.kind as u8, &import.module, import.level, import.reexport, scope)
                .hash(&mut hasher);
        }
        for condition in &facts.conditions {
            ranks.name(&mut hasher, condition.tested);
            (ranks.place(condition.start), ranks.place(condition.end), condition.holds)
                .hash(&mut hasher);
        }
        for (position, expr) in marked(&facts.exprs, &self.exprs) {
            ranks.expr(&mut hasher, *expr, facts.positions[position]);
        }
        hasher.finish()
    }
}

pub(super) fn last_byte(symbol: &Symbol) -> u32 {
    symbol.end_byte.saturating_sub(1)
}

fn marked<'f, T>(all: &'f [T], wanted: &'f [bool]) -> impl Iterator<Item = (usize, &'f T)> {
    all.iter().enumerate().filter(|(position, _)| wanted[*position])
}

/// Returns for each position the number of reached ones before it.
pub(super) fn ranks(wanted: &[bool]) -> Vec<u32> {
    wanted
        .iter()
        .scan(0, |count, wanted| {
            let rank = *count;
            *count += u32::from(*wanted);
            Some(rank)
        })
        .collect()
}

/// Ranks: ids as if the reached facts were the only ones.
struct Ranks<'f> {
    pub(super) facts: &'f FileFacts,
    pub(super) exprs: Vec<u32>,
    pub(super) scopes: Vec<u32>,
    pub(super) bindings: Vec<u32>,
    pub(super) places: &'f [u32],
}

impl Ranks<'_> {
    pub(super) fn of(ranks: &[u32], position: Option<usize>) -> u32 {
        position.map_or(u32::MAX, |position| ranks[position])
    }

    pub(super) fn place(&self, place: u32) -> usize {
        self.places.partition_point(|&other| other < place)
    }

    pub(super) fn name(&self, hasher: &mut FxHasher, name: NameId) {
        name.get().map(|position| &*self.facts.names[position]).hash(hasher);
    }

    pub(super) fn run(&self, hasher: &mut FxHasher, run: Run) {
        run.len().hash(hasher);
        for expr in &self.facts.lists[run.range()] {
            self.expr_id(*expr).hash(hasher);
        }
    }

    fn expr_id(&self, expr: ExprId) -> u32 {
        Self::of(&self.exprs, expr.get())
    }

    fn scope_id(&self, scope: ScopeId) -> u32 {
        Self::of(&self.scopes, scope.get())
    }

    pub(super) fn scope(&self, hasher: &mut FxHasher, position: usize, scope: &Scope) {
        let parts = (
            scope.kind as u8,
            self.scope_id(scope.parent),
            scope.symbol,
            self.expr_id(scope.owner),
        );
        parts.hash(hasher);
        // The identity of a namespace includes the position of its scope.
        let named = matches!(scope.kind, ScopeKind::File | ScopeKind::Module);
        named.then_some(position).hash(hasher);
    }

    pub(super) fn symbol(&self, hasher: &mut FxHasher, symbol: &Symbol, details: &Details) {
        self.name(hasher, symbol.name);
        let head = (
            symbol.kind,
            symbol.container,
            symbol.flags,
            symbol.visibility,
            &details.signature,
            symbol.arity,
        );
        head.hash(hasher);
        (self.scope_id(symbol.scope), self.scope_id(symbol.inner), self.place(last_byte(symbol)))
            .hash(hasher);
        let clauses = self.facts.clauses_of(symbol);
        for run in [symbol.params(), clauses.type_params] {
            (
                run.len(),
                Self::of(&self.bindings, (!run.is_empty()).then_some(run.start() as usize)),
            )
                .hash(hasher);
        }
        for expr in [symbol.ty, clauses.owner, clauses.implements] {
            self.expr_id(expr).hash(hasher);
        }
        for run in [symbol.values, clauses.decorators, clauses.bases] {
            self.run(hasher, run);
        }
    }

    pub(super) fn binding(&self, hasher: &mut FxHasher, binding: &Binding) {
        self.name(hasher, binding.name);
        let scopes = (self.scope_id(binding.scope), self.scope_id(binding.block()));
        let values =
            (self.expr_id(binding.ty()), self.expr_id(binding.value), self.place(binding.from));
        (scopes, binding.kind as u8, binding.symbol(), binding.import(), values).hash(hasher);
    }

    pub(super) fn expr(&self, hasher: &mut FxHasher, expr: Expr, place: u32) {
        (std::mem::discriminant(&expr), self.place(place)).hash(hasher);
        match expr {
            Expr::Name(name, scope) => {
                self.name(hasher, name);
                self.scope_id(scope).hash(hasher);
            }
            Expr::Member(of, name) => {
                self.expr_id(of).hash(hasher);
                self.name(hasher, name);
            }
            Expr::Wrap(of, wrapper) => {
                (self.expr_id(of), std::mem::discriminant(&wrapper)).hash(hasher);
                if let Wrapper::Named(name) = wrapper {
                    self.name(hasher, name);
                }
            }
            Expr::Argument(of, label) => {
                (self.expr_id(of), std::mem::discriminant(&label)).hash(hasher);
                if let ArgumentLabel::Name(name) = label {
                    self.name(hasher, name);
                }
            }
            Expr::Call(of, run) | Expr::Construct(of, run) | Expr::Apply(of, run) => {
                self.expr_id(of).hash(hasher);
                self.run(hasher, run);
            }
            Expr::Index(a, b) | Expr::Mapping(a, b) => {
                (self.expr_id(a), self.expr_id(b)).hash(hasher)
            }
            Expr::Item(of, number) | Expr::Parameter(of, number) => {
                (self.expr_id(of), number).hash(hasher)
            }
            Expr::Base(of, implements) => (self.expr_id(of), implements).hash(hasher),
            Expr::Element(of)
            | Expr::Await(of)
            | Expr::OfType(of)
            | Expr::Array(of)
            | Expr::Key(of)
            | Expr::Unwrapped(of)
            | Expr::Uncalled(of)
            | Expr::Enter(of)
            | Expr::TypeOf(of) => self.expr_id(of).hash(hasher),
            Expr::SelfValue(scope)
            | Expr::SuperValue(scope)
            | Expr::SelfType(scope)
            | Expr::Lambda(scope)
            | Expr::Members(scope) => self.scope_id(scope).hash(hasher),
            Expr::Given(scope, what) => (self.scope_id(scope), what).hash(hasher),
            Expr::Literal(name) => self.name(hasher, name),
            Expr::Union(run) | Expr::Tuple(run) | Expr::Function(run) => self.run(hasher, run),
            Expr::Unknown => {}
        }
    }
}
