//! Namespaces of languages with textual includes: the namespace of each scope, their nesting, and
//! using-directives.

use crate::units::footprint::Question;
use crate::units::space::Space;
use cograph_grammar::Language;
use cograph_model::facts::{
    BindingKind, Expr, ExprId, FileFacts, ImportId, ImportKind, LocalSymbol, NameId, ScopeId,
    ScopeKind, flags,
};
use cograph_model::graph::{FileId, FileKey, SymbolRef};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// Namespaces of the scopes of a file.
#[derive(Default, Debug)]
pub(crate) struct Spaces {
    /// File and namespace scopes in order, each with its symbol.
    pub(crate) scopes: Vec<(ScopeId, Space, LocalSymbol)>,
    /// Namespaces by the symbol that opens them: the last one.
    by_symbol: FxHashMap<LocalSymbol, Space>,
    /// Namespaces that are parts of a path before the name of a type, by that type: nothing has to
    /// declare them.
    pub(crate) implied: Vec<(Space, LocalSymbol)>,
    /// Further packages that the file declares, by their scopes in order.
    pub(crate) packages: Vec<(ScopeId, Box<str>)>,
}

impl Spaces {
    /// Computes the namespaces of a file.
    pub(crate) fn of(facts: &FileFacts, language: &Language) -> Self {
        let mut spaces = Self::default();
        if !language.manifest.modules.pastes_files() {
            spaces.packages = further_packages(facts, language);
            return spaces;
        }
        let root = Space::root(language);
        for (position, scope) in facts.scopes.iter().enumerate() {
            let id = ScopeId::at(position);
            match (scope.kind, scope.symbol.get()) {
                (ScopeKind::File, _) => spaces.scopes.push((id, root, LocalSymbol::NONE)),
                (ScopeKind::Module, Some(symbol)) => {
                    let parent = spaces.around(facts, scope.parent).unwrap_or(root);
                    spaces.scopes.push((
                        id,
                        parent.below(text(facts, facts.symbols[symbol].name)),
                        scope.symbol,
                    ));
                }
                (ScopeKind::Type, Some(symbol)) if language.manifest.resolution.open_types => {
                    let symbol = &facts.symbols[symbol];
                    let around = spaces.around(facts, scope.parent).unwrap_or(root);
                    let mut parts = Vec::new();
                    let parent =
                        below_path(facts, around, facts.clauses_of(symbol).owner, &mut parts);
                    spaces.implied.extend(parts.into_iter().map(|part| (part, scope.symbol)));
                    let space = parent.below(text(facts, symbol.name));
                    spaces.scopes.push((id, space, scope.symbol));
                }
                _ => {}
            }
        }
        let opened = spaces.scopes.iter().filter(|(.., symbol)| symbol.is_some());
        spaces.by_symbol = opened.map(|(_, space, symbol)| (*symbol, *space)).collect();
        spaces
    }

    /// Returns the namespace of a scope.
    pub(crate) fn of_scope(&self, scope: ScopeId) -> Option<Space> {
        let place = self.scopes.binary_search_by_key(&scope, |(scope, ..)| *scope).ok()?;
        Some(self.scopes[place].1)
    }

    /// Returns the namespace that a symbol opens.
    pub(crate) fn of_symbol(&self, symbol: LocalSymbol) -> Option<Space> {
        self.by_symbol.get(&symbol).copied()
    }

    /// Returns the name of the package that a scope is, apart from the first of the file.
    pub(crate) fn package_at(&self, scope: ScopeId) -> Option<&str> {
        let place = self.packages.binary_search_by_key(&scope, |(scope, _)| *scope).ok()?;
        Some(&self.packages[place].1)
    }

    /// Returns the name of the innermost package around a scope.
    pub(crate) fn package_around<'f>(
        &'f self,
        facts: &'f FileFacts,
        mut scope: ScopeId,
    ) -> Option<&'f str> {
        while let Some(position) = scope.get().filter(|_| !self.packages.is_empty()) {
            if let Some(package) = self.package_at(scope) {
                return Some(package);
            }
            scope = facts.scopes[position].parent;
        }
        facts.package.as_deref()
    }

    /// Returns the innermost namespace around a scope.
    pub(crate) fn around(&self, facts: &FileFacts, mut scope: ScopeId) -> Option<Space> {
        while let Some(position) = scope.get() {
            if let Some(space) = self.of_scope(scope) {
                return Some(space);
            }
            scope = facts.scopes[position].parent;
        }
        None
    }
}

