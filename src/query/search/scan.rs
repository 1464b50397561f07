//! Scan of the name index for the best hits. Prefix matches come first, then others, most
//! referenced names first: a scan ends when the list is full of names that outrank everything left,
//! or at the limit of blocks. The result then reports that there may be more.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::context::{self, MAX_RUNS_OF_WORD};
use super::matching::Pattern;
use super::{BLOCKS, BLOCKS_MISSPELT, COUNTED, Filter, Matches, NameFound};
use crate::graph::error::QueryError;
use crate::names::text;
use crate::search::answer::{Match, SearchMode};
use cograph_store::{NameEntry, NameParts, NameRank, NameRuns, NameWalk};

/// Difference in blocks up to which two words are considered equally rare.
const FEW_RUNS: usize = 8;

/// Names found by a scan.
pub(super) struct NameScan<'q> {
    walk: NameWalk<'q>,
    names: Vec<NameFound>,
    /// Number of hits needed; `None` if all blocks are scanned: without a limit, or where a filter
    /// may exclude any hit, so that a list is never known to be full.
    wanted: Option<usize>,
    is_complete: bool,
}

impl<'q> NameScan<'q> {
    pub(super) fn new(filter: &Filter<'_, 'q>, at_most: usize) -> Result<Self, QueryError> {
        let walk = filter.lookup.snapshot.walk_names(at_most)?;
        let may_end_early = at_most != usize::MAX && !filter.is_filtered();
        let wanted = may_end_early.then(|| filter.wanted());
        Ok(Self { walk, names: Vec::new(), wanted, is_complete: true })
    }

    fn runs_with(&self, wanted: &NameParts) -> Result<NameRuns, QueryError> {
        Ok(self.walk.runs_with(wanted)?)
    }

