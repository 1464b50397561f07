//! The files of a repository with the tables that lookups need. Of a file there is at hand what others may look at: in a whole
//! build of every file, else of those that somebody looked at.

use super::archive::Archive;
use super::derived::{self, Derived};
use super::linkage::{Linkage, Nesting, Spaces};
use super::postings::{self, Own, Postings};
use super::program::Program;
use super::unit::{Unit, UnitTable};
use crate::grammar::{self, Language, ModuleSystem};
use crate::model::facts::{FileFacts, ImportKind, LocalSymbol};
use crate::model::graph::{FileId, FileRecord, FileResolution, SymbolRef};
use crate::model::{LanguageId, RepoPath};
use crate::resolve::imports::{self, ImportTarget, Modules};
use crate::resolve::incremental::partition::Shared;
use crate::resolve::references::relations;
use crate::resolve::types::memo::Types;
use crate::resolve::workspace::footprint::{Asked, Asking, Question};
use crate::resolve::workspace::import_closure::Reach;
use crate::resolve::workspace::interner::Names;
use crate::resolve::{Name, ProjectFile, Resolver};
use std::sync::{Arc, OnceLock};

/// A file as the tables know it.
#[derive(Clone, Debug)]
pub(in crate::resolve) struct File {
    pub(in crate::resolve) path: RepoPath,
    /// None of a file without facts.
    pub(in crate::resolve) head: Option<Head>,
    /// What others may look at, once somebody has; nothing inside if it could not be read.
    pub(in crate::resolve) content: OnceLock<Option<Arc<Content>>>,
}

/// What is known of a file with facts without looking at these.
#[derive(Clone, Debug)]
pub struct Head {
    pub(in crate::resolve) language: &'static Language,
    /// Stands for everything in it that the resolution of others may look at.
    pub(in crate::resolve) interface: u64,
    pub(in crate::resolve) package: Option<Box<str>>,
    /// Whether it says something about types that are not its own; see [`derived`].
    pub(super) speaks: bool,
    pub(in crate::resolve) nesting: Option<Arc<Nesting>>,
}

/// What others may look at in a file.
#[derive(Debug)]
pub(in crate::resolve) struct Content {
    facts: Arc<FileFacts>,
    language: &'static Language,
    table: UnitTable,
    spaces: Spaces,
}

impl Content {
    pub(in crate::resolve) fn unit<'t>(&'t self, texts: &'t Names) -> Unit<'t> {
        Unit { facts: &self.facts, language: self.language, table: &self.table, spaces: &self.spaces, texts }
    }
}

/// What is worked out about a file alone before others are known.
#[derive(Debug)]
pub struct Prepared {
    table: UnitTable,
    spaces: Spaces,
    head: Head,
}

impl Prepared {
    /// Prepares a file of which all facts are there. `names` are those of the file, in the order of its facts.
    pub fn of(facts: &FileFacts, language: LanguageId, names: Vec<Name>) -> Self {
        Self::with(facts, language, |_| UnitTable::of(facts, names.into(), None))
    }

    /// Prepares a file whose facts still have their names.
    pub(in crate::resolve) fn with(facts: &FileFacts, language: LanguageId, table: impl FnOnce(&FileFacts) -> UnitTable) -> Self {
        let language = grammar::language(language);
        let (spaces, table) = (Spaces::of(facts, language), table(facts));
        let head = Head {
            language,
            interface: table.interface,
            package: facts.package.clone(),
            speaks: derived::says_anything(facts, language),
            nesting: Nesting::of(facts, language, &spaces).map(Arc::new),
        };
        Self { table, spaces, head }
    }

