//! What all of the server rests on: limits, escaping, the log, addresses, the allocator.

pub(super) mod allocator;
pub(super) mod escape;
pub(super) mod limits;
pub(super) mod log;
pub(super) mod uri;
