//! What no longer fits a changed symbol, and how.

use crate::graph::answer::Certainty;
use cograph_model::RepoPath;

/// What is wrong with a site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BreakKind {
    /// It uses a name that is gone.
    Gone,
    /// It imports a file that is gone.
    Import,
    /// It passes another number of arguments, or other names.
    Arguments,
    /// It passes a value of another type.
    Type,
    /// It passes arguments that may be for other parameters.
    Order,
    /// It uses what it may not see any more.
    Hidden,
    /// It overrides, or is overridden by, a method with other parameters.
    Override,
    /// It is a type that does not have a member that its base requires.
    Missing,
}

impl BreakKind {
    /// Every value, with its word and what it means.
    pub const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::Gone, "gone", "Use of a name that is gone"),
        (Self::Import, "import", "Import of a file that is gone"),
        (Self::Arguments, "arguments", "Call with arguments that are not taken any more"),
        (Self::Type, "type", "Argument of another type than its parameter"),
        (Self::Order, "order", "Call of a function whose parameters have another order"),
        (Self::Hidden, "hidden", "Use of a symbol that is not visible any more"),
        (Self::Override, "override", "Method with other parameters than one that it overrides"),
        (Self::Missing, "missing", "Type without a member that its base requires"),
    ];

    /// Word for answers.
    pub fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// Site that no longer fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Break {
    /// What is wrong.
    pub kind: BreakKind,
    /// File.
    pub path: RepoPath,
    /// Line.
    pub line: u32,
    /// Changed symbol that it uses, or the symbol that overrides it.
    pub symbol: String,
    /// Why it does not fit.
    pub reason: String,
    /// Certainty.
    pub certainty: Certainty,
}
