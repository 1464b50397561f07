//! Context of the traversal: the current callable, the surroundings of definitions, and pending
//! decorators and comments.

use crate::budget::Budget;
use cograph_grammar::GeneratedMember;
use cograph_model::facts::{ExprId, LocalSymbol, NameId, ScopeId, SiteId};
use cograph_model::{SiteKind, SymbolKind, Visibility};
use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::{Node, Tree};

/// Quotes of strings.
pub(crate) const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Position of the traversal: what encloses the current node, and what waits for the next one.
pub(crate) struct Context<'t> {
    pub(crate) scope: ScopeId,
    pub(crate) enclosing: LocalSymbol,
    pub(crate) callable: Callable,
    pub(crate) around: Surroundings,
    pub(crate) pending: Pending<'t>,
    pub(crate) in_macro: bool,
    /// True for definitions in the arguments of a macro.
    pub(crate) in_arguments: bool,
    /// True while the target of an assignment is visited a second time: nested targets are not
    /// visited twice again, or the number of visits would double with each level.
    pub(crate) in_target: bool,
    /// Definition (by its node's id) that is the only one of its keyword, and the node with the
    /// keyword.
    pub(crate) whole: Option<(usize, Node<'t>)>,
    /// Type parameters of the next definition.
    pub(crate) waiting_type_params: Option<Node<'t>>,
    /// Comment before the current definition, in languages with types in comments.
    pub(crate) documented: Option<(usize, usize)>,
    /// Declared type of the variable that holds the next closure.
    pub(crate) held_as: ExprId,
    /// Calls that may be conditions, by node id, in languages where callables can be type guards.
    pub(crate) calls: FxHashMap<usize, ExprId>,
    /// Members declared in the enclosing type bodies, including those further down, in languages
    /// with hoisting.
    pub(crate) declared_members: FxHashSet<(ScopeId, NameId)>,
    /// Parts of the innermost object literal.
    pub(crate) literal: LiteralParts,
    /// Callee of the call whose arguments are visited next.
    pub(crate) callee: ExprId,
    /// Value that the context of the next node expects: of a variable that is declared as an
    /// argument, or of a container literal.
    pub(crate) expected: ExprId,
    /// Nodes behind a binding that were visited with it.
    pub(crate) taken: Vec<usize>,
    /// Sites of the names of arguments of the innermost call.
    pub(crate) named: Vec<usize>,
    /// Whether all files of the project see the next import, where imports say so.
    pub(crate) everywhere: Option<bool>,
    /// Call site whose arguments are not visited yet.
    pub(crate) call_site: SiteId,
    /// Package whose body is visited.
    pub(crate) package: Option<String>,
    /// Fields of the types around, with what their decorators generate.
    pub(crate) generated: Vec<(LocalSymbol, Vec<Generated>)>,
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
            in_arguments: false,
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
pub(crate) struct LiteralParts {
    /// Sites of its keys.
    pub(crate) keys: Vec<usize>,
    /// Values that are spread in it.
    pub(crate) spread: Vec<ExprId>,
}

/// Use of the visited expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Usage {
    Site(SiteKind),
    /// No site is recorded: the name belongs to a node with its own.
    Silent,
}

pub(crate) const READ: Usage = Usage::Site(SiteKind::Read);

/// Context of the innermost callable.
#[derive(Clone, Copy)]
pub(crate) struct Callable {
    pub(crate) symbol: LocalSymbol,
    /// Innermost callable with a symbol, through closures without one.
    pub(crate) named: LocalSymbol,
    /// Receiver parameter, if there is one.
    pub(crate) receiver: NameId,
    /// Scope of the type that it is a member of.
    pub(crate) type_scope: ScopeId,
    /// Scope whose receiver the receiver keyword refers to; `NONE` if unknown.
    pub(crate) self_scope: ScopeId,
}

impl Callable {
    pub(crate) const NONE: Callable = Callable {
        symbol: LocalSymbol::NONE,
        named: LocalSymbol::NONE,
        receiver: NameId::NONE,
        type_scope: ScopeId::NONE,
        self_scope: ScopeId::NONE,
    };
}

