//! Context of the traversal: the current callable, the surroundings of definitions, and pending
//! decorators and comments.

use crate::extract::budget::Budget;
use crate::grammar::GeneratedMember;
use crate::model::facts::{ExprId, LocalSymbol, NameId, ScopeId, SiteId};
use crate::model::{SiteKind, SymbolKind, Visibility};
use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::{Node, Tree};

/// Quotes of strings.
pub(in crate::extract) const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Position of the traversal: what encloses the current node, and what waits for the next one.
pub(in crate::extract) struct Context<'t> {
    pub(in crate::extract) scope: ScopeId,
    pub(in crate::extract) enclosing: LocalSymbol,
    pub(in crate::extract) callable: Callable,
    pub(in crate::extract) around: Surroundings,
    pub(in crate::extract) pending: Pending<'t>,
    pub(in crate::extract) in_macro: bool,
    /// True while the target of an assignment is visited a second time: nested targets are not
    /// visited twice again, or the number of visits would double with each level.
    pub(in crate::extract) in_target: bool,
    /// Definition (by its node's id) that is the only one of its keyword, and the node with the
    /// keyword.
    pub(in crate::extract) whole: Option<(usize, Node<'t>)>,
    /// Type parameters of the next definition.
    pub(in crate::extract) waiting_type_params: Option<Node<'t>>,
    /// Comment before the current definition, in languages with types in comments.
    pub(in crate::extract) documented: Option<(usize, usize)>,
    /// Declared type of the variable that holds the next closure.
    pub(in crate::extract) held_as: ExprId,
    /// Calls that may be conditions, by node id, in languages where callables can be type guards.
    pub(in crate::extract) calls: FxHashMap<usize, ExprId>,
    /// Members declared in the enclosing type bodies, including those further down, in languages
    /// with hoisting.
    pub(in crate::extract) declared_members: FxHashSet<(ScopeId, NameId)>,
    /// Parts of the innermost object literal.
    pub(in crate::extract) literal: LiteralParts,
    /// Callee of the call whose arguments are visited next.
    pub(in crate::extract) callee: ExprId,
    /// Value that the context of the next node expects: of a variable that is declared as an
    /// argument, or of a container literal.
    pub(in crate::extract) expected: ExprId,
    /// Nodes behind a binding that were visited with it.
    pub(in crate::extract) taken: Vec<usize>,
    /// Sites of the names of arguments of the innermost call.
    pub(in crate::extract) named: Vec<usize>,
    /// Whether all files of the project see the next import, where imports say so.
    pub(in crate::extract) everywhere: Option<bool>,
    /// Call site whose arguments are not visited yet.
    pub(in crate::extract) call_site: SiteId,
    /// Package whose body is visited.
    pub(in crate::extract) package: Option<String>,
    /// Fields of the types around, with what their decorators generate.
    pub(in crate::extract) generated: Vec<(LocalSymbol, Vec<Generated>)>,
    pub(super) depth: u32,
}

impl Context<'_> {
    /// Context of the top of a file.
    pub(super) fn of_file(scope: ScopeId) -> Self {
        Self {
            scope,
            enclosing: LocalSymbol::NONE,
            callable: Callable::NONE,
            around: Surroundings::NONE,
            pending: Pending::default(),
            in_macro: false,
            in_target: false,
            whole: None,
            waiting_type_params: None,
            documented: None,
            held_as: ExprId::NONE,
            calls: FxHashMap::default(),
            declared_members: FxHashSet::default(),
            literal: LiteralParts::default(),
            callee: ExprId::NONE,
            expected: ExprId::NONE,
            taken: Vec::new(),
            named: Vec::new(),
            everywhere: None,
            call_site: SiteId::NONE,
            package: None,
            generated: Vec::new(),
            depth: 0,
        }
    }
}

/// Parts of an object literal.
#[derive(Default)]
pub(in crate::extract) struct LiteralParts {
    /// Sites of its keys.
    pub(in crate::extract) keys: Vec<usize>,
    /// Values that are spread in it.
    pub(in crate::extract) spread: Vec<ExprId>,
}

/// Use of the visited expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::extract) enum Usage {
    Site(SiteKind),
    /// No site is recorded: the name belongs to a node with its own.
    Silent,
}

pub(in crate::extract) const READ: Usage = Usage::Site(SiteKind::Read);

/// Context of the innermost callable.
#[derive(Clone, Copy)]
pub(in crate::extract) struct Callable {
    pub(in crate::extract) symbol: LocalSymbol,
    /// Innermost callable with a symbol, through closures without one.
    pub(in crate::extract) named: LocalSymbol,
    /// Receiver parameter, if there is one.
    pub(in crate::extract) receiver: NameId,
    /// Scope of the type that it is a member of.
    pub(in crate::extract) type_scope: ScopeId,
    /// Scope whose receiver the receiver keyword refers to; `NONE` if unknown.
    pub(in crate::extract) self_scope: ScopeId,
}

