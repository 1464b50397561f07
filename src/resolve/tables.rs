//! Every file's facts with the tables that lookups need. Made from all files; kept as long as the repository is in use, and
//! brought up to date by `update`.

use super::asked::Asked;
use super::gather;
use super::linkage::{self, Linkage};
use super::modules::{self, Modules};
use super::program::Program;
use super::reach::Reach;
use super::relations;
use super::structural;
use super::types::Types;
use super::unit::{Names, Unit, UnitTable};
use super::{Name, ProjectFile, Resolver, Symbols};
use crate::grammar::{self, Language};
use crate::model::facts::{FileFacts, LocalSymbol};
use crate::model::graph::{FileId, FileRecord, FileResolution, SymbolRef};
use crate::model::{RepoPath, SymbolKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A file as the tables know it.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: RepoPath,
    pub(super) content: Option<Content>,
}

/// A file with facts.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) facts: Arc<FileFacts>,
    pub(super) language: &'static Language,
    pub(super) table: Arc<UnitTable>,
}

impl Content {
    pub(super) fn unit<'t>(&'t self, texts: &'t Names) -> Unit<'t> {
        Unit { facts: &self.facts, language: self.language, table: &self.table, texts }
    }
}

/// What resolving one file gave, and what it depends on.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The result.
    pub resolution: FileResolution,
    /// What was looked at for it.
    pub asked: Asked,
}

/// Every file's facts with the tables that resolution looks things up in. Shared by all threads.
#[derive(Debug, Default)]
pub struct Tables {
    pub(super) files: Vec<File>,
    pub(super) names: Names,
    pub(super) modules: Modules,
    /// Which files others lead to.
    pub(super) reach: Reach,
    pub(super) linkage: Linkage,
    /// Members that are defined outside of their type's body.
    pub(super) extensions: FxHashMap<SymbolRef, FxHashMap<Name, Symbols>>,
    /// Interfaces from outside that types implement outside of their header, by name.
    pub(super) implemented_outside: FxHashMap<SymbolRef, Vec<Box<str>>>,
    /// Interfaces that types implement outside of their header.
    pub(super) implemented: FxHashMap<SymbolRef, Symbols>,
    /// The type of each member that is defined outside of its type's body.
    pub(super) containers: FxHashMap<SymbolRef, SymbolRef>,
    /// Members that types from outside gain here, by the type's name.
    pub(super) gained: FxHashMap<Box<str>, FxHashMap<Name, Symbols>>,
    /// Interfaces that are satisfied by having their methods, by the name of one of these.
    pub(super) interfaces: FxHashMap<Name, Vec<SymbolRef>>,
    /// Every member, by name.
    pub(super) members: FxHashMap<Name, Symbols>,
    /// Every macro, by name.
    pub(super) macros: FxHashMap<Name, Symbols>,
    /// What making the tables itself asked about names.
    pub(super) asked: Asked,
    /// Files that module systems read besides sources.
    pub(super) project_files: Vec<ProjectFile>,
}

/// What is worked out about a file alone before the tables of all files are made.
#[derive(Clone, Debug)]
pub struct Prepared(Arc<UnitTable>);

impl Prepared {
    /// Prepares a file that has these names, in the order of its facts. `interface` is known of one that was prepared before.
    pub fn of(facts: &FileFacts, names: Arc<[Name]>, interface: Option<u64>) -> Self {
        Self(Arc::new(UnitTable::of(facts, names, interface)))
    }

    pub(super) fn from_table(table: UnitTable) -> Self {
        Self(Arc::new(table))
    }
}

impl Tables {
    /// The tables of files that are sorted by path and prepared in terms of `names`.
    pub fn of(files: &[FileRecord], prepared: Vec<Option<Prepared>>, mut names: Names, project_files: Vec<ProjectFile>) -> Self {
        let file = |(record, prepared): (&FileRecord, Option<Prepared>)| {
            let content = prepared.and_then(|Prepared(table)| {
                names.add(&table);
                let facts = Arc::clone(record.content.as_ref().ok()?);
                Some(Content { facts, language: grammar::language(record.language?), table })
            });
            File { path: record.path.clone(), content }
        };
        let files = files.iter().zip(prepared).map(file).collect();
        Self::over(files, names, project_files)
    }

    /// The files that module systems read besides sources.
    pub fn project_files(&self) -> &[ProjectFile] {
        &self.project_files
    }

    /// Stands for everything in a file that the resolution of others may look at.
    pub fn interface(&self, file: FileId) -> Option<u64> {
        self.unit(file).map(|unit| unit.table.interface)
    }

    /// Makes the tables of files that are prepared.
    pub(super) fn over(files: Vec<File>, names: Names, project_files: Vec<ProjectFile>) -> Self {
        let mut tables = Self { files, names, project_files, ..Self::default() };
        tables.modules = Modules::new(&tables);
        tables.linkage = Linkage::new(&tables);
        let (connect, asked) = tables.looked_at(modules::connect);
        tables.modules.set_targets(connect);
        tables.reach = Reach::new(tables.files.len(), tables.ids().flat_map(|file| tables.modules.imported(file)));
        tables.asked = asked;
        linkage::nest(&mut tables);
        gather::extend(&mut tables);
        tables.members = gather::by_name(&tables, &[SymbolKind::Method, SymbolKind::Constructor]);
        let interfaces = tables.asking(structural::by_method);
        tables.interfaces = interfaces;
        tables.macros = gather::by_name(&tables, &[SymbolKind::Macro]);
        tables
    }

