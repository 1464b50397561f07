//! Marks of imports: what they are needed for.

use cograph_grammar::{ErasedImports, Language};
use cograph_model::facts::{Expr, FileFacts, Import, NameId, ScopeKind, Site, flags};
use cograph_model::{SiteKind, SymbolKind};
use rustc_hash::FxHashSet;
use tree_sitter::Node;

/// Marks the imports of a file whose symbols and sites are complete.
pub(crate) fn mark(facts: &mut FileFacts, language: &Language, root: Node<'_>) {
    let erased = &language.manifest.modules.erased_imports;
    let values = erased.unused.then(|| values(facts, erased, root));
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

/// Imported names that are used as values anywhere in the file.
fn values(facts: &FileFacts, erased: &ErasedImports, root: Node<'_>) -> FxHashSet<NameId> {
    let imported: FxHashSet<NameId> = facts.imports.iter().map(|import| import.alias).collect();
    let sites = facts.sites.list();
    let named = sites.iter().filter_map(|site| match site.target.get().map(|at| facts.exprs[at]) {
        Some(Expr::Name(name, _)) if imported.contains(&name) => Some((site, name)),
        _ => None,
    });
    let mut values = FxHashSet::default();
    for (site, name) in named {
        if !values.contains(&name) && is_value(facts, erased, root, site) {
            values.insert(name);
        }
    }
    values
}

/// Nodes between a name and the one that says what it is.
const MOST_AROUND: usize = 4;

fn is_value(facts: &FileFacts, erased: &ErasedImports, root: Node<'_>, site: &Site) -> bool {
    let byte = site.byte as usize;
    let name = || root.named_descendant_for_byte_range(byte, byte + 1);
    let is_of = |node: Node<'_>, kinds: &[String]| kinds.iter().any(|kind| kind == node.kind());
    match site.kind {
        SiteKind::Implement | SiteKind::Import => false,
        SiteKind::Inherit => site.enclosing.get().is_none_or(|of| is_made(facts, of)),
        SiteKind::Type => name()
            .and_then(|name| name.parent())
            .is_some_and(|around| is_of(around, &erased.values)),
        _ => {
            let around = std::iter::successors(name(), Node::parent).take(MOST_AROUND);
            !around.into_iter().any(|around| is_of(around, &erased.types))
        }
    }
}

/// True for a type that is something at run time.
fn is_made(facts: &FileFacts, of: usize) -> bool {
    facts.symbols.get(of).is_none_or(|symbol| symbol.kind != SymbolKind::Interface)
}
