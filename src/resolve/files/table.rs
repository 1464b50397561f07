//! Table of files. The exported parts of files are in memory: in a full build of every file,
//! otherwise of the files that were read.

use crate::files::archive::Archive;
use crate::files::project_file::ProjectFile;
use crate::units::interner::{Name, Names};
use crate::units::partition::Shared;
use crate::units::prepared::{Content, FileSummary};
use crate::units::unit::Unit;
use cograph_grammar::Language;
use cograph_model::RepoPath;
use cograph_model::facts::{FileFacts, Symbol};
use cograph_model::graph::{FileId, FileKey, SymbolRef};
use std::sync::{Arc, OnceLock};

/// Entry of a file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: RepoPath,
    /// `None` for a file without facts.
    pub(crate) head: Option<FileSummary>,
    /// Exported part, read on first access; `None` inside if the read failed.
    pub(crate) content: OnceLock<Option<Arc<Content>>>,
}

/// Files of a repository, sorted by path.
#[derive(Debug, Default)]
pub(crate) struct FileTable {
    entries: Vec<File>,
    /// Key of each file in the store.
    keys: Vec<FileKey>,
    /// File of each key.
    positions: Vec<Option<FileId>>,
    pub(crate) names: Arc<Names>,
    /// Project files of module systems.
    pub(crate) project_files: Vec<ProjectFile>,
    pub(crate) archive: Option<Arc<dyn Archive>>,
}

impl FileTable {
    /// Replaces all files.
    pub(crate) fn set(&mut self, entries: Vec<File>, keys: Vec<FileKey>) {
        let last = keys.iter().max().map_or(0, |key| key.0 as usize);
        self.positions = vec![None; last + 1];
        for (key, file) in keys.iter().zip(0..) {
            self.positions[key.0 as usize] = Some(FileId(file));
        }
        (self.entries, self.keys) = (entries, keys);
    }

    /// Number of files.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns every file.
    pub(crate) fn ids(&self) -> impl Iterator<Item = FileId> + use<> {
        let files =
            u32::try_from(self.entries.len()).expect("a repository has far fewer than 2^32 files");
        (0..files).map(FileId)
    }

    /// Returns every file with its entry.
    pub(crate) fn each(&self) -> impl Iterator<Item = (FileId, &File)> {
        self.ids().zip(&self.entries)
    }

    /// Returns the entry of a file to change it.
    pub(crate) fn entry(&mut self, file: FileId) -> &mut File {
        &mut self.entries[file.0 as usize]
    }

    pub(crate) fn path(&self, file: FileId) -> &RepoPath {
        &self.entries[file.0 as usize].path
    }

    /// Returns the file at a path.
    pub(crate) fn at(&self, path: &RepoPath) -> Option<FileId> {
        self.entries.binary_search_by(|entry| entry.path.cmp(path)).ok().map(FileId::at)
    }

    /// Keys of all files, in order.
    pub(crate) fn keys(&self) -> &[FileKey] {
        &self.keys
    }

    /// Files of all keys, in order.
    pub(crate) fn positions(&self) -> &[Option<FileId>] {
        &self.positions
    }

    /// Returns the key of a file in the store.
    pub(crate) fn key(&self, file: FileId) -> FileKey {
        self.keys[file.0 as usize]
    }

    /// Returns the file with a key.
    pub(crate) fn position(&self, key: FileKey) -> Option<FileId> {
        self.positions.get(key.0 as usize).copied().flatten()
    }

    /// Returns the head of a file.
    pub(crate) fn head(&self, file: FileId) -> Option<&FileSummary> {
        self.entries.get(file.0 as usize)?.head.as_ref()
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

    pub(crate) fn unit(&self, file: FileId) -> Option<Unit<'_>> {
        let known = self.entries.get(file.0 as usize)?;
        let head = known.head.as_ref()?;
        let content = known.content.get_or_init(|| self.read(file, head));
        content.as_ref().map(|content| content.unit(&self.names))
    }

    /// Returns every file with facts. Reads all of them.
    pub(crate) fn units(&self) -> impl Iterator<Item = (FileId, Unit<'_>)> {
        self.ids().filter_map(|file| Some((file, self.unit(file)?)))
    }

    /// Reads the exported part of a file.
    fn read(&self, file: FileId, head: &FileSummary) -> Option<Arc<Content>> {
        let (mut facts, shared) = self.facts(file)?;
        let names = self.names.numbers(&facts.names);
        let prepared = shared.truncate(&mut facts, head.language.id, names);
        Some(Arc::new(prepared.into_parts(Arc::new(facts)).1))
    }

    /// Reads all stored facts of a file.
    pub(crate) fn facts(&self, file: FileId) -> Option<(FileFacts, Shared)> {
        self.archive.as_ref()?.facts(self.key(file))
    }

    pub(crate) fn symbol(&self, symbol: SymbolRef) -> &Symbol {
        let unit = self.unit(symbol.file).expect("symbols are in files with facts");
        let position = symbol.symbol.get().expect("a SymbolRef always names a symbol");
        &unit.facts.symbols[position]
    }

    pub(crate) fn name_of(&self, symbol: SymbolRef) -> Name {
        let unit = self.unit(symbol.file).expect("symbols are in files with facts");
        unit.name(self.symbol(symbol).name)
    }

    /// Number of files with facts in memory.
    pub(crate) fn loaded(&self) -> usize {
        let is_loaded = |file: &&File| file.content.get().is_some_and(Option::is_some);
        self.entries.iter().filter(is_loaded).count()
    }

    /// Evicts the facts that were read on demand if they belong to more than this number of files;
    /// true if it did.
    pub(crate) fn forget(&mut self, most: usize) -> bool {
        let is_full = self.archive.is_some() && self.loaded() > most;
        if is_full {
            self.entries.iter_mut().for_each(|file| file.content = OnceLock::new());
        }
        is_full
    }
}
