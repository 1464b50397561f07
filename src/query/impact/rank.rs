//! Evidence that a test exercises a change, and its weight.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::dependents::Way;
use crate::graph::answer::SymbolInfo;
use cograph_model::words::{Term, parts, runs, stem, term, terms_of};

/// Evidence about one test case.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Evidence {
    /// The test itself is changed.
    pub changed: bool,
    /// Whether a recorded run of it executed changed symbols with their bodies before the change,
    /// from 0 for none to 1 for all of those that are recorded.
    pub executed: f32,
    /// Number of references to a changed symbol; 0 if none was found.
    pub distance: u32,
    /// True if all of them are calls.
    pub by_calls: bool,
    /// Number of imports from its file to a changed one: at most two, or more if nothing nearer
    /// leads to a test; 0 otherwise.
    pub imports: u32,
    /// Likeness of the names of its file and of a changed one.
    pub alike: f32,
    /// Share of the words in the name of its file that the change has, rare ones first.
    pub stem: f32,
    /// Share of the commits of a changed file in which its file changed as well.
    pub together: f32,
    /// Share of the words of the changed lines that its body has, rare ones first.
    pub lines: f32,
    /// The same of the words in the names of changed symbols.
    pub names: f32,
    /// The same words in its own name and in those of what contains it.
    pub title: f32,
    /// It may lead to a changed symbol: nothing is known about a use of that name.
    pub possible: bool,
}

/// Class of a test: the strongest evidence about it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TestClass {
    /// It is changed itself.
    Changed,
    /// A recorded run of it executed a changed symbol.
    Executed,
    /// It calls a changed symbol, through others or not.
    Calls,
    /// It refers to one in another way, or is set up by what does.
    Uses,
    /// Its file imports a changed one.
    Imports,
    /// Its file changed in the same commits.
    Together,
    /// Its file is named like a changed one.
    Alike,
    /// A use in it may be one of a changed symbol.
    Possible,
}

impl TestClass {
    /// Word for answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Executed => "executed",
            Self::Calls => "calls",
            Self::Uses => "uses",
            Self::Imports => "imports",
            Self::Together => "changed together",
            Self::Alike => "named alike",
            Self::Possible => "possible",
        }
    }
}

/// Weights of the evidence, rounded from those that `scripts/accuracy impact --weights` chooses;
/// that of an execution is no estimate, and more than what is likely to add up without one.
struct Weights {
    changed: f32,
    executed: f32,
    /// Of a direct reference; one more step multiplies it by `step`.
    reached: f32,
    step: f32,
    /// Of a reference that is no call.
    uses: f32,
    imports: f32,
    imports_second: f32,
    alike: f32,
    /// Part of a likeness that the words in the name of a file are.
    stem: f32,
    together: f32,
    lines: f32,
    names: f32,
    title: f32,
    possible: f32,
}

const WEIGHTS: Weights = Weights {
    changed: 20.0,
    executed: 16.0,
    reached: 2.2,
    step: 0.75,
    uses: 0.75,
    imports: 0.8,
    imports_second: 0.5,
    alike: 2.0,
    stem: 0.9,
    together: 2.0,
    lines: 3.5,
    names: 2.0,
    title: 5.0,
    possible: 0.5,
};

/// Least score of a test in an answer, unless that of the best one is low: then this share of it.
const LEAST: f32 = 2.0;
const LEAST_SHARE: f32 = 0.3;

/// Least score of a test in an answer whose best test has this one.
pub(super) fn least(best: f32) -> f32 {
    LEAST.min(best * LEAST_SHARE)
}

/// Least likeness of file names that is evidence by itself.
const ALIKE: f32 = 0.99;
/// Least share of the words in the name of a file that is evidence by itself.
const STEM: f32 = 0.6;
/// Least share of commits that is evidence by itself.
const TOGETHER: f32 = 0.2;

