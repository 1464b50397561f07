//! Declarations and their definitions, in languages that separate them.

use crate::db::Db;
use crate::inference::names::conditions;
use crate::units::interner::Name;
use crate::units::space::Space;
use crate::units::symbols::Symbols;
use crate::workspace::postings::Definitions;
use cograph_model::SymbolKind;
use cograph_model::facts::{Expr, ExprId, Symbol, Wrapper, flags};
use cograph_model::graph::{FileId, SymbolRef};
use rustc_hash::FxHashSet;

/// Number of symbols up to which the memo is not worth its cost.
const MAX_UNMEMOIZED: usize = 4;

/// Minimum number of symbols that are compared by signature instead of pairwise.
const MIN_BY_SIGNATURE: usize = 32;

/// Sort of a symbol and, in languages with overloads, its signature.
type Signature = (u8, Option<(bool, Vec<String>)>);

/// Returns the symbols of one name with distinct signatures. A declaration represents its
/// signature, because it has the default arguments.
pub(crate) fn distinct_signatures(db: &Db, symbols: &Symbols) -> Symbols {
    if symbols.len() <= MIN_BY_SIGNATURE {
        return first_of_each(db, symbols);
    }
    if let Some(known) = db.distinct.get(symbols) {
        return known;
    }
    let distinct = first_of_each(db, symbols);
    db.distinct.insert(symbols.clone(), distinct.clone());
    distinct
}

fn first_of_each(db: &Db, symbols: &Symbols) -> Symbols {
    let mut left = Symbols::new();
    let mut signatures = (symbols.len() > MIN_BY_SIGNATURE).then(FxHashSet::default);
    let is_declaration =
        |symbol: &SymbolRef| db.program.symbol(*symbol).flags & flags::DECLARATION != 0;
    let declared = symbols.iter().filter(|symbol| is_declaration(symbol));
    for symbol in declared.chain(symbols.iter().filter(|symbol| !is_declaration(symbol))) {
        let repeats = match &mut signatures {
            // Declarations come first: a symbol with a known signature is a repetition.
            Some(declared) if is_declaration(symbol) => !declared.insert(signature(db, *symbol)),
            Some(declared) => declared.contains(&signature(db, *symbol)),
            None => left.iter().any(|known| {
                (is_declaration(known) || is_declaration(symbol))
                    && declare_one(db, *known, *symbol)
            }),
        };
        if !repeats {
            left.push(*symbol);
        }
    }
    left
}

/// Replaces declarations by their definitions.
pub(crate) fn with_definitions(db: &Db, symbols: &Symbols) -> Symbols {
    if symbols.len() <= MAX_UNMEMOIZED {
        return replace_declarations(db, symbols);
    }
    if let Some(known) = db.with_definitions.get(symbols) {
        return known;
    }
    let found = replace_declarations(db, symbols);
    db.with_definitions.insert(symbols.clone(), found.clone());
    found
}

fn replace_declarations(db: &Db, symbols: &Symbols) -> Symbols {
    let (mut found, mut open) = (Symbols::new(), Symbols::new());
    let mut signatures = (symbols.len() > MIN_BY_SIGNATURE).then(FxHashSet::default);
    for symbol in symbols {
        if let Some(space) = db.program.space_of_symbol(*symbol) {
            // A namespace is one symbol, regardless of how many times it is opened.
            if found.iter().any(|known| db.program.space_of_symbol(*known) == Some(space)) {
                continue;
            }
        }
        if !is_declaration(db, *symbol) {
            if !found.contains(symbol) {
                found.push(*symbol);
            }
            continue;
        }
        let definitions = definitions_of(db, *symbol);
        let is_new = match &mut signatures {
            _ if !definitions.is_empty() => false,
            Some(known) => known.insert(signature(db, *symbol)),
            None => !open.iter().any(|known| same_signature(db, *known, *symbol)),
        };
        if is_new {
            open.push(*symbol);
        }
        for definition in definitions {
            if !found.contains(&definition) {
                found.push(definition);
            }
        }
    }
    if signatures.is_some() {
        let defined: FxHashSet<Signature> =
            found.iter().map(|symbol| signature(db, *symbol)).collect();
        open.retain(|symbol| !defined.contains(&signature(db, *symbol)));
    } else {
        open.retain(|symbol| !found.iter().any(|known| declare_one(db, *known, *symbol)));
    }
    found.extend(open);
    found
}

