//! A store after changes is the store that a fresh build gives, row for row up to
//! keys (random edits of small repositories in all languages), and it is changed in place: by the
//! process that knows the repository, and by one that knows only what is on disk. Every second seed
//! goes the way that the program goes, through worker processes of it: the one that has indexed
//! the edits before, or a new one. The others, and the special cases in the submodules, stay in
//! this process, which is faster and runs the same `apply`.
//!
//! `COGRAPH_TEST_SEEDS=1000..2000` runs those seeds instead of the usual few; a failure names its
//! seed.

pub(crate) mod contents;
pub(crate) mod dump;
mod edits;
mod graph;
mod loss;
mod memory;
mod names;
mod order;
mod reach;
mod saved;
mod seeded;
mod single_changes;
mod sources;
mod terms;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cograph::config::{Config, Limits, WorkerCommand};
use cograph::index::{ChangeSet, Outcome, Residents, Run, WorkerPool, apply, refresh};
use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Store};
use tempfile::TempDir;

use edits::Tree;

const PATIENCE: Duration = Duration::from_secs(60);
/// Edits of one repository.
const EDITS: u32 = 25;
/// The least number of seeds, however long they take; more of them are tried within `BUDGET`.
const SEEDS: u64 = 20;
const BUDGET: Duration = Duration::from_secs(30);
/// Most edits of a repository lead to another state.
const STATES_OF_A_SEED: u32 = 10;
/// What a dump has of most repositories.
const KINDS: [&str; 10] = [
    "file",
    "symbol",
    "site",
    "import",
    "relation",
    "problem",
    "file_edge",
    "words",
    "totals",
    "name",
];

fn limits(threads: usize) -> Limits {
    Limits { threads, ..Limits::default() }
}

struct Repository {
    directory: TempDir,
    residents: Residents,
    /// Where changes are indexed, if not in this process.
    workers: Option<WorkerPool>,
    cancel: CancelToken,
}

/// Worker processes of the program, none of them started yet.
fn workers() -> WorkerPool {
    let arguments = ["index", "--worker"].map(Into::into).to_vec();
    WorkerPool::new(WorkerCommand { program: env!("CARGO_BIN_EXE_cograph").into(), arguments })
}

/// No state yet; one of them stays however slow the machine is.
fn residents() -> Residents {
    Residents::with_timeout(Duration::from_secs(3600))
}

impl Repository {
    fn new() -> Self {
        // Plants the defect in this process too, if there is one.
        Config::from_environment().expect("the settings are usable");
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(directory.path().join("root")).expect("created");
        Self { directory, residents: residents(), workers: None, cancel: CancelToken::new() }
    }

    /// The same, with changes indexed by another process.
    fn with_workers() -> Self {
        Self { workers: Some(workers()), ..Self::new() }
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.directory.path()).expect("it exists").join("root")
    }

    fn location(&self, cache: &str) -> Location {
        Location::new(&self.directory.path().join(cache), &self.root())
    }

    fn refresh(&self) -> Outcome {
        let (residents, workers) = (Some(&self.residents), self.workers.as_ref());
        let run = Run { residents, workers, ..Run::quiet(limits(2), &self.cancel) };
        refresh(&self.location("kept"), PATIENCE, &run).expect("nothing stands in the way")
    }

    /// Which store it is, whatever state that is in.
    fn uid(&self) -> u64 {
        Store::open_newest(&self.location("kept")).expect("a store").identity().uid
    }

    /// What another process would know: nothing but what is on disk.
    fn forget(&mut self) {
        self.residents = residents();
        self.workers = self.workers.as_ref().map(|_| workers());
    }

    fn dump(&self, cache: &str) -> String {
        let store = Arc::new(Store::open_newest(&self.location(cache)).expect("a store"));
        terms::assert_indexed(&store);
        dump::of(store.path())
    }

    /// What a fresh build by one thread gives: what the graph says, made without a store.
    fn fresh(&self) -> String {
        let run = Run::quiet(limits(1), &self.cancel);
        apply(&self.location("fresh"), &ChangeSet::Everything { forced: true }, PATIENCE, &run)
            .expect("built");
        assert_names_what_exists(&self.location("fresh"))
    }
}

