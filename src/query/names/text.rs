//! Text functions for names: words and edit distance. Independent of the store.

/// Splits a name into words in lower case: at separators and at `camelCase` boundaries.
pub(crate) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            finish(&mut word, &mut words);
            continue;
        }
        let before = at.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(at + 1);
        let begins_hump = letter.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        // The last capital of a run belongs to the next word: `HTTPServer` is `http`, `server`.
        let ends_run = letter.is_uppercase()
            && before.is_some_and(char::is_uppercase)
            && after.is_some_and(|after| after.is_lowercase());
        if begins_hump || ends_run {
            finish(&mut word, &mut words);
        }
        word.extend(letter.to_lowercase());
    }
    finish(&mut word, &mut words);
    words
}

/// True if one of the words of a name passes. Words of ASCII letters are passed as written, others
/// in lower case.
pub(crate) fn any_word(name: &str, mut passes: impl FnMut(&str) -> bool) -> bool {
    if !name.is_ascii() {
        return words(name).iter().any(|word| passes(word));
    }
    // The same as `words` without allocations: called for hundreds of thousands of names.
    let letters = name.as_bytes();
    let mut start = 0;
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let begins_hump = letter.is_ascii_uppercase()
            && before.is_some_and(|before| before.is_ascii_lowercase() || before.is_ascii_digit());
        let ends_run = letter.is_ascii_uppercase()
            && before.is_some_and(|before| before.is_ascii_uppercase())
            && letters.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let is_letter = letter.is_ascii_alphanumeric();
        if !is_letter || begins_hump || ends_run {
            if start < at && passes(&name[start..at]) {
                return true;
            }
            start = if is_letter { at } else { at + 1 };
        }
    }
    start < letters.len() && passes(&name[start..])
}

/// True if the concatenated words of a name are `joined`, which is in lower case.
pub(crate) fn is_of_words(name: &str, joined: &str) -> bool {
    if !name.is_ascii() {
        return words(name).concat() == joined;
    }
    let letters =
        name.bytes().filter(u8::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase());
    letters.eq(joined.bytes())
}

fn finish(word: &mut String, words: &mut Vec<String>) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// Returns the maximum edit distance for a word of this length.
pub(crate) fn max_edit_distance(length: usize) -> usize {
    match length {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    }
}

/// Edit distance (insertions, deletions, substitutions, transpositions of adjacent letters),
/// ignoring ASCII case; `None` if it exceeds `at_most`.
pub(crate) fn distance(left: &str, right: &str, at_most: usize) -> Option<usize> {
    let fold =
        |text: &str| text.chars().map(|letter| letter.to_ascii_lowercase()).collect::<Vec<char>>();
    if left.len().abs_diff(right.len()) > at_most * 4 {
        return None;
    }
    let (left, right) = (fold(left), fold(right));
    if left.len().abs_diff(right.len()) > at_most {
        return None;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, &here) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &there) in right.iter().enumerate() {
            let mut best = (last[column] + usize::from(here != there))
                .min(last[column + 1] + 1)
                .min(current[column] + 1);
            if row > 0 && column > 0 && here == right[column - 1] && left[row - 1] == there {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        if current.iter().min().is_none_or(|&best| best > at_most) {
            return None;
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().filter(|&errors| errors <= at_most)
}

/// True if `text` contains `part`, ignoring ASCII case.
pub(crate) fn contains_ignoring_case(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let (Some(&first), Some(&last)) = (part.first(), part.last()) else { return true };
    // The first and last letter reject most windows. The cases of an ASCII letter differ by one
    // bit.
    let [first, last] = [first, last]
        .map(|letter| (letter.to_ascii_lowercase(), u8::from(letter.is_ascii_alphabetic()) << 5));
    let is = |letter: u8, (wanted, either): (u8, u8)| letter | either == wanted;
    text.windows(part.len()).any(|window| {
        is(window[0], first)
            && is(window[part.len() - 1], last)
            && window.eq_ignore_ascii_case(part)
    })
}

/// True if `text` begins with `part`, ignoring ASCII case.
pub(crate) fn starts_ignoring_case(text: &str, part: &str) -> bool {
    text.as_bytes().get(..part.len()).is_some_and(|head| head.eq_ignore_ascii_case(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        for (name, expected) in [
            ("getUserName", "get user name"),
            ("HTTPServer", "http server"),
            ("snake_case_name", "snake case name"),
            ("__init__", "init"),
            ("utf8Decode", "utf8 decode"),
            ("XMLHttpRequest2", "xml http request2"),
            ("renders a title", "renders a title"),
            ("ABc2D_e", "a bc2 d e"),
            ("XY", "xy"),
            ("Größe", "größe"),
            ("~", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
            let mut found = Vec::new();
            assert!(!any_word(name, |word| {
                found.push(word.to_lowercase());
                false
            }));
            assert_eq!(found.join(" "), expected, "{name}");
            assert!(any_word(name, |word| !word.is_empty()) != expected.is_empty());
            assert!(
                is_of_words(name, &expected.replace(' ', "")) && !is_of_words(name, "other"),
                "{name}"
            );
        }
    }

    #[test]
    fn parts_are_found_in_any_case() {
        for (text, part, expected) in [
            ("getUserName", "user", true),
            ("getUserName", "NAME", true),
            ("getUserName", "names", false),
            ("ab", "abc", false),
            ("aab", "ab", true),
            ("", "", true),
            ("größe", "ÖSSE", false),
        ] {
            assert_eq!(contains_ignoring_case(text, part), expected, "{part} in {text}");
        }
    }

    #[test]
    fn distance_counts_errors_of_typing() {
        for (left, right, at_most, expected) in [
            ("search", "search", 2, Some(0)),
            ("search", "SEARCH", 0, Some(0)),
            ("search", "saerch", 1, Some(1)),
            ("search", "serch", 1, Some(1)),
            ("search", "searches", 2, Some(2)),
            ("search", "searches", 1, None),
            ("search", "status", 2, None),
            ("", "ab", 2, Some(2)),
        ] {
            assert_eq!(distance(left, right, at_most), expected, "{left} {right}");
        }
    }
}
