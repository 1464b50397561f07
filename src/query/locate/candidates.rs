//! Candidate files for a text, by the terms that the store has for each file.

use rustc_hash::FxHashSet;

use super::named::NamedItems;
use super::question::Question;
use super::{scope, weight};
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use crate::locate::limits::{FILES, NAMED_FILES};
use cograph_model::words::{FileWords, Frequency};
use cograph_store::FileKey;

/// Multiple of `FILES` for which the standing is computed.
const STANDING_LOOKS: usize = 4;

/// Candidate file.
pub(super) struct Candidate {
    pub(super) key: FileKey,
    /// Factor for the kind of code: less than 1 for tests and third-party code.
    pub(super) standing: f64,
    /// Factor for the scope of the question: more than 1 for a file in it.
    pub(super) scope: f64,
}

/// Candidate files with statistics of the terms.
pub(super) struct Chosen {
    /// Files, best first.
    pub(super) files: Vec<Candidate>,
    /// Inverse document frequency by word.
    pub(super) idf: Vec<f64>,
    /// Document frequency by word.
    frequency: Vec<u32>,
    /// Files in the scope of the question.
    scope: Scope,
    /// True if further files contain some of the words.
    pub(super) is_partial: bool,
}

impl Chosen {
    /// Returns the words without an occurrence in any file.
    pub(super) fn missing<'a>(&'a self, question: &'a Question) -> impl Iterator<Item = &'a str> {
        let words = question.words[..question.singles].iter().zip(&self.frequency);
        words.filter(|(_, count)| **count == 0).map(|(word, _)| word.text.as_str())
    }

    /// Returns the weight of each word in the question by its inverse document frequency.
    pub(super) fn weights(&self, question: &Question) -> Vec<f64> {
        let words = question.words[..question.singles].iter().zip(&self.idf);
        words.map(|(word, idf)| word.weight * idf).collect()
    }

    /// Adds the files of named symbols that are not among the candidates.
    pub(super) fn add_named(
        &mut self,
        lookup: &Lookup<'_>,
        named: &NamedItems,
        wants_tests: bool,
    ) -> Result<(), QueryError> {
        let known: FxHashSet<FileKey> = self.files.iter().map(|file| file.key).collect();
        let mut files: Vec<(FileKey, f64)> =
            named.files.iter().map(|(key, strength)| (*key, *strength)).collect();
        files.retain(|(key, _)| !known.contains(key));
        let order = lookup.order();
        files.sort_by(|one, other| {
            other.1.total_cmp(&one.1).then_with(|| order.file(one.0).cmp(&order.file(other.0)))
        });
        for (key, _) in files.into_iter().take(NAMED_FILES) {
            let standing = standing_of(lookup, key, wants_tests)?;
            let scope = self.scope.of(key);
            self.files.push(Candidate { key, standing, scope });
        }
        Ok(())
    }
}

/// Files in the scope of the question.
struct Scope(FxHashSet<FileKey>);

impl Scope {
    /// Factor for a file.
    fn of(&self, key: FileKey) -> f64 {
        if self.0.contains(&key) { weight::SCOPE } else { 1.0 }
    }
}

/// Scores of all files by their terms.
struct FileScores {
    /// Files that have some of the words.
    raw: Vec<(f64, FileKey)>,
    idf: Vec<f64>,
    frequency: Vec<u32>,
}

/// Computes the BM25 score of every file. Each file's terms are added in the order of the words, so
/// that the sums do not depend on whether the file has changed since the index of terms was made.
fn score(lookup: &Lookup<'_>, question: &Question) -> Result<FileScores, QueryError> {
    // Lengths of files in words: by key those in the index of terms; then those of changed files.
    let mut lengths = vec![None];
    lengths.extend(lookup.snapshot.file_lengths()?);
    let indexed = lengths.len();
    let mut later = Vec::new();
    let mut of_later: Vec<Vec<(usize, Frequency)>> = vec![Vec::new(); question.singles];
    lookup.snapshot.visit_later_words(|key, words| {
        if let Some(length) = lengths[..indexed].get_mut(key.0 as usize) {
            *length = None;
        }
        let Some(words) = words.and_then(FileWords::read) else { return };
        let place = lengths.len();
        lengths.push(Some(words.length));
        later.push(key);
        for (term, frequency) in words {
            if let Some(word) = question.word_of(term) {
                of_later[usize::from(word)].push((place, frequency));
            }
        }
    })?;
    lookup.check()?;
    let files = lengths.iter().flatten().count();
    let words: u64 = lengths.iter().flatten().copied().map(u64::from).sum();
    let average = (words as f64 / files.max(1) as f64).max(1.0);
    let norm = |length: u32| 0.7 * (0.5 + 0.5 * f64::from(length) / average);
    let norms: Vec<Option<f64>> = lengths.iter().map(|length| length.map(norm)).collect();
    let mut scores = vec![0.0; norms.len()];
    let (mut idfs, mut frequencies) = (Vec::new(), Vec::new());
    let mut postings: Vec<(usize, Frequency)> = Vec::new();
    for ((term, word), of_later) in
        question.single_terms().into_iter().zip(&question.words).zip(of_later)
    {
        lookup.check()?;
        postings.clear();
        lookup.snapshot.visit_postings(term, |key, frequency| {
            let place = key.0 as usize;
            if matches!(norms[..indexed].get(place), Some(Some(_))) {
                postings.push((place, frequency));
            }
        })?;
        postings.extend(of_later);
        let idf = idf(files as f64, postings.len() as f64);
        for &(place, frequency) in &postings {
            let count = f64::from(frequency.count());
            scores[place] += idf * word.weight * count / (count + norms[place].unwrap_or(1.0));
        }
        idfs.push(idf);
        frequencies.push(u32::try_from(postings.len()).unwrap_or(u32::MAX));
    }
    let keys = (0..).map(FileKey).take(indexed).chain(later);
    let scored = scores.into_iter().zip(keys).filter(|(score, _)| *score > 0.0);
    Ok(FileScores { raw: scored.collect(), idf: idfs, frequency: frequencies })
}

