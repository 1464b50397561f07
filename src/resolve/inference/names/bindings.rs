//! What a scope itself binds to a name: symbols, imports, or the values that reach a position.

use crate::db::Db;
use crate::db::ty::{Entity, Ty};
use crate::inference::names::assignments::{BINDINGS_PER_STEP, NameUse};
use crate::inference::names::{assignments, namespaces};
use crate::units::import_target::ImportTarget;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use crate::units::unit::Unit;
use cograph_faults::{Fault, planted};
use cograph_model::SymbolKind;
use cograph_model::facts::{
    Binding, BindingId, BindingKind, ExprId, ImportId, LocalSymbol, ScopeId, ScopeKind, Synthetic,
    flags,
};
use cograph_model::graph::{FileId, SymbolRef};
use smallvec::SmallVec;

/// Binding of a name in a scope, before imports are followed.
pub(super) enum Bound {
    Entity(Entity),
    /// Imports of one name, last one first.
    Imports(FileId, SmallVec<[ImportId; 2]>),
    /// Imports of one name in alternatives of a statement, in order: any of them.
    Alternatives(FileId, SmallVec<[ImportId; 2]>),
    /// Imports, last one first, and symbols of one name in a scope that has one definition of it.
    Variants(FileId, SmallVec<[ImportId; 2]>, Symbols),
}