/// Returns the packages of a file after its first one.
fn further_packages(facts: &FileFacts, language: &Language) -> Vec<(ScopeId, Box<str>)> {
    let rules = &language.manifest.modules;
    let mut found: Vec<(ScopeId, Box<str>)> = Vec::new();
    if !rules.declares_packages() {
        return found;
    }
    for (position, scope) in facts.scopes.iter().enumerate() {
        if scope.kind != ScopeKind::Module {
            continue;
        }
        let Some(symbol) = scope.symbol.get() else { continue };
        let own = text(facts, facts.symbols[symbol].name);
        let around = found.iter().find(|(outer, _)| *outer == scope.parent);
        let whole = match around {
            Some((_, outer)) => format!("{outer}{}{own}", rules.separator).into(),
            None => own.into(),
        };
        found.push((ScopeId::at(position), whole));
    }
    found
}

/// Returns the namespace that a path before the name of a type leads to (`class A::B`), and adds it
/// and those on the way.
fn below_path(facts: &FileFacts, around: Space, path: ExprId, parts: &mut Vec<Space>) -> Space {
    let found = match path.get().map(|position| facts.exprs[position]) {
        Some(Expr::Name(name, _)) => around.below(text(facts, name)),
        Some(Expr::Member(object, name)) => {
            below_path(facts, around, object, parts).below(text(facts, name))
        }
        _ => return around,
    };
    parts.push(found);
    found
}

/// Text of a name in a file with names of its own.
fn text(facts: &FileFacts, name: NameId) -> &str {
    name.get().map_or("", |position| &facts.names[position])
}

/// Namespace declarations of a file: nesting and imported names. Most files of C have none.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Nesting {
    /// Namespaces, each with its parent and its symbol.
    pub(crate) spaces: Vec<(Space, Space, LocalSymbol)>,
    /// Namespaces that a macro opens: what is inside of them is in the one around.
    pub(crate) by_macro: Vec<Space>,
    /// Names imported into a namespace, under the same or another name.
    pub(crate) aliases: Vec<(Question, ImportId)>,
    /// Imports of all names of a namespace into another one (using-directives).
    pub(crate) opened: Vec<(Space, ImportId)>,
    /// The same inside of functions and types.
    pub(crate) opened_locally: Vec<(ScopeId, ImportId)>,
}

impl Nesting {
    /// Collects them from a file; `None` if there are none.
    pub(crate) fn of(facts: &FileFacts, language: &Language, spaces: &Spaces) -> Option<Self> {
        if !language.manifest.modules.pastes_files() {
            return None;
        }
        let mut nesting = Self::default();
        for (scope, space, symbol) in &spaces.scopes {
            // Types have no imports: only the files that open one have to know of it.
            let is_type = |scope: usize| facts.scopes[scope].kind == ScopeKind::Type;
            if symbol.is_some() && !scope.get().is_some_and(is_type) {
                let parent =
                    scope.get().and_then(|scope| spaces.around(facts, facts.scopes[scope].parent));
                nesting.spaces.push((*space, parent.unwrap_or(Space::root(language)), *symbol));
                let is_opened = |symbol: usize| facts.symbols[symbol].flags & flags::BY_MACRO != 0;
                nesting.by_macro.extend(symbol.get().is_some_and(is_opened).then_some(*space));
            }
        }
        for binding in facts.bindings.iter().filter(|binding| binding.kind == BindingKind::Import) {
            if let Some(space) = spaces.of_scope(binding.scope) {
                nesting
                    .aliases
                    .push((Question::space(space, text(facts, binding.name)), binding.import()));
            }
        }
        for (position, import) in facts
            .imports
            .iter()
            .enumerate()
            .filter(|(_, import)| import.kind == ImportKind::Wildcard)
        {
            let id = ImportId::at(position);
            match spaces.of_scope(import.scope) {
                Some(space) => nesting.opened.push((space, id)),
                None => nesting.opened_locally.push((import.scope, id)),
            }
        }
        (nesting != Self::default()).then_some(nesting)
    }
}