/// Selects the candidate files.
pub(super) fn choose(
    lookup: &Lookup<'_>,
    filter: &FileFilter,
    question: &Question,
    named: &NamedItems,
) -> Result<Chosen, QueryError> {
    let FileScores { mut raw, idf, frequency } = score(lookup, question)?;
    if filter.is_active() {
        let mut admitted = Vec::new();
        for file in raw {
            if lookup.of_file(file.1, |mark| filter.admits(mark))? {
                admitted.push(file);
            }
        }
        raw = admitted;
    }
    let scope = Scope(scope::files(lookup, question.scope.as_deref())?);
    for (score, key) in &mut raw {
        *score *= scope.of(*key);
    }
    let order = lookup.order();
    let by_score = |one: &(f64, FileKey), other: &(f64, FileKey)| {
        other.0.total_cmp(&one.0).then_with(|| order.file(one.1).cmp(&order.file(other.1)))
    };
    let (all, limit) = (raw.len(), FILES);
    // The standing needs a row of the file: computed only for files that may be among the best.
    if raw.len() > limit * STANDING_LOOKS {
        raw.select_nth_unstable_by(limit * STANDING_LOOKS, by_score);
        raw.truncate(limit * STANDING_LOOKS);
    }
    let mut scored = Vec::with_capacity(raw.len());
    for (score, key) in raw {
        let standing = standing_of(lookup, key, question.wants_tests)?;
        let scope = scope.of(key);
        scored.push((score * standing.max(0.3), Candidate { key, standing, scope }));
    }
    let total: f64 = scored.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    for (score, file) in &mut scored {
        if let Some(strength) = named.files.get(&file.key) {
            *score += strength * total;
        }
    }
    scored.sort_by(|one, other| {
        other.0.total_cmp(&one.0).then_with(|| order.file(one.1.key).cmp(&order.file(other.1.key)))
    });
    let is_partial = all > limit;
    scored.truncate(limit);
    for (_, file) in &mut scored {
        let row = lookup.file(file.key)?;
        let is_minified = row.size > u64::from(row.lines.max(1)) * BYTES_OF_LONG_LINES;
        if row.generated || is_minified {
            file.standing = file.standing.min(STANDING_ASIDE);
        }
    }
    Ok(Chosen {
        files: scored.into_iter().map(|(_, file)| file).collect(),
        idf,
        frequency,
        scope,
        is_partial,
    })
}

/// Inverse document frequency of a word: `having` of `all` files or symbols contain it.
pub(super) fn idf(all: f64, having: f64) -> f64 {
    (1.0 + ((all - having).max(0.0) + 0.5) / (having + 0.5)).ln().powf(weight::IDF_EXPONENT)
}

/// Names of directories outside of the program itself.
const ASIDE: [&str; 42] = [
    "test",
    "tests",
    "__tests__",
    "testing",
    "testdata",
    "testutil",
    "spec",
    "specs",
    "fixture",
    "fixtures",
    "e2e",
    "integration",
    "example",
    "examples",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "doc",
    "docs",
    "www",
    "website",
    "site",
    "vendor",
    "vendored",
    "third_party",
    "thirdparty",
    "deps",
    "node_modules",
    "dist",
    "generated",
    "fuzz",
    "sandbox",
    ".github",
    "script",
    "scripts",
    "ci",
    "tools",
    "bundled",
    "samples",
    "demo",
    "demos",
];

/// Average line length in bytes above which a file is considered minified.
const BYTES_OF_LONG_LINES: u64 = 300;

/// Factor for code outside of the program itself: examples, vendored, generated, minified code.
const STANDING_ASIDE: f64 = 0.2;

/// Factor for test code.
pub(super) const STANDING_OF_TESTS: f64 = 0.4;

/// Factor for data: keys and values are no code that does something.
const STANDING_OF_DATA: f64 = 0.4;

fn standing_of(lookup: &Lookup<'_>, key: FileKey, wants_tests: bool) -> Result<f64, QueryError> {
    let (standing, language) =
        lookup.of_file(key, |mark| (standing(mark.path, mark.test, wants_tests), mark.language))?;
    Ok(if lookup.has_data(language) { standing.min(STANDING_OF_DATA) } else { standing })
}

/// Factor for the code of a file.
pub(super) fn standing(path: &str, is_test: bool, wants_tests: bool) -> f64 {
    if is_test {
        return if wants_tests { 1.0 } else { STANDING_OF_TESTS };
    }
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_aside = directories.split('/').any(|part| ASIDE.contains(&part));
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let looks_aside = [".min.", ".pb.", "_generated.", ".d.", ".test.", ".spec.", ".bench."]
        .iter()
        .any(|mark| name.contains(mark))
        || ["test_", "conftest", "setup"].iter().any(|start| stem.starts_with(start))
        || ["_test", "_tests", "_spec", "_bench", "Test", "Tests"]
            .iter()
            .any(|end| stem.ends_with(end));
    if is_aside || looks_aside { if wants_tests { 0.8 } else { STANDING_ASIDE } } else { 1.0 }
}
