//! Files that are pasted into each other: names outside of types and functions as a file sees them
//! through what it includes.

use crate::model::facts::{ImportId, ScopeId, Site, flags};
use crate::model::graph::{FileId, SymbolRef};
use crate::model::{SiteKind, Step, SymbolKind};
use crate::resolve::types::ty::Entity;
use crate::resolve::units::footprint::Question;
use crate::resolve::units::space::Space;
use crate::resolve::{Name, Resolver, Symbols};

impl Resolver<'_, '_> {
    /// What a name means in a namespace, or in the outermost one, as a file sees it.
    pub(in crate::resolve) fn seen_in_space(
        &mut self,
        file: FileId,
        scope: ScopeId,
        name: Name,
    ) -> Option<(Entity, Step)> {
        let program = self.program;
        let Some(space) = program.space_of_scope(file, scope) else {
            let imports = program.spaces().opened_locally.get(&(file, scope))?;
            return imports.iter().find_map(|import| self.through_opened(file, *import, name));
        };
        let mut found = self.in_space_as_seen(file, space, name);
        found.retain(|symbol| self.is_wanted(*symbol));
        if !found.is_empty() {
            let step = if found.iter().any(|symbol| symbol.file == file) {
                Step::Lexical
            } else {
                Step::Wildcard
            };
            return Some((Entity::Symbols(found), step));
        }
        let (reach, linkage) = (self.reachable(file), program.spaces());
        let alias = Question::space(space, program.text(name));
        for (of, import) in linkage.aliases.get(&alias).into_iter().flatten() {
            if reach.contains(*of) {
                return self.used(*of, *import).map(|entity| (entity, Step::Import));
            }
        }
        let opened = linkage.opened.get(&space)?;
        opened.iter().filter(|(of, _)| reach.contains(*of)).find_map(|(of, import)| {
            let entry = &program.known(*of).facts.imports[import.get()?];
            let separator = program.known(*of).language.manifest.modules.separator.as_str();
            let target =
                linkage.find(space, &entry.module, separator).filter(|target| *target != space)?;
            self.visible_in(file, target, name)
        })
    }

    /// Of what a namespace holds, what the file that is answered for sees, if it sees any of it.
    pub(in crate::resolve) fn seen_here(&mut self, found: Symbols) -> Symbols {
        if found.len() < 2 {
            return found;
        }
        let reach = self.reachable(self.home);
        let seen: Symbols =
            found.iter().copied().filter(|symbol| reach.contains(symbol.file)).collect();
        if seen.is_empty() { found } else { seen }
    }

    /// A name that a namespace opened inside a function makes visible.
    fn through_opened(
        &mut self,
        file: FileId,
        import: ImportId,
        name: Name,
    ) -> Option<(Entity, Step)> {
        let program = self.program;
        let unit = program.known(file);
        let entry = &unit.facts.imports[import.get()?];
        let from = program.space_around(file, unit, entry.scope)?;
        let separator = unit.language.manifest.modules.separator.as_str();
        let target = program.spaces().find(from, &entry.module, separator)?;
        self.visible_in(file, target, name)
    }

