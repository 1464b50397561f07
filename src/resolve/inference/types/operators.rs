//! Result types of operators, in languages with conversion rules between operand types.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::inference::members::lookup;
use crate::inference::types::return_types;
use cograph_grammar::Conversions;
use cograph_model::facts::{Expr, ExprId, Run};
use cograph_model::graph::{FileId, SymbolRef};

/// Returns the type of an operator expression; `None` if `callee` is no operator or the
/// language has no rules for it.
pub(super) fn computed(db: &Db, file: FileId, callee: ExprId, args: Run) -> Option<Ty> {
    let unit = db.program.known(file);
    let manifest = &unit.language.manifest;
    let Expr::Member(left, operator) = unit.facts.exprs[callee.get()?] else { return None };
    let operator = operator.get().map(|_| unit.text(operator))?;
    if let Some(number) = arithmetic(db, file, left, operator, args) {
        return Some(number);
    }
    if manifest.names.operators.values().any(|member| member == operator) {
        // An operand of an external type may dispatch to its own operator or to that of the
        // right operand.
        let member = db.ty(file, callee);
        if matches!(member, Ty::Callable(..) | Ty::Function(_)) {
            return None;
        }
        let is_union = manifest.names.operators.get("|").is_some_and(|union| union == operator);
        return Some(if is_union { type_union(db, file, left, args) } else { Ty::Unknown });
    }
    let rules = &manifest.conversions;
    let least = rules.arithmetic.as_deref()?;
    if operator.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
        return None;
    }
    let right = *unit.facts.lists[args.range()].first()?;
    let (left, right) = (db.ty(file, left), db.ty(file, right));
    if let Some(result) = declared(db, operator, [&left, &right]) {
        return Some(result);
    }
    let is_text = |ty: &Ty| {
        matches!(
            (ty, &rules.text), (Ty::Builtin(name, _), Some(text)) if **name == **text
        )
    };
    if is_text(&left) || is_text(&right) {
        return Some(if is_text(&left) { left } else { right });
    }
    let (Some(left), Some(right)) = (number(rules, &left), number(rules, &right)) else {
        return Some(Ty::Unknown);
    };
    let wider = if widens(rules, left, right) { right } else { left };
    Some(Ty::builtin(if widens(rules, wider, least) { least } else { wider }, &[]))
}

/// Returns the union of two types, where types are values that `|` joins.
fn type_union(db: &Db, file: FileId, left: ExprId, args: Run) -> Ty {
    let right = db.program.known(file).facts.lists[args.range()].first().copied();
    let parts = [Some(left), right].map(|part| db.ty(file, part.unwrap_or(ExprId::NONE)));
    let is_type = |ty: &Ty| match ty {
        Ty::Type(..) | Ty::BuiltinType(..) => true,
        Ty::Union(parts) => {
            parts.iter().all(|part| matches!(part, Ty::Type(..) | Ty::BuiltinType(..)))
        }
        _ => false,
    };
    if parts.iter().any(is_type) {
        Ty::union(parts.into_iter().filter(is_type).collect::<Vec<_>>())
    } else {
        Ty::Unknown
    }
}

/// Returns the type of arithmetic on numbers, in languages where an operator may also be a member.
fn arithmetic(db: &Db, file: FileId, left: ExprId, operator: &str, args: Run) -> Option<Ty> {
    let unit = db.program.known(file);
    let rules = &unit.language.manifest.conversions;
    let least = rules.arithmetic.as_deref()?;
    if !unit.language.manifest.names.operators.values().any(|member| member == operator) {
        return None;
    }
    let right = *unit.facts.lists[args.range()].first()?;
    let number = |value: ExprId| match db.ty(file, value) {
        Ty::Builtin(name, _) if rules.widening.contains_key(&*name) => Some(name),
        _ => None,
    };
    let (left, right) = (number(left)?, number(right)?);
    let wider = if widens(rules, &left, &right) { right } else { left };
    Some(Ty::builtin(if widens(rules, &wider, least) { least } else { &wider }, &[]))
}

fn widens(rules: &Conversions, from: &str, to: &str) -> bool {
    rules.widening.get(from).is_some_and(|wider| wider.iter().any(|name| name == to))
}

/// Returns the type that a value is converted to in arithmetic: its own, or the primitive type of a
/// boxed one.
fn number<'r>(rules: &'r Conversions, ty: &Ty) -> Option<&'r str> {
    let Ty::Builtin(name, _) = ty else { return None };
    rules
        .boxes
        .iter()
        .find(|(plain, object)| ***plain == **name || ***object == **name)
        .map(|(plain, _)| plain.as_str())
}

/// Returns the result of an operator that the type of one of its operands declares.
fn declared(db: &Db, operator: &str, operands: [&Ty; 2]) -> Option<Ty> {
    let name = db.program.named(operator);
    operands.into_iter().find_map(|operand| {
        let Ty::Instance(..) = operand else { return None };
        let found = lookup::member_symbols(db, operand, name);
        let is_callable = |symbol: &SymbolRef| db.program.symbol(*symbol).kind.is_callable();
        (!found.is_empty() && found.iter().all(is_callable))
            .then(|| return_types::result_of(db, &found, Some(operand), &operands.map(Ty::clone)))
    })
}
