//! Reads the records: the pairs whose function still has the body that was executed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::bodies::FileBodies;
use crate::bodies::{ReadTree, in_thread};
use crate::records::functions::FunctionRecord;
use crate::records::record::{FileRecord, Records};
use cograph_extract as extract;
use cograph_model::RepoPath;
use cograph_model::change::Change;
use cograph_store::{FileRow, Snapshot, StoreError, SymbolKey, read_side_file};

/// Function that tests executed with its present body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered<'r> {
    /// Function.
    pub symbol: SymbolKey,
    /// Positions of the tests in [`Records::test_names`].
    pub tests: &'r [u32],
}

/// Records with the present index.
pub struct Present<'r> {
    records: &'r Records,
    snapshot: &'r Snapshot,
    read: ReadTree<'r>,
    /// Present paths of recorded files that were renamed.
    moved: FxHashMap<RepoPath, RepoPath>,
}

/// Returns the functions that tests executed with their present bodies; none without records.
pub fn executed(
    snapshot: &Snapshot,
    read: ReadTree<'_>,
) -> Result<FxHashSet<SymbolKey>, StoreError> {
    let kept = read_side_file(snapshot.store(), crate::records::FILE);
    let Some(records) = kept.and_then(|kept| Records::decoded(&kept)) else {
        return Ok(FxHashSet::default());
    };
    let covered = Present::new(&records, snapshot, read)?.covered()?;
    Ok(covered.into_iter().map(|one| one.symbol).collect())
}

/// Present file with its record.
struct Pair<'r> {
    record: &'r FileRecord,
    row: FileRow,
    /// Lines of the names of the recorded functions that still have their bodies, by position.
    lines: Vec<u32>,
}

impl<'r> Present<'r> {
    /// Reads which recorded files were renamed.
    pub fn new(
        records: &'r Records,
        snapshot: &'r Snapshot,
        read: ReadTree<'r>,
    ) -> Result<Self, StoreError> {
        let mut gone = Vec::new();
        for (path, file) in &records.files {
            if snapshot.file_at(path.as_str())?.is_none() {
                gone.push((path, file));
            }
        }
        let moved =
            if gone.is_empty() { FxHashMap::default() } else { moved(snapshot, records, &gone)? };
        Ok(Self { records, snapshot, read, moved })
    }

