//! Set of visited symbols as a bitset: keys are small integers, and a traversal may visit most of
//! them.

use cograph_store::SymbolKey;

/// Bitset of visited symbols.
#[derive(Default)]
pub(super) struct VisitedSymbols {
    words: Vec<u64>,
}

impl VisitedSymbols {
    /// Marks a symbol. Returns true if it was not marked.
    pub(super) fn insert(&mut self, symbol: SymbolKey) -> bool {
        let (place, bit) = (symbol.0 as usize / 64, 1 << (symbol.0 % 64));
        if place >= self.words.len() {
            self.words.resize(place + 1, 0);
        }
        let word = &mut self.words[place];
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_symbol_is_new_once() {
        let mut seen = VisitedSymbols::default();
        let keys = [0, 1, 63, 64, 65, 5_000_000, 127, 128];
        assert!(keys.iter().all(|&key| seen.insert(SymbolKey(key))));
        assert!(!keys.iter().any(|&key| seen.insert(SymbolKey(key))));
        assert!(seen.insert(SymbolKey(2)));
    }
}