impl Evidence {
    /// Weighted sum.
    pub fn score(&self) -> f32 {
        let w = &WEIGHTS;
        let flag = |is: bool, weight: f32| if is { weight } else { 0.0 };
        let reached = match self.distance {
            0 => 0.0,
            // A distance is at most that of the traversal.
            far => w.reached * w.step.powi(i32::try_from(far - 1).unwrap_or(i32::MAX)),
        };
        flag(self.changed, w.changed)
            + w.executed * self.executed
            + reached * if self.by_calls { 1.0 } else { w.uses }
            + flag(self.imports == 1, w.imports)
            + flag(self.imports > 1, w.imports_second)
            + w.alike * self.alike.max(w.stem * self.stem)
            + w.together * self.together
            + w.lines * self.lines
            + w.names * self.names
            + w.title * self.title
            + flag(self.possible, w.possible)
    }

    /// Strongest evidence; none if there is nothing that would select the test.
    pub fn class(&self) -> Option<TestClass> {
        [
            (self.changed, TestClass::Changed),
            (self.executed > 0.0, TestClass::Executed),
            (self.distance > 0 && self.by_calls, TestClass::Calls),
            (self.distance > 0, TestClass::Uses),
            (self.imports == 1 || self.imports > 2, TestClass::Imports),
            (self.together >= TOGETHER, TestClass::Together),
            (self.alike >= ALIKE || self.stem >= STEM, TestClass::Alike),
            (self.possible, TestClass::Possible),
        ]
        .into_iter()
        .find_map(|(is, class)| is.then_some(class))
    }

    /// Applies a way to a changed symbol, if it is shorter.
    pub(super) fn reach(&mut self, distance: u32, way: Way, by_calls: bool) -> bool {
        let is_shorter = self.distance == 0 || distance < self.distance;
        if is_shorter {
            self.distance = distance;
            self.by_calls = by_calls && matches!(way, Way::Calls | Way::Overrides);
        }
        is_shorter
    }
}

/// Words in the names of test files that say that they are tests.
const TEST_WORDS: &str =
    "test tests testing spec specs it unit unittest unittests case cases suite";

/// Name of a file up to the first dot.
fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

/// Words of a text but for those that mark tests.
fn words(text: &str) -> FxHashSet<Term> {
    static MARKS: LazyLock<FxHashSet<Term>> =
        LazyLock::new(|| terms_of(TEST_WORDS.as_bytes()).into_iter().collect());
    let mut found = FxHashSet::default();
    for (_, run) in runs(text.as_bytes()) {
        parts(run, |part| {
            stem(part);
            found.insert(term(part));
        });
    }
    found.retain(|term| !MARKS.contains(term));
    found
}

/// Words of the name of a test file without its extension.
pub(super) fn name_words(path: &str) -> FxHashSet<Term> {
    let name = path.rsplit('/').next().unwrap_or(path);
    words(name.rsplit_once('.').map_or(name, |(before, _)| before))
}

/// Words of the name of a file without its extensions.
pub(super) fn stem_words(path: &str) -> FxHashSet<Term> {
    words(stem_of(path))
}

/// Words of the path of a changed file.
pub(super) struct ChangedPath {
    stem: FxHashSet<Term>,
    all: FxHashSet<Term>,
    /// True for a file that represents its directory, and has no name of its own.
    is_directory: bool,
}

impl ChangedPath {
    pub(super) fn of(path: &str) -> Self {
        let stem = stem_of(path);
        let is_directory = stem.starts_with('_') || stem == "index";
        Self { stem: words(stem), all: words(path), is_directory }
    }

    /// Likeness of a test file with these words in its name: the share of them that are in the
    /// changed path, all of it only with a word of the changed file's name.
    pub(super) fn likeness(&self, test: &FxHashSet<Term>) -> f32 {
        if test.is_empty() {
            return 0.0;
        }
        let shared = test.intersection(&self.all).count() as f32 / test.len() as f32;
        let has_stem = self.is_directory
            || self.stem.is_empty()
            || test.intersection(&self.stem).next().is_some();
        if has_stem { shared } else { shared / 2.0 }
    }
}