/// Returns what a scope itself binds to a name.
pub(super) fn in_scope<'a>(
    db: &Db<'a>,
    file: FileId,
    scope: ScopeId,
    name: Name,
    from: NameUse,
    hidden: bool,
) -> Option<Bound> {
    let unit = db.program.known(file);
    let bound = db.program.bound(file, unit, scope, name);
    let bound = if from.crossed {
        bound
    } else {
        assignments::last_values(db, file, scope, name, bound, from)
    };
    if !db.budget.take(bound.len() / BINDINGS_PER_STEP) {
        return None;
    }
    let bound = bound.iter().map(|&id| (id, unit.binding(id)));
    let is_seen = |binding: &Binding| {
        namespaces::is_wanted_binding(db, file, binding)
            && begins_before(unit, binding, from)
            && !is_of_construction(unit, binding, from)
    };
    let all: SmallVec<[(BindingId, &'a Binding); 4]> =
        bound.filter(|(_, binding)| is_seen(binding)).collect();
    if all.is_empty() || all.iter().any(|(_, binding)| binding.kind == BindingKind::Outer) {
        return None;
    }
    for (id, binding) in all.iter().rev() {
        let narrows = binding.kind == BindingKind::Narrow && binding.from <= from.at;
        if narrows && (binding.ty().is_some() || guarded(db, file, binding.value).is_some()) {
            return Some(Bound::Entity(Entity::Local(file, SmallVec::from_slice(&[*id]))));
        }
    }
    if hidden {
        let params = all
            .iter()
            .filter(|(_, binding)| binding.kind == BindingKind::TypeParam)
            .map(|(id, _)| *id);
        let params: SmallVec<[BindingId; 2]> = params.collect();
        return (!params.is_empty()).then_some(Bound::Entity(Entity::Local(file, params)));
    }
    // A parameter of a type hides its members in their initial values.
    if unit.scope_kind(scope) == ScopeKind::Type
        && !from.crossed
        && let Some((id, param)) =
            all.iter().find(|(_, binding)| binding.kind == BindingKind::Param)
        && !all.iter().any(|(_, binding)| is_declared_by(unit, binding, param))
    {
        return Some(Bound::Entity(Entity::Local(file, SmallVec::from_slice(&[*id]))));
    }
    let symbols = visible_symbols(db, file, &all, from);
    let imported = all.iter().rev().filter(|(_, binding)| binding.kind == BindingKind::Import);
    let imports: SmallVec<[ImportId; 2]> = imported.map(|(_, binding)| binding.import()).collect();
    let kind = unit.scope_kind(scope);
    let is_single = imports.len() + usize::from(!symbols.is_empty()) < 2;
    if unit.language.manifest.resolution.one_definition && !is_single {
        return Some(Bound::Variants(file, imports, symbols));
    }
    if !namespaces::wants_modules(db) && !symbols.is_empty() {
        // The import is the module that the filter excludes.
        return Some(Bound::Entity(Entity::Symbols(symbols)));
    }
    if let Some(last) = imports.first() {
        let external = matches!(
            db.program.import_target(file, last.get().unwrap_or(0)),
            ImportTarget::External(_)
        );
        if symbols.is_empty() || (!external && !matches!(kind, ScopeKind::Function)) {
            let several = alternatives(unit, scope, &all, from);
            return Some(match several.len() {
                0 | 1 => Bound::Imports(file, imports),
                _ => Bound::Alternatives(file, several),
            });
        }
    }
    if !symbols.is_empty() {
        return Some(Bound::Entity(Entity::Symbols(symbols)));
    }
    let locals = assignments::reaching(db, file, &all, from);
    (!locals.is_empty()).then_some(Bound::Entity(Entity::Local(file, locals)))
}

/// True if a parameter, by a word before it, declares the member that another binding is.
fn is_declared_by(unit: Unit<'_>, member: &Binding, param: &Binding) -> bool {
    let ty = param.ty().get().map(|position| unit.facts.positions[position]);
    member.kind == BindingKind::Symbol
        && !unit.language.manifest.names.field_parameter_words.is_empty()
        && ty.is_some_and(|ty| {
            let entry = unit.symbol(member.symbol());
            entry.start_byte <= ty && ty < entry.end_byte
        })
}

/// True for a parameter of a type that a member's body uses, in languages in which it takes a word
/// to keep it: only initial values see the others.
fn is_of_construction(unit: Unit<'_>, binding: &Binding, from: NameUse) -> bool {
    if binding.kind != BindingKind::Param
        || !from.crossed
        || unit.scope_kind(binding.scope) != ScopeKind::Type
        || unit.language.manifest.names.field_parameter_words.is_empty()
    {
        return false;
    }
    let (mut scope, mut inside) = (from.scope, ScopeId::NONE);
    while scope.is_some() && scope != binding.scope {
        inside = scope;
        scope = unit.parent(scope);
    }
    let member = unit.scope_symbol(inside).get().map(|at| unit.facts.symbols[at].kind);
    member.is_some_and(SymbolKind::is_callable)
}

/// Returns the imports of a name that may reach a use, in order, if some are in branches of a
/// statement (`try: from a import f` and `except ImportError: from b import f`).
fn alternatives<'a>(
    unit: Unit<'a>,
    scope: ScopeId,
    all: &[(BindingId, &'a Binding)],
    from: NameUse,
) -> SmallVec<[ImportId; 2]> {
    let is_import = |binding: &Binding| binding.kind == BindingKind::Import;
    let found: SmallVec<[&Binding; 4]> =
        all.iter().map(|(_, binding)| *binding).filter(|binding| is_import(binding)).collect();
    let is_branch = |binding: &&Binding| binding.block() != scope;
    if found.len() < 2 || !found.iter().any(is_branch) {
        return SmallVec::new();
    }
    let encloses = |block: ScopeId| {
        let mut around = from.scope;
        while around.is_some() && around != block {
            around = unit.parent(around);
        }
        around == block
    };
    let is_certain = |binding: &&Binding| match from.crossed {
        true => binding.block() == scope,
        false => encloses(binding.block()),
    };
    let certain = found.iter().rposition(is_certain).unwrap_or(0);
    found[certain..].iter().map(|binding| binding.import()).collect()
}

/// False for a binding whose scope begins behind the use, and for a name in the file of what is a
/// member of its exports alone.
fn begins_before(unit: Unit<'_>, binding: &Binding, from: NameUse) -> bool {
    let rules = &unit.language.manifest.resolution;
    match binding.kind {
        _ if binding.from == Binding::OF_EXPORTS => from.at == Binding::OF_EXPORTS,
        _ if planted(Fault::VisibleBeforeDeclared) => true,
        BindingKind::Value | BindingKind::Param if rules.scope_after_declaration => {
            binding.from <= from.at
        }
        // The variable of a closure begins behind its statement: the closure does not know it.
        BindingKind::Symbol
            if rules.scope_after_declaration && holds_closure(unit, binding.symbol()) =>
        {
            unit.symbol(binding.symbol()).end_byte <= from.at
        }
        // A local function begins where it stands, and knows itself.
        BindingKind::Symbol
            if rules.scope_after_declaration
                && !rules.hoisted
                && unit.scope_kind(binding.scope) != ScopeKind::File =>
        {
            binding.from <= from.at
        }
        // In a type, and at the top level, statements run in order: on the right side of its
        // own definition, and in its decorators, a name has the meaning that it had before.
        BindingKind::Symbol if rules.runs_in_order && !from.crossed => {
            let own = unit.symbol(binding.symbol());
            let is_value =
                matches!(own.kind, SymbolKind::Field | SymbolKind::Variable | SymbolKind::Constant);
            let is_inside = own.start_byte <= from.at && from.at < own.end_byte;
            let body = own.inner.get().map(|inner| unit.facts.scopes[inner].start);
            let decorates = is_inside && body.is_some_and(|body| from.at < body);
            let is_before =
                || unit.scope_kind(binding.scope) == ScopeKind::Type && from.at < own.start_byte;
            !(is_value && is_inside || decorates || is_before())
        }
        _ => true,
    }
}

/// True for a local variable whose value is a closure.
fn holds_closure(unit: Unit<'_>, symbol: LocalSymbol) -> bool {
    let both = flags::LOCAL | flags::FUNCTION_VALUE;
    unit.symbol(symbol).flags & both == both
}

/// Returns the symbols of a name that are visible: overloads together, otherwise the effective
/// one, or all conditional variants.
fn visible_symbols<'a>(
    db: &Db<'a>,
    file: FileId,
    all: &[(BindingId, &'a Binding)],
    from: NameUse,
) -> Symbols {
    let unit = db.program.known(file);
    let rules = &unit.language.manifest.resolution;
    let bound = all.iter().filter(|(_, binding)| binding.kind == BindingKind::Symbol);
    // The block of a branch is in the branch.
    let branch = |binding: &Binding| {
        let mut block = binding.block();
        while block != binding.scope && unit.scope_kind(block) == ScopeKind::Block {
            block = unit.parent(block);
        }
        block
    };
    let mut symbols: SmallVec<[(SymbolRef, ScopeId, u32); 2]> = bound
        .map(|(_, binding)| {
            (SymbolRef { file, symbol: binding.symbol() }, branch(binding), binding.from)
        })
        .collect();
    if rules.overloads || rules.separate_types || rules.declarations || symbols.len() < 2 {
        return symbols.into_iter().map(|(symbol, _, _)| symbol).collect();
    }
    if symbols
        .iter()
        .any(|(symbol, _, _)| db.program.symbol(*symbol).flags & flags::DECLARATION == 0)
    {
        symbols.retain(|(symbol, _, _)| db.program.symbol(*symbol).flags & flags::DECLARATION == 0);
    }
    let local =
        symbols.iter().any(|(symbol, _, _)| db.program.symbol(*symbol).flags & flags::LOCAL != 0);
    let is_ordered = local || rules.conditional_definitions;
    if is_ordered && !from.crossed && symbols.iter().any(|&(_, _, start)| start <= from.at) {
        symbols.retain(|&mut (_, _, start)| start <= from.at);
    }
    let Some(&(last, block, _)) = symbols.last() else { return Symbols::new() };
    if symbols.iter().all(|&(_, other, _)| other == block)
        || unit.scope_kind(block) != ScopeKind::Flow
    {
        return Symbols::from_slice(&[last]);
    }
    // A definition outside of branches replaces those before it.
    let is_certain = |&(_, block, _): &_| unit.scope_kind(block) != ScopeKind::Flow;
    let certain = symbols.iter().rposition(is_certain).unwrap_or(0);
    symbols.drain(certain..).map(|(symbol, _, _)| symbol).collect()
}

/// Returns the type that a successful test (type guard) implies.
pub(crate) fn guarded(db: &Db, file: FileId, test: ExprId) -> Option<Ty> {
    match db.ty(file, test) {
        Ty::Builtin(name, args) if Synthetic::TypeGuard.is(&name) => args.first().cloned(),
        _ => None,
    }
}
