//! Linkage in languages with textual includes: top-level names visible to a file through its
//! includes, and link-time targets.

use crate::db::Db;
use crate::db::ty::Entity;
use crate::inference::names::placement::{leaves_program, links_to};
use crate::inference::names::{definition, namespaces, placement};
use crate::units::footprint::Question;
use crate::units::interner::Name;
use crate::units::space::Space;
use crate::units::symbols::Symbols;
use cograph_model::facts::{Expr, ExprId, ImportId, ScopeId, Site, flags};
use cograph_model::graph::{FileId, SymbolRef};
use cograph_model::{SiteKind, Step, SymbolKind};

/// Maximum nesting of the lookups that using-declarations start.
const MAX_NESTED: u32 = 16;

/// Maximum number of namespaces that are searched for a member of one that opens others.
const MAX_OPENED: usize = 64;

/// Looks a name up in the namespaces around a scope, as visible to a file.
pub(super) fn visible_around(
    db: &Db,
    file: FileId,
    scope: ScopeId,
    name: Name,
) -> Option<(Entity, Step)> {
    let program = db.program;
    let Some(space) = program.space_of_scope(file, scope) else {
        let imports = program.spaces().opened_locally.get(&(file, scope))?;
        return imports.iter().find_map(|import| through_opened(db, file, *import, name));
    };
    let mut found = visible_in_space(db, file, space, name);
    found.retain(|symbol| namespaces::is_wanted(db, *symbol));
    if !found.is_empty() {
        let step = if found.iter().any(|symbol| symbol.file == file) {
            Step::Lexical
        } else {
            Step::Wildcard
        };
        return Some((Entity::Symbols(found), step));
    }
    let (reach, linkage) = (db.reachable(file), program.spaces());
    let alias = Question::space(space, program.text(name));
    for (of, import) in linkage.aliases.get(&alias).into_iter().flatten() {
        if reach.contains(*of) {
            return using_declaration(db, *of, *import).map(|entity| (entity, Step::Import));
        }
    }
    let mut opened = linkage.opened.get(&space).into_iter().flatten();
    let through_directive = opened.find_map(|(of, import)| {
        let entry = &program.known(*of).facts.imports[import.get()?];
        let separator = program.known(*of).language.manifest.modules.separator.as_str();
        let target = linkage.find(space, &entry.module, separator);
        let target = target.filter(|target| *target != space && reach.contains(*of))?;
        visible_in(db, file, target, name)
    });
    through_directive.or_else(|| inside_macro(db, file, space, name))
}

/// Looks a name up in the namespaces inside one that macros open: a file that uses such a macro has
/// what follows it in the outer one.
fn inside_macro(db: &Db, file: FileId, space: Space, name: Name) -> Option<(Entity, Step)> {
    let inner = db.program.spaces().opened_inside(space);
    inner.into_iter().find_map(|inner| {
        let found = visible_in(db, file, inner, name);
        found.or_else(|| inside_macro(db, file, inner, name))
    })
}

/// Returns the members of a namespace with a name: its own, or those of the namespaces that it
/// opens, as inline ones are. What is in a namespace that a macro opens is in the one around.
pub(super) fn members_of_space(db: &Db, space: Space, name: Name) -> Symbols {
    let (program, linkage) = (db.program, db.program.spaces());
    let (mut found, mut waiting, mut seen) = (Symbols::new(), vec![space], vec![space]);
    while let Some(current) = waiting.pop() {
        let own = program.in_space(current, name);
        found.extend(own.into_iter().flatten().copied());
        if !db.budget.take(1) || seen.len() > MAX_OPENED {
            break;
        }
        let mut targets: Vec<Space> = Vec::new();
        if linkage.by_macro.contains(&current) {
            targets.extend(linkage.parent(current));
        }
        if own.is_none() {
            let opened = linkage.opened.get(&current).into_iter().flatten();
            targets.extend(opened.filter_map(|(of, import)| {
                let unit = program.known(*of);
                let separator = unit.language.manifest.modules.separator.as_str();
                linkage.find(current, &unit.facts.imports[import.get()?].module, separator)
            }));
        }
        for target in targets {
            if !seen.contains(&target) {
                seen.push(target);
                waiting.push(target);
            }
        }
    }
    found
}