impl Callable {
    pub(in crate::extract) const NONE: Callable = Callable {
        symbol: LocalSymbol::NONE,
        named: LocalSymbol::NONE,
        receiver: NameId::NONE,
        type_scope: ScopeId::NONE,
        self_scope: ScopeId::NONE,
    };
}

/// Context that a scope passes to the definitions directly in it.
#[derive(Clone, Copy)]
pub(in crate::extract) struct Surroundings {
    /// True if definitions in this scope are exported.
    pub(in crate::extract) exported: bool,
    pub(in crate::extract) default_export: bool,
    /// Visibility of members behind a section mark.
    pub(in crate::extract) section: Option<Visibility>,
    /// Owner type of members, if its scope is not this one.
    pub(in crate::extract) owner: ExprId,
    pub(in crate::extract) implements: ExprId,
    /// Type and kind shared by declarators.
    pub(in crate::extract) declared: ExprId,
    pub(in crate::extract) declared_constant: bool,
    pub(in crate::extract) declared_static: bool,
    /// True if definitions are reachable through their owner only.
    pub(in crate::extract) detached: bool,
    /// Constructed value whose members the current body initializes, and the value of an untyped
    /// construction in it.
    pub(in crate::extract) constructed: ExprId,
    pub(in crate::extract) item: ExprId,
    /// True if definitions here are compiled conditionally.
    pub(in crate::extract) conditional: bool,
    /// True if names declared here belong to the enclosing function.
    pub(in crate::extract) hoisted: bool,
}

impl Surroundings {
    pub(in crate::extract) const NONE: Surroundings = Surroundings {
        exported: false,
        default_export: false,
        section: None,
        owner: ExprId::NONE,
        implements: ExprId::NONE,
        declared: ExprId::NONE,
        declared_constant: false,
        declared_static: false,
        detached: false,
        constructed: ExprId::NONE,
        item: ExprId::NONE,
        conditional: false,
        hoisted: false,
    };
}

/// Decorators and comments that wait for the next definition.
#[derive(Clone, Default)]
pub(in crate::extract) struct Pending<'t> {
    /// Start of the definition, if its introducing node encloses its own.
    pub(in crate::extract) start: Option<Node<'t>>,
    /// First byte and end of the comments right before it.
    pub(in crate::extract) comment: Option<(usize, usize)>,
    pub(in crate::extract) decorators: Vec<Decorator<'t>>,
}

/// Decorator, annotation or attribute.
#[derive(Clone)]
pub(in crate::extract) struct Decorator<'t> {
    /// Name as written, without arguments.
    pub(in crate::extract) name: Box<str>,
    pub(in crate::extract) node: Node<'t>,
    /// Applied value.
    pub(in crate::extract) value: ExprId,
}

/// Member that a decorator generates, with the name that the decorator gives it.
#[derive(Clone)]
pub(in crate::extract) struct Generated {
    pub(in crate::extract) member: &'static GeneratedMember,
    pub(in crate::extract) name: Option<Box<str>>,
}

/// Resources for parts of a file that are parsed separately.
#[derive(Clone, Copy)]
pub(in crate::extract) struct Embedded<'t> {
    /// Arena of their trees, with the lifetime of the file's tree.
    pub(in crate::extract) trees: &'t typed_arena::Arena<Tree>,
    /// Budget of the file.
    pub(in crate::extract) budget: &'t Budget,
}

/// Effect of a declarator on the type before it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::extract) enum Wrapper {
    Array,
    Named(String),
    Function,
}

/// Result of a chain of declarators.
#[derive(Default)]
pub(in crate::extract) struct Declared<'t> {
    pub(in crate::extract) name: Option<Node<'t>>,
    pub(in crate::extract) params: Option<Node<'t>>,
    pub(in crate::extract) value: Option<Node<'t>>,
    /// Constructor arguments of the value.
    pub(in crate::extract) args: Option<Node<'t>>,
    /// Result type behind the parameters.
    pub(in crate::extract) returns: Option<Node<'t>>,
    /// True if the name is that of a callable (and not of a pointer to one).
    pub(in crate::extract) is_callable: bool,
    /// True for a method that leaves its receiver unchanged.
    pub(in crate::extract) is_read_only: bool,
    /// Outermost first.
    pub(in crate::extract) wraps: Vec<Wrapper>,
}

/// Definition before it becomes a symbol.
pub(in crate::extract) struct Definition<'t> {
    pub(in crate::extract) name: NameId,
    pub(in crate::extract) name_node: Node<'t>,
    pub(in crate::extract) node: Node<'t>,
    pub(in crate::extract) kind: SymbolKind,
    /// End of the header.
    pub(in crate::extract) header_end: usize,
    pub(in crate::extract) has_body: bool,
}

impl<'t> Definition<'t> {
    /// Returns the first node of its extent.
    pub(in crate::extract) fn first_node(
        &self,
        whole: Node<'t>,
        pending: &Pending<'t>,
    ) -> Node<'t> {
        pending.start.or(pending.decorators.first().map(|first| first.node)).unwrap_or(whole)
    }
}
