//! The graph of a repository as Parquet tables, for engines that ask many repositories at once.

pub(crate) mod schema;
mod writer;

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use rustc_hash::FxHashMap;

use crate::export::ExportError;
use crate::names::{SymbolNames, package_of};
use crate::packages::ReadText;
use cograph_model::facts::flags;
use cograph_model::{SiteKind, Step, Verdict};
use cograph_store::{FileKey, ImportSort, NameKey, SiteRow, SiteTarget, Snapshot, SymbolKey};
use schema::TableSchema;
use writer::{Cell, TableWriter, output_error};

/// Number of buckets: directories among which the files of repositories are divided.
const BUCKETS: u64 = 64;

/// What identifies the rows of a repository.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Name of the repository, unique in the dataset.
    pub repository: String,
    /// Commit, if there is one.
    pub revision: Option<String>,
    /// Version of this program.
    pub version: &'static str,
}

/// How much was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Rows by table.
    pub rows: Vec<(&'static str, u64)>,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Writes the tables of a repository below `directory`, each to
/// `TABLE/bucket=NN/REPOSITORY.parquet`, in place of those of an earlier run. Targets and the
/// references to them are in memory until they are sorted; everything else is written as it is
/// read. The rows depend on the repository and `origin` alone.
pub fn export_dataset(
    snapshot: &Snapshot,
    origin: &Origin,
    read: ReadText<'_>,
    directory: &Path,
) -> Result<Written, ExportError> {
    let names = SymbolNames::new(snapshot, read)?;
    let destination = Destination { directory, repository: &origin.repository };
    let mut dataset = Dataset {
        snapshot,
        repository: &origin.repository,
        names,
        texts: Texts::default(),
        references: Vec::new(),
        packages: BTreeMap::new(),
        written: Written { rows: Vec::new(), bytes: 0 },
    };
    dataset.files_and_symbols(&destination)?;
    dataset.sorted_references(&destination)?;
    dataset.other_tables(&destination, origin)?;
    Ok(dataset.written)
}

/// Where the files of a repository are.
struct Destination<'d> {
    directory: &'d Path,
    repository: &'d str,
}

impl Destination<'_> {
    /// Path of a table; its directory is created.
    fn path(&self, table: &TableSchema) -> Result<PathBuf, ExportError> {
        let hash = xxhash_rust::xxh3::xxh3_64(self.repository.as_bytes());
        let folder = self.directory.join(table.name).join(format!("bucket={:02}", hash % BUCKETS));
        fs::create_dir_all(&folder)?;
        Ok(folder.join(format!("{}.parquet", file_name(self.repository))))
    }
}

/// Name of the file of a repository: other bytes than letters, digits, `.`, `_` and `-` are
/// percent-encoded, so that no two repositories have one file and none leads out of its directory.
fn file_name(repository: &str) -> String {
    let mut name = String::new();
    for byte in repository.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => name.push(byte.into()),
            b'.' if !name.is_empty() => name.push('.'),
            byte => name += &format!("%{byte:02X}"),
        }
    }
    name
}

/// SCIP symbols by number.
#[derive(Default)]
struct Texts {
    numbers: FxHashMap<Box<str>, u32>,
}

impl Texts {
    fn number(&mut self, text: String) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(text.into_boxed_str()).or_insert(next)
    }

    /// The texts in order, and the rank of each number.
    fn sorted(self) -> (Vec<Box<str>>, Vec<u32>) {
        let mut texts: Vec<(Box<str>, u32)> = self.numbers.into_iter().collect();
        texts.sort_unstable();
        let mut ranks = vec![0; texts.len()];
        for (rank, (_, number)) in (0..).zip(&texts) {
            ranks[*number as usize] = rank;
        }
        (texts.into_iter().map(|(text, _)| text).collect(), ranks)
    }
}

/// Reference that is to be sorted. The target is first: the order of the fields is that of rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reference {
    /// Number of the target's SCIP symbol; `u32::MAX` for none.
    target: u32,
    place: u32,
    line: u32,
    column: u32,
    target_id: Option<SymbolKey>,
    source_id: Option<SymbolKey>,
    /// Number of the source's SCIP symbol; `u32::MAX` for none.
    source: u32,
    name: NameKey,
    kind: SiteKind,
    verdict: Verdict,
    step: Step,
}

const NONE: u32 = u32::MAX;

struct Dataset<'s> {
    snapshot: &'s Snapshot,
    repository: &'s str,
    names: SymbolNames<'s>,
    texts: Texts,
    references: Vec<Reference>,
    /// References by manager, name, version and role of a package.
    packages: BTreeMap<([String; 3], &'static str), u64>,
    written: Written,
}