/// Returns the symbols of a namespace that the file being resolved sees; all if it sees none.
pub(super) fn visible_to_origin(db: &Db, found: Symbols) -> Symbols {
    if found.len() < 2 {
        return found;
    }
    let reach = db.reachable(db.origin.get());
    let seen: Symbols =
        found.iter().copied().filter(|symbol| reach.contains(symbol.file)).collect();
    if seen.is_empty() { found } else { seen }
}

/// Returns the declarations of a type: all that open it, in languages in which a type may be opened
/// again.
pub(crate) fn openings(db: &Db, symbol: SymbolRef) -> Symbols {
    let alone = || Symbols::from_slice(&[symbol]);
    if !db.program.known(symbol.file).language.manifest.resolution.open_types {
        return alone();
    }
    if let Some(known) = db.openings.get(&symbol) {
        return known;
    }
    let all = db.program.space_of_symbol(symbol).and_then(|space| db.program.openings(space));
    let found = all.map_or_else(alone, |all| of_program(db, Symbols::from_slice(all)));
    db.openings.insert(symbol, found.clone());
    found
}

/// Returns the declaration that represents a type: the same for all that open it.
pub(crate) fn primary(db: &Db, symbol: SymbolRef) -> SymbolRef {
    openings(db, symbol).first().copied().unwrap_or(symbol)
}

/// Leaves one of several declarations that open one type.
pub(crate) fn without_openings(db: &Db, symbols: Symbols) -> Symbols {
    let is_open = |symbol: &SymbolRef| {
        db.program.known(symbol.file).language.manifest.resolution.open_types
            && db.program.space_of_symbol(*symbol).is_some()
    };
    if symbols.len() < 2 || !symbols.iter().any(is_open) {
        return symbols;
    }
    let mut left = Symbols::new();
    for symbol in symbols {
        let symbol = if is_open(&symbol) { primary(db, symbol) } else { symbol };
        if !left.contains(&symbol) {
            left.push(symbol);
        }
    }
    left
}

/// Returns the members of an open type with a name, of all declarations; `None` for other types.
pub(crate) fn open_members(db: &Db, symbol: SymbolRef, name: Name) -> Option<Symbols> {
    if !db.program.known(symbol.file).language.manifest.resolution.open_types {
        return None;
    }
    let space = db.program.space_of_symbol(symbol)?;
    let all = db.program.in_space(space, name).unwrap_or_default();
    Some(of_program(db, Symbols::from_slice(all)))
}

/// Returns the symbols that are in one program with the file being resolved: those that it reaches,
/// and those that are neither tests nor in a separate program; all if there are none.
fn of_program(db: &Db, all: Symbols) -> Symbols {
    if all.len() < 2 {
        return all;
    }
    let origin = db.origin.get();
    let (reach, from) = (db.reachable(origin), db.program.path(origin).as_str());
    let is_linked = |symbol: &SymbolRef| {
        reach.contains(symbol.file)
            || !db.program.known(symbol.file).facts.test
                && links_to(from, db.program.path(symbol.file).as_str())
    };
    let linked: Symbols = all.iter().copied().filter(is_linked).collect();
    if linked.is_empty() { all } else { linked }
}

/// Looks a name up through a using-directive inside a function.
fn through_opened(db: &Db, file: FileId, import: ImportId, name: Name) -> Option<(Entity, Step)> {
    let program = db.program;
    let unit = program.known(file);
    let entry = &unit.facts.imports[import.get()?];
    let from = program.space_around(file, unit, entry.scope)?;
    let separator = unit.language.manifest.modules.separator.as_str();
    let target = program.spaces().find(from, &entry.module, separator)?;
    visible_in(db, file, target, name)
}

fn visible_in(db: &Db, file: FileId, space: Space, name: Name) -> Option<(Entity, Step)> {
    let mut found = visible_in_space(db, file, space, name);
    found.retain(|symbol| namespaces::is_wanted(db, *symbol));
    (!found.is_empty()).then_some((Entity::Symbols(found), Step::Wildcard))
}

