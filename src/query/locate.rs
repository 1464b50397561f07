//! Full-text search for symbols: ranks the symbols relevant to a text, such as a few words, a
//! question, or an issue with code and a stack trace.
//!
//! `question` parses the text. `candidates` selects files by the terms that the store has for each
//! (see `model::words`) and prefers those that the text gives as its `scope`. `units` reads what
//! the store has of their symbols and counts term frequencies by field: names, containers, paths,
//! signatures, documentation, bodies. `rank` computes a BM25F score, adds symbols that the text
//! names explicitly (`named`), and propagates scores along calls (`spread`).

mod candidates;
mod named;
mod question;
mod rank;
mod scope;
mod spread;
mod units;
mod weight;

use super::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use cograph_model::words;
use cograph_store::SymbolHead;
use smallvec::SmallVec;

/// Maximum number of files whose symbols are ranked for one question, best first.
pub const FILES: usize = 80;
/// Maximum number of additional files that contain named symbols.
pub const NAMED_FILES: usize = 60;
/// Maximum number of names in a text that are looked up.
pub const NAMES: usize = 400;
/// Maximum number of meanings of a name; one with more is ignored.
pub const MEANINGS: usize = 40;
/// Maximum number of symbols of one name that are checked against a qualified name.
pub const BEARERS: usize = 2_000;
/// Number of best symbols whose calls are read.
pub const CALLING: usize = 150;

/// Maximum number of matched words that are reported for a symbol.
const MATCHED: usize = 4;

/// Relevant symbol.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Located {
    /// Symbol.
    pub(super) head: SymbolHead,
    /// Score, comparable within one answer.
    pub(super) score: f64,
    /// Matched words with the highest inverse document frequencies, descending, as positions in
    /// [`Location::words`].
    pub(super) words: SmallVec<[u16; MATCHED]>,
    /// True if the text names it or a line of it.
    pub(super) is_named: bool,
}

/// Result of the search.
pub(super) struct Location {
    /// Best symbols, best first.
    pub(super) symbols: Vec<Located>,
    /// Words of the text.
    pub(super) words: Vec<String>,
    /// Weight of each word: that in the text by its inverse document frequency.
    pub(super) weights: Vec<f64>,
    /// Words of the text that are in no file.
    pub(super) unmatched: Vec<String>,
    /// Number of symbols with a positive score.
    pub(super) total: u64,
    /// True if only the best files were read.
    pub(super) is_partial: bool,
    /// Text.
    question: question::Question,
}

impl Location {
    /// Words of the text in a line, as positions in `words`.
    pub(super) fn words_in(&self, line: &str) -> Vec<u16> {
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

/// Finds at most `limit` symbols.
pub(super) fn locate(
    lookup: &Lookup<'_>,
    filter: &FileFilter,
    text: &str,
    limit: usize,
) -> Result<Location, QueryError> {
    let question = question::Question::read(text);
    let mut named = named::named(lookup, filter, &question)?;
    let mut chosen = candidates::choose(lookup, filter, &question, &named)?;
    if question.is_short {
        let missing: Vec<&str> = chosen.missing(&question).collect();
        named::nearest(lookup, filter, &missing, &mut named)?;
    }
    chosen.add_named(lookup, &named, question.wants_tests)?;
    let units = units::read_units(lookup, &question, &chosen)?;
    let mut scored = rank::score(&question, &chosen, &units);
    spread::spread(lookup, &units, &mut scored)?;
    let ranked = rank::best(lookup, &question, &chosen, units, scored, &named, limit)?;
    Ok(Location {
        symbols: ranked.symbols,
        words: question.words[..question.singles].iter().map(|word| word.text.clone()).collect(),
        weights: chosen.weights(&question),
        unmatched: chosen.missing(&question).map(str::to_owned).collect(),
        total: ranked.total,
        is_partial: chosen.is_partial,
        question,
    })
}
