//! `impact`: what a change breaks, what depends on it, and which tests exercise it.

mod breaks;
mod case_names;
mod cases;
mod dependents;
pub mod diff;
mod edited;
mod hidden;
mod misfit;
mod missing;
mod rank;
mod runners;
mod seeds;
mod tests_of;
mod users;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::graph::answer::{Certainty, SymbolInfo};
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use breaks::Breaks;
pub use breaks::MAX_CALL_FILES;
pub use breaks::kind::{Break, BreakKind};
pub use case_names::{TestCase, all_test_cases, test_cases};
use cograph_grammar as grammar;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_model::change::{
    ChangeKind, ChangedFile, ChangedSymbol, UNREAD_BINARY, UNREAD_NO_LANGUAGE,
};
use cograph_store::Snapshot;
pub use dependents::{MAX_DISTANCE, MAX_SYMBOLS, Way};
pub use edited::{OnDisk, Unfit, unfit};
pub use rank::{AffectedTest, Evidence, TestClass};
pub use runners::TestCommand;
use seeds::Seeds;
pub use seeds::question::{Execution, ImpactParams, ReadCalls};

/// Changed or named symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImpactSeed {
    /// What happened to it; none if it was named.
    pub changed: Option<ChangedSymbol>,
    /// The symbol of the index, if it has one.
    pub symbol: Option<SymbolInfo>,
}

/// Symbol that depends on a changed one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependent {
    /// Symbol; none for the top level of a file.
    pub symbol: Option<SymbolInfo>,
    /// File.
    pub path: RepoPath,
    /// Line of the reference; of the symbol if it is no reference.
    pub line: u32,
    /// Number of references to the change.
    pub distance: u32,
    /// Certainty.
    pub certainty: Certainty,
    /// True for test code.
    pub in_tests: bool,
}

/// Changed file that affects more than references show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forcing {
    /// File.
    pub path: RepoPath,
    /// What it is.
    pub reason: &'static str,
}

/// Result of `impact`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ImpactResult {
    /// What is compared, in words; empty for symbols.
    pub between: String,
    /// Changed files.
    pub files: Vec<ChangedFile>,
    /// Changed and named symbols.
    pub seeds: Vec<ImpactSeed>,
    /// What no longer fits, most certain first.
    pub breaks: Vec<Break>,
    /// What depends on the change, by certainty, then by distance.
    pub dependents: Vec<Dependent>,
    /// True if a limit ended the search for dependents: there may be more of them.
    pub more_dependents: bool,
    /// True if there are more possible dependents than are listed.
    pub more_possible: bool,
    /// Tests, best first.
    pub tests: Vec<AffectedTest>,
    /// Number of tests by class.
    pub by_class: Vec<(TestClass, u64)>,
    /// Number of further tests with little evidence.
    pub weaker: u64,
    /// Number of test files in the repository.
    pub test_files: u64,
    /// Command lines for the tests.
    pub commands: Vec<TestCommand>,
    /// Files that may affect every test.
    pub forcing: Vec<Forcing>,
    /// What is not known, in sentences.
    pub unknown: Vec<String>,
    /// Those of these sentences that leave open whether there are more breaks.
    pub unjudged: Vec<String>,
}

