//! One step in the call graph: callers and callees of a symbol, with dispatch and certainty.
//!
//! `trace` and `explore` traverse the same edges.

mod callees;
mod candidates;
pub(crate) mod edge;
mod gathered;
pub(crate) mod group;

use gathered::EdgeCollector;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::function_values::{self, FunctionValues};
use super::lookup::Lookup;
use crate::graph::answer::{Certainty, Tests};
use crate::graph::error::QueryError;
use cograph_model::{RelationKind, SiteKind, SymbolKind};
use cograph_store::{NameKey, SiteRow, SiteTarget, SymbolKey, SymbolRow};
pub(crate) use edge::{Edge, End, Neighbours, Through, certainty};

/// Maximum number of methods related by dispatch to one method, far above the size of real
/// hierarchies.
pub(crate) const MAX_RELATED: usize = 10_000;

/// Maximum number of edges whose ends are checked individually for test code.
const MAX_CHECKED: usize = 1_000;

/// Treatment of unresolved sites with a symbol's name that are not followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unresolved {
    /// List them.
    Listed,
    /// Count them: distant symbols of a traversal often share a name.
    Counted,
    /// Neither: for a traversal that reports no counts.
    Ignored,
}

/// Traversal settings and memos.
pub(crate) struct CallGraph<'l, 'q> {
    lookup: &'l Lookup<'q>,
    kinds: Vec<SiteKind>,
    dispatch: bool,
    follow: Certainty,
    tests: Tests,
    /// True if a function that a body names without a call is a possible callee.
    passed: bool,
    /// Maximum number of references to one symbol that are read.
    most: usize,
    /// Memo: number of unresolved sites by name.
    unresolved: RefCell<FxHashMap<NameKey, u64>>,
    /// Memo: possible functions by variable or field.
    held: RefCell<FxHashMap<SymbolKey, Rc<FunctionValues>>>,
}

impl<'l, 'q> CallGraph<'l, 'q> {
    pub(crate) fn new(
        lookup: &'l Lookup<'q>,
        kinds: &[SiteKind],
        dispatch: bool,
        follow: Certainty,
        tests: Tests,
    ) -> Self {
        let (unresolved, held) = Default::default();
        let (kinds, passed, most) = (kinds.to_vec(), false, usize::MAX);
        Self { lookup, kinds, dispatch, follow, tests, passed, most, unresolved, held }
    }

    /// The same graph with a maximum number of references to one symbol that are read.
    pub(crate) fn with_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The same graph with the functions that bodies name without a call as possible callees.
    pub(crate) fn with_passed(self) -> Self {
        Self { passed: true, ..self }
    }

    /// Returns the callers of a symbol.
    pub(crate) fn callers(
        &self,
        symbol: SymbolKey,
        unresolved: Unresolved,
    ) -> Result<Neighbours, QueryError> {
        self.callers_of(&[symbol], unresolved)
    }

    /// Returns the callers of any of these symbols, which share one name. The list is not empty.
    pub(crate) fn callers_of(
        &self,
        symbols: &[SymbolKey],
        unresolved: Unresolved,
    ) -> Result<Neighbours, QueryError> {
        let row = self.lookup.symbol(symbols[0])?;
        let mut gathered = EdgeCollector::default();
        let (mut same, mut meant) = (Vec::new(), Vec::new());
        for &symbol in symbols {
            let own = self.lookup.same_entity(symbol)?;
            meant.extend(self.targets_of(&*self.lookup.symbol(symbol)?, own.clone())?);
            same.extend(own);
        }
        let mut seen = FxHashSet::default();
        meant.retain(|key| seen.insert(*key));
        seen.extend(&same);
        for &key in &meant {
            self.take_all(&mut gathered, key, None)?;
        }
        self.take_possible(&mut gathered, &meant, &seen)?;
        let are_followed = self.follow >= Certainty::Textual;
        match unresolved {
            Unresolved::Ignored if !are_followed => {}
            Unresolved::Counted if !are_followed => {
                gathered.unlisted = self.unresolved_named(row.name)?;
                gathered.counts.textual += gathered.unlisted;
            }
            Unresolved::Listed | Unresolved::Counted | Unresolved::Ignored => {
                let mut sites = self.lookup.snapshot.unresolved_named(row.name)?;
                // Calls of the value of a variable or field are no evidence for another symbol of
                // that name.
                sites.retain(|site| site.target == SiteTarget::None);
                for site in sites {
                    self.take(&mut gathered, site, None)?;
                }
            }
        }
        self.take_held(&mut gathered, &same)?;
        if self.dispatch {
            for overridden in self.hierarchy(same, Upwards::Yes)? {
                self.take_all(&mut gathered, overridden, Some(Through::Method(overridden)))?;
            }
        }
        let tests = self.tests_among(&gathered.edges)?;
        Ok(gathered.finish(self.lookup.order(), &tests))
    }

