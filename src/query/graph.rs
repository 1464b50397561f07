//! Rows of one snapshot and steps in the call graph, shared by several questions.

pub(super) mod calls;
pub(super) mod filter;
pub(super) mod having;
pub(super) mod held;
pub(super) mod lookup;
pub(super) mod unread;
