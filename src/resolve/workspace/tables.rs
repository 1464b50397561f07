//! Files of a repository with lookup tables. The exported parts of files are in memory: in a full
//! build of every file, otherwise of the files that were read.

use super::postings::{self, Own, Postings};
use crate::units::archive::{Archive, PostingFlags};
use crate::units::footprint::Question;
use crate::units::interner::Names;
use crate::units::partition::Shared;
use crate::units::prepared::{Content, Head};
use crate::units::spaces::Linkage;
use crate::units::unit::Unit;
use crate::workspace::extensions::Derived;
use crate::workspace::import_closure::Reach;
use crate::{Name, ProjectFile};
use crate::{
    imports::{self, Modules},
    units::import_target::ImportTarget,
};
use cograph_grammar::Language;
use cograph_model::RepoPath;
use cograph_model::facts::FileFacts;
use cograph_model::graph::{FileId, SymbolRef};
use std::sync::{Arc, OnceLock};

/// Entry of a file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: RepoPath,
    /// `None` for a file without facts.
    pub(crate) head: Option<Head>,
    /// Exported part, read on first access; `None` inside if the read failed.
    pub(crate) content: OnceLock<Option<Arc<Content>>>,
}

/// Symbol table, shared by all threads.
#[derive(Debug, Default)]
pub struct Tables {
    pub(crate) files: Vec<File>,
    /// Key of each file in the store.
    pub(crate) keys: Vec<u32>,
    /// File of each key.
    pub(crate) positions: Vec<Option<FileId>>,
    pub(crate) names: Arc<Names>,
    pub(crate) modules: Modules,
    /// Memo of import closures.
    pub(crate) reach: Reach,
    pub(crate) linkage: Linkage,
    pub(crate) derived: Derived,
    pub(crate) postings: Postings,
    /// Project files of module systems.
    pub(crate) project_files: Vec<ProjectFile>,
    pub(crate) archive: Option<Arc<dyn Archive>>,
}

impl Tables {
    pub(crate) fn set_files(&mut self, files: Vec<File>, keys: Vec<u32>) {
        let last = keys.iter().copied().max().unwrap_or(0) as usize;
        self.positions = vec![None; last + 1];
        for (key, file) in keys.iter().zip(0..) {
            self.positions[*key as usize] = Some(FileId(file));
        }
        (self.files, self.keys) = (files, keys);
    }

    /// Returns the entries of a file in posting lists.
    pub(crate) fn own_postings(&self, file: FileId) -> Vec<Own> {
        let own =
            self.unit(file).map(|unit| postings::of_file(unit, self.package_with_names(file)));
        own.into_iter().flatten().collect()
    }

    pub(crate) fn package_with_names(&self, file: FileId) -> Option<u64> {
        imports::package_with_names(self.head(file)?, &self.files[file.0 as usize].path)
    }

    /// Computes the tables that depend on all heads.
    pub(crate) fn connect(&mut self) {
        self.linkage = Linkage::new(
            self.ids().filter_map(|file| Some((file, self.head(file)?.nesting.as_deref()?))),
        );
        self.reach =
            Reach::new(self.files.len(), self.ids().flat_map(|file| self.modules.imported(file)));
    }

    /// Project files of module systems.
    pub fn project_files(&self) -> &[ProjectFile] {
        &self.project_files
    }

