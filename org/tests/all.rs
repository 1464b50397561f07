//! The program as its users meet it. `COGRAPH_BIN` is the main program, which exports the tables.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read files and the environment, and write what they measure"
)]

mod org {
    mod compaction;
    mod data;
    mod hostile;
    mod questions;
    mod s3;
    mod server;
}
