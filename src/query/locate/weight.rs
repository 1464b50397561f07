//! The numbers by which things count against each other. They were chosen on public repositories
//! with `scripts/locate` and on the messages of commits; none of them is about one repository or
//! language. Differences of a tenth change little.

/// How much a word of the first line counts beside one of the rest, and one that stands in blocks
/// of code only.
pub(super) const SUBJECT: f64 = 2.0;
pub(super) const ONLY_IN_CODE: f64 = 0.7;
/// How much more a word counts that the text has several times, by the logarithm; in blocks of code
/// half of them count.
pub(super) const OFTEN: f64 = 1.0;
pub(super) const OFTEN_IN_CODE: f64 = 0.5;
/// How much two neighbours count that are written as one name.
pub(super) const NEIGHBOURS: f64 = 0.5;

/// The power of rarity: less than 1, since rare words of a task are often not in the code at all.
pub(super) const RARITY: f64 = 0.8;

/// How much words count in each field: name, container, path, signature, documentation, code,
/// comments and texts.
pub(super) const FIELD: [f64; 7] = [1.0, 0.5, 3.0, 0.7, 1.0, 1.0, 0.6];
/// How far the length of each field counts against them.
pub(super) const LENGTH: [f64; 7] = [0.24, 0.24, 0.24, 0.4, 0.48, 0.56, 0.56];
/// How soon it makes no difference any more that a word stands there once more.
pub(super) const SATURATION: f64 = 0.6;
/// A symbol that has more of the asked words counts more than one that has one of them often: by
/// this power of their share by rarity, to which the constant is added.
pub(super) const COVERAGE: f64 = 0.15;
pub(super) const UNCOVERED: f64 = 0.3;
/// What is no function counts so much.
pub(super) const NOT_CALLABLE: f64 = 0.85;
/// Symbols of a few lines count less: by this power of the logarithm of their lines, up to `LARGE`
/// of it.
pub(super) const SIZE: f64 = 0.5;
pub(super) const LARGE: f64 = 5.0;

/// What callees and callers give of their scores.
pub(super) const CALLEES: f64 = 0.1;
pub(super) const CALLERS: f64 = 0.15;

/// What the best symbol of a file gives to the others in it.
pub(super) const OF_FILE: f64 = 0.1;

/// How much a symbol counts that is named as strongly as can be, in parts of the best score by
/// words; and all of a file that is.
pub(super) const NAMED: f64 = 0.7;
pub(super) const NAMED_FILE: f64 = 0.15;
/// How strongly a name is named: as code, in back ticks or with its container, as the whole text;
/// and in the first line.
pub(super) const AS_CODE: f64 = 0.3;
pub(super) const AS_MARKED: f64 = 0.5;
pub(super) const ALONE: f64 = 3.0;
pub(super) const IN_SUBJECT: f64 = 1.5;
/// Of several meanings each is named less: by this power of their number.
pub(super) const MEANINGS: f64 = 0.7;
/// What a named symbol gives to its file, a module's name to its files, a path to its file and the
/// place in it, and how soon the frames of a stack trace count less.
pub(super) const TO_FILE: f64 = 0.3;
pub(super) const MODULE: f64 = 0.5;
pub(super) const PLACE: f64 = 0.7;
pub(super) const FRAMES: f64 = 0.1;
