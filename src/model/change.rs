//! Change of a repository: files, changed lines, and the symbols of both sides. The boundary
//! between `history`, which reads changes, and `query`, which follows them.

use std::collections::BTreeMap;

use super::{Position, RepoPath, SymbolKind, Visibility};
use crate::words::terms::Term;

/// Change between two states of the files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Change {
    /// The two states in words: `working tree against HEAD`.
    pub between: String,
    /// True if the new side is another state of the files than the index has.
    pub is_elsewhere: bool,
    /// Changed files, by path.
    pub files: Vec<ChangedFile>,
    /// Number of changed files beyond the limit, which are left out.
    pub more_files: u64,
}

/// Why the symbols of a file are not known that has none.
pub const UNREAD_BINARY: &str = "binary";
/// The same for a file in no language that is read.
pub const UNREAD_NO_LANGUAGE: &str = "no language";

/// Changed file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedFile {
    /// Path before; `None` for an added file.
    pub old: Option<RepoPath>,
    /// Path after; `None` for a removed file.
    pub new: Option<RepoPath>,
    /// Numbers of added and removed lines.
    pub lines: (u32, u32),
    /// Changed symbols, by position.
    pub symbols: Vec<ChangedSymbol>,
    /// First changed line outside of all symbols, if any: of the new side, or the old one if the
    /// file is removed.
    pub outside: Option<u32>,
    /// Why the symbols of a side are not known; `None` if they are.
    pub unread: Option<&'static str>,
    /// Terms of the changed lines and of what heads those outside of symbols, each once.
    pub terms: Vec<Term>,
}

impl ChangedFile {
    /// Path after the change, or before if the file is removed.
    pub fn path(&self) -> &RepoPath {
        self.new.as_ref().or(self.old.as_ref()).expect("a changed file has a path on one side")
    }
}

/// Changed symbol: one side, or both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChangedSymbol {
    /// What happened to it.
    pub kind: ChangeKind,
    /// Before; `None` if it was added.
    pub old: Option<SymbolSide>,
    /// After; `None` if it was removed.
    pub new: Option<SymbolSide>,
}

impl ChangedSymbol {
    /// The side after the change, or that before if it was removed.
    pub fn side(&self) -> &SymbolSide {
        self.new.as_ref().or(self.old.as_ref()).expect("a changed symbol has a side")
    }
}

/// What happened to a symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ChangeKind {
    /// It is gone.
    Removed,
    /// It has another name.
    Renamed,
    /// It is in another file or another symbol.
    Moved,
    /// Its header differs: parameters, types, bases, visibility.
    Signature,
    /// Its text differs below the header.
    Body,
    /// It is new.
    Added,
}

impl ChangeKind {
    /// Word for answers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Renamed => "renamed",
            Self::Moved => "moved",
            Self::Signature => "signature",
            Self::Body => "body",
            Self::Added => "added",
        }
    }
}

/// Symbol on one side of a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolSide {
    /// File.
    pub path: RepoPath,
    /// Unqualified name.
    pub name: String,
    /// Names of the enclosing symbols, joined by dots; empty at the top level.
    pub container: String,
    /// Kind.
    pub kind: SymbolKind,
    /// Visibility.
    pub visibility: Visibility,
    /// True if other files can name it.
    pub is_exported: bool,
    /// Position of the name.
    pub name_at: Position,
    /// First and last line.
    pub lines: (u32, u32),
    /// Header on one line.
    pub signature: String,
    /// Minimum and maximum number of arguments; the maximum is `u16::MAX` if unbounded.
    pub arity: (u16, u16),
    /// Names of the parameters, without a receiver.
    pub parameters: Vec<String>,
    /// Declared type of each parameter by its own name, without references and type arguments;
    /// empty if it has none that is one type.
    pub types: Vec<String>,
    /// True if other names of arguments than those of the parameters are accepted.
    pub takes_any_name: bool,
    /// What is executed in it: its own body and those of the local functions in it, by qualified
    /// name, with the fingerprints of their texts; with no name, the whole file.
    pub bodies: Vec<(String, u64)>,
}

impl SymbolSide {
    /// `Container.name`.
    pub fn qualified_name(&self) -> String {
        if self.container.is_empty() {
            self.name.clone()
        } else {
            format!("{}.{}", self.container, self.name)
        }
    }
}

