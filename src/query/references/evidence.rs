//! Evidence in addition to the list of an answer: uses of the symbol as a value, and the lines with
//! its name that the answer does not list (references thought to lead outside, comments, templates,
//! build files, unsupported languages, bodies with syntax errors).
//!
//! A count of zero means that no reference resolves to the symbol. Only together with this evidence
//! it is a statement about the program.

mod files;
mod other_names;
mod parts;
mod place;
mod reasons;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use grep_searcher::{BinaryDetection, SearcherBuilder};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::answer::{SiteInfo, SymbolInfo};
use crate::graph::content::{Content, ReadFile};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::grep::{GrepParams, Matches, matcher, parallel, search_file};
use cograph_grammar::{self as grammar, Tier};
use cograph_model::cancel::CancelToken;
use cograph_model::words::WordFilter;
use cograph_model::{RepoPath, SiteKind, Verdict};
use cograph_store::{FileKey, FileRow, NameKey, SiteTarget, Snapshot, SymbolKey};
use files::Files;
use other_names::{LongerNames, OtherNames};
use parts::{Lines, Parts};
pub use place::{Effort, MAX_FILES, MAX_OTHER_FILES, MAX_SIBLING_FILES, Place};
pub use reasons::Reason;
pub(crate) use reasons::{bases_inside, bases_of_block, bases_outside};

/// Timeout of the text search. Files that remain are counted and reported.
pub const TIME: Duration = Duration::from_millis(500);

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

/// Line with the name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// File.
    pub path: RepoPath,
    /// Line, from 1.
    pub line: u32,
    /// Where it stands.
    pub place: Place,
}

/// Result of the search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Elsewhere {
    /// Certain and likely references that are neither calls nor imports, in order of position: the
    /// symbol as a value.
    pub values: Vec<Value>,
    /// Lines with the name without a symbol of that name or a reference with a known target: files
    /// without a language first, then by path.
    pub lines: Vec<Line>,
    /// Lines with a reference of that name whose target is thought to be outside.
    pub outside: Vec<(RepoPath, u32)>,
    /// Number of lines with a reference of that name that has several candidates.
    pub ambiguous: u64,
    /// Certain and likely references by this name to a symbol of another name, by path: the symbol
    /// may be an alias of the other.
    pub aliases: Vec<Alias>,
    /// Reasons for calls that no reference shows.
    pub reasons: Vec<Reason>,
    /// Number of files that were not searched.
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
            && self.outside.is_empty()
            && self.aliases.is_empty()
            && self.reasons.is_empty()
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
    occurrences: FxHashMap<(NameKey, Effort), Occurrences>,
}

/// Occurrences of a name in text.
#[derive(Clone, Default)]
struct Occurrences {
    /// Unaccounted lines.
    lines: Vec<Line>,
    /// Lines with references to what is outside.
    outside: Vec<(RepoPath, u32)>,
    /// Number of lines with ambiguous references.
    ambiguous: u64,
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

    /// Returns the evidence for symbols of one name without uses.
    pub fn of(&mut self, symbols: &[SymbolKey]) -> Result<Elsewhere, QueryError> {
        self.search(symbols, Effort::All)
    }

    /// Returns what a list of the uses of symbols of one name leaves out.
    pub fn other_evidence(&mut self, symbols: &[SymbolKey]) -> Result<Elsewhere, QueryError> {
        self.search(symbols, Effort::Few)
    }

    /// Returns the evidence of a symbol that needs no text: its language and reasons.
    pub(crate) fn without_text(
        lookup: &Lookup<'_>,
        symbol: SymbolKey,
    ) -> Result<Elsewhere, QueryError> {
        let not_read = not_read(lookup, symbol)?;
        let reasons = reasons::reasons(lookup, symbol)?;
        Ok(Elsewhere { reasons, not_read, ..Elsewhere::default() })
    }

    /// Returns the evidence in text and in references up to the first line of it.
    pub(crate) fn first_in_text(
        &mut self,
        lookup: &Lookup<'q>,
        symbols: &[SymbolKey],
    ) -> Result<Elsewhere, QueryError> {
        let Occurrences { lines, outside, ambiguous, aliases, unsearched } =
            self.occurrences_of(lookup, symbols, Effort::First)?;
        let text = Elsewhere::default();
        Ok(Elsewhere { lines, outside, ambiguous, aliases, unsearched, ..text })
    }

