//! Answers of the members of a workspace, each with the snapshot that it is of, and their room.

use crate::tools::tool::Tool;
use crate::tools::tool::reply::Reply;
use crate::tools::tool::values::Arguments;
use crate::workspace::host::{Form, Host};
use crate::workspace::repositories::{OpenRepository, Repositories};
use cograph_query::crossing::{Renamed, Subject};

/// Bytes per token.
pub(super) const TOKEN: usize = 4;

/// Bytes of the first line and of the notes at the end.
pub(super) const HEAD: usize = 480;

/// Bytes of the line about parts that do not fit.
pub(super) const LEFT_OUT: usize = 64;

/// Smallest budget of a member, in tokens.
pub(super) const LEAST_BUDGET: u64 = 100;

/// Answer of one repository that is open.
pub(crate) type Run =
    fn(&'static Tool, &Arguments, &OpenRepository, &Repositories, &dyn Host, Form) -> Reply;

/// Answers of the members of one call.
pub(super) struct AllAnswers {
    pub(super) asked: Vec<MemberAnswer>,
    /// Members without an index yet, with the progress.
    pub(super) working: Vec<(String, String)>,
    /// Members that could not be opened, with the reason.
    pub(super) failed: Vec<(String, String)>,
    /// Budget that each answer had, if not that of the call.
    pub(super) share: Option<u64>,
}

/// Answer of a member.
pub(super) struct MemberAnswer {
    /// Name of the member, escaped.
    pub(super) name: String,
    pub(super) opened: OpenRepository,
    pub(super) reply: Reply,
    /// Meanings of the symbols that the call is about, if the tool follows edges.
    pub(super) subjects: Vec<Subject>,
    /// True if it has no answer of its own: what it uses of others is joined.
    pub(super) is_joined: bool,
}

impl MemberAnswer {
    /// Imports by other names of the symbols that the call is about.
    pub(super) fn renamed(&self) -> Vec<Renamed> {
        self.subjects.iter().flat_map(|subject| subject.renamed.iter().cloned()).collect()
    }
}