/// Asserts that the newest store of a repository equals the graph of its current files; gives the
/// dump of the store.
pub(crate) fn assert_names_what_exists(location: &Location) -> String {
    let store = Arc::new(Store::open_newest(location).expect("a store"));
    let dump = dump::of(store.path());
    contents::assert_same(
        &dump,
        &graph::of(&store.snapshot(&CancelToken::new()).expect("it can be read")),
    );
    dump
}

/// All rows of a store as text that has no keys in it.
pub(crate) fn rows(store: &Path) -> String {
    dump::of(store)
}

/// The first lines in which two dumps differ.
pub(crate) fn difference(kept: &str, fresh: &str) -> String {
    let (kept, fresh): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), fresh.lines().collect());
    let only = |these: &[&str], those: &[&str]| {
        let those: std::collections::BTreeSet<&&str> = those.iter().collect();
        these
            .iter()
            .filter(|line| !those.contains(line))
            .take(12)
            .map(|line| format!("    {line}\n"))
            .collect::<String>()
    };
    format!(
        "only after changes:\n{}only in a fresh build:\n{}",
        only(&kept, &fresh),
        only(&fresh, &kept)
    )
}

/// What the seeds have covered.
#[derive(Debug, Default)]
struct Reached {
    seeds: u64,
    /// States after the first ones, those among them that were reached in place, and by a process
    /// that knew the repository.
    states: u32,
    in_place: u32,
    known: u32,
    /// By kind: how many states had lines of it.
    kinds: BTreeMap<&'static str, u32>,
}

/// Edits one repository and compares every state that it goes through.
fn try_seed(seed: u64, reached: &mut Reached) {
    let mut repository =
        if seed.is_multiple_of(2) { Repository::with_workers() } else { Repository::new() };
    let mut tree = Tree::new(repository.root(), seed);
    tree.grow();
    let Outcome::Published { published: first, .. } = repository.refresh() else {
        panic!("seed {seed}: there was a store")
    };
    reached.seeds += 1;
    for edit in 0..EDITS {
        let what = tree.edit();
        let is_known = (seed + u64::from(edit)).is_multiple_of(3);
        if !is_known {
            repository.forget();
        }
        if let Outcome::Published { published, .. } = repository.refresh() {
            reached.states += 1;
            reached.in_place += u32::from(published.identity.uid == first.identity.uid);
            reached.known += u32::from(is_known);
        }
        let (kept, fresh) = (repository.dump("kept"), repository.fresh());
        assert!(kept == fresh, "seed {seed}, edit {edit} ({what}):\n{}", difference(&kept, &fresh));
        for kind in KINDS {
            let has = fresh.lines().any(|line| line.split('|').next() == Some(kind));
            *reached.kinds.entry(kind).or_default() += u32::from(has);
        }
    }
}

/// The seeds that the environment asks for: the first one, and the one after the last.
pub(crate) fn asked_seeds() -> Option<(u64, u64)> {
    let seeds = std::env::var("COGRAPH_TEST_SEEDS").ok()?;
    let (first, end) = seeds.split_once("..").expect("COGRAPH_TEST_SEEDS is like 0..100");
    Some((first.parse().expect("a number"), end.parse().expect("a number")))
}

#[test]
fn after_any_edits_a_store_is_what_a_fresh_build_gives() {
    let asked = asked_seeds();
    let (first, end) = asked.unwrap_or((0, 1_000));
    let (started, mut reached) = (Instant::now(), Reached::default());
    for seed in first..end {
        if asked.is_none() && reached.seeds >= SEEDS && started.elapsed() > BUDGET {
            break;
        }
        try_seed(seed, &mut reached);
    }
    let wanted = asked.map_or(SEEDS, |(first, end)| end.saturating_sub(first).max(1));
    assert!(reached.seeds >= wanted, "fewer than {wanted} repositories: {reached:?}");
    assert_eq!(reached.in_place, reached.states, "every state is reached in place: {reached:?}");
    // A single seed may be a poor one.
    let least = STATES_OF_A_SEED * u32::try_from(reached.seeds).expect("few seeds");
    if asked.is_none() {
        assert!(
            reached.states >= least && reached.known >= least / 6,
            "fewer than {least} states: {reached:?}"
        );
        assert!(
            KINDS.iter().all(|kind| reached.kinds[kind] >= least / 2),
            "some tables were empty mostly: {reached:?}"
        );
    }
}

