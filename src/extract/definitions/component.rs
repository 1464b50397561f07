//! The component that a file of markup is: a symbol with the name of the file, which importers of
//! the file get.

use crate::facts::builder::Builder;
use crate::walk::input::Input;
use crate::walk::position::{line, offset};
use cograph_model::facts::{
    Binding, BindingKind, ClausesId, Details, ExprId, LocalSymbol, NameId, Run, ScopeId, Symbol,
    Synthetic, flags,
};
use cograph_model::{Position, SymbolKind, Visibility};

/// Defines the component of a file, unless the code in it exports a value under a name. A value
/// without a name has that of the component.
pub(crate) fn of_file(input: &Input<'_>, facts: &mut Builder, path: &str) {
    if input.language.manifest.markup.is_none() {
        return;
    }
    let file = path.rsplit('/').next().unwrap_or(path);
    let name = facts.name(file.split('.').next().unwrap_or(file));
    let is_default = |symbol: &Symbol| symbol.flags & flags::DEFAULT_EXPORT != 0;
    if let Some(at) = facts.facts.symbols.iter().position(is_default) {
        let given = facts.facts.symbols[at].name;
        if Synthetic::DefaultExport.is(facts.text(given)) {
            facts.facts.symbols[at].name = name;
        }
        return;
    }
    let given = facts
        .known_name(Synthetic::DefaultExport.text())
        .and_then(|name| unnamed_export(facts, name));
    let last = memchr::memchr_iter(b'\n', input.source.trim_ascii_end()).count();
    let end = Position { line: line(last), column: 0 };
    let start = Position { line: 1, column: 0 };
    let signature = format!("<{}>", facts.text(name)).into();
    let details = Details { start, end, name_at: start, signature, ..Details::default() };
    let symbol = Symbol {
        name,
        kind: SymbolKind::Class,
        container: LocalSymbol::NONE,
        scope: ScopeId(0),
        inner: ScopeId::NONE,
        flags: flags::EXPORTED | flags::DEFAULT_EXPORT,
        visibility: Visibility::Public,
        start_byte: 0,
        end_byte: offset(input.source.len()),
        params_start: 0,
        params_len: 0,
        arity: (0, u16::MAX),
        ty: ExprId::NONE,
        values: Run::default(),
        clauses: ClausesId::NONE,
    };
    let symbol = facts.symbol(symbol, details);
    if let Some(at) = given {
        let binding = &mut facts.facts.bindings[at];
        let value = binding.value;
        *binding = binding.clone().of_symbol(symbol);
        facts.add_value(symbol, value);
    }
}

/// Returns the binding of an exported value without a symbol.
fn unnamed_export(facts: &Builder, name: NameId) -> Option<usize> {
    let is_export = |binding: &Binding| {
        binding.name == name && binding.scope == ScopeId(0) && binding.kind == BindingKind::Value
    };
    facts.facts.bindings.iter().position(is_export)
}
