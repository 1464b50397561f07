//! The program as one resolution sees it: the tables through accessors that write down what was
//! asked. Everything that the result of a file may depend on goes through here.

use super::tables::Tables;
use crate::grammar::ModuleSystem;
use crate::model::RepoPath;
use crate::model::facts::{Binding, BindingId, ScopeId, ScopeKind, Symbol};
use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::units::footprint::{Asking, FileSet, Question};
use crate::resolve::units::space::Space;
use crate::resolve::units::unit::Unit;
use crate::resolve::{Name, Symbols};
use crate::resolve::{
    imports::Modules,
    units::import_target::{ImportTarget, Module},
};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

/// A view of the tables that remembers what it was asked.
#[derive(Debug)]
pub(in crate::resolve) struct Program<'a> {
    tables: &'a Tables,
    /// All of a file of which the tables have only what others look at.
    own: Option<(FileId, Unit<'a>)>,
    /// Whether the facts of that file were looked at, which happens all the time.
    own_asked: Cell<bool>,
    /// Whether it was asked how namespaces lie in each other, which every name that is not known
    /// asks.
    spaces_asked: Cell<bool>,
    asked: RefCell<Asking>,
}

impl<'a> Program<'a> {
    pub(in crate::resolve) fn over(tables: &'a Tables) -> Self {
        Self {
            tables,
            own: None,
            own_asked: Cell::default(),
            spaces_asked: Cell::default(),
            asked: RefCell::default(),
        }
    }

    /// A view for the resolution of one file.
    pub(in crate::resolve) fn for_file(tables: &'a Tables, file: FileId, unit: Unit<'a>) -> Self {
        let program = Self { own: Some((file, unit)), ..Self::over(tables) };
        // In languages that paste files into each other there is a question about nearly every
        // name.
        program.asked.borrow_mut().questions.reserve(unit.table.names.len());
        program
    }

    /// What was asked.
    pub(in crate::resolve) fn into_asking(self) -> Asking {
        let mut asked = self.asked.into_inner();
        if let Some((own, _)) = self.own.filter(|_| self.own_asked.get()) {
            asked.facts.insert(own);
        }
        if self.spaces_asked.get() {
            asked.ask(Question::SPACES);
        }
        asked
    }

