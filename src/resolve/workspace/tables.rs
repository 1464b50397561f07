//! Symbol table of a repository: files with what the lookup of names needs between them.

use super::postings::{self, Own, Postings};
use crate::files::archive::{Posting, PostingFlags};
use crate::files::project_file::ProjectFile;
use crate::files::table::FileTable;
use crate::imports::{self, Modules};
use crate::units::footprint::Question;
use crate::units::import_target::ImportTarget;
use crate::units::interner::Name;
use crate::units::prepared::FileSummary;
use crate::units::spaces::Linkage;
use crate::workspace::extensions::Derived;
use crate::workspace::import_closure::ImportClosures;
use cograph_model::RepoPath;
use cograph_model::graph::{FileId, FileKey, SymbolRef};
use std::sync::Arc;

/// Symbol table, shared by all threads.
#[derive(Debug, Default)]
pub struct Tables {
    pub(crate) files: FileTable,
    pub(crate) modules: Modules,
    /// Memo of import closures.
    pub(crate) reach: ImportClosures,
    pub(crate) linkage: Linkage,
    pub(crate) derived: Derived,
    pub(crate) postings: Postings,
}

impl Tables {
    /// Returns the entries of a file in posting lists.
    pub(crate) fn own_postings(&self, file: FileId) -> Vec<Own> {
        let own = self
            .files
            .unit(file)
            .map(|unit| postings::of_file(unit, self.package_with_names(file)));
        own.into_iter().flatten().collect()
    }

    pub(crate) fn package_with_names(&self, file: FileId) -> Option<u64> {
        imports::package_with_names(self.files.head(file)?, self.files.path(file))
    }

    /// Computes the tables that depend on all heads.
    pub(crate) fn connect(&mut self) {
        let files = &self.files;
        self.linkage = Linkage::new(
            files.ids().filter_map(|file| Some((file, files.head(file)?.nesting.as_deref()?))),
        );
        self.reach = ImportClosures::new(
            files.len(),
            files.ids().flat_map(|file| self.modules.imported(file)),
        );
    }

    /// Project files of module systems.
    pub fn project_files(&self) -> &[ProjectFile] {
        &self.files.project_files
    }

    /// Returns all files with their keys, in order.
    pub fn listing(&self) -> impl Iterator<Item = (RepoPath, FileKey)> + '_ {
        self.files.each().map(|(id, file)| (file.path.clone(), self.files.key(id)))
    }

    /// Returns the key of a file in the store.
    pub fn key(&self, file: FileId) -> FileKey {
        self.files.key(file)
    }

    /// Returns the file with a key.
    pub fn position(&self, key: FileKey) -> Option<FileId> {
        self.files.position(key)
    }

    /// Returns the keys of the files that the imports of a file lead to or through.
    pub fn imported_keys(&self, file: FileId) -> Vec<FileKey> {
        self.modules.imported(file).map(|file| self.files.key(file)).collect()
    }

    /// Returns the head of a file.
    pub fn head(&self, file: FileId) -> Option<&FileSummary> {
        self.files.head(file)
    }

    /// Returns the targets of the imports of a file.
    pub(crate) fn import_targets(&self, file: FileId) -> &[ImportTarget] {
        self.modules.targets(&self.files, file)
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

    pub(super) fn posting_list(&self, list: Question) -> Option<&[SymbolRef]> {
        self.postings.get(list, &|key| self.files.position(key))
    }

    /// Returns the posting list of a namespace member by its name.
    pub(crate) fn list_of_member(&self, owner: SymbolRef, member: SymbolRef) -> Option<Question> {
        let space = self.files.unit(owner.file)?.spaces.of_symbol(owner.symbol)?;
        Some(Question::space(space, self.files.names.text(self.files.name_of(member))))
    }

    pub(crate) fn join(&mut self, members: &[(Question, SymbolRef)]) {
        let files = &self.files;
        self.postings.join(members, &|key| files.position(key));
    }

    /// Returns the distinct names of all symbols, unordered, with the empty name for unnamed
    /// symbols. Requires all facts in memory, and frees the tables at once; the iterator copies the
    /// names.
    pub fn into_symbol_names(self) -> impl Iterator<Item = Box<str>> {
        let names = Arc::clone(&self.files.names);
        let mut is_used = vec![false; names.len()];
        let mut has_unnamed = false;
        for (_, unit) in self.files.units() {
            for symbol in &unit.facts.symbols {
                match symbol.name.get() {
                    Some(_) => is_used[unit.name(symbol.name).0 as usize] = true,
                    None => has_unnamed = true,
                }
            }
        }
        drop(self);
        let used =
            (0_u32..).zip(is_used).filter_map(|(name, is_used)| is_used.then_some(Name(name)));
        used.map(move |name| Box::from(names.text(name))).chain(has_unnamed.then(Box::default))
    }

    /// Returns every posting list in order: its hash, and its symbols by file key and position,
    /// each with its flags. Requires all facts in memory.
    pub fn posting_lists(&self) -> impl Iterator<Item = (u64, Vec<Posting>)> {
        self.postings.in_order().map(|(list, symbols)| {
            let posting = |symbol: &SymbolRef| Posting {
                file: self.files.key(symbol.file),
                symbol: symbol.symbol.0,
                flags: self.posting_flags(*symbol),
            };
            (list.0, symbols.iter().map(posting).collect())
        })
    }

    pub(super) fn posting_flags(&self, symbol: SymbolRef) -> PostingFlags {
        PostingFlags::of(self.files.symbol(symbol))
    }

    /// Number of files with facts in memory.
    pub fn loaded_files(&self) -> usize {
        self.files.loaded()
    }

    /// Evicts facts that were read on demand if they belong to more than this number of files.
    pub fn forget_facts(&mut self, most: usize) {
        if self.files.forget(most) {
            self.postings.clear_memo();
        }
    }

    /// Returns the direct neighbours of a file: its imports, and the files of its package where the
    /// language shares names between them.
    pub(crate) fn next_to(&self, file: FileId) -> impl Iterator<Item = FileId> + '_ {
        let shares = self
            .files
            .language(file)
            .is_some_and(|language| language.manifest.modules.shared_folder);
        let package = self.modules.package_of(file).filter(|_| shares);
        let siblings = package
            .into_iter()
            .flat_map(|package| self.modules.package(package).files.iter().copied());
        self.modules.imported(file).chain(siblings)
    }
}
