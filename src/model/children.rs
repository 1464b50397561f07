//! Parts of an expression: what passes over expressions whatever they mean visits these.

use crate::facts::{Expr, ExprId, Run, ScopeId};

/// Other expressions, list of expressions and scope that an expression names, where it has any.
#[derive(Debug)]
pub struct Children<'e> {
    /// In the order of the expression.
    pub exprs: [Option<&'e mut ExprId>; 2],
    /// Arguments, parts or parameters.
    pub list: Option<&'e mut Run>,
    /// Scope that it is looked up from, or that it is about.
    pub scope: Option<&'e mut ScopeId>,
}

impl Expr {
    /// The parts of this expression. Those of a copy say what the parts are.
    pub fn children(&mut self) -> Children<'_> {
        let (exprs, list, scope) = match self {
            Self::Name(_, scope)
            | Self::SelfValue(scope)
            | Self::SuperValue(scope)
            | Self::SelfType(scope)
            | Self::Lambda(scope)
            | Self::Given(scope, _)
            | Self::Members(scope) => ([None, None], None, Some(scope)),
            Self::Call(of, list) | Self::Construct(of, list) | Self::Apply(of, list) => {
                ([Some(of), None], Some(list), None)
            }
            Self::Index(of, with) | Self::Mapping(of, with) => ([Some(of), Some(with)], None, None),
            Self::Member(of, _)
            | Self::Element(of)
            | Self::Await(of)
            | Self::Item(of, _)
            | Self::Parameter(of, _)
            | Self::OfType(of)
            | Self::Wrap(of, _)
            | Self::Argument(of, _)
            | Self::Array(of)
            | Self::Base(of, _)
            | Self::Key(of)
            | Self::Unwrapped(of)
            | Self::Uncalled(of)
            | Self::Enter(of)
            | Self::TypeOf(of) => ([Some(of), None], None, None),
            Self::Union(list) | Self::Tuple(list) | Self::Function(list) => {
                ([None, None], Some(list), None)
            }
            Self::Literal(_) | Self::Unknown => ([None, None], None, None),
        };
        Children { exprs, list, scope }
    }
}