    fn search(&mut self, symbols: &[SymbolKey], effort: Effort) -> Result<Elsewhere, QueryError> {
        let lookup = Lookup::new(self.snapshot, self.cancel)?;
        let Some(&first) = symbols.first() else { return Ok(Elsewhere::default()) };
        let Occurrences { lines, outside, ambiguous, aliases, unsearched } =
            self.occurrences_of(&lookup, symbols, effort)?;
        let not_read = not_read(&lookup, first)?;
        let (mut values, reasons) = match effort {
            Effort::All => (values(&lookup, symbols)?, reasons::reasons(&lookup, first)?),
            Effort::First | Effort::Few => (Vec::new(), Vec::new()),
        };
        let is_alias = |site: &SiteInfo| {
            aliases.iter().any(|one| one.path == site.path && one.line == site.at.line)
        };
        values.retain(|value| !is_alias(&value.site));
        Ok(Elsewhere { values, lines, outside, ambiguous, aliases, reasons, unsearched, not_read })
    }

    /// Occurrences of the name of symbols, which is one.
    fn occurrences_of(
        &mut self,
        lookup: &Lookup<'q>,
        symbols: &[SymbolKey],
        effort: Effort,
    ) -> Result<Occurrences, QueryError> {
        let Some(&first) = symbols.first() else { return Ok(Occurrences::default()) };
        let name = lookup.symbol(first)?.name;
        if let Some(known) = self.occurrences.get(&(name, effort)) {
            return Ok(known.clone());
        }
        let known = known_lines(lookup, name, symbols, effort)?;
        let reading = NameSearch { lookup, files: self.files, name, effort, known };
        let found = reading.occurrences(self.cancel)?;
        self.occurrences.insert((name, effort), found.clone());
        Ok(found)
    }
}

