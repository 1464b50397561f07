//! Tests of a change: evidence about each case, in order of its weight.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::case_names::CaseNames;
use super::cases::{Case, TestFile, TestFiles, has_parameter};
use super::dependents::{Dependents, Way};
use super::rank::{ChangedPath, Evidence, Rarity, TestClass, least, name_words, stem_words};
use super::seeds::Seeds;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::impact::rank::AffectedTest;
use crate::impact::seeds::question::{Execution, ImpactParams};
use cograph_model::facts::flags;
use cograph_model::words::{FileWords, Postings, Term, terms_of};
use cograph_store::{FileKey, SymbolKey};

/// Maximum number of test files whose names are compared with the changed ones.
const MAX_FILES: usize = 20_000;
/// Maximum number of test files whose words are read.
const MAX_READ: usize = 400;
/// Maximum number of fixtures that are followed.
const MAX_FIXTURES: usize = 200;
/// Maximum number of imports from a test to the change.
const MAX_IMPORTS: u32 = 8;
/// Maximum length of a chain of reasons.
const MAX_CHAIN: usize = 8;

#[derive(Default)]
struct CaseEvidence {
    cases: FxHashMap<Case, Evidence>,
    /// Reached symbol that a case goes through.
    through: FxHashMap<Case, SymbolKey>,
}

/// Tests of a change.
pub(super) struct Ranked {
    /// Best first.
    pub(super) tests: Vec<AffectedTest>,
    /// Number of tests with too little evidence.
    pub(super) weaker: u64,
    /// Number of test files in the repository.
    pub(super) files: u64,
}

/// Ranks the tests.
pub(super) fn ranked(
    lookup: &Lookup<'_>,
    seeds: &Seeds,
    reached: &Dependents,
    params: &ImpactParams<'_>,
) -> Result<Ranked, QueryError> {
    let mut files = TestFiles::default();
    let mut found = CaseEvidence::default();
    from_references(lookup, reached, &mut files, &mut found)?;
    let all = from_files(lookup, seeds, params, &mut files, &mut found)?;
    from_possible(lookup, reached, &mut files, &mut found)?;
    from_change(lookup, seeds, params, &mut files, &mut found)?;
    from_executions(lookup, params.executed, &mut files, &mut found)?;
    add_words(lookup, seeds, &mut files, &mut found)?;
    let mut ranked = Vec::new();
    let mut cases: Vec<(Case, Evidence)> = std::mem::take(&mut found.cases).into_iter().collect();
    cases.sort_by_key(|(case, _)| *case);
    for ((file, position), evidence) in cases {
        let Some(class) = evidence.class() else { continue };
        let symbol = &files.get(lookup, file)?.symbols[position];
        let (score, place) = (evidence.score(), lookup.order().row(symbol));
        ranked.push((score, place, class, (file, position), evidence));
    }
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let least = ranked.first().map_or(0.0, |(best, ..)| least(*best));
    let (mut tests, all_ranked) = (Vec::new(), ranked.len());
    // Runners select files: each one that reaches the change has at least its best test in the
    // answer, however far the change is.
    let mut files_in = FxHashSet::default();
    ranked.retain(|(score, _, _, (file, _), evidence)| {
        let is_in = *score >= least || evidence.distance > 0 && !files_in.contains(file);
        if is_in {
            files_in.insert(*file);
        }
        is_in
    });
    let weaker = (all_ranked - ranked.len()) as u64;
    for (score, _, class, (file, position), evidence) in ranked {
        let symbol = &files.get(lookup, file)?.symbols[position];
        let start = found.through.get(&(file, position)).copied();
        tests.push(AffectedTest {
            symbol: lookup.info(symbol)?,
            class,
            score,
            chain: chain(lookup, reached, symbol.key, start)?,
            evidence,
        });
    }
    Ok(Ranked { tests, weaker, files: all })
}

/// Names of the symbols from a test to the change, without the test.
fn chain(
    lookup: &Lookup<'_>,
    reached: &Dependents,
    test: SymbolKey,
    start: Option<SymbolKey>,
) -> Result<Vec<String>, QueryError> {
    let (mut names, mut next) = (Vec::new(), start);
    while let Some(key) = next.filter(|_| names.len() < MAX_CHAIN) {
        if key != test {
            names.push(lookup.info_of(key)?.qualified_name());
        }
        next = reached.symbols.get(&key).and_then(|reached| reached.next);
    }
    Ok(names)
}

