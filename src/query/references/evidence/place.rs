//! Where else a name stands, and how much is read to find out.

use crate::graph::lookup::Lookup;
use cograph_grammar as grammar;
use cograph_grammar::Tier;
use cograph_store::FileRow;

/// How many files are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effort {
    /// All: for an answer without uses, whose only content is this evidence.
    All,
    /// All until something is found: for a question of which only the first evidence counts.
    First,
    /// Few: in addition to a list of uses.
    Few,
}

impl Effort {
    /// Maximum number of files with the name that are searched line by line.
    pub(crate) const fn files(self) -> usize {
        match self {
            Self::All | Self::First => MAX_FILES,
            Self::Few => MAX_SIBLING_FILES,
        }
    }

    /// Maximum number of files without an index of their words that are searched.
    pub(crate) const fn files_without_words(self) -> usize {
        match self {
            Self::All | Self::First => usize::MAX,
            Self::Few => MAX_OTHER_FILES,
        }
    }
}

/// Where a line with the name stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// In a reference of that name whose target is not known.
    Unresolved,
    /// In code without a reference or symbol of that name.
    Code,
    /// In a comment or string, or in a file whose references are not read: a template, data.
    Text,
    /// In a part of a file that was not understood.
    Unread,
}

impl Place {
    /// Every value, in the order of answers.
    pub const ALL: [Place; 4] = [Place::Unresolved, Place::Code, Place::Text, Place::Unread];

    /// Word for responses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unresolved => "unresolved",
            Self::Code => "code",
            Self::Text => "text",
            Self::Unread => "not-understood",
        }
    }
}

/// True for files whose references are read.
pub(crate) fn is_read(lookup: &Lookup<'_>, file: &FileRow) -> bool {
    grammar::tier_of(lookup.language(file.language)).is_some_and(|tier| tier != Tier::Structure)
}

/// Maximum number of files with the name that are searched line by line.
pub const MAX_FILES: usize = 200;

/// The same in addition to a list of uses.
pub const MAX_SIBLING_FILES: usize = 64;

/// Maximum number of files without an index of their words that are searched in addition to a list
/// of uses.
pub const MAX_OTHER_FILES: usize = 32;
