//! Other servers, which this program starts: processes and their ends (`child`), and what a client would see of one (`probe`).

mod child;
mod probe;

pub use child::{ChildProcess, EndPatience, Ended, Ran, Started, run_command};
pub use probe::{Probe, ProbeError, probe};
