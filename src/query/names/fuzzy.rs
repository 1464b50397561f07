//! Bounded edit distance between a text and many sorted names: rows of the distance matrix are
//! shared by names with a common prefix. Independent of the store.

use std::collections::BTreeSet;

use super::text;
use cograph_store::NameParts;

/// Length of a trigram.
const TRIGRAM: usize = 3;

/// Text with the distance matrix of the last name.
pub(crate) struct DistanceMatcher {
    text: String,
    wanted: Vec<char>,
    at_most: usize,
    /// Rows of the distance matrix: for each prefix of the last name the distances to each prefix
    /// of the text.
    rows: Vec<usize>,
    /// Number of valid rows.
    known: usize,
    /// Length of a prefix whose distances all exceed the limit: no name with that prefix matches.
    rejected_from: Option<usize>,
}

impl DistanceMatcher {
    /// Creates an empty matrix with a maximum distance, as defined by `text::distance`.
    pub(crate) fn new(text: &str, at_most: usize) -> Self {
        let wanted: Vec<char> = text.chars().map(|letter| letter.to_ascii_lowercase()).collect();
        let rows = (0..=wanted.len()).collect();
        Self { text: text.to_owned(), wanted, at_most, rows, known: 0, rejected_from: None }
    }

    /// Returns the distance of a name that shares its first `shared` bytes with the previous one;
    /// `None` if it exceeds the limit.
    pub(crate) fn distance(&mut self, name: &str, shared: usize) -> Option<usize> {
        self.known = self.known.min(shared);
        if self.rejected_from.is_some_and(|from| from <= shared) {
            return None;
        }
        self.rejected_from = None;
        if !name.is_ascii() {
            // Bytes are not characters: the rows are invalid for the next name.
            self.known = 0;
            return text::distance(name, &self.text, self.at_most);
        }
        if name.len().abs_diff(self.wanted.len()) > self.at_most {
            return None;
        }
        if !self.add_rows(name.as_bytes()) {
            return None;
        }
        let width = self.wanted.len() + 1;
        Some(self.rows[name.len() * width + width - 1]).filter(|&errors| errors <= self.at_most)
    }

    /// True if a name with the prefix `beginning` may match; the first `shared` bytes are those of
    /// the previous name.
    pub(crate) fn may_begin(&mut self, beginning: &str, shared: usize) -> bool {
        self.known = self.known.min(shared);
        if self.rejected_from.is_some_and(|from| from <= shared) {
            return false;
        }
        self.rejected_from = None;
        if !beginning.is_ascii() {
            self.known = 0;
            return true;
        }
        self.add_rows(beginning.as_bytes())
    }

    /// Computes missing rows; false if no name with that prefix matches.
    fn add_rows(&mut self, letters: &[u8]) -> bool {
        let width = self.wanted.len() + 1;
        for row in self.known..letters.len() {
            let least = self.add_row(letters, row, width);
            self.known = row + 1;
            if least > self.at_most {
                self.rejected_from = Some(self.known);
                return false;
            }
        }
        true
    }

    /// Computes the row of the prefix that ends with the letter at `row`; returns its minimum.
    fn add_row(&mut self, letters: &[u8], row: usize, width: usize) -> usize {
        let letter = |at: usize| char::from(letters[at].to_ascii_lowercase());
        let (last, own) = (row * width, (row + 1) * width);
        self.rows.truncate(own);
        self.rows.push(row + 1);
        let mut least = row + 1;
        for column in 0..self.wanted.len() {
            let is_other = usize::from(letter(row) != self.wanted[column]);
            let mut best = (self.rows[last + column] + is_other)
                .min(self.rows[last + column + 1] + 1)
                .min(self.rows[own + column] + 1);
            if row > 0
                && column > 0
                && letter(row) == self.wanted[column - 1]
                && letter(row - 1) == self.wanted[column]
            {
                best = best.min(self.rows[last - width + column - 1] + 1);
            }
            self.rows.push(best);
            least = least.min(best);
        }
        least
    }
}

