//! BM25F score of every unit, and the order of the answer.

use super::candidates::{self, Chosen};
use super::named::NamedItems;
use super::question::Question;
use super::units::{FIELDS, Unit};
use super::weight::{self, FIELD, LENGTH, SATURATION};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::locate::limits::MATCHED;
use crate::locate::located::Located;
use cograph_model::facts::flags;
use smallvec::SmallVec;

/// Ranked units.
pub(super) struct Ranked {
    /// Best symbols, best first.
    pub(super) symbols: Vec<Located>,
    /// Number of symbols with a positive score.
    pub(super) total: u64,
}

/// Computes the score of every unit from its own terms.
pub(super) fn score(question: &Question, chosen: &Chosen, units: &[Unit]) -> Vec<f64> {
    let count = units.len().max(1) as f64;
    let mut average = [0.0_f64; FIELDS];
    for unit in units {
        average.iter_mut().zip(unit.lengths).for_each(|(sum, length)| *sum += f64::from(length));
    }
    average.iter_mut().for_each(|sum| *sum = (*sum / count).max(1e-9));
    let mut having = vec![0_u32; question.words.len()];
    for unit in units {
        unit.hits.iter().for_each(|(word, _)| having[usize::from(*word)] += 1);
    }
    let idf: Vec<f64> = having
        .iter()
        .enumerate()
        .map(|(word, &having)| {
            // Compounds have no document frequency in the store: theirs is that among the
            // candidates.
            let idf = chosen
                .idf
                .get(word)
                .copied()
                .unwrap_or_else(|| candidates::idf(count, f64::from(having)));
            idf * question.words[word].weight
        })
        .collect();
    let all: f64 = idf[..question.singles].iter().sum::<f64>().max(1e-9);
    units
        .iter()
        .map(|unit| {
            let singles = unit.hits.iter().map(|(word, _)| usize::from(*word));
            let covered: f64 =
                singles.filter(|&word| word < question.singles).map(|word| idf[word]).sum();
            let coverage = (weight::UNCOVERED + covered / all).powf(weight::COVERAGE);
            let norm: Vec<f64> = (0..FIELDS)
                .map(|at| 1.0 - LENGTH[at] + LENGTH[at] * f64::from(unit.lengths[at]) / average[at])
                .collect();
            let own: f64 = unit
                .hits
                .iter()
                .map(|(word, counts)| {
                    let x: f64 =
                        (0..FIELDS).map(|at| FIELD[at] * f64::from(counts[at]) / norm[at]).sum();
                    idf[usize::from(*word)] * x * (SATURATION + 1.0) / (SATURATION + x)
                })
                .sum();
            let kind = if unit.head.kind.is_callable() { 1.0 } else { weight::NOT_CALLABLE };
            let size =
                (f64::from(unit.lines + 1).log2() / weight::LARGE).min(1.0).powf(weight::SIZE);
            let file = &chosen.files[unit.file as usize];
            let standing = file.standing;
            let standing = if unit.head.flags & flags::TEST != 0 && !question.wants_tests {
                standing.min(candidates::STANDING_OF_TESTS)
            } else {
                standing
            };
            own * coverage * standing * file.scope * kind * size
        })
        .collect()
}

/// Ranks the units.
pub(super) fn best(
    lookup: &Lookup<'_>,
    question: &Question,
    chosen: &Chosen,
    units: Vec<Unit>,
    mut scores: Vec<f64>,
    named: &NamedItems,
    limit: usize,
) -> Result<Ranked, QueryError> {
    let mut of_file = vec![0.0_f64; chosen.files.len()];
    for (unit, &score) in units.iter().zip(&scores) {
        let best = &mut of_file[unit.file as usize];
        *best = best.max(score);
    }
    let most = scores.iter().copied().fold(0.0, f64::max).max(1e-9);
    for (unit, score) in units.iter().zip(&mut scores) {
        let is_named = named.symbols.get(&unit.head.key).copied().unwrap_or_default();
        if *score > 0.0 {
            *score += weight::OF_FILE * of_file[unit.file as usize];
            *score += most
                * weight::NAMED_FILE
                * named.files.get(&unit.head.file).copied().unwrap_or_default();
        }
        *score += most * weight::NAMED * is_named;
    }
    let mut order: Vec<usize> = (0..units.len()).filter(|&at| scores[at] > 0.0).collect();
    let total = order.len() as u64;
    let ranks = lookup.order();
    let rank = |at: usize| ranks.head(&units[at].head);
    order.sort_by(|&one, &other| {
        scores[other].total_cmp(&scores[one]).then_with(|| rank(one).cmp(&rank(other)))
    });
    let place = places(question, chosen);
    let mut kept: Vec<Located> = Vec::new();
    for at in order {
        if kept.len() >= limit {
            break;
        }
        let unit = &units[at];
        let mut words: SmallVec<[u16; MATCHED]> = unit
            .hits
            .iter()
            .map(|(word, _)| *word)
            .filter(|&word| usize::from(word) < question.singles)
            .collect();
        words.sort_unstable_by_key(|&word| place[usize::from(word)]);
        words.truncate(MATCHED);
        kept.push(Located {
            head: unit.head,
            score: scores[at],
            words,
            is_named: named.symbols.contains_key(&unit.head.key),
        });
    }
    Ok(Ranked { symbols: kept, total })
}

/// Returns the place of each word of the question in order of weighted inverse document frequency,
/// descending.
fn places(question: &Question, chosen: &Chosen) -> Vec<usize> {
    let weights = chosen.weights(question);
    let weight = |word: usize| weights[word];
    let text = |word: usize| &question.words[word].text;
    let mut order: Vec<usize> = (0..question.singles).collect();
    order.sort_by(|&one, &other| {
        weight(other).total_cmp(&weight(one)).then_with(|| text(one).cmp(text(other)))
    });
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &word)| places[word] = place);
    places
}
