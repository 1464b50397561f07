//! Front-coded blocks ("runs") of symbol names with a trigram index, for fast scans. Each name is
//! stored as the length of the prefix shared with its predecessor and the rest; each trigram has a
//! posting list of runs. Pure: bytes in, names out.
//!
//! The header of each run ("top") is stored separately: the common prefix of its names and the
//! greatest reference count. Queries select runs by headers without reading the runs.
//!
//! The name with key `k` is in run `(k - 1) / RUN` at index `(k - 1) % RUN`, so keys are implicit.
//! Runs are written by a build and immutable: later names are found through the symbol table.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use cograph_model::packed::{put_varint, take_varint};

/// Names per run.
pub(crate) const RUN: u32 = 128;

/// Bytes per gram.
const GRAM: usize = 3;

/// Name of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NameSlot<'b> {
    /// Text.
    pub(crate) text: &'b str,
    /// Length of the prefix shared with the previous name of the run, in bytes.
    pub(crate) shared: usize,
    /// Number of symbols with this name.
    pub(crate) symbols: u32,
    /// Greatest reference count of a symbol with this name.
    pub(crate) references: u32,
}

/// Order of names: ASCII case-insensitive first, then by bytes.
pub(crate) fn order(one: &str, other: &str) -> Ordering {
    folded_order(one, other).then_with(|| one.cmp(other))
}

/// ASCII case-insensitive order.
pub(crate) fn folded_order(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.bytes(), other.bytes());
    one.map(|byte| byte.to_ascii_lowercase()).cmp(other.map(|byte| byte.to_ascii_lowercase()))
}

/// ASCII case-insensitive order of a name's prefix, of the text's length, and the text.
pub(crate) fn folded_beginning_order(name: &str, text: &str) -> Ordering {
    let (name, text) = (name.bytes().take(text.len()), text.bytes());
    name.map(|byte| byte.to_ascii_lowercase()).cmp(text.map(|byte| byte.to_ascii_lowercase()))
}

/// Encodes sorted names as runs, and builds the trigram index.
#[derive(Default)]
pub(crate) struct Packer {
    run: Vec<u8>,
    in_run: u32,
    runs: u32,
    before: String,
    /// Common prefix of the run, in lower case.
    beginning: Vec<u8>,
    /// Greatest reference count of the run.
    most: u32,
    tops: Tops,
    /// By trigram: last run added, and posting list.
    grams: FxHashMap<u32, (u32, Vec<u8>)>,
}

impl Packer {
    /// Adds the next name; returns a run when it is full.
    pub(crate) fn add(&mut self, text: &str, symbols: u32, references: u32) -> Option<Vec<u8>> {
        if self.in_run == 0 {
            self.before.clear();
            self.most = 0;
            self.beginning.clear();
            // Non-ASCII characters are not folded here; the comparison of names handles them.
            self.beginning.extend(
                text.bytes().take_while(u8::is_ascii).map(|byte| byte.to_ascii_lowercase()),
            );
        }
        self.most = self.most.max(references);
        let is_same = |(one, other): &(&u8, u8)| **one == other.to_ascii_lowercase();
        let common = self.beginning.iter().zip(text.bytes()).take_while(is_same).count();
        self.beginning.truncate(common);
        let shared =
            text.bytes().zip(self.before.bytes()).take_while(|(one, other)| one == other).count();
        put_varint(&mut self.run, shared as u64);
        put_varint(&mut self.run, (text.len() - shared) as u64);
        self.run.extend_from_slice(&text.as_bytes()[shared..]);
        put_varint(&mut self.run, symbols.into());
        put_varint(&mut self.run, references.into());
        // Trigrams within the shared prefix are already recorded for this run.
        for letters in text.as_bytes()[shared.saturating_sub(GRAM - 1)..].windows(GRAM) {
            let (last, list) = self.grams.entry(gram(letters)).or_default();
            // Runs are numbered from 1 here, so that 0 precedes all of them.
            if *last != self.runs + 1 {
                put_varint(list, (self.runs + 1 - *last).into());
                *last = self.runs + 1;
            }
        }
        self.before.clear();
        self.before.push_str(text);
        self.in_run += 1;
        if self.in_run == RUN { self.finish_run() } else { None }
    }

