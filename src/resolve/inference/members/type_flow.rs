//! Type flow tables: members, elements and results of builtin and library types, from the manifest.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::units::interner::Name;
use cograph_grammar::{FlowKind, TypeFlow};
use cograph_model::SymbolKind;
use cograph_model::graph::FileId;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::rc::Rc;

/// Maximum number of tables from a type to its last base.
const MAX_BASES: usize = 8;

/// Returns the type flow table of a builtin or external type, by the last segment of its name.
pub(crate) fn flow(db: &Db, file: FileId, name: &str) -> Option<(&'static str, &'static TypeFlow)> {
    let language = db.program.known(file).language;
    language.flow(name).or_else(|| language.flow(last_segment(name)))
}

/// Type flow tables with the type arguments of each.
type Tables<'v> = SmallVec<[(&'static TypeFlow, Cow<'v, [Ty]>); 4]>;

/// Returns the type flow tables of a value in order: its own, and those of its bases.
fn own_tables<'v>(db: &Db, file: FileId, value: &'v Ty) -> Tables<'v> {
    let mut found = Tables::new();
    let (name, mut args): (&Rc<str>, Cow<'v, [Ty]>) = match value {
        Ty::Builtin(name, args) | Ty::BuiltinType(name, args) => (name, Cow::Borrowed(args)),
        Ty::External(name) => (name, Cow::Borrowed(&[])),
        _ => return found,
    };
    let mut next = flow(db, file, name);
    while let Some((_, table)) = next.take()
        && found.len() < MAX_BASES
    {
        found.push((table, args.clone()));
        if let Some((base, of_base)) = base(table, &args, value) {
            args = of_base;
            next = flow(db, file, base);
        }
    }
    found
}

/// Returns the name of the base of a table and the type arguments of that: those that it is written
/// with, or else those of the table.
pub(crate) fn base<'v>(
    flow: &'static TypeFlow,
    args: &Cow<'v, [Ty]>,
    this: &Ty,
) -> Option<(&'static str, Cow<'v, [Ty]>)> {
    let base = flow.base.as_deref()?;
    let (name, inner) = head_and_arguments(base);
    let args = match inner.is_empty() {
        true => args.clone(),
        false => {
            let parts = split_top(inner).into_iter();
            parts.map(|part| instantiated(part, flow, args, this)).collect()
        }
    };
    Some((name, args))
}

/// Does the same with that of the top type as the last one.
pub(crate) fn tables<'v>(db: &Db, file: FileId, value: &'v Ty) -> Tables<'v> {
    let mut found = own_tables(db, file, value);
    let top = db.program.known(file).language.manifest.conversions.top.as_deref();
    if let Some((_, top)) = top.and_then(|top| flow(db, file, top)) {
        found.push((top, Cow::Borrowed(&[])));
    }
    found
}

/// True if the tables list a member of a value that not every value has.
pub(crate) fn has_own_member(db: &Db, file: FileId, value: &Ty, name: Name) -> bool {
    let text = db.program.text(name);
    own_tables(db, file, value).iter().any(|(flow, _)| lists(flow, text))
}

/// True for such a member that can be called.
pub(crate) fn has_own_method(db: &Db, file: FileId, value: &Ty, name: Name) -> bool {
    let text = db.program.text(name);
    own_tables(db, file, value).iter().any(|(flow, _)| flow.members.contains_key(text))
}

/// True if the tables list a member of a value.
pub(crate) fn has_member(db: &Db, file: FileId, value: &Ty, name: Name) -> bool {
    let text = db.program.text(name);
    tables(db, file, value).iter().any(|(flow, _)| lists(flow, text))
}

/// True for a member of a value that its table says to be a method: it has the fields apart.
pub(crate) fn is_method(db: &Db, file: FileId, value: &Ty, name: Name) -> bool {
    let text = db.program.text(name);
    let tables = tables(db, file, value);
    let of = tables.iter().find(|(flow, _)| lists(flow, text));
    of.is_some_and(|(flow, _)| !flow.fields.is_empty() && flow.members.contains_key(text))
}

