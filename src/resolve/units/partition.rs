//! Partition of a file's facts: the part that the resolution of other files can read comes first.
//! The rest is needed only to resolve the file itself, and can be dropped from memory and read
//! again.

use crate::units::interface_hash::{self, Reached};
use crate::units::interner::Name;
use crate::units::prepared::Prepared;
use crate::units::{
    contexts::contexts,
    unit::{First, UnitTable},
};
use cograph_model::LanguageId;
use cograph_model::children::Children;
use cograph_model::facts::{
    Clauses, DocumentTerms, Expr, ExprId, FileFacts, Run, ScopeId, Sites, Symbol,
};

/// Extent of the exported part: number of facts of each table, from the first.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    interface: u64,
    scopes: usize,
    bindings: usize,
    exprs: usize,
    lists: usize,
}

impl Shared {
    /// Partitions the facts. Symbols, imports and references keep their positions.
    pub fn first(facts: &mut FileFacts) -> Self {
        let Reached { scopes, bindings, exprs, mut lists, interface } =
            interface_hash::reached(facts, &contexts(facts));
        for run in runs(facts).filter(|run| !run.range().is_empty()) {
            // Runs are disjoint; one that is reached in part is kept whole.
            if lists[run.range()].contains(&true) {
                lists[run.range()].fill(true);
            }
        }
        put_first(&mut facts.scopes, &scopes);
        put_first(&mut facts.bindings, &bindings);
        put_first(&mut facts.exprs, &exprs);
        put_first(&mut facts.positions, &exprs);
        put_first(&mut facts.lists, &lists);
        Places {
            scopes: places(&scopes),
            bindings: places(&bindings),
            exprs: places(&exprs),
            lists: places(&lists),
        }
        .rename(facts);
        Self {
            interface,
            scopes: count(&scopes),
            bindings: count(&bindings),
            exprs: count(&exprs),
            lists: count(&lists),
        }
    }

    /// Interface hash of the file.
    pub fn interface(&self) -> u64 {
        self.interface
    }

    /// Stored form.
    pub fn numbers(&self) -> [u64; 5] {
        [
            self.interface,
            self.scopes as u64,
            self.bindings as u64,
            self.exprs as u64,
            self.lists as u64,
        ]
    }

    /// Reads the stored form; `None` if it does not fit the facts.
    pub fn of_numbers(
        facts: &FileFacts,
        [interface, scopes, bindings, exprs, lists]: [u64; 5],
    ) -> Option<Self> {
        let within =
            |number: u64, all: usize| usize::try_from(number).ok().filter(|&number| number <= all);
        Some(Self {
            interface,
            scopes: within(scopes, facts.scopes.len())?,
            bindings: within(bindings, facts.bindings.len())?,
            exprs: within(exprs, facts.exprs.len())?,
            lists: within(lists, facts.lists.len())?,
        })
    }

    /// Prepares a file with these names, and truncates the facts to the exported part.
    pub fn truncate(
        self,
        facts: &mut FileFacts,
        language: LanguageId,
        names: Vec<Name>,
    ) -> Prepared {
        let first = First { scopes: self.scopes, bindings: self.bindings };
        let prepared = Prepared::with(facts, language, |facts| {
            let mut table = UnitTable::of_first(facts, names.into(), Some(self.interface), first);
            table.truncate(self.scopes, self.exprs);
            table
        });
        facts.scopes.truncate(self.scopes);
        facts.bindings.truncate(self.bindings);
        facts.exprs.truncate(self.exprs);
        facts.positions.truncate(self.exprs);
        facts.lists.truncate(self.lists);
        facts.names = Vec::new();
        facts.problems = Vec::new();
        facts.details = Vec::new();
        facts.words = DocumentTerms::default();
        facts.sites = Sites::default();
        facts.shrink();
        prepared
    }
}

fn count(wanted: &[bool]) -> usize {
    wanted.iter().filter(|wanted| **wanted).count()
}

/// Stable partition: moves the wanted items to the front.
fn put_first<T>(items: &mut Vec<T>, wanted: &[bool]) {
    let mut rest = Vec::new();
    let mut first = Vec::with_capacity(items.len());
    for (item, wanted) in std::mem::take(items).into_iter().zip(wanted) {
        if *wanted { first.push(item) } else { rest.push(item) }
    }
    first.append(&mut rest);
    *items = first;
}

