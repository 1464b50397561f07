//! 26 to 31: stores that are opened by many, slow, idle, or replaced while they are open.
#![cfg(feature = "faults")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cograph::config::Config;
use cograph::model::cancel::CancelToken;
use cograph::store::{Location, Pool, PoolSettings, StoreErrorKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::client::{SMALL, place};
use super::harness::{Bench, Gate, milliseconds, pass_time, within};
use crate::sample::{Cache, functions};

/// A second repository at the same place.
fn other(place: &TempDir) -> Value {
    let root = place.path().join("other");
    fs::create_dir_all(&root).expect("directories can be made");
    fs::write(root.join("b.py"), "def elsewhere():\n    pass\n").expect("files can be written");
    json!({"query": "elsewhere", "root": root})
}

/// A place whose two repositories have stores.
fn indexed() -> (TempDir, Value) {
    let place = place(SMALL);
    let other = other(&place);
    let mut bench = Bench::connected_at(place, &[], &[]);
    bench.ask("search", json!({"query": "helper"}));
    bench.ask("search", other.clone());
    (bench.end(), other)
}

fn directory(cache: &Path, root: &Path) -> PathBuf {
    Location::new(cache, &root.canonicalize().expect("it exists")).directory().to_path_buf()
}

/// The files of stores in a directory, oldest first.
fn stores(directory: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(directory).expect("it exists").map(|entry| entry.expect("it exists").path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "db"))
        .collect();
    found.sort();
    found
}

#[test]
fn t26_a_hundred_first_calls_open_a_store_once() {
    let (place, _) = indexed();
    let mut gate = Gate::shut(&place, "gate");
    let mut bench =
        Bench::connected_at(place, &["--permits", "100"], &[gate.at("open repository")]);
    bench.call(1, "search", json!({"query": "helper"}));
    bench.announced("open repository", 1);
    for id in 2..=100 {
        bench.call(id, "search", json!({"query": "helper"}));
    }
    bench.announced("call search", 100);
    bench.cancel(1);
    bench.ping();
    pass_time(milliseconds(50));
    gate.open();
    bench.patience = milliseconds(10_000);
    for id in 2..=100 {
        let (text, is_error) = bench.outcome_of(id);
        assert!(!is_error && text.contains("function helper"), "{id}: {text}");
    }
    bench.at_rest();
    assert_eq!(bench.answers(&json!(1)), 0);
    assert_eq!(bench.announcements("open repository"), 1);
}

#[test]
fn t26_an_opening_that_fails_fails_for_all_and_is_tried_again() {
    let (place, _) = indexed();
    let cache = place.path().join("cache").canonicalize().expect("it exists");
    let store = stores(&directory(&cache, &place.path().join("repository")))
        .pop()
        .expect("there is a store");
    let aside = place.path().join("aside.db");
    fs::rename(&store, &aside)
        .and_then(|()| fs::create_dir(&store))
        .expect("a directory stands in its place");
    let mut bench = Bench::connected_at(place, &["--permits", "20"], &[]);
    for id in 1..=20 {
        bench.call(id, "search", json!({"query": "helper"}));
    }
    for id in 1..=20 {
        assert!(bench.outcome_of(id).1, "{id}");
    }
    fs::remove_dir(&store).and_then(|()| fs::rename(&aside, &store)).expect("it is put back");
    let answer = bench.ask("search", json!({"query": "helper"}));
    // The first answer names the repository before it.
    assert!(answer.contains("/repository, up to date"), "{answer}");
}

