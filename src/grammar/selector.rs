//! Selectors: name descendants of a node in a manifest. `field`, `<kind>`, `2` (third named child),
//! `after(kind)` and `before(kind)` (the named child next to a token), `next(kind)` and
//! `previous(kind)` (the sibling next to the node, if it has the kind; the named one beyond a
//! token), alternatives `a|b`, steps `a/b`.

use rustc_hash::FxHashMap;
use serde::de::{self, Deserialize, Deserializer};
use smallvec::SmallVec;
use std::cell::RefCell;
use tree_sitter::{Node, TreeCursor};

thread_local! {
    /// Grammar for the validation of selectors and kinds during parsing of a manifest.
    static GRAMMAR: RefCell<Option<Grammar>> = const { RefCell::new(None) };
}

/// Names of a grammar.
struct Grammar {
    language: tree_sitter::Language,
    /// Visible node kinds with their ids.
    kinds: FxHashMap<Box<str>, SmallVec<[u16; 2]>>,
}

impl Grammar {
    fn of(language: &tree_sitter::Language) -> Self {
        let mut kinds = FxHashMap::<_, SmallVec<[u16; 2]>>::default();
        let count = u16::try_from(language.node_kind_count())
            .expect("grammars have fewer than 65536 kinds");
        for id in (0..count).filter(|&id| language.node_kind_is_visible(id)) {
            if let Some(kind) = language.node_kind_for_id(id) {
                kinds.entry(kind.into()).or_default().push(id);
            }
        }
        Self { language: language.clone(), kinds }
    }
}

/// Runs `read` with a grammar for the validation of selectors.
pub(super) fn with_grammar<T>(grammar: &tree_sitter::Language, read: impl FnOnce() -> T) -> T {
    GRAMMAR.with(|slot| *slot.borrow_mut() = Some(Grammar::of(grammar)));
    let result = read();
    GRAMMAR.with(|slot| *slot.borrow_mut() = None);
    result
}

/// Returns the ids of all visible symbols of this kind; empty if the grammar has none.
pub(super) fn kind_ids(kind: &str) -> SmallVec<[u16; 2]> {
    GRAMMAR.with(|slot| {
        let slot = slot.borrow();
        let grammar = slot.as_ref().expect("selectors are read inside with_grammar");
        grammar.kinds.get(kind).cloned().unwrap_or_default()
    })
}

fn field_id(field: &str) -> Option<u16> {
    GRAMMAR.with(|slot| {
        let slot = slot.borrow();
        let grammar = slot.as_ref().expect("selectors are read inside with_grammar");
        grammar.language.field_id_for_name(field).map(std::num::NonZeroU16::get)
    })
}

#[derive(Clone, PartialEq, Debug)]
enum Step {
    Field(u16),
    Kind(SmallVec<[u16; 2]>),
    Nth(usize),
    /// The child next to the first child of a kind, if it is named.
    NextTo(Side, SmallVec<[u16; 2]>),
    /// The sibling next to the node, if it is of a kind; the named one beyond it for a token.
    Sibling(Side, SmallVec<[u16; 2]>),
}

/// Side of a token or node.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Side {
    Before,
    After,
}

impl Side {
    /// Returns the sibling of a node on this side.
    fn of<'t>(self, node: Node<'t>) -> Option<Node<'t>> {
        match self {
            Side::Before => node.prev_sibling(),
            Side::After => node.next_sibling(),
        }
    }
}

/// Selector of a descendant of a node.
#[derive(Clone, PartialEq, Debug)]
pub struct Selector {
    alternatives: SmallVec<[SmallVec<[Step; 1]>; 1]>,
}

impl Selector {
    /// Returns the first node that the selector selects.
    pub fn first<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        self.alternatives
            .iter()
            .find_map(|steps| steps.iter().try_fold(node, |node, step| step.first(node)))
    }

    /// Returns every child that the last step of the selector selects, in order. The cursor may be
    /// at any node of the same tree.
    pub fn every<'t>(
        &self,
        node: Node<'t>,
        cursor: &mut TreeCursor<'t>,
    ) -> SmallVec<[Node<'t>; 8]> {
        for steps in &self.alternatives {
            let Some((last, path)) = steps.split_last() else { continue };
            let Some(parent) = path.iter().try_fold(node, |node, step| step.first(node)) else {
                continue;
            };
            let found = last.every(parent, cursor);
            if !found.is_empty() {
                return found;
            }
        }
        SmallVec::new()
    }
}

