//! Which test executed which function: read from the files of coverage tools, kept by the
//! fingerprint of the function's body, so that a pair lives as long as the body does.
//!
//! ```text
//! coverage file ──> input ──> test, file, lines ──> import ──> Records ──> bytes next to the store
//!                                      │ places, bodies            │
//!                                      └ of the present files      └──> present: pairs of bodies
//!                                                                       that still exist
//! ```
//!
//! - `input` recognizes a format by its content and reads it within bounds.
//! - `names` turns the names of contexts into those of tests; `places` finds recorded paths in the
//!   index; `bodies` gives each line to the innermost function whose body has it.
//! - `records` is what is kept, `import` adds to it, `present` reads it.

mod bodies;
mod import;
mod input;
mod names;
mod places;
mod present;
mod records;

use std::io;
use std::path::PathBuf;

use cograph_model::RepoPath;

pub use import::{Added, AddedInput, add};
pub use input::{
    Input, MAX_DATABASE, MAX_JSON, MAX_LINE, MAX_ROWS, MAX_TEXT, READ_TIME, is_named_by_file,
};
pub use present::{Covered, Present};
pub use records::{MAX_PAIRS, MAX_TESTS, Records, Sums};

/// Name of the file next to the store.
pub const FILE: &str = "coverage";

/// Reads a file of the repository.
pub type ReadTree<'r> = &'r (dyn Fn(&RepoPath) -> io::Result<Vec<u8>> + Sync);

/// Why a file of coverage cannot be imported.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct CoverageError {
    /// File.
    pub path: PathBuf,
    /// What is wrong with it, and what is wanted.
    pub reason: String,
}

/// Stack of the thread that extracts bodies.
const STACK: usize = 64 << 20;

/// Runs what extracts symbols, which needs a large stack; none if it panicked.
fn in_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("coverage".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        thread.ok()?.join().ok()
    })
}
