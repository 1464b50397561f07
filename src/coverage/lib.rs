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
mod error;
mod import;
mod input;
mod names;
mod places;
mod present;
mod records;

pub use bodies::ReadTree;
pub use error::CoverageError;
pub use import::{Added, AddedInput, add};
pub use input::{
    Input, MAX_DATABASE, MAX_JSON, MAX_LINE, MAX_ROWS, MAX_TEXT, READ_TIME, is_named_by_file,
};
pub use present::{Covered, Present, executed};
pub use records::{FILE, MAX_PAIRS, MAX_TESTS, Records, Sums};
