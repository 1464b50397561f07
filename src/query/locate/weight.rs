//! Weights of the ranking. Tuned on public repositories with `scripts/accuracy locate` and on
//! commit messages; none of them is specific to a repository or language. The results are
//! insensitive to changes of a tenth.

/// Weight of a word in the first line, and of one only in code blocks, relative to one in the rest.
pub(super) const SUBJECT: f64 = 2.0;
pub(super) const ONLY_IN_CODE: f64 = 0.7;
/// Weight of the logarithm of a word's number of occurrences in the text; occurrences in code
/// blocks count half.
pub(super) const OFTEN: f64 = 1.0;
pub(super) const OFTEN_IN_CODE: f64 = 0.5;
/// Weight of two adjacent words as a compound.
pub(super) const NEIGHBOURS: f64 = 0.5;

/// Exponent of the inverse document frequency: less than 1, because rare words of a task are often
/// not in the code at all.
pub(super) const IDF_EXPONENT: f64 = 0.8;

/// Weight of each field: name, container, path, signature, documentation, code, comments and
/// strings.
pub(super) const FIELD: [f64; 7] = [1.0, 0.5, 3.0, 0.7, 1.0, 1.0, 0.6];
/// Length normalization of each field (`b` of BM25F).
pub(super) const LENGTH: [f64; 7] = [0.24, 0.24, 0.24, 0.4, 0.48, 0.56, 0.56];
/// Occurrences that count in addition for the container of a member if the question names the whole
/// of a type of several words: `queryset` is `QuerySet`.
pub(super) const WHOLE_CONTAINER: f32 = 1.0;
/// Saturation of the term frequency (`k1` of BM25F).
pub(super) const SATURATION: f64 = 0.6;
/// Exponent of the coverage (the share of the question's terms by inverse document frequency) and
/// the constant added to it: a symbol with more of the terms outranks one with many occurrences of
/// a single term.
pub(super) const COVERAGE: f64 = 0.15;
pub(super) const UNCOVERED: f64 = 0.3;
/// Factor for symbols other than callables.
pub(super) const NOT_CALLABLE: f64 = 0.85;
/// Exponent of the logarithm of a symbol's number of lines, relative to `LARGE`: short symbols
/// count less.
pub(super) const SIZE: f64 = 0.5;
pub(super) const LARGE: f64 = 5.0;

/// Shares of the scores of callees and callers.
pub(super) const CALLEES: f64 = 0.1;
pub(super) const CALLERS: f64 = 0.15;
/// Factor of the share of a caller that is a member of the same container: what many matching
/// members call is how the container does it.
pub(super) const FELLOW_MEMBERS: f64 = 3.0;

/// Factor for the files that the question gives as its scope.
pub(super) const SCOPE: f64 = 2.0;

/// Share of the best score of a file for other symbols in it.
pub(super) const OF_FILE: f64 = 0.1;

/// Bonus of a symbol, and of all symbols of a file, named with strength 1, relative to the best
/// score.
pub(super) const NAMED: f64 = 0.7;
pub(super) const NAMED_FILE: f64 = 0.15;
/// Strength by notation: as code, in back ticks or qualified, as the whole text; factor for the
/// first line.
pub(super) const AS_CODE: f64 = 0.3;
pub(super) const AS_MARKED: f64 = 0.5;
pub(super) const ALONE: f64 = 3.0;
pub(super) const IN_SUBJECT: f64 = 1.5;
/// Exponent of the number of meanings, which divides the strength.
pub(super) const MEANINGS: f64 = 0.7;
/// Share of a named symbol for its file, strength of a module's name for its files, strength of a
/// source location, and decay of stack frames.
pub(super) const TO_FILE: f64 = 0.3;
pub(super) const MODULE: f64 = 0.5;
pub(super) const PLACE: f64 = 0.7;
pub(super) const FRAMES: f64 = 0.1;
