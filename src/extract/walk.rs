//! Syntax tree traversal: applies the rules of the manifest and maintains the context (scope,
//! enclosing symbol, pending documentation).

pub(super) mod children;
pub(super) mod context;
pub(super) mod fallback;
pub(crate) mod ignored;
pub(crate) mod input;
pub(crate) mod lister;
pub(super) mod names;
pub(crate) mod position;
pub(super) mod rule_choice;
pub(super) mod scopes;
pub(super) mod surroundings;
pub(super) mod texts;
pub(crate) mod visited;

use crate::budget::Limits;
use crate::facts::builder::{Builder, place};
use crate::facts::exports::{self, Ambient, ExportList};
use crate::preprocess::edits::Made;
use crate::walk::lister::Lister;
use cograph_faults::{Fault, planted};
use cograph_grammar::{Language, Rule, Tier};
use cograph_model::facts::{
    BindingKind, ExprId, FileFacts, ImportId, LocalSymbol, NameId, Run, ScopeId, ScopeKind, Site,
    SiteId,
};
use cograph_model::{ProblemKind, SiteKind};
pub(super) use context::{
    Callable, Context, Declarator, Declared, Decorator, Definition, Embedded, Generated, Pending,
    QUOTES, READ, Surroundings, Usage,
};
pub(super) use input::Input;
pub(super) use position::{line, offset, position};
use tree_sitter::Node;

/// Traversal of one tree: what it reads, what it writes, and where it is. Functions take the parts
/// that they use, or the whole.
pub(super) struct Walk<'t> {
    pub(super) input: Input<'t>,
    pub(super) facts: Builder,
    pub(super) context: Context<'t>,
    pub(super) exports: Exports<'t>,
    pub(super) seen: visited::VisitedNodes,
}

/// Exports that no definition carries.
#[derive(Default)]
pub(super) struct Exports<'t> {
    /// Variables that hold the object whose members are exported.
    pub(super) held_as: Vec<&'t str>,
    /// Names exported by a list: exported name, local name.
    pub(super) names: Vec<(NameId, NameId)>,
    /// Export list for wildcard imports.
    pub(super) list: ExportList,
    /// Declarations of what is defined elsewhere.
    pub(super) ambient: Vec<Ambient>,
    /// Scopes whose definitions are in the global scope of the program.
    pub(super) global: Vec<ScopeId>,
}

impl<'t> Walk<'t> {
    pub(super) fn new(
        language: &'static Language,
        source: &'t [u8],
        limits: Limits,
        embedded: Embedded<'t>,
        made: &'t [Made],
    ) -> Self {
        let mut facts = Builder::for_source(source.len());
        let scope = facts.scope(ScopeId::NONE, ScopeKind::File, LocalSymbol::NONE, 0, source.len());
        let input = Input {
            language,
            source,
            text: std::str::from_utf8(source).ok(),
            embedded,
            made,
            lister: Lister::default(),
            limits,
            has_errors: true,
            stores_sites: language.tier() != Tier::Structure,
        };
        Self {
            input,
            facts,
            context: Context::of_file(scope),
            exports: Exports::default(),
            seen: visited::VisitedNodes::of(language),
        }
    }

    pub(super) fn walk(&mut self, root: Node<'t>) {
        self.input.has_errors = root.has_error();
        if root.is_error() {
            self.problem(ProblemKind::Syntax, root);
        }
        self.visit_children(root);
        // Reports a syntax error at a position that no rule visits.
        if root.has_error() && !self.facts.has_problems() {
            let mut node = root;
            while !node.is_error() && !node.is_missing() {
                let Some(child) = children::children(&self.input, node)
                    .into_iter()
                    .find(|child| child.has_error())
                else {
                    break;
                };
                node = child;
            }
            self.problem(ProblemKind::Syntax, node);
        }
    }

    pub(super) fn into_facts(self) -> FileFacts {
        let mut facts = self.facts.into_facts();
        let objects = &self.input.language.manifest.names.export_objects;
        exports::mark_exports(&mut facts, &self.exports.names, objects);
        exports::apply_list(&mut facts, &self.exports.list);
        let objects =
            if self.input.language.manifest.markup.is_none() { &objects[..] } else { &[] };
        exports::mark_global(&mut facts, &self.exports.ambient, &self.exports.global, objects);
        facts
    }

    /// Visits the children of a node in order; comments and decorators are kept for the next
    /// definition.
    pub(super) fn visit_children(&mut self, node: Node<'t>) -> ExprId {
        // Tokens have no rules, but may be missing nodes.
        let children = if self.input.has_errors {
            children::children(&self.input, node)
        } else {
            children::named_and_comments(&self.input, node)
        };
        let mut last = ExprId::NONE;
        for child in &children {
            if let Some(value) = self.visit_child(*child) {
                last = value;
            }
        }
        last
    }

