//! Evidence behind an answer without callers: uses of the symbol as a value, and lines with its
//! name that no reference accounts for (comments, templates, build files, unsupported languages,
//! bodies with syntax errors).
//!
//! A count of zero means that no reference resolves to the symbol. Only together with this evidence
//! it is a statement about the program.

use std::time::{Duration, Instant};

use grep_searcher::{BinaryDetection, SearcherBuilder};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::{self, Tier};
use crate::model::cancel::CancelToken;
use crate::model::{RepoPath, SiteKind, Verdict};
use crate::query::graph::lookup::Lookup;
use crate::query::grep::{GrepParams, Matches, is_text, matcher, parallel, search_file};
use crate::query::{QueryError, ReadFile, SiteInfo, SymbolInfo};
use crate::store::{FileRow, NameKey, SiteTarget, Snapshot, SymbolKey};

/// Timeout of the text search. Files that remain are counted and reported.
pub const TIME: Duration = Duration::from_millis(500);
/// Maximum number of files with the name that are searched line by line.
pub const MAX_FILES: usize = 200;

/// Reference that is no call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// Reference.
    pub site: SiteInfo,
    /// Enclosing symbol; `None` at the top level of a file.
    pub enclosing: Option<SymbolInfo>,
}

/// Reference to a symbol by another name than its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alias {
    /// File of the reference.
    pub path: RepoPath,
    /// Line of the reference, from 1.
    pub line: u32,
    /// Target.
    pub symbol: SymbolInfo,
}

/// Result of the search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Elsewhere {
    /// Certain and likely references that are neither calls nor imports, in order of position: the
    /// symbol as a value.
    pub values: Vec<Value>,
    /// Lines with the name without a symbol of that name or a reference: files without a language
    /// first, then by path.
    pub lines: Vec<(RepoPath, u32)>,
    /// Certain and likely references by this name to a symbol of another name, by path: the symbol
    /// may be an alias of the other.
    pub aliases: Vec<Alias>,
    /// Number of files that were not searched before the timeout.
    pub unsearched: u64,
    /// Language of the symbol, if its references are not extracted: an empty result is then no
    /// evidence.
    pub not_read: Option<String>,
}

impl Elsewhere {
    /// True if there is no value and no unaccounted line, and all text was searched.
    pub fn is_nowhere(&self) -> bool {
        self.values.is_empty()
            && self.lines.is_empty()
            && self.aliases.is_empty()
            && self.unsearched == 0
            && self.not_read.is_none()
    }
}

/// Search for uses that references do not cover, memoized by name.
pub struct ElsewhereSearch<'q> {
    snapshot: &'q Snapshot,
    files: &'q dyn ReadFile,
    cancel: &'q CancelToken,
    /// Memo by name.
    occurrences: FxHashMap<NameKey, Occurrences>,
}

/// Occurrences of a name in text.
#[derive(Clone, Default)]
struct Occurrences {
    /// Unaccounted lines.
    lines: Vec<(RepoPath, u32)>,
    /// References to symbols of other names.
    aliases: Vec<Alias>,
    /// Number of files that were not searched.
    unsearched: u64,
}

impl<'q> ElsewhereSearch<'q> {
    /// Creates an empty search.
    pub fn new(snapshot: &'q Snapshot, files: &'q dyn ReadFile, cancel: &'q CancelToken) -> Self {
        Self { snapshot, files, cancel, occurrences: FxHashMap::default() }
    }

    /// Returns the evidence for symbols of one name.
    pub fn of(&mut self, symbols: &[SymbolKey]) -> Result<Elsewhere, QueryError> {
        let lookup = Lookup::new(self.snapshot, self.cancel)?;
        let Some(&first) = symbols.first() else { return Ok(Elsewhere::default()) };
        let symbol = lookup.symbol(first)?;
        let (name, language) =
            (symbol.name, lookup.language(lookup.file(symbol.file)?.language).to_owned());
        if !self.occurrences.contains_key(&name) {
            let found = occurrences(&lookup, self.files, name, self.cancel)?;
            self.occurrences.insert(name, found);
        }
        let Occurrences { lines, aliases, unsearched } = self.occurrences[&name].clone();
        let not_read = (grammar::tier_of(&language) == Some(Tier::Structure)).then_some(language);
        let values = values(&lookup, symbols)?;
        Ok(Elsewhere { values, lines, aliases, unsearched, not_read })
    }
}

