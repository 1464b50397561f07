//! `Lookup`: rows of a snapshot, memoized for one question, and their conversion to results.

use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::answer::{SiteInfo, SymbolInfo};
use crate::graph::error::QueryError;
use cograph_grammar as grammar;
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{RelationKind, RepoPath, SiteKind, SymbolKind};
use cograph_store::{
    FileKey, FileMark, FileRow, KeyOrder, LanguageKey, NameKey, PathTable, RelationRow, SiteRow,
    Snapshot, StoreError, StoreErrorKind, SymbolKey, SymbolRow,
};

/// Maximum nesting of symbols: a corrupt store with cyclic containers must not hang a question.
const MAX_NESTING: usize = 200;

/// Number of files read row by row before the table of all files is built. Building it costs as
/// much as tens of thousands of rows in a large store, and it is valid for one generation only.
const MAX_FILE_ROWS: usize = 2_000;

/// Path and other frequently used columns of a file.
pub(crate) struct FilePlace {
    pub(crate) path: RepoPath,
    pub(crate) language: Option<LanguageKey>,
    pub(crate) test: bool,
}

/// Memoized rows of one question.
pub(crate) struct Lookup<'q> {
    pub(crate) snapshot: &'q Snapshot,
    cancel: &'q CancelToken,
    languages: FxHashMap<LanguageKey, String>,
    /// Languages whose fields are data.
    data: FxHashSet<LanguageKey>,
    files: RefCell<FxHashMap<FileKey, Rc<FileRow>>>,
    places: RefCell<FxHashMap<FileKey, Rc<FilePlace>>>,
    paths: OnceCell<Arc<PathTable>>,
    order: Arc<KeyOrder>,
    symbols: RefCell<FxHashMap<SymbolKey, Rc<SymbolRow>>>,
    names: RefCell<FxHashMap<NameKey, Rc<str>>>,
    /// Qualified name by container.
    qualifiers: RefCell<FxHashMap<SymbolKey, Rc<str>>>,
    relations_from: RefCell<FxHashMap<SymbolKey, Rc<[RelationRow]>>>,
    relations_to: RefCell<FxHashMap<SymbolKey, Rc<[RelationRow]>>>,
    /// Sites of the last file that was queried: those of all files are most of a store.
    sites: RefCell<Option<(FileKey, Rc<[SiteRow]>)>>,
}

impl<'q> Lookup<'q> {
    pub(crate) fn new(snapshot: &'q Snapshot, cancel: &'q CancelToken) -> Result<Self, QueryError> {
        let languages: FxHashMap<LanguageKey, String> = snapshot.languages()?.into_iter().collect();
        let is_data = |(_, name): &(&LanguageKey, &String)| grammar::has_data(name);
        let data = languages.iter().filter(is_data).map(|(key, _)| *key).collect();
        let lookup = Self {
            snapshot,
            cancel,
            languages,
            data,
            files: RefCell::default(),
            places: RefCell::default(),
            paths: snapshot.known_path_table().map_or_else(OnceCell::new, OnceCell::from),
            order: snapshot.key_order()?,
            symbols: RefCell::default(),
            names: RefCell::default(),
            qualifiers: RefCell::default(),
            relations_from: RefCell::default(),
            relations_to: RefCell::default(),
            sites: RefCell::default(),
        };
        lookup.check()?;
        Ok(lookup)
    }

    /// Returns an error if the question was cancelled. Called in every loop.
    pub(crate) fn check(&self) -> Result<(), QueryError> {
        if self.cancel.is_cancelled() { Err(QueryError::Cancelled) } else { Ok(()) }
    }

    /// Order of rows with equal rank.
    pub(crate) fn order(&self) -> &KeyOrder {
        &self.order
    }

    /// Sorts by rank, then by the position of a symbol.
    fn sort<T: Copy, R: Ord>(
        &self,
        items: &mut [T],
        rank: impl Fn(&T) -> R,
        of: impl Fn(&T) -> SymbolKey,
    ) -> Result<(), QueryError> {
        if self.order.is_by_key()
            || items.len() < 2
            || items.iter().all(|item| self.order.is_in_order(of(item)))
        {
            items.sort_by_key(|item| (rank(item), of(item)));
            return Ok(());
        }
        let mut places = FxHashMap::default();
        for item in items.iter() {
            self.check()?;
            let key = of(item);
            let file = self.snapshot.file_of(key)?.ok_or_else(|| self.dangling("symbol", key.0))?;
            places.insert(key, self.order.symbol(file, key));
        }
        items.sort_by_key(|item| (rank(item), places[&of(item)]));
        Ok(())
    }

