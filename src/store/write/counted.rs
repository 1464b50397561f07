//! How often symbols are referred to after a change: as before, without what the change takes away and with what it adds. Costs
//! what the change concerns, however large the graph is.

use rustc_hash::FxHashMap;

use super::amend::Amendment;
use super::numbering::{leads_to, symbols_in};
use crate::faults::{Fault, planted};
use crate::model::graph::SymbolRef;

/// The counts of files in which they may be others now.
#[derive(Debug)]
pub(super) struct Recounted<'k> {
    /// By positions before the change.
    known: &'k [Vec<u32>],
    /// Where each file was before, by its position now.
    origins: &'k [Option<usize>],
    /// By position now.
    others: FxHashMap<usize, Vec<u32>>,
}

impl<'k> Recounted<'k> {
    /// Counts again what `amendment` changes; `known` are the counts before it.
    pub(super) fn new(known: &'k [Vec<u32>], amendment: &'k Amendment<'_>) -> Self {
        let mut recounted = Self { known, origins: amendment.origins, others: FxHashMap::default() };
        let gone = amendment.replaced.iter().chain(amendment.resolved.iter().map(|(_, before)| before));
        for symbol in gone.flat_map(leads_to).filter(|_| !planted(Fault::StaleCount)) {
            // Files that are gone have no counts any more.
            if let Some(count) = recounted.count(symbol) {
                *count -= 1;
            }
        }
        let graph = amendment.graph;
        for place in amendment.changed.iter().map(|file| file.0 as usize) {
            recounted.of_file(place).resize(symbols_in(&graph.files[place]), 0);
        }
        let again = amendment.changed.iter().chain(amendment.resolved.iter().map(|(file, _)| file));
        for symbol in again.flat_map(|file| leads_to(&graph.resolutions[file.0 as usize])) {
            *recounted.count(symbol).expect("sites lead to files that are there") += 1;
        }
        recounted
    }

    /// The counts of a file.
    pub(super) fn get(&self, place: usize) -> &[u32] {
        self.others.get(&place).map(Vec::as_slice).or_else(|| self.before(place)).unwrap_or_default()
    }

    /// The counts of a file before, if it was there.
    pub(super) fn before(&self, place: usize) -> Option<&[u32]> {
        self.origins[place].map(|origin| self.known[origin].as_slice())
    }

    /// The files of which counts may be others than before, in order.
    pub(super) fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = self.others.keys().copied().collect();
        places.sort_unstable();
        places
    }

    /// The counts that may be others, by position.
    pub(super) fn into_others(self) -> FxHashMap<usize, Vec<u32>> {
        self.others
    }

    fn of_file(&mut self, place: usize) -> &mut Vec<u32> {
        let (known, origin) = (self.known, self.origins[place]);
        self.others.entry(place).or_insert_with(|| origin.map(|origin| known[origin].clone()).unwrap_or_default())
    }

    fn count(&mut self, SymbolRef { file, symbol }: SymbolRef) -> Option<&mut u32> {
        let place = file.0 as usize;
        (place < self.origins.len()).then(|| &mut self.of_file(place)[symbol.0 as usize])
    }
}