    /// Returns the ends of edges that are test code. Beyond `MAX_CHECKED` edges only whole test
    /// files are recognized.
    fn tests_among(&self, edges: &[Edge]) -> Result<FxHashSet<End>, QueryError> {
        let mut tests = FxHashSet::default();
        for edge in edges {
            let Some(site) = edge.sites.first() else { continue };
            let is_test = self.lookup.place(site.file)?.test
                || match edge.end {
                    End::Symbol(symbol) if edges.len() <= MAX_CHECKED => {
                        self.lookup.is_test(&*self.lookup.symbol(symbol)?)?
                    }
                    _ => false,
                };
            if is_test {
                tests.insert(edge.end);
            }
        }
        Ok(tests)
    }

    /// Returns the number of unresolved sites with a name that pass the filters.
    fn unresolved_named(&self, name: NameKey) -> Result<u64, QueryError> {
        if let Some(count) = self.unresolved.borrow().get(&name) {
            return Ok(*count);
        }
        let mut count = 0;
        for site in self.lookup.snapshot.unresolved_named(name)? {
            self.lookup.check()?;
            count += u64::from(site.target == SiteTarget::None && self.counts(&site)?);
        }
        self.unresolved.borrow_mut().insert(name, count);
        Ok(count)
    }

    /// Collects every site that targets a symbol.
    fn take_all(
        &self,
        gathered: &mut EdgeCollector,
        symbol: SymbolKey,
        through: Option<Through>,
    ) -> Result<(), QueryError> {
        let mut left = self.most.min(self.lookup.symbol(symbol)?.references as usize);
        gathered.reserve(left);
        let mut taken = Ok(());
        self.lookup.snapshot.visit_sites_to(symbol, |site| {
            taken = self.take(gathered, site, through);
            left = left.saturating_sub(1);
            taken.is_ok() && (left > 0 || self.most == usize::MAX)
        })?;
        taken
    }

    /// Collects the calls of variables and fields that the functions are assigned to.
    fn take_held(
        &self,
        gathered: &mut EdgeCollector,
        functions: &[SymbolKey],
    ) -> Result<(), QueryError> {
        for holder in function_values::holders(self.lookup, functions)? {
            let degree = self.held_by(holder)?.certainty();
            for site in function_values::calls(self.lookup, holder)? {
                if self.counts(&site)? {
                    gathered.add(
                        enclosing(&site),
                        Some(Through::Holder(holder)),
                        degree,
                        site,
                        self.follow,
                    );
                }
            }
        }
        Ok(())
    }

    /// Returns the possible functions of a variable or field. Memoized: many calls in one body are
    /// of the same one.
    fn held_by(&self, holder: SymbolKey) -> Result<Rc<FunctionValues>, QueryError> {
        if let Some(known) = self.held.borrow().get(&holder) {
            return Ok(Rc::clone(known));
        }
        let held = Rc::new(function_values::by(self.lookup, holder)?);
        self.held.borrow_mut().insert(holder, Rc::clone(&held));
        Ok(held)
    }