    fn looked_at<T>(&self, make: impl FnOnce(&Program<'_>) -> T) -> (T, Asked) {
        let program = Program::over(self);
        let made = make(&program);
        (made, program.into_asked())
    }

    /// Makes something from the tables as they are so far, and keeps what it asked.
    pub(super) fn asking<T>(&mut self, make: impl FnOnce(&Program<'_>) -> T) -> T {
        let (made, asked) = self.looked_at(make);
        self.asked.add_questions(asked);
        made
    }

    /// Resolves the sites, imports and relations of one file. The result depends on the tables alone, not on the order of calls.
    pub fn resolve_file(&self, file: FileId) -> Resolved {
        self.unit(file).map_or_else(Resolved::default, |unit| self.resolve_unit(file, unit))
    }

    /// The same for a file of which the tables have only what others look at; `facts` are all of it.
    pub fn resolve_shared(&self, file: FileId, facts: &FileFacts) -> Resolved {
        let Some(unit) = self.unit(file) else { return Resolved::default() };
        let table = UnitTable::of(facts, Arc::clone(&unit.table.names), Some(unit.table.interface));
        self.resolve_unit(file, Unit { facts, table: &table, ..unit })
    }

    fn resolve_unit(&self, file: FileId, unit: Unit<'_>) -> Resolved {
        let program = Program::for_file(self, file, unit);
        let mut resolver = Resolver::new(&program, file);
        resolver.budget.begin(unit.facts);
        resolver.types = Types::of_file(file, unit.facts.exprs.len());
        let sites = unit.facts.sites.list();
        let sites = sites.iter().map(|site| resolver.site(file, site)).collect();
        let imports = (0..unit.facts.imports.len()).map(|import| program.import_file(file, import)).collect();
        let relations = relations::of_file(&mut resolver, file);
        let containers = (0..unit.facts.symbols.len())
            .map(LocalSymbol::at)
            .filter_map(|symbol| Some((symbol, *program.container(SymbolRef { file, symbol })?)))
            .collect();
        drop(resolver);
        Resolved { resolution: FileResolution { sites, imports, relations, containers }, asked: program.into_asked() }
    }

    /// The distinct names of all symbols, in no particular order; the empty one is that of symbols without a name.
    pub fn symbol_names(&self) -> Vec<Box<str>> {
        let mut is_used = vec![false; self.names.len()];
        let mut has_unnamed = false;
        for (_, unit) in self.units() {
            for symbol in &unit.facts.symbols {
                match symbol.name.get() {
                    Some(_) => is_used[unit.name(symbol.name).0 as usize] = true,
                    None => has_unnamed = true,
                }
            }
        }
        let used = (0_u32..).zip(is_used).filter_map(|(name, is_used)| is_used.then_some(Name(name)));
        used.map(|name| Box::from(self.names.text(name))).chain(has_unnamed.then(Box::default)).collect()
    }

    pub(super) fn unit(&self, file: FileId) -> Option<Unit<'_>> {
        Some(self.files.get(file.0 as usize)?.content.as_ref()?.unit(&self.names))
    }

    pub(super) fn name_of(&self, symbol: SymbolRef) -> Name {
        let unit = self.unit(symbol.file).expect("symbols are in files with facts");
        unit.name(unit.facts.symbols[symbol.symbol.get().expect("a SymbolRef always names a symbol")].name)
    }

    /// Every file with facts.
    pub(super) fn units(&self) -> impl Iterator<Item = (FileId, Unit<'_>)> {
        self.ids().filter_map(|file| Some((file, self.unit(file)?)))
    }

    /// Every file.
    pub(super) fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        let files = u32::try_from(self.files.len()).expect("a repository has far fewer than 2^32 files");
        (0..files).map(FileId)
    }

    /// The files one step away from a file: those it imports, and those of its package where they know each other.
    pub(super) fn next_to(&self, file: FileId) -> impl Iterator<Item = FileId> + '_ {
        let shares = self.unit(file).is_some_and(|unit| unit.language.manifest.modules.shared_folder);
        let package = self.modules.package_of(file).filter(|_| shares);
        let beside = package.into_iter().flat_map(|package| self.modules.package(package).files.iter().copied());
        self.modules.imported(file).chain(beside)
    }
}

/// What the tables keep of a file; none if it has no facts.
pub(super) fn content(record: &FileRecord, names: &mut Names) -> Option<Content> {
    let facts = record.content.as_ref().ok()?;
    let own = facts.names.iter().map(|text| names.intern(text)).collect();
    let table = Arc::new(UnitTable::of(facts, own, None));
    Some(Content { facts: Arc::clone(facts), language: grammar::language(record.language?), table })
}
