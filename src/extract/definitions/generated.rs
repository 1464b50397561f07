//! Members that a decorator has a compiler plugin make of the fields of a type: accessors and the
//! like, of which no source exists. Their extent is that of the field, or of the type.

use crate::walk::{Generated, Walk, texts};
use cograph_grammar::GeneratedMember;
use cograph_model::facts::{
    ClausesId, Details, Expr, ExprId, LocalSymbol, NameId, ScopeId, Symbol, flags,
};
use cograph_model::{SymbolKind, Visibility};

/// Members that the pending decorators generate.
pub(super) fn of_pending(walk: &Walk<'_>) -> Vec<Generated> {
    let generates = &walk.input.language.manifest.modifiers.generates;
    if generates.is_empty() {
        return Vec::new();
    }
    let pending = &walk.context.pending.decorators;
    let last = |name: &str| name.rsplit(['.', ':']).next().unwrap_or_default().to_owned();
    let made = pending.iter().filter_map(|mark| Some((mark, generates.get(&last(&mark.name))?)));
    made.flat_map(|(mark, members)| {
        let text = texts::text_of(&walk.input, mark.node);
        let (_, args) = text.split_once('(').unwrap_or_default();
        members.iter().filter_map(move |member| made_with(member, args))
    })
    .collect()
}

/// Returns what is made where a decorator has these arguments.
fn made_with(member: &'static GeneratedMember, args: &str) -> Option<Generated> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let has = |word: &str| args.split(|letter| !is_word(letter)).any(|other| other == word);
    if member.off.as_deref().is_some_and(has) {
        return None;
    }
    let name = match &member.named_by {
        Some(argument) => {
            let (_, value) = args.split_once(argument.as_str())?;
            let value = value.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
            Some(value.split_once('"')?.0.into())
        }
        None => member.name.as_deref().map(Box::from),
    };
    Some(Generated { member, name })
}

/// Notes what the decorators of a field generate, until its type ends.
pub(super) fn note(walk: &mut Walk<'_>, field: LocalSymbol, generated: Vec<Generated>) {
    if !generated.is_empty() {
        walk.context.generated.push((field, generated));
    }
}

/// Defines the members that the decorators of a type and of its fields generate; its scope is open.
pub(super) fn define(walk: &mut Walk<'_>, of: LocalSymbol, scope: ScopeId, by_type: &[Generated]) {
    if by_type.is_empty() && walk.context.generated.is_empty() {
        return;
    }
    let Some(own) = of.get() else { return };
    let is_field = |symbol: &Symbol| {
        symbol.container == of
            && symbol.kind == SymbolKind::Field
            && symbol.flags & flags::STATIC == 0
    };
    let symbols = &walk.facts.facts.symbols;
    let fields: Vec<LocalSymbol> = (own + 1..symbols.len())
        .filter(|&at| is_field(&symbols[at]))
        .map(LocalSymbol::at)
        .collect();
    let (noted, others): (Vec<_>, Vec<_>) = std::mem::take(&mut walk.context.generated)
        .into_iter()
        .partition(|(field, _)| fields.contains(field));
    walk.context.generated = others;
    for field in fields {
        let by_field = noted.iter().filter(|(noted, _)| *noted == field).flat_map(|(_, of)| of);
        for made in by_type.iter().chain(by_field).filter(|made| made.name.is_none()) {
            define_one(walk, of, scope, field, made);
        }
    }
    for made in by_type.iter().filter(|made| made.name.is_some()) {
        define_one(walk, of, scope, of, made);
    }
}

/// Defines a member that is made of a field, or of the type itself, unless it is written.
fn define_one(
    walk: &mut Walk<'_>,
    ty: LocalSymbol,
    scope: ScopeId,
    from: LocalSymbol,
    Generated { member, name }: &Generated,
) {
    let Some(at) = from.get() else { return };
    let facts = &walk.facts.facts;
    let (source, details) = (facts.symbols[at].clone(), facts.details[at].clone());
    let declared = declared_name(walk, source.ty);
    if member.only.as_ref().is_some_and(|only| declared != only.as_str())
        || member.unless.as_ref().is_some_and(|other| declared == other.as_str())
    {
        return;
    }
    let text = match name {
        Some(name) => name.to_string(),
        None => format!("{}{}", member.prefix, capitalized(walk.facts.text(source.name))),
    };
    let name = walk.facts.name(&text);
    if is_written(walk, ty, name) {
        return;
    }
    let is_method = member.kind.is_callable();
    let least = u16::from(is_method && member.takes);
    // What a maker takes is in other decorators.
    let most = if member.named_by.is_some() { u16::MAX } else { least };
    let signature = if is_method { format!("{text}()") } else { text };
    let symbol = Symbol {
        name,
        kind: member.kind,
        container: ty,
        scope,
        inner: ScopeId::NONE,
        flags: source.flags & flags::CONDITIONAL
            | flags::EXPORTED
            | if member.is_static { flags::STATIC } else { 0 },
        visibility: Visibility::Public,
        arity: (least, most),
        ty: if member.takes || from == ty { ExprId::NONE } else { source.ty },
        params_start: 0,
        params_len: 0,
        values: Default::default(),
        clauses: ClausesId::NONE,
        start_byte: source.start_byte,
        end_byte: source.end_byte,
    };
    let details =
        Details { signature: signature.into(), doc: Box::default(), complexity: None, ..details };
    let symbol = walk.facts.symbol(symbol, details);
    walk.facts.bind_symbol(scope, scope, name, 0, symbol);
}

fn is_written(walk: &Walk<'_>, ty: LocalSymbol, name: NameId) -> bool {
    let own = ty.get().map_or(0, |ty| ty + 1);
    walk.facts.facts.symbols[own..]
        .iter()
        .any(|symbol| symbol.container == ty && symbol.name == name)
}

/// Name of the declared type of a field; empty without one.
fn declared_name<'w>(walk: &'w Walk<'_>, ty: ExprId) -> &'w str {
    match ty.is_some().then(|| walk.facts.get(ty)) {
        Some(Expr::Name(name, _) | Expr::Literal(name)) => walk.facts.text(name),
        _ => "",
    }
}

/// A field's name with a capital, without the mark of a private field.
fn capitalized(name: &str) -> String {
    let name = name.strip_prefix("m_").unwrap_or(name).trim_start_matches('_');
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
