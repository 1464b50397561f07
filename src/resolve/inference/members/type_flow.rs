//! Type flow tables: members, elements and results of builtin and library types, from the manifest.

use crate::db::Db;
use crate::db::ty::Ty;
use crate::units::interner::Name;
use cograph_grammar::TypeFlow;
use cograph_model::SymbolKind;
use cograph_model::graph::FileId;
use smallvec::SmallVec;
use std::rc::Rc;

/// Maximum number of tables from a type to its last base.
const MAX_BASES: usize = 8;

/// Returns the type flow table of a builtin or external type, by the last segment of its name.
pub(crate) fn flow(db: &Db, file: FileId, name: &str) -> Option<(&'static str, &'static TypeFlow)> {
    let language = db.program.known(file).language;
    language.flow(name).or_else(|| language.flow(last_segment(name)))
}

/// Returns the type flow tables of a value in order: its own, and those of its bases, with its type
/// arguments.
fn own_tables<'v>(
    db: &Db,
    file: FileId,
    value: &'v Ty,
) -> SmallVec<[(&'static TypeFlow, &'v [Ty]); 4]> {
    let mut found: SmallVec<[(&'static TypeFlow, &'v [Ty]); 4]> = SmallVec::new();
    let (mut next, args): (Option<Rc<str>>, &[Ty]) = match value {
        Ty::Builtin(name, args) | Ty::BuiltinType(name, args) => (Some(name.clone()), args),
        Ty::External(name) => (Some(name.clone()), &[]),
        _ => (None, &[]),
    };
    while let Some(name) = next.take()
        && let Some((_, flow)) = flow(db, file, &name)
        && found.len() < MAX_BASES
    {
        found.push((flow, args));
        next = flow.base.as_deref().map(Rc::from);
    }
    found
}

/// Does the same with that of the top type as the last one.
pub(crate) fn tables<'v>(
    db: &Db,
    file: FileId,
    value: &'v Ty,
) -> SmallVec<[(&'static TypeFlow, &'v [Ty]); 4]> {
    let mut found = own_tables(db, file, value);
    let top = db.program.known(file).language.manifest.conversions.top.as_deref();
    if let Some((_, top)) = top.and_then(|top| flow(db, file, top)) {
        found.push((top, &[]));
    }
    found
}

/// True if the tables list a member of a value that not every value has.
pub(crate) fn has_own_member(db: &Db, file: FileId, value: &Ty, name: Name) -> bool {
    let text = db.program.text(name);
    own_tables(db, file, value).iter().any(|(flow, _)| flow.members.contains_key(text))
}

/// True if the tables list a member of a value.
pub(crate) fn has_member(db: &Db, file: FileId, value: &Ty, name: Name) -> bool {
    let text = db.program.text(name);
    tables(db, file, value).iter().any(|(flow, _)| flow.members.contains_key(text))
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
    let (head, inner) = match text.split_once('<') {
        Some((head, rest)) => (head, rest.strip_suffix('>').unwrap_or(rest)),
        None => (text, ""),
    };
    let parts: Vec<Ty> =
        split_top(inner).into_iter().map(|part| instantiated(part, flow, args, this)).collect();
    match head {
        "tuple" | "()" => Ty::Tuple(parts.into()),
        "" | "?" => Ty::Unknown,
        head => Ty::builtin(head, &parts),
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

/// True if a type has no null among its values: a primitive, a structure, an enumeration, or a
/// library type that the tables say to be one.
pub(crate) fn is_value_type(db: &Db, file: FileId, ty: &Ty) -> bool {
    match ty {
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