    /// Scans these blocks for matching names, which satisfy `wanted`. If no remaining name can be a
    /// better match than `best_left`, the scan ends when the list is full of names of at least that
    /// quality with more references.
    fn take(
        &mut self,
        filter: &Filter<'_, '_>,
        wanted: &NameParts,
        runs: &NameRuns,
        best_left: Option<Match>,
        mut fits: impl FnMut(&NameEntry<'_>) -> Option<Match>,
    ) -> Result<(), QueryError> {
        let fullness = std::cell::RefCell::new(Fullness {
            wanted: self.wanted,
            best_left,
            symbols: 0,
            uses: BinaryHeap::new(),
        });
        self.names.iter().for_each(|name| fullness.borrow_mut().add(name));
        let names = &mut self.names;
        let is_enough = |most| fullness.borrow().is_full(most);
        self.is_complete &= self.walk.visit(wanted, runs, is_enough, |name| {
            if let Some(matched) = fits(name) {
                let found = NameFound {
                    matched,
                    key: name.key,
                    rank: NameRank::in_order(name.key),
                    figures: name.figures,
                };
                fullness.borrow_mut().add(&found);
                names.push(found);
            }
            filter.lookup.check().is_ok()
        })?;
        filter.lookup.check()
    }

    /// Scans the names added after the blocks were written.
    fn take_later(
        &mut self,
        filter: &Filter<'_, '_>,
        mut fits: impl FnMut(&NameEntry<'_>) -> Option<Match>,
    ) -> Result<(), QueryError> {
        let mut later = Vec::new();
        self.walk.visit_later(|name| {
            later.extend(fits(name).map(|matched| (name.text.to_owned(), (matched, name.key))));
            true
        })?;
        let ranks = filter.lookup.snapshot.rank_later(&mut later)?;
        let later = later.into_iter().zip(ranks);
        self.names.extend(later.map(|((_, (matched, key)), rank)| NameFound {
            matched,
            key,
            rank,
            figures: None,
        }));
        Ok(())
    }

    fn finish(self, filter: &Filter<'_, '_>) -> Result<Matches, QueryError> {
        let mut found = filter.best_of(self.names)?;
        let is_counted = self.wanted.is_none() || found.total <= COUNTED;
        found.is_complete &= self.is_complete && is_counted;
        Ok(found)
    }
}

/// Early termination: true if the list is full of names that outrank everything left, and the
/// total is above what is counted.
struct Fullness {
    wanted: Option<usize>,
    /// Best possible quality of the remaining names.
    best_left: Option<Match>,
    /// Number of symbols found, of any quality.
    symbols: u64,
    /// Numbers of references of the found names of at least that quality: the highest ones, as many
    /// as needed.
    uses: BinaryHeap<Reverse<u32>>,
}

impl Fullness {
    fn add(&mut self, name: &NameFound) {
        self.symbols += u64::from(name.symbols());
        let (Some(wanted), Some(best_left), Some((_, most))) =
            (self.wanted, self.best_left, name.figures)
        else {
            return;
        };
        if name.matched <= best_left {
            self.uses.push(Reverse(most));
            if self.uses.len() > wanted {
                self.uses.pop();
            }
        }
    }

    fn is_full(&self, most_left: u32) -> bool {
        // Strictly more references: among equals the path decides.
        let is_better = |least: &Reverse<u32>| least.0 > most_left;
        self.symbols > COUNTED
            && self.wanted.is_some_and(|wanted| self.uses.len() >= wanted)
            && self.uses.peek().is_some_and(is_better)
    }
}

impl Filter<'_, '_> {
    /// Returns the symbols whose names match, or else the nearest matches.
    pub(super) fn scan(&self, pattern: &Pattern) -> Result<Matches, QueryError> {
        let found = self.fitting(pattern)?;
        if self.params.mode != SearchMode::Words {
            return Ok(found);
        }
        let is_one_name = !pattern.has_spaces();
        // A match of the name takes precedence over words in the context.
        if !pattern.has_several_words() || (is_one_name && !found.is_empty()) {
            return if found.is_empty() {
                self.resembling(pattern, found.is_complete)
            } else {
                Ok(found)
            };
        }
        if found.total >= self.wanted() as u64 {
            return Ok(Matches { is_complete: false, ..found });
        }
        let by_rarity = self.by_rarity(pattern)?;
        let found = self.with_surroundings(pattern, &by_rarity, found)?;
        if !found.is_empty() {
            return Ok(found);
        }
        // A single name is probably misspelt; of several words probably not all are right.
        let was_complete = found.is_complete;
        let first = if is_one_name {
            self.resembling(pattern, was_complete)?
        } else {
            self.with_some_words(pattern, &by_rarity)?
        };
        match (first.is_empty(), is_one_name) {
            (false, _) => Ok(first),
            (true, true) => self.with_some_words(pattern, &by_rarity),
            (true, false) => self.resembling(pattern, was_complete && first.is_complete),
        }
    }

    /// Returns the symbols whose names match.
    pub(super) fn fitting(&self, pattern: &Pattern) -> Result<Matches, QueryError> {
        let fits = |name: &NameEntry<'_>| pattern.fits(name.text);
        let is_bounded = self.params.mode == SearchMode::Words;
        let mut gathering = NameScan::new(self, if is_bounded { BLOCKS } else { usize::MAX })?;
        let wanted = pattern.ways();
        let mut ways =
            wanted.iter().map(|way| gathering.runs_with(way)).collect::<Result<Vec<_>, _>>()?;
        let wanted = wanted.into_iter().fold(NameParts::none(), NameParts::or);
        // The rarest filter first: the limit of blocks would otherwise be exhausted by a frequent
        // one.
        ways.sort_by_key(NameRuns::count);
        if let Some(beginning) = pattern.best_names() {
            let mut runs = gathering.runs_with(&beginning)?;
            if pattern.has_several_words() {
                // Names of exactly these words begin with the first one.
                for way in &ways {
                    let alike = gathering
                        .walk
                        .beginning(way, |beginning, _| pattern.may_be_all_of(beginning));
                    runs = runs.or(&alike);
                }
                gathering.take(self, &wanted, &runs, None, fits)?;
            } else {
                gathering.take(self, &wanted, &runs, Some(Match::Prefix), fits)?;
            }
        }
        for way in &ways {
            if !gathering.is_complete {
                break;
            }
            // Once a single name is found, its words are not searched in all other names.
            if is_bounded
                && !pattern.has_spaces()
                && !gathering.names.is_empty()
                && way.count() > BLOCKS
            {
                gathering.is_complete = false;
                break;
            }
            gathering.take(self, &wanted, way, is_bounded.then_some(Match::Words), fits)?;
        }
        gathering.take_later(self, fits)?;
        gathering.finish(self)
    }

    /// Returns the symbols with misspelt names.
    fn resembling(&self, pattern: &Pattern, was_complete: bool) -> Result<Matches, QueryError> {
        let mut near = pattern.resembling();
        if near.is_empty() {
            return Ok(Matches { is_complete: was_complete, ..Matches::all_of(Vec::new()) });
        }
        let mut gathering = NameScan::new(self, BLOCKS_MISSPELT)?;
        let wanted = pattern.filter_for_misspelt();
        let runs = gathering.runs_with(&wanted)?;
        // No short circuit: each matcher must process every name to keep its state.
        let mut ahead = pattern.resembling();
        let runs = gathering.walk.beginning(&runs, |beginning, shared| {
            ahead
                .iter_mut()
                .filter_map(|text| text.may_begin(beginning, shared).then_some(()))
                .count()
                > 0
        });
        let mut fits = |name: &NameEntry<'_>| {
            (near.iter_mut().filter_map(|text| text.distance(name.text, name.shared)).count() > 0)
                .then_some(Match::Fuzzy)
        };
        gathering.take(self, &wanted, &runs, Some(Match::Fuzzy), &mut fits)?;
        gathering.take_later(self, &mut fits)?;
        let mut found = gathering.finish(self)?;
        found.is_complete &= was_complete;
        Ok(found)
    }

    /// Adds the symbols with some of the words in their name and the others in their context, after
    /// those found by name.
    fn with_surroundings(
        &self,
        pattern: &Pattern,
        by_rarity: &[(usize, usize)],
        mut found: Matches,
    ) -> Result<Matches, QueryError> {
        let Some(&(spread, rarest)) = by_rarity.first() else { return Ok(found) };
        // Words of one or two letters are in most names: the matches so far suffice.
        if spread > BLOCKS && !found.is_empty() {
            found.is_complete = false;
            return Ok(found);
        }
        let around = context::symbols_around(self, pattern, rarest)?;
        found.total += around.found.len() as u64;
        found.is_complete &= around.is_complete;
        found.best.extend(around.found);
        Ok(found)
    }

    /// Returns the words by rarity: number of blocks that may contain it, and its position. Names
    /// are counted for words with similar numbers of blocks, because the contents of a block depend
    /// on the order of insertion.
    fn by_rarity(&self, pattern: &Pattern) -> Result<Vec<(usize, usize)>, QueryError> {
        let mut walk = self.lookup.snapshot.walk_names(0)?;
        let mut spreads = Vec::new();
        for word in pattern.words() {
            spreads.push(walk.runs_with(&NameParts::none().or_all_of([word.as_str()]))?.count());
        }
        let few = spreads.iter().min().map_or(0, |least| least + least / 4 + FEW_RUNS).min(BLOCKS);
        let are_counted = spreads.iter().filter(|spread| **spread <= few).count() > 1;
        let mut words = Vec::new();
        for (place, (word, spread)) in pattern.words().iter().zip(spreads).enumerate() {
            let mut names = 0;
            if are_counted && spread <= few {
                let mut count = |name: &NameEntry<'_>| {
                    names += usize::from(text::contains_ignoring_case(name.text, word));
                    self.lookup.check().is_ok()
                };
                let wanted = NameParts::none().or_all_of([word.as_str()]);
                let runs = walk.runs_with(&wanted)?;
                walk.begin_again(BLOCKS);
                walk.visit(&wanted, &runs, |_| false, &mut count)?;
                walk.visit_later(count)?;
            }
            let rarity = if spread <= few { (0, names) } else { (spread, 0) };
            words.push((rarity, place, spread));
        }
        self.lookup.check()?;
        words.sort_unstable();
        Ok(words.into_iter().map(|(_, place, spread)| (spread, place)).collect())
    }

