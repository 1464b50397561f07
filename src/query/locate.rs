//! Full-text search for symbols: ranks the symbols relevant to a text, such as a few words, a
//! question, or an issue with code and a stack trace.
//!
//! `question` parses the text. `candidates` selects files by the terms that the store has for each
//! (see `model::words`) and prefers those that the text gives as its `scope`. `units` reads what
//! the store has of their symbols and counts term frequencies by field: names, containers, paths,
//! signatures, documentation, bodies. `rank` computes a BM25F score, adds symbols that the text
//! names explicitly (`named`), and propagates scores along calls (`spread`).

mod candidates;
mod limits;
pub(crate) mod located;
mod named;
mod question;
mod rank;
mod scope;
mod spread;
mod units;
mod weight;

use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
pub use limits::{BEARERS, CALLING, FILES, MEANINGS, NAMED_FILES, NAMES};
use located::Location;

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