/// True if the tables name a member of a value for whatever reason.
pub(crate) fn is_named(db: &Db, file: FileId, value: &Ty, name: Name) -> bool {
    let text = db.program.text(name);
    tables(db, file, value).iter().any(|(flow, _)| {
        lists(flow, text) || flow.callbacks.contains_key(text) || flow.arguments.contains_key(text)
    })
}

/// True if a table has the type of a member.
fn lists(flow: &TypeFlow, member: &str) -> bool {
    flow.members.contains_key(member) || flow.fields.contains_key(member)
}

/// Applies one rule of a value's type flow table.
pub(crate) fn through(
    db: &Db,
    file: FileId,
    value: &Ty,
    what: impl Fn(&TypeFlow) -> Option<&str>,
) -> Option<Ty> {
    let (Ty::Builtin(name, args) | Ty::BuiltinType(name, args)) = value else { return None };
    let (_, flow) = flow(db, file, name)?;
    let template = what(flow)?;
    Some(instantiated(template, flow, args, value))
}

/// Instantiates a type of a type flow table: a parameter, `Self`, or a name with arguments.
pub(crate) fn instantiated(text: &str, flow: &TypeFlow, args: &[Ty], this: &Ty) -> Ty {
    let text = text.trim();
    if let Some(position) = flow.params.iter().position(|param| param == text) {
        return args.get(position).cloned().unwrap_or(Ty::Unknown);
    }
    if text == "Self" {
        return this.clone();
    }
    let (head, inner) = head_and_arguments(text);
    let parts: Vec<Ty> =
        split_top(inner).into_iter().map(|part| instantiated(part, flow, args, this)).collect();
    match head {
        "tuple" | "()" => Ty::Tuple(parts.into()),
        "" | "?" => Ty::Unknown,
        head => Ty::builtin(head, &parts),
    }
}

/// Splits a type of a table into its name and its arguments.
fn head_and_arguments(text: &str) -> (&str, &str) {
    match text.split_once('<') {
        Some((head, rest)) => (head, rest.strip_suffix('>').unwrap_or(rest)),
        None => (text, ""),
    }
}

/// Returns the last segment of a qualified name, for any separator.
pub(crate) fn last_segment(name: &str) -> &str {
    name.rsplit(['.', ':', '/']).next().unwrap_or(name)
}

fn split_top(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0usize);
    for (position, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

/// True for what all types are whose values have no null among them.
pub(crate) fn is_any_value(db: &Db, file: FileId, ty: &Ty) -> bool {
    matches!(ty, Ty::Builtin(name, _) if flow(db, file, name)
        .is_some_and(|(_, flow)| flow.kind == Some(FlowKind::Value)))
}

/// True if a type has no null among its values: a primitive, a structure, an enumeration, a type
/// parameter for such types, or a library type that the tables say to be one.
pub(crate) fn is_value_type(db: &Db, file: FileId, ty: &Ty) -> bool {
    match ty {
        Ty::Param(of, binding) => {
            let bound = db.program.known(*of).binding(*binding).ty();
            bound.is_some() && {
                let bound = db.instance_of_expr(*of, bound);
                bound.alternatives().iter().any(|bound| is_any_value(db, *of, bound))
            }
        }
        Ty::Instance(symbol, _) => {
            matches!(db.program.symbol(*symbol).kind, SymbolKind::Struct | SymbolKind::Enum)
        }
        Ty::Builtin(name, _) | Ty::External(name) | Ty::BuiltinType(name, _) => {
            let language = db.program.known(file).language;
            let rules = &language.manifest.conversions;
            let name = last_segment(name);
            let above = rules.supertypes.get(name).map_or(&[][..], Vec::as_slice);
            rules.boxes.contains_key(name)
                || above.iter().any(|of| language.optional() == Some(of.as_str()))
        }
        _ => false,
    }
}
