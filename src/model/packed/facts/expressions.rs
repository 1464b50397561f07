//! Encoding of expressions: a tag and operands.

use super::deltas::{DeltaState, run};
use crate::facts::{ArgumentLabel, Contextual, Expr, ExprId, NameId, Run, ScopeId, Wrapper};
use crate::packed::Pass;

/// Encodes or decodes an expression.
pub(super) fn expr<P: Pass>(pass: &mut P, expr: &Expr, before: &mut DeltaState) -> Option<Expr> {
    let (tag, [a, b, c]) = numbers(expr);
    let tag = pass.number(tag)?;
    let mut parts = Parts { pass, before };
    let expr = match tag {
        0 => Expr::Unknown,
        1 => Expr::Name(parts.name(a)?, parts.scope(b)?),
        2 => Expr::Member(parts.of(a)?, parts.name(b)?),
        3 => Expr::Call(parts.of(a)?, parts.run(b, c)?),
        4 => Expr::Construct(parts.of(a)?, parts.run(b, c)?),
        5 => Expr::Index(parts.of(a)?, parts.of(b)?),
        6 => Expr::Element(parts.of(a)?),
        7 => Expr::Await(parts.of(a)?),
        8 => Expr::Item(parts.of(a)?, parts.pass.small(b)?),
        9 => Expr::SelfValue(parts.scope(a)?),
        10 => Expr::SuperValue(parts.scope(a)?),
        11 => Expr::SelfType(parts.scope(a)?),
        12 => Expr::Literal(parts.name(a)?),
        13 => Expr::OfType(parts.of(a)?),
        14 => Expr::Union(parts.run(a, b)?),
        15 => Expr::Tuple(parts.run(a, b)?),
        16 => Expr::Lambda(parts.scope(a)?),
        17 => Expr::Given(parts.scope(a)?, contextual(parts.pass.small(b)?)),
        18 => Expr::Apply(parts.of(a)?, parts.run(b, c)?),
        19 => Expr::Wrap(parts.of(a)?, wrapper(parts.pass.small(b)?)),
        20 => Expr::Array(parts.of(a)?),
        21 => Expr::Function(parts.run(a, b)?),
        22 => Expr::Base(parts.of(a)?, parts.pass.small(b)? != 0),
        23 => Expr::Members(parts.scope(a)?),
        24 => Expr::Mapping(parts.of(a)?, parts.of(b)?),
        25 => Expr::Key(parts.of(a)?),
        26 => Expr::Unwrapped(parts.of(a)?),
        27 => Expr::Enter(parts.of(a)?),
        28 => Expr::TypeOf(parts.of(a)?),
        29 => Expr::Argument(parts.of(a)?, label(parts.pass.small(b)?)),
        30 => Expr::Parameter(parts.of(a)?, parts.pass.small(b)?),
        31 => Expr::Uncalled(parts.of(a)?),
        _ => return None,
    };
    before.expr += 1;
    Some(expr)
}

/// Returns the tag and the operands of an expression, in order.
fn numbers(expr: &Expr) -> (u64, [u32; 3]) {
    match *expr {
        Expr::Unknown => (0, [0; 3]),
        Expr::Name(name, scope) => (1, [name.0, scope.0, 0]),
        Expr::Member(of, name) => (2, [of.0, name.0, 0]),
        Expr::Call(of, run) => (3, [of.0, run.start(), run.len()]),
        Expr::Construct(of, run) => (4, [of.0, run.start(), run.len()]),
        Expr::Index(of, with) => (5, [of.0, with.0, 0]),
        Expr::Element(of) => (6, [of.0, 0, 0]),
        Expr::Await(of) => (7, [of.0, 0, 0]),
        Expr::Item(of, number) => (8, [of.0, number, 0]),
        Expr::SelfValue(scope) => (9, [scope.0, 0, 0]),
        Expr::SuperValue(scope) => (10, [scope.0, 0, 0]),
        Expr::SelfType(scope) => (11, [scope.0, 0, 0]),
        Expr::Literal(name) => (12, [name.0, 0, 0]),
        Expr::OfType(of) => (13, [of.0, 0, 0]),
        Expr::Union(run) => (14, [run.start(), run.len(), 0]),
        Expr::Tuple(run) => (15, [run.start(), run.len(), 0]),
        Expr::Lambda(scope) => (16, [scope.0, 0, 0]),
        Expr::Given(scope, what) => (17, [scope.0, contextual_number(what), 0]),
        Expr::Apply(of, run) => (18, [of.0, run.start(), run.len()]),
        Expr::Wrap(of, wrapper) => (19, [of.0, wrapper_number(wrapper), 0]),
        Expr::Array(of) => (20, [of.0, 0, 0]),
        Expr::Function(run) => (21, [run.start(), run.len(), 0]),
        Expr::Base(of, implements) => (22, [of.0, implements.into(), 0]),
        Expr::Members(scope) => (23, [scope.0, 0, 0]),
        Expr::Mapping(key, item) => (24, [key.0, item.0, 0]),
        Expr::Key(of) => (25, [of.0, 0, 0]),
        Expr::Unwrapped(of) => (26, [of.0, 0, 0]),
        Expr::Enter(of) => (27, [of.0, 0, 0]),
        Expr::TypeOf(of) => (28, [of.0, 0, 0]),
        Expr::Argument(of, label) => (29, [of.0, label_number(label), 0]),
        Expr::Parameter(of, number) => (30, [of.0, number, 0]),
        Expr::Uncalled(of) => (31, [of.0, 0, 0]),
    }
}