    fn visible_in(&mut self, file: FileId, space: Space, name: Name) -> Option<(Entity, Step)> {
        let mut found = self.in_space_as_seen(file, space, name);
        found.retain(|symbol| self.is_wanted(*symbol));
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
            let found: Symbols =
                all.iter().copied().filter(|symbol| reach.contains(symbol.file)).collect();
            self.with_variants(file, found, all)
        });
        self.seen.insert((file, space, name), found.clone());
        found
    }

    /// What an import of a name from another scope stands for.
    pub(in crate::resolve) fn used(&mut self, file: FileId, import: ImportId) -> Option<Entity> {
        let program = self.program;
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
            let all = program.in_space(space, unit.name(entry.item));
            return all.map(|symbols| Entity::Symbols(symbols.clone()));
        }
        // The path goes through a type.
        let mut segments = entry.module.split(separator).filter(|segment| !segment.is_empty());
        let first = program.named(segments.next()?);
        if self.depth > 16 || (entry.item.is_some() && unit.name(entry.item) == first) {
            return None;
        }
        self.depth += 1;
        let start = self.lookup(file, first, entry.scope, u32::MAX).map(|(entity, _)| entity);
        let mut rest: Vec<Name> = segments.map(|segment| program.named(segment)).collect();
        rest.extend(entry.item.is_some().then(|| unit.name(entry.item)));
        let found = rest.into_iter().try_fold(start?, |entity, name| {
            self.below(&entity, name, &mut crate::resolve::names::scopes::Visited::default())
        });
        self.depth -= 1;
        found
    }

    /// A name that nothing included declares: the only definition that a file which may be in the
    /// same program offers to others under it.
    pub(in crate::resolve) fn linked(
        &mut self,
        file: FileId,
        name: Name,
        scope: ScopeId,
    ) -> Option<Entity> {
        let program = self.program;
        let mut space = program.space_around(file, program.known(file), scope);
        while let Some(current) = space {
            if let Some(only) = self.linked_in_program(file, current, name)
                && links_to(program.path(file).as_str(), program.path(only.file).as_str())
            {
                return Some(Entity::Symbols(Symbols::from_slice(&[only])));
            }
            space = program.spaces().parent(current);
        }
        None
    }

    /// The only definition in a namespace that a file may be linked with, beside those that are
    /// never in one program with either.
    fn linked_in_program(&mut self, file: FileId, space: Space, name: Name) -> Option<SymbolRef> {
        let (program, mut all) = (self.program, self.linked_in(space, name));
        all.retain(|symbol| self.is_wanted(*symbol));
        let is_possible = |symbol: &&SymbolRef| !program.exclude_each_other(file, symbol.file);
        let mut possible = all.iter().filter(is_possible);
        let (Some(&only), None) = (possible.next(), possible.next()) else { return None };
        // What all alternatives have may be replaced by what one of them has.
        let is_alone = all
            .iter()
            .all(|other| *other == only || program.exclude_each_other(only.file, other.file));
        (is_alone && !program.are_apart(file, only.file)).then_some(only)
    }

    /// A name that `linked` does not find, where alternatives or other programs define it: these
    /// definitions, with others that would do.
    pub(in crate::resolve) fn linked_apart(
        &mut self,
        file: FileId,
        name: Name,
        scope: ScopeId,
    ) -> Symbols {
        let program = self.program;
        let mut space = program.space_around(file, program.known(file), scope);
        while let Some(current) = space {
            let all = self.linked_in(current, name);
            if all.iter().any(|symbol| program.are_apart(file, symbol.file)) {
                let from = program.path(file).as_str();
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

    /// The definitions in a namespace that files offer to others under a name.
    fn linked_in(&mut self, space: Space, name: Name) -> Symbols {
        if let Some(known) = self.linked.get(&(space, name)) {
            return known.clone();
        }
        let program = self.program;
        let offered = |symbol: &SymbolRef| {
            let entry = program.symbol(*symbol);
            entry.flags & flags::EXPORTED != 0
                && !matches!(entry.kind, SymbolKind::Macro | SymbolKind::Constant)
        };
        let all: Symbols =
            program.in_space(space, name).into_iter().flatten().copied().filter(offered).collect();
        let found = self.established(&all);
        self.linked.insert((space, name), found.clone());
        found
    }

    /// Functions in the namespaces of the arguments' types.
    pub(in crate::resolve) fn by_arguments(
        &mut self,
        name: Name,
        args: &[crate::resolve::types::ty::Ty],
    ) -> Symbols {
        let program = self.program;
        let mut found = Symbols::new();
        for arg in args {
            let crate::resolve::types::ty::Ty::Instance(symbol, _) = arg else { continue };
            let unit = program.known(symbol.file);
            let Some(space) =
                program.space_around(symbol.file, unit, program.symbol(*symbol).scope)
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

    /// The type around a scope, if that is what a name inside it means.
    pub(in crate::resolve) fn own_name(
        &self,
        file: FileId,
        scope: ScopeId,
        name: Name,
    ) -> Option<Symbols> {
        let symbol = SymbolRef { file, symbol: self.program.known(file).scope_symbol(scope) };
        (symbol.symbol.is_some() && self.program.name_of(symbol) == name)
            .then(|| Symbols::from_slice(&[symbol]))
    }

    /// A member of a type or of the types around it, for code that names its type by a path.
    pub(in crate::resolve) fn member_outwards(&mut self, symbol: SymbolRef, name: Name) -> Symbols {
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

    /// Where the text of a macro is put in before anything is called, the macros among the symbols
    /// of a name. A function that the file itself defines is called all the same after its
    /// definition, because a macro of that name must have ended before it; unless the macro is
    /// defined still later.
    pub(in crate::resolve) fn put_in(
        &self,
        file: FileId,
        site: &Site,
        symbols: Symbols,
    ) -> Symbols {
        let text = |symbol: &SymbolRef| self.program.symbol(*symbol).signature.starts_with('#');
        if site.kind != SiteKind::Call
            || symbols.len() < 2
            || !symbols.iter().any(text)
            || symbols.iter().all(text)
        {
            return symbols;
        }
        let last = |wanted: bool| {
            let before =
                symbols.iter().filter(|symbol| symbol.file == file && text(symbol) == wanted);
            let starts = before
                .map(|symbol| self.program.symbol(*symbol))
                .filter(|entry| entry.flags & flags::DECLARATION == 0);
            starts
                .map(|entry| entry.extent.start_byte)
                .filter(|&start| !wanted || start < site.byte)
                .max()
        };
        let calls_function = match (last(false), last(true)) {
            (Some(function), Some(text)) => function > text,
            (function, _) => function.is_some(),
        };
        symbols.into_iter().filter(|symbol| text(symbol) != calls_function).collect()
    }

    /// Whether a value of the type is made without a constructor, by converting a value of a
    /// builtin type.
    pub(in crate::resolve) fn is_conversion(&self, ty: SymbolRef) -> bool {
        let rules = &self.program.known(ty.file).language.manifest.resolution;
        let kind = self.program.symbol(ty).kind;
        rules.declarations
            && (!rules.call_constructs || matches!(kind, SymbolKind::TypeAlias | SymbolKind::Enum))
    }
}

/// Folders of programs of their own: what they hold is linked to nothing outside of them.
const APART: [&str; 16] = [
    "tools",
    "tests",
    "test",
    "testing",
    "selftests",
    "samples",
    "examples",
    "example",
    "scripts",
    "deps",
    "vendor",
    "third_party",
    "thirdparty",
    "external",
    "contrib",
    "benchmarks",
];

/// Whether a file may be linked with what another one defines, as far as their folders show it: not
/// with what is in a folder of a program that it is not part of.
pub(in crate::resolve) fn links_to(from: &str, definition: &str) -> bool {
    let mut start = 0;
    definition.match_indices('/').all(|(slash, _)| {
        let folder = &definition[start..slash];
        start = slash + 1;
        !APART.contains(&folder) || from.starts_with(&definition[..=slash])
    })
}
