//! Other servers, which this program starts: processes and their ends (`child`), all those of one
//! owner (`programs`), and what a client would see of one (`probe`).

pub(super) mod child;
mod probe;
mod programs;

pub use child::{ChildProcess, EndPatience, Ended, Ran, Started, run_command};
pub use probe::{Probe, ProbeError, probe};
pub(super) use programs::Programs;