/// Follows a change.
pub fn impact(
    snapshot: &Snapshot,
    params: &ImpactParams<'_>,
    cancel: &CancelToken,
) -> Result<ImpactResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let mut seeds = Seeds::default();
    let mut result = ImpactResult::default();
    for name in params.symbols {
        let found = seeds.add_named(&lookup, name)?;
        result.seeds.extend(
            found.into_iter().map(|symbol| ImpactSeed { changed: None, symbol: Some(symbol) }),
        );
    }
    let mut own = Vec::new();
    if let Some(change) = params.change {
        result.between.clone_from(&change.between);
        result.files.clone_from(&change.files);
        for file in &change.files {
            own.push(seeds.add_changed(&lookup, file)?);
        }
    }
    let reached = dependents::dependents(&lookup, &seeds.symbols)?;
    if let Some(change) = params.change {
        let mut breaks = Breaks::new(&lookup, params);
        // A moved symbol is used by those of the file where it was.
        let is_gone = |symbol: &ChangedSymbol| symbol.kind <= ChangeKind::Moved;
        let has_gone = change.files.iter().any(|file| file.symbols.iter().any(is_gone));
        let users =
            if has_gone { users::of(&lookup, &change.files)? } else { FxHashSet::default() };
        for file in &change.files {
            breaks.found.extend(users::gone(&lookup, file)?);
        }
        for (file, own) in change.files.iter().zip(&own) {
            for (changed, own) in file.symbols.iter().zip(own) {
                breaks.add(changed, own.as_deref(), &users)?;
                let symbol = own.as_ref().map(|own| lookup.info(own)).transpose()?;
                result.seeds.push(ImpactSeed { changed: Some(changed.clone()), symbol });
            }
        }
        result.breaks = breaks.found;
        result.breaks.sort_by(|one, other| {
            let key = |found: &Break| (found.certainty, found.path.clone(), found.line);
            key(one).cmp(&key(other)).then_with(|| one.reason.cmp(&other.reason))
        });
        result.breaks.dedup();
        if breaks.unread > 0 {
            let files = breaks.unread;
            result.unjudged.push(format!("arguments in {files} files are not compared"));
        }
        if breaks.is_cut.get() {
            let (uses, types) = (breaks::MAX_SITES, breaks::MAX_TYPES);
            result.unjudged.push(format!(
                "of a symbol at most {uses} uses and {types} types below it are compared"
            ));
        }
    }
    result.dependents = listed(&lookup, &reached)?;
    (result.more_dependents, result.more_possible) = (reached.is_cut, reached.more_possible);
    let ranked = tests_of::ranked(&lookup, &seeds, &reached, params)?;
    result.by_class = tests_of::by_class(&ranked.tests);
    result.commands = runners::commands(&lookup, &ranked.tests)?;
    (result.tests, result.weaker, result.test_files) = (ranked.tests, ranked.weaker, ranked.files);
    result.forcing = forcing(&lookup, params)?;
    unknown(&lookup, params, &reached, &mut result)?;
    Ok(result)
}

/// Symbols that names mean.
pub fn named(
    snapshot: &Snapshot,
    names: &[String],
    cancel: &CancelToken,
) -> Result<Vec<SymbolInfo>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let mut found = Vec::new();
    for name in names {
        for meaning in crate::names::meanings(&lookup, name)? {
            found.push(lookup.info(&meaning.symbol)?);
        }
    }
    Ok(found)
}

/// Reached symbols without the changed ones, and possible uses.
fn listed(
    lookup: &Lookup<'_>,
    reached: &dependents::Dependents,
) -> Result<Vec<Dependent>, QueryError> {
    let mut found = Vec::new();
    for &key in &reached.order {
        let own = reached.symbols[&key];
        if own.distance == 0 {
            continue;
        }
        let symbol = lookup.info_of(key)?;
        found.push(Dependent {
            path: symbol.path.clone(),
            line: if own.line > 0 { own.line } else { symbol.name_at.line },
            distance: own.distance,
            certainty: if own.is_likely { Certainty::Likely } else { Certainty::Certain },
            in_tests: symbol.is_test(),
            symbol: Some(symbol),
        });
    }
    let mut files: Vec<_> = reached.files.iter().collect();
    files.sort_by_key(|(key, _)| **key);
    for (&key, own) in files {
        let place = lookup.place(key)?;
        found.push(Dependent {
            symbol: None,
            path: place.path.clone(),
            line: own.line,
            distance: own.distance,
            certainty: if own.is_likely { Certainty::Likely } else { Certainty::Certain },
            in_tests: place.test,
        });
    }
    for (site, degree, _) in &reached.possible {
        let place = lookup.place(site.file)?;
        let symbol = site.enclosing.map(|key| lookup.info_of(key)).transpose()?;
        found.push(Dependent {
            in_tests: place.test || symbol.as_ref().is_some_and(SymbolInfo::is_test),
            symbol,
            path: place.path.clone(),
            line: site.at.line,
            distance: 1,
            certainty: *degree,
        });
    }
    found.sort_by(|one, other| {
        let rank = |dependent: &Dependent| {
            let is_possible = dependent.certainty >= Certainty::Possible;
            (is_possible, dependent.distance, dependent.in_tests)
        };
        rank(one)
            .cmp(&rank(other))
            .then_with(|| one.path.cmp(&other.path))
            .then_with(|| one.line.cmp(&other.line))
    });
    Ok(found)
}