    /// Last run, if it has names.
    pub(crate) fn finish_run(&mut self) -> Option<Vec<u8>> {
        if self.in_run == 0 {
            return None;
        }
        self.in_run = 0;
        self.runs += 1;
        self.tops.add(&self.beginning, self.most);
        Some(std::mem::take(&mut self.run))
    }

    /// Headers of all runs, encoded, and the posting lists by trigram.
    pub(crate) fn finish(self) -> (Vec<u8>, Vec<(u32, Vec<u8>)>) {
        let mut grams: Vec<_> =
            self.grams.into_iter().map(|(letters, (_, list))| (letters, list)).collect();
        grams.sort_unstable_by_key(|(letters, _)| *letters);
        (self.tops.packed, grams)
    }
}

/// Headers of runs, during encoding.
#[derive(Default)]
struct Tops {
    packed: Vec<u8>,
    before: Vec<u8>,
}

impl Tops {
    fn add(&mut self, beginning: &[u8], most: u32) {
        let shared =
            beginning.iter().zip(&self.before).take_while(|(one, other)| one == other).count();
        put_varint(&mut self.packed, shared as u64);
        put_varint(&mut self.packed, (beginning.len() - shared) as u64);
        self.packed.extend_from_slice(&beginning[shared..]);
        put_varint(&mut self.packed, most.into());
        self.before.clear();
        self.before.extend_from_slice(beginning);
    }
}

/// Decodes the headers: passes common prefix (lower case) and greatest reference count of each run
/// to `visit`. None if the bytes are malformed.
pub(crate) fn visit_tops(packed: &[u8], mut visit: impl FnMut(&str, u32)) -> Option<()> {
    let mut rest = packed;
    let mut beginning: Vec<u8> = Vec::with_capacity(64);
    while !rest.is_empty() {
        decode_text(&mut rest, &mut beginning)?;
        let most = u32::try_from(take_varint(&mut rest)?).ok()?;
        visit(std::str::from_utf8(&beginning).ok()?, most);
    }
    Some(())
}

/// Separator of names in the folded text. It does not occur in UTF-8.
pub(crate) const SEPARATOR: u8 = 0xff;

/// Decoded run: concatenated names, so that a query scans all of them at once.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Run {
    text: String,
    /// Names in ASCII lower case, with a separator before the first and after each.
    folded: Vec<u8>,
    entries: Vec<RunEntry>,
}

/// Position and counts of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RunEntry {
    start: u32,
    end: u32,
    shared: u32,
    symbols: u32,
    references: u32,
}

impl Run {
    /// Decodes a run. None if the bytes are malformed.
    pub(crate) fn read(packed: &[u8]) -> Option<Self> {
        let mut entries = Vec::with_capacity(RUN as usize);
        // About half of each name is shared with its predecessor.
        let mut text: Vec<u8> = Vec::with_capacity(packed.len() * 2);
        // A placeholder where the folded text has a separator, so that offsets agree.
        text.push(0);
        let (mut rest, mut before) = (packed, 1..1);
        while !rest.is_empty() {
            if entries.len() == RUN as usize {
                return None;
            }
            let (shared, added) = (
                usize::try_from(take_varint(&mut rest)?).ok()?,
                usize::try_from(take_varint(&mut rest)?).ok()?,
            );
            if shared > before.len() || added > rest.len() {
                return None;
            }
            let start = text.len();
            text.extend_from_within(before.start..before.start + shared);
            text.extend_from_slice(&rest[..added]);
            rest = &rest[added..];
            before = start..text.len();
            text.push(0);
            entries.push(RunEntry {
                start: u32::try_from(start).ok()?,
                end: u32::try_from(before.end).ok()?,
                shared: u32::try_from(shared).ok()?,
                symbols: u32::try_from(take_varint(&mut rest)?).ok()?,
                references: u32::try_from(take_varint(&mut rest)?).ok()?,
            });
        }
        // Each name is valid UTF-8 by itself: no character spans a separator.
        let text = String::from_utf8(text).ok()?;
        let mut folded = text.as_bytes().to_ascii_lowercase();
        folded[0] = SEPARATOR;
        entries.iter().for_each(|entry: &RunEntry| folded[entry.end as usize] = SEPARATOR);
        Some(Self { text, folded, entries })
    }

