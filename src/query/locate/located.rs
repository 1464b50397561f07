//! What the search for symbols finds.

use crate::locate::limits::MATCHED;
use crate::locate::question;
use cograph_model::words;
use cograph_store::SymbolHead;
use smallvec::SmallVec;

/// Relevant symbol.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Located {
    /// Symbol.
    pub(crate) head: SymbolHead,
    /// Score, comparable within one answer.
    pub(crate) score: f64,
    /// Matched words with the highest inverse document frequencies, descending, as positions in
    /// [`Location::words`].
    pub(crate) words: SmallVec<[u16; MATCHED]>,
    /// True if the text names it or a line of it.
    pub(crate) is_named: bool,
}

/// Result of the search.
pub(crate) struct Location {
    /// Best symbols, best first.
    pub(crate) symbols: Vec<Located>,
    /// Words of the text.
    pub(crate) words: Vec<String>,
    /// Weight of each word: that in the text by its inverse document frequency.
    pub(crate) weights: Vec<f64>,
    /// Words of the text that are in no file.
    pub(crate) unmatched: Vec<String>,
    /// Number of symbols with a positive score.
    pub(crate) total: u64,
    /// True if only the best files were read.
    pub(crate) is_partial: bool,
    /// Text.
    pub(super) question: question::Question,
}

impl Location {
    /// Words of the text in a line, as positions in `words`.
    pub(crate) fn words_in(&self, line: &str) -> Vec<u16> {
        let mut found = Vec::new();
        let mut add = |word: &mut Vec<u8>| {
            let place = self.question.position_of(word);
            found.extend(place.filter(|place| !found.contains(place)));
        };
        for (_, run) in words::runs(line.as_bytes()) {
            words::parts(run, &mut add);
            add(&mut words::joined(run));
        }
        found
    }
}
