//! What the resolution of a file looked at outside of it: what must have other answers before it can have another result.

use super::Name;
use crate::model::graph::FileId;
use rustc_hash::FxHashSet;

/// Something that was asked about the program as a whole, and may have another answer after a change. Folders, packages and
/// namespaces are named by what does not change with the numbers that they have in the tables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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
    /// Which library a file knows under a name.
    Library(FileId, Box<str>),
    /// Which package, or part of a package's name, a word means in a file.
    Declared(FileId, Box<str>),
    /// Whether a file's package needs a library.
    DependsOn(FileId, Box<str>),
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
    /// Files of which it was asked where their imports lead and which package they are in.
    pub(super) links: Files,
    /// Files of whose symbols it was asked what other files add to them.
    pub(super) given: Files,
    /// Files of which it was asked what is reached from them over imports.
    pub(super) reach: Files,
    pub(super) questions: FxHashSet<Question>,
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
}