/// Returns the definitions of a declaration.
pub(crate) fn definitions_of(db: &Db, declaration: SymbolRef) -> Symbols {
    if let Some(known) = db.definitions.get(&declaration) {
        return known;
    }
    let found = find_definitions(db, declaration);
    db.definitions.insert(declaration, found.clone());
    found
}

fn find_definitions(db: &Db, declaration: SymbolRef) -> Symbols {
    let program = db.program;
    let entry = program.symbol(declaration);
    let name = program.name_of(declaration);
    let is_internal = entry.flags & (flags::EXPORTED | flags::LOCAL) == 0
        && entry.flags & flags::STATIC != 0
        && !program.clauses(declaration).owner.is_some();
    // An internal declaration in a header is defined in a file that includes it.
    let is_shared = is_internal && entry.kind.is_callable();
    let links = |other: SymbolRef, is_exported: bool| {
        other.file == declaration.file
            || match is_shared {
                true => !is_exported && db.reachable(other.file).contains(declaration.file),
                false => is_exported,
            }
    };
    // By the flags of postings alone: the facts of the others are not read.
    let linked = |space: Space| -> Symbols {
        let all = program
            .spaces()
            .with_outer(space)
            .flat_map(|space| defined_in(db, space, name).into_iter());
        all.filter(|(other, is_exported)| links(*other, *is_exported))
            .map(|(other, _)| other)
            .collect()
    };
    let mut found = match program.space_of_scope(declaration.file, entry.scope) {
        Some(space) => linked(space),
        None => {
            let container = SymbolRef { file: declaration.file, symbol: entry.container };
            if container.symbol.is_some() && program.symbol(container).kind.is_type() {
                let members = program.extensions(container).and_then(|members| members.get(&name));
                let mut members = without_declarations(db, members);
                let is_exported =
                    |other: SymbolRef| program.symbol(other).flags & flags::EXPORTED != 0;
                // A member that is not internal has the linkage of its type.
                members.retain(|other| !is_shared || links(*other, is_exported(*other)));
                members
            } else {
                // A declaration inside a function refers to the enclosing namespace.
                let unit = program.known(declaration.file);
                let space = program.space_around(declaration.file, unit, entry.scope);
                space.map_or_else(Symbols::new, linked)
            }
        }
    };
    found.retain(|candidate| same_sort(entry, program.symbol(*candidate)));
    if entry.is_conditional() {
        found.retain(|candidate| !conditions::exclude_each_other(db, declaration, *candidate));
    }
    if found.iter().any(|candidate| same_signature(db, declaration, *candidate)) {
        found.retain(|candidate| same_signature(db, declaration, *candidate));
    } else {
        found.retain(|candidate| program.symbol(*candidate).params().len() == entry.params().len());
    }
    // A variant of a type may represent the definition in another file.
    let is_last = |candidate: &SymbolRef| {
        candidate.file == declaration.file
            && !(entry.kind.is_type() && program.symbol(*candidate).is_conditional())
    };
    if found.iter().any(is_last) || found.iter().all(|other| other.file == declaration.file) {
        found.retain(|candidate| candidate.file == declaration.file);
    } else if found.len() > 1 {
        let including: Symbols = found
            .iter()
            .copied()
            .filter(|candidate| db.reachable(candidate.file).contains(declaration.file))
            .collect();
        if !including.is_empty() {
            found = including;
        }
    }
    found
}

/// Returns the definitions of a namespace with a name, and which of them are exported. Memoized:
/// some names have hundreds of declarations, each of which needs them.
fn defined_in(db: &Db, space: Space, name: Name) -> Definitions {
    if let Some(known) = db.defined.get(&(space, name)) {
        return known;
    }
    let found = db.program.definitions_in(space, name);
    db.defined.insert((space, name), found.clone());
    found
}

fn without_declarations(db: &Db, symbols: Option<&Symbols>) -> Symbols {
    symbols.into_iter().flatten().copied().filter(|symbol| !is_declaration(db, *symbol)).collect()
}

fn is_declaration(db: &Db, symbol: SymbolRef) -> bool {
    db.program.symbol(symbol).flags & flags::DECLARATION != 0
}

