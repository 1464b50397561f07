//! Extraction: one file's bytes to `FileFacts`, in a single pass over the syntax tree, driven by
//! the language's tables. Knows no other file.
//!
//! - `preprocess` blanks preprocessor syntax, so that the parser can handle the rest.
//! - `repair` handles what the grammar does not understand, and parses again.
//! - `walk` traverses the tree; it has the input, the facts so far, and the context.
//! - `facts` collects and completes the facts, and reports which parts of a tree have none.
//! - The rules are grouped in `definitions`, `bindings`, `expressions`, `types`, `imports` and
//!   `macros`; `apply` chooses among them, and `recursion` has what they ask of each other.

mod apply;
mod bindings;
mod definitions;
mod expressions;
mod facts;
mod imports;
mod macros;
mod preprocess;
mod recursion;
mod repair;
mod types;
mod walk;

pub use facts::coverage::{Coverage, coverage};
pub use facts::explain::{Explained, Explanation, explain};

use crate::grammar::{self, Language};
use crate::model::facts::FileFacts;
use crate::model::{LanguageId, Problem, ProblemKind};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Limits per file.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum nesting of syntax nodes; deeper regions become a `TooDeep` problem.
    pub depth: u32,
    /// Timeout of parsing in milliseconds; afterwards the file gets a `TimeLimit` problem.
    pub parse_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 1_000, parse_ms: 10_000 }
    }
}

thread_local! {
    static PARSER: RefCell<tree_sitter::Parser> = RefCell::new(tree_sitter::Parser::new());
}

/// Extracts the facts of one file. Never fails: errors become problems. `source` must be mostly
/// valid UTF-8; needs a thread with at least 16 MiB of stack.
pub fn extract(language: LanguageId, path: &str, source: &[u8], limits: Limits) -> FileFacts {
    let language = grammar::language(language);
    let end = Instant::now() + Duration::from_millis(limits.parse_ms);
    let (cleared, tree) = repair::tree(language, source, end);
    let Some(tree) = tree else {
        let lines = facts::text::count_lines(source);
        let problem = Problem { kind: ProblemKind::TimeLimit, first_line: 1, last_line: lines };
        return FileFacts { problems: vec![problem], lines, ..FileFacts::default() };
    };
    let nested = typed_arena::Arena::new();
    let embedded = walk::Embedded { trees: &nested, end };
    let mut walk = walk::Walk::new(language, source, limits, embedded, &cleared.made);
    walk.walk(tree.root_node());
    macros::items::moved(&mut walk, &cleared.moved);
    macros::bodies::cleared(&walk.input, &mut walk.facts, &cleared);
    bindings::bound_names::of_markup(&walk.input, &mut walk.facts, &cleared.bound);
    definitions::component::of_file(&walk.input, &mut walk.facts, path);
    let mut facts = walk.into_facts();
    bindings::conditions::of_file(&mut facts, &language.manifest.conditions, path, source);
    facts::finish::finish(facts, language, path, source)
}

/// Parses a source, or the ranges `within` it; none after the deadline `end`.
fn parse(
    language: &Language,
    source: &[u8],
    end: Instant,
    within: &[tree_sitter::Range],
) -> Option<tree_sitter::Tree> {
    PARSER.with_borrow_mut(|parser| {
        parser
            .set_language(&language.grammar)
            .expect("every grammar is built for this tree-sitter; a test loads them all");
        parser.set_included_ranges(within).expect("ranges are in order and do not overlap");
        let mut in_time = |_: &tree_sitter::ParseState| match Instant::now() > end {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = tree_sitter::ParseOptions::new().progress_callback(&mut in_time);
        let tree = parser.parse_with_options(
            &mut |offset, _| source.get(offset..).unwrap_or_default(),
            None,
            Some(options),
        );
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
}
