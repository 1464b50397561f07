//! Answer of one member of a workspace, with the snapshot that it is of.

use crate::tools::tool::reply::Reply;
use crate::workspace::repositories::OpenRepository;

/// Answer of a member.
pub(super) struct MemberAnswer {
    /// Name of the member, escaped.
    pub(super) name: String,
    pub(super) opened: OpenRepository,
    pub(super) reply: Reply,
}
