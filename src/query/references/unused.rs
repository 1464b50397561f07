//! `unused`: definitions that nothing uses, as far as that can be known.
//!
//! ```text
//! code outside of candidates, tests, what may be called unseen ──> reached by references,
//!                                                                  overrides, declarations
//! not reached: evidence of each ──> none: unused or unused here; else: cannot know, and why
//! ```
//!
//! What is reached only from a definition that nothing uses is as unused as that: whole components
//! are found, also those that use each other in a circle. A definition is called unused only if its
//! name occurs nowhere else: in no reference without a known target, and in no text.

mod doubts;
mod entry_points;
mod use_graph;

use std::cmp::Reverse;

use crate::graph::answer::SymbolInfo;
use crate::graph::content::ReadFile;
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use crate::references::evidence::{Elsewhere, ElsewhereSearch, Place, Reason};
use cograph_grammar::{self as grammar, Tier};
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{SymbolKind, Visibility};
use cograph_store::{FileRow, Snapshot, SymbolKey, SymbolRow};
use doubts::Doubts;
use entry_points::EntryPoints;
use rustc_hash::{FxHashMap, FxHashSet};
use use_graph::UseGraph;

/// Parameters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnusedParams {
    /// Only definitions of this file, below this directory or of the files that fit this glob; the
    /// whole repository is read nevertheless.
    pub path: Option<String>,
    /// Definitions that are known to have been executed.
    pub executed: FxHashSet<SymbolKey>,
}

/// How certain it is that nothing uses a definition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Not visible outside of its file, type or package, and used nowhere.
    Unused,
    /// Visible outside of that, and used nowhere in this repository.
    UnusedHere,
    /// Used by test code alone.
    OnlyTests,
    /// Without a known use; something may use it unseen.
    CannotKnow,
}

impl Class {
    /// Every class, in the order of answers.
    pub const ALL: [Class; 4] =
        [Class::Unused, Class::UnusedHere, Class::OnlyTests, Class::CannotKnow];

    /// Word for responses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unused => "unused",
            Self::UnusedHere => "unused-in-this-repository",
            Self::OnlyTests => "only-tests-use-it",
            Self::CannotKnow => "cannot-know",
        }
    }
}

/// Definition that nothing is known to use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnusedSymbol {
    /// Definition. Those inside of it are not listed.
    pub symbol: SymbolInfo,
    /// Class.
    pub class: Class,
    /// Why something may use it unseen; empty unless the class is that.
    pub reason: String,
}

/// Result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnusedResult {
    /// By class, then by path and position.
    pub symbols: Vec<UnusedSymbol>,
    /// Number of definitions that were judged.
    pub judged: u64,
}

/// Finds the definitions that nothing is known to use: functions, methods, types, macros, constants
/// and variables outside of functions, in files that are read in depth and are not generated.
pub fn unused(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &UnusedParams,
    cancel: &CancelToken,
) -> Result<UnusedResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let filter = FileFilter::new(&lookup, params.path.as_deref(), None)?;
    let entries = EntryPoints::of(&lookup, files)?;
    let judged = Judged::of(&lookup, &entries)?;
    let reach = UseGraph::of(&lookup, &judged.keys())?;
    let by_code = reach.by_code()?;
    let search = ElsewhereSearch::new(snapshot, files, cancel);
    let executed = executed_unseen(&lookup, params, &judged, &reach, &by_code)?;
    let rules = Doubts::new(&lookup, &entries, executed);
    let doubts = doubts(&lookup, search, &rules, &judged, &reach, &by_code)?;
    let mut symbols = listed(&lookup, &judged, &doubts, &reach, &by_code)?;
    let mut admitted = FxHashMap::default();
    for found in &symbols {
        let file = lookup.symbol(found.symbol.key)?.file;
        let admits = lookup.of_file(file, |mark| filter.admits(mark))?;
        admitted.insert(found.symbol.key, admits);
    }
    symbols.retain(|found| admitted[&found.symbol.key]);
    symbols.sort_by(|a, b| {
        (a.class, &a.symbol.path, a.symbol.name_at).cmp(&(
            b.class,
            &b.symbol.path,
            b.symbol.name_at,
        ))
    });
    Ok(UnusedResult { symbols, judged: judged.rows.len() as u64 })
}

