//! The program as seen by one resolution: accessors to the tables that record a footprint. Every
//! input of a file's resolution is read through them.

use super::tables::Tables;
use crate::imports::Modules;
use crate::units::footprint::{FileSet, FootprintBuilder, Question};
use crate::units::import_target::{ImportTarget, Module, Visible};
use crate::units::interner::Name;
use crate::units::space::Space;
use crate::units::stack;
use crate::units::symbols::Symbols;
use crate::units::unit::Unit;
use crate::workspace::postings::Definitions;
use cograph_model::RepoPath;
use cograph_model::facts::{
    Binding, BindingId, Clauses, Details, ScopeId, ScopeKind, Symbol, Synthetic,
};
use cograph_model::graph::{FileId, SymbolRef};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

/// View of the tables that records accesses.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    tables: &'a Tables,
    /// All facts of the file being resolved; the tables have only its exported part.
    own: Option<(FileId, Unit<'a>)>,
    /// True if the facts of that file were read: a flag, because it is the most frequent access.
    is_own_read: Cell<bool>,
    /// True if the nesting of namespaces was read: a flag, because every unknown name reads it.
    are_spaces_read: Cell<bool>,
    asked: RefCell<FootprintBuilder>,
}

impl<'a> Program<'a> {
    pub(crate) fn over(tables: &'a Tables) -> Self {
        Self {
            tables,
            own: None,
            is_own_read: Cell::default(),
            are_spaces_read: Cell::default(),
            asked: RefCell::default(),
        }
    }

    /// Creates a view for the resolution of one file.
    pub(crate) fn for_file(tables: &'a Tables, file: FileId, unit: Unit<'a>) -> Self {
        let program = Self { own: Some((file, unit)), ..Self::over(tables) };
        // With textual includes there is a question for nearly every name.
        program.asked.borrow_mut().questions.reserve(unit.table.names.len());
        program
    }

    /// Returns the recorded footprint.
    pub(crate) fn into_footprint(self) -> FootprintBuilder {
        let mut asked = self.asked.into_inner();
        if let Some((own, _)) = self.own.filter(|_| self.is_own_read.get()) {
            asked.facts.insert(own);
        }
        if self.are_spaces_read.get() {
            asked.ask(Question::SPACES);
        }
        asked
    }

    fn ask(&self, question: Question) {
        self.asked.borrow_mut().ask(question);
    }

