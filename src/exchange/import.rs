//! Reads the edges of a SCIP index for the present files: once for the places of definitions, and
//! once more for the references that lead to them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use protobuf::Message;
use rustc_hash::{FxHashMap, FxHashSet};
use scip::types::descriptor::Suffix;
use scip::types::{Document, Metadata, Occurrence, PositionEncoding, SymbolRole};

use crate::input;
use crate::packages::ReadText;
use crate::text::{Lines, Unit};
use crate::wire::{DOCUMENT, Fields, METADATA};
use cograph_model::stated::{
    MAX_STATED, Stated, StatedEdge, StatedFile, StatedSymbol, StatedTarget,
};
use cograph_model::{Position, RepoPath};
use cograph_store::{FileRow, Snapshot, StoreError, SymbolKey, SymbolRow};
use xxhash_rust::xxh3::xxh3_128;

/// Why an index is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index cannot be read, or is damaged.
    #[error("{0}")]
    Index(String),
}

/// How much was imported, and what was left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Imported {
    /// Program that made the index.
    pub tool: String,
    /// Documents of which edges were taken.
    pub documents: u64,
    /// References with their targets.
    pub edges: u64,
    /// Documents of no indexed file, and the first of them.
    pub not_indexed: (u64, Vec<String>),
    /// Documents of another content than the present one, and the first of them.
    pub other_content: (u64, Vec<String>),
    /// References to symbols that no document defines.
    pub outside: u64,
    /// References to definitions that are no symbols of the store, such as local variables.
    pub no_symbol: u64,
    /// References at places where the store has none.
    pub no_site: u64,
}

/// How many paths are named.
const NAMED: usize = 5;

/// Adds the edges of an index to those that are stated; the edges of a document replace earlier
/// ones of its file. `prefix` is the directory that the paths of the documents start in; none for
/// that which the index names.
pub fn import(
    snapshot: &Snapshot,
    stated: Stated,
    path: &Path,
    prefix: Option<&str>,
    read: ReadText<'_>,
) -> Result<(Stated, Imported), ImportError> {
    let mut importing = Importing {
        snapshot,
        read,
        prefix: prefix.unwrap_or_default().trim_matches('/').to_owned(),
        is_prefix_given: prefix.is_some(),
        definitions: FxHashMap::default(),
        count: 0,
        refused: FxHashSet::default(),
        imported: Imported::default(),
    };
    importing.each(path, &mut |importing, document| importing.define(&document))?;
    let mut adding = Adding::to(stated, &importing.imported.tool);
    importing.each(path, &mut |importing, document| importing.refer(&document, &mut adding))?;
    Ok((adding.stated.compacted(), importing.imported))
}

/// Place of a definition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Definition {
    /// Name of a symbol of the store.
    Symbol(RepoPath, Position),
    /// File as a whole.
    File(RepoPath),
    /// Nothing that the store has.
    Other,
}

struct Importing<'i> {
    snapshot: &'i Snapshot,
    read: ReadText<'i>,
    prefix: String,
    is_prefix_given: bool,
    /// By the hash of a symbol, and of its document if it is local.
    definitions: FxHashMap<u128, Vec<Definition>>,
    count: u64,
    /// Documents of other contents.
    refused: FxHashSet<RepoPath>,
    imported: Imported,
}

/// Present file of a document.
struct Present<'p> {
    row: FileRow,
    lines: Lines<'p>,
    unit: Unit,
}

