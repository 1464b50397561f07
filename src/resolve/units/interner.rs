//! Interner of names: each distinct text of the repository has one number, in every table and on
//! every thread.

use hashbrown::HashTable;
use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(pub(crate) u32);

/// Interner. The number of a name is constant for the lifetime of the interner, and differs between
/// processes.
#[derive(Debug, Default)]
pub struct Names {
    /// Names of a full build, interned before any lookup.
    ids: HashTable<Name>,
    /// Texts, concatenated.
    texts: String,
    /// End of each text.
    ends: Vec<u32>,
    /// Names of files that are read during resolution; their numbers follow.
    late: boxcar::Vec<Box<str>>,
    late_ids: Mutex<HashTable<Name>>,
}

impl Names {
    /// Interns a text with exclusive access, before any lookup: the cheaper way.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.early(text) {
            return name;
        }
        assert_eq!(self.late.count(), 0, "names that are met late have the numbers that follow");
        let name = Name(
            u32::try_from(self.ends.len()).expect("a repository has far fewer than 2^32 names"),
        );
        self.texts.push_str(text);
        self.ends.push(
            u32::try_from(self.texts.len())
                .expect("the names of a repository take far less than 4 GiB"),
        );
        let Self { ids, texts, ends, .. } = self;
        ids.insert_unique(hash(text), name, |name| hash(text_of(texts, ends, *name)));
        name
    }

    /// Interns texts with exclusive access, in order.
    pub fn intern_all(&mut self, texts: &[&str]) -> Vec<Name> {
        texts.iter().map(|text| self.intern(text)).collect()
    }

    /// Interns a text, at any time and from any thread.
    pub(crate) fn number(&self, text: &str) -> Name {
        self.early(text).unwrap_or_else(|| self.number_late(&mut self.late_ids(), text))
    }

    /// Interns texts in order, at any time and from any thread.
    pub(crate) fn numbers<T: AsRef<str>>(&self, texts: &[T]) -> Vec<Name> {
        let mut late = self.late_ids();
        let number = |text: &T| {
            self.early(text.as_ref()).unwrap_or_else(|| self.number_late(&mut late, text.as_ref()))
        };
        texts.iter().map(number).collect()
    }

    fn late_ids(&self) -> MutexGuard<'_, HashTable<Name>> {
        self.late_ids.lock()
    }

    fn early(&self, text: &str) -> Option<Name> {
        self.ids.find(hash(text), |name| text_of(&self.texts, &self.ends, *name) == text).copied()
    }

    fn number_late(&self, ids: &mut HashTable<Name>, text: &str) -> Name {
        let found = ids.find(hash(text), |name| self.text(*name) == text).copied();
        found.unwrap_or_else(|| {
            let place = self.ends.len() + self.late.push(text.into());
            let name =
                Name(u32::try_from(place).expect("a repository has far fewer than 2^32 names"));
            ids.insert_unique(hash(text), name, |name| hash(self.text(*name)));
            name
        })
    }

    /// Number of names interned before any lookup.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn text(&self, name: Name) -> &str {
        let place = name.0 as usize;
        if place < self.ends.len() {
            text_of(&self.texts, &self.ends, name)
        } else {
            &self.late[place - self.ends.len()]
        }
    }
}

fn text_of<'t>(texts: &'t str, ends: &[u32], Name(name): Name) -> &'t str {
    let place = name as usize;
    let start = if place == 0 { 0 } else { ends[place - 1] };
    &texts[start as usize..ends[place] as usize]
}

fn hash(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_interned_once() {
        let mut names = Names::default();
        let early = names.intern_all(&["a", "bc", "a", ""]);
        assert_eq!((early[0], names.len()), (early[2], 3));
        let late = names.numbers(&["bc", "late", "a"]);
        assert_eq!((late[0], late[2]), (early[1], early[0]));
        assert_eq!((names.number("late"), names.number("later") == late[1]), (late[1], false));
        let texts: Vec<&str> = early.iter().chain(&late).map(|name| names.text(*name)).collect();
        assert_eq!(texts, ["a", "bc", "a", "", "bc", "late", "a"]);
    }
}
