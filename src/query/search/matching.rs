//! Matching of names against a search pattern. Independent of the store.

use regex::{Regex, RegexBuilder};
use smallvec::SmallVec;

use crate::graph::error::QueryError;
use crate::names::fuzzy::{self, DistanceMatcher};
use crate::names::text;
use crate::search::answer::{Match, SearchMode};
use cograph_store::NameParts;

/// Compiled search pattern.
pub(super) enum Pattern {
    /// Words in lower case; the text as given; the words concatenated.
    Words { words: Vec<String>, text: String, joined: String },
    /// Substring in lower case.
    Substring(String),
    /// Regular expression.
    Regex(Regex),
}

impl Pattern {
    pub(super) fn new(asked: &str, mode: SearchMode) -> Result<Self, QueryError> {
        Ok(match mode {
            SearchMode::Words | SearchMode::Name => {
                let words: Vec<String> = asked.split_whitespace().flat_map(text::words).collect();
                Self::Words { joined: words.concat(), words, text: asked.to_owned() }
            }
            SearchMode::Substring => Self::Substring(asked.to_ascii_lowercase()),
            SearchMode::Regex => {
                Self::Regex(RegexBuilder::new(asked).size_limit(1 << 20).build().map_err(
                    |error| QueryError::InvalidParameter {
                        parameter: "text",
                        reason: format!("no valid pattern: {error}"),
                    },
                )?)
            }
        })
    }

    pub(super) fn has_several_words(&self) -> bool {
        matches!(self, Self::Words { words, .. } if words.len() > 1)
    }

    /// True if the pattern consists of more than one name.
    pub(super) fn has_spaces(&self) -> bool {
        matches!(self, Self::Words { text, .. } if text.contains(char::is_whitespace))
    }

    /// Returns the quality of the match of a name, if it matches.
    pub(super) fn fits(&self, name: &str) -> Option<Match> {
        match self {
            Self::Substring(part) => {
                text::contains_ignoring_case(name, part).then_some(Match::Substring)
            }
            Self::Regex(pattern) => pattern.is_match(name).then_some(Match::Regex),
            Self::Words { words, text: asked, joined } => {
                if name == asked {
                    Some(Match::Exact)
                } else if name.eq_ignore_ascii_case(asked) {
                    Some(Match::IgnoringCase)
                } else if !asked.contains(char::is_whitespace)
                    && text::starts_ignoring_case(name, asked)
                {
                    Some(Match::Prefix)
                } else {
                    // A word that is no substring of the name is no word of it.
                    let has_text = text::contains_ignoring_case(name, asked);
                    let is_one_word = words.len() == 1 && joined.eq_ignore_ascii_case(asked);
                    let as_words =
                        if has_text || !is_one_word { as_words(words, joined, name) } else { None };
                    as_words.or_else(|| has_text.then_some(Match::Substring))
                }
            }
        }
    }

    /// Returns a match if a name has some of the words.
    pub(super) fn fits_partly(&self, name: &str) -> Option<Match> {
        let Self::Words { words, .. } = self else { return None };
        let fits =
            |word: &String| text::contains_ignoring_case(name, word) && begins_word(name, word);
        words.iter().any(fits).then_some(Match::SomeWords)
    }

    /// Returns filters without false negatives for matching names, one for each kind of match.
    pub(super) fn ways(&self) -> Vec<NameParts> {
        match self {
            Self::Substring(part) => vec![NameParts::none().or_all_of([part.as_str()])],
            Self::Regex(_) => vec![NameParts::every()],
            Self::Words { words, text, .. } => {
                let as_text = NameParts::none().or_all_of([text.as_str()]);
                let as_words = NameParts::none().or_all_of(words.iter().map(String::as_str));
                if words.is_empty() { vec![as_text] } else { vec![as_text, as_words] }
            }
        }
    }

    /// True if a name with the prefix `beginning`, in lower case, may consist of exactly the words,
    /// with any separators.
    pub(super) fn may_be_all_of(&self, beginning: &str) -> bool {
        let Some(first) = self.words().first() else { return false };
        let beginning = beginning.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        beginning.starts_with(first.as_str()) || first.starts_with(beginning)
    }

    /// Returns a filter for the names of the best quality: those with the text as a prefix. `None`
    /// if all matches have the same quality.
    pub(super) fn best_names(&self) -> Option<NameParts> {
        match self {
            Self::Words { text, .. } => Some(NameParts::none().or_beginning_with(text)),
            Self::Substring(_) | Self::Regex(_) => None,
        }
    }

