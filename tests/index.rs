//! A store is the same however many threads build it, and says of every file what became of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cograph::config::Limits;
use cograph::extract::{self, extract};
use cograph::grammar;
use cograph::index::{Outcome, Phase, Progress, Run, Timing, refresh};
use cograph::model::cancel::CancelToken;
use cograph::model::{LanguageId, Step};
use cograph::store::{FileRow, LanguageKey, Location, Snapshot, Store};
use rusqlite::Connection;
use tempfile::TempDir;

use super::incremental::rows;

/// This project: it has files in every language that it knows.
fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The project's store, in a cache of its own.
struct Built {
    _cache: TempDir,
    snapshot: Snapshot,
    timings: Vec<Timing>,
}

impl Built {
    fn with(threads: usize, progress: &(dyn Fn(Progress) + Sync)) -> Self {
        let cache = tempfile::tempdir().expect("a temporary directory");
        let (location, cancel) = (Location::new(cache.path(), &project()), CancelToken::new());
        let limits = Limits { threads, ..Limits::default() };
        let run = Run { progress, ..Run::quiet(limits, &cancel) };
        let done = refresh(&location, Duration::from_secs(60), &run).expect("the root can be read");
        let Outcome::Published { timings, .. } = done else { panic!("the cache was empty") };
        let store = Arc::new(Store::open_newest(&location).expect("there is a store"));
        Self { _cache: cache, snapshot: store.snapshot(&cancel).expect("it can be read"), timings }
    }

    fn path(&self) -> &Path {
        self.snapshot.store().path()
    }

    fn files(&self) -> Vec<FileRow> {
        self.snapshot.files().expect("the store can be read")
    }

    /// The pages of the store's file, keys and all, but for the one that says which store it is and
    /// when it was made.
    fn pages(&self) -> Vec<Vec<u8>> {
        let connection = Connection::open(self.path()).expect("a store");
        let number = |sql: &str| {
            connection.query_row(sql, [], |row| row.get::<_, usize>(0)).expect("a number")
        };
        let size = number("PRAGMA page_size");
        let meta = number("SELECT rootpage FROM sqlite_schema WHERE name = 'meta'");
        let bytes = fs::read(self.path()).expect("it exists");
        let pages = (1..)
            .zip(bytes.chunks(size))
            .map(|(page, bytes)| if page == meta { Vec::new() } else { bytes.to_vec() });
        pages.collect()
    }
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let serial = Built::with(1, &|_| {});
    assert!(serial.files().len() > 50, "the project is indexed, not an empty directory");
    for threads in [2, 5] {
        let parallel = Built::with(threads, &|_| {});
        let (one, other) = (rows(serial.path()), rows(parallel.path()));
        let differing = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert_eq!(differing, None, "with {threads} threads");
        assert_eq!(one.len(), other.len(), "with {threads} threads");
        assert!(serial.pages() == parallel.pages(), "with {threads} threads rows have other keys");
    }
}

#[test]
fn files_are_sorted_and_every_site_has_an_answer() {
    let built = Built::with(2, &|_| {});
    let (store, read) = (&built.snapshot, "the store can be read");
    let mut files = built.files();
    files.sort_by_key(|file| file.key);
    assert!(files.is_sorted_by(|one, next| one.path < next.path), "sorted, and no path twice");
    let languages = store.languages().expect(read);
    let language = |key: LanguageKey| {
        let (_, name) = languages
            .iter()
            .find(|(known, _)| *known == key)
            .expect("files are in languages that there are");
        let place = grammar::all()
            .iter()
            .position(|language| language.name == name)
            .expect("the program knows it");
        LanguageId(place.try_into().expect("languages are few"))
    };
    for file in files {
        let (sites, imports) =
            (store.sites_of(&file).expect(read), store.imports_of(file.key).expect(read));
        let facts = file.skipped.is_none().then(|| {
            let text =
                fs::read(project().join(file.path.as_str())).expect("it was read a moment ago");
            let language = language(file.language.expect("what is indexed is in a language"));
            extract(language, file.path.as_str(), &text, extract::Limits::default())
                .expect("a sample is cheap")
        });
        let (all_sites, all_imports) =
            facts.as_ref().map_or((0, 0), |facts| (facts.sites.len(), facts.imports.len()));
        assert_eq!(
            (sites.len(), imports.len()),
            (file.sites as usize, all_imports),
            "{}",
            file.path
        );
        assert_eq!(file.verdicts.iter().sum::<u32>(), file.sites, "{}", file.path);
        // A site without an answer is stored as a fault; one that names a local value is not
        // stored.
        assert!(
            sites.iter().all(|site| site.step != Step::Fault && site.step != Step::LocalValue),
            "{}",
            file.path
        );
        assert!(sites.len() <= all_sites, "{}", file.path);
    }
}

#[test]
fn progress_names_every_phase_and_ends_with_all_files() {
    let seen: Mutex<Vec<Progress>> = Mutex::default();
    let note = |progress| seen.lock().expect("nobody panics").push(progress);
    let built = Built::with(2, &note);
    let seen = seen.into_inner().expect("nobody panics");
    let files = built.files().len() as u64;
    for phase in [Phase::Extract, Phase::Resolve] {
        let of_phase: Vec<_> = seen.iter().filter(|progress| progress.phase == phase).collect();
        assert_eq!(
            of_phase.iter().map(|progress| progress.done).min(),
            Some(0),
            "{phase:?} begins"
        );
        assert!(of_phase.iter().any(|progress| progress.done == files), "{phase:?} ends");
        assert!(of_phase.len() <= 500, "{phase:?}: {} reports for {files} files", of_phase.len());
        assert_eq!(
            of_phase.iter().map(|progress| progress.total).collect::<BTreeSet<_>>(),
            BTreeSet::from([files])
        );
    }
    let phases = [Phase::Walk, Phase::Extract, Phase::Tables, Phase::Resolve, Phase::Write];
    let mut reported: Vec<Phase> = seen.iter().map(|progress| progress.phase).collect();
    reported.dedup();
    assert_eq!(reported, phases);
    assert_eq!(built.timings.iter().map(|timing| timing.phase).collect::<Vec<_>>(), phases);
    assert!(
        built.timings.iter().any(|timing| !timing.cpu.is_zero()),
        "something was computed: {:?}",
        built.timings
    );
}
