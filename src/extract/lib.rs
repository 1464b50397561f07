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
//! - `facts` collects and completes the facts, reports which parts of a tree have none, and finds
//!   the bodies of what can be executed.
//! - The rules are grouped in `definitions`, `bindings`, `expressions`, `types`, `imports` and
//!   `macros`; `apply` chooses among them, and `recursion` has what they ask of each other.

mod apply;
mod bindings;
mod budget;
mod definitions;
mod expressions;
mod facts;
mod imports;
mod last_line;
mod macros;
mod preprocess;
mod recursion;
mod repair;
mod types;
mod walk;

pub use budget::{Allowance, Exhausted};
pub use facts::bodies::{Body, fingerprint};
pub use facts::coverage::{Coverage, coverage};
pub use facts::explain::{Explained, Explanation, explain};

use budget::Budget;
use cograph_grammar::{self as grammar, Language};
use cograph_model::LanguageId;
use cograph_model::facts::{FileFacts, LocalSymbol};
use std::cell::RefCell;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, ParseState, Parser, Range, Tree};

/// Limits per file.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum nesting of syntax nodes; deeper regions become a `TooDeep` problem.
    pub depth: u32,
    /// CPU time of the first parse, in nanoseconds.
    pub first_parse: Allowance,
    /// CPU time of everything together, in nanoseconds.
    pub time: Allowance,
    /// Heap of parsing, in bytes.
    pub heap: Allowance,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 1_000, first_parse: FULL_TIME, time: WHOLE_TIME, heap: HEAP }
    }
}

impl Limits {
    /// Limits for a build that others wait for: it leaves slow files to a later run.
    pub fn quick() -> Self {
        Self { first_parse: QUICK_TIME, ..Self::default() }
    }

    /// Limits for such a build once slow files have taken too much of its time.
    pub fn quicker() -> Self {
        Self { first_parse: QUICKER_TIME, ..Self::default() }
    }
}

/// Ordinary files, 21,000 of all languages, take at most 5 µs a byte on a busy machine, and 128
/// bytes of heap a byte; what nests deeply in little text takes some megabytes. The process grows
/// by more than twice the heap, since the parser's stacks grow by copying. At the end of a
/// file that it could not parse the parser copies its stack once for each path through it, without
/// a callback: there the watchdog of the process that indexes is the bound.
const FULL_TIME: Allowance =
    Allowance { base: 150_000_000, per_byte: 10_000, most: 10_000_000_000 };
const QUICK_TIME: Allowance = Allowance { base: 100_000_000, per_byte: 3_000, most: 2_000_000_000 };
/// Several times what an ordinary file takes on an idle machine.
const QUICKER_TIME: Allowance =
    Allowance { base: 25_000_000, per_byte: 1_000, most: 1_000_000_000 };
const HEAP: Allowance = Allowance { base: 12 << 20, per_byte: 300, most: u64::MAX };

/// Time of the parse and of the traversal, which is this program's own code: without optimisation
/// it takes several times as long, and the parser does not.
const WHOLE_TIME: Allowance = Allowance {
    base: FULL_TIME.base * OWN_CODE,
    per_byte: FULL_TIME.per_byte * OWN_CODE,
    most: FULL_TIME.most * OWN_CODE,
};
const OWN_CODE: u64 = if cfg!(debug_assertions) { 10 } else { 1 };

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Extracts the facts of one file. Errors in it become problems; it fails only for a file that
/// takes more than `limits` allow. `source` must be mostly valid UTF-8; needs a thread with at
/// least 16 MiB of stack.
pub fn extract(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: Limits,
) -> Result<FileFacts, Exhausted> {
    extract_with_headers(language, path, source, limits).map(|(facts, _)| facts)
}

/// The same, with the bodies of what can be executed.
pub fn extract_with_bodies(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: Limits,
) -> Result<(FileFacts, Vec<Body>), Exhausted> {
    let (facts, headers) = extract_with_headers(language, path, source, limits)?;
    let bodies = facts::bodies::of_file(&facts, &headers, source);
    Ok((facts, bodies))
}

/// Ends of the headers of symbols with a body.
type Headers = Vec<(LocalSymbol, u32)>;

fn extract_with_headers(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: Limits,
) -> Result<(FileFacts, Headers), Exhausted> {
    let language = grammar::language(language);
    let budget = Budget::start(&limits, source.len());
    let (cleared, tree) = repair::tree(language, source, &budget)?;
    let nested = typed_arena::Arena::new();
    let embedded = walk::Embedded { trees: &nested, budget: &budget };
    let mut walk = walk::Walk::new(language, source, limits, embedded, &cleared.made);
    walk.walk(tree.root_node());
    imports::in_comments::of_file(&mut walk);
    macros::items::moved(&mut walk, &cleared.moved);
    macros::bodies::cleared(&walk.input, &mut walk.facts, &cleared);
    bindings::bound_names::of_markup(&walk.input, &mut walk.facts, &cleared.bound);
    if let Some(exhausted) = budget.exhausted() {
        return Err(exhausted);
    }
    definitions::component::of_file(&walk.input, &mut walk.facts, path);
    let headers = std::mem::take(&mut walk.facts.headers);
    let mut facts = walk.into_facts();
    bindings::conditions::of_file(&mut facts, &language.manifest.conditions, path, source);
    Ok((facts::finish::finish(facts, language, path, source), headers))
}

/// Parses a source, or the ranges `within` it, as far as the budget reaches.
fn parse(
    language: &Language,
    source: &[u8],
    budget: &Budget,
    within: &[Range],
) -> Result<Tree, Exhausted> {
    let tree =
        parse_while(language, source, within, &mut |state| budget.check_parse(state.has_error()));
    tree.ok_or_else(|| budget.exhausted().unwrap_or(Exhausted::Time))
}

/// True if ranges of a source have no error, and if the budget does not reach to find one. Recovery
/// from errors is most of the cost of a parse that has some: this one ends at the first that no
/// other reading of the source avoids.
fn has_no_error(language: &Language, source: &[u8], budget: &Budget, within: &[Range]) -> bool {
    let mut is_broken = false;
    let tree = parse_while(language, source, within, &mut |state| {
        is_broken = state.has_error();
        if is_broken { ControlFlow::Break(()) } else { budget.check_parse(false) }
    });
    tree.map_or(!is_broken, |tree| !tree.root_node().has_error())
}

/// Parses a source, or the ranges `within` it, unless a check breaks.
fn parse_while(
    language: &Language,
    source: &[u8],
    within: &[Range],
    check: &mut dyn FnMut(&ParseState) -> ControlFlow<()>,
) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        parser
            .set_language(&language.grammar)
            .expect("every grammar is built for this tree-sitter; a test loads them all");
        let ended = last_line::ended(&language.grammar, source, within);
        let within = ended.as_deref().unwrap_or(within);
        parser.set_included_ranges(within).expect("ranges are in order and do not overlap");
        let mut check = |state: &ParseState| check(state);
        let options = ParseOptions::new().progress_callback(&mut check);
        let tree = parser.parse_with_options(
            &mut |offset, _| source.get(offset..).unwrap_or_default(),
            None,
            Some(options),
        );
        if tree.is_none() {
            // Drops the stacks of the abandoned parse, and with them its memory.
            *parser = Parser::new();
        }
        tree
    })
}
