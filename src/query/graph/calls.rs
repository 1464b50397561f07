//! One step in the graph of calls: who leads to a symbol, and where a symbol leads, with dispatch
//! and degrees of certainty.
//!
//! `trace` and `explore` walk it; both see the same edges.

mod gathered;

use gathered::Gathered;
use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::held::{self, Held};
use super::lookup::Lookup;
use crate::model::{RelationKind, SiteKind, SymbolKind, Verdict};
use crate::query::{Certainty, Counts, QueryError, Tests};
use crate::store::{FileKey, NameKey, SiteRow, SiteTarget, SymbolKey, SymbolRow};

/// Symbols related by dispatch to one method: beyond it the walk through a hierarchy ends. Far
/// above real hierarchies' size.
pub(in crate::query) const MAX_RELATED: usize = 10_000;

/// Edges of which each end is looked at to know whether it is test code.
const LOOKED_AT: usize = 1_000;

/// What an edge leads to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::query) enum End {
    /// A symbol.
    Symbol(SymbolKey),
    /// The top of a file.
    File(FileKey),
    /// A name outside the repository.
    External(NameKey),
}

/// What the sites of an edge name in place of its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::query) enum Through {
    /// A method that overrides or implements the end, or is overridden or implemented by it.
    Method(SymbolKey),
    /// A variable or field that the function is put into.
    Holder(SymbolKey),
}

impl Through {
    /// The symbol that the sites name.
    pub(in crate::query) fn symbol(self) -> SymbolKey {
        match self {
            Self::Method(symbol) | Self::Holder(symbol) => symbol,
        }
    }
}

/// An edge with every site that makes it.
#[derive(Clone, Debug)]
pub(in crate::query) struct Edge {
    /// The other end.
    pub(in crate::query) end: End,
    /// What the sites name, if that is not the other end.
    pub(in crate::query) through: Option<Through>,
    /// The surest of the sites.
    pub(in crate::query) certainty: Certainty,
    /// The sites, in order of place. Of the thousands of callers of a common function nearly every
    /// one has one.
    pub(in crate::query) sites: SmallVec<[SiteRow; 1]>,
}

/// Everything one step from a symbol.
#[derive(Debug, Default)]
pub(in crate::query) struct Neighbours {
    /// Edges that are sure enough; surest first, those without dispatch before those with, callers
    /// in tests behind others, then by place.
    pub(in crate::query) edges: Vec<Edge>,
    /// Sites that are too vague, with how vague, in order of place.
    pub(in crate::query) vague: Vec<(SiteRow, Certainty)>,
    /// So many more are too vague, which were not asked for: unresolved sites with the name.
    pub(in crate::query) unlisted: u64,
    /// Sites by certainty, followed or not, without dispatch.
    pub(in crate::query) counts: Counts,
}

/// What is wanted of the unresolved sites with a symbol's name, where they are not followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::query) enum Unresolved {
    /// Each of them.
    Listed,
    /// Their number: symbols far from where a walk began often have a name in common.
    Counted,
}

/// What the walk follows.
pub(in crate::query) struct CallGraph<'l, 'q> {
    lookup: &'l Lookup<'q>,
    kinds: Vec<SiteKind>,
    dispatch: bool,
    follow: Certainty,
    tests: Tests,
    /// By name: how many unresolved sites have it.
    unresolved: RefCell<FxHashMap<NameKey, u64>>,
    /// By variable or field: the functions that it may hold.
    held: RefCell<FxHashMap<SymbolKey, Rc<Held>>>,
}

impl<'l, 'q> CallGraph<'l, 'q> {
    pub(in crate::query) fn new(
        lookup: &'l Lookup<'q>,
        kinds: &[SiteKind],
        dispatch: bool,
        follow: Certainty,
        tests: Tests,
    ) -> Self {
        let (unresolved, held) = Default::default();
        Self { lookup, kinds: kinds.to_vec(), dispatch, follow, tests, unresolved, held }
    }

    /// Who leads to a symbol.
    pub(in crate::query) fn callers(
        &self,
        symbol: SymbolKey,
        unresolved: Unresolved,
    ) -> Result<Neighbours, QueryError> {
        self.callers_of(&[symbol], unresolved)
    }

