//! MCP servers as child processes: all of one owner (`programs`), and measuring one as a client
//! sees it (`probe`).

mod probe;
mod programs;

pub use probe::{Probe, ProbeError, probe};
pub(super) use programs::Programs;