/// Evidence by references: cases that are reached, or set up by what is reached.
fn from_references(
    lookup: &Lookup<'_>,
    reached: &Dependents,
    files: &mut TestFiles,
    found: &mut CaseEvidence,
) -> Result<(), QueryError> {
    let mut fixtures = Vec::new();
    for &key in &reached.order {
        lookup.check()?;
        let symbol = lookup.symbol(key)?;
        if !lookup.is_test(&symbol)? {
            continue;
        }
        let own = reached.symbols[&key];
        let by_calls = is_by_calls(reached, key);
        let file = files.get(lookup, symbol.file)?;
        let Some(at) = file.position(key) else { continue };
        if file.cases.contains(&at) {
            if own.distance > 0 {
                found.reach((symbol.file, at), key, own.distance, own.way, by_calls);
            } else {
                found.cases.entry((symbol.file, at)).or_default().changed = true;
            }
        } else {
            for &case in file.cases.iter().filter(|&&case| file.is_inside(case, key)) {
                found.reach((symbol.file, case), key, own.distance + 1, Way::SetUp, false);
            }
            let is_fixture = symbol.kind.is_callable() && symbol.flags & flags::TEST != 0;
            if is_fixture && fixtures.len() < MAX_FIXTURES {
                fixtures.push((key, own.distance));
            }
        }
    }
    let mut at_top: Vec<_> = reached.files.iter().collect();
    at_top.sort_by_key(|(file, _)| **file);
    for (&file, own) in at_top {
        if !lookup.place(file)?.test {
            continue;
        }
        let Some(next) = own.next else { continue };
        for case in files.get(lookup, file)?.cases.clone() {
            found.reach((file, case), next, own.distance + 1, Way::Uses, false);
        }
    }
    follow_fixtures(lookup, files, found, fixtures)
}

/// Fixtures are parameters by name: of tests and of other fixtures of the file, and, if they are in
/// a file without tests, of those below its directory.
fn follow_fixtures(
    lookup: &Lookup<'_>,
    files: &mut TestFiles,
    found: &mut CaseEvidence,
    mut fixtures: Vec<(SymbolKey, u32)>,
) -> Result<(), QueryError> {
    let mut seen: FxHashSet<SymbolKey> = fixtures.iter().map(|(key, _)| *key).collect();
    let mut next = 0;
    while let Some(&(key, distance)) = fixtures.get(next) {
        next += 1;
        lookup.check()?;
        let symbol = lookup.symbol(key)?;
        let own = files.get(lookup, symbol.file)?;
        let mut places = vec![symbol.file];
        if own.cases.is_empty() && symbol.container.is_none() {
            let below = own.row.path.directory().to_owned();
            let inside = |path: &str| {
                below.is_empty()
                    || path.strip_prefix(&*below).is_some_and(|rest| rest.starts_with('/'))
            };
            places.clear();
            for &file in files.all(lookup)?.iter() {
                if inside(lookup.place(file)?.path.as_str()) {
                    places.push(file);
                }
            }
        }
        for place in places.into_iter().take(MAX_READ) {
            let file = files.get(lookup, place)?;
            for (at, user) in file.symbols.iter().enumerate() {
                if !user.kind.is_callable() || !has_parameter(&user.signature, &symbol.name_text) {
                    continue;
                }
                if file.cases.contains(&at) {
                    found.reach((place, at), key, distance + 1, Way::SetUp, false);
                } else if user.flags & flags::TEST != 0
                    && fixtures.len() < MAX_FIXTURES
                    && seen.insert(user.key)
                {
                    fixtures.push((user.key, distance + 1));
                }
            }
        }
    }
    Ok(())
}

/// True if each step from a symbol to the change is a call.
fn is_by_calls(reached: &Dependents, key: SymbolKey) -> bool {
    let mut next = Some(key);
    while let Some(own) = next.and_then(|key| reached.symbols.get(&key)) {
        if own.distance > 0 && !matches!(own.way, Way::Calls | Way::Overrides) {
            return false;
        }
        next = own.next;
    }
    true
}

