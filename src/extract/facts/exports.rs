//! Exports of a file, applied to its facts after extraction. Independent of syntax.

use crate::model::facts::{
    Binding, BindingKind, Expr, ExprId, FileFacts, ImportId, LocalSymbol, NameId, ScopeId, flags,
};

/// Export list of a file for wildcard imports.
#[derive(Default)]
pub(in crate::extract) struct ExportList {
    pub(in crate::extract) names: Vec<NameId>,
    /// True if the file has a list.
    pub(in crate::extract) given: bool,
    /// True if the list is not completely known.
    pub(in crate::extract) open: bool,
}

/// Restricts wildcard imports of a file to the names on its export list.
pub(in crate::extract) fn apply_list(facts: &mut FileFacts, list: &ExportList) {
    if !list.given || list.open {
        return;
    }
    for symbol in facts.symbols.iter_mut().filter(|symbol| symbol.scope == ScopeId(0)) {
        match list.names.contains(&symbol.name) {
            true => symbol.flags |= flags::EXPORTED,
            false => symbol.flags &= !flags::EXPORTED,
        }
    }
    for import in facts
        .imports
        .iter_mut()
        .filter(|import| import.alias.is_some() && import.scope == ScopeId(0))
    {
        import.reexport = list.names.contains(&import.alias);
    }
}

/// Marks symbols that an export list exports under another name: exported name and local name.
pub(in crate::extract) fn mark_exports(facts: &mut FileFacts, exported: &[(NameId, NameId)]) {
    for &(alias, local) in exported {
        let symbols =
            facts.symbols.iter_mut().filter(|symbol| symbol.name == local && symbol.scope.0 == 0);
        for symbol in symbols {
            symbol.flags |= flags::EXPORTED;
            if alias.get().is_some_and(|alias| &*facts.names[alias] == "default") {
                symbol.flags |= flags::DEFAULT_EXPORT;
            }
        }
        if alias != local
            || !facts.bindings.iter().any(|binding| binding.scope.0 == 0 && binding.name == local)
        {
            let value = ExprId::at(facts.exprs.len());
            facts.exprs.push(Expr::Name(local, ScopeId(0)));
            facts.positions.push(u32::MAX);
            facts.bindings.push(Binding {
                scope: ScopeId(0),
                block: ScopeId(0),
                name: alias,
                kind: BindingKind::Value,
                from: 0,
                symbol: LocalSymbol::NONE,
                import: ImportId::NONE,
                ty: ExprId::NONE,
                value,
            });
        }
    }
}