    /// Every function that tests executed with its present body.
    pub fn covered(&self) -> Result<Vec<Covered<'r>>, StoreError> {
        let all = self.records.files.keys();
        self.covered_in(&all.collect::<Vec<_>>(), &|_| true)
    }

    /// Tests that executed these functions, given by path and qualified name, or something inside
    /// of them, with their present bodies: positions among the names, each with the number of
    /// functions.
    pub fn of_functions(
        &self,
        functions: &[(RepoPath, String)],
    ) -> Result<FxHashMap<u32, u32>, StoreError> {
        let mut found = FxHashMap::default();
        for (path, name) in functions {
            let recorded: Vec<&RepoPath> = self.recorded(path).collect();
            let is_inside = |own: &str| {
                own.strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let covered = self.covered_in(&recorded, &is_inside)?;
            let tests: FxHashSet<u32> = covered.iter().flat_map(|one| one.tests).copied().collect();
            tests.into_iter().for_each(|test| *found.entry(test).or_default() += 1);
        }
        Ok(found)
    }

    /// Tests that executed the changed functions as they were before the change, and those that
    /// executed something in their files if only that is recorded.
    pub fn of_change(&self, change: &Change) -> [FxHashMap<u32, u32>; 2] {
        let [mut found, mut of_files] = [FxHashMap::default(), FxHashMap::default()];
        for old in
            change.files.iter().flat_map(|file| &file.symbols).filter_map(|one| one.old.as_ref())
        {
            let mut own: [FxHashSet<u32>; 2] = Default::default();
            for record in self.recorded(&old.path).filter_map(|path| self.records.files.get(path)) {
                for function in record.functions() {
                    let is_one = |(name, fingerprint): &(String, u64)| {
                        *name == function.name && *fingerprint == function.fingerprint
                    };
                    if old.bodies.iter().any(is_one) {
                        own[usize::from(function.name.is_empty())].extend(&function.tests);
                    }
                }
            }
            for (all, own) in [&mut found, &mut of_files].into_iter().zip(own) {
                own.into_iter().for_each(|test| *all.entry(test).or_default() += 1);
            }
        }
        [found, of_files]
    }

    /// Recorded paths of a file.
    fn recorded<'s>(&'s self, path: &'s RepoPath) -> impl Iterator<Item = &'s RepoPath> {
        let earlier = self.moved.iter().filter(move |(_, now)| *now == path);
        std::iter::once(path).chain(earlier.map(|(before, _)| before))
    }

    fn covered_in(
        &self,
        paths: &[&RepoPath],
        admits: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Covered<'r>>, StoreError> {
        let mut pairs = Vec::new();
        for path in paths {
            let Some(record) = self.records.files.get(*path) else { continue };
            let now = self.moved.get(*path).unwrap_or(path);
            if let Some(row) = self.snapshot.file_at(now.as_str())? {
                pairs.push(Pair { record, row, lines: Vec::new() });
            }
        }
        self.compare(&mut pairs);
        let mut found = Vec::new();
        for Pair { record, row, lines } in &pairs {
            let symbols = self.snapshot.symbols_of(row)?;
            for (function, &line) in record.functions().iter().zip(lines) {
                if line == 0 || function.name.is_empty() || !admits(&function.name) {
                    continue;
                }
                let name = function.name.rsplit('.').next().unwrap_or_default();
                let is_one = |symbol: &&cograph_store::SymbolRow| {
                    symbol.name_at.line == line && function.name.ends_with(&*symbol.name_text)
                };
                let mut alike: Vec<_> = symbols.iter().filter(is_one).collect();
                alike
                    .sort_by_key(|symbol| (*symbol.name_text != *name, !symbol.kind.is_callable()));
                if let Some(symbol) = alike.first() {
                    found.push(Covered { symbol: symbol.key, tests: &function.tests });
                }
            }
        }
        Ok(found)
    }

    /// Compares the present bodies with the recorded ones; those of an unchanged file are known.
    fn compare(&self, pairs: &mut [Pair<'r>]) {
        let mut changed: Vec<(&RepoPath, &FileRecord, &mut Vec<u32>)> = Vec::new();
        for Pair { record, row, lines } in pairs {
            if row.hash == record.hash && row.hash != 0 {
                *lines = record.functions().iter().map(|function| function.line).collect();
            } else {
                changed.push((&row.path, record, lines));
            }
        }
        if changed.is_empty() {
            return;
        }
        let read = self.read;
        // A panic leaves the lists empty: what is not compared has expired.
        in_thread(move || {
            for (path, record, lines) in changed {
                *lines = present_lines(path, record, read);
            }
        });
    }
}

fn present_lines(path: &RepoPath, record: &FileRecord, read: ReadTree<'_>) -> Vec<u32> {
    let Ok(text) = read(path) else { return Vec::new() };
    let Some(bodies) = FileBodies::of(path, &text) else { return Vec::new() };
    let whole = extract::fingerprint(&text);
    let present: FxHashMap<(&str, u64), u32> = (bodies.bodies.iter())
        .map(|body| ((body.name.as_str(), body.fingerprint), body.name_at.line))
        .chain([(("", whole), 1)])
        .collect();
    let line = |function: &FunctionRecord| {
        present.get(&(function.name.as_str(), function.fingerprint)).copied().unwrap_or(0)
    };
    record.functions().iter().map(line).collect()
}

/// Present paths of files that are not where they were: those with the same content, or the one of
/// the same name.
fn moved(
    snapshot: &Snapshot,
    records: &Records,
    gone: &[(&RepoPath, &FileRecord)],
) -> Result<FxHashMap<RepoPath, RepoPath>, StoreError> {
    let mut by_hash: FxHashMap<u128, Vec<RepoPath>> = FxHashMap::default();
    let mut by_name: FxHashMap<String, Vec<RepoPath>> = FxHashMap::default();
    for row in snapshot.files()? {
        if records.files.contains_key(&row.path) {
            continue;
        }
        by_name.entry(row.path.file_name().to_owned()).or_default().push(row.path.clone());
        by_hash.entry(row.hash).or_default().push(row.path);
    }
    let mut found = FxHashMap::default();
    for (path, file) in gone {
        let same = by_hash.get(&file.hash).and_then(|all| all.first());
        let alike = by_name.get(path.file_name()).filter(|all| all.len() == 1);
        if let Some(now) = same.or(alike.and_then(|all| all.first())) {
            found.insert((*path).clone(), now.clone());
        }
    }
    Ok(found)
}
