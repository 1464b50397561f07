//! Cursor over the name index: selects runs by trigrams and common prefix, and visits them by
//! descending reference count, so that a top-k query stops early. Independent of how matches are
//! ranked.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::names::NameEntry;
use crate::format::error::{StoreError, StoreErrorKind};
use crate::format::front_coding::{self, Run};
use crate::format::rows::NameKey;
use crate::format::statements;
use crate::name_index::filter::{CompiledFilter, NameParts};
use crate::read::connection::Snapshot;
use crate::read::name_cache::{NameRuns, RunTops, locked};

/// Cursor over names, run by run; each run is visited once.
pub struct NameWalk<'s> {
    snapshot: &'s Snapshot,
    tops: &'s RunTops,
    /// Names whose counts in the runs are out of date, and whether a symbol still has them.
    changed: FxHashMap<u32, bool>,
    /// Runs with such names: their greatest reference count is unknown.
    unsure: NameRuns,
    visited: NameRuns,
    left: usize,
}

impl<'s> NameWalk<'s> {
    fn new(snapshot: &'s Snapshot, at_most: usize) -> Result<Self, StoreError> {
        let changed: Vec<(u32, bool)> =
            snapshot.all(statements::CHANGED_NAMES, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let tops = snapshot.run_tops()?;
        let none = NameRuns::none(tops.most.len());
        let mut unsure = none.clone();
        changed
            .iter()
            .for_each(|(key, _)| unsure.add((key.saturating_sub(1) / front_coding::RUN) as usize));
        Ok(Self {
            snapshot,
            tops,
            changed: changed.into_iter().collect(),
            unsure,
            visited: none,
            left: at_most,
        })
    }

    /// Starts over, with a new limit of runs.
    pub fn begin_again(&mut self, at_most: usize) {
        self.visited = NameRuns::none(self.tops.most.len());
        self.left = at_most;
    }

    /// Runs that may contain matching names, by posting lists.
    pub fn runs_with(&self, wanted: &NameParts) -> Result<NameRuns, StoreError> {
        let mut runs = NameRuns::none(self.tops.most.len());
        for parts in &wanted.alternatives {
            let mut with_all = NameRuns::every(self.tops.most.len());
            let mut grams: Vec<u32> =
                parts.iter().flat_map(|part| front_coding::grams_of(part)).collect();
            grams.sort_unstable();
            grams.dedup();
            for gram in grams {
                with_all = with_all.and(&*self.runs_with_gram(gram)?);
            }
            runs = runs.or(&with_all);
        }
        for beginning in &wanted.beginnings {
            // Names with a common prefix are adjacent.
            let (first, end) = (
                self.snapshot.first_name_from(beginning)?,
                self.snapshot.first_name_after(beginning)?,
            );
            if first < end {
                ((first - 1) / front_coding::RUN..=(end - 2) / front_coding::RUN)
                    .for_each(|run| runs.add(run as usize));
            }
        }
        Ok(runs)
    }

    fn runs_with_gram(&self, gram: u32) -> Result<Arc<NameRuns>, StoreError> {
        let kept = &self.snapshot.store().name_cache().lists;
        if let Some(runs) = locked(kept).get(&gram) {
            return Ok(Arc::clone(runs));
        }
        let mut runs = NameRuns::none(self.tops.most.len());
        let mut whole = Some(());
        self.snapshot.visit(statements::NAME_GRAM, [gram], |row| {
            whole =
                front_coding::visit_list(row.get_ref(0)?.as_blob()?, |run| runs.add(run as usize));
            Ok(false)
        })?;
        whole.ok_or_else(|| damaged(self.snapshot, "a list of runs cannot be read"))?;
        let runs = Arc::new(runs);
        locked(kept).put(gram, Arc::clone(&runs));
        Ok(runs)
    }

    /// Filters runs by their common prefix. `may_begin` gets the prefix in lower case, and the
    /// number of leading bytes shared with that of its previous call.
    pub fn beginning(
        &self,
        runs: &NameRuns,
        mut may_begin: impl FnMut(&str, usize) -> bool,
    ) -> NameRuns {
        let mut kept = NameRuns::none(self.tops.most.len());
        let mut before = "";
        for run in runs.iter() {
            let beginning = self.tops.beginning(run);
            let shared = beginning
                .bytes()
                .zip(before.bytes())
                .take_while(|(one, other)| one == other)
                .count();
            if may_begin(beginning, shared) {
                kept.add(run);
            }
            before = beginning;
        }
        kept
    }

    /// Passes matching names in these runs to `visit` until it returns false. Before each run
    /// `is_enough` gets the upper bound of reference counts in the remaining runs, and ends the
    /// walk by true. Returns true if nothing was left out.
    pub fn visit(
        &mut self,
        wanted: &NameParts,
        runs: &NameRuns,
        mut is_enough: impl FnMut(u32) -> bool,
        mut visit: impl FnMut(&NameEntry<'_>) -> bool,
    ) -> Result<bool, StoreError> {
        let most_in = |run: usize| match self.unsure.has(run) {
            true => u32::MAX,
            false => self.tops.most.get(run).copied().unwrap_or_default(),
        };
        let mut order: Vec<(Reverse<u32>, usize)> = runs
            .iter()
            .filter(|run| !self.visited.has(*run))
            .map(|run| (Reverse(most_in(run)), run))
            .collect();
        // If the limit cuts the list, only its best part needs to be found, not sorted completely.
        if self.left < order.len() {
            order.select_nth_unstable(self.left);
            order.truncate(self.left + 1);
        }
        order.sort_unstable();
        let filter = CompiledFilter::new(wanted);
        for (Reverse(most), run) in order {
            if self.left == 0 || is_enough(most) {
                return Ok(false);
            }
            self.left -= 1;
            self.visited.add(run);
            if !self.visit_run(&filter, run, &mut visit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn run(&self, at: usize) -> Result<Arc<Run>, StoreError> {
        let kept = &self.snapshot.store().name_cache().runs;
        if let Some(run) = locked(kept).get(&at) {
            return Ok(Arc::clone(run));
        }
        let mut run = None;
        self.snapshot.visit(statements::NAME_RUN, [at + 1], |row| {
            run = Run::read(row.get_ref(0)?.as_blob()?);
            Ok(false)
        })?;
        let run =
            Arc::new(run.ok_or_else(|| damaged(self.snapshot, "a run of names cannot be read"))?);
        locked(kept).put(at, Arc::clone(&run));
        Ok(run)
    }

    fn visit_run(
        &self,
        filter: &CompiledFilter,
        at: usize,
        visit: &mut impl FnMut(&NameEntry<'_>) -> bool,
    ) -> Result<bool, StoreError> {
        let run = self.run(at)?;
        let mut picked = filter.pick(&run);
        // Prefix shared with the last name passed, over the skipped ones.
        let (mut next, mut shared) = (0, usize::MAX);
        while picked != 0 {
            let place = picked.trailing_zeros() as usize;
            picked &= picked - 1;
            let since =
                (next..=place).filter_map(|place| run.entry(place)).map(|entry| entry.shared);
            (next, shared) = (place + 1, since.fold(shared, usize::min));
            let Some(entry) = run.entry(place) else { continue };
            // There are not more names than keys.
            let key =
                u32::try_from(at * front_coding::RUN as usize + place + 1).unwrap_or(u32::MAX);
            let figures = match self.changed.get(&key) {
                None => Some((entry.symbols, entry.references)),
                Some(true) => None,
                // No symbol has this name any more.
                Some(false) => continue,
            };
            if !visit(&NameEntry { key: NameKey(key), text: entry.text, shared, figures }) {
                return Ok(false);
            }
            shared = usize::MAX;
        }
        Ok(true)
    }

    /// Passes all names added after the build to `visit` until it returns false.
    pub fn visit_later(
        &self,
        mut visit: impl FnMut(&NameEntry<'_>) -> bool,
    ) -> Result<(), StoreError> {
        self.snapshot.visit(statements::LATER_SYMBOL_NAMES, [], |row| {
            let key = NameKey(row.get(0)?);
            Ok(visit(&NameEntry { key, text: row.get_ref(1)?.as_str()?, shared: 0, figures: None }))
        })
    }
}

impl Snapshot {
    /// Cursor that visits at most this many runs.
    pub fn walk_names(&self, at_most: usize) -> Result<NameWalk<'_>, StoreError> {
        NameWalk::new(self, at_most)
    }

    /// Passes matching symbol names to `visit` until it returns false. May include others: names
    /// added after the build are not filtered.
    pub fn visit_names(
        &self,
        wanted: &NameParts,
        mut visit: impl FnMut(&NameEntry<'_>) -> bool,
    ) -> Result<(), StoreError> {
        let mut walk = self.walk_names(usize::MAX)?;
        let runs = walk.runs_with(wanted)?;
        if walk.visit(wanted, &runs, |_| false, &mut visit)? {
            walk.visit_later(visit)
        } else {
            Ok(())
        }
    }

    fn run_tops(&self) -> Result<&RunTops, StoreError> {
        let kept = &self.store().name_cache().tops;
        if let Some(known) = kept.get() {
            return Ok(known);
        }
        let mut tops = RunTops::default();
        let packed = self
            .one(statements::NAME_TOPS, [], |row| row.get::<_, Vec<u8>>(0))?
            .unwrap_or_default();
        let whole = front_coding::visit_tops(&packed, |beginning, uses| {
            tops.beginnings.push_str(beginning);
            tops.ends.push(tops.beginnings.len());
            tops.most.push(uses);
        });
        whole.ok_or_else(|| damaged(self, "the tops of runs cannot be read"))?;
        Ok(kept.get_or_init(|| tops))
    }
}

fn damaged(snapshot: &Snapshot, what: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, "reading store", snapshot.store().path(), what)
}
