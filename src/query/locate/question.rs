//! Parser of a question: search terms with weights, names written as code, and source locations.
//! Independent of the store.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::scope::scope_of;
use super::weight;
use cograph_model::words::{self, StemFilter, Term, TermFilter, joined};

/// Stop words: without relevance to code, or present in every task description.
const STOP: &str = "a an the and or but if then else when while for to of in on at by with from \
                    into as is are was were be been \
                    being this that these those it its i we you he she they them our your their \
                    not no nor so than too very can could should would will \
                    shall may might must do does did done has have had having there here what \
                    which who whom whose why how all any both each few more \
                    most other some such only own same just also about after again against before \
                    between because during over under up down out off \
                    once via per using use used uses make makes made allow allows add adds added \
                    adding fix fixes fixed fixing change changes changed \
                    remove removes removed removing update updates updated improve improves \
                    improved support supports new now instead ensure don \
                    doesn isn won let get set was etc eg ie vs one two first where work works \
                    please think seems something however";

/// True for a stop word in lower case.
pub(super) fn is_stop_word(word: &[u8]) -> bool {
    static WORDS: LazyLock<FxHashSet<&[u8]>> =
        LazyLock::new(|| STOP.split_whitespace().map(str::as_bytes).collect());
    WORDS.contains(word)
}

/// Search term.
pub(super) struct QuestionTerm {
    /// Word as written, in lower case.
    pub(super) text: String,
    /// Weight.
    pub(super) weight: f64,
}

/// Notation of a name in the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Written {
    /// As code: `snake_case`, `CamelCase`, `call()`.
    Code,
    /// In back ticks, or qualified: `Container.name`.
    Marked,
    /// As the whole text.
    Alone,
}

/// Name in the text.
pub(super) struct QuestionName {
    pub(super) text: String,
    pub(super) written: Written,
    /// Number of occurrences.
    pub(super) count: u32,
    /// True if the first line contains it.
    pub(super) in_subject: bool,
}

/// Source location in the text.
pub(super) struct QuestionLocation {
    /// Path as written.
    pub(super) path: String,
    pub(super) line: Option<u32>,
    /// Function named with it in a stack trace.
    pub(super) function: Option<String>,
}

/// Parsed question.
pub(super) struct Question {
    /// Distinct words; then adjacent words as compounds.
    pub(super) words: Vec<QuestionTerm>,
    /// Position by term.
    pub(super) terms: FxHashMap<Term, u16>,
    /// Position of compounds by term.
    compound_terms: FxHashMap<Term, u16>,
    /// Filter for the terms of words and compounds.
    filter: TermFilter,
    /// Filter for the stems of `terms`.
    pub(super) stems: StemFilter,
    /// Position by compound, in lower case without separators.
    pub(super) compounds: FxHashMap<Box<[u8]>, u16>,
    /// Number of single words; compounds follow.
    pub(super) singles: usize,
    pub(super) names: Vec<QuestionName>,
    pub(super) places: Vec<QuestionLocation>,
    /// Scope in the first line.
    pub(super) scope: Option<String>,
    /// Words of a short text without stop words that contains a name written as code: it may be a
    /// list of names.
    pub(super) list: Vec<String>,
    /// True if it asks for tests.
    pub(super) wants_tests: bool,
    /// True for a short text, whose words may be misspelt or abbreviated.
    pub(super) is_short: bool,
}

impl Question {
    /// Parses a text.
    pub(super) fn read(text: &str) -> Self {
        let mut reader = TextReader::default();
        let text = text.trim();
        let is_short = text.split_whitespace().count() <= 12;
        let mut is_code = false;
        let mut is_first = true;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
                continue;
            }
            let is_subject = is_first && !line.trim().is_empty();
            reader.line(line, is_subject, is_code);
            is_first &= !is_subject;
        }
        reader.places(text);
        let alone: Vec<&str> = text
            .split_whitespace()
            .map(|word| word.trim_matches(['`', '"', '\'', ',', ';']).trim_end_matches("()"))
            .collect();
        if let [only] = alone.as_slice() {
            reader.name(only, Written::Alone, true);
        }
        let is_list = is_short
            && !reader.names.is_empty()
            && !alone.iter().any(|word| is_stop_word(word.to_ascii_lowercase().as_bytes()));
        let list =
            if is_list { alone.into_iter().map(str::to_owned).collect() } else { Vec::new() };
        let scope = text.lines().next().and_then(scope_of).map(str::to_owned);
        Question { list, scope, ..reader.finish(is_short) }
    }

    /// Returns the terms of the single words, by position.
    pub(super) fn single_terms(&self) -> Vec<Term> {
        let mut terms: Vec<(u16, Term)> =
            self.terms.iter().map(|(term, place)| (*place, *term)).collect();
        terms.sort_unstable_by_key(|(place, _)| *place);
        terms.into_iter().map(|(_, term)| term).collect()
    }

    /// Position of a word by its term.
    pub(super) fn word_of(&self, term: Term) -> Option<u16> {
        self.filter.may_have(term).then(|| self.terms.get(&term).copied())?
    }

    /// Positions of the word and of the compound with this term.
    pub(super) fn places_of(&self, term: Term) -> SmallVec<[u16; 2]> {
        if !self.filter.may_have(term) {
            return SmallVec::new();
        }
        self.terms.get(&term).into_iter().chain(self.compound_terms.get(&term)).copied().collect()
    }

    /// Returns the position of the term of a word, which is stemmed in place.
    pub(super) fn position_of(&self, word: &mut Vec<u8>) -> Option<u16> {
        if !self.stems.may_have(word) {
            return None;
        }
        words::stem(word);
        self.terms.get(&words::term(word)).copied()
    }
}

