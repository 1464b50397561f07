//! Standard input and output of a session: the thread that reads and the thread that writes.

pub(super) mod reader;
pub(super) mod stdio;
pub(super) mod writer;
