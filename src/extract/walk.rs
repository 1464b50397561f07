//! Syntax tree traversal: applies the rules of the manifest and maintains the context (scope,
//! enclosing symbol, pending documentation).

pub(super) mod children;
pub(super) mod context;
pub(super) mod rule_choice;
mod scopes;
pub(super) mod surroundings;
mod texts;
pub(super) mod unruled;

use super::Limits;
use crate::extract::facts::builder::Builder;
use crate::extract::facts::exports::{self, ExportList};
use crate::grammar::{Language, Rule, Tier};
use crate::model::facts::{
    Binding, BindingKind, Expr, ExprId, FileFacts, ImportId, LocalSymbol, NameId, RESULT, Run,
    ScopeId, ScopeKind, Site, SiteId,
};
use crate::model::{Position, ProblemKind, SiteKind};
use children::Lister;
pub(super) use context::{
    Callable, Declared, Decorator, Definition, Embedded, Pending, QUOTES, READ, Surroundings,
    Usage, Wrapper,
};
use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

/// Traversal of one tree.
pub(super) struct Walker<'t> {
    pub(super) language: &'static Language,
    pub(super) source: &'t [u8],
    /// Source as text if it is valid UTF-8: its parts need no validation then.
    text: Option<&'t str>,
    pub(super) build: Builder,
    pub(super) scope: ScopeId,
    pub(super) enclosing: LocalSymbol,
    pub(super) callable: Callable,
    pub(super) around: Surroundings,
    pub(super) pending: Pending<'t>,
    pub(super) in_macro: bool,
    /// True while the target of an assignment is visited a second time: nested targets are not
    /// visited twice again, or the number of visits would double with each level.
    pub(super) in_target: bool,
    /// Definition (by its node's id) that is the only one of its keyword, and the node with the
    /// keyword.
    pub(super) whole: Option<(usize, Node<'t>)>,
    /// Type parameters of the next definition.
    pub(super) waiting_type_params: Option<Node<'t>>,
    /// Names exported by a list: exported name, local name.
    pub(super) exported_names: Vec<(NameId, NameId)>,
    /// Comment before the current definition, in languages with types in comments.
    pub(super) documented: Option<(usize, usize)>,
    /// Declared type of the variable that holds the next closure.
    pub(super) held_as: ExprId,
    /// Calls that may be conditions, by node id, in languages where callables can be type guards.
    pub(super) calls: FxHashMap<usize, ExprId>,
    /// Export list for wildcard imports.
    pub(super) export_list: ExportList,
    /// Members declared in the enclosing type bodies, including those further down, in languages
    /// with hoisting.
    pub(super) declared_members: FxHashSet<(ScopeId, NameId)>,
    /// Call site whose arguments are not visited yet.
    pub(super) call_site: SiteId,
    depth: u32,
    limits: Limits,
    pub(super) embedded: Embedded<'t>,
    /// Definitions created by macros, in order.
    pub(super) made: &'t [crate::extract::preprocess::Made],
    pub(super) lister: Lister<'t>,
    /// True if the tree may have error or missing nodes.
    has_errors: bool,
    /// True if references are stored: false for languages of the structure tier.
    stores_sites: bool,
    pub(super) seen: crate::extract::walk::unruled::Seen,
    /// Package whose body is visited.
    pub(super) package: Option<String>,
}

