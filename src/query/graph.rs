//! Rows of one snapshot and steps in the call graph, which several questions share.

pub(super) mod calls;
pub(super) mod filter;
pub(super) mod held;
pub(super) mod lookup;
pub(super) mod unread;
