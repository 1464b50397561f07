//! How well a name fits what was asked. Knows names only, no store.

use regex::{Regex, RegexBuilder};

use super::{Match, SearchMode};
use crate::query::{QueryError, text};

/// What was asked, prepared for a look at every name.
pub(super) enum Pattern {
    /// Words in lower case; the text as given; all words in one.
    Words { words: Vec<String>, text: String, joined: String },
    /// A part in lower case.
    Substring(String),
    /// A regular expression.
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
            SearchMode::Regex => Self::Regex(RegexBuilder::new(asked).size_limit(1 << 20).build().map_err(|error| {
                QueryError::InvalidParameter { parameter: "text", reason: format!("no valid pattern: {error}") }
            })?),
        })
    }

    pub(super) fn has_several_words(&self) -> bool {
        matches!(self, Self::Words { words, .. } if words.len() > 1)
    }

    /// How well a name fits, if it does.
    pub(super) fn fits(&self, name: &str) -> Option<Match> {
        match self {
            Self::Substring(part) => text::contains_ignoring_case(name, part).then_some(Match::Substring),
            Self::Regex(pattern) => pattern.is_match(name).then_some(Match::Regex),
            Self::Words { words, text: asked, joined } => {
                if name == asked {
                    Some(Match::Exact)
                } else if name.eq_ignore_ascii_case(asked) {
                    Some(Match::IgnoringCase)
                } else if !asked.contains(char::is_whitespace) && text::starts_ignoring_case(name, asked) {
                    Some(Match::Prefix)
                } else {
                    as_words(words, joined, name)
                        .or_else(|| text::contains_ignoring_case(name, asked).then_some(Match::Substring))
                }
            }
        }
    }

    /// Whether a name has some of the words.
    pub(super) fn fits_partly(&self, name: &str) -> Option<Match> {
        let Self::Words { words, .. } = self else { return None };
        let may_fit = words.iter().any(|word| text::contains_ignoring_case(name, word));
        let own = if may_fit { text::words(name) } else { return None };
        words.iter().any(|word| own.iter().any(|own| own.starts_with(word.as_str()))).then_some(Match::SomeWords)
    }

    /// Whether a name is the text but for errors in typing.
    pub(super) fn resembles(&self, name: &str) -> Option<Match> {
        let Self::Words { joined, text: asked, .. } = self else { return None };
        let forgiven = text::forgiven_errors(joined.len());
        let near =
            forgiven > 0 && (text::distance(name, asked, forgiven).is_some() || text::distance(name, joined, forgiven).is_some());
        near.then_some(Match::Fuzzy)
    }

    /// Whether every word begins a word of `around`.
    pub(super) fn all_words_in(&self, around: &str) -> bool {
        let Self::Words { words, .. } = self else { return false };
        let own = text::words(around);
        words.iter().all(|word| own.iter().any(|own| own.starts_with(word.as_str())))
    }
}

fn as_words(words: &[String], joined: &str, name: &str) -> Option<Match> {
    // Cheap first: only few names have every word anywhere.
    if words.is_empty() || !words.iter().all(|word| text::contains_ignoring_case(name, word)) {
        return None;
    }
    let own = text::words(name);
    if own.concat() == joined {
        return Some(Match::IgnoringCase);
    }
    let fits = |word: &String| match words.len() {
        1 => own.contains(word),
        _ => own.iter().any(|own| own.starts_with(word.as_str())),
    };
    words.iter().all(fits).then_some(Match::Words)
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
        assert_eq!(misspelt.resembles("get_user"), Some(Match::Fuzzy));
    }
}
