//! SCIP symbols of the repository's symbols and of names outside of it. A symbol is named by its
//! file and the chain of what encloses it; one that only its file can name is local.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use scip::symbol::{SymbolFormatOptions, format_symbol_with};
use scip::types::descriptor::Suffix;
use scip::types::{Descriptor, Symbol};

use crate::packages::{PackageId, Packages, ReadText};
use cograph_model::facts::flags;
use cograph_model::{RelationKind, RepoPath, SymbolKind};
use cograph_store::{FileKey, FileRow, RelationRow, Snapshot, StoreError, SymbolKey, SymbolRow};

/// Name of the scheme.
const SCHEME: &str = "cograph";

/// Maximum total length of the names in memory, in bytes: those of other files are made again.
const MAX_NAME_BYTES: usize = 64 << 20;

/// Maximum number of enclosing symbols in a name.
const MAX_CHAIN: usize = 64;

/// Symbols of a file with their SCIP symbols.
pub(crate) struct FileNames {
    pub(crate) rows: Vec<SymbolRow>,
    /// SCIP symbol of each.
    pub(crate) names: Vec<String>,
    /// SCIP symbol of the file.
    pub(crate) file: String,
    first: u32,
}

impl FileNames {
    pub(crate) fn place(&self, key: SymbolKey) -> Option<usize> {
        let place = key.0.checked_sub(self.first)? as usize;
        (place < self.rows.len()).then_some(place)
    }

    fn bytes(&self) -> usize {
        let own = self.names.iter().map(|name| name.len() + size_of::<(String, SymbolRow)>());
        own.sum::<usize>()
            + self.rows.iter().map(|row| row.signature.len() + row.doc.len()).sum::<usize>()
    }
}

/// Names of all files, made by need.
pub(crate) struct SymbolNames<'s> {
    snapshot: &'s Snapshot,
    pub(crate) files: Vec<FileRow>,
    places: FxHashMap<FileKey, usize>,
    languages: FxHashMap<u32, String>,
    packages: Packages<'s>,
    known: FxHashMap<usize, Rc<FileNames>>,
    known_bytes: usize,
}