/// Word with its counts.
struct Counted {
    text: String,
    subject: u32,
    prose: u32,
    code: u32,
}

#[derive(Default)]
struct TextReader {
    order: Vec<Term>,
    stems: StemFilter,
    counted: FxHashMap<Term, Counted>,
    compounds: Vec<(Box<[u8]>, f64)>,
    names: Vec<QuestionName>,
    places: Vec<QuestionLocation>,
    wants_tests: bool,
}

impl TextReader {
    fn line(&mut self, line: &str, is_subject: bool, is_code: bool) {
        let bytes = line.as_bytes();
        let mut before: Option<(usize, Vec<u8>)> = None;
        for (at, run) in words::runs(bytes) {
            let mut has_word = false;
            let mut parts = 0;
            self.wants_tests |= ["test", "tests", "testing"]
                .iter()
                .any(|word| run.eq_ignore_ascii_case(word.as_bytes()));
            words::parts(run, |part| {
                parts += 1;
                if is_stop_word(part) {
                    return;
                }
                has_word = true;
                let text = String::from_utf8_lossy(part).into_owned();
                words::stem(part);
                let term = words::term(part);
                let counted = self.counted.entry(term).or_insert_with(|| {
                    self.order.push(term);
                    self.stems.insert(part);
                    Counted { text, subject: 0, prose: 0, code: 0 }
                });
                match (is_subject, is_code) {
                    (true, _) => counted.subject += 1,
                    (_, true) => counted.code += 1,
                    _ => counted.prose += 1,
                }
            });
            let joined = joined(run);
            if parts > 1 {
                self.compounds.push((joined.clone().into(), 1.0));
            }
            if let Some((end, word)) = &before
                && parts == 1
                && has_word
                && bytes[*end..at].iter().all(|byte| matches!(byte, b' ' | b'-' | b'_' | b'.'))
            {
                self.compounds
                    .push(([word.as_slice(), &joined].concat().into(), weight::NEIGHBOURS));
            }
            before = (parts == 1 && has_word).then(|| (at + run.len(), joined));
        }
        self.names_of(line, is_subject);
    }

    /// Collects names written as code.
    fn names_of(&mut self, line: &str, is_subject: bool) {
        let is_part = |letter: char| {
            letter.is_alphanumeric() || matches!(letter, '_' | '.' | ':' | '#' | '/' | '-')
        };
        let mut rest = line;
        while let Some(start) = rest.find(is_part) {
            let end = rest[start..]
                .find(|letter| !is_part(letter))
                .map_or(rest.len(), |length| start + length);
            let token = rest[start..end].trim_matches(['.', ':', '-', '/', '#']);
            let is_marked = rest[..start].ends_with('`') && rest[end..].starts_with('`');
            let is_called = rest[end..].starts_with('(');
            self.token(token, is_marked, is_called, is_subject);
            rest = &rest[end..];
        }
    }

    fn token(&mut self, token: &str, is_marked: bool, is_called: bool, is_subject: bool) {
        if token.is_empty()
            || token.starts_with(|letter: char| letter.is_ascii_digit())
            || token.len() > 200
        {
            return;
        }
        if token.contains('/') || token.contains('-') {
            return;
        }
        let chain: Vec<&str> = super::super::names::segments(token)
            .into_iter()
            .filter(|part| !part.contains(':'))
            .collect();
        let looks = |part: &str| {
            let part = part.trim_matches('_');
            part.contains('_')
                || part
                    .as_bytes()
                    .windows(2)
                    .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
                || (part.len() > 2
                    && part.as_bytes()[0].is_ascii_uppercase()
                    && part.as_bytes()[1..]
                        .windows(2)
                        .any(|pair| pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase()))
        };
        if chain.len() > 1 && !token.contains(' ') {
            self.name(&chain.join("."), Written::Marked, is_subject);
        }
        let count = chain.len();
        for (at, part) in chain.into_iter().enumerate() {
            let is_last = at + 1 == count;
            let written = if is_marked && is_last {
                Some(Written::Marked)
            } else if looks(part) || part.starts_with("__") || (is_called && is_last) || count > 1 {
                Some(Written::Code)
            } else {
                None
            };
            if let Some(written) = written.filter(|_| {
                part.len() > 1 && (is_marked || !is_stop_word(part.to_ascii_lowercase().as_bytes()))
            }) {
                self.name(part, written, is_subject);
            }
        }
    }