#[test]
fn t27_a_store_that_opens_or_closes_slowly_blocks_no_other() {
    let (place, other) = indexed();
    let (mut opening, mut closing) = (Gate::shut(&place, "opening"), Gate::shut(&place, "closing"));
    let gates = [opening.at("open repository"), closing.at("close repository")];
    let mut bench = Bench::connected_at(place, &["--idle-ms", "1000"], &gates);
    bench.call(1, "search", json!({"query": "helper"}));
    bench.announced("open repository", 1);
    // The first question has a store to open and files to look at.
    bench.ask("search", other.clone());
    let all_is_well = |bench: &mut Bench| {
        for _ in 0..5 {
            assert!(bench.prompt_ask("search", other.clone(), 200).contains("elsewhere"));
            let mut status = other.clone();
            status.as_object_mut().expect("it is one").remove("query");
            bench.prompt_ask("status", status, 200);
        }
    };
    all_is_well(&mut bench);
    // The other one becomes idle and is closed while this one is being opened.
    let elsewhere = directory(&bench.cache(), &bench.place.path().join("other"));
    within(milliseconds(3_000), "the other store is closed", || bench.open_stores(&elsewhere) == 0);
    opening.open();
    assert!(!bench.outcome_of(1).1);
    bench.announced("close repository", 1);
    all_is_well(&mut bench);
    within(milliseconds(3_000), "the other store is closed", || bench.open_stores(&elsewhere) == 0);
    closing.open();
    let here = directory(&bench.cache(), &bench.place.path().join("repository"));
    within(milliseconds(3_000), "the slow one is closed too", || bench.open_stores(&here) == 0);
}

/// Descriptors of this process on files of stores.
fn open_here() -> usize {
    let entries = fs::read_dir("/proc/self/fd").expect("the system shows them");
    let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets.filter(|target| target.extension().is_some_and(|extension| extension == "db")).count()
}

