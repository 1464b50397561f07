//! Cache of the sites of frequently referenced symbols while a store is open: they are scattered
//! over the file, so reading them is slow, and a queried symbol is often queried again. Knows no
//! SQL.

use lru::LruCache;
use parking_lot::Mutex;
use std::sync::Arc;

use crate::format::rows::{Identity, SiteRow, SymbolKey};

/// Symbols with fewer sites are not cached.
const MIN_SITES: usize = 500;

/// Capacity in sites, for all symbols; a symbol with more is not cached. A site takes about 50
/// bytes.
pub(super) const MAX_SITES: usize = 60_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct SiteCache {
    of_state: Mutex<Option<OfState>>,
}

/// Entries of one generation. Bounded by their sites, not by their number.
#[derive(Debug)]
struct OfState {
    state: Identity,
    symbols: LruCache<SymbolKey, Arc<[SiteRow]>>,
}

impl SiteCache {
    /// Cached sites of a symbol.
    pub(crate) fn get(&self, state: Identity, symbol: SymbolKey) -> Option<Arc<[SiteRow]>> {
        let mut kept = self.of_state.lock();
        let symbols = &mut kept.as_mut().filter(|kept| kept.state == state)?.symbols;
        symbols.get(&symbol).cloned()
    }

    /// Caches all sites of a symbol, if there are many.
    pub(crate) fn keep(&self, state: Identity, symbol: SymbolKey, sites: Vec<SiteRow>) {
        if !(MIN_SITES..=MAX_SITES).contains(&sites.len()) {
            return;
        }
        let mut kept = self.of_state.lock();
        let symbols = match &mut *kept {
            Some(kept) if kept.state == state => &mut kept.symbols,
            other => &mut other.insert(OfState { state, symbols: LruCache::unbounded() }).symbols,
        };
        symbols.put(symbol, sites.into());
        while symbols.iter().map(|(_, sites)| sites.len()).sum::<usize>() > MAX_SITES {
            symbols.pop_lru();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileKey, NameKey, SiteKey, SiteTarget};
    use cograph_model::{Position, SiteKind, Step, Verdict};

    fn sites(count: usize) -> Vec<SiteRow> {
        let site = SiteRow {
            key: SiteKey(1),
            file: FileKey(1),
            enclosing: None,
            name: NameKey(1),
            kind: SiteKind::Call,
            at: Position { line: 1, column: 0 },
            verdict: Verdict::Resolved,
            step: Step::Lexical,
            target: SiteTarget::None,
        };
        vec![site; count]
    }

    #[test]
    fn what_is_kept_is_bounded_and_of_one_state() {
        let kept = SiteCache::default();
        let state = |generation| Identity { uid: 1, generation };
        let known = |generation, symbol| {
            kept.get(state(generation), SymbolKey(symbol)).map(|sites| sites.len())
        };
        kept.keep(state(1), SymbolKey(1), sites(MIN_SITES - 1));
        kept.keep(state(1), SymbolKey(1), sites(MAX_SITES + 1));
        assert_eq!(known(1, 1), None, "few, or too many");
        let third = MAX_SITES / 3;
        (1..=3).for_each(|symbol| kept.keep(state(1), SymbolKey(symbol), sites(third)));
        assert_eq!(
            (known(1, 2), known(1, 3), known(1, 1)),
            (Some(third), Some(third), Some(third))
        );
        kept.keep(state(1), SymbolKey(4), sites(third));
        assert_eq!(
            (known(1, 2), known(1, 1), known(1, 4)),
            (None, Some(third), Some(third)),
            "the least recently used goes"
        );
        assert_eq!(known(2, 1), None);
        kept.keep(state(2), SymbolKey(1), sites(third));
        assert_eq!((known(1, 1), known(2, 1)), (None, Some(third)));
    }
}
