//! Marks of imports: what they are needed for.

use cograph_grammar::Language;
use cograph_model::SiteKind;
use cograph_model::facts::{
    Expr, FileFacts, Import, LocalSymbol, NameId, ScopeId, ScopeKind, flags,
};
use rustc_hash::FxHashSet;

/// Marks the imports of a file whose symbols and sites are complete.
pub(super) fn mark(facts: &mut FileFacts, language: &Language) {
    let values = language.manifest.modules.erased_imports.then(|| values(facts));
    for position in 0..facts.imports.len() {
        let (mut lazy, mut test) = (false, facts.test);
        let mut scope = facts.imports[position].scope;
        while let Some(at) = scope.get() {
            let entry = &facts.scopes[at];
            lazy |= entry.kind == ScopeKind::Function;
            test |= entry.symbol.get().is_some_and(|symbol| is_test(facts, symbol));
            scope = entry.parent;
        }
        let import = &mut facts.imports[position];
        import.type_only |= values.as_ref().is_some_and(|values| is_erased(import, values));
        (import.lazy, import.test) = (lazy, test);
    }
}

fn is_test(facts: &FileFacts, symbol: usize) -> bool {
    facts.symbols.get(symbol).is_some_and(|symbol| symbol.flags & flags::TEST != 0)
}

/// True if nothing uses the value of what is imported. An import without a name is for its effects.
fn is_erased(import: &Import, values: &FxHashSet<NameId>) -> bool {
    import.alias.is_some() && !import.reexport && !values.contains(&import.alias)
}

/// Names that are used as values anywhere in the file.
fn values(facts: &FileFacts) -> FxHashSet<NameId> {
    let is_value = |kind: SiteKind, of: LocalSymbol| match kind {
        SiteKind::Type | SiteKind::Implement | SiteKind::Import => false,
        SiteKind::Inherit => of.get().is_none_or(|of| is_made(facts, of)),
        _ => true,
    };
    let sites = facts.sites.list();
    let named = sites.iter().filter(|site| is_value(site.kind, site.enclosing));
    let named = named.filter_map(|site| match site.target.get().map(|at| facts.exprs[at]) {
        Some(Expr::Name(name, ScopeId(_))) => Some(name),
        _ => None,
    });
    named.collect()
}

/// True for a type that is something at run time.
fn is_made(facts: &FileFacts, of: usize) -> bool {
    use cograph_model::SymbolKind::Interface;
    facts.symbols.get(of).is_none_or(|symbol| symbol.kind != Interface)
}