    /// Who leads to any of these symbols, which have one name. There is at least one of them.
    pub(in crate::query) fn callers_of(
        &self,
        symbols: &[SymbolKey],
        unresolved: Unresolved,
    ) -> Result<Neighbours, QueryError> {
        let row = self.lookup.symbol(symbols[0])?;
        let mut gathered = Gathered::default();
        let (mut same, mut meant) = (Vec::new(), Vec::new());
        for &symbol in symbols {
            let own = self.lookup.same_thing(symbol)?;
            meant.extend(self.meant_by(&*self.lookup.symbol(symbol)?, own.clone())?);
            same.extend(own);
        }
        let mut seen = FxHashSet::default();
        meant.retain(|key| seen.insert(*key));
        for key in meant {
            self.take_all(&mut gathered, key, None)?;
            for site in self.lookup.snapshot.sites_possibly_to(key)? {
                self.take(&mut gathered, site, None)?;
            }
        }
        if unresolved == Unresolved::Counted && self.follow < Certainty::Textual {
            gathered.unlisted = self.unresolved_named(row.name)?;
            gathered.counts.textual += gathered.unlisted;
        } else {
            // What calls the value of a variable or field says nothing of another symbol of that
            // name.
            for site in self
                .lookup
                .snapshot
                .unresolved_named(row.name)?
                .into_iter()
                .filter(|site| site.target == SiteTarget::None)
            {
                self.take(&mut gathered, site, None)?;
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

    /// The ends of edges that are test code. Of very many edges only whole files of tests are
    /// known.
    fn tests_among(&self, edges: &[Edge]) -> Result<FxHashSet<End>, QueryError> {
        let mut tests = FxHashSet::default();
        for edge in edges {
            let Some(site) = edge.sites.first() else { continue };
            let is_test = self.lookup.place(site.file)?.test
                || match edge.end {
                    End::Symbol(symbol) if edges.len() <= LOOKED_AT => {
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

    /// How many of the unresolved sites with a name count.
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

    /// Takes every site that leads to a symbol.
    fn take_all(
        &self,
        gathered: &mut Gathered,
        symbol: SymbolKey,
        through: Option<Through>,
    ) -> Result<(), QueryError> {
        gathered.reserve(self.lookup.symbol(symbol)?.references as usize);
        let mut taken = Ok(());
        self.lookup.snapshot.visit_sites_to(symbol, |site| {
            taken = self.take(gathered, site, through);
            taken.is_ok()
        })?;
        taken
    }

    /// Takes the calls of variables and fields that functions are put into.
    fn take_held(
        &self,
        gathered: &mut Gathered,
        functions: &[SymbolKey],
    ) -> Result<(), QueryError> {
        for holder in held::holders(self.lookup, functions)? {
            let degree = self.held_by(holder)?.certainty();
            for site in held::calls(self.lookup, holder)? {
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

    /// The functions that a variable or field may hold. Many calls of one body are of the same one.
    fn held_by(&self, holder: SymbolKey) -> Result<Rc<Held>, QueryError> {
        if let Some(known) = self.held.borrow().get(&holder) {
            return Ok(Rc::clone(known));
        }
        let held = Rc::new(held::by(self.lookup, holder)?);
        self.held.borrow_mut().insert(holder, Rc::clone(&held));
        Ok(held)
    }

    fn take(
        &self,
        gathered: &mut Gathered,
        site: SiteRow,
        through: Option<Through>,
    ) -> Result<(), QueryError> {
        self.lookup.check()?;
        if self.counts(&site)? {
            gathered.add(enclosing(&site), through, certainty(&site), site, self.follow);
        }
        Ok(())
    }

    /// Whether a site is of a kind that is followed, and written where it counts.
    fn counts(&self, site: &SiteRow) -> Result<bool, QueryError> {
        if !self.kinds.contains(&site.kind) {
            return Ok(false);
        }
        // Rows are looked at only where they decide: a common name has thousands of sites.
        Ok(match (self.tests, site.enclosing) {
            (Tests::Include, _) => true,
            (tests, Some(enclosing)) => {
                tests.admits(self.lookup.is_test(&*self.lookup.symbol(enclosing)?)?)
            }
            (tests, None) => tests.admits(self.lookup.place(site.file)?.test),
        })
    }

    /// Where a symbol leads.
    pub(in crate::query) fn callees(&self, symbol: SymbolKey) -> Result<Neighbours, QueryError> {
        self.callees_of(&[symbol])
    }

    /// Where any of these symbols leads.
    pub(in crate::query) fn callees_of(
        &self,
        symbols: &[SymbolKey],
    ) -> Result<Neighbours, QueryError> {
        let mut gathered = Gathered::default();
        let mut bodies = Vec::new();
        for &symbol in symbols {
            bodies.extend(self.bodies_of(&*self.lookup.symbol(symbol)?)?);
        }
        let mut seen = FxHashSet::default();
        bodies.retain(|key| seen.insert(*key));
        for key in bodies {
            let body = self.lookup.symbol(key)?;
            for site in self.lookup.snapshot.sites_in(&body)? {
                self.lookup.check()?;
                if self.kinds.contains(&site.kind) {
                    self.take_callee(&mut gathered, site)?;
                }
            }
        }
        Ok(gathered.finish(self.lookup.order(), &FxHashSet::default()))
    }

    fn take_callee(&self, gathered: &mut Gathered, site: SiteRow) -> Result<(), QueryError> {
        let degree = certainty(&site);
        match site.target {
            SiteTarget::Symbol(target) => {
                let target = self.definition_of(target)?;
                if self.tests != Tests::Include
                    && !self.tests.admits(self.lookup.is_test(&*self.lookup.symbol(target)?)?)
                {
                    return Ok(());
                }
                if self.dispatch && degree <= self.follow {
                    for overriding in
                        self.hierarchy(self.lookup.same_thing(target)?, Upwards::No)?
                    {
                        let through = Some(Through::Method(target));
                        gathered.add(
                            End::Symbol(overriding),
                            through,
                            degree,
                            site.clone(),
                            self.follow,
                        );
                    }
                }
                gathered.add(End::Symbol(target), None, degree, site, self.follow);
            }
            SiteTarget::Candidates(set) if degree <= self.follow => {
                gathered.counts.possible += 1;
                for candidate in self.lookup.candidates(set)? {
                    gathered.connect(End::Symbol(candidate), None, degree, site.clone());
                }
            }
            SiteTarget::HeldBy(holder) => {
                let held = self.held_by(holder)?;
                let degree = held.certainty();
                if held.functions.is_empty() || degree > self.follow {
                    gathered.vague(site, degree);
                    return Ok(());
                }
                for &function in &held.functions {
                    gathered.add(
                        End::Symbol(function),
                        Some(Through::Holder(holder)),
                        degree,
                        site.clone(),
                        self.follow,
                    );
                }
            }
            SiteTarget::External(name) => {
                gathered.add(End::External(name), None, degree, site, self.follow)
            }
            SiteTarget::Candidates(_) => gathered.vague(site, degree),
            // A module as a whole is not called; an unresolved site leads nowhere that could be
            // followed.
            SiteTarget::None if site.verdict == Verdict::Resolved => {}
            SiteTarget::None => gathered.vague(site, Certainty::Textual),
        }
        Ok(())
    }

    /// The definition, where a site leads to a declaration of it.
    fn definition_of(&self, symbol: SymbolKey) -> Result<SymbolKey, QueryError> {
        let relations = self.lookup.relations_to(symbol)?;
        let definition = relations.iter().find(|relation| relation.kind == RelationKind::Defines);
        Ok(definition.map_or(symbol, |relation| relation.from))
    }

    /// What a site may lead to that means this symbol: it and its declarations, which are `same`,
    /// for a type its constructors, and for the only constructor of a type the type.
    fn meant_by(
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

    /// The symbols whose sites are those of this one: it, its definition if it is a declaration,
    /// and for a type its only constructor.
    fn bodies_of(&self, row: &SymbolRow) -> Result<Vec<SymbolKey>, QueryError> {
        let mut bodies = self.lookup.same_thing(row.key)?;
        if row.kind.is_type()
            && let [constructor] = self.lookup.constructors_of(row.key)?.as_slice()
        {
            bodies.push(*constructor);
        }
        Ok(bodies)
    }

    /// The methods that one overrides (upwards) or that override it, directly and further away.
    /// `same` are its declarations and itself.
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

/// What a site stands in: a symbol, or the top of a file.
fn enclosing(site: &SiteRow) -> End {
    site.enclosing.map_or(End::File(site.file), End::Symbol)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Upwards {
    Yes,
    No,
}

/// How surely a site leads to its target. A call that leaves the repository is certain: it has no
/// other target; so is one of what a variable or field holds, of that variable or field.
pub(in crate::query) fn certainty(site: &SiteRow) -> Certainty {
    match site.verdict {
        Verdict::Unresolved if site.target != SiteTarget::None => Certainty::Certain,
        Verdict::Resolved | Verdict::External => Certainty::Certain,
        Verdict::Likely => Certainty::Likely,
        Verdict::Ambiguous => Certainty::Possible,
        Verdict::Unresolved => Certainty::Textual,
    }
}
