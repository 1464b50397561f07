//! What the resolution of a file looked at outside of it: what must have other answers before it can have another result.

use super::Name;
use crate::model::graph::FileId;
use crate::model::packed;
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
    // From here to the next: what a word or a name means from some place (`Asked::about_places`).
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

/// What was looked at. Files are by their position in the tables that were asked. It is kept for every file: in few bytes.
#[derive(Clone, Default, Debug)]
pub struct Asked {
    /// Files whose facts were looked at.
    pub(super) facts: FileList,
    /// Files of which it was asked where their imports lead, which package they are in, and which libraries they know.
    pub(super) links: FileList,
    /// Files of whose symbols it was asked what other files add to them.
    pub(super) given: FileList,
    /// Files of which it was asked what is reached from them over imports.
    pub(super) reach: FileList,
    /// Sorted, without repeats.
    pub(super) questions: Box<[Question]>,
    /// Whether it is not known what was asked, because the work did not end.
    pub(super) unknown: bool,
}

/// What has been looked at so far: quick to add to, whatever room it takes.
#[derive(Default, Debug)]
pub(super) struct Asking {
    pub(super) facts: Files,
    pub(super) links: Files,
    pub(super) given: Files,
    pub(super) reach: Files,
    pub(super) questions: FxHashSet<Question>,
    /// Types from outside of which it was asked which members they gain.
    pub(super) gained: Texts,
    /// Names of which it was asked whether some file has them, and none has.
    pub(super) missing: Texts,
}

/// A set of texts, which are copied only when they are put in.
#[derive(Default, Debug)]
pub(super) struct Texts(FxHashSet<Box<str>>);

impl Texts {
    pub(super) fn insert(&mut self, text: &str) {
        if !self.0.contains(text) {
            self.0.insert(text.into());
        }
    }
}

/// Files in order, each as the step from the one before it.
#[derive(Clone, Default, Debug)]
pub(super) struct FileList(Box<[u8]>);

impl FileList {
    /// Of files in any order.
    pub(super) fn of(mut files: Vec<FileId>) -> Self {
        files.sort_unstable();
        files.dedup();
        Self::sorted(files.into_iter())
    }

    fn sorted(files: impl Iterator<Item = FileId>) -> Self {
        let (mut bytes, mut next) = (Vec::new(), 0);
        for FileId(file) in files {
            packed::put(&mut bytes, u64::from(file - next));
            next = file + 1;
        }
        Self(bytes.into())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = FileId> + '_ {
        let (mut bytes, mut next) = (&*self.0, 0_u64);
        std::iter::from_fn(move || {
            let file = next + packed::take(&mut bytes)?;
            next = file + 1;
            Some(FileId(u32::try_from(file).expect("only numbers of files were put in")))
        })
    }

    /// Whether some of the files are in a set.
    pub(super) fn meets(&self, files: &Files) -> bool {
        self.iter().any(|file| files.contains(file))
    }

    /// The same files by other positions; those that have none any more are left out.
    fn moved(&self, to: &[Option<FileId>]) -> Self {
        Self::of(self.iter().filter_map(|file| to.get(file.0 as usize).copied().flatten()).collect())
    }
}

impl Asking {
    pub(super) fn into_asked(self) -> Asked {
        let list = |files: Files| FileList::sorted(files.iter());
        let about_texts = self.gained.0.into_iter().map(Question::Gained).chain(self.missing.0.into_iter().map(Question::NoName));
        Asked {
            facts: list(self.facts),
            links: list(self.links),
            given: list(self.given),
            reach: list(self.reach),
            questions: sorted(self.questions.into_iter().chain(about_texts)),
            unknown: false,
        }
    }
}

/// Questions in the order in which they are looked up.
pub(super) fn sorted(questions: impl Iterator<Item = Question>) -> Box<[Question]> {
    let mut questions: Vec<Question> = questions.collect();
    questions.sort_unstable();
    questions.dedup();
    questions.into()
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

    pub(super) fn contains(&self, file: FileId) -> bool {
        self.0.get(file.0 as usize / 64).is_some_and(|word| word & (1 << (file.0 % 64)) != 0)
    }

    /// Puts in those of another set.
    pub(super) fn join(&mut self, others: &FewFiles) {
        let end = others.0.last().map_or(0, |(word, _)| *word as usize + 1);
        if end > self.0.len() {
            self.0.resize(end, 0);
        }
        for (word, bits) in &others.0 {
            self.0[*word as usize] |= bits;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = FileId> + '_ {
        // Few of many: words without any are passed over, and only the bits that are set are met.
        let words = (0_u32..).zip(&self.0).filter(|(_, bits)| **bits != 0);
        words.flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(FileId(word * 64 + bit))
            })
        })
    }
}

/// A set of files that is kept: where it has any.
#[derive(Debug)]
pub(super) struct FewFiles(Box<[(u32, u64)]>);

impl FewFiles {
    pub(super) fn of(files: &Files) -> Self {
        Self((0_u32..).zip(files.0.iter().copied()).filter(|(_, bits)| *bits != 0).collect())
    }
}

impl Asked {
    /// Of a file whose resolution failed: after any change it is tried again.
    pub fn unknown() -> Self {
        Self { unknown: true, ..Self::default() }
    }

    /// Whether this was asked.
    pub(super) fn has(&self, question: &Question) -> bool {
        self.questions.binary_search(question).is_ok()
    }

    /// The questions about what a word or a name means from some place.
    pub(super) fn about_places(&self) -> &[Question] {
        let first = self.questions.partition_point(|question| *question < Question::Declared(FileId(0), Box::default()));
        let count = self.questions[first..].partition_point(|question| *question < Question::Space(0, Name(0)));
        &self.questions[first..first + count]
    }

    /// Takes in the questions that something else asked.
    pub(super) fn add_questions(&mut self, other: Self) {
        let all = std::mem::take(&mut self.questions).into_iter().chain(other.questions);
        self.questions = sorted(all);
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
            questions: sorted(self.questions.iter().filter_map(question)),
        }
    }
}
