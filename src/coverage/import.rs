//! Adds files of coverage to the records: each executed line is given to a function of the present
//! index. What cannot be given is counted.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::bodies::FileBodies;
use super::input;
use super::places::{FoundPath, Places};
use super::records::MAX_PAIRS;
use crate::bodies::{ReadTree, in_thread};
use crate::error::CoverageError;
use crate::input::lines::{ExecutedLines, Input};
use crate::records::record::{FileRecord, Records};
use cograph_extract as extract;
use cograph_model::RepoPath;
use cograph_store::{Snapshot, StoreError};

/// Maximum number of recorded paths.
const MAX_FILES: usize = 200_000;
/// Maximum number of recorded paths without a file that are named.
const MAX_NAMED: usize = 5;

/// What was added.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Added {
    /// Files of coverage.
    pub inputs: Vec<AddedInput>,
    /// Tests with an executed function, by name.
    pub tests: Vec<String>,
    /// Number of files of the index with executed functions.
    pub files: u64,
    /// Number of executed functions.
    pub functions: u64,
    /// Number of pairs of a function and a test.
    pub pairs: u64,
    /// Number of earlier bodies of these functions, whose pairs were dropped.
    pub replaced: u64,
    /// Number of recorded paths that were found by their ends.
    pub by_end: u64,
    /// Number of recorded paths without a file of the index; the first of them.
    pub not_indexed: (u64, Vec<String>),
    /// Files whose functions are not known: not readable, of no language, or too costly to parse.
    pub unread: u64,
    /// Executed lines outside of the bodies of functions.
    pub outside: u64,
    /// Executed lines behind the ends of the files, which are different now.
    pub behind: u64,
    /// Number of tests that were left out because of their length or number.
    pub left_out: u64,
    /// True if the maximum number of pairs was reached.
    pub is_full: bool,
}

/// File of coverage that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddedInput {
    /// Path, as given.
    pub path: String,
    /// Format in words.
    pub format: &'static str,
    /// True if a bound ended the reading.
    pub is_cut: bool,
}

/// Adds files to records. Fails without any effect if one of them cannot be read.
pub fn add(
    snapshot: &Snapshot,
    records: &mut Records,
    inputs: &[Input],
    read: ReadTree<'_>,
) -> Result<Result<Added, CoverageError>, StoreError> {
    let mut hashes = FxHashMap::default();
    for row in snapshot.files()? {
        hashes.insert(row.path, row.hash);
    }
    let root = snapshot.meta().root.clone();
    let added = in_thread(|| {
        let places = Places::new(&root, hashes.keys().cloned());
        let mut import = Import {
            places,
            hashes: &hashes,
            read,
            records: records.clone(),
            known: FxHashMap::default(),
            targets: Vec::new(),
            by_path: FxHashMap::default(),
            left_out: FxHashSet::default(),
            pairs: records.sums().pairs,
            added: Added::default(),
        };
        let mut read = Vec::new();
        for input in inputs {
            let found = input::read(input, &mut |run| import.take(run))?;
            read.push(AddedInput {
                path: input.path.display().to_string(),
                format: found.format,
                is_cut: found.is_cut,
            });
        }
        let (new, added) = import.finish();
        Ok((new, Added { inputs: read, ..added }))
    });
    let failed = || CoverageError {
        path: inputs.first().map(|input| input.path.clone()).unwrap_or_default(),
        reason: "reading it failed".to_owned(),
    };
    Ok(added.unwrap_or_else(|| Err(failed())).map(|(new, added)| {
        *records = new;
        added
    }))
}

/// File of the index that coverage names.
struct CoveredFile {
    path: RepoPath,
    bodies: FileBodies,
    /// Hash of the whole text.
    whole: u64,
    /// Tests of each body.
    tests: Vec<Vec<u32>>,
    /// Tests of the whole file.
    of_file: Vec<u32>,
    outside: FxHashSet<u32>,
    behind: FxHashSet<u32>,
}

struct Import<'r> {
    places: Places,
    hashes: &'r FxHashMap<RepoPath, u128>,
    read: ReadTree<'r>,
    records: Records,
    /// Position among the targets by recorded path; none for no file.
    known: FxHashMap<String, Option<usize>>,
    targets: Vec<CoveredFile>,
    by_path: FxHashMap<RepoPath, usize>,
    left_out: FxHashSet<String>,
    pairs: u64,
    added: Added,
}