/// Returns the symbols of a namespace with a name that a file sees.
fn visible_in_space(db: &Db, file: FileId, space: Space, name: Name) -> Symbols {
    if let Some(known) = db.seen.get(&(file, space, name)) {
        return known;
    }
    let all = db.program.in_space(space, name);
    let found = all.map_or_else(Symbols::new, |all| {
        let reach = db.reachable(file);
        let found: Symbols =
            all.iter().copied().filter(|symbol| reach.contains(symbol.file)).collect();
        placement::with_variants(db, file, found, all)
    });
    db.seen.insert((file, space, name), found.clone());
    found
}

/// Returns the target of an import from another scope (using-declaration).
pub(crate) fn using_declaration(db: &Db, file: FileId, import: ImportId) -> Option<Entity> {
    let program = db.program;
    let unit = program.known(file);
    let entry = &unit.facts.imports[import.get()?];
    let linkage = program.spaces();
    let separator = unit.language.manifest.modules.separator.as_str();
    let from = program.space_around(file, unit, entry.scope)?;
    let space = match entry.module.is_empty() {
        true => Some(Space::root(unit.language)),
        false => linkage.find(from, &entry.module, separator),
    };
    if let Some(space) = space {
        if !entry.item.is_some() {
            return linkage
                .spaces
                .get(&space)
                .map(|(_, symbol)| Entity::Symbols(Symbols::from_slice(&[*symbol])));
        }
        let all = members_of_space(db, space, unit.name(entry.item));
        return (!all.is_empty()).then_some(Entity::Symbols(all));
    }
    // The path goes through a type.
    let mut segments = entry.module.split(separator).filter(|segment| !segment.is_empty());
    let first = program.named(segments.next()?);
    if db.depth.get() > MAX_NESTED || (entry.item.is_some() && unit.name(entry.item) == first) {
        return None;
    }
    db.deeper(|| {
        let start = db.lookup(file, first, entry.scope, u32::MAX).map(|(entity, _)| entity);
        let mut rest: Vec<Name> = segments.map(|segment| program.named(segment)).collect();
        rest.extend(entry.item.is_some().then(|| unit.name(entry.item)));
        rest.into_iter().try_fold(start?, |entity, name| {
            db.below(&entity, name, &mut crate::inference::names::visited::Visited::default())
        })
    })
}

/// Looks up a name without an included declaration: the only exported definition in a file that
/// may be in the same program.
pub(super) fn linked(db: &Db, file: FileId, name: Name, scope: ScopeId) -> Option<Entity> {
    let program = db.program;
    let from = program.path(file).as_str();
    let mut around = scope;
    let mut space = program.space_around(file, program.known(file), scope);
    while let Some(current) = space {
        if let Some(only) = linked_in_program(db, file, current, name)
            && let definition = program.path(only.file).as_str()
            && links_to(from, definition)
            && !leaves_program(from, definition)
        {
            return Some(Entity::Symbols(Symbols::from_slice(&[only])));
        }
        space = outer_space(db, file, current, &mut around);
    }
    None
}

/// Returns the namespace around one that encloses a scope; `scope` becomes one in it.
fn outer_space(db: &Db, file: FileId, space: Space, scope: &mut ScopeId) -> Option<Space> {
    let (program, unit) = (db.program, db.program.known(file));
    if !unit.language.manifest.resolution.open_types {
        return program.spaces().parent(space);
    }
    while scope.is_some() {
        let current = program.space_of_scope(file, *scope);
        *scope = unit.parent(*scope);
        if current == Some(space) {
            return program.space_around(file, unit, *scope);
        }
    }
    None
}

/// Returns the only definition in a namespace that a file may be linked with; definitions that
/// exclude the file or this one are ignored.
fn linked_in_program(db: &Db, file: FileId, space: Space, name: Name) -> Option<SymbolRef> {
    let (program, mut all) = (db.program, linked_in(db, space, name));
    all.retain(|symbol| namespaces::is_wanted(db, *symbol));
    let is_possible = |symbol: &&SymbolRef| !program.exclude_each_other(file, symbol.file);
    let possible: Symbols = all.iter().filter(is_possible).copied().collect();
    let only = match possible[..] {
        [only] => only,
        _ => return of_own_alternative(db, file, &possible),
    };
    // A definition outside of alternatives may be replaced by one in an alternative.
    let is_alone =
        all.iter().all(|other| *other == only || program.exclude_each_other(only.file, other.file));
    (is_alone && !program.are_separate(file, only.file)).then_some(only)
}