impl<'t> Walker<'t> {
    pub(super) fn new(
        language: &'static Language,
        source: &'t [u8],
        limits: Limits,
        embedded: Embedded<'t>,
    ) -> Self {
        let mut build = Builder::for_source(source.len());
        let scope = build.scope(ScopeId::NONE, ScopeKind::File, LocalSymbol::NONE, 0, source.len());
        Self {
            language,
            source,
            text: std::str::from_utf8(source).ok(),
            build,
            scope,
            enclosing: LocalSymbol::NONE,
            callable: Callable::NONE,
            around: Surroundings::NONE,
            pending: Pending::default(),
            in_macro: false,
            in_target: false,
            whole: None,
            waiting_type_params: None,
            exported_names: Vec::new(),
            documented: None,
            held_as: ExprId::NONE,
            calls: FxHashMap::default(),
            export_list: ExportList::default(),
            declared_members: FxHashSet::default(),
            call_site: SiteId::NONE,
            depth: 0,
            limits,
            embedded,
            made: &[],
            lister: Lister::default(),
            has_errors: true,
            stores_sites: language.tier() != Tier::Structure,
            package: None,
            seen: crate::extract::walk::unruled::Seen::of(language.tier()),
        }
    }

    pub(super) fn walk(&mut self, root: Node<'t>) {
        self.has_errors = root.has_error();
        if root.is_error() {
            self.problem(ProblemKind::Syntax, root);
        }
        self.visit_children(root);
        // Reports a syntax error at a position that no rule visits.
        if root.has_error() && !self.build.has_problems() {
            let mut node = root;
            while !node.is_error() && !node.is_missing() {
                let Some(child) = self.children(node).into_iter().find(|child| child.has_error())
                else {
                    break;
                };
                node = child;
            }
            self.problem(ProblemKind::Syntax, node);
        }
    }

    pub(super) fn into_facts(self) -> FileFacts {
        let mut facts = self.build.into_facts();
        exports::mark_exports(&mut facts, &self.exported_names);
        exports::apply_list(&mut facts, &self.export_list);
        facts
    }

    /// Visits the children of a node in order; comments and decorators are kept for the next
    /// definition.
    pub(super) fn visit_children(&mut self, node: Node<'t>) -> ExprId {
        // Tokens have no rules, but may be missing nodes.
        let children =
            if self.has_errors { self.children(node) } else { self.named_and_comments(node) };
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
        if self.language.is_token(kind) && !child.is_missing() {
            return None;
        }
        if self.language.is_comment(kind) {
            self.note_comment(child);
            return None;
        }
        let is_decorator = matches!(self.language.rule(kind), Some(Rule::Decorator { .. }));
        if !is_decorator && !self.pending.decorators.is_empty() {
            self.decorated_conditions(child);
        }
        let value = self.visit_kind(child, kind, READ);
        if !is_decorator {
            self.pending = Pending::default();
        }
        Some(value)
    }

    pub(super) fn note_comment(&mut self, comment: Node<'t>) {
        let (start, end) = (comment.start_byte(), comment.end_byte());
        let line =
            self.source.get(start - comment.start_position().column..start).unwrap_or_default();
        if !line.iter().all(u8::is_ascii_whitespace) {
            // A comment behind code on the same line does not document the next definition.
            return;
        }
        let joined = self.pending.comment.filter(|&(_, previous)| {
            let gap = self.source.get(previous..start).unwrap_or_default();
            gap.iter().all(u8::is_ascii_whitespace)
                && gap.iter().filter(|&&byte| byte == b'\n').count() <= 1
        });
        self.pending.comment = Some((joined.map_or(start, |(first, _)| first), end));
    }

    /// Visits a node and returns the expression for its value.
    pub(super) fn visit(&mut self, node: Node<'t>, usage: Usage) -> ExprId {
        self.visit_kind(node, node.kind_id(), usage)
    }

    /// Does the same for a node with a known kind.
    fn visit_kind(&mut self, node: Node<'t>, kind: u16, usage: Usage) -> ExprId {
        self.deeper(node, |walker| walker.visit_node(node, kind, usage))
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
        if self.depth >= self.limits.depth {
            self.problem(ProblemKind::TooDeep, node);
            return otherwise;
        }
        self.depth += 1;
        let value = visit(self);
        self.depth -= 1;
        self.seen.note(node);
        value
    }

    /// Remaining recursion depth.
    pub(super) fn depth_left(&self) -> usize {
        self.limits.depth.saturating_sub(self.depth) as usize
    }

