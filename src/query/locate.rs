//! Which symbols a text is about, whatever it is: a few words, a question, an issue with code and a
//! stack trace.
//!
//! `asked` reads the text. `candidates` chooses files by the words that the store keeps of each
//! (see `model::words`). `units` looks into these files and counts where the words stand: in names,
//! containers, paths, signatures, documentation, bodies. `rank` makes one score of that, adds what
//! the text names outright (`named`), and lets neighbours in the graph speak for each other
//! (`spread`).

mod asked;
mod candidates;
mod named;
mod prose;
mod rank;
mod spread;
mod units;
mod weight;

use super::{QueryError, ReadFile};
use crate::query::graph::filter::FileFilter;
use crate::query::graph::lookup::Lookup;
use crate::store::{FileKey, SymbolKey};

/// Files that are looked into for one question, those that fit best first.
pub const FILES: usize = 100;
/// Files that are looked into besides because the text names something in them.
pub const NAMED_FILES: usize = 60;
/// Bytes of source that are looked through for one question.
pub const SOURCE_BYTES: usize = 12 << 20;
/// Names in a text that are looked up.
pub const NAMES: usize = 400;
/// A name with more meanings than this says too little about which one is meant.
pub const MEANINGS: usize = 40;
/// Symbols of one name that are looked at to find out which of them a qualified name means.
pub const BEARERS: usize = 2_000;
/// Symbols with the best scores, whose calls are looked at.
pub const CALLING: usize = 150;

/// A symbol that the text is about.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Located {
    /// The symbol.
    pub(super) key: SymbolKey,
    /// Its file.
    pub(super) file: FileKey,
    /// How well it fits: comparable within one answer.
    pub(super) score: f64,
    /// The words of the text that it has, the most telling first.
    pub(super) words: Vec<String>,
    /// Whether the text names it or a line of it.
    pub(super) is_named: bool,
}

/// The outcome.
pub(super) struct Location {
    /// The best ones, best first.
    pub(super) symbols: Vec<Located>,
    /// How many symbols were found to have anything to do with the text.
    pub(super) total: u64,
    /// Whether only the files were looked into that fit best.
    pub(super) is_partial: bool,
}

/// Finds at most `limit` symbols.
pub(super) fn locate(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    filter: &FileFilter,
    text: &str,
    limit: usize,
) -> Result<Location, QueryError> {
    let asked = asked::Asked::read(text);
    let mut named = named::named(lookup, filter, &asked)?;
    let mut chosen = candidates::choose(lookup, filter, &asked, &named)?;
    if asked.is_short {
        let missing: Vec<&str> = chosen.missing(&asked).collect();
        named::nearest(lookup, filter, &missing, &mut named)?;
    }
    chosen.add_named(lookup, &named, asked.wants_tests)?;
    let units = units::look_into(lookup, files, &asked, &chosen)?;
    let mut scored = rank::score(&asked, &chosen, &units);
    spread::spread(lookup, &units, &mut scored)?;
    rank::best(lookup, &asked, &chosen, units, scored, &named, limit)
}