#[test]
fn t28_any_interleaving_keeps_the_bounds_of_the_pool() {
    const CAPACITY: usize = 4;
    let caches: Vec<Cache> = (1..=16).map(|_| Cache::new()).collect();
    for (at, cache) in caches.iter().enumerate() {
        cache.publish(&functions(at + 1)).expect("a store");
    }
    let before = open_here();
    let settings = PoolSettings {
        capacity: CAPACITY,
        idle: Duration::from_millis(20),
        sweep: Duration::from_millis(5),
    };
    let pool = Pool::new(settings).expect("a thread");
    let (excess, asked, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let until = Instant::now() + Duration::from_secs(5);
    std::thread::scope(|scope| {
        for worker in 0..64_u64 {
            let (pool, caches, excess, asked, done) = (&pool, &caches, &excess, &asked, &done);
            let work = move || {
                let mut random = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(worker + 1);
                while Instant::now() < until && !done.load(Ordering::Relaxed) {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let at = (random >> 20) as usize % caches.len();
                    let cache = &caches[at];
                    match random % 50 {
                        0 if worker == 0 => drop(
                            cache.publish(&functions(at + 1)).expect("only one thread publishes"),
                        ),
                        1 => pool.forget(&cache.location),
                        2 => {
                            let token = CancelToken::new();
                            token.cancel();
                            // It may have been open, and then it does not matter.
                            drop(pool.lease(&cache.location, &token));
                        }
                        _ => match pool.snapshot(&cache.location, &CancelToken::new()) {
                            Ok(snapshot) => {
                                assert_eq!(
                                    snapshot.meta().symbols,
                                    at as u64 + 1,
                                    "number and rows are of one state"
                                );
                                assert_eq!(
                                    snapshot.files().expect("rows")[0].symbols,
                                    at as u32 + 1
                                );
                                asked.fetch_add(1, Ordering::Relaxed);
                            }
                            // Replaced again and again under its reader.
                            Err(error) => {
                                assert_eq!(error.kind, StoreErrorKind::Missing, "{error}")
                            }
                        },
                    }
                    let counts = pool.counts();
                    excess.fetch_max(
                        counts.open.saturating_sub(counts.leases + CAPACITY),
                        Ordering::Relaxed,
                    );
                }
            };
            std::thread::Builder::new().spawn_scoped(scope, work).expect("a thread can be started");
        }
    });
    done.store(true, Ordering::Relaxed);
    assert!(asked.load(Ordering::Relaxed) > 1_000, "{asked:?} questions");
    assert_eq!(excess.load(Ordering::Relaxed), 0, "open stores beyond the bound and the leases");
    within(milliseconds(5_000), "idle stores are closed", || pool.counts().open == 0);
    let counts = pool.counts();
    assert_eq!((counts.open, counts.leases, counts.opening), (0, 0, 0));
    within(milliseconds(5_000), "descriptors are back at what they were", || open_here() == before);
}

#[test]
fn t29_idle_stores_are_closed_whatever_the_input_does() {
    let (place, other) = indexed();
    let mut gate = Gate::shut(&place, "gate");
    let mut bench = Bench::connected_at(place, &["--idle-ms", "1000"], &[gate.at("work trace")]);
    let here = directory(&bench.cache(), &bench.place.path().join("repository"));
    let limit = milliseconds(3_000);
    // Without any traffic.
    bench.ask("search", json!({"query": "helper"}));
    assert!(bench.open_stores(&here) > 0);
    within(limit, "closed without traffic", || bench.open_stores(&here) == 0);
    // With traffic elsewhere.
    bench.ask("search", json!({"query": "helper"}));
    assert!(bench.open_stores(&here) > 0);
    let until = Instant::now() + limit;
    while bench.open_stores(&here) > 0 {
        assert!(Instant::now() < until, "not closed with traffic elsewhere");
        bench.ask("search", other.clone());
    }
    // While one is leased, and half a line has arrived.
    bench.call(1, "trace", json!({"symbol": "helper"}));
    bench.announced("work trace", 1);
    bench.ask("search", other.clone());
    let elsewhere = directory(&bench.cache(), &bench.place.path().join("other"));
    bench.write(b"{\"jsonrpc\":\"2.0\",\"id\":2,");
    within(limit, "closed in the middle of a line", || bench.open_stores(&elsewhere) == 0);
    assert!(bench.open_stores(&here) > 0, "a leased one stays");
    bench.write(b"\"method\":\"ping\"}\n");
    bench.answer(&json!(2));
    gate.open();
    assert!(!bench.outcome_of(1).1);
    within(limit, "closed after its release", || bench.open_stores(&here) == 0);
}

#[test]
fn t30_the_wall_clock_moves_nothing() {
    let (place, _) = indexed();
    let clock = place.path().join("clock");
    fs::write(&clock, "0").expect("files can be written");
    let idle = milliseconds(1_500);
    let arguments = ["--idle-ms", &idle.as_millis().to_string()];
    let mut bench =
        Bench::connected_at(place, &arguments, &[format!("clock:={}", clock.display())]);
    let here = directory(&bench.cache(), &bench.place.path().join("repository"));
    bench.ask("search", json!({"query": "helper"}));
    let asked = Instant::now();
    fs::write(&clock, "3600").expect("files can be written");
    while asked.elapsed() < idle / 2 {
        assert!(bench.open_stores(&here) > 0, "closed early, after {:?}", asked.elapsed());
        pass_time(Duration::from_millis(20));
    }
    within(idle * 3, "closed in time", || bench.open_stores(&here) == 0);
    bench.ask("search", json!({"query": "helper"}));
    fs::write(&clock, "-3600").expect("files can be written");
    within(idle * 3, "closed in time though the clock was put back", || {
        bench.open_stores(&here) == 0
    });
}

/// Makes a store of the place's repository in another cache, and gives its file.
fn made_elsewhere(place: &TempDir) -> PathBuf {
    let cache = place.path().join("elsewhere");
    let config = Config::from_variables(|name| {
        (name == "COGRAPH_CACHE_DIR").then(|| cache.clone().into_os_string())
    });
    let config = config.expect("there is a cache");
    let root = place.path().join("repository").canonicalize().expect("it exists");
    let token = CancelToken::new();
    let run = cograph::index::Run::quiet(config.limits, &token);
    // Whole, so that it is in a file of its own.
    let everything = cograph::index::ChangeSet::Everything { forced: true };
    cograph::index::apply(&Location::new(&cache, &root), &everything, Duration::from_secs(5), &run)
        .expect("it can be indexed");
    stores(&directory(&cache, &root)).pop().expect("there is a store")
}

#[test]
fn t31_a_store_replaced_under_its_name_is_taken_at_the_next_call() {
    let (place, _) = indexed();
    let mut gate = Gate::shut(&place, "gate");
    let mut bench = Bench::connected_at(place, &[], &[gate.at("work sql")]);
    let answer = bench.ask("search", json!({"query": "helper"}));
    // The first answer names the repository before it.
    assert!(answer.contains("/repository, up to date"), "{answer}");
    bench.call(1, "sql", json!({"statement": "SELECT count(*) AS n FROM symbols"}));
    bench.announced("work sql", 1);
    fs::write(bench.place.path().join("repository/new.py"), "def newcomer():\n    pass\n")
        .expect("files can be written");
    let new = made_elsewhere(&bench.place);
    let here = directory(&bench.cache(), &bench.place.path().join("repository"));
    fs::rename(new, stores(&here).pop().expect("there is a store"))
        .expect("both are in one file system");
    let text = bench.ask("search", json!({"query": "newcomer"}));
    assert!(text.contains("function newcomer") && text.contains("· up to date"), "{text}");
    assert_eq!(bench.announcements("index repository"), 0, "it was taken as it is");
    gate.open();
    let (text, is_error) = bench.outcome_of(1);
    assert!(!is_error && text.ends_with("n\n2"), "what began on the old one ends on it: {text}");
}

#[test]
fn t31_a_swap_that_fails_keeps_the_old_store_and_is_tried_again() {
    let (place, _) = indexed();
    let mut bench = Bench::connected_at(place, &[], &[]);
    bench.ask("search", json!({"query": "helper"}));
    let file = bench.place.path().join("repository/new.py");
    made_elsewhere(&bench.place);
    fs::write(&file, "def newcomer():\n    pass\n").expect("files can be written");
    let second = made_elsewhere(&bench.place);
    fs::remove_file(&file).expect("it was just written");
    let here = directory(&bench.cache(), &bench.place.path().join("repository"));
    let whole = fs::read(&second).expect("it exists");
    let target = here.join(second.file_name().expect("it has a name"));
    let first = stores(&here).pop().expect("there is a store");
    fs::write(&target, b"not yet a store")
        .and_then(|()| fs::remove_file(first))
        .expect("files can be written");
    assert!(
        bench.ask("search", json!({"query": "helper"})).contains("· up to date"),
        "the old one serves"
    );
    fs::write(&target, &whole)
        .and_then(|()| fs::write(&file, "def newcomer():\n    pass\n"))
        .expect("files can be written");
    let text = bench.ask("search", json!({"query": "newcomer"}));
    assert!(text.contains("function newcomer") && text.contains("· up to date"), "{text}");
    assert_eq!(bench.announcements("index repository"), 0);
}

#[test]
fn t31_a_repository_that_is_gone_is_an_error_and_makes_nothing() {
    let (place, other) = indexed();
    let mut bench = Bench::connected_at(place, &[], &[]);
    bench.ask("search", other.clone());
    let root = bench.place.path().join("other");
    fs::remove_dir_all(directory(&bench.cache(), &root))
        .and_then(|()| fs::remove_dir_all(&root))
        .expect("both are there");
    let before = fs::read_dir(bench.cache()).expect("it exists").count();
    let (text, is_error) = bench.outcome("search", other);
    assert!(is_error && text.contains("no such directory"), "{text}");
    assert_eq!(fs::read_dir(bench.cache()).expect("it exists").count(), before, "no ghost is made");
}