impl<'s> SymbolNames<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot, read: ReadText<'s>) -> Result<Self, StoreError> {
        let files = snapshot.files()?;
        let places = files.iter().enumerate().map(|(place, file)| (file.key, place)).collect();
        let languages = snapshot.languages()?.into_iter().map(|(key, name)| (key.0, name));
        Ok(Self {
            snapshot,
            places,
            languages: languages.collect(),
            packages: Packages::new(read),
            files,
            known: FxHashMap::default(),
            known_bytes: 0,
        })
    }

    pub(crate) fn language(&self, place: usize) -> &str {
        let language = self.files[place].language;
        language.and_then(|key| self.languages.get(&key.0)).map_or("", String::as_str)
    }

    /// Position of a file.
    pub(crate) fn place(&self, file: FileKey) -> Option<usize> {
        self.places.get(&file).copied()
    }

    /// SCIP symbol of a file: what those of its symbols begin with.
    pub(crate) fn file_symbol(&mut self, place: usize) -> String {
        let file = &self.files[place];
        let language = self.language(place).to_owned();
        let package = self.packages.of_file(&file.path, &language);
        head(&package) + &path_descriptors(&self.files[place].path)
    }

    /// Names of the symbols of a file, which are kept.
    pub(crate) fn of_file(&mut self, place: usize) -> Result<Rc<FileNames>, StoreError> {
        if let Some(known) = self.known.get(&place) {
            return Ok(Rc::clone(known));
        }
        let made = Rc::new(self.make(place)?);
        self.known_bytes += made.bytes();
        if self.known_bytes > MAX_NAME_BYTES {
            self.known.clear();
            self.known_bytes = made.bytes();
        }
        self.known.insert(place, Rc::clone(&made));
        Ok(made)
    }

    /// Names of the symbols of a file.
    pub(crate) fn make(&mut self, place: usize) -> Result<FileNames, StoreError> {
        let prefix = self.file_symbol(place);
        let rows = self.snapshot.symbols_of(&self.files[place])?;
        let mut making = Making {
            snapshot: self.snapshot,
            file: self.files[place].key,
            first: self.files[place].first_symbol,
            names: vec![None; rows.len()],
            uses: FxHashMap::default(),
            locals: 0,
            prefix,
            rows: &rows,
        };
        for place in 0..rows.len() {
            making.name(place, 0)?;
        }
        let Making { names, prefix, first, .. } = making;
        let names = names.into_iter().map(Option::unwrap_or_default).collect();
        Ok(FileNames { names, file: prefix, first, rows })
    }

    /// SCIP symbol of a symbol; none if it is not there.
    pub(crate) fn of_symbol(
        &mut self,
        key: SymbolKey,
        file: FileKey,
    ) -> Result<Option<String>, StoreError> {
        let Some(place) = self.place(file) else { return Ok(None) };
        let names = self.of_file(place)?;
        Ok(names.place(key).map(|at| names.names[at].clone()))
    }

    /// SCIP symbol of a file.
    pub(crate) fn of_whole_file(&mut self, file: FileKey) -> Result<Option<String>, StoreError> {
        let Some(place) = self.place(file) else { return Ok(None) };
        Ok(Some(self.of_file(place)?.file.clone()))
    }

    /// SCIP symbol of a qualified name outside of the repository, and its own name. `is_builtin`:
    /// a single word is no package.
    pub(crate) fn outside(
        &mut self,
        place: usize,
        name: &str,
        is_builtin: bool,
    ) -> (String, String) {
        let language = self.language(place).to_owned();
        let directory = self.files[place].path.directory();
        let (mut package, mut rest) = self.packages.of_outside(directory, &language, name);
        if is_builtin && rest.is_empty() {
            (package, rest) =
                (PackageId { manager: package.manager, ..PackageId::default() }, name);
        }
        let (mut symbol, mut own) = (head(&package), String::new());
        let mut parts = parts(rest).peekable();
        if parts.peek().is_none() {
            let name = package.name.rsplit('/').next().unwrap_or_default();
            symbol += &descriptor(name, Suffix::Namespace, "");
            own = name.to_owned();
        }
        while let Some(part) = parts.next() {
            let (name, is_called) = match part.strip_suffix("()") {
                Some(name) => (name, true),
                None => (part, false),
            };
            let suffix = match (parts.peek().is_some(), is_called) {
                (_, true) => Suffix::Type,
                (true, false) => Suffix::Namespace,
                (false, false) => Suffix::Term,
            };
            symbol += &descriptor(name, suffix, "");
            own = name.to_owned();
        }
        (symbol, own)
    }
}

/// Names of one file while they are made.
struct Making<'m> {
    snapshot: &'m Snapshot,
    file: FileKey,
    first: u32,
    rows: &'m [SymbolRow],
    names: Vec<Option<String>>,
    /// How often a name was given.
    uses: FxHashMap<String, u32>,
    locals: usize,
    prefix: String,
}

