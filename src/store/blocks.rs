//! The names that symbols have, packed for looking at many of them: runs of names in order, each written as what it adds to the
//! one before, and for every three letters the runs in which they occur. Pure: bytes in, names out.
//!
//! The name with key `k` stands in run `(k - 1) / RUN` at place `(k - 1) % RUN`, so that keys are not written. Runs are made with
//! a store and never change: names of symbols that come later are found through the table of symbols.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

/// Names in one run.
pub(super) const RUN: u32 = 128;

/// Letters that are looked up together.
const GRAM: usize = 3;

/// A name that symbols had when the store was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry<'b> {
    /// The name.
    pub(super) text: &'b str,
    /// How many of its first bytes are those of the name before it in the run.
    pub(super) shared: usize,
    /// How many symbols have it.
    pub(super) symbols: u32,
    /// How often the one of them that is used most is referred to.
    pub(super) references: u32,
}

/// The order of names: by their letters without ASCII case, and where these are the same, by their bytes.
pub(super) fn order(one: &str, other: &str) -> Ordering {
    folded_order(one, other).then_with(|| one.cmp(other))
}

/// The order of names by their letters without ASCII case.
pub(super) fn folded_order(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.bytes(), other.bytes());
    one.map(|byte| byte.to_ascii_lowercase()).cmp(other.map(|byte| byte.to_ascii_lowercase()))
}

/// The order of a name and a text by as many letters of the name as the text has, without ASCII case.
pub(super) fn folded_beginning_order(name: &str, text: &str) -> Ordering {
    let (name, text) = (name.bytes().take(text.len()), text.bytes());
    name.map(|byte| byte.to_ascii_lowercase()).cmp(text.map(|byte| byte.to_ascii_lowercase()))
}

/// Makes runs of names that are given in order, and the table of their letters.
#[derive(Default)]
pub(super) struct Packer {
    run: Vec<u8>,
    in_run: u32,
    runs: u32,
    before: String,
    /// By three letters: the last run that was written down, and the list of runs.
    grams: FxHashMap<u32, (u32, Vec<u8>)>,
}