/// Evidence about whole files: imports, names, common history. Returns the number of test files.
fn from_files(
    lookup: &Lookup<'_>,
    seeds: &Seeds,
    params: &ImpactParams<'_>,
    files: &mut TestFiles,
    found: &mut CaseEvidence,
) -> Result<u64, QueryError> {
    let importers = importers(lookup, seeds, !found.cases.is_empty())?;
    let mut changed: Vec<_> = seeds.gone.iter().map(|path| (ChangedPath::of(path), None)).collect();
    for &file in &seeds.files {
        let place = lookup.place(file)?;
        changed.push((ChangedPath::of(place.path.as_str()), place.language));
    }
    let all = files.all(lookup)?;
    let known: FxHashSet<FileKey> = found.cases.keys().map(|(file, _)| *file).collect();
    let mut names = Vec::new();
    for &file in all.iter().take(MAX_FILES) {
        names.push((file, name_words(lookup.place(file)?.path.as_str())));
    }
    let rarity = Rarity::of(names.iter().map(|(_, words)| words));
    let wanted = seeds.words();
    for (file, words) in names {
        lookup.check()?;
        let path = lookup.place(file)?.path.clone();
        let stem = rarity.share(&words, rarity.total(&words), &wanted);
        // Names are alike within a language only.
        let language = lookup.place(file)?.language;
        let kin = changed.iter().filter(|(_, of)| of.is_none() || *of == language);
        let own = stem_words(path.as_str());
        let alike = kin.map(|(one, _)| one.likeness(&own)).fold(0.0, f32::max);
        let share = params.together.and_then(|together| together.shares.get(&path));
        let together = share.map_or(0.0, |share| *share as f32 / 1000.0);
        let imports = importers.get(&file).copied().unwrap_or(0);
        let evidence = Evidence { imports, alike, stem, together, ..Evidence::default() };
        if evidence.class().is_none() && !known.contains(&file) {
            continue;
        }
        for case in files.get(lookup, file)?.cases.clone() {
            let is_new = evidence.class().is_some();
            let own = match is_new {
                true => Some(found.cases.entry((file, case)).or_default()),
                false => found.cases.get_mut(&(file, case)),
            };
            if let Some(own) = own {
                (own.imports, own.alike) = (imports, alike);
                (own.stem, own.together) = (stem, together);
            }
        }
    }
    Ok(all.len() as u64)
}

/// Files that import a changed one, with the number of imports: two at most if other tests are
/// known, otherwise as many as lead to the nearest file of tests.
fn importers(
    lookup: &Lookup<'_>,
    seeds: &Seeds,
    has_tests: bool,
) -> Result<FxHashMap<FileKey, u32>, QueryError> {
    let mut found: FxHashMap<FileKey, u32> = FxHashMap::default();
    let mut last: Vec<FileKey> = seeds.files.clone();
    let mut is_tested = has_tests;
    for distance in 1..=MAX_IMPORTS {
        if distance > 2 && is_tested {
            break;
        }
        let mut next = Vec::new();
        for importer in std::mem::take(&mut last) {
            lookup.check()?;
            if distance > 1 && lookup.place(importer)?.test {
                continue;
            }
            for import in lookup.snapshot.imports_to(importer)? {
                if let Entry::Vacant(entry) = found.entry(import.file) {
                    entry.insert(distance);
                    is_tested |= lookup.place(import.file)?.test;
                    next.push(import.file);
                }
            }
        }
        next.sort_unstable();
        last = next;
    }
    Ok(found)
}

/// Cases with a use that may be one of a changed symbol.
fn from_possible(
    lookup: &Lookup<'_>,
    reached: &Dependents,
    files: &mut TestFiles,
    found: &mut CaseEvidence,
) -> Result<(), QueryError> {
    for (site, _, _) in &reached.possible {
        let Some(enclosing) = site.enclosing else { continue };
        let symbol = lookup.symbol(enclosing)?;
        if !lookup.is_test(&symbol)? {
            continue;
        }
        let file = files.get(lookup, symbol.file)?;
        if let Some(at) = file.position(enclosing).filter(|at| file.cases.contains(at)) {
            found.cases.entry((symbol.file, at)).or_default().possible = true;
        }
    }
    Ok(())
}

/// Cases of changed test files: those of changed symbols, and all if lines outside of them changed.
fn from_change(
    lookup: &Lookup<'_>,
    seeds: &Seeds,
    params: &ImpactParams<'_>,
    files: &mut TestFiles,
    found: &mut CaseEvidence,
) -> Result<(), QueryError> {
    if params.change.is_none() {
        return Ok(());
    }
    for &file in &seeds.outside {
        if lookup.place(file)?.test {
            for case in files.get(lookup, file)?.cases.clone() {
                found.cases.entry((file, case)).or_default().reach(1, Way::Uses, false);
            }
        }
    }
    Ok(())
}

/// Cases that executed a changed symbol as it was recorded.
fn from_executions(
    lookup: &Lookup<'_>,
    executions: &[Execution],
    files: &mut TestFiles,
    found: &mut CaseEvidence,
) -> Result<(), QueryError> {
    if executions.is_empty() {
        return Ok(());
    }
    let mut names = CaseNames::new(lookup, files)?;
    for execution in executions {
        lookup.check()?;
        if let Some(case) = names.find(files, &execution.test)? {
            let own = found.cases.entry(case).or_default();
            own.executed = own.executed.max(execution.share);
        }
    }
    Ok(())
}

