//! Names that comments give to types (`@typedef {A | B} Name`).

use super::documented;
use crate::imports::in_comments;
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
        if !is_vague && walk.facts.bound(ScopeId(0), name).is_none() {
            define(walk, root, &named, name);
        }
    }
}

fn define<'t>(
    walk: &mut Walk<'t>,
    root: Node<'t>,
    named: &in_comments::NamedType<'_>,
    name: NameId,
) {
    let end = Position { column: named.at.column + offset(named.name.len()), ..named.at };
    let start_byte = offset(named.start);
    let signature = format!("{} {{{}}} {}", named.tag, named.ty, named.name).into();
    let (start, name_at) = (named.at, named.at);
    let details = Details { start, end, name_at, signature, ..Details::default() };
    let symbol = Symbol {
        name,
        kind: SymbolKind::TypeAlias,
        container: LocalSymbol::NONE,
        scope: ScopeId(0),
        inner: ScopeId::NONE,
        flags: flags::EXPORTED,
        visibility: Visibility::Public,
        start_byte,
        end_byte: start_byte + offset(named.name.len()),
        params_start: 0,
        params_len: 0,
        arity: (0, u16::MAX),
        ty: ExprId::NONE,
        values: Run::EMPTY,
        clauses: ClausesId::NONE,
    };
    let symbol = walk.facts.symbol(symbol, details);
    walk.facts.bind_symbol(ScopeId(0), ScopeId(0), name, 0, symbol);
    let outer = walk.open(ScopeKind::Block, symbol, root);
    walk.facts.symbol_mut(symbol).inner = walk.context.scope;
    documented::type_params(walk, root, named.comment, symbol);
    let ty = documented::stated_type(walk, root, &named.ty);
    walk.close(outer);
    // A type that cannot be read has members all the same.
    let ty = if ty.is_some() { ty } else { walk.facts.expr(Expr::Unknown) };
    walk.facts.symbol_mut(symbol).ty = ty;
}