    /// What is left of a file whose facts are at hand.
    pub(in crate::resolve) fn into_parts(self, facts: Arc<FileFacts>) -> (Head, Content) {
        let Self { table, spaces, head } = self;
        let language = head.language;
        (head, Content { facts, language, table, spaces })
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

/// A file of tables that are read by need.
#[derive(Debug)]
pub struct Known {
    /// Where it is.
    pub path: RepoPath,
    /// Its key in the store.
    pub key: u32,
    /// None of a file without facts, else with the keys of the files that its imports lead to.
    pub head: Option<(Head, Vec<u32>)>,
    /// Whether it has changed since posting lists were written.
    pub has_changed: bool,
}

/// The tables. Shared by all threads.
#[derive(Debug, Default)]
pub struct Tables {
    pub(in crate::resolve) files: Vec<File>,
    /// The key of each file in the store.
    pub(in crate::resolve) keys: Vec<u32>,
    /// The number of the file with each key.
    pub(in crate::resolve) positions: Vec<Option<FileId>>,
    pub(in crate::resolve) names: Arc<Names>,
    pub(in crate::resolve) modules: Modules,
    /// Which files others lead to.
    pub(in crate::resolve) reach: Reach,
    pub(in crate::resolve) linkage: Linkage,
    pub(in crate::resolve) derived: Derived,
    pub(in crate::resolve) postings: Postings,
    /// Files that module systems read besides sources.
    pub(in crate::resolve) project_files: Vec<ProjectFile>,
    pub(in crate::resolve) archive: Option<Arc<dyn Archive>>,
}

impl Tables {
    /// The tables of files that are sorted by path and prepared in terms of `names`, with everything at hand. Their keys are their
    /// places, counted from one.
    pub fn of(files: &[FileRecord], prepared: Vec<Option<Prepared>>, names: Names, project_files: Vec<ProjectFile>) -> Self {
        let file = |(record, prepared): (&FileRecord, Option<Prepared>)| {
            let known = prepared.and_then(|prepared| Some(prepared.into_parts(Arc::clone(record.content.as_ref().ok()?))));
            let (head, content) = known.unzip();
            File { path: record.path.clone(), head, content: OnceLock::from(content.map(Arc::new)) }
        };
        let files: Vec<File> = files.iter().zip(prepared).map(file).collect();
        let mut tables = Self { names: Arc::new(names), project_files, ..Self::default() };
        let keys = (1..).take(files.len()).collect();
        tables.set_files(files, keys);
        tables.modules = Modules::new(&tables);
        let imported = tables.ids().map(|file| tables.import_files(file)).collect();
        tables.modules.set_imported(imported);
        let mut postings = Postings::default();
        tables.units().for_each(|(file, unit)| postings.add(file, unit, tables.package_with_names(file)));
        tables.postings = postings;
        tables.connect();
        derived::derive(&mut tables, |_| true);
        tables
    }

    /// The same of files of which all facts are there.
    pub fn whole(files: &[FileRecord], project_files: &[ProjectFile]) -> Self {
        let mut names = Names::default();
        let mut prepare = |record: &FileRecord| {
            let (facts, language) = (record.content.as_ref().ok()?, record.language?);
            let own = facts.names.iter().map(|text| names.intern(text)).collect();
            Some(Prepared::of(facts, language, own))
        };
        let prepared = files.iter().map(&mut prepare).collect();
        Self::of(files, prepared, names, project_files.to_vec())
    }

    /// The tables of files that are sorted by path, whose facts and posting lists are read from `archive` by need.
    pub fn by_need(known: Vec<Known>, archive: Arc<dyn Archive>, project_files: Vec<ProjectFile>) -> Self {
        let mut tables = Self { project_files, postings: Postings::written(Arc::clone(&archive)), ..Self::default() };
        tables.archive = Some(archive);
        let (mut files, mut keys, mut imported) = (Vec::with_capacity(known.len()), Vec::new(), Vec::new());
        let mut changed = Vec::new();
        for Known { path, key, head, has_changed } in known {
            let (head, imports) = head.unzip();
            changed.extend(has_changed.then_some(FileId(keys.len() as u32)));
            keys.push(key);
            imported.push(imports.unwrap_or_default());
            files.push(File { path, head, content: OnceLock::new() });
        }
        tables.set_files(files, keys);
        tables.modules = Modules::new(&tables);
        let numbers = |keys: Vec<u32>| keys.into_iter().filter_map(|key| tables.position(key)).collect();
        let imported = imported.into_iter().map(numbers).collect();
        tables.modules.set_imported(imported);
        for file in changed {
            let own = tables.own_postings(file);
            tables.postings.replace(tables.key(file), &[], &own);
        }
        tables.connect();
        derived::derive(&mut tables, |_| true);
        tables
    }

    pub(in crate::resolve) fn set_files(&mut self, files: Vec<File>, keys: Vec<u32>) {
        let last = keys.iter().copied().max().unwrap_or(0) as usize;
        self.positions = vec![None; last + 1];
        for (key, file) in keys.iter().zip(0..) {
            self.positions[*key as usize] = Some(FileId(file));
        }
        (self.files, self.keys) = (files, keys);
    }

    /// What a file adds to posting lists.
    pub(in crate::resolve) fn own_postings(&self, file: FileId) -> Vec<Own> {
        let own = self.unit(file).map(|unit| postings::of_file(unit, self.package_with_names(file)));
        own.into_iter().flatten().collect()
    }

    fn package_with_names(&self, file: FileId) -> Option<u64> {
        imports::package_with_names(self.head(file)?, &self.files[file.0 as usize].path)
    }

    /// Makes what rests on all heads.
    pub(in crate::resolve) fn connect(&mut self) {
        self.linkage = Linkage::new(self.ids().filter_map(|file| Some((file, self.head(file)?.nesting.as_deref()?))));
        self.reach = Reach::new(self.files.len(), self.ids().flat_map(|file| self.modules.imported(file)));
    }

    /// The files that module systems read besides sources.
    pub fn project_files(&self) -> &[ProjectFile] {
        &self.project_files
    }

    /// All files with their keys, in order.
    pub fn listing(&self) -> impl Iterator<Item = (RepoPath, u32)> + '_ {
        self.files.iter().zip(&self.keys).map(|(file, key)| (file.path.clone(), *key))
    }

    /// The key of a file in the store.
    pub fn key(&self, file: FileId) -> u32 {
        self.keys[file.0 as usize]
    }

    /// The file with a key.
    pub fn position(&self, key: u32) -> Option<FileId> {
        self.positions.get(key as usize).copied().flatten()
    }

    /// The keys of the files that the imports of a file lead to or through.
    pub fn imported_keys(&self, file: FileId) -> Vec<u32> {
        self.modules.imported(file).map(|file| self.key(file)).collect()
    }

    /// What is known of a file without its facts.
    pub fn head(&self, file: FileId) -> Option<&Head> {
        self.files.get(file.0 as usize)?.head.as_ref()
    }

    pub(in crate::resolve) fn has_facts(&self, file: FileId) -> bool {
        self.head(file).is_some()
    }

    pub(in crate::resolve) fn language(&self, file: FileId) -> Option<&'static Language> {
        self.head(file).map(|head| head.language)
    }

