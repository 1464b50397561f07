//! Cache of the name index while a store is open: runs, headers of all runs, posting lists of
//! trigrams.

use parking_lot::{Mutex, MutexGuard};
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use lru::LruCache;

use crate::format::front_coding::Run;

/// Capacity in runs: all runs of about ten thousand names. A run takes about 9 kB.
const CACHED_RUNS: NonZeroUsize = NonZeroUsize::new(384).expect("it is not zero");

/// Capacity in posting lists. A list takes one bit per run of the store.
const CACHED_LISTS: NonZeroUsize = NonZeroUsize::new(512).expect("it is not zero");

/// Cache of the name index, which is immutable while a store is open.
#[derive(Debug)]
pub(crate) struct NameCache {
    pub(crate) tops: OnceLock<RunTops>,
    pub(crate) runs: Mutex<LruCache<usize, Arc<Run>>>,
    /// By trigram.
    pub(crate) lists: Mutex<LruCache<u32, Arc<NameRuns>>>,
}

impl Default for NameCache {
    fn default() -> Self {
        let (runs, lists) =
            (Mutex::new(LruCache::new(CACHED_RUNS)), Mutex::new(LruCache::new(CACHED_LISTS)));
        Self { tops: OnceLock::new(), runs, lists }
    }
}

/// The lock is held for a cache access only.
pub(crate) fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock()
}

/// Headers of all runs.
#[derive(Debug, Default)]
pub(crate) struct RunTops {
    /// Concatenated common prefixes.
    pub(crate) beginnings: String,
    /// By run: end of its prefix.
    pub(crate) ends: Vec<usize>,
    /// By run: greatest reference count.
    pub(crate) most: Vec<u32>,
}

impl RunTops {
    pub(crate) fn beginning(&self, run: usize) -> &str {
        let start = run.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.beginnings[start..self.ends[run]]
    }
}

/// Set of runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameRuns {
    bits: Vec<u64>,
}

impl NameRuns {
    pub(crate) fn none(runs: usize) -> Self {
        Self { bits: vec![0; runs.div_ceil(64)] }
    }

    pub(crate) fn every(runs: usize) -> Self {
        let mut every = Self { bits: vec![u64::MAX; runs.div_ceil(64)] };
        if let Some(last) = every.bits.last_mut().filter(|_| !runs.is_multiple_of(64)) {
            *last >>= 64 - runs % 64;
        }
        every
    }

    pub(crate) fn add(&mut self, run: usize) {
        // Ignores a run number out of range, from a damaged list.
        if let Some(bits) = self.bits.get_mut(run / 64) {
            *bits |= 1 << (run % 64);
        }
    }

    pub(crate) fn has(&self, run: usize) -> bool {
        self.bits.get(run / 64).is_some_and(|bits| bits >> (run % 64) & 1 == 1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let in_word = |(at, bits): (usize, &u64)| {
            std::iter::successors(Some(*bits).filter(|bits| *bits != 0), |bits| {
                Some(bits & (bits - 1)).filter(|bits| *bits != 0)
            })
            .map(move |bits| at * 64 + bits.trailing_zeros() as usize)
        };
        self.bits.iter().enumerate().flat_map(in_word)
    }

    /// Number of runs.
    pub fn count(&self) -> usize {
        self.bits.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Union.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        self.bits.iter_mut().zip(&other.bits).for_each(|(own, other)| *own |= other);
        self
    }

    /// Intersection.
    #[must_use]
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.bits.iter_mut().zip(&other.bits).for_each(|(own, other)| *own &= other);
        self
    }
}