    fn take(
        &self,
        gathered: &mut EdgeCollector,
        site: SiteRow,
        through: Option<Through>,
    ) -> Result<(), QueryError> {
        self.lookup.check()?;
        if self.counts(&site)? {
            gathered.add(enclosing(&site), through, certainty(&site), site, self.follow);
        }
        Ok(())
    }

    /// True if a site passes the filters of kind and test code.
    fn counts(&self, site: &SiteRow) -> Result<bool, QueryError> {
        if !self.kinds.contains(&site.kind) {
            return Ok(false);
        }
        // Rows are read only if needed: a frequent name has thousands of sites.
        Ok(match (self.tests, site.enclosing) {
            (Tests::Include, _) => true,
            (tests, Some(enclosing)) => {
                tests.admits(self.lookup.is_test(&*self.lookup.symbol(enclosing)?)?)
            }
            (tests, None) => tests.admits(self.lookup.place(site.file)?.test),
        })
    }

    /// True if a symbol passes the filter of test code.
    fn admits(&self, symbol: SymbolKey) -> Result<bool, QueryError> {
        Ok(self.tests == Tests::Include
            || self.tests.admits(self.lookup.is_test(&*self.lookup.symbol(symbol)?)?))
    }

    /// Returns the definition of a declaration.
    fn definition_of(&self, symbol: SymbolKey) -> Result<SymbolKey, QueryError> {
        let relations = self.lookup.relations_to(symbol)?;
        let definition = relations.iter().find(|relation| relation.kind == RelationKind::Defines);
        Ok(definition.map_or(symbol, |relation| relation.from))
    }

    /// Returns the possible targets of sites that refer to this symbol: it and its declarations
    /// (`same`), for a type its constructors, and for the only constructor of a type the type.
    fn targets_of(
        &self,
        row: &SymbolRow,
        same: Vec<SymbolKey>,
    ) -> Result<Vec<SymbolKey>, QueryError> {
        let mut meant = same;
        if row.kind == SymbolKind::Constructor
            && let Some(container) = row.container
            && self.lookup.constructors_of(container)?.len() == 1
        {
            meant.push(container);
        }
        if row.kind.is_type() {
            meant.extend(self.lookup.constructors_of(row.key)?);
        }
        Ok(meant)
    }

    /// Returns the symbols whose sites belong to this one: itself, its definition if it is a
    /// declaration, and for a type its only constructor.
    fn bodies_of(&self, row: &SymbolRow) -> Result<Vec<SymbolKey>, QueryError> {
        let mut bodies = self.lookup.same_entity(row.key)?;
        if row.kind.is_type()
            && let [constructor] = self.lookup.constructors_of(row.key)?.as_slice()
        {
            bodies.push(*constructor);
        }
        Ok(bodies)
    }

    /// Returns the methods that one overrides (upwards) or that override it, transitively. `same`
    /// contains it and its declarations.
    fn hierarchy(
        &self,
        same: Vec<SymbolKey>,
        upwards: Upwards,
    ) -> Result<Vec<SymbolKey>, QueryError> {
        let mut found = same;
        let own = found.len();
        let mut next = 0;
        while let Some(&key) = found.get(next).filter(|_| found.len() < MAX_RELATED) {
            next += 1;
            let relations = match upwards {
                Upwards::Yes => self.lookup.relations_from(key)?,
                Upwards::No => self.lookup.relations_to(key)?,
            };
            for relation in
                relations.iter().filter(|relation| relation.kind == RelationKind::Overrides)
            {
                let other = if upwards == Upwards::Yes { relation.to } else { relation.from };
                if !found.contains(&other) {
                    found.push(other);
                }
            }
        }
        found.drain(..own);
        Ok(found)
    }
}

/// Returns the enclosing symbol or file of a site.
fn enclosing(site: &SiteRow) -> End {
    site.enclosing.map_or(End::File(site.file), End::Symbol)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Upwards {
    Yes,
    No,
}
