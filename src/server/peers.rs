//! The other side of the protocol: servers that this program asks. Processes and their ends (`child`).

mod child;

pub use child::{ChildProcess, EndPatience, Ended, Ran, Started, run_command};
