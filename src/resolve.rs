//! Facts of a whole repository to targets: scopes, imports, types, members. Pure, and without the name of any language.
//!
//! `Program` holds every file's facts with the tables that lookups need. A `Resolver` answers for one file at a time:
//! `lookup` finds what a name means, `infer` what type an expression has, `member` what a type has under a name, `site`
//! what a reference leads to. `modules` knows the closed set of module systems. The result for a file is a function of the
//! program alone, so that any order and any number of threads give the same graph.

mod among;
mod call;
mod certain;
mod closure;
mod compute;
mod definition;
mod flow;
mod heuristic;
mod infer;
mod inherent;
mod linkage;
mod lookup;
mod maker;
mod member;
mod modules;
mod order;
mod overload;
mod paths;
mod relations;
mod result;
mod site;
mod structural;
mod ty;
mod unit;

use crate::model::facts::{LocalSymbol, NameId};
use crate::model::graph::{FileId, FileRecord, FileResolution, SymbolRef};
use crate::model::{RepoPath, SymbolKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use unit::{Names, Unit};

/// A file of a module system that is not source (`package.json`, `go.mod`, …): its path and text.
#[derive(Clone, Debug)]
pub struct ProjectFile {
    /// Where it is.
    pub path: RepoPath,
    /// Its text.
    pub text: String,
}

/// A name of the whole repository.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Name(u32);

/// Symbols that share a name in one place: overloads, or a single one.
type Symbols = SmallVec<[SymbolRef; 2]>;

/// Every file's facts with the tables that resolution looks things up in. Immutable; shared by all threads.
#[derive(Debug)]
pub struct Program<'a> {
    files: &'a [FileRecord],
    units: Vec<Option<Unit<'a>>>,
    names: Names<'a>,
    modules: modules::Modules,
    linkage: linkage::Linkage,
    /// Members that are defined outside of their type's body.
    extensions: FxHashMap<SymbolRef, FxHashMap<Name, Symbols>>,
    /// Interfaces from outside that types implement outside of their header, by name.
    implemented_outside: FxHashMap<SymbolRef, Vec<Box<str>>>,
    /// Interfaces that types implement outside of their header.
    implemented: FxHashMap<SymbolRef, Symbols>,
    /// The type of each member that is defined outside of its type's body.
    containers: FxHashMap<SymbolRef, SymbolRef>,
    /// Members that types from outside gain here, by the type's name.
    gained: FxHashMap<Box<str>, FxHashMap<Name, Symbols>>,
    /// Interfaces that are satisfied by having their methods, by the name of one of these.
    interfaces: FxHashMap<Name, Vec<SymbolRef>>,
    /// Every member, by name.
    members: FxHashMap<Name, Symbols>,
    /// Every macro, by name.
    macros: FxHashMap<Name, Symbols>,
}

impl<'a> Program<'a> {
    /// Prepares resolution. `files` are sorted by path.
    pub fn new(files: &'a [FileRecord], project_files: &[ProjectFile]) -> Self {
        let mut names = Names::default();
        let units: Vec<Option<Unit<'a>>> = files.iter().map(|file| Unit::new(file, &mut names)).collect();
        let modules = modules::Modules::new(files, &units, project_files);
        let linkage = linkage::Linkage::new(&units);
        let mut program = Self {
            files,
            units,
            names,
            modules,
            linkage,
            extensions: FxHashMap::default(),
            implemented_outside: FxHashMap::default(),
            implemented: FxHashMap::default(),
            containers: FxHashMap::default(),
            gained: FxHashMap::default(),
            interfaces: FxHashMap::default(),
            members: FxHashMap::default(),
            macros: FxHashMap::default(),
        };
        program.modules.connect = modules::connect(&program);
        linkage::nest(&mut program);
        member::extend(&mut program);
        program.members = member::by_name(&program, &[SymbolKind::Method, SymbolKind::Constructor]);
        program.interfaces = structural::by_method(&program);
        program.macros = member::by_name(&program, &[SymbolKind::Macro]);
        program
    }

    /// Resolves the sites, imports and relations of one file. The result depends on the program alone, not on the order of calls.
    pub fn resolve_file(&self, file: FileId) -> FileResolution {
        let Some(unit) = self.unit(file) else { return FileResolution::default() };
        let mut resolver = Resolver::new(self, file);
        let sites = (0..unit.facts.sites.len()).map(|site| resolver.site(file, site)).collect();
        let imports = (0..unit.facts.imports.len()).map(|import| self.import_file(file, import)).collect();
        let relations = relations::of_file(&mut resolver, file);
        let containers = (0..unit.facts.symbols.len())
            .map(LocalSymbol::at)
            .filter_map(|symbol| Some((symbol, *self.containers.get(&SymbolRef { file, symbol })?)))
            .collect();
        FileResolution { sites, imports, relations, containers }
    }

    fn unit(&self, file: FileId) -> Option<&Unit<'a>> {
        self.units.get(file.0 as usize)?.as_ref()
    }

    /// The unit of a file that is known to have facts: one that a symbol, scope or expression was found in.
    fn known(&self, file: FileId) -> &Unit<'a> {
        self.unit(file).expect("ids come from files with facts")
    }

    fn symbol(&self, symbol: SymbolRef) -> &'a crate::model::facts::Symbol {
        let position = symbol.symbol.get().expect("a SymbolRef always names a symbol");
        &self.known(symbol.file).facts.symbols[position]
    }

    fn name_of(&self, symbol: SymbolRef) -> Name {
        self.known(symbol.file).name(self.symbol(symbol).name)
    }

    fn text(&self, name: Name) -> &'a str {
        self.names.text(name)
    }

    fn import_file(&self, file: FileId, import: usize) -> Option<FileId> {
        self.modules.target(file, import).file()
    }
}

/// Answers for one file; what it has found out about types stays with it.
struct Resolver<'p, 'a> {
    program: &'p Program<'a>,
    /// The file that it answers for: its language says what types from outside are like.
    home: FileId,
    types: FxHashMap<(FileId, crate::model::facts::ExprId), ty::Ty>,
    results: FxHashMap<SymbolRef, ty::Ty>,
    linear: FxHashMap<SymbolRef, std::rc::Rc<member::Hierarchy>>,
    satisfied: FxHashMap<SymbolRef, std::rc::Rc<[SymbolRef]>>,
    parameters: FxHashMap<SymbolRef, std::rc::Rc<[ty::Ty]>>,
    reach: FxHashMap<FileId, std::rc::Rc<rustc_hash::FxHashSet<FileId>>>,
    depth: u32,
    /// Whether values are passed over: a type or module is looked for.
    types_only: bool,
    /// Whether callables alone, or everything else alone, is looked for.
    wanted: Option<bool>,
}

impl<'p, 'a> Resolver<'p, 'a> {
    fn new(program: &'p Program<'a>, home: FileId) -> Self {
        Self {
            program,
            home,
            types: FxHashMap::default(),
            results: FxHashMap::default(),
            linear: FxHashMap::default(),
            satisfied: FxHashMap::default(),
            parameters: FxHashMap::default(),
            reach: FxHashMap::default(),
            depth: 0,
            types_only: false,
            wanted: None,
        }
    }

    fn name(&self, file: FileId, name: NameId) -> Name {
        self.program.known(file).name(name)
    }
}
