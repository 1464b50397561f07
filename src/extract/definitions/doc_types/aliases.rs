//! Names that comments give to types (`@typedef {A | B} Name`).

use super::documented;
use crate::imports::in_comments::{self, Stated};
use crate::walk::Walk;
use crate::walk::position::offset;
use cograph_model::facts::{
    ClausesId, Details, Expr, ExprId, LocalSymbol, NameId, Run, ScopeId, ScopeKind, Symbol, flags,
};
use cograph_model::{Position, SymbolKind, Visibility};
use tree_sitter::Node;

/// Defines the types that the comments of a file name, but for names that the file binds itself.
pub(crate) fn of_file<'t>(walk: &mut Walk<'t>, root: Node<'t>) {
    for named in in_comments::named_types(&walk.input) {
        let name = walk.facts.name(named.name);
        let is_vague = walk.input.language.manifest.documentation.vague_types.contains(&named.ty);
        let is_open = is_vague || named.ty.is_empty();
        let members = match is_open {
            true => in_comments::members_of(&walk.input, &named),
            false => Vec::new(),
        };
        if (!is_open || !members.is_empty()) && walk.facts.bound(ScopeId(0), name).is_none() {
            define(walk, root, &named, name, &members);
        }
    }
}

fn define<'t>(
    walk: &mut Walk<'t>,
    root: Node<'t>,
    named: &in_comments::NamedType<'_>,
    name: NameId,
    members: &[Stated<'t>],
) {
    let signature = format!("{} {{{}}} {}", named.tag, named.ty, named.name);
    let place = (named.name, named.start, named.at);
    let kind = if members.is_empty() { SymbolKind::TypeAlias } else { SymbolKind::Interface };
    let entry = Symbol { kind, flags: flags::EXPORTED, ..symbol(name, place, ScopeId(0)) };
    let symbol = walk.facts.symbol(entry, details(place, signature));
    walk.facts.bind_symbol(ScopeId(0), ScopeId(0), name, 0, symbol);
    let scope = if members.is_empty() { ScopeKind::Block } else { ScopeKind::Type };
    let outer = walk.open(scope, symbol, root);
    let inner = walk.context.scope;
    walk.facts.symbol_mut(symbol).inner = inner;
    documented::type_params(walk, root, named.comment, symbol);
    if !members.is_empty() {
        for member in members {
            define_member(walk, root, symbol, member);
        }
        walk.close(outer);
        return;
    }
    let ty = documented::stated_type(walk, root, &named.ty);
    walk.close(outer);
    // A type that cannot be read has members all the same.
    let ty = if ty.is_some() { ty } else { walk.facts.expr(Expr::Unknown) };
    walk.facts.symbol_mut(symbol).ty = ty;
}

fn define_member<'t>(walk: &mut Walk<'t>, root: Node<'t>, of: LocalSymbol, member: &Stated<'t>) {
    let (inner, name) = (walk.context.scope, walk.facts.name(member.name));
    if walk.facts.bound(inner, name).is_some() {
        return;
    }
    let ty = documented::stated_type(walk, root, &member.ty);
    let place = (member.name, member.start, member.at);
    let kind = SymbolKind::Field;
    let entry = Symbol { kind, container: of, ty, ..symbol(name, place, inner) };
    let signature = format!("{{{}}} {}", member.ty, member.name);
    let field = walk.facts.symbol(entry, details(place, signature));
    walk.facts.bind_symbol(inner, inner, name, 0, field);
}

/// Text of a name in a comment, its first byte and its position.
type Place<'t> = (&'t str, usize, Position);

fn details((name, _, at): Place<'_>, signature: String) -> Details {
    let end = Position { column: at.column + offset(name.len()), ..at };
    Details { start: at, end, name_at: at, signature: signature.into(), ..Details::default() }
}

fn symbol(name: NameId, (text, start, _): Place<'_>, scope: ScopeId) -> Symbol {
    let start_byte = offset(start);
    Symbol {
        name,
        kind: SymbolKind::TypeAlias,
        container: LocalSymbol::NONE,
        scope,
        inner: ScopeId::NONE,
        flags: 0,
        visibility: Visibility::Public,
        start_byte,
        end_byte: start_byte + offset(text.len()),
        params_start: 0,
        params_len: 0,
        arity: (0, u16::MAX),
        ty: ExprId::NONE,
        values: Run::EMPTY,
        clauses: ClausesId::NONE,
    }
}