/// Returns the definition in the alternative that a file is in, where all others are outside of it:
/// it takes their place.
fn of_own_alternative(db: &Db, file: FileId, possible: &Symbols) -> Option<SymbolRef> {
    let program = db.program;
    let replaces = |own: &SymbolRef| {
        let mut others = possible.iter().filter(|other| *other != own);
        others.all(|other| program.are_separate(other.file, own.file))
    };
    let is_own = |own: &&SymbolRef| !program.are_separate(file, own.file) && replaces(own);
    possible.iter().find(is_own).copied()
}

/// Looks up a name that `linked` does not find because alternatives or other programs define
/// it: returns these definitions and other candidates.
pub(crate) fn linked_in_alternatives(db: &Db, file: FileId, name: Name, scope: ScopeId) -> Symbols {
    let program = db.program;
    let from = program.path(file).as_str();
    let mut space = program.space_around(file, program.known(file), scope);
    while let Some(current) = space {
        let all = linked_in(db, current, name);
        let is_uncertain = |symbol: &SymbolRef| {
            program.are_separate(file, symbol.file)
                || leaves_program(from, program.path(symbol.file).as_str())
        };
        if all.iter().any(is_uncertain) {
            let links = |symbol: &SymbolRef| links_to(from, program.path(symbol.file).as_str());
            let is_possible = |symbol: &SymbolRef| {
                links(symbol) && !program.exclude_each_other(file, symbol.file)
            };
            let possible: Symbols = all.iter().copied().filter(is_possible).collect();
            return match possible.is_empty() {
                true => all.into_iter().filter(links).collect(),
                false => possible,
            };
        }
        if !all.is_empty() {
            break;
        }
        space = program.spaces().parent(current);
    }
    Symbols::new()
}

/// Returns the exported definitions of a namespace with a name. A file uses a variable of another
/// one through a declaration: what nothing declares is no target, such as a local variable of a
/// body that a macro opens.
fn linked_in(db: &Db, space: Space, name: Name) -> Symbols {
    if let Some(known) = db.linked.get(&(space, name)) {
        return known;
    }
    let program = db.program;
    let offered = |symbol: &SymbolRef| {
        let entry = program.symbol(*symbol);
        entry.flags & flags::EXPORTED != 0
            && !matches!(entry.kind, SymbolKind::Macro | SymbolKind::Constant)
    };
    let all: Symbols =
        program.in_space(space, name).into_iter().flatten().copied().filter(offered).collect();
    let is_declared = |symbol: &SymbolRef| {
        program.symbol(*symbol).kind != SymbolKind::Variable
            || all.iter().any(|other| program.symbol(*other).flags & flags::DECLARATION != 0)
    };
    let mut found = definition::with_definitions(db, &all);
    found.retain(|symbol| is_declared(symbol));
    db.linked.insert((space, name), found.clone());
    found
}

/// Argument-dependent lookup: functions in the namespaces of the arguments' types.
pub(crate) fn by_arguments(db: &Db, name: Name, args: &[crate::db::ty::Ty]) -> Symbols {
    let program = db.program;
    let mut found = Symbols::new();
    for arg in args {
        let crate::db::ty::Ty::Instance(symbol, _) = arg else { continue };
        let unit = program.known(symbol.file);
        let Some(space) = program.space_around(symbol.file, unit, program.symbol(*symbol).scope)
        else {
            continue;
        };
        for candidate in program.in_space(space, name).into_iter().flatten() {
            if program.symbol(*candidate).kind.is_callable() && !found.contains(candidate) {
                found.push(*candidate);
            }
        }
    }
    found
}

