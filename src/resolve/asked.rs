//! What the resolution of a file looked at outside of it: what must have other answers before it can have another result.

use super::Name;
use crate::model::graph::FileId;
use rustc_hash::FxHashSet;

/// Something that was asked about the program as a whole, and may have another answer after a change. Folders, packages and
/// namespaces are named by what does not change with the numbers that they have in the tables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Question {
    /// Whether some file has a name that one had.
    Name(Name),
    /// Whether some file has a name that none had.
    NoName(Box<str>),
    /// Which members a type from outside gains.
    Gained(Box<str>),
    /// Which interfaces ask for a method of this name first.
    Interfaces(Name),
    /// Which members have a name.
    Members(Name),
    /// Which macros have a name.
    Macros(Name),
    /// Which files a package has.
    Package(u64),
    /// Which package, or part of a package's name, a word means in a file.
    Declared(FileId, Box<str>),
    /// Which module lies below a file under a name.
    ChildOfFile(FileId, Name),
    /// Which module lies below a package under a name.
    ChildOfPackage(u64, Name),
    /// What a namespace has under a name.
    Space(u64, Name),
    /// How namespaces lie in each other, and what opens which.
    Spaces,
}

/// What was looked at. Files are by their position in the tables that were asked.
#[derive(Clone, Default, Debug)]
pub struct Asked {
    /// Files whose facts were looked at.
    pub(super) facts: Files,
    /// Files of which it was asked where their imports lead, which package they are in, and which libraries they know.
    pub(super) links: Files,
    /// Files of whose symbols it was asked what other files add to them.
    pub(super) given: Files,
    /// Files of which it was asked what is reached from them over imports.
    pub(super) reach: Files,
    pub(super) questions: FxHashSet<Question>,
    /// Whether it is not known what was asked, because the work did not end.
    pub(super) unknown: bool,
}

/// A set of files.
#[derive(Clone, Default, Debug)]
pub(super) struct Files(Vec<u64>);

impl Files {
    pub(super) fn insert(&mut self, file: FileId) {
        let (word, bit) = (file.0 as usize / 64, file.0 % 64);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(super) fn contains(&self, file: FileId) -> bool {
        self.0.get(file.0 as usize / 64).is_some_and(|word| word & (1 << (file.0 % 64)) != 0)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = FileId> + '_ {
        (0_u32..).zip(&self.0).flat_map(|(word, &bits)| {
            (0..64).filter(move |bit| bits & (1_u64 << bit) != 0).map(move |bit| FileId(word * 64 + bit))
        })
    }

    /// The same files by other positions; those that have none any more are left out.
    fn moved(&self, to: &[Option<FileId>]) -> Self {
        let mut moved = Self::default();
        for file in self.iter() {
            if let Some(Some(file)) = to.get(file.0 as usize) {
                moved.insert(*file);
            }
        }
        moved
    }
}

impl Asked {
    /// Of a file whose resolution failed: after any change it is tried again.
    pub fn unknown() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    /// The same after files got other positions.
    pub(super) fn moved(&self, to: &[Option<FileId>]) -> Self {
        let file = |file: FileId| to.get(file.0 as usize).copied().flatten();
        let question = |question: &Question| {
            Some(match question {
                Question::Declared(of, word) => Question::Declared(file(*of)?, word.clone()),
                Question::ChildOfFile(of, name) => Question::ChildOfFile(file(*of)?, *name),
                other => other.clone(),
            })
        };
        Self {
            facts: self.facts.moved(to),
            links: self.links.moved(to),
            given: self.given.moved(to),
            reach: self.reach.moved(to),
            unknown: self.unknown,
            questions: self.questions.iter().filter_map(question).collect(),
        }
    }
}
