//! What is current at a place of the pass: the callable, what definitions get from around them, what waits for the next one.

use crate::model::facts::{ExprId, LocalSymbol, NameId, ScopeId};
use crate::model::{SiteKind, Visibility};
use tree_sitter::Node;

/// What stands around the text of a string.
pub(super) const QUOTES: [char; 3] = ['"', '\'', '`'];

/// What the surroundings do with the expression that is visited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Usage {
    Site(SiteKind),
    /// No site is wanted: the name belongs to something that has its own.
    Silent,
}

pub(super) const READ: Usage = Usage::Site(SiteKind::Read);

/// What the innermost callable needs to know about itself.
#[derive(Clone, Copy)]
pub(super) struct Callable {
    pub(super) symbol: LocalSymbol,
    /// The parameter that is the receiver, where it is one.
    pub(super) receiver: NameId,
    /// The scope of the type it is a member of.
    pub(super) type_scope: ScopeId,
    /// The scope whose receiver the keyword for it means; none where it has no known meaning.
    pub(super) self_scope: ScopeId,
}

impl Callable {
    pub(super) const NONE: Callable =
        Callable { symbol: LocalSymbol::NONE, receiver: NameId::NONE, type_scope: ScopeId::NONE, self_scope: ScopeId::NONE };
}

/// What the scope around gives to the definitions directly in it.
#[derive(Clone, Copy)]
pub(super) struct Surroundings {
    /// Definitions declared in this scope are exported.
    pub(super) exported: bool,
    pub(super) default_export: bool,
    /// Visibility of members after a section mark.
    pub(super) section: Option<Visibility>,
    /// The type that members belong to although its scope is not this one.
    pub(super) owner: ExprId,
    pub(super) implements: ExprId,
    /// Type and kind that declarators share.
    pub(super) declared: ExprId,
    pub(super) declared_constant: bool,
    pub(super) declared_static: bool,
    /// Definitions are reached through their owner alone.
    pub(super) detached: bool,
    /// The value whose members the body around gives, and the value that an untyped construction in it makes.
    pub(super) constructed: ExprId,
    pub(super) item: ExprId,
    /// Definitions here are only compiled under a condition.
    pub(super) conditional: bool,
    /// Names declared here belong to the function around.
    pub(super) hoisted: bool,
}

impl Surroundings {
    pub(super) const NONE: Surroundings = Surroundings {
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
pub(super) struct Pending<'t> {
    /// Where the definition starts if what introduces it stands around its node.
    pub(super) start: Option<Node<'t>>,
    /// First byte and end of the comments that stand right before.
    pub(super) comment: Option<(usize, usize)>,
    pub(super) decorators: Vec<Decorator<'t>>,
}

/// A decorator, annotation or attribute.
#[derive(Clone)]
pub(super) struct Decorator<'t> {
    /// Its name as written, without arguments.
    pub(super) name: Box<str>,
    pub(super) node: Node<'t>,
    /// What is applied.
    pub(super) value: ExprId,
}
