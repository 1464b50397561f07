//! Footprint of a resolution: its recorded dependencies outside the file. The result is valid as
//! long as none of them has changed.
//!
//! A footprint is a filter: questions are stored as 32-bit hashes. A collision costs an unnecessary
//! resolution; a changed answer is never missed. Files are identified by their keys in the store,
//! so that a footprint is valid in every process and after files are added or removed.

use crate::units::space::Space;
use cograph_model::graph::{FileId, FileKey};
use cograph_model::packed;
use rustc_hash::FxHashSet;
use std::marker::PhantomData;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Lookup in the whole program, as a hash that is the same in every process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Question(pub(crate) u64);

impl Question {
    fn of(topic: u64, text: &str) -> Self {
        Self(xxh3_64_with_seed(text.as_bytes(), topic))
    }

    /// Members with a name.
    pub(crate) fn members(name: &str) -> Self {
        Self::of(1, name)
    }

    /// Macros with a name.
    pub(crate) fn macros(name: &str) -> Self {
        Self::of(2, name)
    }

    /// Interfaces whose lookup key is a method of this name.
    pub(crate) fn interfaces(name: &str) -> Self {
        Self::of(3, name)
    }

    /// Extension members of an external type.
    pub(crate) fn external_extensions(ty: &str) -> Self {
        Self::of(4, ty)
    }

    /// Package that a word refers to.
    pub(crate) fn declared(word: &str) -> Self {
        Self::of(5, word)
    }

    /// Child module of a name.
    pub(crate) fn child(name: &str) -> Self {
        Self::of(6, name)
    }

    /// Files that an include of this name may refer to.
    pub(crate) fn included(name: &str) -> Self {
        Self::of(7, name)
    }

    /// Callables and top-level types with a name, in languages where a name alone makes candidates.
    pub(crate) fn alone(name: &str) -> Self {
        Self::of(9, name)
    }

    /// Top-level bindings of a name in other files.
    pub(crate) fn bound(name: &str) -> Self {
        Self::of(8, name)
    }

    /// Files of a package.
    pub(crate) fn package(identity: u64) -> Self {
        Self(identity ^ 0x5bd1_e995_9e37_79b9)
    }

    /// Top-level bindings of a name in the files of a package.
    pub(crate) fn member_of_package(identity: u64, name: &str) -> Self {
        Self::of(identity, name)
    }

    /// Nesting of namespaces, and the namespaces that each one imports.
    pub(crate) const SPACES: Self = Self(0x73e5_ab0c_51ac_e500);

    /// Directories that are alternatives of each other.
    pub(crate) const ALTERNATIVES: Self = Self(0x1d3f_90b7_5ac2_44e1);

    /// What builds say.
    pub(crate) const BUILDS: Self = Self(0x5e1c_77a0_93d4_0b2f);

    /// Members of a namespace with a name.
    pub(crate) fn space(space: Space, name: &str) -> Self {
        Self::of(space.0, name)
    }

    /// Declarations that open a type.
    pub(crate) fn opened(space: Space) -> Self {
        Self::of(space.0, "")
    }

    /// Types whose names have a namespace in the path before them.
    pub(crate) fn implied(space: Space) -> Self {
        Self::of(space.0, "::")
    }

    /// Types with a base of this name.
    pub(crate) fn derived(name: &str) -> Self {
        Self::of(10, name)
    }

    /// Fields with a name.
    pub(crate) fn fields(name: &str) -> Self {
        Self::of(11, name)
    }

    /// Whether there is a file at a path.
    pub(crate) fn stated(path: &str) -> Self {
        Self::of(12, path)
    }

    fn short(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Footprint: sorted lists of keys and hashes, concatenated. Invalidation scans those of all files.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Footprint {
    numbers: Box<[u32]>,
    /// Ends of the lists except the last: facts, links, given, reach; questions follow.
    ends: [u32; 4],
    /// True if the dependencies are unknown, because the resolution failed.
    unknown: bool,
}

/// Footprint under construction: optimized for insertion.
#[derive(Default, Debug)]
pub(crate) struct FootprintBuilder {
    /// Files whose facts were read.
    pub(crate) facts: FileSet,
    /// Files whose import targets, package or libraries were read.
    pub(crate) links: FileSet,
    /// Files with symbols whose extensions by other files were read.
    pub(crate) given: FileSet,
    /// Files whose import closure was read.
    pub(crate) reach: FileSet,
    pub(crate) questions: FxHashSet<u32>,
}

impl FootprintBuilder {
    pub(crate) fn ask(&mut self, question: Question) {
        self.questions.insert(question.short());
    }

    /// Converts to a footprint; `keys` has the key of each file.
    pub(crate) fn build(self, keys: &[FileKey]) -> Footprint {
        let (mut numbers, mut ends) = (Vec::new(), [0; 4]);
        for (files, end) in
            [self.facts, self.links, self.given, self.reach].into_iter().zip(&mut ends)
        {
            let start = numbers.len();
            numbers.extend(files.iter().map(|file| keys[file.0 as usize].0));
            numbers[start..].sort_unstable();
            *end = u32::try_from(numbers.len()).expect("a file reads far fewer than 2^32 files");
        }
        let start = numbers.len();
        numbers.extend(self.questions);
        numbers[start..].sort_unstable();
        Footprint { numbers: numbers.into(), ends, unknown: false }
    }
}

impl Footprint {
    /// Footprint of a failed resolution: invalidated by any change.
    pub fn unknown() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    /// Encodes the footprint: each list as its length and the varint deltas of its numbers.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.unknown)];
        for list in self.lists() {
            packed::put_varint(&mut bytes, list.len() as u64);
            let mut before = 0;
            for &number in list {
                packed::put_varint(&mut bytes, u64::from(number - before));
                before = number;
            }
        }
        bytes
    }

    /// Decodes a footprint; `None` if the bytes are invalid.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let unknown = packed::take_varint(&mut bytes)? == 1;
        let (mut numbers, mut ends) = (Vec::new(), [0; 5]);
        for end in &mut ends {
            let count = usize::try_from(packed::take_varint(&mut bytes)?)
                .ok()
                .filter(|&count| count <= bytes.len())?;
            numbers.reserve(count);
            let mut before = 0_u32;
            for _ in 0..count {
                before =
                    before.checked_add(u32::try_from(packed::take_varint(&mut bytes)?).ok()?)?;
                numbers.push(before);
            }
            *end = u32::try_from(numbers.len()).ok()?;
        }
        let [facts, links, given, reach, _] = ends;
        Some(Self { numbers: numbers.into(), ends: [facts, links, given, reach], unknown })
    }