impl Importing<'_> {
    /// Passes each document to `visit`.
    fn each(
        &mut self,
        path: &Path,
        visit: &mut dyn FnMut(&mut Self, Document) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let file = File::open(path).map_err(|error| ImportError::Index(error.to_string()))?;
        let mut fields = Fields::new(BufReader::with_capacity(256 << 10, file));
        let (mut field, mut is_known) = (Vec::new(), false);
        while let Some(number) = fields.next(&mut field).map_err(ImportError::Index)? {
            let broken = |error: protobuf::Error| {
                ImportError::Index(format!("it is no SCIP index, or damaged: {error}"))
            };
            match number {
                METADATA => {
                    let metadata = Metadata::parse_from_bytes(&field).map_err(broken)?;
                    self.describe(&metadata);
                }
                DOCUMENT => {
                    let document = input::document(&field).map_err(ImportError::Index)?;
                    visit(self, document)?;
                }
                _ => {}
            }
            is_known |= [METADATA, DOCUMENT].contains(&number);
        }
        match is_known {
            true => Ok(()),
            false => Err(ImportError::Index("it is no SCIP index: it has no documents".into())),
        }
    }

    fn describe(&mut self, metadata: &Metadata) {
        if let Some(tool) = metadata.tool_info.as_ref() {
            let text = format!("{} {}", tool.name, tool.version);
            self.imported.tool = text.trim().chars().take(100).collect();
        }
        if !self.is_prefix_given {
            let root = self.snapshot.meta().root.to_string_lossy().replace('\\', "/");
            let own = input::path_of_url(&metadata.project_root);
            let inner = own.strip_prefix(root.trim_end_matches('/')).unwrap_or_default();
            self.prefix = inner.strip_prefix('/').unwrap_or_default().trim_matches('/').to_owned();
        }
    }

    fn path(&self, document: &Document) -> Option<RepoPath> {
        let own = document.relative_path.trim_start_matches("./");
        match self.prefix.as_str() {
            "" => RepoPath::new(own),
            prefix => RepoPath::new(&format!("{prefix}/{own}")),
        }
    }

    /// Row and text of the file of a document.
    fn present<'t>(
        &self,
        document: &Document,
        path: &RepoPath,
        text: &'t mut Vec<u8>,
    ) -> Result<Option<Present<'t>>, ImportError> {
        let row = self.snapshot.file_at(path.as_str())?;
        let Some(row) = row.filter(|row| row.skipped.is_none() && row.hash != 0) else {
            return Ok(None);
        };
        let Some(read) = (self.read)(path) else { return Ok(None) };
        *text = read;
        let unit = match document.position_encoding.enum_value_or_default() {
            PositionEncoding::UTF8CodeUnitOffsetFromLineStart => Unit::Byte,
            PositionEncoding::UTF32CodeUnitOffsetFromLineStart => Unit::Character,
            // Indexers that do not say it are made with languages whose strings are of such units.
            _ => Unit::Utf16,
        };
        Ok(Some(Present { row, lines: Lines::new(text), unit }))
    }

    /// Notes the definitions of a document.
    fn define(&mut self, document: &Document) -> Result<(), ImportError> {
        let path = self.path(document);
        let mut text = Vec::new();
        let present = match &path {
            Some(path) => self.present(document, path, &mut text)?,
            None => None,
        };
        let (Some(path), Some(present)) = (path, present) else {
            note(&mut self.imported.not_indexed, &document.relative_path);
            return Ok(());
        };
        if !document.text.is_empty() && document.text.as_bytes() != present.lines.text()
            || !has_names(document, &present)
        {
            note(&mut self.imported.other_content, path.as_str());
            self.refused.insert(path);
            return Ok(());
        }
        let symbols = self.snapshot.symbols_of(&present.row)?;
        let names: FxHashSet<Position> = symbols.iter().map(|symbol| symbol.name_at).collect();
        for occurrence in document.occurrences.iter().filter(|one| defines(one)) {
            let place = range(occurrence, &present);
            let definition = match place {
                // Files are defined where they begin, by some at their first word.
                Some((Position { line: 1, column: 0 }, end))
                    if end == 0 || is_namespace(&occurrence.symbol) =>
                {
                    Definition::File(path.clone())
                }
                Some((at, _)) if names.contains(&at) => Definition::Symbol(path.clone(), at),
                _ => Definition::Other,
            };
            self.count += 1;
            if self.count > MAX_STATED {
                return Err(ImportError::Index(format!("more than {MAX_STATED} definitions")));
            }
            let all = self.definitions.entry(key(&occurrence.symbol, document)).or_default();
            if !all.contains(&definition) {
                all.push(definition);
            }
        }
        Ok(())
    }

    /// Takes the references of a document.
    fn refer(&mut self, document: &Document, target: &mut Adding) -> Result<(), ImportError> {
        let Some(path) = self.path(document).filter(|path| !self.refused.contains(path)) else {
            return Ok(());
        };
        let mut text = Vec::new();
        let Some(present) = self.present(document, &path, &mut text)? else { return Ok(()) };
        let sites = self.snapshot.sites_of(&present.row)?;
        let sites: FxHashSet<Position> = sites.iter().map(|site| site.at).collect();
        let mut edges: BTreeMap<Position, Vec<StatedTarget>> = BTreeMap::new();
        for occurrence in document.occurrences.iter().filter(|one| !defines(one)) {
            let Some(definitions) = self.definitions.get(&key(&occurrence.symbol, document)) else {
                self.imported.outside += 1;
                continue;
            };
            let known: Vec<&Definition> =
                definitions.iter().filter(|one| **one != Definition::Other).collect();
            if known.is_empty() {
                self.imported.no_symbol += 1;
                continue;
            }
            let at = range(occurrence, &present).map(|(at, _)| at);
            let Some(at) = at.filter(|at| sites.contains(at)) else {
                self.imported.no_site += 1;
                continue;
            };
            for definition in known {
                let one = target.target(self.snapshot, &path, definition)?;
                let targets = edges.entry(at).or_default();
                if let Some(one) = one
                    && !targets.contains(&one)
                {
                    targets.push(one);
                }
            }
        }
        edges.retain(|_, targets| !targets.is_empty());
        let edges: Vec<StatedEdge> = edges
            .into_iter()
            .map(|(at, mut targets)| {
                targets.sort();
                StatedEdge { at, targets }
            })
            .collect();
        target.count += edges.iter().map(|edge| edge.targets.len() as u64).sum::<u64>();
        if target.count > MAX_STATED {
            return Err(ImportError::Index(format!(
                "it has more than {MAX_STATED} edges to symbols of the index"
            )));
        }
        self.imported.documents += 1;
        self.imported.edges += edges.len() as u64;
        let file = StatedFile::new(present.row.hash, target.tool, &edges);
        target.stated.files.insert(path, file);
        Ok(())
    }
}