    /// Visits one child; `None` for comments and tokens.
    pub(super) fn visit_child(&mut self, child: Node<'t>) -> Option<ExprId> {
        let kind = child.kind_id();
        if self.input.language.is_token(kind) && !child.is_missing() {
            return None;
        }
        if self.input.language.is_comment(kind) {
            self.note_comment(child);
            return None;
        }
        let is_decorator = matches!(self.input.language.rule(kind), Some(Rule::Decorator { .. }));
        if !is_decorator && !self.context.pending.decorators.is_empty() {
            self.decorated_conditions(child);
        }
        let value = self.visit_kind(child, kind, READ);
        if !is_decorator {
            self.context.pending = Pending::default();
        }
        Some(value)
    }

    pub(super) fn note_comment(&mut self, comment: Node<'t>) {
        let (start, end) = (comment.start_byte(), comment.end_byte());
        let line = self
            .input
            .source
            .get(start - comment.start_position().column..start)
            .unwrap_or_default();
        if !line.iter().all(u8::is_ascii_whitespace) {
            // A comment behind code on the same line does not document the next definition.
            return;
        }
        let joined = self.context.pending.comment.filter(|&(_, previous)| {
            let gap = self.input.source.get(previous..start).unwrap_or_default();
            gap.iter().all(u8::is_ascii_whitespace)
                && gap.iter().filter(|&&byte| byte == b'\n').count() <= 1
        });
        self.context.pending.comment = Some((joined.map_or(start, |(first, _)| first), end));
    }

    /// Visits a node and returns the expression for its value.
    pub(super) fn visit(&mut self, node: Node<'t>, usage: Usage) -> ExprId {
        self.visit_kind(node, node.kind_id(), usage)
    }

    /// Does the same for a node with a known kind.
    fn visit_kind(&mut self, node: Node<'t>, kind: u16, usage: Usage) -> ExprId {
        if !self.context.taken.is_empty()
            && let Some(at) = self.context.taken.iter().position(|taken| *taken == node.id())
        {
            self.context.taken.swap_remove(at);
            return ExprId::NONE;
        }
        self.deeper(node, |walk| walk.visit_node(node, kind, usage))
    }

    /// Visits a node by `visit`, unless it is nested too deep.
    pub(super) fn deeper(
        &mut self,
        node: Node<'t>,
        visit: impl FnOnce(&mut Self) -> ExprId,
    ) -> ExprId {
        self.nested(node, ExprId::NONE, visit)
    }

    /// Applies a recursive function to a node; returns `otherwise` if it is nested too deep.
    pub(super) fn nested<T>(
        &mut self,
        node: Node<'t>,
        otherwise: T,
        visit: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.input.embedded.budget.ends_at_node() {
            return otherwise;
        }
        if self.context.depth >= self.input.limits.depth {
            self.problem(ProblemKind::TooDeep, node);
            return otherwise;
        }
        self.context.depth += 1;
        let value = visit(self);
        self.context.depth -= 1;
        self.seen.note(node);
        value
    }

    /// Remaining recursion depth.
    pub(super) fn depth_left(&self) -> usize {
        self.input.limits.depth.saturating_sub(self.context.depth) as usize
    }

    pub(super) fn visit_selected(
        &mut self,
        node: Node<'t>,
        selector: Option<&cograph_grammar::Selector>,
        usage: Usage,
    ) -> ExprId {
        match selector.and_then(|selector| selector.first(node)) {
            Some(child) => self.visit(child, usage),
            None => ExprId::NONE,
        }
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, node: Node<'t>) {
        let last = node.end_position().row.max(node.start_position().row);
        self.facts.problem(kind, line(node.start_position().row), line(last));
    }

    /// Records a site at a node.
    pub(super) fn site(&mut self, usage: Usage, node: Node<'t>, name: NameId, target: ExprId) {
        let Usage::Site(kind) = usage else { return };
        if !self.input.stores_sites {
            return;
        }
        let mut at = position(node);
        if planted(Fault::CharacterColumns) {
            let line = node.start_byte() - at.column as usize..node.start_byte();
            let text = String::from_utf8_lossy(&self.input.source[line]).into_owned();
            at.column = offset(text.chars().count());
        }
        let id = self.facts.site(Site {
            kind,
            name,
            at,
            byte: offset(node.start_byte()),
            scope: self.context.scope,
            enclosing: self.context.enclosing,
            target,
            import: ImportId::NONE,
            args: Run::default(),
            spread: false,
            in_macro: self.context.in_macro,
        });
        if matches!(kind, SiteKind::Call | SiteKind::Construct) {
            self.context.call_site = id;
        }
    }

    /// Takes the call site of the callee just visited.
    pub(super) fn take_call_site(&mut self) -> SiteId {
        std::mem::replace(&mut self.context.call_site, SiteId::NONE)
    }

    pub(super) fn bind(
        &mut self,
        scope: ScopeId,
        name: NameId,
        kind: BindingKind,
        from: usize,
        ty: ExprId,
        value: ExprId,
    ) {
        if name.is_some() && !ignored::is_ignored(&self.input, &self.facts, name) {
            let place = place(scope, self.context.scope, name, offset(from));
            self.facts.bind(place.of_value(kind, ty, value));
        }
    }
}