    fn lists(&self) -> [&[u32]; 5] {
        let [facts, links, given, reach] = self.ends.map(|end| end as usize);
        let all = &self.numbers;
        [&all[..facts], &all[facts..links], &all[links..given], &all[given..reach], &all[reach..]]
    }
}

/// True if the sorted hashes contain one. They are evenly distributed, so the search starts at the
/// interpolated position.
fn has_hash(hashes: &[u32], wanted: u32) -> bool {
    let mut place = ((u64::from(wanted) * hashes.len() as u64) >> 32) as usize;
    while place > 0 && hashes.get(place).is_some_and(|&hash| hash > wanted) {
        place -= 1;
    }
    while hashes.get(place).is_some_and(|&hash| hash < wanted) {
        place += 1;
    }
    hashes.get(place) == Some(&wanted)
}

/// Answers that differ after a change.
#[derive(Default, Debug)]
pub(crate) struct ChangedAnswers {
    pub(crate) facts: KeySet,
    pub(crate) links: KeySet,
    pub(crate) given: KeySet,
    pub(crate) reach: KeySet,
    questions: FxHashSet<u32>,
    /// Files of which only some functions differ, with their names: invalidates footprints with
    /// both the file and a name.
    functions: Vec<(FileKey, FxHashSet<u32>)>,
}

impl ChangedAnswers {
    pub(crate) fn question(&mut self, question: Question) {
        self.questions.insert(question.short());
    }

    /// Adds the functions of a file that differ, by name and by the posting lists that they are in.
    pub(crate) fn functions<'n>(
        &mut self,
        key: FileKey,
        names: impl Iterator<Item = &'n str>,
        lists: impl Iterator<Item = Question>,
    ) {
        let asked = names.map(Question::bound).chain(lists).map(Question::short);
        self.functions.push((key, asked.collect()));
    }

    /// True if one of the recorded questions, or of those about functions, has a different answer.
    pub(crate) fn has_question(&self, asking: &FootprintBuilder) -> bool {
        let is_altered = |hash: &u32| {
            self.questions.contains(hash)
                || self.functions.iter().any(|(_, names)| names.contains(hash))
        };
        asking.questions.iter().any(is_altered)
    }

    /// True if the change invalidates a footprint.
    pub(crate) fn invalidates(&self, asked: &Footprint) -> bool {
        if asked.unknown {
            return true;
        }
        let [facts, links, given, reach, questions] = asked.lists();
        let meets = |list: &[u32], files: &KeySet| {
            !files.is_empty() && list.iter().any(|key| files.contains(FileKey(*key)))
        };
        has_any(questions, &self.questions)
            || self.functions.iter().any(|(key, names)| {
                has_any(questions, names) && facts.binary_search(&key.0).is_ok()
            })
            || meets(links, &self.links)
            || meets(given, &self.given)
            || meets(reach, &self.reach)
            || meets(facts, &self.facts)
    }
}

/// True if the sorted hashes contain any of a set.
fn has_any(hashes: &[u32], some: &FxHashSet<u32>) -> bool {
    // Probes with the smaller side.
    match some.len() * 8 <= hashes.len() {
        true => some.iter().any(|hash| has_hash(hashes, *hash)),
        false => !some.is_empty() && hashes.iter().any(|hash| some.contains(hash)),
    }
}

/// Position or key of a file, as a number in a bitset.
pub(crate) trait Numbered {
    fn number(self) -> u32;
    fn of(number: u32) -> Self;
}

impl Numbered for FileId {
    fn number(self) -> u32 {
        self.0
    }

    fn of(number: u32) -> Self {
        Self(number)
    }
}

