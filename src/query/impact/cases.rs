//! Test cases: which symbols are tests, what sets them up, and which of them a reached symbol
//! stands before.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_grammar as grammar;
use cograph_model::facts::flags;
use cograph_model::{SiteKind, SymbolKind};
use cograph_store::{FileKey, FileRow, SymbolKey, SymbolRow};

/// Maximum number of containers of a symbol that are followed.
const MAX_NESTING: usize = 50;

/// Test case: file and position among its symbols.
pub(super) type Case = (FileKey, usize);

/// Test file with its symbols.
pub(super) struct TestFile {
    pub(super) row: FileRow,
    pub(super) symbols: Vec<SymbolRow>,
    /// Positions of the test cases among the symbols.
    pub(super) cases: Vec<usize>,
}

impl TestFile {
    /// Reads a file; its cases may be none.
    pub(super) fn read(lookup: &Lookup<'_>, file: FileKey) -> Result<Self, QueryError> {
        let row = FileRow::clone(&*lookup.file(file)?);
        let symbols = lookup.snapshot.symbols_of(&row)?;
        let markers = grammar::by_name(lookup.language(row.language))
            .map(|language| &language.manifest.tests);
        let prefixes = markers.map_or(&[][..], |markers| &markers.function_prefixes);
        let set_up = markers.map_or(&[][..], |markers| &markers.set_up);
        let is_test = |symbol: SymbolKey| {
            let at = position(&row, symbol);
            at.is_some_and(|at| symbols[at].flags & flags::TEST != 0)
        };
        let is_inside_tests = |symbol: &SymbolRow| symbol.container.is_some_and(is_test);
        let has_prefix = |symbol: &SymbolRow| {
            prefixes.iter().any(|prefix| symbol.name_text.starts_with(prefix.as_str()))
        };
        // Sites are many: they are read only if a decorator decides what a symbol is.
        let is_open = symbols
            .iter()
            .any(|symbol| is_marked(symbol) && !has_prefix(symbol) && !is_inside_tests(symbol));
        let lines = match is_open && !prefixes.is_empty() && !set_up.is_empty() {
            true => decorated(lookup, &row, set_up)?,
            false => Vec::new(),
        };
        let mut has_inner = vec![false; symbols.len()];
        for symbol in symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Test) {
            if let Some(at) = symbol.container.and_then(|outer| position(&row, outer)) {
                has_inner[at] = true;
            }
        }
        let cases = (0..symbols.len())
            .filter(|&at| !has_inner[at])
            .filter(|&at| {
                let symbol = &symbols[at];
                let header = symbol.extent.start.line..=symbol.name_at.line;
                let is_set_up =
                    || is_inside_tests(symbol) || lines.iter().any(|line| header.contains(line));
                // Where the language knows tests by their names, one of another name is a test only
                // if it is marked itself and sets nothing up.
                symbol.kind == SymbolKind::Test
                    || is_marked(symbol)
                        && (prefixes.is_empty() || has_prefix(symbol) || !is_set_up())
            })
            .collect();
        Ok(Self { row, symbols, cases })
    }

    /// Position of a symbol of this file.
    pub(super) fn position(&self, symbol: SymbolKey) -> Option<usize> {
        position(&self.row, symbol)
    }

    /// True if a symbol is inside of another one.
    pub(super) fn is_inside(&self, at: usize, outer: SymbolKey) -> bool {
        self.containers(at).any(|own| own == outer)
    }

    /// Names of a case and of what contains it, innermost first.
    pub(super) fn titles(&self, at: usize) -> impl Iterator<Item = &str> {
        let outer = self.containers(at).filter_map(|outer| self.position(outer));
        std::iter::once(at).chain(outer).map(|at| &*self.symbols[at].name_text)
    }

    fn containers(&self, at: usize) -> impl Iterator<Item = SymbolKey> {
        let outer = |at: usize| self.symbols[at].container;
        let next = move |own: &SymbolKey| self.position(*own).and_then(outer);
        std::iter::successors(outer(at), next).take(MAX_NESTING)
    }
}

fn position(file: &FileRow, symbol: SymbolKey) -> Option<usize> {
    let at = symbol.0.checked_sub(file.first_symbol)?;
    (at < file.symbols).then_some(at as usize)
}

/// Lines of the decorators of these names.
fn decorated(
    lookup: &Lookup<'_>,
    file: &FileRow,
    names: &[String],
) -> Result<Vec<u32>, QueryError> {
    let mut lines = Vec::new();
    for site in lookup.snapshot.sites_of(file)? {
        if site.kind == SiteKind::Decorate {
            let name = lookup.name(site.name)?;
            if names.iter().any(|known| **known == *name) {
                lines.push(site.at.line);
            }
        }
    }
    Ok(lines)
}

/// True for a callable that is marked as test code and has a body.
fn is_marked(symbol: &SymbolRow) -> bool {
    symbol.flags & flags::TEST != 0
        && symbol.flags & flags::DECLARATION == 0
        && symbol.kind.is_callable()
        && symbol.kind != SymbolKind::Constructor
}

/// True if a parameter of a header has this name.
pub(super) fn has_parameter(signature: &str, name: &str) -> bool {
    let Some((_, parameters)) = signature.split_once('(') else { return false };
    let parameters = parameters.rsplit_once(')').map_or(parameters, |(inner, _)| inner);
    parameters.split(',').any(|parameter| {
        let parameter = parameter.trim();
        let end = parameter.find([':', '=', ' ']).unwrap_or(parameter.len());
        parameter[..end] == *name
    })
}

/// Test files by key, read once.
#[derive(Default)]
pub(super) struct TestFiles {
    files: FxHashMap<FileKey, TestFile>,
    all: OnceCell<Rc<[FileKey]>>,
}

impl TestFiles {
    /// Keys of all test files.
    pub(super) fn all(&self, lookup: &Lookup<'_>) -> Result<Rc<[FileKey]>, QueryError> {
        if let Some(all) = self.all.get() {
            return Ok(Rc::clone(all));
        }
        let mut found = Vec::new();
        for (key, _) in lookup.snapshot.paths()? {
            if lookup.of_file(key, |file| file.test)? {
                found.push(key);
            }
        }
        Ok(Rc::clone(self.all.get_or_init(|| found.into())))
    }

    /// The file; read on first use.
    pub(super) fn get(
        &mut self,
        lookup: &Lookup<'_>,
        file: FileKey,
    ) -> Result<&TestFile, QueryError> {
        Ok(match self.files.entry(file) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(TestFile::read(lookup, file)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::has_parameter;

    #[test]
    fn a_fixture_is_a_parameter_by_name() {
        for signature in
            ["def test_a(client)", "def test_a(self, client: Client = None, x=1) -> None"]
        {
            assert!(has_parameter(signature, "client"), "{signature}");
        }
        assert!(!has_parameter("def test_a(clients, my_client)", "client"));
        assert!(!has_parameter("test", "client"));
    }
}