    pub(crate) fn path(&self, file: FileId) -> &'a RepoPath {
        self.tables.files.path(file)
    }

    /// Returns the unit of a file. Recursions over types and names come by here: the stack is
    /// checked.
    pub(crate) fn unit(&self, file: FileId) -> Option<Unit<'a>> {
        stack::check();
        match self.own {
            Some((own, unit)) if own == file => {
                self.is_own_read.set(true);
                Some(unit)
            }
            _ => {
                self.asked.borrow_mut().facts.insert(file);
                self.tables.files.unit(file)
            }
        }
    }

    /// Returns the unit of a file with facts: one that contains a known symbol, scope or
    /// expression.
    pub(crate) fn known(&self, file: FileId) -> Unit<'a> {
        self.unit(file).expect("ids come from files with facts")
    }

    pub(crate) fn symbol(&self, symbol: SymbolRef) -> &'a Symbol {
        let position = symbol.symbol.get().expect("a SymbolRef always names a symbol");
        &self.known(symbol.file).facts.symbols[position]
    }

    /// Returns decorators, bases, type parameters and owner of a symbol.
    pub(crate) fn clauses(&self, symbol: SymbolRef) -> &'a Clauses {
        self.known(symbol.file).facts.clauses_of(self.symbol(symbol))
    }

    /// Returns the details of a symbol of the file being resolved.
    pub(crate) fn own_details(&self, symbol: SymbolRef) -> Option<&'a Details> {
        self.known(symbol.file).facts.details.get(symbol.symbol.get()?)
    }

    pub(crate) fn name_of(&self, symbol: SymbolRef) -> Name {
        self.known(symbol.file).name(self.symbol(symbol).name)
    }

    pub(crate) fn text(&self, name: Name) -> &'a str {
        self.tables.files.names.text(name)
    }

    /// Interns a text, which need not occur in any file.
    pub(crate) fn named(&self, text: &str) -> Name {
        self.tables.files.names.number(text)
    }

    /// Interns the name of what has none in the source.
    pub(crate) fn synthetic(&self, name: Synthetic) -> Name {
        self.named(name.text())
    }

    /// Returns the bindings of a name in a scope of a file, in order of appearance.
    pub(crate) fn bound(
        &self,
        file: FileId,
        unit: Unit<'a>,
        scope: ScopeId,
        name: Name,
    ) -> &'a [BindingId] {
        if self.own.is_none_or(|(own, _)| own != file) && scope == ScopeId(0) {
            self.ask(Question::bound(self.text(name)));
        }
        unit.bound(scope, name)
    }

    /// Returns the same bindings with their data.
    pub(crate) fn bindings(
        &self,
        file: FileId,
        unit: Unit<'a>,
        scope: ScopeId,
        name: Name,
    ) -> impl Iterator<Item = (BindingId, &'a Binding)> + use<'a> {
        self.bound(file, unit, scope, name).iter().map(move |&id| (id, unit.binding(id)))
    }

    /// Returns the members of a type that are defined outside of its body.
    pub(crate) fn extensions(&self, ty: SymbolRef) -> Option<&'a FxHashMap<Name, Symbols>> {
        self.asked.borrow_mut().given.insert(ty.file);
        self.tables.derived.extensions.get(&ty)
    }

    /// Returns the type of a member defined outside of its type's body.
    pub(crate) fn container(&self, member: SymbolRef) -> Option<&'a SymbolRef> {
        self.asked.borrow_mut().given.insert(member.file);
        self.tables.derived.containers.get(&member)
    }

    /// Returns what a symbol belongs to, by its own file or another; no symbol at the top level.
    pub(crate) fn container_or_own(&self, member: SymbolRef) -> SymbolRef {
        let own = || SymbolRef { file: member.file, symbol: self.symbol(member).container };
        self.container(member).copied().unwrap_or_else(own)
    }

    /// Returns the interfaces that a type implements outside of its header.
    pub(crate) fn implemented(&self, ty: SymbolRef) -> Option<&'a Symbols> {
        self.asked.borrow_mut().given.insert(ty.file);
        self.tables.derived.implemented.get(&ty)
    }

    /// Returns the external interfaces that a type implements outside of its header, by name.
    pub(crate) fn implemented_outside(&self, ty: SymbolRef) -> Option<&'a Vec<Box<str>>> {
        self.asked.borrow_mut().given.insert(ty.file);
        self.tables.derived.implemented_outside.get(&ty)
    }

    /// Returns the extension members of an external type.
    pub(crate) fn external_extensions(&self, ty: &str) -> Option<&'a FxHashMap<Name, Symbols>> {
        self.ask(Question::external_extensions(ty));
        self.tables.derived.external_extensions.get(ty)
    }

    /// Returns the structural interfaces with this name as the first of their methods.
    pub(crate) fn interfaces(&self, name: Name) -> Option<&'a Vec<SymbolRef>> {
        self.ask(Question::interfaces(self.text(name)));
        self.tables.derived.interfaces.get(&name)
    }

    /// Returns every field with a name, where types are not declared apart from their definitions.
    pub(crate) fn fields(&self, name: Name) -> Option<&'a [SymbolRef]> {
        self.ask_list(Question::fields(self.text(name)))
    }

    /// Returns every callable member with a name.
    pub(crate) fn members(&self, name: Name) -> Option<&'a [SymbolRef]> {
        self.ask_list(Question::members(self.text(name)))
    }

    /// Returns every callable and top-level type with a name, in languages where a name alone makes
    /// candidates.
    pub(crate) fn named_alone(&self, name: Name) -> Option<&'a [SymbolRef]> {
        self.ask_list(Question::alone(self.text(name)))
    }

    /// Returns the types with a base of a name, in languages in which a type may be opened again.
    pub(crate) fn derived(&self, name: Name) -> Option<&'a [SymbolRef]> {
        self.ask_list(Question::derived(self.text(name)))
    }

    /// Returns every macro with a name.
    pub(crate) fn macros(&self, name: Name) -> Option<&'a [SymbolRef]> {
        self.ask_list(Question::macros(self.text(name)))
    }

    fn ask_list(&self, list: Question) -> Option<&'a [SymbolRef]> {
        self.ask(list);
        self.tables.posting_list(list)
    }

    /// Records a search for a file by the last segment of a path.
    pub(crate) fn record_included(&self, path: &str) {
        self.ask(Question::included(path.rsplit('/').next().unwrap_or(path)));
    }

    fn linked(&self, file: FileId) -> &'a Modules {
        self.asked.borrow_mut().links.insert(file);
        &self.tables.modules
    }

    /// Returns the target of an import.
    pub(crate) fn import_target(&self, file: FileId, import: usize) -> &'a ImportTarget {
        &self.import_targets(file)[import]
    }

    /// Returns the targets of all imports of a file.
    pub(crate) fn import_targets(&self, file: FileId) -> &'a [ImportTarget] {
        self.asked.borrow_mut().links.insert(file);
        self.tables.import_targets(file)
    }

    /// Returns the imports that a file sees as one of its project.
    pub(crate) fn shared_imports(&self, file: FileId) -> &'a Visible {
        self.linked(file).shared(file)
    }

    /// Returns the file that an import leads to or through.
    pub(crate) fn import_file(&self, file: FileId, import: usize) -> Option<FileId> {
        self.import_target(file, import).file()
    }

    /// Returns the package of a file.
    pub(crate) fn package_of(&self, file: FileId) -> Option<u32> {
        self.linked(file).package_of(file)
    }

    /// Returns the package of a definition, of which a file may declare several.
    pub(crate) fn package_of_symbol(&self, symbol: SymbolRef) -> Option<u32> {
        let own = self.unit(symbol.file).filter(|unit| !unit.spaces.packages.is_empty());
        let Some(unit) = own else { return self.package_of(symbol.file) };
        let scope = unit.symbol(symbol.symbol).scope;
        match self.declared_package(symbol.file, unit.spaces.package_around(unit.facts, scope)?)? {
            Module::Package(package) => Some(package),
            _ => None,
        }
    }

    /// Returns the root file of the crate of a file.
    pub(crate) fn crate_root(&self, file: FileId) -> FileId {
        self.linked(file).crate_root(file)
    }

    /// Returns the file and scope that declare a file as a child module.
    pub(crate) fn crate_parent(&self, file: FileId) -> Option<(FileId, ScopeId)> {
        self.linked(file).crate_parent(file)
    }

    pub(crate) fn package_files(&self, package: u32) -> &'a Vec<FileId> {
        let package = self.tables.modules.package(package);
        self.ask(Question::package(package.identity));
        &package.files
    }

    /// Returns the top-level bindings of a name in the files of a package, in order.
    pub(crate) fn package_member(&self, package: u32, name: Name) -> Option<&'a [SymbolRef]> {
        let identity = self.tables.modules.package(package).identity;
        self.ask_list(Question::member_of_package(identity, self.text(name)))
    }

    /// Returns the root file of the library that a file refers to by a name.
    pub(crate) fn library(&self, file: FileId, name: &str) -> Option<FileId> {
        self.linked(file).library(file, name)
    }

    /// Returns the package, or the prefix of a package's name, that a single word refers to in a
    /// file.
    pub(crate) fn declared_package(&self, file: FileId, word: &str) -> Option<Module> {
        let language = self.unit(file)?.language;
        if !language.manifest.modules.declares_packages() {
            return None;
        }
        self.ask(Question::declared(word));
        self.tables.modules.declared_package(language, word)
    }

    /// True if the package of a file declares an external dependency of this name.
    pub(crate) fn depends_on(&self, file: FileId, name: &str) -> bool {
        self.linked(file).depends_on(file, name)
    }

    /// Returns the child module of this name, in systems where directories nest modules.
    pub(crate) fn child_module(&self, module: Module, name: Name) -> Option<Module> {
        self.ask(Question::child(self.text(name)));
        self.tables.modules.child(&self.tables.files, module, self.text(name))
    }

    /// True if no program is known to contain both files.
    pub(crate) fn are_separate(&self, from: FileId, definition: FileId) -> bool {
        self.ask(Question::ALTERNATIVES);
        let alternatives = self.tables.modules.alternatives();
        alternatives.are_separate(self.path(from).as_str(), self.path(definition).as_str())
    }

    /// True if no program contains both files.
    pub(crate) fn exclude_each_other(&self, one: FileId, other: FileId) -> bool {
        self.ask(Question::ALTERNATIVES);
        let alternatives = self.tables.modules.alternatives();
        alternatives.exclude_each_other(self.path(one).as_str(), self.path(other).as_str())
    }

    /// True if the build of `from` does not compile the file of a definition.
    pub(crate) fn is_left_out(&self, from: FileId, definition: FileId) -> bool {
        self.ask(Question::BUILDS);
        let builds = self.tables.modules.builds();
        builds.leaves_out(self.path(from).as_str(), self.path(definition).as_str())
    }

    /// True if the build says which include directories a file is compiled with.
    pub(crate) fn has_include_directories(&self, file: FileId) -> bool {
        self.ask(Question::BUILDS);
        self.tables.modules.builds().has_directories(self.path(file).as_str())
    }

    /// Returns whether a condition in a file holds, if the build decides it.
    pub(crate) fn holds(&self, file: FileId, condition: &str) -> Option<bool> {
        self.ask(Question::BUILDS);
        self.tables.modules.builds().holds(self.path(file).as_str(), condition)
    }

    /// True if a module can have child modules in directories.
    pub(crate) fn has_folder(&self, module: Module) -> bool {
        self.tables.modules.has_children(&self.tables.files, module)
    }

    /// Returns the file at a path, with or without facts.
    pub(crate) fn stated_file(&self, path: &RepoPath) -> Option<FileId> {
        self.ask(Question::stated(path.as_str()));
        self.tables.files.at(path)
    }

    /// Records a search of the top levels of files for a name.
    pub(crate) fn record_bound(&self, name: Name) {
        self.ask(Question::bound(self.text(name)));
    }

    /// Returns the files whose types a file may know by imports; see [`Tables::next_to`].
    pub(crate) fn reached_from(&self, file: FileId) -> FileSet {
        self.asked.borrow_mut().reach.insert(file);
        self.tables.reach.from(file, &|next| self.tables.next_to(next))
    }

    pub(crate) fn space_of_scope(&self, file: FileId, scope: ScopeId) -> Option<Space> {
        let unit = self.unit(file)?;
        // Blocks and types are no namespaces: the check is cheaper than the lookup.
        let may_be = match unit.scope_kind(scope) {
            ScopeKind::File | ScopeKind::Module => true,
            kind => kind == ScopeKind::Type && unit.language.manifest.resolution.open_types,
        };
        may_be.then(|| unit.spaces.of_scope(scope)).flatten()
    }

    pub(crate) fn space_of_symbol(&self, symbol: SymbolRef) -> Option<Space> {
        self.unit(symbol.file)?.spaces.of_symbol(symbol.symbol)
    }

    /// Returns the innermost namespace around a scope.
    pub(crate) fn space_around(
        &self,
        file: FileId,
        unit: Unit<'_>,
        scope: ScopeId,
    ) -> Option<Space> {
        self.asked.borrow_mut().facts.insert(file);
        unit.spaces.around(unit.facts, scope)
    }

    /// Returns the members of a namespace with a name, in all files.
    pub(crate) fn in_space(&self, space: Space, name: Name) -> Option<&'a [SymbolRef]> {
        self.ask_list(Question::space(space, self.text(name)))
    }

    /// Returns the same only if some of them are declarations.
    pub(crate) fn with_declarations(&self, space: Space, name: Name) -> Option<&'a [SymbolRef]> {
        let list = Question::space(space, self.text(name));
        self.ask(list);
        self.tables.postings.with_declarations(list, &|key| self.tables.files.position(key))
    }

    /// Returns the definitions among them.
    pub(crate) fn definitions_in(&self, space: Space, name: Name) -> Definitions {
        let list = Question::space(space, self.text(name));
        self.ask(list);
        self.tables.postings.definitions(list, &|key| self.tables.files.position(key), |symbol| {
            self.tables.posting_flags(symbol)
        })
    }

    /// Returns the declarations that open the type of a namespace, in all files.
    pub(crate) fn openings(&self, space: Space) -> Option<&'a [SymbolRef]> {
        self.ask_list(Question::opened(space))
    }

    /// True if a type has a namespace in the path before its name.
    pub(crate) fn is_implied(&self, space: Space) -> bool {
        self.ask_list(Question::implied(space)).is_some()
    }

    /// Returns all members of a namespace with a name, in all files.
    pub(crate) fn space_members(&self, namespace: SymbolRef, name: Name) -> Symbols {
        let space = self.space_of_symbol(namespace);
        space
            .and_then(|space| self.in_space(space, name))
            .map(Symbols::from_slice)
            .unwrap_or_default()
    }

    /// Returns the nesting of namespaces and the imports between them. For names in a namespace,
    /// see `in_space`.
    pub(crate) fn spaces(&self) -> &'a crate::units::spaces::Linkage {
        self.are_spaces_read.set(true);
        &self.tables.linkage
    }
}

impl Tables {
    /// Runs a computation and returns its result with its footprint.
    pub(crate) fn recorded<T>(
        &self,
        make: impl FnOnce(&Program<'_>) -> T,
    ) -> (T, FootprintBuilder) {
        let program = Program::over(self);
        let made = make(&program);
        (made, program.into_footprint())
    }
}
