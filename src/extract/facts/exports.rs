//! Exports of a file, applied to its facts after extraction. Independent of syntax.

use cograph_model::SymbolKind;
use cograph_model::facts::{
    Binding, BindingKind, Expr, ExprId, FileFacts, NameId, ScopeId, Symbol, Synthetic, flags,
};
use std::ops::Range;

/// Export list of a file for wildcard imports.
#[derive(Default)]
pub(crate) struct ExportList {
    pub(crate) names: Vec<NameId>,
    /// True if the file has a list.
    pub(crate) given: bool,
    /// True if the list is not completely known.
    pub(crate) open: bool,
}

/// Restricts wildcard imports of a file to the names on its export list.
pub(crate) fn apply_list(facts: &mut FileFacts, list: &ExportList) {
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
/// What replaces the export object, whose names are `objects`, is found by them in the file.
pub(crate) fn mark_exports(
    facts: &mut FileFacts,
    exported: &[(NameId, NameId)],
    objects: &[String],
) {
    for &(alias, local) in exported {
        let symbols =
            facts.symbols.iter_mut().filter(|symbol| symbol.name == local && symbol.scope.0 == 0);
        for symbol in symbols {
            symbol.flags |= flags::EXPORTED;
            if alias.get().is_some_and(|alias| Synthetic::DefaultExport.is(&facts.names[alias])) {
                symbol.flags |= flags::DEFAULT_EXPORT;
            }
        }
        if alias != local
            || !facts.bindings.iter().any(|binding| binding.scope.0 == 0 && binding.name == local)
        {
            let value = ExprId::at(facts.exprs.len());
            facts.exprs.push(Expr::Name(local, ScopeId(0)));
            facts.positions.push(u32::MAX);
            let text = alias.get().map_or("", |alias| &facts.names[alias]);
            let is_whole =
                Synthetic::DefaultExport.is(text) || objects.iter().any(|object| object == text);
            let from = if is_whole { 0 } else { Binding::OF_EXPORTS };
            let place = Binding::at(ScopeId(0), alias, from);
            facts.bindings.push(place.of_value(BindingKind::Value, ExprId::NONE, value));
        }
    }
}

/// What a declaration of something that is defined elsewhere has made.
pub(crate) struct Ambient {
    pub(crate) symbols: Range<usize>,
    pub(crate) imports: Range<usize>,
}

/// Marks the symbols of the global scope: those of `scopes`, and all of a file of declarations that
/// is no module. Where files have export objects, those that are no modules have one scope
/// together.
pub(crate) fn mark_global(
    facts: &mut FileFacts,
    ambient: &[Ambient],
    scopes: &[ScopeId],
    objects: &[String],
) {
    if objects.is_empty() && ambient.is_empty() && !facts.symbols.iter().any(is_declared_type) {
        return;
    }
    let top = |symbol: &Symbol| symbol.scope == ScopeId(0);
    let is_own = |position: &usize| !ambient.iter().any(|one| one.imports.contains(position));
    let is_module = (0..facts.imports.len()).any(|position| is_own(&position))
        || facts.symbols.iter().any(|symbol| top(symbol) && symbol.flags & flags::EXPORTED != 0);
    let is_declared = |(position, symbol): (usize, &Symbol)| {
        is_declared_type(symbol) || ambient.iter().any(|one| one.symbols.contains(&position))
    };
    let mut all = facts.symbols.iter().enumerate().filter(|(_, one)| top(one));
    let is_script = !is_module && all.all(is_declared);
    for symbol in &mut facts.symbols {
        if scopes.contains(&symbol.scope) || is_script && top(symbol) {
            symbol.flags |= flags::GLOBAL;
        }
    }
    let exports = |binding: &Binding| {
        let name = binding.name.get().map_or("", |name| &facts.names[name]);
        binding.from == Binding::OF_EXPORTS
            || Synthetic::DefaultExport.is(name)
            || objects.iter().any(|object| object == name)
    };
    let bound = |binding: &&Binding| binding.scope == ScopeId(0);
    if objects.is_empty() || is_module || facts.bindings.iter().filter(bound).any(exports) {
        return;
    }
    for binding in facts.bindings.iter().filter(bound) {
        if let Some(position) = binding.symbol().get() {
            facts.symbols[position].flags |= flags::GLOBAL;
        }
    }
}

/// True for a type of which there is nothing when the program runs.
fn is_declared_type(symbol: &Symbol) -> bool {
    matches!(symbol.kind, SymbolKind::Interface | SymbolKind::TypeAlias)
}