/// Changed files that no reference leads from: build files, data, set-up of tests.
fn forcing(lookup: &Lookup<'_>, params: &ImpactParams<'_>) -> Result<Vec<Forcing>, QueryError> {
    let mut found = Vec::new();
    for file in params.change.iter().flat_map(|change| &change.files) {
        let path = file.path();
        let row = lookup.snapshot.file_at(path.as_str())?;
        let language = row.as_ref().map(|row| lookup.language(row.language)).unwrap_or_default();
        let is_test = row.as_ref().is_some_and(|row| row.test);
        let reason = if grammar::is_project_file(path.file_name()) {
            "build file"
        } else if path.as_str().split('/').any(|part| part == "migrations" || part == "migrate") {
            "migration"
        } else if language.is_empty() || grammar::has_data(language) {
            "data: no reference shows who reads it"
        } else if let Some(row) = row.as_ref().filter(|_| is_test)
            && cases::TestFile::read(lookup, row.key)?.cases.is_empty()
        {
            "set-up of tests"
        } else {
            continue;
        };
        found.push(Forcing { path: path.clone(), reason });
    }
    Ok(found)
}

/// Says what the answer does not know.
fn unknown(
    lookup: &Lookup<'_>,
    params: &ImpactParams<'_>,
    reached: &dependents::Dependents,
    result: &mut ImpactResult,
) -> Result<(), QueryError> {
    let (unknown, unjudged) = (&mut result.unknown, &mut result.unjudged);
    let mut unread: BTreeMap<&str, u64> = BTreeMap::new();
    if let Some(change) = params.change {
        for reason in change.files.iter().filter_map(|file| file.unread) {
            *unread.entry(reason).or_default() += 1;
        }
        if change.is_elsewhere {
            unjudged.push("the uses are those of the working tree".to_owned());
        }
        if change.more_files > 0 {
            unjudged.push(format!("{} more changed files are not read", change.more_files));
        }
    }
    for (reason, count) in unread {
        let files = if count == 1 { "file" } else { "files" };
        let sentence = format!("symbols of {count} changed {files} not compared: {reason}");
        // What has no symbols cannot break a use of one.
        let has_none = reason == UNREAD_BINARY || reason == UNREAD_NO_LANGUAGE;
        if has_none { unknown.push(sentence) } else { unjudged.push(sentence) }
    }
    if reached.is_cut {
        unknown.push(format!(
            "dependents beyond {MAX_SYMBOLS} symbols, or {} uses of one, are not followed",
            dependents::MAX_SITES
        ));
    }
    if reached.more_possible {
        let all = dependents::MAX_POSSIBLE;
        unknown.push(format!("possible uses beyond {all} are not listed"));
    }
    let textual =
        reached.possible.iter().filter(|(_, degree, _)| *degree == Certainty::Textual).count();
    if textual > 0 {
        unknown.push(format!("{textual} uses of a changed name lead to nothing known"));
    }
    let (deferred, costly) = lookup.snapshot.left_out()?;
    if deferred + costly > 0 {
        unjudged.push(format!("{} files of the repository are not indexed", deferred + costly));
    }
    match params.together {
        Some(together) if !together.limit.is_empty() => {
            let commits = together.commits;
            let noun = if commits == 1 { "commit" } else { "commits" };
            unknown.push(format!("history: {commits} {noun} read, {}", together.limit));
        }
        Some(_) => {}
        None => unknown.push("history: none".to_owned()),
    }
    let (open, other) = (unjudged.clone(), std::mem::take(unknown));
    *unknown = open.into_iter().chain(other).collect();
    Ok(())
}