/// The executed definitions that nothing is known to use, tests included.
fn executed_unseen(
    lookup: &Lookup<'_>,
    params: &UnusedParams,
    judged: &Judged,
    reach: &UseGraph<'_, '_>,
    by_code: &FxHashSet<SymbolKey>,
) -> Result<FxHashSet<SymbolKey>, QueryError> {
    if params.executed.is_empty() {
        return Ok(FxHashSet::default());
    }
    let mut tests = Vec::new();
    for (row, _) in &judged.rows {
        tests.extend(lookup.is_test(row)?.then_some(row.key));
    }
    let (by_tests, tests) = (reach.by_tests(&tests)?, tests.into_iter().collect::<FxHashSet<_>>());
    let is_seen = |key| by_code.contains(key) || by_tests.contains(key) || tests.contains(key);
    Ok(params.executed.iter().filter(|key| !is_seen(key)).copied().collect())
}

/// Why each definition that code does not reach may be used unseen. What others reach that are used
/// for certain as far as this question goes needs no search: it is not listed.
fn doubts<'q>(
    lookup: &Lookup<'q>,
    mut search: ElsewhereSearch<'q>,
    rules: &Doubts<'_, '_>,
    judged: &Judged,
    reach: &UseGraph<'_, '_>,
    by_code: &FxHashSet<SymbolKey>,
) -> Result<FxHashMap<SymbolKey, String>, QueryError> {
    let mut doubts: FxHashMap<SymbolKey, String> = FxHashMap::default();
    let left = || judged.rows.iter().filter(|(row, _)| !by_code.contains(&row.key));
    for (row, class) in left() {
        lookup.check()?;
        let evidence = ElsewhereSearch::without_text(lookup, row.key)?;
        let doubt = match rules.of(row, *class == Class::UnusedHere)? {
            Some(doubt) => Some(doubt),
            None if reach.goes_with_others(row.key)? => {
                Some("it goes with a definition that is not judged".to_owned())
            }
            None => doubt(&evidence),
        };
        // Who calls a member makes its type, or has it.
        let is_called = |reason: &Reason| matches!(reason, Reason::Decorated { .. } | Reason::Test);
        if let Some(doubt) = &doubt
            && (rules.is_executed(row) || evidence.reasons.iter().any(is_called))
        {
            for around in lookup.containers(row.container)?.iter() {
                let reason = format!("its member `{}`: {doubt}", row.name_text);
                doubts.entry(around.key).or_insert(reason);
            }
        }
        if let Some(doubt) = doubt {
            doubts.insert(row.key, doubt);
        }
    }
    let (mut roots, mut test_roots, mut tests) = (Vec::new(), Vec::new(), FxHashSet::default());
    for (row, class) in left() {
        let is_test = lookup.is_test(row)?;
        tests.extend(is_test.then_some(row.key));
        if *class == Class::UnusedHere || doubts.contains_key(&row.key) {
            if is_test { &mut test_roots } else { &mut roots }.push(row.key);
        }
    }
    let (by_others, by_tests) = (reach.by(&roots)?, reach.by_tests(&test_roots)?);
    for (row, _) in left() {
        let key = row.key;
        let is_reached =
            by_others.contains(&key) || by_tests.contains(&key) && tests.contains(&key);
        if is_reached || doubts.contains_key(&key) {
            continue;
        }
        lookup.check()?;
        let doubt = doubt(&search.first_in_text(lookup, &lookup.same_entity(key)?)?);
        doubts.extend(doubt.map(|doubt| (key, doubt)));
    }
    Ok(doubts)
}

/// Definitions that are judged.
struct Judged {
    /// Each with its class if nothing uses it.
    rows: Vec<(SymbolRow, Class)>,
}

impl Judged {
    fn of(lookup: &Lookup<'_>, entries: &EntryPoints) -> Result<Self, QueryError> {
        let mut rows = Vec::new();
        for file in lookup.snapshot.files()? {
            lookup.check()?;
            let tier = grammar::tier_of(lookup.language(file.language));
            if file.generated || tier.is_none_or(|tier| tier == Tier::Structure) {
                continue;
            }
            rows.extend(Self::of_file(lookup, &file, entries.have(file.key))?);
        }
        Ok(Self { rows })
    }