/// Compares the words of the cases with those of the change.
fn add_words(
    lookup: &Lookup<'_>,
    seeds: &Seeds,
    files: &mut TestFiles,
    found: &mut CaseEvidence,
) -> Result<(), QueryError> {
    let wanted = seeds.words();
    let mut keys: Vec<FileKey> = found.cases.keys().map(|(file, _)| *file).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut bodies: FxHashMap<Case, FxHashSet<Term>> = FxHashMap::default();
    for &key in keys.iter().take(MAX_READ) {
        lookup.check()?;
        let file = files.get(lookup, key)?;
        for (at, terms) in words_of(lookup, file, &wanted)? {
            bodies.insert((key, at), terms);
        }
    }
    let rarity = Rarity::of(bodies.values());
    let (lines, names) = (rarity.total(&seeds.lines), rarity.total(&seeds.names));
    let all = lines.max(names);
    for (case, own) in bodies_in_order(&bodies) {
        let Some(evidence) = found.cases.get_mut(case) else { continue };
        evidence.lines = rarity.share(&seeds.lines, lines, own);
        evidence.names = rarity.share(&seeds.names, names, own);
        let file = files.get(lookup, case.0)?;
        let titles = file.titles(case.1);
        let title = titles.flat_map(|title| terms_of(title.as_bytes())).collect();
        evidence.title = rarity.share(&wanted, all, &title);
    }
    Ok(())
}

fn bodies_in_order(bodies: &FxHashMap<Case, FxHashSet<Term>>) -> Vec<(&Case, &FxHashSet<Term>)> {
    let mut all: Vec<_> = bodies.iter().collect();
    all.sort_by_key(|(case, _)| **case);
    all
}

/// Which of the wanted terms each case of a file has, in its own text and in that of what is inside
/// of it.
fn words_of(
    lookup: &Lookup<'_>,
    file: &TestFile,
    wanted: &FxHashSet<Term>,
) -> Result<Vec<(usize, FxHashSet<Term>)>, QueryError> {
    let mut cases: FxHashMap<usize, FxHashSet<Term>> =
        file.cases.iter().map(|&at| (at, FxHashSet::default())).collect();
    let Some(terms) = lookup.snapshot.terms_of(file.row.key)? else {
        return Ok(cases.into_iter().collect());
    };
    if let (Some(words), Some(mut postings)) =
        (FileWords::read(&terms.words), Postings::read(&terms.postings))
    {
        let passages: Vec<usize> =
            postings.passages.iter().map(|passage| passage.symbol as usize).collect();
        for (term, _) in words {
            let is_wanted = wanted.contains(&term);
            let read = postings.next_term(|passage, _| {
                let Some(&symbol) = passages.get(passage).filter(|_| is_wanted) else { return };
                if let Some(at) = case_around(file, &cases, symbol)
                    && let Some(own) = cases.get_mut(&at)
                {
                    own.insert(term);
                }
            });
            if read.is_none() {
                break;
            }
        }
    }
    let mut cases: Vec<_> = cases.into_iter().collect();
    cases.sort_by_key(|(at, _)| *at);
    Ok(cases)
}

/// The case that a symbol is, or is inside of.
fn case_around(
    file: &TestFile,
    cases: &FxHashMap<usize, FxHashSet<Term>>,
    symbol: usize,
) -> Option<usize> {
    let mut next = Some(symbol);
    for _ in 0..20 {
        let at = next?;
        if cases.contains_key(&at) {
            return Some(at);
        }
        let container = file.symbols.get(at)?.container?;
        next = file.position(container);
    }
    None
}

impl CaseEvidence {
    fn reach(&mut self, case: Case, through: SymbolKey, distance: u32, way: Way, by_calls: bool) {
        if self.cases.entry(case).or_default().reach(distance, way, by_calls) {
            self.through.insert(case, through);
        }
    }
}

/// Number of tests by class, strongest first.
pub(super) fn by_class(tests: &[AffectedTest]) -> Vec<(TestClass, u64)> {
    let mut counts: Vec<(TestClass, u64)> = Vec::new();
    for test in tests {
        match counts.iter_mut().find(|(class, _)| *class == test.class) {
            Some((_, count)) => *count += 1,
            None => counts.push((test.class, 1)),
        }
    }
    counts.sort_unstable();
    counts
}