/// Edit of one file, with the symbols that uses elsewhere may no longer fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// File.
    pub path: RepoPath,
    /// Symbols that are gone, have another name or place, or another header.
    pub symbols: Vec<ChangedSymbol>,
    /// For each qualified name, the number of symbols before and after.
    pub counts: BTreeMap<String, (u32, u32)>,
    /// Names that the file imports after the edit.
    pub imported: Vec<String>,
    /// True if it imports names at its top level without listing them.
    pub has_wildcard: bool,
    /// Calls after the edit.
    pub calls: CallShapes,
    /// Text after the edit.
    pub text: Vec<u8>,
    /// Lines that are the same on both sides; none if the text before is not known.
    pub same: Option<SameLines>,
}

/// Lines at the beginning and at the end of a file that an edit did not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SameLines {
    /// Number of lines at the beginning.
    pub first: u32,
    /// Number of lines at the end.
    pub last: u32,
    /// Numbers of lines before and after.
    pub all: (u32, u32),
}

impl SameLines {
    /// Line after the edit of a line before it; none for one that was changed or removed.
    pub fn moved(&self, line: u32) -> Option<u32> {
        let (before, after) = self.all;
        if line <= self.first {
            Some(line)
        } else if line > before.saturating_sub(self.last) {
            (line + after).checked_sub(before)
        } else {
            None
        }
    }
}

impl Edit {
    /// True if the lines that the edit changed have the name as a word. Without the text before,
    /// all lines may be changed.
    pub fn mentions(&self, name: &str) -> bool {
        let lines: Vec<&[u8]> = self.text.split_inclusive(|&byte| byte == b'\n').collect();
        let (first, last) = self.same.map_or((0, 0), |same| (same.first, same.last));
        let end = lines.len().saturating_sub(last as usize);
        let changed = lines.get(first as usize..end).unwrap_or_default();
        changed.iter().any(|line| has_word(line, name))
    }

    /// True if the text after the edit has the name at a position.
    pub fn has_at(&self, at: Position, name: &str) -> bool {
        let mut lines = self.text.split(|&byte| byte == b'\n');
        let line = (at.line as usize).checked_sub(1).and_then(|line| lines.nth(line));
        let rest = line.and_then(|line| line.get(at.column as usize..));
        rest.is_some_and(|rest| rest.starts_with(name.as_bytes()))
    }
}

/// True if a text has a name that is no part of a longer one.
pub fn has_word(text: &[u8], name: &str) -> bool {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80)
    };
    !name.is_empty()
        && text.windows(name.len()).enumerate().any(|(at, found)| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            found == name.as_bytes() && !is_part(before) && !is_part(text.get(at + name.len()))
        })
}

/// Arguments of a call as written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallShape {
    /// Number of arguments without a name.
    pub positional: u16,
    /// Names of arguments that have one.
    pub named: Vec<String>,
    /// Type of each argument, those without a name first, as in [`SymbolSide::types`]; empty if the
    /// file does not show it. That of a literal in double quotes ends with such a quote.
    pub types: Vec<String>,
    /// True if there may be more: arguments are spread, or the callable is named without a call.
    pub is_open: bool,
}

/// Calls of a file by the position of the name that is called.
pub type CallShapes = BTreeMap<Position, CallShape>;

/// Files that changed in the same commits as the changed ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Together {
    /// For each file, the share of the commits of a changed file that it was part of, in
    /// thousandths: the greatest of all changed files.
    pub shares: BTreeMap<RepoPath, u32>,
    /// Number of commits read.
    pub commits: u64,
    /// What limits the history: it is shallow, or was not read to its beginning. Empty if whole.
    pub limit: &'static str,
}

/// History of a file under all its names, without commits that change many files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileHistory {
    /// Number of commits.
    pub commits: u32,
    /// Number of those in the year before the newest commit of the repository.
    pub recent: u32,
    /// Time of the last one, in seconds since 1970.
    pub last: u64,
    /// Number of authors.
    pub authors: u32,
    /// The authors with most commits, and how many.
    pub owners: Vec<(String, u32)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_around_an_edit_keep_their_text_and_move() {
        let same = SameLines { first: 2, last: 3, all: (7, 9) };
        let moved: Vec<Option<u32>> = (1..=7).map(|line| same.moved(line)).collect();
        assert_eq!(moved, [Some(1), Some(2), None, None, Some(7), Some(8), Some(9)]);
    }

    #[test]
    fn a_word_is_no_part_of_a_longer_one() {
        for (text, expected) in
            [("a parse(b)", true), ("parse", true), ("parse_all sparse", false), ("", false)]
        {
            assert_eq!(has_word(text.as_bytes(), "parse"), expected, "{text}");
        }
    }
}
