//! MCP servers as child processes: all of one owner (`programs`), and measuring one as a client
//! sees it (`probe`).

mod probe;
#[cfg(feature = "federation")]
mod programs;

pub use probe::{Probe, ProbeError, probe};
#[cfg(feature = "federation")]
pub(super) use programs::Programs;