    fn visit_node(&mut self, node: Node<'t>, kind: u16, usage: Usage) -> ExprId {
        if self.has_errors && (node.is_error() || node.is_missing()) {
            self.problem(ProblemKind::Syntax, node);
        }
        self.build.at = offset(node.start_byte());
        match self.rule_of(node, kind) {
            Some(rule) => {
                let value = self.apply(rule, node, usage);
                self.visit_rest_of(node);
                value
            }
            // A node that is only a type is one in any position.
            None if self.language.type_rule(kind).is_some() => {
                let ty = self.visit_type(node, Usage::Site(SiteKind::Type));
                self.build.of(ty, Expr::OfType)
            }
            None => {
                self.visit_children(node);
                ExprId::NONE
            }
        }
    }

    pub(super) fn visit_selected(
        &mut self,
        node: Node<'t>,
        selector: Option<&crate::grammar::Selector>,
        usage: Usage,
    ) -> ExprId {
        match selector.and_then(|selector| selector.first(node)) {
            Some(child) => self.visit(child, usage),
            None => ExprId::NONE,
        }
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, node: Node<'t>) {
        let last = node.end_position().row.max(node.start_position().row);
        self.build.problem(kind, line(node.start_position().row), line(last));
    }

    fn apply(&mut self, rule: &'static Rule, node: Node<'t>, usage: Usage) -> ExprId {
        match rule {
            Rule::Skip {} | Rule::ParamMark {} => ExprId::NONE,
            Rule::Item { .. } => self.item(rule, node),
            Rule::Defines { kind, names } => self.defines(node, *kind, names),
            Rule::Pass { of } => self.pass(node, of.as_ref(), usage),
            Rule::Statement { end } => self.statement(node, end),
            Rule::Block {} => self.block(node, ScopeKind::Block),
            Rule::Flow {} => self.block(node, ScopeKind::Flow),
            Rule::Jump { of, returns } => self.jump(node, of.as_ref(), *returns),
            Rule::Yield { of } => self.jump(node, of.as_ref(), true),
            Rule::Function { .. } => self.function(rule, node),
            Rule::Lambda { .. } => self.lambda(rule, node, LocalSymbol::NONE),
            Rule::Type { .. } => self.type_definition(rule, node),
            Rule::TypeName { .. } => self.type_name(rule, node),
            Rule::Extend { .. } => self.extend(rule, node),
            Rule::Module { .. } => self.module(rule, node),
            Rule::Package { name, body } => self.package(node, name, body.as_ref()),
            Rule::Exports { of } => self.exports(node, of),
            Rule::Alias { .. } => self.alias(rule, node),
            Rule::Embed { of, several } => self.embed(node, of, *several),
            Rule::Group { repeats } => self.group(node, *repeats),
            Rule::Declaration { .. } => self.declaration(rule, node),
            Rule::Variable { .. } => self.variable(rule, node),
            Rule::Variants {} => self.variants(node),
            Rule::Assign { .. } => self.assign(rule, node),
            Rule::Param { .. } | Rule::SelfParam { .. } => {
                self.visit_children(node);
                ExprId::NONE
            }
            Rule::TypeParam { .. } => {
                self.type_params(LocalSymbol::NONE, node);
                ExprId::NONE
            }
            Rule::Bounds {} | Rule::Bound { .. } => ExprId::NONE,
            Rule::Positions { ty } => self.positions(node, ty),
            Rule::Outer { of } => self.outer(node, of),
            Rule::Decorated { of, decorators } => self.decorated(node, of, decorators),
            Rule::Decorator { name, args } => self.decorator(node, name, args.as_ref()),
            Rule::Export { .. } => self.export(rule, node),
            Rule::Import { form } => {
                self.import(form, node);
                ExprId::NONE
            }
            Rule::Macro { .. } => self.macro_definition(rule, node),
            Rule::Section {} => self.section(node),
            Rule::Generic { params } => self.generic(node, params),
            Rule::MemberInit { name, args } => self.member_init(node, name, args),
            Rule::Outside {} => self.outside(node),
            Rule::Conditional { .. } => self.conditional(rule, node),
            _ => self.express(rule, node, usage),
        }
    }

