//! The names that symbols have, packed for looking at many of them: runs of names in order, each
//! written as what it adds to the one before, and for every three letters the runs in which they
//! occur. Pure: bytes in, names out.
//!
//! Of each run its top is kept apart: what all names in it begin with, and how often the one of
//! them that is used most is. By them a question chooses runs without reading them.
//!
//! The name with key `k` stands in run `(k - 1) / RUN` at place `(k - 1) % RUN`, so that keys are
//! not written. Runs are made with a store and never change: names of symbols that come later are
//! found through the table of symbols.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

/// Names in one run.
pub(in crate::store) const RUN: u32 = 128;

/// Letters that are looked up together.
const GRAM: usize = 3;

/// A name that symbols had when the store was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::store) struct NameSlot<'b> {
    /// The name.
    pub(in crate::store) text: &'b str,
    /// How many of its first bytes are those of the name before it in the run.
    pub(in crate::store) shared: usize,
    /// How many symbols have it.
    pub(in crate::store) symbols: u32,
    /// How often the one of them that is used most is referred to.
    pub(in crate::store) references: u32,
}

/// The order of names: by their letters without ASCII case, and where these are the same, by their
/// bytes.
pub(in crate::store) fn order(one: &str, other: &str) -> Ordering {
    folded_order(one, other).then_with(|| one.cmp(other))
}

/// The order of names by their letters without ASCII case.
pub(in crate::store) fn folded_order(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.bytes(), other.bytes());
    one.map(|byte| byte.to_ascii_lowercase()).cmp(other.map(|byte| byte.to_ascii_lowercase()))
}

/// The order of a name and a text by as many letters of the name as the text has, without ASCII
/// case.
pub(in crate::store) fn folded_beginning_order(name: &str, text: &str) -> Ordering {
    let (name, text) = (name.bytes().take(text.len()), text.bytes());
    name.map(|byte| byte.to_ascii_lowercase()).cmp(text.map(|byte| byte.to_ascii_lowercase()))
}

/// Makes runs of names that are given in order, and the table of their letters.
#[derive(Default)]
pub(in crate::store) struct Packer {
    run: Vec<u8>,
    in_run: u32,
    runs: u32,
    before: String,
    /// What all names of the run begin with, in lower case.
    beginning: Vec<u8>,
    /// How often the name of the run that is used most is.
    most: u32,
    tops: Tops,
    /// By three letters: the last run that was written down, and the list of runs.
    grams: FxHashMap<u32, (u32, Vec<u8>)>,
}

impl Packer {
    /// Takes in the next name; gives a run when it is full.
    pub(in crate::store) fn add(
        &mut self,
        text: &str,
        symbols: u32,
        references: u32,
    ) -> Option<Vec<u8>> {
        if self.in_run == 0 {
            self.before.clear();
            self.most = 0;
            self.beginning.clear();
            // Letters that take several bytes are left to whoever looks at the names.
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
        put(&mut self.run, shared as u64);
        put(&mut self.run, (text.len() - shared) as u64);
        self.run.extend_from_slice(&text.as_bytes()[shared..]);
        put(&mut self.run, symbols.into());
        put(&mut self.run, references.into());
        // What ends within the shared part has been seen in this run.
        for letters in text.as_bytes()[shared.saturating_sub(GRAM - 1)..].windows(GRAM) {
            let (last, list) = self.grams.entry(gram(letters)).or_default();
            // Runs count from 1 here, so that 0 is before all of them.
            if *last != self.runs + 1 {
                put(list, (self.runs + 1 - *last).into());
                *last = self.runs + 1;
            }
        }
        self.before.clear();
        self.before.push_str(text);
        self.in_run += 1;
        if self.in_run == RUN { self.finish_run() } else { None }
    }

    /// The last run, if it has names.
    pub(in crate::store) fn finish_run(&mut self) -> Option<Vec<u8>> {
        if self.in_run == 0 {
            return None;
        }
        self.in_run = 0;
        self.runs += 1;
        self.tops.add(&self.beginning, self.most);
        Some(std::mem::take(&mut self.run))
    }

    /// The tops of the runs, packed, and the lists of runs by letters.
    pub(in crate::store) fn finish(self) -> (Vec<u8>, Vec<(u32, Vec<u8>)>) {
        let mut grams: Vec<_> =
            self.grams.into_iter().map(|(letters, (_, list))| (letters, list)).collect();
        grams.sort_unstable_by_key(|(letters, _)| *letters);
        (self.tops.packed, grams)
    }
}

/// The tops of runs in the making.
#[derive(Default)]
struct Tops {
    packed: Vec<u8>,
    before: Vec<u8>,
}

impl Tops {
    fn add(&mut self, beginning: &[u8], most: u32) {
        let shared =
            beginning.iter().zip(&self.before).take_while(|(one, other)| one == other).count();
        put(&mut self.packed, shared as u64);
        put(&mut self.packed, (beginning.len() - shared) as u64);
        self.packed.extend_from_slice(&beginning[shared..]);
        put(&mut self.packed, most.into());
        self.before.clear();
        self.before.extend_from_slice(beginning);
    }
}

/// Hands to `visit` of each run what its names begin with, in lower case, and how often the one of
/// them that is used most is. None if the bytes are no tops.
pub(in crate::store) fn visit_tops(packed: &[u8], mut visit: impl FnMut(&str, u32)) -> Option<()> {
    let mut rest = packed;
    let mut beginning: Vec<u8> = Vec::with_capacity(64);
    while !rest.is_empty() {
        take_text(&mut rest, &mut beginning)?;
        let most = u32::try_from(take(&mut rest)?).ok()?;
        visit(std::str::from_utf8(&beginning).ok()?, most);
    }
    Some(())
}

/// Separates names where they stand one after the other in lower case. No text has this byte.
pub(in crate::store) const SEPARATOR: u8 = 0xff;

/// The names of one run, one after the other, so that a question looks at all of them at once.
#[derive(PartialEq, Eq, Debug)]
pub(in crate::store) struct Run {
    text: String,
    /// The same in lower case as far as it is ASCII, with a separator before each name and after
    /// the last.
    folded: Vec<u8>,
    entries: Vec<RunEntry>,
}

/// A name of a run: where it stands, and what else is known of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct RunEntry {
    start: u32,
    end: u32,
    shared: u32,
    symbols: u32,
    references: u32,
}