/// Maximum number of children that are accessed by position, which counts from the first; of more,
/// a cursor visits them.
const MAX_BY_POSITION: u32 = 8;

impl Step {
    fn first<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        match self {
            Step::Field(field) => node.child_by_field_id(*field),
            Step::Nth(position) => node.named_child(u32::try_from(*position).ok()?),
            Step::Kind(kinds) => child_of_kind(node, kinds),
            Step::NextTo(side, kinds) => {
                child_of_kind(node, kinds).and_then(|token| side.of(token)).filter(Node::is_named)
            }
            Step::Sibling(side, kinds) => {
                let sibling = side.of(node).filter(|it| kinds.contains(&it.kind_id()))?;
                if sibling.is_named() { Some(sibling) } else { side.of(sibling) }
                    .filter(Node::is_named)
            }
        }
    }

    fn every<'t>(&self, node: Node<'t>, cursor: &mut TreeCursor<'t>) -> SmallVec<[Node<'t>; 8]> {
        let mut found = SmallVec::new();
        match (self, self.first(node)) {
            (_, None) => return found,
            (Step::Nth(_) | Step::NextTo(..) | Step::Sibling(..), Some(only)) => {
                found.push(only);
                return found;
            }
            // Usually it is the only one, and the last child.
            (Step::Field(_), Some(first)) if first.is_named() && is_last_named(first, node) => {
                found.push(first);
                return found;
            }
            _ => {}
        }
        let mut left = node.child_count();
        cursor.reset(node);
        let mut has_more = cursor.goto_first_child();
        while has_more {
            let child = cursor.node();
            let is_named_so = match self {
                Step::Field(field) => {
                    cursor.field_id().is_some_and(|id| id.get() == *field) && child.is_named()
                }
                _ => self.is_kind(child),
            };
            if is_named_so {
                found.push(child);
            }
            left -= 1;
            has_more = left > 0 && cursor.goto_next_sibling();
        }
        found
    }

    fn is_kind(&self, node: Node<'_>) -> bool {
        matches!(self, Step::Kind(kinds) if kinds.contains(&node.kind_id()))
    }
}

/// Returns the first child of one of these kinds.
fn child_of_kind<'t>(node: Node<'t>, kinds: &[u16]) -> Option<Node<'t>> {
    let is_kind = |child: &Node<'t>| kinds.contains(&child.kind_id());
    match node.child_count() {
        count @ ..=MAX_BY_POSITION => (0..count).find_map(|at| node.child(at).filter(is_kind)),
        _ => node.children(&mut node.walk()).find(is_kind),
    }
}

/// True if a child is the last named child.
fn is_last_named(child: Node<'_>, node: Node<'_>) -> bool {
    let last = u32::try_from(node.named_child_count())
        .ok()
        .and_then(|count| node.named_child(count.checked_sub(1)?));
    last.is_some_and(|last| last.id() == child.id())
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut alternatives = SmallVec::new();
        for alternative in text.split('|') {
            let mut steps = SmallVec::new();
            for step in alternative.split('/') {
                steps.push(parse_step(step).map_err(de::Error::custom)?);
            }
            alternatives.push(steps);
        }
        Ok(Self { alternatives })
    }
}

fn parse_step(step: &str) -> Result<Step, String> {
    let inside = |head, tail| step.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
    if let Some(kind) = inside("<", ">") {
        return Ok(Step::Kind(known_kind(kind)?));
    }
    for (side, head) in [(Side::Before, "before("), (Side::After, "after(")] {
        if let Some(kind) = inside(head, ")") {
            return Ok(Step::NextTo(side, known_kind(kind)?));
        }
    }
    for (side, head) in [(Side::Before, "previous("), (Side::After, "next(")] {
        if let Some(kind) = inside(head, ")") {
            return Ok(Step::Sibling(side, known_kind(kind)?));
        }
    }
    if let Ok(position) = step.parse() {
        return Ok(Step::Nth(position));
    }
    if matches!(step, "." | "^") {
        return Err(format!("`{step}` stands alone, in a condition"));
    }
    field_id(step).map(Step::Field).ok_or_else(|| format!("the grammar has no field `{step}`"))
}

/// Returns the ids of a kind that the grammar has.
fn known_kind(kind: &str) -> Result<SmallVec<[u16; 2]>, String> {
    let ids = kind_ids(kind);
    let is_known = !ids.is_empty();
    is_known.then_some(ids).ok_or_else(|| format!("the grammar has no node kind `{kind}`"))
}