/// Returns the enclosing type if a name inside it refers to it (injected class name).
pub(super) fn injected_class_name(
    db: &Db,
    file: FileId,
    scope: ScopeId,
    name: Name,
) -> Option<Symbols> {
    let symbol = SymbolRef { file, symbol: db.program.known(file).scope_symbol(scope) };
    (symbol.symbol.is_some() && db.program.name_of(symbol) == name)
        .then(|| Symbols::from_slice(&[symbol]))
}

/// Returns the members of a type or of its enclosing types, for code that names its type by a
/// path.
pub(crate) fn enclosing_member(db: &Db, symbol: SymbolRef, name: Name) -> Symbols {
    let mut current = Some(symbol);
    for _ in 0..8 {
        let Some(ty) = current else { break };
        if db.program.name_of(ty) == name {
            return Symbols::from_slice(&[ty]);
        }
        let found = db.type_member(ty, name);
        if !found.is_empty() {
            return found;
        }
        let entry = db.program.symbol(ty);
        let around = match db.program.container(ty) {
            Some(&container) => container,
            None => SymbolRef { file: ty.file, symbol: entry.container },
        };
        let is_type = around.symbol.is_some() && db.program.symbol(around).kind.is_type();
        current = is_type.then_some(around).filter(|around| *around != ty);
    }
    Symbols::new()
}

/// Selects macros or functions among the symbols of a called name. A macro takes precedence,
/// except after a function definition in the same file, because a macro of that name must have
/// been undefined before it; unless the macro is defined between the two and the call. Next to
/// macros that exist under conditions only, the functions remain.
pub(crate) fn macros_or_functions(db: &Db, file: FileId, site: &Site, symbols: Symbols) -> Symbols {
    let text = |symbol: &SymbolRef| db.program.symbol(*symbol).is_macro();
    if site.kind != SiteKind::Call {
        return symbols;
    }
    let symbols = without_own_names(db, symbols);
    if symbols.len() < 2 || !symbols.iter().any(text) || symbols.iter().all(text) {
        return symbols;
    }
    let last = |wanted: bool| {
        let before = symbols.iter().filter(|symbol| symbol.file == file && text(symbol) == wanted);
        let starts = before
            .map(|symbol| db.program.symbol(*symbol))
            .filter(|entry| entry.flags & flags::DECLARATION == 0);
        starts.map(|entry| entry.start_byte).filter(|&start| !wanted || start < site.byte).max()
    };
    let calls_function = match (last(false), last(true)) {
        (Some(function), Some(text)) => function > text,
        (function, _) => function.is_some(),
    };
    let is_conditional = |symbol: &SymbolRef| db.program.symbol(*symbol).is_conditional();
    if !calls_function && symbols.iter().filter(|symbol| text(symbol)).all(is_conditional) {
        return symbols;
    }
    symbols.into_iter().filter(|symbol| text(symbol) != calls_function).collect()
}

/// Excludes macros that are replaced by their own name (`enum { A }; #define A A`): a use of the
/// name refers to what else has it.
pub(crate) fn without_own_names(db: &Db, mut symbols: Symbols) -> Symbols {
    let is_own_name = |symbol: &SymbolRef| {
        let entry = db.program.symbol(*symbol);
        let facts = db.program.known(symbol.file).facts;
        let is_name = |value: &ExprId| match value.get().map(|value| facts.exprs[value]) {
            Some(Expr::Name(name, _)) => name == entry.name,
            _ => false,
        };
        entry.is_macro()
            && !entry.values.is_empty()
            && facts.lists[entry.values.range()].iter().all(is_name)
    };
    if symbols.len() > 1 && !symbols.iter().all(is_own_name) {
        symbols.retain(|symbol| !is_own_name(symbol));
    }
    symbols
}

/// True if a value of the type is created by a conversion from a builtin type, without a
/// constructor.
pub(crate) fn is_conversion(db: &Db, ty: SymbolRef) -> bool {
    let rules = &db.program.known(ty.file).language.manifest.resolution;
    let kind = db.program.symbol(ty).kind;
    rules.declarations
        && (!rules.call_constructs || matches!(kind, SymbolKind::TypeAlias | SymbolKind::Enum))
}
