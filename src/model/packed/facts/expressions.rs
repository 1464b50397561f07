//! The compact form of expressions: what each is, by number, and what it is made of.

use super::{Before, EMPTY, run};
use crate::model::facts::{Expr, ExprId, NameId, Run, ScopeId};
use crate::model::packed::Pass;

/// Passes over an expression.
pub(super) fn expr<P: Pass>(pass: &mut P, expr: &Expr, before: &mut Before) -> Option<Expr> {
    let (tag, first, second) = parts(expr);
    let tag = pass.number(tag)?;
    let mut parts = Parts { pass, before, given: [first, second], next: 0 };
    let expr = match tag {
        0 => Expr::Unknown,
        1 => Expr::Name(parts.name()?, parts.scope()?),
        2 => Expr::Member(parts.of()?, parts.name()?),
        3 => Expr::Call(parts.of()?, parts.run()?),
        4 => Expr::Construct(parts.of()?, parts.run()?),
        5 => Expr::Index(parts.of()?, parts.of()?),
        6 => Expr::Element(parts.of()?),
        7 => Expr::Await(parts.of()?),
        8 => Expr::Item(parts.of()?, parts.number()?),
        9 => Expr::SelfValue(parts.scope()?),
        10 => Expr::SuperValue(parts.scope()?),
        11 => Expr::SelfType(parts.scope()?),
        12 => Expr::Literal(parts.name()?),
        13 => Expr::OfType(parts.of()?),
        14 => Expr::Union(parts.run()?),
        15 => Expr::Tuple(parts.run()?),
        16 => Expr::Lambda(parts.scope()?),
        17 => Expr::Given(parts.scope()?, parts.number()?),
        18 => Expr::Apply(parts.of()?, parts.run()?),
        19 => Expr::Wrap(parts.of()?, parts.name()?),
        20 => Expr::Array(parts.of()?),
        21 => Expr::Function(parts.run()?),
        22 => Expr::Base(parts.of()?, parts.number()? != 0),
        23 => Expr::Members(parts.scope()?),
        24 => Expr::Mapping(parts.of()?, parts.of()?),
        25 => Expr::Key(parts.of()?),
        26 => Expr::Unwrapped(parts.of()?),
        27 => Expr::Enter(parts.of()?),
        28 => Expr::TypeOf(parts.of()?),
        _ => return None,
    };
    before.expr += 1;
    Some(expr)
}

/// What an expression is, by number, with what it is made of.
enum Part {
    /// An expression.
    Of(ExprId),
    Name(NameId),
    Scope(ScopeId),
    Run(Run),
    Number(u32),
    None,
}

fn parts(expr: &Expr) -> (u64, Part, Part) {
    match *expr {
        Expr::Unknown => (0, Part::None, Part::None),
        Expr::Name(name, scope) => (1, Part::Name(name), Part::Scope(scope)),
        Expr::Member(of, name) => (2, Part::Of(of), Part::Name(name)),
        Expr::Call(of, run) => (3, Part::Of(of), Part::Run(run)),
        Expr::Construct(of, run) => (4, Part::Of(of), Part::Run(run)),
        Expr::Index(of, with) => (5, Part::Of(of), Part::Of(with)),
        Expr::Element(of) => (6, Part::Of(of), Part::None),
        Expr::Await(of) => (7, Part::Of(of), Part::None),
        Expr::Item(of, number) => (8, Part::Of(of), Part::Number(number)),
        Expr::SelfValue(scope) => (9, Part::Scope(scope), Part::None),
        Expr::SuperValue(scope) => (10, Part::Scope(scope), Part::None),
        Expr::SelfType(scope) => (11, Part::Scope(scope), Part::None),
        Expr::Literal(name) => (12, Part::Name(name), Part::None),
        Expr::OfType(of) => (13, Part::Of(of), Part::None),
        Expr::Union(run) => (14, Part::Run(run), Part::None),
        Expr::Tuple(run) => (15, Part::Run(run), Part::None),
        Expr::Lambda(scope) => (16, Part::Scope(scope), Part::None),
        Expr::Given(scope, number) => (17, Part::Scope(scope), Part::Number(number)),
        Expr::Apply(of, run) => (18, Part::Of(of), Part::Run(run)),
        Expr::Wrap(of, name) => (19, Part::Of(of), Part::Name(name)),
        Expr::Array(of) => (20, Part::Of(of), Part::None),
        Expr::Function(run) => (21, Part::Run(run), Part::None),
        Expr::Base(of, implements) => (22, Part::Of(of), Part::Number(implements.into())),
        Expr::Members(scope) => (23, Part::Scope(scope), Part::None),
        Expr::Mapping(key, item) => (24, Part::Of(key), Part::Of(item)),
        Expr::Key(of) => (25, Part::Of(of), Part::None),
        Expr::Unwrapped(of) => (26, Part::Of(of), Part::None),
        Expr::Enter(of) => (27, Part::Of(of), Part::None),
        Expr::TypeOf(of) => (28, Part::Of(of), Part::None),
    }
}

/// Passes over the parts of expressions, in their order.
struct Parts<'p, P> {
    pass: &'p mut P,
    before: &'p mut Before,
    given: [Part; 2],
    next: usize,
}

impl<P: Pass> Parts<'_, P> {
    fn take(&mut self) -> Part {
        self.next += 1;
        self.given.get_mut(self.next - 1).map_or(Part::None, |part| std::mem::replace(part, Part::None))
    }

    /// Expressions are made of those before them.
    fn of(&mut self) -> Option<ExprId> {
        let given = if let Part::Of(of) = self.take() { of.0 } else { 0 };
        let own = self.before.expr;
        Some(ExprId(own.wrapping_sub(self.pass.small(own.wrapping_sub(given))?)))
    }

    fn name(&mut self) -> Option<NameId> {
        let given = if let Part::Name(name) = self.take() { name.0 } else { 0 };
        self.pass.id(given).map(NameId)
    }

    fn scope(&mut self) -> Option<ScopeId> {
        let given = if let Part::Scope(scope) = self.take() { scope.0 } else { 0 };
        self.pass.id_near(given, &mut self.before.scope).map(ScopeId)
    }

    fn run(&mut self) -> Option<Run> {
        let given = if let Part::Run(run) = self.take() { run } else { EMPTY };
        run(self.pass, given, &mut self.before.list)
    }

    fn number(&mut self) -> Option<u32> {
        let given = if let Part::Number(number) = self.take() { number } else { 0 };
        self.pass.small(given)
    }
}
