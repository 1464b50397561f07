//! Complexity of bodies: one pass over the tree, by the weights of node kinds in the manifest.
//!
//! A body starts where the header of its symbol ends. Decisions count for the innermost body around
//! them; what they cost a reader counts for every body around them, by the levels inside of it.

use crate::budget::Budget;
use cograph_grammar::{ComplexityTable, Cost, Language, SelfRule, Weight};
use cograph_model::facts::{Complexity, Expr, FileFacts, LocalSymbol, Symbol, flags};
use cograph_model::{SiteKind, SymbolKind};
use tree_sitter::{Node, TreeCursor};

/// Enters the complexity of each body into the facts.
pub(super) fn measure(
    facts: &mut FileFacts,
    headers: &[(LocalSymbol, u32)],
    language: &'static Language,
    root: Node<'_>,
    budget: &Budget,
) {
    let table = &language.complexity;
    if !table.is_known() {
        return;
    }
    let is_executed = |symbol: &Symbol| {
        symbol.kind.is_callable() && !symbol.is_macro()
            || symbol.kind == SymbolKind::Test
            || symbol.flags & flags::FUNCTION_VALUE != 0
    };
    let mut bodies: Vec<Body> = Vec::new();
    for &(symbol, start) in headers {
        let known = symbol.get().and_then(|position| facts.symbols.get(position));
        if known.is_some_and(is_executed) {
            bodies.push(Body { start: start as usize, symbol });
        }
    }
    if bodies.is_empty() {
        return;
    }
    bodies.sort_by_key(|body| body.start);
    let recursive = recursive(facts, language);
    let (levels, frames) = (Vec::new(), Vec::new());
    let mut pass = Pass { facts, table, bodies: &bodies, levels, frames };
    pass.run(root, budget);
    for position in recursive {
        if let Some(complexity) = &mut facts.details[position].complexity {
            complexity.cognitive += 1;
        }
    }
    for details in &mut facts.details {
        // What is kept of a large value is what its packed form keeps.
        details.complexity = Complexity::unpack(Complexity::pack(details.complexity));
    }
}