#[test]
fn the_size_of_a_file_that_no_process_reads_is_that_of_now() {
    let repository = Repository::new();
    let write =
        |path: &str, text: &str| fs::write(repository.root().join(path), text).expect("written");
    write("a.py", "def f():\n    pass\n");
    write("go.work", "use a\n");
    repository.refresh();
    write("go.work", "use a\nuse b\n");
    write("a.py", "def f():\n    pass\n\n");
    repository.refresh();
    assert_eq!(repository.dump("kept"), repository.fresh(), "with another change");
    write("go.work", "use a\nuse b\nuse c\n");
    repository.refresh();
    assert_eq!(repository.dump("kept"), repository.fresh(), "alone");
}

#[test]
fn directories_become_alternatives_with_the_files_of_others() {
    let repository = Repository::new();
    let path = |path: &str| repository.root().join(path);
    let write = |file: &str, text: &str| {
        fs::create_dir_all(path(file).parent().expect("a folder")).expect("created");
        fs::write(path(file), text).expect("written");
    };
    for machine in ["one", "two"] {
        for name in ["a", "b"] {
            write(&format!("cpu/{machine}/include/port/{name}.h"), "struct unused;\n");
        }
    }
    write("cpu/one/include/port/c.h", "struct unused;\n");
    write("cpu/one/clock.c", "int clock_read(void) { return 1; }\n");
    write("core/time.c", "int now(void) { return clock_read(); }\n");
    repository.refresh();
    let is_likely = |dump: &str| dump.contains("file_edge|core/time.c|cpu/one/clock.c|");
    assert!(is_likely(&repository.dump("kept")), "two paths in common may be a coincidence");
    let third = "cpu/two/include/port/c.h";
    write(third, "struct unused;\n");
    repository.refresh();
    assert!(!is_likely(&repository.dump("kept")));
    assert_eq!(repository.dump("kept"), repository.fresh(), "alternatives");
    fs::remove_file(path(third)).expect("removed");
    repository.refresh();
    assert!(is_likely(&repository.dump("kept")));
    assert_eq!(repository.dump("kept"), repository.fresh(), "no alternatives");
}

#[test]
fn a_link_with_the_ending_of_several_languages_stays_a_link() {
    let repository = Repository::new();
    let path = |path: &str| repository.root().join(path);
    fs::write(path("a.c"), "int a;\n").expect("written");
    fs::write(path("b.h"), "int b;\n").expect("written");
    std::os::unix::fs::symlink(path("b.h"), path("link.h")).expect("linked");
    repository.refresh();
    // Headers are read anew among other neighbours.
    fs::write(path("d.cpp"), "int d;\n").expect("written");
    fs::remove_file(path("a.c")).expect("removed");
    repository.refresh();
    assert_eq!(repository.dump("kept"), repository.fresh(), "other neighbours");
}

#[test]
fn a_file_that_is_included_without_its_ending_is_found_when_it_comes_and_when_it_goes() {
    let repository = Repository::new();
    let path = |path: &str| repository.root().join(path);
    fs::create_dir_all(path("lib/shop")).expect("created");
    fs::write(path("lib/shop.rb"), "require \"shop/cart\"\nfill\n").expect("written");
    repository.refresh();
    let is_found = |dump: &str| dump.contains("file_edge|lib/shop.rb|lib/shop/cart.rb|");
    fs::write(path("lib/shop/cart.rb"), "def fill; end\n").expect("written");
    repository.refresh();
    assert!(is_found(&repository.dump("kept")));
    assert_eq!(repository.dump("kept"), repository.fresh(), "the file came");
    fs::remove_file(path("lib/shop/cart.rb")).expect("removed");
    repository.refresh();
    assert!(!is_found(&repository.dump("kept")));
    assert_eq!(repository.dump("kept"), repository.fresh(), "the file is gone");
}