impl Numbered for FileKey {
    fn number(self) -> u32 {
        self.0
    }

    fn of(number: u32) -> Self {
        Self(number)
    }
}

/// Files of the repository.
pub(crate) type FileSet = NumberSet<FileId>;
/// Files of the store, present or not.
pub(crate) type KeySet = NumberSet<FileKey>;

/// Set of positions, or of keys: bitset.
#[derive(Clone, Debug)]
pub(crate) struct NumberSet<T>(Vec<u64>, PhantomData<T>);

impl<T> Default for NumberSet<T> {
    fn default() -> Self {
        Self(Vec::new(), PhantomData)
    }
}

impl<T: Numbered> NumberSet<T> {
    pub(crate) fn insert(&mut self, file: T) {
        let number = file.number();
        let (word, bit) = (number as usize / 64, number % 64);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    pub(crate) fn contains(&self, file: T) -> bool {
        let number = file.number();
        self.0.get(number as usize / 64).is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// True if the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Adds the files of another set.
    pub(crate) fn join(&mut self, others: &SparseFileSet) {
        let end = others.0.last().map_or(0, |(word, _)| *word as usize + 1);
        if end > self.0.len() {
            self.0.resize(end, 0);
        }
        for (word, bits) in &others.0 {
            self.0[*word as usize] |= bits;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        // Sparse sets: words without a bit are skipped, and only set bits are visited.
        let words = (0_u32..).zip(&self.0).filter(|(_, bits)| **bits != 0);
        words.flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(T::of(word * 64 + bit))
            })
        })
    }
}

/// Memoized set of files: the non-zero words of a bitset.
#[derive(Debug)]
pub(crate) struct SparseFileSet(Box<[(u32, u64)]>);

impl SparseFileSet {
    pub(crate) fn of(files: &FileSet) -> Self {
        Self((0_u32..).zip(files.0.iter().copied()).filter(|(_, bits)| *bits != 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(facts: &[u32], reach: &[u32], questions: &[Question]) -> Footprint {
        let mut asking = FootprintBuilder::default();
        facts.iter().for_each(|file| asking.facts.insert(FileId(*file)));
        reach.iter().for_each(|file| asking.reach.insert(FileId(*file)));
        questions.iter().for_each(|question| asking.ask(*question));
        // Keys differ from file ids, and have another order.
        let keys: Vec<FileKey> = (0..100).map(|file| FileKey(1000 - file)).collect();
        let asked = asking.build(&keys);
        let bytes = asked.bytes();
        assert_eq!(Footprint::from_bytes(&bytes).as_ref(), Some(&asked));
        assert!(
            (0..bytes.len()).all(|end| Footprint::from_bytes(&bytes[..end]).is_none()),
            "a part is not all"
        );
        asked
    }

    #[test]
    fn a_footprint_is_invalidated_by_its_entries() {
        let asked = asked(
            &[3, 70],
            &[9],
            &[Question::members("a"), Question::bound("f"), Question::SPACES],
        );
        let with = |change: &dyn Fn(&mut ChangedAnswers)| {
            let mut altered = ChangedAnswers::default();
            change(&mut altered);
            altered.invalidates(&asked)
        };
        assert!(!with(&|_| ()));
        assert!(
            with(&|altered| altered.facts.insert(FileKey(930)))
                && !with(&|altered| altered.facts.insert(FileKey(70)))
        );
        assert!(
            with(&|altered| altered.reach.insert(FileKey(991)))
                && !with(&|altered| altered.given.insert(FileKey(991)))
        );
        assert!(with(&|altered| altered.question(Question::members("a"))));
        assert!(!with(&|altered| altered.question(Question::macros("a"))));
        assert!(with(&|altered| altered.question(Question::SPACES)));
        let functions = |key, names: &[&str], lists: &[Question]| {
            with(&|altered| {
                altered.functions(FileKey(key), names.iter().copied(), lists.iter().copied());
            })
        };
        assert!(functions(997, &["g", "f"], &[]), "it read the file and asked for one");
        assert!(functions(997, &["g"], &[Question::members("a")]), "it asked for a list with one");
        assert!(!functions(997, &["g"], &[Question::members("b")]), "it asked for others");
        assert!(!functions(998, &["f"], &[Question::members("a")]), "it read other files");
        assert!(ChangedAnswers::default().invalidates(&Footprint::unknown()));
    }

    #[test]
    fn hashes_are_found_at_any_position() {
        let spread: Vec<u32> = (0..1000_u32)
            .map(|number| number.wrapping_mul(0x9e37_79b9))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        let close: Vec<u32> = (0..100).chain(u32::MAX - 100..=u32::MAX).collect();
        for hashes in [spread, close, vec![7], Vec::new()] {
            for wanted in hashes
                .iter()
                .flat_map(|hash| [hash.wrapping_sub(1), *hash, hash.wrapping_add(1)])
                .chain([0, u32::MAX])
            {
                assert_eq!(
                    has_hash(&hashes, wanted),
                    hashes.binary_search(&wanted).is_ok(),
                    "{wanted} in {} hashes",
                    hashes.len()
                );
            }
        }
    }
}