/// The language of a symbol, if its references are not extracted.
fn not_read(lookup: &Lookup<'_>, symbol: SymbolKey) -> Result<Option<String>, QueryError> {
    let file = lookup.symbol(symbol)?.file;
    let language = lookup.language(lookup.place(file)?.language);
    Ok((grammar::tier_of(language) == Some(Tier::Structure)).then(|| language.to_owned()))
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

/// Returns the lines with a symbol of the name, or a reference to one of `symbols`: those of most
/// files, whose other references need not be read then. The read of what holds a function may be a
/// call of the function, which is another reference at the same place.
fn known_lines(
    lookup: &Lookup<'_>,
    name: NameKey,
    symbols: &[SymbolKey],
    effort: Effort,
) -> Result<FxHashSet<(FileKey, u32)>, QueryError> {
    let named = lookup.snapshot.symbols_named(name)?;
    let mut known: FxHashSet<(FileKey, u32)> =
        named.iter().map(|symbol| (symbol.file, symbol.name_at.line)).collect();
    for &symbol in symbols {
        let may_hold = effort != Effort::Few && !lookup.symbol(symbol)?.kind.is_callable();
        for key in lookup.same_entity(symbol)? {
            lookup.snapshot.visit_sites_to(key, |site| {
                if site.name == name && !(may_hold && site.kind == SiteKind::Read) {
                    known.insert((site.file, site.at.line));
                }
                true
            })?;
        }
    }
    Ok(known)
}

/// Search for the lines with one name.
struct NameSearch<'r, 'q> {
    lookup: &'r Lookup<'q>,
    files: &'r dyn ReadFile,
    name: NameKey,
    effort: Effort,
    known: FxHashSet<(FileKey, u32)>,
}

impl NameSearch<'_, '_> {
    /// Searches the text of the files that may have the name.
    fn occurrences(&self, cancel: &CancelToken) -> Result<Occurrences, QueryError> {
        let Self { lookup, files, name, effort, .. } = *self;
        let text = lookup.name(name)?.to_string();
        let (mut found, mut searched) = (Occurrences::default(), 0);
        if text.is_empty() {
            return Ok(found);
        }
        let Files { rows, left_out } = files::with_text(lookup, &text, effort)?;
        found.unsearched = left_out;
        if rows.is_empty() {
            return Ok(found);
        }
        let matcher = matcher(&GrepParams { pattern: text, word: true, ..GrepParams::default() })?;
        let begun = Instant::now();
        let (filters, state) = (lookup.snapshot.store().word_filters(), lookup.snapshot.identity());
        // Behind the last file that is searched no other is read.
        let is_full = AtomicBool::new(false);
        let searching = || {
            let is_full = &is_full;
            let matcher = matcher.clone();
            let mut searcher = SearcherBuilder::new()
                .line_number(true)
                .binary_detection(BinaryDetection::quit(b'\0'))
                .build();
            move |file: &FileRow| -> Option<(Matches, Content)> {
                if is_full.load(Relaxed) || begun.elapsed() > TIME {
                    return None;
                }
                let content = files.content(&file.path).ok()?;
                if effort != Effort::Few && file.skipped.is_some() {
                    filters.keep(state, file, || WordFilter::of(&content.text));
                }
                let matches =
                    search_file(&mut searcher, &matcher, &content.text, cancel, file).ok()?;
                let content = if matches.places.is_empty() { Content::default() } else { content };
                Some((matches, content))
            }
        };
        let mut longer = LongerNames::default();
        let mut take = |file: &FileRow, found_in: Option<(Matches, Content)>| {
            lookup.check()?;
            let is_found = effort == Effort::First && !found.lines.is_empty();
            is_full.fetch_or(is_found || searched >= effort.files(), Relaxed);
            let Some((matches, content)) = found_in.filter(|_| !is_full.load(Relaxed)) else {
                found.unsearched += 1;
                return Ok(());
            };
            if !matches.places.is_empty() && !matches.is_binary {
                searched += 1;
                self.account(file, &matches, &content.text, &mut longer, &mut found)?;
            }
            Ok::<(), QueryError>(())
        };
        parallel::in_order(&rows, cancel, searching, &mut take)?;
        found.aliases.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        Ok(found)
    }

    /// Adds the lines of a file with the name that no symbol of the name and no reference with a
    /// known target accounts for, and the references whose target has another name.
    fn account(
        &self,
        file: &FileRow,
        matches: &Matches,
        text: &[u8],
        longer: &mut LongerNames,
        found: &mut Occurrences,
    ) -> Result<(), QueryError> {
        let (lookup, name) = (self.lookup, self.name);
        let is_known = |(line, _): &&(u32, u32)| self.known.contains(&(file.key, *line));
        if matches.places.iter().all(|place| is_known(&place)) {
            return Ok(());
        }
        let mut known: FxHashSet<u32> =
            matches.places.iter().filter(is_known).map(|(line, _)| *line).collect();
        let (mut outside, mut ambiguous, mut unresolved) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        for site in &lookup.snapshot.sites_named(file, name)? {
            let line = site.at.line;
            // What an import of all that is inside leads to is no symbol, and no other use.
            let leads_nowhere = self.effort == Effort::First && site.target == SiteTarget::None;
            match site.verdict {
                Verdict::Resolved | Verdict::Likely if leads_nowhere => unresolved.insert(line),
                Verdict::External => outside.insert(line),
                Verdict::Ambiguous | Verdict::Possible => ambiguous.insert(line),
                Verdict::Unresolved if site.target == SiteTarget::None => unresolved.insert(line),
                Verdict::Unresolved | Verdict::Resolved | Verdict::Likely => known.insert(line),
            };
            for target in lookup.targets(site)? {
                if site.kind != SiteKind::Import && lookup.symbol(target)?.name != name {
                    let path = file.path.clone();
                    found.aliases.push(Alias { path, line, symbol: lookup.info_of(target)? });
                }
            }
        }
        let lines = Lines::of(text);
        let mut parts = Parts::new(lookup, file, &lines);
        let mut others = OtherNames::new(lookup, file, &lines, name, longer);
        for &(line, column) in &matches.places {
            if known.contains(&line) {
            } else if ambiguous.contains(&line) {
                found.ambiguous += 1;
            } else if outside.contains(&line) {
                found.outside.push((file.path.clone(), line));
            } else {
                let place = if unresolved.contains(&line) {
                    Place::Unresolved
                } else {
                    match parts.place(line, column)? {
                        Place::Text => Place::Text,
                        _ if others.are_all(line)? => continue,
                        place => place,
                    }
                };
                found.lines.push(Line { path: file.path.clone(), line, place });
            }
        }
        Ok(())
    }
}