    fn pass(
        &mut self,
        node: Node<'t>,
        of: Option<&crate::grammar::Selector>,
        usage: Usage,
    ) -> ExprId {
        if let Some(only) = self.lone_child(node) {
            let is_chosen = of.is_none_or(|selector| {
                selector.first(node).is_some_and(|chosen| chosen.id() == only.id())
            });
            let value = self.visit(only, if is_chosen { usage } else { READ });
            return if is_chosen { value } else { ExprId::NONE };
        }
        let children = self.named_children(node);
        let chosen = match of {
            Some(selector) => selector.first(node),
            None => children.first().copied(),
        };
        let mut value = ExprId::NONE;
        for &child in &children {
            let is_chosen = chosen.is_some_and(|chosen| chosen.id() == child.id());
            let child_value = self.visit(child, if is_chosen { usage } else { READ });
            if is_chosen {
                value = child_value;
            }
        }
        value
    }

    fn statement(&mut self, node: Node<'t>, end: &str) -> ExprId {
        let value = self.visit_children(node);
        let ended = value.is_some() && self.last_child(node).is_some_and(|last| last.kind() == end);
        if ended { ExprId::NONE } else { value }
    }

    fn jump(
        &mut self,
        node: Node<'t>,
        of: Option<&crate::grammar::Selector>,
        returns: bool,
    ) -> ExprId {
        let value = match of {
            Some(_) => self.visit_selected(node, of, READ),
            None => self.visit_children(node),
        };
        if returns && self.callable.symbol.is_some() {
            self.build.add_value(self.callable.symbol, value);
        } else if returns && value.is_some() {
            let scope = self.build.nearest(self.scope, |kind| kind == ScopeKind::Function);
            let name = self.build.name(RESULT);
            if !scope.is_some() {
                return ExprId::NONE;
            }
            self.bind(scope, name, BindingKind::Result, node.start_byte(), ExprId::NONE, value);
        }
        ExprId::NONE
    }

    /// Records a site at a node.
    pub(super) fn site(&mut self, usage: Usage, node: Node<'t>, name: NameId, target: ExprId) {
        let Usage::Site(kind) = usage else { return };
        if !self.stores_sites {
            return;
        }
        let id = self.build.site(Site {
            kind,
            name,
            at: position(node),
            byte: offset(node.start_byte()),
            scope: self.scope,
            enclosing: self.enclosing,
            target,
            import: ImportId::NONE,
            args: Run::default(),
            spread: false,
            in_macro: self.in_macro,
        });
        if matches!(kind, SiteKind::Call | SiteKind::Construct) {
            self.call_site = id;
        }
    }

    /// Takes the call site of the callee just visited.
    pub(super) fn take_call_site(&mut self) -> SiteId {
        std::mem::replace(&mut self.call_site, SiteId::NONE)
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
        if name.is_some() && !self.is_ignored(name) {
            let (symbol, import) = (LocalSymbol::NONE, ImportId::NONE);
            self.build.bind(Binding {
                scope,
                block: self.scope,
                name,
                kind,
                from: offset(from),
                symbol,
                import,
                ty,
                value,
            });
        }
    }
}

pub(super) fn line(row: usize) -> u32 {
    offset(row + 1)
}

pub(super) fn offset(byte: usize) -> u32 {
    u32::try_from(byte).expect("files are limited to far less than 4 GiB")
}

pub(super) fn position(node: Node<'_>) -> Position {
    let point = node.start_position();
    Position { line: line(point.row), column: offset(point.column) }
}