/// What is stated, with the edges that are added.
struct Adding {
    stated: Stated,
    tool: u32,
    count: u64,
    paths: FxHashMap<RepoPath, u32>,
    symbols: FxHashMap<(RepoPath, Position), Option<u32>>,
    /// Symbols of the files that were targets.
    files: FxHashMap<RepoPath, Vec<SymbolRow>>,
}

impl Adding {
    fn to(mut stated: Stated, tool: &str) -> Self {
        let known = stated.tools.iter().position(|known| known == tool);
        let tool = known.unwrap_or_else(|| {
            stated.tools.push(tool.to_owned());
            stated.tools.len() - 1
        });
        Self {
            tool: u32::try_from(tool).unwrap_or(u32::MAX),
            count: stated.files.values().map(|file| u64::from(file.edges)).sum(),
            paths: FxHashMap::default(),
            symbols: FxHashMap::default(),
            files: FxHashMap::default(),
            stated,
        }
    }

    fn target(
        &mut self,
        snapshot: &Snapshot,
        from: &RepoPath,
        definition: &Definition,
    ) -> Result<Option<StatedTarget>, StoreError> {
        Ok(match definition {
            Definition::Other => None,
            Definition::Symbol(path, at) if path == from => Some(StatedTarget::Own(*at)),
            Definition::File(path) => {
                let paths = &mut self.stated.paths;
                let number = self.paths.entry(path.clone()).or_insert_with(|| {
                    let known = paths.iter().position(|known| known == path);
                    known.unwrap_or_else(|| {
                        paths.push(path.clone());
                        paths.len() - 1
                    }) as u32
                });
                Some(StatedTarget::File(*number))
            }
            Definition::Symbol(path, at) => {
                let place = (path.clone(), *at);
                if let Some(known) = self.symbols.get(&place) {
                    return Ok(known.map(StatedTarget::Symbol));
                }
                let symbol = self.symbol(snapshot, path, *at)?;
                let number = symbol.map(|symbol| {
                    self.stated.symbols.push(symbol);
                    self.stated.symbols.len() as u32 - 1
                });
                self.symbols.insert(place, number);
                number.map(StatedTarget::Symbol)
            }
        })
    }