    /// Number of names.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Name at an index.
    pub(crate) fn entry(&self, place: usize) -> Option<NameSlot<'_>> {
        let RunEntry { start, end, shared, symbols, references } = *self.entries.get(place)?;
        let text = self.text.get(start as usize..end as usize)?;
        Some(NameSlot { text, shared: shared as usize, symbols, references })
    }

    /// Names in ASCII lower case, with a separator before the first and after each.
    pub(crate) fn folded(&self) -> &[u8] {
        &self.folded
    }

    /// Index of the name that contains byte `at` of `folded`, or follows it if it is a separator,
    /// and the offset of the next separator. The index is at least `from`.
    pub(crate) fn place_of(&self, at: usize, from: usize) -> (usize, usize) {
        // Linear: a scan visits names in order.
        let mut place = from;
        while self.entries.get(place).is_some_and(|entry| entry.end as usize <= at) {
            place += 1;
        }
        (place, self.entries.get(place).map_or(self.folded.len(), |entry| entry.end as usize))
    }
}

/// Decodes a posting list and passes the runs, numbered from 0, to `visit`. None if the bytes are
/// malformed.
pub(crate) fn visit_list(list: &[u8], mut visit: impl FnMut(u32)) -> Option<()> {
    let (mut rest, mut last) = (list, 0_u64);
    while !rest.is_empty() {
        last += take_varint(&mut rest)?;
        visit(u32::try_from(last.checked_sub(1)?).ok()?);
    }
    Some(())
}

