//! Common parts of the server: limits, escaping, the log, URIs.

pub(super) mod escape;
pub(super) mod limits;
pub(super) mod log;
pub(crate) mod options;
pub(super) mod uri;
