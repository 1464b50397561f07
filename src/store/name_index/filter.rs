//! Filter on names by substrings and prefixes, evaluated on a run at once. Pure: no store, no
//! ranking.

use memchr::memmem::Finder;

use crate::format::front_coding::{RUN, Run, SEPARATOR};

/// Filter in disjunctive form: names that contain all parts of an alternative, or start with one of
/// the prefixes, ASCII case-insensitive.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameParts {
    pub(super) alternatives: Vec<Vec<String>>,
    pub(super) beginnings: Vec<String>,
}

impl NameParts {
    /// Matches every name.
    pub fn every() -> Self {
        Self { alternatives: vec![Vec::new()], beginnings: Vec::new() }
    }

    /// Matches nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Or names that contain all of `parts`.
    pub fn or_all_of<'p>(mut self, parts: impl IntoIterator<Item = &'p str>) -> Self {
        self.alternatives.push(parts.into_iter().map(str::to_owned).collect());
        self
    }

    /// Or names that start with `text`.
    pub fn or_beginning_with(mut self, text: &str) -> Self {
        self.beginnings.push(text.to_owned());
        self
    }

    /// Or names that match `other`.
    pub fn or(mut self, other: Self) -> Self {
        self.alternatives.extend(other.alternatives);
        self.beginnings.extend(other.beginnings);
        self
    }
}

/// Bit set of names in a run.
pub(super) type NameBits = u128;

const _: () = assert!(NameBits::BITS == RUN, "a bit for each name of a run");

/// Compiled filter.
pub(super) struct CompiledFilter {
    alternatives: Vec<Vec<Finder<'static>>>,
    beginnings: Vec<Finder<'static>>,
}

impl CompiledFilter {
    pub(crate) fn new(wanted: &NameParts) -> Self {
        let finder = |text: &[u8]| Finder::new(&text.to_ascii_lowercase()).into_owned();
        let beginning = |text: &String| finder(&[&[SEPARATOR], text.as_bytes()].concat());
        let all_of = |parts: &Vec<String>| {
            // Longest part first: it is the rarest, and often rules the run out.
            let mut parts: Vec<&String> = parts.iter().filter(|part| !part.is_empty()).collect();
            parts.sort_unstable_by_key(|part| (std::cmp::Reverse(part.len()), *part));
            parts.dedup();
            parts.into_iter().map(|part| finder(part.as_bytes())).collect()
        };
        Self {
            alternatives: wanted.alternatives.iter().map(all_of).collect(),
            beginnings: wanted.beginnings.iter().map(beginning).collect(),
        }
    }

    /// Matching names of a run.
    pub(super) fn pick(&self, run: &Run) -> NameBits {
        let every = NameBits::MAX
            .checked_shr(RUN - u32::try_from(run.len()).unwrap_or(RUN))
            .unwrap_or_default();
        let mut picked = 0;
        for parts in &self.alternatives {
            let mut with_all = every;
            for part in parts {
                if with_all == 0 {
                    break;
                }
                with_all &= names_with(run, part);
            }
            picked |= with_all;
        }
        self.beginnings.iter().fold(picked, |picked, beginning| picked | names_with(run, beginning))
            & every
    }
}

fn names_with(run: &Run, part: &Finder<'_>) -> NameBits {
    let (mut found, mut from, mut place) = (0, 0, 0);
    while let Some(hit) = run.folded().get(from..).and_then(|rest| part.find(rest)) {
        (place, from) = run.place_of(from + hit, place);
        found |= 1_u128.checked_shl(u32::try_from(place).unwrap_or(u32::MAX)).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::front_coding::Packer;

    #[test]
    fn what_is_wanted_is_picked_whatever_its_case() {
        let names = ["", "GetUser", "getUserName", "Größe", "set_user", "user", "username"];
        let mut packer = Packer::default();
        names.iter().for_each(|name| assert!(packer.add(name, 1, 0).is_none()));
        let run = Run::read(&packer.finish_run().expect("a run")).expect("its own bytes");
        for (wanted, expected) in [
            (NameParts::every(), names.as_slice()),
            (NameParts::none(), &[]),
            (
                NameParts::none().or_all_of(["USER"]),
                &["GetUser", "getUserName", "set_user", "user", "username"],
            ),
            (
                NameParts::none().or_all_of(["user", "et", "user"]),
                &["GetUser", "getUserName", "set_user"],
            ),
            (NameParts::none().or_all_of(["e"]).or_all_of(["none"]), &names[1..]),
            (NameParts::none().or_all_of(["öß"]), &["Größe"]),
            (NameParts::none().or_all_of(["rset"]), &[]),
            (NameParts::none().or_beginning_with("GETUSER"), &["GetUser", "getUserName"]),
            (
                NameParts::none()
                    .or_beginning_with("set")
                    .or(NameParts::none().or_all_of(["ername"])),
                &["getUserName", "set_user", "username"],
            ),
            (NameParts::none().or_beginning_with(""), &names),
        ] {
            let picked = CompiledFilter::new(&wanted).pick(&run);
            let picked: Vec<&str> = names
                .iter()
                .enumerate()
                .filter(|(at, _)| picked >> at & 1 == 1)
                .map(|(_, name)| *name)
                .collect();
            assert_eq!(picked, expected, "{wanted:?}");
        }
    }
}