    /// The tables themselves, for what is made from all files at once and made again when any
    /// changes.
    pub(in crate::resolve) fn whole(&self) -> &'a Tables {
        self.tables
    }

    fn ask(&self, question: Question) {
        self.asked.borrow_mut().ask(question);
    }

    pub(in crate::resolve) fn path(&self, file: FileId) -> &'a RepoPath {
        &self.tables.files[file.0 as usize].path
    }

    pub(in crate::resolve) fn unit(&self, file: FileId) -> Option<Unit<'a>> {
        match self.own {
            Some((own, unit)) if own == file => {
                self.own_asked.set(true);
                Some(unit)
            }
            _ => {
                self.asked.borrow_mut().facts.insert(file);
                self.tables.unit(file)
            }
        }
    }

    /// The unit of a file that is known to have facts: one that a symbol, scope or expression was
    /// found in.
    pub(in crate::resolve) fn known(&self, file: FileId) -> Unit<'a> {
        self.unit(file).expect("ids come from files with facts")
    }

    pub(in crate::resolve) fn symbol(&self, symbol: SymbolRef) -> &'a Symbol {
        let position = symbol.symbol.get().expect("a SymbolRef always names a symbol");
        &self.known(symbol.file).facts.symbols[position]
    }

    pub(in crate::resolve) fn name_of(&self, symbol: SymbolRef) -> Name {
        self.known(symbol.file).name(self.symbol(symbol).name)
    }

    pub(in crate::resolve) fn text(&self, name: Name) -> &'a str {
        self.tables.names.text(name)
    }

    /// The name with this text, which no file may have.
    pub(in crate::resolve) fn named(&self, text: &str) -> Name {
        self.tables.names.number(text)
    }

    /// What a scope of a file binds to a name, in order of appearance.
    pub(in crate::resolve) fn bound(
        &self,
        file: FileId,
        unit: Unit<'a>,
        scope: ScopeId,
        name: Name,
    ) -> &'a [(Name, BindingId)] {
        if self.own.is_none_or(|(own, _)| own != file) && scope == ScopeId(0) {
            self.ask(Question::bound(self.text(name)));
        }
        unit.bound(scope, name)
    }

    /// The same, with what they are.
    pub(in crate::resolve) fn bindings(
        &self,
        file: FileId,
        unit: Unit<'a>,
        scope: ScopeId,
        name: Name,
    ) -> impl Iterator<Item = (BindingId, &'a Binding)> + use<'a> {
        self.bound(file, unit, scope, name).iter().map(move |&(_, id)| (id, unit.binding(id)))
    }

    /// Members of a type that are defined outside of its body.
    pub(in crate::resolve) fn extensions(
        &self,
        ty: SymbolRef,
    ) -> Option<&'a FxHashMap<Name, Symbols>> {
        self.asked.borrow_mut().given.insert(ty.file);
        self.tables.derived.extensions.get(&ty)
    }

    /// The type of a member that is defined outside of its type's body.
    pub(in crate::resolve) fn container(&self, member: SymbolRef) -> Option<&'a SymbolRef> {
        self.asked.borrow_mut().given.insert(member.file);
        self.tables.derived.containers.get(&member)
    }

    /// Interfaces that a type implements outside of its header.
    pub(in crate::resolve) fn implemented(&self, ty: SymbolRef) -> Option<&'a Symbols> {
        self.asked.borrow_mut().given.insert(ty.file);
        self.tables.derived.implemented.get(&ty)
    }

    /// The same for interfaces from outside, by name.
    pub(in crate::resolve) fn implemented_outside(
        &self,
        ty: SymbolRef,
    ) -> Option<&'a Vec<Box<str>>> {
        self.asked.borrow_mut().given.insert(ty.file);
        self.tables.derived.implemented_outside.get(&ty)
    }

    /// Members that a type from outside gains here.
    pub(in crate::resolve) fn gained(&self, ty: &str) -> Option<&'a FxHashMap<Name, Symbols>> {
        self.ask(Question::gained(ty));
        self.tables.derived.gained.get(ty)
    }

    /// Interfaces that are satisfied by having their methods, by the name of the first of these.
    pub(in crate::resolve) fn interfaces(&self, name: Name) -> Option<&'a Vec<SymbolRef>> {
        self.ask(Question::interfaces(self.text(name)));
        self.tables.derived.interfaces.get(&name)
    }

    /// Every member of a name.
    pub(in crate::resolve) fn members(&self, name: Name) -> Option<&'a Symbols> {
        self.ask_list(Question::members(self.text(name)))
    }

    /// Every callable and type outside of types of a name, in languages where a name alone makes
    /// candidates.
    pub(in crate::resolve) fn named_alone(&self, name: Name) -> Option<&'a Symbols> {
        self.ask_list(Question::alone(self.text(name)))
    }

    /// Every macro of a name.
    pub(in crate::resolve) fn macros(&self, name: Name) -> Option<&'a Symbols> {
        self.ask_list(Question::macros(self.text(name)))
    }

    fn ask_list(&self, list: Question) -> Option<&'a Symbols> {
        self.ask(list);
        self.tables.posting_list(list)
    }

    /// Says that a file is searched for by the last part of a path.
    pub(in crate::resolve) fn asks_for_included(&self, path: &str) {
        self.ask(Question::included(path.rsplit('/').next().unwrap_or(path)));
    }

    fn linked(&self, file: FileId) -> &'a Modules {
        self.asked.borrow_mut().links.insert(file);
        &self.tables.modules
    }

    /// Where an import leads.
    pub(in crate::resolve) fn import_target(
        &self,
        file: FileId,
        import: usize,
    ) -> &'a ImportTarget {
        &self.import_targets(file)[import]
    }

    /// Where all imports of a file lead.
    pub(in crate::resolve) fn import_targets(&self, file: FileId) -> &'a [ImportTarget] {
        self.asked.borrow_mut().links.insert(file);
        self.tables.import_targets(file)
    }

    /// The file that an import leads to or through.
    pub(in crate::resolve) fn import_file(&self, file: FileId, import: usize) -> Option<FileId> {
        self.import_target(file, import).file()
    }

    /// The package that a file belongs to.
    pub(in crate::resolve) fn package_of(&self, file: FileId) -> Option<u32> {
        self.linked(file).package_of(file)
    }

    /// The root file of the crate that a file belongs to.
    pub(in crate::resolve) fn crate_root(&self, file: FileId) -> FileId {
        self.linked(file).crate_root(file)
    }

    /// The file and scope that name a file as a child module.
    pub(in crate::resolve) fn crate_parent(&self, file: FileId) -> Option<(FileId, ScopeId)> {
        self.linked(file).crate_parent(file)
    }

    pub(in crate::resolve) fn package_files(&self, package: u32) -> &'a Vec<FileId> {
        let package = self.tables.modules.package(package);
        self.ask(Question::package(package.identity));
        &package.files
    }

    /// What the files of a package bind to a name outside of everything, in order.
    pub(in crate::resolve) fn package_member(
        &self,
        package: u32,
        name: Name,
    ) -> Option<&'a Symbols> {
        let identity = self.tables.modules.package(package).identity;
        self.ask_list(Question::member_of_package(identity, self.text(name)))
    }

    /// The root file of the library that a file knows under a name.
    pub(in crate::resolve) fn library(&self, file: FileId, name: &str) -> Option<FileId> {
        self.linked(file).library(file, name)
    }

    /// The package, or the part of a package's name, that a single word means in a file.
    pub(in crate::resolve) fn declared_package(&self, file: FileId, word: &str) -> Option<Module> {
        let language = self.unit(file)?.language;
        if language.manifest.modules.system != ModuleSystem::DeclaredPackages {
            return None;
        }
        self.ask(Question::declared(word));
        self.tables.modules.declared_package(language, word)
    }

    /// Whether the package of a file says that it needs an outside library of this name.
    pub(in crate::resolve) fn depends_on(&self, file: FileId, name: &str) -> bool {
        self.linked(file).depends_on(file, name)
    }

    /// The module below another one under this name, in systems where folders nest modules.
    pub(in crate::resolve) fn child_module(&self, module: Module, name: Name) -> Option<Module> {
        self.ask(Question::child(self.text(name)));
        self.tables.modules.child(self.tables, module, self.text(name))
    }

    /// Whether no program is known to have both files.
    pub(in crate::resolve) fn are_apart(&self, from: FileId, definition: FileId) -> bool {
        self.ask(Question::ALTERNATIVES);
        let alternatives = &self.tables.modules.alternatives;
        alternatives.are_apart(self.path(from).as_str(), self.path(definition).as_str())
    }

    /// Whether no program has both files.
    pub(in crate::resolve) fn exclude_each_other(&self, one: FileId, other: FileId) -> bool {
        self.ask(Question::ALTERNATIVES);
        let alternatives = &self.tables.modules.alternatives;
        alternatives.exclude_each_other(self.path(one).as_str(), self.path(other).as_str())
    }

    /// Whether modules can lie below a module in folders.
    pub(in crate::resolve) fn has_folder(&self, module: Module) -> bool {
        self.tables.modules.has_folder(self.tables, module)
    }

    /// Says that the tops of files are searched for a name.
    pub(in crate::resolve) fn asks_for_bound(&self, name: Name) {
        self.ask(Question::bound(self.text(name)));
    }

    /// The files that a file may know types of, as far as imports lead; see [`Tables::next_to`].
    pub(in crate::resolve) fn reached_from(&self, file: FileId) -> FileSet {
        self.asked.borrow_mut().reach.insert(file);
        self.tables.reach.from(file, &|next| self.tables.next_to(next))
    }

    pub(in crate::resolve) fn space_of_scope(&self, file: FileId, scope: ScopeId) -> Option<Space> {
        let unit = self.unit(file)?;
        // Blocks and types are no namespaces: that is seen sooner than looked up.
        let may_be = matches!(unit.scope_kind(scope), ScopeKind::File | ScopeKind::Module);
        may_be.then(|| unit.spaces.of_scope(scope)).flatten()
    }

    pub(in crate::resolve) fn space_of_symbol(&self, symbol: SymbolRef) -> Option<Space> {
        self.unit(symbol.file)?.spaces.of_symbol(symbol.symbol)
    }

    /// The innermost namespace around a scope.
    pub(in crate::resolve) fn space_around(
        &self,
        file: FileId,
        unit: Unit<'_>,
        scope: ScopeId,
    ) -> Option<Space> {
        self.asked.borrow_mut().facts.insert(file);
        unit.spaces.around(unit.facts, scope)
    }

    /// What a namespace has under a name, in all files.
    pub(in crate::resolve) fn in_space(&self, space: Space, name: Name) -> Option<&'a Symbols> {
        self.ask_list(Question::space(space, self.text(name)))
    }

    /// The same, where some of it is a declaration.
    pub(in crate::resolve) fn with_declarations(
        &self,
        space: Space,
        name: Name,
    ) -> Option<&'a Symbols> {
        let list = Question::space(space, self.text(name));
        self.ask(list);
        self.tables.postings.with_declarations(list, &|key| self.tables.position(key))
    }

    /// Everything that a namespace holds under a name, in all files.
    pub(in crate::resolve) fn space_members(&self, namespace: SymbolRef, name: Name) -> Symbols {
        let space = self.space_of_symbol(namespace);
        space.and_then(|space| self.in_space(space, name)).cloned().unwrap_or_default()
    }

    /// How namespaces lie in each other and what is made visible where. For names in one of them,
    /// see `in_space`.
    pub(in crate::resolve) fn spaces(&self) -> &'a crate::resolve::units::spaces::Linkage {
        self.spaces_asked.set(true);
        &self.tables.linkage
    }
}

impl Tables {
    /// What a look at the program gives, and what was asked for it.
    pub(in crate::resolve) fn looked_at<T>(
        &self,
        make: impl FnOnce(&Program<'_>) -> T,
    ) -> (T, Asking) {
        let program = Program::over(self);
        let made = make(&program);
        (made, program.into_asking())
    }
}