/// Returns the new position of each item after `put_first`.
fn places(wanted: &[bool]) -> Vec<u32> {
    let (mut first, mut rest) =
        (0, u32::try_from(count(wanted)).expect("a file is limited to far fewer than 2^32 facts"));
    let mut place = |wanted: &bool| {
        let next = if *wanted { &mut first } else { &mut rest };
        *next += 1;
        *next - 1
    };
    wanted.iter().map(&mut place).collect()
}

/// Returns every run of the facts.
fn runs(facts: &FileFacts) -> impl Iterator<Item = Run> + '_ {
    let of_exprs = facts.exprs.iter().filter_map(|expr| { *expr }.children().list.copied());
    let of_symbols = facts.symbols.iter().map(|symbol| symbol.values);
    let of_clauses = facts.clauses.iter().flat_map(|of| [of.decorators, of.bases]);
    let of_sites: Vec<Run> = facts.sites.list().iter().map(|site| site.args).collect();
    of_exprs.chain(of_symbols).chain(of_clauses).chain(of_sites)
}

/// New positions by old ones.
struct Places {
    scopes: Vec<u32>,
    bindings: Vec<u32>,
    exprs: Vec<u32>,
    lists: Vec<u32>,
}

impl Places {
    /// Renumbers all ids to the new positions.
    fn rename(&self, facts: &mut FileFacts) {
        for scope in &mut facts.scopes {
            self.scope(&mut scope.parent);
            self.expr(&mut scope.owner);
        }
        facts.symbols.iter_mut().for_each(|symbol| self.symbol(symbol));
        facts.clauses.iter_mut().for_each(|clauses| self.clauses(clauses));
        for binding in &mut facts.bindings {
            let mut block = binding.block();
            self.scope(&mut binding.scope);
            self.scope(&mut block);
            *binding =
                binding.clone().within(block).expect("the file has as many scopes as before");
            let mut ty = binding.ty();
            if ty.is_some() {
                self.expr(&mut ty);
                binding.set_ty(ty);
            }
            self.expr(&mut binding.value);
        }
        facts.imports.iter_mut().for_each(|import| self.scope(&mut import.scope));
        facts.lists.iter_mut().for_each(|expr| self.expr(expr));
        facts.exprs.iter_mut().for_each(|expr| self.parts(expr));
        for site in facts.sites.list_mut() {
            self.scope(&mut site.scope);
            self.expr(&mut site.target);
            run(&mut site.args, &self.lists);
        }
    }

    fn symbol(&self, symbol: &mut Symbol) {
        self.scope(&mut symbol.scope);
        self.scope(&mut symbol.inner);
        self.expr(&mut symbol.ty);
        run(&mut symbol.values, &self.lists);
        let mut params = symbol.params();
        run(&mut params, &self.bindings);
        symbol.set_params(params);
    }

    fn clauses(&self, clauses: &mut Clauses) {
        self.expr(&mut clauses.owner);
        self.expr(&mut clauses.implements);
        run(&mut clauses.decorators, &self.lists);
        run(&mut clauses.bases, &self.lists);
        run(&mut clauses.type_params, &self.bindings);
    }

    fn parts(&self, expr: &mut Expr) {
        let Children { exprs, list, scope } = expr.children();
        exprs.into_iter().flatten().for_each(|of| self.expr(of));
        if let Some(list) = list {
            run(list, &self.lists);
        }
        if let Some(scope) = scope {
            self.scope(scope);
        }
    }

    fn scope(&self, scope: &mut ScopeId) {
        if let Some(position) = scope.get() {
            scope.0 = self.scopes[position];
        }
    }

    fn expr(&self, expr: &mut ExprId) {
        if let Some(position) = expr.get() {
            expr.0 = self.exprs[position];
        }
    }
}

/// The items of a run stay together.
fn run(run: &mut Run, places: &[u32]) {
    let start = if run.is_empty() { 0 } else { places[run.start() as usize] };
    *run = run.moved_to(start);
}
