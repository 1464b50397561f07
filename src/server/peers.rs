//! MCP servers as child processes: start and end of one (`child`), all of one owner (`programs`),
//! and measuring one as a client sees it (`probe`).

pub(super) mod child;
mod probe;
mod programs;

pub use child::{
    ChildProcess, CommandOutput, EndPatience, Ended, Started, run_command, show_through,
};
pub use probe::{Probe, ProbeError, probe};
pub(super) use programs::Programs;