impl Import<'_> {
    fn take(&mut self, run: ExecutedLines<'_>) -> bool {
        let Some(test) = run.test else { return true };
        let Some(target) = self.target(run.file) else { return true };
        let Some(test) = self.records.tests.add(test) else {
            self.left_out.insert(test.chars().take(100).collect());
            return true;
        };
        let target = &mut self.targets[target];
        let mut add = |tests: &mut Vec<u32>| {
            if tests.last() != Some(&test) {
                tests.push(test);
                self.pairs += 1;
            }
        };
        let Some(lines) = run.lines else {
            add(&mut target.of_file);
            return true;
        };
        for &line in lines {
            let mut is_inside = false;
            for body in target.bodies.at(line) {
                is_inside = true;
                add(&mut target.tests[body]);
            }
            if line > target.bodies.lines {
                target.behind.insert(line);
            } else if !is_inside {
                target.outside.insert(line);
            }
        }
        self.added.is_full = self.pairs >= MAX_PAIRS;
        !self.added.is_full
    }

    /// Position of the file that a recorded path leads to.
    fn target(&mut self, recorded: &str) -> Option<usize> {
        if let Some(known) = self.known.get(recorded) {
            return *known;
        }
        if self.known.len() >= MAX_FILES {
            self.added.not_indexed.0 += 1;
            return None;
        }
        let found = self.find(recorded);
        self.known.insert(recorded.to_owned(), found);
        found
    }

    fn find(&mut self, recorded: &str) -> Option<usize> {
        let path = match self.places.find(recorded) {
            FoundPath::Exact(path) => path,
            FoundPath::ByEnd(path) => {
                self.added.by_end += 1;
                path
            }
            FoundPath::Nowhere => {
                let (count, first) = &mut self.added.not_indexed;
                *count += 1;
                if first.len() < MAX_NAMED {
                    first.push(recorded.to_owned());
                }
                return None;
            }
        };
        if let Some(&known) = self.by_path.get(&path) {
            return Some(known);
        }
        let text = (self.read)(&path).unwrap_or_default();
        let Some(bodies) = FileBodies::of(&path, &text) else {
            self.added.unread += 1;
            return None;
        };
        let position = self.targets.len();
        self.by_path.insert(path.clone(), position);
        self.targets.push(CoveredFile {
            path,
            tests: vec![Vec::new(); bodies.bodies.len()],
            bodies,
            whole: extract::fingerprint(&text),
            of_file: Vec::new(),
            outside: FxHashSet::default(),
            behind: FxHashSet::default(),
        });
        Some(position)
    }

    fn finish(mut self) -> (Records, Added) {
        let mut tests: FxHashSet<u32> = FxHashSet::default();
        for target in std::mem::take(&mut self.targets) {
            self.added.outside += target.outside.len() as u64;
            self.added.behind += target.behind.len() as u64;
            let executed = target.tests.iter().filter(|tests| !tests.is_empty()).count() as u64;
            if executed == 0 && target.of_file.is_empty() {
                continue;
            }
            self.added.files += 1;
            self.added.functions += executed;
            let hash = self.hashes.get(&target.path).copied().unwrap_or(0);
            let file = self.records.files.entry(target.path.clone()).or_default();
            self.added.replaced += merge(file, &target, hash);
            for own in target.tests.iter().chain([&target.of_file]) {
                let own: FxHashSet<u32> = own.iter().copied().collect();
                self.added.pairs += own.len() as u64;
                tests.extend(own);
            }
        }
        self.records.files.retain(|_, file| !file.functions().is_empty());
        let name = |test: u32| self.records.tests.texts[test as usize].to_string();
        self.added.tests = tests.into_iter().map(name).collect();
        self.added.tests.sort_unstable();
        self.added.left_out = self.left_out.len() as u64;
        self.records.compact();
        (self.records, self.added)
    }
}

/// Adds what a file executed to its record; returns how many earlier bodies it replaces.
fn merge(file: &mut FileRecord, target: &CoveredFile, hash: u128) -> u64 {
    let mut present: BTreeMap<&str, Vec<(u64, u32)>> = BTreeMap::new();
    for body in &target.bodies.bodies {
        let line = body.name_at.line;
        present.entry(&body.name).or_default().push((body.fingerprint, line));
    }
    let mut measured: FxHashSet<&str> = FxHashSet::default();
    for (body, tests) in target.bodies.bodies.iter().zip(&target.tests) {
        if !tests.is_empty() {
            measured.insert(&body.name);
            unite(&mut file.with_body(&body.name, body.fingerprint).tests, tests);
        }
    }
    if !target.of_file.is_empty() {
        measured.insert("");
        unite(&mut file.with_body("", target.whole).tests, &target.of_file);
    }
    file.hash = hash;
    let functions = file.functions_mut();
    let before = functions.len();
    functions.retain_mut(|function| {
        let bodies = present.get(function.name.as_str());
        let is_whole = function.name.is_empty();
        let line = bodies
            .and_then(|all| all.iter().find(|(body, _)| *body == function.fingerprint))
            .map(|(_, line)| *line);
        function.line = line.unwrap_or(u32::from(is_whole && function.fingerprint == target.whole));
        // Another body of a measured function is an earlier one, and so is a name that is gone.
        let is_stale = function.line == 0
            && (measured.contains(function.name.as_str()) || bodies.is_none() && !is_whole);
        !is_stale
    });
    (before - functions.len()) as u64
}

fn unite(tests: &mut Vec<u32>, new: &[u32]) {
    tests.extend(new);
    tests.sort_unstable();
    tests.dedup();
}