    /// The symbol at a place of another file, by its names.
    fn symbol(
        &mut self,
        snapshot: &Snapshot,
        path: &RepoPath,
        at: Position,
    ) -> Result<Option<StatedSymbol>, StoreError> {
        if !self.files.contains_key(path) {
            let row = snapshot.file_at(path.as_str())?;
            let symbols = row.map(|row| snapshot.symbols_of(&row)).transpose()?;
            if self.files.len() >= MAX_FILES {
                self.files.clear();
            }
            self.files.insert(path.clone(), symbols.unwrap_or_default());
        }
        let rows = &self.files[path];
        let names = |row: &SymbolRow| -> Vec<Box<str>> {
            let mut names = vec![row.name_text.clone()];
            let mut next = row.container;
            while let Some(outer) = next.and_then(|key| here(rows, key))
                && names.len() <= rows.len()
            {
                names.push(outer.name_text.clone());
                next = outer.container;
            }
            names.reverse();
            names
        };
        let Some(place) = rows.iter().position(|row| row.name_at == at) else { return Ok(None) };
        let wanted = names(&rows[place]);
        let same =
            |row: &&SymbolRow| row.name_text == rows[place].name_text && names(row) == wanted;
        let number = rows[..place].iter().filter(same).count();
        let count = rows.iter().filter(same).count();
        Ok(Some(StatedSymbol {
            path: path.clone(),
            names: wanted,
            number: u32::try_from(number).unwrap_or(u32::MAX),
            count: u32::try_from(count).unwrap_or(u32::MAX),
        }))
    }
}

/// Files whose symbols are in memory.
const MAX_FILES: usize = 256;

fn here(rows: &[SymbolRow], key: SymbolKey) -> Option<&SymbolRow> {
    let first = rows.first()?.key.0;
    rows.get(key.0.checked_sub(first)? as usize)
}

fn note((count, first): &mut (u64, Vec<String>), path: &str) {
    *count += 1;
    if first.len() < NAMED {
        first.push(path.chars().take(300).collect());
    }
}

fn defines(occurrence: &Occurrence) -> bool {
    let roles = SymbolRole::Definition as i32 | SymbolRole::ForwardDefinition as i32;
    occurrence.symbol_roles & roles != 0
}

/// Hash of a symbol, and of its document if it is local.
fn key(symbol: &str, document: &Document) -> u128 {
    match scip::symbol::is_local_symbol(symbol) {
        true => xxh3_128(format!("{symbol}\0{}", document.relative_path).as_bytes()),
        false => xxh3_128(symbol.as_bytes()),
    }
}

/// Start of an occurrence, and the column of its end if that is on the same line; none if it is not
/// in the file.
fn range(occurrence: &Occurrence, present: &Present<'_>) -> Option<(Position, usize)> {
    let (line, start, end) = match occurrence.range[..] {
        [line, start, end] => (line, start, end),
        [line, start, last, end] if line == last => (line, start, end),
        [line, start, _, _] => (line, start, start),
        _ => return None,
    };
    let line = usize::try_from(line).ok()?;
    let column = |column: i32| {
        let column = usize::try_from(column).ok()?;
        present.lines.to_bytes(line, column, present.unit)
    };
    let (start, end) = (column(start)?, column(end)?);
    let line = u32::try_from(line).ok()?.checked_add(1)?;
    Some((Position { line, column: u32::try_from(start).ok()? }, end))
}

fn is_namespace(symbol: &str) -> bool {
    symbol.ends_with('/') || symbol.ends_with(':')
}

/// True unless most definitions stand where the file has other names: it has changed since the
/// index was made.
fn has_names(document: &Document, present: &Present<'_>) -> bool {
    let (mut same, mut others) = (0, 0);
    for occurrence in document.occurrences.iter().filter(|one| defines(one)) {
        let Ok(symbol) = scip::symbol::parse_symbol(&occurrence.symbol) else { continue };
        let Some(last) = symbol.descriptors.last() else { continue };
        let is_named = matches!(
            last.suffix.enum_value_or_default(),
            Suffix::Type | Suffix::Term | Suffix::Method | Suffix::Macro
        );
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        if !is_named || !last.name.chars().all(is_word) {
            continue;
        }
        let written = range(occurrence, present).and_then(|(at, end)| {
            let line = present.lines.line(at.line as usize - 1)?;
            line.get(at.column as usize..end)
        });
        let is_same = written
            .is_some_and(|written| memchr::memmem::find(written, last.name.as_bytes()).is_some());
        *(if is_same { &mut same } else { &mut others }) += 1;
    }
    // One may have a name that is not written, such as that of a whole file.
    others <= same + 1
}