/// Returns the references to symbols that are neither calls nor imports.
fn values(lookup: &Lookup<'_>, symbols: &[SymbolKey]) -> Result<Vec<Value>, QueryError> {
    let mut values = Vec::new();
    for &symbol in symbols {
        lookup.visit_values(symbol, |site| {
            let enclosing = site.enclosing.map(|key| lookup.info_of(key)).transpose()?;
            values.push(Value { site: lookup.site(&site)?, enclosing });
            Ok(())
        })?;
    }
    values.sort_by(|a, b| (&a.site.path, a.site.at).cmp(&(&b.site.path, b.site.at)));
    values.dedup();
    Ok(values)
}

/// Searches the text of all files for a name.
fn occurrences(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    name: NameKey,
    cancel: &CancelToken,
) -> Result<Occurrences, QueryError> {
    let text = lookup.name(name)?.to_string();
    let (mut found, mut searched) = (Occurrences::default(), 0);
    if text.is_empty() {
        return Ok(found);
    }
    let matcher = matcher(&GrepParams { pattern: text, word: true, ..GrepParams::default() })?;
    let (rows, begun) = (searched_first(lookup, lookup.snapshot.files()?), Instant::now());
    let searching = || {
        let matcher = matcher.clone();
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(b'\0'))
            .build();
        move |file: &FileRow| {
            if begun.elapsed() > TIME {
                return None;
            }
            let bytes = files.read(&file.path).ok()?;
            search_file(&mut searcher, &matcher, &bytes, cancel, file).ok()
        }
    };
    let mut take = |file: &FileRow, matches: Option<Matches>| -> Result<(), QueryError> {
        lookup.check()?;
        let Some(matches) =
            matches.filter(|matches| matches.places.is_empty() || searched < MAX_FILES)
        else {
            found.unsearched += 1;
            return Ok(());
        };
        if !matches.places.is_empty() && !matches.is_binary {
            searched += 1;
            let known = accounted(lookup, file, name, &mut found.aliases)?;
            let unknown =
                matches.places.iter().map(|(line, _)| *line).filter(|line| !known.contains(line));
            found.lines.extend(unknown.map(|line| (file.path.clone(), line)));
        }
        Ok(())
    };
    parallel::in_order(&rows, cancel, searching, &mut take)?;
    found.aliases.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(found)
}

/// Returns the files with text: those without extracted references first, because none of their
/// lines is accounted for.
fn searched_first(lookup: &Lookup<'_>, mut rows: Vec<FileRow>) -> Vec<FileRow> {
    let is_read = |file: &FileRow| {
        grammar::tier_of(lookup.language(file.language)).is_some_and(|tier| tier != Tier::Structure)
    };
    rows.retain(is_text);
    rows.sort_by_cached_key(|file| (is_read(file), file.path.clone()));
    rows
}

/// Returns the lines of a file with a symbol of the name, or a reference with a known target, and
/// adds the references whose target has another name.
fn accounted(
    lookup: &Lookup<'_>,
    file: &FileRow,
    name: NameKey,
    aliases: &mut Vec<Alias>,
) -> Result<FxHashSet<u32>, QueryError> {
    let mut lines = FxHashSet::default();
    if file.symbols + file.sites == 0 {
        return Ok(lines);
    }
    let symbols = lookup.snapshot.symbols_of(file)?;
    lines.extend(
        symbols.iter().filter(|symbol| symbol.name == name).map(|symbol| symbol.name_at.line),
    );
    for site in lookup.snapshot.sites_of(file)?.iter().filter(|site| site.name == name) {
        if site.verdict == Verdict::Unresolved && site.target == SiteTarget::None {
            continue;
        }
        lines.insert(site.at.line);
        for target in lookup.targets(site)? {
            if site.kind != SiteKind::Import && lookup.symbol(target)?.name != name {
                let (path, line) = (file.path.clone(), site.at.line);
                aliases.push(Alias { path, line, symbol: lookup.info_of(target)? });
            }
        }
    }
    Ok(lines)
}
