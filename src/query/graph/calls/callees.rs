//! Callees of a symbol: the targets of calls in its bodies, and functions that these name.

use super::gathered::EdgeCollector;
use super::{CallGraph, Upwards};
use crate::graph::answer::Certainty;
use crate::graph::calls::edge::{End, Neighbours, Through, certainty};
use crate::graph::error::QueryError;
use cograph_faults::{Fault, planted};
use cograph_model::facts::flags;
use cograph_model::{SiteKind, SymbolKind, Verdict};
use cograph_store::{SiteRow, SiteTarget, SymbolKey};
use rustc_hash::FxHashSet;

impl CallGraph<'_, '_> {
    /// Returns the callees of a symbol.
    pub(crate) fn callees(&self, symbol: SymbolKey) -> Result<Neighbours, QueryError> {
        self.callees_of(&[symbol])
    }

    /// Returns the callees of any of these symbols.
    pub(crate) fn callees_of(&self, symbols: &[SymbolKey]) -> Result<Neighbours, QueryError> {
        let mut gathered = EdgeCollector::default();
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
                } else if self.passed && site.kind == SiteKind::Read {
                    self.take_passed(&mut gathered, site)?;
                }
            }
        }
        Ok(gathered.finish(self.lookup.order(), &FxHashSet::default()))
    }

    fn take_callee(&self, gathered: &mut EdgeCollector, site: SiteRow) -> Result<(), QueryError> {
        let degree = certainty(&site);
        match site.target {
            SiteTarget::Symbol(target) => self.take_target(gathered, &site, target)?,
            SiteTarget::Candidates(set) if site.verdict == Verdict::Resolved => {
                for variant in self.lookup.candidates(set)? {
                    self.take_target(gathered, &site, variant)?;
                }
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
                // What a library wraps (`f = debounce(() => ..)`) belongs to the variable.
                if held.functions.is_empty() && self.has_calls_of_its_own(holder)? {
                    gathered.add(End::Symbol(holder), None, Certainty::Likely, site, self.follow);
                    return Ok(());
                }
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
            // A module is not callable; an unresolved site has no target to follow.
            SiteTarget::None if site.verdict == Verdict::Resolved => {}
            SiteTarget::None => gathered.vague(site, Certainty::Textual),
        }
        Ok(())
    }

    /// Collects a function that is named without a call.
    fn take_passed(&self, gathered: &mut EdgeCollector, site: SiteRow) -> Result<(), QueryError> {
        let SiteTarget::Symbol(target) = site.target else { return Ok(()) };
        let target = self.definition_of(target)?;
        let row = self.lookup.symbol(target)?;
        let is_function = matches!(row.kind, SymbolKind::Function | SymbolKind::Method);
        if is_function && row.flags & flags::PROPERTY == 0 && self.admits(target)? {
            let through = Some(Through::Passed(target));
            gathered.add(End::Symbol(target), through, Certainty::Possible, site, self.follow);
        }
        Ok(())
    }

    /// Collects a proven or likely target of a call, with the methods that override it.
    fn take_target(
        &self,
        gathered: &mut EdgeCollector,
        site: &SiteRow,
        target: SymbolKey,
    ) -> Result<(), QueryError> {
        let (degree, target) = (certainty(site), self.definition_of(target)?);
        if !self.admits(target)? {
            return Ok(());
        }
        if self.dispatch && degree <= self.follow && !planted(Fault::NoDispatch) {
            for overriding in self.hierarchy(self.lookup.same_entity(target)?, Upwards::No)? {
                if !self.admits(overriding)? {
                    continue;
                }
                let through = Some(Through::Method(target));
                gathered.add(End::Symbol(overriding), through, degree, site.clone(), self.follow);
            }
        }
        gathered.add(End::Symbol(target), None, degree, site.clone(), self.follow);
        Ok(())
    }

    /// True for a variable or field in whose value calls stand.
    fn has_calls_of_its_own(&self, holder: SymbolKey) -> Result<bool, QueryError> {
        let row = self.lookup.symbol(holder)?;
        let mut sites = self.lookup.snapshot.sites_in(&row)?.into_iter();
        Ok(sites.any(|site| matches!(site.kind, SiteKind::Call | SiteKind::Construct)))
    }
}