    /// Returns the symbols with one of the words in their name. The rarest word is searched first,
    /// others within the limit: a frequent word has little information.
    fn with_some_words(
        &self,
        pattern: &Pattern,
        by_rarity: &[(usize, usize)],
    ) -> Result<Matches, QueryError> {
        // Words of one or two letters are skipped if there are too many names, unless there are no
        // others.
        let is_telling = |(spread, place): &&(usize, usize)| {
            *spread <= BLOCKS || pattern.words()[*place].len() > 2
        };
        let telling: Vec<(usize, usize)> = by_rarity.iter().filter(is_telling).copied().collect();
        let words = if telling.is_empty() { by_rarity } else { &telling };
        // In the scanned blocks, names with the other words match as well.
        let any = pattern
            .words()
            .iter()
            .fold(NameParts::none(), |any, word| any.or_all_of([word.as_str()]));
        let mut found = Matches::all_of(Vec::new());
        let mut taken = 0;
        while found.is_empty() && taken < words.len() {
            let mut wanted = NameParts::none();
            let mut runs = 0;
            while let Some(&(spread, place)) = words.get(taken) {
                if runs > 0 && runs + spread > MAX_RUNS_OF_WORD {
                    break;
                }
                runs += spread;
                wanted = wanted.or_all_of([pattern.words()[place].as_str()]);
                taken += 1;
            }
            let was_complete = found.is_complete;
            let mut gathering = NameScan::new(self, MAX_RUNS_OF_WORD)?;
            let runs = gathering.runs_with(&wanted)?;
            let fits = |name: &NameEntry<'_>| pattern.fits_partly(name.text);
            gathering.take(self, &any, &runs, Some(Match::SomeWords), fits)?;
            gathering.take_later(self, fits)?;
            found = gathering.finish(self)?;
            found.is_complete &= was_complete;
        }
        found.is_complete &= taken == by_rarity.len();
        Ok(found)
    }
}