/// Trigrams of names that contain `part`, ASCII case-insensitive; empty if it is too short.
pub(crate) fn grams_of(part: &str) -> Vec<u32> {
    let mut grams: Vec<u32> = part.as_bytes().windows(GRAM).map(gram).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

fn gram(letters: &[u8]) -> u32 {
    letters.iter().fold(0, |gram, letter| gram << 8 | u32::from(letter.to_ascii_lowercase()))
}

/// Decodes the next text from its predecessor.
fn decode_text(bytes: &mut &[u8], text: &mut Vec<u8>) -> Option<()> {
    let shared = usize::try_from(take_varint(bytes)?).ok()?;
    let added = usize::try_from(take_varint(bytes)?).ok()?;
    if shared > text.len() || added > bytes.len() {
        return None;
    }
    text.truncate(shared);
    text.extend_from_slice(&bytes[..added]);
    *bytes = &bytes[added..];
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Packed = (Vec<Vec<u8>>, (Vec<u8>, Vec<(u32, Vec<u8>)>));

    fn packed(names: &[String]) -> Packed {
        let mut packer = Packer::default();
        let mut runs = Vec::new();
        for (number, name) in (0..).zip(names) {
            runs.extend(packer.add(name, number % 7 + 1, number * 31));
        }
        runs.extend(packer.finish_run());
        (runs, packer.finish())
    }

    #[test]
    fn what_is_packed_comes_out_and_is_found_by_its_letters() {
        let mut names: Vec<String> =
            (0..1_000).map(|number| format!("Name{}_{}é", number % 37, number * 7_919)).collect();
        names.extend([
            "".to_owned(),
            "x".to_owned(),
            "==".to_owned(),
            "NAME_1".to_owned(),
            "name_1".to_owned(),
        ]);
        names.sort_unstable_by(|one, other| order(one, other));
        let (runs, (tops, grams)) = packed(&names);
        assert_eq!(runs.len(), names.len().div_ceil(RUN as usize));
        let mut letters_known = 0;
        let mut of_runs = names.chunks(RUN as usize).zip(0..);
        visit_tops(&tops, |beginning, most| {
            let (names, run) = of_runs.next().expect("as many tops as runs");
            assert!(
                names.iter().all(|name| name.to_ascii_lowercase().starts_with(beginning)),
                "{beginning}"
            );
            letters_known += beginning.len();
            assert_eq!(most as usize, (run * RUN as usize + names.len() - 1) * 31);
        })
        .expect("tops");
        assert_eq!((of_runs.next(), letters_known > 20), (None, true));
        let mut out = Vec::new();
        for packed in &runs {
            let run = Run::read(packed).expect("a run");
            for entry in (0..run.len()).map(|place| run.entry(place).expect("a name")) {
                assert_eq!(
                    (entry.symbols, entry.references),
                    (out.len() as u32 % 7 + 1, out.len() as u32 * 31)
                );
                let before = out
                    .last()
                    .filter(|_| !out.len().is_multiple_of(RUN as usize))
                    .map_or("", String::as_str);
                assert!(before.is_char_boundary(entry.shared) || !entry.text.is_ascii());
                assert_eq!(
                    before.as_bytes()[..entry.shared],
                    entry.text.as_bytes()[..entry.shared]
                );
                out.push(entry.text.to_owned());
            }
        }
        assert_eq!(out, names);
        for (number, name) in names.iter().enumerate() {
            for part in [&name[..], name.get(2..8).unwrap_or_default()] {
                for letters in grams_of(&part.to_ascii_uppercase()) {
                    let place = grams
                        .binary_search_by_key(&letters, |(letters, _)| *letters)
                        .expect("the letters are known");
                    let mut is_listed = false;
                    visit_list(&grams[place].1, |run| is_listed |= run == number as u32 / RUN)
                        .expect("a list");
                    assert!(is_listed, "{name}: {part}");
                }
            }
        }
    }

    #[test]
    fn damaged_bytes_are_no_names() {
        let (runs, _) = packed(&["one".to_owned(), "only".to_owned()]);
        for end in 1..runs[0].len() {
            assert!(Run::read(&runs[0][..end]).is_none_or(|run| run.len() < 2), "{end} bytes");
        }
        assert_eq!(Run::read(&[5, 1, b'a', 1, 0]), None, "nothing is shared with nothing");
        assert_eq!(Run::read(&[0, 1, 0xff, 1, 0]), None, "no text");
        assert_eq!(
            Run::read(&[0, 2, b'a', 0xc3, 1, 0, 0, 1, 0xa9, 1, 0]),
            None,
            "no text, though the letters would be one"
        );
        let long = [[0, 1, b'a', 1, 0].as_slice(), &[1, 0, 1, 0].repeat(RUN as usize)].concat();
        assert_eq!(Run::read(&long), None, "more names than a run has");
        let run = Run::read(&long[..long.len() - 4]).expect("as many as it may have");
        assert_eq!(run.place_of(0, 0), (0, 2));
        assert_eq!(run.place_of(2, 0), (1, 4));
        assert_eq!(run.place_of(4, 1), (2, 6));
        assert_eq!(visit_tops(&[1, 1, b'a', 0], |_, _| {}), None, "nothing is shared with nothing");
        assert_eq!(visit_list(&[0x80], |_| {}), None);
        assert_eq!(visit_list(&[0], |_| {}), None);
    }

    #[test]
    fn case_decides_last() {
        let mut names = ["b", "B", "a_", "Ab", "aB", "a"];
        names.sort_unstable_by(|one, other| order(one, other));
        assert_eq!(names, ["a", "a_", "Ab", "aB", "B", "b"]);
    }
}