impl Dataset<'_> {
    fn files_and_symbols(&mut self, destination: &Destination<'_>) -> Result<(), ExportError> {
        let mut file_rows = Rows::create(&schema::FILES, destination)?;
        let mut symbol_rows = Rows::create(&schema::SYMBOLS, destination)?;
        let mut import_rows = Rows::create(&schema::IMPORTS, destination)?;
        let mut relation_rows = Rows::create(&schema::RELATIONS, destination)?;
        for place in 0..self.names.files.len() {
            let file = self.names.files[place].clone();
            let (path, language) = (file.path.as_str(), self.names.language(place).to_owned());
            file_rows.add(&[
                self.repository.into(),
                path.into(),
                Some(language.as_str()).filter(|language| !language.is_empty()).into(),
                file.size.into(),
                file.lines.into(),
                file.skipped.map(|reason| reason.word()).into(),
                file.generated.into(),
                file.test.into(),
                file.package.as_deref().into(),
            ])?;
            if file.skipped.is_some() {
                continue;
            }
            let own = self.names.of_file(place)?;
            *self.packages.entry((package_of(&own.file), "own")).or_default() += 0;
            for (row, symbol) in own.rows.iter().zip(&own.names) {
                symbol_rows.add(&[
                    self.repository.into(),
                    row.key.0.into(),
                    symbol.as_str().into(),
                    (&*row.name_text).into(),
                    row.kind.word().into(),
                    path.into(),
                    row.extent.start.line.into(),
                    row.extent.end.line.into(),
                    row.container.map(|container| container.0).into(),
                    row.visibility.word().into(),
                    (row.flags & flags::EXPORTED != 0).into(),
                    (row.flags & flags::TEST != 0).into(),
                    (&*row.signature).into(),
                ])?;
                for relation in self.snapshot.relations_from(row.key)? {
                    relation_rows.add(&[
                        self.repository.into(),
                        relation.kind.word().into(),
                        relation.from.0.into(),
                        relation.to.0.into(),
                    ])?;
                }
            }
            for import in self.snapshot.imports_of(file.key)? {
                let target = import.target.and_then(|target| self.names.place(target));
                let target = target.map(|place| self.names.files[place].path.as_str());
                import_rows.add(&[
                    self.repository.into(),
                    path.into(),
                    import.at.line.into(),
                    (&*import.module).into(),
                    u32::from(import.level).into(),
                    import.item.as_deref().into(),
                    target.into(),
                    sort_of(import.sort).into(),
                ])?;
            }
            for site in self.snapshot.sites_of(&file)? {
                self.site(place, &site)?;
            }
        }
        for rows in [file_rows, symbol_rows, import_rows, relation_rows] {
            rows.finish(&mut self.written)?;
        }
        Ok(())
    }

    /// Keeps the references of a site.
    fn site(&mut self, place: usize, site: &SiteRow) -> Result<(), ExportError> {
        let source = match site.enclosing {
            Some(source) => self.symbol(source, site.file)?.unwrap_or(NONE),
            None => NONE,
        };
        let mut reference = Reference {
            target: NONE,
            place: place as u32,
            line: site.at.line,
            column: site.at.column,
            target_id: None,
            source_id: site.enclosing,
            source,
            name: site.name,
            kind: site.kind,
            verdict: site.verdict,
            step: site.step,
        };
        let has_targets = matches!(site.verdict, Verdict::Resolved | Verdict::Likely);
        let targets = if has_targets { self.snapshot.targets(site)? } else { Vec::new() };
        if targets.is_empty() {
            reference.target = self.whole_or_outside(place, site)?.unwrap_or(NONE);
            self.references.push(reference);
        }
        for target in targets {
            let file = self.snapshot.symbol(target)?.map(|row| row.file);
            let symbol = file.map(|file| self.symbol(target, file)).transpose()?.flatten();
            let found =
                Reference { target: symbol.unwrap_or(NONE), target_id: Some(target), ..reference };
            self.references.push(found);
        }
        Ok(())
    }

    /// Number of the file or of the name outside of the repository that a site leads to.
    fn whole_or_outside(
        &mut self,
        place: usize,
        site: &SiteRow,
    ) -> Result<Option<u32>, ExportError> {
        if let SiteTarget::External(name) = site.target {
            let name = self.snapshot.name(name)?;
            let (symbol, _) = self.names.outside(place, &name, site.step == Step::Builtin);
            *self.packages.entry((package_of(&symbol), "used")).or_default() += 1;
            return Ok(Some(self.texts.number(symbol)));
        }
        let file = match site.target {
            SiteTarget::None => self.snapshot.site_file(site.key)?,
            _ => None,
        };
        let whole = file.map(|file| self.names.of_whole_file(file)).transpose()?.flatten();
        Ok(whole.map(|symbol| self.texts.number(symbol)))
    }

    fn symbol(&mut self, key: SymbolKey, file: FileKey) -> Result<Option<u32>, ExportError> {
        let symbol = self.names.of_symbol(key, file)?;
        Ok(symbol.map(|symbol| self.texts.number(symbol)))
    }

    fn sorted_references(&mut self, destination: &Destination<'_>) -> Result<(), ExportError> {
        let (texts, ranks) = std::mem::take(&mut self.texts).sorted();
        let rank = |number: u32| ranks.get(number as usize).copied().unwrap_or(NONE);
        for reference in &mut self.references {
            (reference.target, reference.source) = (rank(reference.target), rank(reference.source));
        }
        self.references.sort_unstable();
        let text = |rank: u32| texts.get(rank as usize).map(|text| &**text);
        let mut rows = Rows::create(&schema::REFERENCES, destination)?;
        let mut calls = Rows::create(&schema::CALLS, destination)?;
        let mut known: FxHashMap<NameKey, String> = FxHashMap::default();
        for reference in &self.references {
            let path = self.names.files[reference.place as usize].path.as_str();
            if let Entry::Vacant(place) = known.entry(reference.name) {
                place.insert(self.snapshot.name(reference.name)?);
            }
            let target = text(reference.target);
            rows.add(&[
                self.repository.into(),
                target.into(),
                reference.target_id.map(|key| key.0).into(),
                reference.source_id.map(|key| key.0).into(),
                path.into(),
                reference.line.into(),
                reference.column.into(),
                reference.kind.word().into(),
                known[&reference.name].as_str().into(),
                reference.verdict.word().into(),
                reference.step.word().into(),
            ])?;
            let is_call = matches!(reference.kind, SiteKind::Call | SiteKind::Construct);
            if let Some(callee) = target.filter(|_| is_call) {
                calls.add(&[
                    self.repository.into(),
                    callee.into(),
                    reference.target_id.map(|key| key.0).into(),
                    text(reference.source).into(),
                    reference.source_id.map(|key| key.0).into(),
                    path.into(),
                    reference.line.into(),
                    reference.verdict.word().into(),
                ])?;
            }
        }
        rows.finish(&mut self.written)?;
        calls.finish(&mut self.written)
    }

    fn other_tables(
        &mut self,
        destination: &Destination<'_>,
        origin: &Origin,
    ) -> Result<(), ExportError> {
        let mut rows = Rows::create(&schema::PACKAGES, destination)?;
        for (([manager, name, version], role), references) in &self.packages {
            // What is built in, and files without a manifest, are in no package.
            if name.is_empty() {
                continue;
            }
            rows.add(&[
                self.repository.into(),
                manager.as_str().into(),
                name.as_str().into(),
                Some(version.as_str()).filter(|version| !version.is_empty()).into(),
                (*role).into(),
                (*references).into(),
            ])?;
        }
        rows.finish(&mut self.written)?;
        let total = |table: &TableSchema| {
            let found = self.written.rows.iter().find(|(name, _)| *name == table.name);
            found.map_or(0, |(_, rows)| *rows)
        };
        let mut rows = Rows::create(&schema::REPOSITORIES, destination)?;
        rows.add(&[
            self.repository.into(),
            origin.revision.as_deref().into(),
            total(&schema::FILES).into(),
            total(&schema::SYMBOLS).into(),
            total(&schema::REFERENCES).into(),
            origin.version.into(),
        ])?;
        rows.finish(&mut self.written)
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

/// Rows of a table.
struct Rows {
    writer: TableWriter,
    name: &'static str,
    rows: u64,
}

impl Rows {
    fn create(
        table: &'static TableSchema,
        destination: &Destination<'_>,
    ) -> Result<Self, ExportError> {
        let writer = TableWriter::create(table, &destination.path(table)?).map_err(failed)?;
        Ok(Self { writer, name: table.name, rows: 0 })
    }

    fn add(&mut self, row: &[Cell<'_>]) -> Result<(), ExportError> {
        self.rows += 1;
        self.writer.add(row).map_err(failed)
    }

    fn finish(self, written: &mut Written) -> Result<(), ExportError> {
        written.bytes += self.writer.finish().map_err(failed)?;
        written.rows.push((self.name, self.rows));
        Ok(())
    }
}

fn failed(error: ParquetError) -> ExportError {
    ExportError::Output(output_error(error))
}
