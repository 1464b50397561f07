//! Path patterns, exact or with one `*`, with their targets.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Patterns with their targets. The last of equal patterns wins.
#[derive(Debug)]
pub(super) struct Patterns<T> {
    exact: FxHashMap<String, T>,
    /// Length of the prefix -> prefix -> suffixes with targets.
    starred: BTreeMap<usize, FxHashMap<String, Vec<(String, T)>>>,
}

/// Match of a text.
pub(super) struct Fit<'p, 't, T> {
    /// Rank of the match: exact patterns first, then the longest prefix.
    pub(super) rank: (bool, usize),
    pub(super) target: &'p T,
    /// Text matched by the star; empty without one.
    pub(super) star: &'t str,
}

impl<T> FromIterator<(String, T)> for Patterns<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(patterns: I) -> Self {
        let mut all = Self { exact: FxHashMap::default(), starred: BTreeMap::new() };
        for (pattern, target) in patterns {
            match pattern.split_once('*') {
                None => drop(all.exact.insert(pattern, target)),
                Some((head, tail)) => {
                    let same_head = all
                        .starred
                        .entry(head.len())
                        .or_default()
                        .entry(head.to_owned())
                        .or_default();
                    same_head.push((tail.to_owned(), target));
                }
            }
        }
        all
    }
}

impl<T> Patterns<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.starred.is_empty()
    }

    /// Returns the best match of a text.
    pub(super) fn best<'t>(&self, text: &'t str) -> Option<Fit<'_, 't, T>> {
        if let Some(target) = self.exact.get(text) {
            return Some(Fit { rank: (true, text.len()), target, star: "" });
        }
        self.starred.range(..=text.len()).rev().find_map(|(&length, heads)| {
            let (head, rest) = text.split_at_checked(length)?;
            let (star, target) = heads
                .get(head)?
                .iter()
                .rev()
                .find_map(|(tail, target)| Some((rest.strip_suffix(tail.as_str())?, target)))?;
            Some(Fit { rank: (false, length), target, star })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_that_says_most_fits_best() {
        let all = ["*", "@/*", "@/a/*", "@/a/*.js", "@/a/b", "é*", "@/a/*"];
        let patterns: Patterns<usize> =
            all.iter().zip(0..).map(|(pattern, at)| ((*pattern).to_owned(), at)).collect();
        let best = |text| patterns.best(text).map(|fit| (*fit.target, fit.star));
        assert_eq!(best("@/a/b"), Some((4, "")), "an exact one");
        assert_eq!(best("@/a/c"), Some((6, "c")), "the last of equal ones");
        assert_eq!(best("@/b"), Some((1, "b")));
        assert_eq!(best("è"), Some((0, "è")), "what is before a star ends inside of a letter");
        assert_eq!(best("éa"), Some((5, "a")));
        let none: Patterns<usize> = [("a*a".to_owned(), 0)].into_iter().collect();
        assert!(none.best("a").is_none(), "the star takes what is between");
        assert!(!none.is_empty());
    }
}