    /// The language of a file that says something about types that are not its own.
    pub(super) fn speaks(&self, file: FileId) -> Option<&'static Language> {
        self.head(file).filter(|head| head.speaks).map(|head| head.language)
    }

    pub(in crate::resolve) fn looked_at<T>(&self, make: impl FnOnce(&Program<'_>) -> T) -> (T, Asking) {
        let program = Program::over(self);
        let made = make(&program);
        (made, program.into_asking())
    }

    /// Where the imports of a file lead.
    pub(in crate::resolve) fn import_targets(&self, file: FileId) -> &[ImportTarget] {
        self.modules.targets(file, || imports::targets(&Program::over(self), file))
    }

    /// The files that the imports of a file lead to or through, in order and once.
    pub(in crate::resolve) fn import_files(&self, file: FileId) -> Box<[FileId]> {
        let mut files: Vec<FileId> = self.import_targets(file).iter().filter_map(ImportTarget::file).collect();
        files.sort_unstable();
        files.dedup();
        files.into()
    }

    pub(super) fn posting_list(&self, list: Question) -> Option<&crate::resolve::Symbols> {
        self.postings.get(list, &|key| self.position(key))
    }

    /// The posting list of a namespace's member by its name.
    pub(super) fn list_of_member(&self, owner: SymbolRef, member: SymbolRef) -> Option<Question> {
        let space = self.unit(owner.file)?.spaces.of_symbol(owner.symbol)?;
        Some(Question::space(space, self.names.text(self.name_of(member))))
    }

    pub(in crate::resolve) fn join(&mut self, members: &[(Question, SymbolRef)]) {
        let positions = &self.positions;
        self.postings.join(members, &|key| positions.get(key as usize).copied().flatten());
    }

    /// Resolves the sites, imports and relations of one file of which everything is at hand. The result depends on the tables
    /// alone, not on the order of calls.
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
        if unit.language.manifest.modules.system == ModuleSystem::Includes {
            let included = unit.facts.imports.iter().filter(|import| import.kind == ImportKind::Include);
            included.for_each(|import| program.asks_for_included(&import.module));
        }
        let relations = relations::of_file(&mut resolver, file);
        let containers = (0..unit.facts.symbols.len())
            .map(LocalSymbol::at)
            .filter_map(|symbol| Some((symbol, *program.container(SymbolRef { file, symbol })?)))
            .collect();
        drop(resolver);
        let asked = program.into_asking().into_asked(&self.keys);
        Resolved { resolution: FileResolution { sites, imports, relations, containers }, asked }
    }

    /// The distinct names of all symbols, in no particular order; the empty one is that of symbols without a name. Of tables with
    /// everything at hand.
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

    /// Every posting list of tables with everything at hand, in order: its number, and the places of its symbols by file key, each
    /// with whether it is a declaration.
    pub fn posting_lists(&self) -> impl Iterator<Item = (u64, Vec<crate::resolve::Posting>)> {
        self.postings.in_order().into_iter().map(|(list, symbols)| {
            let posting = |symbol: &SymbolRef| crate::resolve::Posting {
                file: self.key(symbol.file),
                symbol: symbol.symbol.0,
                is_declared: self.is_declaration(*symbol),
            };
            (list.0, symbols.iter().map(posting).collect())
        })
    }

    fn is_declaration(&self, symbol: SymbolRef) -> bool {
        let unit = self.unit(symbol.file).expect("symbols are in files with facts");
        let entry = &unit.facts.symbols[symbol.symbol.get().expect("a SymbolRef always names a symbol")];
        entry.flags & crate::model::facts::flags::DECLARATION != 0
    }

    pub(in crate::resolve) fn unit(&self, file: FileId) -> Option<Unit<'_>> {
        let known = self.files.get(file.0 as usize)?;
        let head = known.head.as_ref()?;
        let content = known.content.get_or_init(|| self.read(file, head));
        content.as_ref().map(|content| content.unit(&self.names))
    }

    /// Reads what others may look at in a file.
    fn read(&self, file: FileId, head: &Head) -> Option<Arc<Content>> {
        let (mut facts, shared) = self.archive.as_ref()?.facts(self.key(file))?;
        let names = self.names.numbers(&facts.names);
        let prepared = shared.leave(&mut facts, head.language.id, names);
        Some(Arc::new(prepared.into_parts(Arc::new(facts)).1))
    }

    /// All facts of a file as they were kept last.
    pub fn facts(&self, file: FileId) -> Option<(FileFacts, Shared)> {
        self.archive.as_ref()?.facts(self.key(file))
    }

    pub(in crate::resolve) fn name_of(&self, symbol: SymbolRef) -> Name {
        let unit = self.unit(symbol.file).expect("symbols are in files with facts");
        unit.name(unit.facts.symbols[symbol.symbol.get().expect("a SymbolRef always names a symbol")].name)
    }

    /// Every file with facts. Reads all of them.
    pub(super) fn units(&self) -> impl Iterator<Item = (FileId, Unit<'_>)> {
        self.ids().filter_map(|file| Some((file, self.unit(file)?)))
    }

    /// Every file.
    pub(in crate::resolve) fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        let files = u32::try_from(self.files.len()).expect("a repository has far fewer than 2^32 files");
        (0..files).map(FileId)
    }

    /// The files one step away from a file: those it imports, and those of its package where they know each other.
    pub(in crate::resolve) fn next_to(&self, file: FileId) -> impl Iterator<Item = FileId> + '_ {
        let shares = self.language(file).is_some_and(|language| language.manifest.modules.shared_folder);
        let package = self.modules.package_of(file).filter(|_| shares);
        let beside = package.into_iter().flat_map(|package| self.modules.package(package).files.iter().copied());
        self.modules.imported(file).chain(beside)
    }
}
