//! Files that are pasted into each other: names outside of types and functions as a file sees them through what it includes.

use super::tables::Tables;
use super::ty::Entity;
use super::unit::Unit;
use super::{Name, Program, Resolver, Symbols};
use crate::grammar::ModuleSystem;
use crate::model::facts::{Binding, BindingKind, ImportId, ImportKind, LocalSymbol, ScopeId, ScopeKind, Site, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::model::{SiteKind, Step, SymbolKind};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// A namespace, the same one in whatever files it is opened, or the outermost one of a family of languages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Space(u32);

/// What all files together put into namespaces.
#[derive(Debug, Default)]
pub(super) struct Linkage {
    roots: FxHashMap<&'static str, Space>,
    /// The namespace around each, and its own name.
    parents: Vec<Option<Space>>,
    /// What each is called from the outermost on, as a hash: the same after a change, unlike its number.
    identities: Vec<u64>,
    children: FxHashMap<(Space, Name), Space>,
    pub(super) of_scope: FxHashMap<(FileId, ScopeId), Space>,
    pub(super) of_symbol: FxHashMap<SymbolRef, Space>,
    /// One symbol of each namespace.
    symbols: FxHashMap<Space, SymbolRef>,
    pub(super) names: FxHashMap<(Space, Name), Symbols>,
    /// Those of `names` that are of declarations, or of declarations too.
    declared: FxHashSet<(Space, Name)>,
    /// Names that are made visible under the same or another name.
    aliases: FxHashMap<(Space, Name), Vec<(FileId, ImportId)>>,
    /// Namespaces whose names are made visible in another one, and the file that does so.
    opened: FxHashMap<Space, Vec<(FileId, ImportId)>>,
    /// The same inside of functions and types.
    opened_locally: FxHashMap<(FileId, ScopeId), Vec<ImportId>>,
}

impl Linkage {
    pub(super) fn new(tables: &Tables) -> Self {
        let mut linkage = Self::default();
        for (file, unit) in tables.units() {
            if unit.language.manifest.modules.system == ModuleSystem::Includes {
                linkage.add_scopes(file, &unit);
                linkage.add_names(file, &unit);
            }
        }
        linkage
    }

    fn space(&mut self, parent: Option<Space>, name: u64) -> Space {
        let around = parent.map_or(0, |parent| self.identity(parent));
        self.identities.push(FxBuildHasher.hash_one((around, name)));
        self.parents.push(parent);
        Space(u32::try_from(self.parents.len() - 1).expect("there are fewer namespaces than scopes"))
    }

    /// The hash of what a namespace is called.
    pub(super) fn identity(&self, space: Space) -> u64 {
        self.identities[space.0 as usize]
    }

    fn add_scopes(&mut self, file: FileId, unit: &Unit<'_>) {
        let family = super::modules::family(unit.language);
        let root = match self.roots.get(family) {
            Some(&root) => root,
            None => {
                let root = self.space(None, FxBuildHasher.hash_one(family));
                self.roots.insert(family, root);
                root
            }
        };
        for (position, scope) in unit.facts.scopes.iter().enumerate() {
            let id = ScopeId::at(position);
            match scope.kind {
                ScopeKind::File => drop(self.of_scope.insert((file, id), root)),
                ScopeKind::Module => {
                    let Some(symbol) = scope.symbol.get() else { continue };
                    let parent = self.around(file, unit, scope.parent).unwrap_or(root);
                    let name = unit.name(unit.facts.symbols[symbol].name);
                    let space = match self.children.get(&(parent, name)) {
                        Some(&space) => space,
                        None => {
                            let text = unit.text(unit.facts.symbols[symbol].name);
                            let space = self.space(Some(parent), FxBuildHasher.hash_one(text));
                            self.children.insert((parent, name), space);
                            space
                        }
                    };
                    let symbol = SymbolRef { file, symbol: scope.symbol };
                    self.of_scope.insert((file, id), space);
                    self.of_symbol.insert(symbol, space);
                    self.symbols.entry(space).or_insert(symbol);
                }
                _ => {}
            }
        }
    }

    /// Takes the names of functions away that are the last symbols of a file, and whose names no other symbol has.
    pub(super) fn remove_last(&mut self, file: FileId, unit: &Unit<'_>, symbols: usize) {
        for (key, _) in self.last(file, unit, symbols) {
            self.names.remove(&key);
            self.declared.remove(&key);
        }
    }

    /// Puts the names of functions in that are the last symbols of a file, and whose names no file had. Files come in order.
    pub(super) fn add_last(&mut self, file: FileId, unit: &Unit<'_>, symbols: usize) {
        for (key, symbol) in self.last(file, unit, symbols) {
            self.add(key, unit, symbol);
        }
    }

    fn last(&self, file: FileId, unit: &Unit<'_>, symbols: usize) -> Vec<((Space, Name), SymbolRef)> {
        let bindings = unit.facts.bindings.iter().filter(|binding| {
            binding.kind == BindingKind::Symbol && binding.symbol.get().is_some_and(|symbol| symbol >= symbols)
        });
        let put = |binding: &Binding| {
            let space = *self.of_scope.get(&(file, binding.scope))?;
            Some(((space, unit.name(binding.name)), SymbolRef { file, symbol: binding.symbol }))
        };
        bindings.filter_map(put).collect()
    }

    fn add_names(&mut self, file: FileId, unit: &Unit<'_>) {
        for binding in &unit.facts.bindings {
            let Some(&space) = self.of_scope.get(&(file, binding.scope)) else { continue };
            let key = (space, unit.name(binding.name));
            match binding.kind {
                BindingKind::Symbol if !is_member_elsewhere(unit, binding.symbol) => {
                    self.add(key, unit, SymbolRef { file, symbol: binding.symbol });
                }
                BindingKind::Import => self.aliases.entry(key).or_default().push((file, binding.import)),
                _ => {}
            }
        }
        for (position, import) in unit.facts.imports.iter().enumerate() {
            if import.kind != ImportKind::Wildcard {
                continue;
            }
            let id = ImportId::at(position);
            match self.of_scope.get(&(file, import.scope)) {
                Some(&space) => self.opened.entry(space).or_default().push((file, id)),
                None => self.opened_locally.entry((file, import.scope)).or_default().push(id),
            }
        }
    }

    fn add(&mut self, key: (Space, Name), unit: &Unit<'_>, symbol: SymbolRef) {
        self.names.entry(key).or_default().push(symbol);
        if symbol.symbol.get().is_some_and(|symbol| unit.facts.symbols[symbol].flags & flags::DECLARATION != 0) {
            self.declared.insert(key);
        }
    }

    /// Whether some of what a namespace has under a name is a declaration.
    pub(super) fn has_declaration(&self, key: (Space, Name)) -> bool {
        self.declared.contains(&key)
    }

    /// The innermost namespace around a scope.
    pub(super) fn around(&self, file: FileId, unit: &Unit<'_>, mut scope: ScopeId) -> Option<Space> {
        while scope.is_some() {
            if let Some(&space) = self.of_scope.get(&(file, scope)) {
                return Some(space);
            }
            scope = unit.parent(scope);
        }
        None
    }

    /// Members of a namespace that are defined outside of it under its name.
    pub(super) fn add_member(&mut self, owner: SymbolRef, unit: &Unit<'_>, name: Name, member: SymbolRef) {
        if let Some(&space) = self.of_symbol.get(&owner)
            && !self.names.get(&(space, name)).is_some_and(|members| members.contains(&member))
        {
            self.add((space, name), unit, member);
        }
    }

    /// Stands for how namespaces lie in each other and what is made visible where. `path` gives the number of a file's path.
    pub(super) fn nesting(&self, path: &impl Fn(FileId) -> u64) -> u64 {
        let mut number = 0_u64;
        let mut add = |part: u64| number = number.wrapping_add(part);
        self.identities.iter().for_each(|identity| add(FxBuildHasher.hash_one(identity)));
        let made_visible = |(of, import): &(FileId, ImportId)| (path(*of), *import);
        self.aliases.iter().for_each(|((space, name), imports)| {
            let imports: Vec<_> = imports.iter().map(made_visible).collect();
            add(FxBuildHasher.hash_one((1, self.identity(*space), name, imports)));
        });
        self.opened.iter().for_each(|(space, imports)| {
            let imports: Vec<_> = imports.iter().map(made_visible).collect();
            add(FxBuildHasher.hash_one((2, self.identity(*space), imports)));
        });
        self.opened_locally.iter().for_each(|((file, scope), imports)| {
            add(FxBuildHasher.hash_one((3, path(*file), scope, imports)));
        });
        self.symbols.iter().for_each(|(space, symbol)| {
            add(FxBuildHasher.hash_one((4, self.identity(*space), path(symbol.file), symbol.symbol)));
        });
        number
    }

    /// The namespaces by what they are called.
    pub(super) fn by_identity(&self) -> FxHashMap<u64, Space> {
        (0_u32..).zip(&self.identities).map(|(space, identity)| (*identity, Space(space))).collect()
    }

    /// The namespace that a path names from another one outwards.
    fn find(&self, program: &Program<'_>, from: Space, path: &str, separator: &str) -> Option<Space> {
        let mut start = Some(from);
        while let Some(space) = start {
            let mut segments = path.split(separator).filter(|segment| !segment.is_empty());
            let found = segments.try_fold(space, |space, segment| {
                program.named(segment).and_then(|name| self.children.get(&(space, name)).copied())
            });
            if found.is_some() {
                return found;
            }
            start = self.parents[space.0 as usize];
        }
        None
    }
}

/// A member that is defined outside of its type's body.
fn is_member_elsewhere(unit: &Unit<'_>, symbol: LocalSymbol) -> bool {
    symbol.get().is_some_and(|symbol| unit.facts.symbols[symbol].owner.is_some())
}

/// Finds the types that nested types belong to where they are defined outside of them. A type may be found only after the one
/// around it, so this goes on until nothing changes.
pub(super) fn nest(tables: &mut Tables) {
    let mut known: Vec<(SymbolRef, SymbolRef)> = Vec::new();
    for _ in 0..8 {
        let found = tables.asking(nested);
        if found == known {
            return;
        }
        for (member, owner) in &known {
            let name = tables.name_of(*member);
            if let Some(members) = tables.extensions.get_mut(owner).and_then(|members| members.get_mut(&name)) {
                members.retain(|other| other != member);
            }
        }
        for (member, owner) in &found {
            let name = tables.name_of(*member);
            tables.extensions.entry(*owner).or_default().entry(name).or_default().push(*member);
            tables.containers.insert(*member, *owner);
        }
        known = found;
    }
}

fn nested(program: &Program<'_>) -> Vec<(SymbolRef, SymbolRef)> {
    let mut resolver = Resolver::new(program, FileId(0));
    let mut found = Vec::new();
    for (file, unit) in program.whole().units() {
        if !unit.language.manifest.resolution.declarations {
            continue;
        }
        resolver.begin(file);
        for (position, symbol) in unit.facts.symbols.iter().enumerate() {
            if symbol.kind.is_type()
                && symbol.owner.is_some()
                && let Some(owner) = resolver.named_type(file, symbol.owner)
            {
                found.push((SymbolRef { file, symbol: LocalSymbol::at(position) }, owner));
            }
        }
    }
    found
}

impl Resolver<'_, '_> {
    /// What a name means in a namespace, or in the outermost one, as a file sees it.
    pub(super) fn seen_in_space(&mut self, file: FileId, scope: ScopeId, name: Name) -> Option<(Entity, Step)> {
        let program = self.program;
        let Some(&space) = program.space_of_scope(file, scope) else {
            let imports = program.spaces().opened_locally.get(&(file, scope))?;
            return imports.iter().find_map(|import| self.through_opened(file, *import, name));
        };
        let found = self.in_space_as_seen(file, space, name);
        if !found.is_empty() {
            let step = if found.iter().any(|symbol| symbol.file == file) { Step::Lexical } else { Step::Wildcard };
            return Some((Entity::Symbols(found), step));
        }
        let (reach, linkage) = (self.reachable(file), program.spaces());
        for (of, import) in linkage.aliases.get(&(space, name)).into_iter().flatten() {
            if reach.contains(*of) {
                return self.used(*of, *import).map(|entity| (entity, Step::Import));
            }
        }
        let opened = linkage.opened.get(&space)?;
        opened.iter().filter(|(of, _)| reach.contains(*of)).find_map(|(of, import)| {
            let entry = &program.known(*of).facts.imports[import.get()?];
            let separator = program.known(*of).language.manifest.modules.separator.as_str();
            let target = linkage.find(program, space, &entry.module, separator).filter(|target| *target != space)?;
            self.visible_in(file, target, name)
        })
    }

    /// Of what a namespace holds, what the file that is answered for sees, if it sees any of it.
    pub(super) fn seen_here(&mut self, found: Symbols) -> Symbols {
        if found.len() < 2 {
            return found;
        }
        let reach = self.reachable(self.home);
        let seen: Symbols = found.iter().copied().filter(|symbol| reach.contains(symbol.file)).collect();
        if seen.is_empty() { found } else { seen }
    }

    /// A name that a namespace opened inside a function makes visible.
    fn through_opened(&mut self, file: FileId, import: ImportId, name: Name) -> Option<(Entity, Step)> {
        let program = self.program;
        let unit = program.known(file);
        let entry = &unit.facts.imports[import.get()?];
        let from = program.space_around(file, unit, entry.scope)?;
        let separator = unit.language.manifest.modules.separator.as_str();
        let target = program.spaces().find(program, from, &entry.module, separator)?;
        self.visible_in(file, target, name)
    }

    fn visible_in(&mut self, file: FileId, space: Space, name: Name) -> Option<(Entity, Step)> {
        let found = self.in_space_as_seen(file, space, name);
        (!found.is_empty()).then_some((Entity::Symbols(found), Step::Wildcard))
    }

    /// Of what a namespace has under a name in all files, what a file sees.
    fn in_space_as_seen(&mut self, file: FileId, space: Space, name: Name) -> Symbols {
        if let Some(known) = self.seen.get(&(file, space, name)) {
            return known.clone();
        }
        let all = self.program.in_space(space, name);
        let found = all.map_or_else(Symbols::new, |all| {
            let reach = self.reachable(file);
            all.iter().copied().filter(|symbol| reach.contains(symbol.file)).collect()
        });
        self.seen.insert((file, space, name), found.clone());
        found
    }

    /// What an import of a name from another scope stands for.
    pub(super) fn used(&mut self, file: FileId, import: ImportId) -> Option<Entity> {
        let program = self.program;
        let unit = program.known(file);
        let entry = &unit.facts.imports[import.get()?];
        let linkage = program.spaces();
        let separator = unit.language.manifest.modules.separator.as_str();
        let from = program.space_around(file, unit, entry.scope)?;
        let space = match entry.module.is_empty() {
            true => linkage.roots.get(super::modules::family(unit.language)).copied(),
            false => linkage.find(program, from, &entry.module, separator),
        };
        if let Some(space) = space {
            if !entry.item.is_some() {
                return linkage.symbols.get(&space).map(|symbol| Entity::Symbols(Symbols::from_slice(&[*symbol])));
            }
            let all = program.in_space(space, unit.name(entry.item));
            return all.map(|symbols| Entity::Symbols(symbols.clone()));
        }
        // The path goes through a type.
        let mut segments = entry.module.split(separator).filter(|segment| !segment.is_empty());
        let first = program.named(segments.next()?)?;
        if self.depth > 16 || (entry.item.is_some() && unit.name(entry.item) == first) {
            return None;
        }
        self.depth += 1;
        let start = self.lookup(file, first, entry.scope, u32::MAX).map(|(entity, _)| entity);
        let mut rest: Vec<Name> = segments.filter_map(|segment| program.named(segment)).collect();
        rest.extend(entry.item.is_some().then(|| unit.name(entry.item)));
        let found =
            rest.into_iter().try_fold(start?, |entity, name| self.below(&entity, name, &mut super::lookup::Visited::default()));
        self.depth -= 1;
        found
    }

    /// A name that nothing included declares: the only definition that any file offers to others under it.
    pub(super) fn linked(&mut self, file: FileId, name: Name, scope: ScopeId) -> Option<Entity> {
        let program = self.program;
        let mut space = program.space_around(file, program.known(file), scope);
        while let Some(current) = space {
            if let Some(only) = self.linked_in(current, name) {
                return Some(Entity::Symbols(Symbols::from_slice(&[only])));
            }
            space = program.spaces().parents[current.0 as usize];
        }
        None
    }

    /// The only definition in a namespace that any file offers to others under a name.
    fn linked_in(&mut self, space: Space, name: Name) -> Option<SymbolRef> {
        if let Some(known) = self.linked.get(&(space, name)) {
            return *known;
        }
        let program = self.program;
        let offered = |symbol: &SymbolRef| {
            let entry = program.symbol(*symbol);
            entry.flags & flags::EXPORTED != 0 && !matches!(entry.kind, SymbolKind::Macro | SymbolKind::Constant)
        };
        let all: Symbols = program.in_space(space, name).into_iter().flatten().copied().filter(offered).collect();
        let found = match self.established(&all)[..] {
            [only] => Some(only),
            _ => None,
        };
        self.linked.insert((space, name), found);
        found
    }

    /// Functions in the namespaces of the arguments' types.
    pub(super) fn by_arguments(&mut self, name: Name, args: &[super::ty::Ty]) -> Symbols {
        let program = self.program;
        let mut found = Symbols::new();
        for arg in args {
            let super::ty::Ty::Instance(symbol, _) = arg else { continue };
            let unit = program.known(symbol.file);
            let Some(space) = program.space_around(symbol.file, unit, program.symbol(*symbol).scope) else { continue };
            for candidate in program.in_space(space, name).into_iter().flatten() {
                if program.symbol(*candidate).kind.is_callable() && !found.contains(candidate) {
                    found.push(*candidate);
                }
            }
        }
        found
    }

    /// The type around a scope, if that is what a name inside it means.
    pub(super) fn own_name(&self, file: FileId, scope: ScopeId, name: Name) -> Option<Symbols> {
        let symbol = SymbolRef { file, symbol: self.program.known(file).scope_symbol(scope) };
        (symbol.symbol.is_some() && self.program.name_of(symbol) == name).then(|| Symbols::from_slice(&[symbol]))
    }

    /// A member of a type or of the types around it, for code that names its type by a path.
    pub(super) fn member_outwards(&mut self, symbol: SymbolRef, name: Name) -> Symbols {
        let mut current = Some(symbol);
        for _ in 0..8 {
            let Some(ty) = current else { break };
            if self.program.name_of(ty) == name {
                return Symbols::from_slice(&[ty]);
            }
            let found = self.type_member(ty, name);
            if !found.is_empty() {
                return found;
            }
            let entry = self.program.symbol(ty);
            let around = match self.program.container(ty) {
                Some(&container) => container,
                None => SymbolRef { file: ty.file, symbol: entry.container },
            };
            let is_type = around.symbol.is_some() && self.program.symbol(around).kind.is_type();
            current = is_type.then_some(around).filter(|around| *around != ty);
        }
        Symbols::new()
    }

    /// Where the text of a macro is put in before anything is called, the macros among the symbols of a name. A function that
    /// the file itself defines is called all the same after its definition, because a macro of that name must have ended
    /// before it; unless the macro is defined still later.
    pub(super) fn put_in(&self, file: FileId, site: &Site, symbols: Symbols) -> Symbols {
        let text = |symbol: &SymbolRef| self.program.symbol(*symbol).signature.starts_with('#');
        if site.kind != SiteKind::Call || symbols.len() < 2 || !symbols.iter().any(text) || symbols.iter().all(text) {
            return symbols;
        }
        let last = |wanted: bool| {
            let before = symbols.iter().filter(|symbol| symbol.file == file && text(symbol) == wanted);
            let starts = before.map(|symbol| self.program.symbol(*symbol)).filter(|entry| entry.flags & flags::DECLARATION == 0);
            starts.map(|entry| entry.extent.start_byte).filter(|&start| !wanted || start < site.byte).max()
        };
        let calls_function = match (last(false), last(true)) {
            (Some(function), Some(text)) => function > text,
            (function, _) => function.is_some(),
        };
        symbols.into_iter().filter(|symbol| text(symbol) != calls_function).collect()
    }

    /// Whether a value of the type is made without a constructor, by converting a value of a builtin type.
    pub(super) fn is_conversion(&self, ty: SymbolRef) -> bool {
        let rules = &self.program.known(ty.file).language.manifest.resolution;
        let kind = self.program.symbol(ty).kind;
        rules.declarations && (!rules.call_constructs || matches!(kind, SymbolKind::TypeAlias | SymbolKind::Enum))
    }
}