/// Context that a scope passes to the definitions directly in it.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings {
    /// True if definitions in this scope are exported.
    pub(crate) exported: bool,
    /// True for a member of the export object: its scope is the file, where no name finds it.
    pub(crate) of_exports: bool,
    pub(crate) default_export: bool,
    /// Visibility of members behind a section mark.
    pub(crate) section: Option<Visibility>,
    /// Owner type of members, if its scope is not this one.
    pub(crate) owner: ExprId,
    pub(crate) implements: ExprId,
    /// Type and kind shared by declarators.
    pub(crate) declared: ExprId,
    pub(crate) declared_constant: bool,
    pub(crate) declared_static: bool,
    /// True if definitions are reachable through their owner only.
    pub(crate) detached: bool,
    /// Constructed value whose members the current body initializes, and the value of an untyped
    /// construction in it.
    pub(crate) constructed: ExprId,
    pub(crate) item: ExprId,
    /// True if definitions here are compiled conditionally.
    pub(crate) conditional: bool,
    /// True if names declared here belong to the enclosing function.
    pub(crate) hoisted: bool,
}

impl Surroundings {
    pub(crate) const NONE: Surroundings = Surroundings {
        exported: false,
        of_exports: false,
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
pub(crate) struct Pending<'t> {
    /// Start of the definition, if its introducing node encloses its own.
    pub(crate) start: Option<Node<'t>>,
    /// First byte and end of the comments right before it.
    pub(crate) comment: Option<(usize, usize)>,
    pub(crate) decorators: Vec<Decorator<'t>>,
}

/// Decorator, annotation or attribute.
#[derive(Clone)]
pub(crate) struct Decorator<'t> {
    /// Name as written, without arguments.
    pub(crate) name: Box<str>,
    pub(crate) node: Node<'t>,
    /// Applied value.
    pub(crate) value: ExprId,
}

/// Member that a decorator generates, with the name that the decorator gives it.
#[derive(Clone)]
pub(crate) struct Generated {
    pub(crate) member: &'static GeneratedMember,
    pub(crate) name: Option<Box<str>>,
}

/// Resources for parts of a file that are parsed separately.
#[derive(Clone, Copy)]
pub(crate) struct Embedded<'t> {
    /// Arena of their trees, with the lifetime of the file's tree.
    pub(crate) trees: &'t typed_arena::Arena<Tree>,
    /// Budget of the file.
    pub(crate) budget: &'t Budget,
}

/// Effect of a declarator on the type before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Declarator {
    Array,
    Named(String),
    Function,
}

/// Result of a chain of declarators.
#[derive(Default)]
pub(crate) struct Declared<'t> {
    pub(crate) name: Option<Node<'t>>,
    pub(crate) params: Option<Node<'t>>,
    pub(crate) value: Option<Node<'t>>,
    /// Constructor arguments of the value.
    pub(crate) args: Option<Node<'t>>,
    /// Result type behind the parameters.
    pub(crate) returns: Option<Node<'t>>,
    /// True if the name is that of a callable (and not of a pointer to one).
    pub(crate) is_callable: bool,
    /// True for a method that leaves its receiver unchanged.
    pub(crate) is_read_only: bool,
    /// Outermost first.
    pub(crate) wraps: Vec<Declarator>,
}

/// Definition before it becomes a symbol.
pub(crate) struct Definition<'t> {
    pub(crate) name: NameId,
    pub(crate) name_node: Node<'t>,
    pub(crate) node: Node<'t>,
    pub(crate) kind: SymbolKind,
    /// End of the header.
    pub(crate) header_end: usize,
    pub(crate) has_body: bool,
}

impl<'t> Definition<'t> {
    /// Returns the first node of its extent.
    pub(crate) fn first_node(&self, whole: Node<'t>, pending: &Pending<'t>) -> Node<'t> {
        pending.start.or(pending.decorators.first().map(|first| first.node)).unwrap_or(whole)
    }
}
