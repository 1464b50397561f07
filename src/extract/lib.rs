//! Extraction: one file's bytes to `FileFacts`, in a single pass over the syntax tree, driven by
//! the language's tables. Knows no other file.
//!
//! ```text
//! bytes ──> preprocess ──> parser ──> repair ──> walk ──────────> facts ──> FileFacts
//!           same offsets   budget     parses     apply: the rule   complete
//!                                     again      of a node kind
//! ```
//!
//! - `preprocess` blanks preprocessor syntax, so that the parser can handle the rest.
//! - `repair` handles what the grammar does not understand, and parses again.
//! - `walk` traverses the tree; it has the input, the facts so far, and the context.
//! - `facts` collects and completes the facts, and finds the bodies of what can be executed.
//! - The rules are grouped in `definitions`, `bindings`, `expressions`, `types`, `imports` and
//!   `macros`; `apply` chooses among them, and `recursion` has what they ask of each other.
//! - `entry` takes these steps for one file, and reports which parts of a tree have no facts.

mod apply;
mod bindings;
mod budget;
mod definitions;
/// What is offered for one file.
mod entry {
    mod complexity;
    pub(crate) mod coverage;
    pub(crate) mod explain;
    pub(crate) mod facts;
}
mod expressions;
mod facts;
mod imports;
mod macros;
mod parser;
mod preprocess;
mod recursion;
mod repair;
mod types;
mod walk;

pub use budget::{Allowance, Exhausted, Limits};
pub use entry::coverage::{Coverage, coverage};
pub use entry::explain::{Explained, Explanation, explain};
pub use entry::facts::{extract, extract_with_bodies};
pub use facts::bodies::{Body, fingerprint};
