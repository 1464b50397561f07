//! A store that changes were taken into is the store that a fresh build gives, row for row up to keys (random edits of small
//! repositories in all languages), and it is changed in place: by the process that knows the repository, and by one that knows
//! only what is on disk.
//!
//! `COGRAPH_TEST_SEEDS=1000..2000` runs those seeds instead of the usual few; a failure names its seed.

mod dump;
mod edits;
mod loss;
mod order;
mod reach;
mod saved;
mod sources;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cograph::config::Limits;
use cograph::index::{ChangeSet, Outcome, Residents, Run, apply, refresh};
use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Store};
use tempfile::TempDir;

use edits::Tree;

const PATIENCE: Duration = Duration::from_secs(60);
/// Edits of one repository.
const EDITS: u32 = 25;
/// Seeds stop to be tried after this long, unless they are asked for.
const BUDGET: Duration = Duration::from_secs(40);

fn limits(threads: usize) -> Limits {
    Limits { threads, ..Limits::default() }
}

struct Repository {
    directory: TempDir,
    residents: Residents,
    cancel: CancelToken,
}

impl Repository {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(directory.path().join("root")).expect("created");
        Self { directory, residents: Residents::new(), cancel: CancelToken::new() }
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.directory.path()).expect("it exists").join("root")
    }

    fn location(&self, cache: &str) -> Location {
        Location::new(&self.directory.path().join(cache), &self.root())
    }

    fn refresh(&self) -> Outcome {
        let run = Run { residents: Some(&self.residents), ..Run::quiet(limits(2), &self.cancel) };
        refresh(&self.location("kept"), PATIENCE, &run).expect("nothing stands in the way")
    }

    /// What another process would know: nothing but what is on disk.
    fn forget(&mut self) {
        self.residents = Residents::new();
    }

    fn dump(&self, cache: &str) -> String {
        let store = Store::open_newest(&self.location(cache)).expect("a store");
        dump::of(store.path())
    }

    /// What a fresh build by one thread gives.
    fn fresh(&self) -> String {
        let run = Run::quiet(limits(1), &self.cancel);
        apply(&self.location("fresh"), &ChangeSet::Everything { forced: true }, PATIENCE, &run).expect("built");
        self.dump("fresh")
    }
}

/// The first lines in which two dumps differ.
fn difference(kept: &str, fresh: &str) -> String {
    let (kept, fresh): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), fresh.lines().collect());
    let only = |these: &[&str], those: &[&str]| {
        let those: std::collections::BTreeSet<&&str> = those.iter().collect();
        these.iter().filter(|line| !those.contains(line)).take(12).map(|line| format!("    {line}\n")).collect::<String>()
    };
    format!("only after changes:\n{}only in a fresh build:\n{}", only(&kept, &fresh), only(&fresh, &kept))
}

/// Edits one repository; gives how many states it went through after the first, and how many of them in place.
fn try_seed(seed: u64) -> (u32, u32) {
    let mut repository = Repository::new();
    let mut tree = Tree::new(repository.root(), seed);
    tree.grow();
    let Outcome::Published { published: first, .. } = repository.refresh() else { panic!("seed {seed}: there was a store") };
    let (mut states, mut in_place) = (0, 0);
    for edit in 0..EDITS {
        let what = tree.edit();
        if !(seed + u64::from(edit)).is_multiple_of(3) {
            repository.forget();
        }
        if let Outcome::Published { published, .. } = repository.refresh() {
            states += 1;
            in_place += u32::from(published.identity.uid == first.identity.uid);
        }
        let (kept, fresh) = (repository.dump("kept"), repository.fresh());
        assert!(kept == fresh, "seed {seed}, edit {edit} ({what}):\n{}", difference(&kept, &fresh));
    }
    (states, in_place)
}

#[test]
fn after_any_edits_a_store_is_what_a_fresh_build_gives() {
    let asked: Option<(u64, u64)> = std::env::var("COGRAPH_TEST_SEEDS").ok().map(|seeds| {
        let (first, end) = seeds.split_once("..").expect("COGRAPH_TEST_SEEDS is like 0..100");
        (first.parse().expect("a number"), end.parse().expect("a number"))
    });
    let (first, end) = asked.unwrap_or((0, 1_000));
    let started = Instant::now();
    let (mut states, mut in_place) = (0, 0);
    for seed in first..end {
        if asked.is_none() && started.elapsed() > BUDGET {
            break;
        }
        let more = try_seed(seed);
        states += more.0;
        in_place += more.1;
    }
    assert!(states > 0 && in_place == states, "only {in_place} of {states} states were reached in place");
}

#[test]
fn the_size_of_a_file_that_nobody_reads_is_that_of_now() {
    let repository = Repository::new();
    let write = |path: &str, text: &str| fs::write(repository.root().join(path), text).expect("written");
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