    /// Those of a file, which a manifest may name as a whole: it is then run or imported by itself,
    /// and has no names in the global scope.
    fn of_file(
        lookup: &Lookup<'_>,
        file: &FileRow,
        is_entry: bool,
    ) -> Result<Vec<(SymbolRow, Class)>, QueryError> {
        let shown = if is_entry { flags::EXPORTED } else { flags::EXPORTED | flags::GLOBAL };
        let symbols = lookup.snapshot.symbols_of(file)?;
        // A definition is as visible as what is around it.
        let mut hidden: FxHashSet<SymbolKey> = FxHashSet::default();
        let mut found = Vec::new();
        let unnamed = members_without_a_type(&symbols);
        for symbol in symbols {
            let around = symbol.container.map(|around| lookup.symbol(around)).transpose()?;
            let is_member = around.as_ref().is_some_and(|around| around.kind.is_type());
            let is_inside = symbol.container.is_some_and(|around| hidden.contains(&around));
            // A namespace may be one of a library, which this adds to.
            let is_open = is_member
                || symbol.kind == SymbolKind::Namespace
                || around.is_some_and(|around| around.kind == SymbolKind::Namespace);
            if is_inside || is_hidden(&symbol, is_open, shown) && !is_taken_out(lookup, &symbol)? {
                hidden.insert(symbol.key);
            }
            if !unnamed.contains(&symbol.key) && is_judged(&symbol, is_member) {
                let class = match hidden.contains(&symbol.key) {
                    true => Class::Unused,
                    false => Class::UnusedHere,
                };
                found.push((symbol, class));
            }
        }
        Ok(found)
    }

    fn keys(&self) -> Vec<SymbolKey> {
        self.rows.iter().map(|(row, _)| row.key).collect()
    }
}

/// True if a definition is not visible outside of its file, type or package. What is open for its
/// members, a type or namespace, gives them their own visibility; others have one of `shown`.
fn is_hidden(symbol: &SymbolRow, is_open: bool, shown: u32) -> bool {
    matches!(symbol.visibility, Visibility::Private | Visibility::Internal)
        || !is_open && symbol.flags & shown == 0
}