    /// Returns the number of symbols with a name, and the highest number of references of one.
    pub(crate) fn figures(&self, name: NameKey) -> Result<(u32, u32), QueryError> {
        let heads = self.snapshot.symbol_heads(name)?;
        let most = heads.iter().map(|head| head.references).max().unwrap_or_default();
        Ok((u32::try_from(heads.len()).unwrap_or(u32::MAX), most))
    }

    /// Returns the symbols of a candidate set, by path and position.
    pub(crate) fn candidates(&self, set: u32) -> Result<Vec<SymbolKey>, QueryError> {
        let mut symbols = self.snapshot.candidates(set)?;
        self.sort(&mut symbols, |_| (), |symbol| *symbol)?;
        Ok(symbols)
    }

    /// Returns the symbols that a resolved or likely site leads to: its target, or every variant of
    /// it, by path and position.
    pub(crate) fn targets(&self, site: &SiteRow) -> Result<Vec<SymbolKey>, QueryError> {
        let mut symbols = self.snapshot.targets(site)?;
        self.sort(&mut symbols, |_| (), |symbol| *symbol)?;
        Ok(symbols)
    }

    /// Sites of a file, for questions that ask the same of symbols one after another.
    pub(crate) fn sites_of(&self, file: FileKey) -> Result<Rc<[SiteRow]>, QueryError> {
        if let Some((known, sites)) = &*self.sites.borrow()
            && *known == file
        {
            return Ok(Rc::clone(sites));
        }
        self.check()?;
        let sites: Rc<[SiteRow]> = self.snapshot.sites_of(&*self.file(file)?)?.into();
        *self.sites.borrow_mut() = Some((file, Rc::clone(&sites)));
        Ok(sites)
    }

    pub(crate) fn file(&self, key: FileKey) -> Result<Rc<FileRow>, QueryError> {
        if let Some(file) = self.files.borrow().get(&key) {
            return Ok(Rc::clone(file));
        }
        self.check()?;
        let file = Rc::new(self.snapshot.file(key)?.ok_or_else(|| self.dangling("file", key.0))?);
        self.files.borrow_mut().insert(key, Rc::clone(&file));
        Ok(file)
    }

    /// Applies a function to a file's mark: for questions that read many files.
    pub(crate) fn of_file<T>(
        &self,
        key: FileKey,
        look: impl FnOnce(FileMark<'_>) -> T,
    ) -> Result<T, QueryError> {
        if self.paths.get().is_none() && self.files.borrow().len() >= MAX_FILE_ROWS {
            let table = self.snapshot.path_table()?;
            return Ok(look(
                self.paths
                    .get_or_init(|| table)
                    .mark(key)
                    .ok_or_else(|| self.dangling("file", key.0))?,
            ));
        }
        match self.paths.get().and_then(|paths| paths.mark(key)) {
            Some(mark) => Ok(look(mark)),
            None => Ok(look(self.file(key)?.mark())),
        }
    }

    /// Returns the path and other columns of a file.
    pub(crate) fn place(&self, key: FileKey) -> Result<Rc<FilePlace>, QueryError> {
        if let Some(place) = self.places.borrow().get(&key) {
            return Ok(Rc::clone(place));
        }
        let path = |mark: FileMark<'_>| {
            RepoPath::new(mark.path).map(|path| (path, mark.language, mark.test))
        };
        let (path, language, test) =
            self.of_file(key, path)?.ok_or_else(|| self.dangling("file", key.0))?;
        let place = Rc::new(FilePlace { path, language, test });
        self.places.borrow_mut().insert(key, Rc::clone(&place));
        Ok(place)
    }

    pub(crate) fn symbol(&self, key: SymbolKey) -> Result<Rc<SymbolRow>, QueryError> {
        if let Some(symbol) = self.symbols.borrow().get(&key) {
            return Ok(Rc::clone(symbol));
        }
        self.check()?;
        let row = self.snapshot.symbol(key)?.ok_or_else(|| self.dangling("symbol", key.0))?;
        Ok(self.remember(row))
    }

    /// Memoizes a row that was read by another statement.
    pub(crate) fn remember(&self, row: SymbolRow) -> Rc<SymbolRow> {
        let row = Rc::new(row);
        self.symbols.borrow_mut().insert(row.key, Rc::clone(&row));
        row
    }

    pub(crate) fn name(&self, key: NameKey) -> Result<Rc<str>, QueryError> {
        if let Some(name) = self.names.borrow().get(&key) {
            return Ok(Rc::clone(name));
        }
        let name: Rc<str> = Rc::from(self.snapshot.name(key)?);
        self.names.borrow_mut().insert(key, Rc::clone(&name));
        Ok(name)
    }

    /// Returns the name of a language; empty for none.
    pub(crate) fn language(&self, key: Option<LanguageKey>) -> &str {
        key.and_then(|key| self.languages.get(&key)).map_or("", String::as_str)
    }

