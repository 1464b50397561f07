//! Which symbols a text is about: names in it first, then the symbols that its words fit best.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::model::SymbolKind;
use crate::model::facts::flags;
use crate::query::filter::FileFilter;
use crate::query::lookup::Lookup;
use crate::query::{QueryError, names, text};
use crate::store::{NameKey, NameParts, SymbolHead, SymbolKey, SymbolRow};

/// A name in the text with more symbols than this says little about which one is meant: they compete with all others.
const MAX_MEANT: usize = 4;

/// Symbols that are looked at closely, by documentation and surroundings.
const MAX_CLOSE_LOOKS: usize = 400;

/// Words that say nothing about code.
const EMPTY_WORDS: [&str; 34] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "code", "do", "does", "for", "from", "get", "how", "in", "into", "is", "it",
    "of", "on", "or", "that", "the", "this", "to", "used", "what", "when", "where", "which", "who", "why", "with",
];

/// The outcome.
pub(super) struct Relevant {
    /// The best ones, best first.
    pub(super) keys: Vec<SymbolKey>,
    /// How many symbols have anything to do with the text.
    pub(super) total: u64,
}

struct Scored {
    head: SymbolHead,
    score: f64,
}

pub(super) fn most_relevant(lookup: &Lookup<'_>, filter: &FileFilter, asked: &str, limit: usize) -> Result<Relevant, QueryError> {
    if asked.trim().is_empty() {
        let reason = "it is empty: give words or names of symbols".to_owned();
        return Err(QueryError::InvalidParameter { parameter: "text", reason });
    }
    let mut keys = meant(lookup, filter, asked)?;
    let words = words_of(asked);
    let mut scored = score_names(lookup, filter, &words)?;
    let others = scored.iter().filter(|scored| !keys.contains(&scored.head.key)).count();
    let total = (keys.len() + others) as u64;
    let order = lookup.order();
    let best_first =
        |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then_with(|| order.head(&a.head).cmp(&order.head(&b.head)));
    scored.sort_by(best_first);
    scored.truncate(MAX_CLOSE_LOOKS);
    for entry in &mut scored {
        let row = lookup.symbol(entry.head.key)?;
        entry.score += surroundings(lookup, &row, &words)?;
    }
    scored.sort_by(best_first);
    for entry in scored {
        if keys.len() >= limit {
            break;
        }
        if !keys.contains(&entry.head.key) {
            keys.push(entry.head.key);
        }
    }
    keys.truncate(limit);
    Ok(Relevant { keys, total })
}