    /// Words in lower case.
    pub(super) fn words(&self) -> &[String] {
        match self {
            Self::Words { words, .. } => words,
            Self::Substring(_) | Self::Regex(_) => &[],
        }
    }

    /// Returns matchers for misspelt names.
    pub(super) fn resembling(&self) -> Vec<DistanceMatcher> {
        let Self::Words { joined, text: asked, .. } = self else { return Vec::new() };
        match text::max_edit_distance(joined.len()) {
            0 => Vec::new(),
            forgiven if joined == asked => vec![DistanceMatcher::new(asked, forgiven)],
            forgiven => {
                vec![DistanceMatcher::new(asked, forgiven), DistanceMatcher::new(joined, forgiven)]
            }
        }
    }

    /// Returns a filter without false negatives for misspelt names.
    pub(super) fn filter_for_misspelt(&self) -> NameParts {
        let Self::Words { joined, text: asked, .. } = self else { return NameParts::none() };
        let forgiven = text::max_edit_distance(joined.len());
        let parts = fuzzy::filter_for_distance(asked, forgiven);
        if joined == asked { parts } else { parts.or(fuzzy::filter_for_distance(joined, forgiven)) }
    }

    /// Returns the words that begin a word of `around`.
    pub(super) fn words_in(&self, around: &str) -> WordSet {
        let Self::Words { words, .. } = self else { return WordSet(SmallVec::new()) };
        // Cheap test first: most texts have none of them.
        let begins = |word: &String| {
            (text::contains_ignoring_case(around, word) || !word.is_ascii())
                && begins_word(around, word)
        };
        WordSet(words.iter().map(begins).collect())
    }
}

/// Subset of the words of a pattern.
#[derive(Clone)]
pub(super) struct WordSet(SmallVec<[bool; 16]>);

impl WordSet {
    /// Adds the words of another set.
    pub(super) fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
    }

    /// True if the set contains the word at a position.
    pub(super) fn has(&self, place: usize) -> bool {
        self.0.get(place).is_some_and(|is_found| *is_found)
    }

    /// True if the set is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|is_found| !is_found)
    }

    /// True if the set has all words.
    pub(super) fn is_complete(&self) -> bool {
        self.0.iter().all(|is_found| *is_found)
    }
}

fn as_words(words: &[String], joined: &str, name: &str) -> Option<Match> {
    // Cheap test first: few names contain every word.
    if words.is_empty() || !words.iter().all(|word| text::contains_ignoring_case(name, word)) {
        return None;
    }
    if text::is_of_words(name, joined) {
        return Some(Match::IgnoringCase);
    }
    let fits = |word: &String| match words.len() {
        1 => text::any_word(name, |own| own.eq_ignore_ascii_case(word)),
        _ => begins_word(name, word),
    };
    words.iter().all(fits).then_some(Match::Words)
}

/// True if a word of the name begins with a word, which is in lower case.
fn begins_word(name: &str, word: &str) -> bool {
    text::any_word(name, |own| text::starts_ignoring_case(own, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_in_degrees() {
        for (asked, name, expected) in [
            ("get_user", "get_user", Some(Match::Exact)),
            ("GET_USER", "get_user", Some(Match::IgnoringCase)),
            ("get user", "getUser", Some(Match::IgnoringCase)),
            ("get", "get_user", Some(Match::Prefix)),
            ("user", "get_user", Some(Match::Words)),
            ("user get", "getUserName", Some(Match::Words)),
            ("use", "get_user", Some(Match::Substring)),
            ("ser", "get_user", Some(Match::Substring)),
            ("t_us", "get_user", Some(Match::Substring)),
            ("get_us", "get_user", Some(Match::Prefix)),
            ("user key", "get_user", None),
            ("==", "operator==", Some(Match::Substring)),
            ("über", "get_user", None),
        ] {
            let pattern = Pattern::new(asked, SearchMode::Words).expect("words are always valid");
            assert_eq!(pattern.fits(name), expected, "{asked} in {name}");
        }
        let misspelt = Pattern::new("get_usre", SearchMode::Words).expect("words are always valid");
        assert_eq!(misspelt.fits("get_user"), None);
        assert!(
            misspelt.resembling().iter_mut().any(|near| near.distance("get_user", 0).is_some())
        );
    }
}