/// Functions that call themselves by their plain name.
fn recursive(facts: &FileFacts, language: &Language) -> Vec<usize> {
    let needs_receiver = language.manifest.names.self_rule != SelfRule::Keyword;
    let mut found: Vec<usize> = Vec::new();
    for site in facts.sites.list().iter().filter(|site| site.kind == SiteKind::Call) {
        let Some(position) = site.enclosing.get() else { continue };
        let symbol = &facts.symbols[position];
        let is_member = symbol.container.get().is_some_and(|one| facts.symbols[one].kind.is_type());
        let named = site.target.get().map(|target| facts.exprs[target]);
        let is_itself = matches!(named, Some(Expr::Name(name, _)) if name == symbol.name);
        if is_itself && !(is_member && needs_receiver) {
            found.push(position);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Body by its first byte.
struct Body {
    start: usize,
    symbol: LocalSymbol,
}

/// Body that is being measured.
struct Frame<'b> {
    /// The symbols whose body it is.
    bodies: &'b [Body],
    /// First byte.
    start: usize,
    /// Level of its statements.
    base: u32,
    paths: i64,
    cognitive: u32,
    deepest: u32,
}

/// Node on the way to the current one.
struct Level<'l> {
    kind: u16,
    /// Level of what is directly in it.
    nesting: u32,
    weight: Option<&'l Weight>,
    is_lambda: bool,
    is_group: bool,
    opens_frame: bool,
    is_named: bool,
    /// Nothing in it adds a path.
    is_whole: bool,
    /// Operator of it, once its token is passed.
    operator: Option<u16>,
    /// Operator of the sequence around it that it may go on.
    around: Option<u16>,
    /// Operator of its last child.
    left: Option<u16>,
}

struct Pass<'l, 'f> {
    facts: &'f mut FileFacts,
    table: &'l ComplexityTable,
    /// Bodies at or after the current node, by their first byte: starts never fall in pre-order.
    bodies: &'l [Body],
    levels: Vec<Level<'l>>,
    frames: Vec<Frame<'l>>,
}

impl<'l> Pass<'l, '_> {
    fn run(&mut self, root: Node<'_>, budget: &Budget) {
        let mut cursor = root.walk();
        loop {
            if budget.ends_at_node() {
                return;
            }
            let node = cursor.node();
            let opened = self.bodies_at(node.start_byte());
            if opened.is_empty() && self.is_passed(node) {
                self.pass(node);
            } else {
                self.enter(&cursor, node, opened);
                if cursor.goto_first_child() {
                    continue;
                }
                self.finish_node();
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                self.finish_node();
            }
        }
    }

    /// Takes the bodies that start at this byte.
    fn bodies_at(&mut self, start: usize) -> &'l [Body] {
        let before = self.bodies.iter().take_while(|body| body.start < start).count();
        let (_, ahead) = self.bodies.split_at(before);
        let opened = ahead.iter().take_while(|body| body.start == start).count();
        let (opened, rest) = ahead.split_at(opened);
        self.bodies = rest;
        opened
    }

    /// True for a node whose contents need no look: a leaf without a meaning, or what is outside of
    /// bodies and has none inside.
    fn is_passed(&self, node: Node<'_>) -> bool {
        if self.frames.is_empty() {
            return self.bodies.first().is_none_or(|body| body.start >= node.end_byte());
        }
        node.child_count() == 0 && self.table.is_plain(node.kind_id())
    }

    fn pass(&mut self, node: Node<'_>) {
        if let Some(parent) = self.levels.last_mut()
            && node.is_named()
        {
            parent.left = None;
        }
    }

    fn enter(&mut self, cursor: &TreeCursor<'_>, node: Node<'_>, opened: &'l [Body]) {
        let kind = node.kind_id();
        let around = self.levels.iter().rev().map(|level| level.kind);
        let weight = self.table.weight(kind, around);
        let (mut nesting, mut operator) = (0, None);
        if let Some(parent) = self.levels.last() {
            let field = || cursor.field_id().map(std::num::NonZeroU16::get);
            let is_deeper = !weight.is_some_and(|weight| weight.level)
                && (parent.is_lambda
                    || parent.weight.is_some_and(|weight| weight.nests(field, kind)));
            nesting = parent.nesting + u32::from(is_deeper);
            operator = if parent.is_group { parent.around } else { parent.operator };
        }
        let is_whole = self.levels.last().is_some_and(|parent| parent.is_whole);
        let mut is_lambda = self.table.is_lambda(kind);
        let opens_frame = !opened.is_empty();
        if opens_frame {
            // A function inside of another is one level deeper, a member of a type is not.
            let is_inner = !self.frames.is_empty() && !is_lambda && !self.is_member(opened);
            nesting += u32::from(is_inner);
            self.frames.push(Frame {
                bodies: opened,
                start: node.start_byte(),
                base: nesting,
                paths: 1,
                cognitive: 0,
                deepest: 0,
            });
        }
        if let Some(frame) = self.frames.last() {
            // The closure that a variable holds is its body.
            is_lambda &= frame.start != node.start_byte() || frame.base != nesting;
            self.count(weight, nesting, is_whole);
            let operation = self.levels.last().map(|parent| parent.kind);
            if operation.is_some_and(|operation| self.table.is_operator(kind, operation)) {
                self.pass_operator(kind, is_whole);
            }
        }
        self.levels.push(Level {
            kind,
            nesting,
            weight,
            is_lambda,
            is_group: self.table.is_group(kind),
            opens_frame,
            is_named: node.is_named(),
            is_whole: is_whole || weight.is_some_and(|weight| weight.whole),
            operator: None,
            around: operator,
            left: None,
        });
    }

    fn count(&mut self, weight: Option<&Weight>, nesting: u32, is_whole: bool) {
        let Some(weight) = weight else { return };
        if let Some(innermost) = self.frames.last_mut().filter(|_| !is_whole) {
            innermost.paths += weight.paths;
        }
        for frame in &mut self.frames {
            let depth = nesting.saturating_sub(frame.base);
            frame.cognitive += match weight.cost {
                Cost::None => 0,
                Cost::Flat => 1,
                Cost::Nested => 1 + depth,
            };
            if weight.is_structure() {
                frame.deepest = frame.deepest.max(depth + 1);
            }
        }
    }

    fn pass_operator(&mut self, token: u16, is_whole: bool) {
        if let Some(innermost) = self.frames.last_mut().filter(|_| !is_whole) {
            innermost.paths += 1;
        }
        let Some(parent) = self.levels.last_mut() else { return };
        let before = parent.operator.or(parent.around);
        let goes_on = before == Some(token) || parent.left == Some(token);
        parent.operator = Some(token);
        if !goes_on {
            self.frames.iter_mut().for_each(|frame| frame.cognitive += 1);
        }
    }

    fn finish_node(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        if let Some(parent) = self.levels.last_mut()
            && level.is_named
        {
            parent.left = if level.is_group { level.left } else { level.operator };
        }
        if !level.opens_frame {
            return;
        }
        let Some(frame) = self.frames.pop() else { return };
        let complexity = Complexity {
            cyclomatic: u32::try_from(frame.paths).unwrap_or_default().max(1),
            cognitive: frame.cognitive,
            nesting: frame.deepest,
        };
        for symbol in frame.bodies.iter().filter_map(|body| body.symbol.get()) {
            self.facts.details[symbol].complexity = Some(complexity);
        }
    }

    fn is_member(&self, bodies: &[Body]) -> bool {
        let container = |body: &Body| self.facts.symbols[body.symbol.get()?].container.get();
        let mut containers = bodies.iter().filter_map(container);
        containers.any(|container| self.facts.symbols[container].kind.is_type())
    }
}