/// The symbols that parts of the text name outright.
fn meant(lookup: &Lookup<'_>, filter: &FileFilter, asked: &str) -> Result<Vec<SymbolKey>, QueryError> {
    let mut keys = Vec::new();
    let parts: Vec<&str> =
        asked.split([' ', '\t', '\n', ',', ';']).map(|part| part.trim_matches(['`', '?', '!', '.', '"', '\''])).collect();
    for part in parts.iter().map(|part| part.strip_suffix("()").unwrap_or(part)).filter(|part| !part.is_empty()) {
        lookup.check()?;
        // A common word in lower case is rather a word than the function of that name, unless it stands alone.
        if parts.len() > 1 && EMPTY_WORDS.contains(&part) {
            continue;
        }
        let mut found = names::all(lookup, part)?;
        let mut admitted = Vec::new();
        for symbol in found.drain(..) {
            if lookup.of_file(symbol.file, |file| filter.admits(file))? {
                admitted.push(symbol);
            }
        }
        admitted.sort_by_key(|symbol| {
            (symbol.flags & flags::DECLARATION != 0, Reverse(symbol.references), lookup.order().row(symbol))
        });
        if parts.len() == 1 || admitted.len() <= MAX_MEANT {
            keys.extend(admitted.iter().take(MAX_MEANT).map(|symbol| symbol.key));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    keys.retain(|key| seen.insert(*key));
    Ok(keys)
}

fn words_of(asked: &str) -> Vec<Word> {
    let mut words: Vec<String> =
        asked.split_whitespace().flat_map(text::words).filter(|word| !EMPTY_WORDS.contains(&word.as_str())).collect();
    words.sort_unstable();
    words.dedup();
    words.into_iter().map(|text| Word { stem: text::stem(&text), text }).collect()
}

/// A word of the text with its stem.
struct Word {
    text: String,
    stem: String,
}

impl Word {
    /// How well it fits a word of a name.
    fn fits(&self, own: &str) -> f64 {
        if own == self.text {
            1.0
        } else if text::stem(own) == self.stem {
            0.9
        } else if self.stem.len() >= 4 && own.starts_with(&self.stem) {
            0.6
        } else if own.len() >= 4 && self.text.starts_with(own) {
            0.4
        } else {
            0.0
        }
    }

    /// What every name has that may have it: each way to fit shares its beginning with the text.
    fn head(&self) -> String {
        self.text.chars().take(3).collect()
    }
}

/// Every symbol with one of the words in its name.
fn score_names(lookup: &Lookup<'_>, filter: &FileFilter, words: &[Word]) -> Result<Vec<Scored>, QueryError> {
    let mut names: Vec<(NameKey, Vec<f64>)> = Vec::new();
    let mut frequency = vec![0_u32; words.len()];
    let heads: Vec<String> = words.iter().map(Word::head).collect();
    let wanted = heads.iter().fold(NameParts::none(), |wanted, head| wanted.or_all_of([head.as_str()]));
    lookup.snapshot.visit_names(&wanted, |name| {
        if !heads.iter().any(|head| text::contains_ignoring_case(name.text, head)) {
            return lookup.check().is_ok();
        }
        let own = text::words(name.text);
        let fits: Vec<f64> = words.iter().map(|word| own.iter().map(|own| word.fits(own)).fold(0.0, f64::max)).collect();
        if fits.iter().any(|&fit| fit > 0.0) {
            for (count, fit) in frequency.iter_mut().zip(&fits) {
                *count += u32::from(*fit > 0.0);
            }
            // A name that has little besides the words is more about them.
            let share = fits.iter().sum::<f64>() / own.len().max(1) as f64;
            names.push((name.key, fits.into_iter().map(|fit| fit * (0.5 + 0.5 * share.min(1.0))).collect()));
        }
        lookup.check().is_ok()
    })?;
    let total = names.len().max(1) as f64;
    let rarity: Vec<f64> = frequency.iter().map(|&count| (1.0 + total / f64::from(count.max(1))).ln()).collect();
    let mut scored = Vec::new();
    for (name, fits) in names {
        lookup.check()?;
        let by_name: f64 = fits.iter().zip(&rarity).map(|(fit, rarity)| fit * rarity).sum();
        for head in lookup.snapshot.symbol_heads(name)? {
            let (is_admitted, is_test) = lookup.of_file(head.file, |file| (filter.admits(file), file.test))?;
            if is_admitted {
                let weight = weight_of(&head, head.flags & flags::TEST != 0 || is_test);
                scored.push(Scored { head, score: by_name * weight + f64::from(head.references + 1).ln() * 0.15 });
            }
        }
    }
    Ok(scored)
}

fn weight_of(head: &SymbolHead, is_test: bool) -> f64 {
    let kind = match head.kind {
        kind if kind.is_type() || kind.is_callable() => 1.0,
        SymbolKind::Module | SymbolKind::Namespace => 0.8,
        _ => 0.4,
    };
    let is_minor = head.flags & (flags::LOCAL | flags::DECLARATION) != 0;
    kind * if is_test { 0.4 } else { 1.0 } * if is_minor { 0.6 } else { 1.0 }
}

/// What containers, path and documentation add.
fn surroundings(lookup: &Lookup<'_>, row: &SymbolRow, words: &[Word]) -> Result<f64, QueryError> {
    let mut best: FxHashMap<&str, f64> = FxHashMap::default();
    let mut take = |around: &str, weight: f64| {
        for own in text::words(around) {
            for word in words {
                let entry = best.entry(word.text.as_str()).or_default();
                *entry = entry.max(word.fits(&own) * weight);
            }
        }
    };
    for container in lookup.containers(row)? {
        take(&container.name_text, 0.8);
    }
    take(lookup.place(row.file)?.path.as_str(), 0.5);
    take(&row.doc, 0.4);
    // In the order of the words, so that the sum is always the same.
    Ok(words.iter().filter_map(|word| best.get(word.text.as_str())).sum())
}
