//! Output of the command line: results on stdout through one buffer, diagnostics on stderr. Knows
//! no command.

pub(super) mod examples;
pub(super) mod log;
pub(crate) mod numbers;
pub(super) mod profile;
pub(super) mod progress;
pub(crate) mod stop;
pub(crate) mod streams;
pub(super) mod terminal;

pub(super) use streams::{note, to_stdout};