    /// True if a symbol of this kind is data in files of this language: a key of a record, a table
    /// or a section with them.
    pub(crate) fn is_data(&self, language: Option<LanguageKey>, kind: SymbolKind) -> bool {
        matches!(kind, SymbolKind::Field | SymbolKind::Namespace) && self.has_data(language)
    }

    /// True for languages whose fields are data.
    pub(crate) fn has_data(&self, language: Option<LanguageKey>) -> bool {
        language.is_some_and(|language| self.data.contains(&language))
    }

    /// Returns the key of a language by its name; otherwise an error that lists the names.
    pub(super) fn language_key(&self, name: &str) -> Result<LanguageKey, QueryError> {
        let mut known: Vec<&str> = self.languages.values().map(String::as_str).collect();
        known.sort_unstable();
        self.languages
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(name))
            .map(|(key, _)| *key)
            .ok_or_else(|| QueryError::InvalidParameter {
                parameter: "language",
                reason: format!("no language `{name}`; there are {}", known.join(", ")),
            })
    }

    /// Returns the innermost container and those around it, outermost first.
    pub(crate) fn containers(
        &self,
        innermost: Option<SymbolKey>,
    ) -> Result<Vec<Rc<SymbolRow>>, QueryError> {
        let mut containers = Vec::new();
        let mut next = innermost;
        while let Some(key) = next.filter(|_| containers.len() < MAX_NESTING) {
            let container = self.symbol(key)?;
            next = container.container;
            containers.push(container);
        }
        containers.reverse();
        Ok(containers)
    }

    /// Returns the qualified name of a container, joined by dots, outermost first; empty for none.
    pub(crate) fn qualifier(&self, container: Option<SymbolKey>) -> Result<Rc<str>, QueryError> {
        let (mut next, mut inner, mut around) = (container, Vec::new(), None);
        while let Some(key) = next.filter(|_| inner.len() < MAX_NESTING) {
            around = self.qualifiers.borrow().get(&key).map(Rc::clone);
            if around.is_some() {
                break;
            }
            let own =
                self.snapshot.named_inside(key)?.ok_or_else(|| self.dangling("symbol", key.0))?;
            next = own.container;
            inner.push((key, own.name));
        }
        for (key, name) in inner.into_iter().rev() {
            let qualifier: Rc<str> = around.map_or_else(
                || Rc::from(&*name),
                |around: Rc<str>| Rc::from(format!("{around}.{name}")),
            );
            self.qualifiers.borrow_mut().insert(key, Rc::clone(&qualifier));
            around = Some(qualifier);
        }
        Ok(around.unwrap_or_default())
    }

    pub(crate) fn is_test(&self, symbol: &SymbolRow) -> Result<bool, QueryError> {
        Ok(symbol.flags & flags::TEST != 0 || self.of_file(symbol.file, |file| file.test)?)
    }

    /// Converts a symbol for a result. A symbol of a test file counts as test code.
    pub(crate) fn info(&self, symbol: &SymbolRow) -> Result<SymbolInfo, QueryError> {
        let file = self.place(symbol.file)?;
        Ok(SymbolInfo {
            key: symbol.key,
            path: file.path.clone(),
            name: symbol.name_text.to_string(),
            container: self.qualifier(symbol.container)?.to_string(),
            kind: symbol.kind,
            language: self.language(file.language).to_owned(),
            first_line: symbol.extent.start.line,
            last_line: symbol.extent.end.line,
            name_at: symbol.name_at,
            signature: symbol.signature.to_string(),
            doc: symbol.doc.to_string(),
            visibility: symbol.visibility,
            flags: symbol.flags | if file.test { flags::TEST } else { 0 },
            references: symbol.references,
        })
    }

    pub(crate) fn info_of(&self, key: SymbolKey) -> Result<SymbolInfo, QueryError> {
        self.info(&*self.symbol(key)?)
    }

    pub(crate) fn site(&self, site: &SiteRow) -> Result<SiteInfo, QueryError> {
        Ok(SiteInfo {
            path: self.place(site.file)?.path.clone(),
            at: site.at,
            kind: site.kind,
            name: self.name(site.name)?.to_string(),
            verdict: site.verdict,
            step: site.step,
        })
    }

    /// Returns the relations that start at a symbol, without those to what it returns: by kind,
    /// then by path and position of the other symbol.
    pub(crate) fn relations_from(
        &self,
        symbol: SymbolKey,
    ) -> Result<Rc<[RelationRow]>, QueryError> {
        if let Some(known) = self.relations_from.borrow().get(&symbol) {
            return Ok(Rc::clone(known));
        }
        let mut relations = self.snapshot.relations_from(symbol)?;
        relations.retain(|relation| relation.kind != RelationKind::Returns);
        self.sort(&mut relations, |relation| relation.kind, |relation| relation.to)?;
        let relations: Rc<[RelationRow]> = relations.into();
        self.relations_from.borrow_mut().insert(symbol, Rc::clone(&relations));
        Ok(relations)
    }

    /// Returns the relations that end at a symbol, without those from what returns it: by kind,
    /// then by path and position of the other symbol.
    pub(crate) fn relations_to(&self, symbol: SymbolKey) -> Result<Rc<[RelationRow]>, QueryError> {
        if let Some(known) = self.relations_to.borrow().get(&symbol) {
            return Ok(Rc::clone(known));
        }
        let mut relations = self.snapshot.relations_to(symbol)?;
        relations.retain(|relation| relation.kind != RelationKind::Returns);
        self.sort(&mut relations, |relation| relation.kind, |relation| relation.from)?;
        let relations: Rc<[RelationRow]> = relations.into();
        self.relations_to.borrow_mut().insert(symbol, Rc::clone(&relations));
        Ok(relations)
    }

    /// Visits the references to a symbol, by any of its declarations, that take it as a value: they
    /// are neither calls nor imports.
    pub(crate) fn visit_values(
        &self,
        symbol: SymbolKey,
        mut visit: impl FnMut(SiteRow) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        for key in self.same_entity(symbol)? {
            let mut values = Vec::new();
            self.snapshot.visit_sites_to(key, |site| {
                if !is_call_or_import(site.kind) {
                    values.push(site);
                }
                true
            })?;
            values.into_iter().try_for_each(&mut visit)?;
        }
        Ok(())
    }

    /// Returns the types of the values that a symbol gives, where its header does not say them.
    pub(crate) fn inferred_types(&self, symbol: SymbolKey) -> Result<Vec<SymbolKey>, QueryError> {
        let relations = self.snapshot.relations_from(symbol)?;
        let inferred = relations.iter().filter(|one| one.kind == RelationKind::Returns);
        Ok(inferred.map(|relation| relation.to).collect())
    }

    /// Returns a symbol with the declarations and definitions of the same entity, itself first.
    /// Other definitions of the declaration of a definition are other entities: a program has one
    /// of them.
    pub(crate) fn same_entity(&self, symbol: SymbolKey) -> Result<Vec<SymbolKey>, QueryError> {
        let mut group = vec![symbol];
        let mut next = 0;
        while let Some(&key) = group.get(next) {
            next += 1;
            let to = self.relations_from(key)?;
            let mut related: Vec<_> = to.iter().map(|related| (related.kind, related.to)).collect();
            if key == symbol {
                let from = self.relations_to(key)?;
                related.extend(from.iter().map(|related| (related.kind, related.from)));
            }
            for (kind, other) in related {
                if kind == RelationKind::Defines && !group.contains(&other) {
                    group.push(other);
                }
            }
        }
        Ok(group)
    }

    /// Returns the constructors of a type, by path and position.
    pub(crate) fn constructors_of(
        &self,
        container: SymbolKey,
    ) -> Result<Vec<SymbolKey>, QueryError> {
        let mut constructors = self.snapshot.kinds_in(container, SymbolKind::Constructor)?;
        self.sort(&mut constructors, |_| (), |symbol| *symbol)?;
        Ok(constructors)
    }

    /// Returns the symbol at a line, given the symbols of the file: the outermost one whose name is
    /// on the line (a function rather than its parameters), else the innermost one that encloses
    /// it.
    pub(crate) fn at_line(symbols: &[SymbolRow], line: u32) -> Option<&SymbolRow> {
        let size = |symbol: &SymbolRow| {
            symbol.extent.end_byte - symbol.extent.start_byte.min(symbol.extent.end_byte)
        };
        let named_here = symbols.iter().filter(|symbol| symbol.name_at.line == line);
        // The first of several equal ones.
        named_here.min_by_key(|symbol| Reverse(size(symbol))).or_else(|| {
            let around = |symbol: &&SymbolRow| {
                symbol.extent.start.line <= line && line <= symbol.extent.end.line
            };
            symbols.iter().filter(around).min_by_key(|symbol| size(symbol))
        })
    }

    fn dangling(&self, what: &str, key: u32) -> QueryError {
        QueryError::Store(StoreError {
            kind: StoreErrorKind::Corrupt,
            attempt: "reading store",
            path: self.snapshot.store().path().to_owned(),
            detail: format!("it names {what} {key}, which it does not have"),
        })
    }
}

/// True if the paths are equal, or the second ends with the first at a `/`.
pub(crate) fn is_path_suffix(suffix: &str, path: &RepoPath) -> bool {
    path.as_str().strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

pub(crate) fn is_call_or_import(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::Call | SiteKind::Construct | SiteKind::Decorate | SiteKind::Import)
}