/// Namespace declarations of all files.
#[derive(Debug, Default)]
pub(crate) struct Linkage {
    /// Parent of each namespace, and the first symbol that opens it.
    pub(crate) spaces: FxHashMap<Space, (Space, SymbolRef)>,
    /// Namespaces that a macro opens.
    pub(crate) by_macro: FxHashSet<Space>,
    pub(crate) aliases: FxHashMap<Question, Vec<(FileId, ImportId)>>,
    pub(crate) opened: FxHashMap<Space, Vec<(FileId, ImportId)>>,
    pub(crate) opened_locally: FxHashMap<(FileId, ScopeId), Vec<ImportId>>,
}

impl Linkage {
    /// Merges the declarations of files, in their order.
    pub(crate) fn new<'n>(files: impl Iterator<Item = (FileId, &'n Nesting)>) -> Self {
        let mut linkage = Self::default();
        for (file, nesting) in files {
            for (space, parent, symbol) in &nesting.spaces {
                linkage
                    .spaces
                    .entry(*space)
                    .or_insert((*parent, SymbolRef { file, symbol: *symbol }));
            }
            linkage.by_macro.extend(&nesting.by_macro);
            for (name, import) in &nesting.aliases {
                linkage.aliases.entry(*name).or_default().push((file, *import));
            }
            for (space, import) in &nesting.opened {
                linkage.opened.entry(*space).or_default().push((file, *import));
            }
            for (scope, import) in &nesting.opened_locally {
                linkage.opened_locally.entry((file, *scope)).or_default().push(*import);
            }
        }
        linkage
    }

    /// Returns the parent of a namespace.
    pub(crate) fn parent(&self, space: Space) -> Option<Space> {
        self.spaces.get(&space).map(|(parent, _)| *parent)
    }

    /// Returns a namespace and, if a macro opens it, those around it: what a file puts between the
    /// macros that open and close it is in the outer one.
    pub(crate) fn with_outer(&self, space: Space) -> impl Iterator<Item = Space> {
        std::iter::successors(Some(space), |current| {
            self.by_macro.contains(current).then(|| self.parent(*current)).flatten()
        })
    }

    /// Returns the namespaces directly inside of one that macros open, in order.
    pub(crate) fn opened_inside(&self, space: Space) -> Vec<Space> {
        let is_inside = |inner: &&Space| self.parent(**inner) == Some(space);
        let mut inner: Vec<Space> = self.by_macro.iter().filter(is_inside).copied().collect();
        inner.sort_unstable();
        inner
    }

    /// Fingerprint of the nesting of namespaces and of imports between them. `key` returns the key
    /// of a file.
    pub(crate) fn nesting(&self, key: &impl Fn(FileId) -> FileKey) -> u64 {
        let mut number = 0_u64;
        let mut add = |part: u64| number = number.wrapping_add(part);
        let keyed = |imports: &[(FileId, ImportId)]| {
            imports.iter().map(|(of, import)| (key(*of), *import)).collect::<Vec<_>>()
        };
        self.aliases
            .iter()
            .for_each(|(name, imports)| add(FxBuildHasher.hash_one((1, name, keyed(imports)))));
        self.opened
            .iter()
            .for_each(|(space, imports)| add(FxBuildHasher.hash_one((2, space, keyed(imports)))));
        self.opened_locally.iter().for_each(|((file, scope), imports)| {
            add(FxBuildHasher.hash_one((3, key(*file), scope, imports)));
        });
        self.spaces.iter().for_each(|(space, (parent, symbol))| {
            add(FxBuildHasher.hash_one((4, space, parent, key(symbol.file), symbol.symbol)));
        });
        self.by_macro.iter().for_each(|space| add(FxBuildHasher.hash_one((5, space))));
        number
    }

    /// Resolves a path to a namespace, from a namespace outwards.
    pub(crate) fn find(&self, from: Space, path: &str, separator: &str) -> Option<Space> {
        let mut start = Some(from);
        while let Some(space) = start {
            let mut segments = path.split(separator).filter(|segment| !segment.is_empty());
            let found = segments.try_fold(space, |space, segment| {
                Some(space.below(segment)).filter(|below| self.spaces.contains_key(below))
            });
            if found.is_some() {
                return found;
            }
            start = self.parent(space);
        }
        None
    }
}