impl Packer {
    /// Takes in the next name; gives a run when it is full.
    pub(super) fn add(&mut self, text: &str, symbols: u32, references: u32) -> Option<Vec<u8>> {
        if self.in_run == 0 {
            self.before.clear();
        }
        let shared = text.bytes().zip(self.before.bytes()).take_while(|(one, other)| one == other).count();
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
    pub(super) fn finish_run(&mut self) -> Option<Vec<u8>> {
        if self.in_run == 0 {
            return None;
        }
        self.in_run = 0;
        self.runs += 1;
        Some(std::mem::take(&mut self.run))
    }

    /// The lists of runs, by letters.
    pub(super) fn into_grams(self) -> Vec<(u32, Vec<u8>)> {
        let mut grams: Vec<_> = self.grams.into_iter().map(|(letters, (_, list))| (letters, list)).collect();
        grams.sort_unstable_by_key(|(letters, _)| *letters);
        grams
    }
}

/// Hands the names of a run to `visit`, until it says stop by false. None if the bytes are no run.
pub(super) fn unpack(run: &[u8], mut visit: impl FnMut(Entry<'_>) -> bool) -> Option<bool> {
    let mut rest = run;
    let mut name: Vec<u8> = Vec::with_capacity(64);
    while !rest.is_empty() {
        let shared = usize::try_from(take(&mut rest)?).ok()?;
        let added = usize::try_from(take(&mut rest)?).ok()?;
        if shared > name.len() || added > rest.len() {
            return None;
        }
        name.truncate(shared);
        name.extend_from_slice(&rest[..added]);
        rest = &rest[added..];
        let symbols = u32::try_from(take(&mut rest)?).ok()?;
        let references = u32::try_from(take(&mut rest)?).ok()?;
        let text = std::str::from_utf8(&name).ok()?;
        if !visit(Entry { text, shared, symbols, references }) {
            return Some(false);
        }
    }
    Some(true)
}

/// The runs of a list, counted from 0. None if the bytes are no list.
pub(super) fn runs_of(list: &[u8]) -> Option<Vec<u32>> {
    let (mut rest, mut last, mut runs) = (list, 0_u64, Vec::with_capacity(list.len()));
    while !rest.is_empty() {
        last += take(&mut rest)?;
        runs.push(u32::try_from(last.checked_sub(1)?).ok()?);
    }
    Some(runs)
}

/// What to look up for the names that have `part` in them when ASCII case is ignored; nothing if it is too short.
pub(super) fn grams_of(part: &str) -> Vec<u32> {
    let mut grams: Vec<u32> = part.as_bytes().windows(GRAM).map(gram).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

fn gram(letters: &[u8]) -> u32 {
    letters.iter().fold(0, |gram, letter| gram << 8 | u32::from(letter.to_ascii_lowercase()))
}

/// Writes a number in as few bytes as it needs: seven bits a byte, the lowest first, the highest bit says that more follow.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
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

    type Packed = (Vec<Vec<u8>>, Vec<(u32, Vec<u8>)>);

    fn packed(names: &[String]) -> Packed {
        let mut packer = Packer::default();
        let mut runs = Vec::new();
        for (number, name) in (0..).zip(names) {
            runs.extend(packer.add(name, number % 7 + 1, number * 31));
        }
        runs.extend(packer.finish_run());
        (runs, packer.into_grams())
    }

    #[test]
    fn what_is_packed_comes_out_and_is_found_by_its_letters() {
        let mut names: Vec<String> = (0..1_000).map(|number| format!("Name{}_{}é", number % 37, number * 7_919)).collect();
        names.extend(["".to_owned(), "x".to_owned(), "==".to_owned(), "NAME_1".to_owned(), "name_1".to_owned()]);
        names.sort_unstable_by(|one, other| order(one, other));
        let (runs, grams) = packed(&names);
        assert_eq!(runs.len(), names.len().div_ceil(RUN as usize));
        let mut out = Vec::new();
        for run in &runs {
            let whole = unpack(run, |entry| {
                assert_eq!((entry.symbols, entry.references), (out.len() as u32 % 7 + 1, out.len() as u32 * 31));
                out.push(entry.text.to_owned());
                true
            });
            assert_eq!(whole, Some(true));
        }
        assert_eq!(out, names);
        for (number, name) in names.iter().enumerate() {
            for part in [&name[..], name.get(2..8).unwrap_or_default()] {
                for letters in grams_of(&part.to_ascii_uppercase()) {
                    let place = grams.binary_search_by_key(&letters, |(letters, _)| *letters).expect("the letters are known");
                    let runs = runs_of(&grams[place].1).expect("a list");
                    assert!(runs.binary_search(&(number as u32 / RUN)).is_ok(), "{name}: {part}");
                }
            }
        }
    }

    #[test]
    fn damaged_bytes_are_no_names() {
        let (runs, _) = packed(&["one".to_owned(), "only".to_owned()]);
        for end in 1..runs[0].len() {
            let mut seen = 0;
            let whole = unpack(&runs[0][..end], |_| {
                seen += 1;
                true
            });
            assert!(whole.is_none() || seen < 2, "{end} bytes");
        }
        assert_eq!(unpack(&[5, 1, b'a', 1, 0], |_| true), None, "nothing is shared with nothing");
        assert_eq!(unpack(&[0, 1, 0xff, 1, 0], |_| true), None, "no text");
        assert_eq!(runs_of(&[0x80]), None);
        assert_eq!(runs_of(&[0]), None);
    }

    #[test]
    fn case_decides_last() {
        let mut names = ["b", "B", "a_", "Ab", "aB", "a"];
        names.sort_unstable_by(|one, other| order(one, other));
        assert_eq!(names, ["a", "a_", "Ab", "aB", "B", "b"]);
    }
}