impl Making<'_> {
    /// Name of a symbol, made with those of the symbols around it.
    fn name(&mut self, place: usize, depth: usize) -> Result<String, StoreError> {
        if let Some(known) = &self.names[place] {
            return Ok(known.clone());
        }
        let row = &self.rows[place];
        let around = match row.container.filter(|_| depth < MAX_CHAIN) {
            Some(container) => match self.here(container) {
                Some(outer) if outer != place => Some(self.name(outer, depth + 1)?),
                Some(_) => None,
                None => Some(self.prefix.clone() + &self.foreign(container)?),
            },
            None => None,
        };
        // The name of another may have led here.
        if let Some(known) = &self.names[place] {
            return Ok(known.clone());
        }
        let is_inside = around.as_ref().is_some_and(|name| name.starts_with("local "));
        let is_hidden = is_inside || row.name_text.is_empty() || row.flags & flags::LOCAL != 0;
        let name = if is_hidden && !self.is_used_elsewhere(row)? {
            self.locals += 1;
            format!("local {}", self.locals - 1)
        } else {
            let around = around.filter(|_| !is_inside).unwrap_or_else(|| self.prefix.clone());
            self.unique(around, row)
        };
        self.names[place] = Some(name.clone());
        Ok(name)
    }

    fn here(&self, key: SymbolKey) -> Option<usize> {
        let place = key.0.checked_sub(self.first)? as usize;
        (place < self.rows.len()).then_some(place)
    }

    /// Descriptors of a symbol in another file.
    fn foreign(&self, key: SymbolKey) -> Result<String, StoreError> {
        let (mut chain, mut next) = (Vec::new(), Some(key));
        while let Some(row) = next.map(|key| self.snapshot.symbol(key)).transpose()?.flatten() {
            chain.push(descriptor(&row.name_text, suffix(&row), ""));
            next = row.container.filter(|_| chain.len() < MAX_CHAIN);
        }
        chain.reverse();
        Ok(chain.concat())
    }

    /// True if another file refers to a symbol.
    fn is_used_elsewhere(&self, row: &SymbolRow) -> Result<bool, StoreError> {
        let mut is_used = false;
        if row.references > 0 {
            self.snapshot.visit_sites_to(row.key, |site| {
                is_used = site.file != self.file;
                !is_used
            })?;
        }
        let is_elsewhere = |relation: &RelationRow, other: SymbolKey| {
            relation.kind != RelationKind::Returns && self.here(other).is_none()
        };
        Ok(is_used
            || self.snapshot.relations_to(row.key)?.iter().any(|one| is_elsewhere(one, one.from))
            || self.snapshot.relations_from(row.key)?.iter().any(|one| is_elsewhere(one, one.to)))
    }

    /// Several definitions of one name are distinguished: callables by the part of the grammar for
    /// it, others by a descriptor behind them.
    fn unique(&mut self, around: String, row: &SymbolRow) -> String {
        let suffix = suffix(row);
        let name = around.clone() + &descriptor(&row.name_text, suffix, "");
        let uses = self.uses.entry(name.clone()).or_default();
        *uses += 1;
        match (*uses - 1, suffix) {
            (0, _) => name,
            (again, Suffix::Method) => {
                around + &descriptor(&row.name_text, suffix, &format!("+{again}"))
            }
            (again, _) => name + &descriptor(&format!("+{again}"), Suffix::Meta, ""),
        }
    }
}

fn suffix(row: &SymbolRow) -> Suffix {
    match row.kind {
        _ if is_macro(row) => Suffix::Macro,
        SymbolKind::Module | SymbolKind::Namespace => Suffix::Namespace,
        kind if kind.is_type() => Suffix::Type,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor | SymbolKind::Test => {
            Suffix::Method
        }
        _ => Suffix::Term,
    }
}

/// True for a macro, with or without parameters.
pub(crate) fn is_macro(row: &SymbolRow) -> bool {
    row.kind == SymbolKind::Macro || row.signature.starts_with('#')
}

/// Parts of a qualified name, whatever separates them.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['.', '/', ':', '#', '\\']).filter(|part| !part.is_empty())
}

/// Scheme and package, with the space before descriptors.
fn head(package: &PackageId) -> String {
    let part = |text: &str| match text {
        "" => ".".to_owned(),
        text => text.replace(' ', "  "),
    };
    let PackageId { manager, name, version } = package;
    format!("{SCHEME} {} {} {} ", part(manager), part(name), part(version))
}

/// Manager, name and version of the package of a SCIP symbol; empty where they are not known.
pub(crate) fn package_of(symbol: &str) -> [String; 3] {
    // A space in a part is written twice.
    let masked = symbol.replace("  ", "\0");
    let mut parts = masked.split(' ').skip(1).map(|part| match part {
        "." => String::new(),
        part => part.replace('\0', " "),
    });
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

fn path_descriptors(path: &RepoPath) -> String {
    path.as_str().split('/').map(|part| descriptor(part, Suffix::Namespace, "")).collect()
}

fn descriptor(name: &str, suffix: Suffix, disambiguator: &str) -> String {
    let descriptor = Descriptor {
        // A name is never empty in the grammar.
        name: if name.is_empty() { "_" } else { name }.to_owned(),
        disambiguator: disambiguator.to_owned(),
        suffix: suffix.into(),
        ..Descriptor::default()
    };
    let symbol = Symbol { descriptors: vec![descriptor], ..Symbol::default() };
    format_symbol_with(
        symbol,
        SymbolFormatOptions {
            include_scheme: false,
            include_package_manager: false,
            include_package_name: false,
            include_package_version: false,
            include_descriptor: true,
        },
    )
}