/// True for a module within a file, or a namespace, out of which an import takes something: it may
/// give that to others.
fn is_taken_out(lookup: &Lookup<'_>, symbol: &SymbolRow) -> Result<bool, QueryError> {
    if !matches!(symbol.kind, SymbolKind::Module | SymbolKind::Namespace) {
        return Ok(false);
    }
    let imports = lookup.snapshot.imports_to(symbol.file)?;
    let is_it = |module: &str| module.rsplit(|c| !is_letter(c)).next() == Some(&*symbol.name_text);
    Ok(imports.iter().any(|import| is_it(&import.module)))
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The methods that stand inside of another definition of their container which is no type: in an
/// expression there, of which a type without a name is made.
fn members_without_a_type(symbols: &[SymbolRow]) -> FxHashSet<SymbolKey> {
    let mut by_place: Vec<&SymbolRow> = symbols.iter().collect();
    by_place.sort_by_key(|one| (one.extent.start_byte, Reverse(one.extent.end_byte)));
    let (mut open, mut found) = (Vec::<&SymbolRow>::new(), FxHashSet::default());
    for symbol in by_place {
        open.retain(|around| symbol.extent.start_byte < around.extent.end_byte);
        let is_inside = open.iter().any(|around| around.container == symbol.container);
        if symbol.kind == SymbolKind::Method && is_inside {
            found.insert(symbol.key);
        }
        if !symbol.kind.is_type() {
            open.push(symbol);
        }
    }
    found
}

/// True for what may be deleted: no parameters, fields, modules and constructors, no variables of
/// functions and what those hold, and no members of object literals and of types without a name,
/// which are what some other type asks for.
fn is_judged(symbol: &SymbolRow, is_member: bool) -> bool {
    let is_local = symbol.flags & flags::LOCAL != 0;
    if matches!(&*symbol.name_text, "" | "_") {
        return false;
    }
    match symbol.kind {
        SymbolKind::Function => !is_local || symbol.flags & flags::FUNCTION_VALUE == 0,
        SymbolKind::Method => is_member,
        SymbolKind::Constant | SymbolKind::Variable => !is_local,
        kind => kind == SymbolKind::Macro || kind.is_type(),
    }
}

/// The first reason for which something may use a definition unseen.
fn doubt(found: &Elsewhere) -> Option<String> {
    if let Some(language) = &found.not_read {
        return Some(format!("references of {language} are not read"));
    }
    if let Some(reason) = found.reasons.first() {
        return Some(match reason {
            Reason::Decorated { name, line, .. } => format!("`{name}` at line {line} may use it"),
            Reason::BaseOutside { base } => {
                format!("its type derives from {base}, which is not in the repository")
            }
            Reason::Runtime { language } => format!("{language} itself calls such a name"),
            Reason::Test => "a test runner calls it".to_owned(),
        });
    }
    if let Some(line) = found.lines.first() {
        let place = match line.place {
            Place::Unresolved => "a reference without a known target",
            Place::Code => "code without a reference",
            Place::Text => "text",
            Place::Unread => "a part that is not understood",
        };
        return Some(format!("its name is in {place} at {}:{}", line.path, line.line));
    }
    if let Some((path, line)) = found.outside.first() {
        return Some(format!("a reference thought to lead outside at {path}:{line}"));
    }
    if let Some(alias) = found.aliases.first() {
        return Some(format!("its name means another symbol at {}:{}", alias.path, alias.line));
    }
    if found.ambiguous > 0 {
        return Some(format!("{} references of its name have several candidates", found.ambiguous));
    }
    (found.unsearched > 0)
        .then(|| format!("{} files with its name were not searched in time", found.unsearched))
}

/// What is left when everything that may be used has reached what it uses.
fn listed(
    lookup: &Lookup<'_>,
    judged: &Judged,
    doubts: &FxHashMap<SymbolKey, String>,
    reach: &UseGraph<'_, '_>,
    by_code: &FxHashSet<SymbolKey>,
) -> Result<Vec<UnusedSymbol>, QueryError> {
    let (mut roots, mut test_roots, mut tests) = (Vec::new(), Vec::new(), FxHashSet::default());
    for (row, class) in &judged.rows {
        let may_be_used = *class == Class::UnusedHere || doubts.contains_key(&row.key);
        if lookup.is_test(row)? {
            tests.insert(row.key);
            test_roots.extend(may_be_used.then_some(row.key));
        } else if may_be_used && !by_code.contains(&row.key) {
            roots.push(row.key);
        }
    }
    // Definitions of one name in one place are overloads, or variants of which one is meant: they
    // are used together.
    let mut by_others = reach.by(&roots)?;
    loop {
        let is_used = |key| by_code.contains(&key) || by_others.contains(&key);
        let name = |row: &SymbolRow| (row.file, row.container, row.name);
        let (used, unused): (Vec<&SymbolRow>, Vec<&SymbolRow>) =
            judged.rows.iter().map(|(row, _)| row).partition(|row| is_used(row.key));
        let names: FxHashSet<_> = used.into_iter().map(name).collect();
        let others = unused.into_iter().filter(|row| names.contains(&name(row)));
        let others: Vec<SymbolKey> = others.map(|row| row.key).collect();
        if others.is_empty() {
            break;
        }
        by_others = reach.with(&others, by_others)?;
    }
    let by_tests = reach.by_tests(&test_roots)?;
    let mut found: FxHashMap<SymbolKey, Class> = FxHashMap::default();
    for (row, class) in &judged.rows {
        let key = row.key;
        let is_doubtful = doubts.contains_key(&key);
        let class = match (by_tests.contains(&key), tests.contains(&key)) {
            _ if by_code.contains(&key) || by_others.contains(&key) => continue,
            // A runner calls a test, and tests use their helpers.
            (true, true) => continue,
            (_, true) if is_doubtful => continue,
            _ if is_doubtful => Class::CannotKnow,
            (true, false) => Class::OnlyTests,
            (false, _) => *class,
        };
        found.insert(key, class);
    }
    let mut listed = Vec::new();
    for (row, _) in &judged.rows {
        let Some(&class) = found.get(&row.key) else { continue };
        // What is inside goes with it.
        let around = lookup.containers(row.container)?;
        let goes_along =
            |around: &SymbolRow| found.get(&around.key).is_some_and(|other| *other <= class);
        if around.iter().any(|around| goes_along(around)) {
            continue;
        }
        let doubt = doubts.get(&row.key).filter(|_| class == Class::CannotKnow);
        let reason = doubt.cloned().unwrap_or_default();
        listed.push(UnusedSymbol { symbol: lookup.info(row)?, class, reason });
    }
    Ok(listed)
}