/// Returns the declarations of a definition.
pub(crate) fn declarations_of(db: &Db, definition: SymbolRef) -> Symbols {
    let program = db.program;
    let entry = program.symbol(definition);
    let unit = program.known(definition.file);
    if !unit.language.manifest.resolution.declarations
        || entry.flags & (flags::DECLARATION | flags::LOCAL) != 0
    {
        return Symbols::new();
    }
    let name = program.name_of(definition);
    // A symbol with internal linkage is declared in its own file only.
    let is_own = entry.flags & flags::EXPORTED == 0 && !program.clauses(definition).owner.is_some();
    let here = |candidate: &SymbolRef| !is_own || candidate.file == definition.file;
    let mut found: Symbols = match program.container(definition) {
        Some(&container) => db.own_members(container, name).into_iter().filter(here).collect(),
        None => {
            let space = program.space_of_scope(definition.file, entry.scope);
            let all = space.and_then(|space| program.with_declarations(space, name));
            all.into_iter().flatten().copied().filter(here).collect()
        }
    };
    found.retain(|candidate| {
        program.symbol(*candidate).flags & flags::DECLARATION != 0
            && same_sort(entry, program.symbol(*candidate))
    });
    found
        .into_iter()
        .filter(|candidate| definitions_of(db, *candidate).contains(&definition))
        .collect()
}

/// True if one program may have two symbols as declarations of the same entity.
fn declare_one(db: &Db, one: SymbolRef, other: SymbolRef) -> bool {
    same_signature(db, one, other) && !conditions::exclude_each_other(db, one, other)
}

/// True if two symbols declare the same entity: the same sort and, in languages with overloads,
/// the same parameters.
pub(crate) fn same_signature(db: &Db, a: SymbolRef, b: SymbolRef) -> bool {
    let (left, right) = (db.program.symbol(a), db.program.symbol(b));
    if !same_sort(left, right) {
        return false;
    }
    if !left.kind.is_callable() || !db.program.known(a.file).language.manifest.resolution.overloads
    {
        return true;
    }
    left.params().len() == right.params().len()
        && is_read_only(left) == is_read_only(right)
        && left.params().range().zip(right.params().range()).all(|(x, y)| {
            let x = db.program.known(a.file).facts.bindings[x].ty();
            let y = db.program.known(b.file).facts.bindings[y].ty();
            type_text(db, a.file, x) == type_text(db, b.file, y)
        })
}

/// Returns the part of a symbol that is equal for declarations of the same entity.
fn signature(db: &Db, symbol: SymbolRef) -> Signature {
    let (entry, unit) = (db.program.symbol(symbol), db.program.known(symbol.file));
    let overloads = entry.kind.is_callable() && unit.language.manifest.resolution.overloads;
    let types = || {
        entry
            .params()
            .range()
            .map(|param| type_text(db, symbol.file, unit.facts.bindings[param].ty()))
    };
    (sort(entry.kind), overloads.then(|| (is_read_only(entry), types().collect())))
}

/// Returns the text of a type without qualifiers.
fn type_text(db: &Db, file: FileId, ty: ExprId) -> String {
    let unit = db.program.known(file);
    let (facts, name) = (unit.facts, |name: cograph_model::facts::NameId| unit.text(name));
    let Some(position) = ty.get() else { return String::new() };
    let list = |run: cograph_model::facts::Run| {
        let parts: Vec<String> =
            facts.lists[run.range()].iter().map(|part| type_text(db, file, *part)).collect();
        parts.join(",")
    };
    match facts.exprs[position] {
        Expr::Name(text, _) | Expr::Member(_, text) | Expr::Literal(text) => name(text).to_owned(),
        Expr::Wrap(inner, wrapper) => {
            let wrapper = match wrapper {
                Wrapper::Named(wrapper) => name(wrapper).to_owned(),
                other => format!("{other:?}"),
            };
            format!("{} {wrapper}", type_text(db, file, inner))
        }
        Expr::Array(inner) => format!("{} pointer", type_text(db, file, inner)),
        Expr::Apply(base, args) => format!("{}<{}>", type_text(db, file, base), list(args)),
        Expr::Function(parts) => format!("({})", list(parts)),
        _ => String::new(),
    }
}

/// True if one symbol can be the definition of the other.
fn same_sort(a: &Symbol, b: &Symbol) -> bool {
    sort(a.kind) == sort(b.kind)
}

fn sort(kind: SymbolKind) -> u8 {
    match kind {
        SymbolKind::Macro => 5,
        kind if kind.is_callable() => 0,
        SymbolKind::TypeAlias => 1,
        kind if kind.is_type() => 2,
        SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field => 3,
        _ => 4,
    }
}

fn is_read_only(symbol: &Symbol) -> bool {
    symbol.flags & flags::READ_ONLY != 0
}
