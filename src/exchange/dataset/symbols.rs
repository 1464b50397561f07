//! The tables that are written in the order of files: files, symbols, imports, relations.

use std::collections::BTreeSet;

use super::schema;
use super::tables::{Destination, Rows};
use super::texts::Texts;
use crate::export::ExportError;
use crate::names::{FileNames, SymbolNames, package_of};
use cograph_model::facts::flags;
use cograph_store::{FileRow, ImportSort, Snapshot};

/// The tables.
pub(crate) struct Tables {
    files: Rows,
    symbols: Rows,
    imports: Rows,
    relations: Rows,
}

/// Manager, name and version of a package.
pub(crate) type Package = [String; 3];

impl Tables {
    pub(crate) fn create(destination: &Destination<'_>) -> Result<Self, ExportError> {
        Ok(Self {
            files: Rows::create(&schema::FILES, destination)?,
            symbols: Rows::create(&schema::SYMBOLS, destination)?,
            imports: Rows::create(&schema::IMPORTS, destination)?,
            relations: Rows::create(&schema::RELATIONS, destination)?,
        })
    }

    /// Adds all rows. Returns the SCIP symbols, and the packages of the indexed files.
    pub(crate) fn write(
        &mut self,
        snapshot: &Snapshot,
        names: &mut SymbolNames<'_>,
        repository: &str,
    ) -> Result<(Texts, BTreeSet<Package>), ExportError> {
        let (mut texts, mut packages) = (Texts::default(), BTreeSet::new());
        for place in 0..names.files.len() {
            let file = names.files[place].clone();
            self.file(&file, names.language(place), repository)?;
            if file.skipped.is_some() {
                texts.push_file(&names.file_symbol(place));
                continue;
            }
            let own = names.make(place)?;
            texts.push_file(&own.file);
            for (row, symbol) in own.rows.iter().zip(&own.names) {
                texts.push_symbol(row.key, symbol);
            }
            packages.insert(package_of(&own.file));
            self.symbols(&file, &own, repository)?;
            for relation in snapshot.relations_of(&file)? {
                self.relations.add(&[
                    repository.into(),
                    relation.kind.word().into(),
                    relation.from.0.into(),
                    relation.to.0.into(),
                ])?;
            }
            for import in snapshot.imports_of(file.key)? {
                let target = import.target.and_then(|target| names.place(target));
                let target = target.map(|place| names.files[place].path.as_str());
                self.imports.add(&[
                    repository.into(),
                    file.path.as_str().into(),
                    import.at.line.into(),
                    (&*import.module).into(),
                    u32::from(import.level).into(),
                    import.item.as_deref().into(),
                    target.into(),
                    sort_of(import.sort).into(),
                ])?;
            }
        }
        Ok((texts, packages))
    }

    fn file(
        &mut self,
        file: &FileRow,
        language: &str,
        repository: &str,
    ) -> Result<(), ExportError> {
        self.files.add(&[
            repository.into(),
            file.path.as_str().into(),
            Some(language).filter(|language| !language.is_empty()).into(),
            file.size.into(),
            file.lines.into(),
            file.skipped.map(|reason| reason.word()).into(),
            file.generated.into(),
            file.test.into(),
            file.package.as_deref().into(),
        ])
    }

    fn symbols(
        &mut self,
        file: &FileRow,
        own: &FileNames,
        repository: &str,
    ) -> Result<(), ExportError> {
        for (row, symbol) in own.rows.iter().zip(&own.names) {
            self.symbols.add(&[
                repository.into(),
                row.key.0.into(),
                symbol.as_str().into(),
                (&*row.name_text).into(),
                row.kind.word().into(),
                file.path.as_str().into(),
                row.extent.start.line.into(),
                row.extent.end.line.into(),
                row.container.map(|container| container.0).into(),
                row.visibility.word().into(),
                (row.flags & flags::EXPORTED != 0).into(),
                (row.flags & flags::TEST != 0).into(),
                (&*row.signature).into(),
            ])?;
        }
        Ok(())
    }

    pub(crate) fn into_rows(self) -> [Rows; 4] {
        [self.files, self.symbols, self.imports, self.relations]
    }
}

/// Word of a sort of import.
fn sort_of(sort: ImportSort) -> &'static str {
    match sort {
        ImportSort::Test => "test",
        ImportSort::Types => "type_only",
        ImportSort::Lazy => "lazy",
        ImportSort::Runtime => "runtime",
        ImportSort::Declaration => "declaration",
    }
}