/// Weights of words by their rarity among the tests.
pub(super) struct Rarity {
    tests: f32,
    found: FxHashMap<Term, u32>,
}

impl Rarity {
    /// Counts the tests that have each term.
    pub(super) fn of<'t>(tests: impl Iterator<Item = &'t FxHashSet<Term>>) -> Self {
        let (mut count, mut found): (u32, FxHashMap<Term, u32>) = Default::default();
        for terms in tests {
            count += 1;
            let mut terms: Vec<Term> = terms.iter().copied().collect();
            terms.sort_unstable();
            for term in terms {
                *found.entry(term).or_default() += 1;
            }
        }
        Self { tests: count as f32, found }
    }

    fn weight(&self, term: Term) -> f32 {
        let with = self.found.get(&term).copied().unwrap_or(0) as f32;
        ((self.tests + 1.0) / (with + 0.5)).ln().max(0.0)
    }

    /// Sum of the weights of the wanted terms that occur in any test.
    pub(super) fn total(&self, wanted: &FxHashSet<Term>) -> f32 {
        let mut occurring: Vec<Term> =
            wanted.iter().copied().filter(|term| self.found.contains_key(term)).collect();
        occurring.sort_unstable();
        occurring.into_iter().map(|term| self.weight(term)).sum()
    }

    /// Share of the weights of the wanted terms that a test has.
    pub(super) fn share(&self, wanted: &FxHashSet<Term>, whole: f32, own: &FxHashSet<Term>) -> f32 {
        if whole <= 0.0 {
            return 0.0;
        }
        let mut shared: Vec<Term> = own.intersection(wanted).copied().collect();
        shared.sort_unstable();
        shared.into_iter().map(|term| self.weight(term)).sum::<f32>() / whole
    }
}

/// Test that may exercise the change.
#[derive(Clone, PartialEq, Debug)]
pub struct AffectedTest {
    /// Test.
    pub symbol: SymbolInfo,
    /// Strongest evidence.
    pub class: TestClass,
    /// Weight of all evidence.
    pub score: f32,
    /// Symbols from the test to the change.
    pub chain: Vec<String>,
    /// Evidence.
    pub evidence: Evidence,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_are_like_those_of_what_they_test() {
        for (test, changed, least, most) in [
            ("tests/test_http_response.py", "scrapy/http/response/__init__.py", 1.0, 1.0),
            ("pkg/parse_test.go", "pkg/parse.go", 1.0, 1.0),
            ("src/FooBarTest.x", "main/FooBar.x", 1.0, 1.0),
            ("tests/test_http_request.py", "scrapy/http/response/text.py", 0.1, 0.4),
            ("tests/test_utils.py", "scrapy/core/engine.py", 0.0, 0.0),
            ("tests/tests.py", "scrapy/core/engine.py", 0.0, 0.0),
        ] {
            let found = ChangedPath::of(changed).likeness(&stem_words(test));
            assert!((least..=most).contains(&found), "{test} {changed} {found}");
        }
    }

    #[test]
    fn the_class_is_the_strongest_evidence() {
        let mut evidence = Evidence { imports: 1, alike: 1.0, ..Evidence::default() };
        assert_eq!(evidence.class(), Some(TestClass::Imports));
        let before = evidence.score();
        assert!(evidence.reach(2, Way::Calls, true) && !evidence.reach(3, Way::Uses, false));
        assert_eq!(evidence.class(), Some(TestClass::Calls));
        assert!(evidence.score() > before);
        evidence.executed = 0.5;
        assert_eq!(evidence.class(), Some(TestClass::Executed));
        assert_eq!(Evidence { lines: 1.0, ..Evidence::default() }.class(), None);
    }
}