    fn name(&mut self, text: &str, written: Written, in_subject: bool) {
        match self.names.iter_mut().find(|name| name.text == text) {
            Some(name) => {
                name.written = name.written.max(written);
                name.count += 1;
                name.in_subject |= in_subject;
            }
            None => self.names.push(QuestionName {
                text: text.to_owned(),
                written,
                count: 1,
                in_subject,
            }),
        }
    }

    /// Collects paths, with line and function in stack traces.
    fn places(&mut self, text: &str) {
        for line in text.lines() {
            let is_of_path = |letter: char| {
                letter.is_alphanumeric()
                    || matches!(letter, '_' | '.' | '/' | '-' | '\\' | '@' | '+')
            };
            let mut rest = line;
            while let Some(start) = rest.find(is_of_path) {
                let end = rest[start..]
                    .find(|letter| !is_of_path(letter))
                    .map_or(rest.len(), |length| start + length);
                let token = rest[start..end].trim_matches('.').replace('\\', "/");
                let after = &rest[end..];
                let name = token.rsplit('/').next().unwrap_or_default();
                let has_extension = name.rfind('.').is_some_and(|dot| {
                    dot > 0
                        && (1..=5).contains(&(name.len() - dot - 1))
                        && name[dot + 1..].bytes().all(|byte| byte.is_ascii_alphanumeric())
                });
                if has_extension {
                    let number = |text: &str| {
                        let digits: String =
                            text.chars().take_while(char::is_ascii_digit).collect();
                        digits.parse::<u32>().ok()
                    };
                    let line_number = after.strip_prefix(':').and_then(number).or_else(|| {
                        after
                            .find("line ")
                            .filter(|&at| at < 8)
                            .and_then(|at| number(&after[at + 5..]))
                    });
                    let function = after.find(", in ").map(|at| {
                        after[at + 5..]
                            .chars()
                            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                            .collect::<String>()
                    });
                    self.places.push(QuestionLocation {
                        path: token.trim_start_matches("./").to_owned(),
                        line: line_number,
                        function: function.filter(|name| !name.is_empty()),
                    });
                }
                rest = after;
            }
        }
    }

    fn finish(self, is_short: bool) -> Question {
        let mut words = Vec::new();
        let mut terms = FxHashMap::default();
        let mut counted = self.counted;
        for term in self.order {
            let Some(Counted { text, subject, prose, code }) = counted.remove(&term) else {
                continue;
            };
            let own = if subject > 0 {
                weight::SUBJECT
            } else if prose > 0 {
                1.0
            } else {
                weight::ONLY_IN_CODE
            };
            let often = f64::from(subject + prose) + weight::OFTEN_IN_CODE * f64::from(code);
            let weight = own * (1.0 + weight::OFTEN * often.max(1.0).ln());
            terms.insert(term, u16::try_from(words.len()).unwrap_or(u16::MAX));
            words.push(QuestionTerm { text, weight });
        }
        let singles = words.len();
        let mut compounds: FxHashMap<Box<[u8]>, u16> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        for (joined, weight) in self.compounds {
            if seen.insert(joined.clone()) {
                compounds.insert(joined.clone(), u16::try_from(words.len()).unwrap_or(u16::MAX));
                words.push(QuestionTerm {
                    text: String::from_utf8_lossy(&joined).into_owned(),
                    weight,
                });
            }
        }
        let of_compound = |joined: &[u8]| {
            let mut whole = joined.to_vec();
            words::stem(&mut whole);
            words::term(&whole)
        };
        let by_term = compounds.iter().map(|(joined, &place)| (of_compound(joined), place));
        let compound_terms: FxHashMap<Term, u16> = by_term.collect();
        let mut filter = TermFilter::default();
        terms.keys().chain(compound_terms.keys()).for_each(|term| filter.insert(*term));
        Question {
            words,
            terms,
            compound_terms,
            filter,
            stems: self.stems,
            compounds,
            singles,
            names: self.names,
            places: self.places,
            scope: None,
            list: Vec::new(),
            wants_tests: is_short && self.wants_tests,
            is_short,
        }
    }
}