/// Kinds of an operand come before its positions or names, whose numbers begin behind them.
const CONTEXTUAL_KINDS: u32 = 3;
const WRAPPER_KINDS: u32 = 6;
const LABEL_KINDS: u32 = 2;

fn contextual_number(what: Contextual) -> u32 {
    match what {
        Contextual::Receiver => 0,
        Contextual::Object => 1,
        Contextual::Result => 2,
        Contextual::Parameter(position) => position.wrapping_add(CONTEXTUAL_KINDS),
    }
}

fn contextual(number: u32) -> Contextual {
    match number {
        0 => Contextual::Receiver,
        1 => Contextual::Object,
        2 => Contextual::Result,
        _ => Contextual::Parameter(number - CONTEXTUAL_KINDS),
    }
}

fn wrapper_number(wrapper: Wrapper) -> u32 {
    match wrapper {
        Wrapper::Plain => 0,
        Wrapper::Receiver => 1,
        Wrapper::Decorator => 2,
        Wrapper::ReadOnly => 3,
        Wrapper::Prepended => 4,
        Wrapper::Variable => 5,
        Wrapper::Named(name) => name.0.wrapping_add(WRAPPER_KINDS),
    }
}

fn wrapper(number: u32) -> Wrapper {
    match number {
        0 => Wrapper::Plain,
        1 => Wrapper::Receiver,
        2 => Wrapper::Decorator,
        3 => Wrapper::ReadOnly,
        4 => Wrapper::Prepended,
        5 => Wrapper::Variable,
        _ => Wrapper::Named(NameId(number - WRAPPER_KINDS)),
    }
}

fn label_number(label: ArgumentLabel) -> u32 {
    match label {
        ArgumentLabel::Last => 0,
        ArgumentLabel::Spread => 1,
        ArgumentLabel::Name(name) => name.0.wrapping_add(LABEL_KINDS),
    }
}

fn label(number: u32) -> ArgumentLabel {
    match number {
        0 => ArgumentLabel::Last,
        1 => ArgumentLabel::Spread,
        _ => ArgumentLabel::Name(NameId(number - LABEL_KINDS)),
    }
}

/// Operands of expressions.
struct Parts<'p, P> {
    pass: &'p mut P,
    before: &'p mut DeltaState,
}

impl<P: Pass> Parts<'_, P> {
    /// Operands precede their expression.
    fn of(&mut self, expr: u32) -> Option<ExprId> {
        let own = self.before.expr;
        Some(ExprId(own.wrapping_sub(self.pass.small(own.wrapping_sub(expr))?)))
    }

    fn name(&mut self, name: u32) -> Option<NameId> {
        self.pass.id(name).map(NameId)
    }

    fn scope(&mut self, scope: u32) -> Option<ScopeId> {
        self.pass.id_near(scope, &mut self.before.scope).map(ScopeId)
    }

    fn run(&mut self, start: u32, len: u32) -> Option<Run> {
        let of = Run::new(start, len)?;
        run(self.pass, of, &mut self.before.list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::{Reader, Writer};

    #[test]
    fn operands_that_are_no_ids_come_back() {
        let of = ExprId(0);
        let given =
            [Contextual::Receiver, Contextual::Object, Contextual::Result, Contextual::at(0)];
        let wrappers = [
            Wrapper::Plain,
            Wrapper::Receiver,
            Wrapper::Decorator,
            Wrapper::ReadOnly,
            Wrapper::Prepended,
            Wrapper::Variable,
            Wrapper::Named(NameId(0)),
        ];
        let labels = [ArgumentLabel::Last, ArgumentLabel::Spread, ArgumentLabel::Name(NameId(0))];
        let given = given.map(|what| Expr::Given(ScopeId(1), what));
        let wrapped = wrappers.map(|wrapper| Expr::Wrap(of, wrapper));
        let arguments = labels.map(|label| Expr::Argument(of, label));
        for expected in given.into_iter().chain(wrapped).chain(arguments) {
            let mut writer = Writer::default();
            expr(&mut writer, &expected, &mut DeltaState { expr: 1, ..DeltaState::default() });
            let (_, bytes) = writer.into_parts();
            let mut reader = Reader::new(&bytes, &[]);
            let mut before = DeltaState { expr: 1, ..DeltaState::default() };
            assert_eq!(expr(&mut reader, &Expr::Unknown, &mut before), Some(expected));
            assert!(reader.rest().is_empty(), "{expected:?}");
        }
    }
}