/// Returns a filter with no false negatives for names within this edit distance of a text.
///
/// An edit changes one part of the text, so of `errors + 1` parts one is unchanged; if that is the
/// first one, the name begins with it. Only a transposition across a boundary changes two parts: it
/// is covered by the text with these letters swapped and one error less.
pub(crate) fn filter_for_distance(text: &str, errors: usize) -> NameParts {
    let mut parts = NameSplit::default();
    parts.add(&text.chars().collect::<Vec<char>>(), errors);
    let named =
        parts.inside.iter().fold(NameParts::none(), |named, part| named.or_all_of([part.as_str()]));
    parts.first.iter().fold(named, |named, part| named.or_beginning_with(part))
}

#[derive(Default)]
struct NameSplit {
    first: BTreeSet<String>,
    inside: BTreeSet<String>,
}

impl NameSplit {
    fn add(&mut self, text: &[char], errors: usize) {
        // Parts are looked up by trigrams, a prefix by any length.
        let length = text.len().div_ceil(errors + 1).max(TRIGRAM).min(text.len() / errors.max(1));
        let cuts: Vec<usize> =
            (0..=errors).map(|part| text.len() - (errors - part) * length).collect();
        self.first.insert(text[..cuts[0]].iter().collect());
        self.inside.extend(cuts.windows(2).map(|cut| text[cut[0]..cut[1]].iter().collect()));
        for &cut in cuts[..errors].iter().filter(|cut| **cut > 0) {
            let mut swapped = text.to_vec();
            swapped.swap(cut - 1, cut);
            self.add(&swapped, errors - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_rows_do_not_change_distances() {
        let letters =
            ["a", "b", "ab", "ba", "_", "X", "\u{e9}", "serch", "search", "saerch", "status"];
        let mut names: Vec<String> = Vec::new();
        for one in letters {
            for two in letters {
                for three in letters {
                    names.push(format!("{one}{two}{three}"));
                }
            }
        }
        names.sort();
        let mut found = 0;
        for (text, at_most) in
            [("search", 2), ("abab", 1), ("_serchx", 2), ("b\u{e9}a", 1), ("statussearch", 2)]
        {
            let mut near = DistanceMatcher::new(text, at_most);
            let mut before = "";
            for name in &names {
                let shared = name
                    .bytes()
                    .zip(before.bytes())
                    .take_while(|(one, other)| one == other)
                    .count();
                let expected = text::distance(name, text, at_most);
                assert_eq!(near.distance(name, shared), expected, "{text} {name} after {before}");
                found += usize::from(expected.is_some());
                before = name;
            }
        }
        assert!(found > 10, "{found}");
    }

    #[test]
    fn the_distance_filter_has_no_false_negatives() {
        let mut near = vec!["configure".to_owned()];
        let text = near[0].clone();
        for errors in 1..=2 {
            let mut parts = NameSplit::default();
            parts.add(&text.chars().collect::<Vec<char>>(), errors);
            let NameSplit { first, inside } = parts;
            for before in std::mem::take(&mut near) {
                for at in 0..before.len() {
                    let (head, tail) = before.split_at(at);
                    near.extend([
                        format!("{head}#{tail}"),
                        format!("{head}{}", &tail[1..]),
                        format!("{head}#{}", &tail[1..]),
                    ]);
                    if tail.len() > 1 {
                        near.push(format!("{head}{}{}{}", &tail[1..2], &tail[..1], &tail[2..]));
                    }
                }
            }
            for name in near.iter().filter(|name| text::distance(name, &text, errors).is_some()) {
                let has_part = inside.iter().any(|part| name.contains(part))
                    || first.iter().any(|part| name.starts_with(part));
                assert!(has_part, "{name}: {first:?} {inside:?}");
            }
            assert!(
                near.len() > 30 && first.iter().chain(&inside).all(|part| part.len() >= 3),
                "{first:?} {inside:?}"
            );
        }
    }
}
