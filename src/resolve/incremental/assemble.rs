//! Construction of tables: with all facts in memory, or with facts that are read on demand.

use super::derive;
use crate::files::archive::Archive;
use crate::files::project_file::ProjectFile;
use crate::files::table::File;
use crate::imports::Modules;
use crate::units::interner::Names;
use crate::units::prepared::{FileSummary, Prepared};
use crate::workspace::postings::Postings;
use crate::workspace::tables::Tables;
use cograph_model::RepoPath;
use cograph_model::graph::{FileId, FileKey, FileRecord};
use std::sync::{Arc, OnceLock};

/// File of tables that are read on demand.
#[derive(Debug)]
pub struct ListedFile {
    /// Path.
    pub path: RepoPath,
    /// Key in the store.
    pub key: FileKey,
    /// Summary and the keys of the files that its imports lead to; `None` for a file without facts.
    pub head: Option<(FileSummary, Vec<FileKey>)>,
    /// True if the file has changed since the posting lists were stored.
    pub has_changed: bool,
}

impl Tables {
    /// Creates tables with all facts in memory. The files are sorted by path, and prepared with the
    /// interner `names`. Keys are positions, from one.
    pub fn of(
        files: &[FileRecord],
        prepared: Vec<Option<Prepared>>,
        names: Names,
        project_files: Vec<ProjectFile>,
    ) -> Self {
        let file = |(record, prepared): (&FileRecord, Option<Prepared>)| {
            let known = prepared.and_then(|prepared| {
                Some(prepared.into_parts(Arc::clone(record.content.as_ref().ok()?)))
            });
            let (head, content) = known.unzip();
            File { path: record.path.clone(), head, content: OnceLock::from(content.map(Arc::new)) }
        };
        let files: Vec<File> = files.iter().zip(prepared).map(file).collect();
        let mut tables = Self::default();
        let keys = (1..).map(FileKey).take(files.len()).collect();
        (tables.files.names, tables.files.project_files) = (Arc::new(names), project_files);
        tables.files.set(files, keys);
        tables.modules = Modules::new(&tables.files);
        let imported = tables.files.ids().map(|file| tables.import_files(file)).collect();
        tables.modules.set_imported(imported);
        let units = tables.files.units();
        let symbols = tables.files.units().map(|(_, unit)| unit.facts.symbols.len()).sum();
        let with_packages = units.map(|(file, unit)| (file, unit, tables.package_with_names(file)));
        tables.postings = Postings::of_files(with_packages, symbols);
        tables.connect();
        derive::derive(&mut tables, |_| true);
        tables
    }

    /// Creates the same from files with all facts.
    pub fn of_all(files: &[FileRecord], project_files: &[ProjectFile]) -> Self {
        let mut names = Names::default();
        let mut prepare = |record: &FileRecord| {
            let (facts, language) = (record.content.as_ref().ok()?, record.language?);
            let own = facts.names.iter().map(|text| names.intern(text)).collect();
            Some(Prepared::of(facts, language, own))
        };
        let prepared = files.iter().map(&mut prepare).collect();
        Self::of(files, prepared, names, project_files.to_vec())
    }

    /// Creates tables of files sorted by path, with facts and posting lists read from `archive` by
    /// need.
    pub fn by_need(
        known: Vec<ListedFile>,
        archive: Arc<dyn Archive>,
        project_files: Vec<ProjectFile>,
    ) -> Self {
        let mut tables =
            Self { postings: Postings::written(Arc::clone(&archive)), ..Self::default() };
        (tables.files.archive, tables.files.project_files) = (Some(archive), project_files);
        let (mut files, mut keys, mut imported) =
            (Vec::with_capacity(known.len()), Vec::new(), Vec::new());
        let mut changed = Vec::new();
        for ListedFile { path, key, head, has_changed } in known {
            let (head, imports) = head.unzip();
            changed.extend(has_changed.then_some(FileId::at(keys.len())));
            keys.push(key);
            imported.push(imports.unwrap_or_default());
            files.push(File { path, head, content: OnceLock::new() });
        }
        tables.files.set(files, keys);
        tables.modules = Modules::new(&tables.files);
        let numbers = |keys: Vec<FileKey>| {
            keys.into_iter().filter_map(|key| tables.files.position(key)).collect()
        };
        let imported = imported.into_iter().map(numbers).collect();
        tables.modules.set_imported(imported);
        for file in changed {
            let own = tables.own_postings(file);
            tables.postings.replace(tables.files.key(file), &[], &own);
        }
        tables.connect();
        derive::derive(&mut tables, |_| true);
        tables
    }
}
