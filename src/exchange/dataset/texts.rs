//! SCIP symbols of a repository by number: those of its symbols in the order of their keys, those
//! of its files, and those outside.

use rustc_hash::FxHashMap;

use cograph_store::SymbolKey;

/// No symbol.
pub(crate) const NONE: u32 = u32::MAX;

/// SCIP symbols.
#[derive(Default)]
pub(crate) struct Texts {
    all: String,
    /// End of each in `all`.
    ends: Vec<usize>,
    /// Number by the key of a symbol.
    of_symbols: Vec<u32>,
    /// Number by the position of a file.
    of_files: Vec<u32>,
    of_outside: FxHashMap<Box<str>, u32>,
}

impl Texts {
    fn push(&mut self, text: &str) -> u32 {
        self.all.push_str(text);
        self.ends.push(self.all.len());
        self.ends.len() as u32 - 1
    }

    pub(crate) fn push_symbol(&mut self, key: SymbolKey, text: &str) {
        let (number, place) = (self.push(text), key.0 as usize);
        if self.of_symbols.len() <= place {
            self.of_symbols.resize(place + 1, NONE);
        }
        self.of_symbols[place] = number;
    }

    /// The next file.
    pub(crate) fn push_file(&mut self, text: &str) {
        let number = self.push(text);
        self.of_files.push(number);
    }

    /// Number of a SCIP symbol outside of the repository.
    pub(crate) fn outside(&mut self, text: String) -> u32 {
        if let Some(known) = self.of_outside.get(text.as_str()) {
            return *known;
        }
        let number = self.push(&text);
        self.of_outside.insert(text.into_boxed_str(), number);
        number
    }

    /// Number of a symbol; `NONE` if there is none with this key.
    pub(crate) fn symbol(&self, key: SymbolKey) -> u32 {
        self.of_symbols.get(key.0 as usize).copied().unwrap_or(NONE)
    }

    /// Number of a file.
    pub(crate) fn file(&self, place: usize) -> u32 {
        self.of_files.get(place).copied().unwrap_or(NONE)
    }

    pub(crate) fn text(&self, number: u32) -> Option<&str> {
        let number = number as usize;
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.all[start..end])
    }

    /// Rank of each number that is in `used`, by its text; equal texts have one rank. That of
    /// `NONE` and of others is the last.
    pub(crate) fn ranks(&self, used: impl Iterator<Item = u32>) -> Ranks {
        let mut is_used = vec![false; self.ends.len()];
        for number in used.filter(|number| *number != NONE) {
            is_used[number as usize] = true;
        }
        let numbers = (0..).zip(is_used).filter_map(|(number, is_used)| is_used.then_some(number));
        let mut sorted: Vec<(&str, u32)> =
            numbers.filter_map(|number: u32| Some((self.text(number)?, number))).collect();
        sorted.sort_unstable();
        let mut ranks = vec![NONE; self.ends.len()];
        for (rank, group) in (0..).zip(sorted.chunk_by(|one, next| one.0 == next.0)) {
            for (_, number) in group {
                ranks[*number as usize] = rank;
            }
        }
        Ranks(ranks)
    }
}

/// Ranks by number.
pub(crate) struct Ranks(Vec<u32>);

impl Ranks {
    pub(crate) fn of(&self, number: u32) -> u32 {
        self.0.get(number as usize).copied().unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_to_texts_and_ranks_are_in_their_order() {
        let mut texts = Texts::default();
        texts.push_file("f");
        texts.push_symbol(SymbolKey(3), "b");
        texts.push_symbol(SymbolKey(1), "a");
        let outside = texts.outside("b".to_owned());
        assert_eq!(texts.outside("b".to_owned()), outside);
        assert_eq!(texts.symbol(SymbolKey(2)), NONE);
        assert_eq!(texts.symbol(SymbolKey(9)), NONE);
        let [file, b, a] = [texts.file(0), texts.symbol(SymbolKey(3)), texts.symbol(SymbolKey(1))];
        assert_eq!(
            [file, b, a].map(|number| texts.text(number)),
            [Some("f"), Some("b"), Some("a")]
        );
        assert_eq!((texts.text(NONE), texts.file(1)), (None, NONE));
        let ranks = texts.ranks([b, outside, a, NONE].into_iter());
        assert_eq!([a, b, outside, file, NONE].map(|one| ranks.of(one)), [0, 1, 1, NONE, NONE]);
    }
}