impl Run {
    /// The names of a packed run. None if the bytes are no run.
    pub(in crate::store) fn read(packed: &[u8]) -> Option<Self> {
        let mut entries = Vec::with_capacity(RUN as usize);
        // Names share about half of their letters.
        let mut text: Vec<u8> = Vec::with_capacity(packed.len() * 2);
        // Where there is a separator in the other text, there is one here that is text.
        text.push(0);
        let (mut rest, mut before) = (packed, 1..1);
        while !rest.is_empty() {
            if entries.len() == RUN as usize {
                return None;
            }
            let (shared, added) =
                (usize::try_from(take(&mut rest)?).ok()?, usize::try_from(take(&mut rest)?).ok()?);
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
                symbols: u32::try_from(take(&mut rest)?).ok()?,
                references: u32::try_from(take(&mut rest)?).ok()?,
            });
        }
        // Each name is text by itself too: no letter goes on behind a separator.
        let text = String::from_utf8(text).ok()?;
        let mut folded = text.as_bytes().to_ascii_lowercase();
        folded[0] = SEPARATOR;
        entries.iter().for_each(|entry: &RunEntry| folded[entry.end as usize] = SEPARATOR);
        Some(Self { text, folded, entries })
    }

    /// How many names it has.
    pub(in crate::store) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The name at a place.
    pub(in crate::store) fn entry(&self, place: usize) -> Option<NameSlot<'_>> {
        let RunEntry { start, end, shared, symbols, references } = *self.entries.get(place)?;
        let text = self.text.get(start as usize..end as usize)?;
        Some(NameSlot { text, shared: shared as usize, symbols, references })
    }

    /// The names in lower case as far as they are ASCII, a separator before each and after the
    /// last.
    pub(in crate::store) fn folded(&self) -> &[u8] {
        &self.folded
    }

    /// The place of the name in which, or in the separator before which, a byte of `folded` is, and
    /// where the separator after it is. The name is not before that at `from`.
    pub(in crate::store) fn place_of(&self, at: usize, from: usize) -> (usize, usize) {
        // Step by step: who looks through a run comes to one name after the other.
        let mut place = from;
        while self.entries.get(place).is_some_and(|entry| entry.end as usize <= at) {
            place += 1;
        }
        (place, self.entries.get(place).map_or(self.folded.len(), |entry| entry.end as usize))
    }
}

/// Hands the runs of a list, counted from 0, to `visit`. None if the bytes are no list.
pub(in crate::store) fn visit_list(list: &[u8], mut visit: impl FnMut(u32)) -> Option<()> {
    let (mut rest, mut last) = (list, 0_u64);
    while !rest.is_empty() {
        last += take(&mut rest)?;
        visit(u32::try_from(last.checked_sub(1)?).ok()?);
    }
    Some(())
}

/// What to look up for the names that have `part` in them when ASCII case is ignored; nothing if it
/// is too short.
pub(in crate::store) fn grams_of(part: &str) -> Vec<u32> {
    let mut grams: Vec<u32> = part.as_bytes().windows(GRAM).map(gram).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

fn gram(letters: &[u8]) -> u32 {
    letters.iter().fold(0, |gram, letter| gram << 8 | u32::from(letter.to_ascii_lowercase()))
}

/// Writes a number in as few bytes as it needs: seven bits a byte, the lowest first, the highest
/// bit says that more follow.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Makes of a text the one that follows it.
fn take_text(bytes: &mut &[u8], text: &mut Vec<u8>) -> Option<()> {
    let shared = usize::try_from(take(bytes)?).ok()?;
    let added = usize::try_from(take(bytes)?).ok()?;
    if shared > text.len() || added > bytes.len() {
        return None;
    }
    text.truncate(shared);
    text.extend_from_slice(&bytes[..added]);
    *bytes = &bytes[added..];
    Some(())
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    // Most numbers take one byte.
    if let Some((&byte @ ..0x80, rest)) = bytes.split_first() {
        *bytes = rest;
        return Some(byte.into());
    }
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
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
