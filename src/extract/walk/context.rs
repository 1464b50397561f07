//! What is current at a place of the pass: the callable, what definitions get from around them,
//! what waits for the next one.

use crate::model::facts::{ExprId, LocalSymbol, NameId, ScopeId};
use crate::model::{SiteKind, SymbolKind, Visibility};
use std::time::Instant;
use tree_sitter::{Node, Tree};

/// What stands around the text of a string.
pub(in crate::extract) const QUOTES: [char; 3] = ['"', '\'', '`'];

/// What the surroundings do with the expression that is visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::extract) enum Usage {
    Site(SiteKind),
    /// No site is wanted: the name belongs to something that has its own.
    Silent,
}

pub(in crate::extract) const READ: Usage = Usage::Site(SiteKind::Read);

/// What the innermost callable needs to know about itself.
#[derive(Clone, Copy)]
pub(in crate::extract) struct Callable {
    pub(in crate::extract) symbol: LocalSymbol,
    /// The parameter that is the receiver, where it is one.
    pub(in crate::extract) receiver: NameId,
    /// The scope of the type it is a member of.
    pub(in crate::extract) type_scope: ScopeId,
    /// The scope whose receiver the keyword for it means; none where it has no known meaning.
    pub(in crate::extract) self_scope: ScopeId,
}

impl Callable {
    pub(in crate::extract) const NONE: Callable = Callable {
        symbol: LocalSymbol::NONE,
        receiver: NameId::NONE,
        type_scope: ScopeId::NONE,
        self_scope: ScopeId::NONE,
    };
}

/// What the scope around gives to the definitions directly in it.
#[derive(Clone, Copy)]
pub(in crate::extract) struct Surroundings {
    /// Definitions declared in this scope are exported.
    pub(in crate::extract) exported: bool,
    pub(in crate::extract) default_export: bool,
    /// Visibility of members after a section mark.
    pub(in crate::extract) section: Option<Visibility>,
    /// The type that members belong to although its scope is not this one.
    pub(in crate::extract) owner: ExprId,
    pub(in crate::extract) implements: ExprId,
    /// Type and kind that declarators share.
    pub(in crate::extract) declared: ExprId,
    pub(in crate::extract) declared_constant: bool,
    pub(in crate::extract) declared_static: bool,
    /// Definitions are reached through their owner alone.
    pub(in crate::extract) detached: bool,
    /// The value whose members the body around gives, and the value that an untyped construction in
    /// it makes.
    pub(in crate::extract) constructed: ExprId,
    pub(in crate::extract) item: ExprId,
    /// Definitions here are only compiled under a condition.
    pub(in crate::extract) conditional: bool,
    /// Names declared here belong to the function around.
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

/// Decorators waiting for the definition they stand before.
#[derive(Clone, Default)]
pub(in crate::extract) struct Pending<'t> {
    /// Where the definition starts if what introduces it stands around its node.
    pub(in crate::extract) start: Option<Node<'t>>,
    /// First byte and end of the comments that stand right before.
    pub(in crate::extract) comment: Option<(usize, usize)>,
    pub(in crate::extract) decorators: Vec<Decorator<'t>>,
}

/// A decorator, annotation or attribute.
#[derive(Clone)]
pub(in crate::extract) struct Decorator<'t> {
    /// Its name as written, without arguments.
    pub(in crate::extract) name: Box<str>,
    pub(in crate::extract) node: Node<'t>,
    /// What is applied.
    pub(in crate::extract) value: ExprId,
}

/// What the parts of a file that are parsed on their own need.
#[derive(Clone, Copy)]
pub(in crate::extract) struct Embedded<'t> {
    /// Their trees, which live as long as that of the file.
    pub(in crate::extract) trees: &'t typed_arena::Arena<Tree>,
    /// When parsing the file has to be done.
    pub(in crate::extract) end: Instant,
}

/// What a declarator adds to the type in front of it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::extract) enum Wrapper {
    Array,
    Named(String),
    Function,
}

/// What a chain of declarators says.
#[derive(Default)]
pub(in crate::extract) struct Declared<'t> {
    pub(in crate::extract) name: Option<Node<'t>>,
    pub(in crate::extract) params: Option<Node<'t>>,
    pub(in crate::extract) value: Option<Node<'t>>,
    /// Arguments that the value is made with.
    pub(in crate::extract) args: Option<Node<'t>>,
    /// The result, where it is written behind the parameters.
    pub(in crate::extract) returns: Option<Node<'t>>,
    /// The name itself is that of a callable (and not of a pointer to one).
    pub(in crate::extract) is_callable: bool,
    /// From the outermost inwards.
    pub(in crate::extract) wraps: Vec<Wrapper>,
}

/// A definition that is about to become a symbol.
pub(in crate::extract) struct Definition<'t> {
    pub(in crate::extract) name: NameId,
    pub(in crate::extract) name_node: Node<'t>,
    pub(in crate::extract) node: Node<'t>,
    pub(in crate::extract) kind: SymbolKind,
    /// Where the header ends.
    pub(in crate::extract) header_end: usize,
    pub(in crate::extract) has_body: bool,
}

impl<'t> Definition<'t> {
    /// The first node of its extent.
    pub(in crate::extract) fn first_node(
        &self,
        whole: Node<'t>,
        pending: &Pending<'t>,
    ) -> Node<'t> {
        pending.start.or(pending.decorators.first().map(|first| first.node)).unwrap_or(whole)
    }
}
