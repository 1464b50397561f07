//! English stemming, so that `parsed`, `parsing` and `parses` are one term: bases of irregular
//! verbs (`irregular`), then the suffix rules of Porter's algorithm. Input in lower case.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::irregular;

/// Irregular forms by the stem of their base.
static IRREGULAR: LazyLock<FxHashMap<Vec<u8>, Vec<&[u8]>>> = LazyLock::new(|| {
    let mut by_stem: FxHashMap<Vec<u8>, Vec<&[u8]>> = FxHashMap::default();
    for (form, base) in irregular::forms() {
        let mut stemmed = base.to_vec();
        stem(&mut stemmed);
        by_stem.entry(stemmed).or_default().push(form);
    }
    by_stem
});

/// Irregular forms with this stem.
pub(super) fn irregular_forms(stem: &[u8]) -> &'static [&'static [u8]] {
    IRREGULAR.get(stem).map_or(&[], Vec::as_slice)
}

/// Stems a word in place. Words with letters other than a to z are unchanged.
pub fn stem(word: &mut Vec<u8>) {
    if word.len() < 3 || !word.iter().all(u8::is_ascii_lowercase) {
        return;
    }
    irregular::to_base(word);
    plural(word);
    past_or_progressive(word);
    final_y(word);
    replace_first(word, &LONG_SUFFIXES, 1);
    replace_first(word, &MIDDLE_SUFFIXES, 1);
    drop_suffix(word);
    final_e(word);
}

const LONG_SUFFIXES: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const MIDDLE_SUFFIXES: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const DROPPED_SUFFIXES: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => at == 0 || !is_consonant(word, at - 1),
        _ => true,
    }
}

/// Measure of the first `end` letters: number of vowel-consonant transitions.
fn measure(word: &[u8], end: usize) -> usize {
    (1..end).filter(|&at| is_consonant(word, at) && !is_consonant(word, at - 1)).count()
}

fn has_vowel(word: &[u8], end: usize) -> bool {
    (0..end).any(|at| !is_consonant(word, at))
}

fn ends_double(word: &[u8]) -> bool {
    let end = word.len();
    end >= 2 && word[end - 1] == word[end - 2] && is_consonant(word, end - 1)
}

/// True if the first `end` letters end in consonant, vowel, consonant, the last of which is not w,
/// x or y: a short syllable.
fn ends_short(word: &[u8], end: usize) -> bool {
    end >= 3
        && is_consonant(word, end - 1)
        && !is_consonant(word, end - 2)
        && is_consonant(word, end - 3)
        && !matches!(word[end - 1], b'w' | b'x' | b'y')
}

/// Returns the length of the part before the suffix, if the word has it.
fn before(word: &[u8], suffix: &str) -> Option<usize> {
    let (end, suffix) = (word.len().checked_sub(suffix.len())?, suffix.as_bytes());
    // Most words differ in the last two letters.
    let last = |letters: &[u8]| letters.last_chunk::<2>().copied();
    (last(word) == last(suffix) && word[end..] == *suffix).then_some(end)
}

fn plural(word: &mut Vec<u8>) {
    if word.ends_with(b"sses") || word.ends_with(b"ies") {
        word.truncate(word.len() - 2);
    } else if word.ends_with(b"s") && !word.ends_with(b"ss") {
        word.pop();
    }
}

fn past_or_progressive(word: &mut Vec<u8>) {
    if let Some(end) = before(word, "eed") {
        if measure(word, end) > 0 {
            word.pop();
        }
        return;
    }
    let Some(end) =
        before(word, "ed").or_else(|| before(word, "ing")).filter(|&end| has_vowel(word, end))
    else {
        return;
    };
    word.truncate(end);
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending.as_bytes())) {
        word.push(b'e');
    } else if ends_double(word) && !matches!(word.last(), Some(b'l' | b's' | b'z')) {
        word.pop();
    } else if measure(word, word.len()) == 1 && ends_short(word, word.len()) {
        word.push(b'e');
    }
}

fn final_y(word: &mut [u8]) {
    let end = word.len();
    if end > 1 && word[end - 1] == b'y' && has_vowel(word, end - 1) {
        word[end - 1] = b'i';
    }
}

/// Replaces the first of the suffixes that the word has, if the part before it has at least this
/// measure.
fn replace_first(word: &mut Vec<u8>, suffixes: &[(&str, &str)], least: usize) {
    let found =
        suffixes.iter().find_map(|&(suffix, other)| before(word, suffix).map(|end| (end, other)));
    if let Some((end, other)) = found
        && measure(word, end) >= least
    {
        word.truncate(end);
        word.extend_from_slice(other.as_bytes());
    }
}

fn drop_suffix(word: &mut Vec<u8>) {
    // The longest of several matching suffixes counts.
    let ends =
        DROPPED_SUFFIXES.iter().filter_map(|suffix| before(word, suffix).map(|end| (end, *suffix)));
    if let Some((end, suffix)) = ends.min()
        && measure(word, end) > 1
        && (suffix != "ion" || matches!(word[..end].last(), Some(b's' | b't')))
    {
        word.truncate(end);
    }
}

fn final_e(word: &mut Vec<u8>) {
    let end = word.len();
    if word.ends_with(b"e") {
        let left = measure(word, end - 1);
        if left > 1 || (left == 1 && !ends_short(word, end - 1)) {
            word.pop();
        }
    }
    if word.ends_with(b"ll") && measure(word, word.len()) > 1 {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stemmed(word: &str) -> String {
        let mut letters = word.as_bytes().to_vec();
        stem(&mut letters);
        String::from_utf8(letters).expect("stems of text are text")
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            ["apply", "applied", "applies"],
            ["migrate", "migrates", "migration"],
            ["cache", "caches", "cached"],
            ["parse", "parses", "parsing"],
            ["index", "indexes", "indexing"],
            ["validate", "validation", "validator"],
            ["evaluate", "evaluated", "evaluation"],
            ["run", "runs", "running"],
            ["file", "filing", "files"],
            ["resolve", "resolving", "resolved"],
            ["rebuild", "rebuilt", "rebuilding"],
            ["send", "sent", "sends"],
            ["choose", "chosen", "chose"],
            ["write", "written", "writes"],
            ["find", "found", "finding"],
            ["keep", "kept", "keeps"],
            ["override", "overridden", "overrode"],
        ] {
            assert!(
                forms.iter().all(|form| stemmed(form) == stemmed(forms[0])),
                "{forms:?} {:?}",
                forms.map(stemmed)
            );
        }
    }

    #[test]
    fn different_words_have_different_stems() {
        for (one, other) in [
            ("get", "set"),
            ("is", "as"),
            ("process", "proceed"),
            ("string", "strong"),
            ("news", "new_"),
            ("left", "leave"),
            ("bound", "bind"),
            ("sender", "sent_"),
        ] {
            assert_ne!(stemmed(one), stemmed(other));
        }
        for word in ["größe", "ab", "x1y"] {
            assert_eq!(stemmed(word), word);
        }
    }
}
