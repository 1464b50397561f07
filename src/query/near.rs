//! Names that are a text but for a few errors in typing, among many names in order: what was found out about the beginning of a
//! name holds for all that begin alike. Knows no store.

use super::text;
use crate::store::NameParts;

/// A text, and how far the name that was looked at last is from it.
pub(super) struct Near {
    text: String,
    wanted: Vec<char>,
    at_most: usize,
    /// For each beginning of the last name, as far as it was looked at: the distances to each beginning of the text.
    rows: Vec<usize>,
    /// How many letters of the last name have a row.
    known: usize,
    /// After so many letters of the last name it was clear that no name with that beginning is near.
    hopeless_from: Option<usize>,
}

impl Near {
    /// Nothing looked at yet; so many errors are forgiven, counted as by `text::distance`.
    pub(super) fn new(text: &str, at_most: usize) -> Self {
        let wanted: Vec<char> = text.chars().map(|letter| letter.to_ascii_lowercase()).collect();
        let rows = (0..=wanted.len()).collect();
        Self { text: text.to_owned(), wanted, at_most, rows, known: 0, hopeless_from: None }
    }

    /// The number of errors in a name whose first `shared` bytes are those of the name before; none if there are too many.
    pub(super) fn look(&mut self, name: &str, shared: usize) -> Option<usize> {
        self.known = self.known.min(shared);
        if self.hopeless_from.is_some_and(|from| from <= shared) {
            return None;
        }
        self.hopeless_from = None;
        if !name.is_ascii() {
            // Its letters are no bytes: nothing is known for the next.
            self.known = 0;
            return text::distance(name, &self.text, self.at_most);
        }
        if name.len().abs_diff(self.wanted.len()) > self.at_most {
            return None;
        }
        let (letters, width) = (name.as_bytes(), self.wanted.len() + 1);
        for row in self.known..letters.len() {
            let least = self.add_row(letters, row, width);
            self.known = row + 1;
            if least > self.at_most {
                self.hopeless_from = Some(self.known);
                return None;
            }
        }
        Some(self.rows[letters.len() * width + width - 1]).filter(|&errors| errors <= self.at_most)
    }

    /// Writes the row of the beginning that ends with the letter at `row`; gives its least number.
    fn add_row(&mut self, letters: &[u8], row: usize, width: usize) -> usize {
        let letter = |at: usize| char::from(letters[at].to_ascii_lowercase());
        let (last, own) = (row * width, (row + 1) * width);
        self.rows.truncate(own);
        self.rows.push(row + 1);
        let mut least = row + 1;
        for column in 0..self.wanted.len() {
            let is_other = usize::from(letter(row) != self.wanted[column]);
            let mut best =
                (self.rows[last + column] + is_other).min(self.rows[last + column + 1] + 1).min(self.rows[own + column] + 1);
            if row > 0 && column > 0 && letter(row) == self.wanted[column - 1] && letter(row - 1) == self.wanted[column] {
                best = best.min(self.rows[last - width + column - 1] + 1);
            }
            self.rows.push(best);
            least = least.min(best);
        }
        least
    }
}

/// What a name has in it that is a text but for so many errors in typing, or less.
///
/// An error spoils one part of the text, so that of one part more than there are errors one is as it was. Only letters that are
/// swapped where two parts meet spoil both: that is the text with them swapped, with an error less.
pub(super) fn parts_of_near(text: &str, errors: usize) -> NameParts {
    let mut alternatives = Vec::new();
    add_parts(&text.chars().collect::<Vec<char>>(), errors, &mut alternatives);
    alternatives.sort_unstable();
    alternatives.dedup();
    alternatives.iter().fold(NameParts::none(), |parts, part| parts.or_all_of([part.as_str()]))
}

fn add_parts(text: &[char], errors: usize, alternatives: &mut Vec<String>) {
    let cut = |place: usize| text.len() * place / (errors + 1);
    for part in 0..=errors {
        alternatives.push(text[cut(part)..cut(part + 1)].iter().collect());
    }
    for boundary in (1..=errors).map(cut).filter(|boundary| *boundary > 0) {
        let mut swapped = text.to_vec();
        swapped.swap(boundary - 1, boundary);
        add_parts(&swapped, errors - 1, alternatives);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_at_many_names_in_order_is_looking_at_each() {
        let letters = ["a", "b", "ab", "ba", "_", "X", "\u{e9}", "serch", "search", "saerch", "status"];
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
        for (text, at_most) in [("search", 2), ("abab", 1), ("_serchx", 2), ("b\u{e9}a", 1), ("statussearch", 2)] {
            let mut near = Near::new(text, at_most);
            let mut before = "";
            for name in &names {
                let shared = name.bytes().zip(before.bytes()).take_while(|(one, other)| one == other).count();
                let expected = text::distance(name, text, at_most);
                assert_eq!(near.look(name, shared), expected, "{text} {name} after {before}");
                found += usize::from(expected.is_some());
                before = name;
            }
        }
        assert!(found > 10, "{found}");
    }

    #[test]
    fn what_is_near_has_a_part_as_it_was() {
        let mut near = vec!["configure".to_owned()];
        let text = near[0].clone();
        for errors in 1..=2 {
            let mut alternatives = Vec::new();
            add_parts(&text.chars().collect::<Vec<char>>(), errors, &mut alternatives);
            for before in std::mem::take(&mut near) {
                for at in 0..before.len() {
                    let (head, tail) = before.split_at(at);
                    near.extend([format!("{head}#{tail}"), format!("{head}{}", &tail[1..]), format!("{head}#{}", &tail[1..])]);
                    if tail.len() > 1 {
                        near.push(format!("{head}{}{}{}", &tail[1..2], &tail[..1], &tail[2..]));
                    }
                }
            }
            for name in near.iter().filter(|name| text::distance(name, &text, errors).is_some()) {
                assert!(alternatives.iter().any(|part| name.contains(part)), "{name}: {alternatives:?}");
            }
            assert!(near.len() > 30 && alternatives.iter().all(|part| part.len() >= 3), "{alternatives:?}");
        }
    }
}
