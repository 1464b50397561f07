//! Parses a source, or ranges within it, with one parser a thread, within a budget.

mod last_line;

use crate::budget::{Budget, Exhausted};
use cograph_grammar::Language;
use std::cell::RefCell;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, ParseState, Parser, Range, Tree};

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Parses a source, or the ranges `within` it, as far as the budget reaches.
pub(crate) fn parse(
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
pub(crate) fn has_no_error(
    language: &Language,
    source: &[u8],
    budget: &Budget,
    within: &[Range],
) -> bool {
    let mut is_broken = false;
    let tree = parse_while(language, source, within, &mut |state| {
        is_broken = state.has_error();
        if is_broken { ControlFlow::Break(()) } else { budget.check_parse(false) }
    });
    tree.map_or(!is_broken, |tree| !tree.root_node().has_error())
}

/// Parses a source, or the ranges `within` it, unless a check breaks.
pub(crate) fn parse_while(
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