    /// Returns all files with their keys, in order.
    pub fn listing(&self) -> impl Iterator<Item = (RepoPath, u32)> + '_ {
        self.files.iter().zip(&self.keys).map(|(file, key)| (file.path.clone(), *key))
    }

    /// Returns the key of a file in the store.
    pub fn key(&self, file: FileId) -> u32 {
        self.keys[file.0 as usize]
    }

    /// Returns the file with a key.
    pub fn position(&self, key: u32) -> Option<FileId> {
        self.positions.get(key as usize).copied().flatten()
    }

    /// Returns the keys of the files that the imports of a file lead to or through.
    pub fn imported_keys(&self, file: FileId) -> Vec<u32> {
        self.modules.imported(file).map(|file| self.key(file)).collect()
    }

    /// Returns the head of a file.
    pub fn head(&self, file: FileId) -> Option<&Head> {
        self.files.get(file.0 as usize)?.head.as_ref()
    }

    pub(crate) fn has_facts(&self, file: FileId) -> bool {
        self.head(file).is_some()
    }

    pub(crate) fn language(&self, file: FileId) -> Option<&'static Language> {
        self.head(file).map(|head| head.language)
    }

    /// Returns the language of a file that extends types of other files.
    pub(crate) fn extends_types(&self, file: FileId) -> Option<&'static Language> {
        self.head(file).filter(|head| head.extends_types).map(|head| head.language)
    }

    /// Returns the files that the imports of a file lead to or through, sorted and without
    /// duplicates.
    pub(crate) fn import_files(&self, file: FileId) -> Box<[FileId]> {
        let mut files: Vec<FileId> =
            self.import_targets(file).iter().flat_map(ImportTarget::files).collect();
        files.sort_unstable();
        files.dedup();
        files.into()
    }

    pub(super) fn posting_list(&self, list: Question) -> Option<&crate::Symbols> {
        self.postings.get(list, &|key| self.position(key))
    }

    /// Returns the posting list of a namespace member by its name.
    pub(crate) fn list_of_member(&self, owner: SymbolRef, member: SymbolRef) -> Option<Question> {
        let space = self.unit(owner.file)?.spaces.of_symbol(owner.symbol)?;
        Some(Question::space(space, self.names.text(self.name_of(member))))
    }

    pub(crate) fn join(&mut self, members: &[(Question, SymbolRef)]) {
        let positions = &self.positions;
        self.postings.join(members, &|key| positions.get(key as usize).copied().flatten());
    }

    /// Returns the distinct names of all symbols, unordered, with the empty name for unnamed
    /// symbols. Requires all facts in memory, and frees the tables before it copies the names.
    pub fn into_symbol_names(self) -> Vec<Box<str>> {
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
        let names = Arc::clone(&self.names);
        drop(self);
        let used =
            (0_u32..).zip(is_used).filter_map(|(name, is_used)| is_used.then_some(Name(name)));
        used.map(|name| Box::from(names.text(name))).chain(has_unnamed.then(Box::default)).collect()
    }

    /// Returns every posting list in order: its hash, and its symbols by file key and position,
    /// each with its flags. Requires all facts in memory.
    pub fn posting_lists(&self) -> impl Iterator<Item = (u64, Vec<crate::Posting>)> {
        self.postings.in_order().map(|(list, symbols)| {
            let posting = |symbol: &SymbolRef| crate::Posting {
                file: self.key(symbol.file),
                symbol: symbol.symbol.0,
                flags: self.posting_flags(*symbol),
            };
            (list.0, symbols.iter().map(posting).collect())
        })
    }

    pub(super) fn posting_flags(&self, symbol: SymbolRef) -> PostingFlags {
        let unit = self.unit(symbol.file).expect("symbols are in files with facts");
        let position = symbol.symbol.get().expect("a SymbolRef always names a symbol");
        PostingFlags::of(&unit.facts.symbols[position])
    }

    pub(crate) fn unit(&self, file: FileId) -> Option<Unit<'_>> {
        let known = self.files.get(file.0 as usize)?;
        let head = known.head.as_ref()?;
        let content = known.content.get_or_init(|| self.read(file, head));
        content.as_ref().map(|content| content.unit(&self.names))
    }

    /// Reads the exported part of a file.
    fn read(&self, file: FileId, head: &Head) -> Option<Arc<Content>> {
        let (mut facts, shared) = self.archive.as_ref()?.facts(self.key(file))?;
        let names = self.names.numbers(&facts.names);
        let prepared = shared.leave(&mut facts, head.language.id, names);
        Some(Arc::new(prepared.into_parts(Arc::new(facts)).1))
    }

    /// Reads all stored facts of a file.
    pub(crate) fn facts(&self, file: FileId) -> Option<(FileFacts, Shared)> {
        self.archive.as_ref()?.facts(self.key(file))
    }

    pub(crate) fn name_of(&self, symbol: SymbolRef) -> Name {
        let unit = self.unit(symbol.file).expect("symbols are in files with facts");
        unit.name(
            unit.facts.symbols[symbol.symbol.get().expect("a SymbolRef always names a symbol")]
                .name,
        )
    }

    /// Number of files with facts in memory.
    pub fn loaded_files(&self) -> usize {
        let is_at_hand = |file: &&File| file.content.get().is_some_and(Option::is_some);
        self.files.iter().filter(is_at_hand).count()
    }

    /// Evicts facts that were read on demand if they belong to more than this number of files.
    pub fn forget_facts(&mut self, most: usize) {
        if self.archive.is_some() && self.loaded_files() > most {
            self.files.iter_mut().for_each(|file| file.content = OnceLock::new());
            self.postings.clear_memo();
        }
    }

    /// Returns every file with facts. Reads all of them.
    pub(crate) fn units(&self) -> impl Iterator<Item = (FileId, Unit<'_>)> {
        self.ids().filter_map(|file| Some((file, self.unit(file)?)))
    }

    /// Returns every file.
    pub(crate) fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        let files =
            u32::try_from(self.files.len()).expect("a repository has far fewer than 2^32 files");
        (0..files).map(FileId)
    }

    /// Returns the direct neighbours of a file: its imports, and the files of its package where the
    /// language shares names between them.
    pub(crate) fn next_to(&self, file: FileId) -> impl Iterator<Item = FileId> + '_ {
        let shares =
            self.language(file).is_some_and(|language| language.manifest.modules.shared_folder);
        let package = self.modules.package_of(file).filter(|_| shares);
        let siblings = package
            .into_iter()
            .flat_map(|package| self.modules.package(package).files.iter().copied());
        self.modules.imported(file).chain(siblings)
    }
}
